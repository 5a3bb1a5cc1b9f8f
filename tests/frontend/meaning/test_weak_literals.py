"""What is made of literals keeps its value through branches, loops and funcs, and takes the type of what it meets.

Kernels of float64 are compared with Python, which runs the same text; other types with NumPy 2, whose Python numbers
are weak too.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.frontend.meaning.test_plain_twins import Annotation
from tests.support.checks import meaning
from workbench.errors import KernelTypeError, WorkbenchError

COUNT = 12
# Statements of a kernel of float64; each is linear in x[i], so the slope is what Python returns for x[i] = 1.
LINEAR = {
    "a branch": """
        a = 0.1
        if i > 5:
            a = 0.3
        y[i] = x[i] * a""",
    "elif and else": """
        if i < 3:
            a = 0.1
        elif i < 6:
            a = 1
        else:
            a = 0.7
        b = a * 0.1
        y[i] = x[i] * b""",
    "a ternary": "y[i] = x[i] * (0.1 if i > 5 else 0.3)",
    "a ternary in a ternary": "y[i] = x[i] * (0.1 if i > 5 else (0.3 if i > 2 else 7) / 3)",
    "where": "y[i] = x[i] * where(i > 5, 0.1, 0.3)",
    "clamp": "y[i] = x[i] * clamp(0.7, 0.1, 0.3)",
    "the least and the largest": """
        a = 0.1
        if i % 2 == 1:
            a = 0.2
        y[i] = x[i] * min(a, 0.15) + x[i] * max(0.13, a, 0.17)""",
    "a loop": """
        b = 0.1
        for q in range(3):
            b = b * 1.1
        y[i] = x[i] * b""",
    "a loop in a loop": """
        b = 0.1
        c = 1
        for q in range(3):
            for p in range(i):
                b = b * 1.1 + 0.01
                c = c + 2
            b = b / 3.0
        y[i] = x[i] * b + x[i] * c""",
    "a condition": """
        e = 0.0
        while e < 0.3:
            e = e + 0.1
        y[i] = x[i] * e""",
    "ways out": """
        e = 0.1
        for q in range(40):
            e = e * 1.1
            if q > i:
                break
            if q % 3 == 1:
                continue
            e = e + 0.01
        else:
            e = 0.7
        y[i] = x[i] * e""",
    "an int that becomes a float": """
        s = 0
        for q in range(3):
            s = s + 0.1
        y[i] = x[i] * s""",
    "a quotient of ints": """
        n = 1
        if i > 4:
            n = 7
        y[i] = x[i] * (n / 3)""",
    "functions": """
        a = 2.0
        if i > 4:
            a = 3.0
        y[i] = x[i] * a ** 3 + x[i] * (-a) + x[i] * abs(0.1 - a)""",
    "a func": "y[i] = x[i] * f(i) + x[i] * f(i + 1) + x[i] * f(i + 2) + x[i] * f(i + 5)",
    "a func that calls one": "y[i] = x[i] * g(i) * g(i + 1) * g(i + 2) * g(i + 3) * g(i + 4)",
    "a func of a literal or a number": "y[i] = h(i, x[i]) - h(i + 3, 0.3 * x[i])",
    "what a func is passed": """
        a = 0.1
        if i > 4:
            a = 0.3
        y[i] = twice(a) * x[i] + typed(a) * x[i]""",
    "several results": """
        p, q = pair(i)
        y[i] = x[i] * p + x[i] * q""",
    "a tuple": """
        p, q = t = 0.1, 0.2
        if i > 4:
            p, q = t[1], 7
        y[i] = x[i] * p + x[i] * q""",
    "a number of the module": """
        a = RATE
        if i > 4:
            a = 3 * RATE
        y[i] = x[i] * a""",
    "both float types": """
        a = 0.1
        if i > 4:
            a = 0.3
        b = float32(2.0) * a
        y[i] = x[i] * a + 0.0 * float64(b)""",
    "an early return": """
        a = 0.1
        if i > 8:
            y[i] = x[i] * a
            return
        if i > 4:
            a = 0.7
        y[i] = x[i] * a""",
}
# Those that use no x, or store what is weak.
STORES = {
    "a store": """
        a = 0.1
        if i > 5:
            a = 0.3
        y[i] = a""",
    "a store of an int": """
        n = 1
        if i > 5:
            n = 3
        y[i] = n""",
    "in place": """
        a = 0.1
        if i > 5:
            a = 0.3
        y[i] += a
        y[i] -= 0.5 * a""",
    "a number as wide as literals need": """
        n = 5000000000
        if i > 5:
            n = 7
        y[i] = n""",
}
FUNCS = """
RATE = 0.1

def f(i: int):
    if i > 5:
        return 0.1
    return 0.3

def g(i: int):
    a = f(i)
    if i % 2 == 0:
        return a * f(i + 1)
    return 1

def h(i: int, v: float64):
    if i > 8:
        return 0.1
    if i > 5:
        return 7
    return v

def twice(a):
    return a * 2

def typed(a: float64):
    return a * a

def pair(i: int):
    for q in range(4):
        if q > i:
            return 0.1, 7
    return 0.3, 0.7
"""


def source(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"{FUNCS.replace('RATE = 0.1', '')}\ndef k(x: array[float64], y: array[float64]):\n    i = tid()\n{lines}\n"


def by_python(body: str, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    names: dict[str, Any] = {
        "array": Annotation, "float64": float, "float32": float, "RATE": 0.1, "where": lambda c, a, b: a if c else b,
        "clamp": lambda v, low, high: min(max(v, low), high),
    }  # fmt: skip
    exec(source(body), names)
    xs, y = x.tolist(), [0.0] * COUNT
    for thread in range(COUNT):
        names["tid"] = lambda here=thread: here
        names["k"](xs, y)
    return np.array(y)


def kernel(body: str) -> Any:
    return meaning.define(source(body), {"RATE": 0.1})["k"]


@pytest.mark.parametrize("name", [*LINEAR, *STORES])
def test_numbers_are_pythons(name: str) -> None:
    body, x = (LINEAR | STORES)[name], np.linspace(-1.3, 2.7, COUNT)
    expected = by_python(body, x)
    for found in meaning.results(source(body), x, {"RATE": 0.1}):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", LINEAR)
def test_numbers_on_the_emulated_device(name: str) -> None:
    x = np.linspace(-1.3, 2.7, COUNT)
    with wb.ScopedDevice("emulated"):
        y = wb.zeros(COUNT, wb.float64)
        wb.launch(kernel(LINEAR[name]), COUNT, [wb.array(x)], [y])
        np.testing.assert_array_equal(y.numpy(), by_python(LINEAR[name], x))


@pytest.mark.parametrize("name", LINEAR)
def test_slopes_are_pythons(name: str) -> None:
    x, y = wb.array(np.linspace(-1.3, 2.7, COUNT), requires_grad=True), wb.zeros(COUNT, wb.float64)
    with wb.Tape() as tape:
        wb.launch(kernel(LINEAR[name]), COUNT, [x], [y])
    tape.backward(grads={y: np.ones(COUNT)})
    slopes = by_python(LINEAR[name], np.ones(COUNT)) - by_python(LINEAR[name], np.zeros(COUNT))
    np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=1e-14)


def joined(first: str, second: str, use: str, dtype: str, result: str) -> np.ndarray[Any, Any]:
    """Return `use` of an element and of w, which is `first` or, from thread 2 on, `second`."""
    text = f"""
        def k(x: array[{dtype}], y: array[{result}]):
            i = tid()
            w = {first}
            if i >= 2:
                w = {second}
            y[i] = {use}
        """
    y = wb.zeros(4, getattr(wb, result))
    wb.launch(meaning.define(text)["k"], 4, [wb.array([3, 5, 7, 9], dtype=getattr(wb, dtype))], [y])
    return y.numpy()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("use", ["x[i] * w", "w + x[i]", "x[i] / w", "max(w, x[i])", "x[i] - w * w"])
def test_a_float_takes_the_elements_type(dtype: str, use: str) -> None:
    x = np.array([3, 5, 7, 9], dtype)
    choices = [0.1, 0.1, 0.3, 0.3]
    expected = [eval(use, {"x": x, "i": i, "w": w, "max": np.maximum}) for i, w in enumerate(choices)]
    assert {e.dtype.name for e in expected} == {dtype}
    found = joined("0.1", "0.3", use, dtype, dtype)
    rounding = {"float16": 1e-3, "float32": 1e-7, "float64": 0}[dtype]
    np.testing.assert_allclose(found, np.array(expected), rtol=rounding)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_an_int_takes_the_elements_type(dtype: str) -> None:
    with np.errstate(over="ignore"):
        expected = np.array([3, 5, 7, 9], dtype) * np.array([100, 100, 120, 120], dtype)
    np.testing.assert_array_equal(joined("100", "120", "x[i] * w", dtype, dtype), expected)


@pytest.mark.parametrize(("dtype", "result"), [("int32", "float32"), ("int64", "float64"), ("uint8", "float32")])
def test_a_float_makes_an_element_that_is_an_int_a_float(dtype: str, result: str) -> None:
    x, w = np.array([3, 5, 7, 9], dtype).astype(result), np.array([0.1, 0.1, 0.3, 0.3], result)
    np.testing.assert_array_equal(joined("0.1", "0.3", "x[i] * w", dtype, result), x * w)


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "int16", "int64"])
def test_an_int_that_a_run_computes_compares_as_the_number_it_is(dtype: str) -> None:
    np.testing.assert_array_equal(joined("-1", "7", "int32(w < x[i])", dtype, "int32"), [1, 1, 0, 1])


def test_a_counter_does_not_wrap_in_a_narrow_type_and_is_as_wide_as_what_it_meets() -> None:
    text = """
        def k(small: array[uint8], large: array[int64], x: array[uint8]):
            i = tid()
            n = 0
            s = 0
            for q in range(300):
                n += 10000000
                s += x[i]
            small[i] = n // 10000000
            large[i] = n + int64(s)
        """
    small, large = wb.zeros(2, wb.uint8), wb.zeros(2, wb.int64)
    wb.launch(meaning.define(text)["k"], 2, [small, large, wb.array([200, 255], dtype=wb.uint8)])
    np.testing.assert_array_equal(small.numpy(), [300 % 256] * 2)
    np.testing.assert_array_equal(large.numpy(), [3_000_060_000, 3_000_076_500])


def test_vectors_structs_atomics_and_views() -> None:
    Item = wb.struct(type("Item", (), {"__annotations__": {"a": wb.float64, "n": wb.int64}}))
    text = """
        def k(v: array[vec3d], f: array[vec3], y: array[float64], s: array[Item], x: array[float64]):
            i = tid()
            w = 0.1
            n = 0
            if i == 1:
                w = 0.3
            while n < 2:
                n += 1
            v[i] = vec3d(w, 2.0 * w, w) * w
            f[i] = vec3(w, w, w)
            atomic_add(y, 0, w)
            y[1 + i] = x[1:][n - 2 + i] * w
            item = Item(w, n)
            item.a = item.a + w
            s[i] = item
        """
    v, f, y = wb.zeros(2, wb.vec3d), wb.zeros(2, wb.vec3), wb.zeros(3, wb.float64)
    s = wb.zeros(2, Item)
    wb.launch(meaning.define(text, {"Item": Item})["k"], 2, [v, f, y, s, wb.array([1.0, 3.0, 7.0], dtype=wb.float64)])
    w = np.array([0.1, 0.3])
    np.testing.assert_array_equal(v.numpy(), np.stack([w * w, 2.0 * w * w, w * w], 1))
    np.testing.assert_array_equal(f.numpy(), np.stack([w] * 3, 1).astype(np.float32))
    np.testing.assert_array_equal(y.numpy(), [0.1 + 0.3, 3.0 * 0.1, 7.0 * 0.3])
    np.testing.assert_array_equal(s.numpy()["a"], w + w)
    np.testing.assert_array_equal(s.numpy()["n"], [2, 2])


def test_funcs_of_one_name_take_it_as_a_literal() -> None:
    text = """
        def f(a: int):
            return 1

        def f(a: float64):
            return 2

        def k(y: array[float]):
            w = 0.1
            n = 1
            if tid() == 1:
                w = 0.3
                n = 2
            y[tid()] = 10 * f(w) + f(n)
        """
    y = wb.zeros(2)
    wb.launch(meaning.define(text)["k"], 2, [y])
    np.testing.assert_array_equal(y.numpy(), [21, 21])


def test_a_gradient_of_ones_own_is_given_a_number_of_a_type() -> None:
    text = """
        @func
        def f(a: float):
            return a * a

        @func_grad(f)
        def adj_f(a: float, adj: float):
            wb.adjoint[a] += 3.0 * a * adj

        @kernel
        def k(x: array[float], y: array[float]):
            w = 0.5
            if tid() == 1:
                w = 0.25
            y[tid()] = f(w) * x[tid()]
        """
    x, y = wb.array(np.ones(2), dtype=wb.float32, requires_grad=True), wb.zeros(2)
    with wb.Tape() as tape:
        wb.launch(meaning.define(text, {"wb": wb, "func_grad": wb.func_grad})["k"], 2, [x], [y])
    tape.backward(grads={y: np.ones(2)})
    np.testing.assert_array_equal(x.grad.numpy(), [0.25, 0.0625])


def test_a_func_called_at_many_places_that_calls_others_is_lowered_once() -> None:
    """Twenty levels of two calls each: nothing here may take time that doubles with each."""
    lines = "def f{0}(i: int):\n    return f{1}(i) * 0.25 + f{1}(i + 1) * 0.25\n"
    levels = "".join(lines.format(n, n - 1) for n in range(1, 21))
    first = "def f0(i: int):\n    if i > 5:\n        return 0.1\n    return 0.3\n"
    text = first + levels + source("y[i] = x[i] * f20(i)")
    names = meaning.define(text)
    assert names["k"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("w = 0.5\n    if i > 1: w = 1e300\n    y[i] = w", "does not fit float32"),
        ("w = 1\n    if i > 1: w = 2**70\n    y[i] = w", "does not fit int32"),
        ("w = 0.5\n    if i > 1: w = HUGE\n    y[i] = w", "The constant HUGE is 1e+300, which does not fit float32"),
        ("n = 1\n    if i > 1: n = 0.5\n    z[i] = n", "An element of z is int32"),
        ("n = 1\n    if i > 1: n = 0.5\n    y[n] = 1.0", "Indices must be integers"),
    ],
)
def test_what_does_not_fit_is_refused_at_its_line(body: str, message: str) -> None:
    text = f"def k(y: array[float], z: array[int]):\n    i = tid()\n    {body}\n"
    with pytest.raises(WorkbenchError, match=r".*") as caught:
        meaning.define(text, {"HUGE": 1e300})
    error = caught.value
    assert isinstance(error, KernelTypeError)
    assert message in error.message.replace("int64", "int32")
    assert error.location is not None
    assert error.location.line in (4, 5)


def test_steps_show_numbers_in_the_type_they_have() -> None:
    kernel_ = kernel("a = 0.1\nif i > 5:\n    a = 0.3\ny[i] = x[i] * a")
    steps = wb.step(kernel_, COUNT, [wb.array(np.ones(COUNT)), wb.zeros(COUNT, wb.float64)], thread=7)
    assert "0.3" in str(steps)
