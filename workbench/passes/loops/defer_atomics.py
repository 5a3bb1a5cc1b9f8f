"""Additions to shared elements behind what is computed for them.

`atomic_add(counts, int(x[i] * 256.0), 1)`: no thread sees what another one adds. So a gang first computes what its
threads add and where, side by side; then they add, one thread after the other, as they did: the same bits.

What they add stands in an `if` at the end of the body, whose condition always holds, with the attribute `SCALAR`.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.builtins import TABLE
from workbench.ir.attributes import INTERIOR, REDUCTION, SCALAR
from workbench.ir.build import Builder
from workbench.ir.ops import EFFECTS, PURE
from workbench.ir.rewrite import replace_body
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.limits import DEFERRED_OPERATIONS_LEAST, DEFERRED_VALUES, GROUP_OPERATIONS
from workbench.passes.analysis.divergence import Neighbours
from workbench.types import Scalar, Vector
from workbench.types import bool as bool_


def defer_atomics(function: Function) -> Function:
    """Return the function with its additions to shared elements behind the rest of the body.

    It is the function itself if they cannot be moved, or if that does not pay.
    """
    ops = function.body.ops
    if function.block_dim or not function.launch_ndim or len(ops) > GROUP_OPERATIONS:
        return function
    added = [op for op in ops if any(inner.name == "atomic_add" for inner in _inside(op))]
    used = {v for op in walk(function.body) for v in op.operands}
    if not added or not all(_only_adds(op, used) for op in added):
        return function
    neighbours = Neighbours(function)
    changed = {op.operands[0] for op in walk(function.body) if op.name in EFFECTS}
    before = [op for op in ops if op not in added]
    # A load behind an addition would see it where arguments overlap.
    last = ops[: ops.index(added[0])]
    gathered = by_index(ops)
    # Of arrays that nothing changes: beside its neighbours, the same for all, or by index.
    loads = {op for op in last if op.name == "load" and op.operands[0] not in changed}
    if not all(_is_pure(op) or (op in loads and (op in gathered or neighbours.is_contiguous(op))) for op in before):
        return function
    needed = {v for op in added for inner in _inside(op) for v in inner.operands}
    own = [op for op in before if op.name != "tid" and not neighbours.varying.isdisjoint(op.results)]
    yielded = [v for op in own for v in op.results if v in needed]
    if not all(isinstance(v.type, (Scalar, Vector)) for v in yielded):  # structs are in no slot
        return function
    computed = sum(op.name != "load" and any(neighbours.step(v) != 1 for v in op.results) for op in own)
    if (
        computed < DEFERRED_OPERATIONS_LEAST
        or sum(v.type.length if isinstance(v.type, Vector) else 1 for v in yielded) > DEFERRED_VALUES
    ):
        return function
    b = Builder()
    b.location = added[0].location
    for op in before:
        b.append(op)
    end = Op("yield", location=b.location)
    blocks = Block((), (*added, end)), Block((), (end,))
    b.append(Op("if", (b.const(True, bool_),), (), SCALAR.of(True), blocks, b.location))
    return replace_body(function, b.body())


def _inside(op: Op) -> list[Op]:
    """Return an operation, followed by all operations in its blocks."""
    return [op, *(inner for block in op.blocks for inner in walk(block))]


def _is_pure(op: Op) -> bool:
    """Return whether an operation has neither blocks nor effects, and loads nothing."""
    return not op.blocks and (op.name in PURE or op.name in TABLE)


def _only_adds(op: Op, used: set[Value]) -> bool:
    """Return whether an operation only adds, or computes what is added; an `if` may be around both, and a report.

    The old value of the element must not be used, and the operation be no reduction.
    """
    if op.name == "if":
        plain = used.isdisjoint(op.results) and not op.attrs.get(INTERIOR)
        return plain and all(_only_adds(o, used) for block in op.blocks for o in block.ops)
    if op.name == "atomic_add":
        return not op.attrs.get(REDUCTION) and used.isdisjoint(op.results)
    return op.name in ("yield", "fault") or (_is_pure(op) and op.name != "tid")


def by_index(ops: Iterable[Op]) -> set[Op]:
    """Return the loads whose index is computed from what was loaded before."""
    loads, loaded = set[Op](), set[Value]()
    for op in ops:
        is_by_index = not loaded.isdisjoint(op.operands)
        if op.name == "load" and is_by_index:
            loads.add(op)
        if op.name == "load" or is_by_index:
            loaded.update(op.results)
    return loads
