"""Kernels of tiles as JAX functions: forward, under jit and vmap, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.gemm import gemm_kernel

jax = pytest.importorskip("jax")
jnp = jax.numpy

RNG = np.random.default_rng(5)


gemm = gemm_kernel(8, 4, 16, wb.float32, float)


@wb.kernel
def normalised(x: wb.array2d[float], g: wb.array[float], y: wb.array2d[float]):
    i = wb.tid()
    t = wb.tile_load(x[i], shape=24)
    n = 24.0
    m = wb.tile_sum(t) / n
    c = t - m
    v = wb.tile_sum(c * c) / n
    w = wb.tile_load(g, shape=24)
    wb.tile_store(y[i], c * w / wb.sqrt(v + 1e-5))


@wb.kernel
def softmax(x: wb.array2d[float], y: wb.array2d[float]):
    i = wb.tid()
    t = wb.tile_load(x[i], shape=24)
    e = wb.exp(t - wb.tile_max(t))
    wb.tile_store(y[i], e / wb.tile_sum(e))


def test_gemm_and_its_gradient() -> None:
    a, b, w = (RNG.standard_normal(s).astype(np.float32) for s in ((19, 21), (21, 7), (19, 7)))
    f = wb.jax_kernel(gemm, launch_dims=(3, 2), output_dims=(19, 7), block_dim=64)
    np.testing.assert_allclose(jax.jit(f)(a, b), a @ b, atol=1e-5)
    got = jax.grad(lambda a, b: jnp.sum(w * f(a, b)), (0, 1))(a, b)
    for one, want in zip(got, (w @ b.T, a.T @ w), strict=True):
        np.testing.assert_allclose(one, want, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_layer_norm_and_softmax_against_jax() -> None:
    x, w = (RNG.standard_normal((5, 24)).astype(np.float32) for _ in range(2))
    g = RNG.standard_normal(24).astype(np.float32)
    ours = wb.jax_kernel(normalised, launch_dims=5, output_dims=(5, 24), block_dim=32)

    def theirs(x, g):
        c = x - x.mean(1, keepdims=True)
        return c * g / jnp.sqrt((c * c).mean(1, keepdims=True) + 1e-5)

    np.testing.assert_allclose(ours(x, g), theirs(x, g), rtol=1e-4, atol=1e-5)
    pairs = [jax.grad(lambda x, g, f=f: jnp.sum(w * f(x, g)), (0, 1))(x, g) for f in (ours, theirs)]
    for one, want in zip(*pairs, strict=True):
        np.testing.assert_allclose(one, want, rtol=2e-4, atol=2e-5)
    f = wb.jax_kernel(softmax, launch_dims=5, output_dims=(5, 24), block_dim=32)
    one, want = (jax.grad(lambda x, h=h: jnp.sum(w * h(x)))(x) for h in (f, lambda x: jax.nn.softmax(x, axis=1)))
    np.testing.assert_allclose(one, want, rtol=1e-4, atol=1e-6)


def test_vmap() -> None:
    x = RNG.standard_normal((3, 5, 24)).astype(np.float32)
    f = wb.jax_kernel(softmax, launch_dims=5, output_dims=(5, 24), block_dim=32)
    np.testing.assert_allclose(jax.vmap(f)(x), jax.nn.softmax(x, axis=2), rtol=1e-5, atol=1e-6)


def test_blocks_have_to_be_counted() -> None:
    with pytest.raises(wb.LaunchError, match="uses tiles, and how many blocks"):
        wb.jax_kernel(softmax)(np.ones((5, 24), np.float32))
