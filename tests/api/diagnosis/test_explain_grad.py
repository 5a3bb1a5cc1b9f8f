"""Seeded failures: `explain_grad` names the cause, the kernel and the line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning

PLAIN = """
    @kernel
    def k(x: array[float], y: array[float], a: float):
        i = tid()
        {body}
"""
TOTAL = meaning.define("""
    @kernel
    def total(x: array[float], out: array[float]):
        atomic_add(out, 0, x[tid()])
""")["total"]
X = [0.5, 1.5, 2.5]

# body; x; (state, cause, line of the cell, what the message says)
KERNELS: dict[str, tuple[str, list[float], tuple[str, str, int, str]]] = {
    "cast": ("t = x[i] * 2.0\n        k = int(t)\n        y[i] = float(k) * a", X, ("zero", "cast", 5, r"int32\(\)")),
    "floor": ("y[i] = a\n        y[i] = floor(x[i]) * a", X, ("zero", "builtin", 5, r"floor\(\) has the derivative 0")),
    "sign": ("t = x[i] - 1.0\n        y[i] = sign(t) * a", X, ("zero", "builtin", 5, r"sign\(\)")),
    "comparison": ("y[i] = where(x[i] > 1.0, a, 0.5)", X, ("zero", "comparison", 4, "only a comparison")),
    "condition": ("y[i] = 0.0\n        if x[i] > 1.0:\n            y[i] = a", X, ("zero", "comparison", 5, "only a")),
    "index": ("y[i] = float(i)\n        y[int(x[i])] = a", X, ("zero", "cast", 5, "integer")),
    "untaken branch": (
        "y[i] = a\n        if a > 5.0:\n            y[i] = x[i] * a", X, ("zero", "branch", 5, "branch was not taken"),
    ),
    "a loop without turns": (
        "s = a\n        for j in range(int(a) - 9):\n            s += x[i]\n        y[i] = s", X,
        ("zero", "branch", 5, "ran no iteration"),
    ),
    "max at its other side": ("y[i] = max(x[i] * 2.0, 100.0) * a", X, ("zero", "chosen", 4, r"max\(\) chose")),
    "clamped": ("t = x[i] * 9.0\n        y[i] = clamp(t, 0.0, 1.0)", X, ("zero", "chosen", 5, "is at its limit")),
    "where at its other side": ("y[i] = where(a > 9.0, x[i], a)", X, ("zero", "chosen", 4, "chose the other")),
    "a factor of 0": ("z = a - 2.0\n        y[i] = x[i] * z", X, ("zero", "factor", 5, r"other factor of \* is 0")),
    "a flat square": ("y[i] = x[i] * x[i] * a", [0.0, 0.0, 0.0], ("zero", "factor", 4, "is 0")),
    "not read": ("y[i] = a + 0.0 * float(len(x))", X, ("zero", "unused", 0, "k takes this array and reads no")),
    "sqrt at 0": ("t = x[i] * x[i]\n        y[i] = sqrt(t) * a", [0.0, 1.0, 2.0], ("nan", "infinite", 5, r"sqrt\(\)")),
    "log of a negative": ("t = a * x[i]\n        y[i] = log(t)", [1.0, -1.0, 2.0], ("fine", "", 0, "from -1")),
    "root of a negative": ("t = x[i]\n        y[i] = sqrt(t)", [-0.5, 3.0, 4.0], ("nan", "infinite", 5, r"sqrt\(\)")),
    "a sum that became NaN": ("y[0] += 1.0 / x[i] * a", [0.0, 1.0, -0.0], ("infinite", "infinite", 4, "of /")),
    "all well": ("y[i] = x[i] * x[i] * a", X, ("fine", "", 0, "from 2 to 10")),
}  # fmt: skip


def taped(body: str, x: wb.array) -> wb.Tape:
    kernel = meaning.define(PLAIN.format(body=body))["k"]
    y, loss = wb.zeros(3), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(kernel, 3, inputs=[x], outputs=[y, 2.0])
        wb.launch(TOTAL, 3, inputs=[y], outputs=[loss])
    tape.backward(loss)
    return tape


@pytest.mark.parametrize("name", KERNELS)
def test_cause_kernel_and_line(name: str) -> None:
    body, values, (state, cause, line, message) = KERNELS[name]
    x = wb.array(values, requires_grad=True)
    tape = taped(body, x)
    before = x.grad.numpy().copy()
    found = wb.explain_grad(tape, x)
    assert (found.state, found.cause, found.line) == (state, cause, line), found
    assert re.search(message, found.message), found.message
    if line:
        assert found.kernel == "k" and found.launch == 0 and f"line {line}" in str(found) and found.text in str(found)
        assert found.text.strip() and found.advice in repr(found)
    assert bool(found.advice) == (state != "fine")
    np.testing.assert_array_equal(x.grad.numpy(), before)


SQUARE = meaning.define("""
    @kernel
    def square(x: array[float], y: array[float]):
        i = tid()
        y[i] = x[i] * x[i]

    @kernel
    def constant(y: array[float]):
        i = tid()
        y[i] = 3.0

    @kernel
    def inverse(x: array[float], y: array[float]):
        i = tid()
        d = x[i] - 1.0
        y[i] = d / (d * d)
        y[i] = y[i] * d * 0.0 + log(d)

    @kernel
    def top(x: array[float], y: array[float]):
        atomic_max(y, 0, x[tid()])
""")
square, constant, inverse, top = SQUARE.values()


def chain(middle: Callable[[wb.array, wb.array], Any]) -> tuple[wb.Tape, wb.array]:
    x, y, z = wb.array(X, requires_grad=True), wb.zeros(3), wb.zeros(3)
    with wb.Tape() as tape:
        wb.launch(square, 3, inputs=[x], outputs=[y])
        middle(x, y)
        wb.launch(square, 3, inputs=[y], outputs=[z])
    tape.backward(grads={z: np.ones(3)})
    return tape, x


MIDDLES: dict[str, tuple[Callable[[wb.array, wb.array], Any], tuple[str, int, str]]] = {
    "fill": (lambda x, y: y.fill_(2.0), ("overwritten", 1, "a fill, overwrote it")),
    "copy": (lambda x, y: wb.copy(y, wb.ones(3)), ("overwritten", 2, "a copy, overwrote it")),
    "slices": (lambda x, y: (y[:2].fill_(1.0), y[2:].fill_(1.0)), ("overwritten", 1, "a fill, overwrote it")),
    "launch": (lambda x, y: wb.launch(constant, 3, inputs=[y]), ("overwritten", 1, "constant overwrites y")),
}


def test_an_array_on_the_way_is_no_mistake() -> None:
    x = wb.ones(3, requires_grad=True)
    with wb.Tape() as tape:
        y = x * 2.0
        loss = (y * y).sum()
    tape.backward(loss)
    found = wb.explain_grad(tape, y)
    assert (found.state, found.cause, found.launch) == ("zero", "intermediate", 1)
    assert "its gradient went on" in str(found) and "retain_grad=True" in str(found)


@pytest.mark.parametrize("name", MIDDLES)
def test_overwritten_on_the_way(name: str) -> None:
    middle, (cause, launch, message) = MIDDLES[name]
    found = wb.explain_grad(*chain(middle))
    assert (found.state, found.cause, found.launch) == ("zero", cause, launch), found
    assert message in found.message
    assert (found.line, found.kernel) == ((9, "constant") if name == "launch" else (0, ""))


def test_the_loss_does_not_use_it() -> None:
    x, y, z = wb.array(X, requires_grad=True), wb.zeros(3), wb.zeros(3)
    other = wb.array(X)
    with wb.Tape() as tape:
        wb.launch(square, 3, inputs=[x], outputs=[y])
        wb.launch(square, 3, inputs=[other], outputs=[z])
    tape.backward(grads={z: np.ones(3)})
    found = wb.explain_grad(tape, x)
    assert (found.state, found.cause, found.kernel, found.launch) == ("zero", "unreached", "square", 0)


def test_other_elements() -> None:
    x, y = wb.array(X, requires_grad=True), wb.zeros(3)
    with wb.Tape() as tape:
        wb.launch(square, 1, inputs=[x], outputs=[y])
    tape.backward(grads={y: np.array([0.0, 0.0, 1.0])})
    assert wb.explain_grad(tape, x).cause == "elements"


def test_a_nan_of_the_value_is_followed_to_where_it_was_made() -> None:
    x, y, z = wb.array(X, requires_grad=True), wb.zeros(3), wb.zeros(3)
    with wb.Tape() as tape:
        wb.launch(inverse, 3, inputs=[x], outputs=[y])
        wb.launch(square, 3, inputs=[y], outputs=[z])
    tape.backward(grads={z: np.ones(3)})
    found = wb.explain_grad(tape, x)
    assert (found.state, found.cause, found.kernel, found.launch) == ("nan", "value", "inverse", 0)
    assert found.line == 16 and "log()" in found.message


def test_reasons_without_a_launch() -> None:
    x, y, plain = wb.array(X, requires_grad=True), wb.zeros(3), wb.array(X)
    ints = wb.zeros(3, int)
    with wb.Tape() as tape:
        wb.launch(square, 3, inputs=[plain], outputs=[y])
    assert wb.explain_grad(tape, ints).cause == "integers"
    assert wb.explain_grad(tape, x).cause == "unseen"
    assert wb.explain_grad(tape, plain).cause == "backward"
    tape.backward(grads={y: np.zeros(3)})
    assert wb.explain_grad(tape, plain).cause == "seed"
    tape.backward(grads={y: np.ones(3)})
    found = wb.explain_grad(tape, plain)
    assert (found.state, found.cause) == ("absent", "requires_grad") and "requires_grad=True" in found.advice
    with pytest.raises(wb.LaunchError, match="takes a tape and an array"):
        wb.explain_grad(tape, 3.0)


def test_no_adjoint_and_a_users_function() -> None:
    x, y, calls = wb.array(X, requires_grad=True), wb.zeros(1), []
    with wb.Tape() as tape:
        wb.launch(top, 3, inputs=[x], outputs=[y])
    with pytest.raises(wb.NotDifferentiable):
        tape.backward(y)
    found = wb.explain_grad(tape, x)
    assert (found.state, found.cause, found.kernel, found.line) == ("absent", "adjoint", "top", 20), found
    with wb.Tape() as tape:
        tape.record_func(lambda: calls.append(tape.gradients[y].zero_()), [x, y])
    tape.backward(y)
    calls.clear()
    assert wb.explain_grad(tape, x).cause == "function" and not calls


def test_unused_by_any() -> None:
    x = wb.array(X, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(constant, 3, inputs=[x])
    tape.backward(grads={x: np.ones(3)})
    found = wb.explain_grad(tape, x)
    assert (found.cause, found.kernel, found.line) == ("overwritten", "constant", 9)


def test_arrays_of_structs() -> None:
    names = meaning.define("""
        @struct
        class Ball:
            n: int
            place: vec3
            mass: float

        @kernel
        def weigh(balls: array[Ball], y: array[float]):
            i = tid()
            y[i] = floor(balls[i].mass)

        @kernel
        def lift(balls: array[Ball], y: array[float]):
            i = tid()
            y[i] = balls[i].mass * balls[i].place.z
    """)
    balls = wb.zeros(3, names["Ball"], requires_grad=True)
    balls.numpy()["mass"] = 2.0
    for kernel, state, cause, line in ((names["weigh"], "zero", "builtin", 10), (names["lift"], "fine", "", 0)):
        y = wb.zeros(3)
        with wb.Tape() as tape:
            wb.launch(kernel, 3, inputs=[balls], outputs=[y])
        tape.backward(grads={y: np.ones(3)})
        found = wb.explain_grad(tape, balls)
        assert (found.state, found.cause, found.line) == (state, cause, line), found


def test_a_nan_in_an_image_is_named_and_the_image_is_not_printed() -> None:
    """Of an array of 900 vectors, the element that was read."""

    @wb.kernel
    def doubled(x: wb.array2d[wb.vec3], y: wb.array2d[wb.vec3]):
        i, j = wb.tid()
        y[i, j] = x[i, j] * 2.0

    @wb.kernel
    def scaled(x: wb.array2d[wb.vec3], y: wb.array2d[wb.vec3]):
        i, j = wb.tid()
        y[i, j] = x[i, j] * wb.length(x[i, j])

    host = np.ones((30, 30, 3), np.float32)
    host[3, 4, 1] = np.nan
    x, y = wb.array(host, dtype=wb.vec3, requires_grad=True), wb.zeros((30, 30), wb.vec3)
    with wb.Tape() as tape:
        wb.launch(doubled, (30, 30), [x], [y])
        z = wb.zeros((30, 30), wb.vec3)
        wb.launch(scaled, (30, 30), [y], [z])
        loss = wb.map(wb.length, z).sum()
    tape.backward(loss)
    text = str(wb.explain_grad(tape, x))
    assert len(text.splitlines()) < 6 and "x[3, 4]" in text and "wb.find_nan()" in text


def test_the_gradient_of_an_intermediate_array_is_kept_on_request() -> None:
    x = wb.array([1.0, 2.0], requires_grad=True)
    with wb.Tape() as tape:
        y = wb.zeros(2, requires_grad=True)
        wb.map(wb.sin, x, out=y)
        loss = (y * y).sum()
    tape.backward(loss)
    assert "retain_grad=True" in str(wb.explain_grad(tape, y))
    tape.zero()
    tape.backward(loss, retain_grad=True)
    np.testing.assert_allclose(y.grad.numpy(), 2 * np.sin([1, 2]), rtol=1e-6)
