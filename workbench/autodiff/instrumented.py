"""Kernels that note what they do to arrays: which elements they access, and what they would add to shared floats.

**Accesses**, from which sparsity patterns are derived. The kernel does all that it did before; besides, each access to
a float writes a row of an int32 array: site, element, iteration, thread. A site is a parameter, a kind of access and a
*flow*: a set of reads, and the writes that derivatives flow to from all of them. Where all the way lies within a loop,
the rows carry its index: what one iteration reads reaches nothing that another one writes.

**Ordered sums.** On a device threads run at once, and float sums depend on the order. A kernel in its ordered form adds
nothing: each atomic sum, minimum or maximum of floats writes a row, the number's place and the value, to a part of a
log that is the thread's own. The rows are then sorted by place, and one thread per place goes through its rows
(`workbench.utils.ordered`): in the order of threads, and of each thread's own changes, as a loop over threads would.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise, takewhile

import msgspec
from msgspec.structs import replace

from workbench.autodiff.adjoint_signature import log_name, order_logs
from workbench.autodiff.analysis.activity import edges_of, reached
from workbench.errors import LaunchError, NotDifferentiable
from workbench.ir.build import Builder, Rewriter, rewrite
from workbench.ir.ops import (
    ACCESSES,
    AXIS,
    EFFECTS,
    ELEMENTS,
    KIND,
    LOADS,
    MESSAGE,
    OPAQUE,
    READS,
    TILED,
    UPDATES,
    VALUE,
)
from workbench.ir.values import (
    Block,
    Function,
    Op,
    Value,
    array_of,
    component_of,
    definitions,
    indices_of,
    is_opaque,
    read_arrays,
    walk,
    written_arrays,
)
from workbench.ir.verify import verify
from workbench.passes.checks.bounds_checks import shared_stores
from workbench.passes.dce import prune
from workbench.passes.memory.atomics import kind_of
from workbench.passes.pipeline import RUNNABLE, run
from workbench.types import ArrayType, Vector, element, float64, int32, int64, is_float, uint64
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


COMMUTATIVE = frozenset({"add", "min", "max", "and", "or", "xor"})
"""Kinds of changes whose order does not matter, but to rounding and to the sign of zero."""
ADVICE = "Run it on the CPU, where threads run in order, or leave deterministic=True out."


class Sums(msgspec.Struct, frozen=True):
    """The additions of a kernel to elements that other threads may add to as well.

    Attributes:
        arrays: name and kind ("add", "min", "max") of each array, in the order of the parameters.
        rows: how many rows a thread writes at most; 0: that has to be counted.
        loop: if it has to be counted, the location of the first change; else empty.
    """

    arrays: tuple[tuple[str, str], ...]
    rows: int
    loop: str = ""


def runnable(function: Function, adjoint: bool, atomic: bool) -> Function:
    """Return a derived function in the form that `sums_of` reads: additions are decided, none is combined over threads.

    Args:
        function: what was derived.
        adjoint: it is an adjoint, where it is decided already which additions are atomic.
        atomic: arrays may overlap, so every addition stays atomic; used only if it is no adjoint.
    """
    if adjoint:
        return run(("by_component",), function)
    return run(RUNNABLE, function, demote_atomics=not atomic, reductions=False)


def sums_of(function: Function) -> Sums | None:
    """Return the additions of a `runnable` function; None if nothing it does depends on the order of threads.

    Raises:
        LaunchError: something does, and cannot be ordered; the message names the line.
    """
    used = {v for op in walk(function.body) for v in op.operands}
    kinds: dict[Value, str] = {}
    for op in walk(function.body):
        why = _unordered(op, used, function)
        array = op.operands[0] if op.operands else None
        if not why and array is not None and is_change(op) and kinds.setdefault(array, kind_of(op)) != kind_of(op):
            why = f"changes {array.name} in two ways, {kinds[array]} and {kind_of(op)}"
        if why:
            raise _order_error(function, op, why)
    for op in walk(function.body):
        if op.name in ACCESSES and op.operands[0] in kinds and not is_change(op):
            name, what = op.operands[0].name, "writes" if op.name in EFFECTS else "reads"
            raise _order_error(function, op, f"{what} {name}, which other threads add to")
    for op in shared_stores(function):
        raise _order_error(function, op, f"writes one element of {op.operands[0].name} from all threads")
    if not kinds:
        return None
    rows = _most(function.body, definitions(function.body))
    loop = "" if rows else next(str(op.location) for op in walk(function.body) if is_change(op))
    return Sums(tuple((p.name, kinds[p]) for p in function.params if p in kinds), rows, loop)


def is_change(op: Op) -> bool:
    """Return whether an operation is an `atomic_add`, `atomic` or `reduce_add` of floats."""
    return op.name in ("atomic_add", "atomic", "reduce_add") and is_float(op.operands[-1].type)


def _unordered(op: Op, used: set[Value], function: Function) -> str:
    """Return why an operation's result depends on the order of threads, whatever is sorted; "" if it does not."""
    if op.name in OPAQUE - {"custom"}:
        return "is CUDA C++, and the order in which it adds is unknown"
    if op.name == "atomic_load" and is_float(op.result.type):
        return f"reads {op.operands[0].name} while other threads change it"
    if op.name not in UPDATES:
        return ""
    name = op.operands[0].name
    if op.name in TILED or (function.block_dim and is_float(op.operands[0].type)):
        return f"adds to {name} from blocks of threads" if is_float(op.operands[0].type) else ""
    if op.name == "atomic_swap" or (op.name == "atomic" and op.attrs[KIND] not in COMMUTATIVE):
        return f"exchanges an element of {name}"
    if not used.isdisjoint(op.results):
        return f"uses what {name} held before another thread's change"
    return ""


def _order_error(function: Function, op: Op, why: str) -> LaunchError:
    """Return the error of `deterministic=True` for an operation; `why` is a verb with its object."""
    return LaunchError(
        f"deterministic=True: {function.name} {why} ({op.location}), and a device has no order for that.",
        advice=ADVICE,
        function=function.name,
    )


def _numbers(op: Op) -> int:
    """Return how many floats an operation changes."""
    return getattr(op.operands[-1].type, "length", 1)


def _most(block: Block, defining: Mapping[Value, Op]) -> int:
    """Return how many rows a thread writes in a block at most; 0 if it writes none, or the number is not known."""
    total = 0
    for op in block.ops:
        inner = [_most(b, defining) for b in op.blocks]
        if op.name in ("for", "while") and any(is_change(o) for b in op.blocks for o in walk(b)):
            bounds = (defining.get(v) for v in op.operands[:3])
            ends = [bound.attrs[VALUE] if bound and bound.name == "const" else None for bound in bounds]
            turns = len(range(*ends)) if op.name == "for" and None not in ends and ends[2] else 0  # type: ignore[arg-type]
            if not inner[-1] or not turns:
                return 0
            total += turns * inner[-1]
        elif op.name == "if":
            if any(not n and any(map(is_change, walk(b))) for n, b in zip(inner, op.blocks, strict=True)):
                return 0
            total += max(inner)
        else:
            total += sum(inner) + (_numbers(op) if is_change(op) else 0)
    return total


def noted(function: Function) -> Function:
    """Return the form of a `runnable` function that writes rows instead of adding.

    Three parameters are added: `rows`, `values` and `starts`. A row is a uint64: in the upper half the number's place,
    in the lower its own position, at which its value lies in `values`, as a float64. Places count through the numbers
    of all arrays of `sums_of`, in their order. What is out of range writes no row, and with checks is a fault. A thread
    writes from `starts[thread]` on if rows have to be counted, else from its number times `Sums.rows` on.
    """
    sums = sums_of(function)
    assert sums is not None, "there is nothing to order"
    rows, values, starts = order_logs(function.params)
    begin = Builder()
    thread, zero = _thread(begin, function), begin.const(0)
    own = begin.cast(thread, int32)
    first = begin.one("mul", (own, begin.const(sums.rows)), int32) if sums.rows else begin.load(starts, own)
    count = begin.slots(int32, 1)
    begin.slot_write(count, zero, first)
    bases = dict(_bases(begin, function, sums))

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if not is_change(op):
            return None
        builder = Builder()
        builder.location = op.location
        row = builder.slot_read(count, zero)
        _write(builder, op, row, bases[op.operands[0]], rows, values)
        more = builder.one("add", (row, builder.const(_numbers(op))), int32)
        builder.slot_write(count, zero, more)
        return builder.body().ops

    body = rewrite(function, change).body
    body = Block((), (*begin.body().ops, *body.ops))
    return verify(_with(function, body, (*function.params, rows, values, starts)))


def counted(function: Function) -> Function:
    """Return the form of a `runnable` function that only counts each thread's rows, into its last parameter, `starts`.

    It has the parameters of `noted`. Asserts, prints and all other effects are left out.

    Raises:
        LaunchError: how many there are depends on what the kernel itself writes.
    """
    params = (*function.params, *order_logs(function.params))
    begin = Builder()
    own, zero = begin.cast(_thread(begin, function), int32), begin.const(0)
    count = begin.slots(int32, 1)
    begin.slot_write(count, zero, zero)

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op.name in ("assert", "print"):
            return ()
        if op.name not in EFFECTS:
            return None
        builder = Builder()
        if is_change(op):
            row = builder.slot_read(count, zero)
            builder.slot_write(count, zero, builder.one("add", (row, builder.const(_numbers(op))), int32))
        return builder.body().ops

    *ops, last = rewrite(function, change).body.ops
    end = Builder()
    end.store(params[-1], own, end.slot_read(count, zero))
    ending = (last, *end.body().ops) if last.name != "yield" else (*end.body().ops, last)
    pruned = prune(_with(function, Block((), (*begin.body().ops, *ops, *ending)), params))
    for op in walk(pruned.body):
        if op.name in LOADS and op.operands[0].name in read_arrays(pruned) & written_arrays(function):
            raise _order_error(function, op, f"adds as often as {op.operands[0].name} says, which it writes")
    return verify(pruned)


def _with(function: Function, body: Block, params: tuple[Value, ...]) -> Function:
    """Return a function of the same name with another body and parameters; one without dimensions gets one."""
    return replace(function, body=body, params=params, launch_ndim=function.launch_ndim or 1)


def _thread(builder: Builder, function: Function) -> Value:
    """Emit the linear index of the thread in the launch, as int64."""
    thread = builder.const(0, int64)
    for axis in range(function.launch_ndim or 1):
        size = builder.one("launch_dim", (), int64, {AXIS: axis})
        index = builder.cast(builder.one("tid", (), int32, {AXIS: axis}), int64)
        thread = builder.one("add", (builder.one("mul", (thread, size), int64), index), int64)
    return thread


def _bases(builder: Builder, function: Function, sums: Sums) -> Iterator[tuple[Value, Value]]:
    """Emit the place of the first number of each array that is added to; yield the array and that place."""
    base, named = builder.const(0, int64), {p.name: p for p in function.params}
    for name, _ in sums.arrays:
        array = named[name]
        yield array, base
        dtype = array_of(array).dtype
        size = builder.const(dtype.length if isinstance(dtype, Vector) else 1, int64)
        for axis in range(array_of(array).ndim):
            size = builder.one("mul", (size, _size(builder, array, axis)), int64)
        base = builder.one("add", (base, size), int64)


def _size(builder: Builder, array: Value, axis: int) -> Value:
    """Emit the size of an array along an axis, as int64."""
    return builder.cast(builder.one("shape", (array,), array_of(array).size_type, {AXIS: axis}), int64)


def _write(builder: Builder, op: Op, row: Value, base: Value, rows: Value, values: Value) -> None:
    """Emit operations that write the rows of one change, unless its index is out of range.

    Args:
        builder: where to emit.
        op: the change.
        row: position of the first row.
        base: place of the array's first number.
        rows: receives the rows.
        values: receives the values.
    """
    array, value = op.operands[0], op.operands[-1]
    position, fits = builder.const(0, int64), builder.const(True, bool_)
    for axis, index in enumerate(indices_of(op)):
        wide, size = builder.cast(index, int64), _size(builder, array, axis)
        position = builder.one("add", (builder.one("mul", (position, size), int64), wide), int64)
        inside = builder.one("lt", (builder.cast(wide, uint64), builder.cast(size, uint64)), bool_)
        fits = builder.one("and_", (fits, inside), bool_)
    dtype = array_of(array).dtype
    if isinstance(dtype, Vector):
        position = builder.one("mul", (position, builder.const(dtype.length, int64)), int64)
    component = component_of(op)
    position = builder.one("add", (position, base), int64)
    if component is not None:
        position = builder.one("add", (position, builder.cast(component, int64)), int64)
    builder.emit("assert", (fits,), (), {MESSAGE: f"an index of {array.name} is out of range"})
    with builder.block() as then:
        for k in range(_numbers(op)):
            part = (
                builder.one("extract", (value, builder.const(k)), element(value.type)) if _is_vector(value) else value
            )
            at = builder.one("add", (row, builder.const(k)), int32)
            number = builder.cast(builder.one("add", (position, builder.const(k, int64)), int64), uint64)
            key = builder.one("mul", (number, builder.const(1 << 32, uint64)), uint64)
            builder.store(rows, at, builder.one("add", (key, builder.cast(at, uint64)), uint64))
            builder.store(values, at, builder.cast(part, float64))
        builder.yield_()
    with builder.block() as orelse:
        builder.yield_()
    builder.if_(fits, then.block, orelse.block)


def _is_vector(value: Value) -> bool:
    """Return whether a value is a vector."""
    return isinstance(value.type, Vector)
