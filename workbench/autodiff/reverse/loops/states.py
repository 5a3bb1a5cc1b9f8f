"""A loop of few iterations backwards: every state is kept.

Where it is known how many iterations there are, and their states take little memory, the loop runs forward once to keep
them, and then backwards. It computes less than rounds do (`checkpoints`), and in two plain loops, which threads can go
through together (`passes/loops/abreast`).
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.autodiff.reverse.loops.iterations import Loop, PositionTurn, following, kept_type
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.ir.ops import LOOPS
from workbench.ir.rewrite import fresh
from workbench.ir.values import Block, Value, walk
from workbench.tiles import Tile
from workbench.types import int32

ITERATIONS, SIZE = 64, 16
"""The iterations of such a loop, and the bytes of a state, at most."""


class States:
    """One loop's reversal.

    Attributes:
        kept: the numbers of the carried values that are kept.
        storage: slots for each of them.
        turn: an iteration backwards.
    """

    def __init__(self, sweep: ReverseSweep, loop: Loop, iterations: int) -> None:
        self.sweep, self.loop, self.iterations = sweep, loop, iterations
        self.kept = loop.kept(sweep)
        self.storage = {s: sweep.builder.slots(kept_type(loop.carried[s]), iterations) for s in self.kept}
        self.turn = _Kept(self)

    def run(self, starts: Sequence[Value], body: Block) -> tuple[Value, ...]:
        """Forward, to keep each state, and backwards."""
        sweep, loop, b = self.sweep, self.loop, self.sweep.builder
        zero, one, back, last = (b.const(k) for k in (0, 1, -1, self.iterations - 1))
        step, params = Value(int32, "step"), [fresh(loop.carried[s]) for s in self.kept]
        with b.block((step, *params)) as opened:
            self.write(step, params)
            b.yield_(*following(sweep, loop, step, dict(zip(self.kept, params, strict=True))))
        self.write(last, b.for_(zero, last, one, [sweep.env[loop.init[s]] for s in self.kept], opened.block))
        return b.for_(last, back, back, starts, body)

    def write(self, step: Value, state: Sequence[Value]) -> None:
        """Keep a state."""
        for slots, value in zip(self.storage.values(), state, strict=True):
            self.sweep.builder.slot_write(slots, step, value)


def few(sweep: ReverseSweep, loop: Loop) -> int:
    """How many iterations a loop has whose states are all kept; 0 for another one."""
    if loop.op.name != "for" or not sweep.stack:
        return 0
    start, stop, step = (sweep.constant(v) for v in loop.op.operands[:3])
    if start is None or stop is None or not step or any(op.name in LOOPS for op in walk(loop.body)):
        return 0
    carried = [loop.carried[s] for s in loop.kept(sweep)]
    small = not any(isinstance(v.type, Tile) for v in carried) and sum(kept_type(v).size for v in carried) <= SIZE
    count = len(range(start, stop, step))
    return count if small and count <= min(ITERATIONS, 4 * sweep.checkpoints) else 0


class _Kept(PositionTurn):
    """An iteration run backwards: its state is in a slot."""

    def __init__(self, owner: States) -> None:
        super().__init__(owner.sweep, owner.loop, Value(int32, "step"))
        self.owner = owner

    def kept(self, carry: int) -> Value | None:
        """What was kept."""
        return self.sweep.builder.slot_read(self.owner.storage[carry], self.counter)
