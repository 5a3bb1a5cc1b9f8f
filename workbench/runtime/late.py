"""Faults of calls that must not fail where they happen: they wait here, and are raised where Python comes by next.

That is the end of a `with wb.checks():`, of a notebook's cell, or the next call of a JAX function of ours. Since none
of these may come, the first one is written to stderr at once.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from workbench.errors import KernelFault

_MOST = 100
_waiting: list[KernelFault] = []


def fault_later(fault: KernelFault) -> None:
    """Let a fault wait; any thread may."""
    if not _waiting:
        with suppress(Exception):
            sys.stderr.write(f"{fault}\n")
    if len(_waiting) < _MOST:
        _waiting.append(fault)


def raise_late() -> None:
    """Raise the first fault that waits, if there is one; a note says how many more there are.

    Raises:
        KernelFault: it.
    """
    if not _waiting:
        return
    first, count = _waiting.pop(0), len(_waiting)
    del _waiting[:count]
    if count:
        first.add_note(f"{count} more call{'s' if count > 1 else ''} met a fault since.")
    raise first
