"""Optimisers: each beside its rule in NumPy, in few launches, saved and loaded, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError

DEVICES = ("cpu", pytest.param("emulated", marks=pytest.mark.slow))
X = np.linspace(-1.0, 2.0, 7)
Y = np.arange(12.0).reshape(4, 3) / 5.0 - 1.0
RNG = np.random.default_rng(3)
GRADIENTS = [(RNG.standard_normal(7), RNG.standard_normal((4, 3))) for _ in range(5)]


@wb.kernel
def rosenbrock(x: wb.array[wb.float64], loss: wb.array[wb.float64]):
    i = wb.tid()
    rise = x[i + 1] - x[i] * x[i]
    left = 1.0 - x[i]
    loss[0] += 100.0 * rise * rise + left * left


def params(device="cpu"):
    return [
        wb.array(X, dtype=wb.float64, requires_grad=True, device=device),
        wb.array(Y, dtype=wb.vec3, requires_grad=True, device=device),
    ]


def run(optimizer, gradients=GRADIENTS):
    for pair in gradients:
        for x, g in zip(optimizer.params, pair, strict=True):
            x.grad = g.astype(x.grad.numpy().dtype)
        optimizer.step()
    return [x.numpy().copy() for x in optimizer.params]


def sgd(x, grads, rates, momentum, decay, nesterov):
    v = np.zeros_like(x)
    for g, rate in zip(grads, rates, strict=True):
        g = g + decay * x
        v = momentum * v + g
        x = x - rate * (g + momentum * v if nesterov else v)
    return x


def adam(x, grads, rates, betas, eps, decay):
    m, v = np.zeros_like(x), np.zeros_like(x)
    for t, (g, rate) in enumerate(zip(grads, rates, strict=True), 1):
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        step = (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)
        x = x - rate * (step + decay * x)
    return x


def close(found, rule, *options):
    for k, (x, start) in enumerate(zip(found, (X, Y), strict=True)):
        tolerance = 1e-12 if k == 0 else 2e-6
        np.testing.assert_allclose(x, rule(start, [g[k] for g in GRADIENTS], *options), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("nesterov", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_sgd(device, nesterov):
    found = run(wb.optim.SGD(params(device), 0.1, momentum=0.9, weight_decay=0.05, nesterov=nesterov))
    close(found, sgd, [0.1] * 5, 0.9, 0.05, nesterov)


@pytest.mark.parametrize("device", DEVICES)
def test_adam_with_a_schedule(device):
    schedule = wb.optim.warmup(2, wb.optim.cosine(0.2, 4, 0.01))
    found = run(wb.optim.Adam(params(device), schedule, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1))
    close(found, adam, [schedule(k) for k in range(5)], (0.8, 0.99), 1e-6, 0.1)


def test_schedules():
    rate = wb.optim.warmup(4, wb.optim.exponential(1.0, 0.5))
    assert [rate(k) for k in range(6)] == [0.25, 0.5, 0.75, 1.0, 1.0, 0.5]
    fall = wb.optim.cosine(2.0, 10, 1.0)
    assert fall(0) == 2.0 and fall(5) == pytest.approx(1.5) and fall(10) == 1.0 == fall(99)
    assert wb.optim.warmup(2, 3.0)(7) == 3.0
    with pytest.raises(ValueError, match="positive number of steps"):
        wb.optim.cosine(1.0, 0)
    with pytest.raises(ValueError, match="positive number of steps"):
        wb.optim.warmup(0, 1.0)


def test_one_launch_steps_all_parameters():
    many = [wb.ones(k + 1, requires_grad=True) for k in range(10)]
    optimizer = wb.optim.Adam(many)
    with wb.record() as record:
        optimizer.step()
    assert len(record.launches) == 1
    many = [wb.ones(2, requires_grad=True) for _ in range(17)]
    with wb.record() as record:
        wb.optim.SGD(many, 1.0).step([wb.ones(2)] * 17)
    assert len(record.launches) == 2 and all(x.numpy().tolist() == [0.0, 0.0] for x in many)


@pytest.mark.slow
def test_a_captured_graph_goes_on_counting():
    x, g = wb.array(X, dtype=wb.float64), wb.array(GRADIENTS[0][0], dtype=wb.float64)
    optimizer = wb.optim.Adam(x, 0.1)
    with wb.capture() as graph:
        optimizer.step(g)
    for _ in range(5):
        graph.launch()
    expected = adam(X, [GRADIENTS[0][0]] * 5, [0.1] * 5, (0.9, 0.999), 1e-8, 0.0)
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-12, atol=1e-14)
    with wb.capture(), pytest.raises(LaunchError, match="repeat one value of the schedule"):
        wb.optim.SGD(x, wb.optim.exponential(0.1, 0.9)).step(g)


def test_lbfgs_finds_the_minimum_of_the_rosenbrock_function():
    x = wb.array(np.full(6, -1.0), dtype=wb.float64, requires_grad=True)
    optimizer = wb.optim.LBFGS(x)

    def loss():
        total = wb.zeros(1, wb.float64, requires_grad=True)
        wb.launch(rosenbrock, 5, [x], [total])
        return total

    losses = [optimizer.step(loss) for _ in range(60)]
    assert losses == sorted(losses, reverse=True)
    np.testing.assert_allclose(x.numpy(), np.ones(6), atol=1e-7)
    assert optimizer.step(loss) == pytest.approx(0.0, abs=1e-14)  # at the minimum nothing is lost
    with wb.Tape(), pytest.raises(LaunchError, match="decides on the host"):
        optimizer.step(loss)


def test_lbfgs_restores_the_parameters_where_no_lower_loss_is_found():
    x = wb.array([1.0], dtype=wb.float64, requires_grad=True)
    calls = []

    def worse():
        calls.append(0)
        return x + float(len(calls))

    assert wb.optim.LBFGS(x, evaluations=3).step(worse) == 2.0
    assert x.numpy()[0] == 1.0 and len(calls) == 4


@pytest.mark.parametrize("kind", ["SGD", "Adam", "LBFGS"])
def test_a_run_goes_on_from_a_file(kind, tmp_path):
    def begin():
        made = getattr(wb.optim, kind)
        x = wb.array(np.full(6, -1.0), dtype=wb.float64, requires_grad=True)
        return x, (made(x) if kind == "LBFGS" else made(x, 0.001))

    def step(x, optimizer):
        def loss():
            total = wb.zeros(1, wb.float64, requires_grad=True)
            wb.launch(rosenbrock, 5, [x], [total], deterministic=True)
            return total

        if kind == "LBFGS":
            return optimizer.step(loss)
        optimizer.zero_grad()
        with wb.Tape(deterministic=True) as tape:
            total = loss()
        tape.backward(total)
        return optimizer.step()

    x, optimizer = begin()
    for _ in range(4):
        step(x, optimizer)
    optimizer.save(tmp_path / "run.npz")
    y, other = begin()
    other.load(tmp_path / "run.npz")
    assert other.steps == 4
    for _ in range(3):
        step(x, optimizer)
        step(y, other)
    np.testing.assert_array_equal(x.numpy(), y.numpy())


def test_a_file_that_does_not_fit_changes_nothing(tmp_path):
    x = wb.array([1.0, 2.0], requires_grad=True)
    wb.optim.Adam(x).save(tmp_path / "adam.npz")
    y = wb.array([3.0, 4.0, 5.0], requires_grad=True)
    with pytest.raises(LaunchError, match="has the state of Adam"):
        wb.optim.SGD(x).load(tmp_path / "adam.npz")
    with pytest.raises(LaunchError, match=r"shape \(2,\) there and float32 of shape \(3,\) here"):
        wb.optim.Adam(y).load(tmp_path / "adam.npz")
    assert y.numpy().tolist() == [3.0, 4.0, 5.0]


def test_what_is_refused():
    x = wb.ones(4, requires_grad=True)
    for bad, words in (
        ([], "at least one array"),
        ([np.ones(3)], "takes arrays"),
        ([x, wb.ones(3, dtype=int)], "Parameter 1 is an array of int32"),
        ([wb.ones((4, 4))[:, 1]], "do not lie side by side"),
    ):
        with pytest.raises(LaunchError, match=words):
            wb.optim.SGD(bad)
    optimizer = wb.optim.Adam([x, wb.ones(2)])
    with pytest.raises(LaunchError, match="Parameter 1 has no gradient"):
        optimizer.step()
    with pytest.raises(LaunchError, match="a gradient for each parameter: 2, not 1"):
        optimizer.step([x])
    with pytest.raises(LaunchError, match=r"parameter 1 must be float32 of shape \(2,\)"):
        optimizer.step([x, x])
    assert optimizer.steps == 0 and x.numpy().tolist() == [1.0] * 4
    with pytest.raises(LaunchError, match="Parameter 0 has no gradient"):
        wb.optim.LBFGS(wb.ones(2))
