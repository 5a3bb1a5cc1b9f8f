"""A `while` that only counts, as a `for`: `while k < n: …; k += 1`, where n does not change.

Then it has one exit when it is cut into strips (`backends/cpu/emit/strips.py`), and vectorises as a `for` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from workbench.builtins import TABLE
from workbench.ir.attributes import VALUE, Number
from workbench.ir.build import Builder
from workbench.ir.ops import PURE
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Block, Function, Op, Value
from workbench.passes.analysis.cost import constants
from workbench.types import Kind, Scalar
from workbench.types import bool as bool_


def counted(function: Function) -> Function:
    """Return the function with its counting `while`s as `for`s; itself where it has none."""
    if "while" not in function.body.op_names:
        return function
    return rewrite(function, partial(_change, constants(function.body)))


def _change(known: Mapping[Value, Number], rewriter: Rewriter, op: Op) -> Iterator[Op] | None:
    if op.name != "while":
        return None
    condition, body = op.blocks
    bound = _bound(condition)
    if bound is None or not _is_next(body, bound[0]):
        return None
    return iter(_as_for(known, rewriter, op, *bound))


def _bound(condition: Block) -> tuple[int, Value] | None:
    """Return the number of the carried value that a condition bounds, and its bound, which stays the same."""
    if len(condition.ops) < 2:
        return None  # a condition that is a name
    *before, test, end = condition.ops
    if test.name not in ("lt", "gt") or end.operands != test.results:
        return None
    low, high = test.operands if test.name == "lt" else reversed(test.operands)
    changing = set(condition.params)
    if low not in changing or not isinstance(low.type, Scalar) or low.type.kind is not Kind.INT:
        return None
    for op in before:
        # What stands before the test is moved before the loop, so it must not depend on the turn, nor have effects.
        if op.blocks or not changing.isdisjoint(op.operands) or not (op.name in PURE or op.name in TABLE):
            return None
    return (condition.params.index(low), high) if high not in changing else None


def _is_next(body: Block, number: int) -> bool:
    """Return whether a turn leaves one more of this carried value."""
    following = body.yielded[number]
    defining = {v: op for op in body.ops for v in op.results}
    step = defining.get(following)
    if step is None or step.name != "add" or body.params[number] not in step.operands:
        return False
    other = defining.get(next((v for v in step.operands if v is not body.params[number]), following))
    return other is not None and other.name == "const" and other.attrs[VALUE] == 1


def _as_for(known: Mapping[Value, Number], rewriter: Rewriter, op: Op, number: int, stop: Value) -> tuple[Op, ...]:
    condition, body = op.blocks
    start, builder = op.operands[number], Builder()
    builder.location = op.location
    for before in condition.ops[:-2]:
        builder.append(before)
    step = builder.const(1, start.type)
    end = body.ops[-1]
    rest = tuple(v for k, v in enumerate(end.operands) if k != number)
    params = (body.params[number], *_without(body.params, number))
    inside = rewriter.block(Block(params, (*body.ops[:-1], end.replace(rest))))
    if known.get(start, -1) >= 0:
        inside = Rewriter(partial(_without_wrap, params[0])).block(inside)
    operands = (start, stop, step, *_without(op.operands, number))
    results = _without(op.results, number)
    builder.append(Op("for", operands, results, op.attrs, (inside,), op.location))
    # The counter ends at `stop`, or stays at `start` if there was no turn.
    some = builder.one("lt", (start, stop), bool_)
    builder.append(Op("where", (some, stop, start), (op.results[number],), {}, (), op.location))
    return builder.body().ops


def _without_wrap(counter: Value, rewriter: Rewriter, op: Op) -> Iterator[Op] | None:
    """Leave out the choice for indices below 0: such a counter never is."""
    if op.name != "wrap_index" or op.operands[0] is not counter:
        return None
    rewriter.mapping[op.result] = counter
    return iter(())


def _without(values: tuple[Value, ...], number: int) -> tuple[Value, ...]:
    return values[:number] + values[number + 1 :]
