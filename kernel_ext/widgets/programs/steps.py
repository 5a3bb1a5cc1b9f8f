"""Views that one goes through step by step: one thread, a profile's first warp, a warp forwards and backwards."""

from __future__ import annotations

from typing import Any, ClassVar

import traitlets

from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class Steps(Live):
    """A widget of steps, one of which is selected.

    Attributes:
        start: the step that a new view begins at; -1: the view's own.
        selected: the step that is shown.
    """

    start: ClassVar[int] = -1

    selected = traitlets.Int(-1).tag(sync=True)

    def take(self, view: Any, at: int | None = None) -> dict[str, Any]:
        """Take a new view, which begins at a step: -1 is the last; without one, at its start."""
        data = as_data(view)
        rows = data.get("rows", ())
        return {"view": data, "selected": self.start if at is None else at % max(1, len(rows))}


class Stepper(Steps):
    """The widget of one thread through a kernel, statement by statement."""

    start = 0
    _module = traitlets.Unicode(module_text("stepper")).tag(sync=True)
    _css = style_text("stepper")


class ProfileView(Steps):
    """A profile: counts per line, what to do, pictures, and the first warp step by step."""

    _module = traitlets.Unicode(module_text("profile_view")).tag(sync=True)
    _css = style_text("profile_view")


class SweepsView(Steps):
    """A warp forwards and backwards: cotangents fill in as values drain."""

    _module = traitlets.Unicode(module_text("sweeps_view")).tag(sync=True)
    _css = style_text("sweeps_view")
