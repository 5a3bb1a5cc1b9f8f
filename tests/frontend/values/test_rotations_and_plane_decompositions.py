"""Decompositions of 2 × 2 matrices and rotations of angles: against NumPy's, and their gradients."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define

# Parameters, the body, and the input's type and shape.
CASES: dict[str, tuple[str, str, Any, tuple[int, ...]]] = {
    "svd2": (
        "x: array[mat22d], U: array[mat22d], d: array[vec2d], V: array[mat22d]",
        "U[i], d[i], V[i] = svd2(x[i])",
        wb.mat22d,
        (3, 2, 2),
    ),
    "qr2": ("x: array[mat22d], U: array[mat22d], V: array[mat22d]", "U[i], V[i] = qr2(x[i])", wb.mat22d, (3, 2, 2)),
    "eig2": ("x: array[mat22d], U: array[mat22d], d: array[vec2d]", "U[i], d[i] = eig2(x[i])", wb.mat22d, (3, 2, 2)),
    "quat_rpy": ("x: array[vec3d], q: array[quatd]", "v = x[i]\n    q[i] = quat_rpy(v.x, v.y, v.z)", wb.vec3d, (3, 3)),
    "quat_from_euler": (
        "x: array[vec3d], q: array[quatd]",
        "q[i] = quat_from_euler(x[i], i, 2, 1 - i)",
        wb.vec3d,
        (2, 3),
    ),
    "quat_to_rpy": ("x: array[quatd], q: array[vec3d]", "q[i] = quat_to_rpy(normalize(x[i]))", wb.quatd, (3, 4)),
    "quat_from_matrix": (
        "x: array[quatd], q: array[quatd]",
        "q[i] = quat_from_matrix(quat_to_matrix(normalize(x[i])))",
        wb.quatd,
        (8, 4),
    ),
    "erfcinv": ("x: array[float64], q: array[float64]", "q[i] = erfcinv(abs(x[i]))", wb.float64, (4,)),
}


def kernel(name: str) -> Any:
    head, body, _, _ = CASES[name]
    return define(f"def k({head}):\n    i = tid()\n    {body}\n")["k"]


def results(name: str, count: int) -> list[wb.Array]:
    return [wb.zeros(count, getattr(wb, dtype)) for dtype in re.findall(r"array\[(\w+)\]", CASES[name][0])[1:]]


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_right(name: str) -> None:
    _, _, dtype, shape = CASES[name]
    x = np.random.default_rng(7).uniform(-1, 1, shape)
    verdict = wb.gradcheck(kernel(name), shape[0], [wb.array(x, dtype)], results(name, shape[0]))
    assert verdict.ok and verdict.compared >= x.size, str(verdict)


def test_gradients_are_finite_where_values_repeat() -> None:
    body = (
        "U, s, V = svd2(x[i])\n    Q, e = eig2(x[i])\n    P, R = qr2(x[i])\n    d[i] = s + e + vec2d(R[0, 0], R[1, 1])"
    )
    k = define(f"def k(x: array[mat22d], d: array[vec2d]):\n    i = tid()\n    {body}\n")["k"]
    given = np.array([np.zeros((2, 2)), np.eye(2), np.diag([1.0, 0.0]), np.ones((2, 2))])
    x, d = wb.array(given, wb.mat22d, requires_grad=True), wb.zeros(4, wb.vec2d, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(k, 4, [x], [d])
    tape.backward(grads={d: wb.array(np.ones((4, 2)), wb.vec2d)})
    slopes = x.grad.numpy()
    assert np.isfinite(slopes).all()
    assert np.allclose(slopes[1], 3 * np.eye(2))  # each is the trace near the identity


def test_plane_decompositions_are_numpys() -> None:
    x = np.random.default_rng(3).normal(size=(40, 2, 2))
    x[:4] = [np.zeros((2, 2)), np.eye(2), np.ones((2, 2)), np.diag([1.0, 1e-7])]
    made: dict[str, list[np.ndarray]] = {}
    for name in ("svd2", "qr2", "eig2"):
        outs = results(name, len(x))
        wb.launch(kernel(name), len(x), [wb.array(x, wb.mat22d)], outs)
        made[name] = [a.numpy() for a in outs]
    u, s, v = made["svd2"]
    assert np.allclose((u * s[:, None]) @ v.transpose(0, 2, 1), x) and np.allclose(s, np.linalg.svd(x)[1])
    q, r = made["qr2"]
    assert np.allclose(q @ r, x) and not r[:, 1, 0].any() and (r[:, [0, 1], [0, 1]] >= 0).all()
    q, e = made["eig2"]
    both = (x + x.transpose(0, 2, 1)) / 2
    assert np.allclose((q * e[:, None]) @ q.transpose(0, 2, 1), both) and np.allclose(e, np.linalg.eigvalsh(both))


def test_angles_make_the_products_of_turns_about_the_axes() -> None:
    def turn(axis: int, angle: float) -> np.ndarray:
        m = np.eye(3)
        a, b = (axis + 1) % 3, (axis + 2) % 3
        m[[a, b], [a, b]] = np.cos(angle)
        m[a, b], m[b, a] = -np.sin(angle), np.sin(angle)
        return m

    body = (
        "v = x[i]\n    q[i] = quat_rpy(v.x, v.y, v.z)\n    m[i] = quat_to_matrix(q[i])\n    y[i] = quat_to_rpy(q[i])\n"
    )
    body += "    e[i] = quat_to_matrix(quat_from_euler(v, 2, 0, 1))\n    back[i] = quat_from_matrix(m[i])"
    head = "x: array[vec3d], q: array[quatd], m: array[mat33d], y: array[vec3d], e: array[mat33d], back: array[quatd]"
    k = define(f"def k({head}):\n    i = tid()\n    {body}\n")["k"]
    x = np.random.default_rng(4).uniform(-1.5, 1.5, (20, 3)) * (2.0, 1.0, 2.0)
    outs = [wb.zeros(20, t) for t in (wb.quatd, wb.mat33d, wb.vec3d, wb.mat33d, wb.quatd)]
    wb.launch(k, 20, [wb.array(x, wb.vec3d)], outs)
    q, m, y, e, back = (a.numpy() for a in outs)
    assert np.allclose(m, [turn(2, c) @ turn(1, b) @ turn(0, a) for a, b, c in x])
    assert np.allclose(e, [turn(1, b) @ turn(0, a) @ turn(2, c) for a, b, c in x])
    assert np.allclose(y, x) and np.allclose(np.abs((q * back).sum(1)), 1.0)
