"""A profile: counts per line, what to do, pictures, and the first warp step by step."""

from __future__ import annotations

from typing import Any

import traitlets

from kernel_ext.views.programs import profile_view
from kernel_ext.views.view_data import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class ProfileView(Live):
    """A profile: counts per line, what to do, pictures, and the first warp step by step.

    Attributes:
        selected: the step of the warp that is shown; -1 is the one that wastes most.
    """

    _module = traitlets.Unicode(module_text("profile_view")).tag(sync=True)
    _css = style_text("profile_view")

    selected = traitlets.Int(-1).tag(sync=True)

    def take(self, view: profile_view.ProfileView) -> dict[str, Any]:
        """A new view begins at its own step."""
        return {"view": as_data(view), "selected": -1}
