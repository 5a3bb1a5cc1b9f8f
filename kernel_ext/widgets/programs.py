"""Widgets of programs: timelines, graphs, gradients, profiles, steps of a thread, sliders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import traitlets

from kernel_ext.views.programs import controls, threads_view
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Answering, Live

Follow = Callable[[int], threads_view.ThreadsView]


class Selecting(Live):
    """The base of widgets of which one part is selected: a bar, a node, an array, a step.

    Attributes:
        start: what a new view begins at; -1: none, or the view's own.
        selected: index of what is selected.
    """

    start: ClassVar[int] = -1

    selected = traitlets.Int(-1).tag(sync=True)

    def take(self, view: Any, at: int | None = None, recorder: Any = None) -> dict[str, Any]:
        """Return the traits that show a view, from the step `at` on: -1 is the last; None: the kind's `start`.

        The `recorder` of a timeline is for pages, which measure again.
        """
        data = as_data(view)
        return {"view": data, "selected": self.start if at is None else at % max(1, len(data.get("rows", ())))}

    def show(self, view: Any) -> None:
        """Show another view, of which nothing is selected."""
        self.selected = -1
        super().show(view)


class Timeline(Selecting):
    """Displays a record: a lane for each device, a bar for each thing that ran."""

    kind = "timeline"


class GraphView(Selecting):
    """Displays a graph (its `layout()`): boxes in layers, lines with the arrays that they carry."""

    kind = "graph_view"


class GradView(Selecting):
    """Displays values next to their adjoints, and what a gradcheck compared."""

    kind = "grad_view"

    start = 0


class Stepper(Selecting):
    """Displays the steps of one thread through a kernel, statement by statement."""

    kind = "stepper"

    start = 0


class ProfileView(Selecting):
    """Displays a profile: counts per line, what to do, pictures, and the first warp step by step."""

    kind = "profile_view"


class SweepsView(Selecting):
    """Displays a warp forwards and backwards: cotangents fill in as values drain."""

    kind = "sweeps_view"


class Controls(Answering):
    """Displays a slider for each number of a record or a launch; a move replays, and compiles nothing."""

    kind = "controls"

    source: controls.Bound | None

    def on_message(self, content: dict[str, Any]) -> None:
        """Replay with the values of `{ask: "replay", values, number}`, and show the result."""
        if content.get("ask") == "replay" and (bound := self.source) is not None:
            values = dict(content.get("values") or {})
            numbers = {str(n): v for n, v in values.items() if isinstance(v, int | float)}
            self.answer(content, bound.run(numbers), bound)


class ThreadsView(Live):
    """Displays the threads of a launch: what each did, who touched which element, and a block step by step.

    Attributes:
        selected: the step of the block that is shown; -1 is the first one that touches memory.
        at: the thread to point at when it opens, as its block and its number within it, and the step is its last one
            that touches memory; empty: none.
    """

    kind = "threads_view"

    selected = traitlets.Int(-1).tag(sync=True)
    at = traitlets.List(traitlets.Int(), []).tag(sync=True)

    def take(
        self, view: threads_view.ThreadsView, follow: Follow | None = None, at: tuple[int, int] | None = None
    ) -> dict[str, Any]:
        """Return the traits that show a view; `follow` returns the view from another block on."""
        self._follow = follow
        return {"view": as_data(view), "selected": -1, "at": list(at or ())}

    def on_message(self, content: dict[str, Any]) -> None:
        """Follow the blocks of the launch from `block` of `{ask: "first", block}` on, and show them."""
        block = content.get("block")
        if content.get("ask") != "first" or self._follow is None or not isinstance(block, int):
            return
        if 0 <= block < self.view["total"]:
            self.selected, self.at = -1, []
            self.show(self._follow(block))
