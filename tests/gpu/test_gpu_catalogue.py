"""The catalogue of kernels with known traps, forward and backward, on the device against the CPU."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.catalogue.calls import HEAD
from tests.catalogue.test_catalogue import RIGHT, THREADS, _arguments
from tests.support.checks.meaning import define

TYPES = {"p": wb.vec3d}


def after(name: str, device: str) -> list[np.ndarray[Any, Any]]:
    """Every array after a launch, then every gradient, from seeds of one size."""
    funcs, body = RIGHT[name]
    kernel = define(f"{funcs}{HEAD}{textwrap.indent(body, '    ')}\n")["k"]
    given = [
        wb.array(v, TYPES.get(k), device=device, requires_grad=v.dtype == np.float64)
        if isinstance(v, np.ndarray)
        else v
        for k, v in _arguments().items()
    ]
    arrays = [a for a in given if isinstance(a, wb.array)]
    with wb.Tape() as tape:
        wb.launch(kernel, THREADS, given, device=device)
    results = [a.numpy().copy() for a in arrays]
    seeds = {a: wb.full(a.shape, 0.5, a.dtype, device=device) for a in arrays if a.requires_grad}
    tape.backward(grads=seeds)
    return [*results, *(a.grad.numpy() for a in seeds)]


def assert_the_device_agrees(name: str, device: str) -> None:
    """The same numbers on both, but for the last digits of maths functions."""
    for expected, got in zip(after(name, "cpu"), after(name, device), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RIGHT)
def test_the_device_means_what_the_cpu_means(name: str, device: str) -> None:
    assert_the_device_agrees(name, device)
