"""Adjoints of kernels of tiles as CUDA text on the emulated device, against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.support.devices.on_gpu import Library
from tests.tiles.test_gradients import CASES, LOAD, X, gemm, threads, vectors
from tests.tiles.test_operations import kernel_of
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.python import run as interpret
from workbench.ir import Function
from workbench.types import ArrayType


def arguments(function: Function, shapes: dict[str, tuple[int, ...]], seed: int = 3) -> list[Any]:
    """Numbers for each parameter of an adjoint; those of `adj_x` have the shape of `x`."""
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for param in function.params:
        shape = shapes.get(param.name) or shapes[param.name.removeprefix("adj_")]
        dtype = getattr(param.type, "dtype", param.type)
        made.append(rng.standard_normal(shape).astype(getattr(dtype, "dtype", dtype).numpy))
        if not isinstance(param.type, ArrayType):
            made[-1] = made[-1][()]
    return made


def assert_adjoints_agree(functions: list[tuple[Function, int, dict[str, tuple[int, ...]]]], dims: Any = None) -> None:
    library = Library([f for f, _, _ in functions], Options())
    for function, blocks, shapes in functions:
        want, got = arguments(function, shapes), arguments(function, shapes)
        interpret(function, dims or blocks, want)
        library.run(function.name, dims or blocks, got, seed=2)
        for param, w, g in zip(function.params, want, got, strict=True):
            error = f"{function.name}: {param.name}"
            np.testing.assert_allclose(g, w, rtol=2e-5, atol=2e-5, err_msg=error)


SHARES = 5


@pytest.mark.sample(1)
@pytest.mark.parametrize("share", range(SHARES))
def test_adjoints_of_operations(share: int) -> None:
    functions = []
    for number, (body, shape) in enumerate(list(CASES.values())[share::SHARES]):
        x, y = X.astype(np.float32), np.zeros(shape, np.float32)
        kernel = kernel_of(LOAD + body, x, y)
        wb.launch_tiled(kernel, [1], inputs=[x, y], block_dim=32)
        made = replace(adjoint(kernel.used.function), name=f"case_{number}")
        functions.append((made, 1, {"x": X.shape, "y": shape}))
    assert_adjoints_agree(functions)


@pytest.mark.parametrize("kernel", [threads, vectors])
def test_adjoints_of_per_thread_values_and_vectors(kernel: Any) -> None:
    shape = (2, 8) if kernel is threads else (16, 3)
    z = np.ones(shape, np.float32)
    wb.launch_tiled(kernel, [2], inputs=[z, z.copy(), 1.5], block_dim=8)
    names = {"z": shape, "x": shape, "y": shape, "w": (), "adj_w": (1,)}
    assert_adjoints_agree([(adjoint(kernel.used.function), 2, names)])


@pytest.mark.slow
def test_the_adjoint_of_a_gemm() -> None:
    A, B, C = np.ones((19, 21)), np.ones((21, 7)), np.ones((19, 7))
    wb.launch_tiled(gemm, [3, 2], inputs=[A, B, C], block_dim=64)
    assert_adjoints_agree([(adjoint(gemm.used.function), 6, {"A": A.shape, "B": B.shape, "C": C.shape})], (3, 2))
