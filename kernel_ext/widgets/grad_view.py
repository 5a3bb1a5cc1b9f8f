"""Values beside their adjoints, and what a gradcheck compared."""

from __future__ import annotations

import traitlets

from kernel_ext.gradients import GradsView
from kernel_ext.views import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class GradView(Live):
    """Values beside their adjoints, and what a gradcheck compared.

    Attributes:
        selected: index of what is chosen.
    """

    _module = traitlets.Unicode(module_text("grad_view")).tag(sync=True)
    _css = style_text("grad_view")

    view = traitlets.Dict().tag(sync=True)
    selected = traitlets.Int(0).tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)

    def __init__(self, view: GradsView, twin: str = "") -> None:
        """`twin` is a class of the static output to hide."""
        super().__init__(view=as_data(view), twin=twin)
