"""Loops that all threads of a row make the same turns of, gone through by many threads together.

`for k in range(n): s += a[i, k] * b[k, j]` is a sum in order for a thread: its terms cannot be added side by side, and
b[k, j] is far from b[k + 1, j]. But the threads of a row make the same turns, and in each of them neighbours read
neighbours. So a group of threads takes turn k before any of it takes turn k + 1: the loop over k stands outside, and in
it one over the threads of the group, which LLVM vectorises. What a thread keeps from turn to turn, or from one part of
its code to the next, is in slots, one for each thread of the group; LLVM keeps those in registers where the group is
full. Each thread does what it did in the same order, so its result has the same bits.

Where all threads of a group add to one element, their terms are added up first (`slot_sum`), and the element is changed
once. Where all threads of the launch do, each one's part goes into a buffer as it does without groups
(`backends/cpu/emit/combine`), with the same bits.

The body is written twice, in an `if` with the attribute `ABREAST`: for full groups, and for the threads that are left
in a row. In both `tid` is the group's first thread, and `group_size` how many it has. LLVM keeps a group's slots in
registers where it sees how many there are. So on machines that can read a part of a vector, threads that are left are a
whole group as well, if arrays are only read and written side by side: what is not there goes along, without accesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from workbench.ir.attributes import ABREAST, AXIS, INTERIOR, attributes
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, ELEMENTS, OPAQUE, REPORTS, TILED
from workbench.ir.rewrite import Rewriter, copy_op, fresh, replace_body
from workbench.ir.values import Block, Function, Op, Value, dtype_of, walk
from workbench.passes.loops.rows import MOST, SLOTTED, WIDEST, Rows, is_combined, with_blocks
from workbench.types import Scalar, Slots, Vector, int32, int64
from workbench.types import bool as bool_

LIMIT = 180
"""Operations of a body that is written twice, at most."""
WIDE = 64
"""Numbers that a group keeps from turn to turn, so that they fit into registers."""
NARROW = 16
"""Threads of a group, at least; at most they are `rows.WIDEST`."""


def abreast(function: Function, masks: bool = False) -> Function:
    """The function with such loops outside, and loops over a group's threads in them; itself if there are none.

    Args:
        function: what is to be emitted.
        masks: whether the target reads and writes a part of a vector: then the threads that are left are a group too.
    """
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
        split = _split(rows, inside, masks)
        return replace_body(function, Block((), (*before, last.replace(blocks=(split, border)))))
    return replace_body(function, _split(rows, function.body, masks))


def _forbids(op: Op) -> bool:
    """What depends on the order of threads, or has no place in a loop over some of them."""
    # Copied with its block, `tid` would be the group's first thread.
    inner = not op.attrs.get(INTERIOR) and any(o.name == "tid" for b in op.blocks for o in walk(b))
    ordered = op.name in OPAQUE or op.name in TILED or op.name in REPORTS
    own = op.name in ("atomic", "slot_sum", "slot_matmul") or (op.name in ACCESSES and op.name not in ELEMENTS)
    return inner or ((ordered or own) and not is_combined(op))


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


def _split(rows: Rows, body: Block, masks: bool) -> Block:
    """The body for full groups, and for the threads that are left."""
    carried = max((sum(_width(v) for v in op.operands[3:]) for op in rows.loops), default=1)
    threads = max(NARROW, min(WIDEST, WIDE // (1 << (max(1, carried) - 1).bit_length())))
    builder = Builder()
    builder.location = next(iter(rows.loops)).location
    masked = masks and rows.masked(body)
    blocks = (_Group(rows, threads, True, False).written(body), _Group(rows, threads, False, masked).written(body))
    builder.append(Op("if", (builder.const(True, bool_),), (), ABREAST.of(threads), blocks, builder.location))
    return builder.body()


def _width(value: Value) -> int:
    return value.type.length if isinstance(value.type, Vector) else 1


def _crossing(body: Block, rows: Rows) -> set[Value]:
    """Values that are needed in another part of the code than the one in which they are made."""
    made: dict[Value, int] = {}
    used: list[tuple[Value, int]] = []
    part = 0

    def visit(block: Block) -> None:
        nonlocal part
        before: list[Op] = []
        for op in block.ops:
            if op in rows.loops:
                used.extend((v, part) for v in op.operands[3:])
                part += 1
                visit(op.blocks[0])
                part, before = part + 1, []
                continue
            if rows.waits(op, before):
                part, before = part + 1, []
            if op.name != "slots" and not rows.is_common_value(op):
                before.append(op)
                for inner in with_blocks((op,)):
                    made.update((v, part) for v in inner.results)
                    used.extend((v, part) for v in inner.operands)

    visit(body)
    return {v for v, at in used if made.get(v, at) != at and v not in rows.unit}


class _Group:
    """Writes the body of one group of threads.

    Attributes:
        storage: makes the slots.
        masked: the group is not full, and threads that are not there go along without their accesses.
        places: slots of values that are needed outside the part in which they are made.
        env: values that are the same in all threads.
        sums: slots whose contents are added up.
    """

    def __init__(self, rows: Rows, threads: int, full: bool, masked: bool) -> None:
        self.rows, self.threads, self.full, self.masked = rows, threads, full, masked
        self.builder, self.storage = Builder(), Builder()
        self.places: dict[Value, Value] = {}
        self.env: dict[Value, Value] = {}
        self.first = self.count = self.whole = self.zero = self.one = Value(int32)
        self.wide, self.present = Value(int64), Value(bool_)
        self.sums: list[Value] = []
        self.crossing: set[Value] = set()

    def written(self, body: Block) -> Block:
        """The body."""
        self.crossing = _crossing(body, self.rows)
        b = self.builder
        self.first = b.one("tid", (), int32, {AXIS: self.rows.axis})
        self.count = b.one("group_size", (), int32)
        self.zero, self.one = b.const(0), b.const(1)
        self.whole = b.const(self.threads)
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
                continue
            if self.rows.waits(op, part):
                self.part(part, {})
                part = []
            if op.name == "slots":
                self.env[op.result] = self.slots(op)
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
        place = Value(int32, "place")
        with b.block((place,)) as opened:
            if self.masked:
                self.present = b.one("lt", (place, self.count), bool_)
            self.inside(place, ops, carried, terms)
            b.yield_()
        b.for_(self.zero, self.whole if self.masked else self.count, self.one, (), opened.block)
        for op, slots in terms.items():
            b.location = op.location
            total = b.one("slot_sum", (slots,), dtype_of(slots))
            b.append(op.replace((*(self.env.get(v, v) for v in op.operands[:-1]), total)))

    def inside(
        self, index: Value, ops: Sequence[Op], carried: Mapping[Value, Value], terms: Mapping[Op, Value]
    ) -> None:
        """What the thread at one place of the group does in a part."""
        b = self.builder
        thread = b.one("add", (self.first, index), int32)
        self.wide = b.one("add", (b.cast(self.first, int64), b.cast(index, int64)), int64)
        env = {**self.env, **dict.fromkeys(self.rows.tids, thread)}
        every = list(with_blocks(ops))
        # Also what is made in their blocks: an index of an inner loop's counter means nothing outside it.
        made = {v for o in every for v in o.results}
        needed = [v for o in every for v in o.operands]
        for value in dict.fromkeys((*needed, *carried.values())):
            if value in self.rows.unit and value not in made:
                self.again(value, env)
            elif value in self.places and value not in made:
                env[value] = b.slot_read(self.places[value], index)
        for op in ops:
            b.location = op.location
            if op in terms:
                b.slot_write(terms[op], index, env.get(op.operands[-1], op.operands[-1]))
            elif op.name in SLOTTED:
                # The states of a group's threads lie side by side.
                at = env.get(op.operands[1], op.operands[1])
                row = b.one("mul", (at, b.const(self.threads, at.type)), at.type)
                column = index if at.type == int32 else b.one("cast", (index,), at.type)
                at = b.one("add", (row, column), at.type)
                b.append(copy_op(op.replace((op.operands[0], at, *op.operands[2:])), env))
            elif not env.keys() >= set(op.results) or not op.results:
                b.extend(self.where_present(copy_op(op, env)))
            for value in self.crossing.intersection(op.results):
                b.slot_write(self.place(value), index, env[value])
        for param, value in carried.items():
            b.slot_write(self.place(param), index, env.get(value, value))

    def where_present(self, op: Op) -> tuple[Op, ...]:
        """The operation; in a group that is not full no array is accessed for a thread that is not there."""
        if not self.masked:
            return (op,)

        def change(_: Rewriter, op: Op) -> Iterator[Op] | None:
            if op.name not in ACCESSES:
                return None
            b = Builder()
            b.location = op.location
            found = tuple(map(fresh, op.results))
            with b.block() as there:
                b.append(op.replace(results=found))
                b.yield_(*found)
            with b.block() as absent:
                b.yield_(*(b.const(0, v.type) for v in found))
            b.append(Op("if", (self.present,), op.results, attributes({}), (there.block, absent.block), op.location))
            return iter(b.body().ops)

        return Rewriter(change).block(Block((), (op,))).ops

    def again(self, value: Value, env: dict[Value, Value]) -> None:
        """Compute an index of the thread's own again: through slots LLVM would not see whose neighbour it is."""
        op = self.rows.made.get(value)
        if op is None or value in env:
            return
        if op.name == "cast" and op.operands[0] in self.rows.tids and value.type == int64:
            env[value] = self.wide
            return
        for operand in op.operands:
            self.again(operand, env)
        self.builder.append(copy_op(op, env))

    def slots(self, op: Op) -> Value:
        """Those of a thread, for all of the group."""
        type = op.result.type
        assert isinstance(type, Slots)
        return self.storage.slots(type.dtype, type.count * self.threads)

    def place(self, value: Value) -> Value:
        """The slots of a value."""
        if value not in self.places:
            self.places[value] = self.storage.slots(_contents(value), self.threads)
        return self.places[value]


def _contents(value: Value) -> Scalar | Vector:
    assert isinstance(value.type, (Scalar, Vector))
    return value.type
