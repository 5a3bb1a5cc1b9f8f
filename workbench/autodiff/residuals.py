"""Residuals: results of a kernel's loops that a run forward stores for the adjoint, which then has no such loops.

The adjoint of softmax begins with the greatest element of a row and the sum of exponentials, which the kernel has
computed just before. So there are two more forms: of the kernel one that also stores the results of such loops, and of
the adjoint one that reads them. What the adjoint notes in such a loop beside the kernel's values (the iteration of the
last maximum) is noted by the kernel's loop then. A loop is taken if it only computes and loads from arrays that the
kernel does not change, and the kernel has the same: so the run forward gets no further loop.

Loops are compared as graphs: each value that the kernel's carries has the start and the operations of one that the
adjoint's carries. The residuals of a thread are a column of two arrays of float64 and int64, which hold all numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from workbench.autodiff.adjoint_signature import primal_params, residual_params
from workbench.builtins import TABLE
from workbench.ir.build import Builder, Replacements, Rewriter, copy_op
from workbench.ir.ops import AXIS, LEAD, OPAQUE, PURE
from workbench.ir.values import Block, Function, Op, Value, definitions, walk, written_arrays
from workbench.ir.verify import verify
from workbench.limits import RECOMPUTED_ITERATIONS
from workbench.passes.analysis.cost import constants, known_trips
from workbench.passes.analysis.divergence import FREE, sum_order
from workbench.passes.dce import prune, prune_derivative
from workbench.passes.pipeline import RUNNABLE, RUNNABLE_ADJOINT, run
from workbench.types import Scalar, float64, int32, int64, is_float

_FREE = PURE | frozenset(TABLE) | {"load", "for", "if", "yield"}
"""Operations that only compute or load."""


def with_residuals(kernel: Function, adjoint: Function) -> tuple[Function, Function] | None:
    """Return the kernel that stores residuals, and the adjoint that reads them; None if it repeats no loop.

    None, too, if one of them adds floats in an order that depends on its code: on how wide gangs are.
    Both have `residual_params` behind their own. They are right where the launch's arrays share no memory, for launches
    of less than 2³¹ threads.
    """
    loops = any(op.name == "for" and op.results for op in kernel.body.ops)
    if not loops or not kernel.launch_ndim or kernel.block_dim or not OPAQUE.isdisjoint(kernel.body.op_names):
        return None
    comparison = _Comparison(kernel, adjoint)
    grafts = comparison.grafts()
    rows = _rows(adjoint, [graft.loop for graft in grafts])
    runnable = (run(RUNNABLE, kernel), run(RUNNABLE_ADJOINT, adjoint)) if rows else ()
    if not rows or any(sum_order(function).sharing != FREE for function in runnable):
        return None
    return _storing(comparison, grafts, rows), _reading(adjoint, grafts, rows)


class _Graft(msgspec.Struct, frozen=True, eq=False):
    """A loop of the adjoint that takes the place of one of the kernel's.

    Attributes:
        own: the kernel's loop.
        loop: the adjoint's.
        pairs: the kernel's results to the adjoint's.
        more: operations of the adjoint that the loop needs and the kernel has not.
    """

    own: Op
    loop: Op
    pairs: Mapping[Value, Value]
    more: Sequence[Op]


class _Comparison:
    """Compares the values of an adjoint with those of its kernel.

    Attributes:
        kernel, adjoint: the functions.
        defs: by value of either, the operation that defines it.
        same: by value of the adjoint, the first one of the kernel that equals it.
        first: by value of the kernel, the first one that equals it.
        position: by value of the kernel, the number of the operation that makes it.
    """

    def __init__(self, kernel: Function, adjoint: Function) -> None:
        """Number the kernel's values; those of the adjoint follow in `grafts`."""
        self.kernel, self.adjoint = kernel, adjoint
        self.defs = {**definitions(kernel.body), **definitions(adjoint.body)}
        self.same: Replacements = dict(zip(primal_params(adjoint), kernel.params, strict=True))
        self.first: Replacements = {}
        self.position = {v: n for n, op in enumerate(kernel.body.ops) for v in op.results}
        self._changed = written_arrays(kernel)
        self._known: dict[object, Sequence[Value]] = {}
        for op in kernel.body.ops:
            operands = [self.first.get(v, v) for v in op.operands]
            if not op.blocks and self.is_free(op):
                self.first.update(zip(op.results, self._known.setdefault(_key(op, operands), op.results), strict=True))

    def is_free(self, op: Op) -> bool:
        """Return whether an operation and those in its blocks only compute, or load what the kernel does not change."""
        changed = op.name == "load" and op.operands[0].name in self._changed
        return op.name in _FREE and not changed and all(self.is_free(o) for block in op.blocks for o in block.ops)

    def is_same(self, mine: Value, theirs: Value) -> bool:
        """Return whether a value outside of the kernel's loops equals one of the adjoint."""
        return self.same.get(theirs) is self.first.get(mine, mine)

    def grafts(self) -> list[_Graft]:
        """Return the adjoint's loops that the kernel has as well."""
        known, waiting = constants(self.adjoint.body), [op for op in self.kernel.body.ops if op.name == "for"]
        grafts: list[_Graft] = []
        for op in self.adjoint.body.ops:
            trips = known_trips(op, known)
            if not op.blocks and self.is_free(op) and all(v in self.same for v in op.operands):
                equal = self._known.get(_key(op, [self.same[v] for v in op.operands]), ())
                self.same.update(zip(op.results, equal, strict=False))
            elif op.name == "for" and self.is_free(op) and (trips is None or trips > RECOMPUTED_ITERATIONS):
                graft = next((g for own in waiting if (g := self._graft(own, op)) is not None), None)
                if graft is not None:
                    waiting.remove(graft.own)
                    grafts.append(graft)
                    self.same.update((theirs, mine) for mine, theirs in graft.pairs.items())
        return grafts

    def _graft(self, own: Op, loop: Op) -> _Graft | None:
        """Return the graft of a loop of the adjoint in place of one of the kernel's.

        None if not all results of the kernel's are among its results, or if it needs what the kernel has not there.
        """
        lead = LEAD["for"]
        ends = all(map(self.is_same, own.operands[:lead], loop.operands[:lead]))
        scalars = own.results and all(isinstance(v.type, Scalar) for v in loop.results)
        if not ends or not scalars or own.attrs != loop.attrs or not self.is_free(own):
            return None
        match, pairs = _Match(self, own, loop), dict[Value, Value]()
        for mine, result in zip(own.blocks[0].params[1:], own.results, strict=True):
            trials = zip(loop.blocks[0].params[1:], loop.results, strict=True)
            equal = next((theirs for param, theirs in trials if match.extended(mine, param)), None)
            if equal is None:
                return None
            pairs[result] = equal
        outer = [v for o in (loop, *walk(loop.blocks[0])) for v in o.operands if v not in match.theirs]
        more = self._needed(outer, self.kernel.body.ops.index(own))
        return None if more is None else _Graft(own, loop, pairs, more)

    def _needed(self, values: Sequence[Value], position: int) -> list[Op] | None:
        """Return the operations that compute values of the adjoint from what the kernel knows before an operation.

        Args:
            values: the values.
            position: the number of the kernel's operation.

        Returns:
            The operations in order; None if they would have to do more than compute.
        """
        more: dict[Op, None] = {}

        def collect(value: Value) -> bool:
            if value in self.same:
                return self.position.get(self.same[value], -1) < position
            op = self.defs.get(value)
            if op is None or op.name not in PURE or op.blocks:
                return False
            complete = op in more or all(map(collect, op.operands))
            more.setdefault(op)
            return complete

        return [*more] if all(map(collect, values)) else None


def _key(op: Op, operands: Sequence[Value]) -> object:
    """Return a key that is equal for operations with equal results."""
    return op.name, repr(sorted(op.attrs.items(), key=repr)), *[v.type for v in op.results], *operands


class _Match:
    """Pairs the values of a kernel's loop with equal ones of a loop of the adjoint.

    Attributes:
        theirs: all values inside of the adjoint's loop.
    """

    def __init__(self, comparison: _Comparison, own: Op, loop: Op) -> None:
        """Begin with the counters."""
        self.comparison = comparison
        self.mine, self.theirs = (_inside(op.blocks[0]) for op in (own, loop))
        self._own, self._loop = ({p: k for k, p in enumerate(op.blocks[0].params[1:])} for op in (own, loop))
        self._steps = [[*zip(op.operands[LEAD["for"] :], op.blocks[0].yielded, strict=True)] for op in (own, loop)]
        self._pairs = {own.blocks[0].params[0]: loop.blocks[0].params[0]}

    def extended(self, mine: Value, theirs: Value) -> bool:
        """Return whether two values that the loops carry are equal; the pairs that make them so stay."""
        before = dict(self._pairs)
        equal = self._is_same(mine, theirs)
        self._pairs = self._pairs if equal else before
        return equal

    def _is_same(self, mine: Value, theirs: Value) -> bool:
        """Return whether two values are equal if those in pairs are, to which they are added."""
        if mine in self._pairs or theirs.type != mine.type:
            return self._pairs.get(mine) is theirs
        if mine not in self.mine:
            return self.comparison.is_same(mine, theirs)
        if mine in self._own:
            if theirs not in self._loop or theirs in self._pairs.values():
                return False
            (start, end), (other, last) = self._steps[0][self._own[mine]], self._steps[1][self._loop[theirs]]
            self._pairs[mine] = theirs
            return self.comparison.is_same(start, other) and self._is_same(end, last)
        one, two = self.comparison.defs.get(mine), self.comparison.defs.get(theirs)
        if one is None or two is None or theirs not in self.theirs:
            return False
        kinds = [(_key(op, ()), len(op.operands), op.results.index(v)) for op, v in ((one, mine), (two, theirs))]
        equal = kinds[0] == kinds[1] and all(map(self._is_same, one.operands, two.operands))
        if equal and all(map(self._are_same, one.blocks, two.blocks)):
            self._pairs[mine] = theirs
            return True
        return False

    def _are_same(self, one: Block, two: Block) -> bool:
        """Return whether two blocks inside the loops yield equal values."""
        self._pairs.update(zip(one.params, two.params, strict=True))
        return all(map(self._is_same, one.yielded, two.yielded))


def _inside(block: Block) -> set[Value]:
    """Return the values that a block and those in it define."""
    inner = [b for op in walk(block) for b in op.blocks]
    return {*(p for b in (block, *inner) for p in b.params), *(v for op in walk(block) for v in op.results)}


def _rows(adjoint: Function, loops: Sequence[Op]) -> dict[Value, int]:
    """Return the results of loops that the adjoint needs if it has none of them, each with its row."""
    without = Rewriter(lambda _, op: () if op in loops else None).block(adjoint.body)
    rest = prune_derivative(replace(adjoint, body=without))
    used = {v for op in walk(rest.body) for v in op.operands}
    needed = [v for loop in loops for v in loop.results if v in used]
    kinds = [is_float(v.type) for v in needed]
    return {v: kinds[:n].count(kinds[n]) for n, v in enumerate(needed)}


def _thread(b: Builder, ndim: int) -> Value:
    """Emit the thread's number."""
    number = b.one("tid", (), int32, {AXIS: 0})
    for axis in range(1, ndim):
        size = b.cast(b.one("launch_dim", (), int64, {AXIS: axis}), int32)
        number = b.one("add", (b.one("mul", (number, size), int32), b.one("tid", (), int32, {AXIS: axis})), int32)
    return number


def _storing(comparison: _Comparison, grafts: Sequence[_Graft], rows: Mapping[Value, int]) -> Function:
    """Return the kernel with loops of the adjoint in place of its own, and with stores of their results in `rows`."""
    kernel, of = comparison.kernel, {graft.own: graft for graft in grafts}
    params = (*kernel.params, *residual_params(kernel.params))

    def change(rewriter: Rewriter, op: Op) -> Iterable[Op] | None:
        graft = next((g for own, g in of.items() if own.results == op.results), None) if op.name == "for" else None
        if graft is None:
            return None
        b = Builder()
        b.location = op.location
        known = {theirs: rewriter.mapping.get(v, v) for theirs, v in comparison.same.items()}
        for one in (*graft.more, graft.loop):
            b.append(copy_op(one, known))
        rewriter.mapping.update((mine, known[theirs]) for mine, theirs in graft.pairs.items())
        for value in graft.loop.results:
            if value in rows:
                array, kind = (params[-2], float64) if is_float(value.type) else (params[-1], int64)
                b.store(array, b.const(rows[value]), _thread(b, kernel.launch_ndim), b.cast(known[value], kind))
        return b.body().ops

    body = Rewriter(change).block(kernel.body)
    return verify(prune(replace(kernel, name=f"{kernel.name}_storing", params=params, body=body)))


def _reading(adjoint: Function, grafts: Sequence[_Graft], rows: Mapping[Value, int]) -> Function:
    """Return the adjoint without loops, which reads those of their results in `rows`."""
    loops, params = [graft.loop for graft in grafts], (*adjoint.params, *residual_params(primal_params(adjoint)))
    b, mapping = Builder(), dict[Value, Value]()
    thread = _thread(b, adjoint.launch_ndim)
    for value, row in rows.items():
        array = params[-2] if is_float(value.type) else params[-1]
        mapping[value] = b.cast(b.load(array, b.const(row), thread), value.type)
    rest = Rewriter(lambda _, op: () if any(op.results == loop.results for loop in loops) else None, mapping)
    b.extend(rest.block(adjoint.body).ops)
    return verify(prune_derivative(replace(adjoint, params=params, body=b.body())))
