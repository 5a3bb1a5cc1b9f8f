"""The calls into Warp's native library that plain parts of its wheel make: by Workbench's own algorithms."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench import utils
from workbench.compat.warp.arrays import from_ptr
from workbench.types import SCALARS, element

NAMES = {"int": "int32", "uint": "uint32", "float": "float32", "double": "float64"}
NAMES |= {name: name for name in ("int64", "uint64")}
"""The names of types by those in the names of native functions."""


def _scan(kind: Any, source: int, target: int, count: int, step: int, to: int, length: int, inclusive: bool) -> int:
    """Write the running sums of each component of `count` elements at address `source` to `target`.

    `step` and `to` are the strides in bytes, `length` is the number of components. Return 1, for success.
    """
    for k in range(length):
        x, y = (from_ptr(at + k * kind.size, kind, count, s) for at, s in ((source, step), (target, to)))
        utils.array_scan(x, y, inclusive)
    return 1


def _sorted_pairs(kind: Any, keys: int, values: int, count: int, begin: int, end: int, size: int) -> None:
    """Sort keys in place, and values of `size` bytes with them."""
    utils.radix_sort_pairs(from_ptr(keys, kind, count), from_ptr(values, f"uint{8 * size}", count), count, begin, end)


def _sorted_segments(kind: Any, keys: int, values: int, count: int, starts: int, ends: int, segments: int) -> int:
    """Sort the keys of each segment in place, and values with them; return 1, for success."""
    pairs = [from_ptr(keys, kind, count), from_ptr(values, "int32", count)]
    utils.segmented_sort_pairs(*pairs, count, from_ptr(starts, "int32", segments), from_ptr(ends, "int32", segments))
    return 1


def _runs(kind: Any, values: int, run_values: int, lengths: int, number: int, count: int) -> None:
    """Write the values and the lengths of runs of equal neighbours, and how many runs there are."""
    x, y, n = (from_ptr(at, kind, count) for at in (values, run_values, lengths))
    utils.runlength_encode(x, y, n, from_ptr(number, "int32", 1), count)


def _sum(kind: Any, values: int, out: int, count: int, step: int, length: int) -> None:
    """Write the sum of each component over `count` elements."""
    x = from_ptr(values, kind, (count, length), (step, kind.size))
    from_ptr(out, kind, length).copy_(x.sum(axis=0))


def _inner(kind: Any, a: int, b: int, out: int, count: int, step_a: int, step_b: int, length: int) -> None:
    """Write the inner product of two arrays: the sum of products of all components."""
    x, y = (from_ptr(at, kind, (count, length), (s, kind.size)).contiguous() for at, s in ((a, step_a), (b, step_b)))
    from_ptr(out, kind, 1).copy_(x.dot(y))


_OF_A_TYPE: dict[str, Callable[..., Any]] = {
    "array_scan": _scan,
    "radix_sort_pairs": _sorted_pairs,
    "segmented_sort_pairs": _sorted_segments,
    "runlength_encode": _runs,
    "array_sum": _sum,
    "array_inner": _inner,
}


def _neighbours(count: int, edges: Any) -> list[set[int]]:
    """Return the neighbours of each node.

    Raises:
        RuntimeError: an edge names a node outside of 0 to `count` - 1.
    """
    pairs = edges.numpy()
    if pairs.size and not (0 <= pairs.min() and pairs.max() < count):
        raise RuntimeError(f"an edge names a node outside of 0 to {count - 1}")
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for a, b in pairs.tolist():
        neighbours[a].add(b)
        neighbours[b].add(a)
    return neighbours


def _coloured(count: int, edges: Any, algorithm: int, colors: Any) -> int:
    """Give each node the first colour that no neighbour has; return the number of colours.

    Nodes with most neighbours come first.
    """
    near = _neighbours(count, edges)
    colour = [-1] * count
    for node in sorted(range(count), key=lambda n: -len(near[n])):
        taken = {colour[m] for m in near[node]}
        colour[node] = next(c for c in itertools.count() if c not in taken)
    colors.assign(np.array(colour, np.int32))
    return max(colour) + 1


def _balanced(count: int, edges: Any, number: int, target: float, most: int, colors: Any, reached: Any) -> float:
    """Move nodes from the largest colour to smaller ones until the ratio of largest to smallest is at most `target`.

    At most `most` nodes are moved. Return the ratio; `reached` becomes 1 if more moves were possible and needed, else
    0.
    """
    near, colour = _neighbours(count, edges), colors.numpy().copy()
    for turn in itertools.count():
        sizes = np.bincount(colour, minlength=number)
        ratio = sizes.max() / sizes.min() if sizes.min() else np.inf
        order = [c for c in np.argsort(sizes, kind="stable") if sizes[c] + 1 < sizes.max()]
        largest = np.flatnonzero(colour == sizes.argmax())
        moves = ((n, c) for c in order for n in largest if all(colour[m] != c for m in near[n]))
        move = next(moves, None) if ratio > target else None
        if move is None or turn == most:
            reached._obj.value = int(move is not None)
            colors.assign(colour)
            return float(ratio)
        colour[move[0]] = move[1]
    raise AssertionError


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
    """Return the row and the position of each stored block of a matrix; `counts` has each row's blocks, or is None."""
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


def compressed(
    rows: int, columns: int, block_size: int, scalar_size: int, code: int, room: int, prunes: bool, zero_mask: int,
    compact: bool, offsets: Any, counts: Any, stored: Any, values: Any, with_values: bool,
) -> None:  # fmt: skip
    """Sort the blocks of each row and join those of one column, without blocks outside; with `prunes` without zeros.

    With `compact` rows lie one behind the other, else each begins where it began.
    """
    first, row_counts, column_of = _view(offsets, rows + 1), _view(counts, rows), _view(stored, room)
    row, at = _active(first, row_counts, rows)
    used = (column_of[at] >= 0) & (column_of[at] < columns)
    if prunes:
        bits = _view(values, room * block_size, f"u{scalar_size}").reshape(room, block_size)
        used &= (bits[at] & bits.dtype.type(zero_mask)).any(1)
    row, at = row[used], at[used]
    blocks, group = np.unique(row.astype(np.int64) * columns + column_of[at], return_inverse=True)
    sizes = np.bincount(blocks // columns, minlength=rows) if columns else np.zeros(rows, int)
    if compact:
        first[0], first[1:] = 0, np.cumsum(sizes)
    if row_counts is not None:
        row_counts[:] = sizes
    active = _active(first, sizes, rows)[1]
    column_of[active] = blocks % columns if columns else 0
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
    for (what, call), (suffix, name), where in itertools.product(_OF_A_TYPE.items(), NAMES.items(), ("host", "device")):
        kind = element(SCALARS[name])
        functions[f"wp_{what}_{suffix}_{where}"] = lambda *args, call=call, kind=kind: call(kind, *args)
    return functions
