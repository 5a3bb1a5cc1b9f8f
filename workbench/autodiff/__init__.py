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
from workbench.autodiff.directions import FORWARD, derived, parameters, then
from workbench.autodiff.memory.effects import refuse_shifted
from workbench.autodiff.tangent import tangent

__all__ = [
    "CHECKPOINTS", "CHECKPOINT_RANGE", "FORWARD", "adjoint", "adjoint_names", "adjoint_params", "adjoint_type",
    "derived", "kept", "parameters", "primal_params", "reads", "refuse_shifted", "tangent", "tangent_names", "then",
]  # fmt: skip
