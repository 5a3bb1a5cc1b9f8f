"""Indices of tiles that differ between threads, tiles of indices, and stacks of a block, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

N = 8
ORDER = np.array([3, 0, -1, 3, 5, 1, 0, 2], np.int32)


@wb.kernel
def gathered(x: wb.array[float], order: wb.array[int], y: wb.array[float]):
    _, lane = wb.tid()
    t = wb.tile_load(x, shape=N)
    k = order[lane]
    y[lane] = 2.0 * t[k]


@wb.kernel
def scattered(x: wb.array[float], order: wb.array[int], y: wb.array[float]):
    _, lane = wb.tid()
    t = wb.tile_full((N,), 7.0, dtype=float)
    k = order[lane]
    t[k] = x[lane] * x[lane]
    t[lane] += 1.0
    wb.tile_store(y, t)


@wb.kernel
def rows(x: wb.array2d[float], order: wb.array[int], y: wb.array2d[float]):
    t = wb.tile_load(x, shape=(N, 3))
    places = wb.tile_load(order, shape=N)
    wb.tile_store(y, t[places, ::-2])


@wb.kernel
def stacked(x: wb.array[float], values: wb.array[float], slots: wb.array[int], left: wb.array[int]):
    _, lane = wb.tid()
    items = wb.tile_zeros((5,), dtype=float)
    count = 0
    v = x[lane]
    items, count, _ = wb.tile_stack_push(items, count, v * v, v > 0.0)
    value, slot, count = wb.tile_stack_pop(items, count)
    values[lane] = value
    slots[lane] = slot
    left[lane] = count


def differentiated(kernel, inputs, outputs, seed, block_dim=N):
    with wb.Tape() as tape:
        wb.launch_tiled(kernel, [1], inputs, outputs, block_dim=block_dim)
    tape.backward(grads={outputs[0]: seed})
    return outputs[0].numpy(), inputs[0].grad.numpy()


DEVICES = ["cpu", pytest.param("emulated", marks=pytest.mark.slow)]


@pytest.mark.parametrize("device", DEVICES)
def test_each_thread_reads_its_own_element(device):
    x = wb.array(np.arange(N, dtype=np.float32), requires_grad=True, device=device)
    order, y = wb.array(ORDER, device=device), wb.zeros(N, device=device, requires_grad=True)
    seed = np.arange(1, N + 1, dtype=np.float32)
    found, gradient = differentiated(gathered, [x, order], [y], seed)
    wanted = np.zeros(N)
    np.add.at(wanted, ORDER, 2.0 * seed)
    assert found.tolist() == (2.0 * np.arange(N)[ORDER]).tolist() and gradient.tolist() == wanted.tolist()


def test_each_thread_writes_its_own_element_and_the_last_one_counts():
    x = wb.array(np.arange(N, dtype=np.float32), requires_grad=True)
    y, seed = wb.zeros(N, requires_grad=True), np.arange(1, N + 1, dtype=np.float32)
    found, gradient = differentiated(scattered, [x, wb.array(ORDER)], [y], seed)
    wanted, writer = np.full(N, 7.0), np.full(N, -1)
    for lane, k in enumerate(ORDER):
        wanted[k], writer[k] = lane**2, lane
    slope = np.zeros(N)
    for k in range(N):
        if writer[k] >= 0:
            slope[writer[k]] = 2 * writer[k] * seed[k]
    assert found.tolist() == (wanted + 1.0).tolist() and gradient.tolist() == slope.tolist()


def test_a_tile_takes_a_tile_of_indices_and_steps():
    data = np.arange(3.0 * N, dtype=np.float32).reshape(N, 3)
    x, y = wb.array(data, requires_grad=True), wb.zeros((N, 2), requires_grad=True)
    seed = np.arange(2.0 * N, dtype=np.float32).reshape(N, 2)
    found, gradient = differentiated(rows, [x, wb.array(ORDER)], [y], seed)
    wanted = np.zeros_like(data)
    np.add.at(wanted, (ORDER[:, None], np.array([2, 0])), seed)
    assert np.array_equal(found, data[ORDER, ::-2]) and np.array_equal(gradient, wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_a_stack_keeps_the_first_values_that_fit_and_returns_the_newest_first(device):
    host = np.array([1, -1, 2, 3, -4, 5, 6, 7], np.float32)
    x = wb.array(host, requires_grad=True, device=device)
    values, slots, left = wb.zeros(N, device=device, requires_grad=True), *(wb.zeros(N, int, device) for _ in range(2))
    seed = np.arange(1, N + 1, dtype=np.float32)
    found, gradient = differentiated(stacked, [x], [values, slots, left], seed)
    kept = np.flatnonzero(host > 0)[:5][::-1]
    slope = np.zeros(N)
    slope[kept] = 2.0 * host[kept] * seed[:5]
    assert found.tolist() == [*(host[kept] ** 2), 0, 0, 0] and slots.numpy().tolist() == [4, 3, 2, 1, 0, -1, -1, -1]
    assert left.numpy().tolist() == [0] * N and gradient.tolist() == slope.tolist()


def test_what_a_stack_is_not():
    @wb.kernel
    def wrong(y: wb.array[float]):
        t = wb.tile_zeros((2, 2), dtype=float)
        t, n, _ = wb.tile_stack_push(t, 0, 1.0, True)
        y[0] = float(n)

    with pytest.raises(wb.KernelTypeError, match="items is a tile of one dimension"):
        wb.launch_tiled(wrong, [1], [wb.zeros(1)], block_dim=4)


@wb.kernel
def histogram(x: wb.array[float], bins: wb.array[int], y: wb.array2d[float]):
    _, lane = wb.tid()
    t = wb.tile_ones((2, 4), dtype=float)
    wb.tile_scatter_add(t, bins[lane] // 4, bins[lane] % 4, x[lane] * 2.0, x[lane] > 0.0)
    wb.tile_store(y, t)


@wb.kernel
def masked(x: wb.array[float], bins: wb.array[int], y: wb.array[float]):
    _, lane = wb.tid()
    t = wb.tile_ones((8,), dtype=float)
    wb.tile_scatter_masked(t, bins[lane], x[lane] * x[lane], x[lane] > 0.0)
    wb.tile_store(y, t)


def scattered_case(device):
    rng = np.random.default_rng(0)
    x, bins = rng.normal(size=32).astype(np.float32), rng.integers(0, 8, 32).astype(np.int32)
    seed = rng.normal(size=8).astype(np.float32)
    return x, bins, seed, [wb.array(x, requires_grad=True, device=device), wb.array(bins, device=device)]


@pytest.mark.parametrize("device", DEVICES)
def test_threads_that_have_a_value_add_it_to_elements_that_may_be_the_same(device):
    x, bins, seed, inputs = scattered_case(device)
    y = wb.zeros((2, 4), device=device, requires_grad=True)
    total, gradient = differentiated(histogram, inputs, [y], seed.reshape(2, 4), block_dim=32)
    wanted = np.ones(8, np.float32)
    np.add.at(wanted, bins[x > 0], 2.0 * x[x > 0])
    assert np.allclose(total.ravel(), wanted, rtol=1e-6)
    assert np.allclose(gradient, np.where(x > 0, 2.0 * seed[bins], 0.0))


@pytest.mark.parametrize("device", DEVICES)
def test_threads_that_have_a_value_put_it_into_a_tile_and_the_later_one_counts(device):
    x, bins, seed, inputs = scattered_case(device)
    y = wb.zeros(8, device=device, requires_grad=True)
    values, gradient = differentiated(masked, inputs, [y], seed, block_dim=32)
    last = {bins[k]: k for k in range(32) if x[k] > 0}
    wanted, slope = np.ones(8), np.zeros(32)
    for place, k in last.items():
        wanted[place], slope[k] = x[k] ** 2, 2.0 * x[k] * seed[place]
    assert np.allclose(values, wanted) and np.allclose(gradient, slope)


def test_a_scatter_takes_the_name_of_a_tile():
    @wb.kernel
    def wrong(x: wb.array[float]):
        _, lane = wb.tid()
        t = wb.tile_zeros((2, 2), dtype=float)
        wb.tile_scatter_add(t, lane, x[lane], True)

    with pytest.raises(wb.KernelTypeError, match="an index for each of its dimensions"):
        wb.launch_tiled(wrong, [1], [wb.zeros(4)], block_dim=4)


@wb.kernel
def neighbours(x: wb.array[float], y: wb.array[float]):
    _, lane = wb.tid()
    t = wb.tile_load(x, shape=N)
    beside = (lane + 1) % N
    y[lane] = wb.tile_extract(t, beside)


def test_an_element_for_each_thread_is_stored():
    x, y = wb.array(np.arange(N, dtype=np.float32)), wb.zeros(N)
    wb.launch_tiled(neighbours, [1], [x], [y], block_dim=N)
    assert np.array_equal(y.numpy(), np.roll(x.numpy(), -1))


@wb.kernel
def of_two_types(x: wb.array[float], n: wb.array[int], at: wb.array[int], y: wb.array[float], m: wb.array[int]):
    k = wb.tile_load(at, shape=4)
    wb.tile_store(y, wb.tile_load(x, shape=8)[k])
    wb.tile_store(m, wb.tile_load(n, shape=8)[k])


def test_a_tile_of_integers_is_gathered_beside_one_of_floats_that_has_a_gradient():
    at = np.array([3, 0, 3, 7], np.int32)
    x, n = wb.array(np.arange(8, dtype=np.float32), requires_grad=True), wb.array(np.arange(8, dtype=np.int32) * 3)
    y, m = wb.zeros(4, requires_grad=True), wb.zeros(4, dtype=int)
    with wb.Tape() as tape:
        wb.launch_tiled(of_two_types, 1, inputs=[x, n, wb.array(at)], outputs=[y, m], block_dim=32)
    tape.backward(grads={y: wb.ones(4)})
    assert y.numpy().tolist() == at.tolist() and m.numpy().tolist() == (3 * at).tolist()
    assert x.grad.numpy().tolist() == np.bincount(at, minlength=8).tolist()
