"""Code that mostly adds to shared elements: plain additions, one core, the same sums."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.api.builds import build
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend

BACKEND = CpuBackend()
FEW = Options(few_cores=True)


@wb.kernel
def squares(x: wb.array(dtype=float), total: wb.array(dtype=float)):
    i = wb.tid()
    wb.atomic_add(total, i % 2 if x[i] > 0.0 else 0, x[i] * x[i])


@wb.kernel
def long_work(x: wb.array(dtype=float), total: wb.array(dtype=float)):
    i = wb.tid()
    s = x[i]
    for _ in range(1000):
        s = wb.sin(s) + 1.0
    wb.atomic_add(total, int(x[i]), s)


@wb.kernel
def count(x: wb.array(dtype=int), bins: wb.array(dtype=int), order: wb.array(dtype=int)):
    i = wb.tid()
    order[i] = wb.atomic_add(bins, x[i], 1)


def test_a_kernel_that_mostly_adds_is_made_for_one_core_where_cores_are_few():
    function = squares.specialise().function
    assert "atomicrmw" in BACKEND.emit(function, Options(), BACKEND.target())
    assert "atomicrmw" not in BACKEND.emit(function, FEW, BACKEND.target())
    assert BACKEND.compile(function, FEW, BACKEND.target()).metadata["one_core"] is True
    assert "one_core" not in BACKEND.compile(function, Options(), BACKEND.target()).metadata


def test_a_kernel_that_mostly_computes_keeps_all_cores():
    function = long_work.specialise().function
    assert "atomicrmw" in BACKEND.emit(function, FEW, BACKEND.target())
    assert "one_core" not in BACKEND.compile(function, FEW, BACKEND.target()).metadata


@pytest.mark.parametrize("cores", [2, 64])
def test_the_sum_is_right_with_few_cores_and_with_many(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    monkeypatch.setattr(build, "cpu_threads", lambda: cores)
    kernel = squares
    specialisation = kernel.specialise()
    specialisation.executables.clear()
    executable = build.load(specialisation)
    assert executable.ordered is (cores == 2)
    specialisation.executables.clear()
    n = 200_000
    total = wb.zeros(2)
    kernel.plans.clear()
    wb.launch(kernel, n, [wb.ones(n)], [total])
    specialisation.executables.clear()
    kernel.plans.clear()
    assert total.numpy().tolist() == [n / 2, n / 2]


def test_old_values_of_plain_additions_are_the_atomic_ones():
    n = 5000
    x = np.random.default_rng(1).integers(0, 7, n).astype(np.int32)
    bins, order = wb.zeros(7, dtype=int), wb.zeros(n, dtype=int)
    wb.launch(count, n, [wb.array(x)], [bins, order])
    assert bins.numpy().tolist() == np.bincount(x, minlength=7).tolist()
    for k in range(7):
        assert sorted(order.numpy()[x == k]) == list(range((x == k).sum()))
