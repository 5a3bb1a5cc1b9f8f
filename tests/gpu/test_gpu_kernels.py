"""Kernels on the device against the same kernels on the CPU, through the public names alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import workbench as wb

CELL = """
def saxpy(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = a * x[i] + y[i]

def fill2d(out: array2d[int]):
    i, j = tid()
    out[i, j] = i * 1000 + j

def fill4d(out: array4d[int]):
    i, j, k, l = tid()
    out[i, j, k, l] = ((i * 10 + j) * 10 + k) * 10 + l

def blur(image: array2d[float], out: array2d[float], radius: int):
    i, j = tid()
    total = 0.0
    count = 0.0
    for di in range(-radius, radius + 1):
        for dj in range(-radius, radius + 1):
            y = clamp(i + di, 0, image.shape[0] - 1)
            x = clamp(j + dj, 0, image.shape[1] - 1)
            total += image[y, x]
            count += 1.0
    out[i, j] = total / count

def collatz(start: array[int], steps: array[int]):
    i = tid()
    n = start[i]
    count = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = n * 3 + 1
        count += 1
    steps[i] = count

def histogram(values: array[int], counts: array[int]):
    i = tid()
    atomic_add(counts, values[i] % 16, 1)

def hashes(x: array[int], out: array[int]):
    i = tid()
    v = x[i]
    out[i] = (v * 1103515245 + 12345) * v - (v >> 7) + v // 7 - v % -3

def spring(x: array[vec3], f: array[vec3], k: float):
    i = tid()
    d = x[i] - x[i + 1]
    l = length(d)
    f[i] = f[i] - d * (k * (l - 1.0) / l)

def maths(x: array[float], out: array[float]):
    i = tid()
    v = x[i]
    out[i] = sin(v) + cos(v) * exp(-v * v) + log(abs(v) + 1.0) + sqrt(abs(v)) + tanh(v)

def casts(x: array[float64], a: array[int32], b: array[uint8], c: array[int64], d: array[float32]):
    i = tid()
    v = x[i]
    a[i] = int32(v)
    b[i] = uint8(v)
    c[i] = int64(v)
    d[i] = float32(v)
"""


@pytest.fixture(scope="module")
def cell() -> Any:
    return wb.build_cell(CELL, {}, backend="cpu").names


@pytest.fixture(autouse=True)
def _no_error_is_left_behind(device: str) -> Iterator[None]:
    """A kernel's fault shows at the next wait: in the test that caused it."""
    yield
    wb.synchronize(device)


RNG = np.random.default_rng(11)


def f32(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.normal(size=shape).astype(np.float32)


def on(place: str, cell: Any, name: str, dim: Any, args: list[Any]) -> list[np.ndarray[Any, Any]]:
    """Every array argument after a launch on this device."""
    vec = {"spring": wb.vec3}
    sent = [wb.array(a, vec.get(name), device=place) if isinstance(a, np.ndarray) else a for a in args]
    wb.launch(cell[name], dim, sent, device=place)
    return [a.numpy() for a in sent if isinstance(a, wb.array)]


SUITE: dict[str, Callable[[], tuple[Any, list[Any]]]] = {
    "saxpy": lambda: (100_003, [0.1, f32(100_003), f32(100_003)]),
    "fill2d": lambda: ((37, 501), [np.zeros((37, 501), np.int32)]),
    "fill4d": lambda: ((3, 5, 7, 9), [np.zeros((3, 5, 7, 9), np.int32)]),
    "blur": lambda: ((60, 75), [f32(60, 75), np.zeros((60, 75), np.float32), 2]),
    "collatz": lambda: (5000, [np.arange(5000, dtype=np.int32), np.zeros(5000, np.int32)]),
    "histogram": lambda: (50_000, [RNG.integers(0, 1000, 50_000).astype(np.int32), np.zeros(16, np.int32)]),
    "hashes": lambda: (4096, [RNG.integers(-(2**31), 2**31, 4096).astype(np.int32), np.zeros(4096, np.int32)]),
    "casts": lambda: (
        12,
        [np.array([0.0, -1.9, 127.5, 256.0, 3e9, -3e9, 1e19, -1e19, np.inf, -np.inf, np.nan, 1e300])]
        + [np.zeros(12, t) for t in (np.int32, np.uint8, np.int64, np.float32)],
    ),
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", SUITE)
def test_exact_kernels_give_the_cpus_bits(name: str, device: str, cell: Any) -> None:
    dim, args = SUITE[name]()
    for expected, got in zip(on("cpu", cell, name, dim, args), on(device, cell, name, dim, args), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.gpu
def test_maths_is_within_its_bounds(device: str, cell: Any) -> None:
    args = [f32(20_000) * 2, np.zeros(20_000, np.float32)]
    (_, expected), (_, got) = (on(place, cell, "maths", 20_000, args) for place in ("cpu", device))
    np.testing.assert_allclose(got, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.gpu
def test_vectors(device: str, cell: Any) -> None:
    args = [f32(1001, 3), f32(1001, 3), 2.5]
    for expected, got in zip(*(on(place, cell, "spring", 1000, args) for place in ("cpu", device)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 31, 32, 33, 256, 100_000])
def test_the_adjoint_sums_over_whole_and_partial_warps(n: int, device: str, cell: Any) -> None:
    x, y, ct = f32(n), f32(n), f32(n)
    grads = []
    for place in ("cpu", device):
        ax, ay, aa = (wb.array(v, device=place) for v in (np.zeros(n, np.float32), ct, np.zeros(1, np.float32)))
        wb.launch(cell["saxpy"], n, [0.5, wb.array(x, device=place)], [wb.array(y, device=place)], adjoint=True,
                  adj_inputs=[aa, ax], adj_outputs=[ay], device=place)  # fmt: skip
        grads.append([v.numpy() for v in (ax, ay, aa)])
    for expected, got in zip(*grads, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(grads[1][2], [np.dot(x.astype(float), ct)], rtol=1e-4, atol=1e-2)


@pytest.mark.gpu
def test_zero_threads_do_nothing(device: str, cell: Any) -> None:
    (_, y) = on(device, cell, "saxpy", 0, [2.0, np.ones(3, np.float32), np.ones(3, np.float32)])
    np.testing.assert_array_equal(y, np.ones(3, np.float32))


@pytest.mark.gpu
def test_copies_fills_and_clones(device: str) -> None:
    data = f32(1000)
    a = wb.array(data, device=device)
    b = wb.clone(a)
    a.zero_()
    np.testing.assert_array_equal(b.numpy(), data)
    np.testing.assert_array_equal(a.numpy(), np.zeros(1000, np.float32))
    wb.copy(a, b)
    np.testing.assert_array_equal(a.numpy(), data)


@pytest.mark.gpu
def test_memory_is_given_back(device: str) -> None:
    from workbench.runtime.device.device import driver_of

    memory = driver_of(wb.get_device(device)).properties[0].memory
    for _ in range(20):
        wb.empty(memory // 4 // 4, float, device=device)
    assert wb.zeros(10, float, device=device).numpy().sum() == 0
