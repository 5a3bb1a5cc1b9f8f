"""Gradients of large arrays that are cleared, added to, looked at, and added to in threads."""

import threading
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb

N = 20000
"""Elements of an array of more than CLEARED_BYTES."""
FLOATS = wb.array[wb.float64]


@wb.kernel
def square(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def inside(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i + 1] = 0.25 * x[i] + x[i + 1] * x[i + 1] + 0.5 * x[i + 2]


@wb.kernel
def clamped(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[wb.max(i - 1, 0)] * x[i] + x[wb.min(i + 1, x.shape[0] - 1)]


@wb.kernel
def torus(x: FLOATS, y: FLOATS):
    i = wb.tid()
    n = x.shape[0]
    y[i] = x[(i + 1) % n] * x[i]


@wb.kernel
def part(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i + 3] = x[i + 5] * x[i + 5]


@wb.kernel
def some(x: FLOATS, y: FLOATS):
    i = wb.tid()
    if x[i] > 0.0:
        y[i] = x[i] * x[i]


@wb.kernel
def by_two(x: FLOATS, y: FLOATS):
    i = wb.tid()
    y[i] = x[i // 2] * x[i]


@wb.kernel
def total(x: FLOATS, y: FLOATS):
    i = wb.tid()
    wb.atomic_add(y, i % 7, x[i] * x[i])


CASES: dict[str, tuple[wb.Kernel, int, Callable[[jax.Array], jax.Array]]] = {
    "square": (square, N, lambda x: x * x),
    "inside": (inside, N - 2, lambda x: jnp.pad(0.25 * x[:-2] + x[1:-1] ** 2 + 0.5 * x[2:], 1)),
    "clamped": (clamped, N, lambda x: jnp.append(x[:1], x[:-1]) * x + jnp.append(x[1:], x[-1:])),
    "torus": (torus, N, lambda x: jnp.roll(x, -1) * x),
    "part": (part, N - 8, lambda x: jnp.pad(x[5:-3] ** 2, (3, 5))),
    "some": (some, N, lambda x: jnp.where(x > 0, x * x, 0.0)),
    "by two": (by_two, N, lambda x: x[jnp.arange(N) // 2] * x),
    "total": (total, N, lambda x: jnp.zeros(N).at[jnp.arange(N) % 7].add(x * x)),
}


class Program:
    """A kernel with an array, a result, seeds, and the gradients for these by JAX."""

    def __init__(self, name: str) -> None:
        self.kernel, self.dim, function = CASES[name]
        rng = np.random.default_rng(len(name))
        self.x = wb.array(rng.standard_normal(N), requires_grad=True, device="cpu")
        self.y = wb.zeros(N, dtype=wb.float64, requires_grad=True, device="cpu")
        seeds = rng.standard_normal((3, N))
        self.seeds = [wb.array(g, device="cpu") for g in seeds]
        with jax.enable_x64(True):
            pull = jax.vjp(function, jnp.asarray(self.x.numpy(), jnp.float64))[1]
            self.right = [np.asarray(pull(jnp.asarray(g, jnp.float64))[0]) for g in seeds]

    def run(self, k: int, **options: bool) -> wb.Tape:
        """Record the launch and go back from seed k."""
        self.y.zero_()
        with wb.Tape() as tape:
            wb.launch(self.kernel, self.dim, [self.x], [self.y], **options)
        tape.backward(grads={self.y: self.seeds[k]})
        return tape


@pytest.fixture(params=CASES)
def program(request: pytest.FixtureRequest) -> Program:
    return Program(request.param)


def same(got: wb.array | None, right: np.ndarray) -> None:
    assert got is not None
    np.testing.assert_allclose(got.numpy(), right, rtol=1e-12, atol=1e-12)


def test_gradients_after_zero(program: Program) -> None:
    for k in (0, 1, 2, 0):
        tape = program.run(k)
        same(program.x.grad, program.right[k])
        tape.zero()
        same(program.x.grad, np.zeros(N))
    for k in (1, 2):  # not read in between
        tape = program.run(k)
        tape.zero()
    program.run(0)
    same(program.x.grad, program.right[0])


def test_gradients_are_sums_of_passes(program: Program) -> None:
    tape = program.run(0)
    tape.zero()
    for k in (1, 2):
        program.y.grad = None
        tape.backward(grads={program.y: program.seeds[k]})
    same(program.x.grad, program.right[1] + program.right[2])
    program.y.grad = None
    program.run(0)
    same(program.x.grad, sum(program.right))


def test_whoever_has_the_gradient_sees_it_cleared(program: Program) -> None:
    tape = program.run(0)
    held, view, host = program.x.grad, program.x.grad[10:N:3], program.x.grad.numpy()
    for holder in (held, view, host, None):
        held = held if holder is held else None
        view = view if holder is view else None
        host = host if holder is host else None
        tape.zero()
        if holder is not None:
            assert not np.any(holder if isinstance(holder, np.ndarray) else holder.numpy())
        tape = program.run(1)
        if holder is not None:
            right = program.right[1][10:N:3] if len(holder) < N else program.right[1]
            np.testing.assert_allclose(np.asarray(holder), right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{"checks": True}, {"deterministic": True}])
def test_other_ways_to_run(program: Program, options: dict[str, bool]) -> None:
    tape = program.run(0, **options)
    same(program.x.grad, program.right[0])
    tape.zero()
    program.run(1, **options)
    same(program.x.grad, program.right[1])


def test_an_array_that_is_used_twice(program: Program) -> None:
    x, y, z = program.x, program.y, wb.zeros(N, dtype=wb.float64, device="cpu")
    for _ in range(3):
        y.zero_()
        with wb.Tape() as tape:
            wb.launch(program.kernel, program.dim, [x], [y])
            wb.launch(square, N, [x], [z])
        tape.backward(grads={y: program.seeds[0], z: program.seeds[1]})
        same(x.grad, program.right[0] + 2 * x.numpy() * program.seeds[1].numpy())
        tape.zero()


def test_parts_of_one_memory(program: Program) -> None:
    both = wb.array(np.tile(program.x.numpy(), 2), requires_grad=True, device="cpu")
    results = [wb.zeros(N, dtype=wb.float64, device="cpu") for _ in range(2)]
    for _ in range(3):
        with wb.Tape() as tape:
            for k, y in enumerate(results):
                y.zero_()
                wb.launch(program.kernel, program.dim, [both[k * N : (k + 1) * N]], [y])
        tape.backward(grads={y: program.seeds[k] for k, y in enumerate(results)})
        same(both.grad, np.concatenate(program.right[:2]))
        tape.zero()


@pytest.mark.parametrize("settings", [{}, {"checkpoint_every": 1}, {"checkpoint": 2}, {"retain_grad": True}])
def test_a_chain(program: Program, settings: dict[str, int]) -> None:
    x, y, z = program.x, program.y, wb.zeros(N, dtype=wb.float64, device="cpu")
    _, _, function = next(c for c in CASES.values() if c[0] is program.kernel)
    with jax.enable_x64(True):
        pull = jax.vjp(lambda x: function(x) ** 2, jnp.asarray(x.numpy(), jnp.float64))[1]
        right = np.asarray(pull(jnp.asarray(program.seeds[0].numpy(), jnp.float64))[0])
    for _ in range(3):
        y.zero_()
        with wb.Tape(**{k: v for k, v in settings.items() if k != "retain_grad"}) as tape:
            wb.launch(program.kernel, program.dim, [x], [y])
            wb.launch(square, N, [y], [z])
        tape.backward(grads={z: program.seeds[0]}, retain_grad="retain_grad" in settings)
        same(x.grad, right)
        if "retain_grad" in settings:
            same(y.grad, 2 * y.numpy() * program.seeds[0].numpy())
        tape.zero()
        assert not y.grad.numpy().any()


def test_a_function_that_adds_meanwhile() -> None:
    program = Program("inside")
    x, y, z = program.x, program.y, wb.zeros(N, dtype=wb.float64, requires_grad=True, device="cpu")

    def add() -> None:
        if x.grad is not None:
            x.grad.fill_(5.0)  # without telling the tape

    for _ in range(2):
        y.zero_()
        with wb.Tape() as tape:
            wb.launch(program.kernel, program.dim, [x], [y])
            wb.launch(square, N, [y], [z])
            tape.record_func(add, [z])
        tape.backward(grads={y: program.seeds[0], z: 0.0})
        same(x.grad, program.right[0] + 5.0)
        tape.zero()


def test_gradients_of_gradients() -> None:
    x = wb.array(np.linspace(-1.0, 1.0, N), requires_grad=True, device="cpu")
    y = wb.zeros(N, dtype=wb.float64, device="cpu")
    seed = wb.ones(N, dtype=wb.float64, requires_grad=True, device="cpu")
    for _ in range(2):
        with wb.Tape() as outer:
            with wb.Tape(into_grad=False) as inner:
                wb.launch(square, N, [x], [y])
            inner.backward(grads={y: seed})
            slope = inner.gradients[x]
        outer.backward(grads={slope: wb.ones(N, dtype=wb.float64, device="cpu")})
        same(x.grad, np.full(N, 2.0))
        outer.zero()


def test_passes_in_threads_add() -> None:
    program = Program("inside")
    for _ in range(5):
        results = [wb.zeros(N, dtype=wb.float64, device="cpu") for _ in range(4)]
        tapes = [wb.Tape() for _ in results]
        for tape, y in zip(tapes, results, strict=True):
            with tape:
                wb.launch(program.kernel, program.dim, [program.x], [y])
        threads = [
            threading.Thread(target=tape.backward, kwargs={"grads": {y: program.seeds[0]}})
            for tape, y in zip(tapes, results, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        same(program.x.grad, 4 * program.right[0])
        tapes[0].zero()


@pytest.mark.slow
def test_passes_through_copies_and_launches_in_threads_add() -> None:
    n = 400_000
    x = wb.array(np.ones(n), requires_grad=True, device="cpu")
    seed = wb.ones(n, dtype=wb.float64, device="cpu")
    for _ in range(40):
        results = [wb.zeros(n, dtype=wb.float64, device="cpu") for _ in range(4)]
        tapes = [wb.Tape() for _ in results]
        for k, (tape, y) in enumerate(zip(tapes, results, strict=True)):
            with tape:
                if k % 2:
                    wb.copy(y, x)
                else:
                    wb.launch(square, n, [x], [y])
        threads = [
            threading.Thread(target=tape.backward, kwargs={"grads": {y: seed}})
            for tape, y in zip(tapes, results, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        same(x.grad, np.full(n, 6.0))
        tapes[0].zero()


def test_a_gradient_outlives_its_tape() -> None:
    program = Program("square")
    program.run(0).zero()
    same(program.x.grad, np.zeros(N))
    program.run(0).zero()
    assert not wb.clone(program.x, requires_grad=True).grad.numpy().any()
    program.run(0).zero()
    program.x.grad[3:5] = 1.0
    assert program.x.grad.numpy().sum() == 2.0
