"""Loops that cannot end are refused at their line: every pass, LLVM and NVRTC may take for granted that loops end."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.builtins import TABLE
from workbench.errors import KernelSyntaxError
from workbench.ir.ops import LASTING, OPAQUE, PURE, SLOT_WRITES, VALUE
from workbench.ir.values import Block, Function, Op, Value, definitions, walk
from workbench.types import Kind, Scalar

_EFFECTS = LASTING | OPAQUE | SLOT_WRITES


def refuse_endless(function: Function) -> Function:
    """Check that no loop is sure never to end; return the function as it is.

    Raises:
        KernelSyntaxError: it has a `while` in which nothing changes the condition, and which has no effect either.
    """
    for op in walk(function.body):
        if op.name == "while" and not any(o.name in _EFFECTS for b in op.blocks for o in walk(b)):
            _refuse_constant_condition(op)
    return function


def _refuse_constant_condition(loop: Op) -> None:
    """Raise KernelSyntaxError if a `while`'s condition depends on nothing that an iteration changes.

    A condition that is the constant False is accepted, as that loop makes no iteration.
    """
    condition, body = loop.blocks
    held = condition.yielded[0]
    definition = next((op for op in condition.ops if held in op.results), None)
    if definition is not None and definition.name == "const" and not definition.attrs[VALUE]:
        return  # it makes no iteration
    varying = {
        param
        for param, inside, following in zip(condition.params, body.params, body.yielded, strict=True)
        if following is not inside
    }
    if held not in _depend(condition, varying):
        message = "This loop never ends once it begins: nothing in it changes its condition, and no path leaves it."
        raise KernelSyntaxError(message, loop.location, "Change what the condition reads, or leave with break.")


def _depend(block: Block, values: set[Value]) -> set[Value]:
    """Return these values, and those of the block that are computed from them."""
    reached = set(values)
    for op in block.ops:
        inner = [v for b in op.blocks for o in walk(b) for v in o.operands]
        if not reached.isdisjoint((*op.operands, *inner)):
            reached.update(op.results)
    return reached


_TESTS = {"lt": (0, 1), "le": (0, 1), "gt": (1, 0), "ge": (1, 0)}
"""The positions of the smaller and the larger operand of each comparison, if it holds."""


def ends(loop: Op, known: Mapping[Value, float]) -> bool:
    """Return whether a loop is known to end whatever the data: each iteration moves an integer towards a bound.

    Args:
        loop: a `while` without effects; its condition may test more than the counter.
        known: the constants of the function.
    """
    condition, body = loop.blocks
    defining = definitions(condition)
    steps = {v: op for op in body.ops for v in op.results}

    def stays(value: Value) -> bool:
        """Return whether the value is the same in each iteration."""
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
        """Return whether the loop ends if this value has to be true for another iteration."""
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
