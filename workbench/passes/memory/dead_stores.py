"""Stores that nothing sees, because the same thread overwrites the element before anyone reads it, left out.

The adjoint of such a store passes a cotangent of 0 to what it stored, and 0 times an infinite slope is NaN; and a value
that is never seen need not be available.
"""

from __future__ import annotations

from workbench.ir.ops import ADDITIONS, READS, REPORTS
from workbench.ir.rewrite import replace_body
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.passes.memory.load_forwarding import Element, Overlap, any_overlap


def drop_overwritten(function: Function, overlap: Overlap = any_overlap) -> Function:
    """Return the function without stores and additions to elements that are stored to again before they are read.

    A store before an operation that may report stays: the thread may end there, and then it is seen.

    Args:
        function: a kernel.
        overlap: returns whether two arrays may share elements.
    """
    used = {v for op in walk(function.body) for v in op.operands}
    return replace_body(function, _Backwards(overlap, used).block(function.body, set()))


class _Backwards:
    """Rewrites blocks from the end, without stores that are overwritten before anything reads them.

    What its methods take as `doomed` are the elements, by array and indices, that are overwritten before they are read.

    Attributes:
        overlap: returns whether two arrays may share elements.
        used: all operands of the function.
    """

    def __init__(self, overlap: Overlap, used: set[Value]) -> None:
        self.overlap = overlap
        self.used = used

    def block(self, block: Block, doomed: set[Element]) -> Block:
        """Return the block without dead stores; change `doomed` from what holds behind it to what holds before it.

        `doomed` has the elements, by array and indices, that are overwritten before they are read.
        """
        ops: list[Op] = []
        for op in reversed(block.ops):
            if op.blocks:
                ops.append(self.structured(op, doomed))
            elif not self.is_dead(op, doomed):
                ops.append(op)
                self.seen(op, doomed)
        return Block(block.params, tuple(reversed(ops)))

    def is_dead(self, op: Op, doomed: set[Element]) -> bool:
        """Return whether an operation stores or adds to an element in `doomed` without reading it."""
        return op.name in ("store", "atomic_add") and not self.reads(op) and op.operands[:-1] in doomed

    def reads(self, op: Op) -> bool:
        """Return whether the operation reads an element; an addition whose old value is not used does not."""
        unseen = op.name in ADDITIONS and self.used.isdisjoint(op.results)
        return op.name in READS and not unseen

    def seen(self, op: Op, doomed: set[Element]) -> None:
        """Change `doomed`, the elements overwritten before they are read, from behind an operation to before it.

        A store adds an element, a read removes those that it may see, a report all.
        """
        if op.name in REPORTS:
            doomed.clear()
        elif op.name == "store":
            doomed.add(op.operands[:-1])
        elif self.reads(op):
            array = op.operands[0]
            doomed -= {e for e in doomed if e[0] is array or self.overlap(e[0], array)}

    def structured(self, op: Op, doomed: set[Element]) -> Op:
        """Return an `if` or a loop without dead stores; change `doomed`, the elements overwritten before they are read.

        Before an `if` that is what both branches overwrite; a loop may run again, or not at all.
        """
        if op.name == "if":
            ends = [set(doomed) for _ in op.blocks]
            blocks = tuple(self.block(b, end) for b, end in zip(op.blocks, ends, strict=True))
            doomed.clear()
            # Before the `if` only that is overwritten for certain which both sides overwrite.
            doomed |= ends[0] & ends[1]
        else:
            for inner in (o for block in op.blocks for o in walk(block)):
                # A read anywhere in the loop may come after a store of the iteration before, so it counts for the whole
                # body.
                if self.reads(inner) or inner.name in REPORTS:
                    self.seen(inner, doomed)
            # The body's own stores do not reach the code before it: the loop may run no iteration.
            blocks = tuple(self.block(b, set(doomed)) for b in op.blocks)
        return op.replace(blocks=blocks)
