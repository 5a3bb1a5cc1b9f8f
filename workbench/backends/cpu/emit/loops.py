"""Loops as they are emitted: those that threads run one by one, where they look for a stop, and which reads are frozen.

**One by one** (`lone_loops`). `for k in range(row[i], row[i + 1]): s += value[k] * x[column[k]]`: vectors of threads or
iterations would be filled and taken apart element by element, which some targets do slowly. So threads run such a loop
one by one, and its iterations, too. As a rule an index that is loaded is negative in all of them or in none: a branch
costs less than a choice.

**Stopping** (`Strips`). Native code now and then looks at a word that asks it to end. The caller of a kernel's entry
passes it few threads at a time, and looks between two calls. That is not enough if one thread may run long. An
innermost loop of many or an unknown number of iterations is cut into strips: an inner loop of a limited number of
iterations, which LLVM vectorises as it would the whole, and a look after each strip but the last. A loop around such
loops, and the loop over threads, look once in so many iterations. Loops of few known iterations do not look. `%stop`
points to the word, which the function that decides follows (`backends/cpu/native/stopping.py`): it is called if the
word is not 0, and returns whether the launch ends.

**Frozen reads** are for two faults of LLVM 22's loop vectoriser (`tests/backends/cpu/llvm_faults`).

*Reads in an `if` of a thread's own loop.* They are under a mask once the loop is vectorised; InstCombine then merges
this masked load with the select that stands for the end of the `if`, behind the stores in between. A read before the
`if` whose value the `if` uses is no safer: LLVM moves it there. A `freeze` of what is read keeps load and select apart.
Behind every read it would cost up to 1.6 times the run time, so it stands only behind these, and only where the
function changes the same memory: that other arrays lie elsewhere is tested before vectorised code runs.

*Loads that a thread's own loop repeats unchanged, in long loops.* LLVM asks of each value in a loop whether it is the
same in all turns. It asks the operands in turn, along every path, and remembers no answer (`vputils::isSingleScalar`
and `isUniformAcrossVFsAndUFs`). Where all of it is the same (it starts from `c[0]`, which LLVM cannot load before the
loop, since a store in it may change that), `v = v * (1 - v)` doubles the paths, and 24 such lines take minutes. A
`freeze` of the load ends the first walk at once, an interleave count of 1 leaves out the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from workbench.backends.cpu.emit.types import width
from workbench.builtins import TABLE
from workbench.ir.ops import COLD, EFFECTS, LOOPS, READS, SHAPE, SLOT_WRITES
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.limits import (
    EDGE_ITERATIONS,
    LOOK_OPERATIONS,
    OPERATIONS_OF_LOAD,
    REPEATING_OPERATIONS,
    STRIP_OPERATIONS,
    TILE_LANES,
    VERSIONED_LOOPS,
)
from workbench.passes.analysis.cost import constants, known_trips
from workbench.passes.analysis.divergence import Neighbours, is_divergent
from workbench.passes.memory.atomics import by_index
from workbench.types import element, int32


def guarded_reads(function: Function) -> frozenset[Op]:
    """Return the reads whose results have to be frozen: from arrays and slots that the function changes.

    They stand in an `if` of a loop, or are loads from arrays whose values such an `if` uses.
    """
    operations = list(walk(function.body))
    changed = {op.operands[0] for op in operations if op.name in EFFECTS or op.name in SLOT_WRITES}
    inside = _in_ifs(function.body)
    if not changed or not inside:
        return frozenset()
    used = _computed_for(inside, operations)
    reads = [op for op in operations if op.name in READS and (op in inside or not used.isdisjoint(op.results))]
    reads += [op for op in inside if op.name == "slot_read"]
    return frozenset(op for op in reads if op.operands[0] in changed)


def _in_ifs(body: Block) -> dict[Op, None]:
    """Return the operations in an `if` of a thread's own loop; LLVM vectorises no other loops."""
    loops = [block for op in walk(body) if op.name in LOOPS for block in op.blocks]
    parts = [op for block in loops for op in walk(block) if op.name == "if"]
    return {inner: None for op in parts for block in op.blocks for inner in walk(block)}


def _computed_for(users: dict[Op, None], operations: list[Op]) -> set[Value]:
    """Return the operands of the operations, and all values from which they are computed.

    Args:
        users: the operations.
        operations: all of the function.
    """
    sources = {v: op for op in operations for v in (*op.results, *(p for b in op.blocks for p in b.params))}
    used: set[Value] = set()
    waiting = [v for op in users for v in op.operands]
    while waiting:
        value = waiting.pop()
        if value not in used:
            used.add(value)
            op = sources.get(value)
            if op is not None:
                waiting += (*op.operands, *(v for b in op.blocks for v in b.yielded))
    return used


def repeated_loads(function: Function) -> frozenset[Op]:
    """Return the loads in long loops from an address that does not change in the loop.

    Args:
        function: in the form in which it is emitted.
    """
    loops = [op for op in walk(function.body) if op.name in LOOPS]
    return frozenset(load for loop in loops for load in _repeated(loop))


def _repeated(loop: Op) -> Iterator[Op]:
    """Yield the loads in a loop whose address is the same in all iterations; none if the loop is short."""
    inside = [op for block in loop.blocks for op in walk(block)]
    if len(inside) <= REPEATING_OPERATIONS:
        return
    differs = {p for op in (loop, *inside) for block in op.blocks for p in block.params}
    for op in inside:
        if op.blocks or not differs.isdisjoint(op.operands):
            differs.update(op.results)
        elif op.name == "load":
            yield op


def is_serial(op: Op) -> bool:
    """Return whether a `for` does little but load, and some elements at indices that it has loaded."""
    return _only_loads(op) and _mostly_loads(op, lambda _: True) and bool(by_index(walk(op.blocks[0])))


def lone_loops(function: Function) -> frozenset[Op]:
    """Return the `for`s that mostly load from addresses that differ between threads, and end at different times."""
    neighbours = Neighbours(function)
    loops = [op for op in walk(function.body) if _only_loads(op) and is_divergent(op, neighbours.varying)]
    return frozenset(op for op in loops if _mostly_loads(op, lambda load: not neighbours.is_linear(load)))


def _only_loads(op: Op) -> bool:
    """Return whether an operation is a `for` that contains no loop and changes nothing."""
    return op.name == "for" and op.blocks[0].op_names.isdisjoint(LOOPS | EFFECTS)


def _mostly_loads(op: Op, counts: Callable[[Op], bool]) -> bool:
    """Return whether a loop computes little for each load that counts."""
    operations = list(walk(op.blocks[0]))
    loads = [o for o in operations if o.name == "load" and counts(o)]
    computed = sum(width(v.type) for o in operations if o.name in TABLE for v in o.results)
    return computed < OPERATIONS_OF_LOAD * sum(width(o.result.type) for o in loads)


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
