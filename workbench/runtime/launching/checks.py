"""The default of checks (bounds, divisions, asserts): off in library use, on in notebooks."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_default = False
# A ContextVar, so that a `with` in one thread or task does not switch checks for the others.
_HERE: ContextVar[bool | None] = ContextVar("workbench checks", default=None)


def set_checks(on: bool) -> bool:
    """Turn checks on or off for launches of this process that do not choose themselves.

    Args:
        on: whether they check.

    Returns:
        Whether they were on before.
    """
    global _default
    before, _default = _default, bool(on)
    return before


@contextmanager
def choosing_checks(on: bool) -> Generator[None]:
    """Turn checks on, or off, for the launches inside the `with` that do not choose themselves."""
    token = _HERE.set(bool(on))
    try:
        yield
    finally:
        _HERE.reset(token)


def checks_wanted(*requested: bool | None) -> bool:
    """Return whether to check: the first of `requested` that is not None, else `with checks`, else the default."""
    for answer in (*requested, _HERE.get()):
        if answer is not None:
            return answer
    return _default


def checks_here() -> bool:
    """Return whether the innermost `with checks` turns checks on, whatever the default is.

    Checks that cost too much to be a default depend on it.
    """
    return bool(_HERE.get())


def checks_both(requested: bool | None) -> tuple[bool, bool]:
    """Return whether a launch checks, and whether the innermost `with checks` turns checks on.

    It checks if `requested` says so; None: as the innermost `with checks` says, else the default.
    """
    here = _HERE.get()
    return requested if requested is not None else _default if here is None else here, bool(here)
