"""Barriers where threads of a block have to meet, and nowhere else.

A walk in the order of the program carries the uses of memory since the last barrier. Where a `touch` meets one of
them, a barrier goes right before it: as late as can be, which in straight code is as few as can be. What is open at the
end of a loop's body is open at its beginning. Conditions and counts are the same in all threads of a block, so a
barrier may stand in a branch and in a loop.
"""

from __future__ import annotations

from workbench.backends.cuda.tiles.uses import Use
from workbench.ir.values import Block, Op, Value, walk

Open = frozenset[Use]


def place_barriers(block: Block) -> Block:
    """The block with each `touch` gone, or a `barrier` in its place.

    A barrier's attribute `wait` says that copies are under way, which each thread waits for before it arrives.
    """
    ops, _ = _walk(block, frozenset())
    return Block(block.params, tuple(ops))


def _walk(block: Block, open_: Open) -> tuple[list[Op], Open]:
    made: list[Op] = []
    for op in block.ops:
        if op.name == "touch":
            uses: tuple[Use, ...] = op.attrs["uses"]
            if any(use.meets(other) for use in uses for other in open_):
                wait = any(other.pending for other in open_)
                made.append(Op("barrier", (), (), {"wait": wait}, (), op.location))
                open_ = frozenset()
            open_ |= frozenset(uses)
        elif op.name == "if":
            branches = [_walk(inner, open_) for inner in op.blocks]
            made.append(_with(op, [rows for rows, _ in branches]))
            open_ = branches[0][1] | branches[1][1]
        elif op.name in ("for", "while"):
            rows, open_ = _loop(op, open_)
            made.append(_with(op, rows))
        else:
            made.append(op)
    return made, open_


def _loop(op: Op, before: Open) -> tuple[list[list[Op]], Open]:
    """The blocks of a loop, and what is open after it."""
    inside = _made_in(op)
    head = before
    while True:
        rows: list[list[Op]] = []
        open_, tested = head, head
        for position, block in enumerate(op.blocks):
            done, open_ = _walk(block, open_)
            rows.append(done)
            if op.name == "while" and position == 0:
                tested = open_
        again = head | {use.beyond(inside) for use in open_}
        if again == head:
            return rows, frozenset(use.beyond(inside) for use in (tested if op.name == "while" else before | open_))
        head = again


def _made_in(op: Op) -> set[Value]:
    found: set[Value] = set()
    for block in op.blocks:
        found |= set(block.params)
        for inner in walk(block):
            found |= set(inner.results)
            found |= {p for b in inner.blocks for p in b.params}
    return found


def _with(op: Op, rows: list[list[Op]]) -> Op:
    blocks = tuple(Block(b.params, tuple(ops)) for b, ops in zip(op.blocks, rows, strict=True))
    return Op(op.name, op.operands, op.results, op.attrs, blocks, op.location)
