"""Reads that LLVM 22 may move behind a store (the first row of `tests/backends/cpu/llvm_faults`).

What is read in an `if` of each thread alone is read under a mask once the loop over threads is vectorised; InstCombine
then merges this masked load with the select that stands for the end of the `if`, behind the stores in between. A read
before the `if` whose value the `if` uses is no safer: LLVM moves it there. A `freeze` of what is read keeps load and
select apart. Behind every read it would cost up to 1.6 times the run time, so it stands only behind these, and only
where the function changes the same memory: that other arrays lie elsewhere is tested before vectorised code runs.
"""

from __future__ import annotations

from workbench.ir.attributes import INTERIOR, SCALAR
from workbench.ir.ops import EFFECTS, READS, SLOT_WRITES
from workbench.ir.values import Block, Function, Op, Value, walk


def guarded_reads(function: Function) -> frozenset[Op]:
    """Return the reads in an `if`, or for one, from arrays and slots that the function changes."""
    operations = list(walk(function.body))
    changed = {op.operands[0] for op in operations if op.name in EFFECTS or op.name in SLOT_WRITES}
    inside = _in_ifs(function.body)
    if not changed or not inside:
        return frozenset()
    used = _computed_for(inside, operations)
    # Slots are read and written by all threads of a group, before and behind what an `if` chooses.
    reads = [op for op in operations if op.name in READS and (op in inside or not used.isdisjoint(op.results))]
    reads += [op for op in inside if op.name == "slot_read"]
    return frozenset(op for op in reads if op.operands[0] in changed)


def _in_ifs(body: Block) -> dict[Op, None]:
    """Return the operations in an `if` that does not stand around the loops over threads, but in them."""
    *before, last = body.ops or (Op("yield"),)
    is_interior = bool(last.attrs.get(INTERIOR))
    operations = walk(Block((), tuple(before)) if is_interior else body)
    parts = [op for op in operations if op.name == "if" and not op.attrs.get(SCALAR)]  # those go lane by lane
    inside = {inner: None for op in parts for block in op.blocks for inner in walk(block)}
    for block in last.blocks if is_interior else ():
        inside |= _in_ifs(block)
    return inside


def _computed_for(users: dict[Op, None], operations: list[Op]) -> set[Value]:
    """Return the values from which the operands of these operations are computed, and those."""
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
