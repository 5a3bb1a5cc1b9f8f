"""The line of the user's text that requested a launch: what a recorder shows as its place."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import msgspec

_OWN = str(Path(__file__).absolute().parents[2]) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep
_PACKAGES = (f"{_PYTHON}site-packages", f"{_PYTHON}dist-packages")


class Site(msgspec.Struct, frozen=True):
    """A line of code: the file as Python calls it, and the line from 1."""

    filename: str
    line: int

    def __str__(self) -> str:
        folder, name = os.path.split(self.filename)
        cell = os.path.basename(folder).startswith("ipykernel_") or name.startswith("<ipython-input-")
        return f"{'cell' if cell else name}:{self.line}"


def warn(message: str) -> None:
    """Issue a UserWarning at the user's line that is running."""
    site = call_site() or Site("workbench", 1)
    warnings.warn_explicit(message, UserWarning, site.filename, site.line)


def warn_of_user(message: str) -> None:
    """Issue a warning if a line of the user's read a property, not if the library itself did.

    It looks at the third caller: the property's getter has to call a function that calls this.
    """
    frame = sys._getframe(3)  # pyright: ignore[reportPrivateUsage]
    if not frame.f_code.co_filename.startswith(_OWN):
        warn(message)


def call_site() -> Site | None:
    """Return the innermost running line that is neither the library's own nor of Python's standard library.

    It is None if there is none.
    """
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_OWN, "<frozen ")) and (not name.startswith(_PYTHON) or name.startswith(_PACKAGES)):
            return Site(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None
