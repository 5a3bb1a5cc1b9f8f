"""Threads inside and at a border (`interior`): how a body is split, and what a condition is inside."""

from __future__ import annotations

import msgspec

from workbench.ir.attributes import INTERIOR
from workbench.ir.values import Block, Function, Op, Value


class Usual(msgspec.Struct, frozen=True):
    """The value of a condition in all threads but those at a border, and the bounds of these.

    Attributes:
        holds: whether it holds in them.
        first, last: numbers of threads: none before, none behind.
        rows: what must hold for a row to have any.
        asked: how many comparisons these are.
    """

    holds: bool
    first: tuple[Value, ...]
    last: tuple[Value, ...]
    rows: tuple[Value, ...]
    asked: int = 1


class Interior(msgspec.Struct, frozen=True):
    """A body as it was written twice.

    Attributes:
        once: what is computed before all rows; the last one says how many threads a row has, if the launch does not.
        before: what is computed before a row.
        first, last: the first and the last thread inside, among those of a row, as int64.
        inside, border: what threads do.
    """

    once: tuple[Op, ...]
    before: tuple[Op, ...]
    first: Value
    last: Value
    inside: Block
    border: Block


def interior_of(function: Function) -> Interior | None:
    """Return what `split_border` made of the function; None if that is nothing."""
    *before, end = function.body.ops or (Op("yield"),)
    if not end.attrs.get(INTERIOR):
        return None
    # What `body` wrote above, in that order.
    *before, thread, wide, at_least, at_most, _ = before
    assert (thread.name, wide.name, at_least.name, at_most.name) == ("tid", "cast", "ge", "le")
    count = 1 + next((n for n, op in enumerate(before) if op.name == "row_length"), -1)
    once, row = tuple(before[:count]), tuple(before[count:])
    return Interior(once, row, at_least.operands[1], at_most.operands[1], *end.blocks)
