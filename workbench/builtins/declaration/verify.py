"""Checks of IR from outside that `ir.verify` cannot do: builtins by their declarations, components, indices."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.builtins.declaration.declare import TABLE
from workbench.errors import WorkbenchError
from workbench.ir.ops import AXIS, FROM_PASSES, LEGAL, VALUE
from workbench.ir.values import Block, Function, Op, Value, closed_blocks, walk
from workbench.types import Vector


def verify_builtins(function: Function) -> str:
    """Return the first fault of a function that `ir.verify` has accepted, in a few words; empty if there is none."""
    axes = [op.attrs[AXIS] for op in walk(function.body) if op.name == "tid"]
    if any(axis >= function.launch_ndim for axis in axes):
        return f"tid asks for axis {max(axes)} of {function.launch_ndim}"
    return next(_faults(function.body), "")


def _faults(block: Block) -> Iterator[str]:
    """Yield, in words, what is wrong with operations of a block and of all blocks inside it."""
    constants: dict[Value, object] = {}
    for op in walk(block):
        if op.name in FROM_PASSES:
            yield f"{op.name} stands in a kernel"
        elif op.name == "const":
            constants[op.result] = op.attrs[VALUE]
        elif op.name in ("extract", "insert"):
            yield from _component(op, constants)
        elif op.name not in LEGAL:
            yield from _builtin(op)
        for closed in closed_blocks(op):
            yield from _faults(closed)


def _component(op: Op, constants: dict[Value, object]) -> Iterator[str]:
    """Yield a fault if `extract` or `insert` has a constant index that is no component of its vector."""
    kind, index = op.operands[0].type, constants.get(op.operands[1], 0)
    if isinstance(kind, Vector) and not (isinstance(index, int) and 0 <= index < kind.length):
        yield f"{op.name} asks for component {index} of a {kind!r}"


def _builtin(op: Op) -> Iterator[str]:
    """Yield a fault if an operation is no builtin, or has other operands or results than the builtin's rule says."""
    entry = TABLE.get(op.name)
    if entry is None:
        yield f"there is no builtin {op.name!r}"[:120]
        return
    types = tuple(v.type for v in op.operands)
    if len(types) != len(entry.params) or op.blocks:
        yield f"{op.name} has {len(types)} operands"
        return
    try:
        operands, result = entry.rule(op.name, types)
    except WorkbenchError as error:
        yield f"{op.name}: {error.message}"
        return
    if operands != types or (result,) != tuple(r.type for r in op.results):
        yield f"{op.name} takes {operands!r} and gives {result!r}"
