"""Per-thread values in kernels of tiles: lines about them run once for each thread of the block."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.on_all import arrays_of, same_on_all
from workbench.backends.python import run
from workbench.frontend.statements.lower import lower
from workbench.ir.data import show
from workbench.passes.checks.bounds_checks import guard
from workbench.passes.lower_tiles.lower import lower_tiles

RNG = np.random.default_rng(3)


@wb.kernel
def flat(x: wb.array[float], y: wb.array[float], z: wb.array[float]):
    i = wb.tid()
    v = x[i] * 2.0
    if v > 0.0:
        v = v + 1.0
        y[i] = v
    else:
        for k in range(3):
            v += float(k)
        y[i] = -v
    t = wb.tile(v)
    s = wb.tile_sum(t)
    u = wb.untile(t / s)
    wb.tile_store(z, wb.tile(u * x[i]), offset=0)


def test_over_threads() -> None:
    x = RNG.standard_normal(64).astype(np.float32)
    args = [x, np.zeros(64, np.float32), np.zeros(32, np.float32)]
    given, again = arrays_of(args), arrays_of(args)
    wb.launch(flat, dim=64, inputs=given, block_dim=32, deterministic=True)
    run(flat.used.function, [2], again)
    v = np.where(x > 0, 2 * x + 1, 2 * x + 3)
    np.testing.assert_allclose(given[1], np.where(x > 0, v, -v), rtol=1e-6)
    np.testing.assert_allclose(given[2], v[32:] / v[32:].sum() * x[32:], rtol=1e-5)
    for a, b in zip(given, again, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_whole_blocks_alone() -> None:
    x = np.zeros(100, np.float32)
    with pytest.raises(wb.LaunchError, match="whole blocks: 100 threads, block_dim 32"):
        wb.launch(flat, dim=100, inputs=[x, x, x], block_dim=32)


@wb.kernel
def lanes(x: wb.array2d[float], y: wb.array2d[float], first: wb.array[float], v: wb.array2d[float]):
    b, lane = wb.tid()
    s = wb.tile_sum(wb.tile(x[b, lane]))
    if lane == 0:
        first[b] = s
    y[b, lane] = x[b, lane] - s / float(wb.block_dim())
    p = wb.vec3(x[b, lane], float(lane), 1.0)
    p.z += p.x
    wb.tile_store(v, wb.tile(p))
    q = wb.untile(wb.tile(p) * 2.0)
    y[b, lane] += q.z + q.y


def test_over_blocks() -> None:
    x = RNG.standard_normal((2, 16)).astype(np.float32)
    args = [x, np.zeros_like(x), np.zeros(2, np.float32), np.zeros((3, 16), np.float32)]
    _, y, first, v = same_on_all(lanes, [2], args, block_dim=16, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(first, x.sum(1), rtol=1e-5)
    lane = np.arange(16)
    np.testing.assert_allclose(y, x - x.mean(1, keepdims=True) + 2 * (1 + x) + 2 * lane, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(v, [x[1], lane, 1 + x[1]], rtol=1e-6)


@wb.kernel
def uniform(y: wb.array[float], n: wb.array[int]):
    b = wb.tid()
    y[b] += 1.0
    wb.atomic_add(n, 0, 1)
    t = wb.tile_zeros(4)
    wb.tile_store(y, t, offset=100)


def test_uniform_lines_run_once_a_block() -> None:
    y, n = same_on_all(uniform, [5], [np.zeros(5, np.float32), np.zeros(1, np.int32)], block_dim=64)
    assert (list(y), n[0]) == ([1.0] * 5, 5)


@wb.kernel
def random(y: wb.array2d[float]):
    b, lane = wb.tid()
    state = wb.rand_init(7, b * wb.block_dim() + lane)
    a = wb.randf(state)
    y[b, lane] = a + wb.randf(state)
    wb.tile_store(y[b], wb.tile(a), offset=16)


def test_random_numbers_of_each_thread() -> None:
    (y,) = same_on_all(random, [2], [np.zeros((2, 32), np.float32)], block_dim=16)
    assert len(set(y.reshape(-1).tolist())) == 64


def test_the_same_text_comes_of_it_each_time() -> None:
    x = np.zeros((2, 16), np.float32)
    args = [x, x.copy(), np.zeros(2, np.float32), np.zeros((3, 16), np.float32)]
    wb.launch_tiled(lanes, dim=[2], inputs=args, block_dim=16)
    kernel = lanes.used
    texts, held = set(), []
    for n in range(8):
        held.append([object() for _ in range(97 * n)])  # so that values have other addresses
        types = dict(zip(lanes.parameters, kernel.types, strict=True))
        made = lower(lanes.definition, types, tiling=kernel.tiling)
        texts.add(show(lower_tiles(guard(made.function, versions=True))))
    assert len(texts) == 1
