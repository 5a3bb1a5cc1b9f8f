"""Loops whose counter may begin below 0, in two: for what begins below 0, and for the rest, where no index is wrapped.

`for k in range(row[i], row[i + 1]): … x[k]` means `x[k + n]` where k is negative. Behind that choice a compiler does
not see that x[k], x[k + 1], … lie side by side, and gathers them. Only innermost loops are split, so code grows by no
more than what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir.attributes import COLD, VALUE, attributes
from workbench.ir.build import Builder
from workbench.ir.ops import LOOPS
from workbench.ir.rewrite import Rewriter, copy_block, rewrite
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.limits import SPLIT_LOOP_OPERATIONS
from workbench.passes.loops.rows import Rows
from workbench.types import Kind, element
from workbench.types import bool as bool_


def split_counters(function: Function) -> Function:
    """The function with such loops split; itself if there are none."""
    if not any(op.name == "wrap_index" for op in walk(function.body)):
        return function
    same = Rows(function).same
    constants = {op.result: op.attrs[VALUE] for op in walk(function.body) if op.name == "const"}

    def change(on: Rewriter, op: Op) -> Iterator[Op] | None:
        if op.name != "for" or not _counts_up(op, constants):
            return None
        operations = list(walk(op.blocks[0]))
        wrapped = _wrapped(op.blocks[0].params[0], operations, constants)
        if not wrapped or len(operations) > SPLIT_LOOP_OPERATIONS or any(o.name in LOOPS for o in operations):
            return None
        return iter(_split(op, on.block(op.blocks[0]), wrapped, op.operands[0] not in same))

    return rewrite(function, change)


def _counts_up(op: Op, constants: Mapping[Value, object]) -> bool:
    """Whether each turn's counter is one more than the one before, from a number that only the run knows."""
    # A start that is a constant is not split: its sign is known, and LLVM sees it.
    start, _, step = op.operands[:3]
    return constants.get(step) == 1 and start not in constants and element(start.type).kind is Kind.INT


def _wrapped(counter: Value, operations: list[Op], constants: Mapping[Value, object]) -> dict[Value, Value]:
    """What is wrapped and is not negative if the counter is not: the wrapped value to the plain one."""
    plain, found = {counter}, dict[Value, Value]()
    for op in operations:
        if op.name == "wrap_index" and op.operands[0] in plain:
            found[op.result] = op.operands[0]
        elif op.name == "add" and all(v in plain or _no_less(constants.get(v)) for v in op.operands):
            plain.add(op.result)
    return found


def _no_less(number: object) -> bool:
    return isinstance(number, int) and number >= 0


def _split(op: Op, body: Block, wrapped: Mapping[Value, Value], own: bool) -> tuple[Op, ...]:
    """The loop in two; `own`: where it begins depends on the thread."""
    start, stop, step, *init = op.operands
    builder = Builder()
    builder.location = op.location
    zero = builder.const(0, start.type)

    def plain(on: Rewriter, o: Op) -> tuple[Op, ...] | None:
        if o.name != "wrap_index" or o.result not in wrapped:
            return None
        on.mapping[o.result] = o.operands[0]
        return ()

    cold = attributes({**op.attrs, COLD: True})
    rest = Rewriter(plain).block(body)
    if not own:
        # First loop: start … min(stop, 0); second: max(start, 0) … stop. Together they are the range, in order.
        below = builder.one("min", (stop, zero), start.type)
        carried = builder.for_(start, below, step, init, copy_block(body, {}), cold)
        above = builder.one("max", (start, zero), start.type)
        builder.append(op.replace((above, stop, step, *carried), blocks=(rest,)))
        return builder.body().ops
    # A row of a few turns is soon over: one loop to enter, not two.
    positive = builder.one("ge", (start, zero), bool_)
    with builder.block() as above_0:
        builder.yield_(*builder.for_(start, stop, step, init, rest, op.attrs))
    with builder.block() as below_0:
        builder.yield_(*builder.for_(start, stop, step, init, copy_block(body, {}), cold))
    blocks = above_0.block, below_0.block
    builder.append(Op("if", (positive,), op.results, attributes({}), blocks, op.location))
    return builder.body().ops
