"""Launches that are linear in some of their inputs: proved from the IR, declared and tested, refused at their line."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.errors import KernelFault, LaunchError, NotDifferentiable

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def stencil(x: wb.array[float], c: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    v = 2.0 * x[i] / c[i]
    if i > 0:
        v -= x[i - 1]
    if i < x.shape[0] - 1:
        v -= 0.5 * x[i + 1]
    y[i] = v


@wb.kernel
def product(A: wb.array2d[float], x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    total = 0.0
    for j in range(A.shape[1]):
        total += wb.where(j > i, A[i, j] * x[j], wb.lerp(x[j], A[i, j] * x[j], 0.5))
    y[i] = total


@wb.kernel
def scatter(x: wb.array[wb.vec2], k: wb.array[int], y: wb.array[float]):
    i = wb.tid()
    wb.atomic_add(y, k[i], 3.0 * x[i][0] + wb.dot(x[i], wb.vec2(0.0, 1.0)))


@wb.kernel
def square(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    twice = 2.0 * x[i]
    y[i] = twice + x[i] * x[i]


@wb.kernel
def offset(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[i] + 1.0


@wb.kernel
def chosen(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    if x[i] > 0.0:
        y[i] = x[i]
    else:
        y[i] = 2.0 * x[i]


@wb.kernel
def hidden(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = wb.max(x[i], 0.0) + wb.min(x[i], 0.0)


@wb.kernel
def size(x: wb.array[float], y: wb.array[float]):
    y[wb.tid()] = wb.abs(x[wb.tid()])


c = jnp.array([1.0, 2.0, 4.0, 8.0])
apply = wb.jax_kernel(stencil)


def operator(x: Any) -> Any:
    return apply(x, c)


def matrix(f: Any, n: int = 4) -> Any:
    return jax.vmap(f)(jnp.eye(n)).T


def transposed(f: Any, like: Any) -> Any:
    def run(ct: Any) -> Any:
        return jax.linear_transpose(f, like)(ct)[0]

    return run


@pytest.mark.slow
def test_a_transpose_and_its_transpose() -> None:
    back = transposed(operator, c)
    assert jnp.allclose(matrix(back), matrix(operator).T)
    assert jnp.allclose(matrix(transposed(jax.jit(back), c)), matrix(operator))
    with wb.checks():
        assert jnp.allclose(jax.jit(transposed(operator, c))(c), matrix(operator).T @ c)


def test_one_of_several_inputs() -> None:
    A = jnp.arange(6.0).reshape(2, 3)
    f, x, ct = wb.jax_kernel(product), jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, -2.0])
    (found,) = jax.linear_transpose(lambda x: f(A, x), x)(ct)
    assert jnp.allclose(found, jax.vjp(lambda x: f(A, x), x)[1](ct)[0])
    with pytest.raises(NotDifferentiable, match=r"multiplies two values that depend on A or x") as error:
        jax.linear_transpose(f, A, x)(ct)
    assert error.value.location is not None and "A[i, j] * x[j]" in error.value.location.excerpt()


def test_vectors_and_sums() -> None:
    k = jnp.array([0, 1, 1], jnp.int32)
    f = wb.jax_kernel(scatter, output_dims=2, init={"y": 0})
    (found,) = jax.linear_transpose(lambda x: f(x, k), jnp.ones((3, 2)))(jnp.array([1.0, 10.0]))
    assert found.tolist() == [[3, 1], [30, 10], [30, 10]]
    shifted = wb.jax_kernel(scatter, output_dims=2, init={"y": 1})
    with pytest.raises(NotDifferentiable, match="adds a value that depends on x and one that does not"):
        jax.linear_transpose(lambda x: shifted(x, k), jnp.ones((3, 2)))(jnp.ones(2))


@pytest.mark.parametrize(
    ("kernel", "line"), [(square, "x[i] * x[i]"), (offset, "x[i] + 1.0"), (chosen, "if x[i] > 0.0"), (size, "wb.abs")]
)
def test_what_is_not_linear_is_refused_at_its_line(kernel: wb.Kernel, line: str) -> None:
    with pytest.raises(NotDifferentiable, match=rf"{kernel.name} is not linear in x: this line") as error:
        jax.linear_transpose(wb.jax_kernel(kernel), c)(c)
    assert error.value.location is not None and line in error.value.location.excerpt()
    with pytest.raises(NotDifferentiable, match="enable_backward=False"):
        jax.linear_transpose(wb.jax_kernel(kernel, enable_backward=False), c)(c)


@pytest.mark.slow
def test_a_function_of_linear_launches() -> None:
    def both(x: wb.array[float], c: wb.array[float], y: wb.array[float]) -> None:
        between = wb.empty(x.shape[0])
        wb.launch(stencil, dim=x.shape, inputs=[x, c], outputs=[between])
        wb.launch(stencil, dim=x.shape, inputs=[between, c], outputs=[y])

    f = wb.jax_callable(both)
    once = matrix(operator)
    assert jnp.allclose(matrix(transposed(lambda x: f(x, c), c)), (once @ once).T, atol=1e-5)
    with pytest.raises(NotDifferentiable, match="stencil is not linear in x and c: this line divides by"):
        jax.linear_transpose(lambda c: f(c, c), c)(c)


@pytest.mark.slow
def test_a_tangent_rule_written_with_a_kernel() -> None:
    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.sin(operator(x))

    @f.defjvp
    def _rule(primals: Any, tangents: Any) -> Any:
        y = operator(primals[0])
        return jnp.sin(y), jnp.cos(y) * operator(tangents[0])

    M = matrix(operator)
    for loss, twin in [(lambda x: f(x).sum(), lambda x: jnp.sin(M @ x).sum())]:
        assert jnp.allclose(jax.jit(jax.grad(loss))(c), jax.grad(twin)(c), atol=1e-5)
        assert jnp.allclose(jax.hessian(loss)(c), jax.hessian(twin)(c), atol=1e-4)


@pytest.mark.slow
def test_a_linear_solve_without_a_matrix() -> None:
    def solve(b: Any) -> Any:
        def by_matrix(matvec: Any, b: Any) -> Any:
            return jnp.linalg.solve(matrix(matvec), b)

        return jax.lax.custom_linear_solve(operator, b, by_matrix, by_matrix)

    M = matrix(operator)
    found = jax.grad(lambda b: (solve(b) ** 2).sum())(c)
    assert jnp.allclose(found, jax.grad(lambda b: (jnp.linalg.solve(M, b) ** 2).sum())(c), rtol=1e-3)


@pytest.mark.slow
def test_declared_and_tested() -> None:
    with pytest.raises(NotDifferentiable, match=r"takes max of .* wrap it with linear='x'"):
        jax.linear_transpose(wb.jax_kernel(hidden), c)(c)
    f = wb.jax_kernel(hidden, linear="x")
    assert transposed(f, c)(c).tolist() == c.tolist()
    assert transposed(transposed(f, c), c)(c).tolist() == c.tolist()
    wrong = wb.jax_kernel(size, linear="x")
    assert jnp.array_equal(jax.jit(wrong)(-c), c)  # a declaration is believed where checks are off
    with wb.checks():
        assert jnp.array_equal(jax.jit(jax.vmap(f))(jnp.stack([c, -c])), jnp.stack([c, -c]))
        with pytest.raises(KernelFault, match="elements of the result y of size are not linear in x"):
            wrong(-c)
        with pytest.raises(jax.errors.JaxRuntimeError, match="are not linear in x: at x"):
            jax.jit(lambda x: wrong(x))(-c).block_until_ready()
    with pytest.raises(LaunchError, match="linear of hidden names 'z'"):
        wb.jax_kernel(hidden, linear="z")
