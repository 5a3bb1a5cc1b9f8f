"""Public docstrings: what a machine can check of them, and their examples."""

from __future__ import annotations

import builtins
import doctest
import importlib

import pytest

import workbench
import workbench.inspect
from kernel_ext import puzzles, show
from tests.support.checks.docstrings import Member, complaints, members

PACKAGES = ("workbench", "kernel_ext")
EXAMPLES = (
    "workbench.api.gradients.gradcheck",
    "workbench.api.gradients.report",
    "workbench.api.kernels.constant",
    "workbench.api.kernels.func",
    "workbench.api.kernels.kernel",
    "workbench.inspect.texts",
    "workbench.runtime.arrays.create",
    "workbench.linear.roots",
)
"""Modules whose examples run here; those of `transforms` run in `tests/api/gradients/test_functional.py`."""


def public() -> list[Member]:
    names = {n: getattr(workbench, n) for n in workbench.__all__}
    inspected = {f"inspect.{n}": getattr(workbench.inspect, n) for n in workbench.inspect.__all__}
    shown = {f"show.{n}": f for n, f in vars(show).items() if getattr(f, "__module__", "") == show.__name__}
    asked = {f"puzzles.{n}": getattr(puzzles, n) for n in puzzles.__all__}
    return list(members(names | inspected | shown | asked, PACKAGES))


def test_public_docstrings_say_what_is_taken_returned_and_raised() -> None:
    found = public()
    assert len(found) > 200
    wrong = [f"{m.function.__module__}: {m.name} {complaint}" for m in found for complaint in complaints(m)]
    assert not wrong, "\n".join(wrong)


def takes_three(first: int, second: int, third: int) -> int:
    """adds"""
    if first > second:
        raise ValueError("first is larger")
    return first + second + third


def test_a_poor_docstring_is_noticed() -> None:
    assert complaints(Member("takes_three", takes_three, "function")) == [
        "has no summary that is a sentence",
        "does not mention first",
        "does not mention second",
        "does not mention third",
        "does not say what it returns",
        "does not list ValueError under Raises",
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "_", None, raising=False)  # doctest leaves its last value there; IPython heeds it
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted and not found.failed
