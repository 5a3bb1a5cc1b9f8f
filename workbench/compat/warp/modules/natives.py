"""The calls into Warp's native library that plain parts of its wheel make: by Workbench's own algorithms."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np

from workbench import utils
from workbench.compat.warp.arrays import from_ptr
from workbench.types import SCALARS, element

NAMES = {"int": "int32", "uint": "uint32", "float": "float32", "double": "float64"}
NAMES |= {name: name for name in ("int64", "uint64")}
"""The names of types by those in the names of native functions."""


def array_scan(kind: Any, source: int, out: int, count: int, step: int, to: int, length: int, inclusive: bool) -> int:
    """Write the running sums of each component of `count` elements at address `source` to `out`.

    `step` and `to` are the strides in bytes, `length` is the number of components. Return 1, for success.
    """
    for k in range(0, length * kind.size, kind.size):
        utils.array_scan(from_ptr(source + k, kind, count, step), from_ptr(out + k, kind, count, to), inclusive)
    return 1


def radix_sort_pairs(kind: Any, keys: int, values: int, count: int, begin: int, end: int, size: int) -> None:
    """Sort `count` keys at an address in place, and with them the values of `size` bytes each at another address.

    They are sorted by the bits of the keys from `begin` to below `end`.
    """
    utils.radix_sort_pairs(from_ptr(keys, kind, count), from_ptr(values, f"uint{8 * size}", count), count, begin, end)


def segmented_sort_pairs(kind: Any, keys: int, values: int, count: int, starts: int, ends: int, segments: int) -> int:
    """Sort the keys of each segment in place, and int32 values with them; return 1, for success.

    All arrays are addresses; `starts` and `ends` have the bounds of the segments.
    """
    first, last = (from_ptr(at, "int32", segments) for at in (starts, ends))
    utils.segmented_sort_pairs(from_ptr(keys, kind, count), from_ptr(values, "int32", count), count, first, last)
    return 1


def runlength_encode(kind: Any, values: int, run_values: int, lengths: int, number: int, count: int) -> None:
    """Write the values and lengths of runs of equal neighbours among `count` values, and their number to `number`.

    All arrays are addresses.
    """
    data, *runs = (from_ptr(at, kind, count) for at in (values, run_values, lengths))
    utils.runlength_encode(data, runs[0], runs[1], from_ptr(number, "int32", 1), count)


def array_sum(kind: Any, values: int, out: int, count: int, step: int, length: int) -> None:
    """Write the sum of each component over `count` elements at the address `values` to the address `out`.

    `step` is the stride in bytes, `length` the number of components.
    """
    from_ptr(out, kind, length).copy_(from_ptr(values, kind, (count, length), (step, kind.size)).sum(axis=0))


def array_inner(kind: Any, a: int, b: int, out: int, count: int, step_a: int, step_b: int, length: int) -> None:
    """Write the inner product of the arrays at addresses `a` and `b`, a sum over all components, to `out`.

    `step_a` and `step_b` are the strides in bytes, `length` is the number of components of an element.
    """
    x, y = (from_ptr(at, kind, (count, length), (s, kind.size)).contiguous() for at, s in ((a, step_a), (b, step_b)))
    from_ptr(out, kind, 1).copy_(x.dot(y))


_OF_A_TYPE = (array_scan, radix_sort_pairs, segmented_sort_pairs, runlength_encode, array_sum, array_inner)


def _neighbours(count: int, edges: Any) -> list[np.ndarray]:
    """Return the neighbours of each node.

    Raises:
        RuntimeError: an edge names a node outside of 0 to `count` - 1.
    """
    pairs = edges.numpy()
    if pairs.size and not (0 <= pairs.min() and pairs.max() < count):
        raise RuntimeError(f"an edge names a node outside of 0 to {count - 1}")
    both = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    return np.split(both[:, 1], np.searchsorted(both[:, 0], np.arange(1, count)))


def _coloured(count: int, edges: Any, algorithm: int, colors: Any) -> int:
    """Write to `colors`, for each node, the first colour that no neighbour has; return the number of colours.

    Nodes with most neighbours come first; `algorithm` has no effect.
    """
    near, colour = _neighbours(count, edges), np.full(count, -1, np.int32)
    for node in sorted(range(count), key=lambda n: -len(near[n])):
        colour[node] = next(c for c in itertools.count() if c not in colour[near[node]])
    colors.assign(colour)
    return int(colour.max(initial=-1)) + 1


def _balanced(count: int, edges: Any, number: int, target: float, most: int, colors: Any, reached: Any) -> float:
    """Move nodes from the largest colour to smaller ones until the ratio of largest to smallest is at most `target`.

    At most `most` nodes are moved; `colors` is changed, and `number` is how many colours there are. Return the
    ratio; `reached` becomes 1 if more moves were possible and needed, else 0.
    """
    near, colour = _neighbours(count, edges), colors.numpy().copy()
    for turn in itertools.count():
        sizes = np.bincount(colour, minlength=number)
        ratio = sizes.max() / sizes.min() if sizes.min() else np.inf
        order = [c for c in np.argsort(sizes, kind="stable") if sizes[c] + 1 < sizes.max()]
        largest = np.flatnonzero(colour == sizes.argmax())
        move = next(((n, c) for c in order for n in largest if c not in colour[near[n]]), None)
        if ratio <= target or move is None or turn == most:
            break
        colour[move[0]] = move[1]
    reached._obj.value = int(ratio > target and move is not None)
    colors.assign(colour)
    return float(ratio)


def _view(pointer: Any, count: int, dtype: Any = np.int32) -> Any:
    """Return the memory behind a ctypes pointer as an array of `count` elements; None of a null pointer."""
    address = ctypes.cast(pointer, ctypes.c_void_p).value if pointer is not None else None
    if address is None:
        return None
    size = count * np.dtype(dtype).itemsize
    raw = np.ctypeslib.as_array((ctypes.c_byte * size).from_address(address)) if size else np.zeros(0, np.int8)
    return raw.view(dtype)


def _nonzero(values: Any, count: int, block_size: int, scalar_size: int, mask: int) -> np.ndarray:
    """Return, for each of `count` blocks at the pointer `values`, whether a number in it has a bit of the mask."""
    bits = _view(values, count * block_size, f"u{scalar_size}").reshape(count, block_size)
    return (bits & bits.dtype.type(mask)).any(1)


def _active(offsets: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the position of each stored block of a matrix; `counts` has each row's blocks, or is None."""
    sizes = np.diff(offsets) if counts is None else counts
    row = np.repeat(np.arange(len(sizes)), sizes)
    return row, (offsets[:-1] - np.cumsum(sizes) + sizes)[row] + np.arange(len(row))


def _store(offsets: Any, counts: Any, stored: Any, row: np.ndarray, column: np.ndarray, compact: bool) -> np.ndarray:
    """Write the topology of blocks in the order of rows; return their positions.

    With `compact` rows lie one behind the other, else each begins where it began.
    """
    sizes = np.bincount(row, minlength=len(offsets) - 1)
    if compact:
        offsets[0], offsets[1:] = 0, np.cumsum(sizes)
    if counts is not None:
        counts[:] = sizes
    positions = _active(offsets, sizes)[1]
    stored[positions] = column
    return positions


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
        used &= _nonzero(values, count, block_size, scalar_size, zero_mask)
    block = row.astype(np.int64) * columns + column
    blocks = np.unique(block[used])
    if masked:
        own, positions = _active(first, row_counts)
        blocks = own * columns + _view(stored, int(first[-1]))[positions]
        used &= np.isin(block, blocks)
    else:
        _store(first, row_counts, _view(stored, len(blocks)), blocks // columns, blocks % columns, True)
    triplets = np.flatnonzero(used)
    triplets = triplets[np.argsort(block[triplets], kind="stable")]
    ends, order = _view(block_ends, len(blocks)), _view(grouped, len(triplets))
    if ends is not None and order is not None:
        ends[:], order[:] = np.searchsorted(block[triplets], blocks, "right"), triplets


def transposed(
    rows: int, columns: int, count: int, offsets: Any, counts: Any, stored: Any,
    to_offsets: Any, to_counts: Any, to_stored: Any, block_map: Any, status: Any,
) -> None:  # fmt: skip
    """Build the topology of the transpose, and say for each of its blocks which one of the source it is.

    With `to_counts` rows are written into the room that `to_offsets` gives them; a row with less room stays empty,
    and `status` becomes 1.
    """
    first = _view(offsets, rows + 1)
    row, blocks = _active(first, _view(counts, rows))
    own = _view(stored, int(first[-1]))[blocks]
    start, room, error = _view(to_offsets, columns + 1), _view(to_counts, columns), _view(status, 1)
    order = np.lexsort((row, own))
    order = order[(own[order] >= 0) & (own[order] < columns)]
    if room is not None:
        fits = np.bincount(own[order], minlength=columns) <= np.diff(start)
        order = order[fits[own[order]]]
        if not fits.all() and error is not None:
            error[0] = 1
    size = int(start[-1]) if room is not None else len(order)
    positions = _store(start, room, _view(to_stored, size), own[order], row[order], room is None)
    _view(block_map, size)[positions] = blocks[order]


def compressed(
    rows: int, columns: int, block_size: int, scalar_size: int, code: int, room: int, prunes: bool, zero_mask: int,
    compact: bool, offsets: Any, counts: Any, stored: Any, values: Any, with_values: bool,
) -> None:  # fmt: skip
    """Sort the blocks of each row and join those of one column, without blocks outside; with `prunes` without zeros.

    With `compact` rows lie one behind the other, else each begins where it began.
    """
    first, row_counts, column_of = _view(offsets, rows + 1), _view(counts, rows), _view(stored, room)
    row, at = _active(first, row_counts)
    used = (column_of[at] >= 0) & (column_of[at] < columns)
    if prunes:
        used &= _nonzero(values, room, block_size, scalar_size, zero_mask)[at]
    row, at = row[used], at[used]
    blocks, group = np.unique(row * columns + column_of[at], return_inverse=True)
    active = _store(first, row_counts, column_of, *np.divmod(blocks, max(columns, 1)), compact)
    if with_values:
        numbers = _view(values, room * block_size, ("f4", "f8")[code]).reshape(room, block_size)
        sums = np.zeros((len(blocks), block_size), numbers.dtype)
        np.add.at(sums, group, numbers[at])
        numbers[active] = sums


def calls() -> dict[str, Any]:
    """Return the functions by the names under which the wheel calls them in Warp's native library."""
    functions: dict[str, Any] = {
        "wp_bsr_matrix_from_triplets_host": from_triplets,
        "wp_bsr_transpose_host": transposed,
        "wp_bsr_compress_inplace_host": compressed,
        "wp_graph_coloring": _coloured,
        "wp_balance_coloring": _balanced,
    }
    for call, (suffix, name), where in itertools.product(_OF_A_TYPE, NAMES.items(), ("host", "device")):
        kind = element(SCALARS[name])
        functions[f"wp_{call.__name__}_{suffix}_{where}"] = lambda *args, call=call, kind=kind: call(kind, *args)
    return functions
