"""What checks cost: the same kernels with and without, in turn.

saxpy and the stencil are bound by memory, and one look before the launch makes their guards needless; the gather reads
at an index that only each thread knows, so its guard stays.
"""

from __future__ import annotations

import numpy as np
from measure import OURS, Row, Table, clock, take_turns, write

import workbench as wb

SIZE = 10_000_000
SIDE = 3000
ROUNDS = 15
CHECKED = "with checks"


@wb.kernel
def saxpy(a: float, x: wb.array(dtype=float), y: wb.array(dtype=float), z: wb.array(dtype=float)):
    """One multiplication and one addition for twelve bytes."""
    i = wb.tid()
    z[i] = a * x[i] + y[i]


@wb.kernel
def stencil(x: wb.array2d(dtype=float), y: wb.array2d(dtype=float)):
    """Five neighbours, inside of the border alone."""
    i, j = wb.tid()
    if i > 0 and i < x.shape[0] - 1 and j > 0 and j < x.shape[1] - 1:
        y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) - x[i, j]


@wb.kernel
def gather(p: wb.array(dtype=int), x: wb.array(dtype=float), y: wb.array(dtype=float)):
    """One element from anywhere."""
    i = wb.tid()
    y[i] = x[p[i]]


def main() -> None:
    """Time all kernels and write the table."""
    draw = np.random.default_rng(1)
    flat = [wb.array(draw.random(SIZE, np.float32)) for _ in range(3)]
    square = [wb.array(draw.random((SIDE, SIDE), np.float32)) for _ in range(2)]
    places = wb.array(draw.permutation(SIZE).astype(np.int32))
    table = Table("checks", "Kernels with and without checks", ROUNDS)
    for kernel, dim, arguments in (
        (saxpy, SIZE, [2.5, *flat]),
        (stencil, (SIDE, SIDE), square),
        (gather, SIZE, [places, *flat[:2]]),
    ):
        cases = {
            name: clock(lambda k=kernel, d=dim, a=arguments, on=on: wb.launch(k, d, a, checks=on))
            for name, on in ((OURS, False), (CHECKED, True))
        }
        table.rows.append(Row(f"{kernel.name}, {np.prod(dim):.0e} threads", take_turns(cases, ROUNDS)))
    write(table)


if __name__ == "__main__":
    main()
