"""A kernel's IR to the IR of its adjoint and of its tangent: right, or refused at the line that prevents it."""

from workbench.autodiff.adjoint import CHECKPOINT_RANGE, CHECKPOINTS, adjoint
from workbench.autodiff.adjoint_signature import (
    adjoint_names,
    adjoint_params,
    adjoint_type,
    kept,
    primal_params,
    reads,
    tangent_names,
)
from workbench.autodiff.directions import ADJOINTS, CLEARING, FORWARD, GATHERED, derived, parameters, then
from workbench.autodiff.gather.form import Gathering, gathering, is_stencil
from workbench.autodiff.memory.effects import refuse_shifted
from workbench.autodiff.tangent import tangent

__all__ = [
    "ADJOINTS", "CHECKPOINTS", "CHECKPOINT_RANGE", "CLEARING", "FORWARD", "GATHERED", "Gathering", "adjoint",
    "adjoint_names", "adjoint_params", "adjoint_type", "derived", "gathering", "is_stencil", "kept", "parameters",
    "primal_params", "reads", "refuse_shifted", "tangent", "tangent_names", "then",
]  # fmt: skip
