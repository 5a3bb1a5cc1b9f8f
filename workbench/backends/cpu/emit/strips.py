"""Stopping a launch: native code looks now and then at a word that asks it to end.

Who calls a kernel's entry gives it few threads at a time, and looks between two calls. That is not enough where one
thread may run long. An innermost loop whose turns are many, or unknown, is cut into strips: an inner loop of a limited
number of turns, which LLVM vectorises as it would the whole, and a look after each strip that is not the last. A loop
around such loops, and the loop over threads, look once in so many turns. Loops of few known turns do not look.

`%stop` points to the word, and behind it the function that decides (`backends/cpu/native/stopping.py`): it is called
where the word is not 0, and returns whether the launch ends.
"""

from __future__ import annotations

from math import prod

from workbench.ir.ops import COLD, LOOPS, SHAPE
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.limits import EDGE_ITERATIONS, LOOK_OPERATIONS, STRIP_OPERATIONS, TILE_LANES, VERSIONED_LOOPS
from workbench.passes.analysis.cost import constants, known_trips
from workbench.types import element, int32


class Strips:
    """The plan of which loops of a function check the launch's stop word, and after how many iterations.

    Attributes:
        few: at most VERSIONED_LOOPS of its loops are cut into strips.
        loops: how many loops it has.
        threads: the loop over threads checks once in so many; 0: never, as the caller of the entry limits how many run.
    """

    def __init__(self, function: Function) -> None:
        """Plan when the loops of a function, in the form in which it is emitted, check the stop word."""
        self._check_intervals: dict[Op, int] = {}
        self._often: set[Op] = set()
        self._known = constants(function.body)
        self._tiles = function.block_dim > 0
        self._most: dict[Value, int] = {}
        self._less: dict[Value, tuple[Value, ...]] = {}
        cost = self._cost(function.body)
        self.loops = len(self._check_intervals)
        self.few = sum(map(self.cut, self._check_intervals)) <= VERSIONED_LOOPS
        if not self.few:
            self._often.clear()
        self.threads = (
            _power(LOOK_OPERATIONS, cost) if cost > STRIP_OPERATIONS or any(self._check_intervals.values()) else 0
        )

    def turns(self, op: Op) -> int:
        """Return after how many iterations a loop checks whether the launch is to end; 0: it does not check."""
        return self._check_intervals[op]

    def treat_alike(self, op: Op, other: Op) -> None:
        """Let `other`, a loop over a part of the iterations of the loop `op`, check as often as that does."""
        self._check_intervals[other] = self._check_intervals[op]
        if op in self._often:
            self._often.add(other)

    def cut(self, op: Op) -> bool:
        """Return whether a loop is cut into strips: it checks after several iterations, and no loop in it checks."""
        return self._check_intervals[op] > 1 and not self._looks_inside(op)

    def often(self, op: Op) -> bool:
        """Return whether a loop starts often enough to get a second copy, for few iterations.

        That is a loop that is cut into strips and lies in another one.
        """
        return op in self._often

    def _looks_inside(self, op: Op) -> bool:
        """Return whether a loop inside an operation checks."""
        return any(self._check_intervals.get(o) for block in op.blocks for o in walk(block))

    def _cost(self, block: Block) -> int:
        """Return the most operations that a block runs before something in it checks."""
        return 1 + sum([self._cost_of(op) for op in block.ops])

    def _cost_of(self, op: Op) -> int:
        """Return the most operations that an operation runs before something in it checks; plan its loops."""
        if op.name == "lt":
            self._less[op.result] = op.operands
        if op.name == "where" and op.result.type == int32 and self._less.get(op.operands[0]) == op.operands[1:]:
            self._most.update((op.result, int(self._known[v])) for v in op.operands[1:] if v in self._known)
        inner = sum(map(self._cost, op.blocks))
        if op.name in ("slot_matmul", "add_product"):
            m, n, k = op.attrs[SHAPE]
            return m * n * k // TILE_LANES
        if op.name == "slot_transpose":
            return prod(op.attrs[SHAPE]) // TILE_LANES
        if op.name not in LOOPS:
            return 1 + inner
        trips = EDGE_ITERATIONS if op.attrs.get(COLD) and self._tiles else known_trips(op, self._known)
        if op.name == "for" and op.operands[1] in self._most and self._known.get(op.operands[0], -1) >= 0:
            trips = self._most[op.operands[1]]
        if trips is not None and trips * inner <= LOOK_OPERATIONS:
            self._check_intervals[op] = 0
            return 1 + trips * inner
        most = STRIP_OPERATIONS
        if self._looks_inside(op):
            most = LOOK_OPERATIONS
            self._often.update(
                o for o in walk(op.blocks[-1]) if o.name == "for" and o in self._check_intervals and self.cut(o)
            )
        # A power of two, since the other loops look where the low bits of their counter are 0; small enough for the
        # counter's type.
        self._check_intervals[op] = min(_power(most, inner), 2 ** (_bits(op) - 2))
        return STRIP_OPERATIONS


def _bits(op: Op) -> int:
    """Return the width in bits of the number that counts a loop's iterations."""
    return element(op.operands[0].type).bits if op.name == "for" else 32


def _power(most: int, cost: int) -> int:
    """Return the largest power of two of iterations that together cost at most `most`; at least 1."""
    return 1 << max(0, (most // max(1, cost)).bit_length() - 1)
