"""Plain functions that show things: in a notebook a live view, in a script text, in marimo `show.….widget`.

The magics show the same objects. Each function reads its argument once; what is shown does not follow later changes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, overload
from weakref import WeakValueDictionary

import numpy as np

import workbench as wb
from kernel_ext.launch_views import backward, profile, steps, threads, threads_of
from kernel_ext.output.html_export import CellPage, write_page
from kernel_ext.output.renderable import Shown
from kernel_ext.output.slider import Slider
from kernel_ext.refusal import Refusal, must_be
from kernel_ext.session.recording import Label, place_label, timeline_view
from kernel_ext.views import html
from kernel_ext.views.arrays import animation as moving
from kernel_ext.views.arrays import array_fallback, array_view
from kernel_ext.views.arrays import points_view as cloud
from kernel_ext.views.arrays.animation import write_film
from kernel_ext.views.kernels import queries, renderers
from kernel_ext.views.programs import controls as sliders
from kernel_ext.views.programs import gradient_view
from kernel_ext.views.programs import tape_view as tape_rows
from kernel_ext.views.programs import timeline as timelines
from kernel_ext.views.view_data import InspectView, PaneView


class Redraw:
    """Draws a view of values again, if a Workbench array among them was written since; it keeps no array alive.

    Only arrays of Workbench know when they are written.
    """

    def __init__(self, draw: Callable[..., Any], *values: Any) -> None:
        """Note the versions of the arrays among `values`, of which `draw` has just made a view."""
        self._draw = draw
        self._held = [weakref.ref(v) if isinstance(v, wb.array) else lambda v=v: v for v in values]
        self._versions = self._written(values)

    def __call__(self) -> Any:
        """Draw the view of the present values and return it; None if no array was written since, or one is gone."""
        values = [held() for held in self._held]
        versions = self._written(values)
        if versions == self._versions or len(versions) < len(self._versions):
            return None
        self._versions = versions
        return self._draw(*values)

    @staticmethod
    def _written(values: Any) -> list[int]:
        """Return the write counters of the Workbench arrays among `values`, in order; other values have none."""
        return [v.memory.version for v in values if isinstance(v, wb.array)]


def array(
    value: Any, name: str = "array", at: tuple[int, ...] = (), *, rgb: bool | None = None, colours: str = "",
    range: tuple[float, float] | None = None, size: int = array_view.SIDE, field: str = "",
) -> Shown:  # fmt: skip
    """Show an array of numbers as a plot or an image, with a histogram, its range, and marks at NaN and infinities.

    An array of structs is a table with a column for each field, and a picture of one of them.

        show.array(u, "u", range=(-1, 1), colours="coolwarm")
        show.array(image, rgb=True)

    Args:
        value: a Workbench, NumPy, JAX or PyTorch array on the host or a device.
        name: what to call it.
        at: indices of the leading dimensions of an array of more than two; a live view has sliders for them.
        rgb: draw three components as one picture in colours: `vec3`, or shape (rows, columns, 3). None: if a picture of
            `vec3` holds values from 0 to 1 only.
        colours: the colour map of an image: "viridis", "coolwarm", "magma" or "gray". "" is coolwarm, with white at
            zero, if the range has both signs, else viridis.
        range: the values at the ends of the colours and of the axis; those of the array if not given. Of colours: black
            and full, 0 and 1 (integers: 0 and 255) if not given.
        size: points of the longer side of an image; a larger array is reduced to means of blocks.
        field: of an array of structs, the field to draw: `a.b` of a struct inside another. The first if not given; a
            live view has a choice of them.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: it is not an array of numbers or structs, or an option does not fit.
    """
    return array_look(value, name, at, array_view.Look(rgb, colours, range, size, field=field))


def array_look(value: Any, name: str, at: tuple[int, ...], look: array_view.Look) -> Shown:
    """Show an array as `array` does, with the options as one value.

    Args:
        value: the array.
        name: what to call it.
        at: indices of the leading dimensions of an array of more than two.
        look: colours, range and size.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.
    """
    view = array_view.array_view(value, name, at, look)
    slices = array_view.Slices(value, view, look)
    shown = Shown(
        "array_view",
        view,
        array_fallback.array_text,
        array_fallback.array_html,
        slice_at=slices if view.sizes or view.fields else None,
        threads_at=threads_of(value),
    )
    shown.again = Redraw(slices.draw, value)
    return shown


def points(
    value: Any, name: str = "points", *, color: Any = None, colours: str = "",
    range: tuple[float, float] | None = None, size: float = 3.0, box: tuple[Any, Any] | None = None,
) -> Shown:  # fmt: skip
    """Show points in a plane or in space; a live view turns, moves and enlarges them, with WebGL if the browser has it.

        show.points(x, "particles", color=speed)

    Args:
        value: an array of `vec2` or `vec3`, or of shape (n, 2) or (n, 3). Of more than 200,000 every second, third, …
            is drawn; those with a NaN or an infinity are left out and counted.
        name: what to call them.
        color: a number for each point, drawn by a colour map, or a `vec3` from 0 to 1: red, green, blue.
        colours: the colour map, as of `array`.
        range: the values at the ends of the colours; those of `color` if not given.
        size: the diameter of a point in pixels.
        box: the lower and the upper corner of what is drawn; the points' own if not given. A box of no depth, and
            `vec3` that all have the same z, are seen as a plane.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: these are no points, or an option does not fit.
    """

    def draw(value: Any, color: Any) -> cloud.PointsView:
        return cloud.points_view(value, name, color, colours, range, size, box)

    return _points(draw, value, color)


def _points(draw: Callable[..., cloud.PointsView], *values: Any) -> Shown:
    """Return a view of points that is drawn again when Workbench arrays among the values were written.

    Args:
        draw: makes a view of the values.
        values: arrays, and what else is drawn of them.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.
    """
    shown = Shown("points", draw(*values), cloud.points_text, cloud.points_html)
    shown.again = Redraw(draw, *values)
    return shown


def mesh(value: Any, faces: Any = None, name: str = "mesh", **options: Any) -> Shown:
    """Show triangles between points; a live view turns, moves and enlarges them.

        show.mesh(x, faces, "cloth", color=stress)

    Args:
        value: the points, as of `points`; or a `wb.Mesh`, which has its faces.
        faces: the numbers of the corners of each: an array of integers of shape (n, 3), or of vectors of three.
        name: what to call it.
        options: `color`, `colours`, `range`, `size` and `box` of `points`; colours are blended between corners.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: these are no points or faces, or an option does not fit.
    """
    if isinstance(value, wb.Mesh):
        value, faces = value.points, value.indices.numpy().reshape(-1, 3)
    return _mesh(value, faces, 3, name, options)


def lines(value: Any, ends: Any = None, name: str = "lines", **options: Any) -> Shown:
    """Show lines between points; a live view turns, moves and enlarges them.

        show.lines(x, springs)

    Args:
        value: the points, as of `points`.
        ends: the numbers of the ends of each: shape (n, 2). None: from each point to the next one.
        name: what to call them.
        options: `color`, `colours`, `range`, `size` and `box` of `points`; colours are blended between ends.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: these are no points or lines, or an option does not fit.
    """
    if ends is None:
        ends = np.stack([np.arange(max(0, len(value) - 1)), np.arange(1, max(1, len(value)))], axis=1)
    return _mesh(value, ends, 2, name, options)


def _mesh(value: Any, corners: Any, ends: int, name: str, options: Mapping[str, Any]) -> Shown:
    """Return a view of faces, which have three corners each, or of lines.

    Args:
        value: the points.
        corners: the numbers of the points at their ends.
        ends: how many each has.
        name: what to call them.
        options: `color`, `colours`, `range`, `size` and `box` of `points`.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.
    """

    def draw(value: Any, corners: Any, color: Any) -> cloud.PointsView:
        return cloud.mesh_with(value, corners, ends, name, {**options, "color": color})

    return _points(draw, value, corners, options.get("color"))


def animate(
    step: Any, watch: Any, *, frames: int = 200, fps: float = 30.0, name: str = "", draw: Callable[..., Shown] = array,
    **options: Any,
) -> Animated:  # fmt: skip
    """Show a program as a moving picture with play, pause and a slider: each frame is a step, and frames are stored.

        show.animate(lambda: wb.launch(wave, n, [u, v, 0.1]), watch=u, range=(-1, 1))
        show.animate(step, watch=x, draw=show.points, color=speed, box=((0, 0), (1, 1)))

    Args:
        step: makes the next frame: a function (of the frame's number, if it takes an argument), a graph, a record, or a
            launch made with `record_cmd=True`.
        watch: the array that is drawn, as it is now and after each step; or a list of such arrays and of functions that
            return a view, `lambda: show.points(x)`, which are drawn side by side.
        frames: how many frames there can be; the first is before any step.
        fps: frames per second, if the program is fast enough.
        name: what to call it.
        draw: `array` or `points`, for arrays of `watch`.
        options: those of `draw`. Without `range` the colours of an array take in all frames so far.

    Returns:
        What is shown; `.save("wave.gif")` or `.save("wave.mp4")` writes all frames.

    Raises:
        Refusal: `step` is nothing that can run, or an option does not fit.
    """
    title = name or "animation"
    watched = list(watch) if isinstance(watch, list | tuple) else [watch]

    def pictures() -> tuple[moving.Picture, ...]:
        return tuple(picture_of(each, lambda value: draw(value, title, **options)) for each in watched)

    return Animated(moving.Animation(step, pictures, title, frames, fps, options, watch))


def picture_of(watched: Any, draw: Callable[[Any], Shown] = array) -> moving.Picture:
    """Return the picture of an array, or of what a function returns: an array or a view of one.

    Args:
        watched: the array or the function.
        draw: draws an array.

    Returns:
        What a film shows of it.

    Raises:
        Refusal: the function returns something else.
    """
    value = watched() if callable(watched) and not isinstance(watched, wb.array) else watched
    shown = value if isinstance(value, Shown) else draw(value)
    if not isinstance(shown.view, moving.Picture):
        raise Refusal(f"a film shows arrays and points; one of what it watches is a view of kind {shown.kind!r}")
    return shown.view


class Animated(Shown):
    """Represents a program as a moving picture, which `animate` returns; `save` writes its frames to a file."""

    def __init__(self, animation: moving.Animation) -> None:
        """Make the view of an animation; where it cannot play, the frame that was shown last stands."""
        super().__init__("animation", animation.view, moving.animation_text, moving.animation_html, source=animation)
        self._animation = animation

    def save(self, path: str, fps: float = 20.0, scale: int = 1) -> str:
        """Run all frames and write them: a GIF (by Pillow) or an MP4 (by imageio-ffmpeg).

        Args:
            path: the file; its name ends in .gif or .mp4.
            fps: frames per second.
            scale: pixels of the file for each point of an image.

        Returns:
            What was written, in a sentence.

        Raises:
            Refusal: the name ends otherwise, the library is not installed, a step fails, or the file cannot be
                written.
        """
        return write_film(path, self._animation, fps, scale)


def tape(tape: wb.Tape, title: str = "tape", namespace: Mapping[str, Any] | None = None) -> Shown:
    """Show what a tape recorded as a graph of its steps, and what it keeps for whose gradient and why.

    Args:
        tape: the tape.
        title: what to call it.
        namespace: names of arrays, as `globals()`.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: it is something else.
    """
    must_be(tape, wb.Tape, "tape() takes a tape")
    view = tape_rows.tape_view(tape, title, namespace)
    picture = tape_rows.tape_picture(tape, view, namespace or {})
    return Shown(
        "graph_view", picture, lambda _: tape_rows.tape_text(view), lambda _: tape_rows.tape_html(view, picture)
    )


def cache() -> Shown:
    """Show the cache: what is in it, how it served, why kernels were rebuilt. A live view can remove modules.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.
    """
    view = queries.cache_view()
    return Shown("cache_table", view, renderers.cache_text, renderers.cache_html)


def source(kernel: Any, panes: Iterable[str] = ("source", "ir"), said: str = "") -> Shown:
    """Show texts about a kernel side by side, with linked lines; a live view offers all others.

    Args:
        kernel: the kernel.
        panes: of `workbench.inspect.PANES`.
        said: a few words next to its name.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.
    """
    return texts(queries.inspect_view(kernel, panes, said), lambda _, name: queries.pane_views(kernel, (name,))[0])


def texts(view: InspectView, make_pane: Callable[[str, str], PaneView] | None = None) -> Shown:
    """Show texts side by side; `make_pane` makes those that are opened later, from a kernel's and a pane's name.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.
    """
    return Shown("source_view", view, renderers.inspect_text, renderers.inspect_html, make_pane=make_pane)


def timeline(recorder: wb.Recorder, title: str = "record", label: Label = place_label) -> Shown:
    """Show a record as lanes of bars.

    Args:
        recorder: what `wb.record` returned.
        title: what to call it.
        label: turns a file's name into what people call it; a notebook's cell is called `cell [6]` if not given.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: it is something else.
    """
    must_be(recorder, wb.Recorder, "timeline() takes what wb.record returned")
    view = timeline_view(recorder, title, label)
    shown = Shown("timeline", view, timelines.timeline_text, timelines.timeline_html)
    shown.live_parts = WeakValueDictionary(recorder=recorder)  # a picture keeps no arrays alive
    return shown


def graph(graph: wb.Graph | wb.Recorder | wb.Tape) -> Shown:
    """Show work as boxes and lines: a captured graph, what a record replays, or what a tape recorded.

        show.graph(rec)

    Args:
        graph: any of the three; edges are what one launch, copy or fill reads of another.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: it is something else.
    """
    must_be(graph, wb.Graph | wb.Recorder | wb.Tape, "graph() takes a captured graph, a record or a tape")
    origin = "a tape" if isinstance(graph, wb.Tape) else "a record"
    drawn = graph if isinstance(graph, wb.Graph) else wb.inspect.graph_of(graph, origin)
    static = drawn._repr_mimebundle_()
    return Shown("graph_view", drawn.layout(), static["text/plain"], static["text/html"])


def grad(verdict: wb.Verdict | None = None, tape: wb.Tape | None = None, **arrays: Any) -> Shown:
    """Show a gradcheck's verdict, arrays next to their adjoints, or both.

    Args:
        verdict: what `wb.gradcheck` gave.
        tape: whose gradients to show; the arrays' own `.grad` if not given.
        arrays: name=array, each next to its adjoint.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: there is nothing to show, it is something else, or an array has no gradient.
    """
    must_be(
        verdict, wb.Verdict | None, "grad() takes what wb.gradcheck returned, or arrays by name: grad(x=x, tape=tape)"
    )
    view = gradient_view.grads_view(verdict, tape, arrays)
    return Shown("grad_view", view, gradient_view.grads_text, gradient_view.grads_html)


def gradient_report(report: wb.GradientReport) -> Shown:
    """Show what `%grad` and `wb.gradients_of` return: each gradient drawn, and the checks if there were any.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.
    """
    return Shown("grad_view", gradient_view.report_view(report), html.ascii_only(str(report)), report._repr_html_())


def controls(
    subject: wb.Recorder | wb.Tape | wb.Launch | wb.Graph | Callable[..., Any],
    *,
    watch: Any = None,
    look: Mapping[str, Any] | None = None,
    rewind: bool | None = None,
    **ranges: Any,
) -> Shown:
    """Show sliders for the numbers of a record, a tape, a stored launch, a graph or a function: a move runs it again.

    A record, a tape, a launch and a graph are replayed, and nothing is compiled.

    Args:
        subject: what `wb.record` gave, a part of it (`rec.only(…)`), a tape (its forward launches), a graph,
            `wb.launch(…, record_cmd=True)`, or a function whose parameters are numbers or vectors by default.
        watch: an array that is drawn after each run; of a function, what it returns if that is an array.
        look: how it is drawn, by the options of `array`: `dict(colours="gray", range=(0, 1))`.
        rewind: first restore what the arrays held; None: where the record kept it (`inputs=True`).
        ranges: number=(low, high) or (low, high, step); every number from 0 to twice its value if none is given. A
            vector of 2 to 4 has a slider for each component, over one range, and a pad for two of them.

    Returns:
        A view: `.widget` is its live form, `print` and a notebook's HTML its static ones.

    Raises:
        Refusal: a range or a name is wrong, there is no number to change, or nothing to rewind to.
    """
    try:
        drawn = array_view.Look(**(look or {}))
    except TypeError:
        raise Refusal(f"look takes rgb, colours, range and size; it got {', '.join(look or {})}") from None
    bound = sliders.Bound(subject, ranges, watch, rewind, drawn)
    return Shown("controls", bound.view, sliders.controls_text, sliders.controls_html, source=bound)


def slider(low: Any, high: Any, value: Any = None, *, step: float | None = None) -> Slider:
    """Make a number, or a vector of 2 to 4, that moves: give it a name, and use the name in kernels and launches.

        beta = show.slider(0.1, 1.0)
        light = show.slider(-1, 1, wb.vec3(0.3, 0.5, 0.8))
        pole = show.slider(-2, 2, 0.5 + 0.5j)

    A kernel that reads `beta` by name, or is given it as an argument, takes it as an argument: nothing is compiled when
    it moves. Then what `wb.record` recorded with it, and kept launches, run again (records with `inputs=True` from the
    start), and the pictures of what they wrote are drawn again. A cell whose Python, or unrecorded launches, used it is
    marked as stale. A parameter that is an array of one element takes it, too.

    Args:
        low, high: the ends: numbers for all components, or vectors, or complex numbers. With integers it is an int32.
        value: where it begins; the middle if it is not given.
        step: of its places; 200 of them if it is not given.

    Returns:
        The value, which computes as a number does; its cell shows the slider.

    Raises:
        Refusal: these are no numbers or vectors of one size, or no range.
    """
    return Slider(low, high, value, step)


@overload
def page(path: str, /, *shown: Shown, title: str = ...) -> str: ...
@overload
def page(*shown: Shown, title: str = ...) -> Shown: ...
def page(*shown: Any, title: str = "") -> str | Shown:
    """Make one interactive page of views, which needs no server and loads nothing: a file, or the output of a cell.

    Sliders and animations of a record, a kept launch or a graph compute in the page: it holds their kernels as
    WebAssembly. Those of a function show what they showed last.

        show.page("waves.html", show.controls(run, dt=(0, 0.1), watch=x))
        show.page(show.controls(run, dt=(0, 0.1), watch=x))

    Without a file the cell shows the page itself. It is saved with the notebook, some 80 kB and the arrays, and runs
    wherever a notebook's outputs may have frames with scripts; elsewhere the views' static pictures stand.

    Args:
        *shown: views, in the order of the page; before them the HTML file to write, if it is to be one.
        title: the page's heading.

    Returns:
        What was written, in a sentence; without a file what the cell shows.

    Raises:
        Refusal: there is nothing to show, a record holds what no page can run, or the file cannot be written.
    """
    if shown and isinstance(shown[0], str | PathLike):
        return write_page(str(shown[0]), title or "Workbench", shown[1:], strict=True)
    return CellPage(shown, title)


__all__ = [
    "animate", "array", "backward", "cache", "controls", "grad", "graph", "lines", "mesh", "page", "points", "profile",
    "slider", "source", "steps", "tape", "threads", "timeline",
]  # fmt: skip


def __dir__() -> list[str]:
    """List what is for users: `show.<Tab>` offers no name that this file imports.

    Returns:
        Names.
    """
    return [*__all__, "__all__", "__doc__"]
