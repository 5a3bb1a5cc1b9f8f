"""Launches of another shape: by the rows of a flattened array, with iterations as threads, with axes interchanged.

**Launches over a flattened array, by rows**: `i = tid(); r = i // w; c = i % w` without a division per thread. Where w
is the same in all threads, those from r * w up to (r + 1) * w are a row, as in a launch of two dimensions: r is the
same in all of them, c counts them, and `i - w + 1` is c plus what is the same. So a kernel of one dimension becomes one
of two, whose rows have w threads (`row_length`). Where there are other divisors (`i // (h * w)`), these have to be
multiples of w; then all divisions are the row's. The code as it was is for launches in which that does not hold, and
for those whose rows are short.

**Independent iterations, as threads**: `for j in range(m): c[i, j] = …` of thread i. What lies side by side in memory
is then accessed by neighbouring threads, so a gang loads and stores vectors, and rows of gangs share what they read. A
launch of n threads becomes one of n rows of m threads. A loop over a stretch of the last axis (`range(4 * q, 4 * q +
4)` of thread q) continues that axis instead: thread 4 * q + k. All changes have to be made by loops over one range, in
which each iteration has elements of its own; what stands around them is computed by each of the new threads, so it must
be little. Arrays that share memory with one that is changed, and short rows, keep the function as it was.

**Axes in another order**: `i, j = tid(); y[j, i] = x[j, i]`. Neighbouring threads are those along the last axis of the
launch. Where fewer accesses are scattered along another one, the two change places: threads have no promised order, and
those that add to one element keep theirs if they differ along one axis alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations, combinations_with_replacement

import msgspec
from msgspec.structs import replace

from workbench.ir.analysis import Analysis, Atom, Form, Terms
from workbench.ir.build import Builder, Rewriter, Tested, copy_op, replace_body, rewrite
from workbench.ir.ops import (
    ACCESSES,
    AXIS,
    EFFECTS,
    ELEMENTS,
    LOADS,
    LOOPS,
    OPAQUE,
    REDUCTION,
    REPORTS,
    UPDATES,
    attributes,
)
from workbench.ir.values import Block, Function, Op, Value, dtype_of, indices_of, walk
from workbench.limits import (
    COLLAPSED_ROW_LEAST,
    FLATTENED_OPERATIONS,
    FLATTENED_ROW_LEAST,
    GANG_DISTINCT_ARRAYS,
    INTERCHANGED_ROW_LEAST,
)
from workbench.passes.analysis.divergence import Neighbours
from workbench.passes.analysis.intervals import MOST, Prologue
from workbench.types import ArrayType, Kind, element, int32, int64
from workbench.types import bool as bool_

_DIVISIONS = frozenset({"floordiv", "mod"})
_UNIFORM = frozenset({"const", "shape", "launch_dim", "cast", "add", "sub", "mul", "neg", "min", "max", *_DIVISIONS})

Key = Value
"""The representative of values that are equal in all threads."""


class Delinearised(msgspec.Struct, frozen=True):
    """A kernel of one dimension as one of two: rows, and threads of a row.

    Attributes:
        rows: what a thread does, by its row and its position in it.
        before: operations that are computed before all rows.
        length: how many threads a row has, as int64.
        holds: whether `rows` may run; None if it always may.
        plain: what a thread does if it may not: what it did before, by its row and its position in it.
    """

    rows: Function
    before: tuple[Op, ...]
    length: Value
    holds: Value | None
    plain: Block


def delinearised(function: Function) -> Delinearised | None:
    """Return a kernel of one dimension as one of rows; None if its index is not divided in a way that gives rows."""
    divisions = delinearisation_of(function)
    return None if divisions is None else divisions.by_rows()


def delinearisation_of(function: Function) -> Delinearisation | None:
    """Return the integer divisions of a kernel's thread index that split its threads into rows.

    None if it has tiles, several dimensions, reports or too many operations; if it does not divide its index; if rows
    would be short; or if no access or condition depends on such a division.
    """
    operations, names = list(walk(function.body)), function.body.op_names
    if function.block_dim or function.launch_ndim != 1 or len(operations) > FLATTENED_OPERATIONS:
        return None
    if names.isdisjoint(_DIVISIONS) or not names.isdisjoint(REPORTS):
        return None
    divisions = Delinearisation(function, operations)
    return divisions if divisions.entries and divisions.choose_width() and divisions.has_uses() else None


class Delinearisation:
    """The quotients and remainders (`//`, `%`) of a thread's index by what is the same in all threads.

    Attributes:
        function, operations: the kernel, and all its operations.
        analysis, defs: of the kernel's values.
        remainders: the thread's index, and remainders of it.
        entries: the divisions of these values, by divisor.
        width: the divisor that is a row's length, of which all others should be multiples.
    """

    def __init__(self, function: Function, operations: list[Op]) -> None:
        self.function, self.operations = function, operations
        self.analysis = Analysis(function)
        self.defs = self.analysis.defs
        self.remainders: set[Value] = set()
        self.entries: dict[Key, list[Op]] = {}
        self.width = Value(int32)
        for op in operations:
            if op.name == "tid":
                self.remainders.add(op.result)
            elif op.name in _DIVISIONS and op.operands[0] in self.remainders:
                key = self.key(op.operands[1])
                if key is not None:
                    self.entries.setdefault(key, []).append(op)
                    self.remainders.update(op.results if op.name == "mod" else ())

    def key(self, value: Value) -> Key | None:
        """Return the representative of the values that equal this one; None if it may differ between threads."""
        return self.analysis.representatives.get(value) if self.analysis.uniform(value, _UNIFORM) else None

    def number(self, key: Key) -> int | None:
        """Return the divisor with this key, if it is a literal; else None."""
        return self.analysis.number(key)

    def divisor(self, key: Key) -> Value:
        """Return the divisor of the first division with this key."""
        return self.entries[key][0].operands[1]

    def is_multiple(self, key: Key, width: Key) -> bool:
        """Return whether the divisor `key` is known to be a multiple of `width`: by its number, or as a product."""
        numbers = self.number(key), self.number(width)
        if numbers[0] is not None and numbers[1]:
            return numbers[0] % numbers[1] == 0
        op = self.defs.get(self.divisor(key))
        return op is not None and op.name == "mul" and width in map(self.key, op.operands)

    def choose_width(self) -> bool:
        """Set `width`; return whether rows may be long enough, and all divisors multiples of it.

        Only divisors that are literals decide that; code tests the others when it runs.
        """

        def others(key: Key) -> tuple[int, int]:
            unknown = sum(not self.is_multiple(k, key) for k in self.entries if k != key)
            return unknown, len({op.name for op in self.entries[key]}) < len(_DIVISIONS)

        # Of two that are alike the later one divides what is left by the other.
        self.width = min(reversed(self.entries), key=others)
        numbers = [self.number(key) for key in self.entries]
        known = [n for n in numbers if n is not None]
        width = self.number(self.width)
        return all(n >= FLATTENED_ROW_LEAST and n % (width or 1) == 0 for n in known)

    def has_uses(self) -> bool:
        """Return whether an access or a condition depends on one of the divisions."""
        waiting = [v for op in self.operations for v in _deciding_operands(op)]
        divided = {v for ops in self.entries.values() for op in ops for v in op.results}
        seen: set[Value] = set()
        while waiting:
            value = waiting.pop()
            if value in divided:
                return True
            op = self.defs.get(value)
            if value not in seen and op is not None and op.name not in ELEMENTS:
                seen.add(value)
                waiting += op.operands
        return False

    @property
    def rows(self) -> list[Terms]:
        """The forms of the values that are the thread's row."""
        quotients = (op for op in self.entries[self.width] if op.name == "floordiv")
        return [self.analysis.form(op.result).terms for op in quotients if self.defs[op.operands[0]].name == "tid"]

    def copied(self, b: Builder, value: Value, env: dict[Value, Value]) -> Value:
        """Emit the computation of a value that is the same in all threads again, at the builder; return the copy.

        `env` has copies made so far, and substitutes for parameters.
        """
        op = self.defs.get(value)
        if op is None or isinstance(value.type, ArrayType):
            return env.get(value, value)
        if value not in env:
            for operand in op.operands:
                self.copied(b, operand, env)
            b.append(copy_op(op, env))
        return env[value]

    def by_rows(self) -> Delinearised:
        """Return the kernel by rows; `choose_width` has to be called first."""
        b = Builder()
        b.location = self.entries[self.width][0].location
        width, holds, env = self.copied(b, self.divisor(self.width), {}), None, dict[Value, Value]()
        conditions: list[Value] = []
        if self.number(self.width) is None:
            conditions.append(b.one("ge", (width, b.const(FLATTENED_ROW_LEAST)), bool_))
        for key in self.entries:
            if key != self.width and not (self.number(key) and self.number(self.width)):
                other = self.copied(b, self.divisor(key), env)
                rest = b.one("mod", (other, width), int32)
                conditions.append(b.one("gt", (other, b.const(0)), bool_))
                conditions.append(b.one("eq", (rest, b.const(0)), bool_))
        for condition in conditions:
            holds = condition if holds is None else b.one("and_", (holds, condition), bool_)
        all_threads = b.one("launch_dim", (), int64, {AXIS: 0})
        length = b.cast(width, int64)
        length = length if holds is None else b.one("where", (holds, length, all_threads), int64)
        b.emit("row_length", (length,))
        by_row, plain = RowWriter(self), RowWriter(self)
        rows = replace(self.function, body=by_row.body(by_row.by_rows), launch_ndim=2)
        return Delinearised(rows, b.body().ops, length, holds, plain.body(plain.plain))


def _deciding_operands(op: Op) -> Iterable[Value]:
    """Return the operands of an operation that decide which element is accessed, or which branch a thread takes."""
    if op.name in ELEMENTS:
        return indices_of(op)
    return op.operands[:1] if op.name == "if" else ()


class RowWriter:
    """Writes what a thread does by its row and its position in the row.

    Attributes:
        row: the thread's row.
        first: the index of the row's first thread.
        column: the thread's position in the row.
        index: the thread's own index: the sum of those two, which does not wrap.
        starts: by value that is a multiple of the width plus the position, that multiple.
    """

    def __init__(self, divisions: Delinearisation) -> None:
        self.divisions = divisions
        self.row = self.first = self.column = self.index = Value(int32)
        self.starts: dict[Value, Value] = {}

    def body(self, change: Callable[[Rewriter, Op], Iterable[Op] | None], width: Value | None = None) -> Block:
        """Return the function's body, rewritten by `change`.

        The operations of `row`, `first`, `column` and `index` come first.

        Args:
            change: `plain` or `by_rows`.
            width: the row's length, if the emitter has no `row_first`; None: it has.
        """
        b = Builder()
        self.row, self.column = (b.one("tid", (), int32, {AXIS: axis}) for axis in (0, 1))
        if width is None:
            self.first = b.one("row_first", (), int32)
        else:
            self.first = b.one("mul", (self.row, self.divisions.copied(b, width, {})), int32)
        self.index = b.one("add", (self.first, self.column), int32)
        self.starts = {self.index: self.first}
        rest = Rewriter(change).block(self.divisions.function.body)
        return Block((), (*b.body().ops, *rest.ops))

    def plain(self, on: Rewriter, op: Op) -> Iterable[Op] | None:
        """Replace the thread's index, and leave divisions as they are; None for operations that stay."""
        if op.name != "tid":
            return None
        on.mapping[op.result] = self.index
        return ()

    def by_rows(self, on: Rewriter, op: Op) -> Iterable[Op] | None:
        """Return the operations that replace an operation on the index in a launch by rows; None if it stays."""
        b, result = Builder(), None
        b.location = op.location
        if op.name == "tid":
            result = self.index
        elif op.name in _DIVISIONS and op.operands[0] in self.starts:
            result = self.divided(b, op)
        elif op.name == "mul" and op.result.type == int32:
            result = self.scaled(b, op)
        if result is None:
            return None
        on.mapping[op.result] = result
        return b.body().ops

    def divided(self, b: Builder, op: Op) -> Value | None:
        """Emit the quotient or remainder of a multiple of the width plus the position.

        None if the divisor is none of those that were found.
        """
        index, divisor = op.operands
        key, start = self.divisions.key(divisor), self.starts[index]
        if key not in self.divisions.entries:
            return None
        if key == self.divisions.width and op.name == "mod":
            return self.column
        if key == self.divisions.width and index is self.index:
            return self.row
        result = b.one(op.name, (start, divisor), int32)
        if op.name == "floordiv":
            return result
        rest = b.one("add", (result, self.column), int32)
        self.starts[rest] = result
        return rest

    def scaled(self, b: Builder, op: Op) -> Value | None:
        """Emit (row + n) * width, n a constant, as the index of the row's first thread plus n * width.

        None if the product is no such one.
        """
        divisions = self.divisions
        one, other = divisions.defs[op.result].operands
        for row, width in ((one, other), (other, one)):
            form = divisions.analysis.form(row)
            if divisions.key(width) == divisions.width and form.terms in divisions.rows:
                if not form.constant:
                    return self.first
                more = b.one("mul", (b.const(form.constant), op.operands[other is width]), int32)
                return b.one("add", (self.first, more), int32)
        return None


_AGAIN = frozenset({"const", "launch_dim", "shape", "cast", "add", "sub", "mul", "neg", "min", "max"})


def collapsed(function: Function, dense: bool = True) -> Tested | None:
    """Return the function with a loop's iterations as threads; None if no loop permits, or gains by, that.

    It begins with what computes its `row_length`.

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


def interchanged(function: Function, dense: bool = True) -> Tested | None:
    """Return the function with its axes in the order that suits memory best; None if they are in it already.

    Along the last one fewest accesses are scattered, at first of those in loops, then of changes; along the one before
    it most of these lie side by side, so that gangs of several rows access whole lines of the cache. `axes` says that
    threads may run in that order, even if it is their own. So no two may store to one element, those that add floats to
    one have to keep their order, and none may report anything. Where a launch has few threads along the last axis, rows
    would be short.

    Args:
        function: in which checks are written out.
        dense: its arrays have neither gaps nor elements that share memory.
    """
    axes, names = range(function.launch_ndim), function.body.op_names
    if function.block_dim or len(axes) < 2 or not names.isdisjoint(REPORTS | OPAQUE | {"row_length", "reduce_add"}):
        return None
    accesses = [op for op in walk(function.body) if op.name in ACCESSES]
    scattered = [_scattered(Neighbours(function, axis), accesses) for axis in axes]
    often = {op for loop in walk(function.body) if loop.name in LOOPS for block in loop.blocks for op in walk(block)}
    costs = [(len(apart & often), sum(op.name in EFFECTS for op in apart), len(apart)) for apart in scattered]
    along = min(reversed(axes), key=costs.__getitem__)
    rest = [axis for axis in axes if axis != along]
    across = max(rest, key=lambda axis: (len(scattered[along] - scattered[axis]), axis))
    order = (*(axis for axis in rest if axis != across), across, along)
    pairs, changes = distinct_arrays(function, dense, EFFECTS), order != tuple(axes)
    if not changes and (scattered[along] <= scattered[across] or not names.isdisjoint(LOOPS | UPDATES)):
        return None
    if len(pairs) > GANG_DISTINCT_ARRAYS or not _is_kept_order(function, accesses, order):
        return None

    def change(on: Rewriter, op: Op) -> list[Op] | None:
        if op.name not in ("tid", "launch_dim"):
            return None
        return [op.replace(attrs=attributes({**op.attrs, AXIS: order.index(op.attrs[AXIS])}))]

    b = Builder()
    conditions = [b.one("apart", pair, bool_) for pair in pairs]
    if changes:
        length = b.one("launch_dim", (), int64, {AXIS: along})
        conditions.append(b.one("ge", (length, b.const(INTERCHANGED_ROW_LEAST, int64)), bool_))
    b.yield_(*[reduce(lambda x, y: b.one("and_", (x, y), bool_), conditions)] if conditions else ())
    form = replace(rewrite(function, change), axes=order)
    return Tested(replace_body(function, b.body()) if conditions else None, form)


def distinct_arrays(function: Function, dense: bool, names: Container[str] = ACCESSES) -> list[tuple[Value, Value]]:
    """Return pairs of arrays that must share no memory, since one is changed: itself twice, if it is not dense.

    Args:
        function: accesses the arrays.
        dense: they have neither gaps nor elements that share memory.
        names: of the operations whose arrays count.
    """
    operations = [op for op in walk(function.body) if op.name in ACCESSES]
    changed = {op.operands[0] for op in operations if op.name in EFFECTS}
    arrays = dict.fromkeys(op.operands[0] for op in operations if op.name in names)
    pairs = combinations(arrays, 2) if dense else combinations_with_replacement(arrays, 2)
    return [pair for pair in pairs if not changed.isdisjoint(pair)]


def _scattered(neighbours: Neighbours, accesses: Iterable[Op]) -> set[Op]:
    """Return the accesses in which neighbouring threads' elements are neither the same nor side by side."""
    return {op for op in accesses if not (neighbours.is_uniform(op) or neighbours.is_contiguous(op, (1, -1)))}


def _is_kept_order(function: Function, accesses: Sequence[Op], order: Sequence[int]) -> bool:
    """Return whether threads that change one element do so in their order, with axes in another one.

    No two may store to one. Threads that add to one differ only along axes that tell none of its array's elements
    apart, so these axes have to keep their order.

    Args:
        function: the function.
        accesses: all of its accesses to arrays.
        order: of the launch's axes.
    """
    analysis = Analysis(function)
    used = {v for op in walk(function.body) for v in op.operands}
    for array in dict.fromkeys(op.operands[0] for op in accesses if op.name in EFFECTS):
        uses = [op for op in accesses if op.operands[0] is array]
        shared = [order.index(n) for n, own in enumerate(_positions(analysis, uses)) if not own]
        plain = [op for op in uses if op.name in ("load", "store")]
        stores = any(op.name == "store" for op in plain)
        added = [op for op in uses if op.name == "atomic_add" and not op.attrs.get(REDUCTION)]
        if shared and stores and not all(_positions(analysis, plain)):
            return False
        if shared and (len(plain) + len(added) < len(uses) or any(op.result in used for op in added)):
            return False
        if shared != sorted(shared) and element(dtype_of(array)).kind is Kind.FLOAT:
            return False
    return True


def _positions(analysis: Analysis, uses: Sequence[Op]) -> list[list[int]]:
    """Return, for each axis of the launch, the positions in these accesses' indices that tell its threads apart."""
    return [analysis.own_positions(axis, uses) for axis in range(analysis.function.launch_ndim)]


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
        pairs: arrays that must share no memory.
        tid: the atom of the index along the launch's last axis.
        trips: how many iterations they have, as a form.
        stretch: how many of them continue the last axis; 0: they are an axis of their own.
        changed: the arrays that the function changes.
        prologue, ends: computes before all threads where the loops begin and end.
        outside, inside: the operations around the loops, and in them.
    """

    def __init__(self, function: Function, analysis: Analysis, loops: list[Op], dense: bool) -> None:
        self.function, self.analysis, self.loops = function, analysis, loops
        self.pairs = distinct_arrays(function, dense)
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
        little = len(self.outside) <= len(self.inside) and len(self.pairs) <= GANG_DISTINCT_ARRAYS
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

    def written(self) -> Tested:
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
        conditions += [b.one("apart", pair, bool_) for pair in self.pairs]
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
        return Tested(replace_body(self.function, b.body()) if conditions else None, function)
