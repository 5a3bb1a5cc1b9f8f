"""Sparse matrices, and linear and nonlinear equations whose solutions are differentiated."""

from workbench.linear.implicit import implicit
from workbench.linear.matrices import BSR, CSR, from_scipy

__all__ = ["BSR", "CSR", "from_scipy", "implicit"]
