"""Calls that change an array element atomically: `atomic_add(array, i, …, value)`, `atomic_min` and their kin."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.state.coerce import apply, assign_type, components, describe, indexable
from workbench.frontend.state.context import Context, FormHandler
from workbench.frontend.state.operands import Operand, View
from workbench.frontend.values import views
from workbench.ir.ops import KIND
from workbench.ir.values import ATOMIC_KINDS, Value
from workbench.types import ArrayType, Complex, Kind, Scalar, Type, Vector, complex64, element
from workbench.types import bool as bool_

BITWISE, SUMS = ("and", "or", "xor"), ("add", "sub")


def atomic(kind: str) -> FormHandler:
    """Return the lowering of `atomic_<kind>(array, i, …, value)`, which returns the element's old value."""
    count = ATOMIC_KINDS.get(kind, 1)
    after = "the value it has and the one to put there" if count == 2 else "a value"

    def lower(context: Context, node: ast.Call) -> Operand:
        name = f"atomic_{kind}"

        def tried(*location: Value, part: Value) -> Value:
            builtin = TABLE[f"bit_{kind}" if kind in BITWISE else kind]
            return exchanged(context, location, part.type, lambda old: apply(context, builtin, (old, part)), True)[0]

        if node.keywords or len(node.args) < 2 + count:
            raise context.type_error(f"{name}() takes an array, its indices and {after}, without names.")
        target = indexable(context, context.lower(node.args[0]))
        if not views.is_array(target):
            raise context.type_error(f"{name}() takes an array first; this is {describe(target)}.")
        if kind in SUMS:
            check_sum(context, target)
        else:
            _check_element(context, kind, views.type_of(target), target.name)
        subscripts = node.args[1:-count]
        index = subscripts[0] if len(subscripts) == 1 else ast.Tuple(list(subscripts), ast.Load())
        array, indices = views.element(context, target, index)
        what, dtype = f"An element of {target.name}", views.type_of(target).dtype
        values = [assign_type(context, context.lower(a), dtype, what) for a in node.args[len(node.args) - count :]]
        if kind in SUMS:
            value = apply(context, TABLE["neg"], values) if kind == "sub" else values[0]
            return context.builder.one("atomic_add", (array, *indices, value), dtype)
        if isinstance(dtype, Vector) and not isinstance(dtype, Complex):
            parts = zip(range(dtype.length), components(context, values[0]), strict=True)
            before = [tried(array, *indices, context.builder.const(k), part=part) for k, part in parts]
            return context.builder.one("vec", before, dtype)
        return context.builder.one("atomic", (array, *indices, *values), dtype, {KIND: kind})

    return lower


def exchanged(
    context: Context, location: Sequence[Value], type: Type, change: Callable[[Value], Value], old: bool = False
) -> tuple[Value, ...]:
    """Emit an atomic change of a number in memory, by compare and swap in a loop.

    Args:
        context: where.
        location: the array, and the indices of the number.
        type: the number's.
        change: emits the new number from the present one.
        old: whether the number before the change is returned.
    """
    builder, types = context.builder, [bool_, type] if old else [bool_]
    tested = [Value(t) for t in types]
    with builder.block(tested) as condition:
        builder.yield_(tested[0])
    with builder.block([Value(t) for t in types]) as body:
        before = builder.one("atomic_load", location, type)
        again = builder.one("atomic_swap", (*location, before, change(before)), bool_)
        builder.yield_(*[again, before][: len(types)])
    start = [builder.one("atomic_load", location, type)] if old else []
    return builder.while_([builder.const(True, bool_), *start], condition.block, body.block)[1:]


def _check_element(context: Context, kind: str, array: ArrayType, name: str) -> None:
    """Refuse an array whose elements no machine changes in one step by this kind of change.

    Raises:
        KernelTypeError: it is one.
    """
    type = array.dtype
    if isinstance(type, Complex):
        if kind in ("exch", "cas") and type == complex64:
            return
        raise context.type_error(
            f"atomic_{kind}() changes an element in one step, and {name} has {type!r} elements.",
            "Of complex elements += and -= are atomic, part by part, and of complex64 atomic_exch() and atomic_cas().",
        )
    if kind in ("min", "max", *BITWISE) and isinstance(type, Vector) and type.shape:
        type = type.dtype
    fits = isinstance(type, Scalar) and type.bits in (32, 64)
    if kind in BITWISE and not (fits and type.kind in (Kind.INT, Kind.UINT)):  # type: ignore[union-attr]
        raise context.type_error(f"atomic_{kind}() works on integers of 32 or 64 bits; {name} has {type!r} elements.")
    if not fits:
        raise context.type_error(
            f"atomic_{kind}() works on numbers of 32 or 64 bits; {name} has {type!r} elements.",
            "Use a wider element type." if isinstance(type, Scalar) else "Keep each component in an array of its own.",
        )


def check_sum(context: Context, array: Value | View) -> None:
    """Refuse an array of bools: there is no sum of them that a bool holds.

    Raises:
        KernelTypeError: it is one.
    """
    if element(views.type_of(array)).kind is Kind.BOOL:
        raise context.type_error(f"{array.name} has bool elements, which have no sum.", "Use | instead.")


FORMS: dict[str, FormHandler] = {f"atomic_{kind}": atomic(kind) for kind in (*SUMS, *ATOMIC_KINDS)}
