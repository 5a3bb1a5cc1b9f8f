"""Solutions of linear equations, and their derivatives: each of any order is one more solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import clone
from workbench.runtime.launching.mapped import Mapped, differentiated, undifferentiated


class Operator(Protocol):
    """Represents a linear map A and a solver of A x = b.

    Attributes:
        constants: arrays that it reads, and that must not change until its derivative is taken.
    """

    constants: Sequence[array]

    def __call__(self, x: array, /) -> array:
        """Return the product with x, by launches that all observers see."""
        ...

    def solution(self, b: array, /) -> array:
        """Solve A x = b and return x; called where nothing is differentiated."""
        ...

    def turned(self) -> Operator:
        """Return the transposed map."""
        ...


def solved(operator: Operator, b: array) -> array:
    """Return the solution of A x = b, with its derivatives by `b` and by all arrays that the operator reads.

    A derivative of x = A⁻¹ b is -A⁻¹ of the derivative of the residual A x - b at this x, by all else that is in it.
    """
    with undifferentiated():
        x = operator.solution(b)
    return corrected(x, operator(x) - b, operator) if differentiated() else x


def corrected(root: array, residual: array, operator: Operator) -> array:
    """Return a copy of a root, through which derivatives flow to all that the residual was computed from.

    Args:
        root: an array without derivatives, which nothing else may change.
        residual: the residual at the root, from launches that open tapes and forward modes saw. They take the root to
            depend on it; so second derivatives see the root in it, too.
        operator: the Jacobian of the residual at the root.
    """
    Mapped(
        root, residual, lambda c: -solved(operator, c), lambda c: -solved(operator.turned(), c), operator.constants
    ).note()
    return clone(root)
