"""States of a loop that are stored for its reverse: all of them where it is short, checkpoints where it is long.

**All states** (`States`). Where it is known how many iterations there are at most, and their states take little memory,
the loop runs forward once to keep them, and then backwards. It computes less than rounds do, and in two plain loops,
which threads can go through together (`backends/cpu/gang`). A `while` counts its iterations on the way.

**Checkpoints** (`Checkpoints`): a fixed number of kept states. Iterations are run backwards by chunks of 8, the last
first. Slots hold the carried values at the starts of some chunks. A round takes the last of them and runs forward from
it, keeping further starts on the way, until one chunk is left; it keeps the state of each of its iterations and runs
them backwards. Which starts are kept is chosen as in Griewank and Walther's revolve (ACM TOMS 26(1), 2000): with s
slots each chunk is run forward at most r times, where C(s + r, r) reaches the number of chunks, and no other choice
runs fewer. Memory is fixed whatever the trip count; nothing is allocated.

A chunk of a short body and a small state is written out, so that its states are registers on a GPU; the few slots are
too, where they fit.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np

from workbench.autodiff.reverse.loops.iterations import Iteration, Loop, PositionIteration, following, while_condition
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.builtins import Ref
from workbench.builtins.scalars import bits, maths, operators, rounding
from workbench.ir.build import fresh
from workbench.ir.ops import LOOPS, UNROLL
from workbench.ir.values import Block, Op, Value, definitions, dtype_of, number_of, scalar_or_vector_of, walk
from workbench.limits import (
    CHECKPOINTS,
    REVERSED_CHUNK,
    REVERSED_CHUNK_BYTES,
    REVERSED_CHUNK_OPERATIONS,
    REVERSED_STATES_BYTES,
    STORED_ITERATIONS,
    STORED_STATE_BYTES,
)
from workbench.tiles import Tile
from workbench.types import Scalar, element, float32, int32, int64, is_integer


class States:
    """The reversal of a loop of few iterations, from stored states of all of them.

    Attributes:
        sweep: emits it.
        loop: the kernel's loop.
        iterations: how many there are at most.
        stored: the numbers of the carried values that are stored.
        storage: slots for each of them.
        iteration: the iteration that runs backwards.
    """

    def __init__(self, sweep: ReverseSweep, loop: Loop, iterations: int) -> None:
        self.sweep, self.loop, self.iterations = sweep, loop, iterations
        self.stored = loop.stored(sweep)
        self.storage = {s: sweep.builder.slots(scalar_or_vector_of(loop.carried[s]), iterations) for s in self.stored}
        self.iteration = _StoredIteration(self)

    def run(self, starts: Sequence[Value], body: Block) -> tuple[Value, ...]:
        """Emit the loop forward, to store each state, and backwards; return the cotangents at its end.

        Args:
            starts: the cotangents at its beginning.
            body: the reversed body.
        """
        if self.loop.op.name == "while":
            return self.run_while(starts, body)
        sweep, loop, b = self.sweep, self.loop, self.sweep.builder
        zero, one, back, last = (b.const(k) for k in (0, 1, -1, self.iterations - 1))
        step, params = Value(int32, "step"), [fresh(loop.carried[s]) for s in self.stored]
        with b.block((step, *params)) as opened:
            self.write(step, params)
            b.yield_(*following(sweep, loop, step, dict(zip(self.stored, params, strict=True))))
        self.write(last, b.for_(zero, last, one, [sweep.env[loop.init[s]] for s in self.stored], opened.block))
        return b.for_(last, back, back, starts, body)

    def run_while(self, starts: Sequence[Value], body: Block) -> tuple[Value, ...]:
        """Emit a `while` forward, storing the state of each iteration, then backwards; return the cotangents.

        Args:
            starts: the cotangents at its beginning.
            body: the reversed body.
        """
        sweep, loop, b = self.sweep, self.loop, self.sweep.builder
        zero, one, back = (b.const(k) for k in (0, 1, -1))
        tested, params = ((Value(int32, "step"), *(fresh(loop.carried[s]) for s in self.stored)) for _ in range(2))
        with b.block(tested) as test:
            b.yield_(while_condition(sweep, loop, tested[0], dict(zip(self.stored, tested[1:], strict=True))))
        with b.block(params) as opened:
            step, *state = params
            self.write(step, state)
            moved = following(sweep, loop, step, dict(zip(self.stored, state, strict=True)))
            b.yield_(b.one("add", (step, one), int32), *moved)
        firsts = (zero, *(sweep.env[loop.init[s]] for s in self.stored))
        count, *_ = b.while_(firsts, test.block, opened.block)
        return b.for_(b.one("add", (count, back), int32), back, back, starts, body)

    def write(self, step: Value, state: Sequence[Value]) -> None:
        """Emit the storing of the state of iteration `step`."""
        for slots, value in zip(self.storage.values(), state, strict=True):
            self.sweep.builder.slot_write(slots, step, value)


def few(sweep: ReverseSweep, loop: Loop) -> int:
    """Return how many iterations a loop has at most, if all its states are to be stored; 0 if they are not."""
    if not sweep.stack or any(op.name in LOOPS for block in loop.op.blocks for op in walk(block)):
        return 0
    carried = [loop.carried[s] for s in loop.stored(sweep)]
    small = (
        not any(isinstance(v.type, Tile) for v in carried)
        and sum(scalar_or_vector_of(v).size for v in carried) <= STORED_STATE_BYTES
    )
    count = _trip_count(sweep, loop.op) if loop.op.name == "for" else _max_trip_count(sweep, loop)
    return count if small and count <= min(STORED_ITERATIONS, 4 * sweep.checkpoints) else 0


def _trip_count(sweep: ReverseSweep, op: Op) -> int:
    """Return the number of iterations of a `for`; 0 also if it is not known."""
    start, stop, step = (sweep.constant(v) for v in op.operands[:3])
    return len(range(start, stop, step)) if start is not None and stop is not None and step else 0


def _max_trip_count(sweep: ReverseSweep, loop: Loop) -> int:
    """Return the most iterations of a `while` that a counter bounds; 0 if none does."""
    condition, body = loop.op.blocks
    defining = definitions(*loop.op.blocks)

    def number(value: Value) -> int | None:
        op = defining.get(value)
        if op is None:
            return sweep.constant(value) if value in sweep.env else None
        return int(number_of(op)) if op.name == "const" and isinstance(value.type, Scalar) else None

    def trip_count(value: Value, flags: tuple[int, ...] = ()) -> int:
        """Return the most iterations while a bool holds and no carried bool of `flags` does; 0: that is not known."""
        op = defining.get(value)
        if op is None:
            return 0
        if op.name == "and_":
            return max(trip_count(v, flags) for v in op.operands)
        if op.name == "if":
            then, orelse = (b.yielded[op.results.index(value)] for b in op.blocks)
            if number(orelse) == 0:
                return max(trip_count(op.operands[0], flags), trip_count(then, flags))
            ended = [condition.params.index(v) for v in op.operands if v in condition.params]
            return trip_count(orelse, (*flags, *ended)) if number(then) == 0 else 0
        if op.name not in ("lt", "gt"):
            return 0
        counter, end = op.operands if op.name == "lt" else reversed(op.operands)
        return counted(condition.params.index(counter), number(end), flags) if counter in condition.params else 0

    def counted(carry: int, end: int | None, flags: tuple[int, ...]) -> int:
        """Return the most iterations while a carried value is below `end` and none of `flags` holds; 0: not known."""
        start, param = number(loop.init[carry]), body.params[carry]
        if start is None or end is None or not is_integer(param.type):
            return 0
        # From the end on a larger step could begin again below it.
        room = int(np.iinfo(element(param.type).numpy).max) - end + 1
        by = grown(body.yielded[carry], param, room)
        if by:
            return len(range(start, end, by))
        # In its last turn, which sets a flag, the counter need not grow.
        ends = [body.yielded[flag] for flag in flags]
        return max(0, end - start) + 1 if grows(body.yielded[carry], ends, param, room) else 0

    def grown(value: Value, param: Value, room: int) -> int:
        """Return by how much a counter `param` grows to `value`; 0: that is not known, or more than `room`."""
        step = defining.get(value)
        by = number(step.operands[1]) if step and step.name == "add" and step.operands[0] is param else 0
        return by if by and 0 < by <= room else 0

    def grows(value: Value, ends: list[Value], param: Value, room: int) -> bool:
        """Return whether on each way through an iteration the counter grows, or a bool of `ends` is true."""
        if grown(value, param, room) or any(number(v) == 1 for v in ends):
            return True
        op = next((o for o in map(defining.get, (value, *ends)) if o is not None and o.name == "if"), None)
        if op is None:
            return False
        sides = [dict(zip(op.results, b.yielded, strict=True)) for b in op.blocks]
        return all(grows(side.get(value, value), [side.get(v, v) for v in ends], param, room) for side in sides)

    return trip_count(condition.yielded[0])


class _StoredIteration(PositionIteration):
    """An iteration that runs backwards; its state was stored."""

    def __init__(self, owner: States) -> None:
        super().__init__(owner.sweep, owner.loop, Value(int32, "step"))
        self.owner = owner

    def stored(self, carry: int) -> Value | None:
        """Emit the read of a carried value from its slot."""
        return self.sweep.builder.slot_read(self.owner.storage[carry], self.counter)


class Checkpoints:
    """The reversal of one loop by checkpoints.

    A *state* is the values that the loop carries, as they are at the start of an iteration; a *checkpoint* is a state
    that is stored; a *slot* is where it is stored, used again once it has served. `carry` numbers a carried value.

    Iterations are reversed a *chunk* at a time: a round runs forward to the last chunk that is left, stores the state
    of each of its iterations in storage of their own, and runs it backwards. `count` is how many starts of chunks can
    be stored beside these. Slot 0 always holds the loop's first state. A round begins with the slots up to `top` in use
    and the iterations from `end` on done backwards.
    """

    def __init__(self, sweep: ReverseSweep, loop: Loop) -> None:
        """Emit the slots, and store the first state.

        Raises:
            NotDifferentiable: a carried value to store is a tile.
        """
        self.sweep, self.loop, self.builder = sweep, loop, sweep.builder
        zero = self.number(0)
        self.iterations = loop.count(sweep)
        self.stored = loop.stored(sweep)
        for carry in self.stored:
            if isinstance(loop.carried[carry].type, Tile):
                name = loop.carried[carry].name or "a tile"
                raise sweep.not_differentiable(
                    f"The adjoint needs the tile {name} as it was in each iteration here, and tiles are not kept.",
                    loop.op,
                    "Give the loop a range known while compiling, so that it is unrolled, or make each "
                    "iteration a launch.",
                )
        ops = list(walk(loop.body))
        size = sum(scalar_or_vector_of(loop.carried[s]).size for s in self.stored)
        plain = len(ops) <= REVERSED_CHUNK_OPERATIONS and all(op.name not in LOOPS for op in ops)
        # Few states reach further as starts.
        self.chunk = REVERSED_CHUNK if sweep.checkpoints >= 2 * REVERSED_CHUNK else 1
        self.count = sweep.checkpoints if self.chunk == 1 else sweep.checkpoints - self.chunk - 1
        self.short = not sweep.stack and self.chunk > 1 and plain and size <= REVERSED_CHUNK_BYTES
        room = REVERSED_STATES_BYTES // max(1, len({op for op, _ in sweep.checkpointed}))
        if sweep.stack and sweep.checkpoints == CHECKPOINTS and size * 2 * REVERSED_CHUNK <= room:
            # Of small states there is room for more.
            self.chunk = self.count = 1 << (room // max(size, 4)).bit_length() - 1
        self.shift = self.chunk.bit_length() - 1
        # Of a loop whose index has 32 bits, chunks are fewer than 2**31.
        narrow = loop.index is not None and element(loop.index.type).bits <= 32 and self.chunk > 1
        self.counted = int32 if narrow else int64
        self.positions = self.builder.slots(self.counted, self.count)
        self.slots = {s: self.builder.slots(scalar_or_vector_of(loop.carried[s]), self.count) for s in self.stored}
        self.states = {s: self.builder.slots(scalar_or_vector_of(loop.carried[s]), self.chunk) for s in self.stored}
        self.write(zero, zero, [sweep.env[loop.init[s]] for s in self.stored])

    def number(self, value: int) -> Ref:
        """Return a constant int64."""
        return self.builder.ref(self.builder.const(value, int64))

    def write(self, slot: Ref, position: Ref, state: Sequence[Value]) -> None:
        """Emit the storing of a state.

        Args:
            slot: the number of the slot to write.
            position: the number of its iteration, the first of a chunk.
            state: its values.
        """
        number = bits.rshift(position, self.shift).cast(dtype_of(self.positions))
        self.builder.slot_write(self.positions, slot.value, number.value)
        for storage, value in zip(self.slots.values(), state, strict=True):
            self.builder.slot_write(storage, slot.value, value)

    @contextmanager
    def round(self) -> Generator[list[Iteration]]:
        """Begin a round, up to its iterations backwards; yield the turns for which the caller emits bodies.

        There are two if a complete chunk is unrolled, else one.
        """
        ref = self.builder.ref
        self.end, self.top = Value(int64, "end"), Value(int64, "top")
        with self.builder.block() as opened:
            number = ref(self.builder.slot_read(self.positions, self.top))
            first = bits.lshift(number.cast(int64), self.shift)
            state = [self.builder.slot_read(self.slots[s], self.top) for s in self.stored]
            self.first, self.last_slot, state = self._placed(first, ref(self.top), state)
            self.state = state
            yield [_CheckpointedIteration(self, Value(int32, "step")) for _ in range(1 + self.short)]
        self.opened = opened

    def reverse_chunk(self, states: Sequence[Value], blocks: Sequence[Block]) -> None:
        """Emit the round's iterations backwards.

        Args:
            states: the cotangents that the reversed loop carries.
            blocks: a reversed body for each turn that `round` yielded.
        """
        builder = self.builder
        builder.location = self.loop.op.location
        length = (builder.ref(self.end) - self.first).cast(int32)
        if not self.short:
            self.left = self._reversed(length, states, blocks[0], False)
            return
        with builder.block() as complete:
            builder.yield_(*self._reversed(builder.ref(builder.const(self.chunk)), states, blocks[0], True))
        with builder.block() as part:
            builder.yield_(*self._reversed(length, states, blocks[1], False))
        self.left = builder.if_((length >= self.chunk).value, complete.block, part.block)

    def _reversed(self, length: Ref, states: Sequence[Value], block: Block, unroll: bool) -> tuple[Value, ...]:
        """Emit a chunk: forward, to store the state of each iteration, and backwards.

        Args:
            length: how many iterations it has.
            states: the cotangents that the reversed loop carries.
            block: the reversed body.
            unroll: both loops are to be unrolled.

        Returns:
            The cotangents.
        """
        builder, attrs = self.builder, UNROLL.of(unroll)
        zero, one, back = (builder.const(k) for k in (0, 1, -1))
        for storage, value in zip(self.states.values(), self.state, strict=True):
            builder.slot_write(storage, zero, value)
        step = Value(int32, "step")
        params = self._params()
        with builder.block((step, *params)) as opened:
            moved = self._next(self.first, step, params)
            following = (builder.ref(step) + 1).value
            for storage, value in zip(self.states.values(), moved, strict=True):
                builder.slot_write(storage, following, value)
            builder.yield_(*moved)
        last = (length - 1).value
        builder.for_(zero, last, one, self.state, opened.block, attrs)
        return builder.for_(last, back, back, states, block, attrs)

    def closed(self, states: Sequence[Value]) -> Block:
        """Return the round as the body of the loop over rounds.

        Args:
            states: the cotangents that this carries.
        """

        # The next round ends where this one began, and starts from the state below it; slot 0 stays the last one.
        def tail() -> list[Value]:
            below = operators.where(self.last_slot > 0, self.last_slot - 1, self.last_slot)
            return [self.first.value, below.value, *self.left]

        return self.builder.reopened(self.opened.block, (self.end, self.top, *states), tail)

    def run(self, starts: Sequence[Value], body: Block) -> tuple[Value, ...]:
        """Emit the loop over rounds; return the cotangents at its end.

        Args:
            starts: the cotangents at its beginning.
            body: what `closed` returned.
        """
        tested = tuple(Value(p.type, p.name) for p in body.params)
        with self.builder.block(tested) as condition:
            self.builder.yield_((self.builder.ref(tested[0]) > 0).value)
        init = [self.iterations.value, self.number(0).value, *starts]
        return self.builder.while_(init, condition.block, body)[2:]

    def _placed(self, first: Ref, top: Ref, state: list[Value]) -> tuple[Ref, Ref, list[Value]]:
        """Emit a run forward that stores starts of chunks, until one chunk is left before `end`.

        Args:
            first: the iteration that it starts from.
            top: the slot with that state.
            state: the state.

        Returns:
            The first iteration of the last chunk, the number of the slot for it (`count`, if none was free), and the
                state.
        """
        end = self.builder.ref(self.end)

        def params() -> tuple[Value, ...]:
            return Value(int64, "first"), Value(int64, "slot"), *self._params()

        tested, inner = params(), params()
        with self.builder.block(tested) as condition:
            at, slot = (self.builder.ref(v) for v in tested[:2])
            self.builder.yield_((end - at > self.chunk).value)
        with self.builder.block(inner) as opened:
            at, slot = (self.builder.ref(v) for v in inner[:2])
            left = bits.rshift(end - at + (self.chunk - 1), self.shift)
            far = bits.lshift(self._distance(left, self.count - slot), self.shift)
            moved = self._advanced(at, far, inner[2:])
            with self.builder.block() as fits:
                self.write(slot + 1, at + far, moved)
                self.builder.yield_()
            with self.builder.block() as in_hand:
                self.builder.yield_()
            self.builder.if_((slot + 1 < self.count).value, fits.block, in_hand.block)
            self.builder.yield_((at + far).value, (slot + 1).value, *moved)
        at, slot, *rest = self.builder.while_((first.value, top.value, *state), condition.block, opened.block)
        return self.builder.ref(at), self.builder.ref(slot), rest

    def _distance(self, left: Ref, free: Ref) -> Ref:
        """Emit how many chunks to run until the next state is stored.

        Args:
            left: how many chunks are left.
            free: how many slots are free, that of the round included.
        """
        builder = self.builder
        one = self.number(1)
        with builder.block() as near:
            builder.yield_(operators.where(free > 1, one, left - 1).value)
        with builder.block() as beyond:
            builder.yield_(self._checkpoint_distance(left, free).value)
        simple = operators.or_(free <= 1, left <= free + 1)
        return builder.ref(*builder.if_(simple.value, near.block, beyond.block))

    def _checkpoint_distance(self, left: Ref, free: Ref) -> Ref:
        """Emit how many chunks to run until the next state is stored, if they outnumber the two or more free slots.

        With b = C(free + r - 1, r - 1) < left <= C(free + r, r): as far as b, but leaving C(free + r - 2, r - 1).
        """
        builder = self.builder
        wide, slots = left.cast(float32), free.cast(float32)
        tested, inner = ((Value(float32, "r"), Value(float32, "reach")) for _ in range(2))

        # Rounded from floats: exact as far as it matters, up to about 2**19 chunks. A division of integers, or an exact
        # one, is a call on GPUs, and takes 30 to 40 registers of each thread.
        def quotient(x: Ref, y: Ref) -> Ref:
            root = maths.rsqrt(y)
            return rounding.rint(x * root * root)

        def further(r: Ref, reach: Ref) -> Ref:
            return quotient(reach * (slots + r), r)

        with builder.block(tested) as condition:
            builder.yield_((further(*(builder.ref(v) for v in tested)) < wide).value)
        with builder.block(inner) as opened:
            r, reach = (builder.ref(v) for v in inner)
            builder.yield_((r + 1.0).value, further(r, reach).value)
        # The binomial coefficient grows by one factor per turn, so that it needs no table and no factorial.
        one = builder.const(1.0, float32)
        r, reach = (builder.ref(v) for v in builder.while_((one, one), condition.block, opened.block))
        rest = left - quotient(reach * slots, slots + r - 1.0).cast(int64)
        far = reach.cast(int64)
        return operators.where(far < rest, far, rest)

    def _advanced(self, at: Ref, far: Ref, state: Sequence[Value]) -> list[Value]:
        """Emit a run forward; return the state `far` iterations behind that of iteration `at`."""
        builder = self.builder
        step = Value(self.counted, "step")
        params = self._params()
        with builder.block((step, *params)) as opened:
            builder.yield_(*self._next(at, step, params))
        zero, one = (builder.const(k, self.counted) for k in (0, 1))
        return list(builder.for_(zero, far.cast(self.counted).value, one, list(state), opened.block))

    def _params(self) -> list[Value]:
        """Return new block parameters for the carried values whose states are stored."""
        return [fresh(self.loop.carried[s]) for s in self.stored]

    def _next(self, first: Ref, step: Value, state: Sequence[Value]) -> list[Value]:
        """Emit one iteration forward, number `first + step`; return the state after it."""
        return following(self.sweep, self.loop, step, dict(zip(self.stored, state, strict=True)), first)


class _CheckpointedIteration(PositionIteration):
    """An iteration of a chunk that runs backwards; its state was stored."""

    def __init__(self, owner: Checkpoints, counter: Value) -> None:
        super().__init__(owner.sweep, owner.loop, counter)
        self.owner, self.first = owner, owner.first

    def stored(self, carry: int) -> Value | None:
        """Emit the read of a carried value from its slot."""
        return self.owner.builder.slot_read(self.owner.states[carry], self.counter)
