"""Gradients of large arrays that a launch overwrites: what is left in the result's gradient, and what went through."""

import numpy as np
import pytest

import workbench as wb

SIZES = ((130, 256), (6, 24))
"""Rows and columns of arrays of more and of fewer bytes than CLEARED_BYTES."""
ROWS = wb.array2d[wb.float64]


@wb.kernel
def rows(x: ROWS, y: ROWS):
    i = wb.tid()
    for j in range(x.shape[1]):
        y[i + 1, j + 2] = x[i, j] * x[i, j]


@wb.kernel
def some_columns(x: ROWS, y: ROWS):
    i = wb.tid()
    for j in range(3, x.shape[1] - 5):
        y[i, j] = x[i, j] * x[i, j]


@wb.kernel
def no_columns(x: ROWS, y: ROWS):
    i = wb.tid()
    for j in range(0, x.shape[0] - 200):
        y[i, j] = x[i, j] * x[i, j]


@wb.kernel
def planes(x: ROWS, y: ROWS):
    j = wb.tid()
    y[2, j] = x[0, j] * x[0, j]
    y[1, j] = x[1, j] * x[0, j]
    y[3, j] = x[1, j]


@wb.kernel
def planes_apart(x: ROWS, y: ROWS):
    j = wb.tid()
    y[0, j] = x[0, j] * x[0, j]
    y[2, j] = x[1, j]


@wb.kernel
def twice(x: ROWS, y: ROWS):
    i, j = wb.tid()
    y[i, j] = x[i, j] * x[i, j]
    y[i, j] = 3.0 * x[i, j]


@wb.kernel
def repeated(x: ROWS, y: ROWS):
    i = wb.tid()
    for j in range(x.shape[1]):
        y[i, 0] = x[i, j] * x[i, j]


@wb.kernel
def guarded(x: ROWS, y: ROWS):
    i, j = wb.tid()
    if x[i, j] > 0.0:
        y[i, j] = x[i, j] * x[i, j]


@wb.kernel
def from_the_end(x: ROWS, y: ROWS):
    i, j = wb.tid()
    y[i, j - 1] = x[i, j] * x[i, j]


@wb.kernel
def reread(x: ROWS, y: ROWS):
    i, j = wb.tid()
    y[i, j] = x[i, j] * x[i, j]
    x[i, j] = 2.0 * y[i, j]


def expected(kernel: wb.Kernel, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of x and y, if y's is g afterwards."""
    gx, gy, n, m = np.zeros_like(x), g.copy(), *x.shape
    region: tuple[slice, ...] = (slice(0, n), slice(0, m))
    match kernel.name:
        case "rows":
            region = (slice(1, n + 1), slice(2, m + 2))
            gx = 2 * x * g[region]
        case "some_columns":
            region = (slice(0, n), slice(3, m - 5))
            gx[region] = (2 * x * g[:n, :m])[region]
        case "no_columns":
            region = (slice(0, 0), slice(0, 0))
        case "planes" | "planes_apart":
            first, second = (2, 1) if kernel.name == "planes" else (0, None)
            gx[0] = 2 * x[0] * g[first, :m] + (x[1] * g[1, :m] if second else 0)
            gx[1] = g[3, :m] + x[0] * g[1, :m] if second else g[2, :m]
            for row in (1, 2, 3) if second else (0, 2):
                gy[row, :m] = 0
            return gx, gy
        case "twice":
            gx = 3 * g[:n, :m]
        case "repeated":
            gx[:, -1] = 2 * x[:, -1] * g[:n, 0]
            region = (slice(0, n), slice(0, 1))
        case "guarded":
            gx = np.where(x > 0, 2 * x * g[:n, :m], 0)
            gy[:n, :m] = np.where(x > 0, 0, g[:n, :m])
            return gx, gy
        case "from_the_end":
            at = (np.arange(m) - 1) % g.shape[1]
            gx = 2 * x * g[:n, at]
            gy[:n, at] = 0
            return gx, gy
        case "reread":
            gx = 2 * x * g[:n, :m]
    gy[region] = 0
    return gx, gy


BY_ROWS = (rows, some_columns, no_columns, repeated)
KERNELS = (rows, some_columns, no_columns, planes, planes_apart, twice, repeated, guarded, from_the_end, reread)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("later", [False, True], ids=["the seed", "a sum of steps"])
@pytest.mark.parametrize("size", SIZES, ids=["many bytes", "few bytes"])
def test_what_was_overwritten_owes_nothing(kernel: wb.Kernel, checks: bool, later: bool, size: tuple[int, int]):
    """The gradient of a result is used up where the launch stored to it, and stays everywhere else."""
    random = np.random.default_rng(3)
    rows, columns = size
    held, seed = random.standard_normal(size), random.standard_normal((rows + 3, columns + 4))
    x = wb.array(held, dtype=wb.float64, device="cpu", requires_grad=True)
    y = wb.zeros(seed.shape, dtype=wb.float64, device="cpu", requires_grad=True)
    z = wb.zeros(seed.shape, dtype=wb.float64, device="cpu", requires_grad=True)
    dim = columns if kernel in (planes, planes_apart) else rows if kernel in BY_ROWS else size
    with wb.Tape() as tape:
        wb.launch(kernel, dim, [x, y], checks=checks)
        if later:
            z.add_(y)
    for _ in range(2):
        tape.backward(grads={(z if later else y): wb.array(seed, dtype=wb.float64, device="cpu")})
        gx, gy = expected(kernel, held, seed)
        np.testing.assert_allclose(x.grad.numpy(), gx, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(y.grad.numpy(), gy, rtol=1e-12)
        tape.zero()
