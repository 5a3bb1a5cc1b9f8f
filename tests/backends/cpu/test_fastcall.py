"""The launcher's Python functions: they count arguments, refuse what is none, leak nothing, let threads run."""

from __future__ import annotations

import ctypes
import sys
import threading

import numpy as np
import pytest

from workbench.backends.cpu.jit import CpuCode
from workbench.backends.cpu.native import dispatch, schedule
from workbench.ir import Builder, Function, Value
from workbench.limits import DISPATCH_GRAIN
from workbench.types import ArrayType, int32, int64
from workbench.types import bool as bool_


@pytest.fixture
def functions():
    return dispatch.install().functions


@pytest.fixture
def doubling(packed) -> tuple[CpuCode, np.ndarray, np.ndarray]:
    """A kernel that doubles six numbers: its code, its packed parameters, the numbers."""
    x = Value(ArrayType(int64), "x")
    b = Builder()
    i = b.one("tid", (), int32, {"axis": 0})
    b.store(x, i, b.one("mul", (b.load(x, i), b.const(2, int64)), int64))
    data = np.arange(6, dtype=np.int64)
    code, buffer = packed(Function("double", (x,), b.body(), 1), [6], [data])
    return code, buffer, data


def row(code: CpuCode, buffer: np.ndarray) -> np.ndarray:
    return np.array([code.address, buffer.ctypes.data, 6, 1, DISPATCH_GRAIN, 0, 0, 0], np.int64)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda f: f.run(), lambda f: f.run(1, 2, 3), lambda f: f.run(1, 2, 3, 4, 5, 6, 7, 8, 9), lambda f: f.hold(1),
        lambda f: f.run("1", 2, 3, 4, 5, 6, 0, 0), lambda f: f.hold(1.5, 2),
        lambda f: f.run(None, 2, 3, 4, 5, 6, 0, 0), lambda f: f.launch(1, "text", 3, 4, 5, 0, 0, 0),
        lambda f: f.launch(1, 2, 3, 4, 5, 0, 0, 0), lambda f: f.launch(b""),
    ],
)  # fmt: skip
def test_what_does_not_fit_raises_before_anything_runs(functions, wrong) -> None:
    with pytest.raises(TypeError):
        wrong(functions)


def test_a_number_too_large_raises(functions) -> None:
    with pytest.raises(OverflowError):
        functions.run(2**70, 2, 3, 4, 5, 6, 0, 0)


def test_the_three_ways_do_the_same(functions, doubling) -> None:
    code, buffer, data = doubling
    here = row(code, buffer)
    assert functions.run(code.address, buffer.ctypes.data, 6, 1, DISPATCH_GRAIN, 0, 0, 0) == 0
    assert functions.launch(code.address, buffer.tobytes(), 6, 1, DISPATCH_GRAIN, 0, 0, 0) == 0
    assert functions.row(here.ctypes.data)() == 0
    rows = np.stack([here, here])
    steps = np.array([schedule.IN_ORDER, rows.ctypes.data, 2, 1, 0, 0, 0, 0])
    for count in (0, 1):
        table = np.array([steps.ctypes.data, count])
        assert functions.steps(table.ctypes.data)() == 0
    assert data.tolist() == [v * 32 for v in range(6)]


def test_nothing_is_leaked(functions, doubling) -> None:
    code, buffer, _ = doubling
    here, params = row(code, buffer), buffer.tobytes()
    run, address = functions.row(here.ctypes.data), code.address + 0
    before = sys.getrefcount(params), sys.getrefcount(address), sys.getrefcount(run)
    for _ in range(5000):
        functions.launch(address, params, 6, 1, DISPATCH_GRAIN, 0, 0, 0)
        run()
    assert (sys.getrefcount(params), sys.getrefcount(address), sys.getrefcount(run)) == before


def test_other_python_threads_run_meanwhile(functions, packed) -> None:
    """The kernel waits for a number that another Python thread writes: with the GIL held it would wait for ever."""
    flag = Value(ArrayType(int32), "flag")
    b = Builder()
    zero = b.const(0)
    with b.block() as condition:
        old = b.one("atomic", (flag, zero, zero), int32, {"kind": "or"})
        b.yield_(b.one("eq", (old, zero), bool_))
    with b.block() as body:
        b.yield_()
    b.while_((), condition.block, body.block)
    data = np.zeros(1, np.int32)
    code, buffer = packed(Function("wait", (flag,), b.body(), 0), [1], [data])
    writer = threading.Timer(0.0, lambda: data.__setitem__(0, 1))
    writer.start()
    assert functions.launch(code.address, buffer.tobytes(), 1, 1, DISPATCH_GRAIN, 0, 0, 0) == 0
    writer.join()
    assert data[0] == 1


def test_the_methods_outlive_their_makers(functions, doubling) -> None:
    code, buffer, data = doubling
    here = row(code, buffer)
    run = functions.row(here.ctypes.data)
    assert run.__name__ == "wb_py_row" and ctypes.sizeof(ctypes.c_void_p) == 8
    run()
    assert data[1] == 2
