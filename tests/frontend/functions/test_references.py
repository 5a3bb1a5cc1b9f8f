"""Parameters that a func changes for its caller: `ref[T]`, against the same text with the values returned."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning

FUNCS = """
@struct
class Body:
    mass: float64
    at: vec3d

@func
def outer(x: ref[float64]):
    inner(x, 1.0)

@func
def inner(x: ref[float64], by: float64):
    x += by*x

@func
def take(x: ref[float64], d: float64) -> float64:
    if d > 1.0:
        old = x
        x = 3
        return old
    x, old = x*d, x
    return old

@func
def search(x: ref[float64], n: int):
    for j in range(n):
        x = x*1.5
        if x > 4.0:
            return
    x = -x

@func
def swap(x: ref[float64], y: ref[float64]):
    x, y = y, x

@func
def grow(b: ref[Body], by: float64):
    b.mass += by
    b.at[1] *= 2.0
"""
BY_REFERENCE = """
    outer(s)
    if s > 2.0:
        inner(y[i], by=0.5)
    else:
        inner(by=s, x=y[-1 - i])
    for j in range(3):
        outer(s)
        search(y[i], j)
    t = take(s, x[i])
    b.at = vec3d(s, t, 1.0)
    grow(b, s)
    swap(b.at.x, b.at[2])
    swap(b.mass, y[i])
    y[i] = y[i] + s + 10.0*t + b.mass*dot(b.at, vec3d(1.0, 2.0, 3.0))
"""


def by_python(x: np.ndarray) -> np.ndarray:
    """The same with plain assignments."""
    y = np.arange(1.0, 1.0 + len(x))
    for i in range(len(x)):
        s, mass = x[i], 2.0
        s += s
        if s > 2.0:
            y[i] += 0.5 * y[i]
        else:
            y[-1 - i] += s * y[-1 - i]
        for j in range(3):
            s += s
            for _ in range(j):
                y[i] *= 1.5
                if y[i] > 4.0:
                    break
            else:
                y[i] = -y[i]
        t, s = (s, 3.0) if x[i] > 1.0 else (s, s * x[i])
        at = np.array([s, t, 1.0])
        mass, at[1] = mass + s, at[1] * 2.0
        at[0], at[2] = at[2], at[0]
        mass, y[i] = y[i], mass
        y[i] = y[i] + s + 10.0 * t + mass * (at @ [1.0, 2.0, 3.0])
    return y


def kernel(memory: bool = True) -> wb.Kernel:
    body = BY_REFERENCE if memory else BY_REFERENCE.replace("y[i]", "u").replace("y[-1 - i]", "u") + "    y[i] = u\n"
    text = f"{FUNCS}@kernel\ndef k(x: array[float64], y: array[float64]):\n    i = tid()\n    s = x[i]\n"
    return meaning.define(f"{text}    b, u = Body(2.0), float64(1.0)\n{body}")["k"]


def test_the_caller_sees_what_changes() -> None:
    x = np.array([0.3, 2.5, 0.9, 1.7])
    for value in x:
        y = wb.ones(1, dtype=wb.float64)
        wb.launch(kernel(), 1, inputs=[wb.array([value], dtype=wb.float64)], outputs=[y])
        np.testing.assert_allclose(y.numpy(), by_python(np.array([value])), rtol=1e-14)


def test_gradients_go_through_references() -> None:
    assert wb.gradcheck(kernel(False), 1, inputs=[wb.array(np.array([0.7]))], outputs=[wb.array(np.ones(1))]).ok


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("y[i] = 1.0 + take(s, 2.0)", "take() changes x of its caller, so it is a statement of its own"),
        ("if take(s, 2.0) > 0.0: pass", "result = take(s, 2.0)"),
        ("swap(s, 2.0)", "y of swap() is a reference; this is no name, element or field"),
        ("inner(y[int(s)], 2.0)", "a name on a line before"),
        ("t = outer(s)", "outer() returns nothing"),
        ("f = outer; f(s)", "outer() by its name"),
        ("swap(s)", "needs an argument for y"),
    ],
)
def test_what_could_not_be_given_back_is_refused(statement: str, sentence: str) -> None:
    text = f"{FUNCS}@kernel\ndef k(y: array[float64]):\n    i = tid()\n    s = y[i]\n    {statement}\n"
    with pytest.raises(wb.WorkbenchError) as caught:
        meaning.define(text)
    assert sentence in str(caught.value)


Number = wb.ref[wb.float64]


@wb.func
def twice(x: Number, y: "wb.ref[wb.float64]"):  # noqa: UP037 (quotes are the subject)
    x *= 2.0
    y += x


@wb.kernel
def changes(x: wb.array[wb.float64]):
    twice(x[0], x[1])


def test_references_by_another_name_and_in_quotes() -> None:
    x = wb.array(np.array([3.0, 5.0]))
    wb.launch(changes, 1, [x])
    assert x.numpy().tolist() == [6.0, 11.0]


def test_kernels_and_native_funcs_have_no_references() -> None:
    with pytest.raises(wb.KernelSyntaxError, match="which a kernel does not have"):
        meaning.define("@kernel\ndef k(x: ref[float]):\n    x = 1.0\n")
    with pytest.raises(wb.KernelSyntaxError, match="a func with CUDA source"):
        meaning.define('@func_native("x += 1;")\ndef f(x: ref[float]): ...\n@kernel\ndef k(x: array[float]): f(x[0])\n')
