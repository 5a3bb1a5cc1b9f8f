"""The native launcher: one call that runs a kernel's entry over a range, on one thread or several.

It is C (launcher.c) whose generated LLVM IR our own backend compiles once (`design/native.md`): the wheel stays pure
Python.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from workbench.backends.cpu import machine, systems
from workbench.backends.cpu.native import fastcall, memory_locks, stopping
from workbench.forks import renewed
from workbench.limits import DISPATCH_GRAIN

if TYPE_CHECKING:
    from workbench.backends.cpu.jit import CpuCode

ENTRY_SIZE = 64
"""Bytes of a row for `fastcall`: entry, params; int64 total, threads, grain; pointer fault; int64 mask, sums."""

symbols = ("wb_py_link", "wb_busy", *stopping.SYMBOLS, *fastcall.FUNCTIONS)


class Launcher(msgspec.Struct, frozen=True):
    """The loaded launcher: its functions, `code.addresses` for native callers, and the object it came from."""

    image: bytes
    code: CpuCode
    functions: fastcall.Functions
    stopping: stopping.Stopping


_launcher: Launcher | None = None
_lock = renewed(__name__, "_lock")


@lru_cache
def text(platform: str = sys.platform) -> str:
    """Return the launcher's LLVM IR."""
    body = Path(__file__).with_name("launcher.ll").read_text(encoding="utf-8")
    return systems.clock_text(platform) + systems.threads_text(platform) + body


def image() -> bytes:
    """Return the launcher as an object file: 10 ms to compile, so a cache may keep it and hand it to `install`."""
    from workbench.backends.cpu.compile import compile_text

    return compile_text(text(), machine.target(), optimise=False)


def install(stored: bytes | None = None) -> Launcher:
    """Load the launcher, from `stored` or compiled now; the first call in a process counts.

    Raises:
        BuildError: `stored` is no object of this platform.
    """
    from workbench.backends.cpu.jit import load_symbols

    global _launcher
    with _lock:
        # One per process: locks and the words of stops are in its memory, and two of them would not see each other.
        if _launcher is None:
            image_bytes = stored if stored is not None else image()
            code = load_symbols(image_bytes, symbols)
            memory_locks.reset_after_fork(code.addresses)
            functions = fastcall.Functions(code.addresses)
            _launcher = Launcher(image_bytes, code, functions, stopping.Stopping(code.addresses))
        return _launcher


def dispatch(
    address: int, params_address: int, total: int, threads: int, grain: int = DISPATCH_GRAIN, fault: int = 0,
    mask: int = 0, sums: int = 0,
) -> int:  # fmt: skip
    """Run the entry at `address` over [0, total); returns the entries' return values, or-ed (0 where all went well).

    In chunks of `grain` (at least 1), over as many as `threads` threads, the caller among them. The GIL is free
    meanwhile; the caller keeps the buffer and what it points to alive. `mask` (see `turns`) is the memory that no other
    launch may change at the same time. A chunk leaves `sums` words for the end of the launch (`text/reductions.py`).

    Raises:
        KeyboardInterrupt: or what else a signal's handler raises: the launch has ended in the middle (see `stopping`).
    """
    return (_launcher or install()).functions.run(address, params_address, total, threads, grain, fault, mask, sums)
