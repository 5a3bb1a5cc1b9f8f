"""Gradients as views: a gradcheck's points, arrays beside their adjoints; refused where there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from kernel_ext.refusal import Refusal
from kernel_ext.views.arrays.array_view import unpacked
from kernel_ext.views.programs.gradient_view import grads_view

SCREENS = Path(__file__).parents[3] / "build" / "screens"


@wb.kernel
def squared(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


def verdict() -> wb.Verdict:
    return wb.gradcheck(squared, 3, [np.array([1.0, 2.0, 3.0])], [np.zeros(3)])


def test_a_verdict_s_points_are_a_table() -> None:
    shown = show.grad(verdict())
    assert shown.view.check.ok and {p.place.split("[")[0] for p in shown.view.check.points} == {"x", "y"}
    assert shown.text.splitlines()[0].startswith("gradcheck squared: right") and "<td" in shown.html


def test_arrays_stand_beside_their_adjoints() -> None:
    x = wb.array([1.0, 2.0, 3.0], requires_grad=True)
    y = wb.zeros(3)
    with wb.Tape() as tape:
        wb.launch(squared, 3, [x], [y])
    tape.backward(grads={y: wb.ones(3)})
    (pair,) = grads_view(None, None, {"x": x}).pairs
    assert unpacked(pair.value.parts[0].low).tolist() == [1.0, 2.0, 3.0]
    assert unpacked(pair.adjoint.parts[0].low).tolist() == [2.0, 4.0, 6.0]
    assert "adjoint of x" in show.grad(tape=tape, x=x).text


def test_a_report_draws_each_gradient_and_its_checks() -> None:
    x, total = wb.array([1.0, 2.0, 3.0]), wb.zeros(1)

    def loss() -> wb.array:
        total.zero_()
        wb.launch(summed, 3, [x], [total])
        return total

    report = wb.gradients_of(loss, {"x": x}, check=True, what="loss()")
    shown = show.gradient_report(report)
    (pair,) = shown.view.pairs
    assert pair.value is None and unpacked(pair.adjoint.parts[0].low).tolist() == [2.0, 4.0, 6.0]
    assert shown.view.check.ok and shown.view.title == "loss() = 14" and "d/d" in shown.text


@wb.kernel
def summed(x: wb.array[float], total: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(total, 0, x[i] * x[i])


def test_without_a_gradient_it_says_what_to_do() -> None:
    with pytest.raises(Refusal, match="requires_grad"):
        show.grad(x=wb.zeros(2))
    with pytest.raises(Refusal, match="arrays by name"):
        show.grad()
    with pytest.raises(Refusal, match="x: the tape recorded"):
        show.grad(tape=wb.Tape(), x=wb.zeros(2))


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.browser
@pytest.mark.parametrize(("width", "dark"), [(900, False), (340, True)])
def test_the_verdict_and_the_errors_are_drawn(widget_page: Callable[..., Any], width: int, dark: bool) -> None:
    x = wb.array([1.0, 2.0, 3.0], requires_grad=True)
    data = show.grad(verdict(), x=x).data()
    data["pairs"] = [*data["pairs"], {**data["pairs"][0], "name": "alone", "value": None}]
    data["check"]["points"] = [data["check"]["points"][0], {**data["check"]["points"][0], "error": 0.5}]
    page = widget_page("grad_view", data, width, dark)
    assert page.locator(".wb-verdict").inner_text() == "right"
    assert page.locator(".wb-fine").count() == 1 and page.locator(".wb-wrong").count() == 1
    assert page.locator(".wb-pair .wb-curve").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(SCREENS / f"grad-{width}.png"))
    page.evaluate("window.cleanup()")
    assert page.evaluate("window.listeners()") == 0
