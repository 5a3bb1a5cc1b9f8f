"""Kernels of tiles in IR: for each operation some, in registers and in shared memory, with blocks of any size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.ir import Block, Builder, Function, Op, Value
from workbench.ir.verify import verify
from workbench.tiles import Tile, is_tile
from workbench.types import ArrayType, Scalar, Vector, float16, float32, float64, int32, uint32
from workbench.types import bool as bool_

Body = Callable[["Made", tuple[Value, ...]], None]


class Made(Builder):
    """A builder that knows the operations on tiles."""

    def __init__(self) -> None:
        """At a block of a launch over one dimension."""
        super().__init__()
        self.block_index = self.one("tid", (), int32, {"axis": 0, "level": "block"})

    def n(self, value: int) -> Value:
        return self.const(value)

    def tile(self, name: str, operands: Sequence[Value], type: Tile, label: str = "", **attrs: Any) -> Value:
        """An operation that gives a tile."""
        return self.emit(name, operands, (type,), attrs, names=[label]).result  # type: ignore[arg-type]

    def get(self, array: Value, offsets: Sequence[Value], shape: tuple[int, ...], storage: str = "register",
            bounds: bool = True, label: str = "") -> Value:  # fmt: skip
        """`tile_load`."""
        type = Tile(array.type.dtype, shape, storage)  # type: ignore[union-attr]
        axes = tuple(range(len(offsets) - len(shape), len(offsets)))
        return self.tile("tile_load", (array, *offsets), type, label or "t", shape=shape, bounds=bounds, axes=axes)

    def put(self, array: Value, offsets: Sequence[Value], tile: Value, name: str = "tile_store") -> Any:
        """`tile_store` or `tile_atomic_add`."""
        axes = tuple(range(len(offsets) - tile.type.ndim, len(offsets)))  # type: ignore[union-attr]
        types: Any = (tile.type,) if name == "tile_atomic_add" else ()
        return self.emit(name, (array, *offsets, tile), types, {"bounds": True, "axes": axes})

    def each(self, tiles: Sequence[Value], make: Callable[..., Value], label: str = "", storage: str = "") -> Value:
        """A `tile_map` with one result; `make(indices, elements)` gives its element."""
        (found,) = self.tile_map(tiles[0].type.shape, tiles, lambda i, e: [make(i, e)], [label])  # type: ignore[union-attr]
        return found

    def math(self, name: str, *operands: Value) -> Value:
        """A builtin, of tiles element by element."""
        if is_tile(operands[0]):
            return self.each(operands, lambda i, e: self.one(name, e, e[0].type))
        return self.one(name, operands, operands[0].type)  # type: ignore[arg-type]

    def filled(self, shape: tuple[int, ...], value: Any, dtype: Any = float32, label: str = "") -> Value:
        """A tile of one number."""
        (found,) = self.tile_map(shape, (), lambda i, e: [self.const(value, dtype)], [label])
        return found

    def reduce(self, tile: Value, kind: str, axis: int | None = None) -> Value:
        """`tile_reduce`."""
        type: Any = int32 if kind.startswith("arg") else tile.type.dtype  # type: ignore[union-attr]
        if axis is not None:
            shape = tile.type.shape  # type: ignore[union-attr]
            type = Tile(type, shape[:axis] + shape[axis + 1 :])
        return self.emit("tile_reduce", (tile,), (type,), {"kind": kind, "axis": axis}).result

    def matmul(self, a: Value, b: Value, acc: Value | None = None, turned: tuple[bool, bool] = (False, False),
               wide: bool = True, **attrs: Any) -> Value:  # fmt: skip
        """`tile_matmul`."""
        rows = a.type.shape[1 if turned[0] else 0]  # type: ignore[union-attr]
        columns = b.type.shape[0 if turned[1] else 1]  # type: ignore[union-attr]
        dtype = a.type.dtype  # type: ignore[union-attr]
        type = acc.type if acc else Tile(float32 if wide and dtype.is_half else dtype, (rows, columns))  # type: ignore[union-attr]
        how = {"transpose_a": turned[0], "transpose_b": turned[1], "role": "forward", **attrs}
        return self.emit("tile_matmul", (a, b, *((acc,) if acc else ())), (type,), how, names=["product"]).result  # type: ignore[arg-type]


@dataclass(frozen=True)
class Case:
    """A kernel, its blocks, and arguments to run it with."""

    function: Function
    blocks: int
    arguments: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The kernel's."""
        return self.function.name


def numbers(shape: Any, dtype: Scalar | Vector = float32, seed: int = 0) -> Any:
    """Numbers that are small and exact in any type, so that sums of some are exact too."""
    scalar = dtype.dtype if isinstance(dtype, Vector) else dtype
    tail = (dtype.length,) if isinstance(dtype, Vector) else ()
    found = np.random.default_rng(seed).integers(
        0 if scalar.name.startswith("u") else -9, 10, (*np.atleast_1d(shape), *tail)
    )
    return found.astype(scalar.numpy)


def kernel(name: str, params: Sequence[tuple[str, Any]], body: Body, block_dim: int) -> Function:
    """A kernel that `body` fills."""
    made = Made()
    values = tuple(Value(type, label) for label, type in params)
    body(made, values)
    return verify(Function(name, values, made.body(), 1, block_dim=block_dim))


def array(ndim: int, dtype: Any = float32) -> ArrayType:
    """An array's type."""
    return ArrayType(dtype, ndim)


def through(name: str, shape: tuple[int, ...], change: Callable[[Made, Value], Value], block_dim: int, blocks: int = 2,
            dtype: Any = float32, out: Any = None, storage: str = "register") -> Case:  # fmt: skip
    """A tile of each block's row of `x`, changed, stored to (or a number added to) its row of `y`."""

    def body(b: Made, values: tuple[Value, ...]) -> None:
        x, y = values
        zero = [b.n(0)] * len(shape)
        made = change(b, b.get(x, (b.block_index, *zero), shape, storage, label="x"))
        if is_tile(made):
            b.put(y, (b.block_index, *[b.n(0)] * made.type.ndim), made)  # type: ignore[union-attr]
        else:
            b.emit("store", (y, b.block_index, b.n(0), made))

    probe = Made()
    found = change(probe, Value(Tile(dtype, shape), "x"))
    tail = found.type.shape if is_tile(found) else (1,)  # type: ignore[union-attr]
    kind = out or (found.type.dtype if is_tile(found) else found.type)  # type: ignore[union-attr]
    function = kernel(name, [("x", array(1 + len(shape), dtype)), ("y", array(1 + len(tail), kind))], body, block_dim)
    made = numbers((blocks, *tail), kind, 7)
    return Case(function, blocks, (numbers((blocks, *shape), dtype), made))


def ends(*values: Value, params: tuple[Value, ...] = ()) -> Block:
    """A block that yields these."""
    return Block(params, (Op("yield", values),))


__all__ = [
    "Case", "Made", "array", "bool_", "ends", "float16", "float32", "float64", "int32", "kernel", "numbers", "through",
    "uint32",
]  # fmt: skip
