"""Runs of equal elements."""

# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportInvalidTypeForm=false

from __future__ import annotations

from typing import Any

from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.api.narrow import is_array
from workbench.builtins import FORMS
from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros
from workbench.types import int32
from workbench.utils.scan import array_scan, piece, piece_size, require

tid = FORMS["tid"]


def runlength_encode(
    values: array, run_values: array, run_lengths: array, run_count: array | None = None, value_count: int | None = None
) -> int | None:
    """Find the runs of equal neighbours.

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
    """Count the elements of a piece whose next element differs, and find where the last such next element is, or -1."""
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
