"""Additions to shared elements behind what is computed for them give the bits that each thread gives by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from workbench.api.builds import build
from workbench.api.kernels.kernel import Kernel
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu import machine
from workbench.backends.cpu.emit.emit_module import divided, prepared
from workbench.ir.ops import SCALAR
from workbench.ir.values import walk
from workbench.passes import pipeline

A1, A2, I1 = wb.array(dtype=wb.float32), wb.array(dtype=wb.float32, ndim=2), wb.array(dtype=wb.int32)
FEW = Options(few_cores=True)
ODD = [np.nan, np.inf, -np.inf, -0.0, -0.3, -1.0]


@wb.kernel
def histogram(x: A1, counts: I1, sums: A1):
    i = wb.tid()
    wb.atomic_add(counts, int(wb.clamp(x[i], -1.0, 0.999) * wb.float32(counts.shape[0])), 1)


@wb.kernel
def between(x: A1, counts: I1, sums: A1):
    i = wb.tid()
    at = x[i] * wb.float32(counts.shape[0] - 1)
    below = int(wb.floor(at))
    part = at - wb.floor(at)
    if below >= 0 and below < counts.shape[0] - 1:
        wb.atomic_add(counts, below, 1)
        wb.atomic_add(sums, below, 1.0 - part)
        wb.atomic_add(sums, below + 1, part)


@wb.kernel
def rows(x: A2, counts: I1, sums: A1):
    i, j = wb.tid()
    k = (int(x[i, j] * 7.0) + j) % counts.shape[0]
    wb.atomic_add(sums, k, x[i, j] * wb.float32(i))
    wb.atomic_add(counts, k, j)


@wb.kernel
def reads_what_it_adds_to(x: A1, counts: I1, sums: A1):
    i = wb.tid()
    wb.atomic_add(sums, int(x[i] * 3.0) + 1, sums[0] * 2.0)


@wb.kernel
def uses_what_was_there(x: A1, counts: I1, sums: A1):
    i = wb.tid()
    v = x[i]
    old = wb.atomic_add(counts, int(v * 3.0) + 1, 1)
    wb.atomic_add(sums, old, v)


@wb.kernel
def reads_afterwards(x: A1, counts: I1, sums: A1):
    i = wb.tid()
    wb.atomic_add(counts, int(x[i] * 3.0) + 1, 1)
    wb.atomic_add(sums, int(x[i + 1] * 3.0) + 1, 1.0)


@wb.kernel
def reads_anywhere(x: A1, counts: I1, sums: A1):
    i = wb.tid()
    wb.atomic_add(counts, int(x[i * i] * 3.0) + 1, 1)


@wb.kernel
def springs(x: A2, counts: I1, sums: A1):
    i = wb.tid()
    a = int(x[1, i] * 9.0)
    b = a + 3
    v = x[0, a] * 2.0 - wb.sqrt(wb.abs(x[0, b]))
    wb.atomic_add(sums, a, v)
    wb.atomic_add(sums, b - 4, v / (1.0 + v * v))


def adds_last(kernel: Kernel) -> bool:
    function = kernel.specialise().function
    function = prepared(function, FEW, divided(function, FEW), defer_atomics=True)
    return any(op.attrs.get(SCALAR) for op in walk(function.body))


@pytest.mark.parametrize(
    "kernel", [between, springs, *(pytest.param(k, marks=pytest.mark.slow) for k in (histogram, rows))]
)
def test_the_bits_are_those_of_thread_by_thread(
    kernel: Kernel, launch: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert adds_last(kernel)
    random = np.random.default_rng(3)
    x = random.random({rows: (3, 150), springs: (2, 450)}.get(kernel, 450), np.float32)
    if kernel is springs:
        x[0, 5 : 5 + len(ODD)] = ODD  # what is loaded by index
        x[1] -= 0.5  # indices from the end
    elif kernel is not rows:
        x[5 : 5 + len(ODD)] = ODD
    function = kernel.specialise().function

    def run(cuts: list[int] | None) -> list[np.ndarray]:
        given = [x, np.zeros(9, np.int32), np.ones(9, np.float32)]
        launch(function, (450,) if kernel is springs else x.shape, given, FEW, cuts=cuts)
        return given[1:]

    found = [run(None), run([1, 100, 170, 449])]
    monkeypatch.setattr(pipeline, "PASSES", {**pipeline.PASSES, "defer_atomics": lambda function: function})
    assert not adds_last(kernel)
    plain = run(None)
    for given in found:
        for a, b in zip(given, plain, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "kernel", [reads_what_it_adds_to, uses_what_was_there, reads_afterwards, reads_anywhere], ids=lambda k: k.name
)
def test_other_kernels_stay_as_they_are(kernel: Kernel) -> None:
    assert not adds_last(kernel)


def test_code_for_many_cores_stays_as_it_is() -> None:
    assert "atomicrmw" in cpu.emitted(histogram.specialise().function, Options(), machine.target()).text
    assert "atomicrmw" not in cpu.emitted(histogram.specialise().function, FEW, machine.target()).text


@pytest.mark.parametrize("bins", [1, 256])
def test_counts_are_numpys_on_any_number_of_cores(bins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    @wb.kernel
    def bins_of(x: A1, whole: I1, part: A1, n: wb.int32):
        i = wb.tid()
        k = int(x[i] * wb.float32(n))
        wb.atomic_add(whole, k, 1)
        wb.atomic_add(part, k, x[i])

    x = np.random.default_rng(4).random(100_003, np.float32)
    x[7] = np.nan
    x[8:90] = -0.5  # from the end, where that is a whole bin
    at = np.nan_to_num(x * np.float32(bins)).astype(np.int32) % bins
    exact = np.bincount(at, np.where(np.isnan(x), 0, x.astype(np.float64)), bins)
    found = []
    for cores in (1, 2, 7):
        monkeypatch.setattr(build, "cpu_threads", lambda cores=cores: cores)
        bins_of.specialise().executables.clear()
        bins_of.plans.clear()
        whole, part = wb.zeros(bins, dtype=wb.int32), wb.zeros(bins)
        wb.launch(bins_of, len(x), [wb.array(x), whole, part, bins])
        found.append((whole.numpy(), part.numpy()))
    for whole, part in found:
        np.testing.assert_array_equal(whole, np.bincount(at, minlength=bins))
        np.testing.assert_array_equal(part, found[0][1])
        np.testing.assert_allclose(part[1:], exact[1:], rtol=1e-4)
        assert np.isnan(part[0])


def test_a_bin_that_is_not_there_is_reported() -> None:
    x = np.full(100, 0.5, np.float32)
    x[70] = 9.0
    counts = wb.zeros(10, dtype=wb.int32)

    @wb.kernel
    def checked(x: A1, counts: I1):
        i = wb.tid()
        wb.atomic_add(counts, int(x[i] * 10.0), 1)

    with pytest.raises(wb.KernelFault) as caught:
        wb.launch(checked, 100, [wb.array(x), counts], checks=True)
    assert (caught.value.thread, caught.value.values) == ((70,), (90,))
    assert counts.numpy().tolist() == [0, 0, 0, 0, 0, 99, 0, 0, 0, 0]
