"""Kernels that note what they would add to shared floats, so that it can be added in the order of the threads.

On a device threads run at once, and float sums depend on the order. A kernel in its ordered form adds nothing: each
atomic sum, minimum or maximum of floats writes a row, the number's place and the value, to a part of a log that is the
thread's own. The rows are then sorted by place, and one thread per place goes through its rows
(`workbench.utils.ordered`): in the order of threads, and of each thread's own changes, as a loop over threads would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from workbench.autodiff.adjoint_signature import order_logs
from workbench.errors import LaunchError
from workbench.ir.attributes import AXIS, KIND, MESSAGE, VALUE
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, EFFECTS, LOADS, OPAQUE, TILED, UPDATES
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import (
    Block,
    Function,
    Op,
    Value,
    array_of,
    component_of,
    definitions,
    indices_of,
    read_arrays,
    walk,
    written_arrays,
)
from workbench.ir.verify import verify
from workbench.passes.checks.shared_stores import shared_stores
from workbench.passes.dce import prune
from workbench.passes.pipeline import RUNNABLE, run
from workbench.passes.reductions import kind_of
from workbench.types import Vector, element, float64, int32, int64, is_float, uint64
from workbench.types import bool as bool_

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
