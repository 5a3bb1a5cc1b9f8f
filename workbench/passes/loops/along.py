"""Rows of the threads' own in a loop that a group goes through together: a[i, k] in turn k of thread i.

In a turn the threads of a group read elements that are a row apart, which no vector load does. So the group makes a
strip of turns at a time. Before it, as many elements of each thread's row are turned over into slots, where those of
one turn lie side by side; behind it what was written is turned back. What is less than a block is copied element by
element: nothing is read or written that the threads themselves do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.ir.attributes import AXES, SHAPE
from workbench.ir.build import Builder
from workbench.ir.rewrite import Rewriter, copy_op
from workbench.ir.values import Block, Op, Value, dtype_of
from workbench.limits import TRANSPOSED_BLOCK, TRANSPOSED_STRIP
from workbench.passes.loops.group import Group
from workbench.passes.loops.rows import Along, Rows
from workbench.types import bool as bool_
from workbench.types import int32, int64


class AlongGroup(Group):
    """Writes the body of one full group of threads that have such rows.

    Attributes:
        turned: by access, the slots that stand for its row, and where those of a turn begin.
    """

    def __init__(self, rows: Rows, threads: int) -> None:
        """For so many threads."""
        super().__init__(rows, threads, True)
        self.turned: dict[Op, tuple[Value, Value]] = {}

    def counted(self, op: Op, start: Value, stop: Value, own: object = None) -> None:
        """In strips, if the loop has such rows."""
        along = self.rows.along.get(op)
        if not along:
            super().counted(op, start, stop)
            return
        b, index = self.builder, op.blocks[0].params[0]
        b.location = op.location
        first, turn = Value(int32, "first"), Value(int32, "turn")
        kept = [(a, self.storage.slots(dtype_of(a.array), TRANSPOSED_STRIP * self.threads)) for a in along]
        with b.block((first,)) as strips:
            count = b.one("min", (b.one("sub", (stop, first), int32), b.const(TRANSPOSED_STRIP)), int32)
            for row, slots in kept:
                # Where it is written first, what was there does not matter.
                if row.ops[0].name == "load":
                    self.move(row, slots, index, first, count, back=False)
            with b.block((turn,)) as turns:
                begin = b.one("mul", (turn, b.const(self.threads)), int32)
                self.turned.update((o, (slots, begin)) for row, slots in kept for o in row.ops)
                self.note_counter(index, b.one("add", (first, turn), int32))
                self.block(op.blocks[0], dict(zip(op.blocks[0].params[1:], op.blocks[0].yielded, strict=True)))
                b.yield_()
            b.for_(b.const(0), count, b.const(1), (), turns.block, op.attrs)
            for row, slots in kept:
                if any(o.name == "store" for o in row.ops):
                    self.move(row, slots, index, first, count, back=True)
            b.yield_()
        b.for_(start, stop, b.const(TRANSPOSED_STRIP), (), strips.block)

    def operations(self, ops: Sequence[Op], env: dict[Value, Value], index: Value, terms: Mapping[Op, Value]) -> None:
        """The operations of a part, for one thread."""
        for op in ops:
            if op in self.turned:
                self.builder.extend(copy_op(o, env) for o in self.access(op, index) or ())
            else:
                inside = Rewriter(lambda _, o: self.access(o, index)).block(Block((), (op,)))
                super().operations(inside.ops, env, index, terms)

    def access(self, op: Op, index: Value) -> tuple[Op, ...] | None:
        """What stands for an access to a row that was turned over."""
        if op not in self.turned:
            return None
        (slots, begin), b = self.turned[op], Builder()
        b.location = op.location
        at = b.one("add", (begin, index), int32)
        if op.name == "load":
            b.append(Op("slot_read", (slots, at), op.results, location=b.location))
        else:
            b.slot_write(slots, at, op.operands[-1])
        return b.body().ops

    def move(self, row: Along, slots: Value, index: Value, first: Value, count: Value, back: bool) -> None:
        """Turn a strip of each thread's row over into the slots, or back: whole blocks, and what is left one by one."""
        b = self.builder
        blocks = b.one("bit_and", (count, b.const(-TRANSPOSED_BLOCK)), int32)
        place = self.indices(row, self.first, index, first)
        operands = (row.array, *place, slots, b.const(True, bool_))
        window = b.one("window", operands, slots.type, {AXES: (row.axis, len(place) - 1)})
        given, sides, shape = (slots, window), (b.const(self.threads), blocks), (self.threads, TRANSPOSED_STRIP)
        if back:
            given, sides, shape = given[::-1], sides[::-1], shape[::-1]
        b.emit("slot_transpose", (*given, *sides), (), {SHAPE: shape})
        left, thread = Value(int32, "left"), Value(int32, "place")
        with b.block((left,)) as turns:
            turn = b.one("add", (blocks, left), int32)
            begin = b.one("mul", (turn, b.const(self.threads)), int32)
            with b.block((thread,)) as threads:
                at = b.one("add", (begin, thread), int32)
                own = b.one("add", (self.first, thread), int32)
                place = self.indices(row, own, index, b.one("add", (first, turn), int32))
                if back:
                    b.store(row.array, *place, b.slot_read(slots, at))
                else:
                    b.slot_write(slots, at, b.load(row.array, *place))
                b.yield_()
            b.for_(b.const(0), b.const(self.threads), b.const(1), (), threads.block, self.written_out)
            b.yield_()
        few = b.one("min", (b.one("sub", (count, blocks), int32), b.const(TRANSPOSED_BLOCK)), int32)
        b.for_(b.const(0), few, b.const(1), (), turns.block)

    def indices(self, row: Along, thread: Value, index: Value, turn: Value) -> list[Value]:
        """Those of a thread's element in a turn."""
        env = {**self.env, index: turn, **dict.fromkeys(self.rows.tids, thread)}
        self.long = self.builder.cast(thread, int64)
        for value in row.indices:
            if value in self.rows.unit:
                self.again(value, env)
        return [env.get(value, value) for value in row.indices]
