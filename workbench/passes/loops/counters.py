"""Loops whose counter may begin below 0, in two: for what begins below 0, and for the rest, where no index is wrapped.

`for k in range(row[i], row[i + 1]): … x[k]` means `x[k + n]` where k is negative. Behind that choice a compiler does
not see that x[k], x[k + 1], … lie side by side, and gathers them. Only innermost loops are split, so code grows by no
more than what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir.analysis import Analysis, Atom
from workbench.ir.attributes import COLD, attributes
from workbench.ir.build import Builder
from workbench.ir.ops import LOOPS
from workbench.ir.rewrite import Rewriter, copy_block, rewrite
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.limits import SPLIT_LOOP_OPERATIONS
from workbench.types import Kind, element
from workbench.types import bool as bool_


def split_counters(function: Function) -> Function:
    """Return the function with innermost `for`s split whose counter may begin below 0 and is a wrapped index.

    Each becomes an `if`: without `wrap_index` if the counter begins at 0 or more, else as it was. It is the function
    itself if it has no `wrap_index`.
    """
    if "wrap_index" not in function.body.op_names:
        return function
    analysis = Analysis(function)

    def behind(index: Value, counter: Value) -> bool:
        """Return whether an index is the counter, or the counter plus a positive constant."""
        form = analysis.form(index)
        return form.constant >= 0 and form.terms == {Atom("value", value=counter): 1}

    def change(on: Rewriter, op: Op) -> Iterator[Op] | None:
        if op.name != "for" or not _counts_up(op, analysis):
            return None
        operations, counter = list(walk(op.blocks[0])), op.blocks[0].params[0]
        wrapped = {
            o.result: o.operands[0] for o in operations if o.name == "wrap_index" and behind(o.operands[0], counter)
        }
        if not wrapped or len(operations) > SPLIT_LOOP_OPERATIONS or any(o.name in LOOPS for o in operations):
            return None
        return iter(_split(op, on.block(op.blocks[0]), wrapped))

    return rewrite(function, change)


def _counts_up(op: Op, analysis: Analysis) -> bool:
    """Return whether a `for` counts in steps of 1, through signed integers, from a start that is no constant."""
    # A start that is a constant is not split: its sign is known, and LLVM sees it.
    start, _, step = op.operands[:3]
    literal = start in analysis.defs and analysis.defs[start].name == "const"
    return analysis.number(step) == 1 and not literal and element(start.type).kind is Kind.INT


def _split(op: Op, body: Block, wrapped: Mapping[Value, Value]) -> tuple[Op, ...]:
    """Return the loop twice in an `if`: without `wrap_index` if the counter begins at 0 or more, else as it was."""
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
    # A row of a few turns is soon over: one loop to enter, not two.
    positive = builder.one("ge", (start, zero), bool_)
    with builder.block() as above_0:
        builder.yield_(*builder.for_(start, stop, step, init, rest, op.attrs))
    with builder.block() as below_0:
        builder.yield_(*builder.for_(start, stop, step, init, copy_block(body, {}), cold))
    blocks = above_0.block, below_0.block
    builder.append(Op("if", (positive,), op.results, attributes({}), blocks, op.location))
    return builder.body().ops
