"""Records, tapes and graphs, from files too, with loops too: each can be all that one of them can be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb
from kernel_ext import show
from workbench import inspect

X = np.array([1.0, 2.0, 3.0], np.float32)


@wb.kernel
def scale(k: float, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = k * x[i] * x[i]


@wb.kernel
def grow(y: wb.array[float]):
    i = wb.tid()
    y[i] = y[i] * y[i] + 1.0


@wb.kernel
def less(n: wb.array[int]):
    n[0] = n[0] - 1


@wb.kernel
def total(y: wb.array[float], loss: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(loss, 0, y[i])


class Case:
    """Work that computes the sum of k x², or with a loop of (k x²)² + 1, for k = 0.5."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.x, self.y, self.loss = wb.array(X, requires_grad=True), wb.zeros(3), wb.zeros(1)
        self.n = wb.zeros(1, int)
        self.loops, from_file, what = "loop" in kind, "file" in kind, kind.split()[-1]
        graph = self.captured() if self.loops or what == "graph" else None
        if what == "tape":
            with wb.Tape() as tape:
                self.run()
            self.work: Any = tape
        elif what == "graph":
            self.work = graph
        else:
            with wb.record(inputs=True) as self.work:
                graph.launch() if graph is not None else self.run()
        if from_file:
            rec = self.work if isinstance(self.work, wb.Recorder) else wb.Recorder(self.work, inputs=True)
            rec.save(folder / "run.wbr")
            self.work = wb.load_record(folder / "run.wbr")
            self.x, self.y, self.loss = (self.work.find(name) for name in ("x", "y", "loss"))

    @property
    def record(self) -> wb.Recorder:
        return self.work if isinstance(self.work, wb.Recorder) else wb.Recorder(self.work)

    def captured(self) -> wb.Graph:
        with wb.capture() as graph:
            self.run()
        return graph

    def run(self) -> None:
        self.loss.zero_()
        wb.launch(scale, 3, [0.5, self.x, self.y])
        if self.loops:
            self.n.fill_(1)
            wb.capture_while(self.n, lambda: (wb.launch(grow, 3, [self.y]), wb.launch(less, 1, [self.n])))
        wb.launch(total, 3, [self.y, self.loss])

    def value(self, x: Any, k: float = 0.5) -> Any:
        """The loss, by NumPy or JAX."""
        y = k * x * x
        return (y * y + 1.0 if self.loops else y).sum()

    def slope(self) -> np.ndarray:
        return np.asarray(jax.grad(self.value)(X))


def differentiated(case: Case, folder: Path) -> None:
    case.x.grad.zero_()
    case.record.backward("loss")
    np.testing.assert_allclose(case.x.grad.numpy(), case.slope(), rtol=1e-6)


def run_with_another_number(case: Case, folder: Path) -> None:
    case.record.replay(k=2.0)
    np.testing.assert_allclose(case.loss.numpy()[0], case.value(X, 2.0), rtol=1e-6)


def run_on_another_array_in_a_tape(case: Case, folder: Path) -> None:
    x = wb.array(2 * X, requires_grad=True)
    with wb.Tape() as tape:
        case.record.replay(x=x)
    tape.backward(case.loss)
    np.testing.assert_allclose(case.loss.numpy()[0], case.value(2 * X), rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), np.asarray(jax.grad(case.value)(2 * X)), rtol=1e-6)


def captured_again(case: Case, folder: Path) -> None:
    with wb.capture() as graph:
        case.record.replay()
    case.loss.fill_(-1.0)
    graph.launch()
    np.testing.assert_allclose(case.loss.numpy()[0], case.value(X), rtol=1e-6)


def captured_with_its_gradient(case: Case, folder: Path) -> None:
    with wb.capture() as graph:
        case.x.grad.zero_()
        case.record.backward("loss")
    case.x.assign(2 * X)
    graph.launch()
    np.testing.assert_allclose(case.x.grad.numpy(), np.asarray(jax.grad(case.value)(2 * X)), rtol=1e-6)


def saved(case: Case, folder: Path) -> None:
    case.record.save(folder / "again.wbr") if case.record.keeps_inputs else wb.Recorder(case.work, inputs=True).save(
        folder / "again.wbr"
    )
    again = wb.load_record(folder / "again.wbr")
    again.replay(k=2.0)
    np.testing.assert_allclose(again.find("loss").numpy()[0], case.value(X, 2.0), rtol=1e-6)


def slid(case: Case, folder: Path) -> None:
    shown = show.controls(case.work, watch=case.loss, k=(0.0, 4.0))
    assert [s.name for s in shown.view.sliders] == ["k"]
    program = inspect.page_program(case.work, watch=case.loss).data()
    assert "k" in program["numbers"] and program["arrays"]["watch"]["shape"] == [1]


def drawn_and_stepped(case: Case, folder: Path) -> None:
    names = [node["name"] for node in show.graph(case.work).view["nodes"]]
    assert {"scale", "total"} <= set(names) and ("grow" in names) == case.loops
    case.loss.fill_(-1.0)
    steps = show.steps(case.work).view["steps"]
    np.testing.assert_allclose(case.loss.numpy()[0], case.value(X), rtol=1e-6)
    assert steps[-1]["said"] in ([("wrote loss", f"{case.value(X):.6g}")], [("next", "it is over")])


def a_function_of_jax(case: Case, folder: Path) -> None:
    # A loop whose turns an array decides is called back in Python.
    function = wb.jax_callable(case.work, graph_mode="none" if case.loops else None)

    def loss(x: Any) -> Any:
        return next(r for r in jax.tree.leaves(function(x, jnp.zeros(3))) if r.shape == (1,) and r.dtype == x.dtype)[0]

    value, slope = jax.value_and_grad(loss)(jnp.asarray(2 * X))
    np.testing.assert_allclose(value, case.value(2 * X), rtol=1e-6)
    np.testing.assert_allclose(slope, np.asarray(jax.grad(case.value)(2 * X)), rtol=1e-6)


KINDS = ["record", "tape", "graph", "loop graph", "loop record", "file record", "file tape", "file loop record"]
USES = [
    differentiated, run_with_another_number, run_on_another_array_in_a_tape, captured_again, captured_with_its_gradient,
    saved, slid, drawn_and_stepped, a_function_of_jax,
]  # fmt: skip


@pytest.mark.sample(12)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_each_can_be(use: Callable[[Case, Path], None], kind: str, tmp_path: Path) -> None:
    use(Case(kind, tmp_path), tmp_path)
