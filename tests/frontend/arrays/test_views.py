"""Rows, slices and views of views in kernels: what NumPy's indexing means, with bounds and gradients, everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import workbench as wb
from tests.support.checks.meaning import define
from tests.support.devices.on_gpu import Library
from workbench.backends.base import Options
from workbench.backends.cpu.emit.emit_module import emit_llvm
from workbench.backends.python.interpret import run
from workbench.errors import CellErrors, KernelFault, KernelSyntaxError, KernelTypeError

# Each sets `r` from a float64 array `a` of shape (4, 6), i below 4 and n = 2; as NumPy code it means the same.
BODIES = {
    "row": "row = a[i]\nr = row[2] + row[-1] + len(row) + row.shape[0]",
    "tuple": "p = (i, -2)\nr = a[p] + 10 * a[(i, 1)]",
    "column": "r = a[:, i][-1] + a[:, -2][0]",
    "slice": "s = a[i, 1:-1]\nr = s[0] + 10 * s[-1] + 100 * len(s)",
    "two slices": "s = a[1:, ::2]\nr = s[0, i % 3] + 10 * s[-1, -1] + 100 * s.shape[0] + 1000 * s.shape[1]",
    "reversed": "s = a[i, ::-1]\nr = s[0] + 10 * s[-1] + 100 * s[1]",
    "steps down": "s = a[i, 4:0:-2]\nr = s[0] + 10 * s[1] + 100 * len(s)",
    "of a view": "s = a[::2, 1:][1:, 2:-1][0]\nr = s[0] + 10 * s[1] + 100 * len(s)",
    "of a reversed view": "s = a[i][::-1][1:4][::-1]\nr = s[0] + 10 * s[-1] + 100 * len(s)",
    "known when running": "s = a[i, n:i + n]\nr = 100 * len(s) + a[i, i - n:][0] + a[i, -n:][0]",
    "past the ends": "b = a[i]\nr = len(b[:9]) + 10 * len(b[-9:]) + 100 * len(b[4:2]) + len(b[9:]) + a[0, 0]",
    "dots": "r = a[..., 0][i] + a[i, ...][1] + a[..., i, 2] + len(a[...])",
    "iterated": "r = a[0, 0]\nfor v in a[i]:\n    r += v\nfor row in a[1:3]:\n    r += 10 * row[i]",
    "counted": "r = 0.0\nfor k, v in enumerate(a[i, ::2], 1):\n    r += k * v",
    "left early": "r = 0.0\nfor v in a[i]:\n    if v > 4.0:\n        break\n    r += v",
    "bound anew": "row = a[0]\nr = row[i]\nfor k in range(3):\n    row = a[k]\n    r += row[i] * k",
    "unpacked shape": "rows, columns = a[1:, 2:].shape\nr = a[0, 0] + 10 * rows + columns",
    "chosen": "r = a[i if i > 1 else 0, 1:][0]",
    "numbers of elements": "r = a[i, 0]*a.size + a[i, 1:].size + a[1:, ::2].size*a[:n, i].size",
    "sizes of 64 bits": "s = a[i, 1:]\nr = s[int64(i)] + s[uint8(2)]",
}  # fmt: skip
A = np.arange(24, dtype=np.float64).reshape(4, 6) ** 2 / 7


def _kernel(body: str) -> Any:
    lines = "\n".join("    " + line for line in body.splitlines())
    parameters = "a: array(dtype=wb.float64, ndim=2), y: array[wb.float64], n: int"
    text = f"def k({parameters}):\n    i = tid()\n{lines}\n    y[i] = r"
    return define(text, {"wb": wb})["k"]


def _meant(body: str) -> list[float]:
    found = []
    for i in range(4):
        names: dict[str, Any] = {"a": A, "i": i, "n": 2, "int64": np.int64, "uint8": np.uint8}
        exec(body, names)
        found.append(float(names["r"]))
    return found


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("checks", [False, True])
def test_means_what_numpy_means(name, checks):
    kernel, y = _kernel(BODIES[name]), wb.zeros(4, wb.float64)
    wb.launch(kernel, 4, [wb.array(A), y, 2], checks=checks)
    assert np.allclose(y.numpy(), _meant(BODIES[name]), rtol=1e-13)
    expected = np.zeros(4)
    run(kernel.used.function, 4, [A, expected, 2], checks=checks)
    assert np.array_equal(y.numpy(), expected)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("checks", [False, True])
def test_cuda_text_means_the_same(need, checks):
    need("nvrtc")
    functions = []
    for number, body in enumerate(BODIES.values()):
        kernel, y = _kernel(body), wb.zeros(4, wb.float64)
        wb.launch(kernel, 4, [wb.array(A), y, 2])
        functions.append(replace(kernel.used.function, name=f"k{number}"))
    library = Library(functions, Options(checks=checks))
    for number, body in enumerate(BODIES.values()):
        got = np.zeros(4)
        library.run(f"k{number}", 4, [A.copy(), got, 2])
        assert np.allclose(got, _meant(body), rtol=1e-13), body


def test_writing_through_views():
    k = define("""
        @wb.func
        def fill(part: array(dtype=float), value: float):
            for j in range(len(part)):
                part[j] = value

        @wb.func
        def bump(part, value):
            part[0] += value
            atomic_max(part, -1, 99.0)

        def k(a: array(dtype=float, ndim=2)):
            i = tid()
            row = a[i]
            fill(row[1:3], float(i))
            bump(row[3:], 0.5)
            row[0] -= 1.0
            a[i][2] *= 2.0
        """, {"wb": wb})["k"]  # fmt: skip
    a = wb.zeros((3, 6))
    wb.launch(k, 3, [a])
    assert a.numpy().tolist() == [[-1, i, 2 * i, 0.5, 0, 99] for i in range(3)]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_slice_is_numpys(data):
    n = data.draw(st.integers(0, 6))
    bound = st.none() | st.integers(-8, 8)
    cuts = [(data.draw(bound), data.draw(bound), data.draw(st.sampled_from([None, 1, 2, 3, -1, -2, -3]))) for _ in "ab"]
    shown = [":".join("" if part is None else str(part) for part in cut) for cut in cuts]
    text = "def k(a: array[int], y: array[int], n: array[int]):\n"
    text += f"    b = a[{shown[0]}][{shown[1]}]\n    n[0] = len(b)\n"
    text += "    for j in range(len(b)):\n        y[j] = b[j]\n"
    expected = np.arange(n, dtype=np.int32)[slice(*cuts[0])][slice(*cuts[1])]
    a, y, size = np.arange(n, dtype=np.int32), np.zeros(6, np.int32), np.zeros(1, np.int32)
    function = define(text)["k"].specialise([wb.array[int]] * 3).function
    run(function, 1, [a, y, size], checks=True)
    assert size[0] == len(expected) and np.array_equal(y[: len(expected)], expected)


FAULTS = {
    "b = x[1:3]\n    y[i] = b[i]": "A slice of x has 2 elements along axis 0; thread (2,) asked for index 2.",
    "b = x[::-2]\n    y[i] = b[-i]": "A slice of x has 3 elements along axis 0; thread (4,) asked for index -4.",
    "b = y[4:]\n    b[i] = 1.0": "A slice of y has 1 element along axis 0; thread (1,) asked for index 1.",
}


@pytest.mark.parametrize("body", FAULTS)
def test_bounds_are_the_views(need, body):
    k = define(f"def k(x: array[float], y: array[float]):\n    i = tid()\n    {body}\n")["k"]
    x, y = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    with pytest.raises(KernelFault) as raised:
        wb.launch(k, 5, [wb.array(x), wb.array(y)], checks=True)
    assert raised.value.message == FAULTS[body]
    function = k.used.function
    with pytest.raises(KernelFault) as meant:
        run(function, 5, [x, y.copy()], checks=True)
    assert (meant.value.message, meant.value.values) == (FAULTS[body], raised.value.values)
    need("nvrtc")
    with pytest.raises(KernelFault) as shown:
        Library([function], Options(checks=True)).run("k", 5, [x, y.copy()])
    assert shown.value.message == FAULTS[body]


REFUSED = [
    ("a[0:2] = 1.0", "a[0:2]", "one element at a time"),
    ("a[i] = a[0]", "a[i]", "a has 2 dimensions, not 1"),
    ("a[0:2] += 1.0", "a[0:2]", "one element at a time"),
    ("z = a[i] + 1.0", "a[i] + 1.0", "a part of an array"),
    ("z = a[i, 0, 0]", "a[i, 0, 0]", "2 dimensions, not 3"),
    ("z = a[i][0, 0]", "a[i][0, 0]", "1 dimension, not 2"),
    ("z = a[0.5:]", "0.5", "bound of a slice must be an integer"),
    ("z = a[::i]", "::i", "integer written out"),
    ("z = a[::0]", "::0", "step cannot be zero"),
    ("z = a[i].foo", "a[i].foo", "has no foo"),
    ("row = a[0]\n    if i > 1:\n        row = a[:, 1]\n    z = row[0]", "row", "depending on i > 1"),
    ("row = a[0]\n    for j in range(3):\n        z = row[j]\n        row = a[:, j]", "row", "changes its kind"),
    ("z = f(a[i])", "f(a[i])", "x of f() is array2d[float32]; the argument is array[float32]"),
]


@pytest.mark.parametrize("statement, place, sentence", REFUSED)
def test_refused_at_its_place(statement, place, sentence):
    func = "@wb.func\ndef f(x: array(dtype=float, ndim=2)):\n    return x[0, 0]\n\n"
    text = f"{func}def k(a: array(dtype=float, ndim=2)):\n    i = tid()\n    {statement}\n"
    with pytest.raises((KernelSyntaxError, KernelTypeError, CellErrors)) as raised:
        define(text, {"wb": wb})
    error = raised.value.errors[0] if isinstance(raised.value, CellErrors) else raised.value
    location = error.location
    shown = location.source.line(location.line)[location.column :]
    assert shown.startswith(place), shown
    assert sentence in f"{error.message} {error.advice}"


def test_gradients_are_those_of_the_array():
    k = define("""
        @wb.func
        def weigh(row: array(dtype=wb.float64)):
            s = wb.float64(0.0)
            for j in range(len(row)):
                s += row[j] * row[j] * float(j)
            return s

        def k(a: array(dtype=wb.float64, ndim=2), y: array(dtype=wb.float64)):
            i = tid()
            y[i] = weigh(a[i, ::-1]) + a[1:, 2][i] * weigh(a[i, 1:3])
        """, {"wb": wb})["k"]  # fmt: skip
    a = np.random.default_rng(0).normal(size=(4, 5))
    assert wb.gradcheck(k, 3, inputs=[wb.array(a, requires_grad=True)], outputs=[wb.zeros(3, wb.float64)]).ok


def test_a_row_costs_nothing():
    """Unchecked code has no comparison for a view's bounds, and a row's element is the array's own."""
    k = define("def k(a: array(dtype=float, ndim=2), y: array[float]):\n    i = tid()\n    y[i] = a[i][::2][2]\n")["k"]
    text = emit_llvm(k.specialise([wb.array(dtype=float, ndim=2), wb.array[float]]).function, Options())
    assert "select" not in text and "view_index" not in text
