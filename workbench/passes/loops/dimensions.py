"""Launches of another shape: by the rows of a flattened array, with iterations as threads, with axes interchanged.

**Launches over a flattened array, by rows**: `i = tid(); r = i // w; c = i % w` without a division per thread. Where w
is the same in all threads, those from r * w up to (r + 1) * w are a row, as in a launch of two dimensions: r is the
same in all of them, c counts them, and `i - w + 1` is c plus what is the same. So a kernel of one dimension becomes one
of two, whose rows have w threads (`row_length`). Where there are other divisors (`i // (h * w)`), these have to be
multiples of w; then all divisions are the row's. The code as it was is for launches in which that does not hold, and
for those whose rows are short.

**Independent iterations, as threads**: `for j in range(m): c[i, j] = …` of thread i. What lies side by side in memory
is then accessed by neighbouring threads, so a gang loads and stores vectors, and rows of gangs share what they read. A
launch of n threads becomes one of n rows of m threads. A loop over a share of a range continues the last axis instead:
a stretch of it (`range(c * q, min(c * q + c, n))` of thread q), or every so many numbers of it (`range(q, n, step)`,
where `step` is the number of threads). All changes have to be made by loops over one range, in which each iteration has
elements of its own; what stands around them is computed by each of the new threads, so it must be little. Arrays that
share memory with one that is changed, and short rows, keep the function as it was.

**Axes in another order**: `i, j = tid(); y[j, i] = x[j, i]`. Neighbouring threads are those along the last axis of the
launch. Where fewer accesses are scattered along another one, the two change places: threads have no promised order, and
those that add to one element keep theirs if they differ along one axis alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial, reduce
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
    VALUE,
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
from workbench.passes.analysis.cost import constants
from workbench.passes.analysis.divergence import Neighbours
from workbench.passes.analysis.intervals import MOST, Prologue
from workbench.passes.loops.forms import bound_of
from workbench.types import ArrayType, Kind, element, int32, int64, uint32, uint64
from workbench.types import bool as bool_

_DIVISIONS = frozenset({"floordiv", "mod"})
_OF_BITS = frozenset({"rshift", "bit_and"})
_INTEGERS = frozenset({int32, uint32, int64, uint64})
"""The types of an index; each has all numbers of threads."""
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
        divisors: of the threads' index, which then are above 0.
        plain: what a thread does if it may not: what it did before, by its row and its position in it.
    """

    rows: Function
    before: tuple[Op, ...]
    length: Value
    holds: Value | None
    divisors: tuple[Value, ...]
    plain: Block


def delinearised(function: Function) -> Delinearised | None:
    """Return a kernel of one dimension as one of rows; None if its index is not divided in a way that gives rows."""
    divisions = delinearisation_of(_with_divisions(function))
    return None if divisions is None else divisions.by_rows()


def _with_divisions(function: Function) -> Function:
    """Return the function with `x >> k` and `x & (2 ** k - 1)`, k a literal, as `x // 2 ** k` and `x % 2 ** k`."""
    names = function.body.op_names
    if function.launch_ndim != 1 or names.isdisjoint(_OF_BITS):
        return function
    known = constants(function.body)

    def change(_: Rewriter, op: Op) -> tuple[Op, ...] | None:
        number = known.get(op.operands[1]) if op.name in _OF_BITS and op.result.type in _INTEGERS else None
        if number is None:
            return None
        shift = int(number) if op.name == "rshift" else (int(number) + 1).bit_length() - 1
        if not 0 < shift < int32.bits - 1 or (op.name == "bit_and" and number != (1 << shift) - 1):
            return None
        divisor, name = Value(op.result.type), "floordiv" if op.name == "rshift" else "mod"
        return (
            Op("const", (), (divisor,), VALUE.of(1 << shift), (), op.location),
            Op(name, (op.operands[0], divisor), op.results, {}, (), op.location),
        )

    return rewrite(function, change)


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
            if op.name == "tid" or _converts(op, self.remainders):
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
        width, holds = b.cast(self.copied(b, self.divisor(self.width), {}), int64), None
        conditions, env = list[Value](), dict[Value, Value]()
        if self.number(self.width) is None:
            conditions.append(b.one("ge", (width, b.const(FLATTENED_ROW_LEAST, int64)), bool_))
            conditions.append(b.one("le", (width, b.const(MOST, int64)), bool_))
        for key in self.entries:
            if key != self.width and not (self.number(key) and self.number(self.width)):
                other = b.cast(self.copied(b, self.divisor(key), env), int64)
                rest = b.one("mod", (other, width), int64)
                conditions.append(b.one("gt", (other, b.const(0, int64)), bool_))
                conditions.append(b.one("eq", (rest, b.const(0, int64)), bool_))
        for condition in conditions:
            holds = condition if holds is None else b.one("and_", (holds, condition), bool_)
        all_threads = b.one("launch_dim", (), int64, {AXIS: 0})
        length = width if holds is None else b.one("where", (holds, width, all_threads), int64)
        b.emit("row_length", (length,))
        by_row, plain = RowWriter(self), RowWriter(self)
        rows = replace(self.function, body=by_row.body(by_row.by_rows), launch_ndim=2)
        divisors = tuple(op.operands[1] for ops in self.entries.values() for op in ops)
        return Delinearised(rows, b.body().ops, length, holds, divisors, plain.body(plain.plain))


def _converts(op: Op, indices: Container[Value]) -> bool:
    """Return whether an operation converts one of these indices, which changes none, to another type of integer."""
    return op.name == "cast" and op.operands[0] in indices and op.result.type in _INTEGERS


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
        starts: by value that is a multiple of the width plus the position, that multiple, of the same type.
        indices: the thread's own index, in each type.
    """

    def __init__(self, divisions: Delinearisation) -> None:
        self.divisions = divisions
        self.row = self.first = self.column = self.index = Value(int32)
        self.starts: dict[Value, Value] = {}
        self.indices: set[Value] = set()

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
            self.first = b.one("mul", (self.row, b.cast(self.divisions.copied(b, width, {}), int32)), int32)
        self.index = b.one("add", (self.first, self.column), int32)
        self.starts, self.indices = {self.index: self.first}, {self.index}
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
        elif _converts(op, self.starts):
            result, start = (b.cast(v, op.result.type) for v in (op.operands[0], self.starts[op.operands[0]]))
            self.starts[result] = start
            self.indices.update((result,) if op.operands[0] in self.indices else ())
        elif op.name == "mul" and op.result.type in _INTEGERS:
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
        type = op.result.type
        if key == self.divisions.width and op.name == "mod":
            return b.cast(self.column, type)
        if key == self.divisions.width and index in self.indices:
            return b.cast(self.row, type)
        result = b.one(op.name, (start, divisor), type)
        if op.name == "floordiv":
            return result
        rest = b.one("add", (result, b.cast(self.column, type)), type)
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
                first, type = b.cast(self.first, op.result.type), op.result.type
                if not form.constant:
                    return first
                more = b.one("mul", (b.const(form.constant, type), op.operands[other is width]), type)
                return b.one("add", (first, more), type)
        return None


_AGAIN = frozenset({"const", "launch_dim", "shape", "cast", "add", "sub", "mul", "neg", "min", "max", *_DIVISIONS})
_HIDING = frozenset({*_DIVISIONS, "min", "max", "clamp", "bit_and", "rshift"})
"""Operations behind which gangs do not see that what neighbouring iterations access lies side by side."""


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
    if names.isdisjoint(LOOPS) or names & EFFECTS != frozenset(("store",)):
        return None
    analysis, used = Analysis(function), {v for op in walk(function.body) for v in op.operands}
    ranges: dict[object, list[Counting]] = {}
    for key, loop in _loops(function.body, analysis, used, ()):
        ranges.setdefault(key, []).append(loop)
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


class Counting(msgspec.Struct, frozen=True):
    """A loop that counts and carries nothing else.

    Attributes:
        op: the `for`, or the `while`.
        counter: its index, in the last of its blocks.
        start, stop, step: of the index.
    """

    op: Op
    counter: Value
    start: Value
    stop: Value
    step: Value


def _counting(op: Op, analysis: Analysis, used: Container[Value]) -> Counting | None:
    """Return a loop as one that counts: a `for`, or `while k < n: …; k += step`; None if it does more.

    Args:
        op: any operation.
        analysis: of the function.
        used: the values that are operands.
    """
    if op.name == "for" and not op.results:
        return Counting(op, op.blocks[0].params[0], *op.operands[:3])
    if op.name != "while" or len(op.operands) != 1 or op.result in used:
        return None
    condition, body = op.blocks
    bound, following = bound_of(condition), analysis.defs.get(body.yielded[0])
    if bound is None or following is None or following.name != "add":
        return None
    steps = [v for v in following.operands if v is not body.params[0]]
    return Counting(op, body.params[0], *op.operands, bound[1], *steps) if len(steps) == 1 else None


def _loops(
    block: Block, analysis: Analysis, used: Container[Value], around: tuple[object, ...]
) -> Iterator[tuple[object, Counting]]:
    """Yield loops that count, with what those have in common that may become threads together.

    That is their range, and how many loops over this range are around them (`around` has the ranges of those).
    """
    for op in block.ops:
        own, loop = around, _counting(op, analysis, used)
        if loop is not None:
            ends = tuple(analysis.form(v) for v in (loop.start, loop.stop, loop.step))
            own = (*around, ends)
            yield (ends, around.count(ends)), loop
        for inner in op.blocks:
            yield from _loops(inner, analysis, used, own)


class Share(msgspec.Struct, frozen=True):
    """The part of a range that the loop of each thread goes through; those of all threads are the range.

    Attributes:
        turns: how many iterations a thread has, at most, as int64 before all threads.
        start: where the range begins.
        limit: where it ends, if the last threads may have less; else None.
        conditions: bools that have to hold before all threads.
        near: neighbouring threads are one apart in each iteration: gangs go through it as well, but for divisions.
    """

    turns: Value
    start: int
    limit: Value | None
    conditions: tuple[Value, ...]
    near: bool


class _Collapse:
    """Loops over one range, whose iterations become threads.

    Attributes:
        loops: the loops.
        pairs: arrays that must share no memory.
        ops: the operations that they are.
        tid: the atom of the index along the launch's last axis.
        trips: how many iterations they have, as a form.
        share: what each thread has of a range that continues the last axis; None: they are an axis of their own.
        divisors: of the counter, which have to be above 0.
        changed: the arrays that the function changes.
        prologue, ends: computes before all threads where the loops begin and end.
        outside, inside: the operations around the loops, and in them.
    """

    def __init__(self, function: Function, analysis: Analysis, loops: list[Counting], dense: bool) -> None:
        self.function, self.analysis, self.loops = function, analysis, loops
        self.pairs = distinct_arrays(function, dense)
        self.ops, loop = {loop.op: loop for loop in loops}, loops[0]
        self.start, stop = (analysis.form(v) for v in (loop.start, loop.stop))
        self.trips = stop.plus(self.start, -1)
        self.tid = Atom("tid", axis=function.launch_ndim - 1)
        self.changed = {op.operands[0] for op in walk(function.body) if op.name == "store"}
        self.prologue = Prologue(function, (), _AGAIN)
        self.ends = [self.prologue.wide(v) for v in (loop.start, loop.stop)]
        self.share, self.divisors = self._share(loop), dict[Value, None]()
        self.outside = list(self._outside(function.body))
        self.inside = [op for loop in loops for op in walk(loop.op.blocks[-1])]

    def _share(self, loop: Counting) -> Share | None:
        """Return what a thread's loop has of a range that all threads go through together; None if it is none such."""
        prologue, analysis, start = self.prologue, self.analysis, self.start
        if loop.counter.type not in _INTEGERS:
            return None
        step, stop = (prologue.widened(v) for v in (loop.step, loop.stop))
        if start.terms == {self.tid: 1} and step and stop:
            threads = self._threads()
            more = prologue.emit("sub", threads, prologue.number(1 + start.constant))
            turns = prologue.emit("floordiv", prologue.emit("add", stop, more), threads)
            return Share(turns, start.constant, loop.stop, (prologue.emit("eq", step, threads, type=bool_),), True)
        if analysis.number(loop.step) != 1:
            return None
        ends = [(loop.stop, None)]
        if (least := analysis.defs.get(loop.stop)) is not None and least.name == "min":
            ends += [(v, limit) for v, limit in (least.operands, least.operands[::-1]) if prologue.copy(limit)]
        for turns, limit in ((self._stretch(loop.start, stop), limit) for stop, limit in ends):
            if turns is not None:
                return Share(turns, start.constant, limit, (), False)
        return None

    def _stretch(self, start: Value, stop: Value) -> Value | None:
        """Return how long a stretch is, of which each thread has one, as int64; None unless it is that from c * tid."""
        form, last = (self.analysis.form(v) for v in (start, stop))
        length = last.plus(form, -1)
        if not length.terms and form.terms == {self.tid: length.constant} and length.constant > 1:
            return self.prologue.number(length.constant)
        for index, factor in self._factors(start):
            own = self.analysis.form(factor)
            after = [i.constant for i, other in self._factors(stop) if self.analysis.form(other) == own]
            if not index.constant and (length == own or after == [1]):
                return self.prologue.widened(factor)
        return None

    def _factors(self, product: Value) -> Iterator[tuple[Form, Value]]:
        """Yield the form of an index of threads, plus a constant, and what is the same in all, of their product."""
        op = self.analysis.defs.get(product)
        for one, other in (op.operands, op.operands[::-1]) if op is not None and op.name == "mul" else ():
            index = self.analysis.form(one)
            if index.terms == {self.tid: 1} and self.prologue.copy(other):
                yield index, other

    def _threads(self) -> Value:
        """Emit the launch's number of threads along the last axis."""
        axis = AXIS.of(self.tid.axis)
        return self.prologue.share(
            ("launch_dim", self.tid.axis), lambda: self.prologue.builder.one("launch_dim", (), int64, axis)
        )

    def _outside(self, block: Block) -> Iterator[Op]:
        """Yield the operations that are in none of the loops."""
        for op in block.ops:
            if op not in self.ops:
                yield op
                for inner in op.blocks:
                    yield from self._outside(inner)

    def is_legal(self) -> bool:
        """Return whether each iteration changes elements that no other one accesses, and all threads have as many."""
        if any(op.operands[0] in self.changed for op in self.outside if op.name in LOADS | EFFECTS):
            return False
        steps = [self.analysis.number(loop.step) for loop in self.loops]
        if self.share is None and (None in self.ends or steps != [1] * len(steps)):
            return False
        accesses = [op for op in self.inside if op.name in LOADS | EFFECTS]
        return all(self._is_own([op for op in accesses if op.operands[0] is array]) for array in self.changed)

    def _is_own(self, accesses: list[Op]) -> bool:
        """Return whether accesses to one array tell iterations apart: by their last index, or all, in the same way."""
        forms = {self._of_iteration(op) for op in accesses}
        if len(forms) == 1 and None not in forms:
            return True
        digits = {tuple(map(self._plain, indices_of(op))) for op in accesses}
        alone = self.share is not None and self.share.start >= 0 and len(self.loops) == len(digits) == 1
        return alone and self._tells_apart(frozenset(*digits), self.loops[0].counter)

    def _plain(self, index: Value) -> Value:
        """Return an index before it is converted; all are taken to be 0 or more."""
        defs, op = self.analysis.defs, self.analysis.defs.get(index)
        while op is not None and (op.name == "wrap_index" or _converts(op, op.operands)):
            index, op = op.operands[0], defs.get(op.operands[0])
        return self.analysis.representatives.get(index, index)

    @cached_property
    def _divided(self) -> Mapping[tuple[Value, Value], dict[str, Value]]:
        """The results of divisions, by dividend and divisor, and by the name of the operation."""
        divided: dict[tuple[Value, Value], dict[str, Value]] = {}
        for op in self.inside:
            if op.name in _DIVISIONS and self.prologue.copy(op.operands[1]):
                key = self._plain(op.operands[0]), self.analysis.representatives[op.operands[1]]
                divided.setdefault(key, {})[op.name] = self._plain(op.result)
        return divided

    def _tells_apart(self, known: frozenset[Value], number: Value) -> bool:
        """Return whether a number follows from those that are known, by quotients and remainders; note divisors."""
        if number in known:
            return True
        for (dividend, divisor), parts in self._divided.items():
            if dividend is number and len(parts) > 1 and all(self._tells_apart(known, v) for v in parts.values()):
                self.divisors[divisor] = None
                return True
        return False

    def _of_iteration(self, op: Op) -> Form | None:
        """Return the last index of an access in the range's first iteration; None unless the next one has the next."""
        index, size = self.analysis.index(indices_of(op)[-1])
        counters = {Atom("value", value=loop.counter) for loop in self.loops}
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
        around = all(any(op in self.ops for block in loop.blocks for op in walk(block)) for loop in loops)
        little = len(self.outside) <= len(self.inside) and len(self.pairs) <= GANG_DISTINCT_ARRAYS
        if self.share is None:
            return around and little and apart and long
        hidden = not self.share.near or any(op.name in _HIDING for op in self.inside)
        return around and little and hidden and self._only_shares()

    def _only_shares(self) -> bool:
        """Return whether the index along the last axis says nothing but where the loops begin and end."""
        depend = {op.result for op in self.outside if op.name == "tid" and op.attrs[AXIS] == self.tid.axis}
        tests = {op.blocks[0].yielded[0] for op in self.ops if op.name == "while"}
        for op in walk(self.function.body):
            if op not in self.ops and not depend.isdisjoint(op.operands) and tests.isdisjoint(op.results):
                if op.blocks or op.name not in _AGAIN:
                    return False
                depend.update(op.results)
        return True

    def written(self) -> Tested:
        """Return the function with the iterations as threads."""
        prologue, axis, share, conditions = self.prologue, self.tid.axis, self.share, list[Value]()
        b = prologue.builder
        if share:
            turns, conditions = share.turns, list(share.conditions)
            length = prologue.emit("mul", self._threads(), turns)
            conditions.append(prologue.emit("ge", turns, prologue.number(1), type=bool_))
            most = prologue.number(MOST - max(share.start, 0))
            conditions.append(prologue.emit("le", length, most, type=bool_))
            divisors = [v for divisor in self.divisors if (v := prologue.widened(divisor))]
            conditions += [prologue.emit("ge", v, prologue.number(1), type=bool_) for v in divisors]
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
        thread = body.one("tid", (), int32, {AXIS: axis if share else axis + 1})
        body.extend(Rewriter(partial(self._iteration, thread)).block(self.function.body).ops)
        function = replace_body(self.function, body.body())
        if not share:
            function = replace(function, launch_ndim=function.launch_ndim + 1)
        return Tested(replace_body(self.function, b.body()) if conditions else None, function)

    def _iteration(self, thread: Value, on: Rewriter, op: Op) -> Iterable[Op] | None:
        """Return an iteration of a loop, the one with the number `thread`; None for another operation."""
        loop = self.ops.get(op)
        if loop is None:
            return None
        b = Builder()
        b.location = op.location
        index = b.cast(thread, loop.counter.type)
        start = b.const(self.share.start, index.type) if self.share else op.operands[0]
        index = b.one("add", (index, start), index.type) if not self.share or self.share.start else index
        on.mapping[loop.counter] = index
        limit = self.share.limit if self.share else None
        if limit is None:
            b.extend(on.block(op.blocks[-1]).ops[:-1])
            return b.body().ops
        if op.name == "while":  # where the limit may be computed
            on.mapping[op.blocks[0].params[0]] = index
            b.extend(on.block(op.blocks[0]).ops[:-1])
        goes = b.one("lt", (index, on.mapping.get(limit, limit)), bool_)
        end = Op("yield", location=op.location)
        inner = Block((), (*on.block(op.blocks[-1]).ops[:-1], end))
        b.append(Op("if", (goes,), (), {}, (inner, Block((), (end,))), op.location))
        return b.body().ops
