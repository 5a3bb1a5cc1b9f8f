"""Proofs that a loop ends."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.builtins import TABLE
from workbench.ir.ops import PURE
from workbench.ir.values import Op, Value, definitions
from workbench.types import Kind, Scalar

_TESTS = {"lt": (0, 1), "le": (0, 1), "gt": (1, 0), "ge": (1, 0)}
"""Of each comparison, where the smaller and the larger operand stand."""


def ends(loop: Op, known: Mapping[Value, float]) -> bool:
    """Return whether a loop ends whatever the data: each iteration brings an integer closer to what bounds it.

    Args:
        loop: a `while` without effects; its condition may ask for more than the counter.
        known: the constants of the function.
    """
    condition, body = loop.blocks
    defining = definitions(condition)
    steps = {v: op for op in body.ops for v in op.results}

    def stays(value: Value) -> bool:
        """Return whether each iteration has the same value."""
        if value in known or value not in defining:
            return value not in condition.params
        op = defining[value]
        plain = not op.blocks and (op.name in PURE or op.name in TABLE or op.name == "load")
        return plain and all(map(stays, op.operands))

    def step(value: Value) -> float:
        """Return what an iteration adds to a carried value; 0 if that is not known."""
        if value not in condition.params or not isinstance(value.type, Scalar) or value.type.kind is not Kind.INT:
            return 0
        number = condition.params.index(value)
        op = steps.get(body.yielded[number])
        if op is None or op.name not in ("add", "sub") or body.params[number] not in op.operands:
            return 0
        first, second = op.operands
        if op.name == "sub":
            return -known.get(second, 0) if first is body.params[number] else 0
        return known.get(second if first is body.params[number] else first, 0)

    def bounds(value: Value) -> bool:
        """Return whether the loop ends if this is needed for another iteration."""
        op = defining.get(value)
        if op is None or value in known:
            return known.get(value) == 0
        if op.name == "and_":
            return any(map(bounds, op.operands))
        if op.name == "if":
            return all(bounds(block.yielded[op.results.index(value)]) for block in op.blocks)
        if op.name not in _TESTS:
            return False
        low, high = (op.operands[k] for k in _TESTS[op.name])
        return (step(low) > 0 and stays(high)) or (step(high) < 0 and stays(low))

    return bounds(condition.yielded[0])
