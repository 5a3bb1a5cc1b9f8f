"""Facts of this machine, as LLVM sees it, and the version of LLVM: half of the key of machine code.

To ask LLVM means to import it, which takes longer than all else that a kernel from the cache needs. So the answer may
be remembered (`REMEMBER`), under what decides it: this start of the kernel of the system on this processor, and
llvmlite's files. Another CPU, a cache that was copied, another llvmlite: each asks again.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Protocol

import msgspec
from msgspec.structs import replace

from workbench.backends.cpu.maths import names
from workbench.config import settings
from workbench.errors import DeviceError

NAME = "cpu"
"""The backend's name, in keys and metadata."""
WASM = "wasm32"
"""The target for pages that compute (`design/wasm.md`): WebAssembly with vectors of 128 bits."""
WASM_FEATURES = "+simd128,+bulk-memory,+sign-ext,+nontrapping-fptoint"
X86 = platform.machine() in ("x86_64", "AMD64")
WRONG_SINCE, WRONG_SIGNS = 22, "-avx512dq,-avx512bw"
"""The first LLVM that takes a mask of signs from the wrong lanes, and switches with which it emits no VPMOV*2M."""
WRONG_COMPARED_HALVES = "-avx512vl"
"""To be added to those where float16 is compared: LLVM could not select the comparison otherwise."""


class Memory(Protocol):
    """A store of facts that outlives the process, such as the cache."""

    def get(self, name: str, known_by: bytes) -> bytes:
        """Return the fact that was stored under a name and the same `known_by`; empty if there is none."""
        ...

    def put(self, name: str, known_by: bytes, fact: bytes) -> None:
        """Store a fact under a name and the bytes on which it depends."""
        ...


REMEMBER: list[Memory] = []
"""The store of facts, at most one, which the cache adds."""
KEPT = "this machine"
"""The name of the fact in lists of the cache."""
_BOOT = "/proc/sys/kernel/random/boot_id"
_CPU = "/proc/cpuinfo"
_MODEL = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features",
)  # fmt: skip
"""Lines that say what a processor is; others change from one moment to the next."""
_ENOUGH = 16384
"""Bytes that hold the first processor's lines; the whole file takes milliseconds on a machine of many cores."""

_WHOLE = 1 << 24
"""Bytes that a library takes at least with LLVM in it. A smaller one uses LLVM's own, which is updated by itself."""


class Facts(msgspec.Struct, frozen=True):
    """LLVM's description of this machine and of itself.

    Attributes:
        cpu: the processor's name.
        features: those that it has (`+avx2`) and has not (`-avx512f`), separated by commas.
        llvm: LLVM's version.
        llvmlite: llvmlite's.
        vector_library: the name and version of the C library's vectorised maths functions; empty where this machine has
            none or cannot run them (`maths.names.library`).
    """

    cpu: str
    features: str
    llvm: tuple[int, ...]
    llvmlite: str
    vector_library: str = ""

    def has(self, feature: str) -> bool:
        """Return whether the processor has a feature, as LLVM calls it."""
        return f"+{feature}" in self.features.split(",")


@lru_cache(maxsize=1)
def facts() -> Facts:
    """Return LLVM's facts about this machine and itself: as stored by an earlier process, or asked of LLVM now."""
    known_by = known_by_files() if REMEMBER else b""
    if not known_by:
        return _ask()
    with suppress(msgspec.MsgspecError, TypeError, KeyError):  # of another version of this library, or nothing
        # Of no type: to make a decoder of one takes 0.3 ms.
        stored = msgspec.json.decode(REMEMBER[0].get(KEPT, known_by))
        return Facts(**{**stored, "llvm": (*stored["llvm"],)})
    result = _ask(in_worker=True)
    REMEMBER[0].put(KEPT, known_by, msgspec.json.encode(result))
    return result


def known_by_files() -> bytes:
    """Return bytes that change whenever LLVM's facts may: the system's start, the processor, and llvmlite's files.

    They are empty where that cannot be known without LLVM: not on Linux, or if llvmlite has LLVM in another library.
    """
    if sys.platform != "linux":
        return b""
    try:
        with open(_BOOT, "rb", buffering=0) as boot, open(_CPU, "rb", buffering=0) as cpu:
            lines = cpu.read(_ENOUGH).decode(errors="replace").splitlines()
            started = boot.read(64)
        model = sorted({line for line in lines if line.partition(":")[0].strip() in _MODEL})
        if not started or not any(line.startswith(("flags", "Features")) for line in model):
            return b""
        return msgspec.json.encode([platform.machine(), started, model, platform.libc_ver(), _llvmlite()])
    except (OSError, StopIteration):
        return b""


def _llvmlite() -> list[object]:
    """Return the contents of llvmlite's version file, and the identity of the library file that LLVM is in.

    Raises:
        OSError: LLVM is in another file, or a file is missing.
        StopIteration: llvmlite is in no folder that Python imports from.
    """
    # Python's own search takes five times as long.
    folder = next(f for path in sys.path if os.path.exists((f := os.path.join(path, "llvmlite")) + "/__init__.py"))
    library = os.path.join(folder, "binding", "libllvmlite.so")
    status = os.stat(library)
    if status.st_size < _WHOLE:
        raise OSError("LLVM is in another file")
    with open(os.path.join(folder, "_version.py"), "rb", buffering=0) as version:
        return [version.read(), library, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _ask(in_worker: bool = False) -> Facts:
    """Return LLVM's facts, asked now.

    Args:
        in_worker: ask the process that will compile, instead of importing LLVM here.
    """
    if in_worker:
        from workbench.backends.cpu.llvm_pool import host as host_in_worker

        described = msgspec.convert(host_in_worker(), Facts)
    else:
        from workbench.backends.cpu.codegen import host

        described = msgspec.convert(host({}, b"", lambda stage: None)[0], Facts)
    vectors = names.library() if described.has("avx2") else ""
    return replace(described, vector_library=vectors)


def version() -> str:
    """Return the versions of llvmlite and LLVM."""
    number = ".".join(str(n) for n in facts().llvm)
    return f"llvmlite {facts().llvmlite} / LLVM {number}"


def target() -> str:
    """Return the target of `settings().cpu`: this machine, or a portable level."""
    return _target(os.environ.get("WORKBENCH_CPU"))


@lru_cache(maxsize=4)
def _target(_: str | None) -> str:
    """Return the target of `settings().cpu`; the argument, that of the environment, only serves as the cache's key."""
    setting = settings().cpu
    return native() if setting == "native" else setting


@lru_cache(maxsize=1)
def native() -> str:
    """Return the target of this machine: its CPU's name, and a digest of all that may change what LLVM emits for it."""
    known = f"{facts().features} {miscompiled()} {facts().vector_library}"
    return f"{facts().cpu}+{hashlib.sha256(known.encode()).hexdigest()[:12]}"


def converts_halves() -> bool:
    """Return whether this machine has instructions between float16 and float32."""
    return facts().has("f16c") or platform.machine() in ("arm64", "aarch64")


def miscompiled() -> str:
    """Return LLVM's switches that turn off features which this version miscompiles; empty if there are none.

    Each of its faults is a row of `tests/backends/cpu/llvm_faults`, with the LLVM IR that shows it.
    """
    return WRONG_SIGNS if facts().llvm[0] >= WRONG_SINCE and X86 else ""


@lru_cache
def cpu_of(target: str) -> tuple[str, str]:
    """Return a target's CPU and features, as LLVM names them; a portable level has no features of its own.

    Raises:
        DeviceError: the target is another machine's.
    """
    if target == WASM:
        return "generic", WASM_FEATURES
    if target == native():
        return facts().cpu, facts().features
    # Only this machine's target has features in its name; the levels are LLVM's own names for CPUs.
    if "+" in target:
        raise DeviceError(f"The CPU target {target} is another machine's; this one is {native()}.")
    return target, ""
