"""The generic native handler: assembled from its LLVM IR files, compiled once, kept by the cache.

XLA gives a handler no data of its own, so each kernel has a thunk that passes its description along; the thunk is all
that is made per kernel, and between `jit(f)(x)` and the kernel's entry no Python runs.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files

from workbench.backends.cpu import systems
from workbench.backends.cpu.jit import CpuCode, load_symbols
from workbench.cache.native import native_image
from workbench.forks import renewed
from workbench.interop.jax.native.abi import CODE_COUNT, names_text, sizes_text, string_text, types_text
from workbench.interop.jax.native.faults import EXPLAIN, explain_faults
from workbench.runtime.native.launcher import install_launcher

SYMBOL = "workbench_ffi"
PROGRAM = "workbench_program"
NOTES = ("wb_ffi_on", "wb_ffi_head", "wb_ffi_lost", "wb_ffi_room", "wb_ffi_notes", "wb_ffi_free")
"""What a reader of notes.ll's notes needs."""
LOADED: list[Callable[[Mapping[str, int]], None]] = []
"""Called with the addresses of the handler's symbols when it is loaded."""
CUDA, CUDA_INITIALIZE = "workbench_cuda", "workbench_cuda_initialize"
STOPPED, STOP = "workbench_stopped", "wb_ffi_stop"
REFUSE = "workbench_outdated_call"
MAX_BATCH_AXES = 8
_FILES = ("notes.ll", "handler.ll", "check.ll", "bind.ll", "run.ll", "fault.ll", "program.ll", "cuda.ll", "stop.ll")
_lock = renewed(__name__, "_lock")

# What a call is refused with. The first %s is the kernel, or all; see the `refuse` calls for the others.
MESSAGES: dict[str, str] = {
    "outdated": "%s",
    "counts": "kernel '%s' takes %lld operands and %lld results under XLA; the call has other numbers of them",
    "attributes": "kernel '%s' takes the attributes dims (1 to 4 int64) and %lld int64 values, %lld of views; not so",
    "buffer": "program '%s': buffer %lld, operands first, holds %lld elements of %s; was given another",
    "axes": "kernel '%s' was called under %lld nested batch axes; at most %lld work",
    "dtype": "kernel '%s', parameter '%s': takes %s elements, was given %s",
    "rank": "kernel '%s', parameter '%s': takes %lld dimensions besides batch axes, was given %lld",
    "inner": "kernel '%s', parameter '%s': its last axis holds the %lld components of a vector, was given %lld",
    "within": "kernel '%s', parameter '%s': has %lld elements along an axis; the launch would ask for index %lld",
    "batch": "kernel '%s', parameter '%s': a batch axis has size %lld here, was given %lld",
    "fault": "kernel '%s': operation %lld faulted in thread %lld; its first value: %lld; faults in all: %lld",
    "cuda.load": "kernel '%s': the CUDA driver does not load its code: %s (%lld)",
    "cuda.launch": "kernel '%s': the CUDA driver refuses to queue it: %s (%lld)",
    "cuda.early": "kernel '%s': XLA runs it on a GPU before it was initialised",
    "cuda.grid": "kernel '%s': %lld blocks are more than one launch can have (%lld)",
    "cuda.unknown": "an error without a name",
    "stopped": "kernel '%s' was interrupted: its results are half written and cannot be used",
    "alias": "kernel '%s', parameter '%s': goes in and comes out, but with sizes %lld and %lld along one axis",
}


@lru_cache
def handler_text(platform: str = sys.platform) -> str:
    """The handler as LLVM IR text."""
    folder = files("workbench.interop.jax.native")
    messages = "\n".join(string_text(f"say.{name}", text) for name, text in MESSAGES.items())
    bodies = [folder.joinpath(name).read_text(encoding="utf-8") for name in _FILES]
    bodies[0] = bodies[0].replace("CODE_COUNT", str(CODE_COUNT))
    return "\n\n".join(
        [
            types_text(),
            names_text(),
            sizes_text(),
            systems.clock_text(platform),
            systems.yield_text(platform),
            systems.format_text(platform),
            messages,
            *bodies,
        ]
    )


def handler_address() -> int:
    """The address of `workbench_ffi(frame, kernel)`: from the cache, else compiled now; one a process.

    Raises:
        BuildError: LLVM refused the text, or the object cannot be loaded.
    """
    with _lock:
        return _load().address


def address_of(symbol: str) -> int:
    """The address of another of the handler's functions: `PROGRAM(frame, table)`, `STOPPED(frame, kernel)`, …"""
    with _lock:
        return _load().addresses[symbol]


@lru_cache(maxsize=1)
def _load() -> CpuCode:
    symbols = (SYMBOL, PROGRAM, CUDA, CUDA_INITIALIZE, EXPLAIN, STOPPED, STOP, REFUSE, *NOTES)
    code = load_symbols(native_image(SYMBOL, handler_text()), symbols)
    ctypes.c_void_p.from_address(code.addresses[STOP]).value = install_launcher().stopping.serve_jax()
    for hear in LOADED:
        hear(code.addresses)
    explain_faults(code.addresses[EXPLAIN])
    return code
