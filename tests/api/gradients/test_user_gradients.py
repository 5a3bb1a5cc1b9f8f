"""Gradient arrays of the user's: read before anything is cleared, and never taken for another array's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError, NotDifferentiable

X = np.array([1.0, 2.0, 3.0], np.float32)


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def two(x: wb.array[float], y: wb.array[float], z: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] * x[i]
    z[i] = 3.0 * x[i]


@wb.kernel
def product(a: wb.array[float], b: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = a[i] * b[i]


@wb.kernel
def total(x: wb.array[float], out: wb.array[float]):
    wb.atomic_add(out, 0, x[wb.tid()])


def arrays(count: int) -> list[wb.array]:
    """The input, then results, all with a gradient."""
    return [wb.array(X, requires_grad=True), *(wb.zeros(3, requires_grad=True) for _ in range(count - 1))]


TAPES: dict[str, Callable[[], wb.Tape]] = {
    "plain": wb.Tape, "checkpoints": lambda: wb.Tape(checkpoint_every=2), "beside": lambda: wb.Tape(into_grad=False),
    "ordered": lambda: wb.Tape(deterministic=True),
}  # fmt: skip

# What is given for y and z, of all arrays and an array of ones; the values that this means.
SEEDS: dict[str, tuple[Callable[[Any, Any], tuple[Any, Any]], np.ndarray, np.ndarray]] = {
    "their own gradients": (lambda a, ones: (a[1].grad, a[2].grad), 2 * np.ones(3), 5 * np.ones(3)),
    "one array for two": (lambda a, ones: (ones, ones), np.ones(3), np.ones(3)),
    "one's gradient for both": (lambda a, ones: (a[1].grad, a[1].grad), 2 * np.ones(3), 2 * np.ones(3)),
    "each other's": (lambda a, ones: (a[2].grad, a[1].grad), 5 * np.ones(3), 2 * np.ones(3)),
    "the results": (lambda a, ones: (a[1], a[2]), X * X, 3 * X),
    "the input": (lambda a, ones: (a[0], a[0]), X, X),
    "the input's gradient": (lambda a, ones: (a[0].grad, ones), 7 * np.ones(3), np.ones(3)),
    "numbers": (lambda a, ones: (2.0, np.int32(3)), 2 * np.ones(3), 3 * np.ones(3)),
}


@pytest.mark.parametrize("kind", TAPES)
@pytest.mark.parametrize("name", SEEDS)
def test_a_tape_reads_what_it_is_given_before_it_clears_anything(name: str, kind: str) -> None:
    given, first, second = SEEDS[name]
    a = arrays(3)
    with TAPES[kind]() as tape:
        wb.launch(two, 3, inputs=[a[0]], outputs=a[1:])
    for value, held in zip(a, (7.0, 2.0, 5.0), strict=True):
        value.grad.fill_(held)
    ones = wb.ones(3)
    seeds = dict(zip(a[1:], given(a, ones), strict=True))
    passes = 1 if name == "the input's gradient" else 2  # that one is another after the first pass
    for _ in range(passes):
        tape.backward(grads=seeds)
    found = tape.gradients[a[0]].numpy() - 7.0 * (kind != "beside")
    np.testing.assert_allclose(found, passes * (2 * X * first + 3 * second))
    assert a[1].grad.numpy().tolist() == [2, 2, 2] and a[2].grad.numpy().tolist() == [5, 5, 5]
    assert ones.numpy().tolist() == [1, 1, 1]
    np.testing.assert_array_equal(a[0].numpy(), X)


def test_a_seed_changed_afterwards_is_explained_as_it_was():
    x, y = arrays(2)
    with wb.Tape() as tape:
        wb.launch(square, 3, [x], [y])
    seed = wb.ones(3)
    tape.backward(grads={y: seed})
    seed.fill_(0.0)
    assert wb.explain_grad(tape, x).state == "fine"


def test_parts_of_gradients_are_seeds_too():
    x, y = wb.array([1.0, 2.0, 3.0, 4.0], requires_grad=True), wb.zeros(4, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(square, 2, [x[::2]], [y[1:3]])
    y.grad[1:3] = 1.0
    tape.backward(grads={y[1:3]: y.grad[1:3]})
    assert x.grad.numpy().tolist() == [2, 0, 6, 0] and y.grad.numpy().tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("again", ["graph", "record"])
def test_a_backward_pass_that_is_run_again_reads_its_seeds_again(again: str) -> None:
    x, y = arrays(2)
    y.grad.fill_(1.0)
    with wb.capture() if again == "graph" else wb.record() as kept:
        with wb.Tape() as tape:
            wb.launch(square, 3, [x], [y])
        tape.backward(grads={y: y.grad})
    if again == "graph":
        kept.launch()
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)
    y.grad.fill_(10.0)
    kept.launch() if again == "graph" else kept.replay()
    np.testing.assert_allclose(x.grad.numpy(), 22 * X)
    assert y.grad.numpy().tolist() == [10, 10, 10]


def test_a_gradient_that_the_program_reads_is_read_as_it_was():
    x, y, z = arrays(3)
    loss = wb.zeros(1)
    x.grad.fill_(5.0)
    with wb.Tape() as tape:
        wb.launch(product, 3, [x, x.grad], [y])
        wb.launch(product, 3, [x, y], [z])
        wb.launch(total, 3, [z], [loss])
    tape.backward(loss)  # of 5 x²; the adjoint of the first launch runs when x.grad has changed
    np.testing.assert_allclose(x.grad.numpy(), 5 + 10 * X)


# Launches of an adjoint: arguments for adj_inputs and adj_outputs of `two`, `square` or `product`; a message, or None.
SHARED: dict[str, tuple[Any, Callable[[list[wb.array], wb.array], tuple[list[Any], list[Any]]], str | None]] = {
    "one for two results": (two, lambda a, g: ([None], [g, g]), "adj_y and adj_z share memory, and adj_y is read"),
    "views of one": (two, lambda a, g: ([None], [g, g[0:3]]), "adj_y and adj_z share memory"),
    "the result's for the input": (square, lambda a, g: ([a[1].grad], [None]), "adj_x and adj_y share memory"),
    "the input itself": (square, lambda a, g: ([None], [a[0]]), "x and adj_y share memory, and x is read"),
    "the input as its sum": (square, lambda a, g: ([a[0]], [g]), "x and adj_x share memory, and x is read"),
    "the result as its seed": (square, lambda a, g: ([None], [a[1]]), None),
}


@pytest.mark.parametrize("form", ["launch", "kept", "pair"])
@pytest.mark.parametrize("name", SHARED)
def test_an_adjoint_launch_refuses_gradients_that_it_would_mix(name: str, form: str) -> None:
    kernel, given, message = SHARED[name]
    a, ones = arrays(3 if kernel is two else 2), wb.ones(3)
    wb.launch(kernel, 3, [a[0]], a[1:])
    adj_inputs, adj_outputs = given(a, ones)
    options = {"adj_inputs": adj_inputs, "adj_outputs": adj_outputs}

    def run() -> None:
        if form == "pair":
            pair = wb.launch_pair(kernel, 3, [a[0]], a[1:], **options)
            pair.forward()
            pair.backward()
        elif form == "kept":
            wb.launch(kernel, 3, [a[0]], a[1:], adjoint=True, record_cmd=True, **options).launch()
        else:
            wb.launch(kernel, 3, [a[0]], a[1:], adjoint=True, **options)

    before = [v.numpy().copy() for v in (*a, ones, *(v.grad for v in a))]
    if message is None:
        run()
        np.testing.assert_allclose(a[0].grad.numpy(), 2 * X**3)
        return
    with pytest.raises(LaunchError, match=message):
        run()
    for value, held in zip((*a, ones, *(v.grad for v in a)), before, strict=True):
        np.testing.assert_array_equal(value.numpy(), held)


def test_one_gradient_for_inputs_that_are_only_read_is_their_sum():
    a, b, y, g = wb.array(X), wb.array(X + 3), wb.zeros(3), wb.zeros(3)
    wb.launch(product, 3, [a, b], [y], adjoint=True, adj_inputs=[g, g], adj_outputs=[wb.ones(3)])
    np.testing.assert_allclose(g.numpy(), 2 * X + 3)


def test_a_kept_adjoint_launch_is_checked_again_when_it_gets_other_gradients():
    x, y = arrays(2)
    kept = wb.launch(square, 3, [x], [y], adjoint=True, adj_outputs=[wb.ones(3)], record_cmd=True)
    other = wb.zeros(3)
    kept.set_param_by_name("adj_x", other)
    with pytest.raises(LaunchError, match="share memory"):
        kept.set_param_by_name("adj_y", other)
    with pytest.raises(LaunchError, match=r"adj_x has shape \(2,\); x has \(3,\)"):
        kept.set_param_by_name("adj_x", wb.zeros(2))
    kept.launch()
    np.testing.assert_allclose(other.numpy(), 2 * X)


def test_derivatives_are_by_arguments_even_where_two_are_one_array():
    def inner(a: wb.array, b: wb.array) -> wb.array:
        y, out = wb.zeros(3), wb.zeros(1)
        wb.launch(product, 3, [a, b], [y])
        wb.launch(total, 3, [y], [out])
        return out

    x = wb.array(X)
    np.testing.assert_allclose(wb.grad(inner)(x, x).numpy(), X)
    for found in wb.grad(inner, (0, 1))(x, x):
        np.testing.assert_allclose(found.numpy(), X)
    _, along = wb.jvp(inner, (0, 1))(x, x, along=(wb.ones(3), wb.zeros(3)))
    np.testing.assert_allclose(along.numpy(), [6])
    np.testing.assert_allclose(wb.grad(lambda x: inner(x, x))(x).numpy(), 2 * X)
    np.testing.assert_allclose(wb.hvp(inner)(x, x, along=wb.ones(3)).numpy(), 0)
    with pytest.raises(LaunchError, match="twice"):
        wb.jvp(inner, (0, -2))(x, x, along=(x, x))


def test_two_arrays_made_of_one_memory_are_refused_where_a_gradient_would_be_lost():
    data = np.zeros(3, np.float32)
    x, loss, one, other = wb.array(X, requires_grad=True), wb.zeros(1), wb.from_numpy(data), wb.from_numpy(data)
    with wb.Tape() as tape:
        wb.launch(square, 3, [x], [one])
        wb.launch(total, 3, [other], [loss])
    with pytest.raises(NotDifferentiable, match="made of the same memory"):
        tape.backward(loss)

    def through(x: wb.array) -> wb.array:
        loss.fill_(0.0)
        wb.launch(square, 3, [x], [one])
        wb.launch(total, 3, [other], [loss])
        return loss

    with pytest.raises(NotDifferentiable, match="made of the same memory"):
        wb.jvp(through)(x, along=x)


def test_columns_of_one_numpy_array_share_nothing():
    data = np.zeros((3, 2), np.float32)
    x, loss = wb.array(X, requires_grad=True), wb.zeros(1)
    one, other = wb.from_numpy(data[:, 0]), wb.from_numpy(data[:, 1])
    with wb.Tape() as tape:
        wb.launch(square, 3, [x], [one])
        wb.launch(square, 3, [one], [other])
        wb.launch(total, 3, [other], [loss])
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), 4 * X**3)


WRONG: dict[str, tuple[Callable[[wb.array, wb.array], dict[str, Any]], str]] = {
    "another shape": (lambda x, y: {"grads": {y: np.ones(2)}}, r"shape \(2,\); the array has \(3,\)"),
    "nothing": (lambda x, y: {"grads": {y: None}}, "An adjoint holds numbers"),
    "words": (lambda x, y: {"grads": {y: "a"}}, "An adjoint holds numbers"),
    "complex numbers": (lambda x, y: {"grads": {y: np.ones(3) * 1j}}, "An adjoint holds numbers"),
    "no array": (lambda x, y: {"grads": {3: 1.0}}, "arrays of floats as its keys; this is 3"),
    "integers": (lambda x, y: {"grads": {wb.zeros(3, int): 1.0}}, "arrays of floats as its keys"),
    "no seeds": (lambda x, y: {"grads": {}}, "a dict of arrays"),
    "a list": (lambda x, y: {"grads": [y]}, "a dict of arrays"),
    "an array that nothing used": (lambda x, y: {"grads": {wb.zeros(3): 1.0}}, "Nothing that this tape recorded"),
    "a number as loss": (lambda x, y: {"loss": 3.0}, "an array of one float; this is a float"),
    "a vector as loss": (lambda x, y: {"loss": wb.zeros(1, wb.vec3)}, "A loss is one float"),
    "loss and grads": (lambda x, y: {"loss": y, "grads": {y: 1.0}}, "one of the two"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_backward_cannot_start_from(name: str) -> None:
    given, message = WRONG[name]
    x, y = arrays(2)
    with wb.Tape() as tape:
        wb.launch(square, 3, [x], [y])
    with pytest.raises(LaunchError, match=message):
        tape.backward(**given(x, y))
    tape.backward(grads={y: 1.0})
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)


def test_a_tape_that_was_reset_gives_no_gradient_of_zeros():
    x, y = arrays(2)
    with wb.Tape() as tape:
        wb.launch(square, 3, [x], [y])
    tape.reset()
    with pytest.raises(LaunchError, match="Nothing that this tape recorded"):
        tape.backward(grads={y: 1.0})
