"""Functions as arguments, several versions of one func, generic annotations of funcs and kernels."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.frontend.errors.test_refusals import under_caret
from tests.support.checks import meaning
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.python.interpret import run
from workbench.errors import KernelSyntaxError, KernelTypeError, LaunchError
from workbench.frontend.functions import inline
from workbench.ir.values import walk

XS = np.array([0.5, -2.0, 3.0])
APPLY = """
    def square(a):
        return a * a

    def apply(f: Callable, a):
        return f(a)

    def twice(f, a):
        return f(apply(f, a))

    def compose(f, g, a):
        return f(g(a))

    def k(x, y):
        i = tid()
        q = twice(square, x[i]) + apply(sin, x[i]) + compose(abs, twice_minus, x[i])
        y[i] = q + twice(quarter, x[i])

    def twice_minus(a):
        return twice(minus, a) - 1.0

    def minus(a):
        return -a

    def quarter(a):
        return twice(half, a)

    def half(a):
        return 0.5 * a
    """
OVERLOADS = """
    def size_of(v: vec3d):
        return 3.0

    def size_of(a: float64):
        return 1.0

    def size_of(a: Int):
        return 10.0

    def size_of(a, b):
        return 100.0

    def size_of(a):
        return 1000.0

    def k(x, y):
        i = tid()
        y[i] = size_of(vec3d(x[i], 0.0, 0.0)) + size_of(x[i]) + size_of(i) + size_of(a=x[i], b=1) + size_of(i > 1)
    """


def test_functions_as_arguments():
    got, interpreted = meaning.results(APPLY, XS, {"Callable": Callable})
    assert np.array_equal(got, interpreted)
    assert np.allclose(got, XS**4 + np.sin(XS) + np.abs(XS - 1) + XS / 16)


def test_the_gradient_goes_through_a_function_argument():
    kernel = meaning.define(APPLY, {"Callable": Callable})["k"]
    x, y = wb.array(XS.copy(), requires_grad=True), wb.array(np.zeros(3), requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(kernel, 3, inputs=[x], outputs=[y])
    tape.backward(grads={y: wb.array(np.ones(3))})
    assert np.allclose(x.grad.numpy(), 4 * XS**3 + np.cos(XS) + np.sign(XS - 1) + 1 / 16)


def test_the_version_that_fits():
    got, interpreted = meaning.results(OVERLOADS, XS)
    assert got.tolist() == interpreted.tolist() == [1114.0] * 3


def test_the_cuda_text_means_the_same(need):
    need("nvrtc")
    for text in (APPLY, OVERLOADS):
        kernel = meaning.define(text, {"Callable": Callable})["k"]
        array = wb.array(XS).type
        function = kernel.specialise([array, array]).function
        library = Library([function], Options())
        expected, got = np.zeros(3), np.zeros(3)
        run(function, (3,), [XS.copy(), expected])
        library.run("k", (3,), [XS.copy(), got])
        assert np.allclose(got, expected, rtol=1e-14)


def test_versions_in_a_file_are_joined_and_one_with_equal_annotations_is_replaced():
    @wb.func
    def f(a: float):
        return a

    @wb.func
    def f(a: int):  # noqa: F811
        return 5.0

    @wb.func
    def f(a: float):  # noqa: F811
        return 2.0 * a

    @wb.kernel
    def k(y: wb.array[float]):
        i = wb.tid()
        y[i] = f(1.5) + f(i)

    assert len(f.__wb_definitions__) == 2
    y = wb.zeros(1, float)
    wb.launch(k, 1, outputs=[y])
    assert y.numpy().tolist() == [8.0]


def test_running_the_same_text_again_begins_anew():
    made = []
    for _ in range(2):

        @wb.func
        def f(a: float):
            return a

        @wb.func
        def f(a: int):  # noqa: F811
            return a

        made.append(f)
    assert [len(f.__wb_definitions__) for f in made] == [2, 2]


def test_families_of_a_kernel():
    kernel = meaning.define(
        "@kernel\ndef k(a: Float, n: Int, x: array(dtype=Float), y: array2d[Scalar], z: array(dtype=Any, ndim=2)):\n"
        "    i = tid()\n    y[i, 0] = x[i] * a + float(n)\n    z[i, 0] = z[i, 1]\n"
    )["k"]
    x = wb.array(np.ones(2, np.float32))
    y = wb.array(np.zeros((2, 1), np.float32))
    z = wb.array(np.array([[1, 2], [3, 4]], np.int64))
    wb.launch(kernel, 2, inputs=[2, 3, x, y, z])
    assert y.numpy().tolist() == [[5.0], [5.0]] and z.numpy().tolist() == [[2, 2], [4, 4]]
    flat = wb.array(np.zeros(2, np.float32))
    for position, wrong, sentence in [
        (0, True, "a takes Float; the argument is bool"),
        (1, 2.5, "n takes Int; the argument is float32"),
        (2, wb.array(np.zeros(2, np.int32)), r"x takes array\[Float\]; the argument is array\[int32\]"),
        (3, flat, r"y takes array2d\[Scalar\]"),
        (4, flat, r"z takes array2d\[Any\]"),
    ]:
        given: list[Any] = [2, 3, x, y, z]
        given[position] = wrong
        with pytest.raises(LaunchError, match=sentence):
            wb.launch(kernel, 2, inputs=given)


def test_a_small_numpy_array_for_a_generic_array_is_an_array():
    kernel = meaning.define("@kernel\ndef k(x: array(dtype=Any)):\n    x[tid()] += 1.0\n")["k"]
    x = np.zeros(3, np.float32)
    wb.launch(kernel, 3, inputs=[x])
    assert x.tolist() == [1.0, 1.0, 1.0]


CALLS = [
    ("def f(a: Float):\n    return a", "f(i)", "a of f() is Float; the argument is int32"),
    ("def f(a: Int):\n    return a", "f(2.0)", "a of f() is Int; the argument is a float literal"),
    ("def f(a: Callable):\n    return a(1.0)", "f(1.0)", "a of f() is Callable; the argument is a float literal"),
    ("def f(a: Scalar):\n    return a", "f(sin)", "a of f() is Scalar; the argument is sin"),
    ("def f(a: float):\n    return a\ndef f(a: vec3):\n    return a.x", "f(i)",
     "No version of f() takes (int32).  The versions: f(a: float32); f(a: vec3)."),
    ("def f(a: float, b):\n    return a\ndef f(a, b: float):\n    return a", "f(x[i], x[i])",
     "Several versions of f() fit the arguments equally well.  Cast an argument. The versions: f(a: float32, b); "
     "f(a, b: float32)."),
    ("def f(a: float):\n    return a\ndef f(a: int):\n    return a", "f(1, 2)",
     "No version of f() takes this many arguments"),
    ("def f(g, a):\n    return g(f, a)", "f(f, 1.0)", "f calls itself"),
    ("def f(a):\n    return a(1.0)", "f(2.0)", "a float literal cannot be called"),
]  # fmt: skip


@pytest.mark.parametrize(("funcs", "call", "sentence"), CALLS)
def test_refused(funcs, call, sentence):
    text = f"{textwrap.dedent(funcs)}\n@kernel\ndef k(x: array[float]):\n    i = tid()\n    z = {call}\n"
    with pytest.raises((KernelTypeError, KernelSyntaxError)) as caught:
        meaning.define(text, {"Callable": Callable})
    assert sentence in caught.value.render()
    inside = any(word in sentence for word in ("calls itself", "cannot be called"))
    assert inside or under_caret(caught.value) == call


# A func's statements: the text under the caret of the change that its caller would not see; None where it is seen.
CHANGES = [
    ("v[0] = 5.0", "v[0]"),
    ("v.x += 5.0", "v.x += 5.0"),
    ("m[0, 1] = 5.0", "m[0, 1]"),
    ("s.at.x = 5.0", "s.at.x"),
    ("v.x = 1.0\n    v.y = v.x", "v.y"),
    ("if v.x > 0.0:\n        v.x = 1.0", "v.x"),
    ("for q in range(2):\n        s.n = q", "s.n"),
    ("v.x = v.y; return v", None),
    ("s.n = 2\n    w = s.n", None),
    ("for q in range(2):\n        v.x = 2.0 * v.x", None),
    ("v = 2.0 * v\n    v.x = 1.0", None),
    ("w = v\n    w.x = 1.0", None),
]  # fmt: skip


@pytest.mark.parametrize(("body", "place"), CHANGES)
def test_a_change_of_an_argument_that_the_caller_would_not_see(body: str, place: str | None) -> None:
    text = f"""@struct
class S:
    n: int
    at: vec2
def f(v: vec3, m: mat22, s: S):
    {body}
def k(x: array[float]):
    f(vec3(x[0]), mat22(), S())
"""
    if place is None:
        assert "k" in meaning.define(text)
        return
    with pytest.raises(KernelTypeError, match="is f's own copy, and nothing reads it after this change") as caught:
        meaning.define(text)
    assert under_caret(caught.value) == place and "and assign it at the call" in caught.value.advice


def test_a_kernel_with_a_function_inside_is_refused_for_that():
    text = "def k(x: array[float]):\n    x[tid()] = 1.0\n    def f(a):\n        return a\n"
    with pytest.raises(KernelSyntaxError, match="A function cannot be defined inside a kernel"):
        meaning.define(text)


def test_a_default_that_is_a_name_has_the_value_at_the_definition():
    text = "def f(a: float, b: float = SCALE):\n    return a * b\ndef k(x: array[float]):\n    x[0] = f(x[1])\n"
    kernel = wb.build_cell(text, {"wb": wb, "SCALE": 2.0}).names["k"]
    x = wb.array([0.0, 3.0])
    wb.launch(kernel, 1, [x])
    assert x.numpy()[0] == 6.0


CALLED_OFTEN = """
    @struct
    class P:
        a: float
        n: int

    def leaf(p: P, v: float):
        if v > p.a:
            v = v * 0.5 + p.a
        for j in range(p.n):
            v = sin(v) * p.a
        q = P(v, p.n + 1)
        return q, v * p.a + float(p.n)

    def inner(p: P, v: float):
        q, w = leaf(p, v)
        r, u = leaf(q, w * 0.5)
        s, t = leaf(q, w * 0.5)
        return r, u + w * t

    def halved(v: float):
        return leaf(P(v, 2), v)[1] + leaf(P(v, 2), v)[1] * leaf(P(0.5, 2), v)[1] + leaf(P(v, 2), 0.25)[1]

    @func_grad(halved)
    def adj_halved(v: float, adj: float):
        adjoint[v] += adj * (leaf(P(v, 2), v)[1] + leaf(P(v, 2), v)[1] * leaf(P(0.5, 2), v)[1] + leaf(P(v, 2), 0.25)[1])

    def k(x: array[float], y: array[float], m: int):
        i = tid()
        p, v = inner(P(x[i], m), x[i])
        for j in range(m):
            if v > 0.5 and inner(p, v)[1] > inner(p, 0.5)[1]:
                p, v = inner(p, v)
            v += inner(p, v)[1] * float(p.n)
        y[i] = v + inner(p, v)[1] + inner(p, v)[1] + halved(v)
"""


def test_a_call_written_out_at_the_end_means_what_the_func_means_in_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The two are not the same code: of equal calls one is written out, with its branches and loops."""
    results, lengths = [], []
    for long in (0, 10**9):
        monkeypatch.setattr(inline, "CALLED_OPERATIONS", long)
        monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / str(long)))  # which keeps what lowering comes to
        kernel = meaning.define(CALLED_OFTEN, {"func_grad": wb.func_grad, "adjoint": wb.adjoint})["k"]
        forward = kernel.specialise().function
        backward = adjoint(forward)
        x, y, adj_x, adj_y = (np.array(start, np.float32) for start in (XS, [0] * 3, [0] * 3, [1, 2, 3]))
        run(forward, 3, [x, y, 3])
        run(backward, 3, [x, np.zeros(3, np.float32), 3, adj_x, adj_y])
        results.append([y, adj_x])
        lengths.append(sum(1 for _ in walk(forward.body)))
    assert np.array_equal(results[0], results[1]) and np.isfinite(results[0]).all() and np.all(results[0])
    assert lengths[0] < 0.9 * lengths[1]


def test_a_star_unpacks_tuples_and_vectors_as_in_python():
    text = (
        "@func\ndef mixed(a: float, b: float, c: float):\n    return a + 10.0 * b + 100.0 * c\n"
        "@kernel\ndef k(v: array[vec3], y: array[float], z: array[vec3]):\n    i = tid()\n    pair = (1.0, 2.0)\n"
        "    y[i] = mixed(*v[i]) + mixed(*pair, 3.0)\n    z[i] = vec3(*v[i].xy, 7.0)\n"
    )
    v, y, z = wb.array([[1.0, 2.0, 3.0]], dtype=wb.vec3), wb.zeros(1, dtype=float), wb.zeros(1, dtype=wb.vec3)
    wb.launch(define(text)["k"], 1, inputs=[v], outputs=[y, z])
    mixed = lambda a, b, c: a + 10.0 * b + 100.0 * c  # noqa: E731
    pair = (1.0, 2.0)
    assert y.numpy().tolist() == [mixed(*[1.0, 2.0, 3.0]) + mixed(*pair, 3.0)]
    assert z.numpy().tolist() == [[1.0, 2.0, 7.0]]


def test_a_star_unpacks_a_slice_of_an_array_with_written_bounds():
    text = (
        "@kernel\ndef k(x: array[float], y: array2d[float], o: array[float]):\n"
        "    o[0] = max(*x[:2])\n    v = vec3(*x[1:6:2])\n    w = vec2(*y[1, 0:2])\n"
        "    o[1] = v[0] + 10.0 * v[1] + 100.0 * v[2]\n    o[2] = vec2(*v[1:])[1] + vec2(*y[1][0:2])[0]\n"
    )
    x, y = np.arange(6, dtype=np.float32), np.arange(6, dtype=np.float32).reshape(3, 2)
    o = wb.zeros(3, dtype=float)
    with pytest.raises(wb.KernelTypeError):  # a tuple of indices is no slice of an array
        wb.launch(define(text)["k"], 1, inputs=[wb.array(x), wb.array(y)], outputs=[o])
    wb.launch(define(text.replace("y[1, 0:2]", "y[1][0:2]"))["k"], 1, inputs=[wb.array(x), wb.array(y)], outputs=[o])
    assert o.numpy().tolist() == [max(*x[:2]), 1.0 + 30.0 + 500.0, 5.0 + y[1, 0]]
    for part, message in (
        ("x[:i]", "compile-time constant"), ("x[1:]", "explicit upper bound"), ("x[-2:3]", "cannot be negative"),
        ("x[3:1:-1]", "cannot be negative"),
    ):  # fmt: skip
        with pytest.raises(wb.KernelTypeError, match=message):
            define(f"@kernel\ndef k(x: array[float]):\n    i = tid()\n    x[0] = max(*{part})\n")


def test_a_star_before_anything_else_is_refused():
    with pytest.raises(wb.KernelTypeError, match=r"\* unpacks a tuple, a vector or a slice of an array; this is arr"):
        define("@func\ndef f(a: float):\n    return a\n@kernel\ndef k(x: array[float]):\n    x[0] = f(*x)\n")


def test_what_literals_compare_to_is_known_when_a_kernel_is_compiled():
    text = (
        "@kernel\ndef k(y: array[int]):\n    if static(N) > 1:\n        y[0] = undefined_name\n"
        "    if not static(N):\n        y[0] = undefined_name\n    y[1] = where(y[0], 5, 7)\n"
    )
    y = wb.array([3, 0], dtype=int)
    wb.launch(define(text, {"N": 1})["k"], 1, outputs=[y])
    assert y.numpy().tolist() == [3, 5]
