"""Kernels that log which elements each thread reads and writes, from which sparsity patterns are derived.

The kernel does all that it did before; besides, each access to a float writes a row of an int32 array: site, element,
iteration, thread. A site is a parameter, a kind of access and a *flow*: a set of reads, and the writes that
derivatives flow to from all of them. Where all the way lies within a loop, the rows carry its index: what one iteration
reads reaches nothing that another one writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise, takewhile

from msgspec.structs import replace

from workbench.autodiff.adjoint_signature import log_name
from workbench.autodiff.analysis.activity import edges_of, reached
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
    """Return the function, renamed, with a log of its accesses to floats as one more parameter, an int32 array.

    The log's first element counts the rows behind it; a row is site, element, iteration and the thread's index. Rows
    for which there is no room are counted, but not written.

    Raises:
        NotDifferentiable: it works on tiles, or is the user's own CUDA text, whose accesses are not known.
    """
    unknown = next((op for op in walk(function.body) if op.name in TILED or op.name in OPAQUE - {"custom"}), None)
    if function.block_dim or unknown is not None:
        raise NotDifferentiable(
            "Which elements a kernel of tiles, or one of CUDA text, reads and writes is not followed.",
            unknown.location if unknown else None,
            function=function.name,
            advice="Give the pattern: sparse=matrix, of SciPy, not 0 where a derivative may be.",
        )
    log = Value(ArrayType(int32, 2), log_name(function.params, "log"))
    flows = _Flows(function)
    numbers = {p: k for k, p in enumerate(function.params)}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name not in ACCESSES or not is_float(op.operands[0].type):
            return None
        builder = Builder()
        builder.location = op.location
        at, count = numbers[op.operands[0]], len(numbers)
        rows = [(LOAD, flow) for v in op.results if op.name in READS for flow in flows.of(v, False)]
        if op.name in EFFECTS:
            rows += [(STORE if op.name == "store" else UPDATE, flow) for flow in flows.of(op.operands[-1], True)]
        for kind, (flow, loops) in rows:
            site = (flow * count + at) * 3 + kind
            _row(builder, log, op, site, _iteration(builder, loops), function.launch_ndim)
        return (*builder.body().ops, op)

    result = rewrite(function, change)
    return verify(replace(result, name=f"{result.name}_accesses", params=(*result.params, log)))


def _row(builder: Builder, log: Value, op: Op, site: int, iteration: Value, ndim: int) -> None:
    """Emit code that counts a row of the log, in its first element, and writes it if there is room."""
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
    """The flows of a function: sets of reads, each with the written values whose derivatives come from all of them.

    A flow has a number, from 1, and the loops around the whole way from the reads to the written values.
    """

    def __init__(self, function: Function) -> None:
        around = dict(_loops(function.body, ()))
        after, before = _edges(function)
        looped = "for" in function.body.op_names
        every = list(walk(function.body))
        reads = {v for op in every if op.name in READS for v in op.results if is_float(v.type)}
        ahead: dict[Value, set[Value]] = {}
        self._flows: dict[object, list[tuple[int, tuple[Op, ...]]]] = defaultdict(list)
        numbers: dict[tuple[tuple[Op, ...], frozenset[Value]], int] = {}
        for value in dict.fromkeys(op.operands[-1] for op in every if op.name in EFFECTS):
            behind = reached([value], before)
            sources: dict[tuple[Op, ...], list[Value]] = defaultdict(list)
            for read in reads & behind:
                if looped and read not in ahead:
                    ahead[read] = reached([read], after)
                shortest_path = [around.get(v, ()) for v in ahead[read] & behind] if looped else [()]
                sources[reduce(_prefix, shortest_path)].append(read)
            for loops, group in sources.items():
                key = loops, frozenset(group)
                if key not in numbers:
                    numbers[key] = len(numbers) + 1
                    for read in group:
                        self._flows[read].append((numbers[key], loops))
                self._flows[value, "written"].append((numbers[key], loops))

    def of(self, value: Value, written: bool) -> Sequence[tuple[int, tuple[Op, ...]]]:
        """Return the flows that a value takes part in, as their numbers, from 1, and the loops around the whole way.

        A written value that depends on no read has flow 0.

        Args:
            value: one that is read, or written.
            written: which of the two.
        """
        return self._flows.get((value, "written"), [(0, ())]) if written else self._flows.get(value, ())


def _iteration(builder: Builder, loops: tuple[Op, ...]) -> Value:
    """Emit a hash of the current indices of these loops; 0 if there are none."""
    number = builder.const(0)
    for loop in loops:
        number = builder.one("mul", (number, builder.const(1_000_003)), int32)
        number = builder.one("add", (number, builder.cast(loop.blocks[0].params[0], int32)), int32)
    return number


def _edges(function: Function) -> tuple[Edges, Edges]:
    """Return the edges along which derivatives flow between floats, as two maps.

    The first leads from each value to those computed from it, the second from each value to those it is computed from.
    """
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


def _loops(block: Block, around: tuple[Op, ...]) -> Iterator[tuple[Value, tuple[Op, ...]]]:
    """Yield each operation's result in a block with the `for` loops around it, outermost first; no block parameters."""
    for op in block.ops:
        yield from ((v, around) for v in op.results)
        inner = (*around, op) if op.name == "for" else around
        for nested in op.blocks:
            yield from _loops(nested, inner)


def _prefix(a: tuple[Op, ...], b: tuple[Op, ...]) -> tuple[Op, ...]:
    """Return the operations that two tuples have in common from their beginnings, up to the first difference."""
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] is pair[1], zip(a, b, strict=False)))
