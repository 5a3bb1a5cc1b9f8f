"""Sums over threads and the launcher: `atomic_add`, `reduce_add`, chunks, replay."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from workbench.backends.cpu.native import dispatch as launcher
from workbench.backends.cpu.native import schedule
from workbench.ir import Builder, Function, Value
from workbench.types import VECTORS, ArrayType, Scalar, float32, float64, int32, int64, uint32


def histogram(t: Scalar) -> Function:
    """bins[i % 3] += values[i], atomically; old[i] is what was there."""
    values, bins, old = (Value(ArrayType(t), n) for n in ("values", "bins", "old"))
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    where = b.one("mod", (i, b.const(3)), int32)
    b.store(old, i, b.one("atomic_add", (bins, where, b.load(values, i)), t))
    return Function("histogram", (values, bins, old), b.body(), 1)


def total(t, scalar: Scalar) -> Function:
    """out[0] is increased by the sum of values."""
    values, out = Value(ArrayType(t), "values"), Value(ArrayType(t), "out")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.emit("reduce_add", (out, b.load(values, i)))
    return Function("total", (values, out), b.body(), 1)


@pytest.mark.parametrize("t", [int32, uint32, int64, float32, float64])
@pytest.mark.parametrize("threads", [1, 4])
def test_atomic_add(launch, t, threads):
    n = 30000
    values = (np.arange(n) % 7).astype(t.numpy)
    bins, old = np.zeros(3, t.numpy), np.full(n, 99, t.numpy)
    launch(histogram(t), [n], [values, bins, old], threads=threads, grain=512)
    assert bins.tolist() == [int(values[k::3].sum()) for k in range(3)]
    for k in range(3):
        seen = np.sort(old[k::3][values[k::3] > 0])
        assert len(np.unique(seen)) == len(seen), "two threads saw the same old value"


def test_atomic_add_of_vectors(launch):
    t = VECTORS["vec3"]
    values, out = Value(ArrayType(t), "values"), Value(ArrayType(t), "out")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.one("atomic_add", (out, b.const(1), b.load(values, i)), t)
    data = np.arange(3000, dtype=np.float32).reshape(1000, 3) % 5
    got = np.zeros((2, 3), np.float32)
    launch(Function("sums", (values, out), b.body(), 1), [1000], [data, got], threads=4, grain=32)
    assert got.tolist() == [[0, 0, 0], data.sum(axis=0).tolist()]


@pytest.mark.parametrize("t", [int32, int64, float32, float64])
@pytest.mark.parametrize("threads", [1, 3])
def test_reduce_add(launch, t, threads):
    n = 10007
    values = (np.arange(n) % 11).astype(t.numpy)
    out = np.array([5, -1], t.numpy)
    launch(total(t, t), [n], [values, out], threads=threads, grain=100)
    assert out.tolist() == [5 + int(values.sum()), -1]


def test_reduce_add_of_vectors_and_splits(launch):
    t = VECTORS["vec2d"]
    values = np.arange(200, dtype=np.float64).reshape(100, 2)
    for cuts in (None, [1, 50, 51], [99]):
        out = np.zeros((1, 2))
        launch(total(t, float64), [100], [values, out], cuts=cuts)
        assert out[0].tolist() == values.sum(axis=0).tolist()


def test_reduce_add_keeps_small_addends(launch):
    """float32 sums are carried in float64: 2²⁵ ones alone would stop at 2²⁴."""
    x = Value(ArrayType(float32), "x")
    b = Builder()
    k = Value(int32, "k")
    with b.block((k,)) as body:
        b.emit("reduce_add", (x, b.const(1.0, float32)))
        b.yield_()
    b.for_(b.const(0), b.const(1 << 13), b.const(1), [], body.block)
    out = np.zeros(1, np.float32)
    launch(Function("ones", (x,), b.body(), 0), [1 << 12], [out])
    assert out[0] == 1 << 25


def test_reduce_add_inside_a_branch_of_rows(launch):
    x, out = Value(ArrayType(float32, 2), "x"), Value(ArrayType(float32), "out")
    b = Builder()
    i, j = (b.one("tid", (), int32, {"axis": a}) for a in (0, 1))
    from workbench.types import bool

    with b.block() as then:
        b.emit("reduce_add", (out, b.load(x, i, j)))
        b.yield_()
    with b.block() as orelse:
        b.yield_()
    b.if_(b.one("gt", (i, j), bool), then.block, orelse.block)
    data = np.arange(63, dtype=np.float32).reshape(7, 9)
    got = np.zeros(1, np.float32)
    launch(Function("lower", (x, out), b.body(), 2), [7, 9], [data, got], threads=2, grain=5)
    assert got[0] == np.tril(data, -1).sum()


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("grain", [1, 13, 999, 1000, 1001])
def test_chunks_cover_the_range_once(launch, threads, grain):
    x = Value(ArrayType(int32), "x")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(x, i, b.one("add", (b.load(x, i), b.const(1)), int32))
    data = np.zeros(1000, np.int32)
    launch(Function("count", (x,), b.body(), 1), [1000], [data], threads=threads, grain=grain)
    assert (data == 1).all()


def test_replay_runs_the_rows_in_order(packed):
    x = Value(ArrayType(int64), "x")
    kernels = []
    data = np.arange(6, dtype=np.int64)
    for name, amount in (("add", 3), ("mul", 2)):
        b = Builder()
        i = b.one("tid", (), int32, {"axis": 0})
        b.store(x, i, b.one(name, (b.load(x, i), b.const(amount, int64)), int64))
        kernels.append(packed(Function(name, (x,), b.body(), 1), [6], [data]))
    rows = [[code.address, buffer.ctypes.data, 6, 1, launcher.DISPATCH_GRAIN, 0, 0, 0] for code, buffer in kernels * 2]
    table = np.array(rows, np.int64)
    assert table.strides[0] == launcher.ENTRY_SIZE
    step = np.array([schedule.IN_ORDER, table.ctypes.data, len(rows), 1, 0, 0, 0, 0])
    steps = np.array([step.ctypes.data, 1])
    run = launcher.install().functions.steps(steps.ctypes.data)
    assert run() == 0
    assert data.tolist() == [((v + 3) * 2 + 3) * 2 for v in range(6)]
    steps[1] = 0
    assert run() == 0
    assert data[0] == 18


def test_launches_from_several_python_threads(packed):
    x = Value(ArrayType(float64), "x")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.one("atomic_add", (x, b.const(0), b.const(1.0, float64)), float64)
    b.one("atomic_add", (x, b.const(1), b.cast(i, float64)), float64)
    data = np.zeros(2)
    code, buffer = packed(Function("count", (x,), b.body(), 1), [500], [data])

    def work() -> None:
        for _ in range(20):
            # As the launcher does for code of one core: on one thread, holding the memory that it adds to plainly.
            launcher.dispatch(code.address, buffer.ctypes.data, 500, 1, 100, mask=1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert data.tolist() == [80 * 500, 80 * sum(range(500))]


def test_a_kept_launcher_image_loads(packed):
    assert launcher.image() == launcher.image()
    assert launcher.install() is launcher.install(b"a second image is not looked at")
    assert set(launcher.install().code.addresses) == set(launcher.symbols)
