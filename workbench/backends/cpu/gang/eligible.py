"""Functions that gangs can run; in others, threads run one by one (`design/gang.md`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.backends.cpu.emit.by_index import lone_loops
from workbench.builtins import TABLE
from workbench.ir.attributes import REDUCTION, SCALAR
from workbench.ir.ops import EFFECTS, LOOPS, PURE, READS, UPDATES
from workbench.ir.values import Block, Function, Op, Value, component_of, walk
from workbench.limits import EXPANDED_BYTES
from workbench.passes.analysis.cost import mostly_adds
from workbench.passes.analysis.divergence import Neighbours, is_divergent, varying_values
from workbench.passes.loops.peeling import peeled_parts
from workbench.types import Kind, Slots, element

RULED = frozenset(
    "const tid shape launch_dim row_length row_first load store atomic_add atomic reduce_add cast vec extract insert "
    "fault print slots slot_read slot_write floor_quotient if for while yield "
    "row_load row_store row_add slot_total row_total apart atomic_load atomic_swap".split()
)
"""Operations for which there is a rule; elementwise builtins are widened."""


def obstacle(function: Function, dense: bool, gathers: bool) -> str:
    """Return why a function cannot, or should not, run in gangs; empty if it runs in gangs.

    Args:
        function: the function as gangs would run it, in the form in which it is emitted.
        dense: arrays have no gaps between elements.
        gathers: the target loads scattered elements faster together.
    """
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
    if (
        mostly_adds(function)
        and not any(op.blocks for op in operations)
        and not (dense and _adds_contiguously(function))
    ):
        return "additions, which go lane by lane"
    retries = [op for op in operations if is_retry(op)]
    if sum(op.name in _SWAPS for op in operations) != len(_SWAPS) * len(retries):
        return "an element that is swapped outside of a loop that does nothing else"
    if _may_wait(function, [op for op in operations if op not in retries]):
        return "threads that wait"
    if not gathers and _all_lone(function, operations):
        return "loops that load by index"
    return _scattered_accesses(function, dense)


def _all_lone(function: Function, operations: list[Op]) -> bool:
    """Return whether there are loops, and each is, or contains, one that threads would go through one by one."""
    lone, loops = lone_loops(function), [op for op in operations if op.name in LOOPS]
    return bool(loops) and all(any(o in lone for o in (op, *_inside(op))) for op in loops)


def _inside(op: Op) -> Iterator[Op]:
    """Yield the operations in the blocks of an operation, at any depth."""
    for block in op.blocks:
        yield from walk(block)


def _adds_contiguously(function: Function) -> bool:
    """Return whether in every addition the threads of a row add to elements that lie side by side."""
    neighbours, added = Neighbours(function), [op for op in walk(function.body) if op.name == "atomic_add"]
    return all(component_of(op) is None and neighbours.is_contiguous(op, (1,)) for op in added)


def _scattered_accesses(function: Function, dense: bool) -> str:
    """Return which accesses to scattered elements make it better to run threads one by one; empty if there are none.

    Two additions of floats to one array at indices that are not linear, or one in a loop, would come in another order
    than that of threads. Where threads store far from one another in a loop (running sums) a gang takes 2.1 times as
    long.
    """
    neighbours, added = Neighbours(function), set[Value]()
    split = peeled_parts(function)  # at a border, threads go one by one
    for op, in_loop in _by_gangs(split.inside if split else function.body, False):
        side_by_side = dense and component_of(op) is None and neighbours.is_contiguous(op, (1,))
        if op.name == "store" and in_loop and not side_by_side and not neighbours.is_uniform(op):
            return "a loop that stores to places that lie apart"
        floats = op.name == "atomic_add" and element(op.operands[-1].type).kind is Kind.FLOAT
        if floats and not op.attrs.get(REDUCTION) and not neighbours.is_linear(op):
            if op.operands[0] in added or in_loop:
                return "two additions by index"
            added.add(op.operands[0])
    return ""


def _by_gangs(block: Block, in_loop: bool) -> Iterator[tuple[Op, bool]]:
    """Yield the stores and additions that gangs do as vectors, and whether they are in a loop."""
    for op in block.ops:
        if op.name in ("store", "atomic_add"):
            yield op, in_loop
        elif not op.attrs.get(SCALAR):
            for inner in op.blocks:
                yield from _by_gangs(inner, in_loop or op.name in LOOPS)


def is_retry(op: Op) -> bool:
    """Return whether a loop only updates one element atomically, and repeats while other threads change it meanwhile.

    Such a loop waits for no particular thread, so lanes can run it one after the other.
    """
    if op.name != "while" or len(op.blocks[0].ops) > 1:
        return False
    body = op.blocks[1].ops
    swaps = {o.operands[: -2 if o.name == "atomic_swap" else None]: o.name for o in body if o.name in _SWAPS}
    known = all(o.name in (*_SWAPS, "yield") or o.name in PURE or o.name in TABLE for o in body)
    return known and len(swaps) == 1 and sum(o.name in _SWAPS for o in body) == len(_SWAPS)


_SWAPS = ("atomic_load", "atomic_swap")


def frame(operations: Iterable[Op], varying: frozenset[Value]) -> int:
    """Return the bytes of each thread's own arrays, without the long ones, which are accessed in order.

    Only arrays in `varying` are a thread's own.
    """
    own = [op.result.type for op in operations if op.name == "slots" and op.result in varying]
    sizes = [type.count * type.dtype.size for type in own if isinstance(type, Slots)]
    return sum(size for size in sizes if size < EXPANDED_BYTES // 2)


def _may_wait(function: Function, operations: list[Op]) -> bool:
    """Return whether a loop's end may depend on what another thread writes.

    In a gang that thread might wait for this one in turn.
    """
    used = {v for op in operations for v in op.operands}
    loops = [op for op in operations if op.name in LOOPS]
    inside = [o for op in loops for block in op.blocks for o in walk(block)]
    if any(op.name in UPDATES and not used.isdisjoint(op.results) for op in inside):
        return True
    changed = {op.operands[0] for op in operations if op.name in EFFECTS}
    read = [v for op in operations if op.name in READS - UPDATES and op.operands[0] in changed for v in op.results]
    depends = varying_values(function, axis=function.launch_ndim, besides=read)
    return any(is_divergent(op, depends) for op in loops if op.name == "while")
