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
from workbench.forks import fork_safe_lock
from workbench.limits import DISPATCH_GRAIN

if TYPE_CHECKING:
    from workbench.backends.cpu.jit import CpuCode

ENTRY_SIZE = 64
"""Bytes of a row for `fastcall`: entry, params; int64 total, threads, grain; pointer fault; int64 mask, sums."""

symbols = ("wb_py_link", "wb_busy", *stopping.SYMBOLS, *fastcall.FUNCTIONS)


class Launcher(msgspec.Struct, frozen=True):
    """The native launcher of this process, as loaded.

    Attributes:
        image: what it was loaded from.
        code: the loaded code; its `addresses` serve native callers.
        functions: its functions for Python.
        stopping: how its launches are stopped.
    """

    image: bytes
    code: CpuCode
    functions: fastcall.Functions
    stopping: stopping.Stopping


_launcher: Launcher | None = None
_lock = fork_safe_lock(__name__, "_lock")


@lru_cache
def text(platform: str = sys.platform) -> str:
    """Return the launcher's LLVM IR for a platform, as `sys.platform` names it."""
    body = Path(__file__).with_name("launcher.ll").read_text(encoding="utf-8")
    return systems.clock_text(platform) + systems.threads_text(platform) + body


def image() -> bytes:
    """Compile the launcher for this machine, in some 10 ms, into an image or object that `install` takes."""
    from workbench.backends.cpu.compile import compile_text

    return compile_text(text(), machine.target(), optimise=False)


def install(stored: bytes | None = None) -> Launcher:
    """Load the launcher, unless this process has it already; return it.

    Args:
        stored: what `image` returned, perhaps in an earlier process; None: it is compiled now.

    Raises:
        BuildError: it cannot be compiled, or `stored` is no code for this machine.
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
    """Run an entry over [0, total); return the entries' return values, or-ed (0 where all went well).

    The caller and helper threads run chunks; meanwhile the GIL is released.

    Args:
        address: of the entry.
        params_address: of the parameter buffer, which the caller keeps alive with all that it points to.
        total: how many threads the launch has.
        threads: the most CPU threads that run it, the caller among them.
        grain: how many threads of the launch a chunk has, at least 1.
        fault: address of the fault record; 0: none is written.
        mask: the memory that no other launch may change at the same time (see `memory_locks`).
        sums: how many 8-byte words a chunk leaves for the end of the launch (`text/reductions.py`).

    Raises:
        KeyboardInterrupt: or what else a signal's handler raises: the launch has ended in the middle (see `stopping`).
    """
    return (_launcher or install()).functions.run(address, params_address, total, threads, grain, fault, mask, sums)
