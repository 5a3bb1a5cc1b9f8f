"""Loads and stores of elements that one thread has just loaded or stored.

**Load forwarding** (`reuse`). A load of what the thread has just loaded or stored becomes that value. So the adjoint
adds to an element once where the kernel reads it three times, and a kernel may store a result and go on using it: the
value comes from the computation, not from an array that is overwritten later.

**Dead stores** (`drop_overwritten`). A store that nothing sees, because the same thread overwrites the element before
anyone reads it, is left out. The adjoint of such a store passes a cotangent of 0 to what it stored, and 0 times an
infinite slope is NaN; and a value that is never seen need not be available.

**Sunk stores** (`sink_stores`). Stores with which both sides of an `if` end are done once behind it: a gang then stores
under one mask, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.ir.build import Rewriter, replace_body, rewrite
from workbench.ir.ops import ADDITIONS, EFFECTS, INTERIOR, READS, REPORTS, VERSIONS
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
        return op if operands == op.operands else op.replace(operands)

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
        elif doomed and self.reads(op):
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


def sink_stores(function: Function) -> Function:
    """Return the function with what both sides of an `if` store last, to one element, stored behind the `if`."""
    return rewrite(function, _change) if "if" in function.body.op_names else function


def _change(rewriter: Rewriter, op: Op) -> Iterable[Op] | None:
    """Return an `if` and the stores behind it; None for an operation that stays."""
    if op.name != "if" or op.attrs.get(INTERIOR) or op.attrs.get(VERSIONS):
        return None
    op, behind = rewriter.inside(op), list[Op]()
    while _is_one_store(last := [store for block in op.blocks for store in block.ops[-2:-1]]):
        element, value = last[0].operands[:-1], last[0].operands[-1]
        result = Value(value.type, value.name)
        blocks = tuple(_without_last(block) for block in op.blocks)
        op = op.replace(results=(*op.results, result), blocks=blocks)
        behind.insert(0, last[0].replace((*element, result)))
    return (op, *behind)


def _is_one_store(last: list[Op]) -> bool:
    """Return whether the last operations of both sides store to the same element."""
    return [op.name for op in last] == ["store"] * 2 and last[0].operands[:-1] == last[1].operands[:-1]


def _without_last(block: Block) -> Block:
    """Return a side without its last store, which yields the stored value as its last one."""
    *ops, store, end = block.ops
    return Block(block.params, (*ops, end.replace((*end.operands, store.operands[-1]))))
