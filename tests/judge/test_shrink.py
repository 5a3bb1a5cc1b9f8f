"""A failing program comes out as the few lines that make it fail."""

from __future__ import annotations

import ast

import pytest

from tests.judge.generator import draft
from tests.judge.shrink import shrink


def has_remainder_in_a_loop(text: str) -> bool:
    """An injected fault: a `%` in a `for`."""
    loops = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.For)]
    return any(isinstance(n, ast.Mod) for loop in loops for n in ast.walk(loop))


def long_program() -> str:
    """The longest of some generated programs that has the fault."""
    return max((t for t in (draft(seed).text for seed in range(60)) if has_remainder_in_a_loop(t)), key=len)


def test_a_long_program_is_reduced_to_the_fault() -> None:
    text = long_program()
    assert len(text.splitlines()) > 40
    small = shrink(text, has_remainder_in_a_loop)
    assert has_remainder_in_a_loop(small)
    assert len(small.splitlines()) <= 5, small


def test_what_is_left_has_nothing_to_drop() -> None:
    text = "def k(x, y):\n    i = tid()\n    a = x[i]\n    b = 3\n    if a > 1:\n        y[i] = a + b\n"
    assert shrink(text, lambda t: "y[i]" in t) == "def k(y):\n    y[i] = a\n"


def test_a_program_that_does_not_fail_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fail"):
        shrink("x = 1\n", lambda text: False)


def test_the_same_edits_are_taken_each_time() -> None:
    text = long_program()
    assert shrink(text, has_remainder_in_a_loop) == shrink(text, has_remainder_in_a_loop)
