"""A loop of few iterations backwards: every state is kept.

Where it is known how many iterations there are at most, and their states take little memory, the loop runs forward once
to keep them, and then backwards. It computes less than rounds do (`checkpoints`), and in two plain loops, which threads
can go through together (`backends/cpu/gang`). A `while` counts its iterations on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.autodiff.reverse.loops.iterations import Loop, PositionIteration, following, while_condition
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.ir.ops import LOOPS
from workbench.ir.rewrite import fresh
from workbench.ir.values import Block, Op, Value, definitions, number_of, scalar_or_vector_of, walk
from workbench.limits import STORED_ITERATIONS, STORED_STATE_BYTES
from workbench.tiles import Tile
from workbench.types import Scalar, element, int32, is_integer


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
