"""The catalogue's gradients against `jax.grad` of the same programs, at 1e-9.

The programs of JAX never pass through the kernel language, so this checks its meaning too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.catalogue.test_catalogue import RIGHT, THREADS, _arguments, _function
from tests.catalogue.twins import close, twin_gradients
from tests.support.checks.numeric import gradients

# Words of a text that mean something else in Python, or nothing.
APART = ("rand", "mat22d", "vec2d", "quat", "uint8", "where", "range(700)")
TWINS = [n for n, (funcs, body) in RIGHT.items() if not any(w in funcs + body for w in APART)]
EACH = [n if k % 3 == 0 else pytest.param(n, marks=pytest.mark.slow) for k, n in enumerate(TWINS)]


@pytest.fixture(autouse=True)
def x64() -> Iterator[None]:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", EACH)
def test_the_same_program_in_jax(name: str) -> None:
    given, random = _arguments(), np.random.default_rng(len(name))
    seeds = {k: random.uniform(0.5, 1.5, given[k].shape) for k in ("x", "y", "w", "p")}
    expected = twin_gradients(*RIGHT[name], THREADS, given, seeds)
    found = gradients(_function(*RIGHT[name]), THREADS, list(given.values()), seeds)
    for k, gradient in found.items():
        assert close(gradient, expected[k] if k in seeds else [expected[k]]), (k, gradient, expected[k])


def test_enough_of_them() -> None:
    assert len(TWINS) >= 120
