"""`poisson(state, lam)`: its moments and chances, the same counts on all backends, no gradient, what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run

TEXT = """
@kernel
def k(lam: array[float], y: array2d[uint32], after: array2d[uint32]):
    i, j = tid()
    state = rand_init(17 + j, i)
    y[i, j] = poisson(state, lam[j])
    after[i, j] = state
"""
MEANS = [0.0, 0.01, 0.7, 4.0, 31.9, 32.1, 60.0, 1000.0, 2e6, 3e9, math.inf, math.nan, -1.0, -math.inf]
ORDINARY = slice(1, 10)


def counts(n: int) -> tuple[np.ndarray, np.ndarray]:
    """On the CPU: n counts of each mean, and the states they leave."""
    y, after = (wb.zeros((n, len(MEANS)), dtype=wb.uint32) for _ in range(2))
    wb.launch(define(TEXT)["k"], y.shape, inputs=[wb.array(np.array(MEANS, np.float32))], outputs=[y, after])
    return y.numpy(), after.numpy()


def test_mean_variance_and_third_moment() -> None:
    n = 40_000
    y, _ = counts(n)
    lam = np.array(MEANS, np.float32).astype(np.float64)
    assert (y[:, [0, 11, 12, 13]] == 0).all() and abs(y[:, 10].mean() / 4e9 - 1) < 1e-6
    for column, mean in zip(y[:, ORDINARY].T.astype(np.float64), lam[ORDINARY], strict=True):
        off = column - mean
        fourth = mean + 3 * mean**2
        sixth = mean + 25 * mean**2 + 15 * mean**3
        assert abs(off.mean()) < 5 * np.sqrt(mean / n), mean
        assert abs((off**2).mean() - mean) < 5 * np.sqrt((fourth - mean**2) / n), mean
        assert abs((off**3).mean() - mean) < 5 * np.sqrt((sixth - mean**2) / n), mean


@pytest.mark.parametrize("column", [3, 4, 5, 6])
def test_each_count_has_its_chance(column: int) -> None:
    n = 40_000
    seen = np.bincount(counts(n)[0][:, column].astype(int))
    lam = float(np.float32(MEANS[column]))
    chance = np.array([math.exp(k * math.log(lam) - lam - math.lgamma(k + 1)) for k in range(len(seen))])
    often = n * chance > 5
    chi2 = ((seen - n * chance) ** 2 / (n * chance))[often].sum()
    assert abs(chi2 - often.sum()) < 5 * np.sqrt(2 * often.sum())
    assert abs(seen[~often].sum() - n * (1 - chance[often].sum())) < 25


def test_the_same_counts_and_states_on_all_backends(need) -> None:
    need("nvrtc")
    function, n = define(TEXT)["k"].specialise().function, 60
    given = np.array(MEANS, np.float32)
    got, want = ([np.zeros((n, len(MEANS)), np.uint32) for _ in range(2)] for _ in range(2))
    Library([replace(function, name="counting")], Options()).run("counting", (n, len(MEANS)), [given, *got])
    run(function, (n, len(MEANS)), [given, *want])
    for a, b, c in zip(got, want, counts(n), strict=True):
        assert np.array_equal(a, b) and np.array_equal(b, c)


def test_equal_counts_as_cuda_text_for_many_streams(need) -> None:
    need("nvrtc")
    n = 20_000
    got = [np.zeros((n, len(MEANS)), np.uint32) for _ in range(2)]
    function = replace(define(TEXT)["k"].specialise().function, name="counting")
    Library([function], Options()).run("counting", (n, len(MEANS)), [np.array(MEANS, np.float32), *got])
    for a, b in zip(got, counts(n), strict=True):
        assert np.array_equal(a, b)


def test_the_device_takes_the_text(need) -> None:
    need("nvrtc")
    assert CudaBackend().compile(define(TEXT)["k"].specialise().function, Options(), "sm_90").image


def test_a_gradient_goes_past_a_count_and_not_into_its_mean() -> None:
    text = """
    @kernel
    def k(lam: array[float64], x: array[float64], y: array[float64]):
        i = tid()
        state = rand_init(5, i)
        n = poisson(state, lam[i])
        y[i] = x[i] * x[i] * float64(n) + float64(randf(state)) * x[i]
    """
    lam, x = (wb.array(np.array(v), requires_grad=True) for v in ([3.0, 50.0, 700.0], [1.0, 2.0, -0.5]))
    y = wb.zeros(3, wb.float64)
    with wb.Tape() as tape:
        wb.launch(define(text)["k"], 3, inputs=[lam, x], outputs=[y])
    tape.backward(grads={y: np.ones(3)})
    unit = np.array([0.5, 0.5, 0.5])
    drawn = np.rint((y.numpy() - unit * x.numpy()) / x.numpy() ** 2)
    rest = (y.numpy() - drawn * x.numpy() ** 2) / x.numpy()
    assert (lam.grad.numpy() == 0).all() and (drawn > 0).all()
    assert np.allclose(x.grad.numpy(), 2 * x.numpy() * drawn + rest)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("n = poisson(i, 2.0)", "takes a state"),
        ("n = poisson(state)", "a state and a mean"),
        ("n = poisson(state, vec2(1.0, 2.0))", "The mean of poisson()"),
    ],
)
def test_refused_with_a_sentence(statement: str, sentence: str) -> None:
    text = f"@kernel\ndef k(x: array[float]):\n    i = tid()\n    state = rand_init(1, i)\n    {statement}\n"
    with pytest.raises(wb.KernelTypeError) as caught:
        define(text)["k"].specialise()
    assert sentence in caught.value.render()
