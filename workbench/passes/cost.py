"""How much a thread does, roughly: enough to split launches by, and to weigh additions against the rest."""

from __future__ import annotations

from workbench.ir.values import Function, Op

LOOP_WEIGHT = 16  # trips that a loop counts as
ADDITION = 24  # operations that one atomic addition costs


def cost(function: Function) -> int:
    """A rough count of the operations a thread does; a loop counts as `LOOP_WEIGHT` trips."""
    return max(1, _ops_cost(function.body.ops))


def mostly_adds(function: Function) -> bool:
    """Whether a thread spends most of its time in atomic additions: then one core that adds plainly beats several."""
    added = _additions(function.body.ops)
    return added > 0 and added * ADDITION >= cost(function)


def _additions(ops: tuple[Op, ...]) -> int:
    total = 0
    for op in ops:
        inner = sum(_additions(b.ops) for b in op.blocks)
        total += (op.name == "atomic_add") + inner * (LOOP_WEIGHT if op.name in ("for", "while") else 1)
    return total


def _ops_cost(ops: tuple[Op, ...]) -> int:
    total = 0
    for op in ops:
        inner = sum(_ops_cost(b.ops) for b in op.blocks)
        total += 1 + inner * (LOOP_WEIGHT if op.name in ("for", "while") else 1)
    return total
