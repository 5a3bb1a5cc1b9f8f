"""gradcheck says "right" of what is right and "WRONG" of what is not."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from workbench.builtins import TABLE
from workbench.errors import NotDifferentiable

WAVE = """
def k(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = sin(a * x[i]) + x[i - 1] * 2.0
"""


def test_right():
    kernel = meaning.define(WAVE)["k"]
    x = wb.array(np.linspace(0, 1, 9, dtype=np.float32))
    before = x.numpy().copy()
    verdict = wb.gradcheck(kernel, 9, [0.7, x], [wb.zeros(9)])
    assert verdict and verdict.ok and verdict.compared == 19
    assert max(p.error for p in verdict.worst) < 1e-8
    assert "gradcheck k: right" in str(verdict) and "line 3" in str(verdict)
    assert "<table>" in verdict._repr_html_()
    assert np.array_equal(x.numpy(), before)


def test_wrong(monkeypatch):
    kernel = meaning.define(WAVE.replace("sin", "tanh"))["k"]
    monkeypatch.setattr(TABLE["tanh"], "gradient", lambda ct, result, x: (ct * 0.9,))
    verdict = wb.gradcheck(kernel, 9, [0.7, np.linspace(0, 1, 9, dtype=np.float32)], [wb.zeros(9)])
    assert not verdict and "WRONG" in str(verdict)
    assert {p.parameter for p in verdict.worst if p.error > 1e-3} == {"a", "x"}


def test_kinks_are_left_out_and_counted():
    kernel = meaning.define("def k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = abs(x[i])\n")["k"]
    verdict = wb.gradcheck(kernel, 3, [wb.array([0.0, 1.0, -2.0])], [wb.zeros(3)])
    assert verdict.ok and verdict.skipped == 1
    jump = meaning.define("def k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = floor(x[i])\n")["k"]
    verdict = wb.gradcheck(jump, 3, [wb.array([1.0, 1.5, -0.5])], [wb.zeros(3)])
    assert verdict.ok and verdict.skipped == 1


def test_what_has_no_right_adjoint_is_refused():
    kernel = meaning.define(
        "def k(x: array[float], y: array[float]):\n    i = tid()\n    s = 1.0\n    for q in range(len(x)):\n"
        "        s *= x[q]\n    y[i] = y[i + 1] * s\n"
    )["k"]
    with pytest.raises(NotDifferentiable) as caught:
        wb.gradcheck(kernel, 3, [wb.ones(3)], [wb.zeros(3)])
    assert caught.value.location.line == 6


def test_nothing_to_compare_is_no_verdict():
    kernel = meaning.define(WAVE)["k"]
    verdict = wb.gradcheck(kernel, 0, [0.7, wb.zeros(0)], [wb.zeros(0)])
    kink = meaning.define("def k(x: array[float], y: array[float]):\n    i = tid()\n    y[i] = floor(x[i])\n")["k"]
    none = wb.gradcheck(kink, 1, [wb.zeros(1)], [wb.zeros(1)], samples=0)
    assert "WRONG" not in str(verdict)
    assert not none.ok and none.compared == 0 and "nothing to compare" in str(none) and "WRONG" not in str(none)
