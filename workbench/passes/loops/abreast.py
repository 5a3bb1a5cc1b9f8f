"""Loops that all threads of a row make the same turns of, gone through by many threads together.

`for k in range(n): s += a[i, k] * b[k, j]` is a sum in order for a thread: its terms cannot be added side by side, and
b[k, j] is far from b[k + 1, j]. But the threads of a row make the same turns, and in each of them neighbours read
neighbours. So a group of threads takes turn k before any of it takes turn k + 1: the loop over k stands outside, and in
it one over the threads of the group, which LLVM vectorises. What a thread keeps from turn to turn, or from one part of
its code to the next, is in slots, one for each thread of the group; LLVM keeps those in registers where the group is
full. Each thread does what it did in the same order, so its result has the same bits.

Where all threads of a group add to one element, their terms are added up first (`slot_sum`), and the element is changed
once.

The body is written twice, in an `if` with the attribute `ABREAST`: for full groups, and for the threads that are left
in a row. In both `tid` is the group's first thread, and `group_end` the one after its last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from workbench.builtins import TABLE
from workbench.ir.attributes import ABREAST, AXIS, INTERIOR, REDUCTION
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, EFFECTS, ELEMENTS, LOOPS, OPAQUE, PURE, REPORTS, STRUCTURED, TILED
from workbench.ir.rewrite import copy_op, replace_body
from workbench.ir.values import Block, Function, Op, Value, array_of, dtype_of, walk
from workbench.passes.analysis.cost import constants, known_trips
from workbench.types import Scalar, Vector, element, int32, int64
from workbench.types import bool as bool_

LIMIT = 150
"""Operations of a body that is written twice, at most."""
MOST = 4
"""Loops that are, at most: each is several more."""
SHORT = 16
"""Turns up to which LLVM writes a loop out, which vectorises the loop over threads as it is."""
WIDE = 64
"""Numbers that a group keeps from turn to turn, so that they fit into registers."""
NARROW, WIDEST = 16, 64
"""Threads of a group."""


def abreast(function: Function) -> Function:
    """The function with such loops outside, and loops over a group's threads in them; itself if there are none."""
    operations = list(walk(function.body))
    if function.block_dim or not function.launch_ndim or len(operations) > LIMIT:
        return function
    if not any(op.name == "for" for op in operations) or any(_forbids(op) for op in operations):
        return function
    rows = Rows(function)
    if not 0 < len(rows.loops) <= MOST or not rows.independent(operations):
        return function
    *before, last = function.body.ops or (Op("yield"),)
    if last.attrs.get(INTERIOR):
        # The threads at a border are few.
        inside, border = last.blocks
        split = rows.split(inside)
        return replace_body(function, Block((), (*before, last.replace(blocks=(split, border)))))
    return replace_body(function, rows.split(function.body))


def _forbids(op: Op) -> bool:
    """What depends on the order of threads, or has no place in a loop over some of them."""
    return (
        op.name in OPAQUE or op.name in TILED or op.name in REPORTS or op.name in ("atomic", "reduce_add", "slots")
        or (op.name in ACCESSES and op.name not in ELEMENTS) or bool(op.attrs.get(REDUCTION))
        # Copied with its block it would be the group's first thread.
        or (not op.attrs.get(INTERIOR) and any(o.name == "tid" for b in op.blocks for o in walk(b)))
    )  # fmt: skip


class Groups(msgspec.Struct, frozen=True):
    """A body as it was written twice.

    Attributes:
        threads: of a full group.
        full, rest: what a full group does, and one with fewer threads.
    """

    threads: int
    full: Block
    rest: Block


def groups_of(body: Block) -> Groups | None:
    """What `abreast` made of a body; None if that is nothing."""
    last = body.ops[-1] if body.ops else Op("yield")
    threads = last.attrs.get(ABREAST)
    return Groups(threads, *last.blocks) if threads else None


class Rows:
    """What is the same in all threads of a row, and the loops that they go through together.

    Attributes:
        same: values that are the same in all of them.
        unit: the thread's own index along the row plus something that is the same.
        loops: those that stand outside.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.axis = function.launch_ndim - 1
        self.known = constants(function.body)
        self.changed = {op.operands[0] for op in walk(function.body) if op.name in EFFECTS}
        self.same = {p for p in function.params if isinstance(p.type, (Scalar, Vector))}
        self.unit: set[Value] = set()
        self.made = {v: op for op in walk(function.body) for v in op.results}
        self.tids = [v for v, op in self.made.items() if op.name == "tid" and op.attrs[AXIS] == self.axis]
        self.loops: set[Op] = set()
        self._note(function.body)
        self.find(function.body)

    def _note(self, block: Block) -> None:
        for op in block.ops:
            if op.name == "tid":
                (self.unit if op.attrs[AXIS] == self.axis else self.same).update(op.results)
            elif op.name == "shape" or self.is_the_same(op):
                self.same.update(op.results)
            elif op.name in ("cast", "add", "sub") and op.result.type in (int32, int64):
                units = [v for v in op.operands if v in self.unit]
                rest = [v for v in op.operands if v not in self.unit]
                if len(units) == 1 and units[0] is op.operands[0 if op.name == "sub" else op.operands.index(units[0])]:
                    if self.same.issuperset(rest):
                        self.unit.update(op.results)
            if op.name == "for" and self.same.issuperset(op.operands[:3]):
                self.same.add(op.blocks[0].params[0])
            for inner in op.blocks:
                self._note(inner)

    def is_the_same(self, op: Op) -> bool:
        """Whether all threads of a row have the same results; an element may be asked for once for all of them."""
        if op.name == "load":
            return op.operands[0] not in self.changed and self.same.issuperset(op.operands[1:])
        return (op.name in PURE or op.name in TABLE) and not op.blocks and self.same.issuperset(op.operands)

    def find(self, block: Block) -> None:
        """Look for such loops in a block that all threads of a row run."""
        for op in block.ops:
            if op.name == "if" and op.attrs.get(INTERIOR):
                self.find(op.blocks[0])
            if op.name != "for" or not self.same.issuperset(op.operands[:3]):
                continue
            if self.is_long(op) and self.pays(op):
                self.loops.add(op)
                self.find(op.blocks[0])

    def pays(self, op: Op) -> bool:
        """Whether in each turn neighbours access neighbours, or all the same element, and no loop is in the way."""
        for inner in op.blocks[0].ops:
            long = [o for o in (inner, *(w for b in inner.blocks for w in walk(b))) if self.is_long(o)]
            if long and not (long[0] is inner and self.stays_outside(inner) and self.pays(inner)):
                return False
        return all(self.nearby(o) for o in walk(op.blocks[0]) if o.name in ACCESSES)

    def is_long(self, op: Op) -> bool:
        """Whether it is a loop that LLVM does not write out."""
        trips = known_trips(op, self.known)
        return op.name in LOOPS and (trips is None or trips > SHORT)

    def is_common_value(self, op: Op) -> bool:
        """Whether it is computed once for a group."""
        return op.name not in STRUCTURED and bool(op.results) and self.same.issuperset(op.results)

    def is_common_place(self, op: Op) -> bool:
        """Whether all threads add to one element a sum that is better made first."""
        return self.same.issuperset(_indices(op)) and not element(op.operands[-1].type).is_half

    def stays_outside(self, op: Op) -> bool:
        """Whether all threads of a row make the same turns of it."""
        return op.name == "for" and self.same.issuperset(op.operands[:3])

    def nearby(self, op: Op) -> bool:
        """Whether neighbouring threads access neighbouring elements, or all of them the same one."""
        *outer, last = _indices(op)
        return self.same.issuperset(outer) and (last in self.same or last in self.unit)

    def independent(self, operations: Iterable[Op]) -> bool:
        """Whether no thread sees what another one writes: each array is read, or written, or each thread's own."""
        used = {v for op in operations for v in op.operands}
        arrays: dict[Value, list[Op]] = {}
        for op in operations:
            if op.name in ACCESSES:
                arrays.setdefault(op.operands[0], []).append(op)
            if op.name == "atomic_add" and not used.isdisjoint(op.results):
                return False
        for ops in arrays.values():
            names = {op.name for op in ops}
            if len(names) > 1 and names & EFFECTS and len({_indices(op) for op in ops}) > 1:
                return False
            if len(names) > 1 and names & EFFECTS and not any(v in self.unit for v in _indices(ops[0])):
                return False
        return True

    def split(self, body: Block) -> Block:
        """The body for full groups, and for the threads that are left."""
        carried = max((sum(_width(v) for v in op.operands[3:]) for op in self.loops), default=1)
        threads = max(NARROW, min(WIDEST, WIDE // (1 << (max(1, carried) - 1).bit_length())))
        builder = Builder()
        builder.location = next(iter(self.loops)).location
        blocks = tuple(_Group(self, threads, full).written(body) for full in (True, False))
        builder.append(Op("if", (builder.const(True, bool_),), (), ABREAST.of(threads), blocks, builder.location))
        return builder.body()


def _indices(op: Op) -> tuple[Value, ...]:
    return op.operands[1 : 1 + array_of(op.operands[0]).ndim]


def _width(value: Value) -> int:
    return value.type.length if isinstance(value.type, Vector) else 1


def _crossing(body: Block, rows: Rows) -> set[Value]:
    """Values that are needed in another part of the code than the one in which they are made."""
    made: dict[Value, int] = {}
    used: list[tuple[Value, int]] = []
    part = 0

    def visit(block: Block) -> None:
        nonlocal part
        for op in block.ops:
            if op in rows.loops:
                used.extend((v, part) for v in op.operands[3:])
                part += 1
                visit(op.blocks[0])
                part += 1
            elif not rows.is_common_value(op):
                for inner in (op, *(i for b in op.blocks for i in walk(b))):
                    made.update((v, part) for v in inner.results)
                    used.extend((v, part) for v in inner.operands)

    visit(body)
    return {v for v, at in used if made.get(v, at) != at and v not in rows.unit}


class _Group:
    """Writes the body of one group of threads.

    Attributes:
        storage: makes the slots.
        places: slots of values that are needed outside the part in which they are made.
        env: values that are the same in all threads.
        sums: slots whose contents are added up.
    """

    def __init__(self, rows: Rows, threads: int, full: bool) -> None:
        self.rows, self.threads, self.full = rows, threads, full
        self.builder, self.storage = Builder(), Builder()
        self.places: dict[Value, Value] = {}
        self.env: dict[Value, Value] = {}
        self.first = self.end = self.one = Value(int32)
        self.sums: list[Value] = []
        self.crossing: set[Value] = set()

    def written(self, body: Block) -> Block:
        """The body."""
        self.crossing = _crossing(body, self.rows)
        b = self.builder
        self.first = b.one("tid", (), int32, {AXIS: self.rows.axis})
        self.end = b.one("group_end", (), int32)
        self.one = b.const(1)
        self.block(body)
        for slots in () if self.full else self.sums:
            self.clear(slots)
        return Block((), (*self.storage.body().ops, *b.body().ops))

    def clear(self, slots: Value) -> None:
        """What threads that are not there add: nothing."""
        b, index, type = self.storage, Value(int32), dtype_of(slots)
        with b.block((index,)) as opened:
            b.slot_write(slots, index, b.const((0,) * type.length if isinstance(type, Vector) else 0, type))
            b.yield_()
        b.for_(b.const(0), b.const(self.threads), b.const(1), (), opened.block)

    def block(self, block: Block, params: Sequence[Value] = ()) -> None:
        """Parts of the code one after the other; at the end what is carried is written."""
        part: list[Op] = []
        for op in block.ops:
            if op in self.rows.loops:
                carried = dict(zip(op.blocks[0].params[1:], op.operands[3:], strict=True))
                self.part(part, carried)
                part = []
                self.loop(op)
            elif self.rows.is_common_value(op):
                self.builder.append(copy_op(op, self.env))
            elif op.name != "yield":
                part.append(op)
        self.part(part, dict(zip(params, block.yielded if params else (), strict=True)))

    def loop(self, op: Op) -> None:
        """A loop with those over the group's threads inside."""
        b = self.builder
        b.location = op.location
        (body,) = op.blocks
        index, *params = body.params
        counter = self.env[index] = Value(index.type, index.name)
        for result, param in zip(op.results, params, strict=True):
            self.places[result] = self.place(param)
        with b.block((counter,)) as opened:
            self.block(body, params)
            b.yield_()
        start, stop, step = (self.env.get(v, v) for v in op.operands[:3])
        b.for_(start, stop, step, (), opened.block, op.attrs)

    def part(self, ops: Sequence[Op], carried: Mapping[Value, Value]) -> None:
        """A loop over the group's threads; each writes also what is carried."""
        if not ops and not carried:
            return
        b = self.builder
        common = [op for op in ops if op.name == "atomic_add" and self.rows.is_common_place(op)]
        terms = {op: self.storage.slots(dtype_of(op.operands[0]), self.threads) for op in common}
        self.sums += terms.values()
        thread = Value(int32, "thread")
        with b.block((thread,)) as opened:
            self.inside(thread, ops, carried, terms)
            b.yield_()
        b.for_(self.first, self.end, self.one, (), opened.block)
        for op, slots in terms.items():
            b.location = op.location
            total = b.one("slot_sum", (slots,), dtype_of(slots))
            b.append(op.replace((*(self.env.get(v, v) for v in op.operands[:-1]), total)))

    def inside(
        self, thread: Value, ops: Sequence[Op], carried: Mapping[Value, Value], terms: Mapping[Op, Value]
    ) -> None:
        """What one thread does in a part."""
        b = self.builder
        env = {**self.env, **dict.fromkeys(self.rows.tids, thread)}
        index = b.one("sub", (thread, self.first), int32)
        made = {v for op in ops for v in op.results}
        needed = [v for op in ops for o in (op, *(i for block in op.blocks for i in walk(block))) for v in o.operands]
        for value in dict.fromkeys((*needed, *carried.values())):
            if value in self.rows.unit and value not in made:
                self.again(value, env)
            elif value in self.places and value not in made:
                env[value] = b.slot_read(self.places[value], index)
        for op in ops:
            b.location = op.location
            if op in terms:
                b.slot_write(terms[op], index, env.get(op.operands[-1], op.operands[-1]))
            elif op.name != "tid":
                b.append(copy_op(op, env))
            for value in self.crossing.intersection(op.results):
                b.slot_write(self.place(value), index, env[value])
        for param, value in carried.items():
            b.slot_write(self.place(param), index, env.get(value, value))

    def again(self, value: Value, env: dict[Value, Value]) -> None:
        """Compute an index of the thread's own again: through slots LLVM would not see whose neighbour it is."""
        op = self.rows.made.get(value)
        if op is None or value in env:
            return
        for operand in op.operands:
            self.again(operand, env)
        self.builder.append(copy_op(op, env))

    def place(self, value: Value) -> Value:
        """The slots of a value."""
        if value not in self.places:
            self.places[value] = self.storage.slots(_contents(value), self.threads)
        return self.places[value]


def _contents(value: Value) -> Scalar | Vector:
    assert isinstance(value.type, (Scalar, Vector))
    return value.type
