"""Gradients of what was recorded or captured: of graphs, records and files, by tapes, forward mode and JAX."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb
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
def total(y: wb.array[float], loss: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(loss, 0, y[i])


@wb.kernel
def count_down(n: wb.array[int]):
    n[0] = n[0] - 1


@wb.kernel
def root(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = wb.sqrt(x[i])


def expected(turns: int = 1, k: float = 0.5) -> np.ndarray:
    """The gradient of the program, by JAX."""

    def loss(x: jax.Array) -> jax.Array:
        y = k * x * x
        for _ in range(turns):
            y = y * y + 1.0
        return y.sum()

    return np.asarray(jax.grad(loss)(X))


@pytest.fixture
def arrays() -> tuple[wb.array, wb.array, wb.array]:
    return wb.array(X, requires_grad=True), wb.zeros(3), wb.zeros(1)


def program(x: wb.array, y: wb.array, loss: wb.array, between: Callable[[], object] | None = None) -> None:
    loss.zero_()
    wb.launch(scale, 3, [0.5, x, y])
    if between is None:
        wb.launch(grow, 3, [y])
    else:
        between()
    wb.launch(total, 3, [y, loss])


def looped(y: wb.array, n: wb.array) -> Callable[[], object]:
    return lambda: wb.capture_while(n, lambda: (wb.launch(grow, 3, [y]), wb.launch(count_down, 1, [n])))


def test_a_tape_looks_inside_a_graph(arrays) -> None:
    x, y, loss = arrays
    with wb.capture() as inner:
        wb.launch(grow, 3, [y])
    with wb.capture() as graph:
        program(x, y, loss, inner.launch)
    with wb.Tape() as tape:
        graph.launch()
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), expected(), rtol=1e-6)
    graph.launch()
    assert loss.numpy()[0] == (X**4 / 4 + 1).sum(), "and is as fast as before without one"


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_a_tape_follows_the_loop_of_a_graph(arrays, turns: int) -> None:
    x, y, loss = arrays
    n = wb.array([turns], dtype=int)
    with wb.capture() as graph:
        program(x, y, loss, looped(y, n))
    with wb.Tape() as tape:
        graph.launch()
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), expected(turns), rtol=1e-6)
    assert n.numpy()[0] == 0


@pytest.mark.parametrize(("way", "factor"), [(1, 2.0), (0, 3.0)])
def test_a_tape_follows_the_branch_that_a_graph_takes(arrays, way: int, factor: float) -> None:
    x, y, loss = arrays
    which = wb.array([way], dtype=int)
    with wb.capture() as graph:
        loss.zero_()
        wb.capture_if(which, lambda: wb.launch(scale, 3, [2.0, x, y]), lambda: wb.launch(scale, 3, [3.0, x, y]))
        wb.launch(total, 3, [y, loss])
    with wb.Tape() as tape:
        graph.launch()
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), 2 * factor * X, rtol=1e-6)


def test_forward_mode_and_find_nan_look_inside_a_graph(arrays) -> None:
    x, y, loss = arrays
    with wb.capture() as graph:
        program(x, y, loss)

    def run(x: wb.array) -> wb.array:
        graph.launch()
        return loss

    along = np.array([1.0, -1.0, 0.5], np.float32)
    _, slope = wb.jvp(run)(x, along=wb.array(along))
    np.testing.assert_allclose(slope.numpy()[0], expected() @ along, rtol=1e-5)
    x.assign([1.0, -1.0, 1.0])
    with wb.capture() as bad:
        wb.launch(root, 3, [x, y])
    with pytest.raises(wb.KernelFault, match=r"sqrt\(\) of -1 gives nan in thread \(1,\)"), wb.find_nan():
        bad.launch()


@pytest.mark.parametrize("every", [0, 1, 2])
def test_the_gradient_of_a_record(arrays, every: int) -> None:
    x, y, loss = arrays
    with wb.record(inputs=True) as rec:
        program(x, y, loss)
    x.fill_(9.0)
    tape = rec.backward("loss", checkpoint_every=every)
    np.testing.assert_allclose(x.grad.numpy(), expected(), rtol=1e-6)
    np.testing.assert_array_equal(tape.gradients[x].numpy(), x.grad.numpy())
    assert x.numpy().tolist() == X.tolist() and loss.numpy()[0] == (X**4 / 4 + 1).sum(), "it ran from its inputs"
    x.grad.zero_()
    rec.backward(grads={"y": np.array([1.0, 0.0, 2.0])}, checkpoint_every=every)
    np.testing.assert_allclose(x.grad.numpy(), expected() * [1, 0, 2], rtol=1e-6)


def test_a_recorded_backward_pass_is_not_counted_twice(arrays) -> None:
    x, y, loss = arrays
    with wb.record(inputs=True) as rec:
        with wb.Tape() as tape:
            program(x, y, loss)
        tape.backward(loss)
    again = rec.backward(loss)
    np.testing.assert_allclose(again.gradients[x].numpy(), expected(), rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), expected(), rtol=1e-6)
    slope = rec.backward(grads={x.grad: np.ones(3)}).gradients[x].numpy()
    np.testing.assert_allclose(slope, 3 * X**2, rtol=1e-6, err_msg="the gradient of the recorded gradient, x³")


def test_the_gradient_of_expressions_whose_results_have_gradients_of_their_own(arrays) -> None:
    x, _, _ = arrays
    with wb.record(inputs=True) as rec:
        x.grad.zero_()
        s = ((x * 2.0 + 1.0) * x).sum()
    rec.backward(s)
    np.testing.assert_allclose(x.grad.numpy(), 4 * X + 1, rtol=1e-6)


def test_the_gradient_of_a_record_without_inputs_is_where_the_arrays_are_now(arrays) -> None:
    x, y, loss = arrays
    with wb.record() as rec:
        program(x, y, loss)
    x.fill_(2.0)
    rec.backward(loss)
    np.testing.assert_allclose(x.grad.numpy(), 2.0**3, rtol=1e-6)


def test_the_gradient_of_a_graph_in_a_file(arrays, tmp_path: Path) -> None:
    x, y, loss = arrays
    n = wb.array([2], dtype=int)
    with wb.capture() as graph:
        program(x, y, loss, looped(y, n))
    with wb.record(inputs=True) as rec:
        graph.launch()
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")
    end = next(node.target for node in again[0].graph.nodes if node.kind == "fill" and node.size == (1,))
    start = next(node.record.arguments["x"] for node in again[0].graph.nodes if node.title == "scale")
    again.backward(end)
    np.testing.assert_allclose(start.grad.numpy(), expected(2), rtol=1e-6)
    assert not x.grad.numpy().any()


def test_a_saved_tape_is_replayed_for_another_number(arrays, tmp_path: Path) -> None:
    x, y, loss = arrays
    with wb.record(inputs=True) as rec:
        with wb.Tape() as tape:
            program(x, y, loss)
        tape.backward(loss)
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")
    for k in (0.25, 2.0):
        again.rewind()
        again.replay(k=k)
        np.testing.assert_allclose(again.find("x").grad.numpy(), expected(k=k), rtol=1e-6)


def test_a_record_and_its_gradient_are_one_graph(arrays) -> None:
    x, y, loss = arrays
    with wb.record(inputs=True) as rec:
        program(x, y, loss)
    x.fill_(0.0)
    with wb.capture() as graph:
        rec.backward(loss)
    assert not x.numpy().any() and not x.grad.numpy().any(), "nothing ran"
    for k in (0.5, 1.0):
        x.assign(X)
        x.grad.zero_()
        graph.update(k=k)
        graph.launch()
        np.testing.assert_allclose(x.grad.numpy(), expected(k=k), rtol=1e-6)


def test_a_record_is_a_function_of_jax() -> None:
    x, y, loss = wb.array(X), wb.zeros(3), wb.zeros(1)
    with wb.record() as rec:
        program(x, y, loss)

    def run(x: wb.array[float], y: wb.array[float], loss: wb.array[float]):
        rec.replay(x=x, y=y, loss=loss)

    call = wb.jax_callable(run, num_outputs=2)
    slope = jax.jit(jax.grad(lambda x: call(x, output_dims={"y": 3, "loss": 1})[1][0]))
    np.testing.assert_allclose(slope(jnp.asarray(X)), expected(), rtol=1e-6)


def test_a_graph_that_changes_arrays_of_its_own_is_no_function_of_jax(arrays) -> None:
    x, y, loss = arrays
    with wb.capture() as graph:
        program(x, y, loss)

    def run(x: wb.array[float], y: wb.array[float]):
        graph.launch()

    with pytest.raises(wb.LaunchError, match="changes an array that is neither a parameter nor made inside it"):
        wb.jax_callable(run, num_outputs=1)(jnp.asarray(X), output_dims={"y": 3})


@pytest.mark.parametrize("every", [0, 2])
def test_what_has_no_gradient_is_refused_with_the_number_of_its_entry(arrays, every: int) -> None:
    x, y, loss = arrays
    with wb.record(inputs=True) as rec:
        loss.zero_()
        wb.launch(scale, 3, [0.5, x, y])
        wb.launch(grow, 3, [y], record_tape=False)
        wb.launch(total, 3, [y, loss])
    with pytest.raises(wb.NotDifferentiable, match=r"Entry 2 of the record, grow: grow was launched with record_tape"):
        rec.backward(loss, checkpoint_every=every)
    assert not x.grad.numpy().any()
    with pytest.raises(wb.LaunchError, match=r"No recorded launch has a parameter los; there is .* Did you mean loss"):
        rec.backward("los")


def test_a_tape_and_a_graph_are_records(arrays, tmp_path: Path) -> None:
    x, y, loss = arrays
    with wb.Tape() as tape:
        program(x, y, loss)
    rec = wb.Recorder(tape)
    assert [node.kind for node in tape] == [node.kind for node in rec] == ["fill", "forward", "forward", "forward"]
    for k in (0.5, 2.0):
        rec.replay(k=k)
        assert loss.numpy()[0] == (k * k * X**4 + 1).sum()
    assert inspect.page_program(tape).data() == inspect.page_program(rec).data()
    with wb.capture() as graph:
        rec.replay()
    graph.update(k=1.0)
    graph.launch()
    assert loss.numpy()[0] == (X**4 + 1).sum()
    with pytest.warns(UserWarning, match="kept no contents"):
        wb.Recorder(graph).save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr")
    again.backward("loss")
    np.testing.assert_allclose(again.find("x").grad.numpy(), expected(k=1.0), rtol=1e-6)
    assert not x.grad.numpy().any()


def test_a_tape_with_a_function_of_the_users_cannot_run_again(arrays) -> None:
    x, y, loss = arrays
    with wb.Tape() as tape:
        program(x, y, loss)
        tape.record_func(lambda: None, [x])
    with pytest.raises(wb.LaunchError, match="record_func cannot run again"):
        wb.Recorder(tape)
