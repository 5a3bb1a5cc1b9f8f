"""Clearing in an adjoint: the cotangents of what the kernel overwrites."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.autodiff.gather.index_offsets import OffsetAnalysis
from workbench.ir.ops import EFFECTS, VALUE
from workbench.ir.values import Block, Function, Op, Value, indices_of, walk


def cleared_only(array: Value, operations: Sequence[Op]) -> bool:
    """Return whether every write to the array stores a constant 0; so it is if there is none."""
    defining = {v: op for op in operations for v in op.results}
    effects = [op for op in operations if op.name in EFFECTS and op.operands[0] is array]
    return all(op.name == "store" and _is_zero(defining.get(op.operands[-1])) for op in effects)


def _is_zero(op: Op | None) -> bool:
    """Return whether an operation is a constant 0, in all components; False of None."""
    if op is None or op.name != "const":
        return False
    return not np.any(op.attrs[VALUE])


Box = tuple[tuple[int, int], ...]
"""A part of an array: for each axis a dimension of the launch, and the index of its first thread's element."""


def boxes(adjoint: Function, clears: set[Value]) -> dict[str, Box]:
    """Return, by name, the arrays that a launch clears as a box with one element for each thread, and the box.

    Of the arrays in `clears` those are left out of which other elements are cleared, or only some threads clear one.
    """
    where, result = OffsetAnalysis(adjoint), dict[str, Box]()
    stores = [op for op in walk(adjoint.body) if op.name == "store"]
    for array in clears:
        first, *others = dict.fromkeys(_box(where, indices_of(op)) for op in stores if op.operands[0] is array)
        own = sorted(axis for axis, _ in first) == [*range(adjoint.launch_ndim)]
        if own and not others and _always_stores(adjoint.body, array):
            result[array.name] = first
    return result


def _box(where: OffsetAnalysis, indices: Sequence[Value]) -> Box:
    """Return, for each index of a thread's element, the axis of the launch and what the index is in the first thread.

    It is empty unless each index is the thread's own along an axis plus a constant of 0 or more.
    """
    own = [where.of(index, {}) for index in indices]
    known = [(index.axis, index.only) for index in own if index is not None and not index.needs]
    box = tuple((axis, first) for axis, first in known if first is not None and first >= 0)
    return box if len(box) == len(indices) else ()


def _always_stores(block: Block, array: Value) -> bool:
    """Return whether every thread that runs a block stores to the array."""
    return any(
        (op.name == "store" and op.operands[0] is array)
        or (op.name == "if" and all(_always_stores(side, array) for side in op.blocks))
        for op in block.ops
    )
