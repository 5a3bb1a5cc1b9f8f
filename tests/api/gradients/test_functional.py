"""grad, value_and_grad, jvp, hvp, jacobian: against JAX, against each other, and what they refuse."""

from __future__ import annotations

import builtins
import doctest
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from tests.support.kernels.simulations import PROGRAMS, start
from workbench.api.gradients import transforms
from workbench.errors import LaunchError, NotDifferentiable
from workbench.types import float64

CELL = meaning.define("""
    @kernel
    def waves(x: array[float64], a: array[float64], y: array[float64]):
        i = tid()
        y[i] = sin(x[i] * a[0]) + x[i] * x[(i + 1) % len(x)]

    @kernel
    def cube_in_place(x: array[float64]):
        i = tid()
        x[i] = x[i] * x[i] * x[i]

    @kernel
    def total(x: array[float64], out: array[float64]):
        i = tid()
        out[0] += x[i]

    @kernel
    def highest(x: array[float64], out: array[float64]):
        atomic_max(out, 0, x[tid()])

    @kernel
    def product(p: array[vec3d], q: array[vec3d]):
        i = tid()
        q[i] = cross(p[i], vec3d(1.0, 2.0, 3.0)) * p[i].x
""")
waves, cube_in_place, total, highest, product = CELL.values()
X = np.array([0.3, -0.7, 1.1])
A = np.array([1.7])


@pytest.fixture
def jax() -> Iterator[Any]:
    found = pytest.importorskip("jax")
    before = found.config.jax_enable_x64
    found.config.update("jax_enable_x64", True)
    yield found
    found.config.update("jax_enable_x64", before)


def vector(x: wb.array, a: wb.array) -> wb.array:
    y = wb.zeros_like(x)
    wb.launch(waves, len(x), inputs=[x, a], outputs=[y])
    return y


def scalar(x: wb.array, a: wb.array) -> wb.array:
    """By way of a copy, a slice, a fill, a sum and a launch in place."""
    y, out = vector(x, a), wb.zeros(1, float64)
    z = wb.clone(y)
    z[0:1] = y[1:2]
    z[2] = 4.0
    z.add_(y)
    wb.launch(cube_in_place, len(z), inputs=[z])
    z[1:2].fill_(0.5)
    w = wb.zeros_like(z)
    w.assign(z)
    wb.launch(total, len(w), inputs=[w], outputs=[out])
    return out


def vector_jax(jnp: Any, x: Any, a: Any) -> Any:
    return jnp.sin(x * a[0]) + x * jnp.roll(x, -1)


def scalar_jax(jnp: Any, x: Any, a: Any) -> Any:
    y = vector_jax(jnp, x, a)
    z = jnp.array([y[1], y[1], 4.0]) + y
    return jnp.sum((z**3).at[1].set(0.5))


def test_examples_in_the_docs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "_", None, raising=False)  # doctest leaves its last value there; IPython heeds it
    found = doctest.testmod(transforms)
    assert found.failed == 0 and found.attempted > 20


def test_first_derivatives_against_jax(jax: Any) -> None:
    jnp = jax.numpy
    value, (dx, da) = wb.value_and_grad(scalar, (0, 1))(X, A)
    wanted, (jx, ja) = jax.value_and_grad(lambda x, a: scalar_jax(jnp, x, a), (0, 1))(X, A)
    assert float(value) == pytest.approx(float(wanted), rel=1e-12)
    np.testing.assert_allclose(dx.numpy(), jx, rtol=1e-10)
    np.testing.assert_allclose(da.numpy(), ja, rtol=1e-10)
    assert (dx.dtype, dx.shape, da.shape) == (float64, (3,), (1,))
    along = (np.array([1.0, -2.0, 0.5]), np.array([0.25]))
    value, slope = wb.jvp(scalar, (0, 1))(X, A, along=along)
    _, expected = jax.jvp(lambda x, a: scalar_jax(jnp, x, a), (X, A), along)
    np.testing.assert_allclose(slope.numpy(), [expected], rtol=1e-10)
    for mode in ("auto", "forward", "reverse"):
        found = wb.jacobian(vector, 0, mode)(X, A)
        np.testing.assert_allclose(found.numpy(), jax.jacobian(lambda x: vector_jax(jnp, x, A))(X), rtol=1e-10)
        found = wb.jacobian(vector, 1, mode)(X, A)
        np.testing.assert_allclose(found.numpy(), jax.jacobian(lambda a: vector_jax(jnp, X, a))(A), rtol=1e-10)


@pytest.mark.slow
def test_second_derivatives_against_jax(jax: Any) -> None:
    jnp = jax.numpy
    hessian = np.asarray(jax.hessian(lambda x: scalar_jax(jnp, x, A))(X))
    v, w = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -1.0])

    def slope(x: wb.array) -> wb.array:
        return wb.jvp(scalar)(x, wb.array(A), along=v)[1]

    def gradient(x: wb.array) -> wb.array:
        g, out, ones = wb.grad(scalar)(x, wb.array(A)), wb.zeros(1, float64), wb.array(v)
        wb.launch(inner, 3, inputs=[g, ones], outputs=[out])
        return out

    inner = meaning.define(
        "@kernel\ndef k(a: array[float64], b: array[float64], out: array[float64]):\n"
        "    i = tid()\n    out[0] += a[i] * b[i]\n"
    )["k"]
    np.testing.assert_allclose(wb.hvp(scalar)(X, A, along=v).numpy(), hessian @ v, rtol=1e-9)
    np.testing.assert_allclose(wb.grad(gradient)(X).numpy(), hessian @ v, rtol=1e-9)
    np.testing.assert_allclose(wb.grad(slope)(X).numpy(), hessian @ v, rtol=1e-9)
    np.testing.assert_allclose(wb.jvp(slope)(X, along=w)[1].numpy(), [w @ hessian @ v], rtol=1e-9)
    found = wb.jacobian(lambda x: wb.grad(scalar)(x, wb.array(A)), 0, "forward")(X)
    np.testing.assert_allclose(found.numpy(), hessian, rtol=1e-9, atol=1e-12)


def test_both_arguments_at_once(jax: Any) -> None:
    jnp = jax.numpy
    along = (np.array([1.0, 0.0, -0.5]), np.array([2.0]))
    dx, da = wb.hvp(scalar, (0, 1))(X, A, along=along)
    _, expected = jax.jvp(jax.grad(lambda x, a: scalar_jax(jnp, x, a), (0, 1)), (X, A), along)
    np.testing.assert_allclose(dx.numpy(), expected[0], rtol=1e-9)
    np.testing.assert_allclose(da.numpy(), expected[1], rtol=1e-9)


@pytest.mark.parametrize("name", ["heat", *(pytest.param(n, marks=pytest.mark.slow) for n in PROGRAMS if n != "heat")])
def test_simulations_in_place(name: str, jax: Any) -> None:
    program, reference = PROGRAMS[name]
    state, parameter, kind = start(name)
    random = np.random.default_rng(0)
    v = random.normal(size=state.shape)
    x = wb.array(state, kind)
    found = wb.hvp(lambda x: program(wb.clone(x), wb.array(parameter), 20))(x, along=v)
    _, expected = jax.jvp(jax.grad(lambda x: reference(jax, x, parameter, 20)), (state,), (v,))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-9)
    assert np.array_equal(x.numpy(), state)


def test_vectors_and_tuples() -> None:
    def both(p: wb.array) -> tuple[wb.array, wb.array]:
        q, r = wb.zeros_like(p), wb.zeros_like(p)
        wb.launch(product, len(p), inputs=[p], outputs=[q])
        wb.copy(r, q)
        return q, r

    p = np.random.default_rng(1).normal(size=(2, 3))
    v, h = np.random.default_rng(2).normal(size=(2, 3)), 1e-6
    points = wb.array(p, wb.vec3d)
    (q, r), (dq, dr) = wb.jvp(both)(points, along=v)
    sides = [both(wb.array(p + s * v, wb.vec3d))[0].numpy() for s in (h, -h)]
    np.testing.assert_allclose(dq.numpy(), (sides[0] - sides[1]) / (2 * h), rtol=1e-8)
    assert np.array_equal(dr.numpy(), dq.numpy()) and np.array_equal(q.numpy(), r.numpy())
    whole = [wb.jacobian(lambda p: both(p)[1], 0, mode)(points).numpy() for mode in ("forward", "reverse")]
    assert whole[0].shape == (2, 3, 2, 3)
    np.testing.assert_allclose(whole[0], whole[1], rtol=1e-12)
    np.testing.assert_allclose(np.einsum("abij,ij->ab", whole[0], v), dq.numpy(), rtol=1e-12)


def test_nothing_else_is_touched() -> None:
    x = wb.array(X, requires_grad=True)
    x.grad.fill_(3.0)
    wb.grad(scalar)(x, wb.array(A))
    assert x.grad.numpy().tolist() == [3] * 3 and np.array_equal(x.numpy(), X)
    assert np.array_equal(wb.grad(lambda x, y: total_of(x))(X, A).numpy(), np.ones(3))
    assert np.array_equal(wb.grad(lambda x, y: total_of(x), 1)(X, A).numpy(), np.zeros(1))
    assert np.array_equal(wb.jvp(lambda x, y: total_of(y))(X, A, along=X)[1].numpy(), np.zeros(1))


def total_of(x: wb.array) -> wb.array:
    out = wb.zeros(1, float64)
    wb.launch(total, len(x), inputs=[x], outputs=[out])
    return out


def with_numpy(x: wb.array) -> wb.array:
    return wb.array(np.sin(x.numpy()[:1]))


def highest_of(x: wb.array) -> wb.array:
    out = wb.zeros(1, float64)
    wb.launch(highest, len(x), inputs=[x], outputs=[out])
    return out


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "not a number": (lambda: wb.grad(vector)(X, A), r"returns array\[float64\] of shape \(3,\); a gradient is of one"),
    "a float": (lambda: wb.grad(lambda x: float(total_of(x)))(X), "returns float; a derivative is of an array"),
    "integers out": (lambda: wb.grad(lambda x: wb.zeros(1, int))(X), r"returns array\[int32\]"),
    "integers in": (lambda: wb.grad(total_of)(np.arange(3)), "integers have no derivative"),
    "a number in": (lambda: wb.grad(total_of)(2.0), r"Argument 0 of total_of is float.*wb.array\(\[2.0\]\)"),
    "no such argument": (lambda: wb.grad(total_of, 1)(X), "was given 1 arguments; there is no argument 1"),
    "NumPy, reverse": (lambda: wb.grad(with_numpy)(X), "written by no launch, copy or fill"),
    "NumPy, forward": (lambda: wb.jvp(with_numpy)(X, along=X), "written by no launch, copy or fill"),
    "direction": (lambda: wb.jvp(total_of)(X, along=A), "A direction is like its argument"),
    "directions": (lambda: wb.jvp(scalar, (0, 1))(X, A, along=[X]), "`along` has 1 directions"),
    "no direction": (lambda: wb.hvp(total_of)(X), "pass along="),
    "a kernel": (lambda: wb.grad(total)(X), "total is a kernel; derivatives are taken of a Python function"),
    "too many dimensions": (
        lambda: wb.jacobian(lambda x: wb.clone(x))(np.zeros((2, 2, 2))), r"has 3 \+ 3 dimensions",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    go, message = REFUSED[name]
    with pytest.raises(LaunchError, match=message) as caught:
        go()
    assert caught.value.advice or name in (
        "integers out",
        "no such argument",
        "direction",
        "directions",
        "no direction",
    )


def test_no_adjoint_no_tangent_and_no_such_mode() -> None:
    for go in (lambda: wb.grad(highest_of)(X), lambda: wb.jvp(highest_of)(X, along=X)):
        with pytest.raises(NotDifferentiable, match="atomic_max"):
            go()
    with pytest.raises(ValueError, match="mode is"):
        wb.jacobian(total_of, mode="sideways")


@wb.func
def bent(x: float):
    return x * x


@wb.func_grad(bent)
def bent_gradient(x: float, adj: float):
    slope = 2.0 * x
    if x > 0.0:
        slope = x * wb.exp(x)
    wb.adjoint[x] += adj * slope


def test_the_tangent_of_a_func_whose_own_gradient_has_a_branch() -> None:
    @wb.kernel
    def bend(x: wb.array[float], y: wb.array[float]):
        i = wb.tid()
        y[i] = bent(x[i])

    def applied(x: wb.array) -> wb.array:
        y = wb.zeros_like(x)
        wb.launch(bend, x.shape, [x], [y])
        return y

    value, slope = wb.jvp(applied)(wb.array([1.0, -2.0]), along=wb.array([1.0, 0.5]))
    assert value.numpy().tolist() == [1.0, 4.0] and np.allclose(slope.numpy(), [np.e, -2.0])
