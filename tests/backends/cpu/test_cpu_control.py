"""`if`, `for`, `while` on the CPU: carried values, nesting, and ranges up to the ends of their type."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.backends.cpu.emit import loops
from workbench.ir import Builder, Function, Value
from workbench.ir.values import walk
from workbench.types import VECTORS, ArrayType, Scalar, bool, float32, int8, int32, int64, uint8


def collect_range(t: Scalar) -> Function:
    """Each thread runs range(start[i], stop[i], step[i]): number of iterations, sum of indices, last index."""
    start, stop, step = (Value(ArrayType(t), n) for n in ("start", "stop", "step"))
    out = Value(ArrayType(int64, 2), "out")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    index, count, total, last = Value(t, "k"), Value(int64, "count"), Value(int64, "total"), Value(int64, "last")
    with b.block((index, count, total, last)) as body:
        wide = b.cast(index, int64)
        one = b.const(1, int64)
        b.yield_(b.one("add", (count, one), int64), b.one("add", (total, wide), int64), wide)
    zero = b.const(0, int64)
    first, end, by = (b.load(a, i) for a in (start, stop, step))
    results = b.for_(first, end, by, [zero, zero, zero], body.block)
    for column, value in enumerate(results):
        b.store(out, i, b.const(column), value)
    return Function("collect", (start, stop, step, out), b.body(), 1)


def expected(ranges: list[tuple[int, int, int]]) -> list[list[int]]:
    rows = []
    for start, stop, step in ranges:
        seen = range(start, stop, step) if step else range(0)
        rows.append([len(seen), sum(seen), seen[-1] if seen else 0])
    return rows


RANGES = {
    int8: [
        (0, 10, 3), (10, 0, -3), (-128, 127, 1), (127, -128, -1), (-128, 127, 127), (120, 127, 5), (-120, -128, -5),
        (5, 5, 1), (5, 4, 1), (4, 5, -1), (0, 9, 0), (127, -128, -128), (100, 127, 100), (-128, 127, 2),
    ],
    uint8: [(0, 255, 1), (0, 255, 200), (250, 255, 4), (9, 3, 1), (0, 255, 255), (3, 9, 0), (0, 255, 128)],
    int32: [(0, 100, 7), (2**31 - 5, 2**31 - 1, 3), (-(2**31), -(2**31) + 5, 2), (2**31 - 1, -(2**31), -(2**31))],
}  # fmt: skip


@pytest.mark.parametrize("t", [int8, uint8, int32])
def test_ranges_count_like_python(launch, t):
    ranges = RANGES[t]
    columns = [np.array(c, t.numpy) for c in zip(*ranges, strict=True)]
    out = np.zeros((len(ranges), 3), np.int64)
    launch(collect_range(t), [len(ranges)], [*columns, out])
    assert out.tolist() == expected(ranges)


@pytest.mark.parametrize("bounds", [(0, 17, 1), (17, 0, -1), (3, 50, 4), (50, 3, -4), (0, 9, 0), (5, 2, 1), (0, 1, 9)])
def test_constant_ranges(launch, bounds):
    out = Value(ArrayType(int64), "out")
    b = Builder()
    index, total = Value(int32, "k"), Value(int64, "total")
    with b.block((index, total)) as body:
        squared = b.one("mul", (b.cast(index, int64), b.cast(index, int64)), int64)
        b.yield_(b.one("add", (total, squared), int64))
    first, end, by = (b.const(v) for v in bounds)
    (result,) = b.for_(first, end, by, [b.const(0, int64)], body.block)
    b.store(out, b.const(0), result)
    got = np.full(1, -1, np.int64)
    launch(Function("squares", (out,), b.body(), 0), [1], [got])
    assert got[0] == sum(k * k for k in (range(*bounds) if bounds[2] else ()))


def test_range_to_the_ends_of_int32_with_step_one(launch):
    """The last index is the largest int32: nothing may overflow on the way out."""
    ranges = [(2**31 - 4, 2**31 - 1, 1), (-(2**31) + 3, -(2**31), -1)]
    columns = [np.array(c, np.int32) for c in zip(*ranges, strict=True)]
    out = np.zeros((2, 3), np.int64)
    launch(collect_range(int32), [2], [*columns, out])
    assert out.tolist() == expected(ranges)


def collatz() -> Function:
    n, steps = Value(ArrayType(int64), "n"), Value(ArrayType(int32), "steps")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    v, count = Value(int64, "v"), Value(int32, "count")
    one = b.const(1, int64)
    two = b.const(2, int64)
    with b.block((v, count)) as condition:
        b.yield_(b.one("gt", (v, one), bool))
    with b.block((v, count)) as body:
        odd = b.one("eq", (b.one("mod", (v, two), int64), one), bool)
        with b.block() as then:
            b.yield_(b.one("add", (b.one("mul", (v, b.const(3, int64)), int64), one), int64))
        with b.block() as orelse:
            b.yield_(b.one("floordiv", (v, two), int64))
        (following,) = b.if_(odd, then.block, orelse.block)
        b.yield_(following, b.one("add", (count, b.const(1)), int32))
    _, result = b.while_([b.load(n, i), b.const(0)], condition.block, body.block)
    b.store(steps, i, result)
    return Function("collatz", (n, steps), b.body(), 1)


def test_while_with_a_branch(launch):
    def steps(v: int) -> int:
        count = 0
        while v > 1:
            v = 3 * v + 1 if v % 2 else v // 2
            count += 1
        return count

    data = np.arange(0, 200, dtype=np.int64)
    out = np.zeros(200, np.int32)
    launch(collatz(), [200], [data, out])
    assert out.tolist() == [steps(int(v)) for v in data]


def test_nested_loops_carry_vectors(launch):
    """sum over j < i, k < j of (j, k, j·k), in an `if` that skips odd threads."""
    t = VECTORS["vec3"]
    out = Value(ArrayType(t), "out")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    zero, one = b.const(0), b.const(1)
    j, k, outer, inner = Value(int32, "j"), Value(int32, "k"), Value(t, "outer"), Value(t, "inner")
    even = b.one("eq", (b.one("bit_and", (i, one), int32), zero), bool)
    with b.block() as then:
        with b.block((j, outer)) as outside:
            with b.block((k, inner)) as inside:
                parts = [b.cast(v, float32) for v in (j, k, b.one("mul", (j, k), int32))]
                b.yield_(b.one("add", (inner, b.one("vec", parts, t)), t))
            b.yield_(*b.for_(zero, j, one, [outer], inside.block))
        b.yield_(*b.for_(zero, i, one, [b.const((0, 0, 0), t)], outside.block))
    with b.block() as orelse:
        b.yield_(b.const((-1, -2, -3), t))
    b.store(out, i, *b.if_(even, then.block, orelse.block))
    got = np.zeros((12, 3), np.float32)
    launch(Function("nest", (out,), b.body(), 1), [12], [got])
    for n in range(12):
        pairs = [(j, k, j * k) for j in range(n) for k in range(j)]
        want = [-1, -2, -3] if n % 2 else np.sum(np.array(pairs or [(0, 0, 0)]), axis=0).tolist()
        assert got[n].tolist() == want


def test_a_branch_with_effects_alone(launch):
    x = Value(ArrayType(float32), "x")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    old = b.load(x, i)
    with b.block() as then:
        b.store(x, i, b.one("neg", (old,), float32))
        b.yield_()
    with b.block() as orelse:
        b.yield_()
    b.if_(b.one("gt", (old, b.const(0.5, float32)), bool), then.block, orelse.block)
    data = np.random.default_rng(0).random(101, np.float32)
    want = np.where(data > 0.5, -data, data)
    launch(Function("flip", (x,), b.body(), 1), [101], [data])
    assert np.array_equal(data, want)


def test_what_a_while_condition_computed_is_seen_after_it(launch):
    """The carried value after the loop is the one for which the condition failed."""
    x = Value(ArrayType(int32), "x")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    v = Value(int32, "v")
    with b.block((v,)) as condition:
        b.yield_(b.one("lt", (v, b.const(100)), bool))
    with b.block((v,)) as body:
        b.yield_(b.one("add", (v, b.const(7)), int32))
    (result,) = b.while_([b.load(x, i)], condition.block, body.block)
    b.store(x, i, result)
    data = np.arange(90, 120, dtype=np.int32)
    want = [v if v >= 100 else v + -(-(100 - v) // 7) * 7 for v in data.tolist()]
    launch(Function("climb", (x,), b.body(), 1), [30], [data])
    assert data.tolist() == want


def within(t: Scalar, function: Function, step: int | None) -> Function:
    """The function's loop twice, in a loop whose number of iterations is not known; with this step, if one is given."""
    (start, stop, by, out), times = function.params, Value(ArrayType(int32), "times")
    b = Builder()
    loop = next(op for op in function.body.ops if op.name == "for")
    for op in function.body.ops[: function.body.ops.index(loop)]:
        b.append(op)
    i = function.body.ops[0].result
    first, end, varying = loop.operands[:3]
    fixed: Value = varying if step is None else b.const(step, t)
    carried = tuple(Value(v.type, v.name) for v in loop.results)
    again = Value(int32, "again")
    with b.block((again, *carried)) as body:
        b.yield_(*b.for_(first, end, fixed, carried, loop.blocks[0]))
    zero, count, one = b.const(0), b.load(times, i), b.const(1)
    for column, value in enumerate(b.for_(zero, count, one, loop.operands[3:], body.block)):
        b.store(out, i, b.const(column), value)
    return Function("within", (start, stop, by, out, times), b.body(), 1)


@pytest.mark.parametrize(
    ("t", "step"), [(t, step) for t in (int8, uint8, int32) for step in (None, 1, -1) if (t, step) != (uint8, -1)]
)
def test_inner_loops_of_few_and_of_many_iterations(launch, t, step, monkeypatch):
    monkeypatch.setattr(loops, "STRIP_OPERATIONS", 256)  # iterations of a strip: 16, about
    monkeypatch.setattr(loops, "LOOK_OPERATIONS", 1024)
    ranges = RANGES[t] + [(10, 10 + n, 1) for n in (0, 1, 3, 4, 5, 31, 32, 33, 64, 100)]
    ranges += [(stop, start, -1) for start, stop, _ in ranges[-10:]] if t is not uint8 else []
    if step is not None:
        ranges = [(a, b, step) for a, b, _ in ranges if len(range(a, b, step)) < 2**20]
    function = within(t, collect_range(t), step)
    looks = loops.Strips(function)
    assert any(looks.often(op) and looks.turns(op) < 64 for op in walk(function.body) if op.name == "for")
    columns = [np.array(c, t.numpy) for c in zip(*ranges, strict=True)]
    out = np.zeros((len(ranges), 3), np.int64)
    launch(function, [len(ranges)], [*columns, out, np.full(len(ranges), 2, np.int32)])
    assert out.tolist() == [[2 * count, 2 * total, last] for count, total, last in expected(ranges)]
