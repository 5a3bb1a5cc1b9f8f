"""None in the place of an array: known at compile time, so asking costs nothing and an unguarded use is refused."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench.backends.base import Options
from workbench.backends.cuda.emit import emit_cuda
from workbench.errors import KernelTypeError, LaunchError

TEXT = """
@wb.func
def weight(w: array(dtype=float), i: int, more=None):
    if w is None:
        return 1.0
    if more is not None:
        return w[i] * more[i]
    return w[i]

def k(x: array(dtype=float), w: array(dtype=float), y: array(dtype=float)):
    i = tid()
    s = x[i] * weight(w, i) + weight(None, i)
    if w:
        s += 10.0
    if not w:
        s += 20.0
    if w is not None and w[i] > 1.5:
        s += 100.0
    if w is None or w[i] < 1.5:
        s += 1000.0
    y[i] = s + (w[i] if w is not None else 0.0)
"""


def _kernel() -> wb.Kernel:
    kernel = define(TEXT, {"wb": wb})["k"]
    assert isinstance(kernel, wb.Kernel)
    return kernel


def _meant(x: float, w: float | None) -> float:
    if w is None:
        return x + 1 + 20 + 1000
    return x * w + 1 + 10 + (100 if w > 1.5 else 0) + (1000 if w < 1.5 else 0) + w


@pytest.mark.parametrize("checks", [False, True])
def test_each_way_is_code_of_its_own(checks):
    k = _kernel()
    x, y = wb.array([3.0, 4.0]), wb.zeros(2)
    for w in ([1.0, 2.0], None, [1.0, 2.0], None):
        wb.launch(k, 2, [x, None if w is None else wb.array(w), y], checks=checks)
        given = [None, None] if w is None else w
        assert y.numpy().tolist() == [_meant(a, b) for a, b in zip((3.0, 4.0), given, strict=True)]
    text = emit_cuda(k.used.function, Options())
    assert "if" not in text.split("return;")[1]


def test_gradients_with_and_without():
    k = define("""
        def k(x: array(dtype=float), w: array(dtype=float), y: array(dtype=float)):
            i = tid()
            if w is None:
                y[i] = x[i] * x[i]
            else:
                y[i] = x[i] * w[i]
        """)["k"]  # fmt: skip
    for w, want in ((None, [2.0, 4.0]), (wb.array([5.0, 7.0]), [5.0, 7.0])):
        x, y = wb.array([1.0, 2.0], requires_grad=True), wb.zeros(2, requires_grad=True)
        with wb.Tape() as tape:
            wb.launch(k, 2, [x, w], [y])
        tape.backward(grads={y: np.ones(2, np.float32)})
        assert x.grad.numpy().tolist() == want
        x.grad.fill_(0.0)
        y.grad.fill_(1.0)
        adjoint = [] if w is None else [wb.zeros(2)]
        wb.launch(k, 2, [x, w], [y], adjoint=True, adj_inputs=[x.grad, *adjoint], adj_outputs=[y.grad])
        assert x.grad.numpy().tolist() == want


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("y[i] = w[i]", "w is None here."),
        ("y[i] = float(len(w))", "w is None here."),
        ("y[i] = float(w.shape[0])", "no shape"),
        ("w[i] = 1.0", "w is None here."),
        ("for v in w:\n        y[i] += v", "runs over range"),
    ],
)
def test_an_unguarded_use_is_refused_at_its_line(statement, sentence):
    text = f"def k(w: array(dtype=float), y: array(dtype=float)):\n    i = tid()\n    {statement}\n"
    k = define(text)["k"]
    y = wb.zeros(1)
    wb.launch(k, 1, [wb.ones(1), y])
    with pytest.raises(wb.WorkbenchError) as raised:
        wb.launch(k, 1, [None, y])
    assert isinstance(raised.value, KernelTypeError) or "no shape" in raised.value.message or "range" in sentence
    assert sentence in raised.value.message and raised.value.location.line == 3


def test_none_needs_an_annotated_array():
    k = define("def k(n: int, x, y: array(dtype=float)):\n    y[tid()] = 1.0\n")["k"]
    with pytest.raises(LaunchError, match="n takes int32"):
        wb.launch(k, 1, [None, 1.0, wb.zeros(1)])
    with pytest.raises(LaunchError, match="x takes an array or a number"):
        wb.launch(k, 1, [1, None, wb.zeros(1)])


def test_kept_launches_and_records():
    k = _kernel()
    x, y = wb.array([3.0, 4.0]), wb.zeros(2)
    kept = wb.launch(k, 2, [x, None, y], record_cmd=True)
    kept.launch()
    assert y.numpy().tolist() == [_meant(3.0, None), _meant(4.0, None)]
    with pytest.raises(LaunchError, match="w was None when this launch was made"):
        kept.set_param_by_name("w", wb.ones(2))
