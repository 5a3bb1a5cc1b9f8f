"""What a group of threads does that goes through loops together: loops outside, and loops over its threads in them.

Where threads make turns of their own, the group makes as many as any of them needs. A mask says who takes part; the
others keep what they have, so each has the bits that it has by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from workbench.ir.attributes import AXIS, UNROLL, attributes
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, LEAD
from workbench.ir.rewrite import Rewriter, copy_op, fresh
from workbench.ir.values import Block, Op, Value, dtype_of, walk
from workbench.passes.loops.rows import SLOTTED, Rows, added_type, initial, with_blocks
from workbench.types import Scalar, Slots, Vector, int32, int64
from workbench.types import bool as bool_


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
                used.extend((v, part) for v in op.operands)
                part += 1
                # The bounds of a thread's own turns are looked at in each turn.
                used.extend((v, part) for v in op.operands[: LEAD[op.name]])
                visit(op.blocks[-1])
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


class Bound(msgspec.Struct, frozen=True):
    """What is to be known of all threads of a group: a value of each, what combines them, and that of no thread."""

    value: Value
    combine: str
    none: Value


class Own(msgspec.Struct, frozen=True):
    """In which turns of a loop a thread takes part: where the index passes the test against its own bound."""

    test: str
    bound: Value


class Group:
    """Writes the body of one group of threads.

    Attributes:
        whole: the group is not full, and threads that are not there go along without their accesses.
        storage: makes the slots.
        places: slots of values that are needed outside the part in which they are made.
        env: values that are the same in all threads.
        sums: slots whose contents are added up.
        mask: slots that say which threads are in the loop that is being written; None where all are.
        masks: all such slots.
    """

    def __init__(self, rows: Rows, threads: int, full: bool, whole: bool = False) -> None:
        self.rows, self.threads, self.full, self.whole = rows, threads, full, whole
        # LLVM would write out a short loop over threads before it makes vectors of it.
        self.written_out = UNROLL.of(True) if rows.apart() or rows.along else None
        self.builder, self.storage = Builder(), Builder()
        self.places: dict[Value, Value] = {}
        self.env: dict[Value, Value] = {}
        self.first = self.size = self.count = self.zero = self.one = Value(int32)
        self.long, self.present = Value(int64), Value(bool_)
        self.sums: list[Value] = []
        self.crossing: set[Value] = set()
        self.mask: Value | None = None
        self.masks: set[Value] = set()
        self.used = {v for op in walk(rows.function.body) for v in op.operands}

    def written(self, body: Block) -> Block:
        """The body."""
        self.crossing = _crossing(body, self.rows)
        b = self.builder
        self.first = b.one("tid", (), int32, {AXIS: self.rows.axis})
        self.size = b.one("group_size", (), int32)
        self.count = b.const(self.threads) if self.whole else self.size
        self.zero, self.one = b.const(0), b.const(1)
        self.block(body)
        for slots in () if self.full else self.sums:
            self.clear(slots)
        return Block((), (*self.storage.body().ops, *b.body().ops))

    def clear(self, slots: Value) -> None:
        """What threads that are not there add: nothing."""
        b, index = self.storage, Value(int32)
        with b.block((index,)) as opened:
            b.slot_write(slots, index, _nothing(b, dtype_of(slots)))
            b.yield_()
        b.for_(b.const(0), b.const(self.threads), b.const(1), (), opened.block)

    def block(
        self, block: Block, carried: Mapping[Value, Value] | None = None, bound: Bound | None = None
    ) -> Value | None:
        """Parts of the code one after the other; at the end what is carried is written. Gives the last part's bound."""
        part: list[Op] = []
        for op in block.ops:
            if op in self.rows.loops:
                self.loop(op, part)
                part = []
                continue
            if self.rows.waits(op, part):
                self.part(part, {})
                part = []
            if op.name == "slots":
                self.env[op.result] = self.slots(op)
            elif self.rows.is_common_value(op):
                self.common(op)
            elif op.name != "yield":
                part.append(op)
        return self.part(part, carried or {}, bound)

    def common(self, op: Op) -> None:
        """What is computed once for the group."""
        self.builder.append(copy_op(op, self.env))

    def note_counter(self, index: Value, counter: Value) -> None:
        """Say what counts the turns of a loop."""
        self.env[index] = counter

    def loop(self, op: Op, before: Sequence[Op]) -> None:
        """A loop with those over the group's threads inside; `before` is what threads do before it."""
        params = op.blocks[-1].params[LEAD[op.name] and 1 :]
        for result, param in zip(op.results, params, strict=True):
            if param not in self.rows.same and result in self.used:
                self.places[result] = self.place(param)
        if op.name == "while":
            self.turns(op, before)
        elif self.rows.stays_outside(op):
            self.part(before, dict(zip(params, initial(op), strict=True)))
            start, stop = (self.env.get(v, v) for v in op.operands[:2])
            self.counted(op, start, stop)
        else:
            self.aligned(op, before)

    def counted(self, op: Op, start: Value, stop: Value, own: Own | None = None) -> None:
        """A `for`, all of whose turns the group makes; `own` says in which of them a thread takes part."""
        b = self.builder
        b.location = op.location
        (body,) = op.blocks
        index, *params = body.params
        counter, outer = Value(index.type, index.name), self.mask
        self.note_counter(index, counter)
        with b.block((counter,)) as opened:
            if own is not None:
                inside = Value(bool_, "inside")
                test = Op(own.test, (index, own.bound), (Value(bool_),), location=op.location)
                mask = self.mask_for(inside)
                self.part((test,), {inside: test.result})
                self.mask = mask
            self.block(body, dict(zip(params, body.yielded, strict=True)))
            b.yield_()
        self.mask = outer
        b.for_(start, stop, self.env.get(op.operands[2], op.operands[2]), (), opened.block, op.attrs)

    def aligned(self, op: Op, before: Sequence[Op]) -> None:
        """A `for` that threads begin, or end, in turns of their own: as many turns as any of them makes."""
        start, stop, step = op.operands[:3]
        up = self.rows.known[step] > 0
        params = op.blocks[0].params[1:]
        late = stop in self.rows.same
        bound, common = (start, stop) if late else (stop, start)
        common = self.env.get(common, common)
        farthest = self.part(
            before, dict(zip(params, initial(op), strict=True)), Bound(bound, "min" if up == late else "max", common)
        )
        assert farthest is not None
        test = {(True, True): "ge", (True, False): "lt", (False, True): "le", (False, False): "gt"}[up, late]
        ends = (farthest, common) if late else (common, farthest)
        self.counted(op, *ends, Own(test, bound))

    def turns(self, op: Op, before: Sequence[Op]) -> None:
        """A `while`, as long as any thread of the group goes on."""
        b, (head, body) = self.builder, op.blocks
        b.location = op.location
        at = head.params.index(head.yielded[0])
        go = body.params[at]
        same = self.rows.counters[op]
        kept = [k for k in range(len(body.params)) if k not in same or op.results[k] in self.used]
        off = b.const(False, bool_)
        outer = self.mask
        # What is the same in all threads is carried once; each of them still needs it as it was at its own end.
        own = {k: op.results[k] if k in same else body.params[k] for k in kept}
        mask = self.mask_for(go)
        some = self.part(before, {v: op.operands[k] for k, v in own.items()}, Bound(op.operands[at], "or_", off))
        assert some is not None
        counters = [Value(body.params[k].type, body.params[k].name) for k in same]
        self.env.update(zip([body.params[k] for k in same], counters, strict=True))
        tested = [Value(bool_, "some"), *(Value(c.type, c.name) for c in counters)]
        with b.block(tested) as condition:
            b.yield_(tested[0])
        self.mask = mask
        with b.block((Value(bool_, "some"), *counters)) as opened:
            following = Bound(body.yielded[at], "or_", b.const(False, bool_))
            more = self.block(body, {v: body.yielded[k] for k, v in own.items()}, following)
            assert more is not None
            b.yield_(more, *(self.env.get(body.yielded[k], body.yielded[k]) for k in same))
        self.mask = outer
        firsts = [self.env.get(op.operands[k], op.operands[k]) for k in same]
        b.while_((some, *firsts), condition.block, opened.block)

    def part(self, ops: Sequence[Op], carried: Mapping[Value, Value], bound: Bound | None = None) -> Value | None:
        """A loop over the group's threads; each writes also what is carried. Gives the bound of them all."""
        if not ops and not carried and not bound:
            return None
        b = self.builder
        common = [op for op in ops if op.name == "atomic_add" and self.rows.is_common_place(op)]
        terms = {op: self.storage.slots(added_type(op), self.threads) for op in common}
        self.sums += terms.values()
        place, so_far = Value(int32, "place"), [Value(bound.value.type)] if bound else []
        with b.block((place, *so_far)) as opened:
            if self.whole:
                self.present = b.one("lt", (place, self.size), bool_)
            found = self.inside(place, ops, carried, terms, bound)
            b.yield_(*([b.one(bound.combine, (*so_far, found), found.type)] if bound and found else ()))
        first = (bound.none,) if bound else ()
        totals = b.for_(self.zero, self.count, self.one, first, opened.block, self.written_out)
        for op, slots in terms.items():
            b.location = op.location
            total = b.one("slot_sum", (slots,), dtype_of(slots))
            b.append(op.replace((*(self.env.get(v, v) for v in op.operands[:-1]), total)))
        return totals[0] if bound else None

    def inside(
        self, index: Value, ops: Sequence[Op], carried: Mapping[Value, Value], terms: Mapping[Op, Value],
        bound: Bound | None,
    ) -> Value | None:  # fmt: skip
        """What the thread at one place of the group does in a part; gives its part of the bound."""
        b = self.builder
        thread = b.one("add", (self.first, index), int32)
        self.long = b.one("add", (b.cast(self.first, int64), b.cast(index, int64)), int64)
        env = {**self.env, **dict.fromkeys(self.rows.tids, thread)}
        every = list(with_blocks(ops))
        # Also what is made in their blocks: an index of an inner loop's counter means nothing outside it.
        made = {v for o in every for v in o.results}
        needed = [v for o in every for v in o.operands]
        bounds = (bound.value,) if bound else ()
        for value in dict.fromkeys((*needed, *carried.values(), *bounds)):
            if value in self.rows.unit and value not in made:
                self.again(value, env)
            elif value in self.places and value not in made:
                env[value] = self.read(self.places[value], index)
        crossing = [v for o in ops for v in o.results if v in self.crossing]
        written = [(self.place(v), v) for v in crossing] + [(self.place(p), v) for p, v in carried.items()]
        if self.mask is None:
            self.operations(ops, env, index, terms)
            for place, value in written:
                self.write(place, index, env.get(value, value))
            return env.get(bound.value, bound.value) if bound else None
        return self.masked(ops, env, index, terms, written, bound)

    def masked(
        self, ops: Sequence[Op], env: dict[Value, Value], index: Value, terms: Mapping[Op, Value],
        written: Sequence[tuple[Value, Value]], bound: Bound | None,
    ) -> Value | None:  # fmt: skip
        """The same, where the thread is in the loop; else all stays as it is, and none of its own loops begins."""
        b = self.builder
        assert self.mask is not None
        inside = self.read(self.mask, index)
        olds = [_nothing(b, bool_) if p in self.masks else self.read(p, index) for p, _ in written]
        for slots in terms.values():
            b.slot_write(slots, index, _nothing(b, dtype_of(slots)))
        with b.block() as then:
            self.operations(ops, env, index, terms)
            b.yield_(*(env.get(v, v) for _, v in written), *([env.get(bound.value, bound.value)] if bound else ()))
        with b.block() as otherwise:
            b.yield_(*olds, *([bound.none] if bound else ()))
        news = b.if_(inside, then.block, otherwise.block)
        for (place, _), value in zip(written, news, strict=False):
            self.write(place, index, value)
        return news[-1] if bound else None

    def operations(self, ops: Sequence[Op], env: dict[Value, Value], index: Value, terms: Mapping[Op, Value]) -> None:
        """The operations of a part, for one thread."""
        b = self.builder
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
            elif not op.results or not env.keys() >= set(op.results):
                b.extend(self.where_present(copy_op(op, env)))

    def where_present(self, op: Op) -> tuple[Op, ...]:
        """The operation; in a group that is not full no array is accessed for a thread that is not there."""
        if not self.whole:
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
        if self.is_long(op):
            env[value] = self.long
            return
        for operand in op.operands:
            self.again(operand, env)
        self.builder.append(copy_op(op, env))

    def is_long(self, op: Op) -> bool:
        """Whether it is the thread's index in 64 bits."""
        return op.name == "cast" and op.operands[0] in self.rows.tids and op.result.type == int64

    def slots(self, op: Op) -> Value:
        """Those of a thread, for all of the group."""
        type = op.result.type
        assert isinstance(type, Slots)
        return self.storage.slots(type.dtype, type.count * self.threads)

    def read(self, place: Value, index: Value) -> Value:
        """What a thread has in a place."""
        b = self.builder
        found = b.slot_read(place, index)
        return b.one("lt", (found, b.const(0)), bool_) if place in self.masks else found

    def write(self, place: Value, index: Value, value: Value) -> None:
        """Keep a value there."""
        b = self.builder
        if place in self.masks:
            value = b.one("where", (value, b.const(-1), b.const(0)), int32)
        b.slot_write(place, index, value)

    def mask_for(self, value: Value) -> Value:
        """The slots of a bool that says which threads take part, as a mask of 32 bits, the width of most numbers."""
        self.places[value] = self.storage.slots(int32, self.threads)
        self.masks.add(self.places[value])
        return self.places[value]

    def place(self, value: Value) -> Value:
        """The slots of a value."""
        if value not in self.places:
            self.places[value] = self.storage.slots(_contents(value), self.threads)
        return self.places[value]


def _nothing(builder: Builder, type: Scalar | Vector) -> Value:
    """A number, or numbers, that change no sum; False."""
    return builder.const((0,) * type.length if isinstance(type, Vector) else 0, type)


def _contents(value: Value) -> Scalar | Vector:
    assert isinstance(value.type, (Scalar, Vector))
    return value.type
