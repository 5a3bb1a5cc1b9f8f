"""The interpreter on kernels written in IR: threads, memory, control flow, faults, steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench.backends.python import run, step
from workbench.errors import KernelFault, LaunchError
from workbench.ir import Block, Builder, Function, Value
from workbench.ir.verify import verify
from workbench.source import Location, Source
from workbench.types import VECTORS, ArrayType, float32, float64, int32, int64, uint8
from workbench.types import bool as bool_

SOURCE = Source("first\ny[i] = x[i + 1]\n", "cell [2]")
VEC3 = VECTORS["vec3"]


def tid(b: Builder, axis: int = 0) -> Value:
    return b.one("tid", (), int32, {"axis": axis})


def shifted() -> Function:
    """`y[i] = x[i + 1]`, at line 2."""
    x, y = Value(ArrayType(float32), "x"), Value(ArrayType(float32), "y")
    b = Builder()
    b.location = Location(SOURCE, 2, 7, 2, 15)
    i = tid(b)
    b.store(y, i, b.load(x, b.one("add", (i, b.const(1)), int32)))
    return verify(Function("shifted", (x, y), b.body(), 1, (), SOURCE))


def counted(start: int, stop: int, stride: int) -> Function:
    """Writes the indices of a range, one after the other, and how many there were."""
    out, count = Value(ArrayType(int32), "out"), Value(ArrayType(int32), "count")
    b = Builder()
    index, n = Value(int32, "i"), Value(int32, "n")
    with b.block((index, n)) as body:
        b.store(out, n, index)
        b.yield_(b.one("add", (n, b.const(1)), int32))
    (total,) = b.for_(b.const(start), b.const(stop), b.const(stride), (b.const(0),), body.block)
    b.store(count, b.const(0), total)
    return verify(Function("counted", (out, count), b.body()))


@pytest.mark.parametrize("bounds", [(0, 5, 1), (0, 5, 2), (5, 0, -2), (3, 3, 1), (3, 0, 1), (-2, 3, 3)])
def test_for_counts_like_range(bounds: tuple[int, int, int]) -> None:
    out, count = np.zeros(8, np.int32), np.zeros(1, np.int32)
    run(counted(*bounds), 1, [out, count])
    assert out[: count[0]].tolist() == list(range(*bounds))


def test_a_range_of_step_zero_is_a_fault() -> None:
    with pytest.raises(KernelFault, match="step of range") as caught:
        run(counted(0, 3, 0), 1, [np.zeros(8, np.int32), np.zeros(1, np.int32)])
    assert caught.value.values == (0, 3, 0)


def test_while_carries_values() -> None:
    """Collatz steps of each thread's number."""
    x, steps = Value(ArrayType(int64), "x"), Value(ArrayType(int32), "steps")
    b = Builder()
    i = tid(b)
    n, k = Value(int64, "n"), Value(int32, "k")
    with b.block((n, k)) as condition:
        b.yield_(b.one("ne", (n, b.const(1, int64)), bool_))
    n, k = Value(int64, "n"), Value(int32, "k")
    with b.block((n, k)) as body:
        odd = b.one("eq", (b.one("mod", (n, b.const(2, int64)), int64), b.const(1, int64)), bool_)
        with b.block() as up:
            b.yield_(b.one("add", (b.one("mul", (n, b.const(3, int64)), int64), b.const(1, int64)), int64))
        with b.block() as down:
            b.yield_(b.one("floordiv", (n, b.const(2, int64)), int64))
        (following,) = b.if_(odd, up.block, down.block)
        b.yield_(following, b.one("add", (k, b.const(1)), int32))
    _, total = b.while_((b.load(x, i), b.const(0)), condition.block, body.block)
    b.store(steps, i, total)
    out = np.zeros(4, np.int32)
    run(verify(Function("collatz", (x, steps), b.body(), 1)), 4, [np.array([1, 6, 7, 27]), out])
    assert out.tolist() == [0, 8, 16, 111]


def test_threads_run_in_row_major_order() -> None:
    out, place = Value(ArrayType(int32, 2), "out"), Value(ArrayType(int32), "place")
    b = Builder()
    i, j = tid(b, 0), tid(b, 1)
    order = b.emit("atomic_add", (place, b.const(0), b.const(1)), (int32,)).result
    b.store(out, i, j, order)
    f = verify(Function("order", (out, place), b.body(), 2))
    got, counter = np.zeros((2, 3), np.int32), np.zeros(1, np.int32)
    run(f, (2, 3), [got, counter])
    assert got.tolist() == [[0, 1, 2], [3, 4, 5]] and counter[0] == 6
    run(f, (2, 3), [got, counter], threads=[(1, 2), (0, 0)])
    assert got.tolist() == [[7, 1, 2], [3, 4, 6]]


def test_strided_arrays_are_written_in_place() -> None:
    base = np.arange(12, dtype=np.float32)
    target = np.zeros((5, 2), np.float32)
    run(shifted(), 5, [base[::2], target[:, 1]])
    assert target[:, 1].tolist() == [2, 4, 6, 8, 10] and not target[:, 0].any()


def test_vectors_scalars_and_shapes() -> None:
    """`p[i] = insert(v * p[i], 1, cast(shape))`; `v` and `n` are plain arguments."""
    p, v, n = Value(ArrayType(VEC3), "p"), Value(VEC3, "v"), Value(uint8, "n")
    b = Builder()
    i = tid(b)
    old = b.load(p, i)
    product = b.one("mul", (v, old), VEC3)
    size = b.cast(b.one("shape", (p,), int32, {"axis": 0}), float32)
    inserted = b.one("insert", (product, b.const(1), size), VEC3)
    b.store(p, i, inserted)
    b.store(p, b.const(0), b.one("vec", (b.one("extract", (old, i), float32), b.cast(n, float32), size), VEC3))
    points = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    run(verify(Function("f", (p, v, n), b.body(), 1)), 2, [points, (2, 2, 2), 7])
    assert points.tolist() == [[5, 7, 2], [8, 2, 12]]


def test_reduce_add_sums_over_the_launch() -> None:
    total = Value(ArrayType(VEC3), "total")
    b = Builder()
    part = b.cast(tid(b), float32)
    b.emit("reduce_add", (total, b.one("vec", (part, part, b.const(1.0, float32)), VEC3)))
    out = np.zeros((1, 3), np.float32)
    run(verify(Function("sums", (total,), b.body(), 1)), 4, [out])
    assert out.tolist() == [[6, 6, 4]]


def test_arithmetic_stays_in_its_type() -> None:
    x, y = Value(ArrayType(float32), "x"), Value(ArrayType(uint8), "y")
    b = Builder()
    zero = b.const(0)
    third = b.one("div", (b.const(1.0, float32), b.const(3.0, float32)), float32)
    b.store(x, zero, b.one("mul", (third, third), float32))
    b.store(y, zero, b.one("add", (b.const(250, uint8), b.const(10, uint8)), uint8))
    a, c = np.zeros(1, np.float32), np.zeros(1, np.uint8)
    run(verify(Function("f", (x, y), b.body())), 1, [a, c])
    assert a[0] == np.float32(1) / np.float32(3) * (np.float32(1) / np.float32(3)) and c[0] == 4


def test_an_index_out_of_range_names_array_index_shape_thread_and_line() -> None:
    y = np.zeros(4, np.float32)
    with pytest.raises(KernelFault) as caught:
        run(shifted(), 4, [np.arange(4, dtype=np.float32), y])
    fault = caught.value
    assert fault.message == "x[4] is out of range: x has shape (4,)."
    assert (fault.function, fault.thread, fault.values) == ("shifted", (3,), (4,))
    assert fault.location is not None and fault.location.line == 2
    assert "y[i] = x[i + 1]" in str(fault) and y.tolist() == [1, 2, 3, 0]


def test_a_negative_index_is_not_wrapped() -> None:
    with pytest.raises(KernelFault, match=r"x\[-1\] is out of range"):
        run(shifted(), 1, [np.zeros(3, np.float32), np.zeros(3, np.float32)], threads=[(-2,)])


WRONG: list[tuple[list[Any], str]] = [
    ([np.zeros(3, np.float32)], "takes 2 arguments; it got 1"),
    ([np.zeros(3), np.zeros(3, np.float32)], r"x is array\[float32\].*it got float64 of shape \(3,\)"),
    ([np.zeros((3, 3), np.float32), np.zeros(3, np.float32)], r"with 1 dimensions; it got float32 of shape \(3, 3\)"),
    ([[1.0, 2.0], np.zeros(3, np.float32)], r"it got \[1.0, 2.0\]"),
]


@pytest.mark.parametrize(("args", "message"), WRONG)
def test_arguments_that_do_not_fit_are_refused_before_anything_runs(args: list[Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        run(shifted(), 1, args)


def test_steps_show_each_operation_and_the_named_values() -> None:
    x, y = Value(ArrayType(float64), "x"), Value(ArrayType(float64), "y")
    b = Builder()
    i = tid(b)
    index, s = Value(int32, "k"), Value(float64, "s")
    with b.block((index, s)) as body:
        b.yield_(b.one("add", (s, b.load(x, index)), float64))
    (total,) = b.for_(b.const(0), b.const(3), b.const(1), (b.const(0.0, float64),), body.block)
    b.store(y, i, total)
    f = verify(Function("total", (x, y), b.body(), 1))
    out = np.zeros(2)
    steps = list(step(f, 2, [np.array([1.0, 2.0, 4.0]), out], 1))
    assert [t.op.name for t in steps if t.op.name in ("load", "for", "store")] == ["load"] * 3 + ["for", "store"]
    assert [t.names["s"] for t in steps if t.op.name == "add"] == [0.0, 1.0, 3.0]
    assert steps[-1].names["s"] == 7.0 and out.tolist() == [0.0, 7.0]
    assert all(t.thread == (1,) and t.location == t.op.location for t in steps)


def test_steps_are_taken_one_by_one() -> None:
    y = np.zeros(2, np.float32)
    steps = step(shifted(), 2, [np.ones(3, np.float32), y], 0)
    for taken in steps:
        if taken.op.name == "load":
            break
    assert not y.any()
    assert [t.op.name for t in steps] == ["store"] and y[0] == 1


def test_a_thread_outside_the_launch_cannot_be_stepped() -> None:
    with pytest.raises(LaunchError, match=r"no thread \(5,\) in a launch of \(2,\)"):
        next(step(shifted(), 2, [np.ones(3, np.float32), np.ones(3, np.float32)], 5))


def test_an_empty_launch_runs_nothing() -> None:
    f = Function("nothing", (), Block(), 1)
    run(f, 0, [])
    y = np.zeros(1, np.float32)
    run(shifted(), 0, [np.zeros(1, np.float32), y])
    assert y[0] == 0
