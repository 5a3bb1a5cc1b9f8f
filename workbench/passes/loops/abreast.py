"""Loops that many threads of a row go through together.

`for k in range(n): s += a[i, k] * b[k, j]` is a sum in order for a thread: its terms cannot be added side by side, and
b[k, j] is far from b[k + 1, j]. But the threads of a row make the same turns, and in each of them neighbours read
neighbours. So a group of threads takes turn k before any of it takes turn k + 1: the loop over k stands outside, and in
it one over the threads of the group, which LLVM vectorises. What a thread keeps from turn to turn, or from one part of
its code to the next, is in slots, one for each thread of the group; LLVM keeps those in registers where the group is
full. Each thread does what it did in the same order, so its result has the same bits.

Where threads make turns of their own (`while`, a range of each thread's own), the group makes as many as any of them
needs, under a mask (`group`): if what is done in a turn is arithmetic that LLVM has vectors for. The few threads of a
row that are left behind full groups then go one by one.

Where all threads of a group add to one element, their terms are added up first (`slot_sum`), and the element is changed
once. Where all threads of the launch do, each one's part goes into a buffer as it does without groups
(`backends/cpu/emit/combine`), with the same bits.

The body is written twice, in an `if` with the attribute `ABREAST`: for full groups, and for the threads that are left
in a row. In both `tid` is the group's first thread, and `group_size` how many it has. LLVM keeps a group's slots in
registers where it sees how many there are. So on machines that can read a part of a vector, threads that are left are a
whole group as well, if arrays are only read and written side by side: what is not there goes along, without accesses.

Where neighbouring rows read or add to the same elements (`b[k, j]` above), it is written a third time, for groups of
several rows (`row_group`): what is the same in all of them is loaded once, and added to once, and sums stay in
registers. There `tid` along the rows' axis is that of the first one.
"""

from __future__ import annotations

import msgspec

from workbench.ir.attributes import ABREAST, AXIS, INTERIOR, ROWS, UNROLL, attributes
from workbench.ir.build import Builder
from workbench.ir.ops import ACCESSES, ELEMENTS, LOOPS, OPAQUE, REPORTS, TILED
from workbench.ir.rewrite import Mapping, copy_op, replace_body
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.limits import (
    GROUP_OPERATIONS,
    GROUP_ROWS,
    GROUP_ROWS_BYTES,
    GROUP_ROWS_OPERATIONS,
    GROUP_THREADS,
    GROUP_THREADS_LEAST,
    GROUP_VALUES,
)
from workbench.passes.loops.along import AlongGroup
from workbench.passes.loops.divergent import from_zero, rotated
from workbench.passes.loops.divisors import without_divisions
from workbench.passes.loops.group import Group
from workbench.passes.loops.row_group import RowGroup
from workbench.passes.loops.rows import NOTHING, Rows, Wide, initial, is_combined
from workbench.types import Vector, element, int32
from workbench.types import bool as bool_


def abreast(function: Function, wide: Wide = NOTHING, plain: bool = False, dense: bool = False) -> Function:
    """The function with such loops outside, and loops over a group's threads in them; itself if there are none.

    Args:
        function: any.
        wide: what can be done for several threads at once.
        plain: additions to elements are plain, in the order of the rows.
        dense: the elements of arrays lie side by side.
    """
    given, operations = function, list(walk(function.body))
    if function.block_dim or not function.launch_ndim or len(operations) > GROUP_OPERATIONS:
        return function
    if not any(op.name in LOOPS for op in operations) or any(_forbids(op) for op in operations):
        return function
    if any(op.name == "while" for op in operations):
        function = rotated(function)
        operations = list(walk(function.body))
    rows = Rows(function, wide)
    if rows.unaligned():
        function = from_zero(function, rows.unaligned())
        operations, rows = list(walk(function.body)), Rows(function, wide)
    if dense and not rows.apart() and not any(op.name == "while" for op in operations):
        along = Rows(function, wide, dense)
        rows = rows if along.apart() else along
    *before, last = function.body.ops or (Op("yield"),)
    split = bool(last.attrs.get(INTERIOR))
    # Groups are of threads inside; those at the border go before and behind them, as they did.
    together = list(walk(last.blocks[0])) if split else operations
    if not rows.loops or not rows.independent(together):
        return given
    if split:
        # The threads at a border are few.
        inside, border = last.blocks
        groups = _split(rows, inside, 1, plain)
        return replace_body(function, Block((), (*before, last.replace(blocks=(groups, border)))))
    count = 1
    # Where threads add, the number of rows is part of a sum's order, which is the same on every target.
    several = wide.rows or any(op.name == "atomic_add" for op in operations)
    if several and not rows.along and len(operations) <= GROUP_ROWS_OPERATIONS and rows.are_alike(operations):
        count = max(1, min(GROUP_ROWS, GROUP_ROWS_BYTES // (_threads(rows) * _bytes(rows))))
    return replace_body(function, _split(rows, function.body, count, plain))


def _forbids(op: Op) -> bool:
    """What depends on the order of threads, or has no place in a loop over some of them."""
    # Copied with its block, `tid` would be the group's first thread.
    inner = not op.attrs.get(INTERIOR) and any(o.name == "tid" for b in op.blocks for o in walk(b))
    ordered = op.name in OPAQUE or op.name in TILED or op.name in REPORTS
    own = op.name in ("atomic", "slot_sum", "slot_matmul") or (op.name in ACCESSES and op.name not in ELEMENTS)
    return inner or ((ordered or own) and not is_combined(op))


class Groups(msgspec.Struct, frozen=True):
    """A body as it was written twice, or three times.

    Attributes:
        threads: of a full group, in a row.
        full, rest: what a full group does, and one with fewer threads.
        rows: how many rows the third one has.
        several: what a full group of so many rows does.
    """

    threads: int
    full: Block
    rest: Block
    rows: int = 1
    several: Block | None = None


def groups_of(body: Block) -> Groups | None:
    """What `abreast` made of a body; None if that is nothing."""
    last = body.ops[-1] if body.ops else Op("yield")
    threads = last.attrs.get(ABREAST)
    if not threads:
        return None
    full, rest, *several = last.blocks
    return Groups(threads, full, rest, last.attrs.get(ROWS) or 1, *several)


def is_written_out(body: Block) -> bool:
    """Whether threads make turns of their own, and loops over them hold no other: LLVM need unroll none but these."""
    groups = groups_of(body)
    if groups is None or groups.several:
        return False
    over = [op for op in walk(groups.full) if op.attrs.get(UNROLL)]
    return bool(over) and not any(o.name in LOOPS for op in over for block in op.blocks for o in walk(block))


def _carried(rows: Rows) -> int:
    return max(1, *(sum(map(_width, initial(op))) for op in rows.loops))


def _threads(rows: Rows) -> int:
    """Of a full group's row."""
    if rows.apart() or rows.along:
        return GROUP_THREADS_LEAST
    return max(GROUP_THREADS_LEAST, min(GROUP_THREADS, GROUP_VALUES // (1 << (_carried(rows) - 1).bit_length())))


def _bytes(rows: Rows) -> int:
    """Of what a thread keeps from turn to turn."""
    return _carried(rows) * max((element(v.type).size for op in rows.loops for v in initial(op)), default=4)


def _split(rows: Rows, body: Block, count: int, plain: bool) -> Block:
    """The body for full groups, for the threads that are left, and for groups of `count` rows if these are several."""
    apart, threads = rows.apart(), _threads(rows)
    builder = Builder()
    builder.location = next(iter(rows.loops)).location
    full = (AlongGroup(rows, threads) if rows.along else Group(rows, threads, True)).written(body)
    # Where threads make turns of their own, few of them are as quick one by one, and need less code.
    full = without_divisions(full) if apart else full
    rest = (
        _one_by_one(rows, body)
        if apart or rows.along
        else Group(rows, threads, False, rows.maskable(body)).written(body)
    )
    blocks, attrs = (full, rest), ABREAST.of(threads)
    if count > 1:
        several: dict[str, object] = {ABREAST: threads, ROWS: count}
        blocks, attrs = (full, rest, RowGroup(rows, threads, count, plain).written(body)), attributes(several)
    builder.append(Op("if", (builder.const(True, bool_),), (), attrs, blocks, builder.location))
    return builder.body()


def _one_by_one(rows: Rows, body: Block) -> Block:
    """The threads of a group one after the other."""
    b = Builder()
    first, count = b.one("tid", (), int32, {AXIS: rows.axis}), b.one("group_size", (), int32)
    place = Value(int32, "place")
    with b.block((place,)) as opened:
        thread = b.one("add", (first, place), int32)
        env: Mapping = dict.fromkeys(rows.tids, thread)
        for op in body.ops:
            if op.name != "tid" or op.result not in env:
                b.append(copy_op(op, env))
        b.yield_()
    b.for_(b.const(0), count, b.const(1), (), opened.block)
    return b.body()


def _width(value: Value) -> int:
    return value.type.length if isinstance(value.type, Vector) else 1
