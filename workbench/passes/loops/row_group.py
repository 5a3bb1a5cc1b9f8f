"""What a group of threads of several rows does that goes through loops together.

Each operation stands once where it is the same in all rows, and else once for each, one after the other: then LLVM
loads what rows share once, and adds what they add to one element between one load and one store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.ir.attributes import UNROLL
from workbench.ir.rewrite import copy_op
from workbench.ir.values import Op, Value, dtype_of
from workbench.passes.loops.group import Bound, Group, Own
from workbench.passes.loops.rows import Rows, added_type, with_blocks
from workbench.types import int32, int64

Env = dict[Value, Value]


class RowGroup(Group):
    """Writes the body of one group of full rows: none of its loops has a mask.

    Attributes:
        envs: for each row, values that are the same in all its threads.
        beside: by the first row's slots of a value, those of all rows.
        depth: how many loops the code that is being written stands in.
    """

    def __init__(self, rows: Rows, threads: int, count: int, plain: bool) -> None:
        """For `count` rows; `plain` as for `abreast`."""
        super().__init__(rows, threads, True)
        self.plain = plain
        self.envs: list[Env] = [self.env, *({} for _ in range(count - 1))]
        self.beside: dict[Value, list[Value]] = {}
        self.depth = 0

    def common(self, op: Op) -> None:
        """What is computed once for the threads of a row."""
        self.copy(op, self.envs)

    def copy(self, op: Op, envs: Sequence[Env]) -> None:
        """A copy for each row; one for all where it is the same in them."""
        first, *others = envs
        self.builder.append(copy_op(op, first))
        for n, env in enumerate(others, 1):
            if op.results and self.rows.alike.issuperset(op.results):
                env.update((v, first[v]) for v in op.results)
            elif op.name == "tid":
                env[op.result] = self.builder.one("add", (first[op.result], self.builder.const(n)), int32)
            else:
                self.builder.append(copy_op(op, env))

    def note_counter(self, index: Value, counter: Value) -> None:
        """As for one row."""
        for env in self.envs:
            env[index] = counter

    def counted(self, op: Op, start: Value, stop: Value, own: Own | None = None) -> None:
        """As for one row."""
        self.depth += 1
        super().counted(op, start, stop, own)
        self.depth -= 1

    def place(self, value: Value) -> Value:
        """The first row's slots of a value."""
        if value not in self.places:
            first = super().place(value)
            self.beside[first] = [first, *(self.storage.slots(dtype_of(first), self.threads) for _ in self.envs[1:])]
        return self.places[value]

    def part(self, ops: Sequence[Op], carried: Mapping[Value, Value], bound: Bound | None = None) -> None:
        """A loop over the group's threads; each writes also what is carried.

        One for each row where LLVM would have to know that rows do not overlap.
        """
        assert bound is None
        if not ops and not carried:
            return
        b = self.builder
        common = [op for op in ops if op.name == "atomic_add" and self.rows.is_common_place(op)]
        terms = {op: [self.storage.slots(added_type(op), self.threads) for _ in self.envs] for op in common}
        every = range(len(self.envs))
        for chosen in [(n,) for n in every] if self.rows.touch_rows(ops) else [every]:
            place = Value(int32, "place")
            with b.block((place,)) as opened:
                self.within(place, chosen, ops, carried, terms)
                b.yield_()
            # Outside of loops it runs once: not written out, it takes LLVM less time.
            attrs = UNROLL.of(False) if len(chosen) < len(every) and not self.depth else None
            b.for_(self.zero, self.count, self.one, (), opened.block, attrs)
        for op, slots in terms.items():
            b.location = op.location
            totals = b.emit("slot_sum", slots, [dtype_of(s) for s in slots]).results
            for env, total in zip(self.envs, totals, strict=True):
                b.append(copy_op(op.replace((*op.operands[:-1], total)), {**env}))

    def within(
        self, index: Value, chosen: Sequence[int], ops: Sequence[Op], carried: Mapping[Value, Value],
        terms: Mapping[Op, Sequence[Value]],
    ) -> None:  # fmt: skip
        """What the thread at one place of each of these rows does in a part, operation by operation."""
        b = self.builder
        thread = b.one("add", (self.first, index), int32)
        self.long = b.one("add", (b.cast(self.first, int64), b.cast(index, int64)), int64)
        envs = [{**self.envs[n], **dict.fromkeys(self.rows.tids, thread)} for n in chosen]

        def of(slots: Sequence[Value]) -> Iterator[tuple[Env, Value]]:
            return zip(envs, (slots[n] for n in chosen), strict=True)

        def keep(value: Value, to: Value) -> None:
            for env, slots in of(self.beside[self.place(to)]):
                b.slot_write(slots, index, env.get(value, value))

        every = list(with_blocks(ops))
        made = {v for o in every for v in o.results}
        for value in dict.fromkeys((*(v for o in every for v in o.operands), *carried.values())):
            if value in self.rows.unit and value not in made:
                self.indices(value, envs)
            elif value in self.places and value not in made:
                for env, slots in of(self.beside[self.places[value]]):
                    env[value] = b.slot_read(slots, index)
        for op in ops:
            b.location = op.location
            if op in terms:
                for env, slots in of(terms[op]):
                    b.slot_write(slots, index, env.get(op.operands[-1], op.operands[-1]))
            elif not self.plain and self.rows.is_alike_place(op):
                self.added(op, envs)
            elif op.name != "tid":
                self.copy(op, envs)
            for value in op.results:
                if value in self.crossing:
                    keep(value, value)
        for param, value in carried.items():
            keep(value, param)

    def added(self, op: Op, envs: Sequence[Env]) -> None:
        """All rows add to one element: their sum, at once."""
        b, (total, *others) = self.builder, [env.get(op.operands[-1], op.operands[-1]) for env in envs]
        for other in others:
            total = b.one("add", (total, other), dtype_of(op.operands[0]))
        b.append(copy_op(op.replace((*op.operands[:-1], total)), {**envs[0]}))

    def indices(self, value: Value, envs: Sequence[Env]) -> None:
        """Compute an index of the thread's own again, as for one row."""
        op = self.rows.made.get(value)
        if op is None or value in envs[0]:
            return
        if self.is_long(op):
            for env in envs:
                env[value] = self.long
            return
        for operand in op.operands:
            self.indices(operand, envs)
        self.copy(op, envs)
