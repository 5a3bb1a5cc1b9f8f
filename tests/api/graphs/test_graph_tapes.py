"""Graphs with tapes and recorders: gradients captured with their forward launches, and who sees what."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

N = 64


@wb.kernel
def step(x: wb.array[float], v: wb.array[float], dt: float):
    i = wb.tid()
    x[i] = x[i] + v[i] * dt


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def total(x: wb.array[float], out: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(out, 0, x[i])


def ramp(n: int = N, **options: object) -> wb.array:
    return wb.array(np.arange(n, dtype=np.float32), device="cpu", **options)


def test_forward_and_adjoint_of_a_tape_captured_together() -> None:
    x = ramp(requires_grad=True)
    y, loss = wb.zeros(N, float, device="cpu"), wb.zeros(1, float, device="cpu")
    with wb.capture() as g:
        loss.zero_()
        with wb.Tape() as tape:
            wb.launch(square, N, [x, y])
            wb.launch(total, N, [y, loss])
        tape.backward(loss)
    assert not x.grad.numpy().any()
    g.launch()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * np.arange(N))
    x.grad.zero_()
    x.fill_(3.0)
    g.launch()
    np.testing.assert_array_equal(x.grad.numpy(), np.full(N, 6))
    assert loss.numpy()[0] == 9 * N
    assert {n.kind for n in g.nodes} == {"forward", "adjoint", "fill", "add"}


def test_a_new_array_brings_its_gradient() -> None:
    x, other = ramp(requires_grad=True), wb.full(N, 5.0, float, device="cpu", requires_grad=True)
    loss = wb.zeros(1, float, device="cpu")
    with wb.capture() as g:
        with wb.Tape() as tape:
            y = wb.zeros(N, float, device="cpu")
            wb.launch(square, N, [x, y])
            wb.launch(total, N, [y, loss])
        tape.backward(loss)
    with pytest.raises(wb.LaunchError, match="gradient of the replaced array"):
        g.update("square", x=wb.zeros(N, float, device="cpu"))
    g.update("square", x=other)
    g.launch()
    assert not x.grad.numpy().any()
    np.testing.assert_array_equal(other.grad.numpy(), np.full(N, 10))
    assert loss.numpy()[0] == 25 * N


def test_watchers_outside_see_the_launch_of_the_graph_not_its_capture() -> None:
    x, v = ramp(), wb.ones(N, float, device="cpu")
    with wb.Tape() as tape:
        with wb.capture() as g:
            wb.launch(step, N, [x, v, 1.0])
        assert len(tape) == 0
        g.launch()
    assert len(tape) == 1


def test_a_recorder_notes_the_launch_of_a_graph_and_runs_it_again() -> None:
    x, v = ramp(), wb.ones(N, float, device="cpu")
    with wb.capture() as g:
        wb.launch(step, N, [x, v, 1.0])
    with wb.record() as rec:
        g.launch()
    rec.replay()
    np.testing.assert_array_equal(x.numpy(), np.arange(N) + 2)
    assert [entry.kind for entry in rec] == ["graph"] and rec[0].seconds is not None


def test_what_a_tape_keeps_before_an_overwrite_is_kept_at_each_launch() -> None:
    x, y = ramp(requires_grad=True), wb.zeros(N, float, device="cpu")
    loss = wb.zeros(1, float, device="cpu")
    with wb.capture() as g:
        y.zero_()
        with wb.Tape() as tape:
            wb.launch(square, N, [x, y])
            wb.launch(square, N, [y, y])
            wb.launch(total, N, [y, loss])
        tape.backward(loss)
    x.fill_(2.0)
    g.launch()
    np.testing.assert_allclose(x.grad.numpy(), np.full(N, 4 * 2.0**3))
