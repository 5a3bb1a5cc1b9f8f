"""Values next to their adjoints, and what a gradcheck compared."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views.programs.gradient_view import GradsView
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class GradView(Live):
    """The widget of values next to their adjoints, and of what a gradcheck compared.

    Attributes:
        selected: index of what is chosen.
    """

    _module = traitlets.Unicode(module_text("grad_view")).tag(sync=True)
    _css = style_text("grad_view")

    selected = traitlets.Int(0).tag(sync=True)

    def take(self, view: GradsView) -> dict[str, Any]:
        """Take a new view, and choose its first array."""
        return {"view": as_data(view), "selected": 0}
