"""Vectors of more than 4 components and matrices of other shapes: memory, builtins, gradients, all backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run
from workbench.errors import CellErrors, KernelTypeError
from workbench.types import float64, matrix, vector

V5, V12 = vector(5, float64), vector(12, float64)
M6, M34 = matrix((6, 6), float64), matrix((3, 12), float64)
V6, V17 = vector(6, float64), vector(17, float64)
NAMES = {"wb": wb, "V5": V5, "V12": V12, "M6": M6, "M34": M34, "V6": V6, "V17": V17, "float64": float64}
# Each gives `r` of an element v of V5 and a number i; as NumPy code with v an array it means the same.
BODIES = {
    "arithmetic": "w = v * 2.0 + v / v[1] - v\nr = w[4] + w[i]",
    "products": "r = dot(v, v) + length(v - normalize(v)) * float64(2.0)",
    "slices": "r = dot(v[1:4], v[::2]) + v[-3:][0] + v[::-1][1]",
    "iterated": "r = v[0]\nfor c in v:\n    r += c * c\nr += float64(len(v))",
    "changed": "v[2] = 7.0\nv[i] += 1.0\nr = v[2] * v[i] + min(v) + v[argmax(v)]",
    "matrix": "m = outer(v, v)\nr = (m @ v)[3] + m[1, 4] + trace(m) + transpose(m)[i][2]",
    "made": "w = V5(1.0, 2.0, 3.0, 4.0, 5.0)\nr = dot(cw_mul(v, w), V5(float64(i)))",
}


def _numpy(name: str, v: np.ndarray[Any, Any], i: int) -> float:
    def argmax(x):
        return int(np.argmax(x))

    means: dict[str, Any] = {
        "v": v.copy(), "i": i, "dot": np.dot, "length": np.linalg.norm, "normalize": lambda x: x / np.linalg.norm(x),
        "float64": np.float64, "min": np.min, "argmax": argmax, "outer": np.outer, "trace": np.trace,
        "transpose": np.transpose, "cw_mul": np.multiply,
        "V5": lambda *c: np.array(c if len(c) > 1 else c * 5, np.float64),
    }  # fmt: skip
    exec(BODIES[name], means)
    return float(means["r"])


def _kernel(body: str) -> Any:
    lines = "\n".join("    " + line for line in body.splitlines())
    text = (
        f"def k(x: wb.array(dtype=V5), y: wb.array[float64]):\n    i = wb.tid()\n    v = x[i]\n{lines}\n    y[i] = r\n"
    )
    return define(text, dict(NAMES))["k"]


X = np.random.default_rng(5).uniform(0.5, 2.0, (5, 5))


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", BODIES)
def test_means_what_numpy_means(name, need):
    kernel, y, expected, shown = _kernel(BODIES[name]), wb.zeros(5, float64), np.zeros(5), np.zeros(5)
    wb.launch(kernel, 5, [wb.array(X, V5), y])
    assert np.allclose(y.numpy(), [_numpy(name, X[i], i) for i in range(5)], rtol=1e-12)
    function = kernel.used.function
    run(function, 5, [X, expected])
    assert np.array_equal(y.numpy(), expected)
    need("nvrtc")
    Library([function], Options()).run("k", 5, [X.copy(), shown])
    assert np.array_equal(shown, expected)


def test_five_floats_take_20_bytes_and_the_device_takes_the_text(need):
    need("nvrtc")
    five = vector(5, wb.float32)
    assert five.size == 20 and repr(five) == "vector(5, float32)"
    assert wb.array(np.ones((3, 5)), five).strides == (20,)
    square = matrix((5, 5), float64)
    k = define("""
        def k(x: wb.array(dtype=T), y: wb.array(dtype=M)):
            i = wb.tid()
            y[i] = wb.outer(x[i], x[i]) * 2.0
            x[i] = wb.transpose(y[i]) @ x[i]
        """, {"wb": wb, "T": V5, "M": square})["k"]  # fmt: skip
    function = k.specialise([wb.array(dtype=V5), wb.array(dtype=square)]).function
    text = CudaBackend().emit(function, Options(), "sm_90")
    assert CudaBackend().compile(function, Options(), "sm_90").image
    assert text.count("struct wb_vec5 { T c[5]; };") == 1 and text.count("struct wb_mat55 { T m[5][5]; };") == 1


def test_sums_parameters_and_generic_kernels():
    k = define("""
        def k(x: wb.array(dtype=Any), s: V12, m: M34, y: wb.array(dtype=V12), z: wb.array(dtype=wb.vec3d)):
            i = wb.tid()
            wb.atomic_add(y, 0, x[i] + s)
            z[i] = m @ x[i]
        """, {**NAMES, "Any": Any})["k"]  # fmt: skip
    x, s, m = np.arange(24.0).reshape(2, 12), np.arange(12.0), np.arange(36.0).reshape(3, 12)
    y, z = wb.zeros(1, V12), wb.zeros(2, wb.vec3d)
    wb.launch(k, 2, [wb.array(x, V12), s, m, y, z])
    assert np.array_equal(y.numpy()[0], x.sum(axis=0) + 2 * s) and np.allclose(z.numpy(), x @ m.T)


def test_gradients():
    k = define("""
        def k(x: wb.array(dtype=V6), m: wb.array(dtype=M6), y: wb.array[float64]):
            i = wb.tid()
            v = m[i] @ x[i]
            v[2] *= x[i][5]
            y[i] = wb.dot(v, wb.normalize(x[i])) + wb.length(v[1:5])
        """, dict(NAMES))["k"]  # fmt: skip
    random = np.random.default_rng(2)
    x = wb.array(random.normal(size=(2, 6)), vector(6, float64), requires_grad=True)
    m = wb.array(random.normal(size=(2, 6, 6)), M6, requires_grad=True)
    assert wb.gradcheck(k, 2, inputs=[x, m], outputs=[wb.zeros(2, float64)]).ok


def test_spatial_vectors_and_captured_values():
    base = np.arange(6, dtype=np.float32)
    k = define("""
        def k(y: wb.array(dtype=wb.spatial_vector)):
            y[wb.tid()] = BASE + wb.spatial_vector(1.0)
        """, {"wb": wb, "BASE": wb.constant(base)})["k"]  # fmt: skip
    y = wb.zeros(2, wb.spatial_vector)
    wb.launch(k, 2, [y])
    assert np.array_equal(y.numpy(), [base + 1] * 2)


def test_through_jax():
    jax = pytest.importorskip("jax")
    eight = vector(8, wb.float32)
    k = define("def k(x: wb.array(dtype=T), y: wb.array(dtype=T)):\n    i = wb.tid()\n    y[i] = x[i] * 2.0\n",
               {"wb": wb, "T": eight})["k"]  # fmt: skip
    x = np.arange(24, dtype=np.float32).reshape(3, 8)
    y = jax.jit(wb.jax_kernel(k))(x)
    assert np.array_equal(y, 2 * x)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("z = wb.inverse(M6())", "a square matrix of up to 4 rows"),
        ("z = wb.outer(V17(), V17())", "17 × 17 components is too large"),
        ("z = V5(1.0, 2.0)", "takes 0, 1 or 5 components"),
        ("z = V5() + V12()", "vectors of one length"),
        ("z = V5()[5]", "components 0 to 4"),
    ],
)
def test_refused(statement, sentence):
    with pytest.raises((KernelTypeError, CellErrors)) as raised:
        define(f"def k(x: wb.array[float]):\n    {statement}\n", dict(NAMES))
    assert sentence in raised.value.message


@pytest.mark.parametrize(
    "make", [lambda: vector(257, float), lambda: vector(0, float), lambda: matrix((17, 16), float)]
)
def test_sizes_have_an_end(make):
    with pytest.raises(TypeError, match="256"):
        make()
