"""A kernel that notes which elements each thread reads and writes: what the pattern of a derivative is made of.

All that the kernel does it does as before; besides, each access to a float goes into a row of an int32 array: thread,
site, element. A site is a parameter, a kind of access and a *flow*, values between which derivatives flow: what a
thread reads in one flow reaches nothing that it writes in another one. A flow that lies within a loop ends with each
iteration, so its rows carry the loop's index.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, takewhile

from msgspec.structs import replace

from workbench.autodiff.adjoint_signature import log_names
from workbench.autodiff.analysis.activity import edges_of, influenced
from workbench.errors import NotDifferentiable
from workbench.ir.attributes import AXIS
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, EFFECTS, ELEMENTS, OPAQUE, READS, TILED
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Block, Function, Op, Value, indices_of, is_opaque, walk
from workbench.ir.verify import verify
from workbench.types import ArrayType, int32, is_float
from workbench.types import bool as bool_

LOAD, STORE, UPDATE = range(3)
"""Kinds of accesses: an update adds to what the element holds, or chooses between that and another value."""


def logged(function: Function) -> Function:
    """The function with rows for its accesses to floats.

    Raises:
        NotDifferentiable: it works on tiles, or is the user's own CUDA text, whose accesses are not known.
    """
    unknown = next((op for op in walk(function.body) if op.name in TILED or op.name in OPAQUE - {"custom"}), None)
    if function.block_dim or unknown is not None:
        raise NotDifferentiable(
            "Which elements a kernel of tiles, or one of CUDA text, reads and writes is not followed.",
            unknown.location if unknown else None, function=function.name,
            advice="Give the pattern: sparse=matrix, of SciPy, not 0 where a derivative may be.",
        )  # fmt: skip
    (name,) = log_names(function.params).values()
    log = Value(ArrayType(int32, 2), name)
    flows = _Flows(function)
    places = {p: k for k, p in enumerate(function.params)}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name not in ACCESSES or not is_float(op.operands[0].type):
            return None
        builder = Builder()
        builder.location = op.location
        at, count = places[op.operands[0]], len(places)
        ways = [(LOAD, v) for v in op.results if op.name in READS]
        if op.name in EFFECTS:
            ways.append((STORE if op.name == "store" else UPDATE, op.operands[-1]))
        for kind, value in ways:
            flow = flows.number(value)
            if flow or kind != LOAD:
                site = (flow * count + at) * 3 + kind
                _row(builder, log, op, site, flows.iteration(builder, value), function.launch_ndim)
        return (*builder.body().ops, op)

    made = rewrite(function, change)
    return verify(replace(made, name=f"{made.name}_accesses", params=(*made.params, log)))


def _row(builder: Builder, log: Value, op: Op, site: int, iteration: Value, ndim: int) -> None:
    """Write a row if there is room for it; count it anyway."""
    zero, one = builder.const(0), builder.const(1)
    before = builder.one("atomic_add", (log, zero, zero, one), int32)
    row = builder.one("add", (before, one), int32)
    fits = builder.one("lt", (row, builder.one("shape", (log,), int32, {AXIS: 0})), bool_)
    with builder.block() as then:
        array, element = op.operands[0], zero
        for axis, index in enumerate(indices_of(op) if op.name in ELEMENTS else ()):
            size = builder.cast(builder.one("shape", (array,), array.type.size_type, {AXIS: axis}), int32)
            element = builder.one("mul", (element, size), int32)
            element = builder.one("add", (element, builder.cast(index, int32)), int32)
        indices = [builder.one("tid", (), int32, {AXIS: axis}) for axis in range(ndim)]
        for column, value in enumerate((builder.const(site), element, iteration, *indices)):
            builder.store(log, row, builder.const(column), value)
        builder.yield_()
    with builder.block() as orelse:
        builder.yield_()
    builder.if_(fits, then.block, orelse.block)


class _Flows:
    """The values between which derivatives flow, by what is read: sets that no derivative leaves."""

    def __init__(self, function: Function) -> None:
        self._above: dict[Value, Value] = {}
        self._numbers: dict[Value, int] = {}
        self._around = dict(_loops(function.body, ()))
        reads = [v for op in walk(function.body) if op.name in READS for v in op.results if is_float(v.type)]
        hidden = [v for op in walk(function.body) if op.name == "custom" and is_opaque(op) for v in op.results]
        reached = influenced(function.body, [*reads, *hidden])
        for op in walk(function.body):
            for a, b in edges_of(op):
                if a in reached and is_float(b.type):
                    self._join(a, b)
            if op.name == "custom" and is_opaque(op):  # its gradient is the user's: all may depend on all
                inside = [v for inner in walk(op.blocks[0]) for v in (*inner.operands, *inner.results)]
                floats = [v for v in (*op.operands, *op.results, *inside) if is_float(v.type)]
                values = [v for v in floats if not isinstance(v.type, ArrayType)]
                for a, b in pairwise(values):
                    self._join(a, b)
        for op in walk(function.body):  # what is written nowhere matters to nobody: the old value of a sum, mostly
            if op.name in EFFECTS and op.operands[-1] in reached:
                self._numbers.setdefault(self._root(op.operands[-1]), len(self._numbers) + 1)
        self._common: dict[Value, tuple[Op, ...]] = {}
        for value in (*reached, *self._above):
            root, here = self._root(value), self._around.get(value, ())
            self._common[root] = _prefix(self._common.get(root, here), here)

    def number(self, value: Value) -> int:
        """The number of the value's flow, from 1; 0 if it depends on nothing that was read, or is written nowhere."""
        return self._numbers.get(self._root(value), 0)

    def iteration(self, builder: Builder, value: Value) -> Value:
        """A number for the iteration of the loops that the value's flow lies within."""
        found = builder.const(0)
        for loop in self._common.get(self._root(value), ()):
            found = builder.one("mul", (found, builder.const(1_000_003)), int32)
            found = builder.one("add", (found, builder.cast(loop.blocks[0].params[0], int32)), int32)
        return found

    def _root(self, value: Value) -> Value:
        while value in self._above:
            value = self._above[value]
        return value

    def _join(self, a: Value, b: Value) -> None:
        a, b = self._root(a), self._root(b)
        if a is not b:
            self._above[b] = a


def _loops(block: Block, around: tuple[Op, ...]) -> Iterator[tuple[Value, tuple[Op, ...]]]:
    """Each value that is defined in a block, with the `for` loops around it; other loops end what is distinguished."""
    for op in block.ops:
        yield from ((v, around) for v in op.results)
        inner = (*around, op) if op.name == "for" else around
        for nested in op.blocks:
            yield from ((v, inner) for v in nested.params)
            yield from _loops(nested, inner)


def _prefix(a: tuple[Op, ...], b: tuple[Op, ...]) -> tuple[Op, ...]:
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] is pair[1], zip(a, b, strict=False)))
