"""The order in which threads add floats to elements that they share: fixed here, before any target is known.

Float sums depend on the order of their terms. So how a launch may be divided among cores follows from which threads may
add to one element (`design/cpu.md` has the table), and code that adds is the same for any number of cores.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import msgspec

from workbench.deep import with_deep_stack
from workbench.ir.analysis import Analysis
from workbench.ir.ops import READS, REDUCTION
from workbench.ir.values import Function, Op, Value, indices_of, walk
from workbench.types import Kind, element

FREE: Final = "free"
"""Sharing in which no two threads add a float to one element: any part of a launch may run on any core."""
ROWS: Final = "rows"
"""Sharing in which only threads of one row (or plane) add to one element: a row runs on one core, in order."""
LAUNCH: Final = "launch"
"""Sharing in which threads of several rows add to one element, at indices that do not depend on data.

The launch runs on one core, in order.
"""
DATA: Final = "data"
"""Sharing in which it depends on data which threads add to one element.

Their order is fixed within what one core runs, and not beyond.
"""


class SumOrder(msgspec.Struct, frozen=True):
    """The way in which a function's threads share elements to which they add floats.

    Attributes:
        sharing: `FREE`, `ROWS`, `LAUNCH` or `DATA`.
        axes: for `ROWS`: how many leading axes of the launch tell elements apart; else 0.
    """

    sharing: str = FREE
    axes: int = 0

    @property
    def is_fixed(self) -> bool:
        """True if threads share elements in an order that is always the same, since one core runs them."""
        return self.sharing in (ROWS, LAUNCH)


@with_deep_stack
def sum_order(function: Function) -> SumOrder:
    """Return how the function's threads share elements to which they add floats.

    Sums of all threads (`REDUCTION`), which are combined, are left out. A kernel of tiles that adds at all has `DATA`.

    sum_order(row_sums)    # SumOrder("rows", 1) of `wb.atomic_add(y, i, x[i, j])`
    """
    changes: dict[Value, list[Op]] = defaultdict(list)
    for op in walk(function.body):
        if op.name in _CHANGES and not op.attrs.get(REDUCTION) and _adds_floats(op):
            changes[op.operands[0]].append(op)
    if not changes or function.block_dim:
        return SumOrder(DATA if changes else FREE)
    analysis = Analysis(function)
    if any(_depends_on_data(analysis, v) for ops in changes.values() for op in ops for v in indices_of(op)):
        return SumOrder(DATA)
    axes = 0
    while axes < function.launch_ndim and all(analysis.own_positions(axes, ops) for ops in changes.values()):
        axes += 1
    if axes == function.launch_ndim and axes:
        return SumOrder(FREE)
    return SumOrder(ROWS, axes) if axes else SumOrder(LAUNCH)


_CHANGES = frozenset({"atomic_add", "atomic_swap"})
"""Changes on whose order the bits of floats depend; `atomic_swap` ends a loop that multiplies, say."""


def _adds_floats(op: Op) -> bool:
    """Return whether an operation that changes an element, such as `atomic_add`, does so by floats."""
    return element(op.operands[-1].type).kind is Kind.FLOAT


def _depends_on_data(analysis: Analysis, value: Value) -> bool:
    """Return whether an index is computed from elements of arrays, or from what a loop carries."""
    seen, waiting = set[Value](), [value]
    while waiting:
        one = waiting.pop()
        if one in seen or one in analysis.params:
            continue
        seen.add(one)
        op, loop = analysis.defs.get(one), analysis.counters.get(one)
        if loop is not None:
            waiting += [loop.operands[0], loop.operands[2]]
        elif op is None or op.name in READS or op.name in ("for", "while", "slot_read"):
            return True
        else:
            waiting += op.operands
            waiting += [v for block in op.blocks for v in block.yielded]
    return False
