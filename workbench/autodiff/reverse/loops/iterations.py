"""A loop seen from one of its iterations: which one it is, and what the carried values are in it.

A carried value that can be computed from the iteration's number is never kept: one that stays, an integer that grows
by a constant, or one that is known from its last change (`analysis/carried`). What else the adjoint needs is kept by
`checkpoints`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from workbench.autodiff.reverse.recompute import Missing, recompute, unavailable
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.builtins import Ref
from workbench.builtins.scalars import operators, rounding
from workbench.ir.values import Block, Op, Value
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
