"""Traced functions as one native call: how many calls XLA makes, in every mode and derivative, and what they give."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.trees import assert_trees_close

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def scale(x: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = s * x[i]


@wb.kernel
def bend(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = wb.sin(x[i]) * x[i]


@wb.kernel
def push(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    i = wb.tid()
    y[i] = y[i] + x[i] * y[i]


X = np.linspace(0.2, 1, 6, dtype=np.float32)


def calls(f: Callable[..., Any], *args: Any) -> int:
    """How many native calls the compiled program makes."""
    return jax.jit(f).lower(*args).as_text().count("custom_call @workbench")


assert_same = functools.partial(assert_trees_close, rtol=2e-5, atol=1e-5)


def waves(x: wb.array[wb.float32], s: wb.float32, n: int, y: wb.array[wb.float32]):
    now, after = wb.zeros(x.shape[0]), wb.empty(x.shape[0])
    wb.copy(now, x)
    for _ in range(n):
        wb.launch(bend, dim=x.shape, inputs=[now], outputs=[after])
        wb.launch(scale, dim=x.shape, inputs=[after, s * 0.5], outputs=[after])
        after[0:2].fill_(0.25)
        now, after = after, now
    wb.copy(y, now)


def waves_jax(x: Any, s: Any, n: int) -> Any:
    for _ in range(n):
        x = (0.5 * s * jnp.sin(x) * x).at[:2].set(0.25)
    return x


RUN = wb.jax_callable(waves)


@pytest.mark.slow
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("change", "count"),
    [
        (lambda f: lambda x: f(x, 1.5, 3), 1),
        (lambda f: lambda x: jax.vmap(f, (0, None, None))(jnp.stack([x, 2 * x]), 1.5, 3), 1),
        (lambda f: lambda x: jax.grad(lambda x, s: f(x, s, 3).sum(), (0, 1))(x, 1.5), 2),
        (lambda f: lambda x: jax.value_and_grad(lambda x: f(x, 1.5, 3).sum())(x), 2),
        (lambda f: lambda x: jax.jvp(lambda x, s: f(x, s, 3), (x, 1.5), (x, 2.0)), 2),
        (lambda f: lambda x: jax.vmap(jax.grad(lambda x: f(x, 1.5, 3).sum()))(jnp.stack([x, 2 * x])), 2),
        (lambda f: lambda x: jax.jvp(lambda x: f(x, 1.5, 3), (x,), (x,))[1], 2),
        (lambda f: lambda x: jax.hessian(lambda x: f(x, 1.5, 2).sum())(x), 4),
        (lambda f: lambda x: jax.grad(jax.checkpoint(lambda x: f(x, 1.5, 3).sum()))(x), 2),
    ],
)  # fmt: skip
def test_a_function_is_one_call_and_so_is_each_derivative(change: Any, count: int) -> None:
    assert_same(jax.jit(change(RUN))(X), change(waves_jax)(X))
    assert calls(change(RUN), X) <= count


@pytest.mark.parametrize(("mode", "count"), [(None, 1), ("workbench", 1), ("staged", 1), ("jax", 9)])
def test_what_the_modes_mean(mode: str | None, count: int) -> None:
    f = wb.jax_callable(waves, graph_mode=mode)
    assert calls(lambda x: f(x, 1.5, 3), X) == count
    assert_same(f(X, 1.5, 3), waves_jax(X, 1.5, 3))
    assert f.graph_mode == mode


def test_a_program_of_hundreds_of_launches_keeps_little_memory() -> None:
    f = lambda x: RUN(x, 1.9, 200)  # noqa: E731
    assert_same(jax.jit(f)(X), waves_jax(X, 1.9, 200))
    text = jax.jit(f).lower(X).as_text()
    (scratch,) = [int(part.split("xui8")[0].rpartition("<")[2]) for part in text.split("tensor") if "xui8>" in part][:1]
    assert scratch <= 256  # two arrays of 24 bytes, each from a multiple of 64


def changed(state: wb.array[wb.float32], x: wb.array[wb.float32]):
    wb.launch(push, dim=state.shape, inputs=[x], outputs=[state])
    wb.launch(push, dim=state.shape, inputs=[x], outputs=[state])


def test_a_result_that_began_as_an_operand_shares_its_memory() -> None:
    f = wb.jax_callable(changed, in_out_argnames="state")
    state = jnp.asarray(X)
    expected = X * (1 + X) ** 2
    assert_same(f(state, X), expected)
    assert_same(state, X)
    text = jax.jit(f, donate_argnums=0).lower(state, X).as_text()
    assert "output_operand_alias" in text or "operand_index = 0" in text
    many, _ = jax.lax.scan(lambda s, _: (f(s, X), None), state, None, length=5)
    assert_same(many, X * (1 + X) ** 10)
    assert_same(jax.grad(lambda s: f(s, X).sum())(state), (1 + X) ** 2)


def test_an_operand_that_is_read_after_it_was_changed_in_place_is_kept() -> None:
    def both(x: wb.array[wb.float32], y: wb.array[wb.float32], z: wb.array[wb.float32]):
        wb.copy(y, x)
        wb.launch(push, dim=x.shape, inputs=[x], outputs=[y])
        wb.launch(scale, dim=x.shape, inputs=[x, 3.0], outputs=[z])

    y, z = jax.jit(wb.jax_callable(both, num_outputs=2))(X)
    assert_same((y, z), (X + X * X, 3 * X))


def test_large_launches_share_xlas_threads_one_after_the_other() -> None:
    x = jnp.linspace(0, 1, 600_000)
    for _ in range(3):
        assert_same(RUN(x, 1.5, 4), waves_jax(x, 1.5, 4))


def test_numbers_computed_between_launches_split_a_program_and_nothing_else() -> None:
    inner = wb.jax_callable(waves)

    def outer(x: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
        wb.launch(scale, dim=x.shape, inputs=[inner(x, s, 1), s], outputs=[y])

    f = wb.jax_callable(outer)
    assert calls(f, X, 2.0) == 1
    assert_same(jax.jit(f)(X, 2.0), 2 * waves_jax(X, 2.0, 1))
    from workbench.interop.jax.programs.program import Program, run_program

    def mixed(x: Any) -> list[Any]:
        return [RUN(jnp.cos(RUN(jnp.sin(x), 1.5, 1)), 1.5, 1), jnp.full(3, 2.0)]

    program = Program.of("mixed", mixed, [jnp.asarray(X)])
    g = lambda x: run_program(program, [x])  # noqa: E731
    assert calls(g, X) == 2
    expected = [waves_jax(jnp.cos(waves_jax(jnp.sin(X), 1.5, 1)), 1.5, 1), jnp.full(3, 2.0)]
    assert_same(jax.jit(g)(X), expected)


def test_two_equal_results_and_one_that_is_an_argument() -> None:
    def f(x: wb.array[wb.float32], y: wb.array[wb.float32], z: wb.array[wb.float32], w: wb.array[wb.float32]):
        wb.launch(bend, dim=x.shape, inputs=[x], outputs=[y])
        wb.copy(z, y)
        wb.copy(w, x)

    g = wb.jax_callable(f, num_outputs=3)
    assert_same(jax.jit(g)(X), (np.sin(X) * X, np.sin(X) * X, X))
    assert_same(jax.grad(lambda x: sum(a.sum() for a in g(x)))(jnp.asarray(X)), 2 * (np.cos(X) * X + np.sin(X)) + 1)


def test_the_launches_inside_are_rows_of_the_call() -> None:
    with wb.record(inputs=True) as rec:
        y = jax.jit(lambda x: RUN(x, 1.5, 2))(X)
    (entry,) = [e for e in rec if e.name == "waves"]
    assert [p.name for p in entry.parts] == ["bend", "scale", "put_part"] * 2
    assert all(p.seconds <= entry.seconds for p in entry.parts)
    assert [s.name for s in rec.spans()] == ["waves", *(p.name for p in entry.parts)]
    assert "0.5  jax   put_part" in repr(rec) and "<td>0.5</td>" in rec._repr_html_()
    rec.replay()
    assert np.array_equal(entry.outputs[0].numpy(), y)
    entry.parts[0].launch()
    assert_same(entry.parts[0].outputs[0].numpy(), np.sin(X) * X)


def test_a_recorded_program_is_saved_and_runs_without_jax(tmp_path: Any) -> None:
    with wb.record(inputs=True) as rec:
        y = RUN(X, 1.5, 2)
    rec.save(tmp_path / "run.wbr")
    loaded = wb.load_record(tmp_path / "run.wbr")
    loaded.replay()
    assert np.array_equal(loaded[0].outputs[0].numpy(), y)


@pytest.mark.slow
def test_derivatives_leave_no_traced_value_behind() -> None:
    with jax.checking_leaks():
        slope = jax.grad(lambda x: RUN(x, 1.5, 2).sum())(X)
        jax.jvp(lambda x: RUN(x, 1.5, 2), (X,), (X,))
        again = jax.grad(lambda x: jax.checkpoint(lambda x: RUN(x, 1.5, 2))(x).sum())(X)
    assert_same((slope, again), (jax.grad(lambda x: waves_jax(x, 1.5, 2).sum())(X),) * 2)
