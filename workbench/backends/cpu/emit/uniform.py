"""Loads that a loop repeats unchanged, and whether what is computed from them needs to be kept from LLVM's view.

LLVM's loop vectoriser asks of each value in a loop whether it is the same in all lanes. It asks the operands in turn,
along every path, and remembers no answer (`vputils::isSingleScalar` and `isUniformAcrossVFsAndUFs` of LLVM 22). Where
all of it is the same (it starts from `c[0]`, which LLVM cannot load before the loop, since a store in it may change
that), `v = v * (1 - v)` doubles the paths, and 24 such lines take minutes. A `freeze` of the load ends the first walk
at once, an interleave count of 1 leaves out the second; results are the same. Paths are counted, so other code stays as
it is.

What an `if` chooses by a condition of each thread is not the same in all lanes, and ends the walk. But where one
condition decides another (`i > 3` holds in `i > 4`), jump threading goes from the one straight into the other. There
the value is one side's, and may be the same for all again. So each value is looked at twice: as it is in general, and
as it is once the `if`s before it are decided, which counts inside other such `if`s.
"""

from __future__ import annotations

from workbench.ir.attributes import AXIS, VALUE
from workbench.ir.ops import LEAD, UPDATES
from workbench.ir.values import Block, Function, Op, Value
from workbench.limits import (
    COUNTED_ITERATIONS,
    FULLY_UNROLLED_OPERATIONS,
    PEELED_ITERATIONS,
    UNIFORM_PATHS,
    UNIFORM_SWEEPS,
)

_DIGIT = 32  # bits in which paths are counted from one loop's carried values


def uniform_loads(function: Function) -> frozenset[Op]:
    """The loads to freeze: those at an address that stays in some loop around them, the one over threads included.

    Args:
        function: as it is emitted, with builtins on scalars.

    Returns:
        None of them where LLVM gets by.
    """
    variation = _Variation(function)
    if not variation.found():
        return frozenset()
    # Loops carry values back, so one sweep learns too little; first without, since most functions have no such load at
    # all.
    variation.settle()
    loads = variation.found()
    if not loads:
        return frozenset()
    decided = _Variation(function, decided=True)
    decided.settle()
    return loads if _Paths(variation, decided, loads).explode() else frozenset()


class _Variation:
    """What each value varies with: one bit per loop, 1 for the loop over threads.

    Attributes:
        decided: whether what an `if` gives varies as its sides do, whatever its condition: other `if`s have decided it.
        of: the bits of each value; none if there is no entry.
        around: the bits of the loops around each load.
    """

    def __init__(self, function: Function, decided: bool = False) -> None:
        self.function = function
        self.decided = decided
        self.of: dict[Value, int] = {}
        self.around: dict[Op, int] = {}
        self.loops: dict[Op, int] = {}
        self.changed = False
        self.sweeps = 0
        self.sweep()

    def found(self) -> frozenset[Op]:
        """Return the loads at an address that some loop around them leaves as it is."""
        return frozenset(op for op, around in self.around.items() if self.stays(op.result, around))

    def stays(self, value: Value, around: int) -> bool:
        """Return whether one of the loops leaves the value as it is."""
        return bool(around & ~self.of.get(value, 0))

    def settle(self) -> None:
        """Sweep until nothing changes, or often enough."""
        while self.changed and self.sweeps < UNIFORM_SWEEPS:
            self.sweep()

    def sweep(self) -> None:
        """Once over everything, in order; what loops carry back is seen by the next sweep."""
        self.changed = False
        self.sweeps += 1
        self.block(self.function.body, 1)

    def learn(self, value: Value, bits: int) -> None:
        known = self.of.get(value, 0)
        if bits & ~known:
            self.of[value] = known | bits
            self.changed = True

    def together(self, values: tuple[Value, ...]) -> int:
        of, bits = self.of, 0
        for value in values:
            bits |= of.get(value, 0)
        return bits

    def block(self, block: Block, around: int) -> None:
        for op in block.ops:
            if op.blocks:
                self.structured(op, around)
                continue
            bits = self.together(op.operands)
            if op.name == "tid":
                bits = int(op.attrs[AXIS] == self.function.launch_ndim - 1)
            elif op.name == "load":
                self.around[op] = around
            elif op.name in UPDATES:
                bits = around
            elif op.name == "slot_write":
                self.learn(op.operands[0], bits)
            for value in op.results:
                self.learn(value, bits)

    def structured(self, op: Op, around: int) -> None:
        if op.name == "if":
            bits = 0 if self.decided else self.together(op.operands)
            for block in op.blocks:
                self.block(block, around)
            for n, value in enumerate(op.results):
                self.learn(value, bits | self.together(tuple(b.yielded[n] for b in op.blocks)))
            return
        # A bit per loop, so that "varies with" is an `or` of machine words.
        bit = self.loops.setdefault(op, 2 << len(self.loops))
        first = LEAD[op.name]
        for block in op.blocks:
            carried = block.params[len(block.params) - len(op.results) :]
            for value in block.params[: len(block.params) - len(carried)]:
                self.learn(value, bit | self.together(op.operands[:first]))
            for value, init, after in zip(carried, op.operands[first:], op.blocks[-1].yielded, strict=True):
                self.learn(value, bit | self.together((init, after)))
            self.block(block, around | bit)
        for value, init, after in zip(op.results, op.operands[first:], op.blocks[-1].yielded, strict=True):
            self.learn(value, self.together((init, after)) & ~bit)


class _Paths:
    """How many paths lead from the loads to each value, along those that some loop leaves as they are.

    A count is an integer of digits: from loads, from what the outermost loop around carries, from what the next does.

    Attributes:
        variation: of the values as they are in general.
        decided: of the values where `if`s are decided.
        inside: how many `if`s that each thread decides are around; paths multiply in one, and where a value is the same
            in general. Elsewhere a walk ends at the result of an `if`.
    """

    def __init__(self, variation: _Variation, decided: _Variation, loads: frozenset[Op]) -> None:
        self.variation = variation
        self.decided = decided
        self.inside = 0
        self.loads = loads
        self.of: dict[Value, int] = {}
        self.constants: dict[Value, int] = {}
        self.many = sum((2**_DIGIT - 1 - UNIFORM_PATHS) << _DIGIT * level for level in range(64))
        self.exploded = False

    def explode(self) -> bool:
        """Return whether there are too many to some value."""
        self.block(self.variation.function.body, 1, 0)
        return self.exploded

    def learn(self, value: Value, count: int, around: int) -> None:
        if count and self.decided.stays(value, around):
            self.of[value] = count
            self.exploded |= bool(count & self.many)

    def total(self, values: tuple[Value, ...]) -> int:
        of, count = self.of, 0
        for value in values:
            count += of.get(value, 0)
        return count

    def most(self, values: tuple[Value, ...]) -> int:
        return max((self.of.get(v, 0) for v in values), default=0)

    def block(self, block: Block, around: int, level: int) -> int:
        """Count in a block; returns how many operations it is."""
        operations = 0
        for op in block.ops:
            if self.exploded:
                return operations
            if op.blocks:
                operations += self.structured(op, around, level)
                continue
            operations += 1
            if op.name == "const" and isinstance(number := op.attrs[VALUE], int):
                self.constants[op.result] = number
            elif op in self.loads:
                self.learn(op.result, 1, around)
            elif op.name == "slot_write":
                self.learn(op.operands[0], self.most((op.operands[0], op.operands[-1])), around)
            elif op.name not in ("load", "yield"):
                for value in op.results:
                    multiplies = op.name not in ("vec", "insert") and (
                        self.inside or self.variation.stays(value, around)
                    )
                    self.learn(value, (self.total if multiplies else self.most)(op.operands), around)
        return operations

    def structured(self, op: Op, around: int, level: int) -> int:
        if op.name == "if":
            each = not self.variation.stays(op.operands[0], around)
            self.inside += each
            operations = sum(self.block(b, around, level) for b in op.blocks)
            self.inside -= each
            together, condition = (self.most, 0) if each else (self.total, self.total(op.operands))
            for n, value in enumerate(op.results):
                self.learn(value, condition + together(tuple(b.yielded[n] for b in op.blocks)), around)
            return operations
        return self.loop(op, around, level + 1)

    def loop(self, op: Op, around: int, level: int) -> int:
        """What the loop carries counts as 1 inside; behind it, as often as the iterations written out make it."""
        init = op.operands[LEAD[op.name] :]
        within = around | self.variation.loops[op]
        operations = 0
        for block in op.blocks:
            for value in block.params[len(block.params) - len(init) :]:
                self.learn(value, 1 << _DIGIT * level, within)
            operations += self.block(block, within, level)
        trips = max(1, min(self.trips(op), FULLY_UNROLLED_OPERATIONS // max(1, operations)))
        own = (1 << _DIGIT) - 1 << _DIGIT * level
        after = [self.of.get(v, 0) for v in op.blocks[-1].yielded]
        gain = max(((count & own) >> _DIGIT * level for count in after), default=0)
        # Enough to exceed UNIFORM_PATHS if it grows at all; the true power would be a number of thousands of digits.
        grown = max(1, gain) ** min(trips, UNIFORM_PATHS.bit_length())
        self.exploded |= grown > UNIFORM_PATHS
        before = self.most(init) * grown
        for value, count in zip(op.results, after, strict=True):
            self.learn(value, before + (count & ~own) * trips, around)
        return operations * trips

    def trips(self, op: Op) -> int:
        """How many iterations LLVM may write out."""
        if op.name == "while":
            return COUNTED_ITERATIONS
        bounds = [self.constants.get(v) for v in op.operands[:3]]
        start, stop, step = bounds
        return len(range(start, stop, step)) if start is not None and stop is not None and step else PEELED_ITERATIONS
