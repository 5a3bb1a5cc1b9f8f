"""Gradients of operations on tiles: by difference quotients, and against jax.grad where a program says the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.gemm import gemm_kernel
from tests.tiles.test_operations import kernel_of, slow
from workbench.autodiff import adjoint, tangent
from workbench.ir.data import show
from workbench.ir.values import walk

RNG = np.random.default_rng(11)
X = RNG.standard_normal((6, 10))
LOAD = "t = wb.tile_load(x, shape=(6, 10))\n"
# body, shape of y
CASES: dict[str, tuple[str, tuple[int, ...]]] = {
    "arithmetic": ("wb.tile_store(y, 2.0 * t * t - t / (3.0 + t * t))", (6, 10)),
    "builtins": ("wb.tile_store(y, wb.sin(t) * wb.exp(t) + t ** 3)", (6, 10)),
    "a choice with an infinite slope": ("wb.tile_store(y, wb.where(t > 0.0, wb.sqrt(t), 0.0))", (6, 10)),
    "transpose": ("wb.tile_store(y, t.T * t.T)", (10, 6)),
    "reshape": ("u = wb.tile_reshape(t, shape=(4, -1))\nwb.tile_store(y, u * u)", (4, 15)),
    "view": ("u = wb.tile_view(t, offset=(2, 3), shape=(2, 4))\nwb.tile_store(y, u * u)", (2, 4)),
    "parts": ("wb.tile_store(y, t[1:4, -3:] * t[0:3, 0:3] + t[5, 5])", (3, 3)),
    "broadcast": ("wb.tile_store(y, t * wb.tile_broadcast(t[:, 0:1], shape=(6, 10)))", (6, 10)),
    "sum": ("wb.tile_store(y, t * wb.tile_sum(t))", (6, 10)),
    "sum of rows": ("s = wb.tile_sum(t * t, axis=1)\nwb.tile_store(y, s * s)", (6,)),
    "min and max": ("wb.tile_store(y, wb.tile_min(t, axis=0) * wb.tile_max(t))", (10,)),
    "scans": ("u = wb.tile_scan(t)\nwb.tile_store(y, u * wb.tile_scan_exclusive(t))", (6, 10)),
    "elements": ("y[0] = t[2, 3] * t[0, 0]\ny[1] = t[2, 3] * t[1, 1]", (2,)),
    "assigning": ("t[1, 2] = t[0, 0] * 2.0\nt[3:5, 0:2] = t[0:2, 4:6]\nt[5] = 1.5\nwb.tile_store(y, t * t)", (6, 10)),
    "a map with an outer number": ("s = t[0, 0]\nwb.tile_store(y, wb.sin(s * t))", (6, 10)),
    "matmul": ("wb.tile_store(y, t @ wb.tile_transpose(t))", (6, 6)),
    "matmul of a slice": ("acc = t[:, 0:6]\nwb.tile_matmul(t, t.T, acc)\nwb.tile_store(y, acc * acc)", (6, 6)),
    "a short loop": ("u = t\nfor k in range(3):\n    u = wb.sin(u) * t\nwb.tile_store(y, u)", (6, 10)),
    "a linear loop": (
        "u = wb.tile_zeros((6, 10))\nfor k in range(x.shape[0]):\n    u += t * float(k)\nwb.tile_store(y, u)", (6, 10),
    ),
    "a branch": ("u = t\nif t[0, 0] > 0.0:\n    u = t * t\nelse:\n    u = wb.sin(t)\nwb.tile_store(y, u)", (6, 10)),
    "adding": ("wb.tile_atomic_add(y, t * t)", (6, 10)),
    "ragged": ("u = wb.tile_load(x, shape=(4, 4), offset=(4, 8))\nwb.tile_store(y, u * u + u, offset=(-1, 2))", (3, 5)),
}  # fmt: skip


SELDOM = {"arithmetic", "builtins", "reshape", "view", "broadcast", "sum", "matmul", "elements", "a branch", "adding"}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", [slow(name) if name in SELDOM else name for name in CASES])
def test_by_difference_quotients(name: str) -> None:
    body, shape = CASES[name]
    x, y = X.astype(np.float32), np.zeros(shape, np.float32)
    verdict = wb.gradcheck(kernel_of(LOAD + body, x, y), [1], [x], [y], block_dim=32, samples=8)
    assert verdict.ok, str(verdict)


@wb.func
def bent(v: wb.Float, w: wb.Float):
    if v > w:
        return v * v
    return wb.sin(v) * w


@wb.kernel
def in_place(z: wb.array2d[float]):
    b, lane = wb.tid()
    v = z[b, lane]
    z[b, lane] = v / wb.tile_sum(wb.tile(v * v))


def test_in_place_is_refused() -> None:
    wb.launch_tiled(in_place, [2], inputs=[np.ones((2, 8), np.float32)], block_dim=8)
    with pytest.raises(wb.NotDifferentiable, match="z is written in this kernel, and read here"):
        adjoint(in_place.used.function)


@wb.kernel
def threads(z: wb.array2d[float], y: wb.array2d[float], w: float):
    b, lane = wb.tid()
    v = z[b, lane]
    s = wb.tile_sum(wb.tile(v * v))
    if lane > 3:
        v = v * w
    u = wb.tile_map(bent, wb.tile(v), w)
    y[b, lane] = v * s + wb.untile(u)


@wb.kernel
def vectors(x: wb.array[wb.vec3], y: wb.array[wb.vec3], w: float):
    b = wb.tid()
    t = wb.tile_load(x, shape=8, offset=b * 8)
    wb.tile_store(y, t * w + t * wb.dot(wb.tile_sum(t), t[0]), offset=b * 8)


@pytest.mark.parametrize("kernel", [threads, vectors])
def test_per_thread_values_and_vectors(kernel: Any) -> None:
    shape = (2, 8) if kernel is threads else (16, 3)
    z = RNG.standard_normal(shape).astype(np.float32)
    verdict = wb.gradcheck(kernel, [2], [z, np.zeros_like(z), 1.5], block_dim=8, samples=8)
    assert verdict.ok, str(verdict)


gemm = gemm_kernel(8, 4, 16, wb.float64)


def test_gemm_on_a_tape_and_replayed() -> None:
    a, b, seed = (RNG.standard_normal(s) for s in ((19, 21), (21, 7), (19, 7)))
    A, B = (wb.array(v, requires_grad=True) for v in (a, b))
    C = wb.zeros((19, 7), wb.float64)
    with wb.Tape() as tape:
        wb.launch_tiled(gemm, dim=[3, 2], inputs=[A, B, C], block_dim=64)
    tape.backward(grads={C: seed})
    np.testing.assert_allclose(A.grad.numpy(), seed @ b.T, rtol=1e-12)
    np.testing.assert_allclose(B.grad.numpy(), a.T @ seed, rtol=1e-12)
    with wb.record() as kept:
        wb.launch_tiled(gemm, dim=[3, 2], inputs=[A, B, C], block_dim=64)
    A.fill_(0.5)
    kept.replay()
    np.testing.assert_allclose(C.numpy(), np.full_like(a, 0.5) @ b, rtol=1e-12)
    with wb.capture() as graph:
        wb.launch_tiled(gemm, dim=[3, 2], inputs=[A, B, C], block_dim=64)
    A.fill_(0.25)
    graph.launch()
    np.testing.assert_allclose(C.numpy(), np.full_like(a, 0.25) @ b, rtol=1e-12)


def test_the_accumulator_of_a_loop_is_not_kept() -> None:
    A = np.zeros((8, 16))
    wb.launch_tiled(gemm, dim=[1, 1], inputs=[A, A.T.copy(), A[:, :8].copy()], block_dim=64)
    function = adjoint(gemm.used.function)
    names = [op.name for op in walk(function.body)]
    assert "slots" not in names and "while" not in names
    roles = [op.attrs["role"] for op in walk(function.body) if op.name == "tile_matmul"]
    assert sorted(roles) == ["adj_a", "adj_b"]


def test_one_side_alone_takes_one_product() -> None:
    A = np.zeros((8, 16))
    wb.launch_tiled(gemm, dim=[1, 1], inputs=[A, A.T.copy(), A[:, :8].copy()], block_dim=64)
    function = gemm.used.function
    for constant, role in (("B", "adj_a"), ("A", "adj_b")):
        reverse = adjoint(function, constant=frozenset({constant}))
        assert [op.attrs["role"] for op in walk(reverse.body) if op.name == "tile_matmul"] == [role]
        assert f"tile_atomic_add[axes=(0, 1), bounds=True] %adj_{constant}" not in show(reverse)


REFUSED = {
    "tile_reduce": ("wb.tile_store(y, wb.tile_reduce(wb.mul, t, axis=0))", (10,), "by a func has no derivative yet"),
    "scan max": ("wb.tile_store(y, wb.tile_scan(t, 'max'))", (6, 10), "kind max has no derivative yet"),
    "two ways of writing": (
        "wb.tile_store(y, t)\nwb.tile_atomic_add(y, t)", (6, 10), "order between threads is not known",
    ),
    "a carried tile": (
        "u = t\nfor k in range(x.shape[0]):\n    u = wb.sin(u)\nwb.tile_store(y, u)", (6, 10), "tiles are not kept",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    body, shape, sentence = REFUSED[name]
    x, y = X.astype(np.float32), np.zeros(shape, np.float32)
    kernel = kernel_of(LOAD + body, x, y)
    wb.launch_tiled(kernel, [1], inputs=[x, y])
    with pytest.raises(wb.NotDifferentiable, match=sentence):
        adjoint(kernel.used.function)


def test_forward_mode_is_refused_by_name() -> None:
    x = X.astype(np.float32)
    kernel = kernel_of(LOAD + "wb.tile_store(y, t)", x, x)
    wb.launch_tiled(kernel, [1], inputs=[x, x.copy()])
    with pytest.raises(wb.NotDifferentiable, match="Forward mode of operations on tiles"):
        tangent(kernel.used.function)


def test_a_launch_that_wants_one_gradient() -> None:
    a, b, seed = (RNG.standard_normal(s) for s in ((19, 21), (21, 7), (19, 7)))
    da, c = np.zeros_like(a), np.zeros_like(seed)
    launch: Any = {"dim": [3, 2], "inputs": [a, b, c], "block_dim": 64, "adjoint": True}
    wb.launch_tiled(gemm, adj_inputs=[da, False, seed.copy()], **launch)
    np.testing.assert_allclose(da, seed @ b.T, rtol=1e-12)
    with pytest.raises(wb.LaunchError, match="C is written, so gradients come from its adjoint"):
        wb.launch_tiled(gemm, adj_inputs=[da, False, False], **launch)
