"""The display of errors in the user's cells: the location as `Cell In[6], line 4`, the line, a caret, one sentence.

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
from contextlib import contextmanager
from types import ModuleType, TracebackType
from typing import Any

from IPython.core.error import UsageError

import workbench
from workbench import inspect
from workbench.errors import CellErrors, KernelFault, WorkbenchError
from workbench.source import Location

_OURS = tuple(
    os.path.dirname(os.path.abspath(path)) + os.sep for path in (workbench.__file__ or "", os.path.dirname(__file__))
)
_INDENT = "    "
Label = Callable[[str], str]


class KernelUsageError(UsageError):
    """Raised where a magic was called wrongly.

    IPython prints a bare UsageError to stderr and reports no error, so test runners pass it; the hook below makes it
    an error output like any other, in one line.
    """

    def _render_traceback_(self) -> list[str]:
        """Return the one line that IPython prints instead of a traceback."""
        return [f"UsageError: {self}"]


def cell_label(shell: Any, filename: str) -> str:
    """Return IPython's name of a cell's file, `Cell In[6]`, or `a cell` if it has none; other files keep their name."""
    known = getattr(shell.compile, "format_code_name", lambda _: None)(filename)
    if known:
        return " ".join(known)
    number = re.match(r"<ipython-input-(\d+)-", filename)
    if number:
        return f"Cell In[{number[1]}]"
    return "a cell" if os.path.basename(os.path.dirname(filename)).startswith("ipykernel_") else filename


def render(error: WorkbenchError, label: Label, tb: TracebackType | None = None) -> list[str]:
    """Return the lines that show an error, without Workbench's frames; of `CellErrors` all, and their number.

    `label` returns what people call a file, `tb` says where the user's code met the error.
    """
    if isinstance(error, CellErrors):
        return [row for each in error.errors for row in (*_one(each, label), "")] + [f"{len(error.errors)} errors"]
    caller = _caller(tb, error.location, label)
    return [*_one(error, label), *(["", *caller] if caller else [])]


def _one(error: WorkbenchError, label: Label) -> list[str]:
    """Return the lines of one error: type and location, the excerpt with its caret, then message and advice."""
    where = error.location if error.location is not None and error.location.line else None
    shown = f"{_file(where, label)}, line {where.shown_line}" if where else ""
    rows = [f"{type(error).__name__}  {', '.join(p for p in (error.function, shown) if p)}".rstrip()]
    if where is not None:
        rows += [_INDENT + line for line in where.excerpt().splitlines()]
    return [*rows, f"{error.message}  {error.advice}".rstrip()]


def _file(where: Location, label: Label) -> str:
    """Return a location's file in words: its cell's label, else the name of its source."""
    named = label(where.source.filename)
    return named if named.startswith("Cell ") else where.source.name


def _caller(tb: TracebackType | None, where: Location | None, label: Label) -> list[str]:
    """Return lines on where the user's code met the error, to be shown below the error's own.

    There are none if `tb` has no frame of a cell, or if that line is the magic's or the `def` itself.
    """
    frames = list(_user_frames(tb))
    if not frames:
        return []
    filename, line, in_magic = frames[-1]
    text = linecache.getline(filename, line).strip()
    if where is not None and (in_magic or text.startswith(("@", "def "))):
        return []
    return [f"raised at {label(filename)}, line {line}", *([_INDENT + text] if text else [])]


def _user_frames(tb: TracebackType | None) -> Iterator[tuple[str, int, bool]]:
    """Yield file, line and whether it calls a magic, of each frame of a cell before the library took over."""
    while tb is not None and not tb.tb_frame.f_code.co_filename.startswith(_OURS):
        if tb.tb_frame.f_globals.get("__name__") == "__main__":
            yield tb.tb_frame.f_code.co_filename, tb.tb_lineno, _calls_magic(tb)
        tb = tb.tb_next


def _calls_magic(tb: TracebackType) -> bool:
    """Return whether the traceback's first frame calls IPython's function that runs a magic."""
    return tb.tb_next is not None and tb.tb_next.tb_frame.f_code.co_name in ("run_cell_magic", "run_line_magic")


_SHOWN = (Exception, KeyboardInterrupt)


class ShortTracebacks:
    """Represents a shell's error handler that hides Workbench's frames; it yields to a handler that someone else sets.

    A WorkbenchError is a few lines. All else is as IPython shows it; an AttributeError of one of our objects has the
    name that may be meant, as at Python's own prompt.
    """

    def __init__(self, shell: Any) -> None:
        """Attach to `shell`; nothing is changed before `install`."""
        self.shell = shell
        self._before: tuple[Any, Any] | None = None

    def install(self) -> None:
        """Set the shell's handler of custom exceptions, if it has none."""
        if not self.shell.custom_exceptions:
            self._before = (self.shell.custom_exceptions, self.shell.CustomTB)
            self.shell.set_custom_exc(_SHOWN, self._show)

    def remove(self) -> None:
        """Restore the shell's handler as it was, unless someone else has set one since."""
        if self._before is not None and self.shell.custom_exceptions == _SHOWN:
            self.shell.custom_exceptions, self.shell.CustomTB = self._before
        self._before = None

    def _show(self, shell: Any, kind: type, error: BaseException, tb: Any, tb_offset: int | None = None) -> list[str]:
        """Show an error without Workbench's frames, as the shell's handler; `%tb` and `%debug` still get all.

        Returns:
            The lines of a WorkbenchError; empty for any other error.
        """
        if not isinstance(error, WorkbenchError):
            _suggest(error)
            with _shortened(error):
                shell.showtraceback((kind, error, _of_user(tb)), tb_offset=tb_offset, running_compiled_code=True)
            sys.last_traceback = tb  # `%tb` and `%debug` show everything
            return []
        rows = render(error, lambda name: cell_label(shell, name), tb)
        if isinstance(error, KernelFault) and error.thread and not error.block:
            error.__dict__.setdefault("_launch", inspect.last_launch())  # later ones are others
            rows += ["", f"%fault steps through thread {error.thread}; %fault threads shows all of them"]
        shell._showtraceback(kind, error, rows)
        # `%tb` and `%debug` ask these, and the hook of the error itself: from now on it shows everything.
        sys.last_type, sys.last_value, sys.last_traceback = kind, error, tb
        error.__dict__["_render_traceback_"] = lambda: _full(shell, error)
        return rows


def _of_user(tb: TracebackType | None, inside: bool = False) -> TracebackType | None:
    """Return a traceback without frames of Workbench and of libraries that it called; the user's callbacks stay."""
    if tb is None:
        return None
    names = tb.tb_frame.f_globals
    inside = tb.tb_frame.f_code.co_filename.startswith(_OURS) or (inside and names.get("__name__") != "__main__")
    rest = _of_user(tb.tb_next, inside)
    return rest if inside else TracebackType(rest, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)


@contextmanager
def _shortened(error: BaseException) -> Iterator[None]:
    """Remove Workbench's frames from the errors that led to this one, within a `with` block; restore them after it."""
    originals: list[tuple[BaseException, TracebackType | None]] = []
    while (before := error.__cause__ or error.__context__) is not None and all(before is not e for e, _ in originals):
        originals.append((before, before.__traceback__))
        before.__traceback__ = _of_user(before.__traceback__)
        error = before
    try:
        yield
    finally:
        for before, tb in originals:
            before.__traceback__ = tb


_OPTIONS = {
    "cmap": "colours", "colors": "colours", "c": "color", "s": "size", "vmin": "range", "vmax": "range",
    "title": "name", "label": "name",
}  # fmt: skip
"""Options of other libraries' drawing functions, each with Workbench's name for it."""


def _suggest(error: BaseException) -> None:
    """Add a note to an error that names the attribute, or the option of a view, that was probably meant.

    That is for an AttributeError of an object of Workbench's and a TypeError of a drawing function.
    """
    note = ""
    if isinstance(error, AttributeError) and error.name is not None:
        value = error.obj
        of_workbench = any(base.__module__.startswith("workbench.") for base in type(value).__mro__)
        if of_workbench or (isinstance(value, ModuleType) and value.__name__.startswith("kernel_ext")):
            known = [name for name in dir(value) if not name.startswith("_")]
            note = "".join(f"Did you mean {n}?" for n in difflib.get_close_matches(error.name, known, 1, 0.75))
    elif isinstance(error, TypeError):
        called = re.match(r"(array|points|animate)\(\) got an unexpected keyword argument '(\w+)'", str(error))
        option = _OPTIONS.get(called[2], "") if called else ""
        option = "color" if called and called.groups() == ("points", "colors") else option  # of each point
        note = f"Did you mean {option}=?" if option else ""
    if note and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _full(shell: Any, error: WorkbenchError) -> list[str]:
    """Return the lines of IPython's own traceback of the error, with all frames."""
    return shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__)
