"""A kernel that notes which elements each thread reads and writes: what the pattern of a derivative is made of.

All that the kernel does it does as before; besides, each access to a float goes into a row of an int32 array: site,
element, iteration, thread. A site is a parameter, a kind of access and a *flow*: a set of reads, and the writes that
derivatives flow to from all of them. Where all the way lies within a loop, the rows carry its index: what one iteration
reads reaches nothing that another one writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise, takewhile

from msgspec.structs import replace

from workbench.autodiff.adjoint_signature import log_names
from workbench.autodiff.analysis.activity import edges_of
from workbench.errors import NotDifferentiable
from workbench.ir.attributes import AXIS
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, EFFECTS, ELEMENTS, OPAQUE, READS, TILED
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Block, Function, Op, Value, array_of, indices_of, is_opaque, walk
from workbench.ir.verify import verify
from workbench.types import ArrayType, int32, is_float
from workbench.types import bool as bool_

Edges = Mapping[Value, Sequence[Value]]
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
        rows = [(LOAD, flow) for v in op.results if op.name in READS for flow in flows.of(v, False)]
        if op.name in EFFECTS:
            rows += [(STORE if op.name == "store" else UPDATE, flow) for flow in flows.of(op.operands[-1], True)]
        for kind, (flow, loops) in rows:
            site = (flow * count + at) * 3 + kind
            _row(builder, log, op, site, _iteration(builder, loops), function.launch_ndim)
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
            size = builder.cast(builder.one("shape", (array,), array_of(array).size_type, {AXIS: axis}), int32)
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
    """For each value that is written, the reads that a derivative flows from, by the loops that all the way lies in."""

    def __init__(self, function: Function) -> None:
        around = dict(_loops(function.body, ()))
        after, before = _edges(function)
        looped = any(op.name == "for" for op in walk(function.body))
        every = list(walk(function.body))
        reads = {v for op in every if op.name in READS for v in op.results if is_float(v.type)}
        ahead: dict[Value, set[Value]] = {}
        self._flows: dict[object, list[tuple[int, tuple[Op, ...]]]] = defaultdict(list)
        numbers: dict[tuple[tuple[Op, ...], frozenset[Value]], int] = {}
        for value in dict.fromkeys(op.operands[-1] for op in every if op.name in EFFECTS):
            behind = _reached(value, before)
            sources: dict[tuple[Op, ...], list[Value]] = defaultdict(list)
            for read in reads & behind:
                if looped and read not in ahead:
                    ahead[read] = _reached(read, after)
                way = [around.get(v, ()) for v in ahead[read] & behind] if looped else [()]
                sources[reduce(_prefix, way)].append(read)
            for loops, group in sources.items():
                key = loops, frozenset(group)
                if key not in numbers:
                    numbers[key] = len(numbers) + 1
                    for read in group:
                        self._flows[read].append((numbers[key], loops))
                self._flows[value, "written"].append((numbers[key], loops))

    def of(self, value: Value, written: bool) -> Sequence[tuple[int, tuple[Op, ...]]]:
        """The flows of a value, from 1, with their loops; 0 of what is written and depends on no read."""
        return self._flows.get((value, "written"), [(0, ())]) if written else self._flows.get(value, ())


def _iteration(builder: Builder, loops: tuple[Op, ...]) -> Value:
    """A number for the iteration of these loops."""
    found = builder.const(0)
    for loop in loops:
        found = builder.one("mul", (found, builder.const(1_000_003)), int32)
        found = builder.one("add", (found, builder.cast(loop.blocks[0].params[0], int32)), int32)
    return found


def _edges(function: Function) -> tuple[Edges, Edges]:
    """Between which values derivatives flow, onwards and back."""
    after: dict[Value, list[Value]] = defaultdict(list)
    before: dict[Value, list[Value]] = defaultdict(list)
    for op in walk(function.body):
        edges = [(a, b) for a, b in edges_of(op) if is_float(a.type) and is_float(b.type)]
        if op.name == "custom" and is_opaque(op):  # its gradient is the user's: all may depend on all
            inside = [v for inner in walk(op.blocks[0]) for v in (*inner.operands, *inner.results)]
            floats = [v for v in (*op.operands, *op.results, *inside) if is_float(v.type)]
            values = [v for v in floats if not isinstance(v.type, ArrayType)]
            edges += [*pairwise(values), *pairwise(reversed(values))]
        for a, b in edges:
            after[a].append(b)
            before[b].append(a)
    return after, before


def _reached(start: Value, edges: Edges) -> set[Value]:
    found, pending = {start}, [start]
    while pending:
        new = [v for v in edges.get(pending.pop(), ()) if v not in found]
        found.update(new)
        pending += new
    return found


def _loops(block: Block, around: tuple[Op, ...]) -> Iterator[tuple[Value, tuple[Op, ...]]]:
    """Each value that is defined in a block, with the `for` loops that it is within; what a loop carries is not."""
    for op in block.ops:
        yield from ((v, around) for v in op.results)
        inner = (*around, op) if op.name == "for" else around
        for nested in op.blocks:
            yield from _loops(nested, inner)


def _prefix(a: tuple[Op, ...], b: tuple[Op, ...]) -> tuple[Op, ...]:
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] is pair[1], zip(a, b, strict=False)))
