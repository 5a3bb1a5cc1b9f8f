"""Loops that cannot end are refused at their line: every pass, LLVM and NVRTC may take for granted that loops end."""

from __future__ import annotations

from workbench.errors import KernelSyntaxError
from workbench.ir.attributes import VALUE
from workbench.ir.ops import LASTING, OPAQUE, SLOT_WRITES
from workbench.ir.values import Block, Function, Op, Value, walk

_EFFECTS = LASTING | OPAQUE | SLOT_WRITES


def refuse_endless(function: Function) -> Function:
    """Return the function as it is.

    Raises:
        KernelSyntaxError: it has a `while` in which nothing changes the condition, and which has no effect either.
    """
    for op in walk(function.body):
        if op.name == "while" and not any(o.name in _EFFECTS for b in op.blocks for o in walk(b)):
            _refuse_constant_condition(op)
    return function


def _refuse_constant_condition(loop: Op) -> None:
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
