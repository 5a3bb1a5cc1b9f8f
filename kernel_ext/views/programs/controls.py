"""Sliders bound to numbers of a record or a kept launch: a move replays, and compiles nothing.

The replaying is here and knows no browser: `Bound.run` takes values, puts back what the arrays held where that was
kept, runs, and says how long it took, how many kernels were compiled for it (none), and what went wrong.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

import workbench as wb
from kernel_ext.refusal import Refusal
from kernel_ext.views import html
from kernel_ext.views.arrays import array_fallback
from kernel_ext.views.arrays.array_view import ArrayView, Look, array_view
from workbench import events
from workbench.errors import WorkbenchError

Subject = wb.Recorder | wb.Tape | wb.Launch | wb.Graph | Callable[..., Any]
STEPS = 200
"""The number of steps of a slider, by default."""
AXES, PARTS = "xyzw", ("real", "imag")
VECTORS = {(2,): (wb.vec2, wb.vec2i), (3,): (wb.vec3, wb.vec3i), (4,): (wb.vec4, wb.vec4i)}
"""Vector types by shape, of floats and of integers."""


class Slider(msgspec.Struct, frozen=True):
    """Represents the slider of one number: its name, value, range and step, and whether it is an integer."""

    name: str
    value: float
    low: float
    high: float
    step: float
    integer: bool


class ControlsView(msgspec.Struct, frozen=True):
    """Represents the view of sliders and of the last run.

    Attributes:
        title: what is replayed.
        sliders: one a number.
        runs: how many replays there were.
        seconds: what the last one took.
        compiled: how many kernels were compiled in all of them.
        said: what went wrong in the last one; empty where nothing did.
        picture: the watched array after it; None if none is watched.
        note: a sentence on the last one in place of the usual; empty: the usual.
    """

    title: str
    sliders: tuple[Slider, ...]
    runs: int = 0
    seconds: float = 0.0
    compiled: int = 0
    said: str = ""
    picture: ArrayView | None = None
    note: str = ""


class Bound:
    """Represents work with sliders for its numbers: a record, a stored launch, a graph or a function.

    Attributes:
        subject: what is run.
        watch: the array that is drawn after each run; None: what a function returns.
        rewinds: whether the arrays are restored before each run.
        look: how the array is drawn.
        view: what is shown.
    """

    def __init__(
        self,
        subject: Subject,
        ranges: Mapping[str, Any],
        watch: Any = None,
        rewind: bool | None = None,
        look: Look = Look(),  # noqa: B008  (frozen)
    ) -> None:
        """Make sliders for `ranges`, or for every number if none is given; see `kernel_ext.show.controls`.

        Raises:
            Refusal: the subject cannot be run again, or kept no arrays to rewind to; a range is invalid; or there is
                no number of that name, or none at all.
            LaunchError: a tape has a step that is the user's own function.
        """
        if isinstance(subject, wb.Tape):
            subject = wb.Recorder(subject)
        if not isinstance(subject, wb.Recorder | wb.Launch | wb.Graph) and (
            isinstance(subject, wb.Kernel) or not callable(subject)
        ):
            what = "a record, a tape, a kept launch, a graph or a function"
            raise Refusal(f"controls() takes {what}; it got {type(subject).__name__!r}")
        self.subject, self.watch, self.look, self._returned = subject, watch, look, None
        keeps = isinstance(subject, wb.Recorder) and subject.keeps_inputs
        if rewind and not keeps:
            raise Refusal("there is nothing to rewind to: record with wb.record(inputs=True), or %%record --inputs")
        self.rewinds = keeps if rewind is None else rewind
        self._lock = threading.Lock()
        scalars = _scalars(subject)
        wanted = ranges or {name: None for name in scalars}
        sliders = tuple(s for name, limits in wanted.items() for s in _sliders(name, _scalar(name, scalars), limits))
        if not sliders:
            raise Refusal("no launch here takes a number or a vector; there is nothing to slide")
        self.view = ControlsView(_title(subject), sliders)
        if isinstance(subject, wb.Recorder | wb.Launch | wb.Graph):
            self.view = replace(self.view, picture=self._picture())
        else:
            self.run({})  # a function has nothing to show before it ran

    def run(self, values: Mapping[str, Any]) -> ControlsView:
        """Run the work with these values of sliders, the others unchanged; return the view, an error in `said`."""
        with self._lock:
            sliders = tuple(
                replace(s, value=kind(s)(values[s.name])) if s.name in values else s for s in self.view.sliders
            )
            built: list[events.Event] = []
            stop = events.subscribe(built.append, events.CompileStarted)
            started, problem = time.perf_counter(), ""
            try:
                self._replay(_joined(sliders))
            except WorkbenchError as error:
                problem = error.message
            finally:
                stop()
            spent = time.perf_counter() - started
            self.view = replace(
                self.view, sliders=sliders, runs=self.view.runs + 1, seconds=spent,
                compiled=self.view.compiled + len(built), said=problem, picture=self._picture(),
            )  # fmt: skip
            return self.view

    def _replay(self, values: dict[str, Any]) -> None:
        """Run the subject with these numbers by name, and wait for the device; store what a function returns.

        Arrays of a record are restored before, with `rewinds`.
        """
        if isinstance(self.subject, wb.Recorder):
            if self.rewinds:
                self.subject.rewind()
            self.subject.replay(**values)
        elif isinstance(self.subject, wb.Launch):
            for name, value in values.items():
                self.subject.set_param_by_name(name, value)
            self.subject.launch()
        elif isinstance(self.subject, wb.Graph):
            self.subject.update(**values)
            self.subject.launch()
        else:
            self._returned = self.subject(**values)
        wb.synchronize()

    def _picture(self) -> ArrayView | None:
        """Return the view of the watched array, else of what the function returned; None if that is no array."""
        if self.watch is not None:
            return array_view(self.watch, "array", look=self.look)
        shape = getattr(self._returned, "shape", None)
        return array_view(self._returned, "array", look=self.look) if shape is not None else None


def kind(slider: Slider) -> type:
    """Return the Python type of a slider's numbers."""
    return int if slider.integer else float


def _title(subject: Subject) -> str:
    """Return the subject in words: a launch by its kernel, a graph or record by its size, a function by name."""
    if isinstance(subject, wb.Launch):
        return f"launch of {subject.kernel.name}"
    if isinstance(subject, wb.Graph):
        return f"graph of {html.count(len(subject), 'node')}"
    if not isinstance(subject, wb.Recorder):
        return getattr(subject, "__name__", "function").replace("<lambda>", "function")
    return f"record of {html.count(len(subject), 'entry')}"


def _scalars(subject: Subject) -> dict[str, Any]:
    """Return the numbers and vectors that sliders may change, by parameter.

    Of work they are the arguments of its launches, by the first that has the name; of a function, its parameters'
    defaults, or 0 without one.
    """
    if isinstance(subject, wb.Launch):
        launches = [subject.record]
    elif isinstance(subject, wb.Graph | wb.Recorder | wb.Tape):
        nodes = wb.inspect.graph_of(subject, "what has sliders").walk()
        launches = [record for node in nodes if (record := getattr(node, "record", None)) is not None]
    else:
        parameters = inspect.signature(subject).parameters.values()
        return {
            p.name: 0.0 if p.default is p.empty else p.default
            for p in parameters
            if _is_number(p.default, p.empty) or _is_vector(p.default)
        }
    scalars: dict[str, Any] = {}
    for record in launches:
        for name, value in record.arguments.items():
            if _is_number(value) or _is_vector(value):
                scalars.setdefault(name, value)
    return scalars


def _is_number(value: Any, also: Any = None) -> bool:
    """Return whether the value is a number and no bool, or is the object `also`."""
    return value is also or (isinstance(value, int | float | np.number) and not isinstance(value, bool))


def _is_vector(value: Any) -> bool:
    """Return whether the value is a vector of 2 to 4 numbers, which a launch stores as a tuple, or a complex number."""
    if isinstance(value, complex):
        return True
    return isinstance(value, tuple | np.ndarray) and np.shape(value) in VECTORS and all(map(_is_number, value))


def _joined(sliders: tuple[Slider, ...]) -> dict[str, Any]:
    """Return the arguments that sliders stand for, by name: `light.x`, `light.y`, `light.z` are one vector `light`."""
    values: dict[str, Any] = {}
    for s in sliders:
        name, _, axis = s.name.partition(".")
        values[name] = (*values.get(name, ()), kind(s)(s.value)) if axis else kind(s)(s.value)
    complex_names = {s.name.partition(".")[0] for s in sliders if s.name.endswith(f".{PARTS[1]}")}
    return {
        name: complex(*v)
        if name in complex_names
        else VECTORS[len(v),][isinstance(v[0], int)](*v)
        if isinstance(v, tuple)
        else v
        for name, v in values.items()
    }


def _sliders(name: str, value: Any, limits: Any) -> list[Slider]:
    """Return the slider of a number, or those of a vector's components; `limits` None: a range by the value.

    That is, for a vector, twice its largest component to both sides.
    """
    if not _is_vector(value):
        return [slider(name, value, limits)]
    axes, value = (PARTS, (value.real, value.imag)) if isinstance(value, complex) else (AXES, value)
    if limits is None:
        most = 2 * float(max(map(abs, value))) or 1.0
        limits = (-most, most)
    return [slider(f"{name}.{axis}", part, limits) for axis, part in zip(axes, value, strict=False)]


def _scalar(name: str, scalars: Mapping[str, Any]) -> Any:
    """Return the present number or vector of the parameter `name`.

    Raises:
        Refusal: there is none.
    """
    if name not in scalars:
        known = ", ".join(scalars) or "none"
        advice = f"for an array of one element, write {name} = show.slider(low, high, value)"
        raise Refusal(f"no launch here takes a number {name}; there is {known}; {advice}")
    return scalars[name]


def slider(name: str, value: Any, limits: Any) -> Slider:
    """Return a number's slider over (low, high) or (low, high, step); `limits` None: from 0 to twice its value.

    For the value 0 that is to 1, or to 10 for an integer.

    Raises:
        Refusal: `limits` are no range.
    """
    integer = isinstance(value, int | np.integer)
    start = float(value)
    if limits is None:
        limits = (min(0.0, 2 * start), max(0.0, 2 * start)) if start else (0.0, 10.0 if integer else 1.0)
    try:
        low, high, *rest = map(float, limits)
        step = rest[0] if rest else (1.0 if integer else (high - low) / STEPS)
    except (TypeError, ValueError):
        raise Refusal(f"{name} takes (low, high) or (low, high, step); it got {limits!r}") from None
    if not (low < high and step > 0 and len(rest) < 2):
        raise Refusal(f"{name} takes (low, high) or (low, high, step) with low < high; it got {limits!r}")
    return Slider(name, int(start) if integer else start, low, high, step, integer)


def controls_text(view: ControlsView) -> str:
    """Format the sliders' numbers and ranges, and the watched array if there is one, in ASCII."""
    rows = [f"{view.title}: sliders need a live notebook"]
    rows += [f"  {s.name} = {s.value:g}  ({s.low:g} to {s.high:g})" for s in view.sliders]
    rows += [array_fallback.array_text(view.picture)] if view.picture else []
    return html.ascii_only("\n".join(rows))


def controls_html(view: ControlsView) -> str:
    """Format the sliders' numbers and ranges, and the watched array if there is one, as static HTML."""
    rows = [(s.name, f"{s.value:g}", f"{s.low:g} … {s.high:g}") for s in view.sliders]
    picture = array_fallback.array_html(view.picture) if view.picture else ""
    note = html.line("moving a slider replays; it needs the notebook's kernel")
    return html.box(html.line(view.title), html.table(("number", "value", "range"), rows), note, picture)
