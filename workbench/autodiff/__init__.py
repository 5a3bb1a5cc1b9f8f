"""A kernel's IR to the IR of its adjoint and of its tangent: right, or refused at the line that prevents it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.autodiff.adjoint_signature import (
    CHECKPOINT_RANGE,
    adjoint_names,
    adjoint_params,
    adjoint_type,
    kept,
    primal_params,
    reads,
    tangent_names,
)
from workbench.autodiff.directions import ADJOINTS, CLEARING, FORWARD, GATHERED, LOCAL, derived, parameters, then

if TYPE_CHECKING:
    from workbench.autodiff.forward_mode import tangent
    from workbench.autodiff.gather.form import GatherAdjoint, gather_adjoint
    from workbench.autodiff.reverse_mode import adjoint

__all__ = [
    "ADJOINTS",
    "CHECKPOINT_RANGE",
    "CLEARING",
    "FORWARD",
    "GATHERED",
    "LOCAL",
    "GatherAdjoint",
    "adjoint",
    "adjoint_names",
    "adjoint_params",
    "adjoint_type",
    "derived",
    "gather_adjoint",
    "kept",
    "parameters",
    "primal_params",
    "reads",
    "tangent",
    "tangent_names",
    "then",
]
_LATER = {
    "adjoint": "reverse_mode",
    "tangent": "forward_mode",
    "GatherAdjoint": "gather.form",
    "gather_adjoint": "gather.form",
}
"""Modules of the names that are imported on first use: a forward launch needs none of them."""


def __getattr__(name: str) -> Any:
    """Import a name of `_LATER` from its module and return it.

    Raises:
        AttributeError: it is no such name.
    """
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
