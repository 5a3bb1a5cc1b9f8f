"""Scans, sorts, runs and histograms beside NumPy's, on the CPU and on the emulated device."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError

DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))
KEYS = ("float32", *(pytest.param(name, marks=pytest.mark.slow) for name in ("uint8", "int32", "uint64", "float64")))


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def some_keys(rng, dtype):
    if dtype == "float32":
        return np.concatenate([rng.standard_normal(690), [np.inf, -np.inf, np.nan, 0.0, 1e-40]]).astype(np.float32)
    if dtype == "float64":
        return rng.standard_normal(700) * 1e200
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, 700, dtype=dtype)


def count_of(device):
    """So many elements that pieces are divided twice on a GPU, and once on the CPU."""
    return 128 * 128 + 5 if device == "emulated" else 32768 + 3


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.int32, pytest.param(np.float64, marks=pytest.mark.slow)])
def test_scan(device, dtype, rng):
    data = rng.integers(-9, 9, count_of(device)).astype(dtype)
    x = wb.array(data, device=device)
    np.testing.assert_array_equal(wb.utils.array_scan(x).numpy(), np.cumsum(data, dtype=dtype))
    out = wb.utils.array_scan(x, x, inclusive=False)
    assert out is x
    np.testing.assert_array_equal(x.numpy(), np.concatenate([[0], np.cumsum(data, dtype=dtype)[:-1]]))
    assert wb.utils.array_scan(wb.zeros(0, dtype=int, device=device)).shape == (0,)
    np.testing.assert_array_equal(wb.utils.array_scan(wb.array(data, device=device)[::7]).numpy(), np.cumsum(data[::7]))


@pytest.mark.parametrize("n", [32_769, 33_024, 33_025, 66_048])
def test_a_scan_where_pieces_end(n, rng):
    data = rng.integers(-9, 9, n).astype(np.float64)
    x, want = wb.array(data, device="cpu"), np.cumsum(data)
    np.testing.assert_array_equal(wb.utils.array_scan(x).numpy(), want)
    np.testing.assert_array_equal(wb.utils.array_scan(x, x, inclusive=False).numpy(), want - data)


@pytest.mark.parametrize("cores", [1, 8])
def test_few_cores_and_many_find_the_same(cores, rng, monkeypatch):
    monkeypatch.setattr("workbench.utils.scan.cpu_threads", lambda: cores)  # one piece, or several
    data = np.repeat(rng.integers(0, 3, 30_000), rng.integers(1, 6, 30_000)).astype(np.int32)
    data[40_000:75_000] = 7  # a piece without an end of a run
    x, values, lengths = wb.array(data, device="cpu"), wb.zeros(data.size, dtype=int), wb.zeros(data.size, dtype=int)
    np.testing.assert_array_equal(wb.utils.array_scan(x).numpy(), np.cumsum(data, dtype=np.int32))
    np.testing.assert_array_equal(wb.utils.array_scan(x, inclusive=False).numpy()[1:], np.cumsum(data)[:-1])
    heads = np.flatnonzero(np.diff(data, prepend=-1))
    n = wb.utils.runlength_encode(x, values, lengths)
    np.testing.assert_array_equal(values.numpy()[:n], data[heads])
    np.testing.assert_array_equal(lengths.numpy()[:n], np.diff(heads, append=len(data)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("inclusive", [True, False])
def test_the_gradient_of_a_scan_is_the_scan_from_the_other_end(device, inclusive, rng):
    n = count_of(device)
    x = wb.array(rng.standard_normal(n), device=device, requires_grad=True, dtype=wb.float64)
    seed = rng.standard_normal(n)
    with wb.Tape() as tape:
        y = wb.utils.array_scan(x, inclusive=inclusive)
    tape.backward(grads={y: wb.array(seed, device=device)})
    behind = np.cumsum(seed[::-1])[::-1]
    np.testing.assert_allclose(x.grad.numpy(), behind if inclusive else behind - seed, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", KEYS)
def test_sorts(device, dtype, rng):
    data = some_keys(rng, dtype)
    x = wb.array(data, device=device)
    wb.utils.radix_sort(x)
    np.testing.assert_array_equal(x.numpy(), np.sort(data))
    keys, values = wb.array(data % 16 if dtype == "int32" else data, device=device), np.arange(len(data))
    places = wb.array(values, dtype=int, device=device)
    before = keys.numpy().copy()
    wb.utils.radix_sort_pairs(keys, places)
    order = np.argsort(before, kind="stable")
    np.testing.assert_array_equal(places.numpy(), order)
    np.testing.assert_array_equal(keys.numpy(), before[order])


@pytest.mark.parametrize("device", DEVICES)
def test_a_part_of_an_array_and_of_its_bits_is_sorted(device, rng):
    data = rng.integers(0, 2**20, 40000 if device == "cpu" else 1100).astype(np.int32)
    points = rng.standard_normal((len(data), 3)).astype(np.float32)
    keys, values = wb.array(data, device=device), wb.array(points, dtype=wb.vec3, device=device)
    n = len(data) - 10
    wb.utils.radix_sort_pairs(keys, values, n, begin_bit=4, end_bit=11)
    order = np.argsort((data[:n] >> 4) & 127, kind="stable")
    np.testing.assert_array_equal(keys.numpy(), np.concatenate([data[:n][order], data[n:]]))
    np.testing.assert_array_equal(values.numpy(), np.concatenate([points[:n][order], points[n:]]))


@pytest.mark.parametrize("device", DEVICES)
def test_segments_are_sorted_each_by_itself(device, rng):
    data = rng.integers(-50, 50, 400).astype(np.int32)
    starts, ends = np.array([100, 0, 300, 250]), np.array([220, 90, 400, 250])  # gaps, no order, one empty
    keys, values = wb.array(data, device=device), wb.array(np.arange(400, dtype=np.float32), device=device)
    wb.utils.segmented_sort_pairs(
        keys, values, 400, wb.array(starts, dtype=int, device=device), wb.array(ends, dtype=int, device=device)
    )
    order = np.arange(400)
    for first, last in zip(starts, ends, strict=True):
        order[first:last] = first + np.argsort(data[first:last], kind="stable")
    np.testing.assert_array_equal(keys.numpy(), data[order])
    np.testing.assert_array_equal(values.numpy(), order)
    wb.utils.segmented_sort_pairs(keys, values, 400, wb.array([0, 200, 400], device=device))
    expected = np.concatenate([np.sort(data[order][:200]), np.sort(data[order][200:])])
    np.testing.assert_array_equal(keys.numpy(), expected)


@pytest.mark.parametrize("device", DEVICES)
def test_run_lengths(device, rng):
    data = np.repeat(rng.integers(0, 3, 300), rng.integers(1, 6, 300)).astype(np.int32)
    heads = np.flatnonzero(np.diff(data, prepend=-1))
    x = wb.array(data, device=device)
    values, lengths = wb.zeros_like(x), wb.zeros_like(x)
    n = wb.utils.runlength_encode(x, values, lengths)
    assert n == len(heads)
    np.testing.assert_array_equal(values.numpy()[:n], data[heads])
    np.testing.assert_array_equal(lengths.numpy()[:n], np.diff(heads, append=len(data)))
    count = wb.zeros(1, dtype=int, device=device)
    assert wb.utils.runlength_encode(x, values, lengths, count, value_count=int(heads[1])) is None
    assert int(count) == 1 and lengths.numpy()[0] == heads[1]
    assert wb.utils.runlength_encode(x, values, lengths, value_count=0) == 0


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "dtype", [np.float32, *(pytest.param(t, marks=pytest.mark.slow) for t in (np.float64, np.int32))]
)
def test_histograms(device, dtype, rng):
    data = (rng.standard_normal(5000) * 3).astype(dtype)
    data[:9] = np.linspace(-3, 3, 9)  # on the edges
    x = wb.array(data, device=device)
    for bins, limits in ((8, (-3.0, 3.0)), (50, None), (7, (1.0, 1.0))):
        counts, edges = wb.utils.histogram(x, bins, limits)
        expected, places = np.histogram(data, bins, limits)
        np.testing.assert_array_equal(counts.numpy(), expected)
        np.testing.assert_allclose(edges.numpy(), places, rtol=1e-6)
    counts, _ = wb.utils.histogram(wb.array([np.nan, 0.5, np.inf], device=device), 2, (0.0, 1.0))
    assert counts.numpy().tolist() == [0, 1]


def test_what_is_refused():
    x, y = wb.ones(4), wb.ones(4, dtype=int)
    for call, words in (
        (lambda: wb.utils.array_scan(wb.ones((2, 2))), "in one dimension"),
        (lambda: wb.utils.array_scan(wb.zeros(3, dtype=bool)), "array of numbers"),
        (lambda: wb.utils.array_scan(x, y), "out must be float32"),
        (lambda: wb.utils.radix_sort(wb.ones(4, dtype=wb.float16)), "floats of 32 or 64 bits"),
        (lambda: wb.utils.radix_sort_pairs(x, y, 5), "keys has 4"),
        (lambda: wb.utils.radix_sort_pairs(x, y[:3], 4), "values has 3"),
        (lambda: wb.utils.radix_sort_pairs(x, y, end_bit=33), "keys have bits 0 to 32"),
        (lambda: wb.utils.segmented_sort_pairs(x, y, 4, x), "int32 arrays"),
        (lambda: wb.utils.runlength_encode(x, x, x), "run_lengths must be an array of int32"),
        (lambda: wb.utils.histogram(x, 0), "positive number of bins"),
        (lambda: wb.utils.histogram(x, 3, (2.0, 1.0)), "edges in order"),
    ):
        with pytest.raises(LaunchError, match=words):
            call()
    assert x.numpy().tolist() == [1.0] * 4


def test_algorithms_are_captured_like_launches():
    keys = wb.array([5, 3, 9, 1])
    data = wb.array([5, 3, 9, 1])
    with wb.capture() as graph:
        keys.copy_(data)
        wb.utils.radix_sort(keys)
        sums = wb.utils.array_scan(keys)
    data[0] = 0
    graph.launch()
    assert keys.numpy().tolist() == [0, 1, 3, 9] and sums.numpy().tolist() == [0, 1, 4, 13]
