"""Random numbers and atomics on the device against the CPU: the same bits, and no update lost between threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

CELL = """
def bits(words: array2d[uint32], unit: array2d[float], whole: array[int], point: array[vec3]):
    i = tid()
    state = rand_init(42, i)
    for q in range(4):
        words[i, q] = randu(state)
        unit[i, q] = randf(state, -1.0, 3.0)
    whole[i] = randi(state, -7, 1000)
    point[i] = sample_unit_sphere(state) * randn(state)

def extremes(x: array[float], least: array[float], most: array[int], flags: array[uint32], claimed: array[int]):
    i = tid()
    atomic_min(least, i % 8, x[i])
    atomic_max(most, i % 8, i)
    atomic_or(flags, i % 8, uint32(1) << uint32(i % 32))
    atomic_cas(claimed, i // 100, 0, i + 1)
"""
N = 100_000


def after(place: str, name: str, arrays: list[Any]) -> list[np.ndarray[Any, Any]]:
    kernel = wb.build_cell(CELL, {}, backend="cpu").names[name]
    sent = [wb.array(a, wb.vec3 if a.shape[1:] == (3,) else None, device=place) for a in arrays]
    wb.launch(kernel, N, sent, device=place)
    return [a.numpy() for a in sent]


@pytest.mark.gpu
def test_the_same_random_bits(device: str) -> None:
    blank = [
        np.zeros((N, 4), np.uint32),
        np.zeros((N, 4), np.float32),
        np.zeros(N, np.int32),
        np.zeros((N, 3), np.float32),
    ]
    (*exact, near), (*got, point) = (after(place, "bits", blank) for place in ("cpu", device))
    for a, b in zip(exact, got, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(point, near, rtol=2e-5, atol=2e-6)


@pytest.mark.gpu
def test_no_update_is_lost(device: str) -> None:
    x = np.random.default_rng(3).normal(size=N).astype(np.float32)
    start = [x, np.zeros(8, np.float32), np.zeros(8, np.int32), np.zeros(8, np.uint32), np.zeros(N // 100, np.int32)]
    _, least, most, flags, claimed = after(device, "extremes", start)
    _, *expected, _ = after("cpu", "extremes", start)
    for a, b in zip((least, most, flags), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.array_equal((claimed - 1) // 100, np.arange(N // 100))
