"""How an error of the user's cell looks: its place as `Cell In[6], line 4`, the line, a caret, one sentence.

None of our frames is shown, and where a launch was refused, the user's own line that made it is. IPython's `%tb` shows
the whole traceback afterwards.
"""

from __future__ import annotations

import difflib
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from IPython.core.error import UsageError

import workbench
from workbench.errors import CellErrors, WorkbenchError
from workbench.source import Location

_OURS = tuple(
    os.path.dirname(os.path.abspath(path)) + os.sep for path in (workbench.__file__ or "", os.path.dirname(__file__))
)
_INDENT = "    "
Label = Callable[[str], str]


class KernelUsageError(UsageError):
    """A magic was called wrongly.

    IPython prints a bare UsageError to stderr and reports no error, so test runners pass it; the hook below makes it
    an error output like any other, in one line.
    """

    def _render_traceback_(self) -> list[str]:
        return [f"UsageError: {self}"]


def cell_label(shell: Any, filename: str) -> str:
    """What IPython calls the file of a cell (`Cell In[6]`); other files keep their name."""
    known = getattr(shell.compile, "format_code_name", lambda _: None)(filename)
    if known:
        return " ".join(known)
    number = re.match(r"<ipython-input-(\d+)-", filename)
    if number:
        return f"Cell In[{number[1]}]"
    return "a cell" if os.path.basename(os.path.dirname(filename)).startswith("ipykernel_") else filename


def render(error: WorkbenchError, label: Label, tb: TracebackType | None = None) -> list[str]:
    """The error's lines; `label` names a file, `tb` says where the user's code met the error."""
    if isinstance(error, CellErrors):
        return [row for each in error.errors for row in (*_one(each, label), "")] + [f"{len(error.errors)} errors"]
    caller = _caller(tb, error.location, label)
    return [*_one(error, label), *(["", *caller] if caller else [])]


def _one(error: WorkbenchError, label: Label) -> list[str]:
    where = error.location if error.location is not None and error.location.line else None
    place = f"{_file(where, label)}, line {where.shown_line}" if where else ""
    rows = [f"{type(error).__name__}  {', '.join(p for p in (error.function, place) if p)}".rstrip()]
    if where is not None:
        rows += [_INDENT + line for line in where.excerpt().splitlines()]
    return [*rows, f"{error.message}  {error.advice}".rstrip()]


def _file(where: Location, label: Label) -> str:
    named = label(where.source.filename)
    return named if named.startswith("Cell ") else where.source.name


def _caller(tb: TracebackType | None, where: Location | None, label: Label) -> list[str]:
    """The user's line that met the error, unless that line only holds the magic or the `def` it stands in."""
    frames = list(_user_frames(tb))
    if not frames:
        return []
    filename, line, in_magic = frames[-1]
    text = linecache.getline(filename, line).strip()
    if where is not None and (in_magic or text.startswith(("@", "def "))):
        return []
    return [f"raised at {label(filename)}, line {line}", *([_INDENT + text] if text else [])]


def _user_frames(tb: TracebackType | None) -> Iterator[tuple[str, int, bool]]:
    """File, line and whether it calls a magic, of each frame of a cell before the library took over."""
    while tb is not None and not tb.tb_frame.f_code.co_filename.startswith(_OURS):
        if tb.tb_frame.f_globals.get("__name__") == "__main__":
            yield tb.tb_frame.f_code.co_filename, tb.tb_lineno, _calls_magic(tb)
        tb = tb.tb_next


def _calls_magic(tb: TracebackType) -> bool:
    return tb.tb_next is not None and tb.tb_next.tb_frame.f_code.co_name in ("run_cell_magic", "run_line_magic")


_SHOWN = (WorkbenchError, AttributeError)


class ShortTracebacks:
    """Shows WorkbenchErrors short while installed in a shell; leaves a handler that someone else set.

    To an AttributeError of one of our objects it adds the name that may be meant, as Python's own prompt does.
    """

    def __init__(self, shell: Any) -> None:
        """For `shell`; nothing is changed before `install`."""
        self.shell = shell
        self._before: tuple[Any, Any] | None = None

    def install(self) -> None:
        """Take IPython's slot for custom exceptions where it is free."""
        if not self.shell.custom_exceptions:
            self._before = (self.shell.custom_exceptions, self.shell.CustomTB)
            self.shell.set_custom_exc(_SHOWN, self._show)

    def remove(self) -> None:
        """Give the slot back as it was."""
        if self._before is not None and self.shell.custom_exceptions == _SHOWN:
            self.shell.custom_exceptions, self.shell.CustomTB = self._before
        self._before = None

    def _show(
        self, shell: Any, kind: type, error: WorkbenchError | AttributeError, tb: Any, tb_offset: int | None = None
    ) -> list[str]:
        if not isinstance(error, WorkbenchError):
            _suggest(error)
            shell.showtraceback((kind, error, tb), tb_offset=tb_offset)
            return []
        rows = render(error, lambda name: cell_label(shell, name), tb)
        shell._showtraceback(kind, error, rows)
        # `%tb` and `%debug` ask these, and the hook of the error itself: from now on it shows everything.
        sys.last_type, sys.last_value, sys.last_traceback = kind, error, tb
        error.__dict__["_render_traceback_"] = lambda: _whole(shell, error)
        return rows


def _suggest(error: AttributeError) -> None:
    """Suggest the attribute that was probably meant, if one of our objects lacks the one that was read."""
    value, name = error.obj, error.name
    if name is None or not any(base.__module__.startswith("workbench.") for base in type(value).__mro__):
        return
    close = difflib.get_close_matches(name, [known for known in dir(value) if not known.startswith("_")], 1, 0.75)
    note = f"Did you mean {close[0]}?" if close else ""
    if note and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _whole(shell: Any, error: WorkbenchError) -> list[str]:
    return shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__)
