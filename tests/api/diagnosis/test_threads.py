"""Which thread of a launch does what: outcomes, who touched an element, blocks that wait, large launches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import inspect
from workbench.api.profiling import threads as following
from workbench.errors import LaunchError

CELL = """
def blur(x: array[float], y: array[float]):
    i = tid()
    if i > 0 and i < x.shape[0] - 1:
        y[i] = x[i - 1] + x[i] + x[i + 1]

def turned(u: array2d[float], v: array2d[float]):
    i, j = tid()
    v[j, i] = u[i, j]

def numbered(x: array[float], s: array[float], order: array[float]):
    i = tid()
    order[i] = atomic_add(s, 0, x[i])
"""


@pytest.fixture(scope="module")
def kernels() -> dict[str, Any]:
    return wb.build_cell(CELL, {}, name="cell").kernels


def of(touches: list[Any], kind: str) -> set[tuple[int, ...]]:
    return {t.thread for t in touches if t.kind == kind}


def test_who_touched_an_element(kernels):
    t = inspect.threads(kernels["blur"], 200, [wb.ones(200), wb.zeros(200)], block_dim=64)
    assert of(t.touches("x", 5), "read") == {(4,), (5,), (6,)} and not of(t.touches("x", 5), "write")
    assert [(w.thread, w.kind, w.line) for w in t.touches("y", 130)] == [((130,), "write", 5)]
    assert t.touches("y", 0) == []


def test_two_dimensions_and_views(kernels):
    u = wb.array(np.arange(240, dtype=np.float32).reshape(12, 20))
    v = wb.zeros((20, 12))
    t = inspect.threads(kernels["turned"], (12, 20), [u, v])
    assert of(t.touches("v", 7, 3), "write") == {(3, 7)} == of(t.touches("u", 3, 7), "read")
    strided = inspect.threads(kernels["turned"], (6, 10), [u[::2, ::2], v[:10, :6]])
    assert of(strided.touches("u", 2, 4), "read") == {(2, 4)} == of(strided.touches("v", 4, 2), "write")


def test_what_threads_came_to(kernels):
    t = inspect.threads(kernels["blur"], 70, [wb.ones(70), wb.zeros(70)], block_dim=64)
    kinds, dark = t.outcomes(0, 0)
    assert kinds == (2, *[0] * 31) and dark == 1  # thread 0 is outside of the guard
    assert t.outcomes(1, 0)[0] == (*[0] * 5, 2, *[3] * 26)
    assert (
        str(t) == "blur · 2 blocks of 64 threads: 68 wrote, 2 touched no array, 58 past the end · 2 of 4 warps diverged"
    )


def test_arrays_are_left_alone_and_updates_are_atomic(kernels):
    x, s = wb.ones(40), wb.zeros(1)
    t = inspect.threads(kernels["numbered"], 40, [x, s, wb.zeros(40)])
    assert len(of(t.touches("s", 0), "atomic")) == 40 and s.numpy()[0] == 0


def test_warps_come_to_the_barrier(kernels):
    module = wb.cuda_module(
        """
__global__ void swap(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}""",
        run="emulated",
    )
    x, y = (wb.zeros(64, device="emulated") for _ in range(2))
    t = inspect.threads(module["swap"], 64, [x, y], block_dim=64)
    for steps in t.warps.values():
        (at,) = [k for k, step in enumerate(steps) if step.barrier]
        spaces = [{(a.space, a.kind) for s in part for a in s.accesses} for part in (steps[: at + 1], steps[at + 1 :])]
        assert spaces == [{("global", "read"), ("shared", "write")}, {("shared", "read"), ("global", "write")}]
    assert [w.thread for w in t.touches("y", 40)] == [(0, 40)]


def test_a_large_launch_is_followed_in_part(kernels, monkeypatch):
    monkeypatch.setattr(following, "ENTRIES", 400)
    x, y = wb.ones(4096), wb.zeros(4096)
    t = inspect.threads(kernels["blur"], 4096, [x, y], block_dim=64)
    assert t.first == 0 and 1 < t.blocks < 64 and t.ends and {b for b, _ in t.warps} == set(range(t.blocks))
    later = inspect.threads(kernels["blur"], 4096, [x, y], block_dim=64, first=60)
    assert {b for b, _ in later.warps} == {60, 61, 62, 63} and "block 60 to 63 of 64" in str(later)
    monkeypatch.setattr(following, "ENTRIES", 8)
    alone = inspect.threads(kernels["blur"], 4096, [x, y], block_dim=64)
    assert alone.blocks == 1 and not alone.ends


def test_what_cannot_be_followed_is_refused(kernels):
    values = [wb.ones(64), wb.zeros(64)]
    with pytest.raises(LaunchError, match="no block 9: the launch has 1"):
        inspect.threads(kernels["blur"], 64, values, first=9)
    with pytest.raises(LaunchError, match="too many to follow"):
        inspect.threads(kernels["blur"], following.MOST + 1, values)
    with pytest.raises(LaunchError, match=r"no.*element|not launched with an element y\[64\]"):
        inspect.threads(kernels["blur"], 64, values).touches("y", 64)
