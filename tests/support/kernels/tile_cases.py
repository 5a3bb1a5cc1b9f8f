"""The catalogue: kernels of tiles by operation, each with arguments."""

from __future__ import annotations

from itertools import count
from typing import Any

from tests.support.kernels.tile_kernels import (
    Case,
    Made,
    array,
    bool_,
    float16,
    float32,
    float64,
    int32,
    kernel,
    numbers,
    through,
    uint32,
)
from workbench.ir import Value
from workbench.tiles import Tile
from workbench.types import Vector, bfloat16, int8, int64

vec3 = Vector(3, float32)
Values = tuple[Value, ...]
Matmul = tuple[tuple[int, int, int], int, Any, tuple[bool, bool], dict[str, Any]]


def maps() -> list[Case]:
    """Maps, casts, with indices, with uniform values, broadcast scalars, effects."""
    plus = lambda b, t: b.each([t, t], lambda i, e: b.one("add", (e[0], b.cast(i[0], e[0].type)), e[0].type))  # noqa: E731

    def halved(b: Made, t: Value) -> Value:
        return b.each([t], lambda i, e: b.cast(b.one("mul", (e[0], b.const(0.5, e[0].type)), e[0].type), float64))

    def chosen(b: Made, t: Value) -> Value:
        def one(i: Any, e: Any) -> Value:
            low = b.one("lt", (e[0], b.const(0.0, float32)), bool_)
            with b.block() as then:
                b.yield_(b.one("neg", (e[0],), float32))
            with b.block() as orelse:
                b.yield_(b.one("mul", (e[0], e[0]), float32))
            return b.if_(low, then.block, orelse.block)[0]

        return b.each([t], one)

    return [
        through("map_plain", (37,), plus, 32),
        through("map_matrix", (5, 7), plus, 64),
        through("map_shared", (3, 4, 5), plus, 32, storage="shared"),
        through("map_exact", (64,), plus, 32),
        through("map_half", (33,), halved, 32, dtype=float16),
        through("map_branches", (50,), chosen, 48),
        through("map_vectors", (40,), lambda b, t: b.math("add", t, t), 32, dtype=vec3),
        through("map_small", (9,), lambda b, t: b.math("add", t, t), 32, dtype=int8),
        through("map_one_thread", (6,), plus, 1),
    ]


def moves() -> list[Case]:
    """Transposes, slices, places, reshapes, broadcasts, single elements."""

    def transposed(axes: tuple[int, ...]) -> Any:
        def change(b: Made, t: Value) -> Value:
            type = Tile(t.type.dtype, tuple(t.type.shape[a] for a in axes))  # type: ignore[union-attr]
            return b.tile("tile_transpose", (t,), type, axes=axes)

        return change

    def cut(shape: tuple[int, ...], *starts: int) -> Any:
        return lambda b, t: b.tile(
            "tile_slice", (t, *map(b.n, starts)), Tile(t.type.dtype, shape), shape=shape
        )  # fmt: skip

    def shaped(shape: tuple[int, ...]) -> Any:
        return lambda b, t: b.tile("tile_reshape", (t,), Tile(t.type.dtype, shape), shape=shape)

    def spread(shape: tuple[int, ...]) -> Any:
        return lambda b, t: b.tile("tile_broadcast", (t,), Tile(t.type.dtype, shape), shape=shape)

    made = [
        through("transpose", (5, 7), transposed((1, 0)), 32),
        through("transpose3", (2, 3, 5), transposed((2, 0, 1)), 32),
        through("slice", (6, 8), cut((3, 4), 2, 1), 32),
        through("slice_of_transpose", (6, 8), lambda b, t: cut((4, 3), 3, 2)(b, transposed((1, 0))(b, t)), 32),
        through("reshape", (4, 9), shaped((6, 6)), 32),
        through("reshape_of_transpose", (3, 4), lambda b, t: shaped((12,))(b, transposed((1, 0))(b, t)), 32),
        through("broadcast_row", (1, 7), spread((5, 7)), 32),
        through("broadcast_column", (6, 1), spread((2, 6, 3)), 64),
        through("symmetric", (6, 6), lambda b, t: b.math("add", t, transposed((1, 0))(b, t)), 32),
    ]
    return made


def parts() -> list[Case]:
    """Places and single elements."""

    def placed(b: Made, t: Value) -> Value:
        part = b.tile("tile_slice", (t, b.n(1), b.n(2)), Tile(float32, (2, 3)), shape=(2, 3))
        return b.tile("tile_place", (t, b.block_index, b.n(0), part), t.type)  # type: ignore[arg-type]

    def placed_twice(b: Made, t: Value) -> Value:
        return b.math("add", placed(b, b.math("add", t, t)), t)

    def element(b: Made, t: Value) -> Value:
        return b.emit("tile_extract", (t, b.block_index, b.n(2)), (float32,)).result

    def set_one(b: Made, t: Value) -> Value:
        x = b.const(99.0, float32)
        changed = b.tile("tile_insert", (t, b.block_index, b.n(3), x), t.type)  # type: ignore[arg-type]
        return b.math("add", changed, t)

    def set_then_get(b: Made, t: Value) -> Value:
        changed = b.tile("tile_insert", (t, b.block_index, b.n(3), b.const(99.0, float32)), t.type)  # type: ignore[arg-type]
        found = b.emit("tile_extract", (changed, b.block_index, b.n(3)), (float32,)).result
        return b.each([changed], lambda i, e: b.one("add", (e[0], found), float32))

    made = [
        through("place", (4, 6), placed, 32),
        through("place_register", (4, 6), placed_twice, 32),
    ]
    for storage in ("register", "shared"):
        made += [
            through(f"extract_{storage}", (4, 5), element, 32, storage=storage),
            through(f"insert_{storage}", (4, 5), set_one, 32, storage=storage),
            through(f"insert_extract_{storage}", (4, 5), set_then_get, 32, storage=storage),
        ]
    return made


def copies() -> list[Case]:
    """Loads into shared memory in chunks: aligned and not, over edges, along some axes, of small numbers."""
    made = []
    rows: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], Any]] = [
        ((16, 32), (8, 16), (4, 8), (0, 1), float32), ((16, 32), (8, 16), (-1, -4), (0, 1), float32),
        ((16, 32), (8, 16), (12, 20), (0, 1), float32), ((16, 33), (8, 16), (0, 3), (0, 1), float32),
        ((64,), (32,), (16,), (0,), float32), ((64,), (32,), (50,), (0,), float64), ((64,), (32,), (-5,), (0,), int8),
        ((3, 8, 16), (8, 16), (1, 0, 0), (1, 2), float16), ((3, 8, 16), (3, 8), (0, 2, 8), (0, 2), float16),
        ((3, 8, 16), (8, 16), (3, 0, 0), (1, 2), float16), ((3, 8, 16), (16,), (-1, 2, 0), (2,), float32),
        ((3, 8, 16), (16,), (2, 7, 0), (2,), int32),
    ]  # fmt: skip
    for number, (shape, tile, offsets, axes, dtype) in enumerate(rows):

        def body(b: Made, values: Values, tile: Any = tile, offsets: Any = offsets, axes: Any = axes) -> None:
            type = Tile(values[0].type.dtype, tile, "shared")  # type: ignore[union-attr]
            at = [b.n(o) for o in offsets]
            found = b.tile("tile_load", (values[0], *at), type, "t", shape=tile, bounds=True, axes=axes)
            b.put(values[1], [b.n(0)] * len(tile), found)

        params = [("x", array(len(shape), dtype)), ("y", array(len(tile), dtype))]
        made.append(
            Case(kernel(f"copy_{number}", params, body, 32), 1, (numbers(shape, dtype), numbers(tile, dtype, 1)))
        )
    return made


def reductions() -> list[Case]:
    """Over all elements and along axes, of many sizes and blocks; scans."""
    made: list[Case] = []
    number = count()
    for shape, block in (
        ((1,), 32),
        ((7,), 32),
        ((64,), 64),
        ((100,), 48),
        ((33, 5), 128),
        ((40,), 96),
        ((5,), 1),
        ((300,), 256),
    ):
        for kind in ("sum", "min", "argmax"):
            name = f"reduce_{kind}_{next(number)}"
            made.append(through(name, shape, lambda b, t, kind=kind: b.reduce(t, kind), block))
    for shape, axis, block in (
        ((4, 6), 1, 32),
        ((2, 40), 1, 128),
        ((40, 3), 0, 64),
        ((3, 4, 5), 1, 32),
        ((1, 70), 1, 96),
    ):
        for kind in ("sum", "max", "argmin"):
            name = f"along_{kind}_{next(number)}"
            made.append(through(name, shape, lambda b, t, kind=kind, axis=axis: b.reduce(t, kind, axis), block))
    for dtype in (float16, bfloat16, float64, int32, int64, uint32):
        made.append(through(f"reduce_sum_{dtype.name}", (37,), lambda b, t: b.reduce(t, "sum"), 64, dtype=dtype))
        made.append(through(f"reduce_max_{dtype.name}", (37,), lambda b, t: b.reduce(t, "max"), 64, dtype=dtype))
    made.append(through("reduce_vectors", (37,), lambda b, t: b.reduce(t, "sum"), 64, dtype=vec3))
    for kind, exclusive, shape, block in (
        ("sum", False, (50,), 32), ("sum", True, (3, 9), 32), ("max", False, (4, 8), 64), ("min", True, (20,), 32),
    ):  # fmt: skip
        how = {"kind": kind, "exclusive": exclusive}
        name = f"scan_{kind}_{next(number)}"
        made.append(through(name, shape, lambda b, t, how=how: b.tile("tile_scan", (t,), t.type, **how), block))
    scanned = lambda b, t: b.tile("tile_scan", (t,), t.type, kind="sum", exclusive=False)  # noqa: E731
    made.append(through("scan_ints", (40,), scanned, 32, dtype=int32, storage="shared"))
    return made


def products() -> list[Case]:
    """Products of matrices of all kinds, into what they add to or not."""
    nn, tn, nt, tt = (False, False), (True, False), (False, True), (True, True)
    rows: list[Matmul] = [
        ((16, 16, 16), 32, float32, nn, {}), ((7, 5, 3), 32, float32, tn, {}), ((9, 20, 6), 48, float32, nt, {}),
        ((8, 8, 8), 128, float64, tt, {}), ((6, 4, 10), 32, int32, nn, {}), ((33, 17, 9), 64, float32, tt, {}),
        ((16, 8, 16), 32, float16, nn, {}), ((32, 32, 32), 64, float16, tn, {}), ((20, 12, 10), 64, float16, nt, {}),
        ((48, 24, 32), 128, bfloat16, tt, {}), ((5, 3, 2), 96, bfloat16, nn, {}), ((16, 16, 16), 48, float16, nn, {}),
        ((16, 8, 8), 32, float32, nn, {"precision": "tf32"}), ((20, 20, 20), 64, float32, tn, {"precision": "tf32"}),
    ]  # fmt: skip
    made = []
    for number, (shape, block, dtype, turned, how) in enumerate(rows):
        for acc in (False, True):
            made.append(multiplied(f"matmul_{number}_{'acc' if acc else 'new'}", shape, block, dtype, turned, acc, how))
    made.append(multiplied("matmul_narrow", (16, 16, 16), 32, float16, nn, False, {"wide": False}))
    return made


def multiplied(
    name: str, shape: tuple[int, int, int], block: int, dtype: Any, turned: tuple[bool, bool], acc: bool,
    how: dict[str, Any], storage: str = "register",
) -> Case:  # fmt: skip
    """`c = a · b`, or `c += a · b`."""
    m, n, k = shape
    sides = ((k, m) if turned[0] else (m, k)), ((n, k) if turned[1] else (k, n))
    result = float32 if dtype.is_half and how.get("wide", True) else dtype

    def body(b: Made, values: tuple[Value, ...]) -> None:
        zero = b.n(0)
        x, y = (b.get(v, (b.block_index, zero, zero), s) for v, s in zip(values, sides, strict=False))
        before = b.get(values[2], (b.block_index, zero, zero), (m, n), storage) if acc else None
        b.put(values[2], (b.block_index, zero, zero), b.matmul(x, y, before, turned, **how))

    params = [("x", array(3, dtype)), ("y", array(3, dtype)), ("z", array(3, result))]
    arguments = (numbers((2, *sides[0]), dtype), numbers((2, *sides[1]), dtype, 1), numbers((2, m, n), result, 2))
    return Case(kernel(name, params, body, block), 2, arguments)


_ALL = [*maps(), *moves(), *parts(), *copies(), *reductions(), *products()]
CASES = {case.name: case for case in _ALL}
assert len(CASES) == len(_ALL), "kernels have names of their own"
