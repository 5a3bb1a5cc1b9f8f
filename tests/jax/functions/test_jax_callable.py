"""Python functions that launch kernels, as JAX functions."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

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
def smooth(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    i = wb.tid()
    n = x.shape[0]
    y[i] = 0.5 * x[i] * x[i] + 0.25 * (x[(i + 1) % n] + x[(i + n - 1) % n])


@wb.kernel
def total(x: wb.array[wb.float32], out: wb.array[wb.float32]):
    wb.atomic_add(out, 0, x[wb.tid()])


@wb.kernel
def rotate(v: wb.array[wb.vec2], by: wb.vec2, out: wb.array[wb.vec2]):
    i = wb.tid()
    out[i] = wb.vec2(v[i][0] * by[0] - v[i][1] * by[1], v[i][0] * by[1] + v[i][1] * by[0])


def steps(x: wb.array[wb.float32], s: wb.float32, n: int, y: wb.array[wb.float32]):
    now, after = wb.zeros(x.shape[0]), wb.empty(x.shape[0])
    wb.copy(now, x)
    for _ in range(n):
        wb.launch(smooth, dim=x.shape, inputs=[now], outputs=[after])
        wb.launch(scale, dim=x.shape, inputs=[after, s * 0.5], outputs=[after])
        now, after = after, now
    wb.copy(y, now)


def steps_jax(x: Any, s: Any, n: int) -> Any:
    for _ in range(n):
        x = 0.5 * s * (0.5 * x * x + 0.25 * (jnp.roll(x, -1) + jnp.roll(x, 1)))
    return x


X = np.linspace(0.2, 1, 6, dtype=np.float32)
run = wb.jax_callable(steps)


assert_same = functools.partial(assert_trees_close, rtol=2e-5, atol=1e-5)


WAYS = {
    "eager": lambda f: f(X, 1.5, 3),
    "again": lambda f: (f(X, 2.5, 3), f(X, 2.5, 2)),
    "jit": lambda f: jax.jit(f, static_argnums=2)(X, 1.5, 3),
    "jit twice": lambda f: jax.jit(jax.jit(f, static_argnums=2), static_argnums=2)(X, 1.5, 3),
    "grad": lambda f: jax.grad(lambda x, s: f(x, s, 3).sum(), (0, 1))(X, 1.5),
    "jit of grad": lambda f: jax.jit(jax.grad(lambda x, s: f(x, s, 3).sum(), (0, 1)))(X, 1.5),
    "jvp": lambda f: jax.jvp(lambda x, s: f(x, s, 2), (X, 1.5), (X, 1.0)),
    "hessian": lambda f: jax.hessian(lambda x: f(x, 1.5, 2).sum())(X),
    "vmap": lambda f: jax.vmap(f, (0, 0, None))(np.stack([X, 2 * X]), np.array([1.5, 2], np.float32), 2),
    "vmap of grad": lambda f: jax.vmap(jax.grad(lambda x, s: f(x, s, 2).sum(), (0, 1)), (None, 0))(X, jnp.arange(3.0)),
    "scan": lambda f: jax.lax.scan(lambda c, s: (f(c, s, 1), c.sum()), X, jnp.arange(1.0, 3.0)),
    "grad of checkpoint": lambda f: jax.grad(jax.checkpoint(lambda x: f(x, 1.5, 2).sum()))(X),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("way", WAYS)
def test_what_jax_does_with_it_is_right(way: str) -> None:
    apply = WAYS[way] if way in ("eager", "again") else lambda f: jax.jit(lambda: WAYS[way](f))()
    assert_same(apply(run), apply(steps_jax))


def test_hundreds_of_launches_in_one_program() -> None:
    assert_same(run(X, 2.0, 150), steps_jax(X, 2.0, 150))


def test_a_new_number_does_not_trace_again_but_a_count_does() -> None:
    traced = []

    def f(x: wb.array[wb.float32], s: wb.float32, n: int, y: wb.array[wb.float32]):
        traced.append(n)
        for _ in range(n):
            wb.launch(scale, dim=x.shape, inputs=[x, s], outputs=[y])

    g = wb.jax_callable(f)
    for s in (1.0, 2.0, 3.0):
        assert_same(g(X, s, 1), s * X)
    assert [n for n in traced if isinstance(n, int)] == [1]
    assert_same(g(X, 4.0, 2), 4 * X)
    assert [n for n in traced if isinstance(n, int)] == [1, 2]


def parts(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    y.fill_(-1.0)
    wb.launch(scale, dim=2, inputs=[x[1:3], 10.0], outputs=[y[0:2]])
    wb.launch(scale, dim=3, inputs=[x[::-2], 1.0], outputs=[y[1::2]])
    y[0:1].fill_(7.0)
    wb.copy(y[2:4], x[0:2])
    y[4:6].add_(x[4:6])


def parts_jax(x: Any) -> Any:
    y = jnp.full(6, -1.0).at[0:2].set(10 * x[1:3])
    y = y.at[1::2].set(x[::-2]).at[0].set(7.0).at[2:4].set(x[:2])
    return y.at[4:6].add(x[4:6])


@pytest.mark.slow
def test_views_are_written_and_read_in_place() -> None:
    f = wb.jax_callable(parts)
    assert_same(f(X), parts_jax(X))
    for change in (jax.jacrev, jax.jacfwd, lambda f: lambda x: jax.vmap(f)(jnp.stack([x, 3 * x]))):
        assert_same(jax.jit(change(f))(X), jax.jit(change(parts_jax))(X))


def twice(x: wb.array[wb.float32]):
    wb.launch(scale, dim=x.shape, inputs=[x, 3.0], outputs=[x])
    wb.launch(scale, dim=x.shape, inputs=[x, 2.0], outputs=[x])


def test_in_place_through_one_array_given_twice() -> None:
    f = wb.jax_callable(twice, in_out_argnames="x")
    x = jnp.asarray(X)
    assert_same(jax.jit(f)(x), 6 * X)
    assert_same(x, X)
    assert_same(jax.grad(lambda x: (f(x) ** 2).sum())(x), 72 * X)


class Body(NamedTuple):
    place: Any
    speed: Any


def drift(body: Any, world: Any, dt: wb.float32, nothing: Any, out: wb.array[wb.vec2]):
    assert nothing is None
    wb.launch(scale, dim=2, inputs=[body.speed, dt], outputs=[body.speed])
    moved = wb.zeros(3, dtype=wb.vec2)
    wb.launch(rotate, dim=3, inputs=[world["v"], wb.vec2(0.0, 1.0)], outputs=[moved])
    wb.copy(out, moved)


def test_trees_vectors_none_and_names() -> None:
    f = wb.jax_callable(drift, num_outputs=2, in_out_argnames="body", output_dims=3)
    body = Body(jnp.arange(3.0), jnp.array([1.0, 2.0]))
    v = np.arange(6, dtype=np.float32).reshape(3, 2)
    world = {"v": jnp.asarray(v)}

    @wb.kernel
    def other(v: wb.array[wb.vec2], by: wb.vec2, out: wb.array[wb.vec2]):
        out[wb.tid()] = v[wb.tid()] * by[0]

    with pytest.raises(wb.LaunchError, match="v is array\\[vec2\\]"):
        f(body, world, dt=2.0, nothing=None)

    def g(v: wb.array[wb.vec2], by: wb.vec2, tree: Any, out: wb.array[wb.vec2]):
        wb.launch(rotate, dim=v.shape, inputs=[v, by], outputs=[out])
        wb.launch(scale, dim=2, inputs=[tree.speed, 3.0], outputs=[tree.speed])

    h = wb.jax_callable(g, num_outputs=2, in_out_argnames="tree")
    tree, out = jax.jit(h)(v, jnp.array([0.0, 1.0]), tree=body)
    assert isinstance(tree, Body)
    assert_same(tree.speed, [3, 6])
    assert_same(out, np.stack([-v[:, 1], v[:, 0]], 1))
    assert_same(h(v, (0.0, 1.0), body)[1], out)
    turned = jax.grad(lambda by: h(v, by, body)[1].sum())(jnp.array([0.0, 1.0]))
    assert_same(turned, [v.sum(), v[:, 0].sum() - v[:, 1].sum()])


def test_one_inside_another() -> None:
    inner = wb.jax_callable(steps)

    def outer(x: wb.array[wb.float32], y: wb.array[wb.float32]):
        found = inner(x, 2.0, 1)
        wb.launch(scale, dim=x.shape, inputs=[found, 2.0], outputs=[y])

    f = wb.jax_callable(outer)
    assert_same(jax.jit(f)(X), 2 * steps_jax(X, 2.0, 1))
    assert_same(jax.grad(lambda x: f(x).sum())(X), jax.grad(lambda x: 2 * steps_jax(x, 2.0, 1).sum())(X))


def test_constants_of_the_function_and_of_its_surroundings() -> None:
    weights = wb.array([1.0, 2.0, 3.0], device="cpu")

    def f(x: wb.array[wb.float32], y: wb.array[wb.float32]):
        wb.copy(y, weights)
        y.add_(x)
        y.add_(wb.array([10.0, 20.0, 30.0]))

    g = wb.jax_callable(f)
    assert_same(g(X[:3]), np.array([11, 22, 33]) + X[:3])
    weights.fill_(5.0)
    assert_same(g(X[:3]), np.array([15, 25, 35]) + X[:3])


def test_a_redefined_kernel_is_seen_by_the_next_call() -> None:
    scope: dict[str, Any] = {"wb": wb}
    text = "def k(x: wb.array[wb.float32], y: wb.array[wb.float32]):\n    y[wb.tid()] = x[wb.tid()] * {}\n"
    program = "def f(x: wb.array[wb.float32], y: wb.array[wb.float32]):\n    wb.launch(k, 2, inputs=[x], outputs=[y])\n"

    def define(factor: float) -> None:
        exec(text.format(factor), scope)
        scope["k"] = wb.kernel(scope["k"], source=text.format(factor))

    exec(program, scope)
    define(2.0)
    f = wb.jax_callable(scope["f"], source=program)
    assert_same(f(jnp.ones(2)), [2, 2])
    define(5.0)
    assert_same(f(jnp.ones(2)), [5, 5])


@wb.struct
class Gain:
    factor: float
    offset: wb.vec2


def test_a_struct_without_arrays_is_a_tree_of_its_fields_though_no_jax_kernel_was_made() -> None:
    def amplify(gain, x: wb.array[wb.float32], y: wb.array[wb.float32]) -> None:
        wb.launch(scale, x.size, inputs=[x, gain.factor], outputs=[y])

    gain = Gain()
    gain.factor = 2.0
    call = wb.jax_callable(amplify, output_dims=4)
    x = jnp.arange(4.0, dtype=jnp.float32)
    np.testing.assert_array_equal(call(gain, x), 2 * x)
    np.testing.assert_array_equal(jax.jit(call)(gain, x), 2 * x)
