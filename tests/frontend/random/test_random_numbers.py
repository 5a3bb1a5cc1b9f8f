"""Random numbers: the same bits everywhere, and what their names promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.python.interpret import run

N = 100_000
BITS = """
@kernel
def k(seed: int, bits: array2d[uint32], whole: array2d[int], unit: array2d[float], between: array2d[float]):
    i = tid()
    state = rand_init(seed, i)
    bits[i, 0] = state
    for q in range(1, 3):
        bits[i, q] = randu(state)
        whole[i, q] = randi(state)
        unit[i, q] = randf(state)
    whole[i, 0] = randi(state, -5, 12)
    between[i, 0] = randf(state, -2.0, 3.0)
    bits[i, 3] = randu(state, 7, 4000000000)
"""


def draw(text: str, shapes: dict[str, Any], dim: int, *scalars: Any) -> dict[str, np.ndarray]:
    """What the kernel `k` of this text leaves in its output arrays, on the CPU."""
    outputs = {name: wb.array(np.zeros(shape, dtype)) for name, (shape, dtype) in shapes.items()}
    wb.launch(define(text)["k"], dim, inputs=list(scalars), outputs=list(outputs.values()))
    return {name: a.numpy() for name, a in outputs.items()}


def shapes(n: int) -> dict[str, Any]:
    return {
        "bits": ((n, 4), np.uint32), "whole": ((n, 3), np.int32), "unit": ((n, 3), np.float32),
        "between": ((n, 1), np.float32),
    }  # fmt: skip


class Pcg:
    """The generator again, on whole arrays."""

    def __init__(self, seed: int, offset: np.ndarray) -> None:
        self.state = self.hash(np.uint32(seed & 0xFFFFFFFF) + self.hash(offset.astype(np.uint32)))

    @staticmethod
    def advance(state: np.ndarray) -> np.ndarray:
        return (state.astype(np.uint64) * 747796405 + 2891336453).astype(np.uint32)

    @staticmethod
    def permute(state: np.ndarray) -> np.ndarray:
        word = (((state >> ((state >> 28) + 4)) ^ state).astype(np.uint64) * 277803737).astype(np.uint32)
        return (word >> 22) ^ word

    def hash(self, x: np.ndarray) -> np.ndarray:
        return self.permute(self.advance(x))

    def word(self) -> np.ndarray:
        self.state = self.advance(self.state)
        return self.permute(self.state)

    def unit(self) -> np.ndarray:
        return (self.word() >> 8).astype(np.float32) * np.float32(2.0**-24)

    def below(self, span: int) -> np.ndarray:
        return (self.word().astype(np.uint64) * np.uint64(span)) >> np.uint64(32)


def expected(seed: int, n: int) -> dict[str, np.ndarray]:
    source = Pcg(seed, np.arange(n))
    result = {name: np.zeros(shape, dtype) for name, (shape, dtype) in shapes(n).items()}
    result["bits"][:, 0] = source.state
    for q in (1, 2):
        result["bits"][:, q] = source.word()
        result["whole"][:, q] = source.word().astype(np.int32)
        result["unit"][:, q] = source.unit()
    result["whole"][:, 0] = source.below(17).astype(np.int32) - 5
    result["between"][:, 0] = np.float32(-2) + np.float32(5) * source.unit()
    result["bits"][:, 3] = 7 + source.below(3999999993).astype(np.uint32)
    return result


@pytest.mark.parametrize("seed", [42, -1])
def test_equal_bits_on_the_cpu_and_as_cuda_text_for_a_hundred_thousand_streams(seed: int, need) -> None:
    need("nvrtc")
    want = expected(seed, N)
    got = draw(BITS, shapes(N), N, seed)
    for name in want:
        assert np.array_equal(got[name], want[name]), name
    function = define(BITS)["k"].specialise().function
    outputs = [np.zeros(shape, dtype) for shape, dtype in shapes(N).values()]
    Library([function], Options()).run("k", N, [seed, *outputs])
    assert all(np.array_equal(a, want[name]) for a, name in zip(outputs, want, strict=True))


def test_equal_bits_in_the_interpreter() -> None:
    n = 300
    outputs = [np.zeros(shape, dtype) for shape, dtype in shapes(n).values()]
    run(define(BITS)["k"].specialise().function, n, [9, *outputs])
    assert all(np.array_equal(a, b) for a, b in zip(outputs, expected(9, n).values(), strict=True))


def test_the_permutation_is_one_and_the_first_words_are_spread() -> None:
    """Neighbouring offsets: every bit of the state and of the first word is 1 in half of the streams."""
    got = draw(BITS, shapes(N), N, 7)
    for column in (0, 1):
        words = got["bits"][:, column]
        share = ((words[:, None] >> np.arange(32, dtype=np.uint32)) & 1).mean(axis=0)
        assert np.abs(share - 0.5).max() < 0.01
    assert abs(np.corrcoef(got["unit"][:-1, 1], got["unit"][1:, 1])[0, 1]) < 0.01
    assert abs(np.corrcoef(got["unit"][:, 1], got["unit"][:, 2])[0, 1]) < 0.01


def test_even_numbers_are_even() -> None:
    """Chi-square over 256 boxes, within five standard deviations of its mean; moments of the uniform distribution."""
    got = draw(BITS, shapes(N), N, 3)
    unit = got["unit"][:, 1].astype(np.float64)
    boxes = np.bincount((unit * 256).astype(int), minlength=256)
    chi = ((boxes - N / 256) ** 2 / (N / 256)).sum()
    assert abs(chi - 255) < 5 * np.sqrt(2 * 255)
    assert abs(unit.mean() - 0.5) < 5 / np.sqrt(12 * N)
    assert abs(unit.var() - 1 / 12) < 5 / np.sqrt(180 * N)
    assert unit.min() >= 0 and unit.max() < 1
    counts = np.bincount(got["whole"][:, 0] + 5)
    assert len(counts) == 17 and ((counts - N / 17) ** 2 / (N / 17)).sum() < 16 + 5 * np.sqrt(32)


def test_normal_numbers_are_normal() -> None:
    text = """
    @kernel
    def k(y: array2d[float]):
        i = tid()
        state = rand_init(11, i)
        y[i, 0] = randn(state)
        y[i, 1] = randn(state)
    """
    y = draw(text, {"y": ((N, 2), np.float32)}, N)["y"].astype(np.float64)
    for x in y.T:
        assert abs(x.mean()) < 5 / np.sqrt(N)
        assert abs(x.var() - 1) < 5 * np.sqrt(2 / N)
        assert abs((x**3).mean()) < 5 * np.sqrt(15 / N)
        assert abs((x**4).mean() - 3) < 5 * np.sqrt(96 / N)
        assert np.abs(x).max() < 5.77
    assert abs(np.corrcoef(y.T)[0, 1]) < 0.02


SAMPLES = {  # name: components, of each: mean, variance; the bounds of the length
    "sample_unit_ring": ([0, 0], [1 / 2] * 2, (1, 1)),
    "sample_unit_disk": ([0, 0], [1 / 4] * 2, (0, 1)),
    "sample_unit_sphere_surface": ([0, 0, 0], [1 / 3] * 3, (1, 1)),
    "sample_unit_sphere": ([0, 0, 0], [1 / 5] * 3, (0, 1)),
    "sample_unit_hemisphere_surface": ([0, 0, 1 / 2], [1 / 3, 1 / 3, 1 / 12], (1, 1)),
    "sample_unit_hemisphere": ([0, 0, 3 / 8], [1 / 5, 1 / 5, 1 / 5 - 9 / 64], (0, 1)),
    "sample_unit_square": ([0, 0], [1 / 12] * 2, (0, 0.7072)),
    "sample_unit_cube": ([0, 0, 0], [1 / 12] * 3, (0, 0.8661)),
    "sample_triangle": ([1 / 3, 1 / 3], [1 / 18] * 2, (0, 1)),
}


def samplers() -> str:
    rows = "".join(
        f"    p = {name}(state)\n" + "".join(f"    {name}_[i, {c}] = p[{c}]\n" for c in range(len(SAMPLES[name][0])))
        for name in SAMPLES
    )
    params = ", ".join(f"{name}_: array2d[float]" for name in SAMPLES)
    return f"@kernel\ndef k({params}):\n    i = tid()\n    state = rand_init(5, i)\n{rows}"


def test_samples_lie_where_they_should() -> None:
    got = draw(samplers(), {f"{name}_": ((N, len(s[0])), np.float32) for name, s in SAMPLES.items()}, N)
    for name, (mean, variance, (low, high)) in SAMPLES.items():
        p = got[f"{name}_"].astype(np.float64)
        assert np.abs(p.mean(axis=0) - mean).max() < 5 / np.sqrt(N), name
        assert np.abs(p.var(axis=0) - variance).max() < 5 / np.sqrt(N), name
        length = np.sqrt((p * p).sum(axis=1))
        assert low - 1e-6 <= length.min() and length.max() <= high + 1e-6, name
    triangle = got["sample_triangle_"]
    assert (triangle >= 0).all() and (triangle.sum(axis=1) <= 1).all()


@pytest.mark.slow
def test_samples_and_normals_as_cuda_text(need) -> None:
    need("nvrtc")
    text = samplers() + "    sample_unit_ring_[i, 0] = randn(state)\n"
    function, n = define(text)["k"].specialise().function, 500
    sizes = [(n, len(s[0])) for s in SAMPLES.values()]
    got, want = ([np.zeros(s, np.float32) for s in sizes] for _ in range(2))
    Library([replace(function, name="sampling")], Options()).run("sampling", n, got)
    run(function, n, want)
    for a, b in zip(got, want, strict=True):
        assert np.abs(a - b).max() < 4e-6
