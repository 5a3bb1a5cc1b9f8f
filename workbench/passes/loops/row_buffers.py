"""Rows that a loop goes through again in each iteration: q[i, c] of thread i, for all c, for each t.

To transpose such a row anew in each iteration takes longer than what is computed with it. So a whole row lies
transposed in slots while the loop around runs: it is read before that loop, and written behind it if it was changed.
That needs rows that fit the slots, and arrays that share no memory with what the loop changes; whether it is so is
computed when running, and the strips of `row_strips` do without it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import reduce

import msgspec

from workbench.ir.analysis import Analysis
from workbench.ir.attributes import SCALAR, STEP, Number
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, EFFECTS, OPAQUE, TILED
from workbench.ir.values import Op, Value, array_of, dtype_of, indices_of, walk
from workbench.limits import EXPANDED_BYTES, GANG_DISTINCT_ARRAYS
from workbench.passes.analysis.divergence import is_divergent
from workbench.types import Scalar, int32
from workbench.types import bool as bool_

_SYNCHRONISING = OPAQUE | TILED | {"while", "atomic_load", "atomic_swap", "atomic"}
"""Operations that may wait for another thread, or whose accesses are not known."""


class Buffer(msgspec.Struct):
    """A row, and the slots that hold it while a loop runs.

    Attributes:
        array, outer: of the row, and its indices but for the last one.
        start, stop: the last index goes through the numbers from `start` up to `stop`.
        loops: the loops around its accesses, from the one around which it is moved inwards.
        ops: its accesses.
        slots: hold the row.
        fits: whether they do, a bool that is computed when running.
    """

    array: Value
    outer: tuple[Value, ...]
    start: Value
    stop: Value
    loops: Sequence[Op]
    ops: list[Op]
    slots: Value
    fits: Value

    @property
    def is_changed(self) -> bool:
        """Return whether the loop stores to the row."""
        return any(op.name == "store" for op in self.ops)


class Nest:
    """Operations of a block, and the rows that loops go through several times in them.

    Attributes:
        ops: a loop in which loops go through rows, or all operations from one such loop to another.
        buffers: those rows.
    """

    def __init__(
        self,
        ops: Sequence[Op],
        analysis: Analysis,
        varying: frozenset[Value],
        known: Mapping[Value, Number],
        alone: Container[Op] = (),
    ) -> None:
        """Find the rows.

        Args:
            ops: the operations.
            analysis: of the function.
            varying: the values that differ between threads.
            known: the function's constants.
            alone: loops that threads go through one by one.
        """
        self.ops, self.analysis, self.varying, self.known, self.alone = ops, analysis, varying, known, alone
        inside = [o for op in ops for o in (op, *(i for b in op.blocks for i in walk(b)))]
        self.own = {v for o in inside for v in (*o.results, *(p for b in o.blocks for p in b.params))}
        self.accesses = [o for o in inside if o.name in ACCESSES]
        self.changed = dict.fromkeys(o.operands[0] for o in self.accesses if o.name in EFFECTS)
        unknown = any(o.name in _SYNCHRONISING for o in inside)
        rows, around = dict[object, Buffer](), defaultdict[object, set[Op]](set)
        for access, loops in () if unknown else self._in_loops(ops, ()):
            if self._is_row(access, loops):
                array, start, stop = access.operands[0], *loops[-1].operands[:2]
                outer = indices_of(access)[:-1]
                key = (array, *outer, analysis.form(start), analysis.form(stop), loops[:-1])
                unset = Value(bool_, "fits")
                rows.setdefault(key, Buffer(array, outer, start, stop, loops, [], array, unset)).ops.append(access)
                around[key].add(loops[-1])
        again = [row for key, row in rows.items() if len(ops) == 1 or (len(around[key]) > 1 and row.is_changed)]
        self.buffers = [row for row in again if row.array not in self.changed or self._is_alone(row)]
        if len(self._pairs()) > GANG_DISTINCT_ARRAYS:
            self.buffers = []

    def _in_loops(self, ops: Sequence[Op], loops: tuple[Op, ...]) -> Iterator[tuple[Op, tuple[Op, ...]]]:
        """Yield the loads and stores that are always made in loops, with the loops around them."""
        for op in ops:
            if op.name in ("load", "store") and len(loops) > (len(self.ops) == 1):
                yield op, loops
            elif op.name == "for" and not (op.attrs.get(SCALAR) or op in self.alone or not self._is_entered(op, loops)):
                yield from self._in_loops(op.blocks[0].ops, (*loops, op))

    def _is_entered(self, loop: Op, loops: Sequence[Op]) -> bool:
        """Return whether rows are looked for in a `for` inside others: among several operations, not in loops."""
        return self.own.isdisjoint(loop.operands[:3]) and (len(self.ops) == 1 or not loops)

    def _is_row(self, access: Op, loops: Sequence[Op]) -> bool:
        """Return whether an access goes along a row of the thread's own, from element to element, in the last loop."""
        array, loop = array_of(access.operands[0]), loops[-1]
        *outer, last = indices_of(access)
        scalars = not array.pitch and isinstance(array.dtype, Scalar) and array.dtype.size >= 4
        along = last is loop.blocks[0].params[0] and last.type == int32 and self.known.get(loop.operands[2]) == 1
        steps = all(self._step(around) is not None for around in loops)
        own = self.own.isdisjoint(outer) and not self.varying.isdisjoint(outer)
        return scalars and along and steps and own and not is_divergent(loop, self.varying)

    def _is_alone(self, row: Buffer) -> bool:
        """Return whether the operations access the row's array through the row alone."""
        return all(op in row.ops for op in self.accesses if op.operands[0] is row.array)

    def _step(self, loop: Op) -> Number | None:
        """Return the step of a `for`; None if it is not known."""
        return self.known.get(loop.operands[2]) or None

    def _pairs(self) -> list[tuple[Value, Value]]:
        """Return pairs of arrays that must share no memory: what the operations change, and their rows.

        If they change a row, these are all of their arrays, since then no access may go past the slots.
        """
        rows = [row.array for row in self.buffers]
        if not self.changed.keys().isdisjoint(rows):
            rows = [op.operands[0] for op in self.accesses]
        pairs = {frozenset((a, b)): (a, b) for a in dict.fromkeys(rows) for b in self.changed if a is not b}
        return list(pairs.values())

    def open(self, b: Builder, slots: Sequence[Value]) -> None:
        """Emit what comes before the operations: whether the rows fit their slots, and loads of those that are read.

        Args:
            b: receives the operations.
            slots: for each row.
        """
        conditions = [b.one("apart", pair, bool_) for pair in self._pairs()]
        for start, stop in dict.fromkeys((row.start, row.stop) for row in self.buffers):
            most = b.const(min(row_elements(row.array) for row in self.buffers))
            conditions.append(b.one("le", (b.one("sub", (stop, start), int32), most), bool_))
        fits = reduce(lambda one, other: b.one("bit_and", (one, other), bool_), conditions)
        for row, own in zip(self.buffers, slots, strict=True):
            row.slots, row.fits = own, fits
            if any(op.name == "load" for op in row.ops):
                self._move(b, "row_load", row)

    def close(self, b: Builder) -> None:
        """Emit what comes behind the operations: the rows that they changed are written."""
        for row in self.buffers:
            if row.is_changed:
                self._move(b, "row_store", row)

    def _move(self, b: Builder, name: str, row: Buffer) -> None:
        """Emit a move of a whole row, if it fits its slots and the loops around its accesses have iterations."""
        runs = row.fits
        for loop in row.loops:
            start, stop = loop.operands[:2]
            ends = (start, stop) if (self._step(loop) or 0) > 0 else (stop, start)
            runs = b.one("bit_and", (runs, b.one("lt", ends, bool_)), bool_)
        with b.block() as then:
            count = b.one("sub", (row.stop, row.start), int32)
            b.emit(name, (row.array, *row.outer, row.start, row.slots, count), (), STEP.of(1))
            b.yield_()
        with b.block() as orelse:
            b.yield_()
        b.if_(runs, then.block, orelse.block)


def row_elements(array: Value) -> int:
    """Return how many elements of a row slots hold."""
    dtype = dtype_of(array)
    assert isinstance(dtype, Scalar)
    return EXPANDED_BYTES // dtype.size
