"""One thread through a kernel, statement by statement."""

from __future__ import annotations

import traitlets

from kernel_ext.steps import StepsView
from kernel_ext.views import as_data
from kernel_ext.widgets.live import Live
from kernel_ext.widgets.modules import module_text, style_text


class Stepper(Live):
    """One thread through a kernel, statement by statement.

    Attributes:
        selected: index of what is chosen.
    """

    _module = traitlets.Unicode(module_text("stepper")).tag(sync=True)
    _css = style_text("stepper")

    view = traitlets.Dict().tag(sync=True)
    selected = traitlets.Int(0).tag(sync=True)
    twin = traitlets.Unicode("").tag(sync=True)

    def __init__(self, view: StepsView, twin: str = "") -> None:
        """`twin` is a class of the static output to hide."""
        super().__init__(view=as_data(view), twin=twin)
