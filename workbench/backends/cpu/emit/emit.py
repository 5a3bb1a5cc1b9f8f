"""IR to LLVM IR text: one entry function that runs a range of threads.

    i32 entry(ptr params, i64 begin, i64 end, ptr fault, ptr stop)

`params` is the buffer of `backends/layout.py`; [begin, end) are linear indices over the launch, last dimension fastest;
`stop` is what asks it to end (`strips`): then it gives -1, else 0.
The innermost loop counts the last dimension in 32 bits without overflow, so that LLVM can see how addresses move with
it and vectorise over threads. See `design/cpu.md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from workbench.backends.base import Options
from workbench.backends.cpu.emit import atomics, faults, matmul, memory, prints, slots, structured
from workbench.backends.cpu.emit.depth import Depths
from workbench.backends.cpu.emit.elementwise import emit_builtin, emit_cast, native
from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.look import WEIGHTS, look_seldom
from workbench.backends.cpu.maths.vecmath import Maths
from workbench.backends.cpu.text.values import literals, register
from workbench.backends.prints import numbered
from workbench.deep import deep
from workbench.errors import BuildError
from workbench.ir.values import Block, Function, Op
from workbench.passes.analysis.cost import mostly_adds
from workbench.passes.bounds_checks import guard
from workbench.passes.expand import expand
from workbench.passes.pipeline import CPU, run
from workbench.types import Scalar, Vector, element

ATTRIBUTES = 'attributes #0 = { nounwind "no-trapping-math"="true" }'


def entry_name(function: Function) -> str:
    """The symbol of a function's entry."""
    return "wb_" + re.sub(r"[^A-Za-z0-9_]", lambda m: f"${ord(m[0]):x}", function.name)


@deep
def emit_llvm(
    function: Function,
    options: Options,
    maths: Maths = Maths(),  # noqa: B008  (frozen)
    half_instructions: bool = False,
) -> str:
    """The function's module as LLVM IR text.

    `maths` are the vectorised functions that it may use; with `half_instructions` float16 goes through the machine's
    own conversions.

    Raises:
        BuildError: it has an operation that cannot be expressed in LLVM IR.
    """
    made = run(
        CPU,
        function,
        number_prints=numbered,
        strip_asserts=not options.checks,
        bounds_checks=options.checks and partial(guard, versions=True),
        expand=partial(expand, native=native),
    )
    return ModuleEmitter(made, options, maths, half_instructions, for_one_core(function, options)).module()


def for_one_core(function: Function, options: Options) -> bool:
    """Whether the code adds plainly, so that all threads of a launch have to run on one core."""
    return options.few_cores and mostly_adds(function)


class ModuleEmitter(Emitter):
    """Emits the entry: the loops over threads, and operations by the table at the end of this file."""

    def __init__(
        self, function: Function, options: Options, maths: Maths, half_instructions: bool, one_core: bool
    ) -> None:
        super().__init__(function, options, maths, half_instructions, one_core)
        self.depths = Depths(self)
        self._line = 0

    def block(self, block: Block) -> None:
        """Operations in order; a final `yield` is the caller's to read."""
        for op in block.ops:
            line = op.location.line
            if line and line != self._line:
                self._line = line
                self.writer.lines.append(f"  ; line {op.location.shown_line}: {op.location.source.line(line).strip()}")
            if op.name != "yield":
                HANDLERS.get(op.name, emit_builtin)(self, op)
                self.depths.after(op)

    def module(self) -> str:
        """The whole text."""
        loops = {0: self._any_order, 1: self._one_dimension}.get(self.function.launch_ndim, self._rows)
        loops()
        self.writer.open("finish")
        memory.flush_sums(self)
        self.writer.jump("exit")
        w = self.writer
        lines = [
            f"define i32 @{entry_name(self.function)}(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {{",
            "entry:",
            *w.head,
            "  %some = icmp slt i64 %begin, %end",
            "  br i1 %some, label %start, label %exit",
            *w.lines,
            "exit:",
            *self._leave(0),
            "stopped:",
            *self._leave(-1),
            "}",
            *w.declarations.values(),
            ATTRIBUTES,
            *(f"attributes #{n} = {{ {a} }}" for n, a in enumerate(self._vector_functions.values(), 1)),
            *self._used(),
            "!0 = !{i64 0, i64 140737488355328}",
            WEIGHTS,
            *self._loops,
        ]
        return "\n".join(lines) + "\n"

    def _leave(self, status: int) -> list[str]:
        return [*(f"  call void @free(ptr {place})" for place in self.heap), f"  ret i32 {status}"]

    def _used(self) -> list[str]:
        if not self._kept:
            return []
        pointers = ", ".join(f"ptr @{k}" for k in self._kept)
        array = f"[{len(self._kept)} x ptr] [{pointers}]"
        return [f'@llvm.compiler.used = appending global {array}, section "llvm.metadata"']

    def _any_order(self) -> None:
        """A kernel that never asks which thread it is."""
        self.writer.open("start")
        self._threads("i64", "%begin", "%end", "finish")

    def _one_dimension(self) -> None:
        w = self.writer
        w.open("start")
        low = w.emit("trunc nuw nsw i64 %begin to i32", "low")
        high = w.emit("trunc nuw nsw i64 %end to i32", "high")
        self.tids = ("%tid",)
        self._threads("i32", low, high, "finish")

    def _rows(self) -> None:
        """An outer loop over rows of the last dimension; the other indices are computed once a row."""
        w, ndim = self.writer, self.function.launch_ndim
        extent = memory.launch_dim(self, ndim - 1)
        w.open("start")
        first = w.emit(f"udiv i64 %begin, {extent}", "first")
        last = w.emit(f"udiv i64 {w.emit('add nsw i64 %end, -1')}, {extent}", "last")
        w.jump("row")
        w.open("row")
        w.do(f"%row.at = phi i64 [ {first}, %start ], [ %row.next, %row.end ]")
        base = self.row = w.emit(f"mul nuw nsw i64 %row.at, {extent}")
        for name in ("smax", "smin"):
            w.declare(f"llvm.{name}.i64", f"declare i64 @llvm.{name}.i64(i64, i64)")
        low = w.emit(f"call i64 @llvm.smax.i64(i64 {w.emit(f'sub nsw i64 %begin, {base}')}, i64 0)")
        high = w.emit(f"call i64 @llvm.smin.i64(i64 {w.emit(f'sub nsw i64 %end, {base}')}, i64 {extent})")
        low = w.emit(f"trunc nuw nsw i64 {low} to i32", "low")
        high = w.emit(f"trunc nuw nsw i64 {high} to i32", "high")
        outer: list[str] = []
        rest = "%row.at"
        for axis in range(ndim - 2, 0, -1):
            along = memory.launch_dim(self, axis)
            outer.insert(0, w.emit(f"urem i64 {rest}, {along}"))
            rest = w.emit(f"udiv i64 {rest}, {along}")
        outer.insert(0, rest)
        self.tids = (*(w.emit(f"trunc nuw nsw i64 {o} to i32", f"tid{a}") for a, o in enumerate(outer)), "%tid")
        self._threads("i32", low, high, "row.end")
        w.open("row.end")
        w.do("%row.next = add nuw nsw i64 %row.at, 1")
        w.branch(w.emit(f"icmp slt i64 %row.at, {last}"), "row", "finish")

    def _threads(self, kind: str, low: str, high: str, after: str) -> None:
        """The loop over threads; control goes to `after`."""
        w = self.writer
        before = w.label
        w.jump("threads")
        w.open("threads")
        w.do(f"%tid = phi {kind} [ {low}, %{before} ], [ %tid.next, %thread.end ]")
        w.branch(w.emit(f"icmp slt {kind} %tid, {high}", "more"), "thread", after)
        w.open("thread")
        self.block(self.function.body)
        if self.strips.threads:
            look_seldom(self, kind, "%tid", self.strips.threads, thread=True)
        w.jump("thread.end")
        w.open("thread.end")
        w.do(f"%tid.next = add nsw {kind} %tid, 1")
        w.do(f"br label %threads{self.loop_end()}")


def _const(emitter: Emitter, op: Op) -> None:
    t = op.result.type
    assert isinstance(t, (Scalar, Vector))
    value = op.attrs["value"]
    if isinstance(t, Scalar):
        emitter.constants[op.result] = value
    emitter.bind(op.result, literals(value, t))


def _tid(emitter: Emitter, op: Op) -> None:
    emitter.bind(op.result, [emitter.tids[op.attrs["axis"]]])


def _launch_dim(emitter: Emitter, op: Op) -> None:
    emitter.bind(op.result, [memory.launch_dim(emitter, op.attrs["axis"])])


def _vec(emitter: Emitter, op: Op) -> None:
    emitter.bind(op.result, [emitter.operand(v) for v in op.operands])


def _extract(emitter: Emitter, op: Op) -> None:
    """A known component, or a choice among all: an index past the end gives the last."""
    vector, index = op.operands
    parts = emitter.operands(vector)
    if index in emitter.constants:
        emitter.bind(op.result, [parts[_component(emitter.constants[index], len(parts))]])
        return
    w, kind, where = emitter.writer, register(element(vector.type)), emitter.operand(index)
    chosen = parts[-1]
    for k in reversed(range(len(parts) - 1)):
        hit = w.emit(f"icmp eq {register(element(index.type))} {where}, {k}")
        chosen = w.emit(f"select i1 {hit}, {kind} {parts[k]}, {kind} {chosen}")
    emitter.bind(op.result, [chosen])


def _insert(emitter: Emitter, op: Op) -> None:
    """One component replaced; an index past the end replaces none."""
    vector, index, value = op.operands
    parts = list(emitter.operands(vector))
    new = emitter.operand(value)
    if index in emitter.constants:
        parts[_component(emitter.constants[index], len(parts))] = new
    else:
        w, kind, where = emitter.writer, register(element(vector.type)), emitter.operand(index)
        for k, part in enumerate(parts):
            hit = w.emit(f"icmp eq {register(element(index.type))} {where}, {k}")
            parts[k] = w.emit(f"select i1 {hit}, {kind} {new}, {kind} {part}")
    emitter.bind(op.result, parts)


def _component(index: Any, count: int) -> int:
    return min(max(int(index), 0), count - 1)


def _unavailable(emitter: Emitter, op: Op) -> None:
    raise BuildError(f"A value that has no meaning here is used: {op.attrs['reason']}.", op.location)


HANDLERS: dict[str, Callable[[Emitter, Op], None]] = {
    "const": _const,
    "tid": _tid,
    "shape": memory.emit_shape,
    "load": memory.emit_load,
    "store": memory.emit_store,
    "atomic_add": memory.emit_atomic_add,
    "atomic": atomics.emit_atomic,
    "reduce_add": memory.emit_reduce_add,
    "cast": emit_cast,
    "vec": _vec,
    "extract": _extract,
    "insert": _insert,
    "launch_dim": _launch_dim,
    "fault": faults.emit_fault,
    "print": prints.emit_print,
    "slots": slots.emit_slots,
    "slot_read": slots.emit_read,
    "slot_write": slots.emit_write,
    "slot_matmul": matmul.emit_matmul,
    "unavailable": _unavailable,
    "if": structured.emit_if,
    "for": structured.emit_for,
    "while": structured.emit_while,
}
