"""Noise: its formula again in NumPy, its properties, its gradients; on the CPU, by the interpreter, as CUDA text."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import workbench as wb
from tests.frontend.random.test_random_numbers import Pcg
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.python.interpret import run

N = 60
TEXT = """
@kernel
def k(x: array[float], p: array[vec2], q: array[vec3], r: array[vec4],
      y: array2d[float], c: array[vec2], d: array[vec3]):
    i = tid()
    state = rand_init(42)
    y[i, 0] = noise(state, x[i])
    y[i, 1] = noise(state, p[i])
    y[i, 2] = noise(state, q[i])
    y[i, 3] = noise(state, r[i])
    y[i, 4] = pnoise(state, x[i], 3)
    y[i, 5] = pnoise(state, q[i], 2, 3, 4)
    c[i] = curlnoise(state, p[i])
    d[i] = curlnoise(state, q[i])
"""


def hashed(x: np.ndarray) -> np.ndarray:
    return Pcg.permute(Pcg.advance(x))


STATE = hashed(np.array([42], np.uint32))


def noise(state: np.ndarray, points: np.ndarray, periods: tuple[int, ...] = ()) -> np.ndarray:
    """The definition, in float64: points of shape (n, dimensions)."""
    n, dimensions = points.shape
    total = np.zeros(n)
    whole = np.floor(points)
    t = points - whole
    fade = t**3 * (t * (t * 6 - 15) + 10)
    for corner in product((0, 1), repeat=dimensions):
        place = whole.astype(np.int64) + corner
        if periods:
            place = place % periods
        h = np.full(n, state[0], np.uint32)
        for axis in range(dimensions):
            h = hashed(h + (place[:, axis] & 0xFFFFFFFF).astype(np.uint32))
        slopes = np.stack([((h >> (8 * a)) & 255) / 127.5 - 1 for a in range(dimensions)], axis=1)
        share = np.prod(np.where(corner, fade, 1 - fade), axis=1)
        total += share * (slopes * (t - corner)).sum(axis=1)
    return total


def points() -> list[np.ndarray]:
    random = np.random.default_rng(4)
    return [random.uniform(-4, 4, (N, d)).astype(np.float32).astype(np.float64) for d in (1, 2, 3, 4)]


def outputs() -> list[np.ndarray]:
    return [np.zeros(shape, np.float32) for shape in ((N, 6), (N, 2), (N, 3))]


def slope(state: np.ndarray, p: np.ndarray, axis: int) -> np.ndarray:
    step = 1e-5 * np.eye(p.shape[1])[axis]
    return (noise(state, p + step) - noise(state, p - step)) / 2e-5


def expected() -> list[np.ndarray]:
    x, p, q, r = points()
    one = [noise(STATE, v) for v in (x, p, q, r)]
    one += [noise(STATE, x, (3,)), noise(STATE, q, (2, 3, 4))]
    flat = np.stack([slope(STATE, p, 1), -slope(STATE, p, 0)], axis=1)
    a, b, c = (STATE + np.uint32(k) for k in range(3))
    curl = [(c, 1, b, 2), (a, 2, c, 0), (b, 0, a, 1)]
    solid = np.stack([slope(s, q, i) - slope(t, q, j) for s, i, t, j in curl], axis=1)
    return [np.stack(one, axis=1), flat, solid]


@pytest.mark.slow
def test_the_formula_on_every_backend(need) -> None:
    need("nvrtc")
    kernel, want = define(TEXT)["k"], expected()
    function = kernel.specialise().function
    x, p, q, r = (v.astype(np.float32) for v in points())
    given = [x[:, 0].copy(), p, q, r]
    on_cpu = [wb.array(v, dtype=t) for v, t in zip(given, (None, wb.vec2, wb.vec3, wb.vec4), strict=True)]
    results = [wb.array(v, dtype=t) for v, t in zip(outputs(), (None, wb.vec2, wb.vec3), strict=True)]
    wb.launch(kernel, N, inputs=on_cpu, outputs=results)
    interpreted, text = outputs(), outputs()
    run(function, N, [*given, *interpreted])
    Library([function], Options()).run("k", N, [*given, *text])
    for found in ([a.numpy() for a in results], interpreted, text):
        for got, wanted in zip(found, want, strict=True):
            assert np.abs(got - wanted).max() < 2e-5
    assert all(np.array_equal(a, b) for a, b in zip(interpreted, text, strict=True))


def test_properties() -> None:
    text = """
    @kernel
    def k(x: array[float], y: array2d[float]):
        i = tid()
        state = rand_init(1)
        other = rand_init(2)
        y[i, 0] = noise(state, x[i])
        y[i, 1] = noise(state, x[i] + 1.0e-4)
        y[i, 2] = noise(other, x[i])
        y[i, 3] = pnoise(state, x[i], 5)
        y[i, 4] = pnoise(state, x[i] + 5.0, 5)
        y[i, 5] = noise(state, floor(x[i]))
    """
    x = (np.arange(4096, dtype=np.float32) - 2048) / 64
    y = wb.array(np.zeros((x.size, 6), np.float32))
    wb.launch(define(text)["k"], x.size, inputs=[wb.array(x)], outputs=[y])
    got = y.numpy()
    assert np.abs(got[:, 0]).max() <= 0.5 and got[:, 0].std() > 0.05
    assert np.abs(got[:, 1] - got[:, 0]).max() < 1e-3
    assert abs(np.corrcoef(got[:, 0], got[:, 2])[0, 1]) < 0.5
    assert np.array_equal(got[:, 3], got[:, 4])
    assert not got[:, 5].any()


def test_gradients() -> None:
    text = """
    @kernel
    def k(x: array[float64], p: array[vec3d], y: array2d[float64]):
        i = tid()
        state = rand_init(7, i)
        y[i, 0] = noise(state, x[i]) + pnoise(state, x[i] * 2.0, 3)
        y[i, 1] = noise(state, p[i])
        y[i, 2] = curlnoise(state, vec2d(p[i].x, x[i])).x
    """
    random = np.random.default_rng(3)
    x, p = wb.array(random.uniform(-3, 3, 6)), wb.array(random.uniform(-3, 3, (6, 3)), dtype=wb.vec3d)
    verdict = wb.gradcheck(define(text)["k"], 6, inputs=[x, p], outputs=[wb.array(np.zeros((6, 3)))])
    assert verdict.ok and verdict.compared > 12


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("noise(1, x[i])", "takes a state, a uint32, first"),
        ("noise(state)", "takes a state and a point"),
        ("noise(state, i)", "a float or a vector of 2 to 4 floats"),
        ("noise(state, x[i], 2)", "it got 3 arguments"),
        ("pnoise(state, vec2(), 2)", "one period for each of the 2 components; it got 1"),
        ("pnoise(state, x[i], 2.5)", "does not fit int32"),
        ("curlnoise(state, x[i])", "a vector of 2 or 3 floats"),
        ("curlnoise(state, vec2(), 3)", "no octaves yet"),
    ],
)
def test_refused_with_a_sentence(call: str, sentence: str) -> None:
    with pytest.raises(wb.KernelTypeError) as caught:
        define(f"@kernel\ndef k(x: array[float]):\n    i = tid()\n    state = rand_init(1)\n    z = {call}\n")
    assert sentence in f"{caught.value.message} {caught.value.advice}"
