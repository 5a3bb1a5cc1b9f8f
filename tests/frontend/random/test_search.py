"""`lower_bound` and `sample_cdf` against NumPy, on all backends; what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.python.interpret import run

TEXT = """
@kernel
def k(sorted: array[{t}], wanted: array[{t}], begin: array[int], end: array[int], found: array2d[int]):
    i = tid()
    found[i, 0] = lower_bound(sorted, wanted[i])
    found[i, 1] = lower_bound(sorted, begin[i], end[i], wanted[i])
"""


def inputs(t: str, n: int, size: int) -> list[np.ndarray]:
    random = np.random.default_rng(n)
    sorted_ = np.sort(random.integers(0, 40, size)).astype(t)
    wanted = random.integers(-3, 44, n).astype(t)
    begin, end = (random.integers(-4, size + 5, n).astype(np.int32) for _ in range(2))
    return [sorted_, wanted, begin, end, np.full((n, 2), -9, np.int32)]


def expected(sorted_: np.ndarray, wanted: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    rows = []
    for w, b, e in zip(wanted, begin, end, strict=True):
        low, high = max(int(b), 0), min(int(e), len(sorted_))
        part = low + int(np.searchsorted(sorted_[low:high], w)) if low < high else low
        rows.append((int(np.searchsorted(sorted_, w)), part))
    return np.array(rows, np.int32)


@pytest.mark.parametrize("t", ["int32", "float32", "uint8", "float64"])
@pytest.mark.parametrize("size", [1, 2, 33])
def test_finds_what_numpy_finds(t: str, size: int, need) -> None:
    need("nvrtc")
    args = inputs(t, 60, size)
    kernel = define(TEXT.format(t=t))["k"]
    function, want = kernel.specialise().function, expected(*args[:4])
    given = [wb.array(a) for a in args]
    wb.launch(kernel, 60, inputs=given[:4], outputs=given[4:])
    assert np.array_equal(given[4].numpy(), want)
    for go in (
        lambda a: run(function, 60, a),
        lambda a: Library([replace(function, name=f"k_{t}")], Options()).run(f"k_{t}", 60, a),
    ):
        args[4][:] = -9
        go(args)
        assert np.array_equal(args[4], want)


def test_an_empty_array_and_a_literal() -> None:
    text = """
    @kernel
    def k(x: array[int], empty: array[int], y: array[int]):
        y[0] = lower_bound(x, 2.5)
        y[1] = lower_bound(empty, 3)
    """
    y = wb.array(np.full(2, -1, np.int32))
    given = [wb.array(np.array(v, np.int32)) for v in ([1, 2, 3, 4], [])]
    wb.launch(define(text)["k"], 1, inputs=given, outputs=[y])
    assert y.numpy().tolist() == [2, 0]


def test_a_choice_by_probabilities() -> None:
    text = """
    @kernel
    def k(cdf: array[float], counts: array[int]):
        state = rand_init(3, tid())
        atomic_add(counts, sample_cdf(state, cdf), 1)
        atomic_add(counts, sample_cdf(state, cdf), 1)
    """
    n, shares = 50_000, np.array([0.1, 0.0, 0.65, 0.25])
    counts = wb.array(np.zeros(4, np.int32))
    cdf = wb.array(np.cumsum(shares).astype(np.float32))
    wb.launch(define(text)["k"], n, inputs=[cdf], outputs=[counts])
    assert np.abs(counts.numpy() / (2 * n) - shares).max() < 0.01
    assert counts.numpy()[1] == 0


def test_a_search_in_a_differentiated_kernel() -> None:
    """Piecewise linear interpolation: the search has no gradient, what it finds has."""
    text = """
    @kernel
    def k(knots: array[float64], heights: array[float64], x: array[float64], y: array[float64]):
        i = tid()
        j = clamp(lower_bound(knots, x[i]), 1, len(knots) - 1)
        t = (x[i] - knots[j - 1]) / (knots[j] - knots[j - 1])
        y[i] = heights[j - 1] * (1.0 - t) + heights[j] * t
    """
    given = [np.array([0.0, 1.0, 2.5, 4.0]), np.array([1.0, 3.0, -2.0, 0.5]), np.array([0.4, 1.7, 3.1])]
    y = wb.array(np.zeros(3))
    kernel = define(text)["k"]
    verdict = wb.gradcheck(kernel, 3, inputs=[wb.array(a) for a in given], outputs=[y])
    assert verdict.ok and verdict.compared > 0
    wb.launch(kernel, 3, inputs=[wb.array(a) for a in given], outputs=[y])
    assert np.allclose(y.numpy(), np.interp(given[2], given[0], given[1]))


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("j = lower_bound(x)", "an array and a value, or an array, begin, end and a value"),
        ("j = lower_bound(i, 3)", "an array of numbers of one dimension; this is int32"),
        ("j = lower_bound(v, vec2())", "an array of numbers of one dimension"),
        ("j = lower_bound(x, 0.5, 3, 1.0)", "does not fit int32"),
        ("j = lower_bound(x, vec2(1.0, 2.0))", "takes scalars"),
        ("j = sample_cdf(i, x)", "takes a state"),
        ("s = rand_init(1)\n    j = sample_cdf(s, n)", "takes an array of floats"),
        ("s = rand_init(1)\n    j = sample_cdf(s)", "takes a state and an array"),
    ],
)
def test_refused_with_a_sentence(statement: str, sentence: str) -> None:
    text = f"@kernel\ndef k(x: array[float], v: array[vec2], n: array[int]):\n    i = tid()\n    {statement}\n"
    with pytest.raises(wb.KernelTypeError) as caught:
        define(text)
    assert sentence in f"{caught.value.message} {caught.value.advice}"
