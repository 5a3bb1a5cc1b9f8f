"""Tiles gathered from and scattered to an array by a tile of indices, against NumPy and its transposes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb


@wb.kernel
def gathers(x: wb.array2d[float], at: wb.array[int], rows: wb.array2d[float], columns: wb.array2d[float]):
    indices = wb.tile_load(at, shape=3)
    wb.tile_store(rows, wb.tile_load_indexed(x, indices, (3, 5), offset=(1, 0)))
    wb.tile_store(columns, wb.tile_load_indexed(x, indices, shape=(4, 3), axis=1))


def test_a_gather_along_an_axis_is_numpys_and_what_lies_outside_is_0():
    values = np.random.default_rng(0).random((4, 5), np.float32)
    x, at = wb.array(values, requires_grad=True), wb.array([2, 0, 4], int)
    rows, columns = wb.zeros((3, 5), requires_grad=True), wb.zeros((4, 3), requires_grad=True)
    with wb.Tape() as tape:
        wb.launch_tiled(gathers, 1, [x, at], [rows, columns], block_dim=32)
    wanted = np.zeros((3, 5), np.float32)
    wanted[:2] = values[[3, 1]]  # 4 + 1 is no row
    assert np.array_equal(rows.numpy(), wanted) and np.array_equal(columns.numpy(), values[:, [2, 0, 4]])
    tape.backward(grads={rows: np.full((3, 5), 2, np.float32), columns: np.ones((4, 3), np.float32)})
    gradient = np.zeros((4, 5), np.float32)
    gradient[[3, 1]] += 2
    gradient[:, [2, 0, 4]] += 1
    assert np.array_equal(x.grad.numpy(), gradient)


@wb.kernel
def adds(x: wb.array2d[float], at: wb.array[int], sums: wb.array2d[float]):
    wb.tile_atomic_add_indexed(sums, wb.tile_load(at, shape=3), wb.tile_load(x, shape=(3, 2)), axis=0)


@wb.kernel
def stores(x: wb.array2d[float], at: wb.array[int], out: wb.array2d[float]):
    t = wb.tile_load(x, shape=(3, 2))
    wb.tile_store_indexed(out, wb.tile_load(at, shape=3), t)
    wb.tile_store(out[5::2, :], t * 10.0)


def test_a_scatter_stores_and_adds_at_the_indices_and_to_slices():
    values = np.arange(1, 7, dtype=np.float32).reshape(3, 2)
    out, x = wb.zeros((9, 2)), wb.array(values, requires_grad=True)
    wb.launch_tiled(stores, 1, [x, wb.array([4, 0, 2], int), out], block_dim=32)
    wanted = np.zeros((9, 2), np.float32)
    wanted[[4, 0, 2]] = values
    wanted[5::2] = values[:2] * 10
    assert np.array_equal(out.numpy(), wanted)
    sums = wb.zeros((4, 2), requires_grad=True)
    with wb.Tape() as tape:
        wb.launch_tiled(adds, 1, [x, wb.array([1, 3, 1], int), sums], block_dim=32)
    total = np.zeros((4, 2), np.float32)
    np.add.at(total, [1, 3, 1], values)
    assert np.array_equal(sums.numpy(), total)
    weights = np.arange(8, dtype=np.float32).reshape(4, 2)
    tape.backward(grads={sums: weights})
    assert np.array_equal(x.grad.numpy(), weights[[1, 3, 1]])


@wb.kernel
def short(x: wb.array2d[float], at: wb.array[int]):
    wb.tile_store(x, wb.tile_load_indexed(x, wb.tile_load(at, shape=2), (3, 2)))


def test_indices_are_as_many_as_the_axis_is_long():
    with pytest.raises(wb.KernelTypeError, match="one integer as indices for each of the tile's elements along axis 0"):
        wb.launch_tiled(short, 1, [wb.zeros((4, 2)), wb.zeros(2, int)], block_dim=32)


@wb.kernel
def turned(m: wb.array[wb.mat22], out: wb.array[wb.mat22], sums: wb.array2d[float]):
    i = wb.tid()
    t = wb.tile(m[i])
    wb.tile_store(sums, wb.tile_sum(t, axis=2))
    mine = wb.untile(t * 2.0)
    out[i] = mine


@pytest.mark.parametrize("block_dim", [1, 8])
def test_a_tile_of_matrices_has_a_dimension_for_rows_and_one_for_columns(block_dim):
    values = np.random.default_rng(1).random((8, 2, 2), np.float32)
    out, sums = wb.zeros(8, wb.mat22), wb.zeros((2, 2))
    wb.launch(turned, 8, [wb.array(values, wb.mat22), out, sums], block_dim=block_dim)
    assert np.array_equal(out.numpy(), values * 2)
    if block_dim == 8:
        assert np.allclose(sums.numpy(), values.sum(0))


@wb.kernel
def alone(x: wb.array[float], out: wb.array[float]):
    i = wb.tid()
    total = wb.tile_sum(wb.tile(x[i]))
    if x[i] > 1.5:
        out[i] = total


def test_a_block_of_one_thread_may_branch():
    out = wb.zeros(3)
    wb.launch(alone, 3, [wb.array([1.0, 2.0, 3.0]), out], block_dim=1)
    assert out.numpy().tolist() == [0.0, 2.0, 3.0]
