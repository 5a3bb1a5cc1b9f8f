"""A slider that is a value: kernels take it as an argument, and what was recorded with it runs again when it moves."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

import workbench as wb
from kernel_ext.output.renderable import Shown
from kernel_ext.output.staleness import NOTEBOOK
from kernel_ext.refusal import Refusal
from kernel_ext.views import html
from kernel_ext.views.programs import controls
from workbench import events, inspect
from workbench.errors import WorkbenchError

_BEFORE = "When it moves, records that used it run again; nothing is compiled."


def _note_read(slider: inspect.Uniform) -> None:
    """Tell each notebook that the running cell has taken the slider's value."""
    for notebook in NOTEBOOK:
        notebook.read(slider)


class Slider(inspect.Uniform):
    """Represents a number or vector with a slider for each part; `show.slider` makes one.

    It is a uniform; when it moves, its value changes and the records that used it are replayed.

    Attributes:
        view: what its widget shows.
        name: what the notebook calls it; empty if it has no name there.
        is_shown: whether a cell shows it.
    """

    is_shown = False

    def __init__(self, low: Any, high: Any, value: Any = None, step: Any = None) -> None:
        """Create a slider from `low` to `high`; `value` None: it begins in the middle; see `kernel_ext.show.slider`.

        Raises:
            Refusal: these are no numbers or vectors of one size, or no range.
        """
        ends = [np.asarray(v) for v in (low, high, low if value is None else value)]
        shape = max((e.shape for e in ends), key=len)
        self._complex = any(e.dtype.kind == "c" for e in ends)
        if self._complex and not shape:  # a number for both parts, as for the components of a vector
            shape = (2,)
            ends = [np.array([np.real(e), np.imag(e)]) if e.dtype.kind == "c" else e for e in ends]
        if any(e.shape not in ((), shape) or e.dtype.kind not in "iuf" for e in ends) or not _is_small(shape):
            got = f"{low!r}, {high!r}" + ("" if value is None else f" and {value!r}")
            raise Refusal(f"slider() takes numbers, complex ones, too, or vectors of 2 to 4; it got {got}")
        integral = not shape and all(
            e.dtype.kind in "iu" for e in map(np.asarray, (low, high, low if step is None else step))
        )
        if value is None:
            ends[2] = (ends[0] + ends[1]) / 2
        lows, highs, values = (np.broadcast_to(e, shape).reshape(-1).tolist() for e in ends)
        if any(not a <= v <= b for a, b, v in zip(lows, highs, values, strict=True)):
            raise Refusal(f"slider() takes a value between its ends; it got {value!r} between {low!r} and {high!r}")
        self._shape, self.name = shape, ""
        self._lock = threading.Lock()
        rows = [
            controls.slider(part, int(v) if integral else float(v), (a, b) if step is None else (a, b, step))
            for part, a, b, v in zip(self._parts(), lows, highs, values, strict=True)
        ]
        self.view = controls.ControlsView("slider", tuple(rows), note=_BEFORE)
        kind = wb.complex64 if self._complex else controls.VECTORS[shape][0] if shape else wb.float32
        super().__init__(self._joined(), wb.int32 if integral else kind)
        self.read = _note_read
        for notebook in NOTEBOOK:
            notebook.add(self)

    def _parts(self) -> list[str]:
        """Return the names of the value's sliders: one for a number, else one for each part, such as `name.x`."""
        name = self.name or "value"
        axes = controls.PARTS if self._complex else controls.AXES
        return [f"{name}.{axis}" for axis in axes[: self._shape[0]]] if self._shape else [name]

    def _joined(self) -> Any:
        """Return the sliders' numbers as one value: a number, a complex number or a vector."""
        scalars = [s.value for s in self.view.sliders]
        if self._complex:
            return complex(*scalars)
        return controls.VECTORS[self._shape][0](*scalars) if self._shape else scalars[0]

    @property
    def shown(self) -> Shown:
        """The slider's view in a cell, under the name that the notebook has for it."""
        self.is_shown = True
        for notebook in NOTEBOOK:
            self.name = notebook.name_of(self)
        rows = zip(self._parts(), self.view.sliders, strict=True)
        self.view = replace(self.view, sliders=tuple(replace(s, name=part) for part, s in rows))
        return Shown("controls", self.view, controls.controls_text, controls.controls_html, source=self)

    @property
    def widget(self) -> Any:
        """The live widget, for front ends and layouts that take one."""
        return self.shown.widget

    def _ipython_display_(self) -> None:
        """Display the slider in the running cell; IPython calls this for a cell's last value."""
        self.shown._ipython_display_()

    def _display_(self) -> Any:
        """Return what marimo displays for the slider."""
        return self.shown._display_()  # in marimo

    def run(self, values: Mapping[str, Any]) -> controls.ControlsView:
        """Move the slider, and run again what was recorded with it.

        Args:
            values: by the names of the view's sliders; a slider that is missing stays.

        Returns:
            What is shown from now on; its `said` has the error, if there was one.
        """
        with self._lock:
            rows = tuple(replace(s, value=controls.kind(s)(values.get(s.name, s.value))) for s in self.view.sliders)
            self.view = replace(self.view, sliders=rows)
            built: list[events.Event] = []
            stop = events.subscribe(built.append, events.CompileStarted)
            started, problem, ran = time.perf_counter(), "", 0
            try:
                self.set(self._joined())
                for user in self.users:
                    if all(notebook.reaches(user) for notebook in NOTEBOOK):
                        _run_again(user)
                        ran += 1
                wb.synchronize()
            except WorkbenchError as error:
                problem = error.message
            finally:
                stop()
            drawn = sum(notebook.moved() for notebook in NOTEBOOK)
            spent = time.perf_counter() - started
            note = f"{html.count(ran, 'record')} replayed, {html.count(drawn, 'view')} drawn in {html.seconds(spent)}"
            self.view = replace(
                self.view,
                runs=self.view.runs + 1,
                seconds=spent,
                compiled=self.view.compiled + len(built),
                said=problem,
                note=f"{note} · {self.view.compiled + len(built)} compiled" if ran else "no record used it yet",
            )
            return self.view

    def __repr__(self) -> str:
        """Return the slider's name and the values of its parts, in angle brackets."""
        shown = ", ".join(f"{s.value:g}" for s in self.view.sliders)
        return f"<slider {self.name or 'value'}: {shown}>"


def _run_again(user: wb.Recorder | wb.Launch) -> None:
    """Launch a stored launch, or replay a record, with its inputs restored before if it stores them."""
    if isinstance(user, wb.Launch):
        user.launch()
        return
    if user.keeps_inputs:
        user.rewind()
    user.replay()


def _is_small(shape: tuple[int, ...]) -> bool:
    """Return whether a shape is that of a number or of a vector that sliders can show."""
    return not shape or shape in controls.VECTORS
