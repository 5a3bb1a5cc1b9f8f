"""Groups of threads go through loops whose turns differ between them, with the bits that each thread has by itself."""

from __future__ import annotations

import re

import numpy as np
import pytest

import workbench as wb
from tests.backends.cpu.conftest import execute
from tests.backends.cpu.test_cpu_groups import both_codes
from workbench.api.kernels.kernel import Kernel
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu.emit.emit_module import emit_module
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.ir.values import Function, walk
from workbench.passes.reductions import reductions

F, D, INTS, LONGS = (wb.array(dtype=t) for t in (wb.float32, wb.float64, wb.int32, wb.int64))
F2 = wb.array(dtype=wb.float32, ndim=2)
V = wb.array(dtype=wb.vec3)
STEP = 3
WIDE = Maths(formulas=True, bits=512)


@wb.kernel
def escape(x: F, y: INTS, z: F):
    i = wb.tid()
    cx, u, v = 3.0 * x[i] - 1.5, wb.float32(0.0), wb.float32(0.0)
    n = 0
    while n < 60 and u * u + v * v < 4.0:
        u, v = u * u - v * v + cx, 2.0 * u * v + 0.3
        n += 1
    y[i] = n
    z[i] = u - v


@wb.kernel
def march(h: F, x: F2, y: F2):
    i, j = wb.tid()
    t = wb.float32(0.0)
    hits = 0
    for k in range(40):
        d = 0.5 * (2.0 - t + h[0] * wb.sin(3.0 * x[i, j] * t))
        if d < 1.0e-2:
            hits = k
            break
        if d > 0.9:
            t += 0.25
            continue
        t += d
    y[i, j] = t * float(hits)


@wb.kernel
def newton(x: D, y: D):
    i = wb.tid()
    a = x[i]
    r, e = a, wb.float64(1.0)
    while e > wb.float64(1.0e-12) * a:
        n = wb.float64(0.5) * (r + a / r)
        e = wb.abs(n - r)
        r = n
    y[i] = r


@wb.kernel
def collatz(x: F, y: INTS, z: LONGS):
    i = wb.tid()
    n = wb.int64(i + 1)
    c, top = 0, n
    while n != wb.int64(1):
        if n % wb.int64(2) == wb.int64(0):
            n = n // wb.int64(2)
        else:
            n = n * wb.int64(3) + wb.int64(1)
        top = wb.max(top, n)
        c += 1
    y[i] = c
    z[i] = top


@wb.kernel
def euclid(x: F, y: INTS):
    i = wb.tid()
    a, b = int(x[i] * 1000.0) - 300, 36 - i
    while b != 0:
        a, b = b, a % b
    y[i] = a // (i - 7)


@wb.kernel
def wander(x: F, y: INTS, z: V):
    i = wb.tid()
    state = wb.rand_init(3, i)
    p = wb.vec3(0.0, x[i], 0.0)
    n = 0
    while True:
        p += wb.vec3(wb.randf(state) - 0.5, wb.randf(state) - 0.5, 0.0)
        n += 1
        if wb.dot(p, p) > 4.0:
            break
        if n >= 90:
            p = wb.vec3(9.0, 9.0, 9.0)
            break
    y[i] = n
    z[i] = p


@wb.kernel
def search(x: F, y: INTS):
    i = wb.tid()
    v = float(i) / 30.0
    lo, hi = 0, x.shape[0]
    while lo < hi:
        m = (lo + hi) // 2
        if x[m] < v:
            lo = m + 1
        else:
            hi = m
    y[i] = lo + wb.int32(x[lo - x.shape[0]])


@wb.kernel
def own_ranges(x: F, y: F, z: F):
    i = wb.tid()
    s, t = wb.float32(0.0), wb.float32(1.0)
    for k in range(i % 23):
        s = s * 0.5 + wb.sqrt(float(k)) * x[i]
    for k in range(i % 29 - 4, -3, -1):
        t = t * 0.75 + float(k) * x[k % x.shape[0] - x.shape[0]]
    y[i] = s
    z[i] = t


@wb.kernel
def inner_ranges(x: F, y: F):
    i = wb.tid()
    n = x.shape[0]
    s = wb.float32(0.0)
    for k in range(i - 5, i % 7 + 9):
        m = int(x[k % n] * 20.0)
        if m % 3 == 1:
            s += x[m % n - n]
        for q in range(m % 5 - 20, m):
            if q % 2 == 0:
                s = s * 0.9 + float(q)
    y[i] = s


@wb.kernel
def nested(x: F, y: F, z: F):
    i = wb.tid()
    s, n = x[i], 0
    while s < 20.0:
        t, c = s, 0
        while t > 1.0 and c < 30:
            t = t * 0.6 - 0.01
            c += 1
        for _ in range(20):
            s = s + t * 0.01 * x[i]
        s += 0.5 + float(c) * 0.1
        n += 1
        z[i] = s
    y[i] = s + float(n)


@wb.kernel
def inside_a_shared_loop(x: F, y: F):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(x.shape[0]):
        t = x[k] + x[i]
        while t > 0.5:
            t *= 0.7
        s = s * 0.5 + t
    y[i] = s


@wb.kernel
def flags(x: F, y: INTS):
    i = wb.tid()
    go, n = x[i] > 0.3, 0
    v = x[i]
    while go:
        v = v * 1.3
        go = v < 5.0
        n += 1 if go else 10
    y[i] = n + (100 if go else 0)


@wb.kernel
def short_loops(x: F, y: F):
    i = wb.tid()
    s = x[i]
    while s < 20.0:
        for k in range(3):
            s = s * 1.01 + 0.1 * float(k)
    y[i] = s


KERNELS = (
    escape, march, newton, collatz, euclid, wander, search, own_ranges, inner_ranges, nested,
    inside_a_shared_loop, flags, short_loops,
)  # fmt: skip


def wide_text(function: Function) -> str:
    """The text for a target with wide registers."""
    return emit_module(function, Options(), WIDE, half_instructions=False).text


def arguments(function: Function, size: int) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """Launch dimensions, and an array for each parameter: inputs have special values among them."""
    random = np.random.default_rng(size)
    given: list[np.ndarray] = []
    for p in function.params:
        dtype = np.dtype({"vec3": "float32"}.get(str(p.type.dtype), str(p.type.dtype)))
        shape = (3, size) if p.type.ndim == 2 else (size,)
        shape = (*shape, 3) if str(p.type.dtype) == "vec3" else shape
        given.append(random.random(shape).astype(dtype) if p.name in "hx" else np.zeros(shape, dtype))
    if function.name == "search":
        given[0].sort()
    if function.name in ("escape", "march", "own_ranges", "flags"):
        x = given[function.params.index(next(p for p in function.params if p.name == "x"))]
        x.flat[1::5] = np.resize([np.nan, np.inf, -np.inf, -0.0], x.flat[1::5].size)
    return ((3, size) if function.launch_ndim == 2 else (size,)), given


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_threads_go_in_groups(kernel: Kernel) -> None:
    assert "groups:" in wide_text(kernel.specialise().function)


def test_only_loops_over_threads_are_written_out() -> None:
    """They are marked; others LLVM unrolls only where a loop over threads holds a short one, else no vectors result."""
    for kernel, unrolled in ((march, False), (nested, False), (short_loops, True)):
        module = emit_module(kernel.specialise().function, Options(), WIDE, half_instructions=False)
        full, _, rest = module.text.partition("\nfew:")
        nodes = re.findall(r"^(!\d+) = .*vectorize.followup_all", rest, re.MULTILINE)
        marks = [{m for m in re.findall(r"!llvm.loop (!\d+)$", part, re.MULTILINE)} for part in (full, rest)]
        assert len(nodes) >= 3 and marks[0].issuperset(nodes) and marks[1].isdisjoint(nodes)
        assert module.unrolled is unrolled


QUICK = (march, nested)


@pytest.mark.parametrize(
    "kernel", [*QUICK, *(pytest.param(k, marks=pytest.mark.slow) for k in KERNELS if k not in QUICK)],
    ids=lambda k: k.name,
)  # fmt: skip
def test_each_thread_has_the_bits_that_it_has_by_itself(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    function = kernel.specialise().function
    grouped, alone = both_codes(monkeypatch, function, Options())
    for size in (3, 16, 37, 150):
        dims, given = arguments(function, size)
        args = [a.copy() for a in given]
        execute(alone, function, dims, args)
        for cuts in (None, [1, size // 2, size - 1]):
            found = [a.copy() for a in given]
            execute(grouped, function, dims, found, cuts=cuts)
            for a, b in zip(args, found, strict=True):
                np.testing.assert_array_equal(a, b)
    assert any(np.any(a != b) for a, b in zip(given, found, strict=True))


@wb.kernel
def rays(h: F, x: F2, y: F2):
    i, j = wb.tid()
    t = wb.float32(0.0)
    for _ in range(24):
        d = 0.5 * (2.0 - t + h[0] * wb.sin(3.0 * x[i, j] * t))
        if d < 0.1:
            break
        t += d
    y[i, j] = t * x[i, j]


@wb.kernel
def some_turns(x: F, y: F):
    i = wb.tid()
    s, n = x[i], i % 5
    while n < 20 and s < 3.0:
        s = s * 1.1 + wb.sqrt(x[i]) * 0.3
        n += 2
    y[i] = s * s


@wb.kernel
def in_a_branch(x: F, y: F):
    i = wb.tid()
    s, k = x[i], 30
    if i % 3 != 1:
        n = 0
        while not (s > 2.0 or n > 30 - 1):
            if n % 4 == 3:
                s -= 0.01 * s * x[k % x.shape[0]]
            s += 0.2 * x[i]
            n += 1
            k -= 1
    y[i] = s


@wb.kernel
def turns_in_turns(x: F, y: F):
    i = wb.tid()
    s = x[i]
    for _ in range(6):
        n = 0
        while n < 10 and s < 1.0 + x[i]:
            s += 0.1 * s * s + 0.05
            n += 1
        s *= 0.5
    y[i] = s


GRADIENTS = (rays, some_turns, in_a_branch, turns_in_turns)


@pytest.mark.parametrize(
    "kernel", [some_turns, *(pytest.param(k, marks=pytest.mark.slow) for k in GRADIENTS if k is not some_turns)],
    ids=lambda k: k.name,
)  # fmt: skip
def test_gradients_from_all_states_are_those_from_some(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every state of a `while` of few turns is kept on the CPU; elsewhere some are, and the others computed again."""
    function = kernel.specialise().function
    results: list[list[np.ndarray]] = []
    for stack in (True, False):
        made = reductions(adjoint(function, stack=stack))
        dims, given = arguments(function, 37)
        given = [*(abs(a) for a in given), *(np.zeros_like(a) for a in given[:-1]), np.ones_like(given[-1])]
        for code in both_codes(monkeypatch, made, Options()):
            results.append([np.nan_to_num(a) for a in given])
            execute(code, made, dims, results[-1])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert np.any(results[0][len(function.params)] != 0)


def test_all_states_are_kept() -> None:
    text = wide_text(reductions(adjoint(rays.specialise().function)))
    assert "groups:" in text and "alloca [384 x float]" in text  # 24 turns of 16 threads


@wb.kernel
def by_steps(x: D, y: D):
    i = wb.tid()
    s, n = x[i], wb.int8(0)
    while n < wb.int8(125) and s < wb.float64(30.0):
        s = s * wb.float64(1.02) + wb.sin(s) * wb.float64(0.01) + wb.float64(0.1)
        n += wb.int8(wb.static(STEP))
    y[i] = s


@pytest.mark.parametrize(("step", "turns", "kept"), [(3, 42, True), (24, 6, False)])
def test_a_counter_that_begins_again_below_its_end_bounds_nothing(
    step: int, turns: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By 24 it is 120, and then -112."""
    monkeypatch.setitem(globals(), "STEP", step)
    made = adjoint(by_steps.specialise().function)
    assert (turns in {op.result.type.count for op in walk(made.body) if op.name == "slots"}) == kept


@pytest.mark.slow
@pytest.mark.parametrize("kernel", GRADIENTS, ids=lambda k: k.name)
def test_gradients_are_those_of_differences(kernel: Kernel) -> None:
    function = kernel.specialise().function
    dims, given = arguments(function, 19)
    arrays = [wb.array(np.nan_to_num(a)) for a in given]
    assert wb.gradcheck(kernel, dims, inputs=arrays[:-1], outputs=arrays[-1:]).ok
