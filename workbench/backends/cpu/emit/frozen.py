"""Reads that are frozen: two faults of LLVM 22's loop vectoriser (`tests/backends/cpu/llvm_faults`).

*Reads in an `if` of a thread's own loop.* They are under a mask once the loop is vectorised; InstCombine then merges
this masked load with the select that stands for the end of the `if`, behind the stores in between. A read before the
`if` whose value the `if` uses is no safer: LLVM moves it there. A `freeze` of what is read keeps load and select apart.
Behind every read it would cost up to 1.6 times the run time, so it stands only behind these, and only where the
function changes the same memory: that other arrays lie elsewhere is tested before vectorised code runs.

*Loads that a thread's own loop repeats unchanged, in long loops.* LLVM asks of each value in a loop whether it is the
same in all turns. It asks the operands in turn, along every path, and remembers no answer (`vputils::isSingleScalar`
and `isUniformAcrossVFsAndUFs`). Where all of it is the same (it starts from `c[0]`, which LLVM cannot load before the
loop, since a store in it may change that), `v = v * (1 - v)` doubles the paths, and 24 such lines take minutes. A
`freeze` of the load ends the first walk at once, an interleave count of 1 leaves out the second.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.ir.ops import EFFECTS, LOOPS, READS, SLOT_WRITES
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.limits import REPEATING_OPERATIONS


def guarded_reads(function: Function) -> frozenset[Op]:
    """Return the reads whose results have to be frozen: from arrays and slots that the function changes.

    They stand in an `if` of a loop, or are loads from arrays whose values such an `if` uses.
    """
    operations = list(walk(function.body))
    changed = {op.operands[0] for op in operations if op.name in EFFECTS or op.name in SLOT_WRITES}
    inside = _in_ifs(function.body)
    if not changed or not inside:
        return frozenset()
    used = _computed_for(inside, operations)
    reads = [op for op in operations if op.name in READS and (op in inside or not used.isdisjoint(op.results))]
    reads += [op for op in inside if op.name == "slot_read"]
    return frozenset(op for op in reads if op.operands[0] in changed)


def _in_ifs(body: Block) -> dict[Op, None]:
    """Return the operations in an `if` of a thread's own loop; LLVM vectorises no other loops."""
    loops = [block for op in walk(body) if op.name in LOOPS for block in op.blocks]
    parts = [op for block in loops for op in walk(block) if op.name == "if"]
    return {inner: None for op in parts for block in op.blocks for inner in walk(block)}


def _computed_for(users: dict[Op, None], operations: list[Op]) -> set[Value]:
    """Return the operands of the operations, and all values from which they are computed.

    Args:
        users: the operations.
        operations: all of the function.
    """
    sources = {v: op for op in operations for v in (*op.results, *(p for b in op.blocks for p in b.params))}
    used: set[Value] = set()
    waiting = [v for op in users for v in op.operands]
    while waiting:
        value = waiting.pop()
        if value not in used:
            used.add(value)
            op = sources.get(value)
            if op is not None:
                waiting += (*op.operands, *(v for b in op.blocks for v in b.yielded))
    return used


def repeated_loads(function: Function) -> frozenset[Op]:
    """Return the loads in long loops from an address that does not change in the loop.

    Args:
        function: in the form in which it is emitted.
    """
    loops = [op for op in walk(function.body) if op.name in LOOPS]
    return frozenset(load for loop in loops for load in _repeated(loop))


def _repeated(loop: Op) -> Iterator[Op]:
    """Yield the loads in a loop whose address is the same in all iterations; none if the loop is short."""
    inside = [op for block in loop.blocks for op in walk(block)]
    if len(inside) <= REPEATING_OPERATIONS:
        return
    differs = {p for op in (loop, *inside) for block in op.blocks for p in block.params}
    for op in inside:
        if op.blocks or not differs.isdisjoint(op.operands):
            differs.update(op.results)
        elif op.name == "load":
            yield op
