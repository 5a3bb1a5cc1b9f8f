"""Kernels of tiles that are launched over threads: what `tid()` gives, and other dimensions later."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define

SIZES = [((2, 3, 4), 4), ((2, 8), 4), ((3, 4), 2), ((4, 6), 8), ((2, 2, 2, 8), 4), ((3, 1, 4), 4), ((5, 4), 1)]


@pytest.mark.parametrize(("dims", "block_dim"), SIZES)
def test_indices_are_those_of_the_thread(dims, block_dim):
    names = ", ".join("abcd"[: len(dims)])
    number = " + ".join(f"{10**k} * {n}" for k, n in enumerate("abcd"[: len(dims)]))
    text = (
        f"@kernel\ndef k(y: array{len(dims)}d[int], s: array[int]):\n    {names} = tid()\n    v = {number}\n"
        f"    y[{names}] = v\n    tile_atomic_add(s, tile_sum(tile(v)), offset=0)\n"
    )
    y, s = wb.zeros(dims, dtype=int), wb.zeros(1, dtype=int)
    wb.launch(define(text)["k"], dims, outputs=[y, s], block_dim=block_dim)
    wanted = sum(10**k * axis for k, axis in enumerate(np.indices(dims)))
    assert y.numpy().tolist() == wanted.tolist()
    assert s.numpy()[0] == wanted.sum()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_an_index_before_whole_blocks_chooses_the_row_of_a_tile(device):
    text = (
        "@kernel\ndef k(x: array2d[float], y: array2d[float]):\n    row, part, lane = tid()\n"
        "    s = tile_sum(tile(x[row, part * 4 + lane]))\n    s += tile_load(y[row], shape=1, offset=part) * 0.5\n"
        "    tile_store(y[row], s, offset=part)\n"
    )
    x = np.arange(24.0).reshape(2, 12)
    y = wb.array(np.ones((2, 3)), dtype=float, device=device)
    wb.launch(define(text)["k"], (2, 3, 4), inputs=[wb.array(x, dtype=float, device=device)], outputs=[y], block_dim=4)
    assert y.numpy().tolist() == (x.reshape(2, 3, 4).sum(2) + 0.5).tolist()


def test_set_dim_counts_threads():
    text = (
        "@kernel\ndef k(x: array[float], s: array[float]):\n    i = tid()\n"
        "    tile_atomic_add(s, tile_sum(tile(x[i])), offset=0)\n"
    )
    s = wb.zeros(1, dtype=float)
    command = wb.launch(
        define(text)["k"], 64, [wb.array(np.arange(64.0), dtype=float)], [s], block_dim=16, record_cmd=True
    )
    command.set_dim(32)
    command.launch()
    assert s.numpy()[0] == np.arange(32.0).sum()
    with pytest.raises(wb.LaunchError, match="whole blocks: 40 threads, block_dim 16"):
        command.set_dim(40)
    command.launch()
    assert s.numpy()[0] == 2 * np.arange(32.0).sum()


@wb.kernel
def numbered(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    s = wb.tile_sum(wb.tile(x[i]))
    y[i] = x[i] + s


@wb.kernel
def scaled(x: wb.array[float], y: wb.array[float], factor: float):
    i, lane = wb.tid()
    k = i * wb.block_dim() + lane
    y[k] = x[k] * factor + float(wb.block_dim())


def test_launches_again() -> None:
    """Launches after the first one of their kind: other sizes, blocks, numbers and arrays, and refusals in between."""
    for count, block in ((64, 32), (96, 32), (96, 48), (32, 32), (64, 32)):
        x = np.arange(count, dtype=np.float32)
        a, y, z = wb.array(x), wb.zeros(count), wb.zeros(count)
        wb.launch(numbered, dim=count, inputs=[a, y], block_dim=block)
        sums = x.reshape(-1, block).sum(1)
        assert np.array_equal(y.numpy(), x + np.repeat(sums, block))
        wb.launch_tiled(scaled, dim=[count // block], inputs=[a, z, count / 2], block_dim=block)
        assert np.array_equal(z.numpy(), x * (count / 2) + block)
        with pytest.raises(wb.LaunchError, match="whole blocks"):
            wb.launch(numbered, dim=count + 1, inputs=[a, y], block_dim=block)
        for wrong in (float(block), True, 0, 2000, [block]):
            with pytest.raises(wb.LaunchError, match="block_dim"):
                wb.launch(numbered, dim=count, inputs=[a, y], block_dim=wrong)
            with pytest.raises(wb.LaunchError, match="block_dim"):
                wb.launch_tiled(scaled, dim=[count // block], inputs=[a, z, 1.0], block_dim=wrong)
        with pytest.raises(wb.LaunchError, match="factor"):
            wb.launch_tiled(scaled, dim=[count // block], inputs=[a, z, "much"], block_dim=block)
