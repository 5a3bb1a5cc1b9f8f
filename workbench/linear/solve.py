"""Solutions of linear equations, and their derivatives: each of any order is one more solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import clone
from workbench.runtime.launching.mapped import Mapped, differentiated, undifferentiated


class Operator(Protocol):
    """A linear map that can be solved for.

    Attributes:
        constants: arrays that it reads, and that must not change until its derivative is taken.
    """

    constants: Sequence[array]

    def __call__(self, x: array, /) -> array:
        """The product, launched for all to see."""
        ...

    def solution(self, b: array, /) -> array:
        """What the product is `b` of; nobody differentiates how it is computed."""
        ...

    def turned(self) -> Operator:
        """The transposed map."""
        ...


def solved(operator: Operator, b: array) -> array:
    """The solution, with its derivatives by `b` and by all that the operator is made of.

    A derivative of x = A⁻¹ b is -A⁻¹ of the derivative of the residual A x - b at this x, by all else that is in it.
    """
    with undifferentiated():
        x = operator.solution(b)
    return corrected(x, operator(x) - b, operator) if differentiated() else x


def corrected(root: array, residual: array, operator: Operator) -> array:
    """A copy of a root with its derivatives; nobody else may change the root itself.

    Args:
        root: has no derivative yet.
        residual: computed at the root, which, by what comes later, is the root with its derivatives: second derivatives
            need those of the residual there.
        operator: the Jacobian of the residual at the root.
    """
    Mapped(
        root, residual, lambda c: -solved(operator, c), lambda c: -solved(operator.turned(), c), operator.constants
    ).note()  # fmt: skip
    return clone(root)
