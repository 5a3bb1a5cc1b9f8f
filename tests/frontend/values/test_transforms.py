"""Transforms: what they mean, against matrices in NumPy; on all backends; gradients; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.python.interpret import run

CELL = """
def k(t: array(dtype=transformd), u: array(dtype=transformd), v: array(dtype=vec3d), out: array2d[vec3d]):
    i = tid()
    a, b = t[i], u[i]
    c = a * b
    out[i, 0] = transform_point(c, v[i])
    out[i, 1] = transform_vector(a, v[i])
    out[i, 2] = transform_point(transform_inverse(a), v[i])
    out[i, 3] = transform_point(transform_multiply(a, transform_inverse(a)), v[i])
    d = transform_identity(dtype=float64)
    d.p = a.p
    d.q = transform_get_rotation(b)
    out[i, 4] = transform_point(d, v[i])
    e = transformd(transform_get_translation(b), a.q)
    e[0] = e[0] + 1.0
    u[i].p = e.p
    t[i] = e
    out[i, 5] = transform_point(d if v[i].x > 0.0 else e, v[i])
"""


def drawn(n: int = 5) -> tuple[np.ndarray[Any, Any], ...]:
    """Transforms with unit quaternions, twice, and vectors."""
    rng = np.random.default_rng(11)
    t, u, v = rng.normal(size=(n, 7)), rng.normal(size=(n, 7)), rng.normal(size=(n, 3))
    for x in (t, u):
        x[:, 3:] /= np.linalg.norm(x[:, 3:], axis=1, keepdims=True)
    return t, u, v


def matrix(t: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The 4 × 4 matrix of a transform."""
    x, y, z, w = t[3:]
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = rotation, t[:3]
    return whole


def expected(t: Any, u: Any, v: Any) -> np.ndarray[Any, Any]:
    """The six results, by matrices."""
    rows = []
    for a, b, x in zip(t, u, v, strict=True):
        mixed, other = np.concatenate([a[:3], b[3:]]), np.concatenate([b[:3], a[3:]])
        other[0] += 1
        point, direction = np.append(x, 1), np.append(x, 0)
        last = mixed if x[0] > 0 else other
        rows.append(
            [
                matrix(a) @ matrix(b) @ point, matrix(a) @ direction, np.linalg.inv(matrix(a)) @ point, point,
                matrix(mixed) @ point, matrix(last) @ point,
            ]
        )  # fmt: skip
    return np.array(rows)[..., :3]


def test_transforms_are_matrices(need):
    t, u, v = drawn()
    kernel = define(CELL)["k"]
    T = wb.types.TRANSFORMS["transformd"]
    arrays = [wb.array(t, T), wb.array(u, T), wb.array(v, wb.types.VECTORS["vec3d"])]
    out = wb.zeros((5, 6), wb.types.VECTORS["vec3d"])
    wb.launch(kernel, 5, inputs=[*arrays, out])
    assert np.allclose(out.numpy(), expected(t, u, v), atol=1e-12)
    assert arrays[0].numpy().shape == (5, 7)
    assert np.allclose(arrays[1].numpy()[:, 0], u[:, 0] + 1) and np.array_equal(arrays[1].numpy()[:, 3:], u[:, 3:])
    need("nvrtc")
    function = kernel.used.function
    for runner in (
        lambda args: run(function, (5,), args),
        lambda args: Library([function], Options()).run("k", 5, args),
    ):
        again = [t.copy(), u.copy(), v.copy(), np.zeros((5, 6, 3))]
        runner(again)
        assert np.allclose(again[3], out.numpy(), atol=1e-12) and np.allclose(again[0], arrays[0].numpy())


def test_gradients():
    t, u, v = drawn(3)
    T = wb.types.TRANSFORMS["transform"]
    kernel = define(
        """
        def k(t: array(dtype=transform), u: transform, v: array(dtype=vec3), y: array[float]):
            i = tid()
            a = t[i] * u
            a.p = a.p * 2.0
            y[i] = dot(transform_point(transform_inverse(a), v[i]), t[i].p) + length_sq(t[i].q)
        """
    )["k"]
    inputs = [wb.array(t, T), np.float32(u[0]), wb.array(v, wb.types.VECTORS["vec3"])]
    verdict = wb.gradcheck(kernel, 3, inputs, [wb.zeros(3)])
    assert verdict and {p.parameter for p in verdict.worst} == {"t", "u", "v", "y"}


def test_half_precision_is_the_same_everywhere(need):
    need("nvrtc")
    T, V = wb.types.TRANSFORMS["transformh"], wb.types.VECTORS["vec3h"]
    t, u, v = drawn(20)
    text = """
    def k(t: array(dtype=transformh), u: array(dtype=transformh), v: array(dtype=vec3h), y: array(dtype=vec3h)):
        i = tid()
        y[i] = transform_point(t[i] * transform_inverse(u[i]), v[i])
    """
    kernel = define(text)["k"]
    given = [wb.array(a, kind) for a, kind in ((t, T), (u, T), (v, V))]
    y = wb.zeros(20, V)
    wb.launch(kernel, 20, inputs=given, outputs=[y])
    exact = [matrix(a) @ np.linalg.inv(matrix(b)) @ [*c, 1] for a, b, c in zip(t, u, v, strict=True)]
    assert repr(T) == "transformh" and np.allclose(y.numpy(), np.array(exact)[:, :3], atol=0.05)
    function = kernel.specialise().function
    for started in (run, lambda f, n, arrays: Library([f], Options()).run("k", n, arrays)):
        again = [a.numpy().copy() for a in given] + [np.zeros((20, 3), np.float16)]
        started(function, 20, again)
        assert np.array_equal(again[3], y.numpy())


def test_on_the_host_and_in_structs():
    assert wb.transform((1, 2, 3), (0, 0, 0, 1)).tolist() == [1, 2, 3, 0, 0, 0, 1]
    assert wb.transform().tolist() == [0, 0, 0, 0, 0, 0, 1]
    names = define(
        """
        @struct
        class Joint:
            frame: transform
            child: int

        def k(js: array(dtype=Joint), y: array(dtype=vec3)):
            i = tid()
            js[i].frame.p += vec3(1.0)
            js[i].frame.q = quat_identity()
            y[i] = transform_point(js[i].frame, vec3(0.0, 1.0, 0.0))
        """
    )
    js, y = wb.zeros(2, dtype=names["Joint"]), wb.zeros(2, wb.types.VECTORS["vec3"])
    wb.launch(names["k"], 2, inputs=[js, y])
    assert y.numpy().tolist() == [[1, 2, 1]] * 2 and js.numpy()["frame"].shape == (2, 7)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("a = t * v", "Write transform_point"),
        ("a = t.x", "it has p and q"),
        ("t.r = v", "it has p and q"),
        ("t.p = t.q", "t.p is vec3"),
        ("a = transform(v, v)", "takes p and q, or 7 numbers"),
        ("a = normalize(t)", "Take the parts: t.p, t.q"),
        ("a = transform_point(v, t)", "transform_point() takes a transform, a vector of length 3"),
        ("a = t + 1.0", "Transforms have"),
    ],
)
def test_refused(line, sentence):
    with pytest.raises(wb.WorkbenchError) as caught:
        define(f"def k(t: transform, v: vec3):\n    {line}\n")
    assert sentence in f"{caught.value.message} {caught.value.advice}"


def test_a_transform_of_nothing_is_zeros() -> None:
    kernel = define("def k(x: array[float]):\n    t = transform()\n    x[tid()] = t[tid()] + 1.0\n")["k"]
    x = wb.zeros(7)
    wb.launch(kernel, 7, [x])
    assert x.numpy().tolist() == [1.0] * 7
