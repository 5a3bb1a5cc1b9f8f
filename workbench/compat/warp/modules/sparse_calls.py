"""The two calls into Warp's native library that its `warp.sparse` makes on the CPU, in NumPy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np


def _view(pointer: Any, count: int, dtype: Any = np.int32) -> Any:
    """Return the memory behind a ctypes pointer as an array of `count` elements; None of a null pointer."""
    address = ctypes.cast(pointer, ctypes.c_void_p).value if pointer is not None else None
    if address is None:
        return None
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_byte * size).from_address(address), dtype) if size else np.zeros(0, dtype)


def _ends(rows: np.ndarray, count: int) -> np.ndarray:
    """Return where each of `count` rows ends in a sorted list of row numbers."""
    return np.cumsum(np.bincount(rows, minlength=count))[:count]


def _active(offsets: np.ndarray, counts: np.ndarray | None, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the position of each stored block of a matrix."""
    sizes = np.diff(offsets) if counts is None else counts
    row = np.repeat(np.arange(rows), sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return row, offsets[:-1][row] + np.arange(len(row)) - first


def from_triplets(
    block_size: int, scalar_size: int, rows: int, columns: int, count: int, actual: Any, row_of: Any, column_of: Any,
    values: Any, zero_mask: int, masked: bool, block_ends: Any, grouped: Any, offsets: Any, counts: Any, stored: Any,
) -> None:  # fmt: skip
    """Build the topology of a block matrix from coordinates, and group the triplets by block, in their own order.

    Triplets beyond the matrix are dropped; with `zero_mask` those whose blocks are all zeros, with `masked` those
    that the matrix has no block for.
    """
    number = _view(actual, 1)
    count = min(count, int(number[0])) if number is not None else count
    row, column = _view(row_of, count), _view(column_of, count)
    first, row_counts = _view(offsets, rows + 1), _view(counts, rows)
    used = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    if zero_mask and scalar_size:
        bits = _view(values, count * block_size, f"u{scalar_size}")
        used &= (bits.reshape(count, block_size) & bits.dtype.type(zero_mask)).any(1)
    block = row.astype(np.int64) * columns + column
    triplets = np.flatnonzero(used)
    if masked:
        own, positions = _active(first, row_counts, rows)
        names = own * columns + _view(stored, int(first[-1]))[positions]
        triplets = triplets[np.isin(block[triplets], names)]
    triplets = triplets[np.argsort(block[triplets], kind="stable")]
    blocks, group = np.unique(block[triplets], return_inverse=True)
    if not masked:
        first[0], first[1:] = 0, _ends(blocks // columns, rows)
        _view(stored, len(blocks))[:] = blocks % columns
        if row_counts is not None:
            row_counts[:] = np.diff(first)
    else:
        group = np.searchsorted(names, block[triplets])
        blocks = names
    ends, order = _view(block_ends, len(blocks)), _view(grouped, len(triplets))
    if ends is not None and order is not None:
        ends[:], order[:] = _ends(group, len(blocks)), triplets


def transposed(
    rows: int, columns: int, count: int, offsets: Any, counts: Any, stored: Any,
    to_offsets: Any, to_counts: Any, to_stored: Any, block_map: Any, status: Any,
) -> None:  # fmt: skip
    """Build the topology of the transpose, and say for each of its blocks which one of the source it is.

    With `to_counts` rows are written into the room that `to_offsets` gives them; a row with less room stays empty,
    and `status` becomes 1.
    """
    first = _view(offsets, rows + 1)
    row, blocks = _active(first, _view(counts, rows), rows)
    own = _view(stored, int(first[-1]))[blocks]
    valid = (own >= 0) & (own < columns)
    row, blocks, own = row[valid], blocks[valid], own[valid]
    order = np.lexsort((row, own))
    sizes = np.bincount(own, minlength=columns)
    start, room, error = _view(to_offsets, columns + 1), _view(to_counts, columns), _view(status, 1)
    if room is None:
        start[0], start[1:] = 0, np.cumsum(sizes)
    else:
        fits = sizes <= np.diff(start)
        room[:] = np.where(fits, sizes, 0)
        if not fits.all() and error is not None:
            error[0] = 1
        order = order[fits[own[order]]]
    _, positions = _active(start, room, columns)
    _view(to_stored, int(start[-1]))[positions] = row[order]
    _view(block_map, int(start[-1]))[positions] = blocks[order]
