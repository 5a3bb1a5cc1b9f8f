"""Carried integers that each turn adds to: backwards they are carried too, and what a turn added is taken away.

Integers wrap around, so nothing is lost by that (unlike floats, which are never subtracted back). What a turn adds may
depend on anything but the integer itself: `if x[j] > 0.0: c += 1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.autodiff.reverse.loops.iterations import Loop
from workbench.autodiff.reverse.recompute import recompute
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.builtins import Ref
from workbench.builtins.scalars import operators
from workbench.ir.values import Block, Op, Value, definitions
from workbench.types import is_integer


def counters(sweep: ReverseSweep, loop: Loop, carries: Iterable[int]) -> tuple[int, ...]:
    """Return the carried values in an order in which they can be recovered; empty if one of them is no counter.

    A counter is an integer to which iterations add something that does not depend on itself. Each depends only on those
    that come before it.

    Args:
        sweep: the sweep.
        loop: the loop.
        carries: the numbers of the carried values.
    """
    left = {carry: _needs(sweep, loop, carry) for carry in sorted(carries)}
    order: list[int] = []
    while left:
        others = {loop.carried[carry] for carry in left}
        ready = next((c for c, needs in left.items() if needs is not None and others.isdisjoint(needs)), None)
        if ready is None:
            return ()
        del left[ready]
        order.append(ready)
    return tuple(order)


def _needs(sweep: ReverseSweep, loop: Loop, carry: int) -> set[Value] | None:
    """Return all values that the amount added to a counter in an iteration depends on; None: it is no counter."""
    param, defining = loop.carried[carry], definitions(loop.body)
    pending: list[Value] = []

    def leads(value: Value) -> bool:
        """Return whether a value is the carried integer with additions; note in `pending` what these depend on."""
        op = defining.get(value)
        if value is param or op is None:
            return value is param
        if op.name in ("add", "sub"):
            one, other = op.operands
            if op.name == "add" and other is param:
                one, other = other, one
            pending.append(other)
            return leads(one)
        if op.name not in ("where", "if"):
            return False
        pending.append(op.operands[0])
        return all(map(leads, _sides(op, value)))

    if not is_integer(param.type) or not leads(loop.body.yielded[carry]):
        return None
    needs: set[Value] = set()
    while pending:
        value = pending.pop()
        if value not in needs:
            needs.add(value)
            if value in defining:
                pending += sweep.builder.free(defining[value])
    return needs


def _sides(op: Op, value: Value) -> Sequence[Value]:
    """Return the values of which a `where` or an `if` chooses one as its result `value`."""
    if op.name == "where":
        return op.operands[1:]
    return [block.yielded[op.results.index(value)] for block in op.blocks]


def before(sweep: ReverseSweep, loop: Loop, carry: int, after: Ref) -> Ref:
    """Emit what a counter was before an iteration, from what it is after it."""
    return _before(sweep, loop.body.ops, loop.body.yielded[carry], loop.carried[carry], after)


def _before(sweep: ReverseSweep, ops: Sequence[Op], value: Value, param: Value, after: Ref) -> Ref:
    """Emit what a counter was before an iteration.

    Args:
        sweep: the sweep.
        ops: the operations that define `value`: of the loop's body, and of the branches around.
        value: what the counter has become, or a value on the way to that.
        param: the counter at the beginning of the iteration.
        after: what `value` is, in the adjoint.
    """
    if value is param:
        return after
    op = next((o for o in ops if value in o.results), None)
    assert op is not None
    if op.name in ("add", "sub"):
        one, other = op.operands
        if op.name == "add" and other is param:
            one, other = other, one
        _compute(sweep, ops, other)
        amount = sweep.ref(other)
        return _before(sweep, ops, one, param, after - amount if op.name == "add" else after + amount)
    _compute(sweep, ops, op.operands[0])
    condition = sweep.ref(op.operands[0])
    if op.name == "where":
        yes, no = (_before(sweep, ops, side, param, after) for side in op.operands[1:])
        return operators.where(condition, yes, no)
    blocks: list[Block] = []
    for block, side in zip(op.blocks, _sides(op, value), strict=True):
        with sweep.builder.block() as opened:
            sweep.builder.yield_(_before(sweep, [*ops, *block.ops], side, param, after).value)
        blocks.append(opened.block)
    return sweep.builder.ref(*sweep.builder.if_(condition.value, *blocks))


def _compute(sweep: ReverseSweep, ops: Sequence[Op], value: Value) -> None:
    """Emit a value of the body again, from what is known in the iteration; `sweep.env` then has it."""
    defining = {v: op for op in ops for v in op.results}
    needed: set[Op] = set()
    pending = [value]
    while pending:
        op = defining.get(pending.pop())
        if op is not None and op not in needed:
            needed.add(op)
            pending += sweep.builder.free(op)
    recompute([op for op in ops if op in needed], sweep.env, sweep.builder, sweep.memory.overwritten)
