"""An adjoint in which no two threads add to one element: it adds plainly.

The adjoint of `y[i] = x[(i + 1) % n]` adds to an element of another thread, but each element is added to by one thread:
a turned index is a permutation of the threads of a launch that is no larger than the size. So are the populations of a
lattice gas, each in a plane of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from workbench.autodiff.gather.index_offsets import IndexOffset, LaunchCondition, OffsetAnalysis, shape_of
from workbench.builtins import Ref
from workbench.ir.build import Builder, Rewriter, rewrite
from workbench.ir.ops import ACCESSES
from workbench.ir.values import Function, Op, Value, indices_of, walk
from workbench.types import is_float

Element = tuple[int | tuple[int, tuple[IndexOffset, ...]], ...]
"""An element: for each index its number, or the axis of the launch and how it differs from the thread's own there."""


def owned(adjoint: Function) -> tuple[Function, frozenset[LaunchCondition]] | None:
    """Return an adjoint with plain additions to arrays in which no two threads meet, and conditions on the launch.

    It is None if there is no such array.

    Args:
        adjoint: one that adds atomically.
    """
    where = OffsetAnalysis(adjoint)
    uses: dict[Value, list[Op]] = defaultdict(list)
    operations = list(walk(adjoint.body))
    for op in operations:
        if op.name in ACCESSES:
            uses[op.operands[0]].append(op)
    looked_at = {v for op in operations for v in op.operands}
    results: set[Value] = set()
    needs: set[LaunchCondition] = set()
    for array, ops in uses.items():
        adds = all(op.name == "atomic_add" and op.result not in looked_at for op in ops)
        conditions = (
            _disjointness_conditions(array, ops, where, adjoint.launch_ndim) if adds and is_float(array.type) else None
        )
        if conditions is not None:
            results.update(op.result for op in ops)
            needs |= conditions
    if not results:
        return None

    def change(_: Rewriter, op: Op) -> list[Op] | None:
        if op.name != "atomic_add" or op.result not in results:
            return None
        b = Builder()
        b.location = op.location
        array, *indices, value = op.operands
        b.store(array, *indices, (Ref(b, b.load(array, *indices)) + Ref(b, value)).value)
        return list(b.body().ops)

    return rewrite(adjoint, change), frozenset(needs)


def _disjointness_conditions(
    array: Value, ops: Sequence[Op], where: OffsetAnalysis, ndim: int
) -> set[LaunchCondition] | None:
    """Return the conditions under which no two threads add to one element of an array; None if that is not known."""
    needs: set[LaunchCondition] = set()
    elements: list[Element] = []
    for indices in dict.fromkeys(map(indices_of, ops)):
        element: list[int | tuple[int, tuple[IndexOffset, ...]]] = []
        for k, value in enumerate(indices):
            number = where.number(value)
            index = where.of(value, {}) if number is None else None
            if number is None and (index is None or any(w.edge is not None for w in index.offsets)):
                return None
            if index is not None:
                # Counted from the end, two indices are one where a launch is larger than the array.
                needs |= index.needs | {LaunchCondition(index.axis, 0, shape_of(array, k))}
            element.append((index.axis, index.offsets) if index is not None else number or 0)
        axes = [part[0] for part in element if isinstance(part, tuple)]
        if sorted(axes) != list(range(ndim)):
            return None
        elements.append(tuple(element))
    for n, one in enumerate(elements):
        for other in elements[:n]:
            if not any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(one, other, strict=True)):
                if one != other:
                    return None
    return needs
