"""Counting elements: histograms, and runs of equal neighbours.

Each thread counts a piece by itself, so that no two wait for one bin or run.
"""

# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.api.narrow import is_array
from workbench.builtins import FORMS
from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty, zeros
from workbench.types import Kind, float32, float64, int32
from workbench.utils.scan import array_scan, piece, piece_size, require

tid = FORMS["tid"]


def histogram(x: array, bins: int = 10, range: tuple[float, float] | None = None) -> tuple[array, array]:
    """Count the elements in each of some bins of equal width, like `np.histogram`.

        >>> import workbench as wb
        >>> counts, edges = wb.utils.histogram(wb.array([0.5, 1.5, 1.7, 3.0]), 3, (0.0, 3.0))
        >>> counts.numpy()
        array([1, 2, 1], dtype=int32)

    A bin holds its lower edge, and the last one its upper edge too; what lies outside, and NaN, is not counted.

    Args:
        x: numbers in one dimension.
        bins: how many.
        range: the lowest and the highest edge; those of the elements if not given, which are read back then.

    Returns:
        The counts, int32, and the bins + 1 edges, on the array's device.

    Raises:
        LaunchError: `x` is not such an array, `bins` is not positive, or the range is not finite and ascending.
    """
    require("histogram()", x)
    if bins < 1:
        raise LaunchError(f"histogram() takes a positive number of bins, not {bins}.", parameter="bins")
    low, high = (float(v) for v in range) if range is not None else (float(x.min()), float(x.max()))
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise LaunchError(f"histogram() takes finite edges in order, not {low} to {high}.", parameter="range")
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    exact = x.dtype == float32 or (x.dtype.kind is Kind.FLOAT and x.dtype.bits < 32)  # type: ignore[union-attr]
    kind = float32 if exact else float64
    ends = (low, high) if range is not None else (kind.numpy.type(low), kind.numpy.type(high))  # as NumPy has them
    edges = array(np.linspace(*ends, bins + 1, dtype=kind.numpy), kind, device=x.device)
    size = max(16 * bins, 512 if x.device.is_cuda else 32768)
    pieces = -(-x.size // size)
    parts, counts = zeros((max(pieces, 1), bins), int32, x.device), empty(bins, int32, x.device)
    launch(_binned, pieces, [x, edges, bins / (high - low), size], [parts], device=x.device, checks=False)
    launch(_summed, bins, [parts], [counts], device=x.device, checks=False)
    return counts, edges


@kernel
def _binned(x: array[Any], edges: array[Any], scale: float64, size: int, parts: array(dtype=int32, ndim=2)):
    """Count the elements of a piece, of `size` elements, in each bin; `parts` gets a row of counts for each piece.

    The edges decide on the bin: the quotient may be off by one.
    """
    p = tid()
    kind = edges.dtype
    bins = len(edges) - 1
    low, high, per_unit = edges[0], edges[bins], kind(scale)
    first, last = piece(size, len(x))
    for i in range(first, last):
        v = kind(x[i])
        if v >= low and v <= high:
            b = min(int((v - low) * per_unit), bins - 1)
            if v < edges[b]:
                b -= 1
            elif b < bins - 1 and v >= edges[b + 1]:
                b += 1
            b = max(b, 0)
            parts[p, b] = parts[p, b] + 1


@kernel
def _summed(parts: array(dtype=int32, ndim=2), counts: array[int32]):
    """Write to counts[b] the sum of all pieces' counts of bin b, a bin per thread."""
    b = tid()
    total = 0
    for p in range(parts.shape[0]):
        total += parts[p, b]
    counts[b] = total


def runlength_encode(
    values: array, run_values: array, run_lengths: array, run_count: array | None = None, value_count: int | None = None
) -> int | None:
    """Find the runs of equal neighbours, and write their values and lengths to arrays.

        >>> import workbench as wb
        >>> x = wb.array([7, 7, 7, 2, 5, 5])
        >>> found, lengths = wb.empty_like(x), wb.empty_like(x)
        >>> n = wb.utils.runlength_encode(x, found, lengths)
        >>> found[:n].numpy(), lengths[:n].numpy()
        (array([7, 2, 5], dtype=int32), array([3, 1, 2], dtype=int32))

    Args:
        values: numbers in one dimension; NaN is equal to nothing.
        run_values: where the element of each run goes: of the same dtype, with room for as many as there are values.
        run_lengths: where the lengths go: int32, with room for as many.
        run_count: an int32 array of one element for the number of runs, which then is not read back.
        value_count: how many values, from the first, count; all if it is not given.

    Returns:
        The number of runs; None with `run_count`.

    Raises:
        LaunchError: an array does not fit.
    """
    require("runlength_encode()", values)
    n = values.size if value_count is None else value_count
    if not 0 <= n <= values.size:
        raise LaunchError(f"runlength_encode(): {n} values are to count; there are {values.size}.")
    total = zeros(1, int32, values.device) if run_count is None else run_count
    for name, x, dtype, room in (
        ("run_values", run_values, values.dtype, n),
        ("run_lengths", run_lengths, int32, n),
        ("run_count", total, int32, 1),
    ):
        if not is_array(x) or x.ndim != 1 or x.dtype != dtype or x.size < room or x.device != values.device:
            raise LaunchError(
                f"runlength_encode(): {name} must be an array of {dtype!r} with {room} elements on "
                f"{values.device.name}.",
                parameter=name,
            )
    if n:
        device, part = values.device, values[:n]
        size = piece_size(device, n, exact=True)
        pieces = -(-n // size)
        heads, lasts = zeros(pieces, int32, device), zeros(pieces, int32, device)
        before = heads
        if pieces > 1:
            launch(_count_ends, pieces, [part, size], [heads, lasts], device=device, checks=False)
            before = array_scan(heads, inclusive=False)
        inputs = [part, size, heads, lasts, before]
        launch(_write_runs, pieces, inputs, [run_values, run_lengths, total], device=device, checks=False)
    else:
        total.fill_(0)
    return int(total) if run_count is None else None


@kernel
def _count_ends(values: array[Any], size: int, heads: array[int32], lasts: array[int32]):
    """Write how many elements of a piece differ from the one after them, to `heads`: so many runs end in it.

    `lasts` gets the index after the last of these, where a run begins, or -1.
    """
    first, last = piece(size, len(values))
    total, last_follower = 0, -1
    for i in range(first, min(last, len(values) - 1)):
        differs = values[i + 1] != values[i]
        total += 1 if differs else 0
        last_follower = i + 1 if differs else last_follower
    heads[tid()] = total
    lasts[tid()] = last_follower


@kernel
def _write_runs(
    values: array[Any], size: int, heads: array[int32], lasts: array[int32], before: array[int32],
    run_values: array[Any], run_lengths: array[int32], count: array[int32],
):  # fmt: skip
    """Write the runs that end in a piece; the last piece also ends the last run and writes their number."""
    p = tid()
    first, last = piece(size, len(values))
    r, start = before[p], 0
    if heads[p] > 0 or last == len(values):  # where the run began that the first of these ends
        q = p - 1
        while q >= 0 and lasts[max(q, 0)] < 0:
            q -= 1
        if q >= 0:
            start = lasts[max(q, 0)]
    for i in range(first, min(last, len(values) - 1)):
        if values[i + 1] != values[i]:
            run_values[r] = values[i]
            run_lengths[r] = i + 1 - start
            start = i + 1
            r += 1
    if last == len(values):
        run_values[r] = values[max(last - 1, 0)]
        run_lengths[r] = last - start
        count[0] = r + 1
