"""Borders apart from what is inside: `x[i, max(j - 1, 0)]` is `x[i, j - 1]` in every thread but the first of a row.

An index that is clamped, taken modulo or counted from the end hides that neighbouring threads read neighbours. Where it
is the last index of an access, and the thread's last index plus something that is bounded alike in all threads of a
row, the threads in which nothing is clamped lie side by side: from `first` to `last`, computed before the row.
Conditions on these threads (`if 0 < j < m - 1`) are decided inside in the same way: the side that all but a few threads
take stands alone there. What is asked of a row (`i > 0`) says whether it has threads inside at all.
The body is written twice, in an `if` whose condition says whether a thread is one of them (`INTERIOR`); a backend that
loops over threads makes loops of it.

Within its type a sum means what it says: the bounds ask for that too, so a sum on the way may wrap. Numbers of 64 bits
that the bounds are computed from are small, or a row has no threads inside. An unsigned index is computed as int32
there, since it would wrap below 0 from one thread to the next. `where(j > 0, j - 1, n - 1)` is one of its sides inside,
as an `if` is, and `x & (n - 1)` is `x % n` where n is a power of two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from workbench.ir.analysis import MIRRORED, OPPOSITE
from workbench.ir.build import Rewriter, copy_block, replace_body
from workbench.ir.ops import AXIS, COLD, ELEMENTS, INTERIOR, attributes
from workbench.ir.values import Block, Function, Op, Value, indices_of, walk
from workbench.limits import BORDER_WIDTH, INTERIOR_OPERATIONS
from workbench.passes.analysis.intervals import LEAST, MOST, Bounds, Prologue
from workbench.passes.loops.dimensions import delinearised
from workbench.types import Type, int32, int64, uint32, uint64
from workbench.types import bool as bool_

BOUNDED = {
    "min": ("le",), "max": ("ge",), "clamp": ("ge", "le"), "mod": ("ge", "lt"), "bit_and": ("ge", "le"),
    "wrap_index": ("ge",),
}  # fmt: skip
"""By operation that clamps or wraps an index, the comparisons with its bounds by which it leaves the index as it is.

The lower bound 0 of `mod`, `bit_and` and `wrap_index` is not among their operands.
"""
_THROUGH = {*BOUNDED, "add", "sub", "cast", "where"}
_AGAIN = frozenset(
    {"const", "launch_dim", "shape", "row_first", "cast", "add", "sub", "mul", "neg", "min", "max", "wrap_index"}
    | {"floordiv", "mod"}
)
_RANGES: Mapping[Type, tuple[int, int]] = {
    int32: (LEAST, MOST),
    uint32: (0, 2**32 - 1),
    int64: (-(2**62), 2**62),
    uint64: (0, 2**62),
}
"""By type of an index, the least and the greatest number that it is taken to be: of 64 bits, sums of few are within."""
_TERMS: Mapping[Type, tuple[int, int]] = {int64: (-(2**47), 2**47), uint64: (0, 2**47)}
"""By type of 64 bits, the least and the greatest number that bounds are computed from: the size of an axis is one."""


class Peeled(msgspec.Struct, frozen=True):
    """A body that was written twice: for threads inside and at the border.

    Attributes:
        once: operations computed before all rows; the last one says how many threads a row has, if the launch does not.
        before: operations computed before a row.
        first, last: the first and the last thread inside, among those of a row, as int64.
        inside, border: what threads inside, and all others, do.
        few: few threads of a row are at the border.
    """

    once: tuple[Op, ...]
    before: tuple[Op, ...]
    first: Value
    last: Value
    inside: Block
    border: Block
    few: bool


def peeled_parts(function: Function) -> Peeled | None:
    """Return the parts of a function that `peel_boundaries` has split; None if it is no such function."""
    *before, end = function.body.ops or (Op("yield"),)
    if not end.attrs.get(INTERIOR):
        return None
    # What `body` wrote below, in that order.
    *before, thread, wide, at_least, at_most, _ = before
    assert (thread.name, wide.name, at_least.name, at_most.name) == ("tid", "cast", "ge", "le")
    once = computed_once(function)
    row = tuple(before[len(once) :])
    inside, border = end.blocks
    return Peeled(once, row, at_least.operands[1], at_most.operands[1], inside, border, bool(end.attrs.get(COLD)))


def computed_once(function: Function) -> tuple[Op, ...]:
    """Return the operations that compute before all rows how long they are; none if the launch says that."""
    ops = function.body.ops
    return ops[: 1 + next((n for n, op in enumerate(ops) if op.name == "row_length"), -1)]


def peel_boundaries(function: Function) -> Function:
    """Return the function with its body twice, for threads inside and at a border.

    It is the function itself if it has no border, or if splitting does not pay.
    """
    operations = list(walk(function.body))
    # Kernels of tiles run per block, and one that asks for no index has no neighbours.
    if function.block_dim or not function.launch_ndim or len(operations) > INTERIOR_OPERATIONS:
        return function
    once = computed_once(function)
    if once:
        rest = peel_boundaries(replace_body(function, Block((), function.body.ops[len(once) :])))
        return replace_body(rest, Block((), _joined(once, rest)))
    flat = delinearised(function)
    if flat is not None:
        inside = _Peeler(flat.rows, flat.divisors)
        inside.rows += [flat.holds] if flat.holds else []
        return replace(flat.rows, body=Block((), (*flat.before, *inside.body(flat.plain).ops)))
    if function.body.op_names.isdisjoint((*BOUNDED, "if")):
        return function
    inside = _Peeler(function)
    return replace_body(function, inside.body(function.body)) if inside.pays() else function


def _joined(once: tuple[Op, ...], function: Function) -> tuple[Op, ...]:
    """Return a function's operations behind those that compute once how many threads there are.

    If it has rows of its own, it divides these threads.
    """
    ops, rows = function.body.ops, computed_once(function)
    if not rows:
        return *once, *ops
    *before, last = once
    threads = {op.result: last.operands[0] for op in rows if op.name == "launch_dim"}
    own = [op.replace(tuple(threads.get(v, v) for v in op.operands)) for op in rows if op.name != "launch_dim"]
    length = own[-1].replace((*own[-1].operands, *last.operands[1:]))
    return *before, *own[:-1], length, *ops[len(rows) :]


Offset = tuple[bool, Bounds]
"""True and bounds of a number, for a value that is the thread's last index plus that number; False and its own bounds.

The bounds are the same for all threads of a row.
"""


class _Compared(NamedTuple):
    """A comparison of an index with a number that all threads of a row share, as it holds in threads off the border.

    Attributes:
        name: "lt", "ge", ….
        own: what `_Peeler.offset` says of the index.
        type: of the index.
        limit: what it is compared with.
    """

    name: str
    own: Offset
    type: Type
    limit: Value


class _CommonCase(NamedTuple):
    """The value that a condition has in all threads but those at a border.

    Attributes:
        holds: the value.
        compared: the comparisons from which it follows.
    """

    holds: bool
    compared: tuple[_Compared, ...]


class _Peeler(Prologue):
    """Finds the threads of a row in which no index is clamped or wrapped; writes them a body of their own.

    In these threads the branches of `if`s at a border are known, too.

    Attributes:
        plain: by clamped or wrapped index, its value in these threads.
        sums: by such an index, operations that compute that value, if the body has none.
        taken: by result of an `if` at a border, what these threads have of it.
        narrowed: unsigned indices, as in these threads, that are computed as int32.
        sides: the branch that each `if` at a border takes in them, by its first block.
        first, last: lower and upper limits of the index of threads inside.
        rows: conditions for a row to have such threads.
        divisors: numbers that are above 0 where a row has such threads.
        asked: how many comparisons the branches follow from.
        few: few threads of a row are at a border.
    """

    def __init__(self, function: Function, divisors: Iterable[Value] = ()) -> None:
        super().__init__(function, range(function.launch_ndim - 1), _AGAIN)
        self.function, self.defs = function, self.analysis.defs
        self.plain: dict[Value, Value] = {}
        self.sums: dict[Value, tuple[Op, ...]] = {}
        self.taken: dict[Value, Value] = {}
        self.narrowed = set[Value]()
        self.sides: dict[Block, int] = {}
        self.first: list[Value] = []
        self.last: list[Value] = []
        self.rows: list[Value] = []
        self.divisors = set(divisors)
        self.asked = 0
        self.few = True
        self.of_row = set[Value]()
        for op in walk(function.body):
            if op.name in ("tid", "row_first") or (op.name != "shape" and not self.of_row.isdisjoint(op.operands)):
                self.of_row.update(op.results)

        every, last = self.indices(0), self.indices(-1)
        for op in self.inside(function.body):
            if op.name in BOUNDED and op.result in last and op.result.type in _RANGES:
                self.bound(op)
            elif op.name == "where" and op.result in every:
                common_case = self.common_case(op.operands[0])
                if common_case is not None:
                    self.plain[op.result] = op.operands[1 if common_case.holds else 2]
                    self.require_all(common_case)
            elif op.name in ELEMENTS:
                self.narrow(indices_of(op)[-1])

    def pays(self) -> bool:
        """Return whether threads inside do less: they clamp or wrap no index, or decide more than one comparison."""
        return self.asked > 1 or bool(self.plain)

    def indices(self, first: int) -> set[Value]:
        """Return the values from which the indices of accesses are computed, from their `first` on."""
        waiting = [v for op in walk(self.function.body) if op.name in ELEMENTS for v in indices_of(op)[first:]]
        collected = set[Value]()
        while waiting:
            value = waiting.pop()
            op = self.defs.get(value)
            if value not in collected and op is not None and op.name in _THROUGH:
                collected.add(value)
                waiting += op.operands
        return collected

    def inside(self, block: Block) -> Iterator[Op]:
        """Yield the operations that may run in threads off the border, in order; record which branches these take."""
        for op in block.ops:
            common_case = self.common_case(op.operands[0]) if op.name == "if" else None
            if common_case is not None:
                side = self.sides[op.blocks[0]] = 0 if common_case.holds else 1
                self.require_all(common_case)
                yield from self.inside(op.blocks[side])
                self.taken.update(zip(op.results, op.blocks[side].yielded, strict=True))
                continue
            yield op
            for inner in op.blocks:
                yield from self.inside(inner)

    def common_case(self, condition: Value) -> _CommonCase | None:
        """Return the value that a condition has in all but a few threads at a border.

        None if it is no condition on a border.
        """
        op = self.defs.get(condition)
        if op is None:
            return None
        if op.name == "not_":
            inner = self.common_case(op.operands[0])
            return inner and _CommonCase(not inner.holds, inner.compared)
        if op.name in MIRRORED and op.operands[0].type != bool_:
            one, other = op.operands
            return self.compared(op.name, one, other) or self.compared(MIRRORED[op.name], other, one)
        if op.name not in ("and_", "or_", "eq", "ne"):
            return None
        # One part that decides is enough: where an `and` fails, an `or` holds.
        parts = [self.common_case(v) for v in op.operands]
        decides = op.name == "or_"
        known = [p for p in parts if p is not None]
        if op.name in MIRRORED:
            if len(known) < len(parts):
                return None
            one, other = known
            holds = (one.holds is other.holds) is (op.name == "eq")
            return _CommonCase(holds, one.compared + other.compared)
        alone = next((p for p in known if p.holds is decides), None)
        if alone is not None or len(known) < len(parts):
            return alone
        return _CommonCase(not decides, tuple(c for p in known for c in p.compared))

    def compared(self, name: str, index: Value, bound: Value) -> _CommonCase | None:
        """Return the usual value of a comparison of an index with a number that is the same for all threads of a row.

        None if it is no such comparison, or may come out either way in many threads.
        """
        if index in self.divisors and name == "lt" and self.literal(bound) == 0:
            return _CommonCase(False, ())
        limit, own = self.wide(bound), self.offset(index)
        if limit is None or own is None or index.type not in _RANGES:
            return None
        moves, ends = own
        if not moves and (index not in self.of_row or bound in self.of_row):
            return None
        low = self.is_low(bound)
        holds = name == "ne" if name in ("eq", "ne") else (name in ("gt", "ge")) == low
        name = name if holds else OPPOSITE[name]
        if name == "ne" and moves:
            name = "gt" if low else "lt"
        if name == "ne" and ends[0] is not ends[1]:
            return None
        return _CommonCase(holds, (_Compared(name, own, index.type, limit),))

    def require_all(self, common_case: _CommonCase) -> None:
        """Record the comparisons from which it follows that a condition has its usual value."""
        self.asked += len(common_case.compared)
        for compared in common_case.compared:
            self.require(compared)

    def require(self, compared: _Compared) -> None:
        """Record that a comparison has to hold in every iteration of loops for a thread to be off the border.

        If its index is the same in all threads of a row, it has to hold for rows that have such threads.
        """
        name, own, type, limit = compared
        moves, ends = own
        near = ends[0] if name in ("gt", "ge") else ends[1]
        if moves:
            last = self.emit("sub", limit, near)
            beyond = last if name in ("ge", "le") else self.emit("add" if name == "gt" else "sub", last, self.number(1))
            (self.first if name in ("gt", "ge") else self.last).append(beyond)
        else:
            self.rows.append(self.emit(name, near, limit, type=bool_))
        self.fit(own, type)

    def fit(self, own: Offset, type: Type) -> None:
        """Record that, in threads off the border, a number that `offset` knows must not wrap in this type.

        If it did, it would be on the other side of a limit.
        """
        (moves, ends), (least, most) = own, map(self.number, _RANGES[type])
        if moves:
            self.first.append(self.emit("sub", least, ends[0]))
            self.last.append(self.emit("sub", most, ends[1]))
        elif ends[0] is not ends[1]:
            self.rows.append(self.emit("ge", ends[0], least, type=bool_))
            self.rows.append(self.emit("le", ends[1], most, type=bool_))

    def wide(self, value: Value) -> Value | None:
        """Return an integer of at least 32 bits as int64, computed here; None if it cannot be.

        If it has 64 bits, it has to be small.
        """
        wide, literal = self.widened(value) if value.type in _RANGES else None, self.literal(value)
        least, most = _TERMS.get(value.type, (LEAST, MOST))
        if wide is None or literal is not None:
            return wide if literal is None or value.type not in _TERMS or least <= literal <= most else None
        if value.type in _TERMS:
            self.rows.append(self.emit("ge", wide, self.number(least), type=bool_))
            self.rows.append(self.emit("le", wide, self.number(most), type=bool_))
        return wide

    def bound(self, op: Op) -> None:
        """Record the threads in which a clamped index is the operand that it is computed from, if they can be known."""
        index, *limits = op.operands
        own = self.offset(index)
        if op.name in ("min", "max", "bit_and") and (own is None or not own[0]):
            index, limits = limits[0], [index]
            own = self.offset(index)
        if own is None or not own[0]:
            return
        # `j % n` is written where a row has more than n threads, `(j + k) % n` where k goes up to n: most may be at its
        # border.
        remainder = op.name in ("mod", "bit_and")
        few = not remainder or (any(end is not self.number(0) for end in own[1]) and self.counts_little(index))
        if op.name == "mod":  # `(j - 1 + n) % n` is `j - 1` inside
            index = self.without(op, index, limits[0])
        bounds: Sequence[Value | None] = {"wrap_index": (None,)}.get(op.name, (None, *limits) if remainder else limits)
        compared, inside = list[_Compared](), self.offset(index) or own
        for name, limit in zip(BOUNDED[op.name], bounds, strict=True):
            wide = self.number(0) if limit is None else self.wide(limit)
            # By a small number an index wraps often: threads inside would be few, and apart.
            if wide is None or (limit is not None and not (self.is_low if name == "ge" else self.is_high)(limit)):
                return
            compared.append(_Compared(name, inside, op.result.type, wide))
        if op.name == "bit_and":
            following = self.emit("add", compared[1].limit, self.number(1))
            is_power = self.emit("bit_and", compared[1].limit, following)
            self.rows.append(self.emit("eq", is_power, self.number(0), type=bool_))
            few = few and self.literal(limits[0]) is not None
        for one in compared:
            self.require(one)
        self.fit(own, op.result.type)
        self.few = self.few and few
        self.divisors.update(limits if op.name == "mod" else ())
        self.plain[op.result] = index

    def counts_little(self, index: Value) -> bool:
        """Return whether a sum has no counter of a loop whose ends are unknown."""
        loop, op = self.analysis.counters.get(index), self.defs.get(index)
        if loop is not None:
            return all(self.literal(end) is not None for end in loop.operands[:2])
        return op is None or op.name not in _THROUGH or all(map(self.counts_little, op.operands))

    def without(self, op: Op, index: Value, size: Value) -> Value:
        """Return the index without the size that is added to it; the index itself if none is.

        Sums of integers wrap, so their order is free.
        """
        terms, wide = self.terms(index), self.wide(size)
        rest = [(name, v) for name, v in terms if name == "sub" or self.wide(v) is not wide]
        if wide is None or len(rest) != len(terms) - 1:
            return index
        rest.sort(key=lambda term: term[0])
        total, ops = rest[0][1], list[Op]()
        for name, value in rest[1:]:
            ops.append(Op(name, (total, value), (Value(index.type),), {}, (), op.location))
            total = ops[-1].result
        self.defs |= {o.result: o for o in ops}
        self.sums[op.result] = tuple(ops)
        return total

    def terms(self, value: Value, name: str = "add") -> list[tuple[str, Value]]:
        """Return the terms of a sum, each with "add" or "sub" for its sign; `name` is the sign of the sum."""
        op = self.defs.get(value)
        if op is None or op.name not in ("add", "sub"):
            return [(name, value)]
        other = "sub" if (op.name == "sub") == (name == "add") else "add"
        return [*self.terms(op.operands[0], name), *self.terms(op.operands[1], other)]

    def is_low(self, value: Value) -> bool:
        """Return whether a value is a literal of at most BORDER_WIDTH."""
        number = self.literal(value)
        return number is not None and number <= BORDER_WIDTH

    def is_high(self, value: Value) -> bool:
        """Return whether a value is a literal of at least BORDER_WIDTH, or no literal."""
        number = self.literal(value)
        return number is None or number >= BORDER_WIDTH

    def narrow(self, index: Value) -> None:
        """Record that an unsigned index is to be computed as int32 inside, if it moves along the row."""
        own = self.offset(index) if index.type in (uint32, uint64) else None
        if own is not None and own[0]:
            self.fit(own, index.type)
            self.fit(own, int32)
            self.narrowed.add(self.of_inside(index))

    def of_inside(self, value: Value) -> Value:
        """Return the value that threads inside have in place of this one."""
        while (other := self.plain.get(value) or self.taken.get(value)) is not None:
            value = other
        return value

    def as_int32(self, on: Rewriter, value: Value, ops: list[Op]) -> Value:
        """Return a sum of integers as int32; `ops` receives the operations that compute it, as `on` rewrites them."""
        op = self.defs.get(value)
        value = on.mapping.get(value, value)
        if value.type == int32:
            return value
        if op is not None and op.name == "cast" and op.operands[0].type in _RANGES:
            return self.as_int32(on, op.operands[0], ops)
        name, operands = "cast", (value,)
        if op is not None and op.name in ("add", "sub"):
            name, operands = op.name, tuple([self.as_int32(on, v, ops) for v in op.operands])
        ops.append(Op(name, operands, (Value(int32),)))
        return ops[-1].result

    def offset(self, value: Value) -> Offset | None:
        """Return whether a value moves along the row, and by what; None if no bounds are known."""
        value = self.of_inside(value)
        op, exact = self.defs.get(value), self.wide(value)
        if exact is not None:
            return False, (exact, exact)
        if op is None:
            bounds = self.counted(value, lambda end: (v := self.wide(end)) and (v, v))
            return bounds and (False, bounds)
        if op.name == "tid" and op.attrs[AXIS] == self.function.launch_ndim - 1:
            return True, (self.number(0), self.number(0))
        if op.name == "cast" and value.type in _RANGES and op.operands[0].type in _RANGES:
            own = self.offset(op.operands[0])
            # Numbers of 32 bits agree modulo 2³² with what they are in any other type, but a wider one with one alone.
            if own is not None and value.type in (int64, uint64):
                self.fit(own, op.operands[0].type)
            return own
        if op.name not in ("add", "sub") or value.type not in _RANGES:
            return None
        one, other = (self.offset(v) for v in op.operands)
        if one is None or other is None or (other[0] and (one[0] or op.name == "sub")):
            return None
        return one[0] or other[0], self.together(op.name, one[1], other[1])

    def body(self, border: Block) -> Block:
        """Return the body twice, in an `if` with `INTERIOR`; `border` is what threads do that are not inside."""
        b = self.builder
        first = self.fold("max", self.first or [self.number(0)])
        last = self.fold("min", self.last or [self.number(MOST)])
        for row in dict.fromkeys(self.rows):
            first = self.emit("where", row, first, self.number(MOST))
        thread = b.cast(b.one("tid", (), int32, {AXIS: self.function.launch_ndim - 1}), int64)
        inside = b.one("and_", (b.one("ge", (thread, first), bool_), b.one("le", (thread, last), bool_)), bool_)

        def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
            if op.name == "if" and op.blocks[0] in self.sides:
                side = on.block(op.blocks[self.sides[op.blocks[0]]])
                on.mapping.update(zip(op.results, side.yielded, strict=True))
                return side.ops[:-1]
            if op.name in ELEMENTS and (index := indices_of(op)[-1]) in self.narrowed:
                ops, last = list[Op](), len(indices_of(op))
                own = self.as_int32(on, index, ops)
                return (*ops, op.replace((*op.operands[:last], own, *op.operands[last + 1 :])))
            if not op.results or op.results[0] not in self.plain:
                return None
            sums = self.sums.get(op.results[0], ())
            plain = self.plain[op.results[0]]
            on.mapping[op.results[0]] = on.mapping.get(plain, plain)
            return tuple(o.replace(tuple(on.mapping.get(v, v) for v in o.operands)) for o in sums)

        end = Op("yield")
        quick = Rewriter(change).block(self.function.body)
        careful = copy_block(border, {})
        blocks = Block((), (*quick.ops, end)), Block((), (*careful.ops, end))
        # A backend without the loops of its own still runs it as an ordinary `if`.
        b.append(Op("if", (inside,), (), attributes({INTERIOR: True, COLD: self.few}), blocks))
        return b.body()
