"""States that an adjoint keeps of a loop: in registers where they are small, else in local memory, right in both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.numeric import kernel
from tests.support.devices import on_gpu
from workbench.api.builds.build import function_of
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run
from workbench.ir.values import Function, walk
from workbench.types import VECTORS, ArrayType, float32, float64, int32

A1 = ArrayType(float32)
TYPES: dict[str, Any] = {"x": A1, "y": A1, "n": int32}
POLY = """
    v = float32(0.0)
    for k in range(n):
        v = v * x[i] + 0.5
    y[i] = v"""
KERNELS: dict[str, tuple[str, dict[str, Any]]] = {
    "a polynomial": (POLY, TYPES),
    "of float64": (POLY.replace("32", "64"), {**TYPES, "x": ArrayType(float64), "y": ArrayType(float64)}),
    "two states": (
        """
    q = x[i]
    v = float32(0.1)
    for k in range(n):
        v = v - 0.125 * q * q
        q = q + 0.125 * v
    y[i] = q * v""", TYPES),
    "a vector": (
        """
    v = x[i]
    for k in range(n):
        v = vec3(v.y * v.z, v.x * 0.75, v.y + 0.25)
    y[i] = v""", {"x": ArrayType(VECTORS["vec3"]), "y": ArrayType(VECTORS["vec3"]), "n": int32}),
    "while": (
        """
    v = x[i]
    c = 0
    while c < n and v < 100.0:
        v = v * v * 0.5 + x[i]
        c += 1
    y[i] = v""", TYPES),
    "a loop in a loop": (
        """
    v = x[i]
    for k in range(n):
        t = v
        for m in range(k % 3):
            t = t * t * 0.5 + 0.25
        v = v * t * 0.75 + 0.5
    y[i] = v""", TYPES),
}  # fmt: skip
LARGE = """
    v = x[i]
    for k in range(n):
        v = v * v * 0.25 + x[i] * 0.5
    y[i] = v"""


def _adjoint(body: str, types: dict[str, Any]) -> Function:
    return adjoint(kernel(f"def k(x, y, n):\n    i = tid(){body}", types), stack=False)  # as for GPUs


def _stack(function: Function) -> int:
    return int(CudaBackend().compile(function, Options(index32=True), "sm_90").metadata["stack"])


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "a polynomial" else pytest.mark.slow) for n in KERNELS]
)
def test_small_states_need_no_local_memory(name: str, need: Any) -> None:
    need("nvrtc")
    assert _stack(_adjoint(*KERNELS[name])) == 0


@pytest.mark.slow
def test_large_states_are_in_local_memory(need: Any) -> None:
    need("nvrtc")
    array = ArrayType(VECTORS["vec4d"])
    function = _adjoint(LARGE, {"x": array, "y": array, "n": int32})
    assert _stack(function) > 15 * 4 * 8  # bytes of the states alone


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a loop in a loop", "a vector", "while"])
def test_registers_mean_what_memory_means(name: str, need: Any) -> None:
    need("nvrtc")
    body, types = KERNELS[name]
    function = _adjoint(body, types)
    for n in (0, 90):
        random = np.random.default_rng(n)
        shape = (3, 3) if name == "a vector" else (3,)
        x, y, seed = (random.uniform(0.2, 0.8, shape).astype(np.float32) for _ in range(3))
        expected, found = ([x, y.copy(), n, np.zeros_like(x), seed.copy()] for _ in range(2))
        run(function, 3, expected)
        on_gpu.run(function, 3, found)
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-30)


@wb.kernel
def sixty(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    v = x[i]
    for _ in range(60):
        for _ in wb.static(range(20)):
            v = v * v * 0.25 + x[i] * 0.5
    y[i] = v


def test_all_states_of_a_short_loop_are_kept_where_a_thread_has_a_stack() -> None:
    def counts(stack: bool) -> set[int]:
        function = function_of(sixty.specialise(), "adjoint", stack=stack)
        return {op.result.type.count for op in walk(function.body) if op.name == "slots"}

    assert counts(stack=True) == {60} and max(counts(stack=False)) < 20
    assert "[60]" not in wb.inspect.cuda(sixty, "adjoint")
