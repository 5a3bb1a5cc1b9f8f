"""Changes of one element by all threads, combined before memory is changed (marked by `passes/memory/atomics.py`).

A thread combines its own changes in a register and leaves the result in a buffer. A full buffer is combined with 32
lanes (of four bytes 64), each of which takes every 32nd thread; at the end of a chunk of threads the lanes are combined
pairwise. So the loop over threads vectorises without a sum in it, and the order is the same however wide a machine's
vectors are. The results of chunks are combined in the order of chunks (below), and chunks are cut by what a thread
costs, not by how many cores there are: **the same bits in each run and on each machine**. Floats of up to 32 bits are
added as float64.

    entry(params, begin, end, fault, stop, sums)        begin < end: a chunk. Its results are written to `sums`, or,
                                                        if that is null, change memory at once
    entry(params, chunks, 0, fault, stop, sums)         changes memory by the results at `sums`, one chunk after another
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec

from workbench.backends.cpu.emit import memory
from workbench.backends.cpu.emit.emitter import Emitter, later
from workbench.backends.cpu.emit.types import cast, register, width
from workbench.backends.llvm.functions import Lane, LlvmFunction, Long, Ptr, Variable, count
from workbench.backends.llvm.values import Value as LlvmValue
from workbench.backends.llvm.values import bits_of, splat, vector
from workbench.ir.build import copy_op
from workbench.ir.ops import ELEMENTS, LOOPS, REDUCTION, VALUE
from workbench.ir.values import Block, Function, Op, Value, dtype_of, walk
from workbench.limits import COMBINED_OPERATIONS, INLINED_COMPONENTS, REDUCTION_BYTES, REDUCTION_THREADS
from workbench.passes.loops.peeling import peeled_parts
from workbench.passes.memory.atomics import kind_of
from workbench.types import Kind, Scalar, element, float32, float64

_BYTES, _ALIGNMENT = 256, 64  # of the lanes in memory


class Reduction(msgspec.Struct, frozen=True, eq=False, dict=True):
    """All changes of one element that are combined over threads before memory is changed.

    Attributes:
        op: the first of the changes in the function.
        kind: how they combine: "add", "min", "max", "and", "or" or "xor".
        first: the number of the element's first component among those of all reductions.
        once: a thread makes at most one of these changes.
    """

    op: Op
    kind: str
    first: int
    once: bool

    @cached_property
    def scalar(self) -> Scalar:
        """The type of a component in memory."""
        return element(dtype_of(self.op.operands[0]))

    @property
    def components(self) -> range:
        """The numbers of the element's components among those of all reductions."""
        return range(self.first, self.first + width(dtype_of(self.op.operands[0])))

    @cached_property
    def register(self) -> str:
        """The LLVM type in which a component is combined."""
        return "double" if self.kind == "add" and self.scalar.kind is Kind.FLOAT else register(self.scalar)

    @cached_property
    def lanes(self) -> int:
        """The number of lanes with which a component's results are combined."""
        return 8 * _BYTES // bits_of(self.register)

    @cached_property
    def identity(self) -> str:
        """The value that changes nothing, as an LLVM constant."""
        scalar, bits = self.scalar, self.scalar.bits
        if scalar.kind is Kind.FLOAT:
            return {"add": "-0.0", "min": "0x7FF0000000000000", "max": "0xFFF0000000000000"}[self.kind]
        signed = scalar.kind is Kind.INT
        most, least = (2 ** (bits - 1) - 1, -(2 ** (bits - 1))) if signed else (-1, 0)
        return str({"add": 0, "or": 0, "xor": 0, "and": -1, "min": most, "max": least}[self.kind])


def reductions_of(function: Function) -> dict[Op, Reduction]:
    """Return the reduction of each change that is to be combined, by operation.

    Changes that certainly are of the same element share one.
    """
    changes = [op for op in walk(function.body) if op.name == "reduce_add" or op.attrs.get(REDUCTION)]
    if not changes:
        return {}
    constants = {op.result: op.attrs[VALUE] for op in walk(function.body) if op.name == "const"}
    repeated = {o for op in walk(function.body) if op.name in LOOPS for block in op.blocks for o in walk(block)}
    by_element: dict[tuple[object, ...], list[Op]] = {}
    for op in changes:
        indices = op.operands[1:-1] if op.name in ELEMENTS else ()
        element = (op.operands[0], *(("const", constants[v]) if v in constants else v for v in indices))
        by_element.setdefault(element, []).append(op)
    reductions: dict[Op, Reduction] = {}
    components = 0
    for first, *others in by_element.values():
        reduction = Reduction(first, kind_of(first), components, not others and first not in repeated)
        components = reduction.components.stop
        reductions.update(dict.fromkeys((first, *others), reduction))
    return reductions


def size_of_buffer(reductions: Sequence[Reduction]) -> int:
    """Return how many threads' results a buffer holds: a multiple of the lanes."""
    components = max(1, sum(len(r.components) for r in reductions))
    lanes = padding(reductions)
    return max(lanes, min(REDUCTION_THREADS, REDUCTION_BYTES // (8 * components) // lanes * lanes))


def padding(reductions: Sequence[Reduction]) -> int:
    """Return the number that a buffer's results must be a multiple of: the most lanes of any reduction."""
    return max((r.lanes for r in reductions), default=1)


def combined(reduction: Reduction, a: LlvmValue, b: LlvmValue) -> LlvmValue:
    """Emit the combination of the result so far and a new value, or of vectors of them.

    Minimum and maximum of floats treat NaN as the atomic operations do: if `a` is NaN the result is, and so it is if
    `b` is.
    """
    kind, number = reduction.kind, reduction.scalar.kind
    if kind not in ("min", "max"):
        return a.do("fadd" if number is Kind.FLOAT else kind, b)
    side = "lt" if kind == "min" else "gt"
    if number is not Kind.FLOAT:
        return a.is_(f"{'s' if number is Kind.INT else 'u'}{side}", b).choose(a, b)
    # Only NaN is unordered with itself.
    return a.is_("uno", a).choose(a, a.is_(f"o{side}", b).choose(a, b))


def lanes_name(reduction: Reduction) -> str:
    """Return the name of the LLVM function that combines a buffer with the lanes."""
    return f"wb.lanes.{reduction.kind}.{_form(reduction)}"


def total_name(reduction: Reduction) -> str:
    """Return the name of the LLVM function that combines the lanes with each other."""
    return f"wb.total.{reduction.kind}.{_form(reduction)}"


def _form(reduction: Reduction) -> str:
    """Return the LLVM type of results, for functions' names; unsigned minima and maxima have "u" in front."""
    unsigned = reduction.kind in ("min", "max") and reduction.scalar.kind is Kind.UINT
    return f"{'u' if unsigned else ''}{reduction.register}"


def definitions(reduction: Reduction, inline: bool) -> dict[str, str]:
    """Return LLVM text of both functions of a reduction, by name.

    Args:
        reduction: the reduction.
        inline: the function that combines a buffer with the lanes is always inlined, else never.
    """
    functions = _lanes(reduction, inline), _total(reduction)
    return {function.name: function.text()[0] for function in functions}


def _lanes(reduction: Reduction, inline: bool) -> LlvmFunction:
    """Return the function that combines `end` results, a multiple of the lanes, with the lanes."""
    kind, size = reduction.register, reduction.lanes

    def body(lanes: Ptr, buffer: Ptr, end: Long) -> None:
        total = Variable(lanes.load(kind, size, align=_ALIGNMENT))
        with count(end, step=size) as at:
            new = buffer.at(at, kind).load(kind, size, align=_ALIGNMENT)
            total.set(combined(reduction, total.get(), new))
        lanes.store(total.get(), align=_ALIGNMENT)

    attributes = f"{'alwaysinline' if inline else 'noinline'} nounwind"
    return LlvmFunction(body, lanes_name(reduction), head="define internal", attributes=attributes)


def _total(reduction: Reduction) -> LlvmFunction:
    """Return the function that combines the lanes with each other: half with half, until one is left."""
    kind, size = reduction.register, reduction.lanes

    def body(lanes: Ptr) -> Lane:
        total = lanes.load(kind, size, align=_ALIGNMENT)
        # Lane n with lane n + half, at each step: the order is part of the result's bits.
        while total.lanes > 1:
            half = total.lanes // 2
            low, high = total.shuffled(range(half)), total.shuffled(range(half, 2 * half))
            total = combined(reduction, low, high)
        return total.lane(0)

    return LlvmFunction(body, total_name(reduction), kind, "define internal", "noinline nounwind")


_PLAINLY = {"atomic": later("emit.effects.atomics", "emit_atomic")}
GROUP = ".group"
"""Suffix of the names in the loop over a group's threads."""


def emit_change(emitter: Emitter, op: Op) -> None:
    """Emit a change of one element that is combined over threads: it updates the thread's own result.

    Any other change is emitted by itself: atomically, or as a plain addition in code for one core.
    """
    reduction: Reduction | None = emitter.reductions.get(op)
    if reduction is None:
        _PLAINLY.get(op.name, memory.emit_atomic_add)(emitter, op)
        return
    w, scalar, kind = emitter.writer, reduction.scalar, reduction.register
    for k, operand in zip(reduction.components, emitter.operands(op.operands[-1]), strict=True):
        if scalar.is_half:
            emitter.needs_halves(scalar)
            operand = w.emit(cast(operand, scalar, float32))
        if kind == "double" and scalar.bits < 64:  # several, or one in each turn of a loop
            operand = w.emit(f"fpext float {operand} to double")
        address = _thread(emitter, reduction, k)
        # A single change in straight code is the thread's result; there is nothing before it.
        if not reduction.once:
            old = LlvmValue(w, w.emit(f"load {kind}, ptr {address}"), kind)
            operand = combined(reduction, old, LlvmValue(w, operand, kind)).text
        w.do(f"store {kind} {operand}, ptr {address}")
    for result in op.results:  # nothing looks at it
        emitter.bind(result, emitter.operands(op.operands[-1]))


class Part(msgspec.Struct, frozen=True):
    """The bounds and labels of an emitted loop over threads.

    Attributes:
        first: the register with the first thread.
        end: that with the one behind the last.
        before: the block from which the loop is entered.
        after: the block to which control goes at its end.
    """

    first: str
    end: str
    before: str
    after: str


class Combining:
    """Emits the code around the loop over threads that combines what threads do to the same elements.

    Each thread's result goes into a buffer; a full one is combined with lanes, and these with memory at the end of
    a chunk.

    Attributes:
        reductions: the combined changes, one per element.
        parts: (reduction, number of a component) of each of their components.
        grouped: threads go in groups of one thread per lane, whose buffers are combined at once.
        size: how many threads' results a buffer holds.
        shift: the register with what is added to a thread's number for its position in the buffers.
        own: suffix of the names of the current loop's buffers.
    """

    def __init__(self, emitter: Emitter) -> None:
        self.emitter, self.writer = emitter, emitter.writer
        self.reductions = list[Reduction](dict.fromkeys(emitter.reductions.values()))
        self.parts = [(r, k) for r in self.reductions for k in r.components]
        body = emitter.function.body.ops
        small = (
            len(body) <= COMBINED_OPERATIONS
            and not any([op.blocks for op in body])
            and peeled_parts(emitter.function) is None
        )
        # One thread per lane: the buffer is registers then, and is combined at once.
        self.grouped = small and len(self.parts) <= INLINED_COMPONENTS
        self.size = padding(self.reductions) if self.grouped else size_of_buffer(self.reductions)
        self.shift = self.own = ""

    def begin(self) -> None:
        """Emit code that empties the lanes and the buffers, in the open block."""
        w = self.writer
        for reduction, k in self.parts:
            for name, text in definitions(reduction, len(self.parts) <= INLINED_COMPONENTS).items():
                w.declare(name, text)
            kind = reduction.register
            empty = f"{vector(kind, reduction.lanes)} {splat(kind, reduction.identity)}"
            w.do(f"store {empty}, ptr {self.lanes(reduction, k)}, align 64")
        w.do(f"store i64 0, ptr {self.filled}")

    def open_group(self, kind: str, low: str, high: str) -> tuple[Part, str]:
        """Begin a loop over groups of as many threads as the combined changes have lanes.

        Returns:
            One group, as the bounds of the loop over its threads; and the register with the first thread that is in no
                group.
        """
        w, before = self.writer, self.writer.label
        self.own = GROUP
        count = w.emit(f"and {kind} {w.emit(f'sub nsw {kind} {high}, {low}')}, {-self.size}")
        end = w.emit(f"add nsw {kind} {low}, {count}", "groups")
        w.jump("group")
        w.open("group")
        w.do(f"%group.first = phi {kind} [ {low}, %{before} ], [ %group.last, %group.end ]")
        w.branch(w.emit(f"icmp slt {kind} %group.first, {end}", "more"), "group.begin", "grouped")
        w.open("group.begin")
        w.do(f"%group.last = add nsw {kind} %group.first, {self.size}")
        first = w.emit("sext i32 %group.first to i64") if kind == "i32" else "%group.first"
        self.shift = w.emit(f"sub nsw i64 0, {first}", "shift")
        return Part("%group.first", "%group.last", "group.begin", "group.end"), end

    def close_group(self) -> None:
        """End the loop over groups that `open_group` began: a group's results are combined with the lanes."""
        w = self.writer
        w.open("group.end")
        self.into_lanes(str(self.size))
        w.jump("group")
        w.open("grouped")
        self.own = ""

    def open_part(self, kind: str, low: str, high: str, after: str) -> Part:
        """Begin a loop over blocks of threads, each as long as the buffers have room; return the bounds of one.

        Args:
            kind: LLVM type of the threads' numbers.
            low: the first thread.
            high: the one behind the last.
            after: the block to which control goes behind the last block of threads.
        """
        w, before = self.writer, self.writer.label
        w.jump("part")
        w.open("part")
        w.do(f"%part.first = phi {kind} [ {low}, %{before} ], [ %part.last, %part.next ]")
        w.branch(w.emit(f"icmp slt {kind} %part.first, {high}", "more"), "part.begin", after)
        w.open("part.begin")
        w.declare("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
        first = w.emit("sext i32 %part.first to i64") if kind == "i32" else "%part.first"
        filled = w.emit(f"load i64, ptr {self.filled}", "filled")
        remaining = w.emit(f"sub nsw {kind} {high}, %part.first")
        remaining = w.emit(f"sext i32 {remaining} to i64") if kind == "i32" else remaining
        room = w.emit(f"sub nsw i64 {self.size}, {filled}")
        w.do(f"%part.count = call i64 @llvm.smin.i64(i64 {remaining}, i64 {room})")
        count = w.emit("trunc i64 %part.count to i32") if kind == "i32" else "%part.count"
        w.do(f"%part.last = add nsw {kind} %part.first, {count}")
        w.do(f"%part.filled = add nuw nsw i64 {filled}, %part.count")
        self.shift = w.emit(f"sub nsw i64 {filled}, {first}", "shift")
        return Part("%part.first", "%part.last", "part.begin", "part.end")

    def close_part(self) -> None:
        """End the loop over blocks of threads that `open_part` began: full buffers are combined with the lanes."""
        w = self.writer
        w.open("part.end")
        w.do(f"store i64 %part.filled, ptr {self.filled}")
        w.branch(w.emit(f"icmp eq i64 %part.filled, {self.size}", "full"), "part.full", "part.next")
        w.open("part.full")
        self.into_lanes(str(self.size))
        w.do(f"store i64 0, ptr {self.filled}")
        w.jump("part.next")
        w.open("part.next")
        w.jump("part")

    def begin_thread(self) -> None:
        """Emit the start of a thread: set its results to the values that change nothing."""
        for reduction, k in self.parts:
            address = _thread(self.emitter, reduction, k)
            self.writer.do(f"store {reduction.register} {reduction.identity}, ptr {address}")

    def end_thread(self, kind: str) -> None:
        """Emit the end of a thread: its results are written to the buffers."""
        w = self.writer
        for reduction, k in self.parts:
            result = w.emit(f"load {reduction.register}, ptr {_thread(self.emitter, reduction, k)}")
            w.do(f"store {reduction.register} {result}, ptr {self.result_address(reduction, k, kind)}")

    def result_address(self, reduction: Reduction, k: int, kind: str = "i32") -> str:
        """Return the address of the current thread's result in a component's buffer.

        Args:
            reduction: the change.
            k: the component.
            kind: LLVM type of the thread's number.
        """
        w, thread = self.writer, self.emitter.thread
        thread = w.emit(f"sext i32 {thread} to i64") if kind == "i32" else thread
        first = w.emit(f"getelementptr {reduction.register}, ptr {self.buffer(reduction, k)}, i64 {self.shift}")
        return w.emit(f"getelementptr {reduction.register}, ptr {first}, i64 {thread}")

    def finish(self) -> None:
        """Emit the end of a chunk, in the block that is open; then the rest of the function. Control ends at `exit`."""
        w = self.writer
        filled = w.emit(f"load i64, ptr {self.filled}", "filled")
        w.jump("pad")
        w.open("pad")
        w.do(f"%pad.at = phi i64 [ {filled}, %finish ], [ %pad.next, %padding ]")
        w.branch(
            w.emit(f"icmp eq i64 {w.emit(f'and i64 %pad.at, {padding(self.reductions) - 1}')}, 0"), "padded", "padding"
        )
        w.open("padding")
        for reduction, k in self.parts:
            address = w.emit(f"getelementptr {reduction.register}, ptr {self.buffer(reduction, k)}, i64 %pad.at")
            w.do(f"store {reduction.register} {reduction.identity}, ptr {address}")
        w.do("%pad.next = add nuw nsw i64 %pad.at, 1")
        w.do(f"br label %pad{self.emitter.loop_end(True)}")
        w.open("padded")
        w.branch(w.emit("icmp eq i64 %pad.at, 0"), "total", "rest")
        w.open("rest")
        self.into_lanes("%pad.at")
        w.jump("total")
        w.open("total")
        totals = [w.emit(f"call {r.register} @{total_name(r)}(ptr {self.lanes(r, k)})", "total") for r, k in self.parts]
        for (reduction, k), total in zip(self.parts, totals, strict=True):
            w.do(f"store {reduction.register} {total}, ptr {self.total(reduction, k)}")
        # No room was given: a launch of one chunk, or one without memory for it, changes the element itself.
        w.branch(w.emit("icmp eq ptr %sums, null", "alone"), "change", "keep")
        w.open("keep")
        for (reduction, k), total in zip(self.parts, totals, strict=True):
            w.do(f"store {reduction.register} {total}, ptr {w.emit(f'getelementptr i64, ptr %sums, i64 {k}')}")
        w.jump("exit")
        self.chunks()
        self.change()

    def chunks(self) -> None:
        """Emit the block that combines the results that chunks of threads left, in the chunks' order."""
        w = self.writer
        w.open("combine")
        for reduction, k in self.parts:
            w.do(f"store {reduction.register} {reduction.identity}, ptr {self.total(reduction, k)}")
        w.jump("chunk")
        w.open("chunk")
        w.do("%chunk.number = phi i64 [ 0, %combine ], [ %chunk.next, %chunk.one ]")
        # The call with an empty range: `begin` is the number of chunks (see design/cpu_accesses.md).
        w.branch(w.emit("icmp slt i64 %chunk.number, %begin"), "chunk.one", "change")
        w.open("chunk.one")
        row = w.emit(f"mul nuw nsw i64 %chunk.number, {len(self.parts)}")
        for reduction, k in self.parts:
            kind, address = reduction.register, self.total(reduction, k)
            slot = w.emit(f"getelementptr i64, ptr %sums, i64 {w.emit(f'add nuw nsw i64 {row}, {k}')}")
            so_far, new = (LlvmValue(w, at, "ptr").load(kind) for at in (address, slot))
            w.do(f"store {combined(reduction, so_far, new)}, ptr {address}")
        w.do("%chunk.next = add nuw nsw i64 %chunk.number, 1")
        w.do(f"br label %chunk{self.emitter.loop_end(True)}")

    def change(self) -> None:
        """Emit changes of the elements in memory, except where no thread changed one: it may not even exist."""
        w = self.writer
        w.open("change")
        for reduction in self.reductions:
            kind, word = reduction.register, f"i{64 if reduction.register == 'double' else reduction.scalar.bits}"
            totals, some = [], "false"
            for k in reduction.components:
                totals.append(w.emit(f"load {kind}, ptr {self.total(reduction, k)}"))
                # As bits: -0.0 is what is empty and 0.0 a sum like any other; as floats they are equal.
                bits = w.emit(f"bitcast {kind} {totals[-1]} to {word}")
                none = w.emit(f"bitcast {kind} {reduction.identity} to {word}")
                some = w.emit(f"or i1 {some}, {w.emit(f'icmp ne {word} {bits}, {none}')}")
            changed, unchanged = w.block_name("changed"), w.block_name("unchanged")
            w.branch(some, changed, unchanged)
            w.open(changed)
            self.change_element(reduction, totals)
            w.jump(unchanged)
            w.open(unchanged)
        w.jump("exit")

    def change_element(self, reduction: Reduction, totals: list[str]) -> None:
        """Emit the change of an element by its totals.

        Its indices are computed again, since those of the threads are not known behind their loop.
        """
        emitter, op = self.emitter, reduction.op
        scalar = reduction.scalar
        if reduction.register == "double" and scalar.bits < 64:
            totals = [emitter.writer.emit(cast(t, float64, scalar)) for t in totals]
        value = Value(op.operands[-1].type, "total")
        emitter.bind(value, totals)
        if op.name not in ELEMENTS:
            memory.add_to_first(emitter, op.operands[0], value)
            return
        mapping: dict[Value, Value] = {}
        chain = _computing(op.operands[1:-1], emitter)
        emitter.block(Block((), tuple(copy_op(o, mapping) for o in chain)))
        again = Op(
            op.name,
            (*(mapping.get(v, v) for v in op.operands[:-1]), value),
            (Value(value.type),),
            op.attrs,
            (),
            op.location,
        )
        _PLAINLY.get(op.name, memory.emit_atomic_add)(emitter, again)

    def into_lanes(self, count: str) -> None:
        """Emit calls that combine the first `count` results of each buffer with the lanes."""
        for r, k in self.parts:
            self.writer.do(f"call void @{lanes_name(r)}(ptr {self.lanes(r, k)}, ptr {self.buffer(r, k)}, i64 {count})")

    @property
    def filled(self) -> str:
        """Return the address of the number of results in the buffers."""
        return self.writer.once(("reductions", "filled"), "alloca i64", "filled.at")

    def lanes(self, reduction: Reduction, k: int) -> str:
        """Return the address of a component's lanes."""
        kind = f"[{reduction.lanes} x {reduction.register}]"
        return self.writer.once(("reductions", "lanes", k), f"alloca {kind}, align 64")

    def buffer(self, reduction: Reduction, k: int) -> str:
        """Return the address of a component's buffer; groups have buffers of their own."""
        return self.writer.once(
            ("reductions", "buffer", k, self.own), f"alloca [{self.size} x {reduction.register}], align 64"
        )

    def total(self, reduction: Reduction, k: int) -> str:
        """Return the address of the total by which a component in memory is changed."""
        return self.writer.once(("reductions", "total", k), f"alloca {reduction.register}")


def _thread(emitter: Emitter, reduction: Reduction, k: int) -> str:
    """Return the address of a thread's own result so far; LLVM makes a register of it, unless threads go in groups."""
    return emitter.writer.once(
        ("reductions", k), f"alloca {reduction.register}", f"{reduction.op.operands[0].name}.sum"
    )


def _computing(values: tuple[Value, ...], emitter: Emitter) -> list[Op]:
    """Return the operations that compute the values, in order.

    Raises:
        AssertionError: one of them has blocks, so it cannot be done again.
    """
    needed = set(values)
    computing: list[Op] = []
    for op in reversed(list(walk(emitter.function.body))):
        if not needed.isdisjoint(op.results):
            assert not op.blocks, f"{op.name} is no operation to be done again"
            needed.update(op.operands)
            computing.append(op)
    return computing[::-1]
