"""Sums of floats that threads share have the same bits however a launch is split, and on any number of cores."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.backends.cpu.conftest import ENTRY, GO_ON, pack
from tests.backends.cpu.order_programs import PROGRAMS, Sums
from workbench.api.builds import build
from workbench.api.builds.build import ir_of
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu import machine
from workbench.backends.cpu.backend import CpuBackend
from workbench.cache.native import load_kernel
from workbench.ir.values import Function
from workbench.types import ArrayType, element

CUTS = (1, 5, 100, 133, 260, 391)
"""Splits of a launch: within groups of threads, within rows, and between them."""
EXACT = {
    "parity": lambda x: [x[::2].sum(), x[1::2].sum()],
    "row_sums": lambda x: x.sum(1),
    "column_sums": lambda x: x.sum(0),
    "in_a_branch": lambda x: np.where(x > 0.5, x, 0).sum(1),
}


def of(program: Sums) -> tuple[Function, list[np.ndarray[Any, Any]]]:
    """Return the function, and its arguments by chance."""
    random, function = (
        np.random.default_rng(7),
        ir_of(program.kernel.specialise().function, program.direction, False, 4),
    )
    arrays = list[np.ndarray[Any, Any]]()
    for n, param in enumerate(function.params):
        assert isinstance(param.type, ArrayType)
        arrays.append(random.random(program.shapes[n % len(program.shapes)]).astype(element(param.type.dtype).numpy))
    return function, arrays


def results(
    function: Function, dims: Sequence[int], arrays: list[np.ndarray[Any, Any]], several: Sequence[Sequence[int]]
) -> list[list[np.ndarray[Any, Any]]]:
    """Return the arrays behind launches that were cut in these ways; chunks run backwards but on one core."""
    backend, found = CpuBackend(), []
    made = backend.compile(function, Options(), backend.target())
    entry = ENTRY(load_kernel(made.image, made.metadata["entry"]).address)
    order = 1 if made.metadata.get("one_core") else -1
    for cuts in several:
        own = [a.copy() for a in arrays]
        buffer = pack(function, dims, own)
        ranges = list(pairwise([0, *(c for c in cuts if c < prod(dims)), prod(dims)]))
        for begin, end in ranges[::order]:
            assert entry(buffer.ctypes.data, begin, end, None, ctypes.addressof(GO_ON), None) == 0
        found.append(own)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bits_do_not_depend_on_how_a_launch_is_split(name: str) -> None:
    function, arrays = of(PROGRAMS[name])
    several = [(), CUTS] if name != "combined_and_not" else [(), ()]  # what all threads add is summed by chunks
    whole, parts = results(function, PROGRAMS[name].dims, arrays, several)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)
    assert any((one != before).any() for one, before in zip(whole, arrays, strict=True))
    few, many = (cpu.emitted(function, Options(few_cores=few), machine.target()) for few in (True, False))
    assert few == many and not few.open_order


@pytest.mark.parametrize("name", EXACT)
def test_they_are_numpys_sums(name: str) -> None:
    @wb.kernel
    def parity(x: wb.array[float], y: wb.array[float]):
        i = wb.tid()
        wb.atomic_add(y, i % 2, x[i])

    kernel = PROGRAMS[name].kernel if name != "parity" else parity
    x, y = (np.random.default_rng(2).random(s, np.float32) for s in PROGRAMS[name].shapes)
    total = wb.zeros(len(y))
    wb.launch(kernel, PROGRAMS[name].dims, [wb.array(x), total])
    np.testing.assert_allclose(total.numpy(), EXACT[name](x.astype(np.float64)), rtol=1e-5)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the levels are those of x86-64")
@pytest.mark.parametrize("name", ["row_sums_that_compute", "product", "bodies", "in_a_loop_beside", "in_a_branch"])
def test_vectors_of_other_lengths_have_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, arrays = of(PROGRAMS[name])
    (native,) = results(function, PROGRAMS[name].dims, arrays, [()])
    monkeypatch.setenv("WORKBENCH_CPU", "x86-64-v3")
    (other,) = results(function, PROGRAMS[name].dims, arrays, [CUTS])
    for one, two in zip(native, other, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", ["row_sums_that_compute", "column_sums_that_compute"])
def test_any_number_of_cores_has_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, sums = PROGRAMS[name].kernel, list[np.ndarray[Any, Any]]()
    x = wb.array(np.random.default_rng(5).random((20, 1501), np.float32))
    for cores in (1, 2, 4, 4, 64):
        monkeypatch.setattr(build, "cpu_threads", lambda cores=cores: cores)
        monkeypatch.setenv("WORKBENCH_THREADS", str(min(cores, 4)))
        kernel.specialise().executables.clear()
        kernel.plans.clear()
        y = wb.zeros(20 if name.startswith("row") else 1501)
        wb.launch(kernel, x.shape, [x, y])
        sums.append(y.numpy())
    kernel.specialise().executables.clear()
    kernel.plans.clear()
    assert len({y.tobytes() for y in sums}) == 1


def test_sums_by_data_say_that_their_order_is_not_fixed() -> None:
    @wb.kernel
    def by_data(x: wb.array[float], at: wb.array[int], y: wb.array[float]):
        i = wb.tid()
        v = x[i]
        for _ in range(100):
            v = wb.sin(v) + 1.0
        wb.atomic_add(y, at[i], v)

    module = cpu.emitted(by_data.specialise().function, Options(), machine.target())
    assert module.open_order and not module.one_core
    made = CpuBackend().compile(by_data.specialise().function, Options(), machine.target())
    assert made.metadata["order"] == "not fixed"
