"""The table of derivatives in the docs is the one that the declarations make."""

from __future__ import annotations

from pathlib import Path

from tests.support.checks.derivatives import derivative, table
from workbench.builtins import TABLE

PAGE = Path(__file__).parents[2] / "design" / "derivatives.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == table(), "write it again: PAGE.write_text(table())"


def test_expressions_are_those_of_the_rules() -> None:
    assert derivative(TABLE["sin"]) == "x: c · cos(x)"
    assert derivative(TABLE["div"]) == "x: c / y, y: -(c / y) · r"
    assert derivative(TABLE["floor"]) == "0"
    assert derivative(TABLE["lt"]) == "none: a bool"
    assert derivative(TABLE["cross"]) == "a: cross(b, c), b: cross(c, a)"
