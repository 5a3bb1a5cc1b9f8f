"""`backward` of stencils: when threads gather, and that gradients are what they are without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError

IMAGE, ROW = wb.array2d[wb.float64], wb.array[wb.float64]
GATHERS, ADDS = ["gathered-adjoint"], ["adjoint"]


@wb.kernel
def inside(x: IMAGE, y: IMAGE, k: wb.float64):
    i, j = wb.tid()
    n, m = x.shape
    if i > 0 and i < n - 1 and j > 0 and j < m - 1:
        y[i, j] = x[i, j] + k * x[i - 1, j] * x[i + 1, j] + k * (x[i, j - 1] + x[i, j + 1])


@wb.kernel
def insulated(x: IMAGE, y: IMAGE, k: wb.float64):
    i, j = wb.tid()
    n, m = x.shape
    near = x[max(i - 1, 0), j] + x[min(i + 1, n - 1), j] + x[i, max(j - 1, 0)] + x[i, min(j + 1, m - 1)]
    y[i, j] = x[i, j] + k * near * x[i, j]


@wb.kernel
def round_and_round(x: IMAGE, y: IMAGE, k: wb.float64):
    i, j = wb.tid()
    n, m = x.shape
    y[i, j] = x[(i - 1) % n, j] * x[(i + 2) % n, j] + k * x[i, (j + 1) % m] * x[i, j - 1]


@wb.kernel
def chain(x: wb.array[wb.vec3d], f: wb.array[wb.vec3d], rest: wb.float64):
    i = wb.tid()
    force = wb.vec3d(0.0, -1.0, 0.0)
    if i > 0:
        d = x[i - 1] - x[i]
        force += d * (1.0 - rest / wb.length(d))
    if i < x.shape[0] - 1:
        d = x[i + 1] - x[i]
        force += d * (1.0 - rest / wb.length(d))
    f[i] = force


@wb.kernel
def halves(x: wb.array[wb.float16], y: wb.array[wb.float16]):
    i = wb.tid()
    y[i] = x[max(i - 1, 0)] * x[min(i + 1, x.shape[0] - 1)]


@wb.kernel
def two(a: ROW, b: ROW, y: ROW):
    i = wb.tid()
    if i > 0:
        y[i] = a[i - 1] * b[i] + a[i] * b[i - 1]


def grads(
    kernel: wb.Kernel, dim: Any, args: list[Any], out: int, seed: np.ndarray, device: str = "cpu", **options: Any
) -> tuple[list[np.ndarray], list[str]]:
    """The gradients of all array arguments, which begin as 1, and how the adjoint ran."""
    kind = {"dtype": wb.vec3d} if kernel is chain else {}
    given = [wb.array(a, device=device, requires_grad=True, **kind) if isinstance(a, np.ndarray) else a for a in args]
    for a in given:
        if isinstance(a, wb.array):
            a.grad.fill_(1.0)
    given[out].grad.zero_()
    with wb.Tape(**options) as tape:
        wb.launch(kernel, dim, given, device=device)
    with wb.record() as seen:
        tape.backward(grads={given[out]: seed})
    steps = [r.direction for r in seen.launches if r.direction.endswith("adjoint")]
    return [a.grad.numpy() for a in given if isinstance(a, wb.array)], steps


def compare(
    kernel: wb.Kernel, dim: Any, args: list[Any], out: int, tolerance: float = 1e-12, **where: Any
) -> list[str]:
    seed: np.ndarray = np.random.default_rng(5).uniform(-1, 1, args[out].shape).astype(args[out].dtype)
    want, plain = grads(kernel, dim, args, out, seed, deterministic=True)
    found, steps = grads(kernel, dim, args, out, seed, **where)
    assert plain == ADDS
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance)
    return steps


def image(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape)


@pytest.mark.parametrize("kernel", [inside, insulated, round_and_round], ids=lambda k: k.name)
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 4), (9, 70)])
def test_images(kernel: wb.Kernel, shape: tuple[int, int]) -> None:
    steps = compare(kernel, shape, [image(*shape), np.zeros(shape), 0.3], 1)
    small = kernel is round_and_round and shape == (1, 1)
    assert steps[:1] == (ADDS if small else GATHERS)
    # What a border leaves unwritten keeps its cotangent: a launch clears the rest.
    assert steps[1:] == (["clearing-adjoint"] if kernel is inside else [])


def test_a_chain_of_springs() -> None:
    x = np.cumsum(image(37, 3), axis=0)
    assert compare(chain, 37, [x, np.zeros((37, 3)), 0.4], 1) == GATHERS


def test_halves() -> None:
    x = image(40).astype(np.float16)
    assert compare(halves, 40, [x, np.zeros(40, np.float16)], 1, tolerance=2e-3) == GATHERS


@pytest.mark.parametrize("dim", [3, 6, 9])
def test_a_launch_of_another_size_adds(dim: int) -> None:
    x = image(9)
    steps = [*GATHERS, "clearing-adjoint"] if dim == 9 else ADDS
    assert compare(two, dim, [x, x * 2, np.zeros(9)], 2) == steps


def test_what_shares_memory_adds() -> None:
    x, y = wb.array(image(9), requires_grad=True), wb.zeros(9, dtype=wb.float64, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(two, 9, [x, x, y])
    with wb.record() as seen:
        tape.backward(grads={y: np.ones(9)})
    assert [r.direction for r in seen.launches] == ADDS
    v = x.numpy()
    want = np.zeros(9)
    want[:-1] += 2 * v[1:]
    want[1:] += 2 * v[:-1]
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-12)


def test_gradients_of_gradients() -> None:
    x = wb.array(image(5, 6))

    def energy(x: wb.array) -> wb.array:
        y, o = wb.zeros((5, 6), dtype=wb.float64), wb.zeros(1, dtype=wb.float64)
        wb.launch(insulated, (5, 6), [x, y, 0.3])
        wb.launch(squared, (5, 6), [y, o])
        return o

    v = wb.array(image(6, 5).reshape(5, 6))
    found = wb.hvp(energy)(x, along=v)
    step = 1e-5
    sides = [wb.grad(energy)(wb.array(x.numpy() + s * v.numpy())).numpy() for s in (step, -step)]
    np.testing.assert_allclose(found.numpy(), (sides[0] - sides[1]) / (2 * step), rtol=1e-6, atol=1e-6)


@wb.kernel
def squared(y: IMAGE, o: ROW):
    i, j = wb.tid()
    o[0] += y[i, j] * y[i, j]


def test_a_recorded_one_is_not_run_for_other_sizes() -> None:
    x = wb.array(image(9), requires_grad=True)
    b, y = wb.array(image(9), requires_grad=True), wb.zeros(9, dtype=wb.float64, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(two, 9, [x, b, y])
    with wb.record() as seen:
        tape.backward(grads={y: np.ones(9)})
    sums = next(r for r in seen.launches if r.direction == "gathered-adjoint")
    with pytest.raises(LaunchError, match="as large as its arrays"):
        sums.changed({}, dim=7)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [inside, insulated, round_and_round], ids=lambda k: k.name)
def test_emulated(kernel: wb.Kernel) -> None:
    shape = (7, 9)
    steps = compare(kernel, shape, [image(*shape), np.zeros(shape), 0.3], 1, device="emulated")
    assert steps[:1] == GATHERS


@wb.kernel
def middle(x: IMAGE, y: IMAGE):
    i, j = wb.tid()
    y[i + 1, j + 2] = x[i, j] * x[i + 1, j] + x[i + 1, j + 1]


@wb.kernel
def middle_of_row(x: ROW, y: ROW):
    i = wb.tid()
    y[i + 2] = x[i] * x[i + 1]


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize(
    ("kernel", "dim", "shape"),
    [(middle, (40, 50), (42, 53)), (middle, (41, 51), (42, 53)), (middle_of_row, 1500, 1504), (middle_of_row, 0, 1504)],
)
def test_a_large_seed_is_read_where_it_is(kernel: wb.Kernel, dim: Any, shape: Any, passes: int) -> None:
    """It stays as it is, and the border that the launch left unwritten gets its part of it."""
    size = shape if isinstance(shape, tuple) else (shape,)
    seed = wb.array(np.random.default_rng(3).uniform(-1, 1, size), wb.float64)
    kept, results = seed.numpy().copy(), []
    for deterministic in (False, True):
        x, y = wb.array(image(*size), requires_grad=True), wb.zeros(shape, wb.float64, requires_grad=True)
        y.grad.fill_(0.5)  # a sum of earlier passes
        with wb.Tape(deterministic=deterministic) as tape:
            wb.launch(kernel, dim, [x, y])
        for _ in range(passes):
            tape.backward(grads={y: seed})
        results.append((x.grad.numpy().copy(), y.grad.numpy().copy()))
    np.testing.assert_array_equal(seed.numpy(), kept)
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    corner = (0,) * len(size)
    assert results[0][1][corner] == 0.5 + passes * kept[corner]


def test_a_seed_of_what_a_later_step_reads_is_added_to() -> None:
    n = 1500
    x, y, z = (wb.array(image(n), requires_grad=True) for _ in range(3))
    with wb.Tape() as tape:
        wb.launch(middle_of_row, n - 2, [x, y])
        wb.launch(middle_of_row, n - 2, [y, z])
    seed = wb.ones(n, wb.float64)
    tape.backward(grads={z: seed, y: seed})
    both = [x.grad.numpy().copy(), y.grad.numpy().copy()]
    tape.zero()
    tape.backward(grads={z: seed})
    tape.backward(grads={y: seed})
    np.testing.assert_allclose(x.grad.numpy(), both[0], rtol=1e-12)
    np.testing.assert_allclose(y.grad.numpy(), both[1], rtol=1e-12)
