"""Swizzles, and the smallest and largest component: on the CPU, by the interpreter, as CUDA text."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.python.interpret import run

TEXT = """
@kernel
def k(v: array[vec3], w: array[vec4i], a: array[vec2], b: array[vec4], c: array[vec3i],
      s: array2d[float], p: array2d[int]):
    i = tid()
    a[i] = v[i].zx
    b[i] = v[i].xyzz * 2.0
    c[i] = w[i].wyx
    s[i, 0] = min(v[i])
    s[i, 1] = max(v[i]) + nonzero(v[i].x)
    p[i, 0] = argmin(v[i])
    p[i, 1] = argmax(w[i])
    p[i, 2] = min(w[i])
    p[i, 3] = nonzero(w[i].x)
"""


def test_parts_of_vectors(need) -> None:
    need("nvrtc")
    n, random = 40, np.random.default_rng(1)
    v = random.normal(size=(n, 3)).astype(np.float32)
    v[3], v[4], v[5, 1], v[6, 2] = 0.0, [2, 1, 1], np.nan, np.nan
    w = random.integers(-2, 3, (n, 4)).astype(np.int32)
    s = np.stack([np.minimum.reduce(v, axis=1), np.maximum.reduce(v, axis=1) + (v[:, 0] != 0)], axis=1)
    p = np.stack([v.argmin(axis=1), w.argmax(axis=1), w.min(axis=1), w[:, 0] != 0], axis=1).astype(np.int32)
    want = [v[:, [2, 0]], v[:, [0, 1, 2, 2]] * 2, w[:, [3, 1, 0]], s, p]
    kernel = define(TEXT)["k"]
    function = kernel.specialise().function
    blank = [np.zeros_like(a, order="C") for a in want]
    given = [wb.array(v, dtype=wb.vec3), wb.array(w, dtype=wb.vec4i), *(
        wb.array(a, dtype=t) for a, t in zip(blank, (wb.vec2, wb.vec4, wb.vec3i, None, None), strict=True)
    )]  # fmt: skip
    wb.launch(kernel, n, inputs=given[:2], outputs=given[2:])
    interpreted, text = ([v, w, *(np.zeros_like(a, order="C") for a in want)] for _ in range(2))
    run(function, n, interpreted)
    Library([function], Options()).run("k", n, text)
    for found in ([a.numpy() for a in given], interpreted, text):
        for got, expected in zip(found[2:], want, strict=True):
            np.testing.assert_array_equal(got, expected)


def test_a_swizzle_passes_gradients_on() -> None:
    text = """
    @kernel
    def k(v: array[vec3d], y: array[float64]):
        i = tid()
        y[i] = dot(v[i].zyx, v[i].xxy) + max(v[i]) * min(v[i])
    """
    v = wb.array(np.random.default_rng(0).normal(size=(5, 3)), dtype=wb.vec3d)
    assert wb.gradcheck(define(text)["k"], 5, inputs=[v], outputs=[wb.array(np.zeros(5))]).ok


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("a = v.xw", "has no xw"),
        ("a = v.xyzxy", "has no xyzxy"),
        ("v.xx = vec2()", "has no component xx"),
        ("v[0:2] = vec3()", "These components of v"),
        ("v[i:] = 1.0", "bounds of a vector's slice are integers written out"),
        ("a = min(i)", "takes 2 arguments"),
        ("a = argmax(i)", "takes a vector of numbers"),
    ],
)
def test_refused_with_a_sentence(statement: str, sentence: str) -> None:
    with pytest.raises(wb.WorkbenchError) as caught:
        define(f"@kernel\ndef k(y: array[float]):\n    i = tid()\n    v = vec3()\n    {statement}\n")
    assert sentence in f"{caught.value.message} {caught.value.advice}"


def test_slices_are_assigned_as_numpy_does():
    text = """
    @kernel
    def k(v: array[vec4d], m: array[mat33d], n: int):
        i = tid()
        u = v[i]
        u[1:3] = u[::-1][0:2]
        u[2:] += 0.5
        u.zx = u.xy * 2.0
        v[i] = u
        v[i][:2] = vec2d(v[i].y, n)
        a = m[i]
        a[:, 1] = v[i][1:] * 2.0
        a[1:, ::2] = a[:2, 1:] @ a[0:2, 0:2]
        a[n, 0:2] = vec2d(7.0, 8.0)
        a[0:2, n - 1] += a[n]. xy
        a[1:3] = a[0:3:2] * 0.5
        a[1:, 1:] = -1.0
        m[i] = a
    """
    random = np.random.default_rng(0)
    v, m, n = random.normal(size=(5, 4)), random.normal(size=(5, 3, 3)), 2
    given = wb.array(v, dtype=wb.vec4d), wb.array(m, dtype=wb.mat33d)
    wb.launch(define(text)["k"], 5, inputs=[*given, n])
    for i in range(5):
        u, a = v[i].copy(), m[i].copy()
        u[1:3] = u[::-1][0:2].copy()
        u[2:] += 0.5
        u[[2, 0]] = u[[0, 1]] * 2.0
        u[:2] = u[1], n
        a[:, 1] = u[1:] * 2.0
        a[1:, ::2] = a[:2, 1:] @ a[0:2, 0:2]
        a[n, 0:2] = 7.0, 8.0
        a[0:2, n - 1] += a[n][:2]
        a[1:3] = a[0:3:2] * 0.5
        a[1:, 1:] = -1.0
        v[i], m[i] = u, a
    np.testing.assert_allclose(given[0].numpy(), v, rtol=1e-14)
    np.testing.assert_allclose(given[1].numpy(), m, rtol=1e-14)


def test_parts_that_are_assigned_pass_gradients_on() -> None:
    text = """
    @kernel
    def k(v: array[vec3d], y: array[float64]):
        i = tid()
        m = mat33d()
        m[:, 0:2] = matrix_from_cols(v[i], v[i] * 2.0)
        m[1:, 2] = v[i].zx
        y[i] = determinant(m + identity(3, dtype=float64)) + m[0:2][1, 2]
    """
    v = wb.array(np.random.default_rng(0).normal(size=(5, 3)), dtype=wb.vec3d)
    assert wb.gradcheck(define(text)["k"], 5, inputs=[v], outputs=[wb.array(np.zeros(5))]).ok


def test_a_vector_and_a_matrix_say_their_dtype_shape_and_ndim_as_numpy_does():
    text = (
        "@wb.func\ndef half_of(v: wb.Any):\n    return v * v.dtype(0.5)\n"
        "@wb.kernel\n"
        "def k(x: wb.array[wb.vec3], m: wb.array[matrix23],\n"
        "      y: wb.array[wb.vec3], z: wb.array[matrix23], n: wb.array[int]):\n"
        "    i = wb.tid()\n    y[i] = half_of(x[i])\n    z[i] = half_of(m[i])\n    rows, columns = m[i].shape\n"
        "    n[i] = rows * 1000 + columns * 100 + m[i].ndim * 10 + x[i].shape[0]\n"
    )
    matrix23 = wb.types.matrix((2, 3), wb.float64)
    k = define(text, {"wb": wb, "matrix23": matrix23})["k"]
    x, m = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(2, 2, 3)
    y, z, n = wb.zeros(2, dtype=wb.vec3), wb.zeros(2, dtype=matrix23), wb.zeros(2, dtype=int)
    wb.launch(k, 2, inputs=[wb.array(x, dtype=wb.vec3), wb.array(m, dtype=matrix23)], outputs=[y, z, n])
    assert y.numpy().tolist() == (x * 0.5).tolist()
    assert z.numpy().tolist() == (m * 0.5).tolist()
    rows, columns = m[0].shape
    assert n.numpy().tolist() == [rows * 1000 + columns * 100 + m[0].ndim * 10 + x[0].shape[0]] * 2
