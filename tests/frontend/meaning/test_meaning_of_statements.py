"""A construct means what Python means: the kernel's text, run by Python itself, is the expectation."""

from __future__ import annotations

import math
import textwrap

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from tests.support.kernels.statement_bodies import BODIES
from workbench import inspect

INTS = np.arange(-7, 8, dtype=np.int32)
FLOATS = np.linspace(-3, 3, 13)


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", BODIES)
def test_means_what_python_means(name):
    kind, body = BODIES[name]
    xs = INTS if kind == "int" else FLOATS
    lines = textwrap.indent(body, "    ")
    text = f"def k(x, y):\n    i = tid()\n    v = x[i]\n{lines}\n    y[i] = r\n"
    got, interpreted = meaning.results(text, xs)
    code = body.replace(": float64", "")
    expected = []
    for x in xs.tolist():
        local = {"v": x, "r": None}
        exec(code, {"abs": abs, "min": min, "max": max, "sqrt": math.sqrt, "y": [0], "i": 0}, local)
        expected.append(local["r"])
    assert np.array_equal(got, interpreted)
    assert np.allclose(got, np.array(expected, xs.dtype), rtol=1e-15)


def test_early_return_skips_the_rest():
    got, interpreted = meaning.results(
        """
        def k(x, y):
            i = tid()
            y[i] = 1.0
            if x[i] > 2:
                return
            if x[i] > 0:
                y[i] = 2.0
                if x[i] > 1:
                    return
                y[i] = 3.0
            y[i] += 10.0
        """,
        np.array([3.0, 1.5, 0.5, -1.0]),
    )
    assert got.tolist() == interpreted.tolist() == [1.0, 2.0, 13.0, 11.0]


def test_return_inside_loops_leaves_the_kernel():
    text = """
        def k(x, y):
            i = tid()
            y[i] = 1
            for p in range(5):
                if p == x[i]:
                    y[i] = 2
                    return
                for q in range(50):
                    if p + q == x[i] + 40:
                        y[i] = 3
                        if q > 45:
                            return
                        break
                y[i] += 10
            y[i] += 100
        """
    xs = np.arange(-2, 12, dtype=np.int32)

    def one(v):
        y = 1
        for p in range(5):
            if p == v:
                return 2
            for q in range(50):
                if p + q == v + 40:
                    y = 3
                    if q > 45:
                        return y
                    break
            y += 10
        return y + 100

    got, interpreted = meaning.results(text, xs)
    assert got.tolist() == interpreted.tolist() == [one(int(v)) for v in xs]


def test_the_first_and_last_index_of_a_range_do_not_overflow():
    text = """
        def k(x, y):
            i = tid()
            r = 0
            for q in range(x[i], 2147483647, 1000000000):
                r += 1
                if r > 50:
                    break
            y[i] = r
        """
    got, _ = meaning.results(text, np.array([-2147483648, 0, 2147483646, 2147483647], np.int32))
    assert got.tolist() == [5, 3, 1, 0]


def test_funcs_take_defaults_keywords_and_give_several_results():
    got, interpreted = meaning.results(
        """
        def both(a, b=2.0):
            return a + b, a * b

        def clip(a, low, high):
            if a < low:
                return low
            if a > high:
                return high
            return a

        def k(x, y):
            i = tid()
            s, p = both(x[i])
            t, q = both(b=3.0, a=x[i])
            y[i] = clip(s + p + t + q, high=20.0, low=-4.0)
        """,
        np.array([-3.0, 0.0, 1.0, 5.0]),
    )
    x = np.array([-3.0, 0.0, 1.0, 5.0])
    expected = np.clip((x + 2) + 2 * x + (x + 3) + 3 * x, -4, 20)
    assert got.tolist() == interpreted.tolist() == expected.tolist()


def test_negative_indices_count_from_the_end():
    got, interpreted = meaning.results(
        """
        def k(x, y):
            i = tid()
            y[i] = x[-1 - i] + x[i - 2]
        """,
        np.arange(5.0),
    )
    x = np.arange(5.0)
    assert got.tolist() == interpreted.tolist() == [x[-1 - i] + x[i - 2] for i in range(5)]


def test_vectors_have_components_that_can_be_assigned():
    names = meaning.define(
        """
        def k(p, q):
            i = tid()
            v = p[i]
            v.x = v.y * 2.0
            v[2] += 1.0
            a, b, c = v
            q[i] = vec3(a, b, c) / 2 + vec3(1, 0, 0) * length(v)
        """
    )
    p = wb.array(np.array([[1, 2, 3], [4, 5, 6]]), dtype=wb.types.VECTORS["vec3"])
    q = wb.zeros(2, wb.types.VECTORS["vec3"])
    wb.launch(names["k"], 2, inputs=[p], outputs=[q])
    v = np.array([[4, 2, 4], [10, 5, 7]], float)
    expected = v / 2 + np.array([1, 0, 0]) * np.linalg.norm(v, axis=1, keepdims=True)
    assert np.allclose(q.numpy(), expected, rtol=1e-6)


def test_names_of_other_libraries_mean_the_builtins():
    namespace = {"math": math, "np": np}
    got, interpreted = meaning.results(
        """
        def k(x, y):
            i = tid()
            y[i] = math.sin(x[i]) + np.arctan2(x[i], 2.0) + math.pi
        """,
        np.array([0.5, 1.0]),
        namespace,
    )
    x = np.array([0.5, 1.0])
    assert np.allclose(got, np.sin(x) + np.arctan2(x, 2) + np.pi, rtol=1e-14)
    assert np.allclose(interpreted, got, rtol=1e-14)


def test_users_names_win_only_where_a_kernel_can_use_them():
    namespace = {"sin": "a string", "cos": 0.25}
    got, _ = meaning.results("def k(x, y):\n    i = tid()\n    y[i] = sin(x[i]) + cos\n", np.array([1.0]), namespace)
    assert np.allclose(got, np.sin(1.0) + 0.25)


def test_plus_equals_is_atomic_unless_the_element_is_the_threads_own():
    shared = meaning.define("def k(x: array[float], y: array[float]):\n    i = tid()\n    y[0] += x[i]\n")["k"]
    own = meaning.define("def k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] += x[i]\n")["k"]
    assert "atomicAdd" in inspect.cuda(shared)
    assert "atomicAdd" not in inspect.cuda(own)


def test_plus_equals_on_overlapping_arrays_stays_atomic():
    kernel = meaning.define("def k(x, y):\n    i = tid()\n    x[i] += 1.0\n    y[i] += 10.0\n")["k"]
    base = wb.zeros(20001, wb.types.float64)
    wb.launch(kernel, 20000, inputs=[base[1:], base[:-1]])
    assert base.numpy()[0] == 10 and base.numpy()[-1] == 1 and (base.numpy()[1:-1] == 11).all()
