"""Compare gangs with NumPy: strided accesses, structs, the rest of a row, and loops of one thread."""

from __future__ import annotations

import ctypes
import mmap
import os
from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb

LEVELS = ("native", "x86-64-v3", "x86-64-v2")
N = 45
"""Threads: two gangs, and a part of one."""


@wb.struct
class Particle:
    mass: float
    at: wb.vec3
    alive: wb.uint8
    charge: float
    kind: int


def _of_structs() -> dict[str, wb.Kernel]:
    """Return kernels over structs, vectors and matrices that no other level has compiled."""

    @wb.kernel
    def fields(p: wb.array[Particle], y: wb.array[float]):
        i = wb.tid()
        y[i] = p[i].mass * p[i].at[1] + p[i].charge * float(p[i].kind)

    @wb.kernel
    def fields_of_some(p: wb.array[Particle], other: wb.array[int], y: wb.array[float]):
        i = wb.tid()
        k = other[i]
        if k >= 0:
            y[i] = p[k].mass * p[k].at[2] + p[k].charge + float(int(p[k].alive))

    @wb.kernel
    def moved(p: wb.array[Particle], dt: float):
        i = wb.tid()
        if p[i].kind > 2:
            p[i].charge += dt * p[i].mass
            p[i].at = p[i].at * dt

    @wb.kernel
    def products(a: wb.array[wb.mat44], b: wb.array[wb.mat44], c: wb.array[wb.mat44], n: int):
        i = wb.tid()
        if i >= n:
            return
        c[i] = a[i] @ b[i]

    @wb.kernel
    def wide_products(a: wb.array[wb.mat33d], chosen: wb.array[bool], c: wb.array[wb.mat33d]):
        i = wb.tid()
        if chosen[i]:
            c[i] = a[i] @ a[i]

    @wb.kernel
    def rows_of_some(v: wb.array[wb.vec4], w: wb.array[wb.vec3], at: wb.array[int], q: wb.array[wb.vec4]):
        i = wb.tid()
        k = at[i]
        if k >= 0:
            q[k] = v[k] * w[k][0] + v[k] * w[k][2]

    return dict(locals())


def _of_indices() -> dict[str, wb.Kernel]:
    """Return kernels over computed indices that no other level has compiled."""

    @wb.kernel
    def products_and_an_edge(
        a: wb.array2d[float], b: wb.array2d[float], x: wb.array[float], n: int, c: wb.array2d[float], d: wb.array[float]
    ):
        i, j = wb.tid()
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j] * x[k * n + j]
        c[i, j] = s * x[i + j]
        if x[j - n * i] > 0.25:
            d[i * b.shape[1] + j + n] = s

    @wb.kernel
    def diagonals(a: wb.array2d[float], b: wb.array2d[float], x: wb.array[float], c: wb.array2d[float]):
        i, j = wb.tid()
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s * x[i + j]

    @wb.kernel
    def triangles(
        a: wb.array2d[float], ends: wb.array[int], c: wb.array2d[float], d: wb.array2d[wb.int64], e: wb.array2d[float]
    ):
        i, j = wb.tid()
        s, turns, last = 0.0, 0, -1
        for k in range(2, ends[j]):
            s += a[i, k] * a[k, j]
            e[k, j] += 1.0
            turns += 2
            last = k
        for k in range(a.shape[0] - 1, j // 2, -1):
            s -= a[k, j]
        c[i, j] = s
        d[i, j] = wb.int64(1000 * turns + last)

    return dict(locals())


def _of_sums_by_index() -> dict[str, wb.Kernel]:
    """Return kernels whose threads add up elements by index, that no other level has compiled."""

    @wb.kernel
    def sparse(
        row: wb.array[int], column: wb.array[int], value: wb.array[float], x: wb.array[float], y: wb.array[float]
    ):
        i = wb.tid()
        s = 0.0
        for k in range(row[i], row[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s

    @wb.kernel
    def sparse_and_powers(
        row: wb.array[int], column: wb.array[int], value: wb.array[float], x: wb.array[float], y: wb.array[float]
    ):
        i = wb.tid()
        s = 0.0
        for k in range(row[i], row[i + 1]):
            s += value[k] * x[column[k]]
        for _k in range(50):
            s = s * 0.5 + 1.0
        y[i] = s

    return dict(locals())


def _of_places_by_data() -> dict[str, wb.Kernel]:
    """Return kernels that store where data says, that no other level has compiled."""

    @wb.kernel
    def moved_by_data(x: wb.array[float], by: wb.array[int], y: wb.array[float], z: wb.array[float]):
        i, j = wb.tid()
        at = by[i] + j
        if j % 3 != 1:
            y[i * 40 + j] = x[at] + x[at - 1]
        z[at] = float(i)

    return dict(locals())


@pytest.fixture(params=LEVELS)
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return the kernels, compiled for one level of x86 (elsewhere for this machine alone)."""
    if request.param != "native":
        from workbench.backends.cpu.machine import X86

        if not X86:
            pytest.skip("levels of x86")
        monkeypatch.setenv("WORKBENCH_CPU", request.param)
    return SimpleNamespace(**_of_structs(), **_of_indices(), **_of_sums_by_index(), **_of_places_by_data())


LAYOUT = np.dtype([("mass", "f4"), ("at", "f4", 3), ("alive", "u1"), ("charge", "f4"), ("kind", "i4")], align=True)


def _particles() -> np.ndarray:
    rng, p = np.random.default_rng(4), np.zeros(N, LAYOUT)
    for name in ("mass", "charge"):
        p[name] = rng.random(N)
    p["at"], p["alive"], p["kind"] = rng.random((N, 3)), rng.integers(0, 2, N), rng.integers(0, 5, N)
    return p


def _some() -> np.ndarray:
    """Return each index once or not at all, and -1 for the others."""
    rng = np.random.default_rng(5)
    return np.where(rng.random(N) < 0.6, rng.permutation(N), -1).astype(np.int32)


def _before_a_hole(values: np.ndarray) -> np.ndarray:
    """Return a copy that ends where no memory can be read."""
    if os.name == "nt":
        return values.copy()
    room = -(-values.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + room), mmap.PAGESIZE, 0) == 0
    copy = np.frombuffer(memory, values.dtype, values.size, room - values.nbytes).reshape(values.shape)
    copy[...] = values
    return copy


def test_fields_of_structs(kernels: SimpleNamespace) -> None:
    p, other, y, z = _before_a_hole(_particles()), _some(), np.zeros(N, np.float32), np.zeros(N, np.float32)
    wb.launch(kernels.fields, N, [p, y])
    np.testing.assert_array_equal(y, p["mass"] * p["at"][:, 1] + p["charge"] * p["kind"].astype("f4"))
    wb.launch(kernels.fields_of_some, N, [p, other, z])
    q = p[other]
    expected = q["mass"] * q["at"][:, 2] + q["charge"] + q["alive"]
    np.testing.assert_array_equal(z, np.where(other >= 0, expected, 0))


def test_fields_of_some_structs_change(kernels: SimpleNamespace) -> None:
    p, dt = _before_a_hole(_particles()), np.float32(0.5)
    expected, some = p.copy(), p["kind"] > 2
    expected["charge"][some] += dt * p["mass"][some]
    expected["at"][some] *= dt
    wb.launch(kernels.moved, N, [p, 0.5])
    for name in LAYOUT.names:
        np.testing.assert_array_equal(p[name], expected[name])


def test_matrices_under_a_mask(kernels: SimpleNamespace) -> None:
    rng = np.random.default_rng(6)
    a, b = (_before_a_hole(rng.random((N, 4, 4), dtype=np.float32)) for _ in range(2))
    for n in (N, N - 7, 3):
        c = _before_a_hole(np.zeros_like(a))
        wb.launch(kernels.products, N, [a, b, c, n])
        np.testing.assert_allclose(c[:n], a[:n] @ b[:n], rtol=1e-6)
        assert not c[n:].any()
    d, chosen, e = _before_a_hole(rng.random((N, 3, 3))), rng.random(N) < 0.5, _before_a_hole(np.zeros((N, 3, 3)))
    wb.launch(kernels.wide_products, N, [d, chosen, e])
    np.testing.assert_allclose(e, np.where(chosen[:, None, None], d @ d, 0), rtol=1e-14)


def test_vectors_by_an_index_that_some_threads_have(kernels: SimpleNamespace) -> None:
    rng, at = np.random.default_rng(7), _some()
    v, w, q = (_before_a_hole(a) for a in (rng.random((N, 4)), rng.random((N, 3)), np.zeros((N, 4))))
    v, w, q = (_before_a_hole(a.astype(np.float32)) for a in (v, w, q))
    wb.launch(kernels.rows_of_some, N, [v, w, at, q])
    expected = v * w[:, :1] + v * w[:, 2:]
    expected[~np.isin(np.arange(N), at)] = 0
    np.testing.assert_allclose(q, expected, rtol=1e-6)


@wb.kernel
def blurred(x: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    s = 0.0
    for k in range(3):
        s += x[i, j + k]
    if s > 1.5:
        y[i, j] = s


@pytest.mark.parametrize("columns", [1, 3, 4, 5, 15, 17, 23, 31, 36])
def test_what_is_left_of_a_row(columns: int) -> None:
    x = np.random.default_rng(columns).random((5, columns + 2), dtype=np.float32)
    x, y = _before_a_hole(x), _before_a_hole(np.zeros((5, columns), np.float32))
    wb.launch(blurred, (5, columns), [x, y])
    s = x[:, :-2] + x[:, 1:-1] + x[:, 2:]
    np.testing.assert_array_equal(y, np.where(s > 1.5, s, 0))


@wb.kernel
def logistic(x: wb.array[float], turns: int, y: wb.array[float]):
    i = wb.tid()
    v = x[i]
    for _ in range(turns):
        v = 3.7 * v * (1.0 - v)
    y[i] = v


@pytest.mark.parametrize("n", [1, 3, 4, 15, 21, 64, 79])
def test_few_threads_with_loops_have_the_bits_of_many(n: int) -> None:
    x = np.random.default_rng(1).random(79, dtype=np.float32)
    few, many = np.zeros(n, np.float32), np.zeros(79, np.float32)
    wb.launch(logistic, n, [x, 40, few])
    wb.launch(logistic, 79, [x, 40, many])
    np.testing.assert_array_equal(few, many[:n])
    v = x.astype(np.float64)
    for _ in range(6):
        v = 3.7 * v * (1.0 - v)
    short = np.zeros(79, np.float32)
    wb.launch(logistic, 79, [x, 6, short])
    np.testing.assert_allclose(short, v, rtol=1e-4)


@wb.kernel
def downwards(first: wb.array[int], last: int, w: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    s = 0.0
    turns = 0
    for k in range(first[i], last, -1):
        s = s * 0.5 + w[k]
        if w[k] < 0.0:
            s += float(i)
        turns += 1
    y[i] = s + float(turns)


@pytest.mark.parametrize("last", [-1, 4])
def test_loops_that_threads_begin_at_different_turns(last: int) -> None:
    rng = np.random.default_rng(8)
    first, w, y = rng.integers(-3, 30, N).astype(np.int32), rng.standard_normal(30).astype(np.float32), np.zeros(N)
    y = y.astype(np.float32)
    wb.launch(downwards, N, [first, last, w, y])
    for i in range(N):
        s, k = np.float32(0), int(first[i])
        turns = max(0, k - last)
        while k > last:
            s = s * np.float32(0.5) + w[k]
            s, k = s + np.float32(i) if w[k] < 0 else s, k - 1
        assert y[i] == s + np.float32(turns), i


def test_the_gradient_of_a_loop_that_threads_leave_one_by_one() -> None:
    @wb.kernel
    def powers(x: wb.array[float], turns: wb.array[int], w: wb.array[float], y: wb.array[float]):
        i = wb.tid()
        v = x[i]
        for k in range(turns[i]):
            v = v * w[k]
            if v < 0.01:
                break
        y[i] = v

    rng = np.random.default_rng(9)
    x, w = rng.random(N).astype(np.float32) + 0.5, rng.random(12).astype(np.float32)
    turns = rng.integers(0, 13, N).astype(np.int32)
    gx, gw = wb.array(x, requires_grad=True), wb.array(w, requires_grad=True)
    y = wb.zeros(N, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(powers, N, [gx, turns, gw, y])
    tape.backward(grads={y: wb.ones(N)})
    by_x, by_w = np.ones(N), np.zeros(12)
    for i in range(N):
        v, used = float(x[i]), list[int]()
        for k in range(turns[i]):
            v, used = v * float(w[k]), [*used, k]
            if v < 0.01:
                break
        by_x[i] = v / float(x[i])
        np.add.at(by_w, used, v / w[used].astype(np.float64))
    np.testing.assert_allclose(gx.grad.numpy(), by_x, rtol=1e-5)
    np.testing.assert_allclose(gw.grad.numpy(), by_w, rtol=1e-5)


@wb.kernel
def counts(
    a: wb.array2d[int], limit: int, total: wb.array[int], most: wb.array[int], bits: wb.array[int], n: wb.array[int]
):
    i = wb.tid()
    s, m, b, c = 0, -5, 0, 0
    for k in range(a.shape[1]):
        s += a[i, k]
    for k in range(a.shape[1]):
        m = wb.max(m, a[i, k])
        b = b ^ a[i, k]
    for k in range(a.shape[1]):
        if a[i, k] > limit:
            c += 2
    total[i], most[i], bits[i], n[i] = s, m, b, c


@wb.kernel
def mixed(a: wb.array2d[int], y: wb.array[int]):
    i = wb.tid()
    s, t = 1, 2
    for k in range(a.shape[1]):
        s, t = t, s * 3 + a[i, k]
    y[i] = s - t


@pytest.mark.parametrize(("rows", "columns"), [(1, 40), (19, 37), (70, 3), (64, 0)])
def test_integers_summed_along_rows(rows: int, columns: int) -> None:
    a = np.random.default_rng(rows).integers(-(2**31), 2**31, (rows, columns)).astype(np.int32)
    total, most, bits, n, y = (np.zeros(rows, np.int32) for _ in range(5))
    wb.launch(counts, rows, [a, 7, total, most, bits, n])
    np.testing.assert_array_equal(total, a.sum(1, dtype=np.int32))
    np.testing.assert_array_equal(most, np.maximum(a.max(1, initial=-5), -5))
    np.testing.assert_array_equal(bits, np.bitwise_xor.reduce(a, 1))
    np.testing.assert_array_equal(n, 2 * (a > 7).sum(1))
    wb.launch(mixed, rows, [a, y])
    s, t = np.full(rows, 1, np.int32), np.full(rows, 2, np.int32)
    for k in range(columns):
        s, t = t, s * np.int32(3) + a[:, k]
    np.testing.assert_array_equal(y, s - t)


@pytest.mark.parametrize("kernel", ["sparse", "sparse_and_powers"])
def test_a_sparse_product(kernel: str, kernels: SimpleNamespace) -> None:
    rng = np.random.default_rng(10)
    row = np.concatenate([[0], np.cumsum(rng.integers(0, 9, N))]).astype(np.int32)
    column, value = rng.integers(-20, 20, row[-1]).astype(np.int32), rng.random(row[-1], dtype=np.float32)
    x, y = rng.random(20, dtype=np.float32), np.zeros(N, np.float32)
    wb.launch(getattr(kernels, kernel), N, [row, column, value, x, y])
    for i in range(N):
        s = np.float32(0)
        for k in range(row[i], row[i + 1]):
            s += value[k] * x[column[k]]
        if kernel == "sparse_and_powers":
            for _ in range(50):
                s = s * np.float32(0.5) + np.float32(1)
        assert y[i] == s


@pytest.mark.parametrize("n", [0, 3, -1, -4, 17])
def test_linear_indices_that_count_from_the_end(n: int, kernels: SimpleNamespace) -> None:
    draw, size = np.random.default_rng(n + 50), 2000
    a, b, x = (draw.random(shape, np.float32) for shape in ((13, 7), (7, 83), (size,)))
    c, d = wb.zeros((13, 83)), wb.zeros(size)
    wb.launch(kernels.products_and_an_edge, (13, 83), [*map(wb.array, (a, b, x)), n], [c, d])
    i, j = np.mgrid[:13, :83]
    s = np.zeros((13, 83), np.float32)
    for k in range(7):
        s += a[:, k, None] * b[k] * x[k * n + j]
    np.testing.assert_array_equal(c.numpy(), s * x[i + j])
    expected, on = np.zeros(size, np.float32), x[j - n * i] > 0.25
    expected[(i * 83 + j + n)[on]] = s[on]
    np.testing.assert_array_equal(d.numpy(), expected)


def test_rows_that_go_together_have_indices_of_their_own(kernels: SimpleNamespace) -> None:
    draw = np.random.default_rng(8)
    a, b, x = (draw.random(shape, np.float32) for shape in ((13, 7), (7, 83), (200,)))
    c = wb.zeros((13, 83))
    wb.launch(kernels.diagonals, (13, 83), [*map(wb.array, (a, b, x))], [c])
    i, j = np.mgrid[:13, :83]
    np.testing.assert_allclose(c.numpy(), (a @ b) * x[i + j], rtol=1e-5)


@pytest.mark.parametrize("columns", [1, 17, 70])
def test_loops_that_lanes_begin_together(columns: int, kernels: SimpleNamespace) -> None:
    draw = np.random.default_rng(columns)
    a, ends = draw.random((90, columns), np.float32), draw.integers(-4, columns, columns, np.int32)
    ends[::5] = columns
    c, d, e = wb.zeros((1, columns)), wb.zeros((1, columns), wb.int64), wb.zeros((90, columns))
    wb.launch(kernels.triangles, (1, columns), [wb.array(a), wb.array(ends)], [c, d, e])
    for j, end in enumerate(ends):
        s = np.float32(0)
        for k in range(2, end):
            s += a[0, k] * a[k, j]
        for k in range(89, j // 2, -1):
            s -= a[k, j]
        turns = max(0, end - 2)
        assert c.numpy()[0, j] == s
        assert d.numpy()[0, j] == 2000 * turns + (end - 1 if turns else -1)
        assert np.array_equal(e.numpy()[:, j], (np.arange(90) >= 2) & (np.arange(90) < end))


@pytest.mark.parametrize("first", [-60, -17, -5, 0, 9])
def test_rows_that_lie_where_data_says(first: int, kernels: SimpleNamespace) -> None:
    x = np.random.default_rng(4).random(200, np.float32)
    by = np.arange(first, first + 5 * 3, 3, dtype=np.int32)
    y, z = wb.zeros(240), wb.zeros(200)
    wb.launch(kernels.moved_by_data, (5, 37), [wb.array(x), wb.array(by)], [y, z])
    i, j = (v.ravel() for v in np.mgrid[:5, :37])
    at, on = by[i] + j, j % 3 != 1
    expected, last = np.zeros(240, np.float32), np.zeros(200, np.float32)
    expected[(i * 40 + j)[on]] = (x[at] + x[at - 1])[on]
    np.testing.assert_array_equal(y.numpy(), expected)
    last[at] = i  # of threads with one element the last one wins, row after row
    np.testing.assert_array_equal(z.numpy(), last)
