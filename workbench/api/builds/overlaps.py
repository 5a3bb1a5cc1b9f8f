"""The layout of arguments in memory: dense or strided, aligned, and whether some may share bytes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from workbench.backends.layout import access_bytes
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.shapes import BEYOND_INT32, extent, is_far
from workbench.structs import ELEMENT


class LaunchAssumptions(NamedTuple):
    """Assumptions about a launch's sizes and addresses that its code may rely on.

    Attributes:
        index32: few enough threads and near enough elements for 32-bit indices.
        aligned: arrays of vectors or structs are aligned for loads of several numbers at once.
        apart: no two arrays, and no two elements of one, share memory.
    """

    index32: bool = True
    aligned: bool = True
    apart: bool = True


def launch_assumptions(dims: Sequence[int], arrays: Mapping[str, array]) -> LaunchAssumptions:
    """Return which assumptions of sizes, alignment and overlaps hold for a launch over `dims` with these arrays."""
    return LaunchAssumptions(fits_index32(dims, arrays), is_aligned(arrays.values()), not overlap(arrays))


def is_dense(arrays: Mapping[str, array]) -> bool:
    """Return whether code that reads no strides suits these arrays, given by parameter.

    That is so if their elements lie densely, and all fields of an array of structs in the same memory.
    """
    bases: dict[str, int] = {}
    for name, a in arrays.items():
        root, inside, _ = name.partition(ELEMENT)
        base = a.address - getattr(a.type, "offset", 0)
        if not a.is_dense or (inside and (not a.type.pitch or bases.setdefault(root, base) != base)):
            return False
    return True


def fits_index32(dims: Sequence[int], arrays: Mapping[str, array]) -> bool:
    """Return whether code with 32-bit indices suits a launch: few enough threads, and no array reaches too far."""
    return math.prod(dims) < BEYOND_INT32 and not any(is_far(a.shape, a.strides) for a in arrays.values())


def is_aligned(arrays: Iterable[array]) -> bool:
    """Return whether code that loads several numbers at once suits: arrays of vectors or structs are aligned for it.

    Each such array, and its memory, must begin at a multiple of what is loaded at once. The memory counts too, since a
    launch may run again on a copy of it (`array.twin`).
    """
    return not any(
        bytes and ((a.address - getattr(a.type, "offset", 0)) % bytes or a.memory.address % bytes)
        for a, bytes in ((a, access_bytes(a.type)) for a in arrays)
    )


def overlap(arrays: Mapping[str, array], within: bool = True) -> bool:
    """Return whether two of the arrays, or two elements of one, may share memory: then accumulation must be atomic.

    The fields of one array of structs are interleaved and share nothing: they count as one array.

    Args:
        arrays: by parameter.
        within: whether two elements of one array count.
    """
    if all_disjoint(arrays.values()):
        return False
    spans: list[tuple[int, int]] = []
    seen: set[tuple[Any, ...]] = set()
    for name, a in arrays.items():
        root, inside, _ = name.partition(ELEMENT)
        if a.is_contiguous and not inside:
            spans.append((a.address, a.address + math.prod(a.shape) * a.dtype.size))
            continue
        if a.size == 0:
            continue
        if within and _within_itself(a):
            return True
        if inside and a.type.pitch:
            layout = (root, a.address - a.type.offset, a.strides)
            if layout in seen:
                continue
            seen.add(layout)
            low, high = extent(a)
            spans.append((low - a.type.offset, high - a.type.offset - a.dtype.size + a.type.pitch))
        else:
            spans.append(extent(a))
    spans.sort()
    end = 0
    for low, high in spans:
        if low < end and low < high:
            return True
        end = max(end, high)
    return False


def _within_itself(a: array) -> bool:
    """Return whether two elements of an array may share memory: a stride of 0, or windows that overlap."""
    reach = a.dtype.size
    for step, count in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if step < reach:
            return True
        reach += step * (count - 1)
    return False


def all_disjoint(arrays: Collection[array]) -> bool:
    """Return whether all arrays are dense and each is certain to be alone in its memory; False if that is unknown."""
    seen = 0
    for a in arrays:
        lock_bit = a.memory.lock_bit  # most allocations have a bit of their own (`runtime/device/memory`)
        if seen & lock_bit or not a.is_dense:
            break
        seen |= lock_bit
    else:
        return True
    return len({a.memory for a in arrays if a.is_dense and a.memory.is_alone}) == len(arrays)
