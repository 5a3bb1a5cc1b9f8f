"""Whole programs of other JAX libraries with a kernel in them, each beside the same program written with jax.numpy.

pytest runs this file in an environment that has the libraries; see test_jax_libraries.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb

jax.config.update("jax_enable_x64", True)


@wb.kernel
def dense(w: wb.array2d[float], b: wb.array[float], x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    total = b[i]
    for j in range(w.shape[1]):
        total += w[i, j] * x[j]
    y[i] = wb.tanh(total)


def dense_jnp(w: Any, b: Any, x: Any) -> Any:
    return jnp.tanh(w @ x + b)


dense_kernel = wb.jax_kernel(dense)


def dense_wb(w: Any, b: Any, x: Any) -> Any:
    return dense_kernel(w, b, x, launch_dims=b.shape[0])


@wb.kernel
def pendulums(theta: wb.array[wb.float64], omega: wb.array[wb.float64], k: wb.float64,
              dtheta: wb.array[wb.float64], domega: wb.array[wb.float64]):  # fmt: skip
    i = wb.tid()
    n = theta.shape[0]
    pull = theta[(i + 1) % n] - theta[i]
    dtheta[i] = omega[i]
    domega[i] = k * pull - wb.sin(theta[i])


def pendulums_jnp(theta: Any, omega: Any, k: Any) -> Any:
    return omega, k * (jnp.roll(theta, -1) - theta) - jnp.sin(theta)


@wb.kernel
def decay(t: wb.array[wb.float64], p: wb.array[wb.float64], y: wb.array[wb.float64]):
    i = wb.tid()
    y[i] = p[0] * wb.exp(-p[1] * t[i]) + p[2]


def decay_jnp(t: Any, p: Any) -> Any:
    return p[0] * jnp.exp(-p[1] * t) + p[2]


@wb.kernel
def laplace(x: wb.array[wb.float64], y: wb.array[wb.float64]):
    i = wb.tid()
    n = x.shape[0]
    y[i] = 2.5 * x[i] - x[(i + 1) % n] - x[(i + n - 1) % n]


def laplace_jnp(x: Any) -> Any:
    return 2.5 * x - jnp.roll(x, 1) - jnp.roll(x, -1)


@wb.kernel
def log_density(x: wb.array[wb.float64], mean: wb.float64, log_scale: wb.float64, total: wb.array[wb.float64]):
    z = (x[wb.tid()] - mean) * wb.exp(-log_scale)
    wb.atomic_add(total, 0, -0.5 * z * z - log_scale)


def log_density_jnp(x: Any, mean: Any, log_scale: Any) -> Any:
    z = (x - mean) * jnp.exp(-log_scale)
    return (-0.5 * z**2 - log_scale).sum()


density_kernel = wb.jax_kernel(log_density, output_dims=1, init={"total": 0})


def log_density_wb(x: Any, mean: Any, log_scale: Any) -> Any:
    return density_kernel(x, mean, log_scale)[0]


def equal(run: Callable[[Any], Any], kernel: Any, plain: Any, rtol: float) -> None:
    """The program with the kernel and the same with jax.numpy give the same numbers, none of them trivial."""
    found, expected = jax.tree.leaves(run(kernel)), jax.tree.leaves(run(plain))
    assert len(found) == len(expected) > 0
    for a, b in zip(found, expected, strict=True):
        assert np.isfinite(b).all() and np.abs(b).max() > 1e-6
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


def test_an_equinox_model_trained_by_optax_in_a_scan_with_its_state_donated() -> None:
    import equinox as eqx
    import optax

    class Layer(eqx.Module):
        w: jax.Array
        b: jax.Array
        op: Callable[..., Any] = eqx.field(static=True)

        def __call__(self, x: Any) -> Any:
            return self.op(self.w, self.b, x)

    xs = jax.random.normal(jax.random.key(0), (64, 4), "float32")
    ys = jnp.sin(xs.sum(1, keepdims=True))

    def trained(op: Any) -> Any:
        first, second = jax.random.normal(jax.random.key(1), (8, 4), "float32"), jnp.ones((1, 8), "float32") / 8
        model = eqx.nn.Sequential(
            [
                eqx.nn.Lambda(Layer(first, jnp.zeros(8, "float32"), op)),
                eqx.nn.Lambda(Layer(second, jnp.zeros(1, "float32"), op)),
            ]
        )
        optimiser = optax.adam(1e-2)
        params, static = eqx.partition(model, eqx.is_inexact_array)

        def loss(params: Any) -> Any:
            return ((jax.vmap(eqx.combine(params, static))(xs) - ys) ** 2).mean()

        @eqx.filter_jit(donate="all")
        def train(params: Any, state: Any) -> Any:
            def step(carry: Any, _: Any) -> Any:
                params, state = carry
                value, gradient = eqx.filter_value_and_grad(loss)(params)
                updates, state = optimiser.update(gradient, state)
                return (eqx.apply_updates(params, updates), state), value

            return jax.lax.scan(step, (params, state), length=150)

        (params, _), losses = train(params, optimiser.init(params))
        assert losses[-1] < 0.5 * losses[0]
        return params, losses

    equal(trained, dense_wb, dense_jnp, 2e-3)


def test_a_kernel_is_a_leaf_of_an_equinox_model() -> None:
    import equinox as eqx

    model = eqx.nn.Lambda(dense_kernel)
    w, b, x = jnp.eye(3, dtype="float32"), jnp.zeros(3, "float32"), jnp.arange(3.0, dtype="float32")
    run = eqx.filter_jit(lambda m, w: m.fn(w, b, x, launch_dims=3).sum())
    np.testing.assert_allclose(run(model, w), dense_jnp(w, b, x).sum(), rtol=1e-6)
    slope = eqx.filter_grad(lambda w: run(model, w))(w)
    np.testing.assert_allclose(slope, jax.grad(lambda w: dense_jnp(w, b, x).sum())(w), rtol=1e-5)
    moved, _ = eqx.filter_jvp(lambda w: run(model, w), (w,), (w,))
    np.testing.assert_allclose(moved, run(model, w), rtol=1e-6)
    assert eqx.filter_eval_shape(run, model, w).shape == ()


@pytest.mark.parametrize("adjoint", ["RecursiveCheckpointAdjoint", "DirectAdjoint", "BacksolveAdjoint", "ForwardMode"])
def test_diffrax_differentiates_through_a_kernel(adjoint: str) -> None:
    import diffrax

    start = jnp.linspace(0.2, 1.0, 5), jnp.zeros(5)
    controller = diffrax.PIDController(rtol=1e-8, atol=1e-8) if adjoint == "BacksolveAdjoint" else None

    def gradient(field: Any) -> Any:
        def end(k: Any) -> Any:
            term = diffrax.ODETerm(lambda t, y, k: tuple(field(*y, k)))
            found = diffrax.diffeqsolve(
                term, diffrax.Tsit5(), 0.0, 2.0, 0.05, start, k, adjoint=getattr(diffrax, adjoint)(),
                stepsize_controller=controller or diffrax.ConstantStepSize(),
            )  # fmt: skip
            return sum((y**2).sum() for y in found.ys)

        forward = jax.jacfwd if adjoint == "ForwardMode" else jax.grad
        return jax.jit(end)(1.5), jax.jit(forward(end))(1.5)

    equal(gradient, wb.jax_kernel(pendulums, num_outputs=2), pendulums_jnp, 1e-10)


def test_an_implicit_diffrax_solver_takes_newton_steps_with_a_kernels_jacobian() -> None:
    import diffrax

    def ends(field: Any) -> Any:
        def end(k: Any) -> Any:
            term = diffrax.ODETerm(lambda t, y, k: tuple(field(*y, k)))
            start = jnp.linspace(0.2, 1.0, 5), jnp.zeros(5)
            controller = diffrax.PIDController(rtol=1e-6, atol=1e-6)
            return diffrax.diffeqsolve(
                term, diffrax.Kvaerno3(), 0.0, 1.0, 0.1, start, k, stepsize_controller=controller
            ).ys[0].sum()  # fmt: skip

        return jax.value_and_grad(end)(1.5)

    equal(jax.jit(ends, static_argnums=0), wb.jax_kernel(pendulums, num_outputs=2), pendulums_jnp, 1e-9)


@pytest.mark.parametrize("solver", ["LevenbergMarquardt", "GaussNewton", "Dogleg", "BFGS"])
def test_optimistix_fits_a_kernel_and_differentiates_the_fit(solver: str) -> None:
    import optimistix as optx

    t = jnp.linspace(0.0, 3.0, 20)
    data = decay_jnp(t, jnp.array([2.0, 1.3, 0.5])) + 0.05 * jnp.cos(9 * t)

    def fit(curve: Any) -> Any:
        def fitted(data: Any) -> Any:
            made = getattr(optx, solver)(rtol=1e-11, atol=1e-11)
            start, residual = jnp.array([1.0, 1.0, 0.0]), lambda p, data: curve(t, p) - data
            if solver == "BFGS":
                cost = lambda p, data: (residual(p, data) ** 2).sum()  # noqa: E731
                return optx.minimise(cost, made, start, data, max_steps=2000).value
            return optx.least_squares(residual, made, start, data, max_steps=2000).value

        return fitted(data), jax.jacrev(fitted)(data)

    equal(jax.jit(fit, static_argnums=0), wb.jax_kernel(decay), decay_jnp, 1e-5)


def test_lineax_solves_with_a_kernel_as_the_operator() -> None:
    import lineax as lx

    right = jnp.sin(jnp.arange(12.0))

    def solved(operator: Any) -> Any:
        def solution(b: Any) -> Any:
            tags = lx.positive_semidefinite_tag, lx.symmetric_tag
            made = lx.FunctionLinearOperator(operator, jax.eval_shape(lambda: right), tags=tags)
            return lx.linear_solve(made, b, solver=lx.CG(rtol=1e-12, atol=1e-12)).value

        return solution(right), jax.grad(lambda b: (solution(b) ** 2).sum())(right)

    equal(jax.jit(solved, static_argnums=0), wb.jax_kernel(laplace), laplace_jnp, 1e-8)


DRAWS = jnp.asarray(np.random.default_rng(0).normal(1.0, 2.0, 40))


def test_blackjax_samples_a_kernels_density_by_nuts() -> None:
    import blackjax

    def samples(density: Any) -> Any:
        nuts = blackjax.nuts(lambda p: density(DRAWS, p[0], p[1]), step_size=0.2, inverse_mass_matrix=jnp.ones(2) * 0.1)

        @jax.jit
        def run(key: Any) -> Any:
            keys = jax.random.split(key, 60)
            return jax.lax.scan(lambda s, k: (nuts.step(k, s)[0],) * 2, nuts.init(jnp.zeros(2)), keys)[1].position

        return run(jax.random.key(0))

    # A trajectory turns where an inequality does: the numbers agree until rounding decides one, which is not here.
    equal(samples, log_density_wb, log_density_jnp, 1e-6)


def test_numpyro_samples_a_model_with_a_kernel() -> None:
    import numpyro
    from numpyro.distributions import Normal
    from numpyro.infer import MCMC, NUTS

    def samples(density: Any) -> Any:
        def model() -> None:
            mean = numpyro.sample("mean", Normal(0.0, 10.0))
            log_scale = numpyro.sample("log_scale", Normal(0.0, 2.0))
            numpyro.factor("data", density(DRAWS, mean, log_scale))

        run = MCMC(NUTS(model), num_warmup=60, num_samples=40, progress_bar=False)
        run.run(jax.random.key(1))
        return run.get_samples()

    equal(samples, log_density_wb, log_density_jnp, 1e-4)


def test_a_flax_nnx_module_with_a_kernel_trained_by_optax() -> None:
    import optax
    from flax import nnx

    class Layer(nnx.Module):
        def __init__(self, op: Any, rngs: Any) -> None:
            self.w = nnx.Param(jax.random.normal(rngs.params(), (3, 4), "float32"))
            self.b = nnx.Param(jnp.zeros(3, "float32"))
            self.op = op

        def __call__(self, x: Any) -> Any:
            return self.op(self.w[...], self.b[...], x)

    xs = jax.random.normal(jax.random.key(0), (32, 4), "float32")

    def trained(op: Any) -> Any:
        model = Layer(op, nnx.Rngs(0))
        optimiser = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)

        @nnx.jit
        def step(model: Any, optimiser: Any) -> Any:
            def loss(model: Any) -> Any:
                return ((jax.vmap(model)(xs) - jnp.cos(xs[:, :3])) ** 2).mean()

            value, gradient = nnx.value_and_grad(loss)(model)
            optimiser.update(model, gradient)
            return value

        losses = [step(model, optimiser) for _ in range(40)]
        assert losses[-1] < losses[0]
        return losses, nnx.state(model, nnx.Param)

    equal(trained, dense_wb, dense_jnp, 1e-3)


def test_a_pipeline_of_launches_inside_an_equinox_model() -> None:
    import equinox as eqx

    def simulate(x: wb.array[wb.float64], steps: int, y: wb.array[wb.float64]):
        now, after = wb.empty(x.shape[0], dtype=wb.float64), wb.empty(x.shape[0], dtype=wb.float64)
        wb.copy(now, x)
        for _ in range(steps):
            wb.launch(laplace, dim=x.shape, inputs=[now], outputs=[after])
            now, after = after, now
        wb.copy(y, now)

    def simulate_jnp(x: Any) -> Any:
        for _ in range(3):
            x = laplace_jnp(x)
        return x

    class Simulator(eqx.Module):
        run: Callable[..., Any]
        gain: jax.Array

        def __call__(self, x: Any) -> Any:
            return self.gain * self.run(x)

    x = jnp.cos(jnp.arange(6.0))

    def slopes(run: Any) -> Any:
        model = Simulator(run, jnp.array(2.0))
        loss = eqx.filter_jit(lambda m, x: (jax.vmap(m)(jnp.stack([x, x + 1])) ** 2).sum())
        return eqx.filter_grad(loss)(model, x).gain, jax.grad(lambda x: loss(model, x))(x)

    equal(slopes, partial(wb.jax_callable(simulate, static_argnames="steps"), steps=3), simulate_jnp, 1e-12)


def test_the_lesson_in_equinox_and_optax_trains_as_well() -> None:
    lesson = json.loads((Path(__file__).parents[3] / "notebooks/13-a-simulator-in-a-training-loop.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in lesson["cells"]]
    (kernel,) = (c.removeprefix("%%kernel\n") for c in cells if c.startswith("%%kernel"))
    (drive,) = (c for c in cells if c.startswith("def pilot"))
    (text,) = (c.removeprefix("```python\n").removesuffix("```") for c in cells if "class Pilot(eqx.Module)" in c)
    names: dict[str, Any] = {"__name__": __name__, "jax": jax, "jnp": jnp, "wb": wb}
    wb.build_cell(kernel, names).bind(names)
    names["simulate"] = wb.jax_kernel(names["crane"])
    jax.config.update("jax_enable_x64", False)
    try:
        exec(drive, names)
        exec(text, names)
    finally:
        jax.config.update("jax_enable_x64", True)
    assert names["eqx_losses"][-1] < 0.05 * names["eqx_losses"][0]
