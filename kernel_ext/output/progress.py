"""A quiet line below the running cell while one launch, replay or compilation takes longer than a second.

A thread watches the main thread, which does nothing for it. The line is one output that is updated in place, and is
empty and takes no room afterwards. "stop" asks the front end to interrupt the kernel; it is shown where our
JupyterLab extension can do that.
"""

from __future__ import annotations

import secrets
import threading
from html import escape
from typing import Any

from kernel_ext.output.output_area import widgets_wanted
from kernel_ext.views import html
from workbench import inspect

PATIENCE = 1.0
"""Seconds that something takes before it is reported."""
PAUSE = 0.5
"""Seconds between two looks."""
_GONE = '<span class="wb-gone"></span><style>.jp-OutputArea-child:has(.wb-gone) { display: none }</style>'
_STOP = f'<span style="white-space: nowrap">{html.pressed("stop", "Interrupt the kernel", " · ")}</span>'


def line_text(task: inspect.UnderWay) -> str:
    """Return the progress line of a task: `running · 12 s · blur, 38 % of its threads`."""
    return f"{task.doing} · {html.seconds(task.seconds)} · {task.what}{f', {task.done}' if task.done else ''}"


def line_html(task: inspect.UnderWay) -> str:
    """Return the HTML of the line of a task, with a button that interrupts the kernel."""
    look = "opacity: 0.65; font-size: 90%; padding-left: 7px"  # where a cell's text begins
    return f'<div class="wb-progress" style="{look}">{escape(line_text(task))}{_STOP}</div>'


class _Line:
    """Represents the progress line of one run of a cell: an output that is updated."""

    def __init__(self, shell: Any) -> None:
        """Make a line that shows nothing yet, in the output of the shell's running cell."""
        # Not the shell's publisher: within %%capture that is another one.
        self._kernel, self._parent = shell.kernel, shell.parent_header
        self._name = f"wb-progress-{secrets.token_hex(6)}"
        self._text: str | None = None

    def show(self, task: inspect.UnderWay) -> None:
        """Show how far the task is, instead of what the line showed before."""
        self._send(html.ascii_only(line_text(task)), line_html(task))

    def clear(self) -> None:
        """Empty the line if it shows something."""
        if self._text:
            self._send("", _GONE)

    def _send(self, text: str, shown: str) -> None:
        """Send text and HTML to the front end: as a new output the first time, later as an update of it."""
        kind = "display_data" if self._text is None else "update_display_data"
        self._text = text
        content = {
            "data": {"text/plain": text, "text/html": shown},
            "metadata": {},
            "transient": {"display_id": self._name},
        }
        kernel = self._kernel
        topic = f"kernel.{kernel.ident}.{kind}".encode()
        kernel.session.send(kernel.iopub_socket, kind, content, parent=self._parent, ident=topic)


class Progress:
    """Shows the progress line in the cells of a shell that has a front end."""

    def __init__(self, shell: Any) -> None:
        """Attach to a shell; nothing is watched before `install`."""
        self._shell = shell
        self._changed = threading.Condition()
        self._line: _Line | None = None
        self._ended = False
        self._thread: threading.Thread | None = None

    def install(self) -> None:
        """Watch the shell's cells from now on, in a thread; in a terminal, or without widgets, do nothing."""
        if getattr(self._shell, "kernel", None) is not None and widgets_wanted():
            self._shell.events.register("pre_run_cell", self.cell_begins)
            self._shell.events.register("post_run_cell", self.cell_ends)
            self._thread = threading.Thread(target=self._watch, name="workbench-progress", daemon=True)
            self._thread.start()

    def remove(self) -> None:
        """Stop watching, and wait for the thread to end."""
        if self._thread is not None:
            self._shell.events.unregister("pre_run_cell", self.cell_begins)
            self._shell.events.unregister("post_run_cell", self.cell_ends)
            with self._changed:
                self._ended = True
                self._changed.notify()
            self._thread.join()
            self._thread = None

    def cell_begins(self, info: Any = None) -> None:
        """Begin to watch the cell, and set the handler of interrupts again: the front end has just set its own."""
        inspect.arm()
        with self._changed:
            self._line = _Line(self._shell)
            self._changed.notify()

    def cell_ends(self, result: Any = None) -> None:
        """Remove the cell's progress line."""
        with self._changed:
            line, self._line = self._line, None
            if line is not None:
                line.clear()
            self._changed.notify()

    def _watch(self) -> None:
        """Update the running cell's line every `PAUSE` seconds, until `remove`; the thread's function."""
        with self._changed:
            while not self._ended:
                self._changed.wait_for(lambda: self._line is not None or self._ended)
                watch, line = inspect.Watch(), self._line
                while line is not None and self._line is line and not self._ended:
                    self._look(line, watch)
                    self._changed.wait(PAUSE)

    def _look(self, line: _Line, watch: inspect.Watch) -> None:
        """Show the task that is under way if it has taken at least `PATIENCE` seconds; else empty the line."""
        task = watch.look()
        if task is not None and task.seconds >= PATIENCE:
            line.show(task)
        else:
            line.clear()
