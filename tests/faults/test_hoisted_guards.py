"""Guards that one look before the launch makes needless: right for every size of launch and array."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import workbench as wb
from tests.support.kernels.fault_cases import CANARY, untouched, with_canaries
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.compile import optimised_text
from workbench.backends.cpu.emit.emit_module import checked
from workbench.backends.python.interpret import run
from workbench.ir.data import show
from workbench.ir.values import walk
from workbench.passes.checks.bounds_checks import guard, versions_of

KERNELS = {
    "own element": "y[i] = x[i]",
    "shifted": "y[i] = x[i + n]",
    "before": "y[i] = x[i - 1] + x[i - n]",
    "guarded": "if i + n < len(x) and i > 0:\n        y[i] = x[i + n] + x[i - 1]",
    "guarded apart": "if i > 0:\n        if n + i < x.shape[0]:\n            y[i] = x[i - 1] - x[i + n]",
    "left early": "if i >= len(x) or i >= len(y):\n        return\n    y[i] = x[i]",
    "negated": "if not (i < n):\n        y[i] = x[i - n]",
    "in a loop": "s = 0.0\n    for j in range(n, len(x)):\n        s += x[j]\n    y[i] = s",
    "beside it": "s = 0.0\n    for j in range(i, i + n):\n        s += x[j]\n    y[i] = s",
    "from the end": "y[i] = x[-1] + x[len(x) - 1 - i]",
    "indirect": "y[int(x[i])] = 1.0",
    "equal": "if i == n:\n        y[i] = x[i]",
    "either": "if i < len(x) or i < n:\n        y[i] = x[i]",
    "clamped": "y[i] = x[min(max(i - n, 0), len(x) - 1)] + x[clamp(i, 0, n)]",
    "around": "y[i] = x[(i + n) % len(x)]",
    "rows": "y[i % len(y)] = x[i // 2]",
    "a row below": "if i // n > 0 and i // n < 3:\n        y[i] = x[i - n] + x[i + n]",
    "multiples": "y[i] = x[i * n]",
    "quotients": "y[i] = float(i // n + i % n)",
    "asserted": "assert n < len(x)\n    assert len(y) == len(x)\n    y[i] = x[n]",
    "one of two": "y[i] = x[i if i < n else n]",
    "from the end, moved": "j = i - n\n    y[j] = x[j] + x[j + 1]",
    "added by index": "atomic_add(y, int(x[i]) + n, 1.0)",
    "added by index, all used": "y[i] = atomic_add(x, int(x[i]) + n, 1.0)",
    "changed in a loop": "j = i\n    while j < n:\n        y[j] = x[j]\n        j += 2",
}


def kernel(body: str) -> wb.Kernel:
    text = f"def k(x: array[float], y: array[float], n: int):\n    i = tid()\n    {body}\n"
    return wb.build_cell(text, {}, checks=True).kernels["k"]


def outcome(work) -> tuple[object, ...]:
    try:
        work()
    except wb.KernelFault as fault:
        return fault.message, fault.thread, fault.values, fault.count, fault.location.column
    return ()


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", KERNELS)
def test_what_is_hoisted_means_the_same(name):
    k = kernel(KERNELS[name])
    function = k.specialise().function
    for dim, a, b, n in itertools.product((1, 4, 6), (1, 5), (4, 5), (-5, 0, 1, 3)):
        here, there = ([with_canaries(np.arange(m, dtype=np.float32), False) for m in (a, b)] for _ in range(2))
        want = outcome(lambda d=dim, n=n, h=here: run(function, d, [h[0][0], h[1][0], n], checks=True))
        given = [wb.array(view, copy=False) for view, _ in there]
        got = outcome(lambda d=dim, n=n, g=given: wb.launch(k, d, [*g, n]))
        assert got == want, (dim, a, b, n)
        for (view, whole), (other, _) in zip(there, here, strict=True):
            assert np.array_equal(view, other) and untouched(view, whole), (dim, a, b, n)
    assert CANARY == 77


@pytest.mark.parametrize("n", [2**31 - 1, 2**31 - 3, -(2**31)])
@pytest.mark.parametrize("body", ["y[i] = x[i + n + 5]", "if i + n < len(x):\n        y[i] = x[i + n]"])
def test_sums_that_wrap(body, n):
    k = kernel(body)
    x, y = (with_canaries(np.ones(6, np.float32), False) for _ in range(2))
    here = [np.ones(6, np.float32), np.ones(6, np.float32), n]
    want = outcome(lambda: run(k.specialise().function, 6, here, checks=True))
    assert outcome(lambda: wb.launch(k, 6, [*(wb.array(v[0], copy=False) for v in (x, y)), n])) == want
    assert untouched(*x) and untouched(*y)


def test_a_range_whose_start_wraps():
    k = kernel("for j in range(n + 8, len(x) - 2147483000):\n        y[i] = x[j - 1]")
    x, y = (with_canaries(np.ones(6, np.float32), False) for _ in range(2))
    found = outcome(lambda: wb.launch(k, 1, [*(wb.array(v[0], copy=False) for v in (x, y)), 2**31 - 1]))
    assert "asked for index -2147483642" in found[0] and untouched(*x) and untouched(*y)


@pytest.mark.parametrize(
    "name",
    [
        *("own element", "guarded", "guarded apart", "left early", "in a loop", "clamped", "around", "rows"),
        *("a row below", "multiples", "quotients", "asserted", "one of two"),
    ],
)
def test_the_common_forms_are_hoisted(name):
    body = guard(kernel(KERNELS[name]).specialise().function, versions=True).body
    choice = body.ops[-1]
    assert choice.name == "if"
    quick, careful = ({op.name for op in walk(block)} for block in choice.blocks)
    assert "fault" not in quick and "fault" in careful


def test_what_is_checked_before_runs_vectorised():
    target = CpuBackend().target()
    function = kernel(KERNELS["own element"]).specialise().function
    wide = [optimised_text(function, Options(checks=c), target).count(" x float>") for c in (False, True)]
    assert wide[0] and wide[1] >= wide[0]


@pytest.mark.parametrize("form", ["product", "border", "histogram"])
def test_a_form_without_checks_is_what_is_built_without_them(form):
    kernels = {"product": rows_by_columns, "border": smoothed, "histogram": counted}
    function = kernels[form].specialise().function
    options = Options(checks=True, few_cores=True)
    versions = versions_of(checked(function, options))
    assert versions is not None
    plain = show(checked(function, Options(few_cores=True)))
    assert (show(versions.quick) == plain) is (form != "histogram")  # where data says which element, its check stays
    assert "versions" not in show(versions.careful) and "fault" in show(versions.careful)


@wb.kernel
def rows_by_columns(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
    i, j = wb.tid()
    s = 0.0
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


@wb.kernel
def smoothed(x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = x[wb.max(i - 1, 0)] + x[(i + 1) % x.shape[0]]


@wb.kernel
def counted(x: wb.array[float], counts: wb.array[int]):
    i = wb.tid()
    wb.atomic_add(counts, int(x[i] * 8.0), 1)


def test_the_lowest_thread_whose_addition_is_outside_is_reported():
    x = np.linspace(0, 0.99, 1000, dtype=np.float32)
    x[[701, 300, 999]] = 3.0, 4.0, 5.0
    counts = wb.zeros(8, int)
    with pytest.raises(wb.KernelFault) as fault:
        wb.launch(counted, 1000, [wb.array(x)], [counts], checks=True)
        wb.synchronize()
    assert (fault.value.thread, fault.value.count) in (((300,), 3), (300, 3))
    kept = np.delete(x, [300, 701, 999])
    assert np.array_equal(counts.numpy(), np.bincount((kept * np.float32(8)).astype(int), minlength=8))
