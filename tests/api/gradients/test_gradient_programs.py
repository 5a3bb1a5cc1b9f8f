"""Programs that give a wrong gradient where a tape looks away: right numbers, or a refusal."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import KernelFault, LaunchError, NotDifferentiable

X = np.array([1.0, 2.0, 3.0], np.float32)


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def squares(x: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    y[i, j] = x[i, j] * x[i, j]


@wb.kernel
def product(a: wb.array[float], b: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = a[i] * b[i]


@wb.kernel
def inplace(x: wb.array[float]):
    i = wb.tid()
    x[i] = x[i] * x[i]


@wb.kernel
def total(y: wb.array[float], out: wb.array[float]):
    wb.atomic_add(out, 0, y[wb.tid()])


@wb.kernel
def gather(x: wb.array[float], k: wb.array[int], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[k[i]] * x[k[i]]


@wb.kernel
def descend(x: wb.array[float], g: wb.array[float], rate: float):
    i = wb.tid()
    x[i] = x[i] - rate * g[i]


@wb.kernel
def rows(x: wb.array2d[float], y: wb.array2d[float]):
    i = wb.tid()
    for j in range(3):
        y[i, j] = x[i, j] * 2.0


@wb.kernel
def alone(x: wb.array[float], y: wb.array[float]):
    if wb.tid() == 0:
        for j in range(3):
            y[j] = x[j] * 2.0


@wb.kernel
def lengths(x: wb.array[wb.vec3], y: wb.array[float]):
    i = wb.tid()
    y[i] = wb.dot(x[i], x[i])


def leaf(values: Any = X) -> wb.array:
    return wb.array(np.array(values, np.float32), requires_grad=True)


def through(change: Callable[[wb.array], wb.array | None], x: wb.array, into: int = 3) -> np.ndarray:
    """The gradient of Σ y², with y what `change` makes of x on the tape."""
    z, loss = wb.zeros(into), wb.zeros(1)
    with wb.Tape() as tape:
        y = change(x)
        y = x if y is None else y
        wb.launch(square, into, [y, z])
        wb.launch(total, into, [z, loss])
    tape.backward(loss)
    return x.grad.numpy()


def inner(a: wb.array, b: wb.array) -> wb.array:
    y, out = wb.zeros(3), wb.zeros(1)
    wb.launch(product, 3, [a, b, y])
    wb.launch(total, 3, [y, out])
    return out


RIGHT: dict[str, tuple[Callable[[], Any], Any]] = {
    "a copy": (lambda: through(lambda x: wb.zeros(3).copy_(x), leaf()), 2 * X),
    "a clone": (lambda: through(wb.clone, leaf()), 2 * X),
    "an array of an array": (lambda: through(wb.array, leaf()), 2 * X),
    "the same memory": (lambda: through(lambda x: wb.array(x, copy=False), leaf()), 2 * X),
    "copy.copy": (lambda: through(copy.copy, leaf()), 2 * X),
    "copy.deepcopy": (lambda: through(copy.deepcopy, leaf()), 2 * X),
    "a dense copy of a view": (lambda: through(lambda x: x[::2].contiguous(), leaf(range(6))), [0, 0, 4, 0, 8, 0]),
    "itself copied to itself": (lambda: through(lambda x: x.copy_(x), leaf()), 2 * X),
    "itself added to itself": (lambda: through(lambda x: x.add_(x), leaf()), 8 * X),
    "a part copied up": (
        lambda: through(lambda x: (x[1:].copy_(x[:-1]), None)[1], leaf([1, 2, 3, 4]), 4), [2 + 2, 4, 6, 0],
    ),
    "a part copied down": (
        lambda: through(lambda x: (x[:-1].copy_(x[1:]), None)[1], leaf([1, 2, 3, 4]), 4), [0, 4, 6, 8 + 8],
    ),
    "a part added up": (
        lambda: through(lambda x: (x[1:].add_(x[:-1]), None)[1], leaf([1, 2, 3, 4]), 4),
        [2 * 1 + 2 * 3, 2 * 3 + 2 * 5, 2 * 5 + 2 * 7, 2 * 7],
    ),
    "an element set": (lambda: through(lambda x: x.__setitem__(1, 5.0), leaf()), [2, 0, 6]),
    "new values": (lambda: through(lambda x: x.assign([4.0, 5.0, 6.0]), leaf()), [0, 0, 0]),
    "a function of it, in place": (lambda: through(lambda x: wb.map(wb.sin, x, out=x), leaf()), np.sin(2 * X)),
    "by arguments": (lambda: wb.grad(inner)(leaf([0, 1, 2, 3])[1:], leaf()), X),
    "views of one array": (lambda: (lambda x: wb.grad(inner)(x[1:], x[:-1]))(leaf([0, 1, 2, 3])), [0, 1, 2]),
    "what a captured array was": (lambda: wb.grad(overwriting(leaf()))(leaf()), X),
    "a Jacobian in place": (lambda: wb.jacobian(in_place)(leaf()), np.diag(2 * X)),
    "a Jacobian in place, forward": (lambda: wb.jacobian(in_place, mode="forward")(leaf()), np.diag(2 * X)),
    "part of vectors": (lambda: vectors(), [[0, 0, 0], [6, 8, 10]]),
    "rows shifted": (lambda: shifted(rows, 2, (2, 4), np.s_[:, :-1], np.s_[:, 1:]), [[15, 0, 0, 0]] * 2),
    "one thread shifted": (lambda: shifted(alone, 1, (4,), np.s_[:-1], np.s_[1:]), [15, 0, 0, 0]),
    "between each other": (lambda: shifted(square, 3, (6,), np.s_[::2], np.s_[1::2]), [3, 0] * 3),
    "halves": (lambda: shifted(square, 3, (6,), np.s_[:3], np.s_[3:]), [3, 3, 3, 0, 0, 0]),
    "the same": (lambda: shifted(square, 3, (3,), np.s_[:], np.s_[:]), [2, 2, 2]),
}  # fmt: skip


def overwriting(w: wb.array) -> Callable[[wb.array], wb.array]:
    def f(x: wb.array) -> wb.array:
        y, out = wb.zeros(3), wb.zeros(1)
        wb.launch(product, 3, [x, w, y])
        w.fill_(7.0)
        wb.launch(total, 3, [y, out])
        return out

    return f


def in_place(x: wb.array) -> wb.array:
    wb.launch(inplace, 3, [x])
    return x


def vectors() -> np.ndarray:
    x, y = wb.array(np.arange(6, dtype=np.float32).reshape(2, 3), wb.vec3, requires_grad=True), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(lengths, 1, [x[1:], y])
    tape.backward(y)
    return x.grad.numpy()


def shifted(kernel: Any, dim: Any, shape: tuple[int, ...], one: Any, two: Any) -> np.ndarray:
    """The gradient of Σ x after a launch that reads one view of x and writes another, at ones."""
    x = leaf(np.ones(shape))
    with wb.Tape() as tape:
        wb.launch(kernel, dim, [x[one], x[two]])
    tape.backward(grads={x: 1.0})
    return x.grad.numpy()


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    call, expected = RIGHT[name]
    np.testing.assert_allclose(np.asarray(call()), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "dim", "shape", "one", "two"),
    [
        (square, 3, (4,), np.s_[1:], np.s_[:-1]), (square, 3, (4,), np.s_[:-1], np.s_[1:]),
        (squares, (2, 3), (2, 4), np.s_[:, :-1], np.s_[:, 1:]), (squares, (1, 2), (2, 3), np.s_[:1, :2], np.s_[:1, 1:]),
        (squares, (2, 2), (3, 3), np.s_[1:, :-1], np.s_[:-1, 1:]), (rows, 2, (3, 3), np.s_[:-1], np.s_[1:]),
    ],
)  # fmt: skip
def test_what_one_thread_writes_and_another_reads_is_refused(
    kernel: Any, dim: Any, shape: tuple[int, ...], one: Any, two: Any
) -> None:
    with pytest.raises(NotDifferentiable, match="x and y share memory, and what one thread writes another may touch"):
        shifted(kernel, dim, shape, one, two)


def test_an_array_read_at_other_places_than_it_is_written():
    x, k = leaf(), wb.array([2, 1, 0])
    with wb.Tape() as tape:
        wb.launch(gather, 3, [x, k, x])
    with pytest.raises(NotDifferentiable, match="share memory"):
        tape.backward(grads={x: 1.0})


# Changes between the steps of a tape, and between forward and backward.

CHANGES: dict[str, Callable[[wb.array], Any]] = {
    "fill": lambda y: y.fill_(3.0), "launch": lambda y: wb.launch(inplace, 3, [y]), "a part": lambda y: y[1:2].zero_(),
    "copy": lambda y: y.copy_(wb.ones(3)), "element": lambda y: y.__setitem__(0, 1.0), "said": lambda y: y.changed(),
}  # fmt: skip


@pytest.mark.parametrize("every", [0, 2])
@pytest.mark.parametrize("name", CHANGES)
def test_changes_between_two_withs_of_a_tape_are_noticed(name: str, every: int) -> None:
    x, y, z, loss, other = leaf(), wb.zeros(3), wb.zeros(3), wb.zeros(1), wb.zeros(1)
    tape = wb.Tape(checkpoint_every=every)
    with tape:
        wb.launch(square, 3, [x, y])
        wb.launch(total, 3, [y, other])
    CHANGES[name](y)
    with tape:
        wb.launch(square, 3, [y, z])
        wb.launch(total, 3, [z, loss])
    with pytest.raises(NotDifferentiable, match=r"changed outside (the tape's|its) `with`"):
        tape.backward(loss)
    assert not np.any(x.grad.numpy())


@pytest.mark.parametrize("every", [0, 2])
def test_changes_that_no_gradient_passes_are_as_they_are(every: int) -> None:
    x, w, y, z, loss = leaf(), wb.zeros(3), wb.zeros(3), wb.zeros(3), wb.zeros(1)
    tape = wb.Tape(checkpoint_every=every)
    with tape:
        wb.launch(total, 3, [w, loss])
        wb.launch(square, 3, [x, y])
    w.fill_(5.0)
    with tape:
        loss.zero_()
        wb.launch(product, 3, [y, w, z])
        wb.launch(total, 3, [z, loss])
    if every:  # the first launch would run again on what w holds now
        with pytest.raises(NotDifferentiable, match="changed outside its `with`"):
            tape.backward(loss)
        return
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), 10 * X)


def test_a_fresh_array_and_an_optimiser_between_are_no_changes():
    x, loss, expected = leaf(), wb.zeros(1), X.copy()
    tape = wb.Tape()
    for _ in range(3):
        with tape:
            y = wb.zeros(3)
            wb.launch(square, 3, [x, y])
            loss.zero_()
            wb.launch(total, 3, [y, loss])
        tape.backward(loss)
        wb.launch(descend, 3, [x, x.grad, 0.1])
        expected -= 0.1 * 2 * expected
        tape.zero()
        tape.reset()
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-5)
    assert not np.any(x.grad.numpy())


def test_zero_clears_gradients_before_the_first_pass_too():
    x, y = leaf(), wb.zeros(3)
    x.grad.fill_(9.0)
    with wb.Tape() as tape:
        wb.launch(square, 3, [x, y])
    tape.zero()
    tape.backward(grads={y: 1.0})
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)


def test_a_pair_notices_what_changed_in_between():
    x, y = leaf(), wb.zeros(3, requires_grad=True)
    pair = wb.launch_pair(square, 3, [x], [y])
    pair.forward()
    y.grad.fill_(1.0)
    x.fill_(100.0)
    with pytest.raises(LaunchError, match=r"square: x has changed since forward\(\)"):
        pair.backward()
    x.assign(X)
    pair.forward()
    pair.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)


def test_gradients_for_arguments_that_are_not_there_are_refused():
    x, y, g = leaf(), wb.zeros(3, requires_grad=True), wb.ones(3)
    for inputs, outputs, adj_inputs, adj_outputs in (
        ([x, y], [], [None], [g]), ([x], [y], [None, None], [g]), ([x], [y], [None, None, None], []),
        ([x], [y], [], [g, g]),
    ):  # fmt: skip
        with pytest.raises(LaunchError, match=r"adj_\w+ has \d elements; there are \d"):
            wb.launch(square, 3, inputs, outputs, adjoint=True, adj_inputs=adj_inputs, adj_outputs=adj_outputs)
    wb.launch(square, 3, [x], [y], adjoint=True, adj_inputs=[None, g])
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)


def test_an_adjoint_launch_of_a_view_adds_to_its_part_of_the_gradient():
    x, y = leaf(range(6)), wb.zeros(3)
    wb.launch(square, 3, [x[::2]], [y], adjoint=True, adj_outputs=[wb.ones(3)])
    assert x.grad.numpy().tolist() == [0, 0, 4, 0, 8, 0]


def test_a_step_that_faulted_or_was_refused():
    x, y, loss = leaf(), wb.zeros(3), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(square, 3, [x, y])
        with suppress(LaunchError):
            wb.launch(square, 3, [x])
        with suppress(KernelFault):
            wb.launch(gather, 3, [x, wb.array([0, 1, 9]), wb.zeros(3)], checks=True)
        wb.launch(total, 3, [y, loss])
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)


def test_gradients_of_gradients_through_the_arrays_own():
    x, y, z, loss, other = leaf(), wb.zeros(3), wb.zeros(3), wb.zeros(1), wb.zeros(1)
    with wb.Tape() as outer:
        with wb.Tape() as tape:
            wb.launch(square, 3, [x, y])
            wb.launch(square, 3, [y, z])
            wb.launch(total, 3, [z, loss])
        tape.backward(loss)
        wb.launch(total, 3, [x.grad, other])
    outer.backward(other)
    np.testing.assert_allclose(x.grad.numpy(), 4 * X**3 + 12 * X**2)


def test_gradients_of_gradients_of_what_works_in_place():
    def cubes(x: wb.array) -> wb.array:
        y, out = wb.zeros(3), wb.zeros(1)
        wb.launch(square, 3, [x, y])
        wb.launch(product, 3, [x, y, y])
        wb.launch(total, 3, [y, out])
        return out

    def slopes(x: wb.array) -> wb.array:
        out = wb.zeros(1)
        wb.launch(total, 3, [wb.grad(cubes)(x), out])
        return out

    x = leaf()
    np.testing.assert_allclose(wb.grad(slopes)(x).numpy(), 6 * X)
    np.testing.assert_allclose(wb.hvp(cubes)(x, along=x).numpy(), 6 * X**2)


@pytest.mark.parametrize("name", ["tan_y is x's", "tan_y is y"])
def test_tangents_that_share_memory_otherwise_than_their_arrays_are_refused(name: str) -> None:
    x, y, tangent = leaf(), wb.zeros(3), wb.ones(3)
    with pytest.raises(LaunchError, match="share memory"):
        wb.launch_tangent(
            square, 3, [x], [y], tan_inputs=[tangent], tan_outputs=[y if name == "tan_y is y" else tangent]
        )
    wb.launch_tangent(square, 3, [x], [x], tan_inputs=[tangent], tan_outputs=[tangent])
    np.testing.assert_allclose(tangent.numpy(), 2 * X)


def test_one_memory_read_by_two_arrays_of_which_one_wants_a_gradient():
    data = X.copy()
    x, other, y = wb.from_numpy(data, requires_grad=True), wb.from_numpy(data), wb.zeros(3)
    with wb.Tape() as tape:
        wb.launch(product, 3, [x, other, y])
    with pytest.raises(NotDifferentiable, match="made of the same memory"):
        tape.backward(grads={y: 1.0})
    with wb.Tape() as tape:
        wb.launch(product, 3, [x, wb.array(x, copy=False), y])
    tape.backward(grads={y: 1.0})
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)
