"""Changes of one element by all threads on a GPU: in registers, a block's once in memory (`design/cuda.md`)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb

TEXT = """
def total(x: array[float], o: array[float]):
    i = tid()
    if x[i] > 0.0:
        atomic_add(o, 0, x[i])

def kinds(a: float, x: array[vec3], o: array[vec3], m: array[float], c: array[int], u: array[uint64]):
    i = tid()
    for k in range(3):
        o[1] += a * x[i]
    atomic_max(m, m.shape[0] - 1, x[i][0])
    atomic_min(m, 0, x[i][1])
    if i % 3 == 1:
        c[2] += i
    atomic_xor(u, 0, uint64(i) * uint64(2654435761))

def several(x: array[float], o: array[float], m: array[float], least: array[float]):
    i = tid()
    if x[i] < 0.2:
        return
    for k in range(int(x[i] * 5.0)):
        o[0] += x[i]
        if x[i] > 0.9:
            return
        atomic_add(m, 1, 1.0)
    atomic_min(least, 0, x[i])

def never(x: array[float], o: array[float]):
    i = tid()
    if x[i] > 2.0:
        atomic_add(o, 7, x[i])

def weighted(w: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = w * x[i]

def twice(x: array[float], c: array[float], y: array[float]):
    i = tid()
    s = float(0.0)
    for k in range(3):
        s += c[0] * x[i]
    y[i] = s + c[1] * x[i] * x[i]

def bodies(p: array[vec3], f: array[vec3]):
    i = tid()
    s = vec3(0.0, 0.0, 0.0)
    for j in range(p.shape[0]):
        d = p[j] - p[i]
        r = 1.0 / sqrt(dot(d, d) + 0.1)
        s += d * (r * r * r)
    f[i] = s

def product(a: array2d[float], b: array2d[float], c: array2d[float]):
    i, j = tid()
    s = float(0.0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s

def shared(x: array[float], o: array[float]):
    i = tid()
    o[0] += x[i]
"""


@pytest.fixture
def kernels(need: Any) -> Any:
    need("nvrtc")
    return wb.build_cell(TEXT, {}, backend="cpu", compile=False).kernels


@pytest.mark.sample(2)
@pytest.mark.parametrize("block_dim", [1, 31, 100, 256, 1024])
@pytest.mark.parametrize("checks", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_any_size_of_launch_and_block(kernels, block_dim: int, checks: bool) -> None:
    for n in (1, 33, 257):
        v = np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32)
        with wb.ScopedDevice("emulated"):
            o, c, u = wb.zeros(2, dtype=wb.vec3), wb.zeros(3, dtype=int), wb.zeros(1, dtype=wb.uint64)
            m = wb.array(np.array([np.inf, -np.inf], np.float32))
            given = [0.5, wb.array(v, dtype=wb.vec3), o, m, c, u]
            wb.launch(kernels["kinds"], n, given, block_dim=block_dim, checks=checks)
        i = np.arange(n)
        error = np.abs(o.numpy()[1] - 1.5 * v.astype(np.float64).sum(0)).max()
        assert error <= 2e-7 * 1.5 * np.abs(v).sum() and not o.numpy()[0].any()
        assert m.numpy().tolist() == [v[:, 1].min(), v[:, 0].max()]
        assert c.numpy().tolist() == [0, 0, i[i % 3 == 1].sum()]
        assert u.numpy()[0] == np.bitwise_xor.reduce(i.astype(np.uint64) * np.uint64(2654435761))


def test_a_thread_goes_on_to_other_indices(kernels) -> None:
    """More threads than blocks are launched for: four indices each, 782 blocks of 32."""
    x = np.random.default_rng(0).random(100_000).astype(np.float32)
    with wb.ScopedDevice("emulated"):
        o = wb.zeros(1)
        wb.launch(kernels["total"], x.size, [wb.array(x), o], block_dim=32, checks=False)
    exact = x.astype(np.float64).sum()
    assert abs(o.numpy()[0] - exact) <= 1e-6 * exact
    p = wb.profile(kernels["total"], x.size, [wb.array(x), wb.zeros(1)], block_dim=32)
    assert (p.total.atomics, p.total.atomic_conflicts) == (782, 0)


@pytest.mark.slow
def test_a_block_changes_each_element_once_with_loops_and_early_returns(kernels) -> None:
    x = np.random.default_rng(2).random(2000).astype(np.float32)
    turns = np.where(x > 0.9, 1, np.where(x < 0.2, 0, (x * np.float32(5.0)).astype(int)))
    with wb.ScopedDevice("emulated"):
        given = [wb.array(x), wb.zeros(1), wb.zeros(2), wb.ones(1)]
        wb.launch(kernels["several"], x.size, given, checks=False)
        np.testing.assert_allclose(given[1].numpy(), (x.astype(np.float64) * turns).sum(), rtol=1e-6)
        assert given[2].numpy().tolist() == [0.0, turns[x <= 0.9].sum()]
        assert given[3].numpy()[0] == x[(x >= 0.2) & (x <= 0.9)].min()
    p = wb.profile(kernels["several"], x.size, [wb.array(x), wb.zeros(1), wb.zeros(2), wb.ones(1)])
    # A minimum changes memory only where it is one.
    assert 2 * 8 < p.total.atomics <= 3 * 8 and p.total.atomic_conflicts == 0


@pytest.mark.slow
@pytest.mark.parametrize("n", [64, 50])  # full warps alone, and others: threads of the last warp add by themselves
def test_what_all_threads_of_a_warp_add_to_is_changed_once(kernels, n: int) -> None:
    p = np.random.default_rng(3).standard_normal((n, 3)).astype(np.float32)
    given = [wb.array(p, dtype=wb.vec3), wb.zeros(n, dtype=wb.vec3)]
    counted = wb.profile(kernels["bodies"], n, given, adjoint=True).total.atomics
    # Three numbers in each of n turns by full warps, and as many by each thread beside them; p[i] behind the loop.
    assert counted <= 3 * n * (n // 32 + n % 32) + 3 * n
    with wb.ScopedDevice("emulated"):
        given = [wb.array(p, dtype=wb.vec3), wb.zeros(n, dtype=wb.vec3)]
        slopes = wb.zeros(n, dtype=wb.vec3), wb.array(np.ones((n, 3), np.float32), dtype=wb.vec3)
        wb.launch(kernels["bodies"], n, given, adjoint=True, adj_inputs=list(slopes))

    def force(p: jax.Array) -> jax.Array:
        d = p[None] - p[:, None]
        return (d * ((d * d).sum(2) + 0.1)[..., None] ** -1.5).sum()

    with jax.enable_x64(True):
        right = jax.grad(force)(jnp.asarray(p, jnp.float64))
    np.testing.assert_allclose(slopes[0].numpy(), right, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("columns", [32, 20])  # a row is a warp; a warp lies across rows
def test_the_gradient_of_a_product_where_warps_share_elements_and_where_not(kernels, columns: int) -> None:
    random = np.random.default_rng(4)
    a, b, g = (random.standard_normal(s).astype(np.float32) for s in ((6, 5), (5, columns), (6, columns)))
    with wb.ScopedDevice("emulated"):
        ga, gb = wb.zeros((6, 5)), wb.zeros((5, columns))
        given = [wb.array(a), wb.array(b), wb.zeros((6, columns))]
        wb.launch(kernels["product"], (6, columns), given, adjoint=True, adj_inputs=[ga, gb, wb.array(g)])
    np.testing.assert_allclose(ga.numpy(), g @ b.T, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gb.numpy(), a.T @ g, rtol=1e-4, atol=1e-4)


def test_the_gradients_of_two_scalars_are_one_change_of_each_per_block(kernels) -> None:
    x = wb.ones(1000)
    p = wb.profile(kernels["twice"], 1000, [x, wb.ones(2), wb.zeros(1000)], adjoint=True)
    assert (p.total.atomics, p.total.atomic_conflicts) == (2 * 4, 0)


def test_an_element_that_nothing_changes_need_not_be_there(kernels) -> None:
    with wb.ScopedDevice("emulated"):
        o = wb.zeros(1)
        wb.launch(kernels["never"], 300, [wb.ones(300), o], checks=True)
        wb.synchronize()
        with pytest.raises(wb.KernelFault, match="index 7"):
            wb.launch(kernels["never"], 300, [wb.full(300, 3.0), o], checks=True)
            wb.synchronize()
    assert o.numpy().tolist() == [0.0]


def test_the_gradient_of_a_scalar(kernels) -> None:
    x = np.random.default_rng(1).random(5000).astype(np.float32)
    with wb.ScopedDevice("emulated"):
        given = [1.5, wb.array(x, requires_grad=True), wb.zeros(5000)]
        adjoints = [wb.zeros(1), None, wb.ones(5000)]
        wb.launch(kernels["weighted"], 5000, given, adjoint=True, adj_inputs=adjoints)
    exact = x.astype(np.float64).sum()
    assert abs(adjoints[0].numpy()[0] - exact) <= 1e-6 * exact


def test_arguments_that_overlap_change_memory_at_once(kernels) -> None:
    with wb.ScopedDevice("emulated"):
        x = wb.array(np.zeros(64, np.float32))
        wb.launch(kernels["shared"], 64, [x, x[:1]], checks=False)  # each adds what it finds: zeros
        assert x.numpy().tolist() == [0.0] * 64
