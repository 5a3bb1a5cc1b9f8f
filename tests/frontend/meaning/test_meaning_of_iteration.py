"""Loops over tuples, vectors, enumerate and zip, and membership: what Python makes of it, on every backend."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from msgspec.structs import replace

import workbench as wb
from tests.frontend.errors.test_refusals import under_caret, wrong
from tests.support.checks import meaning
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.python.interpret import run
from workbench.errors import KernelTypeError
from workbench.types import ArrayType, float64, int32

INTS = np.arange(-7, 8, dtype=np.int32)
FLOATS = np.linspace(-3, 3, 13)
BODIES = {
    "tuple": ("int", "r = 0\nfor q in (1, 2, 5):\n    r = r * 3 + q * v"),
    "tuple of values": ("int", "r = 0\na = v + 1\nfor q in (v, a, 5):\n    a = 0\n    r = r * 3 + q - a"),
    "elements of two types": ("float", "r = 0\nfor q in (1, 0.5, v):\n    r += q * v"),
    "break": ("int", "r = 0\nfor q in (1, 2, 5, 7):\n    if q > v:\n        break\n    r += q\nr = r * 10 + q"),
    "continue": ("int", "r = 0\nfor q in (1, 2, 5, 7):\n    if (q + v) % 3 == 0:\n        continue\n    r = r * 2 + q"),
    "else": ("int", "r = 0\nfor q in (1, 2, 5, 7):\n    if q == v:\n        break\nelse:\n    r = 100\nr += q"),
    "else over nothing": ("int", "r = 0\nfor q in ():\n    r = 1\nelse:\n    r = v"),
    "nested": ("int", 
        "r = 0\nfor p in (1, 2):\n    for q in (v, 3, p):\n"
        "        if q == p:\n            break\n        r += p * q\n"
               "    for q in range(40):\n        if q == v + p:\n            break\n        r += 1"),
    "pairs": ("int", "r = 0\nfor a, (b, c) in ((1, (2, v)), (v, (3, 4))):\n    r = r * 5 + a * b - c"),
    "nested unpacking": ("int", "(a, b), c = (v, 2), 3\na, (b, c) = b, (a, c)\nr = a * 100 + b * 10 + c"),
    "enumerate": ("int", "r = 0\nfor k, q in enumerate((4, v, 6)):\n    r = r * 10 + k * q"),
    "enumerate from": ("int", "r = 0\nfor k, q in enumerate((4, v), start=v):\n    r = r * 10 + k * q"),
    "enumerate of range": ("int", "r = 0\nfor k, q in enumerate(range(v, 9, 2)):\n    r += k * q"),
    "enumerate of range from": ("int", 
        "r = 0\nfor k, q in enumerate(range(abs(v)), 3):\n    if q == 5:\n"
        "        continue\n    r += k * q"),
    "enumerate of range left": ("int", 
        "r = 0\nfor k, q in enumerate(range(99, v, -3), v):\n    if k > 9:\n"
        "        break\n    r += k * q"),
    "enumerate as a pair": ("int", "r = 0\nfor p in enumerate((v, 5)):\n    r = r * 9 + p[0] - p[1]"),
    "zip": ("int", "r = 0\nfor a, b in zip((1, v, 3), (4, 5)):\n    r = r * 7 + a * b"),
    "zip strict": ("int", "r = 0\nfor a, b in zip((1, v), (4, 5), strict=True):\n    r = r * 7 + a * b"),
    "zip with range": ("int", "r = 0\nfor a, b in zip(range(9, 3, -2), (v, 5, 2)):\n    r = r * 7 + a * b"),
    "enumerate of zip": ("int", 
        "r = 0\nfor k, (a, b) in enumerate(zip((1, v), (4, 5)), 1):\n"
        "    r = r * 7 + k * a * b"),
    "in": ("int", "r = 1 if v in (1, 4, -3) else 0"),
    "not in": ("int", "r = 1 if v not in (1, 4, -3) and v > 0 else 0"),
    "in nothing": ("int", "r = 1 if v in () else v"),
    "in a chain": ("int", "r = 1 if -3 < v in (1, -5, 4) else 0"),
    "in values": ("float", "r = 1 if v in (v * v, 3, -0.5) else 0"),
    "literal in": ("int", "r = v if 2.0 in (1, 2) else 0"),
    "list": ("int", "r = 0\nfor k, q in enumerate([1, v, 5]):\n    r = r * 3 + k * q"),
    "list of lists": ("int", "r = 0\nfor a, b in [[1, v], [v, 3]]:\n    r = r * 5 + a * b"),
    "comprehension": ("int", "r = 0\nfor q in [p * v for p in (1, 3, 5)]:\n    r = r * 3 + q"),
    "list repeated": ("int", "r = 0\nfor q in [v, 2] * 3:\n    r = r * 3 + q"),
    "in a comprehension": ("int", "r = 1 if v in [q * q - 3 for q in range(4)] else 0"),
    "in a list": ("int", "r = 1 if v in [1, 4, -3] else 2 if v not in [0, 2] else 3"),
    "sum of a comprehension": ("int", "r = sum([q * v for q in range(3)]) + min([q + v for q in (1, -2)])"),
    "sum up to a number": ("int", "r = sum(q * q for q in range(v))"),
    "sum of some": ("int", "r = sum(q for q in range(-5, v) if q % 3 if q != 1)"),
    "sum from a start": ("int", "r = sum((q for q in range(v)), v)"),
    "sum of two ranges": ("int", "r = sum(p * q for p in range(v) for q in range(p) if q != 2)"),
    "sums in a loop": ("int", "r = 0\nfor p in range(4):\n    r += sum(q + p for q in range(v)) * sum(range(p))"),
    "sum of floats": ("float", "r = sum(q * v for q in range(int(v) + 2))"),
    "a sum's names": ("int", "q = 7\nr = sum(q for q in range(v)) * 100 + q"),
    "any up to a number": ("int", "r = 1 if any(q * q > 20 for q in range(v)) else 0"),
    "any of none": ("int", "r = 1 if any(q < v for q in range(v)) else 2 if any(q > v for q in range(v)) else 3"),
    "all up to a number": ("int", "r = 1 if all(q * q < 20 for q in range(v) if q != 5) else 0"),
    "sum of those that a run decides": ("int", "r = sum(q for q in (v, 5) if q > v) + sum(q for q in (0, 3) if q < v)"),
    "any of those that a run decides": ("int", "r = 1 if any(q == v for q in (3, 4, v) if v > 1) else 0"),
    "greatest up to a number": ("int", "r = max((q - v) * (3 - q) for q in range(abs(v) + 1))"),
    "least of those that a run decides": ("float", "r = min(abs(q - v) for q in (-1.0, 0.5, v, 2.0) if q != v)"),
    "greatest of two ranges": ("float", "r = max(p * v - q for p in (1, 2) for q in range(int(abs(v)) + p) if p != q)"),
    "greatest in a loop": ("int", "r = 0\nfor p in range(4):\n    r += max(q % (p + 2) for q in range(abs(v) + 1))"),
    "not a number in": ("float", "w = v * 1e400 * 0\nr = 1 if w in (w, 1) else 0"),
}  # fmt: skip


def kernel_text(body: str) -> str:
    return f"def k(x, y):\n    i = tid()\n    v = x[i]\n{textwrap.indent(body, '    ')}\n    y[i] = r\n"


@pytest.mark.parametrize("name", BODIES)
def test_means_what_python_means(name):
    kind, body = BODIES[name]
    xs = INTS if kind == "int" else FLOATS
    got, interpreted = meaning.results(kernel_text(body), xs)
    expected = []
    for x in xs.tolist():
        local = {"v": x}
        exec(body, local)  # one namespace: a comprehension reads it
        expected.append(local["r"])
    assert np.array_equal(got, interpreted)
    assert np.allclose(got, np.array(expected, xs.dtype), rtol=1e-15)


@pytest.mark.slow
def test_the_cuda_text_means_the_same(need):
    need("nvrtc")
    functions, inputs = [], []
    for number, (kind, body) in enumerate(BODIES.values()):
        array = ArrayType(int32 if kind == "int" else float64, 1)
        kernel = meaning.define(kernel_text(body))["k"]
        functions.append(replace(kernel.specialise([array, array]).function, name=f"k{number}"))
        inputs.append(INTS if kind == "int" else FLOATS)
    library = Library(functions, Options())
    for function, x, name in zip(functions, inputs, BODIES, strict=True):
        expected, got = np.zeros_like(x), np.zeros_like(x)
        run(function, (x.size,), [x.copy(), expected])
        library.run(function.name, (x.size,), [x.copy(), got])
        assert np.array_equal(got, expected), name


def test_over_the_components_of_a_vector():
    text = """
        def k(x, y):
            i = tid()
            r = 0
            for n, c in enumerate(vec3d(x[i], 2.0, x[i] * x[i])):
                r += (n + 1) * c
            y[i] = r if 2.0 in vec2d(x[i], 2.0) else 0.0
        """
    got, interpreted = meaning.results(text, FLOATS)
    assert np.array_equal(got, interpreted)
    assert np.allclose(got, FLOATS + 4 + 3 * FLOATS**2)


def test_a_captured_tuple_is_unpacked_indexed_looped_over_and_watched():
    space = {"TAPS": ((-1, 0.25), (0, 0.5), (1, 0.25)), "PAIR": (3, 4.0)}
    text = """
        def k(x, y):
            i = tid()
            a, b = PAIR
            r = a + PAIR[1] * b
            for offset, weight in TAPS:
                r += weight * x[(i + offset + len(x)) % len(x)]
            y[i] = r
        """
    kernel = meaning.define(text, space)["k"]
    x = np.arange(5.0)
    y = wb.array(np.zeros(5))
    wb.launch(kernel, 5, inputs=[wb.array(x)], outputs=[y])
    smooth = 0.25 * np.roll(x, 1) + 0.5 * x + 0.25 * np.roll(x, -1)
    assert np.allclose(y.numpy(), 19 + smooth)
    used = kernel.used
    space["PAIR"] = (3, 4.0)  # another object, the same numbers
    wb.launch(kernel, 5, inputs=[wb.array(x)], outputs=[y])
    assert kernel.used is used
    space["PAIR"] = (3, 5.0)
    wb.launch(kernel, 5, inputs=[wb.array(x)], outputs=[y])
    assert np.allclose(y.numpy(), 28 + smooth)


def test_funcs_in_a_tuple_are_called_in_turn_and_the_gradient_goes_through():
    text = """
        def double(a):
            return 2.0 * a

        def k(x, y):
            i = tid()
            r = x[i]
            for f in (double, sin, double):
                r = f(r)
                if r > 1.5:
                    break
            y[i] = r
        """
    x = wb.array(np.array([0.1, 0.3, 2.0]), requires_grad=True)
    y = wb.array(np.zeros(3), requires_grad=True)
    kernel = meaning.define(text)["k"]
    with wb.Tape() as tape:
        wb.launch(kernel, 3, inputs=[x], outputs=[y])
    assert np.allclose(y.numpy(), [2 * np.sin(0.2), 2 * np.sin(0.6), 4.0])
    tape.backward(grads={y: wb.array(np.ones(3))})
    assert np.allclose(x.grad.numpy(), [4 * np.cos(0.2), 4 * np.cos(0.6), 2.0])


@pytest.mark.parametrize(
    ("statement", "place", "sentence"),
    [
        ("for q in i:\n        z = q", "i", "runs over range"),
        ("for q in 'ab':\n        z = q", "'ab'", "no string"),
        ("for a, b in zip(range(i), (1, 2)):\n        z = a", "range(i)", "not known at compile time"),
        ("for a, b in zip(x, (1, 2), strict=True):\n        z = a", "x", "index every array by i"),
        ("for a, b in zip((1,), (1, 2), strict=True):\n        z = a", "zip((1,), (1, 2), strict=True)",
         "have 1, 2 elem"),
        ("for a, b in zip(range(300), range(300)):\n        z = a", "range(300)", "300 elements"),
        ("for a, b in (1, 2):\n        z = a", "a, b", "cannot be unpacked"),
        ("for a, b in ((1, 2, 3),):\n        z = a", "a, b", "3 values cannot be unpacked into 2"),
        ("for k, q in enumerate((1, 2), 0.5):\n        z = k", "enumerate((1, 2), 0.5)", "counts from an integer"),
        ("for k, q in enumerate(range(3), x[i]):\n        z = k", "for k, q in enumerate(range(3), x[i]):",
         "counts from an"),
        ("for q in ():\n        z = q\n    y[i] = q", "q", "has nothing to iterate over"),
        ("z = 1 if i in x else 2", "i in x", "in takes a tuple or a vector"),
        ("z = 1 if i in ((1, 2), 3) else 2", "i in ((1, 2), 3)", "Unpack the tuple"),
        ("z = 1 if i in (y, 3) else 2", "i in (y, 3)", "Index the array"),
        ("for p, q in range(3):\n        z = q", "for p, q in range(3):", "has one name"),
    ],
)  # fmt: skip
def test_refused_at_its_place(statement, place, sentence):
    error = wrong(statement)
    assert under_caret(error) == place
    assert sentence in error.render()


CARRIED = [
    (
        "p = (v, 1)\n    for q in range(3):\n        v += p[0]\n        p = (p[1], p[0], 2)",
        "p changes its kind inside the loop",
    ),
    ("f = sin\n    for q in range(3):\n        v = f(v)\n        f = cos", "f changes its kind inside the loop"),
    ("a = x\n    for q in range(3):\n        v += a[i]\n        a = y", "a changes its kind inside the loop"),
    ("p = 0\n    for q in range(3):\n        p = (1, 2)\n    v = v + p", "p changes its kind inside the loop"),
    ("a = x\n    if v > 0.0:\n        a = y\n    v = a[i]", "a is array[float32] or array[float32] here"),
]


@pytest.mark.parametrize(("body", "sentence"), CARRIED)
def test_what_an_iteration_cannot_hand_on_is_not_read_from_before(body, sentence):
    text = f"@kernel\ndef k(x: array[float], y: array[float]):\n    i = tid()\n    v = x[i]\n    {body}\n    y[i] = v\n"
    with pytest.raises(KernelTypeError) as caught:
        meaning.define(text)
    assert sentence in caught.value.render()


def test_a_tuple_that_stays_the_same_or_is_set_before_it_is_read_is_carried():
    text = """
        def k(x, y):
            i = tid()
            p = (x[i], 2.0)
            s = (x[i], 2)
            for q in range(3):
                p = (p[0], p[1])
                s = (q, p)
                y[i] += s[0] * p[1] + p[0]
        """
    got, interpreted = meaning.results(text, FLOATS)
    assert np.array_equal(got, interpreted)
    assert np.allclose(got, 3 * FLOATS + 6)


def test_over_the_rows_of_a_matrix():
    text = """
        def k(x, y):
            i = tid()
            r = 0.0 * x[i]
            for n, row in enumerate(mat22d(x[i], 2.0, 3.0, x[i])):
                for m, c in enumerate(row):
                    r += 10.0 ** n * (m + 1) * c
            y[i] = r
        """
    got, interpreted = meaning.results(text, FLOATS)
    assert np.allclose(got, interpreted, rtol=1e-15)
    assert np.allclose(got, FLOATS + 4 + 30 + 20 * FLOATS)
