"""Clearing in an adjoint: the cotangents of what the kernel overwrites."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.autodiff.gather.differences import Need, shape_of
from workbench.ir.attributes import AXIS, VALUE
from workbench.ir.ops import EFFECTS
from workbench.ir.values import Block, Function, Op, Value, indices_of, walk


def cleared_only(array: Value, operations: Sequence[Op]) -> bool:
    """Return whether every write to the array stores 0."""
    defining = {v: op for op in operations for v in op.results}
    effects = [op for op in operations if op.name in EFFECTS and op.operands[0] is array]
    return all(op.name == "store" and _is_zero(defining.get(op.operands[-1])) for op in effects)


def _is_zero(op: Op | None) -> bool:
    if op is None or op.name != "const":
        return False
    return not np.any(op.attrs[VALUE])


def fills(adjoint: Function, clears: set[Value]) -> set[Need] | None:
    """Return the conditions under which every element of these arrays is cleared; None if some may not be."""
    needs: set[Need] = set()
    axes = {op.result: op.attrs[AXIS] for op in walk(adjoint.body) if op.name == "tid"}
    for array in clears:
        stored_indices = [tuple(axes.get(v, -1) for v in indices) for indices in _always_stored(adjoint.body, array)]
        covering = next((p for p in stored_indices if sorted(p) == list(range(adjoint.launch_ndim))), None)
        if covering is None:
            return None
        needs |= {Need(axis, 0, shape_of(array, k), equal=True) for k, axis in enumerate(covering)}
    return needs


def _always_stored(block: Block, array: Value) -> list[tuple[Value, ...]]:
    """Return the indices at which every thread that gets here stores, in the order of the program."""
    stored: list[tuple[Value, ...]] = []
    for op in block.ops:
        if op.name == "store" and op.operands[0] is array:
            stored.append(tuple(indices_of(op)))
        elif op.name == "if":
            both = set(_always_stored(op.blocks[1], array))
            stored += [indices for indices in _always_stored(op.blocks[0], array) if indices in both]
    return stored
