"""Many batches of few points are one launch whose kernel has the batches as dimensions: the numbers are the same."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.interop.jax.launches import one_launch as rule

jax = pytest.importorskip("jax")
jnp = jax.numpy

N = rule.FEWEST_BATCHES
RANDOM = np.random.default_rng(3)


@wb.kernel
def mixed(
    a: wb.array2d[wb.float32], at: wb.array[wb.int32], v: wb.vec3, k: wb.float32, up: wb.bool,
    y: wb.array[wb.float32], n: wb.array[wb.int32],
):  # fmt: skip
    """Gathers, sizes, loops, branches, numbers and vectors."""
    i = wb.tid()
    total = wb.float32(0.0)
    for j in range(a.shape[1]):
        total += a[i, j] * v[j % 3]
    if up:
        total = total * k + a[at[i], -1]
    y[i] = total
    n[i] = at[i] + at.shape[0] + i


@wb.kernel
def stepped(x: wb.array[wb.float32], total: wb.array[wb.float32], most: wb.array[wb.int32]):
    """Changes an array in place, adds to an array that all threads share, and keeps a maximum."""
    i = wb.tid()
    x[i] = wb.sin(x[i]) + x[i]
    wb.atomic_add(total, i % 2, x[i])
    wb.atomic_max(most, 0, wb.int32(x[i] * 100.0))


@wb.kernel
def grid(x: wb.array2d[wb.float32], k: wb.float32, y: wb.array2d[wb.float32]):
    i, j = wb.tid()
    y[i, j] = wb.exp(-k * x[i, j]) * x[j, i]


def of(*shape: int) -> Any:
    return jnp.asarray(RANDOM.uniform(0.5, 1.5, shape), "float32")


def dims(f: Any, *arguments: Any) -> list[str]:
    """The `dims` of the calls in the program; equal ones are printed as one number, so they are here."""
    text = jax.jit(f).lower(*arguments).as_text()
    found = re.findall(r"\bdims = (?:dense<|array<i64: )\[?([0-9, ]+)\]?>", text)
    return [n if set(n.split(", ")) != {n.split(", ")[0]} else n.split(", ")[0] for n in found]


def same(one: Any, others: Any, tolerance: float = 2e-6) -> None:
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(others), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


SLOW = [pytest.param(axes, marks=pytest.mark.slow) for axes in ((0, 0, 0, 0, 0), (2, None, 0, None, 0))]


@pytest.mark.parametrize("axes", [(None, 1, None, 0, None), *SLOW])
def test_arrays_numbers_and_vectors_with_and_without_batches(axes: tuple[int | None, ...]) -> None:
    plain = of(4, 3), jnp.asarray([3, 0, 1, 1]), jnp.asarray([1.0, 2, 3]), jnp.float32(0.5), jnp.asarray(True)
    other = 2 * plain[0], plain[1][::-1], -plain[2], 3 * plain[3], ~plain[4]
    given = [
        x if axis is None else jnp.stack([x, z] * (N // 2), axis) for x, z, axis in zip(plain, other, axes, strict=True)
    ]
    one, others = (
        wb.jax_kernel(mixed, num_outputs=2, launch_dims=4, vmap_method=m) for m in ("expand_dims", "sequential")
    )
    assert dims(jax.vmap(one, axes), *given) == [f"{N}, 4"]
    same(jax.vmap(one, axes)(*given), jax.vmap(others, axes)(*given))


def test_in_place_arrays_and_atomics() -> None:
    def run(method: str) -> Any:
        f = wb.jax_kernel(
            stepped, num_outputs=3, in_out_argnames=["x"], output_dims={"total": 2, "most": 1}, vmap_method=method,
            init={"total": 0, "most": -5},
        )  # fmt: skip
        return jax.vmap(f)

    x = of(N, 3)
    before = np.array(x)
    found = run("expand_dims")(x)
    same(found, run("sequential")(x))
    assert np.array_equal(x, before)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [(N,), (8, 1, N // 8), (2, N // 8, 2, 2)])
def test_nested_batches_and_derivatives(batch: tuple[int, ...]) -> None:
    """The launch has at most four dimensions: what is left of the batch axes is the handler's."""
    f = wb.jax_kernel(grid)

    def loss(g: Any) -> Any:
        for _ in batch:
            g = jax.vmap(g, (0, None))
        return lambda x, k: g(x, k)

    x, k = of(*batch, 2, 2), jnp.float32(0.7)
    want = jnp.exp(-k * x) * jnp.swapaxes(x, -1, -2)
    same(loss(f)(x, k), want)
    inner = [*batch, 2, 2][-4:]
    assert dims(loss(f), x, k) == ["2" if set(inner) == {2} else ", ".join(map(str, inner))]
    for transform in (jax.grad, lambda h: jax.jacfwd(h, 1)):
        got = jax.jit(transform(lambda x, k: (loss(f)(x, k) ** 2).sum()))(x, k)
        same(got, transform(lambda x, k: ((jnp.exp(-k * x) * jnp.swapaxes(x, -1, -2)) ** 2).sum())(x, k), 2e-5)
    per_batch = jax.vmap(jax.grad(lambda x: f(x, k).sum()))(x.reshape(-1, 2, 2))
    same(per_batch, jax.vmap(jax.grad(lambda x: (jnp.exp(-k * x) * x.T).sum()))(x.reshape(-1, 2, 2)), 2e-5)


def test_a_function_of_launches_and_what_stays_with_the_handler() -> None:
    f = wb.jax_kernel(grid)

    def twice(x: wb.array2d[wb.float32], y: wb.array2d[wb.float32]):
        wb.launch(grid, x.shape, [x, 0.5], [y])

    x = of(N, 2, 2)
    want = jnp.exp(-0.5 * x) * jnp.swapaxes(x, 1, 2)
    same(jax.jit(jax.vmap(wb.jax_callable(twice, num_outputs=1)))(x), want)
    assert dims(jax.vmap(lambda x: f(x, 0.5)), x[: N - 1]) == ["2"]
    with wb.checks():
        assert dims(jax.vmap(lambda x: wb.jax_kernel(grid)(x, 0.5)), x)[0] == "2"
    assert jax.vmap(lambda x: f(x, 0.5))(jnp.ones((N, 0, 0))).shape == (N, 0, 0)
