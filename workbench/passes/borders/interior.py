"""Borders apart from what is inside: `x[i, max(j - 1, 0)]` is `x[i, j - 1]` in every thread but the first of a row.

An index that is clamped, taken modulo or counted from the end hides that neighbouring threads read neighbours. Where it
is the last index of an access, and the thread's last index plus something that is bounded alike in all threads of a
row, the threads in which nothing is clamped lie side by side: from `first` to `last`, computed before the row.
Conditions on these threads (`if 0 < j < m - 1`) are decided inside in the same way: the side that all but a few threads
take stands alone there. What is asked of a row (`i > 0`) says whether it has threads inside at all.
The body is written twice, in an `if` whose condition says whether a thread is one of them (`INTERIOR`); a backend that
loops over threads makes loops of it.

Within 32 bits sums mean what they say: the bounds ask for that too, so a sum on the way may wrap.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from workbench.ir.analysis import MIRRORED, OPPOSITE
from workbench.ir.attributes import AXIS, CAPTURED, INTERIOR, Number
from workbench.ir.ops import ELEMENTS
from workbench.ir.rewrite import Rewriter, copy_block, replace_body
from workbench.ir.values import Block, Function, Op, Value, array_of, number_of, walk
from workbench.limits import BORDER_WIDTH, INTERIOR_OPERATIONS
from workbench.passes.analysis.prologue import Bounds, Prologue
from workbench.passes.borders.flattened import flattened
from workbench.passes.borders.inside import Usual
from workbench.passes.loops.divisors import size_last
from workbench.types import bool as bool_
from workbench.types import int32, int64

BOUNDED = frozenset({"min", "max", "clamp", "mod", "wrap_index"})
_THROUGH = BOUNDED | {"add", "sub", "cast"}
_AGAIN = frozenset(
    {"const", "launch_dim", "shape", "row_first", "cast", "add", "sub", "mul", "neg", "min", "max", "wrap_index"}
    | {"floordiv", "mod"}
)
_LEAST, _MOST = -(2**31), 2**31 - 1


def split_border(function: Function) -> Function:
    """Return the function with its body twice, for threads inside and at a border; itself if there are no borders."""
    original, function = function, size_last(function)
    operations = list(walk(function.body))
    # Kernels of tiles run per block, and one that asks for no index has no neighbours.
    if function.block_dim or not function.launch_ndim or len(operations) > INTERIOR_OPERATIONS:
        return original
    flat = flattened(function)
    if flat is not None:
        interior = _Interior(flat.rows)
        interior.found()
        interior.rows += [flat.holds] if flat.holds else []
        body = interior.body(flat.plain)
        return replace(flat.rows, body=Block((), (*flat.before, *body.ops)))
    if not any(op.name in BOUNDED or op.name == "if" for op in operations):
        return original
    interior = _Interior(function)
    return replace_body(function, interior.body(function.body)) if interior.found() else original


class _Interior(Prologue):
    """The threads of a row in which no index is clamped.

    Attributes:
        plain: what each clamped index is in these threads.
        sides: the side that each `if` at a border takes in them, by its first block.
        rows: what must hold for a row to have such threads.
        asked: how many comparisons the sides follow from.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        super().__init__(function, range(function.launch_ndim - 1), _AGAIN)
        self.defs = self.analysis.defs
        self.plain: dict[Value, Value] = {}
        self.sides: dict[Block, int] = {}
        self.rows: list[Value] = []
        self.asked = 0
        self.first: list[Value] = []
        self.last: list[Value] = []

    def found(self) -> bool:
        """Return whether there is a border that LLVM would not find itself, as it does in an `if` that asks for it."""
        indices = self.indices()
        for op in self.inside(self.function.body):
            if op.name in BOUNDED and op.result in indices and op.result.type == int32:
                self.bound(op)
        # Under an `if` that tests the border LLVM finds the bounds itself.
        outside = {v for op in _unconditional(self.function.body) for v in op.results}
        # A kernel that asks one thing of its threads (whether they are any of its own, say) is left to LLVM.
        return self.asked > 1 or not outside.isdisjoint(self.plain)

    def inside(self, block: Block) -> Iterator[Op]:
        """Yield the operations that may run in threads inside, in order; notes the side that a branch takes in them."""
        for op in block.ops:
            usual = self.usual(op.operands[0]) if op.name == "if" else None
            if usual is not None:
                side = self.sides[op.blocks[0]] = 0 if usual.holds else 1
                self.asked += usual.asked
                self.first += usual.first
                self.last += usual.last
                self.rows += usual.rows
                yield from self.inside(op.blocks[side])
                continue
            yield op
            for inner in op.blocks:
                yield from self.inside(inner)

    def usual(self, condition: Value) -> Usual | None:
        """Return whether the condition holds in all but a few threads at a border; None if it is another one."""
        op = self.defs.get(condition)
        if op is None:
            return None
        if op.name == "not_":
            inner = self.usual(op.operands[0])
            return None if inner is None else replace(inner, holds=not inner.holds)
        if op.name in ("and_", "or_"):
            # One part that decides is enough: where an `and` fails, an `or` holds.
            parts = [self.usual(v) for v in op.operands]
            decides = op.name == "or_"
            known = [p for p in parts if p is not None]
            alone = next((p for p in known if p.holds is decides), None)
            if alone is not None or len(known) < len(parts):
                return alone
            return Usual(
                not decides,
                tuple(v for p in known for v in p.first),
                tuple(v for p in known for v in p.last),
                tuple(v for p in known for v in p.rows),
                sum(p.asked for p in known),
            )
        return self.compared(op.name, *op.operands) if op.name in MIRRORED else None

    def compared(self, name: str, one: Value, other: Value) -> Usual | None:
        """Return a comparison of an index with a number that is the same for all threads of a row."""
        for asks, index, bound in ((name, one, other), (MIRRORED[name], other, one)):
            limit = self.wide(bound)
            if limit is None or index.type != int32:
                continue
            number = self.literal(bound)
            low = number is not None and number <= BORDER_WIDTH
            holds = asks == "ne" if asks in ("eq", "ne") else (asks in ("gt", "ge")) == low
            offset = self.offset(index)
            if offset is not None:
                return self.limited(asks, holds, low, offset, limit)
            ends = self.uniform(index) if self.is_row(index) and not self.is_row(bound) else None
            if ends is not None and (ends[0] is ends[1] or asks not in ("eq", "ne")):
                return Usual(holds, (), (), self.of_row(asks if holds else OPPOSITE[asks], ends, limit))
        return None

    def of_row(self, name: str, ends: Bounds, limit: Value) -> tuple[Value, ...]:
        """Return whether the comparison holds for a number of the row, whatever loops have counted."""
        condition = self.emit(name, ends[0] if name in ("gt", "ge") else ends[1], limit, type=bool_)
        if ends[0] is ends[1]:
            return (condition,)
        low, high = self.number(_LEAST), self.number(_MOST)
        return condition, self.emit("ge", ends[0], low, type=bool_), self.emit("le", ends[1], high, type=bool_)

    def limited(self, name: str, holds: bool, low: bool, offset: Bounds, limit: Value) -> Usual:
        """Return the threads of a row in which the comparison holds, or does not."""
        near, far = self.emit("sub", limit, offset[0]), self.emit("sub", limit, offset[1])
        one = self.number(1)
        # A sum that wraps at either end would be on the other side of the limit.
        first = (self.emit("sub", self.number(_LEAST), offset[0]),)
        last = (self.emit("sub", self.number(_MOST), offset[1]),)
        if low:  # from a thread on: those for which `index > limit`, or `index >= limit`
            first = (near if name in ("ge", "lt") else self.emit("add", near, one), *first)
        else:
            last = (far if name in ("le", "gt") else self.emit("sub", far, one), *last)
        return Usual(holds, first, last, ())

    def is_row(self, value: Value) -> bool:
        """Return whether the number differs between rows: it comes of an outer index of the thread."""
        op = self.defs.get(value)
        return op is not None and (
            op.name in ("tid", "row_first") or (op.name != "shape" and any(map(self.is_row, op.operands)))
        )

    def body(self, border: Block) -> Block:
        """Return the body twice; `border` is what threads do that are not inside."""
        b = self.builder
        first, last = (
            self.fold("max", self.first or [self.number(0)]),
            self.fold("min", self.last or [self.number(_MOST)]),
        )
        for row in dict.fromkeys(self.rows):
            first = self.emit("where", row, first, self.number(_MOST))
        thread = b.cast(b.one("tid", (), int32, {AXIS: self.function.launch_ndim - 1}), int64)
        inside = b.one("and_", (b.one("ge", (thread, first), bool_), b.one("le", (thread, last), bool_)), bool_)

        def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
            if op.name == "if" and op.blocks[0] in self.sides:
                side = on.block(op.blocks[self.sides[op.blocks[0]]])
                on.mapping.update(zip(op.results, side.yielded, strict=True))
                return side.ops[:-1]
            if not op.results or op.results[0] not in self.plain:
                return None
            plain = self.plain[op.results[0]]
            on.mapping[op.results[0]] = on.mapping.get(plain, plain)
            return ()

        end = Op("yield")
        quick = Rewriter(change).block(self.function.body)
        careful = copy_block(border, {})
        blocks = Block((), (*quick.ops, end)), Block((), (*careful.ops, end))
        # A backend without the loops of its own still runs it as an ordinary `if`.
        b.append(Op("if", (inside,), (), INTERIOR.of(True), blocks))
        return b.body()

    def indices(self) -> set[Value]:
        """Return the values that the last index of an access is computed from."""
        waiting = [op.operands[array_of(op.operands[0]).ndim] for op in walk(self.function.body) if op.name in ELEMENTS]
        collected = set[Value]()
        while waiting:
            value = waiting.pop()
            op = self.defs.get(value)
            if value not in collected and op is not None and op.name in _THROUGH:
                collected.add(value)
                waiting += op.operands
        return collected

    def bound(self, op: Op) -> None:
        """Note where this index is what it is made from, if that is known."""
        index, low, high = self.parts(op)
        bounds = self.offset(index) if index is not None else None
        if bounds is None or index is None:
            return
        # `(j - 1 + n) % n` is `j - 1` inside. Where the sum wraps it is something else: so the bounds of both count.
        index = self.without(index, high) if op.name == "mod" else index
        offset = self.offset(index)
        assert offset is not None, "what is left of an offset is one"
        limits = [self.wide(low), self.wide(high)]
        if (low is not None and limits[0] is None) or (high is not None and limits[1] is None):
            return
        if op.name in ("mod", "wrap_index"):
            limits[0] = self.number(0)
        if op.name == "mod" and limits[1] is not None:
            limits[1] = self.emit("sub", limits[1], self.number(1))
        # All in int64: a bound minus an offset may leave int32, where a wrapped bound would admit threads.
        extremes = self.number(_LEAST), self.number(_MOST)
        for low_end, high_end, at in ((limits[0], limits[1], offset), (*extremes, bounds)):
            self.first += [self.emit("sub", low_end, at[0])] if low_end is not None else []
            self.last += [self.emit("sub", high_end, at[1])] if high_end is not None else []
        self.plain[op.result] = index

    def without(self, index: Value, size: Value | None) -> Value:
        """Return the index without the size that is added to it."""
        op = self.defs.get(index)
        if op is None or op.name != "add" or size is None:
            return index
        for base, added in (op.operands, op.operands[::-1]):
            if self.wide(added) is self.wide(size) and self.offset(base) is not None:
                return base
        return index

    def parts(self, op: Op) -> tuple[Value | None, Value | None, Value | None]:
        """Return the value that is bounded, its lower and its upper bound."""
        one, *others = op.operands
        if op.name == "clamp":
            fits = self.is_low(others[0]) and self.is_high(others[1])
            return (one, others[0], others[1]) if fits else (None, None, None)
        if op.name == "wrap_index":
            return one, None, None
        if op.name == "mod":
            # `mod` by a small number wraps often: threads inside would be few, and apart.
            return (one, None, others[0]) if self.is_high(others[0]) else (None, None, None)
        for index, limit in ((one, others[0]), (others[0], one)):
            if self.offset(index) is not None:
                if op.name == "max" and self.is_low(limit):
                    return index, limit, None
                if op.name == "min" and self.is_high(limit):
                    return index, None, limit
        return None, None, None

    def literal(self, value: Value) -> Number | None:
        op = self.defs.get(value)
        return number_of(op) if op is not None and op.name == "const" and not op.attrs.get(CAPTURED) else None

    def is_low(self, value: Value) -> bool:
        number = self.literal(value)
        return number is not None and number <= BORDER_WIDTH

    def is_high(self, value: Value) -> bool:
        number = self.literal(value)
        return number is None or number >= BORDER_WIDTH

    def offset(self, value: Value) -> Bounds | None:
        """Return by how much the value exceeds the thread's last index, at least and at most; None if it is something
        else."""
        if value in self.plain:
            return self.offset(self.plain[value])
        op = self.defs.get(value)
        if op is None or value.type != int32:
            return None
        if op.name == "tid":
            zero = self.number(0)
            return (zero, zero) if op.attrs[AXIS] == self.function.launch_ndim - 1 else None
        if op.name not in ("add", "sub"):
            return None
        one, other = op.operands
        near, further = self.offset(one), other
        if near is None and op.name == "add":
            near, further = self.offset(other), one
        return self.together(op.name, near, self.uniform(further)) if near is not None else None

    def uniform(self, value: Value) -> Bounds | None:
        """Bounds of a value that are the same for all threads of a row."""
        exact = self.wide(value)
        if exact is not None:
            return exact, exact
        if value in self.analysis.counters:
            start, stop, step = self.analysis.counters[value].operands[:3]
            ends, by = (self.wide(start), self.wide(stop)), self.literal(step)
            if by is None or by == 0 or ends[0] is None or ends[1] is None:
                return None
            one = self.number(1)
            if by > 0:
                return ends[0], self.emit("sub", ends[1], one)
            return self.emit("add", ends[1], one), ends[0]
        op = self.defs.get(value)
        if op is None or op.name not in ("add", "sub") or value.type != int32:
            return None
        one, other = (self.uniform(v) for v in op.operands)
        return self.together(op.name, one, other)


def _unconditional(block: Block) -> Iterator[Op]:
    """Yield the operations that no `if` is around."""
    for op in block.ops:
        yield op
        if op.name != "if":
            for inner in op.blocks:
                yield from _unconditional(inner)
