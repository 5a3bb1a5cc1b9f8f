"""Carried values that never change, as the values they start from.

A loop backwards carries the cotangent of whatever its loop carried, also where each turn yields it as it came: that of
a sum, and the condition under which it counts. As outer values they cost no register in a turn, and backends see a loop
that carries less.
"""

from __future__ import annotations

from workbench.ir.ops import LEAD, LOOPS
from workbench.ir.rewrite import Rewriter, replace_body
from workbench.ir.values import Block, Function, Value


def unchanged(function: Function) -> Function:
    """Return the function with carried values that never change replaced by their starts.

    `prune` then drops what carried them. It is the function itself if there are none.

    >>> unchanged(function)  # for j in range(n): { s, t -> yield s, t + s } reads the outer s in each turn
    """
    starts: dict[Value, Value] = {}
    _find(function.body, starts)
    if not starts:
        return function
    mapping = {value: _resolved(value, starts) for value in starts}
    return replace_body(function, Rewriter(lambda _, op: None, mapping).block(function.body))


def _find(block: Block, starts: dict[Value, Value]) -> None:
    """Add the values of the block's loops that never change to `starts`, with their starting values, inner loops first.

    A value that an inner loop returns unchanged is then yielded unchanged by the outer one.
    """
    for op in block.ops:
        for inner in op.blocks:
            _find(inner, starts)
        if op.name not in LOOPS:
            continue
        for slot, result in enumerate(op.results):
            start = op.operands[LEAD[op.name] + slot]
            param, *tested = (b.params[len(b.params) - len(op.results) + slot] for b in reversed(op.blocks))
            if _resolved(op.blocks[-1].yielded[slot], starts) in (param, _resolved(start, starts)):
                starts.update((value, start) for value in (param, *tested, result))


def _resolved(value: Value, starts: dict[Value, Value]) -> Value:
    """Return the value that a chain of starts ends at; a value without a start as it is."""
    while value in starts:
        value = starts[value]
    return value
