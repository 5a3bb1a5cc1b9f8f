"""Launches over a flattened array by rows: which kernels are, and that each thread does what it did."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks import meaning
from workbench.backends.python import run
from workbench.ir.values import Function, array_of, walk
from workbench.passes.loops.dimensions import delinearised
from workbench.passes.loops.peeling import peel_boundaries, peeled_parts

FLOATS = wb.array(dtype=wb.float32)
IMAGE = wb.array(dtype=wb.float32, ndim=2)
INTS = wb.array(dtype=int, ndim=2)
WIDTHS = (-(2**31), -3, -1, 0, 1, 2, 15, 16, 17, 33, 100, 2**30, 2**31 - 1)


@wb.kernel
def image(x: IMAGE, y: IMAGE):
    i = wb.tid()
    h, w = x.shape[0], x.shape[1]
    r = i // w
    c = i % w
    if r > 0 and c > 0 and r < h - 1 and c < w - 1:
        y[r, c] = x[r - 1, c] + x[r + 1, c] + x[r, c - 1] + x[r, c + 1]
    else:
        y[r, c] = x[(r - 1) % h, c] - x[r, c - w]


@wb.kernel
def flat(x: FLOATS, w: int, y: FLOATS, total: FLOATS):
    i = wb.tid()
    if i // w > 0 and i % w < w - 1:
        y[i] = x[i - w + 1] + 2.0 * x[(i // w - 1) * w + i % w]
        total[0] += x[i]


@wb.kernel
def volume(x: wb.array(dtype=wb.float32, ndim=3), y: wb.array(dtype=wb.float32, ndim=3)):
    i = wb.tid()
    h, w = x.shape[1], x.shape[2]
    a = i // (h * w)
    b = i % (h * w) // w
    c = i % w
    y[a, b, c] = x[a, (i // w - 1) % h, c] + x[a - 1, b, wb.min(c + 1, w - 1)]


@wb.kernel
def by_a_literal(x: IMAGE, y: IMAGE):
    i = wb.tid()
    y[i % 64, i // 64] = x[i // 64, i % 64]


@wb.kernel
def wide(x: FLOATS, w: wb.int64, y: FLOATS):
    i = wb.int64(wb.tid())
    r, c = i // w, i % w
    y[i] = x[r * w + min(c + 1, w - 1)] + 2.0 * x[max(r - 1, 0) * w + c]


@wb.kernel
def unsigned(x: FLOATS, w: wb.uint32, y: FLOATS):
    i = wb.uint32(wb.tid())
    one, r, c = wb.uint32(1), i // w, i % w
    y[i] = x[r * w + min(c + one, w - one)] + 2.0 * x[(r - min(r, one)) * w + c]


@wb.kernel
def shifts(x: IMAGE, y: IMAGE):
    i = wb.tid()
    r, c = i >> 6, i & 63
    y[r, c] = x[r, min(c + 1, 63)] + 2.0 * x[max(r - 1, 0), c]


@wb.kernel
def numbers(w: int, d: int, o: INTS, x: FLOATS, y: FLOATS):
    i = wb.tid()
    r = i // w
    c = i % w
    rest = i % d
    o[i, 0] = r + rest
    o[i, 1] = c
    o[i, 2] = rest // w + 3 * (i // d)
    o[i, 3] = (r - 1) * w + (c + 1) - rest % w
    if r > 0 and c > 0:
        y[i] = x[i - w - 1]


@wb.kernel
def narrow(x: IMAGE, y: IMAGE):
    i = wb.tid()
    y[i // 3, i % 3] = x[i // 3, 2 - i % 3]


@wb.kernel
def only_a_number(x: FLOATS, w: int, y: FLOATS):
    i = wb.tid()
    y[i] = x[i] * float(i % w)


@wb.kernel
def own_widths(x: IMAGE, w: wb.array(dtype=int), y: FLOATS):
    i = wb.tid()
    y[i] = x[i // w[i], i % w[i]]


def last_indices(function: Function) -> set[str]:
    """What the last indices of threads inside are made by."""
    found = peeled_parts(peel_boundaries(function))
    assert found is not None
    assert found.once[-1].name == "row_length"
    inside = list(walk(found.inside))
    last = {op.operands[array_of(op.operands[0]).ndim] for op in inside if op.name in ("load", "store")}
    return {op.name for op in inside if not last.isdisjoint(op.results)}


@pytest.mark.parametrize("kernel", [wide, unsigned, shifts], ids=lambda kernel: kernel.name)
def test_wide_indices_and_bits_are_divided(kernel: wb.Kernel) -> None:
    assert delinearised(kernel.specialise().function) is not None


@pytest.mark.parametrize("kernel", [wide, unsigned, shifts], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("w", [1, 3, 8, 17, 64])
@pytest.mark.parametrize("checks", [False, True])
def test_other_types_and_bits(kernel: wb.Kernel, w: int, checks: bool) -> None:
    w = 64 if kernel is shifts else w
    x, r = np.random.default_rng(w).integers(-9, 9, (7, w)).astype(np.float32), np.arange(7)
    want = x[:, np.minimum(np.arange(w) + 1, w - 1)] + 2 * x[np.maximum(r - 1, 0)]
    shape = x.shape if kernel is shifts else x.size
    y = wb.zeros(shape)
    wb.launch(kernel, x.size, [wb.array(x.reshape(shape)), *([] if kernel is shifts else [w]), y], checks=checks)
    assert (y.numpy().reshape(x.shape) == want).all()


@pytest.mark.parametrize("kernel", [image, flat, by_a_literal], ids=lambda kernel: kernel.name)
def test_no_division_is_left_inside(kernel: wb.Kernel) -> None:
    assert last_indices(kernel.specialise().function) <= {"tid", "add", "sub"}


@pytest.mark.parametrize("kernel", [narrow, only_a_number, own_widths], ids=lambda kernel: kernel.name)
def test_other_kernels_stay(kernel: wb.Kernel) -> None:
    assert delinearised(kernel.specialise().function) is None


def quotient(a: np.ndarray, b: int) -> np.ndarray:
    return a // b if b else np.full_like(a, -1)


def rest(a: np.ndarray, b: int) -> np.ndarray:
    return a % b if b else a


@pytest.mark.parametrize("w", WIDTHS)
def test_a_flat_array(w: int) -> None:
    n = 333
    x = np.random.default_rng(0).random(n, np.float32)
    i = np.arange(n, dtype=np.int64)
    there = (quotient(i, w) > 0) & (rest(i, w) < w - 1)
    want = np.zeros(n, np.float32)
    want[there] = x[i[there] - w + 1] + 2 * x[i[there] - w]
    y, total = wb.zeros(n), wb.zeros(1)
    wb.launch(flat, n, [wb.array(x), w, y, total], checks=False)
    assert (y.numpy() == want).all()
    np.testing.assert_allclose(total.numpy()[0], x[there].astype(np.float64).sum(), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 15, 33, 1000])
def test_all_widths(n: int) -> None:
    x = np.random.default_rng(n).random(n, np.float32)
    i = np.arange(n, dtype=np.int64)
    for w, of in itertools.product(WIDTHS, (1, 3, -2, 2**20)):
        d = int(np.int64(w * of).astype(np.int32)) if of != -2 else 77
        r, c, left = quotient(i, w), rest(i, w), rest(i, d)
        want = [r + left, c, quotient(left, w) + 3 * quotient(i, d), (r - 1) * w + c + 1 - rest(left, w)]
        o, y = wb.zeros((n, 4), dtype=int), wb.zeros(n)
        wb.launch(numbers, n, [w, d, o, wb.array(x), y], checks=False)
        assert (o.numpy() == np.stack(want, 1).astype(np.int32)).all(), (w, d)
        there = (r > 0) & (c > 0)
        assert (y.numpy()[there] == x[i[there] - w - 1]).all(), w
        assert not y.numpy()[~there].any()


@pytest.mark.parametrize("shape", [(1, 1), (3, 16), (5, 17), (40, 70), (2, 5)])
def test_an_image(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).random(shape, np.float32)
    want = np.roll(x, 1, 0) - x
    want[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    for more in (0, 1, 7):  # the last row may be cut off
        y = wb.zeros(shape)
        n = max(0, x.size - more)
        wb.launch(image, n, [wb.array(x), y], checks=False)
        assert (y.numpy().ravel()[:n] == want.ravel()[:n]).all()
        assert not y.numpy().ravel()[n:].any()


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 16), (4, 5, 33), (3, 4, 5)])
def test_a_volume(shape: tuple[int, int, int]) -> None:
    x = np.random.default_rng(0).random(shape, np.float32)
    next_one = x[:, :, np.minimum(np.arange(shape[2]) + 1, shape[2] - 1)]
    y = wb.zeros(shape)
    wb.launch(volume, x.size, [wb.array(x), y], checks=False)
    assert (y.numpy() == np.roll(x, 1, 1) + np.roll(next_one, 1, 0)).all()


@pytest.mark.slow
def test_a_transpose() -> None:
    x = np.random.default_rng(0).random((70, 64), np.float32)
    y = wb.zeros((64, 70))
    wb.launch(by_a_literal, x.size, [wb.array(x), y], checks=False)
    assert (y.numpy() == x.T).all()


@pytest.mark.slow
@pytest.mark.parametrize("w", [7, 1000])
def test_many_chunks_and_one_array_as_two_arguments(w: int) -> None:
    n = 300_001
    x = np.random.default_rng(0).random(n, np.float32)
    i = np.arange(n)
    there = (i // w > 0) & (i % w < w - 1)
    want = np.zeros(n, np.float32)
    want[there] = x[i[there] - w + 1] + 2 * x[i[there] - w]
    y, total = wb.zeros(n), wb.zeros(1)
    wb.launch(flat, n, [wb.array(x), w, y, total], checks=False)
    assert (y.numpy() == want).all()
    np.testing.assert_allclose(total.numpy()[0], x[there].astype(np.float64).sum(), rtol=1e-6)
    both = wb.zeros(1000)
    wb.launch(flat, 1000, [both, w, both, total], checks=False)
    assert not both.numpy().any()


def expression(chance: random.Random, depth: int) -> str:
    if depth == 0:
        return chance.choice(["i", "i", "w", "d", "r", "c", "2", "17"])
    if chance.random() < 0.4:
        return f"({expression(chance, depth - 1)}) {chance.choice(['//', '%'])} {chance.choice(['w', 'd', '(h * w)'])}"
    return f"({expression(chance, depth - 1)} {chance.choice('+-*')} {expression(chance, depth - 1)})"


def programs(seed: int) -> Iterator[Any]:
    chance = random.Random(seed)
    for _ in range(2):
        lines = ["def k(w: int, d: int, h: int, o: array2d[int], x: array[int]):", "    i = tid()"]
        lines += ["    r = i // w", "    c = i % w"]
        for n in range(8):
            place = f"o[i, {n}] = x[clamp({expression(chance, 3)}, 0, x.shape[0] - 1)] + {expression(chance, 2)}"
            guard = f"    if {expression(chance, 2)} {chance.choice(['<', '>', '==', '!='])} {chance.choice('rc3d')}:"
            lines += [guard, f"        {place}"] if chance.random() < 0.5 else [f"    {place}"]
        yield meaning.define("\n".join([*lines, ""]), compile=False)["k"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_programs(seed: int) -> None:
    """Python runs thread by thread."""
    n = 100
    x = np.random.default_rng(seed).integers(-9, 9, 500).astype(np.int32)
    split = 0
    for kernel in programs(seed):
        split += delinearised(kernel.specialise().function) is not None
        for w, d, h in [(16, 48, 3), (21, 5, 2**30), (7, 7, 7), (0, 0, 0), (-20, 40, -1)]:
            o, want = wb.zeros((n, 8), dtype=int), np.zeros((n, 8), np.int32)
            wb.launch(kernel, n, [w, d, h, o, wb.array(x)], checks=False)
            run(kernel.specialise().function, n, [w, d, h, want, x])
            assert (o.numpy() == want).all(), (w, d, h)
    assert split
