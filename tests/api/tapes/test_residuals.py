"""Launches that store results of loops for their adjoints: nothing but the time is another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb
from workbench.api.tapes import launch_step
from workbench.api.tapes.launch_step import LaunchStep
from workbench.errors import NotDifferentiable
from workbench.work import Work

ROWS, NUMBERS = wb.array2d[wb.float32], wb.array[wb.float32]
WIDTH = 65
HEIGHT = 300
"""Rows of more than 64 kB, as launches that store residuals have."""


@wb.kernel
def softmax(x: ROWS, y: ROWS):
    i = wb.tid()
    m = wb.float32(-1e30)
    for j in range(x.shape[1]):
        m = wb.max(m, x[i, j])
    s = 0.0
    for j in range(x.shape[1]):
        s += wb.exp(x[i, j] - m)
    for j in range(x.shape[1]):
        y[i, j] = wb.exp(x[i, j] - m) / s


@wb.kernel
def cross_entropy(x: ROWS, label: wb.array[wb.int32], loss: NUMBERS):
    i = wb.tid()
    m = x[i, 0]
    for j in range(x.shape[1]):
        m = wb.max(m, x[i, j])
    s = 0.0
    for j in range(x.shape[1]):
        s += wb.exp(x[i, j] - m)
    wb.atomic_add(loss, 0, m + wb.log(s) - x[i, label[i]])


@wb.kernel
def normalised(x: ROWS, y: ROWS):
    i = wb.tid()
    n = x.shape[1]
    s = 0.0
    for j in range(n):
        s += x[i, j]
    m = s / float(n)
    v = 0.0
    for j in range(n):
        v += (x[i, j] - m) * (x[i, j] - m)
    for j in range(n):
        y[i, j] = (x[i, j] - m) / wb.sqrt(v / float(n) + 1e-5)


@wb.kernel
def greatest(x: ROWS, y: NUMBERS):
    i = wb.tid()
    m = x[i, 0]
    for j in range(x.shape[1]):
        m = wb.max(m, x[i, j])
    y[i] = m * m


@wb.kernel
def halved(x: ROWS):
    i, j = wb.tid()
    x[i, j] = x[i, j] * 0.5


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Any]:
    """Calls a function during which no launch stores residuals."""

    def call(run: Callable[[], Any]) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(launch_step, "storing", lambda *_: None)
            return run()

    return call


def stored(tape: wb.Tape) -> list[bool]:
    """Return, for each launch of a tape, whether it has stored residuals."""
    return [bool(step._residuals) for step in tape.steps if isinstance(step, LaunchStep)]


def built(run: Callable[[], Any]) -> None:
    """Run until launches store residuals: the first runs as it is, the second has their code built."""
    for _ in range(3):
        run()
        for work in Work.running():
            work.wait()


def rows(seed: int = 0, height: int = HEIGHT, width: int = WIDTH) -> np.ndarray:
    """Normally distributed numbers."""
    return np.random.default_rng(seed).standard_normal((height, width)).astype(np.float32)


def taped(kernel: Any, arguments: Sequence[Any], **options: Any) -> wb.Tape:
    """A tape of one launch over the rows of the first argument."""
    with wb.Tape(**options) as tape:
        wb.launch(kernel, arguments[0].shape[0], arguments, device="cpu")
    return tape


CASES = [
    (softmax, (HEIGHT, WIDTH), lambda x: jax.nn.softmax(x, 1)),
    (normalised, (HEIGHT, WIDTH), lambda x: (x - x.mean(1)[:, None]) / jnp.sqrt(x.var(1) + 1e-5)[:, None]),
    (greatest, (HEIGHT,), lambda x: x.max(1) ** 2),
]


def slopes(kernel: Any, arguments: Sequence[Any], seed: Any, **options: Any) -> tuple[list[bool], bytes]:
    """Return which launches stored residuals, and the bits of the result (the last argument) and of the gradient."""
    x, *_, y = arguments
    x.grad.zero_()
    tape = taped(kernel, arguments, **options)
    tape.backward(grads={y: seed})
    numbers = np.concatenate([y.numpy().reshape(-1), x.grad.numpy().reshape(-1)])
    return stored(tape), np.where(np.isnan(numbers), np.float32("nan"), numbers).tobytes()


@pytest.mark.parametrize(("kernel", "shape", "function"), CASES)
@pytest.mark.parametrize("accumulate", [True, False])
def test_gradients_are_those_of_jax_and_the_bits_those_without(
    kernel: Any, shape: tuple[int, ...], function: Any, accumulate: bool, plain: Any
) -> None:
    x, y = wb.array(rows(), device="cpu", requires_grad=True), wb.zeros(shape, device="cpu", requires_grad=True)
    seed = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    want = plain(lambda: slopes(kernel, [x, y], seed, accumulate=accumulate))
    built(lambda: slopes(kernel, [x, y], seed, accumulate=accumulate))
    found = slopes(kernel, [x, y], seed, accumulate=accumulate)
    assert (want[0], found[0]) == ([False], [True])
    assert found[1] == want[1]
    with jax.enable_x64(True):
        exact = jax.vjp(function, jnp.asarray(rows(), jnp.float64))[1](jnp.asarray(seed, jnp.float64))[0]
    np.testing.assert_allclose(x.grad.numpy(), exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("width", [WIDTH, 1, 2000])
def test_rows_with_ties_infinities_and_nan_have_the_bits_without(width: int, plain: Any) -> None:
    numbers = np.round(rows(), 0)
    numbers[::7, 3], numbers[::11, 5], numbers[::13] = np.nan, np.inf, -np.inf
    numbers = np.resize(numbers, (HEIGHT * WIDTH if width == 1 else HEIGHT, width))
    x, y = wb.array(numbers, device="cpu", requires_grad=True), wb.zeros(numbers.shape, device="cpu")
    want = plain(lambda: slopes(softmax, [x, y], x))
    built(lambda: slopes(softmax, [x, y], x))
    assert slopes(softmax, [x, y], x) == ([True], want[1])


def test_a_sum_of_all_threads_keeps_its_bits(plain: Any) -> None:
    """The order of such a sum follows from the number of threads in a strip, and that from the code's cost."""
    x = wb.array(rows(2, 20_000, 33), device="cpu", requires_grad=True)
    label = wb.array(np.arange(20_000, dtype=np.int32) % 33, device="cpu")
    want = plain(lambda: slopes(cross_entropy, [x, label, wb.zeros(1, device="cpu")], 1.0))
    built(lambda: slopes(cross_entropy, [x, label, wb.zeros(1, device="cpu")], 1.0))
    assert slopes(cross_entropy, [x, label, wb.zeros(1, device="cpu")], 1.0) == ([True], want[1])


def test_a_pass_again_and_arrays_that_have_changed() -> None:
    x, y = wb.array(rows(), device="cpu"), wb.zeros((HEIGHT, WIDTH), device="cpu")
    built(lambda: taped(softmax, [x, y]))
    before = taped(softmax, [x, y])
    before.backward(grads={y: rows(1)})
    once = before.gradients[x].numpy().copy()
    before.backward(grads={y: rows(1)})
    np.testing.assert_allclose(before.gradients[x].numpy(), 2 * once, rtol=1e-4, atol=1e-6)
    outside = taped(softmax, [x, y])
    assert stored(outside) == [True]
    x.assign(rows(5))
    with pytest.raises(NotDifferentiable, match="x of softmax has changed"):
        outside.backward(grads={y: rows(1)})


def test_an_array_that_is_overwritten_later_has_the_gradient_of_what_it_held() -> None:
    def run() -> tuple[wb.Tape, np.ndarray]:
        start, x, y = (wb.array(rows(), device="cpu") for _ in range(3))
        with wb.Tape() as tape:
            wb.copy(x, start)
            wb.launch(softmax, HEIGHT, [x, y])
            wb.launch(halved, (HEIGHT, WIDTH), [x])
            wb.launch(softmax, HEIGHT, [x, y])
        tape.backward(grads={y: rows(1)})
        return tape, tape.gradients[start].numpy()

    first = run()[1]
    built(lambda: run()[0])
    tape, last = run()
    assert stored(tape) == [True, False, True]
    np.testing.assert_array_equal(first, last)


def test_launches_that_store_none() -> None:
    """Arrays that share memory or have gaps, small ones, tapes that run steps again, and several observers."""
    wide, x, y = (wb.array(rows(0, HEIGHT, n), device="cpu") for n in (2 * WIDTH, WIDTH, WIDTH))
    small = wb.array(rows(0, 3), device="cpu")
    built(lambda: taped(softmax, [x, y]))
    assert stored(taped(softmax, [x, y])) == [True]
    assert stored(taped(softmax, [x, x])) == [False]
    assert stored(taped(softmax, [wide[:, ::2], y])) == [False]
    assert stored(taped(softmax, [small, wb.zeros((3, WIDTH), device="cpu")])) == [False]
    assert stored(taped(softmax, [x, y], checkpoint_every=2)) == [False]
    assert stored(taped(softmax, [x, y], deterministic=True)) == [False]
    with wb.record() as recorder:
        assert stored(taped(softmax, [x, y])) == [False]
    assert [launch.direction for launch in recorder.launches] == ["forward"]


def test_derivatives_of_derivatives_checkpoints_records_and_graphs_are_as_before() -> None:
    numbers, y = rows(), wb.zeros((HEIGHT, WIDTH), device="cpu")
    x, weight = wb.array(numbers, device="cpu"), wb.array(rows(3), device="cpu")
    built(lambda: taped(softmax, [x, y]))

    def total(x: Any) -> Any:
        result = wb.zeros((HEIGHT, WIDTH), device="cpu")
        wb.launch(softmax, HEIGHT, [x, result])
        return (result * weight).sum()

    found = wb.hvp(total)(x, along=wb.array(rows(4), device="cpu")).numpy()
    with jax.enable_x64(True):
        exact = lambda v: (jax.nn.softmax(v, 1) * jnp.asarray(rows(3), jnp.float64)).sum()  # noqa: E731
        start, along = (jnp.asarray(v, jnp.float64) for v in (numbers, rows(4)))
        slope, second = jax.jvp(jax.grad(exact), (start,), (along,))
    np.testing.assert_allclose(found, second, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(wb.grad(total)(x).numpy(), slope, rtol=1e-4, atol=1e-5)
    tape = taped(softmax, [x, y], checkpoint_every=1)
    tape.backward(grads={y: weight})
    np.testing.assert_allclose(tape.gradients[x].numpy(), slope, rtol=1e-4, atol=1e-5)
    recorder = wb.Recorder(taped(softmax, [x, y]))
    y.zero_()
    recorder.replay()
    np.testing.assert_allclose(y.numpy(), jax.nn.softmax(numbers, 1), rtol=1e-5, atol=1e-7)
    with wb.capture() as graph:
        taped(softmax, [x, y]).backward(grads={y: weight})
    y.zero_()
    graph.launch()
    np.testing.assert_allclose(y.numpy(), jax.nn.softmax(numbers, 1), rtol=1e-5, atol=1e-7)
