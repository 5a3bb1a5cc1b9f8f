"""Tapes with `accumulate=False`, and gradients that nobody holds yet: set where a launch allows it, else cleared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import workbench as wb

N = 20000
"""Elements of an array of more than CLEARED_BYTES."""
ROW = wb.array[wb.float64]
TABLE = wb.array2d[wb.float64]


@wb.kernel
def square(x: ROW, y: ROW):
    i = wb.tid()
    y[i] = x[i] * x[i]


@wb.kernel
def product(a: ROW, b: ROW, y: ROW):
    i = wb.tid()
    y[i] = a[i] * b[i]


@wb.kernel
def stencil(x: ROW, y: ROW):
    i = wb.tid()
    y[i + 1] = 0.25 * x[i] + x[i + 1] * x[i + 1] + 0.5 * x[i + 2]


@wb.kernel
def looked_up(x: ROW, at: wb.array[int], y: ROW):
    i = wb.tid()
    y[i] = 2.0 * x[at[i]]


@wb.kernel
def row_softmax(x: TABLE, y: TABLE):
    i = wb.tid()
    m = x[i, 0]
    for j in range(x.shape[1]):
        m = wb.max(m, x[i, j])
    s = wb.float64(0.0)
    for j in range(x.shape[1]):
        s += wb.exp(x[i, j] - m)
    for j in range(x.shape[1]):
        y[i, j] = wb.exp(x[i, j] - m) / s


@wb.kernel
def own_places(x: ROW, y: ROW):
    i = wb.tid()
    if i % 3 == 0:
        y[i] = wb.sin(x[i])


def _inside(x: Any, _: Any) -> Any:
    return jnp.zeros(N).at[1 : N - 1].set(0.25 * x[:-2] + x[1:-1] ** 2 + 0.5 * x[2:])


AT = np.random.default_rng(1).integers(0, N // 2, N).astype(np.int32)
CASES: dict[str, tuple[Any, Any, Callable[..., Any], tuple[int, ...]]] = {
    "all": (square, N, lambda x: x * x, (N,)),
    "some threads": (square, N // 3, lambda x: jnp.zeros(N).at[: N // 3].set(x[: N // 3] ** 2), (N,)),
    "no thread": (square, 0, lambda x: 0 * x, (N,)),
    "inside": (stencil, N - 2, lambda x: _inside(x, None), (N,)),
    "part of the inside": (stencil, 99, lambda x: _inside(x, None).at[100:].set(0.0), (N,)),
    "places by number": (looked_up, N, lambda x: 2.0 * x[AT], (N,)),
    "rows": (row_softmax, 100, lambda x: jax.nn.softmax(x, 1), (100, N // 100)),
    "some rows": (row_softmax, 7, lambda x: jnp.zeros_like(x).at[:7].set(jax.nn.softmax(x[:7], 1)), (100, N // 100)),
    "every third": (own_places, N, lambda x: jnp.where(jnp.arange(N) % 3 == 0, jnp.sin(x), 0.0), (N,)),
}


def _run(case: str, x: wb.array, y: wb.array, **options: Any) -> wb.Tape:
    kernel, dim, _, _ = CASES[case]
    with wb.Tape(**options) as tape:
        wb.launch(kernel, dim, [x, wb.array(AT), y] if kernel is looked_up else [x, y])
    return tape


def _grad(x: wb.array) -> wb.array:
    assert x.grad is not None
    return x.grad


def _exact(function: Callable[..., Any], x: np.ndarray, seed: np.ndarray) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(jax.vjp(function, jnp.asarray(x))[1](jnp.asarray(seed))[0])


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_sets_what_jax_computes(case: str, deterministic: bool) -> None:
    """NaNs of an old gradient vanish, in each pass; the bits are those of clearing and adding."""
    _, _, function, shape = CASES[case]
    random = np.random.default_rng(0)
    data, seed = random.uniform(-1, 1, shape), random.uniform(-1, 1, shape)
    x, y = wb.array(data, requires_grad=True), wb.zeros(shape, wb.float64, requires_grad=True)
    _run(case, x, y, deterministic=deterministic).backward(grads={y: seed})
    added = _grad(x).numpy().tobytes()
    np.testing.assert_allclose(_grad(x).numpy(), _exact(function, data, seed), rtol=1e-12, atol=1e-14)
    tape = _run(case, x, y, accumulate=False, deterministic=deterministic)
    for _ in range(2):
        _grad(x).fill_(np.nan)
        _grad(y).fill_(np.nan)
        tape.backward(grads={y: seed})
        assert _grad(x).numpy().tobytes() == added
    fresh = _run(case, wb.array(data), y, deterministic=deterministic, into_grad=False)
    for k in (1, 2):  # a gradient of the tape's own is the sum of its passes
        fresh.backward(grads={y: seed})
        gradient = fresh.gradients[next(a for a in fresh.gradients if a is not y)]
        np.testing.assert_allclose(gradient.numpy(), k * np.frombuffer(added).reshape(shape), rtol=1e-12, atol=1e-15)
        assert k == 2 or gradient.numpy().tobytes() == added


def test_every_use_counts() -> None:
    """Of several launches that read an array the last one sets its gradient; intermediate gradients are set too."""
    data = np.random.default_rng(2).uniform(0.5, 1.5, N)
    x = wb.array(data, requires_grad=True)
    _grad(x).fill_(np.inf)
    u, v, y = (wb.zeros(N, wb.float64, requires_grad=True) for _ in range(3))
    loss = wb.zeros(1, wb.float64, requires_grad=True)
    for _ in range(2):
        with wb.Tape(accumulate=False) as tape:
            wb.launch(square, N, [x, u])
            wb.launch(stencil, N - 2, [u, v])
            wb.launch(product, N, [u, x, y])
            wb.launch(product, N, [v, y, u])  # overwrites what was read
            loss.copy_(u.sum())
        _grad(u).fill_(np.nan)
        tape.backward(loss)
        with jax.enable_x64(True):
            wanted = np.asarray(jax.grad(lambda x: (_inside(x * x, None) * (x * x * x)).sum())(jnp.asarray(data)))
        np.testing.assert_allclose(_grad(x).numpy(), wanted, rtol=1e-12)
        np.testing.assert_array_equal(_grad(u).numpy(), 0.0)


def test_one_array_twice_and_views() -> None:
    """Arguments that share memory, and views that are a part of it, get the sum in the whole gradient."""
    data = np.random.default_rng(3).uniform(0.5, 1.5, 2 * N)
    x, y = wb.array(data, requires_grad=True), wb.zeros(2 * N, wb.float64)
    for left, right, wanted in (
        (x, x, 2 * data),
        (x[:N], x[N:], np.concatenate([data[N:], data[:N]])),
        (x[N:], x[N:], np.concatenate([np.zeros(N), 2 * data[N:]])),
        (x[::2], x[1::2], data.reshape(-1, 2)[:, ::-1].reshape(-1)),
    ):
        _grad(x).fill_(np.nan)
        with wb.Tape(accumulate=False) as tape:
            wb.launch(product, left.shape[0], [left, right, y])
        tape.backward(grads={y: 1.0})
        np.testing.assert_array_equal(_grad(x).numpy(), wanted)


def test_what_no_gradient_reaches_is_zero() -> None:
    """The pass sets all gradients of what the tape recorded, of arrays that do not lead to the loss to 0."""
    x, z = (wb.ones(N, wb.float64, requires_grad=True) for _ in range(2))
    y, other = (wb.zeros(N, wb.float64, requires_grad=True) for _ in range(2))
    with wb.Tape(accumulate=False) as tape:
        wb.launch(square, N, [x, y])
        wb.launch(square, N, [z, other])
    _grad(z).fill_(5.0)
    tape.backward(grads={y: _grad(x)})  # a seed is read before gradients are set
    np.testing.assert_array_equal(_grad(x).numpy(), 0.0)
    _grad(x).fill_(1.0)
    tape.backward(grads={y: _grad(x)})
    np.testing.assert_array_equal(_grad(x).numpy(), 2.0)
    np.testing.assert_array_equal(_grad(z).numpy(), 0.0)
    _grad(y).fill_(3.0)
    tape.backward()
    np.testing.assert_array_equal(_grad(x).numpy(), 6.0)


def test_refused_passes_leave_no_undefined_gradient() -> None:
    """A gradient that a refused pass would have set is created anew when it is asked for."""
    x, y, z = (wb.full(N, 3.0, wb.float64) for _ in range(3))
    with wb.Tape() as tape:
        wb.launch(square, N, [x, y])
        wb.launch(square, N, [y, z])
    x.fill_(4.0)
    with pytest.raises(wb.NotDifferentiable):
        tape.backward(grads={z: 1.0})
    np.testing.assert_array_equal(tape.gradients[y].numpy(), 0.0)
    np.testing.assert_array_equal(tape.gradients[x].numpy(), 0.0)


def test_higher_order_and_checkpoints() -> None:
    """Under observers, and where steps run again, gradients are cleared and added to."""
    data = np.random.default_rng(4).uniform(0.5, 1.5, N)
    x, y = wb.array(data, requires_grad=True), wb.zeros(N, wb.float64, requires_grad=True)
    with wb.Tape(into_grad=False) as outer:
        with wb.Tape(accumulate=False) as inner:
            wb.launch(square, N, [x, y])
        _grad(x).fill_(np.nan)
        inner.backward(grads={y: 1.0})
    np.testing.assert_array_equal(_grad(x).numpy(), 2 * data)
    outer.backward(grads={_grad(x): 1.0})
    np.testing.assert_array_equal(outer.gradients[x].numpy(), 2.0)
    with wb.Tape(accumulate=False, checkpoint_every=1) as tape:
        wb.launch(square, N, [x, y])
        wb.launch(square, N, [y, y])
    _grad(x).fill_(np.nan)
    tape.backward(grads={y: 1.0})
    np.testing.assert_allclose(_grad(x).numpy(), 4 * data**3, rtol=1e-12)


def test_a_captured_pass_sets() -> None:
    """Each launch of a graph with a backward pass in it sets the gradients."""
    data = np.random.default_rng(5).uniform(0.5, 1.5, N)
    x, y = wb.array(data, requires_grad=True), wb.zeros(N, wb.float64, requires_grad=True)
    with wb.capture() as graph:
        with wb.Tape(accumulate=False) as tape:
            wb.launch(square, N, [x, y])
        tape.backward(grads={y: 1.0})
    for _ in range(2):
        _grad(x).fill_(np.nan)
        graph.launch()
        np.testing.assert_array_equal(_grad(x).numpy(), 2 * data)
