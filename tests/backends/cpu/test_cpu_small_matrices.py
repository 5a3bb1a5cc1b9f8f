"""Kernels of small matrices go by threads side by side, forward and backward, and each thread has the bits it had."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.api.kernels.kernel import Kernel
from workbench.backends.cpu.gang.width import mostly_moves, shuffles

M3, M4, V4 = (wb.array(dtype=t) for t in (wb.mat33, wb.mat44, wb.vec4))
D3, Q1 = wb.array(dtype=wb.mat33d), wb.array(dtype=wb.quat)


@wb.kernel
def inverses(x: M3, y: M3):
    i = wb.tid()
    y[i] = wb.inverse(x[i])


@wb.kernel
def inverses_of_float64(x: D3, y: D3):
    i = wb.tid()
    y[i] = wb.inverse(x[i])


@wb.kernel
def products(x: M4, y: M4):
    i = wb.tid()
    y[i] = x[i] @ x[i]


@wb.kernel
def directions(x: V4, y: V4):
    i = wb.tid()
    y[i] = wb.normalize(x[i])


@wb.kernel
def turns(x: Q1, y: M3):
    i = wb.tid()
    y[i] = wb.quat_to_matrix(x[i])


@wb.struct
class Body:
    p: wb.vec3
    v: wb.vec3


@wb.kernel
def moves(b: wb.array(dtype=Body)):
    i = wb.tid()
    b[i].p += b[i].v


KERNELS = [inverses, inverses_of_float64, products, directions, turns]
SIDE_BY_SIDE = [inverses, directions, turns]
SHAPES: dict[Kernel, Any] = {directions: (4,), turns: (4,), products: (4, 4)}


def given(kernel: Kernel, n: int) -> np.ndarray:
    kind = np.float64 if kernel is inverses_of_float64 else np.float32
    x = np.random.default_rng(n).uniform(0.5, 1.5, (n, *SHAPES.get(kernel, (3, 3)))).astype(kind)
    if x.ndim == 3:
        x += 2 * np.eye(x.shape[-1], dtype=kind)
    if n > 3:
        x[1], x[2, 0], x[3] = 0, np.nan, np.inf  # singular, and what is no number
    return x


def run(kernel: Kernel, x: np.ndarray, seed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Result and gradient."""
    first, second = (p.type.dtype for p in kernel.specialise().function.params)
    a, b = wb.array(x, dtype=first), wb.zeros(len(x), dtype=second)
    with wb.Tape() as tape:
        wb.launch(kernel, len(x), [a], [b])
    tape.backward(grads={b: seed.reshape(-1, *(1,) * len(second.shape)) * np.ones(second.shape, x.dtype)})
    assert not tape.gradients[b].numpy().any()  # it is used up
    return b.numpy(), tape.gradients[a].numpy()


@pytest.mark.parametrize("kernel", [turns, *(pytest.param(k, marks=pytest.mark.slow) for k in KERNELS if k != turns)])
def test_a_thread_has_the_same_bits_in_a_vector_and_behind_one(kernel: Kernel) -> None:
    n = 37
    x = given(kernel, n)
    seed = np.linspace(0.5, 1.5, n, dtype=x.dtype)
    whole = run(kernel, x, seed)
    assert np.isfinite(whole[1][4:]).all() and whole[1][4:].any()
    for first, end in ((0, 0), (0, 1), (0, 7), (0, 8), (0, 31), (1, 37), (4, 37), (10, 37), (30, 37)):
        part = run(kernel, x[first:end], seed[first:end])
        for found, want in zip(part, whole, strict=True):
            np.testing.assert_array_equal(found, want[first:end])


@pytest.mark.slow
def test_in_place() -> None:
    x = given(inverses, 37)
    a, b = wb.array(x, dtype=wb.mat33), wb.zeros(37, dtype=wb.mat33)
    wb.launch(inverses, 37, [a], [b])
    wb.launch(inverses, 37, [a], [a])
    np.testing.assert_array_equal(a.numpy(), b.numpy())
    np.testing.assert_allclose(a.numpy()[4:], np.linalg.inv(x[4:]), rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["forward", "adjoint"])
@pytest.mark.parametrize("kernel", SIDE_BY_SIDE, ids=lambda k: k.name)
def test_threads_go_side_by_side(kernel: Kernel, direction: str) -> None:
    text = wb.inspect.llvm(kernel, direction)
    assert re.search(r"f(mul|div) <(4|8|16) x float>", text) and "@llvm.memset" not in text


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["forward", "adjoint"])
def test_no_number_of_a_matrix_is_gathered(direction: str) -> None:
    text = wb.inspect.asm(products, direction)
    assert "gather" not in text and "scatter" not in text


def test_what_shuffles() -> None:
    @wb.kernel
    def factors(x: M3, s: V4):
        i = wb.tid()
        _u, d, _v = wb.svd3(x[i])
        s[i] = wb.vec4(d[0], d[1], d[2], 0.0)

    kernels = (directions, moves, products, factors)
    functions = [kernel.specialise().function for kernel in kernels]
    assert [shuffles(f) for f in functions] == [False, True, True, True]
    assert [mostly_moves(f) for f in functions] == [
        False,
        True,
        True,
        False,
    ]  # `factors` computes more
