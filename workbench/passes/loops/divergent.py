"""`while` loops that carry whether they go on: `while c(x): x = f(x)` as `go = c(x); while go: x = f(x); go = c(x)`.

That is then a value of each thread like any other, and where a group of threads goes through the loop together
(`abreast`), those stay as they are for which it is false.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator

from workbench.ir.build import Builder
from workbench.ir.rewrite import Mapping, Rewriter, copy_op, fresh, rewrite
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.types import bool as bool_
from workbench.types import int64


def rotated(function: Function) -> Function:
    """The function with such loops."""
    return rewrite(function, _change)


def _change(rewriter: Rewriter, op: Op) -> Iterator[Op] | None:
    if op.name != "while":
        return None
    condition, body = op.blocks
    inside = {v for o in walk(condition) for v in o.results}
    if any(not inside.isdisjoint(o.operands) for o in walk(body)):
        return None  # the body goes on from what the condition computed
    builder = Builder()
    builder.location = op.location
    first = _tested(builder, condition, op.operands)
    body = rewriter.block(body)
    go, tested = Value(bool_, "go"), Value(bool_, "go")
    with builder.block((*(fresh(p) for p in condition.params), tested)) as head:
        builder.yield_(tested)
    with builder.block((*body.params, go)) as opened:
        builder.extend(body.ops[:-1])
        builder.yield_(*body.yielded, _tested(builder, condition, body.yielded))
    results = (*op.results, Value(bool_, "go"))
    builder.append(Op("while", (*op.operands, first), results, op.attrs, (head.block, opened.block), op.location))
    return iter(builder.body().ops)


def from_zero(function: Function, loops: Container[Op]) -> Function:
    """The function with these loops in steps of 1 counted from 0, so that all threads begin them together."""
    return rewrite(function, lambda rewriter, op: _from_zero(rewriter, op) if op in loops else None)


def _from_zero(rewriter: Rewriter, op: Op) -> tuple[Op, ...]:
    start, stop, _, *init = op.operands
    (body,) = op.blocks
    index, *carried = body.params
    b = Builder()
    b.location = op.location
    zero, one = b.const(0, int64), b.const(1, int64)
    # In 64 bits, since the distance of two 32-bit numbers may take 33; backwards it may take 65, but is none.
    first = b.cast(start, int64)
    turns = b.one("sub", (b.one("max", (b.cast(stop, int64), first), int64), first), int64)
    turn = Value(int64, "turn")
    with b.block((turn, *carried)) as opened:
        b.append(Op("add", (start, b.cast(turn, index.type)), (index,), {}, (), op.location))
        b.extend(rewriter.block(body).ops)
    b.append(Op("for", (zero, turns, one, *init), op.results, op.attrs, (opened.block,), op.location))
    return b.body().ops


def _tested(builder: Builder, condition: Block, values: tuple[Value, ...]) -> Value:
    """The condition for these values."""
    mapping: Mapping = dict(zip(condition.params, values, strict=True))
    for op in condition.ops[:-1]:
        builder.append(copy_op(op, mapping))
    (found,) = condition.yielded
    return mapping.get(found, found)


def sums_along(op: Op, made: dict[Value, Op], nearby: Callable[[Op], bool]) -> bool:
    """Whether a loop is sums of what lies along a thread's own row: then LLVM puts turns side by side, not threads.

    A bare sum of elements is not: it leaves LLVM nothing but additions in order.

    Args:
        op: the loop.
        made: the operation that each value comes from.
        nearby: whether neighbouring threads access neighbouring elements.
    """
    body = op.blocks[-1]
    carried = dict(zip(body.params[-len(op.results) :], body.yielded, strict=True)) if op.results else {}
    if op.name != "for" or not carried or any(o.blocks for o in body.ops):
        return False
    used = [v for o in body.ops for v in o.operands]
    sums = [made[v] for p, v in carried.items() if v in made and p in made[v].operands and used.count(p) == 1]
    terms = [made.get(v) for o in sums for v in o.operands if v not in carried]
    bare = len(terms) == 1 and terms[0] is not None and terms[0].name == "load"
    far = any(o.name == "load" and not nearby(o) for o in body.ops)
    return far and not bare and len(sums) == len(carried) and all(o.name in ("add", "sub") for o in sums)
