"""`return value` inside the loops of funcs: what Python makes of the same text, on every backend, and its gradient."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.support.checks import meaning
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.python.interpret import run
from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.types import ArrayType, int32

INTS = np.arange(-4, 30, 3, dtype=np.int32)
FUNCS = {
    "search": """
        for q in range(50):
            if q * q > v:
                return q
        return -1
        """,
    "short range": """
        for q in range(5):
            if q == v:
                return 10 * q
        return v
        """,
    "from the inner loop": """
        for p in range(4):
            for q in range(60):
                if q > 5 and q * p > v:
                    return q * 100 + p
            if p > v:
                return p
        return -1
        """,
    "from the inner loop alone": """
        s = v
        for p in range(4):
            for q in range(6):
                s = (s * 7 + q) % 31
                if s > 20:
                    return s * 100 + p * 10 + q
        else:
            s += 1000
        return s
        """,
    "from the third loop alone, in a branch": """
        s = abs(v)
        n = 0
        while n < 5:
            n += 1
            if s % 3 != 0:
                for p in (1, 2, n):
                    for q in range(4):
                        s = (s * 5 + p * q) % 29
                        if s % 7 == 3:
                            return s * 100 + n
            s += 1
        return -s
        """,
    "from a while": """
        n = v
        while n > 3:
            n -= 5
            if n % 4 == 2:
                return n + 1000
        else:
            n = -n
        return n
        """,
    "over a tuple": """
        for q in (3, v, 7):
            if q > 5:
                return q
            if q < 0:
                break
        return 0
        """,
    "always": """
        for q in range(v, 100):
            return q
        return 5
        """,
    "in both branches": """
        s = 0
        for q in range(40):
            if q > 20:
                return s
            elif q == v:
                return -s
            else:
                s += q
        return 7
        """,
    "before a loop and in it": """
        if v < 0:
            return 3
        for q in range(100):
            if q > v:
                if q % 2:
                    return q
                continue
        return 4
        """,
    "else of the loop": """
        for q in range(40):
            if q == v:
                return 1
        else:
            return 2
        return 3
        """,
    "two loops": """
        for q in range(4):
            if q == v:
                return 1
        for p in range(40):
            if p * p > v:
                return p
        return 3
        """,
    "one of several paths": """
        r = 0
        if v > 3:
            for q in range(100):
                if q * 3 > v:
                    return q
            r = 5
        return r + v
        """,
}


def text_of(body: str) -> str:
    indented = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"def f(v):\n{indented}\n\ndef k(x, y):\n    i = tid()\n    y[i] = f(x[i])\n"


@pytest.mark.parametrize("name", FUNCS)
def test_means_what_python_means(name):
    text = text_of(FUNCS[name])
    got, interpreted = meaning.results(text, INTS)
    space: dict = {}
    exec(text, space)
    expected = [space["f"](v) for v in INTS.tolist()]
    assert got.tolist() == interpreted.tolist() == expected


def test_the_cuda_text_means_the_same(need):
    need("nvrtc")
    array = ArrayType(int32, 1)
    functions = [
        replace(meaning.define(text_of(body))["k"].specialise([array, array]).function, name=f"k{number}")
        for number, body in enumerate(FUNCS.values())
    ]
    library = Library(functions, Options())
    for function, name in zip(functions, FUNCS, strict=True):
        expected, got = np.zeros_like(INTS), np.zeros_like(INTS)
        run(function, (INTS.size,), [INTS.copy(), expected])
        library.run(function.name, (INTS.size,), [INTS.copy(), got])
        assert np.array_equal(got, expected), name


def test_several_results_and_vectors():
    text = """
        def f(v):
            for q in range(40):
                if 0.5 * q > v:
                    return q, vec2d(v, float64(2 * q))
            return -1, vec2d(v, v)

        def k(x, y):
            i = tid()
            n, v = f(x[i])
            y[i] = n + v.x * v.y
        """
    xs = np.linspace(-1, 25, 9)
    got, interpreted = meaning.results(text, xs)
    expected = []
    for x in xs:
        q = next((q for q in range(40) if 0.5 * q > x), None)
        expected.append(q + x * 2 * q if q is not None else -1 + x * x)
    assert np.array_equal(got, interpreted)
    assert np.allclose(got, expected)


def test_the_gradient_follows_the_path_that_returned():
    text = """
        def root(a):
            r = a
            for q in range(30):
                if abs(r * r - a) < 1e-14 * a:
                    return r
                r = 0.5 * (r + a / r)
            return r

        def k(x, y):
            i = tid()
            y[i] = root(x[i])
        """
    x = wb.array(np.array([0.5, 2.0, 9.0]), requires_grad=True)
    y = wb.array(np.zeros(3), requires_grad=True)
    kernel = meaning.define(text)["k"]
    with wb.Tape() as tape:
        wb.launch(kernel, 3, inputs=[x], outputs=[y])
    tape.backward(grads={y: wb.array(np.ones(3))})
    assert np.allclose(y.numpy(), np.sqrt(x.numpy()))
    assert np.allclose(x.grad.numpy(), 0.5 / np.sqrt(x.numpy()), rtol=1e-6)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("for q in range(9):\n        if q > v:\n            return 0.5 * q\n    return v",
         "f returns float32 on one path and int32"),
        ("for q in range(9):\n        if q > v:\n            return q",
         "returns 1 value on one path and nothing on another"),
        ("for q in range(9):\n        if q > v:\n            return g(q)\n    return 1, 2",
         "must be a number, a vector or a struct"),
        ("for q in range(9):\n        if q > v:\n            return foo\n    return 1", "The name foo is not defined"),
    ],
)  # fmt: skip
def test_refused(body, sentence):
    kernel = "def k(x: array[int]):\n    i = tid()\n    z = f(x[i])\n"
    text = f"def g(a):\n    return a, a\n\ndef f(v):\n    {body}\n\n{kernel}"
    with pytest.raises((KernelTypeError, KernelSyntaxError)) as caught:
        meaning.define(text)
    assert sentence in caught.value.render()


def test_a_kernel_returns_nothing_from_a_loop_either():
    with pytest.raises(KernelTypeError, match="A kernel returns nothing") as caught:
        meaning.define(
            "@kernel\ndef k(x: array[int]):\n    for q in range(9):\n        if q > x[0]:\n            return q\n"
        )
    assert caught.value.location.line == 5


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_nvrtc_takes_the_text(need, target):
    need("nvrtc")
    array = ArrayType(int32, 1)
    for body in FUNCS.values():
        function = meaning.define(text_of(body))["k"].specialise([array, array]).function
        assert CudaBackend().compile(function, Options(), target).image


@wb.struct
class Search:
    early: float
    value: float


@wb.func
def in_a_struct_called_returned(x: float):
    returned = Search()
    returned.early = x
    returned.value = 2.0 * x
    for _ in range(4):
        returned.value += 1.0
        if returned.value > 5.0:
            return returned.value + returned.early
        returned.early += 10.0
    return returned.early - returned.value


@wb.kernel
def searched(x: wb.array[float], y: wb.array[float]):
    y[wb.tid()] = in_a_struct_called_returned(x[wb.tid()])


def test_a_users_struct_may_be_called_as_what_the_rewriting_keeps() -> None:
    x, y = np.array([-3.0, 0.0, 2.0, 5.0], np.float32), wb.zeros(4, dtype=float)
    wb.launch(searched, 4, inputs=[wb.array(x)], outputs=[y])
    assert y.numpy().tolist() == [39.0, 36.0, 18.0, 16.0]
