"""Indices of the smallest or largest component, and the test whether a number differs from 0."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.builtins.declaration.declare import builtin
from workbench.builtins.declaration.refs import Ref, constant
from workbench.builtins.declaration.rules import Arg, Signature, argument_error, count, same_numeric
from workbench.builtins.scalars.operators import and_, or_, where
from workbench.types import Kind, Vector, int32, is_float


def _component_index(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of an operation from one vector of numbers to the index of a component, an int32."""
    count(name, args, 1)
    (t,) = args
    if type(t) is not Vector or t.dtype.kind is Kind.BOOL:
        raise argument_error(name, args, "a vector of numbers")
    return (t,), int32


@builtin(_component_index, elementwise=False, differentiable="no: an index")
def argmin(v):
    """The index of a vector's smallest component (an int32): the first of several; the first NaN, if there is one."""
    return np.argmin(v)


@builtin(_component_index, elementwise=False, differentiable="no: an index")
def argmax(v):
    """The index of a vector's largest component (an int32): the first of several; the first NaN, if there is one."""
    return np.argmax(v)


def _first(v: Ref, ahead: Callable[[Ref, Ref], Ref]) -> Ref:
    """Emit the index (int32) of the first component that no other is `ahead` of; of the first NaN, if there is one."""
    best, *rest = v.components()
    index = constant(v.builder, 0, int32)
    for position, part in enumerate(rest, 1):
        better = ahead(part, best)
        if is_float(v.type):
            better = and_(best.equals(best), or_(part.differs(part), better))
        best, index = where(better, part, best), where(better, constant(v.builder, position, int32), index)
    return index


argmin.expansion(lambda v: _first(v, lambda a, b: a < b))
argmax.expansion(lambda v: _first(v, lambda a, b: a > b))


@builtin(same_numeric, domain=((0.1, 3.0),))
def nonzero(x):
    """1 where x differs from 0, else 0, in x's type; its derivative is 0."""
    return x.dtype.type(x != 0)


nonzero.expansion(lambda x: where(x.differs(0), x.like(1), x.like(0)))
nonzero.adjoint(lambda ct, result, x: (None,))
