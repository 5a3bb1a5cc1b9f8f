"""Errors of calls that must not fail where they happen: they wait here, and are raised where Python comes by next.

That is the end of a `with wb.checks():`, of a notebook's cell, or the next call of one of our JAX functions. Since none
of these may come, the first one is written to stderr at once.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from workbench.errors import WorkbenchError

_MOST = 100
_waiting: list[WorkbenchError] = []


def error_later(error: WorkbenchError) -> None:
    """Let an error wait; any thread may."""
    if not _waiting:
        with suppress(Exception):
            sys.stderr.write(f"{error}\n")
    if len(_waiting) < _MOST:
        _waiting.append(error)


def raise_late() -> None:
    """Raise the first error that waits, if there is one; a note says how many more there are.

    Raises:
        WorkbenchError: it.
    """
    if not _waiting:
        return
    first, count = _waiting.pop(0), len(_waiting)
    del _waiting[:count]
    if count:
        first.add_note(f"{count} more call{'s' if count > 1 else ''} failed since.")
    raise first
