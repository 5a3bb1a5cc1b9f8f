"""The library as one object: compiled once per machine, loaded once per process."""

from __future__ import annotations

import threading

from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import compile_text
from workbench.backends.cpu.emit.halves import definitions
from workbench.backends.cpu.jit import CpuCode, load_symbols
from workbench.backends.llvm.functions import LlvmFunction, module
from workbench.backends.ptx.library import (
    barriers,
    counters,
    faults,
    global_races,
    lanes,
    memory,
    products,
    races,
    runner,
    threads,
    watch,
    words,
    written,
)
from workbench.forks import fork_safe_lock

ENTRY = "wbe_entry"
_library: CpuCode | None = None
_lock = fork_safe_lock(__name__, "_lock", threading.Lock)


def text() -> str:
    """Return the LLVM IR of the whole library that compiled PTX kernels call."""
    return module(_functions()) + half_conversions()


def _functions() -> list[LlvmFunction]:
    """Return all functions of the library but those that LLVM calls by itself."""
    parts = (
        words, faults, lanes, memory, counters, threads, races, global_races, watch, written, barriers, products,
        runner,
    )  # fmt: skip
    return [function for part in parts for function in part.FUNCTIONS]


HALVES = "__truncsfhf2", "__extendhfsf2"
_HALVES = """
define half @__truncsfhf2(float %x) nounwind {
  %t = call i16 @wb.float32.float16(float %x)
  %h = bitcast i16 %t to half
  ret half %h
}
define float @__extendhfsf2(half %x) nounwind {
  %t = bitcast half %x to i16
  %f = call float @wb.float16.float32(i16 %t)
  ret float %f
}
"""


def half_conversions() -> str:
    """Return the LLVM IR of functions that LLVM calls to convert float16 on processors without an instruction for it.

    x86-64 before level 3 has none; and the process may lack these functions, which belong to a compiler's own library.
    """
    functions = definitions("float16", instructions=False)
    return "\n".join([functions["wb.float16.float32"], functions["wb.float32.float16"], _HALVES])


def image() -> bytes:
    """Compile the library to an object file; as that takes seconds, a cache should store it for `install`.

    Raises:
        BuildError: LLVM refused it, or its process ended.
    """
    return compile_text(text(), CpuBackend().target(), vectorise=False)


def install(stored: bytes | None = None) -> CpuCode:
    """Load the library into this process once, from the object file `stored`, or compiled now if that is None.

    Later calls return the library that was loaded first, whatever their argument.

    Raises:
        BuildError: `stored` is no object of this platform, or the compilation failed.
    """
    global _library
    with _lock:
        if _library is None:
            _library = load_symbols(stored if stored is not None else image(), symbols())
        return _library


def symbols() -> tuple[str, ...]:
    """Return the names of all functions of the library that kernels may call; the entry first."""
    names = [function.name for function in _functions() if function.is_exported]
    return (ENTRY, *(name for name in names if name != ENTRY), *HALVES)
