"""Views whose rows have no gaps: what threads access along a row is then as adjacent as in a dense array."""

from __future__ import annotations

from functools import reduce

from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES
from workbench.ir.rewrite import replace_body
from workbench.ir.values import Function, array_of, indices_of, walk
from workbench.passes.analysis.divergence import varying_values
from workbench.types import bool as bool_


def unit_strides(function: Function) -> Function | None:
    """Return a function that tests whether there are no gaps in the rows along which threads access arrays.

    It is None if threads access no array along rows.
    """
    varying = varying_values(function)
    accesses = [op for op in walk(function.body) if op.name in ACCESSES and not array_of(op.operands[0]).pitch]
    arrays = dict.fromkeys(op.operands[0] for op in accesses if indices_of(op)[-1] in varying)
    if not arrays:
        return None
    b = Builder()
    tests = [b.one("unit_stride", (array,), bool_) for array in arrays]
    b.yield_(reduce(lambda one, other: b.one("and_", (one, other), bool_), tests))
    return replace_body(function, b.body())
