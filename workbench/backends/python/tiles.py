"""The meaning of operations on tiles: a tile is a NumPy array, and a map runs its block for each element in turn.

Sums add halves (`a[:h] + a[h:]`, again and again), as compiled code does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from workbench.backends.faults import describe
from workbench.backends.python.thread import Handler, Interpreter, Steps, Structured, copied
from workbench.builtins import TABLE
from workbench.builtins.declaration.meaning import apply
from workbench.errors import KernelFault
from workbench.ir.ops import AXES, AXIS, BOUNDS, EXCLUSIVE, KIND, SHAPE, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.tiles import identity, tile_of
from workbench.ir.values import Op, definitions
from workbench.passes.checks.bounds_checks import reported
from workbench.tiles import Tile, contents
from workbench.types import Scalar, Vector, element, float32, int32


def zeros(type: Tile) -> np.ndarray[Any, Any]:
    """Return the NumPy array of a tile of this type, all zeros; axes of a vector's components come last."""
    return np.zeros((*type.shape, *type.dtype.shape), element(type.dtype).numpy)


def map_elements(thread: Interpreter, op: Op, operands: list[Any]) -> Steps:
    """Run a map's block for each element, in row-major order; return the tiles of what it yields.

    It is a generator of the block's steps.
    """
    results = [zeros(tile_of(v)) for v in op.results]
    tail = [int32.numpy.type] * len(op.attrs[SHAPE])
    for index in product(*(range(n) for n in op.attrs[SHAPE])):
        indices = [t(i) for t, i in zip(tail, index, strict=True)]
        elements = [copied(t[index]) for t in operands]
        yielded = yield from thread.inner(op.blocks[0], (*indices, *elements))
        for tile, value in zip(results, yielded, strict=True):
            tile[index] = value
    return results


def _region(op: Op, operands: Sequence[Any], type: Tile) -> tuple[tuple[Any, ...], tuple[slice, ...]]:
    """Return the slices of the array and of the tile that cover the part of the tile inside the array."""
    array, axes = operands[0], op.attrs[AXES]
    ndim = op.operands[0].type.ndim  # type: ignore[union-attr]
    offsets = [int(o) for o in operands[1 : 1 + ndim]]
    slices: list[Any] = []
    parts = [slice(0, n) for n in type.shape]
    for axis, offset in enumerate(offsets):
        size = array.shape[axis]
        if axis not in axes:
            inside = 0 <= offset < size
            slices.append(slice(offset, offset + 1) if inside else slice(0, 0))
            continue
        k = axes.index(axis)
        low, high = min(max(-offset, 0), type.shape[k]), max(min(size - offset, type.shape[k]), 0)
        parts[k] = slice(low, max(low, high))
        slices.append(slice(offset + low, offset + max(low, high)))
    return tuple(slices), tuple(parts)


def _checked(thread: Interpreter, op: Op, operands: Sequence[Any], type: Tile) -> tuple[Any, Any, tuple[int, ...]]:
    """Return the slices of the array, those of the tile, and the shape of the part of the tile inside the array.

    The last two are empty if no part is inside.

    Raises:
        KernelFault: a part is outside, and the operation does not allow that (its attribute `BOUNDS` is False).
    """
    slices, parts = _region(op, operands, type)
    inside = operands[0][slices]
    ndim = op.operands[0].type.ndim  # type: ignore[union-attr]
    shape = tuple(inside.shape[a] for a in op.attrs[AXES])
    is_inside = 0 not in inside.shape[:ndim]
    if not is_inside:
        shape = tuple(0 for _ in shape)
        parts = tuple(slice(0, 0) for _ in parts)
    if not op.attrs[BOUNDS] and shape != type.shape:
        raise _outside(thread, op, {op.operands[0].name: operands[0].shape[:ndim]})
    return slices, parts, shape


def _load(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return the tile at these offsets of the array, with zeros outside of it.

    Raises:
        KernelFault: a part is outside, and the operation does not allow that.
    """
    type = tile_of(op.result)
    slices, parts, shape = _checked(thread, op, operands, type)
    tile = zeros(type)
    tile[parts] = operands[0][slices].reshape(*shape, *type.dtype.shape) if 0 not in shape else 0
    return (tile,)


def _store(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Write the part of the tile that lies inside the array; no results.

    Raises:
        KernelFault: a part is outside, and the operation does not allow that.
    """
    type = tile_of(op.operands[-1])
    slices, parts, shape = _checked(thread, op, operands, type)
    if 0 not in shape:
        target = operands[0][slices]
        target[...] = operands[-1][parts].reshape(target.shape)
    return ()


def _atomic_add(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Add the part of the tile that lies inside the array to it; return the old elements, zeros outside.

    Raises:
        KernelFault: a part is outside, and the operation does not allow that.
    """
    type = tile_of(op.result)
    slices, parts, shape = _checked(thread, op, operands, type)
    old = zeros(type)
    if 0 not in shape:
        target = operands[0][slices]
        old[parts] = target.reshape(*shape, *type.dtype.shape)
        target[...] = added(target, operands[-1][parts].reshape(target.shape))
    return (old,)


def _outside(thread: Interpreter, op: Op, shapes: Mapping[str, Sequence[int]] | None = None) -> KernelFault:
    """Return the error for a tile outside of its array, or a part or element outside of its tile."""
    defining = definitions(thread.function.body)
    values = tuple(thread.values[v].item() for v in reported(op, defining))
    return describe(thread.function, op, defining, thread.index, values, shapes or {})


def added(a: Any, b: Any) -> Any:
    """Return the sum element by element, in the type of `a`."""
    return (a + b).astype(a.dtype)


def _element_index(thread: Interpreter, op: Op, indices: Sequence[Any], shape: Sequence[int]) -> tuple[int, ...]:
    """Return an element's index as ints; raise a KernelFault if the tile has no such element."""
    index = tuple(int(i) for i in indices)
    if not all(0 <= i < n for i, n in zip(index, shape, strict=True)):
        raise _outside(thread, op)
    return index


def _extract(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return a copy of an element of the tile."""
    return (copied(operands[0][_element_index(thread, op, operands[1:], tile_of(op.operands[0]).shape)]),)


def _insert(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return a copy of the tile with one element replaced."""
    tile = operands[0].copy()
    tile[_element_index(thread, op, operands[1:-1], tile_of(op.result).shape)] = operands[-1]
    return (tile,)


def _part(thread: Interpreter, op: Op, offsets: Sequence[Any], outer: Tile, part: Tile) -> tuple[slice, ...]:
    """Return the slices of a part at these offsets; raise a KernelFault if it is not inside of the outer tile."""
    room = [n - m + 1 for n, m in zip(outer.shape, part.shape, strict=True)]
    starts = tuple(int(o) for o in offsets)
    if not all(0 <= o < n for o, n in zip(starts, room, strict=True)):
        raise _outside(thread, op)
    return tuple(slice(o, o + n) for o, n in zip(starts, part.shape, strict=True))


def _slice(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return a copy of the part of the tile at these offsets, in the result's shape."""
    return (operands[0][_part(thread, op, operands[1:], tile_of(op.operands[0]), tile_of(op.result))].copy(),)


def _place(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return a copy of the tile with the part at these offsets replaced by the last operand."""
    tile = operands[0].copy()
    tile[_part(thread, op, operands[1:-1], tile_of(op.result), tile_of(op.operands[-1]))] = operands[-1]
    return (tile,)


def _transpose(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return a contiguous copy of the tile with its axes permuted."""
    tail = range(len(op.attrs[AXES]), operands[0].ndim)
    return (np.ascontiguousarray(operands[0].transpose(*op.attrs[AXES], *tail)),)


def _reshape(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return the tile in the result's shape, which may share its memory."""
    return (operands[0].reshape(zeros(tile_of(op.result)).shape),)


def _broadcast(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return a copy of the tile that is repeated to the result's shape."""
    return (np.broadcast_to(operands[0], zeros(tile_of(op.result)).shape).copy(),)


def _reduce(thread: Interpreter, op: Op, operands: list[Any]) -> Steps:
    """Reduce a tile along its axis, or whole, by sum, min, max, argmin, argmax or a func's block.

    It is a generator of the block's steps and returns the result. All but argmin and argmax combine half with half.
    """
    type, axis, kind = tile_of(op.operands[0]), op.attrs.get(AXIS), op.attrs[KIND]
    tile = operands[0]
    if axis is None:
        tile, axis = tile.reshape(type.count, *type.dtype.shape), 0
    rows = np.moveaxis(tile, axis, 0)
    if kind in ("argmin", "argmax"):
        return (_argextreme(rows, kind),)
    while len(rows) > 1:
        half = (len(rows) + 1) // 2
        top = rows[:half].copy()
        low, high = top[: len(rows) - half], rows[half:]
        if kind == "func":
            for index in np.ndindex(low.shape[: low.ndim - len(type.dtype.shape)]):
                (low[index],) = yield from thread.inner(op.blocks[0], (copied(low[index]), copied(high[index])))
        else:
            low[...] = _COMBINE[kind](low, high, type.dtype)
        rows = top
    return (copied(rows[0]) if rows.ndim > 1 else rows[0],)


def _elementwise(name: str) -> Callable[[Any, Any, Any], Any]:
    """Return a function of two tiles of one shape, and their elements' type, that combines them by a builtin."""

    def combine(a: Any, b: Any, type: Scalar | Vector) -> Any:
        """Return a new tile with the builtin of both tiles' elements; `type` is that of an element."""
        result, count = a.copy(), a.ndim - len(type.shape)
        for index in np.ndindex(a.shape[:count]):
            result[index] = apply(TABLE[name], [copied(a[index]), copied(b[index])], type)
        return result

    return combine


_COMBINE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sum": lambda a, b, type: added(a, b),
    "min": _elementwise("min"),
    "max": _elementwise("max"),
}


def _argextreme(rows: Any, kind: str) -> Any:
    """Return the index of the first least or greatest element along axis 0; of the first NaN if there is one."""
    index = (np.argmin if kind == "argmin" else np.argmax)(rows, axis=0)
    return np.int32(index) if np.ndim(index) == 0 else index.astype(np.int32)


def _scan(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return the running sum, minimum or maximum along the last axis, without the element itself if `EXCLUSIVE`."""
    type = tile_of(op.result)
    kind = op.attrs[KIND]
    tile = operands[0].copy()
    for k in range(1, type.shape[-1]):
        tile[..., k] = _COMBINE[kind](tile[..., k - 1 : k], tile[..., k : k + 1], type.dtype)[..., 0]
    if op.attrs[EXCLUSIVE]:
        moved = np.full_like(tile, identity(kind, type.dtype))
        moved[..., 1:] = tile[..., :-1]
        tile = moved
    return (tile,)


def _matmul(thread: Interpreter, op: Op, operands: list[Any]) -> tuple[Any, ...]:
    """Return a @ b, each transposed if asked, plus any third operand; 16-bit floats are summed in float32."""
    type = contents(op.result.type)
    scalar = element(type)
    wide = float32 if element(contents(op.operands[0].type)).is_half else scalar
    a, b = (o.astype(wide.numpy) for o in operands[:2])
    a, b = (a.T if op.attrs[TRANSPOSE_A] else a), (b.T if op.attrs[TRANSPOSE_B] else b)
    product = a @ b
    if len(operands) > 2:
        product = operands[2].astype(wide.numpy) + product
    return (product.astype(scalar.numpy),)


PLAIN: dict[str, Handler] = {
    "tile_load": _load,
    "tile_store": _store,
    "tile_atomic_add": _atomic_add,
    "tile_extract": _extract,
    "tile_insert": _insert,
    "tile_slice": _slice,
    "tile_place": _place,
    "tile_transpose": _transpose,
    "tile_reshape": _reshape,
    "tile_broadcast": _broadcast,
    "tile_scan": _scan,
    "tile_matmul": _matmul,
}
STRUCTURED: dict[str, Structured] = {"tile_map": map_elements, "tile_reduce": _reduce}
