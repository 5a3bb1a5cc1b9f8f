"""What a branch reads and then overwrites is what was there before; compared with NumPy, at sizes around vectors."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

SIZES = (1, 4, 7, 8, 16, 17, 40, 67)


@wb.kernel
def best(x: wb.array[float], best: wb.array[float], old: wb.array[float]):
    i = wb.tid()
    v = x[i]
    prev = v
    if v > 0.0:
        prev = best[i]
        best[i] = v
    old[i] = prev


@wb.kernel
def pieces(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    v = x[i]
    if v > 1.0:
        y[i] = v
    elif v > 0.0:
        y[i] = 2.0 * v
    else:
        y[i] = v * v


@wb.kernel
def wider(x: wb.array[wb.float32], y: wb.array[wb.float64]):
    i = wb.tid()
    a = x[i]
    y[i] = wb.float64(0.0) if a < 0.0 else wb.float64(a)


@wb.kernel
def narrower(x: wb.array[wb.float64], y: wb.array[wb.float32]):
    i = wb.tid()
    a = x[i]
    y[i] = wb.float32(0.0) if a < 0.0 else wb.float32(a)


@pytest.mark.parametrize("n", SIZES)
def test_the_value_before_an_overwrite(n: int) -> None:
    x = np.linspace(-1, 2, n, dtype=np.float32)
    arrays = [wb.array(x), wb.array(np.arange(n, dtype=np.float32)), wb.zeros(n)]
    wb.launch(best, n, arrays)
    np.testing.assert_array_equal(arrays[2].numpy(), np.where(x > 0, np.arange(n), x))
    np.testing.assert_array_equal(arrays[1].numpy(), np.where(x > 0, x, np.arange(n)))


@pytest.mark.parametrize("n", SIZES)
def test_the_gradient_of_pieces(n: int) -> None:
    values = np.linspace(-1, 2, n, dtype=np.float32)
    x, y = wb.array(values, requires_grad=True), wb.zeros(n, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(pieces, n, [x, y])
    tape.backward(grads={y: wb.ones(n)})
    np.testing.assert_allclose(x.grad.numpy(), np.where(values > 1, 1, np.where(values > 0, 2, 2 * values)))


@pytest.mark.parametrize("n", [1, 40])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize(
    ("kernel", "source", "target"), [(wider, wb.float32, wb.float64), (narrower, wb.float64, wb.float32)]
)
def test_the_sign_of_zero_goes_through_a_conversion(kernel, source, target, device: str, n: int) -> None:
    x, y = wb.array(np.full(n, -0.0), dtype=source, device=device), wb.zeros(n, dtype=target, device=device)
    wb.launch(kernel, n, [x, y])
    assert np.signbit(y.numpy()).all()
