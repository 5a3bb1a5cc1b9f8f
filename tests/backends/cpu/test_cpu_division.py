"""`//` and `%` by what is the same in all threads: as Python's, for all operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.api.builds.build import ir_of
from workbench.ir.values import walk
from workbench.passes.loops.forms import uniform_divisors

SIZES = (1, 2, 3, 7, 64, 1000, 65537, 2**30, 2**31 - 1, 0)
SIGNED = (-1, -2, -7, -64, -(2**31))


@wb.kernel
def divided(x: wb.array(dtype=Any), n: Any, quotient: wb.array(dtype=Any), remainder: wb.array(dtype=Any)):
    i = wb.tid()
    quotient[i] = x[i] // n
    remainder[i] = x[i] % n


@wb.kernel
def by_an_element(x: wb.array(dtype=int), y: wb.array(dtype=int)):
    i = wb.tid()
    y[i] = x[i] // x[0] + x[i] % 3 + x[i] % y.shape[0]


@pytest.mark.parametrize(("dtype", "sizes"), [(wb.int32, SIZES + SIGNED), (wb.uint32, SIZES), (wb.int64, SIZES)])
def test_all_operands(dtype: Any, sizes: tuple[int, ...]) -> None:
    kind = np.iinfo(wb.zeros(1, dtype=dtype).numpy().dtype)
    draw = np.random.default_rng(0)
    for n in sizes:
        # What a rounded product would get wrong lies at multiples of the divisor.
        near = [a * n + b for a in (-3, -1, 0, 1, 2, 100, 2**31 // (abs(n) or 1)) for b in (-1, 0, 1)]
        at_ends = [kind.min, kind.min + 1, kind.max - 1, kind.max, *range(-9, 9)]
        values = [v for v in (*near, *at_ends) if kind.min <= v <= kind.max]
        values += draw.integers(kind.min, kind.max, 200, kind.dtype, endpoint=True).tolist()
        x = wb.array(np.array(values, kind.dtype), dtype=dtype)
        quotient, remainder = wb.empty_like(x), wb.empty_like(x)
        wb.launch(divided, len(values), [x, dtype(n)], [quotient, remainder], checks=False)
        whole = [v // n if n else -1 for v in values]
        for found, exact in ((quotient, whole), (remainder, [v % n if n else v for v in values])):
            low = [v & (1 << kind.bits) - 1 for v in exact]
            assert [v & (1 << kind.bits) - 1 for v in found.numpy().tolist()] == low, n


def test_only_what_is_the_same_in_all_threads() -> None:
    function = uniform_divisors(ir_of(by_an_element.specialise().function, "forward", False, 16))
    names = [op.name for op in walk(function.body)]
    assert (names.count("floor_quotient"), names.count("floordiv"), names.count("mod")) == (1, 1, 1)


def test_an_index_in_rows() -> None:
    height, width = 13, 37

    @wb.kernel
    def flow(x: wb.array(dtype=float), w: int, h: int, y: wb.array(dtype=float)):
        i = wb.tid()
        row = i // w
        column = i % w
        y[i] = x[row * w + (column - 1 + w) % w] + 2.0 * x[(row + 1) % h * w + column]

    x = np.arange(height * width, dtype=np.float32).reshape(height, width)
    y = wb.zeros(x.size)
    wb.launch(flow, x.size, [wb.array(x.ravel()), width, height], [y])
    assert (y.numpy().reshape(x.shape) == np.roll(x, 1, 1) + 2 * np.roll(x, -1, 0)).all()
