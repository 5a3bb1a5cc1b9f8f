"""Conversions in which LLVM may lose the sign of a zero, be it the CPU's LLVM or the one in NVRTC.

Of `0.0 if a < 0 else float64(a)` it makes the conversion of a choice between 0 and a (llvm/llvm-project#157254), and
turns `<` into `<=` on the way: of -0.0 that makes +0.0. So where numbers of a type are compared by order, backends
convert them in a way that LLVM does not look through.
"""

from __future__ import annotations

from workbench.ir.values import Function, walk
from workbench.types import Scalar, element, float32, float64

_ORDERED = frozenset({"lt", "le", "gt", "ge"})


def compared_types(function: Function) -> frozenset[Scalar]:
    """Return the scalar types of which the function compares numbers with `<`, `<=`, `>` or `>=`."""
    return frozenset(element(op.operands[0].type) for op in walk(function.body) if op.name in _ORDERED)


def may_lose_sign(source: Scalar, target: Scalar, compared: frozenset[Scalar]) -> bool:
    """Return whether LLVM may lose the sign of a zero in a conversion between float32 and float64.

    Args:
        source: the type converted from.
        target: the type converted to.
        compared: the types of which the function compares numbers by order; LLVM errs only if `source` is one.
    """
    return source in compared and {source, target} == {float32, float64}
