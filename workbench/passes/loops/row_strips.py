"""Rows of the threads' own: gone through together by a gang, and held in slots by a loop that returns to them.

**Strips.** In turn k of its loop thread i accesses a[i, k], so in a turn the threads of a gang access elements that are
a row apart, which no vector load does. So such a loop becomes one over strips of turns. Before a strip, as many
elements of each thread's row are read as vectors along the row and transposed, so that those of one turn lie side by
side (`row_load`); behind it, what was written is transposed back (`row_store`), or added row after row (`row_add`).
What all threads add to one element in a turn, to the next one in the next turn, is summed behind the strip, too
(`row_total`): along the row instead of across the lanes. No element is accessed that the turns themselves do not
access. Loops that carry nothing, or only sums of integers, are not done so, but thread by thread, in LLVM's vectors,
unless a loop around them goes through the same rows.

**Rows in slots.** A loop may go through rows again in each iteration: q[i, c] of thread i, for all c, for each t. To
transpose such a row again in each iteration takes longer than what is computed with it. So a whole row lies transposed
in slots while the loop around runs: it is read before that loop, and written behind it if it was changed. That needs
rows that fit the slots, and arrays that share no memory with what the loop changes; whether it is so is computed when
running, and strips do without it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce

import msgspec

from workbench.builtins import TABLE
from workbench.ir.analysis import Analysis, Atom
from workbench.ir.build import Builder, Rewriter, copy_op, fresh, replace_body
from workbench.ir.ops import ACCESSES, CHEAP, EFFECTS, LOOPS, OPAQUE, PURE, SCALAR, STEP, TILED, Number, attributes
from workbench.ir.values import Block, Function, Op, Value, array_of, definitions, dtype_of, indices_of, walk
from workbench.limits import EXPANDED_BYTES, GANG_DISTINCT_ARRAYS, TRANSPOSED_BLOCK, TRANSPOSED_STRIP
from workbench.passes.analysis.cost import constants, known_trips
from workbench.passes.analysis.divergence import is_divergent, varying_values
from workbench.types import Scalar, Type, Vector, int32, is_integer
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


def with_strips(function: Function, plain: bool) -> Function:
    """Return the function with loops over strips in place of those in which threads access rows of their own.

    Args:
        function: as it is about to be emitted, for dense arrays.
        plain: the code runs on one core, so additions need not be atomic.
    """
    about = _FunctionFacts(function, plain)
    body = Rewriter(partial(_change, about)).block(function.body)
    return replace_body(function, Block(body.params, (*about.buffers.body().ops, *body.ops)))


class _Row(msgspec.Struct):
    """The accesses to the element (array, *indices) of a row that a loop makes in every iteration.

    Attributes:
        ops: the accesses.
        after: the operation that replaces them behind a strip; empty if they only read.
        term: what is added, if they are an addition; None if not.
        buffer: what holds the whole row in the meantime, if it fits; None if the row is moved strip by strip.
    """

    array: Value
    indices: tuple[Value, ...]
    ops: list[Op]
    after: str = ""
    term: Value | None = None
    buffer: Buffer | None = None


class _FunctionFacts:
    """A function's analyses, and the slots for strips, which its loops share.

    Attributes:
        plain: additions need not be atomic.
        varying: the values that differ between threads.
        analysis: of the function's values.
        known: its constants.
        axis: the last axis of the launch.
        uses: how many operands each value is.
        buffers: receives the slots of strips, before everything else: loops one after the other share them.
        slots: these slots, by the type of their elements.
        taken: by loop, how many slots of each type it and the loops inside use.
        rows: slots for whole rows, by the type of their elements.
        buffered: by access, what holds its row around the loops that are being rewritten.
        begins, ends: nests of several loops, by the first and the last of them.
    """

    def __init__(self, function: Function, plain: bool) -> None:
        self.plain = plain
        self.varying = varying_values(function)
        self.analysis = Analysis(function)
        self.known: dict[Value, Number] = constants(function.body)
        self.axis = function.launch_ndim - 1
        self.uses = Counter([v for op in walk(function.body) for v in op.operands])
        self.buffers = Builder()
        self.slots: dict[Type, list[Value]] = defaultdict(list)
        self.taken: dict[Op, Counter[Type]] = {}
        self.rows: dict[Type, list[Value]] = defaultdict(list)
        self.buffered: dict[Op, Buffer] = {}
        self.begins, self.ends = dict[Op, Nest](), dict[Op, Nest]()
        for block in (function.body, *(b for op in walk(function.body) for b in op.blocks)):
            self._note_nest(block)

    def nest(self, ops: Sequence[Op], alone: Container[Op] = ()) -> Nest:
        """Return the nest of some operations of a block; threads go one by one through the loops `alone`."""
        return Nest(ops, self.analysis, self.varying, self.known, alone)

    def _note_nest(self, block: Block) -> None:
        """Note the nest of a block's loops and what lies between them, if they go through rows several times."""
        positions = [k for k, op in enumerate(block.ops) if op.name == "for" and not op.attrs.get(SCALAR)]
        if len(positions) > 1:
            ops = block.ops[positions[0] : positions[-1] + 1]
            nest = self.nest(ops, {op for op in ops if op.name == "for" and _Loop(self, op, op).is_faster_alone()})
            if nest.buffers:
                self.begins[ops[0]] = self.ends[ops[-1]] = nest

    def storage(self, loop: Op, types: Sequence[Scalar | Vector]) -> list[Value]:
        """Return slots of these types for a loop's strips; loops inside use others."""
        inside = [self.taken[op] for op in walk(loop.blocks[0]) if op in self.taken]
        taken = Counter[Type]({t: max(one[t] for one in inside) for one in inside for t in one})
        result = list[Value]()
        for type in types:
            if len(self.slots[type]) == taken[type]:
                self.slots[type].append(self.buffers.slots(type, TRANSPOSED_STRIP))
            result.append(self.slots[type][taken[type]])
            taken[type] += 1
        self.taken[loop] = taken
        return result

    def open(self, b: Builder, nest: Nest) -> None:
        """Emit what comes before a nest; from then on its rows, without those that others have, are in slots."""
        nest.buffers = [row for row in nest.buffers if self.buffered.keys().isdisjoint(row.ops)]
        if nest.buffers:
            nest.open(b, self._whole_rows([row.array for row in nest.buffers]))
        self.buffered |= {access: row for row in nest.buffers for access in row.ops}

    def close(self, b: Builder, nest: Nest) -> None:
        """Emit what comes behind a nest."""
        nest.close(b)
        for access in [access for row in nest.buffers for access in row.ops]:
            del self.buffered[access]

    def _whole_rows(self, arrays: Sequence[Value]) -> list[Value]:
        """Return slots for whole rows of arrays, which no loop that is being rewritten uses."""
        taken = {buffer.slots for buffer in self.buffered.values()}
        result = list[Value]()
        for array in arrays:
            slots = self.rows[dtype_of(array)]
            free = next((own for own in slots if own not in taken), None)
            if free is None:
                free = self.buffers.slots(dtype_of(array), row_elements(array))
                slots.append(free)
            taken.add(free)
            result.append(free)
        return result


def _change(about: _FunctionFacts, rewriter: Rewriter, op: Op) -> Iterable[Op] | None:
    """Return what replaces a `for`: itself, marked SCALAR if threads are faster alone, or loops over strips.

    An operation with SCALAR is returned unchanged; None for any other one.
    """
    if op.attrs.get(SCALAR):  # threads go through it one by one
        return (op,)
    if op.name != "for":
        return None
    b = Builder()
    b.location = op.location
    if op in about.begins:
        about.open(b, about.begins[op])
    nest = about.nest((op,))
    about.open(b, nest)
    loop = _Loop(about, op, rewriter.inside(op))
    if loop.is_faster_alone():
        b.append(op.replace(attrs=attributes({**op.attrs, SCALAR: True})))
    else:
        b.extend(loop.in_strips())
    about.close(b, nest)
    if op in about.ends:
        about.close(b, about.ends[op])
    return b.body().ops


class _Loop:
    """A `for` loop, the rows of arrays that it accesses, and the loops over strips that may replace it."""

    def __init__(self, about: _FunctionFacts, original: Op, op: Op) -> None:
        """Take the loop as it was (`original`), and with the loops inside it already in strips (`op`)."""
        self.about, self.original, self.op = about, original, op
        (self.body,) = op.blocks
        self.counter = self.body.params[0]
        self.step, self.trips = int(about.known.get(op.operands[2], 0)), known_trips(op, about.known)
        self.inside = set(walk(self.body))
        self.defs = about.analysis.defs | definitions(self.body)  # loops in this one have been rewritten
        self.carried = {v for o in (op, *self.inside) for block in o.blocks for v in block.params}
        self.accesses = [o for o in walk(self.body) if o.name in ACCESSES]
        self.rows = self._rows(self._is_long())

    def _is_long(self) -> bool:
        """Return whether the loop counts int32 in steps of 1 or -1, through iterations that all threads share.

        It is False if it is known to have fewer iterations than a strip.
        """
        one_by_one = self.step in (1, -1) and self.op.operands[0].type == int32
        few = self.trips is not None and self.trips < TRANSPOSED_STRIP
        return one_by_one and not few and not is_divergent(self.op, self.about.varying)

    def is_faster_alone(self) -> bool:
        """Return whether LLVM vectorises a loop along rows of the threads' own: one that carries only sums of integers.

        Float sums have an order.
        """
        if any(row.buffer for row in self.rows) or not self.accesses:
            return False
        moves = self._moves() or sums_integers(self.original)
        if not self._is_long() or not moves:
            return False
        apart = [not self.about.varying.isdisjoint(indices_of(op)) for op in self.accesses]
        return any(apart) and all(map(self._is_along, self.accesses))

    def _moves(self) -> bool:
        """Return whether iterations carry nothing, have no blocks, and add plainly or not at all."""
        added = [op for op in self.accesses if op.name == "atomic_add"]
        plain = not added or (self.about.plain and not any(self.about.uses[op.result] for op in added))
        names = {op.name for op in self.inside}
        simple = all(name in TABLE or name in _MOVES for name in names)
        return not self.op.results and plain and simple and not names.isdisjoint(EFFECTS)

    # Which rows there are.

    def _rows(self, strips: bool) -> list[_Row]:
        """Return the rows that the body accesses and that are in slots, each with all its accesses.

        Without `strips`, these are only those that lie there as a whole.
        """
        rows: dict[tuple[Value, ...], _Row] = {}
        for op in self.body.ops:
            buffer = self.about.buffered.get(op)
            if buffer or (strips and op.name in ("load", "store", "atomic_add") and self._is_row(op)):
                key = op.operands[: 1 + len(indices_of(op))]
                rows.setdefault(key, _Row(key[0], key[1:], [], buffer=buffer)).ops.append(op)
        for row in rows.values():
            if row.buffer and any(op.name == "store" for op in row.ops):
                row.after = "row_store"
        return [row for row in rows.values() if row.buffer or (self._is_alone(row) and self._apply_rule(row))]

    def _is_row(self, op: Op) -> bool:
        """Return whether an access is to a row of scalars of at least 4 bytes, by elements side by side."""
        array = array_of(op.operands[0])
        return not array.pitch and isinstance(array.dtype, Scalar) and array.dtype.size >= 4 and self._is_along(op)

    def _is_along(self, op: Op) -> bool:
        """Return whether the next iteration accesses the next element of a row, or the one before."""
        *outer, last = indices_of(op)
        others = dict(self.about.analysis.form(last).terms)
        if others.pop(Atom("value", value=self.counter), 0) not in (1, -1):
            return False
        return all(map(self._is_invariant, (*outer, *(atom.value for atom in others if atom.value is not None))))

    def _is_own(self, row: _Row) -> bool:
        """Return whether neighbouring threads access different rows, or parts of one at least a block apart."""
        *outer, last = row.indices
        others = self.about.analysis.form(last).terms
        varying = self.about.varying
        if any(v in varying for v in (*outer, *(a.value for a in others if a.value is not self.counter))):
            return True
        return abs(others.get(Atom("tid", axis=self.about.axis), 0)) >= TRANSPOSED_BLOCK

    def _apply_rule(self, row: _Row) -> bool:
        """Set the row's `after` and `term`; return False if there is no rule for such accesses."""
        names = [op.name for op in row.ops]
        own = self._is_own(row)
        if "atomic_add" in names:
            (op,) = row.ops
            row.term, row.after = op.operands[-1], "row_add" if own else "row_total"
            same = own or self.about.varying.isdisjoint(row.indices)
            return same and not self.about.uses[op.result] and (self.about.plain or not own)
        if names == ["load", "store"]:
            total = self.defs.get(row.ops[1].operands[-1])
            if total is not None and total.name == "add" and row.ops[0].result in total.operands:
                one, other = total.operands
                term = other if one is row.ops[0].result else one
                if (
                    term is not row.ops[0].result
                    and self.about.uses[row.ops[0].result] == self.about.uses[total.result] == 1
                ):
                    row.ops.append(total)
                    row.after, row.term = "row_add", term
                    return own
        row.after = "row_store" if "store" in names else ""
        return own

    def _is_invariant(self, value: Value) -> bool:
        """Return whether a value is the same in all iterations, and can be computed before them."""
        op = self.defs.get(value)
        if op not in self.inside:
            return value not in self.carried
        pure = (op.name in PURE or op.name in TABLE) and not op.blocks
        return pure and all(map(self._is_invariant, op.operands))

    def _is_alone(self, row: _Row) -> bool:
        """Return whether the loop changes no element of the row's array, or changes and reads it by these alone."""
        every = [op for op in self.accesses if op.operands[0] is row.array]
        if not any(op.name in EFFECTS for op in every):
            return True
        return len(every) == len(row.ops) and (len(every) == 1 or all(op.name != "atomic_add" for op in every))

    # The loop over strips.

    def in_strips(self) -> tuple[Op, ...]:
        """Return the operations that replace the loop: itself if there are no rows, else a loop over strips.

        The code may test whether arrays overlap and, if it only reads, whether a row fills a strip; else it runs the
        loop.
        """
        pairs = self._pairs()
        if not self.rows or len(pairs) > GANG_DISTINCT_ARRAYS:
            return (self.op,)
        b = Builder()
        b.location = self.op.location
        conditions = [b.one("apart", pair, bool_) for pair in pairs]
        changes = any(row.after for row in self.rows)
        if self.trips is None and not changes and not any(row.buffer for row in self.rows):
            start, stop = self.op.operands[:2] if self.step == 1 else self.op.operands[1::-1]
            long = b.one("add", (start, b.const(TRANSPOSED_STRIP)), int32)
            conditions.append(b.one("ge", (stop, long), bool_))
        if not conditions:
            self._strips(b, self.op.results)
            return b.body().ops
        all_hold = self._all(b, conditions)
        with b.block() as then:
            results = tuple(map(fresh, self.op.results))
            self._strips(b, results)
            b.yield_(*results)
        with b.block() as orelse:
            results = tuple(map(fresh, self.op.results))
            # Turn by turn, what a loop changes would not be changed in the order of threads.
            attrs = attributes({**self.op.attrs, SCALAR: True})
            b.append(self.original.replace(results=results, attrs=attrs) if pairs else self.op.replace(results=results))
            b.yield_(*results)
        b.append(Op("if", (all_hold,), self.op.results, blocks=(then.block, orelse.block), location=self.op.location))
        return b.body().ops

    def _pairs(self) -> list[tuple[Value, Value]]:
        """Return pairs of arrays that must share no memory, lest a strip is read too early or written too late."""
        arrays = list(dict.fromkeys(op.operands[0] for op in self.accesses))
        changed = {op.operands[0] for op in self.accesses if op.name in EFFECTS}
        own = {row.array for row in self.rows}
        pairs = [(a, b) for n, a in enumerate(arrays) for b in arrays[:n]]
        return [pair for pair in pairs if not changed.isdisjoint(pair) and not own.isdisjoint(pair)]

    def _strips(self, b: Builder, results: tuple[Value, ...]) -> None:
        """Emit a `for` over strips: the rows are moved before and behind an inner `for` over the strip's turns.

        Args:
            b: receives the operations.
            results: of the outer loop.
        """
        start, stop, _, *init = self.op.operands
        params = self.body.params[1:]
        moved = [row for row in self.rows if not row.buffer]
        storage = iter(self.about.storage(self.original, [dtype_of(row.array) for row in moved]))
        buffers = [row.buffer.slots if row.buffer else next(storage) for row in self.rows]
        length = b.const(TRANSPOSED_STRIP)
        if not moved:  # the whole loop is one strip
            fits = self._all(b, dict.fromkeys(row.buffer.fits for row in self.rows if row.buffer))
            most = min(row_elements(row.array) for row in self.rows)
            length = b.one("where", (fits, b.const(most), length), int32)
        first, carried = Value(int32, "first"), tuple(map(fresh, params))
        with b.block((first, *carried)) as strips:
            ends = (stop, first) if self.step == 1 else (first, stop)
            left = b.one("sub", ends, int32)
            count = b.one("where", (b.one("lt", (left, length), bool_), left, length), int32)
            further = b.one("sub", (count, b.const(1)), int32)
            last = b.one("add" if self.step == 1 else "sub", (first, further), int32)
            for row, slots in zip(self.rows, buffers, strict=True):
                if row.term is None and any(op.name == "load" for op in row.ops):
                    self._strip(b, "row_load", row, (first, last), slots, count)
            turns = [self._offset(b, row, first) for row in self.rows]
            inner, types = self._iteration_block(buffers, turns, first, further), [p.type for p in params]
            carried_out = b.emit(
                "for", (b.const(0), count, b.const(1), *carried), types, self.op.attrs, (inner,)
            ).results
            for row, slots in zip(self.rows, buffers, strict=True):
                if row.after:
                    self._strip(b, row.after, row, (first, last), slots, count)
            b.yield_(*carried_out)
        step = length if self.step == 1 else b.const(-TRANSPOSED_STRIP)
        b.append(Op("for", (start, stop, step, *init), results, self.op.attrs, (strips.block,), self.op.location))

    def _all(self, b: Builder, conditions: Iterable[Value]) -> Value:
        """Emit whether all conditions hold; there is at least one."""
        return reduce(lambda one, other: b.one("bit_and", (one, other), bool_), conditions)

    def _offset(self, b: Builder, row: _Row, first: Value) -> Value | None:
        """Emit the place in a row's slots of the iteration `first`; None if it is always their beginning."""
        if row.buffer is None:
            return None
        return b.one("where", (row.buffer.fits, b.one("sub", (first, row.buffer.start), int32), b.const(0)), int32)

    def _rises(self, row: _Row) -> bool:
        """Return whether the next iteration accesses the next element of a row, rather than the one before."""
        return self.about.analysis.form(row.indices[-1]).terms[Atom("value", value=self.counter)] == self.step

    def _strip(self, b: Builder, name: str, row: _Row, turns: tuple[Value, Value], slots: Value, count: Value) -> None:
        """Emit an access to a strip of a row, from the lowest element on.

        Args:
            b: the builder.
            name: one of `ir.ops.ROWS`.
            row: the row.
            turns: the counter in the first and the last iteration of the strip.
            slots: those of the strip.
            count: its iterations.
        """
        if row.buffer:
            count = b.one("where", (row.buffer.fits, b.const(0), count), int32)
        rises = self._rises(row)
        mapping = {self.counter: turns[not rises]}
        for value in row.indices:
            self._recompute_index(b, value, mapping)
        indices = (mapping.get(v, v) for v in row.indices)
        b.emit(name, (row.array, *indices, slots, count), (), STEP.of(1 if rises else -1))

    def _recompute_index(self, b: Builder, value: Value, mapping: dict[Value, Value]) -> None:
        """Emit the computation of an index again, for another value of the counter; `mapping` receives the copies."""
        op = self.defs.get(value)
        if value in mapping or op not in self.inside:
            return
        for v in op.operands:
            self._recompute_index(b, v, mapping)
        b.append(copy_op(op, mapping))

    def _iteration_block(
        self, buffers: list[Value], offsets: list[Value | None], first: Value, further: Value
    ) -> Block:
        """Return the block of an iteration of a strip, which reads and writes slots in place of rows.

        Args:
            buffers: the slots of each row.
            offsets: where the strip begins in them; None: at their beginning.
            first: the counter in the first iteration.
            further: how many iterations follow it.
        """
        stands_for: dict[Op, tuple[_Row, Value, Value | None]] = {}
        for row, slots, offset in zip(self.rows, buffers, offsets, strict=True):
            stands_for |= dict.fromkeys(row.ops, (row, slots, offset))
        number, (counter, *params) = Value(int32, "turn"), self.body.params
        b = Builder()
        b.location = self.op.location
        b.append(Op("add" if self.step == 1 else "sub", (first, number), (counter,), location=self.op.location))
        back = b.one("sub", (further, number), int32)
        for op in self.body.ops:
            row, slots, offset = stands_for.get(op, (None, number, None))
            turn = number if row is None or self._rises(row) else back
            b.location = op.location
            if offset is not None:
                turn = b.one("add", (offset, number), int32)
            if row is None:
                b.append(op)
            elif row.term is None and op.name == "load":
                b.append(Op("slot_read", (slots, turn), op.results, location=op.location))
            elif row.after == "row_total":
                b.emit("slot_total", (slots, turn, op.operands[-1]))
            elif op.name in ("store", "atomic_add"):
                b.slot_write(slots, turn, row.term or op.operands[-1])
        return Block((number, *params), b.body().ops)


_MOVES = CHEAP | {"load", "store", "atomic_add", "wrap_index", "yield"}
_SUMS = frozenset({"add", "bit_and", "bit_or", "bit_xor", "min", "max"})
_COMPARISONS = frozenset({"lt", "le", "gt", "ge"})


def sums_integers(loop: Op) -> bool:
    """Return whether all values that a `for` carries are sums (or extremes) of integers, which nothing else reads."""
    (body,) = loop.blocks
    params = body.params[1:]
    flow = _Flow(set(params))
    return (
        all(is_integer(p.type) for p in params)
        and flow.goes_through(body)
        and flow.sums.issuperset(body.yielded)
        and len(set(body.yielded)) == len(params)
    )


class _Flow:
    """The flow of carried values through a loop.

    Attributes:
        sums: carried values, and these with something added.
        compared: by result, comparisons of such a value with another one.
    """

    def __init__(self, sums: set[Value]) -> None:
        self.sums, self.compared = sums, dict[Value, Op]()

    def goes_through(self, block: Block) -> bool:
        """Return whether a block's operations only add to carried values, and have no effects."""
        return all(map(self._is_ruled, block.ops))

    def _is_ruled(self, op: Op) -> bool:
        """Return whether an operation only adds to carried values, or reads none; extends `sums` and `compared`."""
        if op.name in EFFECTS or op.name in LOOPS:
            return False
        if op.name == "if":
            return self._is_choice(op)
        own = [v for v in op.operands if v in self.sums]
        condition = self.compared.get(op.operands[0]) if op.name == "where" else None
        if condition is not None and set(condition.operands) == set(op.operands[1:]):
            self.sums.add(op.result)  # the greater or the lesser one
        elif not self.compared.keys().isdisjoint(op.operands):
            return False
        elif own and op.name in _COMPARISONS and len(own) == 1:
            self.compared[op.result] = op
        elif own and ((op.name in _SUMS and len(own) == 1) or (op.name == "where" and own == list(op.operands[1:]))):
            self.sums.add(op.result)
        else:
            return not own or op.name == "yield"
        return True

    def _is_choice(self, op: Op) -> bool:
        """Return whether an `if`'s branches only add to carried values, under a condition that does not read them.

        Results that are such sums are added to `sums`.
        """
        if op.operands[0] in self.sums or op.operands[0] in self.compared or not all(map(self.goes_through, op.blocks)):
            return False
        for result, *values in zip(op.results, *(block.yielded for block in op.blocks), strict=True):
            own = [v in self.sums for v in values]
            if any(own):
                self.sums.add(result)
            if any(own) != all(own):
                return False
        return True
