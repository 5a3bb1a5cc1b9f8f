"""The generic native handler: C whose generated LLVM IR is compiled once and kept by the cache (design/native.md).

XLA gives a handler no data of its own, so each kernel has a thunk that passes its description along; the thunk is all
that is made per kernel, and between `jit(f)(x)` and the kernel's entry no Python runs.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from workbench.backends.cpu import systems
from workbench.backends.cpu.jit import CpuCode, load_symbols
from workbench.cache.native import native_image
from workbench.forks import fork_safe_lock
from workbench.interop.jax.native.faults import EXPLAIN, explain_faults
from workbench.runtime.native.launcher import install_launcher

SYMBOL = "workbench_ffi"
PROGRAM = "workbench_program"
NOTES = ("wb_ffi_on", "wb_ffi_head", "wb_ffi_lost", "wb_ffi_room", "wb_ffi_notes", "wb_ffi_free")
"""The symbols that a reader of the notes needs (notes.c)."""
ON_LOAD: list[Callable[[Mapping[str, int]], None]] = []
"""Called with the addresses of the handler's symbols when it is loaded."""
CUDA, CUDA_INITIALIZE = "workbench_cuda", "workbench_cuda_initialize"
STOPPED, STOP = "workbench_stopped", "wb_ffi_stop"
REFUSE = "workbench_outdated_call"
MAX_BATCH_AXES = 8
_lock = fork_safe_lock(__name__, "_lock")


@lru_cache
def handler_text(system: str = sys.platform, machine: str = platform.machine()) -> str:
    """Return the handler as LLVM IR text, for an operating system and a processor (default: this machine's)."""
    system_text = systems.clock_text(system) + systems.yield_text(system) + systems.format_text(system)
    handler = Path(__file__).with_name("handler.ll").read_text(encoding="utf-8")
    return system_text + systems.floats_text(machine) + handler


def handler_address() -> int:
    """Return the address of `workbench_ffi(frame, kernel)`: from the cache, else compiled now; one per process.

    Raises:
        BuildError: LLVM refused the text, or the object cannot be loaded.
    """
    with _lock:
        return _load().address


def address_of(symbol: str) -> int:
    """Return the address of another of the handler's functions: `PROGRAM(frame, table)`, `STOPPED(frame, kernel)`, …"""
    with _lock:
        return _load().addresses[symbol]


@lru_cache(maxsize=1)
def _load() -> CpuCode:
    """Load the native handler, connect it to the word that interrupts set, and notify `ON_LOAD`; once per process."""
    symbols = (SYMBOL, PROGRAM, CUDA, CUDA_INITIALIZE, EXPLAIN, STOPPED, STOP, REFUSE, *NOTES)
    code = load_symbols(native_image(SYMBOL, handler_text(), optimise=False), symbols)
    # The word that an interrupt sets lies in the launcher; the handler's pointer to it is filled once, here.
    ctypes.c_void_p.from_address(code.addresses[STOP]).value = install_launcher().stopping.serve_jax()
    for on_load in ON_LOAD:
        on_load(code.addresses)
    explain_faults(code.addresses[EXPLAIN])
    return code
