"""Loads and stores of elements that can be left out, moved, or confined to a component.

**Load forwarding** (`reuse`). A load of what the thread has just loaded or stored becomes that value. So the adjoint
adds to an element once where the kernel reads it three times, and a kernel may store a result and go on using it: the
value comes from the computation, not from an array that is overwritten later.

**Dead stores** (`drop_overwritten`). A store that nothing sees, because the same thread overwrites the element before
anyone reads it, is left out. The adjoint of such a store passes a cotangent of 0 to what it stored, and 0 times an
infinite slope is NaN; and a value that is never seen need not be available.

**Sunk stores** (`sink_stores`). Stores with which both sides of an `if` end are done once behind it: a gang then stores
under one mask, or none.

**By component** (`by_component`). `v[0].x = a` is in IR the load of a vector, an `insert` and a store; `v[0].x += a`
adds a vector that is zero in all components but x. That is right for one thread, but would overwrite another thread's
y. So what a store puts back as it was loaded is not stored, and zeros are not added. Where no other thread can touch an
element, whole vectors are faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.deep import with_deep_stack
from workbench.ir.build import Builder, Rewriter, replace_body, rewrite
from workbench.ir.ops import ADDITIONS, EFFECTS, INTERIOR, OPAQUE, READS, REDUCTION, REPORTS, VALUE, VERSIONS
from workbench.ir.values import (
    Block,
    Function,
    Op,
    Value,
    array_of,
    component_of,
    definitions,
    number_of,
    vector_of,
    walk,
)
from workbench.passes.memory.atomics import owned_arrays
from workbench.types import Vector, int32, is_float

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
    return rewrite(function, _change)


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


Part = tuple[Value | int, Value]
"""The number of a component, as a literal or an integer value; and what is stored or added there."""


@with_deep_stack
def by_component(function: Function) -> Function:
    """Return the function with changes of some components of elements confined to these; itself if there are none.

    Arrays whose elements no other thread accesses are left alone.
    """
    vectors = [op for op in walk(function.body) if op.operands and isinstance(op.operands[-1].type, Vector)]
    if not any(op.name in ("store", "atomic_add") for op in vectors):
        return function
    owned = owned_arrays(function)
    defs = definitions(function.body)
    used = {v for op in walk(function.body) for v in op.operands}
    loaded = dict[Op, Op]()
    _last_loads(function.body, defs, loaded)
    changes = dict[Op, list[Part]]()
    for op in vectors:
        if op.operands[0] not in owned:
            parts = _parts(op, defs, used, loaded)
            if parts is not None:
                changes[op] = parts

    return _rewritten(function, changes) if changes else function


def _rewritten(function: Function, changes: dict[Op, list[Part]]) -> Function:
    """Return the function with these operations replaced by changes of components."""

    def change(on: Rewriter, op: Op) -> Iterable[Op] | None:
        return _written(op, changes[op]) if op in changes else None

    return rewrite(function, change)


def _parts(op: Op, defs: dict[Value, Op], used: set[Value], loaded: dict[Op, Op]) -> list[Part] | None:
    """Return the components that the operation changes, in order; None if it changes, or may change, all of them."""
    if op.name == "store" and op in loaded:
        return _inserted(op.operands[-1], loaded[op].result, defs)
    plain = op.name == "atomic_add" and component_of(op) is None and not op.attrs.get(REDUCTION)
    return _added(op.operands[-1], defs) if plain and used.isdisjoint(op.results) else None


def _inserted(value: Value, base: Value, defs: dict[Value, Op]) -> list[Part] | None:
    """Return the components that were inserted into `base` to get a value, in order; None if it has another origin."""
    parts: list[Part] = []
    while value is not base:
        op = defs.get(value)
        if op is None or op.name != "insert":
            return None
        value, where, part = op.operands
        parts.append((where, part))
    return parts[::-1]


def _added(value: Value, defs: dict[Value, Op]) -> list[Part] | None:
    """Return the components of a vector that are not zero; None if it may be any."""
    parts = dict[int, Value]()
    op = defs.get(value)
    if op is not None and op.name == "insert" and _is_zero(defs.get(op.operands[0])):
        return [op.operands[1:]]  # type: ignore[list-item]
    while op is not None and op.name == "insert":
        where = defs.get(op.operands[1])
        if where is None or where.name != "const":
            return None
        parts.setdefault(int(number_of(where)), op.operands[2])
        op = defs.get(op.operands[0])
    return sorted(parts.items()) if _is_zero(op) else None


def _is_zero(op: Op | None) -> bool:
    """Return whether an operation is the constant vector of zeros; False for None."""
    return op is not None and op.name == "const" and not any(op.attrs[VALUE])  # type: ignore[arg-type]


def _written(op: Op, parts: list[Part]) -> list[Op]:
    """Return operations that each do to one component what an operation does to the element."""
    on, type = Builder(), vector_of(op.operands[-1])
    on.location = op.location
    for where, part in parts:
        # Looked up, so that with checks an index that is out of range is reported, and no memory outside touched.
        numbers = on.const(tuple(range(type.length)), type.with_dtype(int32))
        at = on.const(where) if isinstance(where, int) else on.one("extract", (numbers, where), int32)
        results = (Value(part.type),) if op.results else ()
        on.append(op.replace((*op.operands[:-1], at, part), results=results))
    return list(on.body().ops)


def _last_loads(block: Block, defs: dict[Value, Op], loaded: dict[Op, Op]) -> None:
    """Record for each store the load of the same element before it, if both are in one block with no effect between.

    Args:
        block: the block; those nested in it are looked through, too.
        defs: the operation that defines each value; not used.
        loaded: receives the load, by store.
    """
    fresh = dict[tuple[Value, ...], Op]()
    for op in block.ops:
        for inner in op.blocks:
            _last_loads(inner, defs, loaded)
        if op.name == "load":
            fresh[op.operands] = op
        elif op.name == "store" and op.operands[:-1] in fresh:
            loaded[op] = fresh[op.operands[:-1]]
        every = [op, *(o for inner in op.blocks for o in walk(inner))]
        if any(o.name in EFFECTS or o.name in OPAQUE for o in every):
            fresh.clear()
