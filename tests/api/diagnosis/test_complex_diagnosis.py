"""Explanations of gradients, NaN and steps of complex numbers."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

Z = np.array([1.0, 2.0 - 1.0j, 2.0j], np.complex64)


@wb.kernel
def power(x: wb.array[wb.complex64], a: wb.complex64, y: wb.array[wb.complex64]):
    i = wb.tid()
    scaled = x[i] * a
    y[i] = wb.exp(scaled) / x[i]


def derivative(z: np.ndarray, a: complex) -> np.ndarray:
    return np.exp(z * a) * (a * z - 1.0) / z**2


def taped(values: np.ndarray, seed: complex) -> tuple[wb.Tape, wb.array]:
    x, y = wb.array(values, requires_grad=True), wb.zeros(3, dtype=wb.complex64, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(power, 3, [x, 0.5 + 0.5j], [y])
    tape.backward(grads={y: wb.full(3, seed, dtype=wb.complex64)})
    return tape, x


def test_a_gradient_of_complex_numbers_is_explained() -> None:
    tape, x = taped(Z, 1.0)
    assert np.allclose(x.grad.numpy(), derivative(Z, 0.5 + 0.5j), rtol=1e-5)  # JAX's convention: no conjugate
    explained = wb.explain_grad(tape, x)
    parts = x.grad.numpy().view(np.float32)
    assert explained.state == "fine" and f"from {parts.min():.6g} to {parts.max():.6g}" in str(explained)
    tape, x = taped(Z, 0.0)
    assert wb.explain_grad(tape, x).state == "zero"
    tape, x = taped(np.array([1.0, 0.0, 2.0j], np.complex64), 1.0)
    assert wb.explain_grad(tape, x).state == "nan"


def test_a_complex_argument_is_checked() -> None:
    x, y = wb.array(Z, requires_grad=True), wb.zeros(3, dtype=wb.complex64)
    report = wb.gradcheck(power, 3, [x, 0.5 + 0.5j], [y])
    assert {"x", "a"} <= {name for name in ("x", "a", "y") if name in str(report)}


def test_the_first_nan_of_complex_numbers_is_at_its_line() -> None:
    x, y = wb.array(np.array([1.0, 0.0, 2.0j], np.complex64)), wb.zeros(3, dtype=wb.complex64)
    with (
        pytest.raises(wb.KernelFault, match=r"(?s)y\[i\] = wb\.exp\(scaled\) / x\[i\].*in thread \(1,\)"),
        wb.find_nan(),
    ):
        wb.launch(power, 3, [x, 0.5 + 0.5j], [y])


def test_a_step_shows_the_parts_that_the_type_holds() -> None:
    x, y = wb.array(Z), wb.zeros(3, dtype=wb.complex64)
    assert "scaled=(0.1, 0.1)" in str(wb.step(power, 3, [x, 0.1 + 0.1j], [y], thread=0)).replace("…", "")
