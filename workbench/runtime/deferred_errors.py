"""Errors that cannot be raised where they occur: they are kept, and raised at the next point where Python can.

Such points are the end of a `with wb.checks():`, the end of a notebook's cell, and the next call of a JAX function with
kernels. As there may be none, the first error is also written to stderr at once.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from workbench.errors import WorkbenchError

_MOST = 100
_waiting: list[WorkbenchError] = []


def error_later(error: WorkbenchError) -> None:
    """Store an error for `raise_late`; any thread may call this.

    The first one is written to stderr, too; when many wait, further ones are dropped.
    """
    if not _waiting:
        with suppress(Exception):
            sys.stderr.write(f"{error}\n")
    if len(_waiting) < _MOST:
        _waiting.append(error)


def raise_late() -> None:
    """Raise the first error that waits, if there is one, and forget the others; a note says how many there were.

    Raises:
        WorkbenchError: the first error.
    """
    if not _waiting:
        return
    first, count = _waiting.pop(0), len(_waiting)
    del _waiting[:count]
    if count:
        first.add_note(f"{count} more call{'s' if count > 1 else ''} failed since.")
    raise first
