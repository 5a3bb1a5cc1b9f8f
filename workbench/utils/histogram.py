"""Histograms. Each thread counts a piece by itself, so that no two wait for one bin."""

# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.builtins import FORMS
from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty, zeros
from workbench.types import Kind, float32, float64, int32
from workbench.utils.scan import piece, require

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
    """Count the elements of a piece per bin. The edges decide: the quotient may be off by one bin."""
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
    """Sum all pieces' counts of one bin."""
    b = tid()
    total = 0
    for p in range(parts.shape[0]):
        total += parts[p, b]
    counts[b] = total
