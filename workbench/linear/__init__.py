"""Sparse matrices, and linear and nonlinear equations whose solutions are differentiated."""

from workbench.linear.matrices import BSR, CSR, from_scipy
from workbench.linear.roots import implicit

__all__ = ["BSR", "CSR", "from_scipy", "implicit"]
