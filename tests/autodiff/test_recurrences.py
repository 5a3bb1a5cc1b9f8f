"""Gradients of recurrences as users spell them, a row per thread, against JAX in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu import machine

jax = pytest.importorskip("jax")
jnp = jax.numpy
ROWS = 70  # a gang of 64 threads or several narrower ones, and single ones


def _scan(step: Callable[..., Any], start: float) -> Callable[..., Any]:
    """Return the end of a recurrence s = step(s, x[j], a, w[j], j), as a function of a row."""

    def function(x: Any, a: Any, w: Any) -> Any:
        return _states(step, start, x, a, w)[0]

    return function


def _states(step: Callable[..., Any], start: float, x: Any, a: Any, w: Any) -> Any:
    """Return the final state of a recurrence, and its state after each step."""

    def turn(s: Any, given: Any) -> tuple[Any, Any]:
        x, w, j = given
        following = step(s, x, a, w, j)
        return following, following

    return jax.lax.scan(turn, jnp.float64(start), (x, w, jnp.arange(len(x)) * 1.0))


def _masked(condition: Callable[[Any], Any], step: Callable[..., Any]) -> Callable[..., Any]:
    # What is not chosen must not be infinite either, or it is NaN in JAX's gradient.
    return lambda s, x, a, w, j: jnp.where(condition(x), step(s, jnp.where(condition(x), x, 1.0)), s)


AVERAGE = _scan(lambda s, x, a, w, j: a * s + (1 - a) * x, 0.0)
PRODUCT = _scan(lambda s, x, a, w, j: s * x, 1.0)
POSITIVE = _scan(_masked(lambda x: x > 0, lambda s, x: s * x), 1.0)


def _counted(x: Any, a: Any, w: Any) -> Any:
    """Return the sum of squares of what is positive, each times its number."""
    return (jnp.where(x > 0, x, 0.0) ** 2 * jnp.cumsum(x > 0)).sum()


def _counted_twice(x: Any, a: Any, w: Any) -> Any:
    """Return the same with another counter, which changes by the first one, from the last element on."""
    positive, large = x[::-1] > 0, x[::-1] > 1
    c = jnp.cumsum(positive)
    d = 5 + jnp.cumsum(jnp.where(positive, jnp.where(large, -3 * c, 0), 2))
    return (jnp.where(positive, x[::-1], 0.0) ** 2 * (d + c) * positive * w[::-1]).sum()


def _first(x: Any, a: Any, w: Any) -> Any:
    """Return the square of the first element above 1."""
    return jnp.where((x > 1).any(), x[jnp.argmax(x > 1)] ** 2, 0.0)


# Bodies of a kernel (x, a, w, y) that computes s from the row x[i, :n], and the same for JAX.
PROGRAMS: dict[str, tuple[str, Callable[..., Any]]] = {
    "average": ("for j in range(n):\n        s = a[i] * s + (1.0 - a[i]) * x[i, j]", AVERAGE),
    "average, by the difference": (
        "for j in range(n):\n        s += (1.0 - a[i]) * (x[i, j] - s)",
        _scan(lambda s, x, a, w, j: s + (1 - a) * (x - s), 0.0),
    ),
    "average, while": (
        "j = 0\n    while j < n:\n        s = a[i] * s + (1.0 - a[i]) * x[i, j]\n        j += 1",
        AVERAGE,
    ),
    "Horner": ("for j in range(n):\n        s = s * a[i] + x[i, j]", _scan(lambda s, x, a, w, j: s * a + x, 0.0)),
    "affine": (
        "for j in range(n):\n        s = x[i, j] * s + w[j]",
        _scan(lambda s, x, a, w, j: x * s + w, 0.0),
    ),
    "affine, down": (
        "for j in range(n - 1, -1, -1):\n        s = x[i, j] * s + w[j]",
        lambda x, a, w: _scan(lambda s, x, a, w, j: x * s + w, 0.0)(x[::-1], a, w[::-1]),
    ),
    "affine, of the counter": (
        "for j in range(n):\n        s = s * a[i] / (1.0 + wb.float64(j)) + x[i, j]",
        _scan(lambda s, x, a, w, j: s * a / (1 + j) + x, 0.0),
    ),
    "product": ("s = wb.float64(1.0)\n    for j in range(n):\n        s *= x[i, j]", PRODUCT),
    "product, if": (
        "s = wb.float64(1.0)\n    for j in range(n):\n        if x[i, j] > 0.0:\n            s = s * x[i, j]",
        POSITIVE,
    ),
    "product, where": (
        "s = wb.float64(1.0)\n    for j in range(n):\n        s = wb.where(x[i, j] > 0.0, s * x[i, j], s)",
        POSITIVE,
    ),
    "product, continue": (
        "s = wb.float64(1.0)\n    for j in range(n):\n        if x[i, j] <= 0.0 or x[i, j] != x[i, j]:\n"
        "            continue\n        s *= x[i, j]",
        POSITIVE,
    ),
    "products written out": (
        "p = wb.float64(1.0)\n    for j in range(n):\n        p *= x[i, j]\n        z[i, j] = p",
        lambda x, a, w: (_states(lambda s, x, a, w, j: s * x, 1.0, x, a, w)[1] * w).sum(),
    ),
    "sums written out, squared": (
        "p = wb.float64(0.0)\n    for j in range(n):\n        p += x[i, j]\n        z[i, j] = p * p",
        lambda x, a, w: (jnp.cumsum(x) ** 2 * w).sum(),
    ),
    "two sums": (
        "t = wb.float64(0.0)\n    for j in range(n):\n        t += x[i, j]\n        s += t * w[j] * t",
        lambda x, a, w: (jnp.cumsum(x) ** 2 * w).sum(),
    ),
    "counter": (
        "c = 0\n    for j in range(n):\n        if x[i, j] > 0.0:\n            c += 1\n"
        "            s += x[i, j] * x[i, j] * wb.float64(c)",
        _counted,
    ),
    "counter, where": (
        "c = 0\n    for j in range(n):\n        c += wb.where(x[i, j] > 0.0, 1, 0)\n"
        "        s += wb.where(x[i, j] > 0.0, x[i, j] * x[i, j] * wb.float64(c), 0.0)",
        _counted,
    ),
    "counters of counters": (
        "c = 0\n    d = wb.int64(5)\n    for j in range(n - 1, -1, -1):\n        if x[i, j] > 0.0:\n"
        "            c += 1\n            if x[i, j] > 1.0:\n                d = d - wb.int64(c) * wb.int64(3)\n"
        "        else:\n            d = 2 + d\n"
        "        s += w[j] * wb.where(x[i, j] > 0.0, x[i, j] * x[i, j] * wb.float64(d + wb.int64(c)), 0.0)",
        _counted_twice,
    ),
    "places of a counter": (
        "c = 0\n    for j in range(n):\n        if x[i, j] > 0.0:\n"
        "            z[i, c] = x[i, j] * x[i, j]\n            c += 1",
        lambda x, a, w: (jnp.where(x > 0, x, 0.0) ** 2 * (x > 0) * w[jnp.maximum(jnp.cumsum(x > 0) - 1, 0)]).sum(),
    ),
    "first, flag": (
        "seen = False\n    for j in range(n):\n        if not seen and x[i, j] > 1.0:\n            seen = True\n"
        "            s = x[i, j] * x[i, j]",
        _first,
    ),
    "first, break": (
        "for j in range(n):\n        if x[i, j] > 1.0:\n            s = x[i, j] * x[i, j]\n            break",
        _first,
    ),
    "first, where": (
        "f = -1\n    for j in range(n):\n        f = wb.where(f < 0 and x[i, j] > 1.0, j, f)\n"
        "    if f >= 0:\n        s = x[i, f] * x[i, f]",
        _first,
    ),
    "rows of sums": (
        "m = wb.float64(0.0)\n    for j in range(n):\n        m += x[i, j]\n    m = m / wb.float64(n)\n"
        "    for j in range(n):\n        s += (x[i, j] - m) * (x[i, j] - m)",
        lambda x, a, w: ((x - x.mean()) ** 2).sum(),
    ),
}


def _cell(body: str) -> Any:
    types = {"x": "array2d", "a": "array", "w": "array", "y": "array", "z": "array2d"}
    parameters = ", ".join(f"{name}: wb.{type}[wb.float64]" for name, type in types.items())
    before = "i = wb.tid()\n    n = x.shape[1]\n    s = wb.float64(0.0)"
    text = f"@wb.kernel\ndef k({parameters}):\n    {before}\n    {body}\n    y[i] = s\n"
    return define(text, {"wb": wb})["k"]


def _gradients(kernel: Any, x: np.ndarray, a: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
    """Of the sum over rows of y, plus that of z weighted by w."""
    given = [wb.array(v, requires_grad=True) for v in (x, a, w)]
    y, z = wb.zeros(len(x), wb.float64, requires_grad=True), wb.zeros(x.shape, wb.float64, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(kernel, len(x), [*given, y, z])
    tape.backward(grads={y: wb.array(np.ones(len(x))), z: wb.array(np.broadcast_to(w, x.shape).copy())})
    return [v.grad.numpy() for v in given]


def _rows(n: int, rows: int = ROWS) -> np.ndarray:
    """Rows with products of about 1, and in the first of them zeros, ties, infinities and NaN."""
    x = np.random.default_rng(n).uniform(0.6, 1.4, (rows, n)) * np.where(np.arange(n) % 5 == 2, -1, 1)
    special = [[0.0], [0.0, 0.0], [1.0, 1.0, 1.0], [-0.0], [np.inf], [-np.inf], [np.nan], [0.0, np.inf]]
    for row, values in zip(x, special, strict=False):
        row[3 : 3 + len(values)] = values[: len(row[3 : 3 + len(values)])]
    return x


@pytest.mark.slow
@pytest.mark.sample(5)
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_rows_are_those_of_jax(name: str) -> None:
    body, function = PROGRAMS[name]
    kernel = _cell(body)
    with jax.enable_x64(True):
        rows = jax.jit(jax.vmap(jax.grad(function, (0, 1, 2)), (0, 0, None)))
        for n in (0, 1, 17, 300):
            x, a, w = _rows(n), np.linspace(-0.9, 1, ROWS), np.random.default_rng(1).standard_normal(n)
            found = _gradients(kernel, x, a, w)
            if n == 0:
                assert not found[1].any() and found[0].size == found[2].size == 0
                continue
            dx, da, dw = (np.asarray(g) for g in rows(x, a, w))
            if "z[" in body:  # there w is no argument
                dw = np.zeros_like(dw)
            for got, right in zip(found, (dx, da, np.add.reduce(dw)), strict=True):
                right = np.broadcast_to(right, got.shape)
                np.testing.assert_allclose(
                    got, right, rtol=1e-9, atol=1e-9 * np.max(np.abs(right[np.isfinite(right)]), initial=1)
                )


@pytest.mark.parametrize("factor", [0.0, 1e-3, 1.0])
def test_ten_thousand_turns(factor: float) -> None:
    """A history that was divided or subtracted back would be lost."""
    kernel, function = _cell(PROGRAMS["affine"][0]), PROGRAMS["affine"][1]
    x, w = np.full((2, 10_000), factor), np.random.default_rng(2).standard_normal(10_000)
    with jax.enable_x64(True):
        right = jax.jit(jax.grad(function, (0, 2)))(x[0], 0.0, w)
    dx, _, dw = _gradients(kernel, x, np.zeros(2), w)
    np.testing.assert_allclose(dx[1], right[0], rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(dw, 2 * np.asarray(right[1]), rtol=1e-12, atol=1e-300)


def test_adjoints_of_rows_are_gangs() -> None:
    for name in ("average", "product", "affine", "products written out", "rows of sums", "counter"):
        reverse = adjoint(_cell(PROGRAMS[name][0]).specialise().function)
        assert cpu.emitted(reverse, Options(few_cores=True), machine.target()).gangs, name
