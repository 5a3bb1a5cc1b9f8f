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
in a row. In both `tid` is the group's first thread, and `group_end` the one after its last.

Where neighbouring rows read or add to the same elements (`b[k, j]` above), it is written a third time, for groups of
several rows: what is the same in all of them is loaded once, and added to once, and sums stay in registers. There `tid`
along the rows' axis is that of the first one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from workbench.ir.attributes import ABREAST, AXIS, INTERIOR, ROWS, UNROLL, attributes
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, ELEMENTS, OPAQUE, REPORTS, TILED
from workbench.ir.rewrite import copy_op, replace_body
from workbench.ir.values import Block, Function, Op, Value, dtype_of, walk
from workbench.passes.loops.rows import SLOTTED, WIDEST, Rows, is_combined, with_blocks
from workbench.types import Scalar, Slots, Vector, element, int32
from workbench.types import bool as bool_

LIMIT = 180
"""Operations of a body that is written twice, at most."""
MOST = 4
"""Loops that are, at most: each is several more."""
WIDE = 64
"""Numbers that a group keeps from turn to turn, so that they fit into registers."""
NARROW = 16
"""Threads of a group, at least; at most they are `rows.WIDEST`."""
MOST_ROWS = 4
"""Rows of a group, at most."""
ROOM = 2**10
"""Bytes that a group of several rows keeps from turn to turn, at most: 16 registers of 512 bits."""
SHORT_BODY = 60
"""Operations of a body that is written for several rows, at most."""


def abreast(function: Function, rows: bool = False, plain: bool = False) -> Function:
    """The function with such loops outside, and loops over a group's threads in them; itself if there are none.

    Args:
        function: a kernel.
        rows: vectors are wide enough for groups of several rows. Where threads add to elements there are such groups
            in any case: sums have the same order on every target.
        plain: additions to elements are plain, in the order of the rows.
    """
    operations = list(walk(function.body))
    if function.block_dim or not function.launch_ndim or len(operations) > LIMIT:
        return function
    if not any(op.name == "for" for op in operations) or any(_forbids(op) for op in operations):
        return function
    found = Rows(function)
    if not 0 < len(found.loops) <= MOST or not found.independent(operations):
        return function
    *before, last = function.body.ops or (Op("yield"),)
    if last.attrs.get(INTERIOR):
        # The threads at a border are few.
        inside, border = last.blocks
        split = _split(found, inside, 1)
        return replace_body(function, Block((), (*before, last.replace(blocks=(split, border)))))
    count = 1
    wanted = rows or any(op.name == "atomic_add" for op in operations)
    if wanted and len(operations) <= SHORT_BODY and found.are_alike(operations):
        count = max(1, min(MOST_ROWS, ROOM // (_threads(found) * _bytes(found))))
    return replace_body(function, _split(found, function.body, count, plain))


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
        threads: of a full group, in a row.
        full, rest: what a full group does, and one with fewer threads.
        rows: how many rows the third one has.
        several: what a full group of so many rows does.
    """

    threads: int
    full: Block
    rest: Block
    rows: int = 1
    several: Block | None = None


def groups_of(body: Block) -> Groups | None:
    """What `abreast` made of a body; None if that is nothing."""
    last = body.ops[-1] if body.ops else Op("yield")
    threads = last.attrs.get(ABREAST)
    if not threads:
        return None
    full, rest, *several = last.blocks
    return Groups(threads, full, rest, last.attrs.get(ROWS) or 1, *several)


def _split(rows: Rows, body: Block, count: int, plain: bool = False) -> Block:
    """The body for full groups, for the threads that are left, and for groups of `count` rows if these are several."""
    threads = _threads(rows)
    builder = Builder()
    builder.location = next(iter(rows.loops)).location
    blocks = [_Group(rows, threads, full).written(body) for full in (True, False)]
    attrs: dict[str, object] = {ABREAST: threads}
    if count > 1:
        blocks.append(_Group(rows, threads, True, count, plain).written(body))
        attrs[ROWS] = count
    builder.append(Op("if", (builder.const(True, bool_),), (), attributes(attrs), tuple(blocks), builder.location))
    return builder.body()


def _carried(rows: Rows) -> int:
    return max(1, *(sum(_width(v) for v in op.operands[3:]) for op in rows.loops))


def _threads(rows: Rows) -> int:
    """Of a full group's row."""
    return max(NARROW, min(WIDEST, WIDE // (1 << (_carried(rows) - 1).bit_length())))


def _bytes(rows: Rows) -> int:
    """Of what a thread keeps from turn to turn."""
    return _carried(rows) * max((element(v.type).size for op in rows.loops for v in op.operands[3:]), default=4)


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
        places: slots of values that are needed outside the part in which they are made, one for each row.
        envs: for each row, values that are the same in all its threads.
        sums: slots whose contents are added up.
    """

    def __init__(self, rows: Rows, threads: int, full: bool, count: int = 1, plain: bool = False) -> None:
        self.rows, self.threads, self.full, self.plain = rows, threads, full, plain
        self.builder, self.storage = Builder(), Builder()
        self.places: dict[Value, list[Value]] = {}
        self.envs: list[dict[Value, Value]] = [{} for _ in range(count)]
        self.first = self.end = self.one = Value(int32)
        self.sums: list[Value] = []
        self.depth = 0
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
                continue
            if self.rows.waits(op, part):
                self.part(part, {})
                part = []
            if op.name == "slots":
                self.envs[0][op.result] = self.slots(op)
            elif self.rows.is_common_value(op):
                self.copy(op, self.envs)
            elif op.name != "yield":
                part.append(op)
        self.part(part, dict(zip(params, block.yielded if params else (), strict=True)))

    def copy(self, op: Op, envs: Sequence[dict[Value, Value]]) -> None:
        """A copy for each row; one for all where it is the same in them."""
        first, *others = envs
        self.builder.append(copy_op(op, first))
        for n, env in enumerate(others, 1):
            if self.rows.alike.issuperset(op.results) and op.results:
                env.update((v, first[v]) for v in op.results)
            elif op.name == "tid":
                env[op.result] = self.builder.one("add", (first[op.result], self.builder.const(n)), int32)
            else:
                self.builder.append(copy_op(op, env))

    def loop(self, op: Op) -> None:
        """A loop with those over the group's threads inside."""
        b = self.builder
        b.location = op.location
        (body,) = op.blocks
        index, *params = body.params
        counter = Value(index.type, index.name)
        for env in self.envs:
            env[index] = counter
        for result, param in zip(op.results, params, strict=True):
            self.places[result] = self.place(param)
        self.depth += 1
        with b.block((counter,)) as opened:
            self.block(body, params)
            b.yield_()
        self.depth -= 1
        start, stop, step = (self.envs[0].get(v, v) for v in op.operands[:3])
        b.for_(start, stop, step, (), opened.block, op.attrs)

    def part(self, ops: Sequence[Op], carried: Mapping[Value, Value]) -> None:
        """A loop over the group's threads; each writes also what is carried.

        One for each row where LLVM would have to know that rows do not overlap.
        """
        if not ops and not carried:
            return
        b = self.builder
        common = [op for op in ops if op.name == "atomic_add" and self.rows.is_common_place(op)]
        terms = {op: [self.storage.slots(dtype_of(op.operands[0]), self.threads) for _ in self.envs] for op in common}
        self.sums += (slots for each in terms.values() for slots in each)
        every = range(len(self.envs))
        for rows in [(n,) for n in every] if self.rows.touch_rows(ops) else [every]:
            thread = Value(int32, "thread")
            with b.block((thread,)) as opened:
                self.inside(thread, rows, ops, carried, terms)
                b.yield_()
            # Outside of loops it runs once: not written out, it takes LLVM less time.
            attrs = UNROLL.of(False) if len(rows) < len(every) and not self.depth else None
            b.for_(self.first, self.end, self.one, (), opened.block, attrs)
        for op, slots in terms.items():
            b.location = op.location
            totals = b.emit("slot_sum", slots, [dtype_of(s) for s in slots]).results
            for env, total in zip(self.envs, totals, strict=True):
                b.append(copy_op(op.replace((*op.operands[:-1], total)), {**env}))

    def inside(
        self,
        thread: Value,
        rows: Sequence[int],
        ops: Sequence[Op],
        carried: Mapping[Value, Value],
        terms: Mapping[Op, Sequence[Value]],
    ) -> None:
        """What one thread of each of these rows does in a part, operation by operation."""
        b = self.builder
        envs = [{**self.envs[n], **dict.fromkeys(self.rows.tids, thread)} for n in rows]

        def of(slots: Sequence[Value]) -> Iterator[tuple[dict[Value, Value], Value]]:
            return zip(envs, (slots[n] for n in rows), strict=True)

        index = b.one("sub", (thread, self.first), int32)
        every = list(with_blocks(ops))
        # Also what is made in their blocks: an index of an inner loop's counter means nothing outside it.
        made = {v for o in every for v in o.results}
        needed = [v for o in every for v in o.operands]
        for value in dict.fromkeys((*needed, *carried.values())):
            if value in self.rows.unit and value not in made:
                self.again(value, envs)
            elif value in self.places and value not in made:
                for env, slots in of(self.places[value]):
                    env[value] = b.slot_read(slots, index)
        for op in ops:
            b.location = op.location
            if op in terms:
                for env, slots in of(terms[op]):
                    b.slot_write(slots, index, env.get(op.operands[-1], op.operands[-1]))
            elif op.name in SLOTTED:
                self.state(op, index, envs[0])
            elif not self.plain and self.rows.is_alike_place(op):
                self.added(op, envs)
            elif op.name != "tid":
                self.copy(op, envs)
            for value in self.crossing.intersection(op.results):
                for env, slots in of(self.place(value)):
                    b.slot_write(slots, index, env[value])
        for param, value in carried.items():
            for env, slots in of(self.place(param)):
                b.slot_write(slots, index, env.get(value, value))

    def added(self, op: Op, envs: Sequence[dict[Value, Value]]) -> None:
        """All rows add to one element: their sum, at once."""
        b, (total, *others) = self.builder, [env.get(op.operands[-1], op.operands[-1]) for env in envs]
        for other in others:
            total = b.one("add", (total, other), dtype_of(op.operands[0]))
        b.append(copy_op(op.replace((*op.operands[:-1], total)), {**envs[0]}))

    def state(self, op: Op, index: Value, env: dict[Value, Value]) -> None:
        """An access to a thread's slots: those of a group's threads lie side by side."""
        b, at = self.builder, env.get(op.operands[1], op.operands[1])
        row = b.one("mul", (at, b.const(self.threads, at.type)), at.type)
        at = b.one("add", (row, b.cast(index, at.type)), at.type)
        b.append(copy_op(op.replace((op.operands[0], at, *op.operands[2:])), env))

    def again(self, value: Value, envs: Sequence[dict[Value, Value]]) -> None:
        """Compute an index of the thread's own again: through slots LLVM would not see whose neighbour it is."""
        op = self.rows.made.get(value)
        if op is None or value in envs[0]:
            return
        for operand in op.operands:
            self.again(operand, envs)
        self.copy(op, envs)

    def slots(self, op: Op) -> Value:
        """Those of a thread, for all of the group."""
        type = op.result.type
        assert isinstance(type, Slots)
        return self.storage.slots(type.dtype, type.count * self.threads)

    def place(self, value: Value) -> list[Value]:
        """The slots of a value."""
        if value not in self.places:
            contents = _contents(value)
            self.places[value] = [self.storage.slots(contents, self.threads) for _ in self.envs]
        return self.places[value]


def _contents(value: Value) -> Scalar | Vector:
    assert isinstance(value.type, (Scalar, Vector))
    return value.type
