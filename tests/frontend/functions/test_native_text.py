"""Funcs with CUDA text: the text on CUDA, the Python body elsewhere, both in gradients, errors at their line."""

from __future__ import annotations

import re

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning, numeric
from tests.support.devices import on_gpu
from workbench import inspect
from workbench.api.builds import build
from workbench.autodiff import adjoint, tangent
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run

KERNEL = "\ndef k(x: array[float64], c: array[float64], y: array[float64]):\n    i = tid()\n    y[i] = {call}\n"
BODY = "    r = float64(0.0)\n    for k in range(n):\n        r += x * x\n    return r * c[0]\n"
TEXT = '''
@func_native(cuda="""
    double r = 0.0;
    for (int k = 0; k < n; k++) r += x * x;
    return r * c.data[0];
""", adj_cuda="""
    adj_x += 2.0 * n * x * c.data[0] * adj_ret;
    atomicAdd(&adj_c.data[0], n * x * x * adj_ret);
""")
def times(x: float64, n: int, c: array[float64]) -> float64:
'''
VECTOR = """
@func_native("return vec2d{v.y * s, v.x};", "adj_v.x += adj_ret.y; adj_v.y += adj_ret.x * s; adj_s += adj_ret.x * v.y;")
def swap(v: vec2d, s: float64) -> vec2d:
    return vec2d(v.y * s, v.x)
"""
STORES = """
@func_native("y.data[i] = x * x;", "adj_x += 2.0 * x * adj_y.data[i]; adj_y.data[i] = 0.0;")
def put(y: array[float64], i: int, x: float64):
    y[i] = x * x
"""
CASES = {
    "a number": (TEXT + BODY, "times(x[i], 3, c) * 2.0"),
    "a number in a branch": (TEXT + BODY, "times(x[i], 3, c) if x[i] > 1.0 else x[i]"),
    "derived": (TEXT.split(", adj_cuda")[0] + ")\n" + TEXT.splitlines()[-1] + "\n" + BODY, "times(x[i], 2, c)"),
    "a vector": (VECTOR, "dot(swap(vec2d(x[i], 2.0), x[i]), vec2d(3.0, 1.0))"),
}  # fmt: skip


def kernel(name: str):
    text, call = CASES[name]
    return meaning.define(text + KERNEL.format(call=call))["k"]


def storing():
    return meaning.define(
        STORES + "\ndef k(x: array[float64], y: array[float64]):\n    i = tid()\n    put(y, i, x[i])\n"
    )["k"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CASES)
def test_text_and_body_mean_the_same(name):
    function = kernel(name).specialise().function
    for made in (function, adjoint(function)):
        extra = [np.zeros(3), np.zeros(1), np.ones(3)] if made is not function else []
        expected = [numeric.values(3), numeric.values(1), np.zeros(3), *extra]
        shim = [a.copy() for a in expected]
        run(made, (3,), expected)
        on_gpu.run(made, (3,), shim)
        for one, two in zip(expected, shim, strict=True):
            np.testing.assert_allclose(two, one, rtol=1e-13)
    numeric.check(function, (3,), numeric.values(3), numeric.values(1), numeric.values(3))


def test_a_func_that_stores():
    function = storing().specialise().function
    expected, shim = [numeric.values(3), np.zeros(3)], [numeric.values(3), np.zeros(3)]
    run(function, (3,), expected)
    on_gpu.run(function, (3,), shim)
    np.testing.assert_allclose(shim[1], expected[1])
    numeric.check(function, (3,), numeric.values(3), numeric.values(3))


def test_the_text_is_what_runs_on_cuda_and_the_body_elsewhere():
    text = '@func_native("return x + 100.0;")\ndef f(x: float64) -> float64:\n    return x + 1.0\n'
    made = meaning.define(text + KERNEL.format(call="f(x[i])"))["k"]
    arguments = [np.zeros(2), np.zeros(1), np.zeros(2)]
    on_gpu.run(made.specialise().function, (2,), arguments)
    assert arguments[2].tolist() == [100.0, 100.0]
    y = wb.zeros(2, dtype=wb.float64)
    wb.launch(made, 2, inputs=[wb.zeros(2, dtype=wb.float64), wb.zeros(1, dtype=wb.float64)], outputs=[y])
    assert y.numpy().tolist() == [1.0, 1.0]


ALONE = '@func_native("x.data[i] *= 2.0;")\ndef f(x: array[float64], i: int):\n    ...\n'


def test_without_a_body_it_runs_on_cuda_alone():
    made = meaning.define(ALONE + "\ndef k(x):\n    f(x, tid())\n")["k"]
    x = wb.ones(2, dtype=wb.float64)
    with pytest.raises(wb.BuildError, match="no Python body, so it runs on a CUDA device alone"):
        wb.launch(made, 2, inputs=[x])
    with pytest.raises(wb.LaunchError, match="no Python body"):
        run(made.used.function, (2,), [np.ones(2)])
    array = np.ones(2)
    on_gpu.run(made.used.function, (2,), [array])
    assert array.tolist() == [2.0, 2.0]
    with pytest.raises(wb.NotDifferentiable, match="whose gradient is not known"):
        adjoint(made.used.function)
    with pytest.raises(wb.NotDifferentiable, match="whose tangent is not known"):
        tangent(made.used.function)


def test_adjoint_text_without_a_body():
    text = '@func_native("return x * x;", "adj_x += 2.0 * x * adj_ret;")\ndef f(x: float64) -> float64:\n    ...\n'
    function = adjoint(meaning.define(text + "\ndef k(x, y):\n    i = tid()\n    y[i] = f(x[i])\n")["k"].specialise(
        [wb.types.ArrayType(wb.float64)] * 2).function)  # fmt: skip
    adj = [np.zeros(2), np.ones(2)]
    on_gpu.run(function, (2,), [np.array([1.0, 3.0]), np.zeros(2), *adj])
    assert adj[0].tolist() == [2.0, 6.0]


def test_a_replay_of_text_stands_for_what_the_text_would_change():
    text = (
        '@func_native("n.data[0] += 1; return x * x;", replay_cuda="return x * x;")\n'
        "def f(n: array[int], x: float64) -> float64:\n    n[0] += 1\n    return x * x\n"
        "\ndef k(n: array[int], x: array[float64], y: array[float64]):\n    i = tid()\n    y[i] = sin(f(n, x[i]))\n"
    )
    function = adjoint(meaning.define(text)["k"].specialise().function)
    count, adj = np.zeros(1, np.int32), [np.zeros(2), np.ones(2)]
    on_gpu.run(function, (2,), [count, np.array([0.5, 1.0]), np.zeros(2), *adj])
    np.testing.assert_allclose(adj[0], np.cos([0.25, 1.0]) * [1.0, 2.0])
    assert count[0] == 0


def test_texts_are_in_the_key_and_their_places_are_not():
    def digest(text: str, direction: str = "forward") -> str:
        specialisation = meaning.define(text + KERNEL.format(call="times(x[i], 3, c)"))["k"].specialise()
        backend = build.backend_for("cpu")
        return build.key_of(specialisation, direction, Options(), backend, backend.target(), False).digest

    plain = TEXT + BODY
    assert digest("\n\n" + plain) == digest(plain)
    assert digest(plain.replace("r = 0.0;", "r = 0;")) != digest(plain)
    assert digest(plain.replace("2.0 * n", "2 * n")) == digest(plain)
    assert digest(plain.replace("2.0 * n", "2 * n"), "adjoint") != digest(plain, "adjoint")


def test_an_error_in_the_text_stands_at_its_line(need):
    need("nvrtc")
    wrong = meaning.define((TEXT + BODY).replace("r += x * x;", "r += z;") + KERNEL.format(call="times(x[i], 3, c)"))[
        "k"
    ]
    with pytest.raises(wb.BuildError, match=r'NVRTC refused the CUDA text of times: identifier "z"') as caught:
        CudaBackend().compile(wrong.specialise().function, Options(), "sm_90")
    assert (
        caught.value.location.source.line(caught.value.location.line).strip() == "for (int k = 0; k < n; k++) r += z;"
    )


def test_nvrtc_takes_it(need):
    need("nvrtc")
    for function in (kernel("a number").specialise().function, kernel("a vector").specialise().function):
        for made in (function, adjoint(function)):
            assert CudaBackend().compile(made, Options(checks=True), "sm_90").image


def test_the_pane_of_the_ir_leaves_the_text_to_the_cell():
    assert "for (int k" not in inspect.ir(kernel("a number"))
    assert "static __device__ double wb_native_times(double x, int n" in inspect.cuda(kernel("a number"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('@func_native("return x;")\ndef f(x) -> float64:\n    return x\n', "x of f has no type"),
        ('@func_native("return x;")\ndef f(x: float64):\n    return x\n', "its annotation says"),
        ('@func_native(3)\ndef f(x: float64):\n    return x\n', "CUDA source is a string"),
        ('@func_native(NOBODY)\ndef f(x: float64):\n    return x\n', "does not find NOBODY"),
    ],
)  # fmt: skip
def test_refused(text, sentence):
    with pytest.raises(wb.WorkbenchError) as caught:
        meaning.define(text + KERNEL.format(call="f(x[i])"))
    assert sentence in caught.value.render()


def test_what_was_read_before_a_branch_that_stores_is_read_before_it():
    k = meaning.define(
        STORES
        + """
def sometimes(y: array[float64], i: int, x: float64):
    if x > 2.0:
        put(y, i, x)
    return 1.0

def k(x: array[float64], y: array[float64]):
    i = tid()
    y[i] = y[i] * 2.0 + sometimes(y, i, x[i])
"""
    )["k"]
    text = CudaBackend().emit(k.specialise().function, Options(), "sm_90")
    (read,) = re.findall(r"(\w+) = y\.data\[i\];", text)
    assert f"y.data[i] = {read} * 2.0 + 1.0;" in text
    assert text.index(f"{read} = y.data[i];") < text.index("wb_native_put(y, i,")


def test_in_a_file():
    @wb.func_native(cuda="return a + 1.0f;")
    def more(a: float) -> float:
        return a + 1.0

    @wb.kernel
    def k(y: wb.array[float]):
        i = wb.tid()
        y[i] = more(y[i])

    y = wb.zeros(2, dtype=float)
    wb.launch(k, 2, inputs=[y])
    assert y.numpy().tolist() == [1.0, 1.0]
    assert "wb_native_more(y.data[i])" in inspect.cuda(k)
