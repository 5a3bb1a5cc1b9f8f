"""Prints of CPU kernels, shown on `sys.stdout` after their launch: in a notebook, below its cell.

The buffer belongs to the loaded code, so launches of one printing kernel from several threads wait for each other.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

from workbench.backends.prints import CAPACITY, HEAD, SYMBOL, records
from workbench.forks import fork_safe_lock
from workbench.runtime.launching.executable import Executable

_lock = fork_safe_lock(__name__, "_lock", threading.RLock)


@contextmanager
def printing(*kernels: Executable) -> Generator[None]:
    """Show what these CPU kernels print inside the `with`, when it ends."""
    # Without prints no lock: launches from several threads run at the same time.
    if not any(k.prints for k in kernels):
        yield
        return
    with _lock:
        try:
            yield
        finally:
            for kernel in dict.fromkeys(k for k in kernels if k.prints):
                _show(kernel)


def _show(executable: Executable) -> None:
    """Write what a CPU kernel has printed to `sys.stdout`, and empty its buffer."""
    start = executable.handle.addresses[SYMBOL]
    head = (ctypes.c_int64 * 2).from_address(start)
    # Threads add to the count before they write, so it goes beyond the capacity if the buffer is full.
    used, dropped = min(head[0], CAPACITY), head[1]
    if not used and not dropped:
        return
    output = "".join(records(executable.function, ctypes.string_at(start + HEAD, used), dropped))
    # Cleared here rather than before a launch: a launch that prints nothing then costs nothing.
    ctypes.memset(start, 0, HEAD + used)
    sys.stdout.write(output)
