"""Roots and fixed points: values and derivatives of two orders beside the implicit function theorem in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

RANDOM = np.random.default_rng(0)


@wb.kernel
def cubic(x: wb.array[wb.Float], a: wb.array[wb.Float], out: wb.array[wb.Float]):
    i = wb.tid()
    out[i] = a[i] * x[i] * x[i] * x[i] + 2.0 * x[i] - 0.3 * x[(i + 1) % len(x)] - a[i] * a[i]


def root(a: wb.array) -> wb.array:
    def residual(x: wb.array) -> wb.array:
        out = wb.zeros_like(x)
        wb.launch(cubic, len(x), [x, a], [out])
        return out

    return wb.implicit(residual, wb.ones(len(a), a.dtype))


def loss(a: wb.array) -> wb.array:
    x = root(a)
    return (x * x).sum()


def by_hand(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The root and its Jacobian."""
    x, turn = np.ones_like(a), np.roll(np.eye(len(a)), 1, axis=1)
    for _ in range(20):
        jacobian = np.diag(3 * a * x**2 + 2) - 0.3 * turn
        x = x - np.linalg.solve(jacobian, a * x**3 + 2 * x - 0.3 * turn @ x - a * a)
    return x, -np.linalg.solve(jacobian, np.diag(x**3 - 2 * a))


def slope_by_hand(a: np.ndarray) -> np.ndarray:
    """The gradient of the sum of the root's squares."""
    x, jacobian = by_hand(a)
    return 2 * x @ jacobian


def test_a_root_and_its_derivatives() -> None:
    a, along = RANDOM.normal(size=4) + 2, RANDOM.normal(size=4)
    given, there = wb.array(a), wb.array(along)
    value, slope = wb.value_and_grad(loss)(given)
    assert float(value) == pytest.approx((by_hand(a)[0] ** 2).sum())
    np.testing.assert_allclose(slope.numpy(), slope_by_hand(a), atol=1e-9)
    np.testing.assert_allclose(float(wb.jvp(loss)(given, along=there)[1]), slope_by_hand(a) @ along, atol=1e-9)


@pytest.mark.slow
def test_its_second_derivatives_forwards_and_backwards() -> None:
    a, along = RANDOM.normal(size=4) + 2, RANDOM.normal(size=4)
    curve = (slope_by_hand(a + 1e-5 * along) - slope_by_hand(a - 1e-5 * along)) / 2e-5
    given, there = wb.array(a), wb.array(along)
    np.testing.assert_allclose(wb.hvp(loss)(given, along=there).numpy(), curve, rtol=1e-5, atol=1e-6)
    twice = wb.grad(lambda a: wb.grad(loss)(a).dot(there))(given)
    np.testing.assert_allclose(twice.numpy(), curve, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(wb.jacobian(root, sparse=True)(given).toarray(), by_hand(a)[1], atol=1e-9)


def test_a_root_that_another_method_has_computed_keeps_its_value() -> None:
    a = wb.array([4.0, 9.0], dtype=wb.float64, requires_grad=True)
    exact = wb.array(np.array([2.0, 3.0]))
    with wb.Tape() as tape:
        x = wb.implicit(lambda x: x * x - a, exact)
        x_is = x.numpy().copy()
        total = x.sum()
        x.fill_(7.0)  # the caller's own copy
    tape.backward(total)
    assert x_is.tolist() == [2.0, 3.0] and exact.numpy().tolist() == [2.0, 3.0]
    np.testing.assert_allclose(a.grad.numpy(), [1 / 4, 1 / 6], atol=1e-9)


def test_what_the_residual_reads_must_stay_what_it_is() -> None:
    a = wb.array([4.0, 9.0], dtype=wb.float64, requires_grad=True)
    with wb.Tape() as tape:
        total = wb.implicit(lambda x: x * x * a - 1.0, wb.ones(2, wb.float64)).sum()
        a.fill_(7.0)
    with pytest.raises(wb.NotDifferentiable, match="that a solve has used has changed since"):
        tape.backward(total)


@wb.kernel
def pull(x: wb.array[wb.vec2d], c: wb.array[wb.vec2d], out: wb.array[wb.vec2d]):
    i = wb.tid()
    out[i] = wb.vec2d(0.5 * wb.cos(x[i][1]), 0.5 * wb.sin(x[i][0])) + c[i] - x[i]


def test_a_fixed_point_of_vectors() -> None:
    c = wb.array(np.array([[0.1, 0.2], [1.0, -1.0]]), wb.vec2d, requires_grad=True)

    def residual(x: wb.array) -> wb.array:
        out = wb.zeros_like(x)
        wb.launch(pull, 2, [x, c], [out])
        return out

    with wb.Tape() as tape:
        x = wb.implicit(residual, wb.zeros_like(c))
        total = x.view(wb.float64).flatten().sum()
    tape.backward(total)
    for (u, v), slope in zip(x.numpy(), c.grad.numpy(), strict=True):
        jacobian = np.array([[1.0, 0.5 * np.sin(v)], [-0.5 * np.cos(u), 1.0]])
        np.testing.assert_allclose(slope, np.linalg.solve(jacobian.T, np.ones(2)), atol=1e-9)


def test_what_has_no_root_raises_with_the_residual() -> None:
    with pytest.raises(wb.NotConverged, match="Newton's method has not converged") as caught:
        wb.implicit(lambda x: x * x + 1.0, wb.array([0.7], dtype=float))
    assert caught.value.residual >= 1.0
    x, residual = wb.implicit(lambda x: x * x + 1.0, wb.array([0.7], dtype=float), raise_=False)
    assert residual == pytest.approx(float(x) ** 2 + 1.0)


def test_a_singular_jacobian_has_no_derivative() -> None:
    a = wb.array(np.array([0.0, 1.0]), requires_grad=True)
    with wb.Tape() as tape:
        total = wb.implicit(lambda x: x * x * x - a * a * a, wb.array(np.array([0.0, 1.0]))).sum()
    with pytest.raises(wb.NotConverged, match="singular"):
        tape.backward(total)


def test_what_is_no_residual_is_refused() -> None:
    with pytest.raises(wb.LaunchError, match=r"the residual is array\[float32\] of shape \(2,\)"):
        wb.implicit(lambda x: wb.zeros(2), wb.zeros(3))
    with pytest.raises(wb.LaunchError, match="starts from an array of floats"):
        wb.implicit(lambda x: x, np.zeros(3))
