"""Kernels whose threads run as vectors under a mask, at sizes around each width, against NumPy."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform

import numpy as np
import pytest

import workbench as wb
from workbench.backends.base import Options
from workbench.backends.cpu import compile as cpu
from workbench.backends.cpu import machine
from workbench.errors import KernelFault

SIZES = (1, 15, 16, 17, 33, 63, 64, 65, 130)


@wb.kernel
def saxpy(a: float, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = a * x[i] + y[i]


@wb.kernel
def brighter(x: wb.array[wb.uint8], y: wb.array[wb.uint8]):
    i = wb.tid()
    y[i] = x[i] + wb.uint8(200)


@wb.kernel
def taken(x: wb.array[float], best: wb.array[float], old: wb.array[float]):
    i = wb.tid()
    v = x[i]
    before = v
    if v > 0.0:
        before = best[i]
        best[i] = v
    old[i] = before


@wb.kernel
def collatz(x: wb.array[int], steps: wb.array[int]):
    i = wb.tid()
    v = x[i]
    n = 0
    while v > 1:
        if v % 2 == 0:
            v = v // 2
        else:
            v = 3 * v + 1
        n += 1
    steps[i] = n


@wb.kernel
def ranges(a: wb.array[wb.int64], b: wb.array[wb.int64], step: wb.array[wb.int64], y: wb.array[wb.int64]):
    i = wb.tid()
    s = wb.int64(0)
    for k in range(a[i], b[i], step[i]):
        if k == wb.int64(7):
            break
        if k % wb.int64(3) == wb.int64(0):
            continue
        s = s * wb.int64(3) + k
    y[i] = s


@wb.kernel
def rotated(p: wb.array[wb.vec3], m: wb.array[wb.mat33], chosen: wb.array[bool], q: wb.array[wb.vec3]):
    i = wb.tid()
    v = p[i]
    if chosen[i]:
        v = m[i] @ v
    q[i] = v
    chosen[i] = v[i % 3] > 0.5


@wb.kernel
def narrow(x: wb.array[wb.float16], y: wb.array[wb.uint8], z: wb.array[wb.float16]):
    i = wb.tid()
    if x[i] > wb.float16(0.0):
        z[i] = x[i] * wb.float16(2.0)
    else:
        y[i] = y[i] + wb.uint8(200)


@wb.kernel
def divided(a: wb.array[wb.int32], b: wb.array[wb.int32], q: wb.array[wb.int32]):
    i = wb.tid()
    if b[i] > 1 or b[i] < -1:
        q[i] = a[i] // b[i] + a[i] % b[i]


@wb.kernel
def added(x: wb.array[float], where: wb.array[int], sums: wb.array[float], best: wb.array[float], n: wb.array[int]):
    i = wb.tid()
    if x[i] > 0.25:
        wb.atomic_add(sums, where[i], x[i])
        n[0] += 1
    wb.atomic_max(best, 0, x[i])


@wb.kernel
def ninths(x: wb.array2d[wb.float64], y: wb.array2d[wb.float64]):
    i, j = wb.tid()
    n, m = x.shape[0], x.shape[1]
    s = wb.float64(0.0)
    for a in range(3):
        for b in range(3):
            s += x[(i + a - 1) % n, min(max(j + b - 1, 0), m - 1)] * wb.float64(3 * a + b)
    y[i, j] = s


@wb.kernel
def strided(x: wb.array[float], y: wb.array[float], step: int):
    i = wb.tid()
    y[2 * i] = x[3 * i + 1] + x[x.shape[0] - 1 - i]
    y[2 * i + 1] = x[i * step]


@wb.kernel
def maths(x: wb.array[float], y: wb.array[wb.float64]):
    i = wb.tid()
    v = wb.float64(x[i])
    if x[i] > 0.25:
        y[i] = wb.atan2(v, wb.float64(0.5)) + wb.asin(v) + wb.pow(v, wb.float64(2.5))
    else:
        y[i] = wb.float64(wb.tanh(x[i])) * wb.exp(v) + wb.log(v + wb.float64(1.0))


@wb.kernel
def pieces(x: wb.array[float], w: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    v = x[i]
    if v > 1.0:
        y[i] = v * w[0]
    elif v > 0.0:
        s = 0.0
        for _ in range(5):
            s = s * v + wb.sin(s + v)
        y[i] = s
    else:
        y[i] = v * v


@wb.kernel
def weighted(x: wb.array2d[float], w: wb.array[float], y: wb.array[float], n: wb.array[int]):
    i = wb.tid()
    s = 0.0
    for k in range(w.shape[0]):
        s += x[k, i] * w[k]
        if x[k, i] > 0.5:
            wb.atomic_add(n, k, 1)
    y[i] = s


@wb.kernel
def searched(x: wb.array2d[float], w: wb.array[float], found: wb.array[int], low: wb.array[bool], some: wb.array[bool]):
    i = wb.tid()
    k = 0
    on, seen = True, False
    while k < w.shape[0] and on:
        v = x[k, i] * w[k]
        on = v < 0.8
        if k % 2 == 0:
            seen = seen or v < 0.1
        k += 1
    found[i] = k
    low[i] = seen
    some[i] = seen != on


@wb.kernel
def faulty(x: wb.array[float], where: wb.array[int], by: wb.array[int], y: wb.array[float]):
    i = wb.tid()
    by[i] = 10 // by[i]
    y[i] = x[where[i]]


@wb.kernel
def counted(lock: wb.array[int], n: wb.array[int]):
    i = wb.tid()
    if i % 2 == 0:
        while wb.atomic_cas(lock, 0, 0, 1) != 0:
            pass
        n[0] = n[0] + 1
        wb.atomic_exch(lock, 0, 0)


@wb.kernel
def ticketed(turn: wb.array[int], order: wb.array[int]):
    i = wb.tid()
    while wb.atomic_add(turn, 0, 0) != i:
        pass
    order[i] = turn[0]
    wb.atomic_add(turn, 0, 1)


@wb.kernel
def alive(a: wb.array[wb.uint8], b: wb.array[wb.uint8]):
    i = wb.tid()
    b[i] = wb.uint8(0)
    s = int(a[i]) + int(a[i + 1]) + int(a[i + 2])
    if s == 2 or (s == 3 and a[i] == wb.uint8(1)):
        b[i] = wb.uint8(s)


@wb.kernel
def tapped(x: wb.array[float], w: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    s = wb.float32(0.0)
    for k in range(7):
        s += x[i + k] * w[k]
    y[i] = s


GANGS = [
    *(
        saxpy,
        brighter,
        taken,
        collatz,
        ranges,
        rotated,
        narrow,
        divided,
        added,
        ninths,
        strided,
        maths,
        pieces,
        weighted,
        searched,
        faulty,
        alive,
        tapped,
    ),
]


@pytest.mark.parametrize("kernel", GANGS, ids=lambda k: k.__name__)
def test_threads_are_vectors_in_the_text(kernel: wb.Kernel) -> None:
    assert cpu.emitted(kernel.specialise().function, Options(), machine.target()).gangs


def test_threads_that_wait_for_one_another_are_not() -> None:
    for kernel in (counted, ticketed):
        assert not cpu.emitted(kernel.specialise().function, Options(), machine.target()).gangs


@pytest.mark.parametrize("n", SIZES)
def test_straight_code(n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.random((2, n), dtype=np.float32)
    expected = np.float32(1.5) * x + y
    wb.launch(saxpy, n, [1.5, x, y])
    np.testing.assert_array_equal(y, expected)
    pixels = rng.integers(0, 256, n).astype(np.uint8)
    bright = np.zeros_like(pixels)
    wb.launch(brighter, n, [pixels, bright])
    np.testing.assert_array_equal(bright, pixels + np.uint8(200))


@pytest.mark.parametrize("n", SIZES)
def test_a_branch_that_reads_and_then_overwrites(n: int) -> None:
    x = np.linspace(-1, 2, n, dtype=np.float32)
    best, old = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    wb.launch(taken, n, [x, best, old])
    np.testing.assert_array_equal(old, np.where(x > 0, np.arange(n), x))
    np.testing.assert_array_equal(best, np.where(x > 0, x, np.arange(n)))


@pytest.mark.parametrize("n", SIZES)
def test_loops_that_threads_leave_at_different_times(n: int) -> None:
    x, steps = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    wb.launch(collatz, n, [x, steps])
    assert steps.tolist() == [_collatz(v) for v in range(n)]
    rng = np.random.default_rng(n)
    a, b, y = *rng.integers(-20, 20, (2, n)), np.zeros(n, np.int64)
    step = rng.choice([-3, -1, 1, 2, 5], n)
    wb.launch(ranges, n, [a, b, step, y])
    assert y.tolist() == [_ranges(*map(int, row)) for row in zip(a, b, step, strict=True)]


@pytest.mark.parametrize("n", SIZES)
def test_a_search_whose_threads_count_and_carry_bools(n: int) -> None:
    x, w = np.random.default_rng(n).random((7, n), dtype=np.float32), np.linspace(1, 1.2, 7, dtype=np.float32)
    found, low, some = np.zeros(n, np.int32), np.zeros(n, bool), np.zeros(n, bool)
    wb.launch(searched, n, [x, w, found, low, some])
    v = x * w[:, None]
    ends = np.where((v >= np.float32(0.8)).any(0), (v >= np.float32(0.8)).argmax(0) + 1, 7)
    inside = np.arange(7)[:, None] < ends
    seen = (inside & (v < np.float32(0.1)))[::2].any(0)
    np.testing.assert_array_equal(found, ends)
    np.testing.assert_array_equal(low, seen)
    np.testing.assert_array_equal(some, seen != (v[ends - 1, np.arange(n)] < np.float32(0.8)))


def _collatz(v: int) -> int:
    n = 0
    while v > 1:
        v, n = v // 2 if v % 2 == 0 else 3 * v + 1, n + 1
    return n


def _ranges(a: int, b: int, step: int) -> int:
    s = 0
    for k in range(a, b, step):
        if k == 7:
            break
        s = s if k % 3 == 0 else s * 3 + k
    return s


@pytest.mark.parametrize("n", SIZES)
def test_vectors_matrices_and_bools(n: int) -> None:
    rng = np.random.default_rng(n)
    p, m, chosen = rng.random((n, 3), np.float32), rng.random((n, 3, 3), np.float32), rng.random(n) > 0.5
    q, flags = wb.zeros(n, dtype=wb.vec3), wb.array(chosen)
    wb.launch(rotated, n, [wb.array(p, dtype=wb.vec3), wb.array(m, dtype=wb.mat33), flags, q])
    expected = np.where(chosen[:, None], np.einsum("nij,nj->ni", m, p), p)
    np.testing.assert_allclose(q.numpy(), expected, rtol=1e-5)
    np.testing.assert_array_equal(flags.numpy(), q.numpy()[np.arange(n), np.arange(n) % 3] > 0.5)


@pytest.mark.parametrize("n", SIZES)
def test_narrow_types_in_a_branch(n: int) -> None:
    rng = np.random.default_rng(n)
    x, y, z = rng.standard_normal(n).astype(np.float16), rng.integers(0, 256, n).astype(np.uint8), np.zeros(n, "f2")
    bytes_, halves = np.where(x > 0, y, y + np.uint8(200)), np.where(x > 0, 2 * x, np.float16(0))
    wb.launch(narrow, n, [x, y, z])
    np.testing.assert_array_equal(y, bytes_)
    np.testing.assert_array_equal(z, halves)


def test_lanes_that_are_off_do_not_trap() -> None:
    a = np.resize(np.array([-(2**31), 2**31 - 1, 5, -7, 0], np.int32), 130)
    b = np.resize(np.array([0, -1, 1, 3, -3, 7], np.int32), 130)
    q = np.zeros(130, np.int32)
    wb.launch(divided, 130, [a, b, q])
    by = np.where(np.abs(b) > 1, b, 1)
    np.testing.assert_array_equal(q, np.where(np.abs(b) > 1, a // by + a % by, 0))


def _before_a_hole(values: np.ndarray) -> np.ndarray:
    """Return a copy that ends where no memory can be read."""
    page = mmap.PAGESIZE
    room = -(-values.nbytes // page) * page
    memory = mmap.mmap(-1, room + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + room), page, 0) != 0:
        raise OSError(ctypes.get_errno())
    copy = np.frombuffer(memory, values.dtype, values.size, room - values.nbytes).reshape(values.shape)
    copy[...] = values
    return copy


@pytest.mark.skipif(os.name == "nt", reason="mprotect is POSIX's")
@pytest.mark.parametrize("n", SIZES)
def test_arrays_that_end_where_memory_ends(n: int) -> None:
    """Threads beyond an array's end do not touch it: they are off, or do not exist."""
    rng = np.random.default_rng(n)
    values = rng.random(n, dtype=np.float32)
    x, best, old = map(_before_a_hole, (values, np.zeros(n, np.float32), np.zeros(n, np.float32)))
    wb.launch(taken, n, [x, best, old])
    np.testing.assert_array_equal(best, values)
    half, flags, bits = _before_a_hole(values.astype("f2")), _before_a_hole(np.zeros(n, np.uint8)), np.zeros(n, "f2")
    wb.launch(narrow, n, [half, flags, _before_a_hole(bits)])
    assert set(flags.tolist()) <= {0, 200}


@pytest.mark.parametrize("n", SIZES)
def test_changes_of_shared_elements(n: int) -> None:
    rng = np.random.default_rng(n)
    x, where = rng.random(n, dtype=np.float32), rng.integers(0, 8, n).astype(np.int32)
    sums, best, count = np.zeros(8, np.float32), np.zeros(1, np.float32), np.zeros(1, np.int32)
    wb.launch(added, n, [x, where, sums, best, count])
    expected = np.zeros(8, np.float32)
    np.add.at(expected, where[x > 0.25], x[x > 0.25])
    np.testing.assert_allclose(sums, expected, rtol=1e-6)
    assert best[0] == x.max() and count[0] == (x > 0.25).sum()


@pytest.mark.parametrize("n", SIZES)
def test_elements_that_all_threads_add_to(n: int) -> None:
    values = np.random.default_rng(n).random((5, n), dtype=np.float32)
    x, w = wb.array(values, requires_grad=True), wb.array(np.ones(5, np.float32), requires_grad=True)
    y, count = wb.zeros(n, requires_grad=True), wb.zeros(5, dtype=int)
    with wb.Tape() as tape:
        wb.launch(weighted, n, [x, w, y, count])
    np.testing.assert_array_equal(count.numpy(), (values > 0.5).sum(1))
    tape.backward(grads={y: wb.ones(n)})
    np.testing.assert_allclose(w.grad.numpy(), values.astype(np.float64).sum(1), rtol=1e-5)
    np.testing.assert_array_equal(x.grad.numpy(), np.ones((5, n)))


@pytest.mark.parametrize("n", SIZES)
def test_bytes_that_are_stored_and_then_some_again(n: int) -> None:
    a, b = np.random.default_rng(n).integers(0, 2, n + 2).astype(np.uint8), np.full(n, 9, np.uint8)
    wb.launch(alive, n, [a, b])
    s = a[:-2] + a[1:-1] + a[2:]
    np.testing.assert_array_equal(b, np.where((s == 2) | ((s == 3) & (a[:-2] == 1)), s, 0))


@pytest.mark.parametrize("n", (1, 16, 79, 80, 95, 130))
def test_a_loop_that_all_threads_share_and_its_gradient(n: int) -> None:
    """Rows are divided into gangs of 64 and 16 threads and single ones."""
    rng = np.random.default_rng(n)
    values, taps = rng.random(n + 6, dtype=np.float32), rng.random(7, dtype=np.float32)
    x, w = wb.array(values, requires_grad=True), wb.array(taps, requires_grad=True)
    y = wb.zeros(n, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(tapped, n, [x, w, y])
    expected = np.zeros(n, np.float32)
    for k in range(7):
        expected += values[k : k + n] * taps[k]
    np.testing.assert_array_equal(y.numpy(), expected)
    tape.backward(grads={y: wb.ones(n)})
    np.testing.assert_allclose(x.grad.numpy(), np.convolve(np.ones(n), taps), rtol=1e-6)
    windows = np.lib.stride_tricks.sliding_window_view(values.astype(np.float64), n)
    np.testing.assert_allclose(w.grad.numpy(), windows.sum(1), rtol=1e-6)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the levels are those of x86-64")
def test_sums_have_the_same_bits_at_each_level_of_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many threads a register holds is no part of the order in which they add to an element."""
    x, results = np.random.default_rng(3).random(150, dtype=np.float32), list[np.ndarray]()
    for level in ("x86-64-v2", "native"):
        monkeypatch.setenv("WORKBENCH_CPU", level)

        @wb.kernel
        def spread(x: wb.array[float], y: wb.array[float]):
            i = wb.tid()
            if x[i] > 0.05:
                wb.atomic_add(y, i, x[i] * 0.1)
                wb.atomic_add(y, i + 1, x[i] * 0.7)
                wb.atomic_add(y, i + 2, x[i] / 3.0)

        assert cpu.emitted(spread.specialise().function, Options(few_cores=True), machine.target()).gangs
        results.append(np.zeros(152, np.float32))
        wb.launch(spread, 150, [x, results[-1]])
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("shape", [(5, 1), (3, 17), (4, 40), (2, 67)])
def test_a_stencil_with_borders(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).random(shape)
    y = np.zeros(shape)
    wb.launch(ninths, shape, [x, y])
    wide = np.pad(x, ((0, 0), (1, 1)), "edge")
    terms = [(3 * a + b) * np.roll(wide, 1 - a, 0)[:, b : b + shape[1]] for a in range(3) for b in range(3)]
    np.testing.assert_allclose(y, sum(terms))


@pytest.mark.parametrize("shape", [(5, 1), (3, 17), (4, 40), (2, 67)])
def test_a_gradient_that_is_added_side_by_side(shape: tuple[int, int]) -> None:
    seed = np.random.default_rng(1).random(shape)
    x, y = (wb.array(np.zeros(shape), requires_grad=True) for _ in range(2))
    with wb.Tape() as tape:
        wb.launch(ninths, shape, [x, y])
    tape.backward(grads={y: wb.array(seed)})
    expected = np.zeros(shape)
    i, j = np.indices(shape)
    for a in range(3):
        for b in range(3):
            at = (i + a - 1) % shape[0], np.clip(j + b - 1, 0, shape[1] - 1)
            np.add.at(expected, at, (3 * a + b) * seed)
    np.testing.assert_allclose(x.grad.numpy(), expected)


@pytest.mark.parametrize("n", SIZES)
def test_steps_between_threads(n: int) -> None:
    x, y, i = np.random.default_rng(n).random(3 * n + 2, dtype=np.float32), np.zeros(2 * n, np.float32), np.arange(n)
    wb.launch(strided, n, [x, y, 2])
    np.testing.assert_array_equal(y[::2], x[3 * i + 1] + x[len(x) - 1 - i])
    np.testing.assert_array_equal(y[1::2], x[2 * i])


def test_maths_functions() -> None:
    x = np.random.default_rng(1).random(130, dtype=np.float32)
    y, v = np.zeros(130), x.astype(np.float64)
    wb.launch(maths, 130, [x, y])
    some = np.arctan2(v, 0.5) + np.arcsin(v) + v**2.5
    np.testing.assert_allclose(y, np.where(x > 0.25, some, np.tanh(v) * np.exp(v) + np.log(v + 1)), rtol=1e-6)


def test_a_gradient_of_pieces() -> None:
    x = wb.array(np.linspace(-2, 2.1, 131, dtype=np.float32), requires_grad=True)
    w, y = wb.array(np.ones(1, np.float32), requires_grad=True), wb.zeros(131, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(pieces, 131, [x, w, y])
    tape.backward(grads={y: wb.ones(131)})
    v, h = x.numpy().astype(np.float64), 1e-6
    np.testing.assert_allclose(x.grad.numpy(), (_pieces(v + h) - _pieces(v - h)) / (2 * h), atol=1e-4)
    np.testing.assert_allclose(w.grad.numpy()[0], v[v > 1].sum(), rtol=1e-5)


@wb.kernel
def cornered(m: wb.array[wb.mat33]):
    i = wb.tid()
    if i >= 0:
        m[0][1, 2] += 1.0


def test_a_component_that_all_threads_add_to() -> None:
    for checks in (False, True):
        m = wb.zeros(1, dtype=wb.mat33)
        wb.launch(cornered, 40, [m], checks=checks)
        assert m.numpy()[0].tolist() == [[0, 0, 0], [0, 0, 40], [0, 0, 0]]


def _pieces(v: np.ndarray) -> np.ndarray:
    s = np.zeros_like(v)
    for _ in range(5):
        s = s * v + np.sin(s + v)
    return np.where(v > 1, v, np.where(v > 0, s, v * v))


def test_the_fault_of_the_lowest_thread_is_told() -> None:
    """Thread 5 faults in the second line, thread 9 in the first."""
    where, by = np.zeros(70, np.int32), np.ones(70, np.int32)
    where[[5, 40]], by[9] = 7, 0
    with pytest.raises(KernelFault) as told:
        wb.launch(faulty, 70, [np.ones(4, np.float32), where, by, np.zeros(70, np.float32)], checks=True)
        wb.synchronize()
    assert told.value.thread == (5,) and told.value.count == 3


def test_threads_that_wait_for_one_another_end() -> None:
    lock, n = np.zeros(1, np.int32), np.zeros(1, np.int32)
    wb.launch(counted, 100, [lock, n])
    assert n[0] == 50
    turn, order = np.zeros(1, np.int32), np.zeros(100, np.int32)
    wb.launch(ticketed, 100, [turn, order])
    np.testing.assert_array_equal(order, np.arange(100))


@pytest.mark.parametrize("far", [2**16, 2**30, 2**31 - 99])
def test_an_index_that_comes_around_in_32_bits(far: int) -> None:
    """A number is added to the thread's index and taken off again: the sum may wrap on the way, where it has to."""

    @wb.kernel
    def around(x: wb.array[float], m: int, y: wb.array[float]):
        i = wb.tid()
        k = i + far
        y[i] = x[k - m] + float(k % 7) + x[1 + i] * x[2 + i - 1]
        for j in range(3):
            y[i] += x[i + far - m + j]

    x = np.random.default_rng(far).random(40, np.float32)
    y = wb.zeros(37)
    wb.launch(around, 37, [wb.array(x), far, y])
    k = (np.arange(37, dtype=np.int64) + far + 2**31) % 2**32 - 2**31
    exact = x[:37] + k % 7 + x[1:38].astype(np.float64) ** 2 + sum(x[j : j + 37].astype(np.float64) for j in range(3))
    np.testing.assert_allclose(y.numpy(), exact, rtol=1e-5)
