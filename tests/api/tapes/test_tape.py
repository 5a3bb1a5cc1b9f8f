"""The tape: gradients through launches, copies, fills and views; or a refusal."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from workbench.errors import NotDifferentiable


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def total(x: wb.array[float], out: wb.array[float]):
    i = wb.tid()
    out[0] += x[i]


@wb.kernel
def smooth(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    n = len(x)
    y[i] = 0.25 * x[max(i - 1, 0)] + 0.5 * x[i] + 0.25 * x[min(i + 1, n - 1)]


def test_chain_of_launches():
    x = wb.array([1.0, 2.0, 3.0], requires_grad=True)
    y, z, loss = wb.zeros(3), wb.zeros(3), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(square, 3, inputs=[x], outputs=[y])
        wb.launch(square, 3, inputs=[y], outputs=[z])
        wb.launch(total, 3, inputs=[z], outputs=[loss])
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [4, 32, 108]
    assert len(tape) == 3 and tape.gradients[x].numpy().tolist() == [4, 32, 108]


def test_gradients_accumulate_until_zeroed():
    x = wb.array([3.0], requires_grad=True)
    y = wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(square, 1, inputs=[x], outputs=[y])
    tape.backward(y)
    tape.backward(y)
    assert x.grad.numpy().tolist() == [12]
    tape.zero()
    tape.backward(y)
    assert x.grad.numpy().tolist() == [6]


@pytest.mark.parametrize("only", [False, True])
def test_an_array_that_no_gradient_leads_to_has_the_gradient_0(only):
    x, y, beside, other = wb.array([3.0]), wb.zeros(1), wb.array([2.0]), wb.zeros(1)
    with wb.Tape(only=[x, beside] if only else None) as tape:
        wb.launch(square, 1, inputs=[x], outputs=[y])
        wb.launch(square, 1, inputs=[beside], outputs=[other])
        wb.launch(square, 1, inputs=[wb.ones(1)], outputs=[wb.zeros(1)])
    tape.backward(y)
    assert tape.gradients[x].numpy() == 6 and tape.gradients[beside].numpy() == 0 == tape.gradients[other].numpy()
    gradients = [g.numpy()[0] for g in tape.gradients.values()]
    assert sorted(gradients) == [0] * (2 if only else 4) + [0, 6] and len(gradients) == len(tape.gradients)


def test_tapes_that_overlap_end_in_any_order():
    """Generators that each open one and take turns: the first to end must leave the others open, and not return."""
    x, y = wb.array([3.0], requires_grad=True), wb.zeros(1)
    first, second = wb.Tape(), wb.Tape()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    wb.launch(square, 1, inputs=[x], outputs=[y])
    second.__exit__(None, None, None)
    wb.launch(square, 1, inputs=[x], outputs=[y])
    assert (len(first), len(second)) == (0, 1)


def test_stencil_meets_the_transposed_matrix():
    rng = np.random.default_rng(1)
    x = wb.array(rng.random(6).astype(np.float32), requires_grad=True)
    y = wb.zeros(6)
    seed = rng.random(6).astype(np.float32)
    with wb.Tape() as tape:
        wb.launch(smooth, 6, inputs=[x], outputs=[y])
    tape.backward(grads={y: seed})
    matrix = np.zeros((6, 6))
    for i in range(6):
        matrix[i, max(i - 1, 0)] += 0.25
        matrix[i, i] += 0.5
        matrix[i, min(i + 1, 5)] += 0.25
    assert np.allclose(x.grad.numpy(), matrix.T @ seed, rtol=1e-6)


def test_copies_fills_and_views():
    x = wb.array([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y, z = wb.zeros(4), wb.zeros(2)
    with wb.Tape() as tape:
        wb.copy(y, x)
        wb.launch(square, 2, inputs=[y[::2]], outputs=[z])
        y.fill_(0.0)
        wb.launch(square, 2, inputs=[x[2:]], outputs=[y[:2]])
    tape.backward(grads={z: np.ones(2), y: np.full(4, 10.0)})
    assert x.grad.numpy().tolist() == [2, 0, 66, 80]
    x.grad.zero_()
    y, z = wb.zeros(4), wb.zeros(2)
    with wb.Tape() as tape:
        wb.copy(y, x)
        wb.launch(square, 2, inputs=[y[::2]], outputs=[z])
    tape.backward(grads={z: np.ones(2)})
    assert x.grad.numpy().tolist() == [2, 0, 6, 0]


def test_a_fill_cuts_the_gradient():
    x = wb.array([1.0, 2.0], requires_grad=True)
    y, loss = wb.zeros(2), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(square, 2, inputs=[x], outputs=[y])
        y.fill_(5.0)
        wb.launch(total, 2, inputs=[y], outputs=[loss])
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [0, 0]


def test_one_array_for_two_parameters():
    product = meaning.define("def k(a, b, out):\n    i = tid()\n    out[i] = a[i] * b[i]\n")["k"]
    x = wb.array([2.0, 3.0], requires_grad=True)
    y = wb.zeros(2)
    with wb.Tape() as tape:
        wb.launch(product, 2, inputs=[x, x], outputs=[y])
    tape.backward(grads={y: np.ones(2)})
    assert x.grad.numpy().tolist() == [4, 6]


def test_overlapping_views_accumulate_atomically():
    product = meaning.define("def k(a, b, out):\n    i = tid()\n    out[i] = a[i] * b[i]\n")["k"]
    n = 30000
    x = wb.array(np.arange(n + 1, dtype=np.float64), requires_grad=True)
    y = wb.zeros(n, wb.types.float64)
    with wb.Tape() as tape:
        wb.launch(product, n, inputs=[x[:-1], x[1:]], outputs=[y])
    tape.backward(grads={y: np.ones(n)})
    k = np.arange(n + 1.0)
    expected = np.where(k < n, k + 1, 0) + np.where(k > 0, k - 1, 0)
    assert np.array_equal(x.grad.numpy(), expected)


def test_what_was_overwritten_is_refused_and_nothing_changes():
    x = wb.array([1.0, 2.0], requires_grad=True)
    y, z = wb.zeros(2), wb.zeros(2)
    with wb.Tape() as tape:
        wb.launch(square, 2, inputs=[x], outputs=[y])
        wb.launch(square, 2, inputs=[y], outputs=[z])
    x.fill_(0.0)
    with pytest.raises(NotDifferentiable, match="x of square has changed") as caught:
        tape.backward(grads={z: np.ones(2)})
    assert caught.value.parameter == "x"
    assert x.grad.numpy().tolist() == [0, 0] and tape.gradients[z].numpy().tolist() == [0, 0]


def test_kept_launches_and_replays_are_seen():
    x = wb.array([2.0], requires_grad=True)
    y, z = wb.zeros(1), wb.zeros(1)
    kept = wb.launch(square, 1, inputs=[x], outputs=[y], record_cmd=True)
    with wb.record() as rec:
        wb.launch(square, 1, inputs=[y], outputs=[z])
    with wb.Tape() as tape:
        kept.launch()
        rec.replay()
    tape.backward(z)
    assert x.grad.numpy().tolist() == [32]


def test_a_recorded_step_replays_with_its_backward_pass():
    descend = meaning.define("def k(x, g, rate: float):\n    i = tid()\n    x[i] -= rate * g[i]\n")["k"]
    x = wb.array([1.0, -2.0, 3.0], requires_grad=True)
    y, loss = wb.zeros(3), wb.zeros(1)

    def step():
        loss.zero_()
        with wb.Tape() as tape:
            wb.launch(square, 3, inputs=[x], outputs=[y])
            wb.copy(other, y)
            wb.launch(total, 3, inputs=[other], outputs=[loss])
        tape.backward(loss)
        wb.launch(descend, 3, inputs=[x, x.grad, 0.25])
        tape.zero()

    other = wb.zeros(3)
    with wb.record() as rec:
        step()
    assert [r[0] for r in rec.rows() if r[0] == "adjoint"] == ["adjoint"] * 2
    assert x.numpy().tolist() == [0.5, -1, 1.5]
    rec.replay()
    assert x.numpy().tolist() == [0.25, -0.5, 0.75]
    step()
    assert x.numpy().tolist() == [0.125, -0.25, 0.375]


def test_sums_of_arrays_are_seen():
    x = wb.array([1.0, 2.0], requires_grad=True)
    y = wb.zeros(2)
    with wb.Tape() as tape:
        y.add_(x)
        y.add_(x)
    tape.backward(grads={y: np.array([1.0, 10.0])})
    assert x.grad.numpy().tolist() == [2, 20]


def test_tapes_nest():
    x = wb.array([3.0], requires_grad=True)
    y, z = wb.zeros(1), wb.zeros(1)
    with wb.Tape() as outer:
        wb.launch(square, 1, inputs=[x], outputs=[y])
        with wb.Tape() as inner:
            wb.launch(square, 1, inputs=[y], outputs=[z])
    assert (len(outer), len(inner)) == (2, 1)
    inner.backward(z)
    assert inner.gradients[y].numpy().tolist() == [18] and x.grad.numpy().tolist() == [0]
    outer.backward(z)
    assert x.grad.numpy().tolist() == [108]


def test_misuse_is_refused():
    x, y = wb.array([1.0], requires_grad=True), wb.zeros(1)
    tape = wb.Tape()
    with tape:
        wb.launch(square, 1, inputs=[x], outputs=[y])
        with pytest.raises(wb.LaunchError, match="inside the tape"):
            tape.backward(y)
        with pytest.raises(RuntimeError, match="recording already"), tape:
            pass
    with pytest.raises(wb.LaunchError, match="no such array has one"):
        tape.backward()
    result = wb.zeros(1, requires_grad=True)
    with wb.Tape() as other:
        wb.launch(square, 1, inputs=[x], outputs=[result])
    with pytest.raises(wb.LaunchError, match="none of them was set"):
        other.backward()
    result.grad.numpy()[:] = 3.0
    other.backward()
    assert x.grad.numpy().tolist() == [6.0]
    with pytest.raises(wb.LaunchError, match="A loss is one float"):
        tape.backward(wb.zeros(2))
    with pytest.raises(KeyError):
        tape.gradients[wb.zeros(2)]


def test_adjoint_launch_needs_gradients_to_write_to():
    with pytest.raises(wb.LaunchError, match="adjoint of x is missing"):
        wb.launch(square, 1, inputs=[wb.zeros(1)], outputs=[wb.zeros(1)], adjoint=True)


def test_scalars_have_gradients():
    scale = meaning.define("def k(a: float, x: array[float], y: array[float]):\n    i = tid()\n    y[i] = a * x[i]\n")[
        "k"
    ]
    x = wb.array(np.arange(1000, dtype=np.float32), requires_grad=True)
    y = wb.zeros(1000, requires_grad=True)
    adj_a = wb.zeros(1)
    y.grad.fill_(1.0)
    wb.launch(scale, 1000, inputs=[2.0, x], outputs=[y], adjoint=True, adj_inputs=[adj_a])
    assert float(adj_a) == 499500 and x.grad.numpy().tolist() == [2] * 1000


def test_a_parameter_called_like_an_adjoint():
    kernel = meaning.define("def k(x, adj_x, y):\n    i = tid()\n    y[i] = x[i] * adj_x[i]\n")["k"]
    x, other = wb.array([2.0, 3.0], requires_grad=True), wb.array([5.0, 7.0], requires_grad=True)
    y = wb.zeros(2)
    with wb.Tape() as tape:
        wb.launch(kernel, 2, inputs=[x, other], outputs=[y])
    tape.backward(grads={y: np.ones(2)})
    assert x.grad.numpy().tolist() == [5, 7] and other.grad.numpy().tolist() == [2, 3]
    assert wb.gradcheck(kernel, 2, [x, other], [y])


def test_gradients_left_half_added_are_named_and_refused_until_they_are_set():
    x = wb.array([1.0, 2.0, 3.0], requires_grad=True)
    y, z = wb.zeros(3, requires_grad=True), wb.zeros(3)
    ones = np.ones(3, np.float32)

    def ends() -> None:
        raise KeyboardInterrupt

    with wb.Tape() as tape:
        wb.launch(square, 3, inputs=[x], outputs=[y])
        tape.record_func(ends, [y])
        wb.launch(square, 3, inputs=[y], outputs=[z])
    with pytest.raises(KeyboardInterrupt, match=r"left these gradients half added: x of square, y of square\."):
        tape.backward(grads={z: ones})
    with wb.Tape() as other:
        wb.launch(square, 3, inputs=[x], outputs=[z])
    for stopped in (tape, other):
        with pytest.raises(NotDifferentiable, match=r"The gradient of . of square is half added") as refused:
            stopped.backward(grads={z: ones})
        assert "tape.zero()" in refused.value.advice
    other.zero()
    other.backward(grads={z: ones})
    assert x.grad.numpy().tolist() == [2, 4, 6]
    with pytest.raises(KeyboardInterrupt):  # after zero() it begins again, and ends where it did
        tape.zero()
        tape.backward(grads={z: ones})
