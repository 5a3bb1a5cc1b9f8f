"""Tiles made, loaded, stored, added: `tile_zeros`, `tile_load(x, shape, offset)`, `tile_store`, `tile_atomic_add`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.state import coerce
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand, View, value_of
from workbench.frontend.tiles.arguments import Arguments
from workbench.frontend.values import views
from workbench.ir.ops import AXES, BOUNDS, SHAPE
from workbench.ir.tiles import tile_of
from workbench.ir.values import Value, array_of
from workbench.tiles import Tile, contents, shown
from workbench.types import Vector, float32, float64, int32, is_integer
from workbench.types import bool as bool_


def full(number: int) -> Any:
    """Return the lowering of a call that makes a tile with this number everywhere: `tile_zeros`, `tile_ones`."""

    def lower(context: Context, node: ast.Call) -> Operand:
        arguments = Arguments(context, node, "shape dtype? storage?")
        dtype = arguments.dtype(float32)
        return coerce.fill(
            context, arguments.shape(), coerce.convert(context, Literal(number), dtype), arguments.storage()
        )

    return lower


def tile_full(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_full(shape, value, dtype)`."""
    arguments = Arguments(context, node, "shape value dtype? storage?")
    value = coerce.materialise(context, coerce.uniform(context, arguments.by_name["value"], "The value of tile_full()"))
    if "dtype" in arguments:
        operand = arguments.by_name["value"]
        wanted = arguments.dtype(float32)
        # From the operand, not from the value: a literal has not been rounded to its default type yet.
        value = coerce.convert(context, operand, wanted) if value.type != wanted else value
    dtype = coerce.as_element(context, value.type, "A tile")
    return coerce.fill(context, arguments.shape(), coerce.convert(context, value, dtype), arguments.storage())


def tile_arange(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_arange(stop)`, `(start, stop)`, `(start, stop, step)`: as NumPy's arange, known at compile time."""
    # `range` has its stop first if it is alone, which names for parameters cannot express: the numbers are read by
    # hand.
    bounds = ast.Call(node.func, [], node.keywords)
    ast.copy_location(bounds, node)
    arguments = Arguments(context, bounds, "dtype? storage?")
    numbers = [context.lower(a) for a in node.args]
    values: list[Any] = [n.value if isinstance(n, Literal) else _constant(context, n) for n in numbers]
    if not 1 <= len(values) <= 3 or None in values:
        raise arguments.error("takes a stop, or start, stop and step, as numbers known at compile time.")
    are_ints = all(isinstance(n, int) for n in values)
    dtype = arguments.dtype(int32 if are_ints else float32)
    start, stop, step = (0, *values, 1) if len(values) == 1 else (*values, 1)[:3]
    if not step or not math.isfinite((stop - start) / step):
        raise arguments.error("takes finite numbers, and its step cannot be zero.")
    count = len(range(start, stop, step)) if are_ints else math.ceil((stop - start) / step)
    if count < 1:
        raise arguments.error("takes a non-empty range.", "A tile has at least one element.")
    turns = dtype if are_ints and is_integer(dtype) else int32 if are_ints else float64 if dtype == float64 else float32

    def element(at: Any, elements: Any) -> Any:
        # Computed from the index rather than stored: a constant tile would need an array in memory.
        turn = context.builder.cast(at[0], turns)
        scaled = coerce.apply(context, TABLE["mul"], (turn, Literal(step)))
        value = coerce.apply(context, TABLE["add"], (scaled, Literal(start)))
        return [coerce.materialise(context, value) if value.type == dtype else context.builder.cast(value, dtype)]

    (tile,) = context.builder.tile_map((count,), (), element)
    if start >= 0 and step > 0 and is_integer(dtype):
        context.shared.non_negative.add(tile)
    return coerce.stored(tile, arguments.storage())


def _constant(context: Context, operand: Operand) -> float | None:
    """Return the number of a typed constant; None of what is known when the kernel runs."""
    return context.builder.number(operand) if isinstance(operand, Value) else None


def _array(arguments: Arguments, what: str) -> tuple[Value, list[Value | None]]:
    """Return the array that is argument `a`, and for each of its dimensions its index in a row `a[i]`, or None.

    Raises:
        KernelTypeError: it is a slice, or no array; `what` is how the message calls it.
    """
    operand = coerce.indexable(arguments.context, arguments.by_name["a"])
    if isinstance(operand, View):
        # An index fixes a dimension and the tile lies along the others. A slice would add an offset and a length that
        # the bounds check would have to know.
        if _is_row(operand):
            return operand.array, [p if isinstance(p, Value) else None for p in operand.subscripts]
        message = f"takes an array, or a row of one like {operand.name or 'a'}[i]; this is a slice."
        raise arguments.error(message, "Give the slice's beginning as offset.")
    if views.is_array(operand):
        return value_of(operand), [None] * views.type_of(operand).ndim
    raise arguments.error(f"takes an array as {what}; this is {coerce.describe(operand)}.")


def _placed(
    arguments: Arguments, array: Value, indices: list[Value | None], tile: Tile
) -> tuple[list[Value], tuple[int, ...]]:
    """Return where a tile lies in an array: its offset along each dimension, and the axes that it spans.

    Args:
        arguments: of the call, which gives offsets along the axes that the tile spans.
        array: the array.
        indices: for each of its dimensions the index that fixes it; None: the tile spans it.
        tile: the tile's type.

    Raises:
        KernelTypeError: the tile has another number of dimensions than it would span, or the offsets do.
    """
    free = [axis for axis, index in enumerate(indices) if index is None]
    name = array.name
    if len(free) != tile.ndim:
        dims = f"{len(free)} dimension{'s' * (len(free) != 1)}"
        raise arguments.error(
            f"brings {name} with {dims} together with a tile of shape {shown(tile.shape)}.",
            f"Give the tile {len(free)} size{'s' * (len(free) != 1)}, or index {name} first: {name}[i].",
        )
    offsets = iter(arguments.offsets(len(free)))
    # The IR wants an offset for every dimension of the array; `axes` says which of them the tile lies along.
    return [next(offsets) if index is None else index for index in indices], tuple(free)


def tile_load(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_load(a, shape, offset, storage, bounds_check)`."""
    arguments = Arguments(context, node, "a shape offset? storage? bounds_check?")
    operand = coerce.indexable(context, arguments.by_name["a"])
    if isinstance(operand, View) and not _is_row(operand):
        return _of_slice(arguments, operand)
    array, indices = _array(arguments, "a")
    tile: Any = Tile(
        coerce.as_element(context, array_of(array).dtype, array.name), arguments.shape(), arguments.storage()
    )
    offsets, axes = _placed(arguments, array, indices, tile)
    attrs: dict[str, object] = {SHAPE: tile.shape, BOUNDS: arguments.flag("bounds_check", True), AXES: axes}
    return context.builder.one("tile_load", (array, *offsets), tile, attrs)


def _is_row(view: View) -> bool:
    """Return whether a view fixes some indices of an array and takes all of its other dimensions, without slices."""
    return all(isinstance(p, Value) or p == views.WHOLE for p in view.subscripts)


def _of_slice(arguments: Arguments, view: View) -> Operand:
    """Emit the loading of a tile from a slice, element by element, with 0 beyond the slice's end; return the tile."""
    shape = arguments.shape()
    if len(shape) != view.type.ndim:
        raise arguments.error(
            f"brings {view.name} with {view.type.ndim} dimensions together with shape {shown(shape)}."
        )
    return coerce.stored(_element_by_element(arguments, view, shape), arguments.storage())


Access = Callable[[Value, Sequence[Value], Value], Value]
"""A function of an array, the indices of an element, and the element of a tile that goes with it; returns a value."""


def _element_by_element(
    arguments: Arguments, view: View, shape: tuple[int, ...], tiles: Sequence[Value] = (), access: Access | None = None
) -> Value:
    """Return a tile of elements of a view from `offset` on, 0 where there is none, or do something to each instead.

    Args:
        arguments: of the call: `offset`, `bounds_check`, and with `indices` the `axis` along which these are added.
        view: the array, or a part of it.
        shape: of the tile.
        tiles: one that goes with the elements, if `access` needs it.
        access: what is done; None loads.
    """
    context, builder = arguments.context, arguments.context.builder
    kind = coerce.as_element(context, view.type.dtype, view.name)
    offsets = arguments.offsets(len(shape))
    sizes = [views.size(context, view, axis) for axis in range(len(shape))]
    checks = arguments.flag("bounds_check", True)
    axis = arguments.number("axis", 0) if "indices" in arguments else None
    numbers = [] if axis is None else [_repeat_along(arguments, shape, axis)]

    def of(name: str, *operands: Value) -> Value:
        return coerce.apply(context, TABLE[name], operands)

    def element(at: Any, elements: Any) -> Any:
        at = [*at]
        if axis is not None:
            at[axis] = elements[0]
        positions = [of("add", builder.cast(k, offset.type), offset) for k, offset in zip(at, offsets, strict=True)]
        inside = builder.const(True, bool_)
        for position, size in zip(positions, sizes, strict=True):
            first = of("ge", position, builder.const(0, position.type))
            last = of("lt", builder.cast(position, size.type), size)
            inside = of("and_", inside, of("and_", first, last))
        with builder.block() as then:
            array, indices = views.base_element(context, view, positions)
            builder.yield_(builder.load(array, *indices) if access is None else access(array, indices, elements[-1]))
        if not checks:
            builder.extend(then.block.ops[:-1])
            return [*then.block.yielded]
        with builder.block() as orelse:
            builder.yield_(builder.const((0,) * kind.length if isinstance(kind, Vector) else 0, kind))
        return [*builder.if_(inside, then.block, orelse.block)]

    (tile,) = builder.tile_map(shape, [*numbers, *tiles], element)
    return tile


def _repeat_along(arguments: Arguments, shape: tuple[int, ...], axis: int) -> Value:
    """Return the argument `indices`, a tile of one dimension, repeated along the other axes of a shape.

    Raises:
        KernelTypeError: it does not have one integer for each element along the axis, or there is no such axis.
    """
    builder, indices = arguments.context.builder, arguments.tile("indices")
    type = tile_of(indices)
    if not 0 <= axis < len(shape) or type.shape != (shape[axis],) or not is_integer(contents(type)):
        raise arguments.error(f"takes one integer as indices for each of the tile's elements along axis {axis}.")
    column = tuple(n if k == axis else 1 for k, n in enumerate(shape))
    tall = builder.one("tile_reshape", (indices,), Tile(type.dtype, column), {SHAPE: column})
    return builder.one("tile_broadcast", (tall,), Tile(type.dtype, shape), {SHAPE: shape})


def _indexed(arguments: Arguments) -> tuple[View, tuple[int, ...], list[Value]]:
    """Return the array, the shape of the tile, and the tile that is written, in a list that is empty if none is.

    Raises:
        KernelTypeError: `a` is no array, or the tile's dimensions or elements do not fit it.
    """
    operand = coerce.indexable(arguments.context, arguments.by_name["a"])
    if not views.is_array(operand):
        raise arguments.error(f"takes an array as a; this is {coerce.describe(operand)}.")
    view = (
        operand if isinstance(operand, View) else View(operand, (views.WHOLE,) * array_of(operand).ndim, operand.name)
    )
    tiles = [arguments.tile("t")] if "t" in arguments else []
    shape = tile_of(tiles[0]).shape if tiles else arguments.shape()
    if len(shape) != view.type.ndim:
        problem = f"brings {view.name} with {view.type.ndim} dimensions together with shape {shown(shape)}."
        raise arguments.error(problem)
    what = f"An element of {view.name}"
    return view, shape, [coerce.assign_type(arguments.context, t, view.type.dtype, what, tiles=True) for t in tiles]


def tile_load_indexed(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_load_indexed(a, indices, shape, offset, axis, storage)`."""
    arguments = Arguments(context, node, "a indices shape offset? axis? storage?")
    view, shape, _ = _indexed(arguments)
    return coerce.stored(_element_by_element(arguments, view, shape), arguments.storage())


def tile_store_indexed(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_store_indexed(a, indices, t, offset, axis)`."""
    return _stored(Arguments(context, node, "a indices t offset? axis?"))


def _stored(arguments: Arguments) -> Operand:
    """Emit the store of a call's tile `t` to its array or slice `a`, element by element; return the empty tuple."""

    def store(array: Value, indices: Sequence[Value], value: Value) -> Value:
        arguments.context.builder.store(array, *indices, value)
        return value

    _element_by_element(arguments, *_indexed(arguments), store)
    return ()


def tile_atomic_add_indexed(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_atomic_add_indexed(a, indices, t, offset, axis)`; return the tile of the old elements."""
    arguments = Arguments(context, node, "a indices t offset? axis?")

    def add(array: Value, indices: Sequence[Value], value: Value) -> Value:
        views.check_sum(context, array)
        return context.builder.one("atomic_add", (array, *indices, value), value.type)

    return coerce.stored(_element_by_element(arguments, *_indexed(arguments), add), "register")


def _written(arguments: Arguments) -> tuple[list[Value], dict[str, Any]]:
    """Return the operands and attributes of the operation that stores a tile, or adds it atomically."""
    context = arguments.context
    array, indices = _array(arguments, "a")
    type = array_of(array)
    operand = arguments.by_name["t"]
    what = f"An element of {array.name}"
    if not isinstance(operand, Value) or not isinstance(operand.type, Tile):
        tile = coerce.fill(
            context, (1,) * indices.count(None), coerce.assign_type(context, operand, type.dtype, what), "register"
        )
    else:
        tile = coerce.assign_type(context, operand, type.dtype, what, tiles=True)
    offsets, axes = _placed(arguments, array, indices, tile_of(tile))
    return [array, *offsets, tile], {BOUNDS: arguments.flag("bounds_check", True), AXES: axes}


def tile_store(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_store(a, t, offset, bounds_check)`."""
    arguments = Arguments(context, node, "a t offset? bounds_check?")
    operand = coerce.indexable(context, arguments.by_name["a"])
    if isinstance(operand, View) and not _is_row(operand):
        return _stored(arguments)
    operands, attrs = _written(arguments)
    context.builder.emit("tile_store", operands, (), attrs)
    return ()


def tile_atomic_add(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_atomic_add(a, t, offset, bounds_check)`; return the tile of the old elements."""
    arguments = Arguments(context, node, "a t offset? bounds_check?")
    operands, attrs = _written(arguments)
    views.check_sum(context, operands[0])
    tile: Any = tile_of(operands[-1])
    return context.builder.one("tile_atomic_add", operands, Tile(tile.dtype, tile.shape), attrs)


_CALLS = (
    tile_full, tile_arange, tile_load, tile_store, tile_atomic_add, tile_load_indexed, tile_store_indexed,
    tile_atomic_add_indexed,
)  # fmt: skip
FORMS = {"tile_zeros": full(0), "tile_ones": full(1), **{lower.__name__: lower for lower in _CALLS}}
