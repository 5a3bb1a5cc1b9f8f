"""Solutions of linear equations, and their derivatives: each of any order is one more solve."""

from __future__ import annotations

from typing import Protocol

from workbench.api.tapes.mapped import Mapped, differentiated, undifferentiated
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import clone


class Operator(Protocol):
    """A linear map that can be solved for."""

    def __call__(self, x: array, /) -> array:
        """The product, launched for all to see."""
        ...

    def solution(self, b: array, /) -> array:
        """What the product is `b` of; nobody differentiates how it is computed."""
        ...

    def turned(self) -> Operator:
        """The transposed map."""
        ...

    @property
    def constants(self) -> list[array]:
        """Arrays that it reads, and that must not change until its derivative is taken."""
        ...


def solved(operator: Operator, b: array) -> array:
    """The solution, with its derivatives by `b` and by all that the operator is made of.

    A derivative of x = A⁻¹ b is -A⁻¹ of the derivative of the residual A x - b at this x, by all that is in it.
    """
    with undifferentiated():
        x = operator.solution(b)
    if not differentiated():
        return x
    made = clone(x)
    correct(made, operator(x) - b, operator)
    return made


def correct(root: array, residual: array, operator: Operator) -> None:
    """Give a root, which has no derivative, those that it has by the residual; the operator is the Jacobian there."""
    Mapped(
        root, residual, lambda c: -solved(operator, c), lambda c: -solved(operator.turned(), c), operator.constants
    ).note()  # fmt: skip
