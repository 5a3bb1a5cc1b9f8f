"""Operations on tiles: legal ones pass and go through data and back, malformed ones are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from workbench.ir import Block, Builder, Function, Op, Value
from workbench.ir.data import canonical, from_data, show, to_data
from workbench.ir.tiles import RULES
from workbench.ir.verify import InvalidIR, verify
from workbench.tiles import Tile
from workbench.types import ArrayType, float32, float64, int32

T = Tile(float32, (2, 3))
FLAT = Tile(float32, (6,))


def value(type: Any, name: str = "") -> Value:
    return Value(type, name)


class Given:
    def __init__(self) -> None:
        self.image = Value(ArrayType(float32, 2), "image")
        self.i, self.x, self.d = Value(int32, "i"), Value(float32, "x"), Value(float64, "d")
        self.t, self.u, self.flat = value(T, "t"), value(Tile(float32, (3, 2)), "u"), value(FLAT, "flat")
        self.params = (self.image, self.i, self.x, self.d, self.t, self.u, self.flat)


def ends(*values: Value, params: tuple[Value, ...] = ()) -> Block:
    return Block(params, (Op("yield", values),))


def mapped(g: Given, tile: Value, result: Any, shape: tuple[int, ...] = (2, 3), inner: Any = float32) -> Op:
    params = (Value(int32), Value(int32), Value(inner))
    return Op("tile_map", (tile,), (value(result),), {"shape": shape}, (ends(params[2], params=params),))


AT = {"bounds": True, "axes": (0, 1), "shape": (2, 3)}
THERE = {"bounds": True, "axes": (0, 1)}
MATMUL = {"transpose_a": False, "transpose_b": False, "role": "forward"}
MALFORMED: dict[str, list[Callable[[Given], Op]]] = {
    "tile_map": [
        lambda g: mapped(g, g.u, T),
        lambda g: mapped(g, g.t, Tile(float64, (2, 3))),
        lambda g: mapped(g, g.x, T),
        lambda g: mapped(g, g.t, T, (2, 0)),
    ],
    "tile_load": [
        lambda g: Op("tile_load", (g.image, g.i), (value(T),), AT),
        lambda g: Op("tile_load", (g.image, g.i, g.x), (value(T),), AT),
        lambda g: Op("tile_load", (g.image, g.i, g.i), (g.d,), AT),
        lambda g: Op("tile_load", (g.image, g.i, g.i), (value(T),), {**AT, "axes": (1, 0)}),
    ],
    "tile_store": [
        lambda g: Op("tile_store", (g.image, g.i, g.i, g.x), (), THERE),
        lambda g: Op("tile_store", (g.image, g.i, g.i, g.t), (value(T),), THERE),
    ],
    "tile_atomic_add": [lambda g: Op("tile_atomic_add", (g.image, g.i, g.i, g.t), (value(FLAT),), THERE)],
    "tile_extract": [
        lambda g: Op("tile_extract", (g.t, g.i), (value(float32),)),
        lambda g: Op("tile_extract", (g.t, g.i, g.i), (value(float64),)),
    ],
    "tile_insert": [lambda g: Op("tile_insert", (g.t, g.i, g.i, g.d), (value(T),))],
    "tile_slice": [lambda g: Op("tile_slice", (g.t, g.i, g.i), (value(Tile(float32, (3, 3))),), {"shape": (3, 3)})],
    "tile_place": [lambda g: Op("tile_place", (g.t, g.i, g.i, g.u), (value(T),))],
    "tile_transpose": [
        lambda g: Op("tile_transpose", (g.t,), (value(T),), {"axes": (1, 0)}),
        lambda g: Op("tile_transpose", (g.t,), (value(T),), {"axes": (0, 0)}),
    ],
    "tile_reshape": [lambda g: Op("tile_reshape", (g.t,), (value(Tile(float32, (5,))),), {"shape": (5,)})],
    "tile_broadcast": [lambda g: Op("tile_broadcast", (g.t,), (value(FLAT),), {"shape": (6,)})],
    "tile_reduce": [
        lambda g: Op("tile_reduce", (g.t,), (value(float64),), {"kind": "sum"}),
        lambda g: Op("tile_reduce", (g.t,), (value(float32),), {"kind": "argmax"}),
        lambda g: Op("tile_reduce", (g.flat,), (value(float32),), {"kind": "sum", "axis": 0}),
        lambda g: Op("tile_reduce", (g.t,), (value(float32),), {"kind": "func"}),
    ],
    "tile_scan": [lambda g: Op("tile_scan", (g.t,), (value(T),), {"kind": "mean", "exclusive": False})],
    "tile_matmul": [
        lambda g: Op("tile_matmul", (g.t, g.t), (value(T),), MATMUL),
        lambda g: Op("tile_matmul", (g.t, g.u), (value(Tile(float32, (3, 3))),), MATMUL),
        lambda g: Op("tile_matmul", (g.t, g.u), (value(Tile(float32, (2, 2))),), {**MATMUL, "role": "both"}),
    ],
}
CASES = [(name, n) for name, makers in MALFORMED.items() for n in range(len(makers))]


def test_every_rule_has_an_example() -> None:
    assert MALFORMED.keys() == RULES.keys()


@pytest.mark.parametrize(("name", "number"), CASES)
def test_malformed_operations_are_refused(name: str, number: int) -> None:
    given = Given()
    op = MALFORMED[name][number](given)
    with pytest.raises(InvalidIR, match=rf"f: {name} at .* is malformed"):
        verify(Function("f", given.params, Block((), (op,)), block_dim=32))


def kernel(block_dim: int = 64) -> Function:
    """Load, double, multiply, store."""
    image = Value(ArrayType(float32, 2), "image")
    b = Builder()
    zero = b.const(0)
    tile: Any = Tile(float32, (2, 3), "shared")
    t = b.one("tile_load", (image, zero, zero), tile, AT)
    (u,) = b.tile_map((2, 3), (t,), lambda at, e: [b.one("add", (e[0], e[0]), float32)])
    square: Any = Tile(float32, (2, 2))
    p = b.one("tile_matmul", (t, u), square, {**MATMUL, "transpose_b": True})
    b.emit("tile_store", (image, zero, zero, p), (), THERE)
    return Function("f", (image,), b.body(), 2, block_dim=block_dim)


def test_legal_operations_pass_and_go_through_data() -> None:
    function = verify(kernel())
    again = from_data(to_data(function))
    assert canonical(again) == canonical(function)
    assert again.block_dim == 64
    assert next(r.type.storage for op in again.body.ops for r in op.results if isinstance(r.type, Tile)) == "shared"


def test_block_dim_is_part_of_the_meaning() -> None:
    assert canonical(kernel(64)) != canonical(kernel(128))
    assert "tile[float32, 2×3, shared] = tile_load" in show(kernel())


def test_tiles_want_a_block() -> None:
    with pytest.raises(InvalidIR, match="once per thread"):
        verify(kernel(0))
