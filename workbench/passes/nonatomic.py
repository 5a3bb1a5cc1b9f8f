"""Plain additions in the place of atomic ones, where no other thread can touch the element.

`y[i] += v` is an atomic add, because other threads may add there too. Where every access to an array in the kernel is
at the thread's own index, none can, and a plain add vectorises. That holds as long as no argument overlaps another one,
so the launcher asks for the atomic form where arguments do.

Which arrays those are is a question of its own: code that is to run asks `owned_arrays`; autodiff, which needs what the
element held as a value like any other, asks `workbench.autodiff.memory.effects.private_additions`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from workbench.deep import deep
from workbench.ir.attributes import AXIS
from workbench.ir.ops import ELEMENTS, TILED
from workbench.ir.rewrite import Rewriter, fresh, rewrite
from workbench.ir.values import Function, Op, Value, walk
from workbench.types import ArrayType


def owned_arrays(function: Function) -> frozenset[Value]:
    """The array parameters whose every access is at the thread's own index: each `tid()` once, in any order."""
    axes = {op.result: op.attrs[AXIS] for op in walk(function.body) if op.name == "tid"}
    shared: set[Value] = set()
    for op in walk(function.body):
        if op.name in ELEMENTS:
            array = op.operands[0]
            assert isinstance(array.type, ArrayType)
            indices = op.operands[1 : 1 + array.type.ndim]
            # `y[j, i]` is as good as `y[i, j]`: what counts is that two threads never have the same indices.
            if sorted(axes.get(i, -1) for i in indices) != list(range(function.launch_ndim)):
                shared.add(array)
        # It is the sum of all threads, into one element.
        elif op.name == "reduce_add":
            shared.add(op.operands[0])
        if op.name in TILED:  # by many threads, or at many places
            inside = (inner for block in op.blocks for inner in walk(block))
            shared.update(v for o in (op, *inside) for v in o.operands if isinstance(v.type, ArrayType))
    return frozenset(p for p in function.params if isinstance(p.type, ArrayType) and p not in shared)


@deep
def nonatomic(function: Function, owned: Callable[[Function], Collection[Value]] = owned_arrays) -> Function:
    """The function with its atomic adds to `owned` arrays as a load, an add and a store; itself if there are none."""
    arrays = owned(function)

    def change(on: Rewriter, op: Op) -> list[Op] | None:
        return _plain(on, op) if op.name == "atomic_add" and op.operands[0] in arrays else None

    # Looked at first: most kernels have none, and a rewrite copies every operation.
    return rewrite(function, change) if _adds(function, arrays) else function


@deep
def adds_alone(function: Function) -> bool:
    """Whether `nonatomic` has anything to rewrite."""
    return _adds(function, owned_arrays(function))


def _adds(function: Function, arrays: Collection[Value]) -> bool:
    return any(op.name == "atomic_add" and op.operands[0] in arrays for op in walk(function.body))


def _plain(on: Rewriter, op: Op) -> list[Op]:
    *place, value = op.operands
    old, new = fresh(op.result), Value(op.result.type)
    # An atomic addition gives the old value, so that is what later uses mean.
    on.mapping[op.result] = old
    return [
        Op("load", tuple(place), (old,), {}, (), op.location),
        Op("add", (old, value), (new,), {}, (), op.location),
        Op("store", (*place, new), (), {}, (), op.location),
    ]
