"""Parts of arrays: `a[i]`, `a[1:n]`, `a[::2, j]`, views of views, and the elements of all of them.

A view is known at compile time: for each dimension of its array an index, or a start, a step and a length. An element
of it is an element of the array, at indices composed of both; so nothing below the front end knows views, and gradients
through them are those of the array. Bounds of slices are Python's: clamped to the size. What a slice adds to an index
is computed in 64 bits, so it cannot wrap and loops vectorise.

Calls that change an array element atomically: `atomic_add(array, i, …, value)`, `atomic_min` and their kin.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeGuard

from msgspec.structs import replace

from workbench import types
from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.scalars.extrema import max as larger
from workbench.builtins.scalars.extrema import min as smaller
from workbench.builtins.scalars.operators import where
from workbench.builtins.scalars.rounding import floordiv
from workbench.frontend.state.coerce import apply, assign_type, components, convert, describe, indexable, usable
from workbench.frontend.state.context import Context, FormHandler
from workbench.frontend.state.operands import Axis, Literal, Operand, Static, View
from workbench.frontend.values import vectors
from workbench.ir.ops import AXIS, KIND
from workbench.ir.values import ATOMIC_KINDS, Value, array_of
from workbench.types import ArrayType, Complex, Kind, Scalar, Type, Vector, complex64, int64, is_integer, is_weak
from workbench.types import bool as bool_

Bound = int | Ref
WHOLE = Axis()
ATTRIBUTES = {
    "T": "Write the indices the other way round: x[j, i].",
    "grad": "Write the gradient in a @wb.func_grad, or launch the adjoint with arrays of your own.",
}
REDUCTIONS = {"sum", "mean", "min", "max", "prod", "dot", "any", "all", "argmin", "argmax", "copy", "fill", "sort"}


def is_array(operand: Operand) -> TypeGuard[Value | View]:
    """Return whether an operand is an array or a part of one."""
    return isinstance(operand, View) or (isinstance(operand, Value) and isinstance(operand.type, ArrayType))


def type_of(array: Value | View) -> ArrayType:
    """Return the array's type, or that of an array like the view."""
    return array.type if isinstance(array, View) else array_of(array)


def size(context: Context, array: Value | View, axis: int) -> Value:
    """Emit the number of elements of an array or view along an axis."""
    if isinstance(array, Value):
        return context.builder.one("shape", (array,), type_of(array).size_type, {AXIS: axis})
    position, sliced_axis = [(p, a) for p, a in enumerate(array.subscripts) if isinstance(a, Axis)][axis]
    if sliced_axis.length is None:
        return _extent(context, array.array, position, sliced_axis)
    length = context.builder.cast(sliced_axis.length, type_of(array.array).size_type)
    context.shared.non_negative.add(length)
    return length


def _extent(context: Context, array: Value, position: int, axis: Axis) -> Value:
    """Emit the number of elements of a dimension that is not sliced."""
    return size(context, array, position) if axis.table is None else size(context, axis.table, 0)


def subscript(context: Context, array: Value | View, node: ast.expr) -> Operand:
    """Lower `array[…]`: an element where every dimension has an index, else a view."""
    view, indices = part(context, array, node)
    return view if indices is None else context.builder.load(view.array, *indices)


def part(context: Context, array: Value | View, node: ast.expr) -> tuple[View, list[Value] | None]:
    """Return the view that `array[…]` means, and its indices where it is an element; None where it is not."""
    view = _part(context, array, node)
    return view, _indices(view)


def element(context: Context, array: Value | View, node: ast.expr) -> tuple[Value, list[Value]]:
    """Return the array and the indices of the element written between the brackets, ready for `load` and `store`.

    Raises:
        KernelTypeError: it is not an element but a part of the array.
    """
    view = _part(context, array, node)
    indices = _indices(view)
    if indices is not None:
        return view.array, indices
    count, name = view.type.ndim, array.name or "x"
    written = ast.unparse(node).strip("()")
    ndim = type_of(array).ndim
    nodes = vectors.nodes(context, node)
    if not any(isinstance(n, ast.Slice) for n in nodes):
        hint = ", ".join("ijkl"[:ndim])
        message = f"{name} has {ndim} dimension{'s' * (ndim > 1)}, not {len(nodes)}."
        raise context.type_error(message, f"Write {name}[{hint}], or assign in a loop over the rest.")
    index = ", ".join("ijkl"[:count])
    raise context.type_error(
        f"{name}[{written}] is a part of an array; one element at a time can be changed.",
        f"Write part = {name}[{written}] and a loop: for i in range(len(part)): part[{index}] = …",
    )


def base_element(context: Context, array: Value | View, indices: Sequence[Value]) -> tuple[Value, list[Value]]:
    """Return the array behind an array or view, and the indices there of one of its elements.

    `indices` has one for each dimension of the array or view, in range.
    """
    if isinstance(array, Value):
        return array, list(indices)
    rest = iter(indices)
    subscripts = [p if isinstance(p, Value) else _composed(context, p, next(rest)) for p in array.subscripts]
    return array.array, subscripts


def _indices(view: View) -> list[Value] | None:
    """Return a view's indices if it fixes every dimension, and so is an element; else None."""
    indices = [p for p in view.subscripts if isinstance(p, Value)]
    return indices if len(indices) == len(view.subscripts) else None


def _part(context: Context, array: Value | View, node: ast.expr) -> View:
    """Return the view that `array[node]` selects; dimensions without an index or slice stay.

    Raises:
        KernelTypeError: there are too many indices, or one is no integer or slice.
    """
    base = array if isinstance(array, View) else View(array, (WHOLE,) * type_of(array).ndim, array.name)
    ndim = base.ndim
    nodes = iter(_spread(context, base, ndim, vectors.nodes(context, node)))
    indices: list[Value | Axis] = []
    for position, index in enumerate(base.subscripts):
        written = next(nodes, None) if isinstance(index, Axis) else None
        if not isinstance(index, Axis) or written is None:
            indices.append(index)
            continue
        if isinstance(written, ast.Slice):
            with context.at(written):
                indices.append(_sliced(context, base.array, position, index, written))
            continue
        operand = context.lower(written)
        if type(operand) is Value and index is WHOLE and operand in context.shared.non_negative:
            indices.append(operand)
            continue
        with context.at(written):
            indices.append(_indexed(context, base.array, position, index, usable(context, operand)))
    return View(base.array, tuple(indices), base.name)


def _spread(context: Context, base: View, ndim: int, nodes: list[ast.expr]) -> list[ast.expr]:
    """Return the expressions between the brackets, with `...` replaced by the slices it stands for.

    Raises:
        KernelTypeError: there are more than dimensions.
    """
    dots = [k for k, n in enumerate(nodes) if isinstance(n, ast.Constant) and n.value is ...]
    if len(dots) == 1 and len(nodes) - 1 <= ndim:
        at = dots[0]
        nodes = [*nodes[:at], *[ast.Slice() for _ in range(ndim - len(nodes) + 1)], *nodes[at + 1 :]]
        for n in nodes:
            if not hasattr(n, "lineno"):
                ast.copy_location(n, context.node or n)
    if len(nodes) > ndim:
        name, hint = base.name or "x", ", ".join("ijkl"[:ndim])
        message = f"{name} has {ndim} dimension{'s' * (ndim > 1)}, not {len(nodes)}."
        raise context.type_error(message, f"Write {name}[{hint}].")
    return nodes


def _indexed(context: Context, array: Value, position: int, axis: Axis, operand: Value | Literal) -> Value:
    """Emit an index along a dimension of a view, as one of the array behind it."""
    if axis.length is None:
        index_in_array = vectors.index(context, operand, lambda: _extent(context, array, position, axis))
        return _composed(context, axis, index_in_array)
    length = axis.length
    if isinstance(operand, Value) and is_integer(operand.type):
        operand = _wide(context, operand)
    return _composed(context, axis, vectors.index(context, operand, lambda: length))


def _composed(context: Context, axis: Axis, position: Value) -> Value:
    """Emit the index, in the array behind a view, of element `position` along a dimension of the view."""
    if axis.table is not None:
        return context.builder.load(axis.table, _composed(context, replace(axis, table=None), position))
    if axis.length is None:
        return position
    k = Ref(context.builder, _wide(context, position))
    at = k if axis.step == 1 else -k if axis.step == -1 else k * axis.step
    at = at if axis.start is None else Ref(context.builder, axis.start) + at
    return context.builder.one("view_index", (at.value, k.value, axis.length), int64)


def _sliced(context: Context, array: Value, position: int, axis: Axis, node: ast.Slice) -> Axis:
    """Lower `lower:upper:step` along a dimension of a view; return what is left of the dimension."""
    step = _step(context, node.step)
    lower, upper = (_bound(context, n) for n in (node.lower, node.upper))
    if lower is None and upper is None and step == 1:
        return axis
    count = axis.length or context.builder.cast(_extent(context, array, position, axis), int64)
    context.shared.non_negative.add(count)
    n = Ref(context.builder, count)
    if step > 0:
        low, high = _clamped(context, n, lower, 0, True), _clamped(context, n, upper, n, True)
        span = _difference(n, high, low)
    else:
        low, high = _clamped(context, n, lower, n - 1, False), _clamped(context, n, upper, -1, False)
        span = _difference(n, low, high)
    length = span if span.value is n.value else larger(span, 0)
    if abs(step) > 1:
        length = floordiv(length + (abs(step) - 1), abs(step))
    context.shared.non_negative.add(length.value)
    return Axis(_started(axis, low, n), axis.step * step, length.value, axis.table)


def _step(context: Context, node: ast.expr | None) -> int:
    """Return the step of a slice, a literal integer; 1 if none is written.

    Raises:
        KernelTypeError: it is 0, or no literal integer.
    """
    operand = Literal(1) if node is None else usable(context, context.lower(node))
    if not isinstance(operand, Literal) or operand.is_float or operand.value == 0:
        is_zero = isinstance(operand, Literal) and not operand.value
        message = "Slice step cannot be zero." if is_zero else "The step of a slice is an integer written out."
        raise context.type_error(message, "Write a loop over range(start, stop, step) if it is known only at run time.")
    return int(operand.value)


def _bound(context: Context, node: ast.expr | None) -> Bound | None:
    """Return a bound of a slice: a number that is written out, or a value in 64 bits; None if there is none.

    Raises:
        KernelTypeError: it is no integer.
    """
    if node is None:
        return None
    with context.at(node):
        operand = usable(context, context.lower(node))
        if isinstance(operand, Literal) and not operand.is_float:
            return int(operand.value)
        if isinstance(operand, Literal) or not is_integer(operand.type):
            raise context.type_error(
                f"A bound of a slice must be an integer; this is {describe(operand)}.", "Write int(…)."
            )
        return Ref(context.builder, _wide(context, operand))


def _wide(context: Context, operand: Value) -> Value:
    """Emit an integer in 64 bits, which is known not to be negative where the integer is."""
    if is_weak(operand.type):  # that an index is this wide does not make a counter so
        operand = context.builder.one("cast", (operand,), operand.type)
    wide = context.builder.cast(operand, int64)
    if operand in context.shared.non_negative or operand.type.kind is Kind.UINT:  # type: ignore[union-attr]
        context.shared.non_negative.add(wide)
    return wide


def _clamped(context: Context, n: Ref, bound: Bound | None, default: Bound, up: bool) -> Bound:
    """Return a bound counted from the end where it is negative, within 0 and n, or within -1 and n - 1 going down."""
    least, most = (0, n) if up else (-1, n - 1)
    if bound is None:
        return default
    if isinstance(bound, int):
        if bound >= 0:
            return bound if up and bound == 0 else smaller(most, bound)
        return larger(n + bound, least)
    if bound.value in context.shared.non_negative:
        return smaller(bound, most)
    return larger(smaller(where(bound < 0, bound + n, bound), most), least)


def _difference(n: Ref, a: Bound, b: Bound) -> Ref:
    """Emit `a - b` of a slice's bounds, as a value of the type of `n`; `a` itself where b is the constant 0."""
    first = a if isinstance(a, Ref) else n.like(a)
    return first if isinstance(b, int) and b == 0 else first - b


def _started(axis: Axis, low: Bound, n: Ref) -> Value | None:
    """Emit the start of a slice of a dimension, as an index of the array; None for 0."""
    if isinstance(low, int) and low == 0:
        return axis.start
    first = low if isinstance(low, Ref) else n.like(low)
    along = first if axis.step == 1 else first * axis.step
    return (along if axis.start is None else Ref(n.builder, axis.start) + along).value


def attribute(context: Context, array: Value | View, attr: str) -> Operand:
    """Lower `x.shape`, `x.size`, `x.ndim`, and `x.dtype`, which makes numbers of its elements' type: `x.dtype(2)`.

    Raises:
        KernelSyntaxError: another attribute.
    """
    if attr == "shape":
        return tuple(size(context, array, axis) for axis in range(type_of(array).ndim))
    if attr == "size":
        sizes = [size(context, array, axis) for axis in range(type_of(array).ndim)]
        if len(sizes) == 1:
            return sizes[0]
        return reduce(lambda a, b: apply(context, TABLE["mul"], (a, b)), [convert(context, s, int64) for s in sizes])
    if attr == "ndim":
        return Literal(type_of(array).ndim)
    if attr == "dtype":
        return Static(type_of(array).dtype, f"{array.name or 'array'}.dtype")
    advice = ATTRIBUTES.get(attr, "Write a loop over its elements." if attr in REDUCTIONS else "")
    message = f"An array in a kernel has no {attr}; it has shape, size, ndim and dtype."
    raise context.syntax_error(message, advice)


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
        if not is_array(target):
            raise context.type_error(f"{name}() takes an array first; this is {describe(target)}.")
        if kind in SUMS:
            check_sum(context, target)
        else:
            _check_element(context, kind, type_of(target), target.name)
        subscripts = node.args[1:-count]
        index = subscripts[0] if len(subscripts) == 1 else ast.Tuple(list(subscripts), ast.Load())
        array, indices = element(context, target, index)
        what, dtype = f"An element of {target.name}", type_of(target).dtype
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
    if types.element(type_of(array)).kind is Kind.BOOL:
        raise context.type_error(f"{array.name} has bool elements, which have no sum.", "Use | instead.")


FORMS: dict[str, FormHandler] = {f"atomic_{kind}": atomic(kind) for kind in (*SUMS, *ATOMIC_KINDS)}
