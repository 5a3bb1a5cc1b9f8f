"""Iterations of a loop as its reverse sees them: the carried values in each, and the order in which they run.

A carried value that can be computed from the iteration's number is never kept: one that stays, an integer that grows by
a constant, or one that is known from its last change (`analysis/carried`). What else the adjoint needs is kept by
`states`.

Carried integers that each turn adds to are carried backwards too, and what a turn added is taken away (`counters`).
Integers wrap around, so nothing is lost by that (unlike floats, which are never subtracted back). What a turn adds may
depend on anything but the integer itself: `if x[j] > 0.0: c += 1`.

Reversed turns that commute run in the order of the program (`only_adds`). Where they do nothing but add, to what the
loop carries and to elements, any order gives the same sums, up to rounding. Backends are quicker at loops that go up:
so do LLVM and the memory of a machine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from workbench.autodiff.reverse.recompute import Missing, recompute, unavailable
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.builtins import Ref
from workbench.builtins.scalars import operators, rounding
from workbench.ir.ops import ACCESSES, EFFECTS, OPAQUE, SLOT_WRITES, TILED
from workbench.ir.values import Block, Op, Value, definitions, indices_of, walk
from workbench.types import element, int64, is_integer, uint64


class Loop(msgspec.Struct, frozen=True):
    """A `for` or `while` of the kernel (`op`), with the parts that both have."""

    op: Op

    @property
    def body(self) -> Block:
        """The block that each iteration runs."""
        return self.op.blocks[-1]

    @property
    def index(self) -> Value | None:
        """The index of a `for`; None for a `while`."""
        return self.body.params[0] if self.op.name == "for" else None

    @property
    def carried(self) -> tuple[Value, ...]:
        """The body's parameters that hold the carried values."""
        return self.body.params[len(self.body.params) - len(self.op.results) :]

    @property
    def init(self) -> tuple[Value, ...]:
        """The carried values of the first iteration."""
        return self.op.operands[len(self.op.operands) - len(self.op.results) :]

    def growth(self, sweep: ReverseSweep, carry: int) -> Ref | None:
        """Return the integer that each iteration adds to a carried value; None if it is not the same in all of them."""
        param, following = self.carried[carry], self.body.yielded[carry]
        inside = {v: op for op in self.body.ops for v in op.results}
        op = inside.get(following)
        # Only of integers: n additions of a float are not one multiplication, to the last bit.
        if not is_integer(param.type) or op is None or op.name not in ("add", "sub") or param not in op.operands:
            return None
        other = op.operands[1] if op.operands[0] is param else op.operands[0]
        # x + x doubles, and c - x alternates: neither grows by a constant.
        if other is param or (op.name == "sub" and op.operands[0] is not param):
            return None
        if other not in inside and other not in self.body.params:
            amount = sweep.ref(other)
        elif other in inside and inside[other].name == "const":
            # The constant stands inside the body, where the code outside the loop cannot see it: it is written again.
            amount = Ref(sweep.builder, sweep.builder.one("const", (), other.type, inside[other].attrs))
        else:
            return None
        return -amount if op.name == "sub" else amount

    def known(self, sweep: ReverseSweep, carry: int, iteration: Iteration) -> Ref | None:
        """Emit a carried value in an iteration, if that needs no stored state; else return None.

        Args:
            sweep: the sweep.
            carry: the value's number.
            iteration: the iteration.
        """
        param, start = self.carried[carry], sweep.ref(self.init[carry])
        if self.body.yielded[carry] is param:
            return start
        form = sweep.builder.forms(self.op, sweep.env).get(carry)
        if form is not None:
            now, changed = iteration.number(), sweep.builder.ref(sweep.builder.events[self.op][carry][0])
            behind = now > changed
            if self.index is not None:
                behind = operators.where(sweep.ref(self.op.operands[2]) > 0, behind, now < changed)
            return form.at_iteration(start, sweep.ref(self.op.results[carry]), now.equals(changed), behind)
        grown = self.growth(sweep, carry)
        return None if grown is None else start + iteration.done().cast(param.type) * grown

    def stored(self, sweep: ReverseSweep) -> list[int]:
        """Return the numbers of the carried values that must be stored to be known in an iteration."""
        some = PositionIteration(sweep, self, sweep.builder.const(0, int64))
        return [s for s in range(len(self.carried)) if self.known(sweep, s, some) is None]

    def at(self, sweep: ReverseSweep, *positions: Ref) -> Value:
        """Emit the index of a `for` after as many iterations as the sum of `positions`."""
        start, step = sweep.ref(self.op.operands[0]), sweep.ref(self.op.operands[2])
        index = start
        for position in positions:
            distance = position.cast(start.type)
            index = index + (distance if sweep.constant(self.op.operands[2]) == 1 else distance * step)
        return index.value

    def count(self, sweep: ReverseSweep) -> Ref:
        """Emit the number of iterations, as int64."""
        if self.op.name == "while":
            # How often a `while` runs is not known beforehand: the recomputed one has counted.
            return sweep.builder.ref(sweep.builder.counts[self.op])
        start, stop, step = (sweep.ref(v) for v in self.op.operands[:3])
        fixed = sweep.constant(self.op.operands[2])
        # Up to 32 bits are computed with in 64, where nothing overflows; a distance of 64 bits has no sign left.
        wide = int64
        if element(start.type).bits == 64:
            wide = uint64
        else:
            start, stop, step = (v.cast(int64) for v in (start, stop, step))
        if fixed is None:
            up = step > 0
            low, high = operators.where(up, start, stop), operators.where(up, stop, start)
            some, size = operators.and_(low < high, step.differs(step.like(0))), operators.where(up, step, -step)
        else:
            low, high = (start, stop) if fixed > 0 else (stop, start)
            some, size = low < high, step if fixed > 0 else -step
        span = (high - low).cast(wide)
        if fixed not in (1, -1):
            # Rounded up without a sum that could overflow.
            span = rounding.floordiv(span - 1, size.cast(wide)) + 1
        return operators.where(some, span, span.like(0)).cast(int64)


class Iteration:
    """An iteration of a reversed `for` that stores no state; others derive from it.

    Attributes:
        sweep: the sweep that emits it.
        loop: the kernel's loop.
        counter: the index of the `for` in this iteration.
    """

    def __init__(self, sweep: ReverseSweep, loop: Loop, counter: Value) -> None:
        self.sweep, self.loop, self.counter = sweep, loop, counter

    def index(self) -> Value:
        """Return the index of the `for` in this iteration."""
        return self.counter

    def done(self) -> Ref:
        """Emit the number of iterations before this one."""
        start, step = (self.sweep.ref(self.loop.op.operands[k]) for k in (0, 2))
        done = self.sweep.builder.ref(self.index()) - start
        return done if self.sweep.constant(self.loop.op.operands[2]) == 1 else rounding.floordiv(done, step)

    def number(self) -> Ref:
        """Return the number by which events name this iteration: the index of a `for`, else how many came before it."""
        return self.done() if self.loop.index is None else self.sweep.builder.ref(self.index())

    def stored(self, carry: int) -> Value | None:
        """Return a carried value that was stored; None, as here, if it was not."""
        return None

    def enter(self) -> None:
        """Map the body's parameters to their values in this iteration.

        One that is not known becomes `unavailable`, which is an error only if a rule turns out to need it.
        """
        sweep, loop = self.sweep, self.loop
        if loop.index is not None:
            sweep.env[loop.index] = self.index()
        for carry, param in enumerate(loop.carried):
            known = loop.known(sweep, carry, self)
            carried = known.value if known is not None else self.stored(carry)
            if carried is not None:
                sweep.env[param] = carried
                continue
            name = param.name or "A value"
            missing = Missing(
                f"{name} changes in every iteration, and the adjoint needs its value at each",
                "Keep the values in an array.",
                loop=loop.op,
                carry=carry,
            )
            # No error yet: after pruning it may turn out that no rule needs this value.
            unavailable(param, missing, sweep.env, sweep.builder)


class PositionIteration(Iteration):
    """An iteration whose `counter` is how many came before it, counted from the iteration `first` (None: from 0)."""

    first: Ref | None = None

    def index(self) -> Value:
        """Emit the index of the `for` in this iteration."""
        counter = self.sweep.builder.ref(self.counter)
        return self.loop.at(self.sweep, *((counter,) if self.first is None else (self.first, counter)))

    def done(self) -> Ref:
        """Emit the number of iterations before this one."""
        counter = self.sweep.builder.ref(self.counter)
        return counter if self.first is None else self.first + counter.cast(int64)


def following(
    sweep: ReverseSweep, loop: Loop, position: Value, state: Mapping[int, Value], first: Ref | None = None
) -> list[Value]:
    """Emit one iteration without its effects; return the state after it.

    Args:
        sweep: emits it.
        loop: whose body is run.
        position: how many iterations came before, counted from `first`.
        state: the carried values before it, by number.
        first: the number of an iteration; None: 0.
    """
    iteration = _Forward(sweep, loop, position, state)
    iteration.first = first
    iteration.enter()
    recompute(loop.body.ops[:-1], sweep.env, sweep.builder, sweep.memory.overwritten)
    sweep.builder.location = loop.op.location
    return [sweep.env[loop.body.yielded[s]] for s in state]


def while_condition(sweep: ReverseSweep, loop: Loop, position: Value, state: Mapping[int, Value]) -> Value:
    """Emit the condition of a `while` in a state; return it.

    Args:
        sweep: emits it.
        loop: the `while`.
        position: how many iterations came before.
        state: the carried values, by number.
    """
    _Forward(sweep, loop, position, state).enter()
    condition = loop.op.blocks[0]
    sweep.env.update((p, sweep.env[v]) for p, v in zip(condition.params, loop.carried, strict=True))
    recompute(condition.ops[:-1], sweep.env, sweep.builder, sweep.memory.overwritten)
    return sweep.env[condition.yielded[0]]


class _Forward(PositionIteration):
    """An iteration at a position that starts from known values: `state` has one for each carry, by its index."""

    def __init__(self, sweep: ReverseSweep, loop: Loop, position: Value, state: Mapping[int, Value]) -> None:
        super().__init__(sweep, loop, position)
        self.state = state

    def stored(self, carry: int) -> Value | None:
        """Return the value in the state."""
        return self.state[carry]


def counters(sweep: ReverseSweep, loop: Loop, carries: Iterable[int]) -> tuple[int, ...]:
    """Return the carried values in an order in which they can be recovered; empty if one of them is no counter.

    A counter is an integer to which iterations add something that does not depend on itself. Each depends only on those
    that come before it.

    Args:
        sweep: the sweep.
        loop: the loop.
        carries: the numbers of the carried values.
    """
    left = {carry: _needs(sweep, loop, carry) for carry in sorted(carries)}
    order: list[int] = []
    while left:
        others = {loop.carried[carry] for carry in left}
        ready = next((c for c, needs in left.items() if needs is not None and others.isdisjoint(needs)), None)
        if ready is None:
            return ()
        del left[ready]
        order.append(ready)
    return tuple(order)


def _needs(sweep: ReverseSweep, loop: Loop, carry: int) -> set[Value] | None:
    """Return all values that the amount added to a counter in an iteration depends on; None: it is no counter."""
    param, defining = loop.carried[carry], definitions(loop.body)
    pending: list[Value] = []

    def leads(value: Value) -> bool:
        """Return whether a value is the carried integer with additions; note in `pending` what these depend on."""
        op = defining.get(value)
        if value is param or op is None:
            return value is param
        if op.name in ("add", "sub"):
            one, other = op.operands
            if op.name == "add" and other is param:
                one, other = other, one
            pending.append(other)
            return leads(one)
        if op.name not in ("where", "if"):
            return False
        pending.append(op.operands[0])
        return all(map(leads, _sides(op, value)))

    if not is_integer(param.type) or not leads(loop.body.yielded[carry]):
        return None
    needs: set[Value] = set()
    while pending:
        value = pending.pop()
        if value not in needs:
            needs.add(value)
            if value in defining:
                pending += sweep.builder.free(defining[value])
    return needs


def _sides(op: Op, value: Value) -> Sequence[Value]:
    """Return the values of which a `where` or an `if` chooses one as its result `value`."""
    if op.name == "where":
        return op.operands[1:]
    return [block.yielded[op.results.index(value)] for block in op.blocks]


def before(sweep: ReverseSweep, loop: Loop, carry: int, after: Ref) -> Ref:
    """Emit what a counter was before an iteration, from what it is after it."""
    return _before(sweep, loop.body.ops, loop.body.yielded[carry], loop.carried[carry], after)


def _before(sweep: ReverseSweep, ops: Sequence[Op], value: Value, param: Value, after: Ref) -> Ref:
    """Emit what a counter was before an iteration.

    Args:
        sweep: the sweep.
        ops: the operations that define `value`: of the loop's body, and of the branches around.
        value: what the counter has become, or a value on the way to that.
        param: the counter at the beginning of the iteration.
        after: what `value` is, in the adjoint.
    """
    if value is param:
        return after
    op = next((o for o in ops if value in o.results), None)
    assert op is not None
    if op.name in ("add", "sub"):
        one, other = op.operands
        if op.name == "add" and other is param:
            one, other = other, one
        _compute(sweep, ops, other)
        amount = sweep.ref(other)
        return _before(sweep, ops, one, param, after - amount if op.name == "add" else after + amount)
    _compute(sweep, ops, op.operands[0])
    condition = sweep.ref(op.operands[0])
    if op.name == "where":
        yes, no = (_before(sweep, ops, side, param, after) for side in op.operands[1:])
        return operators.where(condition, yes, no)
    blocks: list[Block] = []
    for block, side in zip(op.blocks, _sides(op, value), strict=True):
        with sweep.builder.block() as opened:
            sweep.builder.yield_(_before(sweep, [*ops, *block.ops], side, param, after).value)
        blocks.append(opened.block)
    return sweep.builder.ref(*sweep.builder.if_(condition.value, *blocks))


def _compute(sweep: ReverseSweep, ops: Sequence[Op], value: Value) -> None:
    """Emit a value of the body again, from what is known in the iteration; `sweep.env` then has it."""
    defining = {v: op for op in ops for v in op.results}
    needed: set[Op] = set()
    pending = [value]
    while pending:
        op = defining.get(pending.pop())
        if op is not None and op not in needed:
            needed.add(op)
            pending += sweep.builder.free(op)
    recompute([op for op in ops if op in needed], sweep.env, sweep.builder, sweep.memory.overwritten)


def only_adds(sweep: ReverseSweep, loop: Loop, block: Block) -> bool:
    """Return whether a reversed loop's iterations may run in any order, which changes sums by rounding alone.

    Args:
        sweep: emitted it.
        loop: the kernel's loop.
        block: the reversed body, whose first parameter counts the iterations.
    """
    body = _ReversedBody(sweep, loop, block)
    if any(op.name in OPAQUE or op.name in SLOT_WRITES or op.name in TILED for op in body.ops):
        return False
    carried = zip(block.params[1:], block.yielded, strict=True)
    return all(body.is_sum(p, v) for p, v in carried) and body.touches_disjoint_elements()


class _ReversedBody:
    """The body of a reversed loop, with what the test whether its iterations commute asks of it.

    Attributes:
        sweep: emitted it.
        loop: the kernel's loop.
        block: the body.
        ops: its operations, at any depth.
        defs: the operations of all values of the adjoint.
        inside: the values that the body defines.
        users: how many operands in the body each value is.
    """

    def __init__(self, sweep: ReverseSweep, loop: Loop, block: Block) -> None:
        self.sweep, self.loop, self.block = sweep, loop, block
        self.ops = list(walk(block))
        self.defs = sweep.builder.defs
        self.inside = {v for op in self.ops for v in (*op.results, *(p for b in op.blocks for p in b.params))}
        self.users: dict[Value, int] = defaultdict(int)
        for value in (v for op in self.ops for v in op.operands):
            self.users[value] += 1

    def is_sum(self, param: Value, value: Value) -> bool:
        """Return whether a carried value does not change, or is only added to (a bool: or-ed), or is not read at all.

        Args:
            param: the value at an iteration's beginning.
            value: that at its end.
        """

        def adds(value: Value) -> bool:
            if value is param:
                return self.users[param] == 1
            op = self.defs.get(value) if value in self.inside and self.users[value] == 1 else None
            return op is not None and op.name in ("add", "or_") and any(map(adds, op.operands))

        return value is param or not self.users[param] or adds(value)

    def touches_disjoint_elements(self) -> bool:
        """Return whether no two iterations touch one element, except elements only read or only added to."""
        accesses: dict[Value, list[Op]] = defaultdict(list)
        for op in self.ops:
            if op.name in ACCESSES:
                accesses[op.operands[0]].append(op)
        return all(
            not any(op.name in EFFECTS for op in uses)
            or self.are_additions(uses)
            or (
                not self.sweep.overlapping
                and any(map(self.distinguishes_iterations, zip(*map(indices_of, uses), strict=False)))
            )
            for uses in accesses.values()
        )

    def are_additions(self, uses: Sequence[Op]) -> bool:
        """Return whether elements are only added to, by an atomic operation or a load, a sum and a store."""
        loads = {op for op in uses if op.name == "load"}
        for op in uses:
            if op.name == "store":
                total = self.defs.get(op.operands[-1])
                old = self.defs.get(total.operands[0]) if total is not None and total.name == "add" else None
                if old not in loads or old.operands != op.operands[:-1] or self.users[old.result] != 1:
                    return False
                loads.remove(old)
            elif op.name not in ("load", "atomic_add") or (op.name == "atomic_add" and self.users[op.result]):
                return False
        return not loads

    def distinguishes_iterations(self, indices: tuple[Value, ...]) -> bool:
        """Return whether accesses have the same index here, which differs in each iteration and is never negative.

        Args:
            indices: of all accesses, at one position.
        """
        return len(set(indices)) == 1 and self.moves(indices[0]) and self.is_positive(indices[0])

    def moves(self, value: Value) -> bool:
        """Return whether a value is the iteration's number plus something that is the same in all iterations."""
        op = self.defs.get(value)
        if value is self.block.params[0]:
            return True
        if op is None or value not in self.inside or op.name not in ("add", "cast"):
            return False
        moving = [v for v in op.operands if v in self.inside or v in self.block.params]
        return len(moving) == 1 and self.moves(moving[0])

    def is_positive(self, value: Value) -> bool:
        """Return whether an index is known not to be negative."""
        op = self.defs.get(value)
        if value is self.block.params[0]:
            bounds = self.loop.op.operands
            start, step = (self.sweep.constant(bounds[k]) if self.loop.index is not None else 0 for k in (0, 2))
            return start is not None and start >= 0 and (self.loop.index is None or (step or 0) > 0)
        if op is None:
            return False
        if op.name == "const":
            return (self.sweep.builder.number(value) or 0) >= 0
        return op.name in ("tid", "shape") or (
            op.name in ("add", "mul", "cast") and all(map(self.is_positive, op.operands))
        )
