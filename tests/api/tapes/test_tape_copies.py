"""Arrays that change while a tape is open: what a gradient needs is copied first, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from tests.support.kernels.simulations import PROGRAMS, start
from workbench.errors import NotDifferentiable
from workbench.types import float64

CELL = meaning.define("""
    @kernel
    def square(x: array[float], y: array[float]):
        i = tid()
        y[i] = x[i] * x[i]

    @kernel
    def square_in_place(x: array[float]):
        i = tid()
        x[i] = x[i] * x[i]

    @kernel
    def scale(x: array[float], by: array[float]):
        i = tid()
        x[i] *= by[i]

    @kernel
    def double(x: array[float]):
        i = tid()
        x[i] = 2.0 * x[i] + 1.0

    @kernel
    def highest(x: array[float], y: array[float]):
        atomic_max(y, 0, x[tid()])
""")
square, square_in_place, scale, double, highest = CELL.values()


def launch_over(y: wb.array) -> None:
    wb.launch(square, len(y), inputs=[wb.ones(len(y))], outputs=[y])


CHANGES: dict[str, Callable[[wb.array], Any]] = {
    "fill": lambda y: y.fill_(7.0),
    "zero": lambda y: y.zero_(),
    "copy": lambda y: wb.copy(y, wb.ones(3)),
    "assign": lambda y: y.assign([1.0, 2.0, 3.0]),
    "slice": lambda y: y.__setitem__(slice(1, 3), 0.0),
    "slice of an array": lambda y: y.__setitem__(slice(0, 2), wb.ones(2)),
    "all": lambda y: y.__setitem__(slice(None), np.float32([4.0, 5.0, 6.0])),
    "add": lambda y: y.add_(wb.ones(3)),
    "launch": launch_over,
    "view": lambda y: y[::2].fill_(1.0),
    "in place": lambda y: wb.launch(square_in_place, 3, inputs=[y]),
}
BY = {"zero": "fill", "assign": "copy", "slice": "fill", "slice of an array": "copy", "all": "copy", "view": "fill",
      "launch": "square", "in place": "square_in_place"}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_copied_before_it_changes(name: str) -> None:
    x = wb.array([1.0, 2.0, 3.0], requires_grad=True)
    y, z = wb.zeros(3), wb.zeros(3)
    with wb.Tape() as tape:
        wb.launch(square, 3, inputs=[x], outputs=[y])
        wb.launch(square, 3, inputs=[y], outputs=[z])
        CHANGES[name](y)
        CHANGES[name](y)
    tape.backward(grads={z: np.ones(3)})
    assert x.grad.numpy().tolist() == [4, 32, 108]
    first = tape.snapshots[0]
    assert (first.kernel, first.parameter, first.nbytes) == ("square", "x", 12)
    assert first.changed_by == BY.get(name, name) and first.line
    assert len(tape.snapshots) == (2 if name == "in place" else 1)
    assert tape.nbytes == sum(s.nbytes for s in tape.snapshots)
    assert f"x of square, 12 bytes, before {first.changed_by} changed it" in repr(tape)


def test_nothing_is_copied_that_no_adjoint_reads() -> None:
    x, ones = wb.array([1.0, 2.0, 3.0], requires_grad=True), wb.ones(3)
    with wb.Tape() as tape:
        for _ in range(5):
            wb.launch(double, 3, inputs=[x])
            x.add_(ones)
    tape.backward(grads={x: np.ones(3)})
    assert x.grad.numpy().tolist() == [32] * 3
    assert tape.snapshots == () and repr(tape) == "<Tape of 10 steps; nothing had to be kept>"


def test_in_place_again_and_again() -> None:
    x, by = wb.array([1.1, 1.2], requires_grad=True), wb.array([2.0, 3.0], requires_grad=True)
    with wb.Tape() as tape:
        for _ in range(3):
            wb.launch(scale, 2, inputs=[x, by])
            wb.launch(square_in_place, 2, inputs=[x])
    start = np.array([1.1, 1.2])
    expected_x = 8 * start**7 * np.array([2.0, 3.0]) ** 14
    expected_by = 14 * start**8 * np.array([2.0, 3.0]) ** 13
    for times in (1, 2, 3):
        tape.backward(grads={x: np.ones(2)})
        np.testing.assert_allclose(x.grad.numpy(), times * expected_x, rtol=1e-5)
        np.testing.assert_allclose(by.grad.numpy(), times * expected_by, rtol=1e-5)
    assert {s.parameter for s in tape.snapshots} == {"x"} and len(tape.snapshots) == 6


def test_what_stays_in_an_adjoint_is_no_seed_of_the_next_pass() -> None:
    x = wb.array([3.0], requires_grad=True)
    y = wb.zeros(1, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(square, 1, inputs=[x], outputs=[y])
    y.grad.fill_(100.0)
    tape.backward(grads={y: np.ones(1)})
    assert x.grad.numpy().tolist() == [6] and y.grad.numpy().tolist() == [100]


def test_adjoints_can_be_retained() -> None:
    x = wb.array([1.0, 2.0], requires_grad=True)
    y, z = wb.zeros(2, requires_grad=True), wb.zeros(2)
    with wb.Tape() as tape:
        wb.launch(square, 2, inputs=[x], outputs=[y])
        wb.launch(square, 2, inputs=[y], outputs=[z])
    tape.backward(grads={z: np.ones(2)})
    assert tape.gradients[z].numpy().tolist() == [0, 0] and y.grad.numpy().tolist() == [0, 0]
    tape.backward(grads={z: np.ones(2)}, retain_grad=True)
    assert tape.gradients[z].numpy().tolist() == [1, 1] and y.grad.numpy().tolist() == [2, 8]
    assert x.grad.numpy().tolist() == [8, 64]


def test_tapes_inside_tapes_keep_their_own() -> None:
    x = wb.array([1.0, 2.0], requires_grad=True)
    y, z = wb.zeros(2), wb.zeros(2)
    with wb.Tape() as outer:
        wb.launch(square, 2, inputs=[x], outputs=[y])
        with wb.Tape() as inner:
            wb.launch(square, 2, inputs=[y], outputs=[z])
            y.zero_()
        x.zero_()
    assert (len(outer.snapshots), len(inner.snapshots)) == (2, 1)
    inner.backward(grads={z: np.ones(2)})
    assert inner.gradients[y].numpy().tolist() == [2, 8]
    outer.backward(grads={z: np.ones(2)})
    assert x.grad.numpy().tolist() == [4, 32]


def test_the_gradient_of_a_gradient() -> None:
    x = wb.array([1.0, 2.0], requires_grad=True)
    y, z = wb.zeros(2), wb.zeros(2)
    with wb.Tape() as outer:
        with wb.Tape(into_grad=False) as inner:
            wb.launch(square, 2, inputs=[x], outputs=[y])
            wb.launch(square_in_place, 2, inputs=[y])
        inner.backward(grads={y: np.ones(2)})
        wb.copy(z, inner.gradients[x])
    assert z.numpy().tolist() == [4, 32]
    outer.backward(grads={z: np.ones(2)})
    assert x.grad.numpy().tolist() == [12, 48]


def test_a_kernel_without_an_adjoint_beside_the_way_is_no_matter() -> None:
    x = wb.array([1.0, 2.0], requires_grad=True)
    y, top = wb.zeros(2), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(square, 2, inputs=[x], outputs=[y])
        wb.launch(highest, 2, inputs=[y], outputs=[top])
        y.zero_()
    with pytest.raises(NotDifferentiable, match="atomic_max"):
        tape.backward(top)
    assert x.grad.numpy().tolist() == [0, 0]
    with wb.Tape() as tape:
        wb.launch(square, 2, inputs=[x], outputs=[y])
        wb.launch(highest, 2, inputs=[y], outputs=[top])
    tape.backward(grads={y: np.ones(2)})
    assert x.grad.numpy().tolist() == [2, 4]


def test_a_function_of_the_users_own() -> None:
    x, y, loss = wb.array([1.0, 2.0], requires_grad=True), wb.zeros(2), wb.zeros(2)
    with wb.Tape() as tape:
        y.numpy()[:] = np.exp(x.numpy())
        kept = y.numpy().copy()

        def backward() -> None:
            cotangent = tape.gradients[y].numpy()
            tape.gradients[x].numpy()[:] += cotangent * kept
            cotangent[:] = 0

        tape.record_func(backward, [x, y])
        wb.launch(square, 2, inputs=[y], outputs=[loss])
    tape.backward(grads={loss: np.ones(2)})
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(2 * np.array([1.0, 2.0])), rtol=1e-6)
    with pytest.raises(wb.LaunchError, match="inside the tape's `with`"):
        tape.record_func(backward, [x])
    with tape, pytest.raises(wb.LaunchError, match="takes arrays of floats"):
        tape.record_func(backward, [wb.zeros(1, int)])


def test_an_error_inside_leaves_what_ran() -> None:
    x, y, z = wb.array([3.0], requires_grad=True), wb.zeros(1), wb.zeros(2)
    tape = wb.Tape()
    with pytest.raises(wb.LaunchError), tape:
        wb.launch(square, 1, inputs=[x], outputs=[y])
        wb.launch(square, 1, inputs=[x])
    assert len(tape) == 1
    wb.launch(square, 1, inputs=[x], outputs=[z])
    tape.backward(y)
    assert len(tape) == 1 and x.grad.numpy().tolist() == [6]


def test_reset_forgets_and_a_loss_nobody_wrote_is_refused() -> None:
    x, y = wb.array([3.0], requires_grad=True), wb.zeros(1)
    with wb.Tape() as tape:
        wb.launch(square, 1, inputs=[x], outputs=[y])
        x.fill_(1.0)
    tape.reset()
    assert len(tape) == 0 and tape.snapshots == () and tape.nbytes == 0
    with pytest.raises(wb.LaunchError, match="Nothing that this tape recorded has written the loss"):
        tape.backward(y)


@pytest.mark.parametrize("stride", [2, -1])
def test_memory_of_others_with_strides(stride: int) -> None:
    held = np.arange(6, dtype=np.float32)
    x = wb.array(held[::stride], copy=False, requires_grad=True)
    y = wb.zeros(len(x))
    with wb.Tape() as tape:
        wb.launch(square, len(x), inputs=[x], outputs=[y])
        x.fill_(-1.0)
    tape.backward(grads={y: np.ones(len(x))})
    expected = 2 * np.arange(6)[::stride]
    assert np.array_equal(x.grad.numpy(), expected) and x.grad.strides == x.strides
    assert np.array_equal(tape.gradients[x].numpy(), expected)


@pytest.mark.parametrize("name", ["heat", *(pytest.param(n, marks=pytest.mark.slow) for n in PROGRAMS if n != "heat")])
def test_a_thousand_steps_in_place_against_jax(name: str) -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        program, reference = PROGRAMS[name]
        state, parameter, kind = start(name)
        x, p = wb.array(state, kind, requires_grad=True), wb.array(parameter, float64, requires_grad=True)
        with wb.Tape() as tape:
            loss = program(x, p, 1000)
        value, expected = jax.value_and_grad(lambda x, p: reference(jax, x, p, 1000), (0, 1))(state, parameter)
    finally:
        jax.config.update("jax_enable_x64", before)
    tape.backward(loss)
    assert float(loss) == pytest.approx(float(value), rel=1e-10)
    for mine, wanted in zip((x.grad, p.grad), expected, strict=True):
        wanted = np.asarray(wanted)
        np.testing.assert_allclose(mine.numpy(), wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    assert len(tape.snapshots) == 1000 and tape.nbytes == 1000 * x.nbytes
    assert {s.changed_by for s in tape.snapshots} <= {"advance", "drift"}


@pytest.mark.parametrize("dtype", ["float64", "float16", "vec3"])
def test_an_array_of_another_dtype_is_refused_while_a_tape_records(dtype: str) -> None:
    x = wb.array(np.ones((2, 3), np.float32), requires_grad=True)
    with wb.Tape() as tape, pytest.raises(NotDifferentiable, match="and the gradient would be lost"):
        wb.array(x, dtype=getattr(wb, dtype))
    assert len(tape) == 0
    with pytest.raises(NotDifferentiable, match=r"An array2d\[float32\] is converted to an array of"):
        wb.jvp(lambda a: wb.array(a, dtype=getattr(wb, dtype)))(x, along=x)


def test_an_array_of_another_dtype_that_carries_no_gradient() -> None:
    x, other = wb.array([1.5, 2.5], dtype=float, requires_grad=True), wb.zeros(2, requires_grad=True)
    with wb.Tape():
        assert wb.array(x, dtype=int).numpy().tolist() == [1, 2]
        assert wb.array(wb.array([1, 2]), dtype=float).numpy().tolist() == [1, 2]
        assert wb.array(x.numpy(), dtype=wb.float64).numpy().tolist() == [1.5, 2.5]
    with wb.Tape(only=[other]):
        assert wb.array(x, dtype=wb.float64).numpy().tolist() == [1.5, 2.5]
