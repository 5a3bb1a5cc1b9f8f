"""Settings, read from the environment when asked for.

Nothing here may enter a module key by itself: what changes generated code travels in `Options`, in plain sight.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

MATMULS = ("auto", "generated", "cublasdx")
"""How tiles may be multiplied on CUDA."""


@dataclass(frozen=True)
class Settings:
    """What the environment asks for.

    Attributes:
        cache_dir: the cache's root (`WORKBENCH_CACHE`, else the user's cache folder).
        cache_readonly: a second, read-only cache folder (`WORKBENCH_CACHE_READONLY`), or None.
        cache_limit: size limit in bytes (`WORKBENCH_CACHE_LIMIT`, default 1 GiB).
        cpu: the CPU target, "native" or a portable level such as "x86-64-v3" (`WORKBENCH_CPU`).
        threads: threads of a large CPU launch (`WORKBENCH_THREADS`, default the cores this process may use).
        matmul: how tiles are multiplied on CUDA where no kernel says so: "auto", "generated" or "cublasdx"
            (`WORKBENCH_MATMUL`, default "auto": generated until cuBLASDx's code is ready).
        compile_seconds: processor seconds that one compilation may take (`WORKBENCH_COMPILE_SECONDS`, default 60; ten
            times as many on the clock).
        compile_memory: bytes that a compiler's process may take (`WORKBENCH_COMPILE_MEMORY`, default 4 GiB).
    """

    cache_dir: Path
    cache_readonly: Path | None
    cache_limit: int
    cpu: str
    threads: int
    matmul: str
    compile_seconds: int
    compile_memory: int


def settings() -> Settings:
    """The settings as the environment has them now.

    Raises:
        ValueError: a number in the environment is not one, or a word is none of those it may be.
    """
    env = os.environ
    readonly = env.get("WORKBENCH_CACHE_READONLY")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Settings(
        cache_dir=Path(env.get("WORKBENCH_CACHE") or _user_cache()),
        cache_readonly=Path(readonly) if readonly else None,
        cache_limit=_number("WORKBENCH_CACHE_LIMIT", 1 << 30),
        cpu=env.get("WORKBENCH_CPU", "native"),
        threads=max(1, _number("WORKBENCH_THREADS", cores)),
        matmul=_one_of("WORKBENCH_MATMUL", MATMULS),
        compile_seconds=max(1, _number("WORKBENCH_COMPILE_SECONDS", 60)),
        compile_memory=max(256 << 20, _number("WORKBENCH_COMPILE_MEMORY", 4 << 30)),
    )


def _user_cache() -> Path:
    """The user's cache folder; for a user without a home a `~` that nobody can expand, which the cache then says."""
    try:
        return platformdirs.user_cache_path("workbench")
    except RuntimeError:
        return Path("~/.cache/workbench")


def _one_of(name: str, words: tuple[str, ...]) -> str:
    found = os.environ.get(name) or words[0]
    if found not in words:
        raise ValueError(f"the environment variable {name} is {found!r}; it takes {', '.join(words)}")
    return found


def _number(name: str, default: int) -> int:
    text = os.environ.get(name)
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"the environment variable {name} is {text!r}; it takes a whole number") from None
