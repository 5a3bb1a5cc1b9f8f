"""Search in sorted arrays, as a loop of halving steps."""

from __future__ import annotations

import ast
from collections.abc import Callable

from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.scalars.bits import raw_shr
from workbench.builtins.scalars.extrema import max as larger
from workbench.builtins.scalars.extrema import min as smaller
from workbench.builtins.scalars.operators import where
from workbench.errors import KernelTypeError
from workbench.frontend.library import randoms
from workbench.frontend.state.coerce import assign_type, convert, describe, indexable, usable, weak
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand, View
from workbench.frontend.values import views
from workbench.ir.values import Value
from workbench.types import Kind, Scalar, element, int32

Expression = Callable[[Context, ast.expr], Operand]


def _lower_bound(context: Context, node: ast.Call, expression: Expression) -> Operand:
    name = "lower_bound"
    if node.keywords or len(node.args) not in (2, 4):
        raise context.error(
            KernelTypeError, f"{name}() takes an array and a value, or an array, begin, end and a value, without names."
        )
    first, *rest = (indexable(context, expression(context, a)) for a in node.args)
    array = _sorted_array(context, name, first)
    size = Ref(context.builder, views.size(context, array, 0))
    begin, end = size.like(0), size
    if len(rest) == 3:
        given = [_bound(context, v, size, name) for v in rest[:2]]
        begin, end = larger(given[0], 0), smaller(given[1], size)
    return _search(context, array, begin, end, usable(context, rest[-1]))


def _bound(context: Context, operand: Value | Literal | View, size: Ref, name: str) -> Ref:
    """A bound in the type of the array's sizes."""
    if isinstance(operand, Value) and operand.type == size.type:
        return Ref(context.builder, operand)
    return Ref(context.builder, assign_type(context, operand, int32, f"A bound of {name}()")).cast(size.type)


def _sorted_array(context: Context, name: str, operand: Value | Literal | View) -> Value | View:
    found = views.type_of(operand) if views.is_array(operand) else None
    if found is None or found.ndim != 1 or not isinstance(found.dtype, Scalar):
        raise context.error(
            KernelTypeError, f"{name}() takes an array of numbers of one dimension; this is {describe(operand)}."
        )
    assert views.is_array(operand)
    return operand


def _search(context: Context, array: Value | View, begin: Ref, end: Ref, value: Value | Literal) -> Value:
    """The first index of begin ≤ i < end whose element is not below the value."""
    builder = context.builder
    try:
        (_, common), _ = TABLE["lt"].rule("lower_bound", [views.type_of(array).dtype, weak(value)])
    except KernelTypeError as error:
        raise context.placed(error) from None
    wanted = convert(context, value, common)
    low, high = Value(begin.type, "low"), Value(begin.type, "high")
    with builder.block((low, high)) as asking:
        builder.yield_((Ref(builder, low) < Ref(builder, high)).value)
    low_, high_ = Value(begin.type, "low"), Value(begin.type, "high")
    with builder.block((low_, high_)) as halving:
        at = Ref(builder, low_) + raw_shr(Ref(builder, high_) - Ref(builder, low_), 1)
        whole, places = views.whole(context, array, [at.value])
        found = builder.cast(builder.load(whole, *places), common)
        below = Ref(builder, found) < Ref(builder, wanted)
        builder.yield_(where(below, at + 1, Ref(builder, low_)).value, where(below, Ref(builder, high_), at).value)
    result, _ = builder.while_((begin.value, end.value), asking.block, halving.block)
    context.shared.non_negative.add(result)
    return result


def _sample_cdf(context: Context, node: ast.Call, expression: Expression) -> Operand:
    operand = indexable(context, expression(context, node.args[1])) if len(node.args) == 2 else Literal(0)
    stream = randoms.stream(context, node, 2, 2, "a state and an array")
    array = _sorted_array(context, "sample_cdf", operand)
    if element(views.type_of(array)).kind is not Kind.FLOAT:
        raise context.error(KernelTypeError, f"sample_cdf() takes an array of floats; {array.name} is {array.type!r}.")
    size = Ref(context.builder, views.size(context, array, 0))
    found = _search(context, array, size.like(0), larger(size - 1, 0), stream.unit().value)
    context.shared.non_negative.add(found)
    return found


FORMS: dict[str, Callable[[Context, ast.Call, Expression], Operand]] = {
    "lower_bound": _lower_bound,
    "sample_cdf": _sample_cdf,
}
