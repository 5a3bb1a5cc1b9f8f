"""Plain changes of elements in the place of atomic ones, where no other thread can touch the element.

`y[i] += v` is an atomic add, because other threads may add there too. Where every access to an array in the kernel is
at the thread's own index, none can, and a plain add vectorises. The front end writes other augmented assignments out
both ways, plainly and atomically, and `owned` decides between the two. That holds as long as no argument overlaps
another one, so the launcher asks for the atomic form where arguments do.

Which arrays those are is a question of its own: code that is to run asks `owned_arrays`; autodiff, which needs what the
element held as a value like any other, asks `workbench.autodiff.memory.effects.private_additions`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from workbench.deep import with_deep_stack
from workbench.ir.analysis import Analysis
from workbench.ir.ops import ELEMENTS, TILED
from workbench.ir.rewrite import Rewriter, fresh, rewrite
from workbench.ir.values import Function, Op, Value, walk
from workbench.types import ArrayType


def owned_arrays(function: Function) -> frozenset[Value]:
    """Return the array parameters of which no two threads touch the same element.

    Each `tid()` stands at a position of the indices that is the same in every access, so that different threads differ
    there, whatever the other indices are: `y[i, j]`, `y[j, i]`, or rows `w[i, k]` of a launch of one dimension; but not
    `y[i, j]` together with `y[j, i]`. A multiple of it may stand there too, plus what is the same for all threads
    (`y[2 * i]` with `y[2 * i + 1]`).
    """
    uses: dict[Value, list[Op]] = defaultdict(list)
    shared: set[Value] = set()
    for op in walk(function.body):
        if op.name in ELEMENTS:
            uses[op.operands[0]].append(op)
        # It is the sum of all threads, into one element.
        elif op.name == "reduce_add":
            shared.add(op.operands[0])
        if op.name in TILED:  # by many threads, or at many places
            inside = (inner for block in op.blocks for inner in walk(block))
            shared.update(v for o in (op, *inside) for v in o.operands if isinstance(v.type, ArrayType))
    analysis, axes = Analysis(function), range(function.launch_ndim)
    # Without axes the kernel never asks which thread it is, so that all do the same.
    shared |= {a for a, ops in uses.items() if not axes or not all(analysis.own_positions(n, ops) for n in axes)}
    return frozenset(p for p in function.params if isinstance(p.type, ArrayType) and p not in shared)


_DECIDED = frozenset({"atomic_add", "owned"})
"""Operations that `demote_atomics` looks for: most kernels have none of them."""


@with_deep_stack
def demote_atomics(function: Function, owned: Callable[[Function], Collection[Value]] = owned_arrays) -> Function:
    """Return the function with its atomic additions to some arrays as loads and stores, and no `owned` left.

    An `if` on an `owned` is replaced by the branch for such an array, or for any other.

    Args:
        function: a kernel.
        owned: returns the array parameters whose elements no two threads share.
    """
    if _DECIDED.isdisjoint(function.body.op_names):
        return function
    arrays = owned(function)
    decided = {op.result: op.operands[0] in arrays for op in walk(function.body) if op.name == "owned"}

    def change(on: Rewriter, op: Op) -> Iterable[Op] | None:
        if op.name == "atomic_add" and op.operands[0] in arrays:
            return _plain(on, op)
        if op.name == "if" and op.operands[0] in decided:
            return on.block(op.blocks[0 if decided[op.operands[0]] else 1]).ops[:-1]
        return () if op.name == "owned" else None

    return rewrite(function, change) if decided or _adds(function, arrays) else function


def atomic(function: Function) -> Function:
    """Return the function in which each change that is written both ways, plainly and atomically, is atomic.

    That is each that `demote_atomics` has not decided before.
    """
    return demote_atomics(function, lambda _: frozenset())


@with_deep_stack
def adds_alone(function: Function) -> bool:
    """Return whether `demote_atomics` changes the function, so that arguments that overlap need other code."""
    names = function.body.op_names
    return "owned" in names or ("atomic_add" in names and _adds(function, owned_arrays(function)))


def _adds(function: Function, arrays: Collection[Value]) -> bool:
    """Return whether the function has an `atomic_add` to one of the arrays."""
    return any([op.name == "atomic_add" and op.operands[0] in arrays for op in walk(function.body)])


def _plain(on: Rewriter, op: Op) -> list[Op]:
    """Return an atomic addition as a load, an add and a store; its result is mapped to the loaded value."""
    *element, value = op.operands
    old, new = fresh(op.result), Value(op.result.type)
    # An atomic addition gives the old value, so that is what later uses mean.
    on.mapping[op.result] = old
    return [
        Op("load", tuple(element), (old,), {}, (), op.location),
        Op("add", (old, value), (new,), {}, (), op.location),
        Op("store", (*element, new), (), {}, (), op.location),
    ]
