"""Chains of `elif`, of `if` in `else` and of early returns, of any length: values and slopes are Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.frontend.meaning.test_plain_twins import Annotation
from tests.support.checks import meaning

LENGTHS = [15, 16, 17, 18, 33, 64, 65]
HEAD = "def k(x: array[float64], y: array[float64]):\n    i = tid()\n"


def chain(n: int, side: Callable[[int], str], last: str = "", gap: str = "    ") -> str:
    """Return `if … elif …` of n links on `v`, with what `side` makes of each link's number."""
    links = "".join(f"{gap}{'el' * (j > 0)}if v < {j + 1}.0:\n{_inside(side(j), gap)}" for j in range(n))
    return links + (f"{gap}else:\n{_inside(last, gap)}" if last else "")


def _inside(text: str, gap: str) -> str:
    return "".join(f"{gap}    {line}\n" for line in text.split("\n"))


def with_else(n: int) -> str:
    return HEAD + "    v = x[i]\n" + chain(n, lambda j: f"v = v * v + {j}.0", "v = -v") + "    y[i] = v\n"


def without_else(n: int) -> str:
    return HEAD + "    v = x[i]\n" + chain(n, lambda j: f"y[i] = v * {j + 2}.0")


def a_name_in_each_link(n: int) -> str:
    body = chain(n, lambda j: f"w = v * {j + 1}.0\nc = {j}", "w = 0.5 * v\nc = -1")
    return HEAD + "    v = x[i]\n" + body + "    y[i] = w + float64(c)\n"


def names_of_some_links(n: int) -> str:
    body = chain(n, lambda j: f"a{j % 5} = v * {j + 1}.0")
    zeros = "".join(f"    a{j} = 0.0\n" for j in range(5))
    return HEAD + "    v = x[i]\n" + zeros + body + "    y[i] = a0 + 2.0*a1 + 3.0*a2 + 4.0*a3 + 5.0*a4\n"


def returns_in_links(n: int) -> str:
    body = chain(n, lambda j: f"y[i] = v * {j + 2}.0\nreturn" if j % 3 else f"y[i] = {j}.0", "y[i] = -v")
    return HEAD + "    v = x[i]\n" + body + "    y[i] = y[i] + v\n"


def breaks_and_continues(n: int) -> str:
    kinds = ("s += v\nbreak", "s += 2.0 * v\ncontinue", "s = s * 1.5 + v")
    body = chain(n, lambda j: kinds[j % 3], "s -= v", " " * 8)
    return (
        HEAD
        + "    s = 0.0\n    for q in range(4):\n        v = x[i] + float64(5 * q)\n"
        + body
        + ("        s += 0.25\n    y[i] = s\n")
    )


def in_a_while(n: int) -> str:
    body = chain(n, lambda j: f"v = v + {j % 7 + 1}.0", "v = v * 2.0", " " * 8)
    return (
        HEAD + "    v = x[i]\n    r = 0\n    while v < 400.0:\n        r += 1\n" + body + "    y[i] = v + float64(r)\n"
    )


def in_a_func(n: int) -> str:
    text = "def f(v: float64):\n" + chain(n, lambda j: f"return v * {j + 2}.0") + "    return -v\n"
    return text + HEAD + "    y[i] = f(x[i]) + f(2.0 * x[i] + 0.25)\n"


def one_in_another(n: int) -> str:
    inner = chain(n, lambda j: f"v = v + {j}.5", "v = 0.25 * v", "").rstrip("\n").replace("v <", "2.0 * v + 0.25 <")
    return (
        HEAD + "    v = x[i]\n" + chain(n, lambda j: inner if j in (1, n - 2) else f"v = v * {j}.0") + "    y[i] = v\n"
    )


def nested(n: int) -> str:
    levels = "".join(f"{' ' * (4 + j)}if v > {j}.0:\n{' ' * (5 + j)}v = v + {j}.25\n" for j in range(n))
    return HEAD + "    v = x[i]\n" + levels + "    y[i] = v * v\n"


def a_sequence_of_returns(n: int) -> str:
    tests = "".join(f"    if v < {j + 1}.0:\n        y[i] = v * {j + 1}.0\n        return\n" for j in range(n))
    return HEAD + "    v = x[i]\n" + tests + "    y[i] = v * v\n"


def returns_of_some_paths(n: int) -> str:
    tests = "".join(
        f"    if v < {j + 1}.0:\n        v += {n // 2}.0\n        if v > {n - 2}.0:\n            return v * {j + 1}.0\n"
        for j in range(n)
    )
    return "def f(v: float64):\n" + tests + "    return -v\n" + HEAD + "    y[i] = f(x[i])\n"


PROGRAMS = [
    with_else, without_else, a_name_in_each_link, names_of_some_links, returns_in_links, breaks_and_continues,
    in_a_while, in_a_func, one_in_another, nested, a_sequence_of_returns, returns_of_some_paths,
]  # fmt: skip


def by_python(text: str, at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    x, y = at.tolist(), [0.0] * len(at)
    names: dict[str, Any] = {"float64": float, "array": Annotation}
    exec(text, names)
    for thread in range(len(at)):
        names["tid"] = lambda here=thread: here
        names["k"](x, y)
    return np.array(y)


def check(text: str, n: int, devices: tuple[str, ...] = ("cpu",)) -> None:
    """Compare values and slopes with Python's; the pieces are polynomials of degree 2, whose differences are exact."""
    at = np.array([0.5, 3.5, 7.5, 14.5, 15.5, 16.5, 17.5, 18.5, n - 1.5, n - 0.5, n + 0.5, n + 2.5, 31.5, 32.5])
    expected = by_python(text, at)
    for found in meaning.results(text, at):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    kernel, h = meaning.define(text)["k"], 2.0**-10
    slopes = (by_python(text, at + h) - by_python(text, at - h)) / (2 * h)
    for device in devices:
        with wb.ScopedDevice(device):
            x, y = wb.array(at, requires_grad=True), wb.zeros(len(at), wb.float64)
            with wb.Tape() as tape:
                wb.launch(kernel, len(at), inputs=[x], outputs=[y])
            tape.backward(grads={y: np.ones(len(at))})
            np.testing.assert_allclose(y.numpy(), expected, rtol=1e-14)
            np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=1e-9)


@pytest.mark.sample(14)
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_chains_of_each_length_are_pythons(program: Callable[[int], str], n: int) -> None:
    check(program(n), n)


@pytest.mark.parametrize("program", [without_else, returns_in_links], ids=lambda p: p.__name__)
def test_a_chain_on_the_emulated_device(program: Callable[[int], str]) -> None:
    check(program(18), 18, ("emulated",))


@pytest.mark.slow
@pytest.mark.parametrize("program", [with_else, a_name_in_each_link], ids=lambda p: p.__name__)
def test_a_chain_of_300_links(program: Callable[[int], str]) -> None:
    check(program(300), 300)
