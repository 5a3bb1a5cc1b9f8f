"""svd3, qr3 and eig3 against NumPy's, at singular and repeated values and over many scales."""

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
from workbench.types import matrix, vector

BODIES = {
    "svd3": "U[i], d[i], V[i] = svd3(x[i])",
    "qr3": "U[i], V[i] = qr3(x[i])\n    d[i] = get_diag(V[i])",
    "eig3": "U[i], d[i] = eig3(x[i] + transpose(x[i]))\n    V[i] = x[i]",
}


def kernel(name: str, dtype: str) -> Any:
    m, v = ("mat33d", "vec3d") if dtype == "float64" else ("mat33", "vec3")
    head = f"x: array[{m}], U: array[{m}], d: array[{v}], V: array[{m}]"
    return define(f"def k({head}):\n    i = tid()\n    {BODIES[name]}\n")["k"]


def samples(dtype: str, count: int = 300) -> np.ndarray:
    """Random matrices of many scales, some with a tiny column, some of small integers; and the singular ones."""
    random = np.random.default_rng(3)
    x = random.normal(size=(count, 3, 3))
    x[100:200] *= 10.0 ** random.integers(-30, 30, (100, 1, 1))
    x[200:230, :, 2] *= 1e-6
    x[230:] = np.round(x[230:])
    x[:8] = [np.zeros((3, 3)), np.eye(3), -np.eye(3), np.ones((3, 3)), np.diag([1, 0, 2]), np.diag([1, 1e-4, 1e-7]),
             np.outer([1, 2, 3], [0, 0, 1]), np.outer([0, 0, 1], [0, 1, 0])]  # fmt: skip
    return x.astype(dtype)


def outputs(name: str, dtype: str, x: np.ndarray) -> tuple[np.ndarray, ...]:
    m, v = matrix((3, 3), dtype), vector(3, dtype)
    made = [wb.zeros(len(x), m), wb.zeros(len(x), v), wb.zeros(len(x), m)]
    wb.launch(kernel(name, dtype), len(x), [wb.array(x, m)], made)
    return tuple(a.numpy().astype(np.float64) for a in made)


def turned(a: np.ndarray) -> np.ndarray:
    return a.transpose(0, 2, 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BODIES)
def test_the_factors_are_orthogonal_and_make_the_matrix(name: str, dtype: str) -> None:
    x = samples(dtype)
    u, d, v = outputs(name, dtype, x)
    whole = x.astype(np.float64)
    scale, eps = np.abs(whole).max((1, 2), keepdims=True) + 1e-300, float(np.finfo(dtype).eps)

    def small(error: np.ndarray) -> bool:
        return bool(np.abs(error).max() < 20 * eps)

    assert small(u @ turned(u) - np.eye(3))
    if name == "svd3":
        assert small(v @ turned(v) - np.eye(3)) and (d >= 0).all() and (np.diff(d) <= 0).all()
        assert small(((u * d[:, None]) @ turned(v) - whole) / scale)
        assert small((d - np.linalg.svd(whole)[1]) / scale[..., 0])
    elif name == "qr3":
        assert (d >= 0).all() and not np.tril(v, -1).any() and small((u @ v - whole) / scale)
    else:
        both = whole + turned(whole)
        assert small(((u * d[:, None]) @ turned(u) - both) / scale)
        assert small((d - np.linalg.eigvalsh(both)) / scale[..., 0])


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", BODIES)
def test_gradients_are_right_where_values_are_distinct(name: str) -> None:
    x = np.random.default_rng(7).normal(size=(1, 3, 3))
    results = [wb.zeros(1, wb.mat33d), wb.zeros(1, wb.vec3d), wb.zeros(1, wb.mat33d)]
    body = "def k(x: array[mat33d], y: array[float64]):\n    i = tid()\n    a, b = qr3(x[i])\n"
    k = kernel(name, "float64") if name != "qr3" else define(f"{body}    y[i] = ddot(a, b) + b[0, 1]\n")["k"]
    verdict = wb.gradcheck(k, 1, [wb.array(x, wb.mat33d)], results if name != "qr3" else [wb.zeros(1, wb.float64)])
    assert verdict.ok and verdict.compared >= 9, str(verdict)


@pytest.mark.parametrize("name", BODIES)
def test_the_interpreter_and_the_cuda_text_give_the_same(name: str, need) -> None:
    need("nvrtc")
    x = samples("float64")[:10]
    k = kernel(name, "float64")
    function = k.specialise([*k.annotations.values()]).function
    outcomes = []
    for runs in (lambda a: run(function, 10, a), lambda a: Library([function], Options()).run("k", 10, a)):
        made = [np.zeros((10, 3, 3)), np.zeros((10, 3)), np.zeros((10, 3, 3))]
        runs([x, *made])
        outcomes.append(made)
    outcomes.append(list(outputs(name, "float64", x)))
    for other in outcomes[1:]:
        assert all(np.allclose(a, b, rtol=1e-12, atol=1e-14) for a, b in zip(outcomes[0], other, strict=True))


def test_nvrtc_takes_the_text() -> None:
    pytest.importorskip("cuda.bindings")
    k = kernel("svd3", "float32")
    function = k.specialise([*k.annotations.values()]).function
    for target in ("sm_75", "sm_90", "sm_120"):
        assert CudaBackend().compile(function, Options(), target).image


def test_only_three_by_three() -> None:
    with pytest.raises(wb.KernelTypeError, match=r"svd3\(\) takes a 3 × 3 matrix; it got mat22"):
        define("def k(x: array[mat22], y: array[mat22]):\n    y[tid()], s, v = svd3(x[tid()])\n")
