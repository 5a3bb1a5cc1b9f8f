"""One thread through a kernel, statement by statement."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views.programs.step_view import StepsView
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class Stepper(Live):
    """One thread through a kernel, statement by statement.

    Attributes:
        selected: index of what is chosen.
    """

    _module = traitlets.Unicode(module_text("stepper")).tag(sync=True)
    _css = style_text("stepper")

    selected = traitlets.Int(0).tag(sync=True)

    def take(self, view: StepsView) -> dict[str, Any]:
        """The first is chosen in a new view."""
        return {"view": as_data(view), "selected": 0}
