"""A gradient by some arguments finds and builds no others, whatever asks for it: and it stays right in every order."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.api.builds.build import function_of
from workbench.ir.ops import EFFECTS
from workbench.ir.values import walk

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def product(a: wb.array2d(dtype=wb.float32), b: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
    i = wb.tid()
    total = wb.float32(0.0)
    for j in range(a.shape[1]):
        total += a[i, j] * b[j]
    y[i] = s * wb.sin(total)


def products(a: wb.array2d(dtype=wb.float32), b: wb.array[wb.float32], s: wb.float32, y: wb.array[wb.float32]):
    between = wb.empty(b.shape[0])
    wb.launch(product, dim=a.shape[0], inputs=[a, b, s], outputs=[between])
    wb.launch(product, dim=a.shape[0], inputs=[a, between, s], outputs=[y])


def one(a: Any, b: Any, s: Any) -> Any:
    return jnp.sin(a @ b) * s


KERNEL = wb.jax_kernel(product, launch_dims=3)
FUNCTION = wb.jax_callable(products, output_dims=3)
PAIRS = [(KERNEL, one), (FUNCTION, lambda a, b, s: one(a, one(a, b, s), s))]
ARGUMENTS = (jnp.linspace(-1, 1, 9).reshape(3, 3), jnp.array([0.3, -0.5, 0.9]), jnp.float32(1.5))
SUBSETS = [(0,), (1,), (2,), (0, 1, 2)]


def loss(f: Any) -> Any:
    return lambda *arguments: (f(*arguments) ** 2).sum()


def assert_close(found: Any, wanted: Any) -> None:
    jax.tree.map(lambda f, w: np.testing.assert_allclose(f, w, rtol=2e-4, atol=2e-5), found, wanted)


def added(closed: Any) -> set[str]:
    """The adjoint arrays that the adjoints in a jaxpr change, at any depth."""
    found: set[str] = set()
    for equation in closed.jaxpr.eqns:
        plan, program = equation.params.get("plan"), equation.params.get("program")
        inner = equation.params.get("jaxpr") if program is None else program.closed
        if plan is not None and plan.code.direction == "adjoint":
            made = function_of(plan.code.specialisation, "adjoint", constant=plan.code.constant)
            found |= {op.operands[0].name for op in walk(made.body) if op.name in EFFECTS}
        elif inner is not None:
            found |= added(inner)
    return found


@pytest.mark.parametrize("by", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_gradients_by_one_are_right(by: int) -> None:
    for f, meaning in PAIRS:
        assert_close(jax.grad(loss(f), by)(*ARGUMENTS), jax.grad(loss(meaning), by)(*ARGUMENTS))


SECOND = [(0, 1), *(pytest.param(*p, marks=pytest.mark.slow) for p in ((1, 0), (0, 2), (2, 0), (0, 0)))]


@pytest.mark.parametrize(("by", "then"), SECOND)
@pytest.mark.parametrize("outer", [jax.grad, pytest.param(jax.jacfwd, marks=pytest.mark.slow)])
def test_the_gradient_of_a_gradient_may_be_by_another(outer: Any, by: int, then: int) -> None:
    """What the first adjoint leaves out, its own derivative does not."""

    def twice(f: Any) -> Any:
        return outer(lambda *arguments: (jax.grad(loss(f), by)(*arguments) ** 2).sum(), then)(*ARGUMENTS)

    assert_close(twice(KERNEL), twice(one))


@pytest.mark.slow
def test_batches_share_what_is_left_out() -> None:
    a = jnp.stack([ARGUMENTS[0], 2 * ARGUMENTS[0]])

    def summed(f: Any) -> Any:
        return jax.grad(lambda a, b, s: jax.vmap(loss(f), in_axes=(0, None, None))(a, b, s).sum(), 1)

    assert_close(summed(KERNEL)(a, *ARGUMENTS[1:]), summed(one)(a, *ARGUMENTS[1:]))


@pytest.mark.parametrize("f", [KERNEL, FUNCTION], ids=["kernel", "function"])
def test_only_what_is_asked_for_is_computed(f: Any) -> None:
    """A function of two launches has b's gradient between them, whatever is asked for."""
    between = {"adj_b"} if f is FUNCTION else set()
    for by in SUBSETS:
        wanted = {"adj_y", *(("adj_a", "adj_b", "adj_s")[n] for n in by)} | between
        assert added(jax.make_jaxpr(jax.grad(loss(f), by))(*ARGUMENTS)) == wanted


def results_of_adjoints(text: str) -> list[str]:
    """The result types of each call of an adjoint in a compiled program."""
    return re.findall(r"= (\(?[^()]*\)?) custom-call\([^\n]*_adjoint\.", text.replace("(f32", "( f32"))


def test_the_compiled_text_has_the_asked_ones_only() -> None:
    def results(by: Any) -> list[int]:
        compiled = jax.jit(jax.grad(loss(KERNEL), by)).lower(*ARGUMENTS).compile()
        return [found.count("f32[3]") for found in results_of_adjoints(compiled.as_text())]

    assert results((0, 1)) == [2] and results(0) == [1]  # y's cotangent, cleared, and that of b


def test_a_recorded_gradient_by_one_is_written_out_alike() -> None:
    with wb.record(inputs=True) as rec:
        jax.block_until_ready(jax.grad(loss(KERNEL))(*ARGUMENTS))
    calls: list[Any] = [e for e in rec if e.kind == "jax" and "adjoint" in e.name]
    assert len(calls) == 1
    rec.replay()
    expected = [o.numpy().tobytes() for o in calls[0].outputs]
    written = calls[0].unfolded()
    written.launch()
    assert [o.numpy().tobytes() for o in written.outputs] == expected
