"""An adjoint in gather form: thread j adds up what all threads would add to element j.

The adjoint of `y[i] = x[i - 1] + x[i + 1]` adds to two elements that other threads add to as well. Thread j can find
both sums itself: it is the thread i + 1 that reads x[i], and i - 1. So what a thread would add is written once for each
distance to such a thread, with the thread's index replaced, within the branches that this thread takes, and a thread
that is not part of the launch adds nothing. Then no addition is atomic and all of them are made side by side.

Cotangents of what the kernel writes are read by several threads then, so they cannot be cleared on the way: that is a
launch of its own (`GatherAdjoint.cleared`), which follows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from workbench.autodiff.gather.clearing import Box, boxes, cleared_only
from workbench.autodiff.gather.flat import flat
from workbench.autodiff.gather.index_offsets import (
    Index,
    IndexOffset,
    LaunchCondition,
    OffsetAnalysis,
    lower_bounds,
    shape_of,
)
from workbench.autodiff.gather.own import owned
from workbench.autodiff.memory.effects import overwritten_loads
from workbench.autodiff.reverse.emitter import nothing
from workbench.builtins import Ref
from workbench.builtins.scalars import operators
from workbench.ir.analysis import Access, Form
from workbench.ir.build import Builder, Rewriter, copy_op, fresh, rewrite
from workbench.ir.ops import ACCESSES, AXIS, EFFECTS, LASTING, LOADS, OPAQUE, TILED
from workbench.ir.values import (
    Block,
    Function,
    Op,
    Value,
    array_of,
    definitions,
    indices_of,
    read_arrays,
    walk,
    written_arrays,
)
from workbench.limits import ATOMIC_ADD_COST, PULLED_NEIGHBOURS, PULLED_OPERATIONS
from workbench.passes.analysis.cost import components, cost
from workbench.passes.pipeline import ADJOINT, run
from workbench.types import int32, int64, is_float

OffsetTuple = tuple[IndexOffset, ...]
ElementKind = tuple[Value, tuple[int | None, ...], tuple[int, ...]]
"""An adjoint array; for each of its axes the axis of the launch that indexes it, or None; its constant indices."""
Shift = tuple[int, ...]
"""A distance along each axis of the launch."""


class GatherAdjoint(msgspec.Struct, frozen=True):
    """An adjoint in gather form, as two launches.

    Attributes:
        sums: the first launch: adds all cotangents, and leaves those that it reads uncleared.
        cleared: the second: clears the elements of `clears` that the kernel wrote.
        clears: the names of the adjoint arrays to clear; if there are none, `sums` is all there is to do.
        boxes: those of them in which the second launch fills a box with 0, and where that is.
        needs: what must hold of the launch.
        touches: the names of the arrays that the adjoint reads or writes.
        width: how many threads a row has of a flattened launch, whose dimensions in `needs` and `boxes` are the rows,
            the threads of one, and all threads; None: the launch is not flattened.
    """

    sums: Function
    cleared: Function
    clears: frozenset[str]
    boxes: dict[str, Box]
    needs: frozenset[LaunchCondition]
    touches: frozenset[str]
    width: Form | None = None


class _Addition(msgspec.Struct, frozen=True):
    """An atomic addition to an element from which the adding thread can be found.

    Attributes:
        op: the addition.
        element_kind: the array; for each of its axes the axis of the launch that indexes it, or None; its constant
            indices.
        indices: how its indices differ from the thread's own; None for a constant one.
        always: it stands outside of branches.
    """

    op: Op
    element_kind: ElementKind
    indices: tuple[Index | None, ...]
    always: bool

    def offsets(self, ndim: int) -> Iterator[OffsetTuple]:
        """Yield each combination of differences that the indices may have, one for each axis of the launch."""
        choices: list[OffsetTuple] = [()]
        for axis in range(ndim):
            index = next(i for i in self.indices if i is not None and i.axis == axis)
            choices = [(*c, w) for c in choices for w in index.offsets]
        yield from choices


def gather_adjoint(adjoint: Function, local: bool = False) -> GatherAdjoint | None:
    """Return an adjoint in gather form; None if it has none, or none that pays.

    Args:
        adjoint: the adjoint.
        local: threads add to no other elements than those with their own index.
    """

    def form(function: Function) -> GatherAdjoint | None:
        return _gather_adjoint(function, local) or (None if local else _owning(function))

    rows = flat(adjoint)
    gathered = None if rows is None else form(rows.rows)
    if rows is None or gathered is None:
        return form(adjoint)
    sums, cleared = rows.linearised(gathered.sums), rows.linearised(gathered.cleared)
    needs, by_rows = rows.needs(gathered.needs), rows.boxes(gathered.boxes)
    return replace(gathered, sums=sums, cleared=cleared, needs=needs, boxes=by_rows, width=rows.width)


def _owning(adjoint: Function) -> GatherAdjoint | None:
    """Return the adjoint as a single launch that adds without atomics where no two threads meet.

    It is None if there is no array of which that is known.
    """
    plain = None if adjoint.block_dim or not adjoint.launch_ndim else owned(adjoint)
    if plain is None:
        return None
    function, needs = run(ADJOINT, plain[0]), plain[1]
    return GatherAdjoint(function, adjoint, frozenset(), {}, needs, _touches(adjoint))


def _gather_adjoint(adjoint: Function, local: bool) -> GatherAdjoint | None:
    """Return an adjoint in gather form, with its additions replaced by sums over other threads' contributions.

    It is None if there are none to replace, if the result would be wrong or unsafe to split into two launches, or if it
    would cost more than the atomic additions. The arguments are those of `gather_adjoint`.
    """
    operations = list(walk(adjoint.body))
    if adjoint.block_dim or not adjoint.launch_ndim:
        return None
    if any(op.name in OPAQUE or op.name in TILED for op in operations):
        return None
    additions = _additions(adjoint, operations)
    if not additions:
        return None
    gone = {a.op for a in additions}
    shifts = {} if local else _shifts(additions, adjoint.launch_ndim)
    try:
        gather = _Gather(adjoint, additions, shifts)
        gathered = run(ADJOINT, gather.written())
    except _Impossible:
        return None
    sums = {a.element_kind[0] for a in additions}
    read = {op.operands[0] for op in walk(gathered.body) if op.name in LOADS} - sums
    written = {op.operands[0] for op in operations if op.name in EFFECTS and op not in gone}
    clears = read & written
    if any(not cleared_only(array, operations) for array in clears):
        return None
    overwritten = overwritten_loads(adjoint, aliased=False)
    if any(op.operands[0] in clears for op in overwritten):
        return None
    left = _unowned_additions(adjoint, additions, shifts) if shifts else adjoint
    rest = _without(left, lambda op: op in gone or (op.name == "store" and op.operands[0] in clears))
    clearing = _without(adjoint, lambda op: op.name in EFFECTS and op.operands[0] not in clears)
    combined = replace(gathered, body=Block((), (*rest.body.ops, *gathered.body.ops)))
    combined = run(ADJOINT, combined)
    # What is asked of threads at a border is seldom done.
    saved = sum(ATOMIC_ADD_COST * components(a.op) for a in additions)
    if (
        cost(gathered) * gather.common_share > cost(adjoint) + saved
        or sum(1 for _ in walk(combined.body)) > PULLED_OPERATIONS
    ):
        return None
    needs = {n for a in additions for i in a.indices if i is not None for n in i.needs}
    for array, axes, _ in {a.element_kind for a in additions} if not shifts else ():
        needs |= {
            LaunchCondition(axis, 0, shape_of(array, k), equal=True) for k, axis in enumerate(axes) if axis is not None
        }
    cleared, names = run(ADJOINT, clearing), frozenset(a.name for a in clears)
    return GatherAdjoint(combined, cleared, names, boxes(adjoint, clears), frozenset(needs), _touches(adjoint))


def _touches(adjoint: Function) -> frozenset[str]:
    """Return the names of the arrays that an adjoint reads or writes."""
    return frozenset(read_arrays(adjoint) | written_arrays(adjoint))


def is_stencil(function: Function) -> bool:
    """Return whether a kernel reads floats at other elements than the thread's own, at known distances.

    It is False for kernels of tiles. The adjoint is not derived for this.
    """
    rows = flat(function)
    function = function if rows is None else rows.rows
    where = OffsetAnalysis(function)
    for op in walk(function.body):
        if op.name == "load" and is_float(op.operands[0].type):
            offsets = [where.of(v, {}) for v in indices_of(op)]
            if any(i is not None and i.only != 0 for i in offsets):
                return not function.block_dim
    return False


def _shifts(additions: Sequence[_Addition], ndim: int) -> dict[ElementKind, Shift]:
    """Return, for each kind of element, the distance from a thread's index to the element that it adds up.

    That is an element to which each thread adds in any case, so it exists even if the launch is smaller than the array;
    and the one from which the others are least far. It is empty where some kind has none, or an index may be clamped or
    wrap.
    """
    if any(w.size is not None or w.edge is not None for a in additions for i in a.indices if i for w in i.offsets):
        return {}
    shifts: dict[ElementKind, Shift] = {}
    for element in dict.fromkeys(a.element_kind for a in additions):
        offsets = {a: next(a.offsets(ndim)) for a in additions if a.element_kind == element}
        sure = [way for a, way in offsets.items() if a.always]
        if not sure:
            return {}

        def far(way: OffsetTuple, offsets: Sequence[OffsetTuple] = tuple(offsets.values())) -> int:
            return sum(abs(w.added - v.added) for other in offsets for w, v in zip(way, other, strict=True))

        shifts[element] = tuple(w.added for w in min(sure, key=far))
    return shifts


def _shifted(way: OffsetTuple, shift: Shift | None) -> OffsetTuple:
    """Return differences of indices as counted from the thread that adds an element up; unchanged without a shift."""
    return way if shift is None else tuple(IndexOffset(w.added - c) for w, c in zip(way, shift, strict=True))


def _unowned_additions(
    adjoint: Function, additions: Sequence[_Addition], shifts: Mapping[ElementKind, Shift]
) -> Function:
    """Return the adjoint with only those additions whose element no thread of the launch adds up."""
    offsets = {a.op.results: _shifted(next(a.offsets(adjoint.launch_ndim)), shifts[a.element_kind]) for a in additions}

    def change(_: Rewriter, op: Op) -> list[Op] | None:
        added = offsets.get(op.results)
        if added is None:
            return None
        b = Builder()
        b.location = op.location
        inside: Ref | None = None
        for axis, way in enumerate(added):
            if way.added:
                owner = Ref(b, b.one("tid", (), int32, {AXIS: axis})) + way.added
                end = Ref(b, b.cast(b.one("launch_dim", (), int64, {AXIS: axis}), int32))
                here = owner < end if way.added > 0 else owner >= 0
                inside = here if inside is None else operators.and_(inside, here)
        if inside is None:
            return []
        with b.block() as then:
            b.yield_()
        with b.block() as orelse:
            b.append(op.replace(results=tuple(map(fresh, op.results))))
            b.yield_()
        b.if_(inside.value, then.block, orelse.block)
        return list(b.body().ops)

    return rewrite(adjoint, change)


class _Impossible(Exception):
    """Raised where another thread's addition cannot be computed, or not cheaply."""


def _additions(function: Function, operations: Sequence[Op]) -> list[_Addition]:
    """Return the atomic additions to arrays that are only added to, at elements from which the thread can be found."""
    where = OffsetAnalysis(function)
    adds = {op for op in operations if op.name == "atomic_add" and is_float(op.operands[0].type)}
    uses: dict[Value, list[Op]] = defaultdict(list)
    used = {v for op in operations for v in op.operands}
    for op in operations:
        if op.name in ACCESSES:
            uses[op.operands[0]].append(op)
    # A list: the order of the sums is part of the code.
    arrays = [a for a, ops in uses.items() if adds.issuperset(ops) and used.isdisjoint(o.result for o in ops)]
    additions: dict[Op, _Addition | None] = {}
    for access in where.analysis.accesses():
        if access.op.name == "atomic_add" and access.op.operands[0] in arrays and not access.loops:
            additions[access.op] = _addition(access, where, function.launch_ndim)
    by_array: dict[Value, list[_Addition | None]] = defaultdict(list)
    for op in (o for a in arrays for o in uses[a]):
        by_array[op.operands[0]].append(additions.get(op))
    good: list[_Addition] = []
    for several in by_array.values():
        known = [a for a in several if a is not None]
        if len(known) == len(several) and len({a.element_kind[1] for a in known}) == 1:
            good += known
    return good


def _addition(access: Access, where: OffsetAnalysis, ndim: int) -> _Addition | None:
    """Return an access as an addition from whose element the adding thread is known; None if it is not.

    Args:
        access: an atomic addition, with its indices and the conditions around it.
        where: the analysis of the indices.
        ndim: the number of the launch's dimensions, each of which must occur once among the indices.
    """
    op, least = access.op, lower_bounds(access.guards, where)
    indices: list[Index | None] = []
    axes: list[int | None] = []
    others: list[int] = []
    for value in access.indices:
        number = where.number(value)
        index = where.of(value, least) if number is None else None
        if number is None and index is None:
            return None
        others += [number] if number is not None else []
        indices.append(index)
        axes.append(None if index is None else index.axis)
    if sorted(a for a in axes if a is not None) != list(range(ndim)):
        return None
    return _Addition(op, (op.operands[0], tuple(axes), tuple(others)), tuple(indices), not access.guards)


def _without(function: Function, gone: Callable[[Op], bool]) -> Function:
    """Return the function without the operations for which `gone` is true."""
    return rewrite(function, lambda _, op: () if gone(op) else None)


class _Gather:
    """Emits a function in which each thread adds up what all threads add to its own elements.

    Attributes:
        function: the adjoint.
        shifts: by kind of element, the distance from a thread's index to the element that it adds up; without one 0.
        defs: the operations that compute the adjoint's values.
        parents: operations inside blocks to the operation around them.
        additions: the additions to replace, by operation.
        offsets: the distances to the adding threads, each with the operations that add at it.
        own: the thread's index, by axis.
        sums: what has been added up so far, by kind of element.
        env: values of the adjoint in the thread whose additions are being emitted.
    """

    def __init__(self, function: Function, additions: Sequence[_Addition], shifts: Mapping[ElementKind, Shift]) -> None:
        """Prepare to replace the additions of an adjoint; nothing is emitted yet.

        Raises:
            _Impossible: there are too many different distances.
        """
        self.function = function
        self.shifts = shifts
        self.builder = Builder()
        self.defs = definitions(function.body)
        self.parents = {i: op for op in walk(function.body) for block in op.blocks for i in block.ops}
        self.additions = {a.op: a for a in additions}
        self.offsets: dict[OffsetTuple, list[Op]] = defaultdict(list)
        for addition in additions:
            for way in addition.offsets(function.launch_ndim):
                self.offsets[_shifted(way, shifts.get(addition.element_kind))].append(addition.op)
        if len(self.offsets) > PULLED_NEIGHBOURS:
            raise _Impossible
        self.own: list[Value] = []
        self.sums: dict[ElementKind, Value] = {}
        self.env: dict[Value, Value] = {}

    @property
    def common_share(self) -> float:
        """The share of the distances without a clamped or wrapped index.

        Threads that are not at a border take part in no others.
        """
        inside = sum(all(w.edge is None and w.size is None for w in way) for way in self.offsets)
        return inside / len(self.offsets)

    def written(self) -> Function:
        """Return the function that adds up all elements, and does nothing else."""
        b = self.builder
        b.location = next(iter(self.additions)).location
        self.own = [b.one("tid", (), int32, {AXIS: axis}) for axis in range(self.function.launch_ndim)]
        for array, axes, others in (a.element_kind for a in self.additions.values()):
            self.sums[array, axes, others] = nothing(b, array_of(array).dtype)
        for way, ops in self.offsets.items():
            self.add(way, ops)
        for (array, axes, others), total in self.sums.items():
            rest = iter(others)
            by = self.shifts.get((array, axes, others), (0,) * len(self.own))
            mine = [Ref(b, own) + c if c else Ref(b, own) for own, c in zip(self.own, by, strict=True)]
            indices = [b.const(next(rest)) if axis is None else mine[axis].value for axis in axes]
            b.store(array, *indices, (Ref(b, b.load(array, *indices)) + Ref(b, total)).value)
        return replace(self.function, body=b.body())

    def add(self, way: OffsetTuple, ops: Sequence[Op]) -> None:
        """Emit the additions of the thread at one distance, which happen if it is part of the launch.

        Args:
            way: the distance along each axis.
            ops: its additions to this thread's elements.
        """
        b = self.builder
        needed = self.needed(ops)
        self.env = {}
        threads: list[Value] = []
        conditions: list[Ref] = []
        for axis, difference in enumerate(way):
            thread, needs_of_thread = self.thread(axis, difference)
            threads.append(thread)
            conditions += needs_of_thread
        self.env = {v: threads[op.attrs[AXIS]] for v, op in self.defs.items() if op.name == "tid"}
        if not conditions:
            self.block(self.function.body, needed, way, ops)
            return
        inside = conditions[0]
        for condition in conditions[1:]:
            inside = operators.and_(inside, condition)
        targets = list(dict.fromkeys(self.additions[op].element_kind for op in ops))
        before = dict(self.sums)
        with b.block() as then:
            self.block(self.function.body, needed, way, ops)
            b.yield_(*(self.sums[p] for p in targets))
        with b.block() as orelse:
            b.yield_(*(before[p] for p in targets))
        self.sums = {**before, **dict(zip(targets, b.if_(inside.value, then.block, orelse.block), strict=True))}

    def thread(self, axis: int, difference: IndexOffset) -> tuple[Value, list[Ref]]:
        """Return the index of the thread that adds to this thread's element, and conditions for it to exist.

        If only few threads, at a border, can have such an element, the first condition says so, for `peel_boundaries`.

        Args:
            axis: of the launch.
            difference: of the element's index from the adding thread's own.
        """
        b, own, added = self.builder, Ref(self.builder, self.own[axis]), difference.added
        end = Ref(b, b.cast(b.one("launch_dim", (), int64, {AXIS: axis}), int32))
        conditions: list[Ref] = []
        if difference.edge is not None:
            edge = self.recompute(difference.edge)
            conditions.append(own <= 0 if self.is_literal(difference.edge) else own >= edge)
        thread = own - added if added else own
        if difference.size is None:
            conditions += [thread >= 0] if added > 0 else [thread < end] if added < 0 else []
            return thread.value, conditions
        size = self.recompute(difference.size)
        if difference.sign > 0:
            thread = thread - size
            return thread.value, [own >= size + added, thread < end]
        thread = thread + size
        return thread.value, [own < added, thread >= 0, thread < end]

    def is_literal(self, value: Value) -> bool:
        """Return whether a value of the adjoint is a constant."""
        return self.defs[value].name == "const" if value in self.defs else False

    def recompute(self, value: Value) -> Ref:
        """Return a size or number, recomputed in this function, as int32."""
        op = self.defs.get(value)
        if op is not None and value not in self.env:
            for operand in op.operands:
                self.recompute(operand)
            self.builder.append(copy_op(op, self.env))
        return Ref(self.builder, self.env.get(value, value)).cast(int32)

    def needed(self, ops: Sequence[Op]) -> set[Op]:
        """Return the operations that must run for additions, with the branches around them.

        Raises:
            _Impossible: one has a lasting effect or uses slots.
        """
        needed_ops: set[Op] = set()
        waiting = [v for op in ops for v in op.operands[1:]]
        for op in ops:
            while op in self.parents:
                op = self.parents[op]
                waiting += op.operands
        while waiting:
            definition = self.defs.get(waiting.pop())
            if definition is None or definition in needed_ops:
                continue
            bare = [definition, *(i for block in definition.blocks for i in walk(block) if i.name not in EFFECTS)]
            if any(op.name in LASTING or op.name.startswith("slot") for op in bare):
                raise _Impossible
            needed_ops.update(bare)
            waiting += [v for op in bare for v in op.operands]
        return needed_ops

    def block(self, block: Block, needed: set[Op], way: OffsetTuple, ops: Sequence[Op]) -> None:
        """Emit the needed operations of a block, with the additions in it."""
        for op in block.ops:
            if op in ops:
                self.addition(op, way)
            elif op in needed and op.name != "tid":
                # Of a branch its results; what it adds comes after it.
                bare = Rewriter(lambda _, inner: () if inner.name in EFFECTS else None).inside(op)
                self.builder.append(copy_op(bare, self.env))
            if op.name == "if" and any(self.within(add, op) for add in ops):
                self.branch(op, needed, way, ops)

    def within(self, op: Op, outer: Op) -> bool:
        """Return whether an operation stands inside the blocks of another, at any depth."""
        while op in self.parents:
            op = self.parents[op]
            if op is outer:
                return True
        return False

    def branch(self, op: Op, needed: set[Op], way: OffsetTuple, ops: Sequence[Op]) -> None:
        """Emit an `if` around additions, whose results are the sums."""
        b = self.builder
        before = dict(self.sums)
        targets = list(dict.fromkeys(self.additions[add].element_kind for add in ops if self.within(add, op)))
        sides: list[Block] = []
        for side in op.blocks:
            self.sums = dict(before)
            with b.block() as opened:
                self.block(side, needed, way, ops)
                b.yield_(*(self.sums[p] for p in targets))
            sides.append(opened.block)
        results = b.if_(self.env.get(op.operands[0], op.operands[0]), sides[0], sides[1])
        self.sums = {**before, **dict(zip(targets, results, strict=True))}

    def addition(self, op: Op, way: OffsetTuple) -> None:
        """Emit the addition of a value to the sum of its element's kind, which `sums` then has.

        Where its index was clamped, it is added only if the element is the thread's own.
        """
        b, target = self.builder, self.additions[op].element_kind
        b.location = op.location
        value = op.operands[-1]
        total = Ref(b, self.sums[target]) + Ref(b, self.env.get(value, value))
        for axis, index in zip(target[1], indices_of(op), strict=True):
            if axis is not None and way[axis].edge is not None:
                here = Ref(b, self.env[index]).cast(int32).equals(Ref(b, self.own[axis]))
                total = operators.where(here, total, Ref(b, self.sums[target]))
        self.sums[target] = total.value
