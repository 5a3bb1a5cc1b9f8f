"""Kernels of tiles with loops, branches and effects, and larger ones as people write them."""

from __future__ import annotations

from typing import Any

from tests.support.kernels.tile_kernels import Case, Made, array, bool_, float16, float32, int32, kernel, numbers
from workbench.ir import Value
from workbench.tiles import Tile
from workbench.types import Vector

Values = tuple[Value, ...]


def carried(b: Made, count: Value, tiles: list[Value], body: Any, start: int = 0, step: int = 1) -> Values:
    """`for k in range(start, count, step)`; `body(k, tiles)` gives the next ones."""
    index = Value(int32, "k")
    params = [Value(t.type, t.name) for t in tiles]
    with b.block((index, *params)) as opened:
        b.yield_(*body(index, params))
    return b.for_(b.n(start), count, b.n(step), tiles, opened.block)


def _rows(b: Made, x: Value) -> Value:
    return b.one("shape", (x,), int32, {"axis": 1})


def gemm(
    name: str, shape: tuple[int, int, int], block: int, dtype: Any = float32, storage: str = "register", **how: Any
) -> Case:  # fmt: skip
    """`c = a · b`, a tile per block, edges that do not fit; `how` are attributes of the product."""
    m, n, k = shape
    wide = float32 if dtype.is_half else dtype

    def body(b: Made, values: Values) -> None:
        x, y, z = values
        column = b.one("mul", (b.block_index, b.n(n)), int32)
        zero = b.n(0)

        def turn(at: Value, tiles: list[Value]) -> list[Value]:
            left = b.get(x, (zero, at), (m, k), label="left")
            right = b.get(y, (at, column), (k, n), label="right")
            return [b.matmul(left, right, tiles[0], **how)]

        first = b.filled((m, n), 0, wide, "sum")
        if storage == "shared":
            first = b.emit("tile_map", (), (Tile(wide, (m, n), "shared"),), {"shape": (m, n)},
                           (_constant(b, wide),), names=["sum"]).result  # fmt: skip
        (total,) = carried(b, _rows(b, x), [first], turn, 0, k)
        b.put(z, (zero, column), total)

    params = [("x", array(2, dtype)), ("y", array(2, dtype)), ("z", array(2, wide))]
    inner = 2 * k + 3
    arguments = (
        numbers((m - 1, inner), dtype),
        numbers((inner, 2 * n - 2), dtype, 1),
        numbers((m - 1, 2 * n - 2), wide, 2),
    )
    return Case(kernel(name, params, body, block), 2, arguments)


def _constant(b: Made, dtype: Any) -> Any:
    with b.block((Value(int32), Value(int32))) as opened:
        b.yield_(b.const(0, dtype))
    return opened.block


def softmax(name: str, columns: int, block: int) -> Case:
    """Rows of a matrix, each less its greatest element, times the row's sum."""

    def body(b: Made, values: Values) -> None:
        x, y = values
        shape = (4, columns)
        row = b.one("mul", (b.block_index, b.n(4)), int32)
        t = b.get(x, (row, b.n(0)), shape)

        def over_rows(v: Value) -> Value:
            tall = b.tile("tile_reshape", (v,), Tile(float32, (4, 1)), shape=(4, 1))
            return b.tile("tile_broadcast", (tall,), Tile(float32, shape), shape=shape)

        less = b.math("sub", t, over_rows(b.reduce(t, "max", 1)))
        b.put(y, (row, b.n(0)), b.math("mul", less, over_rows(b.reduce(less, "sum", 1))))

    params = [("x", array(2)), ("y", array(2))]
    return Case(kernel(name, params, body, block), 2, (numbers((8, columns)), numbers((8, columns), seed=1)))


def attention(name: str, block: int, dtype: Any = float32) -> Case:
    """Two products, the result of the first an operand of the second."""

    def body(b: Made, values: Values) -> None:
        q, k, v, out = values
        zero = b.n(0)
        tiles = [b.get(t, (zero, zero), (16, 16)) for t in (q, k, v)]
        scores = b.matmul(tiles[0], tiles[1], None, (False, True), wide=False)
        doubled = b.math("add", scores, scores)
        b.put(out, (zero, zero), b.matmul(doubled, tiles[2], None, wide=False))

    params = [(n, array(2, dtype)) for n in ("q", "k", "v", "out")]
    small = [numbers((16, 16), dtype, s).astype(dtype.numpy) for s in range(4)]
    return Case(kernel(name, params, body, block), 1, tuple((a % 3 - 1).astype(dtype.numpy) for a in small))


def _swap(storage: str) -> Case:
    def body(b: Made, values: Values) -> None:
        x, y = values
        zero = b.n(0)
        one = b.get(x, (b.n(0), zero), (20,), storage, label="a")
        two = b.get(x, (b.n(1), zero), (20,), storage, label="b")
        a, c = carried(b, b.n(3), [one, two], lambda k, t: [t[1], t[0]])
        b.put(y, (zero, zero), a)
        b.put(y, (b.n(1), zero), c)

    params = [("x", array(2)), ("y", array(2))]
    return Case(kernel(f"swap_{storage}", params, body, 32), 1, (numbers((2, 20)), numbers((2, 20), seed=1)))


def _turning(storage: str) -> Case:
    """A tile that a loop transposes."""

    def body(b: Made, values: Values) -> None:
        x, y = values
        zero = b.n(0)
        t = b.get(x, (zero, zero), (6, 6), storage)

        def turn(k: Value, tiles: list[Value]) -> list[Value]:
            turned = b.tile("tile_transpose", tiles, Tile(float32, (6, 6)), axes=(1, 0))
            return [b.each([turned], lambda i, e: b.one("add", (e[0], b.cast(i[0], float32)), float32))]

        (done,) = carried(b, b.n(3), [t], turn)
        b.put(y, (zero, zero), done)

    params = [("x", array(2)), ("y", array(2))]
    return Case(kernel(f"turning_{storage}", params, body, 32), 1, (numbers((6, 6)), numbers((6, 6), seed=1)))


def _branch() -> Case:
    """A tile of one branch or another, decided by what a reduction finds."""

    def body(b: Made, values: Values) -> None:
        x, y = values
        t = b.get(x, (b.block_index, b.n(0)), (5, 6)[1:], label="t")
        positive = b.one("gt", (b.reduce(t, "sum"), b.const(0.0, float32)), bool_)
        with b.block() as then:
            b.yield_(b.math("add", t, t))
        with b.block() as orelse:
            wide = b.tile("tile_reshape", (t,), Tile(float32, (2, 3)), shape=(2, 3))
            turned = b.tile("tile_transpose", (wide,), Tile(float32, (3, 2)), axes=(1, 0))
            b.yield_(b.tile("tile_reshape", (turned,), Tile(float32, (6,)), shape=(6,)))
        (found,) = b.if_(positive, then.block, orelse.block)
        b.put(y, (b.block_index, b.n(0)), found)

    params = [("x", array(2)), ("y", array(2))]
    return Case(kernel("branch", params, body, 32), 6, (numbers((6, 6)), numbers((6, 6), seed=1)))


def _halving() -> Case:
    """`while` the sum is large, halve."""

    def body(b: Made, values: Values) -> None:
        x, y = values
        t = b.get(x, (b.block_index, b.n(0)), (40,), label="t")
        before, inside = Value(t.type, "t"), Value(t.type, "t")
        with b.block((before,)) as condition:
            b.yield_(b.one("gt", (b.reduce(before, "max"), b.const(1.0, float32)), bool_))
        with b.block((inside,)) as turn:
            b.yield_(b.each([inside], lambda i, e: b.one("mul", (e[0], b.const(0.5, float32)), float32)))
        (done,) = b.while_([t], condition.block, turn.block)
        b.put(y, (b.block_index, b.n(0)), done)

    params = [("x", array(2)), ("y", array(2))]
    return Case(kernel("halving", params, body, 64), 3, (numbers((3, 40)), numbers((3, 40), seed=1)))


def _effects() -> Case:
    """Uniform stores, loads and atomics in between maps that read and write the same arrays."""

    def body(b: Made, values: Values) -> None:
        x, y, counts = values
        zero, one = b.n(0), b.n(1)
        b.store(x, zero, b.const(5.0, float32))
        found = b.load(x, zero)
        b.store(x, zero, b.one("add", (found, found), float32))
        b.emit("tile_map", (), (), {"shape": (40,)}, (_shifted(b, x, y),))
        t = b.get(y, (zero,), (40,), label="t")
        b.store(y, one, b.reduce(t, "sum"))
        ticket = b.one("atomic_add", (counts, zero, one), int32)
        b.one("atomic_add", (counts, one, b.n(2)), int32)
        b.store(y, b.one("add", (ticket, b.n(40)), int32), b.load(y, one))
        b.put(y, (one,), b.get(y, (zero,), (30,), label="u"))
        b.put(y, (b.n(3),), b.get(x, (one,), (8,), "shared"), "tile_atomic_add")

    params = [("x", array(1)), ("y", array(1)), ("counts", array(1, int32))]
    return Case(kernel("effects", params, body, 64), 2, (numbers(41), numbers(50, seed=1), numbers(3, int32, 2)))


def _shifted(b: Made, x: Value, y: Value) -> Any:
    index = Value(int32, "i")
    with b.block((index,)) as opened:
        b.store(y, index, b.load(x, b.one("sub", (b.n(39), index), int32)))
        b.yield_()
    return opened.block


def _old_values() -> Case:
    """`tile_atomic_add` whose result is used, over an edge."""

    def body(b: Made, values: Values) -> None:
        x, y = values
        t = b.get(x, (b.n(0),), (40,), "shared", label="t")
        start = b.n(7)
        old = b.put(y, (start,), t, "tile_atomic_add").result
        b.put(x, (b.n(0),), old)

    params = [("x", array(1)), ("y", array(1))]
    return Case(kernel("old_values", params, body, 32), 1, (numbers(40), numbers(40, seed=1)))


def _lanes() -> Case:
    """What each thread has of its own, and a gather by it."""
    vec2 = Vector(2, float32)

    def body(b: Made, values: Values) -> None:
        x, y = values
        base = b.one("mul", (b.block_index, b.n(32)), int32)
        (own,) = b.tile_map((32,), (), lambda i, e: [b.one("add", (base, i[0]), int32)], ["i"])
        (found,) = b.tile_map((32,), (own,), lambda i, e: [b.load(x, e[0])], ["v"])

        def effect(i: Any, e: Any) -> list[Value]:
            b.store(y, e[0], b.one("add", (e[1], e[1]), vec2))
            return []

        b.tile_map((32,), (own, found), effect)

    params = [("x", array(1, vec2)), ("y", array(1, vec2))]
    return Case(kernel("lanes", params, body, 32), 2, (numbers(64, vec2), numbers(64, vec2, 1)))


FLOWS = {
    case.name: case
    for case in [
        gemm("gemm", (16, 16, 8), 64), gemm("gemm_odd", (7, 9, 5), 48),
        gemm("gemm_shared", (16, 16, 8), 64, storage="shared"),
        gemm("gemm_half", (32, 32, 16), 64, float16), softmax("softmax", 40, 64), softmax("softmax_wide", 100, 128),
        attention("attention", 64), attention("attention_half", 32, float16), _swap("register"), _swap("shared"),
        _turning("register"), _turning("shared"), _branch(), _halving(), _effects(), _old_values(), _lanes(),
    ]
}  # fmt: skip
