"""Colours of the columns of a sparse matrix: no row has two columns of one colour."""

# The body is read by our compiler: what Python's checker does not know is checked there.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.api.narrow import HostArray
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.types import int32

_ROUNDS = 8
"""The most times that the columns are coloured anew, where many colours were needed."""


def colours_of(pattern: Any) -> HostArray:
    """Assign each column the first free colour, from 0, beginning with the columns that meet most others.

    Two columns that are not 0 in a common row have different colours (a distance-1 colouring of the graph in which such
    columns are neighbours), so the columns of one colour can be told apart in their sum.

    Args:
        pattern: a SciPy matrix in CSR form, not 0 where a derivative may be.

    Returns:
        int32, as long as there are columns.
    """
    rows, columns = pattern, pattern.tocsc()
    tables = (columns.indptr, columns.indices, rows.indptr, rows.indices)
    order = -(np.diff(rows.indptr).astype(np.int64) @ columns.astype(np.int64))  # how many others a column meets
    least, colours = int(np.diff(rows.indptr).max(initial=0)), order
    with unobserved():
        on_device = [array(np.append(t, 0).astype(np.int32), device="cpu") for t in tables]  # none is empty
        for _ in range(_ROUNDS):
            colours = _greedy(np.argsort(order, kind="stable"), on_device)
            if colours.max(initial=-1) < 1.5 * least:
                break
            order = -colours  # colour by colour, so that no more are needed; often fewer are
    return colours


def _greedy(order: HostArray, tables: list[array]) -> HostArray:
    first = array(np.append(order, 0).astype(np.int32), device="cpu")
    marks, colours = (array(np.full(len(order) + 1, -1, np.int32), device="cpu") for _ in range(2))
    launch(_colour, 1, [len(order), first, *tables], [marks, colours], device="cpu", checks=False)
    return colours.numpy()[:-1].copy()


@kernel
def _colour(
    n: int, order: array[int32], starts: array[int32], rows: array[int32], row_starts: array[int32],
    columns: array[int32], marks: array[int32], colours: array[int32],
):  # fmt: skip
    for k in range(n):
        column = order[k]
        for p in range(starts[column], starts[column + 1]):
            row = rows[p]
            for q in range(row_starts[row], row_starts[row + 1]):
                taken = colours[columns[q]]
                if taken >= 0:
                    marks[taken] = column
        colour = 0
        while marks[colour] == column:
            colour += 1
        colours[column] = colour
