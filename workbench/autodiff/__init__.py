"""A kernel's IR to the IR of its adjoint: right, or refused at the line that prevents it."""

from workbench.autodiff.adjoint import adjoint
from workbench.autodiff.reads import adjoint_names, adjoint_params, primal_params, reads

__all__ = ["adjoint", "adjoint_names", "adjoint_params", "primal_params", "reads"]
