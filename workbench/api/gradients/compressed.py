"""Sparse derivatives from few products: columns that share no row are computed together (Curtis, Powell and Reid)."""

# SciPy has no types.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.api.gradients.scipy_matrices import derivative_type, sparse
from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.errors import NotDifferentiable
from workbench.host.narrow import HostArray
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.types import int32

_ROUNDS = 8
"""The maximum number of recolouring rounds, run where the first colouring needs many colours."""


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
    """Return a colour for each column, int32 from 0: columns in this order get the least colour that is free.

    `tables` are the pattern's columns (CSC starts and rows), then its rows (CSR starts and columns), on the CPU.
    """
    first = array(np.append(order, 0).astype(np.int32), device="cpu")
    marks, colours = (array(np.full(len(order) + 1, -1, np.int32), device="cpu") for _ in range(2))
    launch(_colour, 1, [len(order), first, *tables], [marks, colours], device="cpu", checks=False)
    return colours.numpy()[:-1].copy()


@kernel
def _colour(
    n: int, order: array[int32], starts: array[int32], rows: array[int32], row_starts: array[int32],
    columns: array[int32], marks: array[int32], colours: array[int32],
):  # fmt: skip
    """Give each column the least colour that no column sharing a row with it has, in one thread.

    Args:
        n: how many columns there are.
        order: the columns, in the order in which they get colours.
        starts, rows: of each column its rows (CSC).
        row_starts, columns: of each row its columns (CSR).
        marks: scratch, by colour.
        colours: the result, by column; -1 before.
    """
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


_ROUNDING = {8: 1e-6, 4: 1e-3, 2: 0.1}
"""The largest difference of two products, relative to the sum of their terms' magnitudes, by size in bytes."""
Product = Callable[[HostArray], HostArray]
"""Maps a flat vector to its product with the derivative, or with the transposed one."""


def as_pattern(matrix: Any, shape: tuple[int, int]) -> Any:
    """Convert what `scipy.sparse.csr_array` takes to a pattern: in CSR form, True where it stores an entry.

    Raises:
        ValueError: it has another shape than the derivative.
    """
    pattern = sparse().csr_array(matrix).astype(bool)
    if pattern.shape != shape:
        raise ValueError(f"The pattern has the shape {pattern.shape}; the derivative has {shape}.")
    pattern.data[:] = True
    pattern.sum_duplicates()
    return pattern


def compressed(pattern: Any, mode: str, products: dict[str, Product], dtype: Any, known: Any = None) -> Any:
    """Compute a derivative of this pattern from one product for each colour.

    Args:
        pattern: in CSR form; entries outside of it are 0.
        mode: "forward": by columns; "reverse": by rows; "auto": whichever has fewer colours.
        products: for each mode that is possible, the product with the derivative, or with the transposed one.
        dtype: of the entries.
        known: an earlier derivative of the same pattern, whose colours are used again.

    Returns:
        A `csr_array` with `sweeps`, `mode` and `colours`.

    Raises:
        NotDifferentiable: two products with random vectors are not those of the derivative: the pattern is wrong.
    """
    mode, colours = _chosen(pattern, mode, products, known)
    oriented = pattern if mode == "forward" else pattern.T.tocsr()
    rows = np.repeat(np.arange(oriented.shape[0]), np.diff(oriented.indptr))
    shades = colours[oriented.indices].astype(np.uint16 if colours.max(initial=0) < 1 << 16 else np.int32)
    order = np.argsort(shades, kind="stable")
    sweeps = int(colours.max(initial=-1)) + 1
    ends = np.searchsorted(shades[order], np.arange(sweeps + 1))
    data = np.zeros(len(shades), dtype)
    for colour in range(sweeps):
        here = order[ends[colour] : ends[colour + 1]]
        data[here] = products[mode]((colours == colour).astype(dtype))[rows[here]]
    matrix = sparse().csr_array((data, oriented.indices, oriented.indptr), shape=oriented.shape)
    _check(matrix, products[mode], dtype)
    derivative = derivative_type()(matrix if mode == "forward" else matrix.T.tocsr())
    derivative.sweeps, derivative.mode, derivative.colours = sweeps, mode, colours
    return derivative


def _chosen(pattern: Any, mode: str, products: dict[str, Product], known: Any) -> tuple[str, HostArray]:
    """Return the mode, and the colours of its columns or rows.

    Both are those of `known`, if it has colours for this mode. A side is coloured only if it may need fewer colours.
    """
    if known is not None and getattr(known, "sweeps", 0) and mode in ("auto", known.mode):
        return known.mode, known.colours
    sides = {"forward": pattern, "reverse": pattern.T.tocsr()}
    # A row of k entries needs k colours.
    least = {m: int(np.diff(sides[m].indptr).max(initial=0)) for m in products if mode in ("auto", m)}
    best: tuple[str, HostArray] | None = None
    fewest = np.inf
    for name in sorted(least, key=least.__getitem__):
        if least[name] < fewest:
            colours = colours_of(sides[name])
            if (count := int(colours.max(initial=-1)) + 1) < fewest:
                best, fewest = (name, colours), count
    assert best is not None
    return best


def _check(matrix: Any, product: Product, dtype: Any) -> None:
    """Compare a sparse derivative with the product it was computed by, along two random vectors.

    Raises:
        NotDifferentiable: they differ, so the pattern leaves out entries.
    """
    random = np.random.default_rng(0)
    for _ in range(2):
        along = (random.uniform(0.5, 1.5, matrix.shape[1]) * random.choice([-1, 1], matrix.shape[1])).astype(dtype)
        result, expected = product(along), matrix @ along
        bound = abs(matrix) @ abs(along)
        allowed = _ROUNDING[np.dtype(dtype).itemsize] * (bound + np.abs(result))
        wrong = np.flatnonzero(~(np.abs(result - expected) <= allowed) & np.isfinite(result))
        if len(wrong):
            raise NotDifferentiable(
                f"The pattern leaves out what is not 0: in {len(wrong)} of {matrix.shape[0]} rows or columns, "
                f"{wrong[0]} the first, a product with a random vector is not that of the derivative.",
                advice="Give a pattern that has every entry that may not be 0, or leave sparse=True to find it.",
            )
