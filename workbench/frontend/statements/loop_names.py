"""Names that a loop binds first: what they are after it.

Where a loop surely runs (a range known now that is not empty, `while True`), a name that every way out of it has set is
bound after it, as in Python. Such a name goes round the loop like any other, from a start that is not read: inside the
body it is unset until the body sets it. Where only some ways out set it, it stays unset, but keeps its value for what
an `else` of the loop needs: if the loop was left by a `break`, the names set before each `break` are bound.

Only names that are read outside of the loop go round it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from types import NoneType

from workbench.frontend.state.context import Context
from workbench.frontend.state.definition import reads
from workbench.frontend.state.loop_scope import Loop
from workbench.frontend.state.operands import Unset


def opened(context: Context, node: ast.For | ast.While, touched: Iterable[str], runs: bool, ends: bool = True) -> Loop:
    """A loop, before its body is lowered.

    Args:
        node: the loop.
        touched: names that a round may bind.
        runs: whether it runs at least once.
        ends: whether it may end without a `break`.
    """
    until = getattr(node, "until", None)
    if not runs and not getattr(node, "otherwise", False):
        return Loop()
    missing = [n for n in touched if isinstance(context.env.get(n), (Unset, NoneType))]
    if not missing:
        return Loop()
    everywhere, here = context.definition.reads, reads(node)
    return Loop(tuple(dict.fromkeys(n for n in missing if everywhere[n] > here[n])), runs, ends, until)
