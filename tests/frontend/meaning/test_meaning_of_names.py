"""What names, types and weak literals mean: results are Python's own, on the CPU, in the interpreter, as CUDA text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.errors import CellErrors, KernelSyntaxError, KernelTypeError

XS = np.array([-1.0, 0.25, 2.0], np.float32)
# Loops that make a float of the int they begin with.
LOOPS = [
    "s = 0\nfor j in range(3):\n    s += 0.5\nreturn s",
    "s = 0\nfor j in range(3):\n    for k in range(2):\n        s += 0.5\nreturn s",
    "s = 0\nfor j in range(3):\n    if j > 0:\n        s += 0.5\n    else:\n        s += 1\nreturn s",
    "s = 1\nfor j in range(3):\n    s = s * 0.5 + 1\nreturn s",
    "s = 1\nwhile s > 0.1:\n    s /= 2\nreturn s",
    "s = 0\nt = 0\nfor j in range(3):\n    s += t * 0.5\n    t += 1\nreturn s + t // 2",
    "s = 0\nz = 0.0\nfor j in range(3):\n    z += sin(s)\n    s += 0.5\nreturn z",
    "s = 0\nfor j in range(3):\n    s = max(s, 0.5)\nreturn s",
    "s = 0\nfor j in range(3):\n    s = x if x > 0 else s + 0.5\nreturn s",
    "s = 0\nfor j in range(9):\n    s += j * 0.1\n    if s > x:\n        break\nreturn s",
    "s = 0\np = 1\nfor j in range(3):\n    s, p = p, s + 0.5\nreturn s + p",
]
OTHERS = [
    "return type(x)(2) * x",
    "return np.float32(x) + np.int32(3.7)",
    "return x + pi - tau / 2",
    "return -inf if x > 1 else inf",
    "return 1.0 if nan != nan else 0.0",
]


def _same_names(np_: Any) -> dict[str, Any]:
    return {"np": np_, "sin": math.sin, "pi": math.pi, "tau": math.tau, "inf": math.inf, "nan": math.nan}


def test_results_are_pythons(need: Callable[[str], None]) -> None:
    need("nvrtc")
    functions, expected = [], []
    for number, body in enumerate([*LOOPS, *OTHERS]):
        text = f"def f(x):\n{textwrap.indent(body, '    ')}\n"
        names = _same_names(np)
        exec(text, names)
        expected.append([names["f"](float(x)) for x in XS])
        text += f"def k{number}(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = f(x[i])\n"
        kernel = meaning.define(text, {"np": np})[f"k{number}"]
        y, interpreted = wb.zeros(3), np.zeros(3, np.float32)
        wb.launch(kernel, 3, inputs=[wb.array(XS)], outputs=[y])
        function = kernel.used.function
        meaning.run(function, 3, [XS.copy(), interpreted])
        for found in (y.numpy(), interpreted):
            np.testing.assert_allclose(found, expected[-1], rtol=1e-6, err_msg=text)
        functions.append(function)
    library = Library(functions, Options())
    for function, wanted in zip(functions, expected, strict=True):
        found = np.zeros(3, np.float32)
        library.run(function.name, 3, [XS.copy(), found])
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_the_gradient_of_such_a_loop() -> None:
    text = """
        def k(x: array[float], y: array[float]):
            i = tid()
            s = 0
            for j in range(3):
                s = s * 0.5 + x[i] * x[i]
            y[i] = s
        """
    verdict = wb.gradcheck(meaning.define(text)["k"], 3, [wb.array(XS)], [wb.zeros(3)])
    assert verdict and verdict.compared == 6


def test_an_int_of_literals_is_a_float_where_a_function_takes_one() -> None:
    text = """
        def k(x: array[float64], y: array[float64]):
            n = 0
            for j in range(3):
                for k in range(2):
                    y[tid()] += sin(n)
                n += 1
        """
    expected = 2 * (np.sin(1.0) + np.sin(2.0))
    for found in meaning.results(text, np.zeros(3)):
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_names_of_many_types_settle() -> None:
    text = """
        def k(x: array[float], y: array[float]):
            a, b, c = 0, 0, 0
            for i in range(3):
                for q in range(4):
                    c = max(0.5, 1) * (3 - 3)
                    if 1 > 2:
                        break
                for q in range(4):
                    for p in range(2):
                        c = min(3, b)
                        if 0.5 > 2:
                            break
                    b = (a - i) / 2
                b = max((3 + 1) % 3, -50)
            y[tid()] = a + b + c
        """
    for found in meaning.results(text, np.zeros(3, np.float32)):
        np.testing.assert_array_equal(found, 1 + min(3, (0 - 2) / 2))


def test_many_names_that_wait_for_one_another_settle() -> None:
    names = [f"a{j}" for j in range(40)]
    lines = "".join(f"        {a} = {b}\n" for a, b in pairwise(names))
    text = "def k(x: array[float64], y: array[float64]):\n    i = tid()\n"
    text += "".join(f"    {n} = 0\n" for n in names) + "    for q in range(41):\n" + lines
    text += "        a39 = x[i] + a39\n    y[i] = a0\n"
    for found in meaning.results(text, np.array([0.1, 0.2])):
        np.testing.assert_allclose(found, [0.2, 0.4], rtol=1e-15)


def test_names_whose_types_do_not_settle_are_named() -> None:
    text = """
        def turned(a: int):
            return float(a)

        def turned(a: float):
            return int(a)

        def k(y: array[float]):
            s = 0
            for q in range(3):
                s = turned(s)
            y[tid()] = s
        """
    with pytest.raises(KernelTypeError, match="s is int32 at the start of an iteration and float32 at its end"):
        meaning.define(text)


@pytest.mark.parametrize("body", ["y[i] = rate\n    rate = 2.0", "rate += 1.0\n    y[i] = rate"])
def test_a_name_of_the_kernels_own_has_not_the_value_outside(body: str) -> None:
    names = {"rate": 0.5, "down": np.array([0.0, -1.0, 0.0], np.float32)}
    with pytest.raises(KernelSyntaxError, match="has no value yet: k assigns it") as caught:
        meaning.define(f"def k(y: array[float]):\n    i = tid()\n    {body}\n", names)
    assert "outside stays what it is" in caught.value.advice


@pytest.mark.parametrize(
    "body", ["down.x = 1.0\n    y[i] = down.y", "down[0] += 1.0", "y[i] = down.x\n    down.x = 2.0"]
)
def test_a_value_outside_is_not_changed_in_part(body: str) -> None:
    names = {"down": np.array([0.0, -1.0, 0.0], np.float32)}
    with pytest.raises((KernelSyntaxError, CellErrors)) as caught:
        meaning.define(f"def k(y: array[float]):\n    i = tid()\n    {body}\n", names)
    assert "k cannot change down, a value outside of it.  Change a copy, own = down" in caught.value.render()


def test_a_builtin_may_be_called_once_more_before_its_name_is_taken() -> None:
    y, expected = meaning.results(
        "def k(x: array[float], y: array[float]):\n    i = tid()\n    min = min(x[i], 0.5)\n    y[i] = min\n", XS
    )
    np.testing.assert_array_equal(y, np.minimum(XS, 0.5))
    np.testing.assert_array_equal(expected, y)


def test_types_of_arrays_make_numbers() -> None:
    text = "def k(x: array(dtype=Any), y: array(dtype=Any)):\n    i = tid()\n    y[i] = x.dtype(3) + x[i]\n"
    for dtype in (np.float32, np.float64, np.int32, np.uint8):
        y, expected = meaning.results(text, np.array([1, 2, 3], dtype))
        np.testing.assert_array_equal(y, np.array([4, 5, 6], dtype))
        np.testing.assert_array_equal(expected, y)


def test_step_is_a_builtin_in_kernels_and_shows_statements_outside() -> None:
    text = "def k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = wb.step(0.0, x[i])\n"
    k = meaning.define(text, {"wb": wb})["k"]
    y = wb.zeros(3)
    wb.launch(k, 3, inputs=[wb.array(XS), y])
    np.testing.assert_array_equal(y.numpy(), [0.0, 1.0, 1.0])
    assert "y[i] = wb.step(0.0, x[i])" in str(wb.step(k, 3, [wb.array(XS), y], thread=1))


SAID = [
    ("-> int", "return x", "f returns float32; its annotation says int32."),
    ("-> int", "return 0.5", "f returns a float literal; its annotation says int32."),
    ("-> float", "return vec3(x)", "f returns vec3; its annotation says float32."),
    ("-> vec3", "return x", "f returns float32; its annotation says vec3."),
    ("-> float", "return x, x", "f returns a tuple of 2; its annotation says float32."),
    ("-> float", "return float64(x)", "f returns float64; its annotation says float32."),
    ("-> tuple[float, int]", "return x, x", "f returns float32; its annotation says int32."),
    ("-> tuple[float, float]", "return x, x, x", "f returns 3 values; its annotation says 2."),
]


@pytest.mark.parametrize(("said", "body", "sentence"), SAID)
def test_an_annotation_of_the_result_is_true(said: str, body: str, sentence: str) -> None:
    text = f"def f(x) {said}:\n    {body}\n\ndef k(x: array[float]):\n    z = f(x[tid()])\n"
    with pytest.raises(KernelTypeError) as caught:
        meaning.define(text)
    assert sentence in caught.value.render() and body in caught.value.render()


def test_a_result_becomes_what_the_annotation_says() -> None:
    text = """
        def whole(x) -> float:
            return 3

        def exact(x) -> float64:
            if x > 0.0:
                return 0.1
            return 0.2

        def count(x) -> float:
            return int(x)

        def open(x) -> "something else":
            return x

        def k(x: array[float64], y: array[float64]):
            i = tid()
            y[i] = whole(x[i]) // 2 + exact(x[i]) + count(x[i]) + open(x[i])
        """
    x = np.array([1.5, -2.5])
    y, expected = meaning.results(text, x)
    np.testing.assert_array_equal(y, 1 + np.where(x > 0, 0.1, 0.2) + np.trunc(x) + x)
    np.testing.assert_array_equal(expected, y)


def test_a_path_without_a_result_is_told_once() -> None:
    text = "def f(x):\n    if x > 0.0:\n        return x\n\ndef k(x: array[float]):\n    x[tid()] = f(1.0)\n"
    with pytest.raises(KernelTypeError, match="returns 1 value on one path and nothing on another"):
        meaning.define(text)
