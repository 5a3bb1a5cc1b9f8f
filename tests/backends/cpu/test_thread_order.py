"""Forms of a kernel that suit memory: axes in another order, transposes, arrays by columns, loops from a thread's own
index, borders under conditions, loops written out, elements in registers. Results are NumPy's in each of them."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import KernelFault

RNG = np.random.default_rng(7)


def floats(*shape: int) -> np.ndarray:
    return RNG.uniform(-1.0, 1.0, shape).astype(np.float32)


@wb.kernel
def swapped(x: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    y[j, i] = 2.0 * x[j, i] + x[j, (i + 1) % x.shape[1]]


@wb.kernel
def turned(x: wb.array3d[float], y: wb.array3d[float]):
    i, j, k = wb.tid()
    y[j, k, i] = x[j, k, i] + float(100 * i + 10 * j + k)


@wb.kernel
def transposed(x: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    y[j, i] = x[i, j]


@wb.kernel
def columns_product(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
    j, i = wb.tid()
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


@wb.kernel
def in_place(x: wb.array2d[float], n: int):
    i, j = wb.tid()
    if i + n > j:
        x[j, i] = x[j, i] + float(i)


@pytest.mark.parametrize("shape", [(1, 1), (3, 70), (70, 3), (33, 17)])
def test_axes_that_change_places(shape: tuple[int, int]) -> None:
    x = floats(*shape)
    y = wb.zeros(shape)
    wb.launch(swapped, shape[::-1], [wb.array(x), y])
    assert np.array_equal(y.numpy(), np.float32(2.0) * x + np.roll(x, -1, 1))
    z = wb.zeros(shape[::-1])
    wb.launch(transposed, shape, [wb.array(x), z])
    assert np.array_equal(z.numpy(), x.T)
    w = wb.array(x)
    wb.launch(in_place, shape[::-1], [w, 2])
    rows, columns = np.indices(shape)
    assert np.array_equal(w.numpy(), np.where(columns + 2 > rows, x + columns.astype(np.float32), x))


def test_a_launch_smaller_than_its_arrays_leaves_the_rest() -> None:
    x = floats(40, 50)
    y = wb.zeros((40, 50))
    wb.launch(swapped, (20, 7), [wb.array(x), y])
    right = np.zeros_like(x)
    right[:7, :20] = (np.float32(2.0) * x + np.roll(x, -1, 1))[:7, :20]
    assert np.array_equal(y.numpy(), right)


def test_axes_of_three() -> None:
    x = floats(5, 6, 37)
    y = wb.zeros((5, 6, 37))
    wb.launch(turned, (37, 5, 6), [wb.array(x), y])
    j, k, i = np.indices(x.shape)
    assert np.array_equal(y.numpy(), x + (100 * i + 10 * j + k).astype(np.float32))


def test_a_product_whose_threads_go_down_columns() -> None:
    a, b = floats(9, 21), floats(21, 35)
    c = wb.zeros((9, 35))
    wb.launch(columns_product, (35, 9), [wb.array(a), wb.array(b), c])
    right = np.zeros((9, 35), np.float32)
    for k in range(21):  # one rounding after the other, as the kernel adds
        right += a[:, k : k + 1] * b[k]
    assert np.array_equal(c.numpy(), right)


def test_a_fault_names_the_thread_by_its_own_axes() -> None:
    with wb.checks(True), pytest.raises(KernelFault) as caught:
        wb.launch(transposed, (4, 9), [wb.zeros((4, 9)), wb.zeros((8, 4))])
    assert caught.value.thread == (0, 8)


@wb.kernel
def doubled(x: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    y[j, i] = 2.0 * x[j, i]


@pytest.mark.parametrize("shape", [(40, 10), (10, 40), (3, 50), (50, 3)])
@pytest.mark.parametrize("short", [(1, 0), (0, 1)])
def test_checks_ask_about_the_launch_as_it_is(shape: tuple[int, int], short: tuple[int, int]) -> None:
    x, y = wb.array(floats(*shape)), wb.zeros(shape)
    with wb.checks(True):
        wb.launch(doubled, shape[::-1], [x, y])
        assert np.array_equal(y.numpy(), 2 * x.numpy())
        rows, columns = shape[0] - short[0], shape[1] - short[1]
        small = wb.zeros((rows, columns))
        with pytest.raises(KernelFault) as caught:
            wb.launch(doubled, shape[::-1], [x, small])
    assert caught.value.thread == ((0, rows) if short[0] else (columns, 0))
    assert np.array_equal(small.numpy(), 2 * x.numpy()[:rows, :columns])


@wb.kernel
def column_sums(x: wb.array2d[float], y: wb.array[float], z: wb.array2d[float]):
    j, i = wb.tid()
    wb.atomic_add(y, i, x[i, j])
    wb.atomic_add(z, i, j, x[i, j])
    wb.atomic_add(z, i, j + 1, 3.0 * x[i, j])


@wb.kernel
def two_ways(x: wb.array2d[float], y: wb.array2d[float]):
    j, i = wb.tid()
    wb.atomic_add(y, i, j + 1, x[i, j])
    wb.atomic_add(y, i + 1, j, 3.0 * x[i, j])


@pytest.mark.parametrize("shape", [(3, 70), (70, 3), (33, 40)])
def test_threads_that_add_keep_their_order_whatever_axes_come_first(shape: tuple[int, int]) -> None:
    x = floats(*shape) * np.exp(RNG.uniform(-9.0, 9.0, shape)).astype(np.float32)
    h, w = shape
    y, z = wb.zeros(h), wb.zeros((h, w + 1))
    wb.launch(column_sums, (w, h), [wb.array(x), y, z], deterministic=True)
    sums, beside = np.zeros(h, np.float32), np.zeros((h, w + 1), np.float32)
    for j in range(w):  # as a loop over the threads adds, along both axes at once
        sums += x[:, j]
        beside[:, j] += x[:, j]
        beside[:, j + 1] += np.float32(3.0) * x[:, j]
    assert np.array_equal(y.numpy(), sums) and np.array_equal(z.numpy(), beside)
    corners = wb.zeros((h + 1, w + 1))
    wb.launch(two_ways, (w, h), [wb.array(x), corners])
    right = np.zeros((h + 1, w + 1), np.float32)
    for j in range(w):
        for i in range(h):
            right[i, j + 1] += x[i, j]
            right[i + 1, j] += np.float32(3.0) * x[i, j]
    assert np.array_equal(corners.numpy(), right)


@wb.kernel
def sums_within(x: wb.array2d[float], y: wb.array[float], z: wb.array[float]):
    j, i = wb.tid()
    if i < x.shape[0] and j < x.shape[1]:
        wb.atomic_add(y, i, x[i, j])
        wb.atomic_add(z, j, x[i, j])


@pytest.mark.parametrize("more", [0, 40])
def test_sums_have_the_same_bits_with_checks(more: int) -> None:
    x = floats(130, 170)
    sums = []
    for checks in (False, True):
        y, z = wb.zeros(130), wb.zeros(170)
        wb.launch(sums_within, (170 + more, 130 + more), [wb.array(x), y, z], checks=checks)
        sums.append((y.numpy().tolist(), z.numpy().tolist()))
        assert np.allclose(y.numpy(), x.sum(1), atol=1e-4) and np.allclose(z.numpy(), x.sum(0), atol=1e-4)
    assert sums[0] == sums[1]


@wb.kernel
def weighted(x: wb.array2d[float], b: wb.array[float], y: wb.array2d[float]):
    j, i = wb.tid()
    y[i, j] = x[i, j] * x[i, j] * b[j]


@wb.kernel
def differences(x: wb.array2d[float], y: wb.array2d[float]):
    j, i = wb.tid()
    y[i, j] = x[i, j] * x[i, j + 1]


def gradients(kernel: object, dim: tuple[int, ...], arrays: list[np.ndarray], seed: np.ndarray) -> list[np.ndarray]:
    inputs = [wb.array(a, requires_grad=True) for a in arrays]
    y = wb.zeros(seed.shape, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(kernel, dim, inputs, [y])
    tape.backward(grads={y: wb.array(seed)})
    return [x.grad.numpy() for x in inputs]


@pytest.mark.parametrize("shape", [(3, 70), (70, 3), (33, 40), (150, 130)])
def test_gradients_of_axes_that_change_places(shape: tuple[int, int]) -> None:
    x, b, seed, rest = floats(*shape), floats(shape[1]), floats(*shape), floats(shape[0], shape[1] - 1)
    dx, db = gradients(weighted, shape[::-1], [x, b], seed)
    assert np.allclose(dx, 2.0 * x * b * seed, rtol=1e-5)
    assert np.allclose(db, (x.astype(float) ** 2 * seed).sum(0), atol=1e-4)
    (dx,) = gradients(differences, (shape[1] - 1, shape[0]), [x], rest)
    right = np.zeros(shape)
    right[:, :-1] += x[:, 1:] * rest
    right[:, 1:] += x[:, :-1] * rest
    assert np.allclose(dx, right, atol=1e-5)
    a, c = floats(*shape), floats(shape[0], 21)
    da, dc = gradients(columns_product, (21, shape[0]), [a, floats(shape[1], 21)], c)
    assert np.allclose(dc, a.T.astype(float) @ c, atol=1e-4) and da.shape == a.shape


@wb.kernel
def last_of_all(x: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    y[j, i] = x[j, i]


def test_the_last_thread_wins_where_elements_share_memory() -> None:
    x = floats(30, 40)
    line = wb.zeros(69)
    y = line.numpy()
    shared = wb.array(np.lib.stride_tricks.as_strided(y, (30, 40), (4, 4)), copy=False)
    wb.launch(last_of_all, (40, 30), [wb.array(x), shared])
    right = np.zeros(69, np.float32)
    for i in range(40):
        for j in range(30):
            right[i + j] = x[j, i]
    assert np.array_equal(y, right)


@wb.kernel
def guarded_transpose(x: wb.array2d[float], y: wb.array2d[float], n: int):
    i, j = wb.tid()
    if i < x.shape[0] and j < x.shape[1]:
        if x[i, j] > 0.0 or i > n:
            y[j, i] = x[i, j] + x[i, max(j - 1, 0)]


@wb.kernel
def reversed_axes(x: wb.array3d[float], y: wb.array3d[float]):
    i, j, k = wb.tid()
    y[k, j, i] = 2.0 * x[i, j, k]


@wb.kernel
def doubles(x: wb.array2d[wb.float64], y: wb.array2d[wb.float64]):
    i, j = wb.tid()
    y[i, j] = x[j, i] * x[j, i] + x[i, j]


@wb.kernel
def bytes_(x: wb.array2d[wb.uint8], y: wb.array2d[wb.uint8]):
    i, j = wb.tid()
    y[j, i] = x[i, j] + wb.uint8(3)


@pytest.mark.parametrize("shape", [(1, 70), (15, 16), (16, 33), (50, 17), (100, 130)])
def test_transposes(shape: tuple[int, int]) -> None:
    x = floats(*shape)
    y = wb.zeros(shape[::-1])
    wb.launch(guarded_transpose, (shape[0] + 20, shape[1] + 3), [wb.array(x), y, 20])
    left = np.concatenate([x[:, :1], x[:, :-1]], 1)
    on = (x > 0) | (np.arange(shape[0]) > 20)[:, None]
    assert np.array_equal(y.numpy(), np.where(on, x + left, np.float32(0)).T)
    big = floats(*shape, 40)
    z = wb.zeros((40, shape[1], shape[0]))
    wb.launch(reversed_axes, big.shape, [wb.array(big), z])
    assert np.array_equal(z.numpy(), 2.0 * big.T)
    n = max(shape)
    square, result = RNG.random((n, n)), wb.zeros((n, n), dtype=wb.float64)
    wb.launch(doubles, (n, n), [wb.array(square), result])
    assert np.array_equal(result.numpy(), square.T * square.T + square)
    small, turned = RNG.integers(0, 256, shape).astype(np.uint8), wb.zeros(shape[::-1], dtype=wb.uint8)
    wb.launch(bytes_, shape, [wb.array(small), turned])
    assert np.array_equal(turned.numpy(), (small + np.uint8(3)).T)


def by_columns(a: np.ndarray) -> wb.array:
    """The same elements as a view whose first index is the one along memory, with a gap behind each column."""
    whole = np.zeros((*a.shape[:0:-1], a.shape[0] + 3), a.dtype)
    whole[..., : a.shape[0]] = a.T
    return wb.array(whole)[(..., slice(0, a.shape[0]))].T


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (40, 9), (9, 40), (33, 70)])
def test_arrays_in_the_order_of_columns(shape: tuple[int, int], checks: bool) -> None:
    x, b = floats(*shape), floats(shape[1], 23)
    for layout in (by_columns, lambda a: wb.array(np.asfortranarray(a).T).T, lambda a: by_columns(a)[::-1][::-1]):
        y = layout(np.zeros(shape, np.float32))
        with wb.checks(checks):
            wb.launch(swapped, shape[::-1], [layout(x), y])
            assert np.array_equal(y.numpy(), np.float32(2.0) * x + np.roll(x, -1, 1))
            c = layout(np.zeros((shape[0], 23), np.float32))
            wb.launch(columns_product, (23, shape[0]), [layout(x), layout(b), c])
        right = np.zeros((shape[0], 23), np.float32)
        for k in range(shape[1]):
            right += x[:, k : k + 1] * b[k]
        assert np.array_equal(c.numpy(), right)
        mixed = wb.zeros((shape[0], 23))  # some by columns, and some by rows
        wb.launch(columns_product, (23, shape[0]), [layout(x), wb.array(b), mixed])
        assert np.array_equal(mixed.numpy(), right)


def test_gradients_of_arrays_in_the_order_of_columns() -> None:
    x, b, seed = floats(33, 40), floats(40, 21), floats(33, 21)
    grads = [by_columns(np.zeros(a.shape, np.float32)) for a in (x, b)]
    inputs, c = [by_columns(x), by_columns(b)], by_columns(np.zeros((33, 21), np.float32))
    given = by_columns(seed)
    wb.launch(columns_product, (21, 33), inputs, [c], adjoint=True, adj_inputs=grads, adj_outputs=[given])
    for got, right in zip(grads, (seed.astype(float) @ b.T, x.T.astype(float) @ seed), strict=True):
        assert np.allclose(got.numpy(), right, atol=1e-4)


@wb.kernel
def strided(x: wb.array[float], y: wb.array[float], stride: int):
    for i in range(wb.tid(), x.shape[0], stride):
        y[i] = x[i] * 0.5 + y[i]


@wb.kernel
def counted(x: wb.array[float], y: wb.array[float], last: wb.array[int], stride: int):
    t = wb.tid()
    i = t
    while i < x.shape[0]:
        if x[i] > 0.0:
            y[i] = x[i] * x[i]
        i += stride
    last[t] = i


@wb.kernel
def downward(x: wb.array[int], y: wb.array[int], stride: int):
    t = wb.tid()
    total = 0
    for i in range(x.shape[0] - 1 - t, -1, -stride):
        total = total * 3 + x[i]
        if total > 1000:
            break
    y[t] = total


@pytest.mark.parametrize(("size", "threads"), [(0, 4), (5, 17), (1000, 16), (1000, 33), (999, 999), (64, 1)])
def test_loops_that_threads_begin_at_their_own_index(size: int, threads: int) -> None:
    x, before = floats(size), floats(size)
    y = wb.array(before)
    wb.launch(strided, threads, [wb.array(x), y, threads])
    assert np.array_equal(y.numpy(), x * np.float32(0.5) + before)
    z, last = wb.zeros(size), wb.zeros(threads, dtype=int)
    wb.launch(counted, threads, [wb.array(x), z, last, threads])
    assert np.array_equal(z.numpy(), np.where(x > 0, x * x, np.float32(0)))
    begin = np.arange(threads)
    rounds = np.maximum(-(-(size - begin) // threads), 0)
    assert np.array_equal(last.numpy(), begin + rounds * threads)


@pytest.mark.parametrize("stride", [1, 3, 16])
def test_threads_that_leave_such_a_loop_at_different_times(stride: int) -> None:
    x = RNG.integers(0, 9, 300).astype(np.int32)
    y = wb.zeros(50, dtype=int)
    wb.launch(downward, 50, [wb.array(x), y, stride])
    right = []
    for t in range(50):
        total = 0
        for i in range(299 - t, -1, -stride):
            total = total * 3 + int(x[i])
            if total > 1000:
                break
        right.append(total)
    assert y.numpy().tolist() == right


@wb.kernel
def ending_together(x: wb.array[int], y: wb.array[int], size: int):
    t = wb.tid()
    up, down, total = t, size - t, 0
    for i in range(t, size):
        total += (i + 1) * x[up] - x[down]
        up += 1
        down -= 2
    y[t] = total + 1000 * up


@pytest.mark.parametrize("threads", [1, 16, 50])
def test_numbers_that_advance_in_loops_that_threads_join_one_by_one(threads: int) -> None:
    x = RNG.integers(0, 9, 301).astype(np.int32)
    y = wb.zeros(threads, dtype=int)
    wb.launch(ending_together, threads, [wb.array(x), y, 100])
    right = []
    for t in range(threads):
        turns = range(100 - t)
        right.append(sum((t + n + 1) * int(x[t + n]) - int(x[100 - t - 2 * n]) for n in turns) + 1000 * 100)
    assert y.numpy().tolist() == right


@wb.kernel
def some_cells(mask: wb.array2d[int], x: wb.array2d[float], y: wb.array2d[float]):
    i, j = wb.tid()
    if mask[i, j] > 0:
        right = x[i, (j + 1) % x.shape[1]]
        y[i, j] = right - x[max(i - 1, 0), j]


@wb.kernel
def ring(x: wb.array2d[int], y: wb.array2d[int]):
    i, j = wb.tid()
    total = 0
    for a in range(-1, 2):
        for b in range(-1, 2):
            if a != 0 or b != 0:
                total += x[(i + a) % x.shape[0], (j + b) % x.shape[1]]
    y[i, j] = total


def test_borders_under_conditions() -> None:
    x, mask = floats(19, 83), RNG.integers(0, 2, (19, 83)).astype(np.int32)
    y = wb.zeros((19, 83))
    wb.launch(some_cells, (19, 83), [wb.array(mask), wb.array(x), y])
    above = x[np.maximum(np.arange(19) - 1, 0)]
    assert np.array_equal(y.numpy(), np.where(mask > 0, np.roll(x, -1, 1) - above, np.float32(0)))
    cells = RNG.integers(0, 2, (19, 83)).astype(np.int32)
    z = wb.zeros((19, 83), dtype=int)
    wb.launch(ring, (19, 83), [wb.array(cells), z])
    shifts = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    assert np.array_equal(z.numpy(), sum(np.roll(cells, shift, (0, 1)) for shift in shifts))


@wb.kernel
def decomposed(a: wb.array3d[float], y: wb.array3d[float]):
    i = wb.tid()
    m = wb.matrix(shape=(4, 4), dtype=float)
    for p in range(4):
        for q in range(p + 1):
            s = a[i, p, q]
            for k in range(q):
                s -= m[p, k] * m[q, k]
            if p == q:
                m[p, q] = wb.sqrt(s)
            else:
                m[p, q] = s / m[q, q]
    for p in range(4):
        for q in range(4):
            y[i, p, q] = m[p, q]


def test_a_decomposition_in_components_is_numpys() -> None:
    roots = RNG.uniform(-1.0, 1.0, (40, 4, 4))
    a = (roots @ roots.transpose(0, 2, 1) + 2.0 * np.eye(4)).astype(np.float32)
    y = wb.zeros((40, 4, 4))
    wb.launch(decomposed, 40, [wb.array(a), y])
    assert np.allclose(y.numpy(), np.linalg.cholesky(a.astype(np.float64)), atol=2e-6)


@wb.kernel
def added_in_place(a: wb.array2d[float], b: wb.array2d[float], c: wb.array2d[float]):
    i, j = wb.tid()
    c[i, j] = 0.0
    for k in range(a.shape[1]):
        c[i, j] += a[i, k] * b[k, j]


@wb.kernel
def halved(x: wb.array[float], y: wb.array[float], n: int):
    i = wb.tid()
    for _ in range(n):
        y[i] = 0.5 * (y[i] + x[i])
        if y[i] < 0.25:
            y[i] = y[i] + x[i]


@wb.kernel
def steps(progress: wb.array[int], n: int):
    i = wb.tid()
    for k in range(n):
        progress[i] = progress[i] + k
        progress[i] = progress[i] * 2


def test_elements_that_a_loop_changes() -> None:
    a, b = floats(9, 21), floats(21, 35)
    c = wb.zeros((9, 35))
    wb.launch(added_in_place, (9, 35), [wb.array(a), wb.array(b), c])
    right = np.zeros((9, 35), np.float32)
    for k in range(21):
        right += a[:, k : k + 1] * b[k]
    assert np.array_equal(c.numpy(), right)
    counts = wb.zeros(40, dtype=int)
    wb.launch(steps, 37, [counts, 5])
    right = 0
    for k in range(5):
        right = (right + k) * 2
    assert counts.numpy().tolist() == [right] * 37 + [0] * 3


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("where", ["apart", "one array", "shifted"])
def test_elements_that_a_loop_changes_and_another_argument_shows(n: int, where: str) -> None:
    both = floats(201)
    x, y = both[:100].copy(), both[101:].copy()
    memory = wb.array(both)
    arguments = {
        "apart": (wb.array(x), wb.array(y)),
        "one array": (memory[:100], memory[:100]),
        "shifted": (memory[0:200:2], memory[0:200:2]),
    }[where]
    if where != "apart":
        x = y = arguments[0].numpy().copy()
    wb.launch(halved, len(y), [*arguments, n])
    for _ in range(n):  # where both are one array, x is what y is by then
        y = np.float32(0.5) * (y + (x if where == "apart" else y))
        y = np.where(y < 0.25, y + (x if where == "apart" else y), y)
    assert np.array_equal(arguments[1].numpy(), y)


@wb.kernel
def added_from(x: wb.array[float], y: wb.array[float], stride: int):
    t = wb.tid()
    for i in range(t, y.shape[0], stride):
        wb.atomic_add(y, i, x[t] * x[i])


@pytest.mark.parametrize("stride", [1, 3, 45])
def test_sums_at_a_loops_counter_are_in_the_order_of_threads(stride: int) -> None:
    x = floats(100) * np.exp(RNG.uniform(-9.0, 9.0, 100)).astype(np.float32)
    y = wb.zeros(100)
    wb.launch(added_from, 45, [wb.array(x), y, stride])
    right = np.zeros(100, np.float32)
    for t in range(45):
        for i in range(t, 100, stride):
            right[i] += x[t] * x[i]
    assert np.array_equal(y.numpy(), right)
