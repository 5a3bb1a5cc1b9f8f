"""Gradients of captured branches and loops, which decide when the graph runs: those of `jax.lax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb

X = np.array([0.3, -0.7, 1.1], np.float64)
FLOATS = wb.array[wb.float64]


@wb.kernel
def bend(k: wb.float64, a: FLOATS, y: FLOATS, n: wb.array[int]):
    """A turn of a loop, in place."""
    i = wb.tid()
    y[i] = wb.sin(k * y[i] + a[i]) + 0.1 * wb.float64(n[0])


@wb.kernel
def less(n: wb.array[int]):
    n[0] -= 1


@wb.kernel
def square(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def positive(x: FLOATS, at: int, flag: wb.array[int]):
    flag[0] = 1 if x[at] > 0.0 else 0


@wb.kernel
def total(y: FLOATS, loss: FLOATS):
    i = wb.tid()
    wb.atomic_add(loss, 0, y[i])


class Program:
    """Arrays of a captured program, and its graph: the program, its loss, and the gradient by x and a."""

    def __init__(self, device: str = "cpu", **options: Any) -> None:
        self.device = device
        self.x, self.a = (wb.array(v, device=device, requires_grad=True) for v in (X, 0.5 * X))
        self.y, self.z = (wb.zeros(3, wb.float64, device=device) for _ in range(2))
        self.loss = wb.zeros(1, wb.float64, device=device)
        self.count, self.n, self.flag = (wb.zeros(1, int, device=device) for _ in range(3))
        self.options = options

    def launch(self, kernel: wb.Kernel, dim: int, *arguments: object) -> None:
        wb.launch(kernel, dim, [*arguments], device=self.device)

    def loop(self, k: float = 0.9) -> None:
        """Bend y as often as `count` says."""
        self.n.copy_(self.count)
        wb.capture_while(
            self.n, lambda: (self.launch(bend, 3, k, self.a, self.y, self.n), self.launch(less, 1, self.n))
        )

    def captured(self, run: Callable[[Program], None]) -> wb.Graph:
        with wb.capture() as graph:
            self.x.grad.zero_()
            self.a.grad.zero_()
            self.loss.zero_()
            with wb.Tape(**self.options) as tape:
                run(self)
                self.launch(total, 3, self.y, self.loss)
            tape.backward(self.loss)
        return graph

    def check(self, value: Callable[[Any, Any], Any]) -> None:
        """Compare with a function of JAX of x and a."""
        with jax.enable_x64(True):
            x, a = jnp.asarray(self.x.numpy()), jnp.asarray(self.a.numpy())
            wanted, slopes = jax.value_and_grad(value, (0, 1))(x, a)
        np.testing.assert_allclose(self.loss.numpy()[0], wanted, rtol=1e-12)
        for own, slope in zip((self.x, self.a), slopes, strict=True):
            np.testing.assert_allclose(own.grad.numpy(), slope, rtol=1e-10, atol=1e-300)


def looped(count: int, k: float = 0.9, each: bool = False) -> Callable[[Any, Any], Any]:
    """The loop as `jax.lax` has it, from x²: the sum, or each element."""

    def value(x: Any, a: Any) -> Any:
        def turn(t: Any, y: Any) -> Any:
            return jnp.sin(k * y + a) + 0.1 * (count - t)

        y = jax.lax.fori_loop(0, count, turn, x * x)
        return y if each else y.sum()

    return value


def squared_then_looped(program: Program) -> None:
    program.launch(square, 3, program.x, program.y)
    program.loop()


@pytest.mark.parametrize(
    ("options", "counts"),
    [({}, (3, 0, 1, 16, 17, 154)), ({"checkpoint_every": 2}, (2, 20)), ({"checkpoint": 3}, (2, 20))],
    ids=str,
)
def test_a_loop_has_the_gradient_of_as_many_turns_as_it_makes(options: dict[str, int], counts: Sequence[int]) -> None:
    program = Program(**options)
    graph = program.captured(squared_then_looped)
    for count in counts:
        program.count.fill_(count)
        program.x.assign(X + 0.01 * count)
        graph.launch()
        program.check(looped(count))


def test_a_tape_names_what_decides_as_a_graph_does() -> None:
    program = Program()
    with wb.capture(), wb.Tape() as tape:
        squared_then_looped(program)
        wb.capture_if(program.flag, lambda: program.launch(square, 3, program.y, program.z))
    wanted = ["launch", "while", "if"]
    assert [step.kind for step in wb.inspect.tape_steps(tape)] == wanted
    assert [node["name"] for node in wb.inspect.tape_graph(tape)["nodes"]] == ["square", *wanted[1:]]


@pytest.mark.slow
def test_a_loop_on_an_emulated_device() -> None:
    program = Program("emulated")
    graph = program.captured(squared_then_looped)
    program.count.fill_(3)
    graph.launch()
    program.check(looped(3))


def test_a_changed_number_and_array_reach_every_turn_back() -> None:
    program = Program()
    graph = program.captured(squared_then_looped)
    program.count.fill_(5)
    graph.launch()
    program.x = wb.array(2.0 * X, requires_grad=True)
    graph.update(k=0.4, x=program.x)
    graph.launch()
    program.check(looped(5, 0.4))


def test_a_long_loop_keeps_few_states() -> None:
    program = Program()
    graph = program.captured(squared_then_looped)
    program.count.fill_(4000)
    graph.launch()
    program.check(looped(4000))
    used = {a.memory for node in graph.walk() for a in node.arrays}
    assert sum(memory.nbytes for memory in used) < 60 * program.y.nbytes


def branching(program: Program) -> None:
    program.launch(square, 3, program.x, program.y)
    program.launch(positive, 1, program.x, 0, program.flag)
    wb.capture_if(
        program.flag,
        lambda: program.launch(bend, 3, 0.9, program.a, program.y, program.n),
        lambda: (program.launch(square, 3, program.y, program.z), program.y.copy_(program.z)),
    )
    program.flag.fill_(7)  # the condition is another one by now


@pytest.mark.parametrize("first", [0.3, -0.3])
def test_a_branch_has_the_gradient_of_the_side_that_it_takes(first: float) -> None:
    program = Program()
    graph = program.captured(branching)
    program.x[0] = first
    graph.launch()
    program.check(lambda x, a: jax.lax.cond(x[0] > 0, lambda y: jnp.sin(0.9 * y + a), lambda y: y * y, x * x).sum())


def test_a_branch_that_is_not_taken_lets_gradients_by() -> None:
    program = Program()

    def run(program: Program) -> None:
        program.launch(square, 3, program.x, program.y)
        wb.capture_if(program.flag, lambda: program.launch(bend, 3, 0.9, program.a, program.y, program.n))

    graph = program.captured(run)
    for flag in (0, 1, 0):
        program.flag.fill_(flag)
        graph.launch()
        program.check(lambda x, a, flag=flag: (jnp.sin(0.9 * x * x + a) if flag else x * x).sum())


def nested(program: Program) -> None:
    """Four turns of: if y[0] > 0, two turns of a loop; else a square."""
    outer = wb.zeros(1, int, device=program.device)
    program.launch(square, 3, program.x, program.y)
    outer.fill_(4)

    def turn() -> None:
        program.launch(positive, 1, program.y, 0, program.flag)
        wb.capture_if(
            program.flag, program.loop,
            lambda: (program.launch(square, 3, program.y, program.z), program.y.copy_(program.z)),
        )  # fmt: skip
        program.launch(less, 1, outer)

    wb.capture_while(outer, turn)


def nested_in_jax(x: Any, a: Any) -> Any:
    def inner(y: Any) -> Any:
        return jax.lax.fori_loop(0, 2, lambda t, y: jnp.sin(-2.9 * y + a) + 0.1 * (2 - t), y)

    def turn(_: Any, y: Any) -> Any:
        return jax.lax.cond(y[0] > 0, inner, lambda y: y * y, y)

    return jax.lax.fori_loop(0, 4, turn, x * x).sum()


def test_loops_in_branches_in_loops() -> None:
    program = Program()
    program.count.fill_(2)
    graph = program.captured(nested)
    graph.update("bend", k=-2.9)
    graph.launch()
    program.check(nested_in_jax)
    path = {bool(v) for v in _signs()}
    assert path == {True, False}  # both sides were taken


def _signs() -> list[bool]:
    y, seen = X * X, []
    for _ in range(4):
        seen.append(bool(y[0] > 0))
        if seen[-1]:
            for t in range(2):
                y = np.sin(-2.9 * y + 0.5 * X) + 0.1 * (2 - t)
        else:
            y = y * y
    return seen


def test_what_is_overwritten_later_is_kept_for_the_way_back() -> None:
    program = Program()

    def run(program: Program) -> None:
        squared_then_looped(program)
        program.a.fill_(3.0)  # the loop reads it

    program.count.fill_(3)
    a = program.a.numpy().copy()
    program.captured(run).launch()
    program.a.assign(a)
    program.check(looped(3))


def test_a_graph_that_is_launched_on_a_tape_inside_a_capture() -> None:
    program = Program()
    with wb.capture() as inner:
        squared_then_looped(program)
    graph = program.captured(lambda _: inner.launch())
    program.count.fill_(6)
    graph.launch()
    program.check(looped(6))


def test_gradients_of_gradients() -> None:
    program = Program()
    x, y, loss = program.x, program.y, program.loss
    outer_loss, n = wb.zeros(1, wb.float64), program.n
    with wb.capture() as graph:
        n.copy_(program.count)
        outer_loss.zero_()
        with wb.Tape(into_grad=False) as outer:
            loss.zero_()
            with wb.Tape(into_grad=False) as inner:
                squared_then_looped(program)
                program.launch(total, 3, y, loss)
            inner.backward(loss)
            slope = inner.gradients[x]
            program.launch(total, 3, slope, outer_loss)
        outer.backward(outer_loss)
        second = outer.gradients[x]
    program.count.fill_(4)
    graph.launch()
    with jax.enable_x64(True):
        ones = jnp.ones(3)
        wanted = jax.grad(lambda x: jax.jvp(lambda x: looped(4)(x, 0.5 * jnp.asarray(X)), (x,), (ones,))[1])(
            jnp.asarray(X)
        )
    np.testing.assert_allclose(second.numpy(), wanted, rtol=1e-10)


@wb.kernel
def unordered(y: FLOATS):
    i = wb.tid()
    wb.atomic_max(y, 0, y[i])


def test_a_kernel_inside_without_a_gradient_is_refused_by_name() -> None:
    program = Program()
    with pytest.raises(wb.NotDifferentiable, match="unordered"):
        program.captured(lambda p: wb.capture_if(p.flag, lambda: p.launch(unordered, 3, p.y)))


@pytest.mark.parametrize("count", [0, 3])
def test_tangents_go_through_captured_loops(count: int) -> None:
    program, along = Program(), np.array([1.0, -2.0, 0.5])
    with wb.capture() as graph:
        _, slope = wb.jvp(lambda x: (squared_then_looped(program), program.y)[1])(program.x, along=wb.array(along))
    program.count.fill_(count)
    graph.launch()
    with jax.enable_x64(True):
        _, wanted = jax.jvp(lambda x: looped(count, each=True)(x, 0.5 * X), (jnp.asarray(X),), (jnp.asarray(along),))
    np.testing.assert_allclose(slope.numpy(), wanted, rtol=1e-12)


def test_who_has_to_know_what_runs_refuses() -> None:
    program = Program()
    with wb.capture(), pytest.raises(wb.LaunchError, match="decides when it runs"), wb.find_nan():
        squared_then_looped(program)
