"""Loops that do little but load from scattered addresses, on targets that load such elements faster one by one.

`for k in range(row[i], row[i + 1]): s += value[k] * x[column[k]]`: vectors, of threads or of iterations, would be
filled and taken apart element by element. So threads go through such a loop one by one, and through its iterations,
too. An index that is loaded is negative in all of them or in none, as a rule: a branch costs less than a choice.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.backends.cpu.text.values import width
from workbench.builtins import TABLE
from workbench.ir.ops import EFFECTS, LOOPS
from workbench.ir.values import Function, Op, walk
from workbench.limits import OPERATIONS_OF_LOAD
from workbench.passes.analysis.divergence import Neighbours, is_divergent
from workbench.passes.memory.atomics import by_index


def is_serial(op: Op) -> bool:
    """Return whether a `for` does little but load, and some elements at indices that it has loaded."""
    return _only_loads(op) and _mostly_loads(op, lambda _: True) and bool(by_index(walk(op.blocks[0])))


def lone_loops(function: Function) -> frozenset[Op]:
    """Return the `for`s that mostly load from addresses that differ between threads, and end at different times."""
    neighbours = Neighbours(function)
    loops = [op for op in walk(function.body) if _only_loads(op) and is_divergent(op, neighbours.varying)]
    return frozenset(op for op in loops if _mostly_loads(op, lambda load: not neighbours.is_linear(load)))


def _only_loads(op: Op) -> bool:
    """Return whether an operation is a `for` that contains no loop and changes nothing."""
    return op.name == "for" and op.blocks[0].op_names.isdisjoint(LOOPS | EFFECTS)


def _mostly_loads(op: Op, counts: Callable[[Op], bool]) -> bool:
    """Return whether a loop computes little for each load that counts."""
    operations = list(walk(op.blocks[0]))
    loads = [o for o in operations if o.name == "load" and counts(o)]
    computed = sum(width(v.type) for o in operations if o.name in TABLE for v in o.results)
    return computed < OPERATIONS_OF_LOAD * sum(width(o.result.type) for o in loads)
