"""Loops of a thread whose iterations are independent, as threads: `for j in range(m): c[i, j] = …` of thread i.

What lies side by side in memory is then accessed by neighbouring threads, so a gang loads and stores vectors, and rows
of gangs share what they read. A launch of n threads becomes one of n rows of m threads. A loop over a stretch of the
last axis (`range(4 * q, 4 * q + 4)` of thread q) continues that axis instead: thread 4 * q + k.

All changes have to be made by loops over one range, in which each iteration has elements of its own; what stands
around them is computed by each of the new threads, so it must be little. Arrays that share memory with one that is
changed, and short rows, keep the function as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, combinations_with_replacement

import msgspec
from msgspec.structs import replace

from workbench.ir.analysis import Analysis, Atom, Form
from workbench.ir.attributes import AXIS
from workbench.ir.build import Builder
from workbench.ir.ops import EFFECTS, LOADS, LOOPS, REPORTS
from workbench.ir.rewrite import Rewriter, replace_body
from workbench.ir.values import Block, Function, Op, Value, indices_of, walk
from workbench.limits import COLLAPSED_ROW_LEAST, GANG_DISTINCT_ARRAYS
from workbench.passes.analysis.intervals import MOST, Prologue
from workbench.types import bool as bool_
from workbench.types import int32, int64

_AGAIN = frozenset({"const", "launch_dim", "shape", "cast", "add", "sub", "mul", "neg", "min", "max"})


class Collapsed(msgspec.Struct, frozen=True):
    """A function whose threads are iterations of a loop of another function's threads.

    Attributes:
        test: a function that ends in a `yield` of whether it may run, the same for all threads; None: it always may.
        function: begins with what computes its `row_length`.
    """

    test: Function | None
    function: Function


def collapsed(function: Function, dense: bool = True) -> Collapsed | None:
    """Return the function with a loop's iterations as threads; None if no loop permits, or gains by, that.

    Args:
        function: in which checks are written out.
        dense: its arrays have neither gaps nor elements that share memory.
    """
    names = function.body.op_names
    if function.block_dim or not function.launch_ndim or not names.isdisjoint(REPORTS | {"slots", "row_length"}):
        return None
    if "for" not in names or names & EFFECTS != frozenset(("store",)):
        return None
    analysis = Analysis(function)
    ranges: dict[object, list[Op]] = {}
    for key, op in _loops(function.body, analysis, ()):
        ranges.setdefault(key, []).append(op)
    candidates = (_Collapse(function, analysis, loops, dense) for loops in ranges.values())
    return next((c.written() for c in candidates if c.is_legal() and c.pays()), None)


def _loops(block: Block, analysis: Analysis, around: tuple[object, ...]) -> Iterator[tuple[object, Op]]:
    """Yield loops that count up and carry nothing, with what those have in common that may become threads together.

    That is their range, and how many loops over this range are around them (`around` has the ranges of those).
    """
    for op in block.ops:
        own = around
        if op.name == "for" and not op.results and analysis.number(op.operands[2]) == 1:
            ends = analysis.form(op.operands[0]), analysis.form(op.operands[1])
            own = (*around, ends)
            yield (ends, around.count(ends)), op
        for inner in op.blocks:
            yield from _loops(inner, analysis, own)


class _Collapse:
    """Loops over one range, whose iterations become threads.

    Attributes:
        loops: the loops.
        dense: arrays have neither gaps nor elements that share memory.
        tid: the atom of the index along the launch's last axis.
        trips: how many iterations they have, as a form.
        stretch: how many of them continue the last axis; 0: they are an axis of their own.
        changed: the arrays that the function changes.
        prologue, ends: computes before all threads where the loops begin and end.
        outside, inside: the operations around the loops, and in them.
    """

    def __init__(self, function: Function, analysis: Analysis, loops: list[Op], dense: bool) -> None:
        self.function, self.analysis, self.loops, self.dense = function, analysis, loops, dense
        self.start, stop = (analysis.form(v) for v in loops[0].operands[:2])
        self.trips = stop.plus(self.start, -1)
        self.tid = Atom("tid", axis=function.launch_ndim - 1)
        trips = self.trips.constant
        own = not self.trips.terms and trips > 1 and self.start.terms == {self.tid: trips}
        self.stretch = trips if own else 0
        self.changed = {op.operands[0] for op in walk(function.body) if op.name == "store"}
        self.prologue = Prologue(function, (), _AGAIN)
        self.ends = [self.prologue.wide(v) for v in loops[0].operands[:2]]
        self.outside = list(self._outside(function.body))
        self.inside = [op for loop in loops for op in walk(loop.blocks[0])]

    def _outside(self, block: Block) -> Iterator[Op]:
        """Yield the operations that are in none of the loops."""
        for op in block.ops:
            if op not in self.loops:
                yield op
                for inner in op.blocks:
                    yield from self._outside(inner)

    def is_legal(self) -> bool:
        """Return whether each iteration changes elements that no other one accesses, and all threads have as many."""
        if any(op.operands[0] in self.changed for op in self.outside if op.name in LOADS | EFFECTS):
            return False
        if not self.stretch and None in self.ends:
            return False
        accesses = [op for op in self.inside if op.name in LOADS | EFFECTS]
        return all(self._is_own([op for op in accesses if op.operands[0] is array]) for array in self.changed)

    def _is_own(self, accesses: list[Op]) -> bool:
        """Return whether accesses to one array tell iterations apart by their last index, in the same way."""
        forms = {self._of_iteration(op) for op in accesses}
        return len(forms) == 1 and None not in forms

    def _of_iteration(self, op: Op) -> Form | None:
        """Return the last index of an access in the range's first iteration; None unless the next one has the next."""
        index, size = self.analysis.index(indices_of(op)[-1])
        counters = {Atom("value", value=loop.blocks[0].params[0]) for loop in self.loops}
        rest = {atom: n for atom, n in index.terms.items() if atom not in counters}
        known = all(atom == self.tid or self.analysis.is_same(atom) for atom in rest)
        counted = [n for atom, n in index.terms.items() if atom in counters]
        return Form(index.constant, rest) if known and counted == [1] and size is None else None

    def pays(self) -> bool:
        """Return whether threads change rows of their own, and little is computed around the loops."""
        *outer, last = indices_of(next(op for op in self.inside if op.name == "store"))
        apart = any(self.tid in self.analysis.form(v).terms for v in outer)
        apart = apart and self.tid not in self.analysis.form(last).terms
        long = bool(self.trips.terms) or self.trips.constant >= COLLAPSED_ROW_LEAST
        loops = [op for op in self.outside if op.name in LOOPS]
        around = all(any(op in self.loops for block in loop.blocks for op in walk(block)) for loop in loops)
        little = len(self.outside) <= len(self.inside) and len(self._pairs()) <= GANG_DISTINCT_ARRAYS
        return around and little and (self._only_stretches() if self.stretch else apart and long)

    def _only_stretches(self) -> bool:
        """Return whether the index along the last axis says nothing but where the loops begin and end."""
        depend = {op.result for op in self.outside if op.name == "tid" and op.attrs[AXIS] == self.tid.axis}
        for op in walk(self.function.body):
            if op not in self.loops and not depend.isdisjoint(op.operands):
                if op.blocks or op.name not in _AGAIN:
                    return False
                depend.update(op.results)
        return True

    def written(self) -> Collapsed:
        """Return the function with the iterations as threads."""
        prologue, axis, conditions = self.prologue, self.tid.axis, list[Value]()
        b = prologue.builder
        if self.stretch:
            turns = prologue.number(self.stretch)
            length = prologue.emit("mul", b.one("launch_dim", (), int64, {AXIS: axis}), turns)
            conditions.append(prologue.emit("le", length, prologue.number(MOST), type=bool_))
        else:
            start, stop = self.ends
            assert start and stop
            length = turns = prologue.emit("sub", stop, start)
            if self.trips.terms:
                conditions.append(prologue.emit("ge", length, prologue.number(COLLAPSED_ROW_LEAST), type=bool_))
        once = b.body().ops
        conditions += [b.one("apart", pair, bool_) for pair in self._pairs()]
        b.yield_(*[prologue.fold("and_", conditions, bool_)] if conditions else ())
        body = Builder()
        body.extend(once)
        body.emit("row_length", (length, turns))
        thread = body.one("tid", (), int32, {AXIS: axis if self.stretch else axis + 1})
        first = body.const(self.start.constant)

        def change(on: Rewriter, op: Op) -> Iterable[Op] | None:
            if op not in self.loops:
                return None
            (block,), start = op.blocks, first if self.stretch else op.operands[0]
            index = Op("add", (thread, start), block.params, location=op.location)
            return (index, *on.block(block).ops[:-1])

        body.extend(Rewriter(change).block(self.function.body).ops)
        function = replace_body(self.function, body.body())
        if not self.stretch:
            function = replace(function, launch_ndim=function.launch_ndim + 1)
        return Collapsed(replace_body(self.function, b.body()) if conditions else None, function)

    def _pairs(self) -> list[tuple[Value, Value]]:
        """Return pairs of arrays that must share no memory, since one is changed: itself twice, if it is not dense."""
        arrays = dict.fromkeys(op.operands[0] for op in walk(self.function.body) if op.name in LOADS | EFFECTS)
        pairs = combinations(arrays, 2) if self.dense else combinations_with_replacement(arrays, 2)
        return [pair for pair in pairs if not self.changed.isdisjoint(pair)]
