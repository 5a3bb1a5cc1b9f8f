"""Settings, read from the environment when requested.

A name that is not here cannot be set: `wb.config.verbose = True` says so instead of doing nothing.

Nothing here may enter a module key by itself: what changes generated code travels in `Options`, in plain sight.
"""

from __future__ import annotations

import os
import platform
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TypeVar

Value = TypeVar("Value", int, str)

MATMULS = ("auto", "generated", "cublasdx")
"""The ways to multiply tiles on CUDA."""
_ARM = (
    "generic", "apple-m1", "apple-m2", "apple-m3", "apple-m4", "neoverse-n1", "neoverse-n2", "neoverse-v1",
    "neoverse-v2", "cortex-a72", "cortex-a76",
)  # fmt: skip
_X86 = (
    "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "generic", "nehalem", "sandybridge", "ivybridge", "haswell",
    "broadwell", "skylake", "skylake-avx512", "cascadelake", "cooperlake", "icelake-client", "icelake-server",
    "tigerlake", "alderlake", "sapphirerapids", "emeraldrapids", "graniterapids", "znver1", "znver2", "znver3",
    "znver4", "znver5",
)  # fmt: skip
CPUS = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}
"""CPUs that can be requested, by architecture: LLVM ends the process at a name that it does not know."""
_WARNED: set[tuple[str, str]] = set()


class Settings:
    """Represents the settings that the environment requests, each read when it is asked for.

    A value that makes no sense is warned of once, and the default is used.
    """

    @property
    def cache_dir(self) -> Path:
        """The cache's root (`WORKBENCH_CACHE`, else the user's cache folder)."""
        return Path(os.environ.get("WORKBENCH_CACHE") or _user_cache())

    @property
    def cache_readonly(self) -> Path | None:
        """A second, read-only cache folder (`WORKBENCH_CACHE_READONLY`), or None."""
        folder = os.environ.get("WORKBENCH_CACHE_READONLY")
        return Path(folder) if folder else None

    @property
    def cache_limit(self) -> int:
        """Size limit of the cache folder in bytes (`WORKBENCH_CACHE_LIMIT`, default 1 GiB)."""
        return _number("WORKBENCH_CACHE_LIMIT", 1 << 30, unit=" of bytes")

    @property
    def cpu(self) -> str:
        """The CPU target, "native" or one of `CPUS`, such as "x86-64-v3" (`WORKBENCH_CPU`)."""
        return _one_of("WORKBENCH_CPU", ("native", *CPUS.get(platform.machine(), ())))

    @property
    def threads(self) -> int:
        """Threads of a large CPU launch (`WORKBENCH_THREADS`, default the cores this process may use)."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return _number("WORKBENCH_THREADS", cores, least=1)

    @property
    def matmul(self) -> str:
        """The way to multiply tiles on CUDA for kernels that do not say (`WORKBENCH_MATMUL`).

        "auto" (the default: generated until cuBLASDx's code is ready), "generated" or "cublasdx".
        """
        return _one_of("WORKBENCH_MATMUL", MATMULS)

    @property
    def fma(self) -> bool:
        """Return whether kernels that do not say contract `a * b + c` (`WORKBENCH_FMA`, 0 or 1, default 0)."""
        return _one_of("WORKBENCH_FMA", ("0", "1")) == "1"

    @property
    def deterministic(self) -> bool:
        """Return whether launches and tapes that do not say add floats in the order of threads.

        `WORKBENCH_DETERMINISTIC`, 0 or 1, default 0; read once per process.
        """
        return _one_of("WORKBENCH_DETERMINISTIC", ("0", "1")) == "1"

    @property
    def compile_seconds(self) -> int:
        """Processor seconds that one compilation may take (`WORKBENCH_COMPILE_SECONDS`, default 60, at least 1).

        On the clock it may take ten times as many.
        """
        return max(1, _number("WORKBENCH_COMPILE_SECONDS", 60))

    @property
    def compile_memory(self) -> int:
        """Bytes that a compiler's process may take (`WORKBENCH_COMPILE_MEMORY`, default 4 GiB, at least 256 MiB)."""
        return max(256 << 20, _number("WORKBENCH_COMPILE_MEMORY", 4 << 30))

    @property
    def emulated_memory(self) -> int:
        """Bytes of memory of each emulated device (`WORKBENCH_EMULATED_MEMORY`, default 8 GiB)."""
        return _number("WORKBENCH_EMULATED_MEMORY", 8 << 30, least=1 << 20, unit=" of bytes")

    @property
    def emulated_seed(self) -> int | None:
        """Seed of the random order in which emulated devices run work whose order is open (`WORKBENCH_EMULATED_SEED`).

        None, the default: in the order in which it was queued.
        """
        seed = os.environ.get("WORKBENCH_EMULATED_SEED")
        return _number("WORKBENCH_EMULATED_SEED", 0) if seed else None


def settings() -> Settings:
    """Return the settings, an object that reads the environment at each access."""
    return _SETTINGS


_SETTINGS = Settings()
_GONE = {"WORKBENCH_GANG": "CPU code is always emitted for gangs of threads where it can be."}
"""Environment variables that earlier versions read, each with what holds instead."""
for _name in _GONE.keys() & set(os.environ):
    warnings.warn(f"The environment variable {_name} has no effect any more: {_GONE[_name]}", stacklevel=2)


def _user_cache() -> Path:
    """Return the user's cache folder; without a home, a `~` that cannot be expanded, which the cache then reports."""
    try:
        import platformdirs

        return platformdirs.user_cache_path("workbench")
    except RuntimeError:
        return Path("~/.cache/workbench")


def _one_of(name: str, words: tuple[str, ...]) -> str:
    """Return the word in an environment variable; `words[0]` if it is unset, or is none of them, with a warning."""
    word = os.environ.get(name) or words[0]
    return word if word in words else _ignored(name, ", ".join(words), words[0])


def _number(name: str, default: int, least: int | None = None, unit: str = "") -> int:
    """Return the whole number that an environment variable holds; the default if it is not set.

    If it is not a number, or less than `least`, that is warned of and the default is returned.
    """
    text = os.environ.get(name)
    if not text:
        return default
    with suppress(ValueError):
        if least is None or int(text) >= least:
            return int(text)
    least_shown = f" from {least}" if least is not None else ""
    return _ignored(name, f"a whole number{least_shown}{unit}", default)


def _ignored(name: str, takes: str, default: Value) -> Value:
    """Return the default, and warn, once for each value, that an environment variable does not hold what it takes."""
    value = os.environ[name]
    if (name, value) not in _WARNED:
        _WARNED.add((name, value))
        warnings.warn(
            f"The environment variable {name} is {value!r}; it takes {takes}. {default} is used.", stacklevel=4
        )
    return default


class _Module(ModuleType):
    """Represents this module, which refuses new attributes."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute that the module has already.

        Raises:
            AttributeError: it has none of this name; settings are environment variables.
        """
        if name not in self.__dict__:
            known = ", ".join(f"WORKBENCH_{n.upper()}" for n in vars(Settings) if n[0] != "_")
            raise AttributeError(
                f"workbench.config has no setting {name!r}. Settings are environment variables: {known}. "
                "Options of kernels are given to wb.kernel(…), %%kernel and wb.set_checks(…)."
            )
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Module
