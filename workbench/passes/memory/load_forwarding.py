"""Elements loaded once: a load of what the thread has just loaded or stored becomes that value.

So the adjoint adds to an element once where the kernel reads it three times, and a kernel may store a result and go on
using it: the value comes from the computation, not from an array that is overwritten later.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.ir.ops import EFFECTS
from workbench.ir.rewrite import replace_body
from workbench.ir.values import Block, Function, Op, Value, array_of, walk
from workbench.types import is_float

Element = tuple[Value, ...]
Known = dict[Element, Value]
Overlap = Callable[[Value, Value], bool]
"""Returns whether two array parameters may share elements."""


def any_overlap(a: Value, b: Value) -> bool:
    """Return True: any two arguments may be views of the same memory."""
    return True


def reuse(function: Function, overlap: Overlap = any_overlap) -> Function:
    """Return the function with repeated loads removed; fold it first, so that equal indices are one value.

    Another thread may write an element between two loads, or between a store and a load, only in a race, and then the
    value that this thread has seen last is one that it might have loaded.

    Args:
        function: a kernel.
        overlap: returns whether two arrays may share elements; a write to one invalidates what is known of those.
    """
    return replace_body(function, _Reuse(overlap).block(function.body, {}))


class _Reuse:
    """Rewrites blocks without loads of elements whose value is known.

    What its methods take as `known` are the values of elements, by array and indices, at the current operation.

    Attributes:
        overlap: returns whether two arrays may share elements.
        mapping: results of loads to the values that replace them.
    """

    def __init__(self, overlap: Overlap) -> None:
        self.overlap = overlap
        self.mapping: dict[Value, Value] = {}

    def block(self, block: Block, known: Known) -> Block:
        """Return the block without loads of known elements.

        `known` has the values of elements, by array and indices, before the block; it is changed to those behind it.
        """
        ops: list[Op] = []
        for op in block.ops:
            operands = tuple([self.mapping.get(v, v) for v in op.operands])
            if op.name == "load" and operands in known:
                self.mapping[op.result] = known[operands]
                continue
            ops.append(self.op(op, operands, known))
        return Block(block.params, tuple(ops))

    def op(self, op: Op, operands: Element, known: Known) -> Op:
        """Return an operation with these operands and its blocks rewritten.

        `known` has the values of elements before the operation; it is changed to those behind it.
        """
        if op.blocks:
            inside = dict(known)
            # An iteration may follow another one, so what the loop writes is unknown from its first line on; the sides
            # of an `if` start from what was known before.
            if op.name != "if":
                self.forget(op, inside)
            blocks = tuple(self.block(b, dict(inside)) for b in op.blocks)
            self.forget(op, known)
            return op.replace(operands, blocks=blocks)
        if op.name == "load":
            known[operands] = op.result
        elif op.name in EFFECTS:
            # Forget first: the element may have another name, of an array that overlaps or of an index that is equal.
            self.written(operands[0], known)
            if op.name == "store":
                known[operands[:-1]] = operands[-1]
        return op.replace(operands)

    def forget(self, op: Op, known: Known) -> None:
        """Remove from `known` the elements that the blocks of a structured operation may change."""
        for inner in (o for block in op.blocks for o in walk(block)):
            if inner.name in EFFECTS:
                self.written(inner.operands[0], known)

    def written(self, array: Value, known: Known) -> None:
        """Remove from `known` the elements that a write to the array may change."""
        for element in list(known):
            if element[0] is array or self.overlap(element[0], array):
                del known[element]


def may_overlap(a: Value, b: Value, disjoint: bool) -> bool:
    """Return whether two array parameters may share elements.

    Arrays of floats and of other types never do; with `disjoint`, a float array shares none with another one.
    """
    floats = is_float(array_of(a))
    return a is b or (floats == is_float(array_of(b)) and not (disjoint and floats))
