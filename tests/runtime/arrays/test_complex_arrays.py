"""Arrays of complex numbers: NumPy's memory, parts as views, arithmetic, files, tapes, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import workbench as wb

X = np.array([[1 + 2j, 3 - 1j, 0.5j], [-2, 1j, 4 + 4j]], np.complex64)


@wb.kernel
def swirl(z: wb.array2d[complex], w: complex):
    i, j = wb.tid()
    z[i, j] = z[i, j] * w + 1j


@wb.kernel
def distance(z: wb.array[complex], c: wb.array[complex], loss: wb.array[float]):
    i = wb.tid()
    d = z[i] - c[i]
    loss[0] += (d * wb.conj(d)).real


@wb.kernel
def squares(x: wb.array[float], loss: wb.array[float]):
    i = wb.tid()
    loss[0] += x[i] * x[i]


def test_memory_is_numpys_and_parts_are_views() -> None:
    x = X.copy()
    a = wb.array(x, copy=False)
    assert a.dtype == wb.complex64 and np.shares_memory(a.numpy(), x) and a.shape == (2, 3) and a.nbytes == 48
    a.imag[0] = 7
    assert (x.imag[0] == 7).all() and a.real.dtype == wb.float32 and a.real.strides == (24, 8)
    assert np.array_equal(a[:, ::2].imag.numpy(), x[:, ::2].imag) and a.view(float).shape == (2, 3, 2)
    assert wb.array(np.arange(4.0)).view(wb.complex128).numpy().tolist() == [1j, 2 + 3j]
    assert a[0, 1] == 3 + 7j and isinstance(a[0, 1], wb.complex64) and a.real is not a
    assert np.array_equal(np.from_dlpack(a), x) and np.shares_memory(wb.from_dlpack(x).numpy(), x)
    assert wb.array([1, 2j]).dtype == wb.complex64 and wb.array(np.array([1j])).dtype == wb.complex128
    assert pickle.loads(pickle.dumps(a)).numpy().tolist() == x.tolist() and wb.types.as_type("complex64") == a.dtype


@pytest.mark.parametrize("device", ["cpu", pytest.param("emulated", marks=pytest.mark.slow)])
def test_fills_copies_and_sums(device: str) -> None:
    with wb.ScopedDevice(device):
        for dtype in (wb.complex64, wb.complex128):
            a, b = wb.full((2, 3), 1 - 2j, dtype), wb.zeros((2, 3), dtype=dtype)
            b[:, 1] = 3j
            b[1, 2] = 5
            a.add_(b)
            assert a.numpy().tolist() == [[1 - 2j, 1 + 1j, 1 - 2j], [1 - 2j, 1 + 1j, 6 - 2j]]
            a[:, ::2].fill_(0)
            assert a.numpy().tolist() == [[0, 1 + 1j, 0], [0, 1 + 1j, 0]]


def test_arithmetic_of_whole_arrays() -> None:
    a, b = wb.array(X), wb.array(X[::-1].astype(complex))
    with np.errstate(all="ignore"):
        for ours, theirs in (
            (a * 2 - 1j, X * 2 - 1j),
            (1j * wb.ones(3), np.full(3, 1j, np.complex64)),
            (a / b, X / X[::-1].astype(complex)),
            (abs(a), abs(X)),
            ((-a) ** 2, X * X),
            (a**-3, X**-3),
            (wb.conj(a), X.conj()),
            (a.sum(), X.sum()[None]),
            (a @ wb.array(X.T), X @ X.T),
        ):
            assert ours.numpy().dtype == np.asarray(theirs).dtype
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-6)
    assert wb.conj(1 + 2j) == 1 - 2j and wb.complex64(1, 2) == 1 + 2j and wb.exp(1j) == np.exp(1j)


REFUSED: dict[str, Any] = {
    "an order": (lambda a: a < a, "Complex numbers have no order"),
    "a maximum": (lambda a: a.max(), "takes an array of numbers that is not empty, not array2d.complex64."),
    "floats of it": (lambda a: wb.array(X, dtype=float), "data of dtype complex64 cannot become an array of float32"),
    "a fill of floats": (lambda a: wb.zeros(2).fill_(1j), "is complex, and float32 is not: take its .real"),
    "a number too large": (lambda a: a.fill_(1e300j), "does not fit complex64"),
    "imaginary parts of floats": (lambda a: wb.zeros(2).imag, "an array of float32 has no imaginary parts"),
    "a Jacobian": (lambda a: wb.jacobian(lambda z: z * z)(a.flatten()), "is of real functions"),
    "a scan": (lambda a: wb.utils.array_scan(a.flatten(), a.flatten()), "takes an array of numbers"),
    "a loss": (lambda a: wb.grad(lambda z: z.sum())(a), "a gradient is of one float"),
}


def test_what_they_have_not_is_refused() -> None:
    for name, (act, sentence) in REFUSED.items():
        with pytest.raises((wb.WorkbenchError, TypeError, OverflowError), match=sentence):
            pytest.fail(f"{name}: {act(wb.array(X))!r}")


def test_a_gradient_does_not_go_through_memory_that_is_used_both_ways() -> None:
    c = wb.array(np.array([1j, 2]))
    sentence = "is used as complex numbers and as floats"
    with pytest.raises(wb.NotDifferentiable, match=sentence):
        wb.grad(lambda z: (z.imag * z.imag).sum())(c)
    with pytest.raises(wb.NotDifferentiable, match=sentence):
        wb.grad(lambda x: abs(x.view(wb.complex64)).sum())(wb.ones(4))
    z = wb.array(X[0], requires_grad=True)
    part, loss = z.imag, wb.zeros(1, requires_grad=True)
    with wb.Tape(), pytest.raises(wb.NotDifferentiable, match=sentence):
        wb.launch(squares, 3, [part, loss])
    with wb.Tape() as tape:  # one kind alone is fine, whatever views there are
        wb.launch(distance, 3, [z, wb.array(np.zeros(3, np.complex64)), loss])
    tape.backward(loss)
    np.testing.assert_allclose(z.grad.numpy(), 2 * X[0].conj())
    assert wb.gradcheck(distance, 3, [z, wb.array(X[1])], [loss])
    report = wb.gradients_of(lambda: abs(z * z).sum(), {"z": z}, check=True)
    assert [d.verdict for d in report.directions] == ["right"]


@pytest.mark.parametrize(
    "make", [lambda p: wb.optim.SGD(p, lr=0.2, momentum=0.3), lambda p: wb.optim.Adam(p, lr=0.1), wb.optim.LBFGS]
)
def test_optimisers_step_along_the_conjugate(make: Any) -> None:
    z, c = wb.zeros(3, dtype=complex, requires_grad=True), wb.array(X[0])
    optimizer = make([z])

    def measured() -> wb.array:
        loss = wb.zeros(1, requires_grad=True)
        wb.launch(distance, 3, [z, c, loss])
        return loss

    for _ in range(4 if make is wb.optim.LBFGS else 250):
        if make is wb.optim.LBFGS:
            optimizer.step(measured)
            continue
        z.grad.zero_()
        with wb.Tape() as tape:
            loss = measured()
        tape.backward(loss)
        optimizer.step()
    np.testing.assert_allclose(z.numpy(), X[0], atol=2e-3)


def test_records_graphs_and_files(tmp_path: Any) -> None:
    z = wb.array(X)
    with wb.record(inputs=True) as record:
        z.fill_(1 - 1j)
        for _ in range(2):
            wb.launch(swirl, z.shape, [z, 2j])
    want = ((1 - 1j) * 2j + 1j) * 2j + 1j
    assert (z.numpy() == want).all()
    record.save(tmp_path / "run.wbr")
    loaded = wb.load_record(tmp_path / "run.wbr")
    loaded.replay(w=1 + 1j)
    (found,) = {a.address: a for launch in loaded.launches for a in [launch.arguments["z"]]}.values()
    np.testing.assert_allclose(found.numpy(), np.full((2, 3), ((1 - 1j) * (1 + 1j) + 1j) * (1 + 1j) + 1j))
    with wb.capture() as graph:
        wb.launch(swirl, z.shape, [z, 1])
    z.zero_()
    graph.launch()
    graph.update(w=-1j)
    graph.launch()
    assert (z.numpy() == 1j * -1j + 1j).all()
