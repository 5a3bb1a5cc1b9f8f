"""Eager calls of a `jax_callable` see what its Python function reads as it is now, as `wb.launch` would."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")
jnp = jax.numpy

FACTOR = 2.0
TABLE = {"factor": [2.0]}
HOLDER = SimpleNamespace(inner=SimpleNamespace(factor=2.0))
NUMBERS = np.array([2.0])


class Options:
    """What users keep constants in."""

    factor = 2.0


@wb.kernel
def scale(x: wb.array[float], a: float, y: wb.array[float]):
    i = wb.tid()
    y[i] = a * x[i]


def helper() -> float:
    return FACTOR


def deeper(read: Callable[[], float] = helper) -> float:
    return read()


@pytest.fixture(autouse=True)
def constants(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every place that holds the number, to be set back."""
    for name in ("FACTOR", "TABLE", "NUMBERS"):
        value = globals()[name]
        monkeypatch.setitem(globals(), name, value.copy() if hasattr(value, "copy") else value)
    monkeypatch.setattr(Options, "factor", 2.0)
    monkeypatch.setattr(HOLDER.inner, "factor", 2.0)
    return monkeypatch


READS: dict[str, tuple[Callable[[], float], Callable[[pytest.MonkeyPatch], None]]] = {
    "a global number": (lambda: FACTOR, lambda m: m.setitem(globals(), "FACTOR", 3.0)),
    "through a function": (lambda: helper(), lambda m: m.setitem(globals(), "FACTOR", 3.0)),
    "through a default": (lambda: deeper(), lambda m: m.setitem(globals(), "FACTOR", 3.0)),
    "another function": (lambda: helper(), lambda m: m.setitem(globals(), "helper", lambda: 3.0)),
    "in a container": (lambda: TABLE["factor"][0], lambda m: TABLE.update(factor=[3.0])),
    "of a class": (lambda: Options.factor, lambda m: m.setattr(Options, "factor", 3.0)),
    "of an object in an object": (lambda: HOLDER.inner.factor, lambda m: m.setattr(HOLDER.inner, "factor", 3.0)),
    "in an array of NumPy": (lambda: float(NUMBERS[0]), lambda m: NUMBERS.fill(3.0)),
    "in a comprehension": (lambda: sum(FACTOR for _ in range(1)), lambda m: m.setitem(globals(), "FACTOR", 3.0)),
}


@pytest.mark.parametrize("name", READS)
def test_an_eager_call_sees_what_the_function_reads_now(name: str, constants: pytest.MonkeyPatch) -> None:
    read, change = READS[name]

    def launches(x: wb.array[float], y: wb.array[float]) -> None:
        wb.launch(scale, x.shape, inputs=[x, read()], outputs=[y])

    function = wb.jax_callable(launches)
    x = jnp.ones(3)
    assert function(x).tolist() == [2.0] * 3
    change(constants)
    assert function(x).tolist() == [3.0] * 3
    assert jax.grad(lambda x: function(x).sum())(x).tolist() == [3.0] * 3
    assert jax.jvp(function, (x,), (x,))[1].tolist() == [3.0] * 3


def test_an_eager_call_sees_variables_of_enclosing_functions() -> None:
    factor = 2.0

    def launches(x: wb.array[float], y: wb.array[float]) -> None:
        wb.launch(scale, x.shape, inputs=[x, factor], outputs=[y])

    function = wb.jax_callable(launches)
    assert function(jnp.ones(2)).tolist() == [2.0] * 2
    factor = 3.0
    assert function(jnp.ones(2)).tolist() == [3.0] * 2


def test_what_stays_the_same_is_not_traced_again() -> None:
    calls: list[Any] = []

    def launches(x: wb.array[float], y: wb.array[float]) -> None:
        note()
        wb.launch(scale, x.shape, inputs=[x, FACTOR + TABLE["factor"][0]], outputs=[y])

    def note() -> None:
        calls[:] = [*calls, 1]

    function = wb.jax_callable(launches)
    function(jnp.ones(2))
    traced = len(calls)
    assert function(jnp.ones(2)).tolist() == [4.0] * 2
    assert len(calls) == traced


def test_checks_that_are_switched_on_later_hold() -> None:
    @wb.kernel
    def roots(x: wb.array[float], y: wb.array[float]):
        i = wb.tid()
        assert x[i] >= 0.0
        y[i] = wb.sqrt(x[i])

    def launches(x: wb.array[float], y: wb.array[float]) -> None:
        wb.launch(roots, x.shape, inputs=[x], outputs=[y])

    function = wb.jax_callable(launches)
    with wb.checks(False):
        function(-jnp.ones(2))
    with wb.checks(), pytest.raises(wb.KernelFault):
        function(-jnp.ones(2))
