"""Operations on scalars, applied to every element of tiles by one `tile_map`.

Whatever the front end lowers for numbers is lowered once inside the map's block, where each tile is its element;
numbers beside them are outer values. So tiles have all operators and builtins, with the same types and errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.values import Value
from workbench.tiles import Tile, is_tile, shown
from workbench.types import ArrayType, Complex, Scalar, Vector

if TYPE_CHECKING:
    from workbench.frontend.state.context import Context

Make = Callable[[Sequence[Operand]], "Sequence[Value]"]


def any_tile(operands: Sequence[Operand]) -> bool:
    """Return whether one of the operands is a tile."""
    return any(map(is_tile, operands))


def shape_of(context: Context, what: str, operands: Sequence[Operand]) -> tuple[int, ...]:
    """Return the one shape of the tiles among the operands, of which there is one at least.

    Raises:
        KernelTypeError: there are two; the message has both.
    """
    shapes = [o.type.shape for o in operands if is_tile(o)]
    for other in shapes[1:]:
        if other != shapes[0]:
            raise context.type_error(
                f"{what} takes tiles of one shape; these are {shown(shapes[0])} and {shown(other)}.",
                "Bring one to the other's shape: tile_broadcast, tile_reshape, tile_transpose, tile_view.",
            )
    return shapes[0]


def over(context: Context, what: str, operands: Sequence[Operand], make: Make) -> tuple[Value, ...]:
    """Emit a `tile_map` that does `make` for each element of tiles; return a tile for each value that it gives.

    Args:
        context: where.
        what: how messages call the operation.
        operands: tiles, of one shape; all others reach `make` as they are.
        make: emits what is done, of operands in which a tile is its element.

    Raises:
        KernelTypeError: the tiles have two shapes.
    """
    shape = shape_of(context, what, operands)
    tiles = list(dict.fromkeys(o for o in operands if is_tile(o)))
    positive = context.shared.non_negative
    yielded: list[Value] = []

    def element(indices: Sequence[Value], elements: Sequence[Value]) -> Sequence[Value]:
        positive.update(indices)
        positive.update(e for t, e in zip(tiles, elements, strict=True) if t in positive)
        inside = dict(zip(tiles, elements, strict=True))
        yielded.extend(make([inside.get(o, o) if is_tile(o) else o for o in operands]))  # type: ignore[arg-type]
        return yielded

    results = context.builder.tile_map(shape, tiles, element)
    positive.update(r for r, v in zip(results, yielded, strict=True) if v in positive)
    storage = "thread" if all(t.type.storage == "thread" for t in tiles) else "register"
    return tuple(stored(r, storage) for r in results)


def stored(value: Value, storage: str) -> Value:
    """Give a tile that nothing has used yet this storage, in place, and return it; any other value stays as it is."""
    if isinstance(value.type, Tile) and value.type.storage != storage:
        msgspec.structs.force_setattr(value, "type", Tile(value.type.dtype, value.type.shape, storage))
    return value


def uniform(context: Context, operand: Operand, what: str) -> Operand:
    """Check that an operand is one for all threads of a block, and return it.

    Raises:
        KernelTypeError: it is a tile.
    """
    if is_tile(operand):
        type: Any = operand.type
        thread = type.storage == "thread"
        shape = "differs between the threads of a block" if thread else f"is a tile of shape {shown(type.shape)}"
        advice = "Use where(condition, a, b), or put the branch into a func for tile_map." if thread else ""
        if thread and context.shared.tiling is not None and context.shared.tiling.flat:
            advice = "Over blocks tid() is the block's: wb.launch_tiled(kernel, dim=[…], …)."
        raise context.type_error(f"{what} has to be one number for the whole block; this {shape}.", advice)
    return operand


def fill(context: Context, shape: tuple[int, ...], value: Value, storage: str) -> Value:
    """Emit a tile with one value everywhere."""
    (tile,) = context.builder.tile_map(shape, (), lambda at, e: [value])
    return stored(tile, storage)


def as_element(context: Context, type: Any, what: str) -> Scalar | Vector:
    """Check that elements of tiles can have a type, and return it.

    Raises:
        KernelTypeError: it is that of complex numbers, an array or a struct.
    """
    if isinstance(type, Complex):
        message = f"{what} would have {type!r} elements; tiles of complex numbers are not built."
        raise context.type_error(message, "Keep real and imaginary parts in two tiles.")
    if isinstance(type, (Scalar, Vector)):
        return type
    kind = "an array" if isinstance(type, ArrayType) else repr(type)
    raise context.type_error(f"{what} has elements that are numbers or vectors, not {kind}.")


def is_literal(operand: Operand) -> bool:
    """Return whether an operand is an int without a type yet: written out, or from the user's namespace."""
    return isinstance(operand, Literal) and not operand.is_float
