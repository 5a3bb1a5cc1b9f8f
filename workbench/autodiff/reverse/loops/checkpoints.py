"""Bounded checkpointing: a loop's iterations backwards from a fixed number of kept states.

Slots hold the carried values at the starts of some iterations. A round takes the last of them and runs forward from it,
keeping further states on the way, until as many iterations are left as there are free slots; these it keeps one by one
and runs backwards. Where the states in between are kept is chosen as in Griewank and Walther's revolve (ACM TOMS 26(1),
2000): with s slots each iteration is run forward at most r times, where C(s + r, r) reaches the number of iterations,
and no other choice runs fewer. Memory is fixed whatever the trip count; nothing is allocated.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from workbench.autodiff.reverse.loops.iterations import Loop, PositionTurn, Turn
from workbench.autodiff.reverse.recompute import recompute
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.builtins import Ref
from workbench.builtins.scalars import operators, rounding
from workbench.ir.values import Block, Value
from workbench.tiles import Tile
from workbench.types import Scalar, Vector, int64


class Checkpoints:
    """One loop's reversal.

    A *state* is the values that the loop carries, as they are at the start of an iteration; a *checkpoint* is a state
    that is kept; a *slot* is the place that it is kept in, used again once it has served. `carry` numbers a carried
    value.

    `count` is how many states can be kept; one slot more holds the last state of a round. Slot 0 has the loop's first
    state for good. A round begins with the slots up to `top` in use and the iterations from `end` on done backwards.
    """

    def __init__(self, sweep: ReverseSweep, loop: Loop) -> None:
        """Make the slots and keep the first state."""
        self.sweep, self.loop, self.builder = sweep, loop, sweep.builder
        self.count = sweep.checkpoints
        zero = self.number(0)
        self.iterations = loop.count(sweep)
        self.kept = [s for s in range(len(loop.carried)) if loop.known(sweep, s, zero) is None]
        for carry in self.kept:
            if isinstance(loop.carried[carry].type, Tile):
                name = loop.carried[carry].name or "a tile"
                raise sweep.refuse(
                    f"The adjoint needs the tile {name} as it was in each iteration here, and tiles are not kept.",
                    loop.op, "Give the loop a range known while compiling, so that it is unrolled, or make each "
                    "iteration a launch.",
                )  # fmt: skip
        self.positions = self.builder.slots(int64, self.count + 1)
        self.slots = {s: self.builder.slots(_kept_type(loop.carried[s]), self.count + 1) for s in self.kept}
        self.write(zero, zero, [sweep.env[loop.init[s]] for s in self.kept])

    def number(self, value: int) -> Ref:
        """A constant int64."""
        return self.builder.ref(self.builder.const(value, int64))

    def write(self, slot: Ref, position: Ref, state: Sequence[Value]) -> None:
        """Keep a state."""
        self.builder.slot_write(self.positions, slot.value, position.value)
        for storage, value in zip(self.slots.values(), state, strict=True):
            self.builder.slot_write(storage, slot.value, value)

    @contextmanager
    def round(self) -> Generator[Turn]:
        """Write a round up to its iterations backwards, for which the turn stands."""
        ref = self.builder.ref
        self.end, self.top = Value(int64, "end"), Value(int64, "top")
        with self.builder.block() as opened:
            first = ref(self.builder.slot_read(self.positions, self.top))
            state = [self.builder.slot_read(self.slots[s], self.top) for s in self.kept]
            self.first, self.last_slot, state = self._placed(first, ref(self.top), state)
            self._filled(state)
            yield _KeptTurn(self, Value(int64, "position"))
        self.opened = opened

    def leaf(self, states: Sequence[Value], block: Block) -> None:
        """The round's iterations backwards."""
        self.builder.location = self.loop.op.location
        end, back = self.builder.ref(self.end), self.number(-1)
        self.left = self.builder.for_((end + back).value, (self.first + back).value, back.value, states, block)

    def closed(self, states: Sequence[Value]) -> Block:
        """The round as the body of the loop over rounds."""

        # The next round ends where this one began, and starts from the state below it; slot 0 stays the last one.
        def tail() -> list[Value]:
            below = operators.where(self.last_slot > 0, self.last_slot - 1, self.last_slot)
            return [self.first.value, below.value, *self.left]

        return self.builder.reopened(self.opened.block, (self.end, self.top, *states), tail)

    def run(self, starts: Sequence[Value], body: Block) -> tuple[Value, ...]:
        """All rounds."""
        tested = tuple(Value(p.type, p.name) for p in body.params)
        with self.builder.block(tested) as condition:
            self.builder.yield_((self.builder.ref(tested[0]) > 0).value)
        init = [self.iterations.value, self.number(0).value, *starts]
        return self.builder.while_(init, condition.block, body)[2:]

    def _placed(self, first: Ref, top: Ref, state: list[Value]) -> tuple[Ref, Ref, list[Value]]:
        """Run forward, keeping states, until the slots suffice for what is left before `end`."""
        end = self.builder.ref(self.end)

        def params() -> tuple[Value, ...]:
            carried = self.loop.carried
            return (
                Value(int64, "first"),
                Value(int64, "slot"),
                *(Value(carried[s].type, carried[s].name) for s in self.kept),
            )

        tested, inner = params(), params()
        with self.builder.block(tested) as condition:
            at, slot = (self.builder.ref(v) for v in tested[:2])
            self.builder.yield_((end - at > self.count + 1 - slot).value)
        with self.builder.block(inner) as opened:
            at, slot = (self.builder.ref(v) for v in inner[:2])
            far = self._distance(end - at, self.count - slot)
            moved = self._advanced(at, far, inner[2:])
            self.write(slot + 1, at + far, moved)
            self.builder.yield_((at + far).value, (slot + 1).value, *moved)
        at, slot, *rest = self.builder.while_((first.value, top.value, *state), condition.block, opened.block)
        return self.builder.ref(at), self.builder.ref(slot), rest

    def _distance(self, left: Ref, free: Ref) -> Ref:
        """How far to go until the next state is kept, of `left` iterations; `free` slots, with the current one.

        With b = C(free + r - 1, r - 1) < left <= C(free + r, r): as far as b, but leaving C(free + r - 2, r - 1).
        """
        builder = self.builder
        tested, inner = ((Value(int64, "r"), Value(int64, "reach")) for _ in range(2))

        def further(r: Ref, reach: Ref) -> Ref:
            return rounding.floordiv(reach * (free + r), r)

        with builder.block(tested) as condition:
            builder.yield_((further(*(builder.ref(v) for v in tested)) < left).value)
        with builder.block(inner) as opened:
            r, reach = (builder.ref(v) for v in inner)
            builder.yield_((r + 1).value, further(r, reach).value)
        # The binomial coefficient grows by one factor per turn, so that it needs no table and no factorial.
        one = self.number(1)
        r, reach = (builder.ref(v) for v in builder.while_((one.value, one.value), condition.block, opened.block))
        rest = rounding.floordiv(reach * free, free + r - 1)
        far = operators.where(reach < left - rest, reach, left - rest)
        return operators.where(free > 1, far, left - 1)

    def _advanced(self, at: Ref, far: Ref, state: Sequence[Value]) -> list[Value]:
        """The state after `far` iterations more."""
        return self._forward(at, self.number(0), far, state, keep=False)

    def _filled(self, state: Sequence[Value]) -> None:
        """Keep the state of every iteration of the round."""
        end = self.builder.ref(self.end)
        self._forward(self.first, self.number(0), end - self.first - 1, state, keep=True)

    def _forward(self, at: Ref, low: Ref, high: Ref, state: Sequence[Value], keep: bool) -> list[Value]:
        builder, loop, env = self.builder, self.loop, self.sweep.env
        step = Value(int64, "step")
        params = [Value(v.type, v.name) for v in state]
        with builder.block((step, *params)) as opened:
            _Forward(self, at + builder.ref(step), params).enter()
            recompute(loop.body.ops[:-1], env, builder, self.sweep.memory.overwritten)
            builder.location = loop.op.location
            moved = [env[loop.body.yielded[s]] for s in self.kept]
            if keep:
                slot = self.last_slot + builder.ref(step) + 1
                for storage, value in zip(self.slots.values(), moved, strict=True):
                    builder.slot_write(storage, slot.value, value)
            builder.yield_(*moved)
        return list(builder.for_(low.value, high.value, self.number(1).value, list(state), opened.block))


class _Forward(PositionTurn):
    """An iteration run forward from a state."""

    def __init__(self, owner: Checkpoints, position: Ref, state: Sequence[Value]) -> None:
        super().__init__(owner.sweep, owner.loop, position.value)
        self.state = dict(zip(owner.kept, state, strict=True))

    def kept(self, carry: int) -> Value | None:
        """What is carried."""
        return self.state[carry]


class _KeptTurn(PositionTurn):
    """An iteration run backwards: its state is in a slot."""

    def __init__(self, owner: Checkpoints, counter: Value) -> None:
        super().__init__(owner.sweep, owner.loop, counter)
        self.owner = owner

    def kept(self, carry: int) -> Value | None:
        """What was kept."""
        owner = self.owner
        place = owner.last_slot + (self.done() - owner.first)
        return owner.builder.slot_read(owner.slots[carry], place.value)


def _kept_type(value: Value) -> Scalar | Vector:
    assert isinstance(value.type, (Scalar, Vector))
    return value.type
