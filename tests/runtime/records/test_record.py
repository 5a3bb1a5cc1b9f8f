"""Recording and replay, and the launch kept for later."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb


@wb.kernel
def step(dt: float, x: wb.array[float], v: wb.array[float]):
    i = wb.tid()
    x[i] = x[i] + dt * v[i]


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


def state():
    return wb.array([1.0, 2.0]), wb.array([10.0, 20.0]), wb.zeros(2)


def test_everything_is_listed_in_order_and_replayed():
    x, v, y = state()
    with wb.record() as rec:
        wb.launch(step, 2, inputs=[0.5, x, v])
        wb.launch(square, 2, inputs=[x], outputs=[y])
        wb.copy(v, y)
        y.fill_(1.0)
    assert [r[0] for r in rec.rows()] == ["forward", "forward", "copy", "fill"]
    assert x.numpy().tolist() == [6, 12]
    rec.replay()
    assert x.numpy().tolist() == [6 + 0.5 * 36, 12 + 0.5 * 144]
    assert "step" in repr(rec) and "<table>" in rec._repr_html_()
    assert "test_record.py" in rec.rows()[0][4]


def test_replay_with_other_numbers_and_arrays():
    x, v, y = state()
    with wb.record() as rec:
        wb.launch(step, 2, inputs=[0.5, x, v])
        wb.launch(square, 2, inputs=[x], outputs=[y])
    other = wb.array([0.0, 0.0])
    rec.replay(dt=1.0, x=other)
    assert other.numpy().tolist() == [10, 20] and y.numpy().tolist() == [100, 400]
    assert x.numpy().tolist() == [6, 12]
    rec.replay()
    assert x.numpy().tolist() == [11, 22], "a replay with changes changes that replay alone"


def test_one_entry_and_one_kernel_alone():
    x, v, y = state()
    with wb.record() as rec:
        wb.launch(step, 2, inputs=[0.5, x, v])
        wb.launch(square, 2, inputs=[x], outputs=[y])
    x.fill_(3)
    rec[1].launch()
    assert y.numpy().tolist() == [9, 9]
    rec.only(kernel="step").replay()
    assert x.numpy().tolist() == [8, 13] and y.numpy().tolist() == [9, 9]


def test_wrong_changes_run_nothing():
    x, v, _ = state()
    with wb.record() as rec:
        wb.launch(step, 2, inputs=[0.5, x, v])
    before = x.numpy().copy()
    with pytest.raises(wb.LaunchError, match="No recorded launch has a parameter dx"):
        rec.replay(dx=1.0)
    with pytest.raises(wb.LaunchError, match="x was an array"):
        rec.replay(x=wb.zeros(3))
    with pytest.raises(wb.LaunchError, match="dt was a number"):
        rec.replay(dt=x)
    assert np.array_equal(x.numpy(), before)


def test_adjoint_launches_are_recorded_as_adjoint():
    x = wb.array([1.0, 2.0], requires_grad=True)
    y = wb.zeros(2, requires_grad=True)
    with wb.record() as rec:
        wb.launch(square, 2, inputs=[x], outputs=[y])
        y.grad.fill_(1.0)
        wb.launch(square, 2, inputs=[x], outputs=[y], adjoint=True)
    assert x.grad.numpy().tolist() == [2, 4]
    y.grad.fill_(1.0)
    rec.only(adjoint=True).replay()
    assert x.grad.numpy().tolist() == [4, 8], "an adjoint accumulates"


def test_a_kept_launch_remembers_its_direction_and_arguments():
    x = wb.array([1.0, 2.0], requires_grad=True)
    y = wb.zeros(2, requires_grad=True)
    kept = wb.launch(square, 2, inputs=[x], outputs=[y], adjoint=True, record_cmd=True)
    assert kept.adjoint and x.grad.numpy().tolist() == [0, 0]
    for expected in ([2, 4], [4, 8]):
        y.grad.fill_(1.0)
        kept.launch()
        assert x.grad.numpy().tolist() == expected
    other = wb.zeros(2)
    kept.set_param_by_name("adj_x", other)
    y.grad.fill_(1.0)
    kept.launch()
    assert other.numpy().tolist() == [2, 4] and x.grad.numpy().tolist() == [4, 8]


def test_a_kept_launch_can_be_changed_and_refuses_what_does_not_fit():
    x, v, _ = state()
    kept = wb.launch(step, 2, inputs=[0.5, x, v], record_cmd=True)
    kept.set_param_at_index(0, 1.0)
    kept.set_dim(1)
    kept.launch()
    assert x.numpy().tolist() == [11, 2]
    kept.set_params([2.0, v, x])
    kept.launch()
    assert v.numpy().tolist() == [32, 20]
    for change in (
        lambda: kept.set_param_by_name("dx", 1.0),
        lambda: kept.set_param_by_name("x", wb.zeros((2, 2))),
        lambda: kept.set_param_at_index(7, 1.0),
        lambda: kept.set_dim((1, 1)),
        lambda: kept.set_params([1.0]),
    ):
        before = kept.params
        with pytest.raises(wb.LaunchError):
            change()
        assert kept.params == before


def test_zero_threads_do_nothing_and_still_give_a_launch():
    x, v, _ = state()
    wb.launch(step, 0, inputs=[0.5, x, v])
    kept = wb.launch(step, 0, inputs=[0.5, x, v], record_cmd=True)
    kept.launch()
    assert x.numpy().tolist() == [1, 2]
