"""Each operation on tiles, against NumPy and between interpreter and CPU, over shapes, types and ragged edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.support.devices.on_all import same_on_all
from workbench.api.kernels.kernel import Kernel

RNG = np.random.default_rng(7)


def slow(value: object) -> Any:
    """A parameter for the slow tier."""
    return pytest.param(value, marks=pytest.mark.slow)


def kernel_of(body: str, x: Any, y: Any, **names: Any) -> Kernel:
    """A kernel of an input and an output array like these from the text of its body."""
    names |= {n: wb.array(dtype=a.dtype, ndim=a.ndim) for n, a in (("X", x), ("Y", y))}
    text = "def k(x: X, y: Y):\n" + "\n".join(f"    {line}" for line in body.splitlines())
    space: dict[str, Any] = {"wb": wb, **names}
    exec(text, space)
    return wb.kernel(space["k"], source=text)


def result(body: str, x: np.ndarray, shape: tuple[int, ...], dtype: Any = None, **names: Any) -> np.ndarray:
    """What the body stores to y, the same on interpreter and CPU."""
    y = np.zeros(shape, x.dtype if dtype is None else dtype)
    rtol = 1e-5 if x.dtype.kind == "f" else 0
    return same_on_all(kernel_of(body, x, y, **names), [1], [x, y], rtol=rtol)[1]


A = RNG.standard_normal((6, 10)).astype(np.float32)
LOAD = "t = wb.tile_load(x, shape=(6, 10))\n"
CASES: dict[str, tuple[str, Any]] = {
    "arithmetic": ("wb.tile_store(y, 2.0 * t - t / 3.0 + 1)", 2 * A - A / 3 + 1),
    "power and builtins": ("wb.tile_store(y, wb.sqrt(abs(t)) + t ** 2)", np.sqrt(abs(A)) + A**2),
    "where": ("wb.tile_store(y, wb.where(t > 0.5, t, -t))", np.where(A > 0.5, A, -A)),
    "transpose": ("wb.tile_store(y, wb.tile_transpose(t))", A.T),
    "T": ("wb.tile_store(y, t.T)", A.T),
    "reshape": ("wb.tile_store(y, wb.tile_reshape(t, shape=(4, -1)))", A.reshape(4, 15)),
    "view": ("wb.tile_store(y, wb.tile_view(t, offset=(2, 3), shape=(2, 4)))", A[2:4, 3:7]),
    "row": ("wb.tile_store(y, t[4])", A[4]),
    "slice": ("wb.tile_store(y, t[1:4, -3:])", A[1:4, -3:]),
    "column": ("wb.tile_store(y, t[:, 2])", A[:, 2]),
    "broadcast": ("wb.tile_store(y, wb.tile_broadcast(t[:, 0:1], shape=(6, 4)))", np.repeat(A[:, :1], 4, 1)),
    "squeeze": ("wb.tile_store(y, wb.tile_squeeze(t[2:3, :]))", A[2]),
    "squeeze of an axis": ("wb.tile_store(y, wb.tile_squeeze(t[2:3, 4:5], axis=-1))", A[2, 4].reshape(1)),
    "diagonal": ("wb.tile_store(y, wb.tile_diag_add(t[:, :6], t[:, 7]))", A[:, :6] + np.diag(A[:, 7])),
    "sum": ("wb.tile_store(y, wb.tile_sum(t))", A.sum(keepdims=True)[0]),
    "sum of rows": ("wb.tile_store(y, wb.tile_sum(t, axis=1))", A.sum(1)),
    "min of columns": ("wb.tile_store(y, wb.tile_min(t, axis=0))", A.min(0)),
    "max": ("y[0] = wb.tile_max(t)", A.max().reshape(1)),
    "argmin": ("y[0] = float(wb.tile_argmin(t))", np.float32(A.argmin()).reshape(1)),
    "argmax of rows": ("wb.tile_store(y, wb.tile_astype(wb.tile_argmax(t, axis=1), float))", A.argmax(1)),
    "reduce": ("wb.tile_store(y, wb.tile_reduce(wb.mul, t, axis=0))", A.prod(0)),
    "scan": ("wb.tile_store(y, wb.tile_scan(t))", A.cumsum(1)),
    "scan max": ("wb.tile_store(y, wb.tile_scan_max_inclusive(t))", np.maximum.accumulate(A, 1)),
    "scan exclusive": ("wb.tile_store(y, wb.tile_scan_exclusive(t))", np.cumsum(A, 1) - A),
    "arange": ("wb.tile_store(y, wb.tile_arange(3, 20, 5, dtype=float))", np.arange(3, 20, 5)),
    "arange of floats": ("wb.tile_store(y, wb.tile_arange(2.5, -1.0, -0.75))", np.arange(2.5, -1.0, -0.75)),
    "full": ("wb.tile_store(y, wb.tile_full((2, 3), 1.5))", np.full((2, 3), 1.5)),
    "extract": ("y[0] = t[2, 3] + wb.tile_extract(t, 5, -1)", (A[2, 3] + A[5, -1]).reshape(1)),
    "len and shape": ("y[0] = float(len(t) * t.shape[1] + t.ndim)", np.float32([62])),
    "dtype": ("u = wb.tile_zeros((6, 10), dtype=x.dtype)\nwb.tile_store(y, u + t * t.dtype(2))", 2 * A),
    "swap in a loop": (
        "u = t + 1.0\nfor k in range(3):\n    t, u = u, t\nwb.tile_store(y, t)", A + 1,
    ),
    "a branch": (
        "u = wb.tile_zeros((6, 10))\nif t[0, 0] > 100.0:\n    u = t\nelse:\n    u = u - t\nwb.tile_store(y, u)", -A,
    ),
    "while": ("n = 0\nwhile n < 4:\n    t += t\n    n += 1\nwb.tile_store(y, t)", 16 * A),
    "in and out of use": ("u = t * 2.0\nv = t + u\nt = v - u\nwb.tile_store(y, t + v)", 4 * A),
}  # fmt: skip


SELDOM = {
    "power and builtins",
    "T",
    "view",
    "column",
    "squeeze",
    "scan max",
    "full",
    "min of columns",
    "while",
    "slice",
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", [slow(name) if name in SELDOM else name for name in CASES])
def test_operation(name: str) -> None:
    body, want = CASES[name]
    np.testing.assert_allclose(result(LOAD + body, A, want.shape), want, rtol=2e-5, atol=1e-5)


def test_assigning_parts() -> None:
    body = (
        "t[1, 2] = 7.0\nt[0] = wb.tile_arange(10, dtype=float)\nt[3:5, 0:2] = 1.0\nt[5, 5] += 1.0\n"
        "wb.tile_assign(t, wb.tile_ones((2, 2)), offset=(1, 7))\nwb.tile_store(y, t)"
    )
    want = A.copy()
    want[1, 2], want[0], want[3:5, :2], want[1:3, 7:9] = 7, np.arange(10), 1, 1
    want[5, 5] += 1
    np.testing.assert_allclose(result(LOAD + body, A, A.shape), want)


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(-4, 9), st.integers(-4, 9))
def test_ragged_edges(rows: int, columns: int, i: int, j: int) -> None:
    """What lies outside is read as 0 and not written, wherever the tile lies."""
    x = RNG.standard_normal((rows, columns)).astype(np.float32)
    body = "t = wb.tile_load(x, shape=(3, 4), offset=(I, J))\nwb.tile_store(y, t + 1.0, offset=(I, J))\n"
    body += "old = wb.tile_atomic_add(y, t, offset=(I, J))\n"
    got = result(body, x, x.shape, I=i, J=j)
    want = np.zeros_like(x)
    here = (slice(max(i, 0), max(i + 3, 0)), slice(max(j, 0), max(j + 4, 0)))
    want[here] = (x[here] + 1) + x[here]
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "bool", *map(slow, ("uint16", "int32", "float64"))])
def test_element_types(dtype: str) -> None:
    x = (RNG.standard_normal((5, 7)) * 9).astype(dtype)
    got = result("t = wb.tile_load(x, shape=(5, 7))\nwb.tile_store(y, wb.tile_transpose(t))", x, (7, 5))
    np.testing.assert_array_equal(got, x.T)
    if dtype != "bool":
        got = result("t = wb.tile_load(x, shape=(5, 7))\nwb.tile_store(y, wb.tile_max(t, axis=0))", x, (7,))
        np.testing.assert_array_equal(got, x.max(0))
    body = "t = wb.tile_load(x, shape=(5, 7))\nwb.tile_store(y, wb.tile_sum(wb.tile_astype(t, wb.float64), axis=1))"
    np.testing.assert_allclose(result(body, x, (5,), np.float64), x.astype(float).sum(1))


def test_nan_wins() -> None:
    x = A.copy()
    x[2, 3] = x[4, 4] = np.nan
    body = LOAD + "y[0] = float(wb.tile_argmin(t))\ny[1] = float(wb.tile_argmax(t))\ny[2] = wb.tile_min(t)"
    np.testing.assert_array_equal(result(body, x, (3,)), [23, 23, np.nan])


@wb.func
def both(a: float, b: float):
    if a > b:
        return a - b, a
    return a + b, b


@wb.func
def swapped(v: wb.vec3):
    return wb.vec3(v.z, v.y, v.x)


@wb.kernel
def mapped(x: wb.array2d[float], y: wb.array2d[float], v: wb.array[wb.vec3], w: wb.array[wb.vec3]):
    i = wb.tid()
    t = wb.tile_load(x[i], shape=6)
    a, b = wb.tile_map(both, t, wb.tile_full(6, 0.25))
    wb.tile_store(y[i], a * b)
    s = wb.tile_load(v, shape=4, offset=i * 4)
    wb.tile_store(w, wb.tile_map(swapped, s) + s, offset=i * 4)


def test_maps_of_several_results_and_of_vectors() -> None:
    x, v = RNG.standard_normal((3, 6)).astype(np.float32), RNG.standard_normal((10, 3)).astype(np.float32)
    _, y, _, w = same_on_all(mapped, [3], [x, np.zeros_like(x), v, np.zeros_like(v)], rtol=1e-6)
    np.testing.assert_allclose(y, np.where(x > 0.25, (x - 0.25) * x, (x + 0.25) * 0.25), rtol=1e-6)
    np.testing.assert_allclose(w, v[:, ::-1] + v, rtol=1e-6)


def test_a_tile_of_a_slice_is_0_beyond_its_end() -> None:
    body = "wb.tile_store(y, wb.tile_load(x[::2, 1:8], shape=(4, 4), offset=(1, 5)))"
    want = np.zeros((4, 4), np.float32)
    want[:2, :2] = A[::2, 1:8][1:, 5:]
    np.testing.assert_array_equal(result(body, A, (4, 4)), want)


def test_large_tiles_leave_the_stack() -> None:
    x = RNG.standard_normal((300, 300)).astype(np.float32)
    y = np.zeros_like(x)
    k = kernel_of("t = wb.tile_load(x, shape=(300, 300))\nwb.tile_store(y, wb.tile_transpose(t) + t)", x, y)
    wb.launch_tiled(k, dim=[1], inputs=[x, y])
    np.testing.assert_allclose(y, x + x.T)
