"""How many threads of a launch are worth a chunk of their own, estimated from the IR.

Starting a helper costs some 50 µs, so a chunk should last about that long: many threads of `saxpy`, few of an n-body
loop. A rough count of operations is enough: a factor of two either way costs little.
"""

from __future__ import annotations

from workbench.builtins import TABLE
from workbench.ir.values import Block, Function, Op, Value

CHUNK = 1 << 20
"""Units of work a chunk should have; one unit is a vectorised addition, about 0.05 ns."""
LEAST = 16
TRIPS = 32
"""Iterations assumed where the IR does not say."""
IN_LOOP = 8
"""What stands inside a loop is not vectorised over threads."""

_COSTS = {"const": 0, "tid": 0, "vec": 0, "extract": 0, "yield": 0, "atomic_add": 100, "div": 4, "sqrt": 4}


def grain(function: Function) -> int:
    """Threads a chunk: a launch of no more than this runs inline."""
    constants: dict[Value, object] = {}
    return max(LEAST, CHUNK // max(1, _block(function.body, constants)))


def _block(block: Block, constants: dict[Value, object]) -> int:
    return sum(_op(op, constants) for op in block.ops)


def _op(op: Op, constants: dict[Value, object]) -> int:
    if op.name == "const":
        constants[op.result] = op.attrs["value"]
    inner = sum(_block(b, constants) for b in op.blocks)
    if op.name == "while":
        return IN_LOOP * TRIPS * inner
    if op.name == "for":
        return IN_LOOP * _trips(op, constants) * inner
    if op.name in _COSTS:
        return _COSTS[op.name]
    builtin = TABLE.get(op.name)
    return inner + (8 if builtin is not None and builtin.wide else 1)


def _trips(op: Op, constants: dict[Value, object]) -> int:
    start, stop, step = (constants.get(v) for v in op.operands[:3])
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int) and step:
        return len(range(start, stop, step))
    return TRIPS
