"""Elements of tiles as lanes of gangs: divergent, faulting and printing maps, of any count, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.on_all import same_on_all

RNG = np.random.default_rng(5)
COUNTS = (1, 3, 4, 5, 8, 15, 16, 17, 30, 64, 100)


@wb.func
def orbit(x: float):
    re, im, n = 0.0, 0.0, 0
    while n < 40 and re * re + im * im < 4.0:
        re, im = re * re - im * im + x, 2.0 * re * im + 0.25
        n += 1
    return float(n)


@wb.func
def root(x: float):
    r = 1.0 + abs(x)
    for _ in range(30):
        f = r * r * r - abs(x)
        if abs(f) < 1e-6:
            return r
        r -= f / (3.0 * r * r)
    return r


@wb.func
def steps(n: int):
    k = 0
    n = abs(n) % 97 + 1
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        k += 1
    return k


@wb.func
def turned(v: wb.vec3):
    n = 0
    while n < 20 and wb.dot(v, v) > 0.5:
        v = wb.vec3(v[1] * 0.9, v[2] * 0.8, v[0] * 0.7)
        n += 1
    return v


def mapped(f: Any, count: int, dtype: Any) -> Any:
    """A kernel that maps a func over tiles of so many elements; the last one reaches beyond the array."""

    @wb.kernel
    def kernel(x: wb.array[dtype], y: wb.array[dtype]):
        i = wb.tid()
        wb.tile_store(y, wb.tile_map(f, wb.tile_load(x, shape=count, offset=i * count)), offset=i * count)

    return kernel


def one_by_one(f: Any) -> Any:
    """A kernel of threads that computes the same."""

    @wb.kernel
    def kernel(x: wb.array[float], y: wb.array[float]):
        i = wb.tid()
        y[i] = f(x[i])

    return kernel


def by_numpy(f: Any, x: np.ndarray) -> np.ndarray:
    """Apply a func of float32 or int32 to each element."""
    out = np.zeros_like(x)
    for k, v in enumerate(x):
        out[k] = f(v)
    return out


def collatz(n: int) -> int:
    n, k = abs(int(n)) % 97 + 1, 0
    while n != 1:
        n, k = (n // 2 if n % 2 == 0 else 3 * n + 1), k + 1
    return k


@pytest.mark.parametrize("count", COUNTS)
def test_counts(count: int) -> None:
    blocks, size = 3, 3 * count - count // 3
    x = (RNG.standard_normal(size) * 1.5).astype(np.float32)
    for f in (orbit, root):
        threads = np.zeros_like(x)
        wb.launch(one_by_one(f), dim=size, inputs=[x, threads])
        _, y = same_on_all(mapped(f, count, float), [blocks], [x, np.zeros_like(x)])
        assert np.array_equal(y, threads)  # a lane has the bits of a thread
    n = RNG.integers(-1000, 1000, size).astype(np.int32)
    _, k = same_on_all(mapped(steps, count, int), [blocks], [n, np.zeros_like(n)])
    assert np.array_equal(k, by_numpy(collatz, n))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int64"])
def test_types(dtype: str) -> None:
    kind = getattr(wb, dtype)

    @wb.func
    def pairs(x: kind):
        n = kind(0)
        while x > kind(1):
            x -= kind(2)
            n += kind(1)
        return n

    x = np.abs(RNG.standard_normal(50) * 40).astype(dtype)
    _, y = same_on_all(mapped(pairs, 25, kind), [2], [x, np.zeros_like(x)])
    expected = []
    for v in x:
        n = 0
        while v > 1:
            v, n = v - v.dtype.type(2), n + 1
        expected.append(n)
    assert np.array_equal(y, np.array(expected, dtype))


def test_vectors() -> None:
    v = RNG.standard_normal((40, 3)).astype(np.float32)
    x, y = wb.array(v, dtype=wb.vec3), wb.zeros(40, dtype=wb.vec3)
    wb.launch_tiled(mapped(turned, 20, wb.vec3), dim=[2], inputs=[x, y], block_dim=32)
    expected = []
    for a in v:
        n = 0
        while n < 20 and np.float32((a[0] * a[0] + a[1] * a[1]) + a[2] * a[2]) > 0.5:
            a = np.array([a[1], a[2], a[0]], np.float32) * np.array([0.9, 0.8, 0.7], np.float32)
            n += 1
        expected.append(a)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-6)


FAULTS = """
def two_faults(x: float):
    assert x < 5.0, "first"
    y = x * 2.0
    assert y > -4.0, "second"
    return y
"""


@pytest.mark.parametrize(("faulty", "says"), [({9: 9.0, 3: -9.0}, "second"), ({3: 9.0, 9: -9.0}, "first")])
def test_the_fault_is_that_of_the_lowest_element(faulty: dict[int, float], says: str) -> None:
    space: dict[str, Any] = {}
    exec(FAULTS, space)
    two_faults = wb.func(space["two_faults"], source=FAULTS)
    x = np.ones(32, np.float32)
    for k, v in faulty.items():
        x[k] = v
    with pytest.raises(wb.KernelFault, match=says):
        wb.launch_tiled(mapped(two_faults, 32, float), dim=[1], inputs=[x, np.zeros_like(x)], block_dim=32, checks=True)


@wb.func
def said(x: float):
    if x > 2.0:
        print("large", x)
    return x


def test_prints_come_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    x = np.where(np.arange(40) % 7 == 3, np.arange(40), 0).astype(np.float32)
    wb.launch_tiled(mapped(said, 20, float), dim=[2], inputs=[x, np.zeros_like(x)], block_dim=32)
    wb.synchronize()
    lines = [line for line in capfd.readouterr().out.splitlines() if "large" in line]
    assert [float(line.split()[-1]) for line in lines] == [3, 10, 17, 24, 31, 38]


@wb.kernel
def gathered(x: wb.array[float], t: wb.array[float], y: wb.array[float], counts: wb.array[int]):
    b, lane = wb.tid()
    i = b * wb.block_dim() + lane
    v = x[i]
    k = int(abs(v) * 10.0) % 50
    if v > 0.0:
        v = t[k] + t[k + 1]
    else:
        for j in range(k % 5):
            v += t[j]
    y[i] = v
    wb.atomic_add(counts, k, 1)
    wb.atomic_add(t, 51 + k, v)


def test_threads_of_a_block() -> None:
    x, t = RNG.standard_normal(96).astype(np.float32), RNG.standard_normal(101).astype(np.float32)
    args = [x, t, np.zeros_like(x), np.zeros(50, np.int32)]
    _, sums, y, counts = same_on_all(gathered, [3], args, rtol=1e-5, atol=1e-6)
    k = (np.abs(x) * np.float32(10)).astype(np.int32) % 50
    low = np.array([v + sum(t[j] for j in range(n % 5)) for v, n in zip(x, k, strict=True)])
    np.testing.assert_allclose(y, np.where(x > 0, t[k] + t[k + 1], low), rtol=1e-5, atol=1e-6)
    assert np.array_equal(counts, np.bincount(k, minlength=50))
    added = t.astype(np.float64)
    np.add.at(added, 51 + k, y)
    np.testing.assert_allclose(sums, added, rtol=1e-5, atol=1e-5)


@wb.func
def farther(a: float, b: float):
    return wb.where(abs(a) > abs(b), a, b)


@wb.kernel
def reduced(x: wb.array2d[float], y: wb.array[float], k: wb.array[int], rows: wb.array[int], columns: wb.array[int]):
    t = wb.tile_load(x, shape=(13, 21))
    y[0] = wb.tile_reduce(farther, t)[0]
    k[0] = wb.tile_argmin(t)
    k[1] = wb.tile_argmax(t)
    wb.tile_store(rows, wb.tile_argmax(t, axis=1))
    wb.tile_store(columns, wb.tile_argmin(t, axis=0))


@pytest.mark.parametrize("special", ["", "ties", "nan", "zeros"])
def test_searches_and_reductions(special: str) -> None:
    x = RNG.standard_normal((13, 21)).astype(np.float32)
    if special == "ties":
        x = RNG.integers(-2, 2, x.shape).astype(np.float32)
    elif special == "nan":
        x[[3, 11, 11], [20, 0, 7]] = np.nan
    elif special == "zeros":
        x = np.where(x > 0, np.float32(0), np.float32(-0.0))
    args = [x, np.zeros(1, np.float32), np.zeros(2, np.int32), np.zeros(13, np.int32), np.zeros(21, np.int32)]
    _, y, k, rows, columns = same_on_all(reduced, [1], args)
    assert list(k) == [np.argmin(x), np.argmax(x)]
    assert np.array_equal(rows, np.argmax(x, 1))
    assert np.array_equal(columns, np.argmin(x, 0))
    if special == "":
        assert y[0] == x.ravel()[np.argmax(np.abs(x))]


@wb.kernel
def squared(x: wb.array[float], y: wb.array[float]):
    t = wb.tile_map(root, wb.tile_load(x, shape=24))
    wb.tile_store(y, t * t)


def test_gradient_of_a_divergent_map() -> None:
    x = np.linspace(0.5, 4.0, 24, dtype=np.float32)
    gradient = [np.zeros_like(x), np.ones_like(x)]
    wb.launch_tiled(squared, dim=[1], inputs=[x, np.zeros_like(x)], block_dim=32, adjoint=True, adj_inputs=gradient)
    assert np.all(np.isfinite(gradient[0]))
