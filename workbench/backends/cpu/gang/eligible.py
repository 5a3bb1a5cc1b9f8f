"""Which functions are emitted for gangs so far; all others go the old way (`design/gang.md`)."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.builtins import TABLE
from workbench.ir.ops import EFFECTS, LOOPS, PURE, READS, UPDATES
from workbench.ir.values import Function, Op, Value, walk
from workbench.limits import GANG_FRAME_BYTES
from workbench.passes.analysis.cost import mostly_adds
from workbench.passes.analysis.divergence import is_divergent, varying_values
from workbench.types import Slots

RULED = frozenset(
    "const tid shape launch_dim row_length row_first load store atomic_add atomic reduce_add cast vec extract insert "
    "fault print slots slot_read slot_write floor_quotient if for while yield "
    "row_load row_store row_add row_total apart atomic_load atomic_swap".split()
)
"""Operations for which there is a rule; elementwise builtins are widened."""


def obstacle(function: Function, lanes: int) -> str:
    """Return why a function, as it is about to be emitted, is not emitted for gangs; empty if it is."""
    operations = list(walk(function.body))
    if function.block_dim:
        return "tiles"
    if not function.launch_ndim:
        return "no index of a thread"
    for op in operations:
        if op.name not in RULED and op.name not in TABLE:
            return op.name
    varying = varying_values(function)
    if not varying:
        return "nothing differs between threads"
    if mostly_adds(function) and not any(op.blocks for op in operations):
        return "additions, which go lane by lane"
    if frame(operations, varying) * lanes > GANG_FRAME_BYTES:
        return "memory of threads"
    retries = [op for op in operations if is_retry(op)]
    if sum(op.name in _SWAPS for op in operations) != len(_SWAPS) * len(retries):
        return "an element that is swapped outside of a loop that does nothing else"
    return "threads that wait" if _may_wait(function, [op for op in operations if op not in retries]) else ""


def is_retry(op: Op) -> bool:
    """Return whether a loop changes one element, and again as long as other threads change it meanwhile.

    It waits for nobody: lanes take it one after the other.
    """
    if op.name != "while" or len(op.blocks[0].ops) > 1:
        return False
    body = op.blocks[1].ops
    swaps = {o.operands[: -2 if o.name == "atomic_swap" else None]: o.name for o in body if o.name in _SWAPS}
    known = all(o.name in (*_SWAPS, "yield") or o.name in PURE or o.name in TABLE for o in body)
    return known and len(swaps) == 1 and sum(o.name in _SWAPS for o in body) == len(_SWAPS)


_SWAPS = ("atomic_load", "atomic_swap")


def frame(operations: Iterable[Op], varying: frozenset[Value]) -> int:
    """Return the bytes of arrays of each thread's own."""
    own = [op.result.type for op in operations if op.name == "slots" and op.result in varying]
    return sum(type.count * type.dtype.size for type in own if isinstance(type, Slots))


def _may_wait(function: Function, operations: list[Op]) -> bool:
    """Return whether a loop's end may depend on what another thread writes: that one must not wait for it in turn."""
    used = {v for op in operations for v in op.operands}
    loops = [op for op in operations if op.name in LOOPS]
    inside = [o for op in loops for block in op.blocks for o in walk(block)]
    if any(op.name in UPDATES and not used.isdisjoint(op.results) for op in inside):
        return True
    changed = {op.operands[0] for op in operations if op.name in EFFECTS}
    read = [v for op in operations if op.name in READS - UPDATES and op.operands[0] in changed for v in op.results]
    depends = varying_values(function, axis=function.launch_ndim, besides=read)
    return any(is_divergent(op, depends) for op in loops if op.name == "while")
