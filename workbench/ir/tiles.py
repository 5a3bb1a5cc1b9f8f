"""Operations on tiles, and what is legal of each. A block of threads does them together (`design/tiles.md`).

    tile_map         (*tiles of one shape) -> *tiles     block: (*int32 indices, *elements) yields an element a result
                     attrs: shape. For each element once, in no order; the block may use outer values and do what a
                     thread may do; no tile operation inside. Without results it is there for its effects
    tile_load        (array, *offsets) -> tile           attrs: shape; bounds: outside of the array is read as 0;
                     axes: for each dimension of the tile the array's axis it lies along, rising; one offset an axis
    tile_store       (array, *offsets, tile) -> ()       attrs: bounds: outside is not written; axes
    tile_atomic_add  (array, *offsets, tile) -> tile     the old elements (0 outside); attrs: bounds, axes
    tile_extract     (tile, *indices) -> element
    tile_insert      (tile, *indices, element) -> tile
    tile_slice       (tile, *offsets) -> tile            attrs: shape
    tile_place       (tile, *offsets, tile) -> tile      the first with a part replaced by the second
    tile_transpose   (tile) -> tile                      attrs: axes, as NumPy's transpose takes them
    tile_reshape     (tile) -> tile                      attrs: shape; row-major order of elements is kept
    tile_broadcast   (tile) -> tile                      attrs: shape; NumPy's rule
    tile_reduce      (tile) -> element or tile           attrs: kind (see REDUCTIONS); axis (None: over all elements;
                     else the result has that axis no more, and it is not the only one); argmin, argmax give an int32:
                     the place along the axis, of all elements in row-major order
                     kind "func": block (a, b) yields the combination, taken as associative and commutative
    tile_scan        (tile) -> tile                      attrs: kind sum, min, max; exclusive; along the last axis
    tile_matmul      (a, b[, acc]) -> tile               attrs: transpose_a, transpose_b; role forward, adj_a, adj_b;
                     precision "tf32", where given: float32 may be rounded to 11 bits before it is multiplied
                     a is M×K and b K×N after transposition; acc and result M×N; all have one type of elements
                     but acc and result may be float32 where a and b are floats of 16 bits

Operands that are not tiles are the same in all threads of a block; offsets and indices are int32 or int64. A function
with one of these operations has a `block_dim`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.ir.ops import AXES, AXIS, KIND, ROLE, SHAPE, TILED, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.values import Block, Op, Value, walk
from workbench.tiles import Tile, is_shape
from workbench.types import ArrayType, Kind, Scalar, Vector, element, float32, int32, is_integer

REDUCTIONS = ("sum", "min", "max", "argmin", "argmax", "func")
SCANS = ("sum", "min", "max")
ROLES = ("forward", "adj_a", "adj_b")


def _types(values: tuple[Value, ...]) -> list[object]:
    """Return the type of each value."""
    return [v.type for v in values]


def _are_integers(values: tuple[Value, ...]) -> bool:
    """Return whether all values are integers."""
    return all(is_integer(v.type) for v in values)


def _map(op: Op) -> bool:
    """Return whether a `tile_map` is legal: all tiles of its shape, and a body on elements without tile operations."""
    (body,) = op.blocks
    shape = op.attrs[SHAPE]
    tiles = [*op.operands, *op.results]
    rank = len(shape)
    return (
        is_shape(shape)
        and all(isinstance(v.type, Tile) and v.type.shape == shape for v in tiles)
        and _types(body.params) == [int32] * rank + [tile_of(v).dtype for v in op.operands]
        and _types(body.yielded) == [tile_of(v).dtype for v in op.results]
        and not any(inner.name.startswith("tile_") for inner in walk(body))
    )


def _memory(op: Op, values: int) -> tuple[ArrayType, Tile] | None:
    """Return the array's and the tile's type; None if offsets, axes or element types do not fit.

    `values` is 1 if the last operand is the tile, and 0 if the result is.
    """
    array = op.operands[0].type
    tile = op.operands[-1].type if values else op.result.type
    if not isinstance(array, ArrayType) or not isinstance(tile, Tile):
        return None
    offsets = op.operands[1 : 1 + array.ndim]
    axes = op.attrs[AXES]
    rising = len(axes) == tile.ndim and sorted(set(axes)) == list(axes) and all(a in range(array.ndim) for a in axes)
    fits = len(op.operands) == 1 + array.ndim + values and _are_integers(offsets) and rising
    return (array, tile) if fits and tile.dtype == array.dtype else None


def _load(op: Op) -> bool:
    """Return True if a `tile_load` is legal: offsets and axes fit its array, and the tile has the attribute's shape."""
    array = _memory(op, 0)
    return array is not None and array[1].shape == op.attrs[SHAPE]


def tile_of(value: Value) -> Tile:
    """Return the type of a value that is a tile."""
    assert isinstance(value.type, Tile)
    return value.type


def _extract(op: Op) -> bool:
    """Return whether a `tile_extract` is legal: a tile and one index per axis give an element."""
    t = tile_of(op.operands[0])
    return len(op.operands) == 1 + t.ndim and _are_integers(op.operands[1:]) and op.result.type == t.dtype


def _insert(op: Op) -> bool:
    """Return whether a `tile_insert` is legal: a tile, one index per axis and an element give a tile of its type."""
    t = tile_of(op.operands[0])
    fits = len(op.operands) == 2 + t.ndim and _are_integers(op.operands[1:-1])
    return fits and op.operands[-1].type == t.dtype and op.result.type == t


def _slice(op: Op) -> bool:
    """Return whether a `tile_slice` is legal: one offset per axis, and a result no larger along any axis."""
    t, r = tile_of(op.operands[0]), tile_of(op.result)
    fits = len(op.operands) == 1 + t.ndim and _are_integers(op.operands[1:]) and r.ndim == t.ndim and r.dtype == t.dtype
    return fits and r.shape == op.attrs[SHAPE] and all(a <= b for a, b in zip(r.shape, t.shape, strict=True))


def _place(op: Op) -> bool:
    """Return whether a `tile_place` is legal: a tile, one offset per axis, and a tile to insert that is no larger."""
    t, part = tile_of(op.operands[0]), tile_of(op.operands[-1])
    is_whole = len(op.operands) == 2 + t.ndim and _are_integers(op.operands[1:-1]) and part.ndim == t.ndim
    fits = is_whole and part.dtype == t.dtype and op.result.type == t
    return fits and all(a <= b for a, b in zip(part.shape, t.shape, strict=True))


def _transpose(op: Op) -> bool:
    """Return whether a `tile_transpose` is legal: a permutation of the axes, and the result's shape permuted by it."""
    t, axes = tile_of(op.operands[0]), op.attrs[AXES]
    return sorted(axes) == list(range(t.ndim)) and op.result.type == Tile(t.dtype, tuple(t.shape[a] for a in axes))


def _reshape(op: Op) -> bool:
    """Return whether a `tile_reshape` is legal: as many elements, of the same type, in the attribute's shape."""
    t, r = tile_of(op.operands[0]), tile_of(op.result)
    return r.dtype == t.dtype and r.count == t.count and r.shape == op.attrs[SHAPE]


def _broadcast(op: Op) -> bool:
    """Return whether a `tile_broadcast` is legal: each size, aligned at the last axis, is 1 or that of the result."""
    t, r = tile_of(op.operands[0]), tile_of(op.result)
    extra = r.ndim - t.ndim
    fits = extra >= 0 and all(a in (1, b) for a, b in zip(t.shape, r.shape[extra:], strict=True))
    return fits and r.dtype == t.dtype and r.shape == op.attrs[SHAPE]


def _reduce(op: Op) -> bool:
    """Return whether a `tile_reduce` is legal: a known kind, a body for "func" alone, and the result they give."""
    t, kind, axis = tile_of(op.operands[0]), op.attrs[KIND], op.attrs.get(AXIS)
    dtype = int32 if kind in ("argmin", "argmax") else t.dtype
    if kind not in REDUCTIONS or len(op.operands) != 1 or (kind == "func") != bool(op.blocks):
        return False
    if kind == "func":
        (body,) = op.blocks
        if _types(body.params) != [t.dtype] * 2 or _types(body.yielded) != [t.dtype]:
            return False
    if axis is None:
        return op.result.type == dtype
    return t.ndim > 1 and axis in range(t.ndim) and op.result.type == Tile(dtype, without(t.shape, axis))


def without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """Return the shape without an axis."""
    return shape[:axis] + shape[axis + 1 :]


def _scan(op: Op) -> bool:
    """Return whether a `tile_scan` is legal: a known kind, and a tile of scalars with a result of the same type."""
    t = tile_of(op.operands[0])
    return op.attrs[KIND] in SCANS and isinstance(t.dtype, Scalar) and op.result.type == t


def _matmul(op: Op) -> bool:
    """Return whether a `tile_matmul` is legal: 2-D tiles of one scalar type whose shapes multiply to the result's.

    The result has the factors' type, or float32 for halves; a third operand has the result's type.
    """
    a, b, r = tile_of(op.operands[0]), tile_of(op.operands[1]), tile_of(op.result)
    if op.attrs[ROLE] not in ROLES or not a.ndim == b.ndim == r.ndim == 2 or len(op.operands) > 3:
        return False
    m, k = a.shape[::-1] if op.attrs[TRANSPOSE_A] else a.shape
    k2, n = b.shape[::-1] if op.attrs[TRANSPOSE_B] else b.shape
    wide = r.dtype == a.dtype or (element(a.dtype).is_half and r.dtype == float32)
    same = k == k2 and r.shape == (m, n) and a.dtype == b.dtype and wide and isinstance(a.dtype, Scalar)
    return same and all(v.type == r for v in op.operands[2:])


def is_number(type: object) -> bool:
    """Return whether a type is a scalar other than bool."""
    return isinstance(type, Scalar) and type.kind is not Kind.BOOL


_RULES: dict[str, Callable[[Op], object]] = {
    "tile_map": _map,
    "tile_load": _load,
    "tile_store": lambda op: _memory(op, 1) is not None and not op.results,
    "tile_atomic_add": lambda op: _memory(op, 1) is not None and op.result.type == op.operands[-1].type,
    "tile_extract": _extract,
    "tile_insert": _insert,
    "tile_slice": _slice,
    "tile_place": _place,
    "tile_transpose": _transpose,
    "tile_reshape": _reshape,
    "tile_broadcast": _broadcast,
    "tile_reduce": _reduce,
    "tile_scan": _scan,
    "tile_matmul": _matmul,
}


def _rule(name: str) -> Callable[[Op], object]:
    """Return the rule of an operation as a predicate, which is False where the rule itself raises an error."""

    def holds(op: Op) -> bool:
        try:
            return bool(_RULES[name](op))
        except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError):
            return False

    return holds


RULES = {name: _rule(name) for name in _RULES}


def is_tiled(block: Block) -> bool:
    """Return whether the block, or one inside it, has an operation on tiles."""
    return not TILED.isdisjoint(block.op_names)


def identity(kind: str, type: Scalar | Vector) -> float | int:
    """Return the neutral element of a "sum", "min" or "max", as a Python number."""
    scalar = element(type)
    if kind == "sum":
        return 0
    if scalar.kind is Kind.FLOAT:
        return float("inf") if kind == "min" else float("-inf")
    limits = (0, 1) if scalar.kind is Kind.BOOL else (np.iinfo(scalar.numpy).min, np.iinfo(scalar.numpy).max)
    return int(limits[kind == "min"])
