"""Stable radix sorts: a pass per byte of the keys. Each thread counts and moves the elements of one piece in order."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportMissingParameterType=false

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.api.kernels.func import func
from workbench.api.kernels.kernel import kernel
from workbench.api.launches.launch import launch
from workbench.api.launches.map import map
from workbench.builtins import FORMS
from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import clone, empty, empty_like, from_numpy, zeros
from workbench.types import SCALARS, Kind, element, int32, is_integer
from workbench.utils.scan import array_scan, piece, require

tid, atomic_add = FORMS["tid"], FORMS["atomic_add"]
BITS = 8
QUIET: dict[str, Any] = {"checks": False, "record_tape": False, "deterministic": False}
"""Options of launches whose indices are right by construction, and that have no gradient."""


def radix_sort(keys: array, count: int | None = None) -> None:
    """Sort numbers in place, from the smallest.

        >>> import workbench as wb
        >>> x = wb.array([3.0, -1.0, 2.0])
        >>> wb.utils.radix_sort(x)
        >>> x.numpy()
        array([-1.,  2.,  3.], dtype=float32)

    -0.0 comes before 0.0, and NaN last, before anything if its sign bit is set. It has no gradient.

    Args:
        keys: integers, or floats of 32 or 64 bits, in one dimension.
        count: how many of them, from the first, are sorted; all if it is not given.

    Raises:
        LaunchError: `keys` is not such an array, or has fewer elements than `count`.
    """
    _sort("radix_sort()", keys, None, count, 0, None)


def radix_sort_pairs(
    keys: array, values: array, count: int | None = None, begin_bit: int = 0, end_bit: int | None = None
) -> None:
    """Sort keys in place, and values with them; values of equal keys keep their order.

        >>> import workbench as wb
        >>> keys, places = wb.array([3, 1, 2]), wb.array([0, 1, 2])
        >>> wb.utils.radix_sort_pairs(keys, places)
        >>> places.numpy()
        array([1, 2, 0], dtype=int32)

    `places` above is what `np.argsort(keys, stable=True)` returns. Neither keys nor values have a gradient.

    Args:
        keys: integers, or floats of 32 or 64 bits, in one dimension; -0.0 comes before 0.0, NaN last.
        values: numbers or vectors in one dimension, at least as many as are sorted.
        count: how many pairs, from the first, are sorted; all if it is not given.
        begin_bit, end_bit: sort by these bits of the keys alone, begin_bit ≤ bit < end_bit: of keys below 2¹⁶, 16 do.

    Raises:
        LaunchError: an array is not as above or has fewer elements than `count`, or the keys do not have these bits.
    """
    _sort("radix_sort_pairs()", keys, values, count, begin_bit, end_bit)


def segmented_sort_pairs(
    keys: array, values: array, count: int, segment_start_indices: array, segment_end_indices: array | None = None
) -> None:
    """Sort each segment of keys in place, and values with them; what lies in no segment stays where it is.

        >>> import workbench as wb
        >>> keys, values = wb.array([3, 1, 9, 8, 7]), wb.array([0, 1, 2, 3, 4])
        >>> wb.utils.segmented_sort_pairs(keys, values, 5, wb.array([0, 2, 5]))
        >>> keys.numpy()
        array([1, 3, 7, 8, 9], dtype=int32)

    Args:
        keys: integers, or floats of 32 or 64 bits, in one dimension; -0.0 comes before 0.0, NaN last.
        values: numbers or vectors in one dimension, at least `count`; those of equal keys keep their order.
        count: how many pairs there are.
        segment_start_indices: where each segment begins, int32.
        segment_end_indices: where each ends, exclusive; segments may come in any order and must not overlap. If not
            given, a segment ends where the next one begins, and the last of the starts is only an end.

    Raises:
        LaunchError: an array does not fit.
    """
    what = "segmented_sort_pairs()"
    starts, ends = segment_start_indices, segment_end_indices
    if ends is None:
        require(what, starts, "int32")
        starts, ends = starts[:-1], starts[1:]
    for a in (starts, ends):
        require(what, a, "int32")
        if a.dtype != int32 or a.shape != starts.shape or a.device != keys.device:
            raise LaunchError(f"{what} takes starts and ends as int32 arrays of one length on the keys' device.")
    _check(what, keys, values, count)
    device = keys.device
    edges, depth = zeros(count + 1, int32, device), zeros(count + 1, int32, device)
    launch(_mark, starts.size, [starts, ends, count], [edges, depth], device=device, **QUIET)
    array_scan(edges, edges)
    array_scan(depth, depth)
    bits = _ordered(keys[:count])
    launch(_level, count, [depth], [bits], device=device, **QUIET)
    order = from_numpy(np.arange(count, dtype=np.int32)).to(device)
    bits, order = sorted_by_bits(bits, order, 0, element(keys.dtype).bits)
    segments = empty(count, int32, device)
    launch(_gather, count, [edges, order], [segments], device=device, **QUIET)
    segments, order = sorted_by_bits(segments.view(SCALARS["uint32"]), order, 0, (2 * starts.size).bit_length())
    for x in (keys, values):
        old = clone(x[:count], requires_grad=False)
        launch(_gather, count, [old, order], [x[:count]], device=device, **QUIET)


def _check(what: str, keys: array, values: array | None, count: int | None) -> int:
    """Check the arguments of a sort, and return the number of elements to sort.

    Raises:
        LaunchError: the keys or the values are not what it takes, or fewer than `count`.
    """
    require(what, keys, "integers, or floats of 32 or 64 bits,")
    if not is_integer(keys.dtype) and keys.dtype.bits < 32:  # type: ignore[union-attr]
        raise LaunchError(
            f"{what} takes keys that are integers, or floats of 32 or 64 bits, not {keys.dtype!r}.", parameter="keys"
        )
    if values is not None and (values.ndim != 1 or values.device != keys.device):
        raise LaunchError(
            f"{what} takes values in one dimension on {keys.device.name}, not of shape {values.shape} on "
            f"{values.device.name}.",
            parameter="values",
        )
    n = keys.size if count is None else count
    fewest = min(keys.size, keys.size if values is None else values.size)
    if not 0 <= n <= fewest:
        name = "keys" if fewest == keys.size else "values"
        raise LaunchError(f"{what} was to sort {n} elements; {name} has {fewest}.", parameter=name)
    return n


def _sort(what: str, keys: array, values: array | None, count: int | None, begin_bit: int, end_bit: int | None) -> None:
    """Sort keys by some of their bits, and values with them, both overwritten; `what` names the caller in errors.

    Raises:
        LaunchError: an array does not fit, or the keys do not have these bits.
    """
    n = _check(what, keys, values, count)
    bits: int = keys.dtype.bits  # type: ignore[union-attr]
    end = bits if end_bit is None else end_bit
    if not 0 <= begin_bit <= end <= bits:
        raise LaunchError(f"{what}: keys have bits 0 to {bits}; these are {begin_bit} to {end}.")
    if n < 2:
        return
    part = keys[:n]
    moved = clone(values[:n], requires_grad=False) if values is not None else None
    ordered, moved = sorted_by_bits(_ordered(part), moved, begin_bit, end)
    part.copy_(_keys_again(ordered, keys))
    if values is not None:
        assert moved is not None
        values[:n].copy_(moved)


def sorted_by_bits(keys: array, values: array | None, begin: int, end: int) -> tuple[array, Any]:
    """Return unsigned keys and their values, sorted by the bits `begin` to `end` (exclusive) of the keys; it is stable.

    The arrays passed may be overwritten. Without values the second result is None.
    """
    n, device = keys.size, keys.device
    size = 512 if device.is_cuda else max(16384, -(-n // 64))
    pieces = -(-n // size)
    width = 4 if device.is_cuda else BITS  # a row of counts per thread, of which a GPU has many
    if pieces == 1 and end - begin <= 12:
        width = 12  # one pass
    spare = empty_like(keys), None if values is None else empty_like(values)
    for low in range(begin, end, width):
        digits = 1 << min(width, end - low)
        counts = zeros((pieces, digits), int32, device)
        launch(_count, pieces, [keys, low, digits - 1, size], [counts], device=device, **QUIET)
        following = array_scan(counts.T.flatten(), inclusive=False).reshape(digits, pieces).T.contiguous()
        inputs = [keys, low, digits - 1, size, following]
        if values is None:
            launch(_move_keys, pieces, inputs, [spare[0]], device=device, **QUIET)
        else:
            launch(_move_pairs, pieces, [*inputs, values], [spare[0], spare[1]], device=device, **QUIET)
        (keys, values), spare = spare, (keys, values)
    return keys, values


def _ordered(keys: array) -> Any:
    """Return the keys as unsigned integers that sort as the keys do, in a new array."""
    kind = keys.dtype
    bits = keys.contiguous().view(SCALARS[f"uint{kind.bits}"])  # type: ignore[union-attr]
    if kind.kind is Kind.FLOAT:  # type: ignore[union-attr]
        return map(_from_float, bits, _sign(kind))
    return map(_flipped, bits, _sign(kind)) if str(kind).startswith("int") else clone(bits)


def _keys_again(bits: array, like: array) -> array:
    """Return keys of the dtype of `like` from unsigned integers that `_ordered` made of such keys."""
    kind = like.dtype
    keys: Any = bits
    if kind.kind is Kind.FLOAT:  # type: ignore[union-attr]
        keys = map(_to_float, bits, _sign(kind))
    elif str(kind).startswith("int"):
        keys = map(_flipped, bits, _sign(kind))
    return keys.view(kind)


def _sign(kind: Any) -> Any:
    """Return the sign bit of a type of numbers, as an unsigned NumPy scalar of the same size."""
    return np.dtype(f"uint{kind.bits}").type(1 << (kind.bits - 1))


@func
def _flipped(bits, sign):
    """Return a signed integer's bits with the sign bit flipped, which sort as unsigned; or back."""
    return bits ^ sign


@func
def _from_float(bits, sign):
    """Return a float's bits changed so that they sort as unsigned integers."""
    return ~bits if bits & sign != type(bits)(0) else bits ^ sign


@func
def _to_float(bits, sign):
    """Return the bits of a float from what `_from_float` returned."""
    return bits ^ sign if bits & sign != type(bits)(0) else ~bits


@func
def _digit(key, low, mask):
    """Return the number that a key's bits from bit `low` on are, under a mask."""
    return int((key >> type(key)(low)) & type(key)(mask))


@kernel
def _count(keys: array[Any], low: int, mask: int, size: int, counts: array(dtype=int32, ndim=2)):
    """Count how often each digit occurs among the keys of a piece, a piece per thread; a row of `counts` for each.

    A digit is the key's bits from `low` on, under `mask`.
    """
    p = tid()
    first, last = piece(size, len(keys))
    for i in range(first, last):
        d = _digit(keys[i], low, mask)
        counts[p, d] = counts[p, d] + 1


@kernel
def _move_keys(
    keys: array[Any], low: int, mask: int, size: int, following: array(dtype=int32, ndim=2), out: array[Any]
):
    """Put the keys of a piece where `following` says that the next one of their digit goes."""
    p = tid()
    first, last = piece(size, len(keys))
    for i in range(first, last):
        key = keys[i]
        d = _digit(key, low, mask)
        at = following[p, d]
        following[p, d] = at + 1
        out[at] = key


@kernel
def _move_pairs(
    keys: array[Any], low: int, mask: int, size: int, following: array(dtype=int32, ndim=2), values: array[Any],
    out: array[Any], out_values: array[Any],
):  # fmt: skip
    """Put the keys of a piece, and their values, where `following` says that the next one of a key's digit goes."""
    p = tid()
    first, last = piece(size, len(keys))
    for i in range(first, last):
        key = keys[i]
        d = _digit(key, low, mask)
        at = following[p, d]
        following[p, d] = at + 1
        out[at] = key
        out_values[at] = values[i]


@kernel
def _mark(starts: array[int32], ends: array[int32], count: int, edges: array[int32], depth: array[int32]):
    """Mark the ends of a segment in arrays of zeros: 1 in `edges` at both, in `depth` 1 at its start and -1 at its end.

    So running sums of `edges` number segments and gaps, and those of `depth` are 0 outside of segments.
    """
    s = tid()
    first, last = min(max(starts[s], 0), count), min(max(ends[s], 0), count)
    if first < last:
        atomic_add(edges, first, 1)
        atomic_add(edges, last, 1)
        atomic_add(depth, first, 1)
        atomic_add(depth, last, -1)


@kernel
def _level(depth: array[int32], bits: array[Any]):
    """Make the bits of all keys outside of segments 0, where `depth` is 0; so they keep their order."""
    i = tid()
    if depth[i] == 0:
        bits[i] = bits.dtype(0)


@kernel
def _gather(x: array[Any], indices: array[int32], out: array[Any]):
    """Copy the elements of x at these indices to `out`."""
    i = tid()
    out[i] = x[indices[i]]
