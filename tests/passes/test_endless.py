"""A loop that nothing ends is refused at its line; one that may go on for ever stays, though nothing needs it."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench import inspect
from workbench.ir.values import walk

HEAD = "def k(x: array[float32], y: array[float32], n: int32):\n    i = tid()\n"
ENDLESS = {
    "while True": "while True:\n        pass",
    "nested": "for q in range(3):\n        if x[i] > 0.0:\n            while True:\n                z = x[i] * 2.0",
    "a condition that stays": "while n > 0:\n        pass",
    "an element that stays": "while x[0] > 0.0:\n        z = 1.0",
}
ENDING = {
    "break": "s = float32(0)\n    while True:\n        s = s + 1.0\n        if s > 9.0:\n            break",
    "return": "s = float32(0)\n    while True:\n        s = s + 1.0\n        if s > 9.0:\n            return",
    "a counter": "c = n\n    while c > 0:\n        c = c - 1",
    "never begun": "while False:\n        pass",
    "an atomic": "while atomic_add(y, 0, 0.0) > 0.0:\n        pass",
}


def text(loop: str) -> str:
    return f"{HEAD}    {loop}\n    y[i] = x[i]\n"


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_loop_is_refused(name: str) -> None:
    with pytest.raises(wb.WorkbenchError, match="This loop never ends once it begins") as caught:
        define(text(ENDLESS[name]))["k"].specialise()
    line = next(n for n, row in enumerate(text(ENDLESS[name]).splitlines(), 1) if "while" in row)
    assert caught.value.location is not None
    assert "while" in caught.value.location.source.line(caught.value.location.line)
    assert line >= 3


def test_one_in_a_func_is_refused() -> None:
    func = "def f(v: float32):\n    while True:\n        v = v + 1.0\n    return v\n"
    with pytest.raises(wb.WorkbenchError, match="This loop never ends once it begins"):
        define(f"{func}{HEAD}    y[i] = f(x[i])\n")["k"].specialise()


@pytest.mark.parametrize("name", ENDING)
def test_a_loop_that_may_end_is_taken(name: str) -> None:
    assert define(text(ENDING[name]))["k"].specialise().function


UNUSED = {
    "up": ("c = 0\n    while c < n:\n        c += 1", False),
    "down": ("c = n\n    while c > 0:\n        c -= 1", False),
    "by two, to an array's length": ("c = 0\n    while len(x) >= c:\n        c += 2", False),
    "up, or until data say so": ("c = 0\n    while c < n and s < 3.0:\n        c += 1\n        s += x[i]", False),
    "a for that is left": ("for j in range(100):\n        if x[i] > float(j):\n            break", False),
    "in a for": ("for q in range(n):\n        c = 0\n        while c < q:\n            c += 1", False),
    "a root": ("while abs(s * s - 2.0) > 1e-3:\n        s = 0.5 * (s + 2.0 / s)", True),
    "until data say so, in a for": ("for q in range(n):\n        while s < x[i]:\n            s += x[q]", True),
    "the wrong way": ("c = n\n    while c > 0:\n        c += 1", True),
    "an end that moves": ("c = 0\n    d = n\n    while c < d:\n        c += 1\n        d += 1", True),
    "a counter of floats": ("while s < x[i]:\n        s += 1.0", True),
    "a step that may be none": ("c = 0\n    while c < n:\n        c += n", True),
    "a counter that starts again": ("c = 0\n    while c < n:\n        c = 0 if c > 5 else c + 1", True),
}
"""Loops whose results nothing uses, and whether they may go on for ever."""


@pytest.mark.parametrize("name", UNUSED)
def test_a_loop_that_nothing_needs_stays_if_it_may_not_end(name: str) -> None:
    loop, stays = UNUSED[name]
    function = define(text(f"s = float32(0)\n    {loop}"))["k"].specialise().function
    assert any(op.name in ("while", "for") for op in walk(function.body)) == stays


def test_derivatives_leave_it_out() -> None:
    """The kernel ran before its adjoint: the loop has ended."""
    loop, _ = UNUSED["a root"]
    adjoint = inspect.adjoint(define(text(f"s = float32(0)\n    {loop}"))["k"])
    assert "while" not in adjoint
