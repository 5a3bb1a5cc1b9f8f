"""`fault` and `print` in LLVM IR: calls, off the hot path, that write records (`layout`, `prints`)."""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.types import cast, register
from workbench.backends.layout import DECLINED, FAULT_VALUES
from workbench.backends.prints import CAPACITY, HEAD, SYMBOL, width
from workbench.ir.ops import NUMBER
from workbench.ir.values import Op
from workbench.types import Kind, element, float32, is_float

_NUMBERS = "i64 %number, i64 %own, i64 %thread"
_VALUES = ", ".join(f"i64 %v{n}" for n in range(FAULT_VALUES))
_STORES = "\n".join(
    f"  %at{n} = getelementptr inbounds i8, ptr %fault, i64 {24 + 8 * n}\n  store i64 %v{n}, ptr %at{n}"
    for n in range(FAULT_VALUES)
)
_KEEP_FIRST = "br i1 %first, label %write, label %done"
# A gang's lanes do not fault in the order of threads. Only who wrote the record writes it again.
_KEEP_LOWEST = """%seen = load i64, ptr %owner
  %lower = icmp slt i64 %own, %seen
  %better = or i1 %first, %lower
  br i1 %better, label %mine, label %done
mine:
  store i64 %own, ptr %owner
  br label %write"""
# Without a record (a caller that asks for none) nothing is written.
_REPORT = f"""\
define internal void @NAME(ptr %fault, ptr %owner, {_NUMBERS}, {_VALUES}) noinline cold nounwind {{
start:
  %none = icmp eq ptr %fault, null
  br i1 %none, label %done, label %count
count:
  %before = atomicrmw add ptr %fault, i64 1 monotonic
  %first = icmp eq i64 %before, 0
  CHOOSE
write:
  %number.at = getelementptr inbounds i8, ptr %fault, i64 8
  store i64 %number, ptr %number.at
  %thread.at = getelementptr inbounds i8, ptr %fault, i64 16
  store i64 %thread, ptr %thread.at
{_STORES}
  br label %done
done:
  ret void
}}"""


def emit_fault(emitter: Emitter, op: Op) -> None:
    """Emit a call that reports a fault: with the operation's number, the thread, and up to FAULT_VALUES values."""
    w = emitter.writer
    owner = emitter.fault_owner()
    name, choose = ("wb.fault.lowest", _KEEP_LOWEST) if owner else ("wb_fault", _KEEP_FIRST)
    w.declare(name, _REPORT.replace("NAME", name).replace("CHOOSE", choose))
    values = []
    for value in op.operands:
        operand = emitter.operand(value)
        values.append(w.emit(f"bitcast double {operand} to i64") if is_float(value.type) else operand)
    values += ["0"] * (FAULT_VALUES - len(values))
    passed = ", ".join(f"i64 {v}" for v in (op.attrs[NUMBER], own_index(emitter), thread_index(emitter), *values))
    w.do(f"call void @{name}(ptr %fault, ptr {owner or 'null'}, {passed})")


DECLINE = (
    "  %number.at = getelementptr inbounds i8, ptr %fault, i64 8",
    f"  store i64 {DECLINED}, ptr %number.at",
    "  store i64 1, ptr %fault",
)
"""Lines of an entry that write a fault record with the number DECLINED; all chunks write the same, in any order."""


def thread_index(emitter: Emitter) -> str:
    """Return the LLVM operand of the current thread's linear index in the launch, as i64.

    Iterations that run as threads are all of one thread of the launch.
    """
    return emitter.around or own_index(emitter)


def own_index(emitter: Emitter) -> str:
    """Return the LLVM operand of the linear index of a thread, or of an iteration that runs as one, as i64."""
    if not emitter.tids:
        return emitter.thread
    w = emitter.writer
    along = w.emit(f"sext i32 {emitter.thread} to i64")
    return w.emit(f"add nsw i64 {emitter.row}, {along}") if emitter.row else along


_BUFFER = f"@{SYMBOL} = global [{HEAD + CAPACITY} x i8] zeroinitializer, align 16"


def emit_print(emitter: Emitter, op: Op) -> None:
    """Emit a call that records a print: with its number, the thread, and the values' components as 64-bit words."""
    count = width(op.operands)
    w = emitter.writer
    w.declare(SYMBOL, _BUFFER)
    w.declare(f"wb_print{count}", _append(count))
    words = []
    for value in op.operands:
        scalar = element(value.type)
        if scalar.is_half:
            emitter.needs_halves(scalar)
        for operand in emitter.operands(value):
            if scalar.is_half:
                operand = w.emit(cast(operand, scalar, float32))
            kind = register(float32 if scalar.is_half else scalar)
            if scalar.kind is Kind.FLOAT:
                wide = w.emit(f"fpext {kind} {operand} to double") if scalar.bits < 64 else operand
                words.append(w.emit(f"bitcast double {wide} to i64"))
            elif scalar.bits < 64:
                verb = "sext" if scalar.kind is Kind.INT else "zext"
                words.append(w.emit(f"{verb} {kind} {operand} to i64"))
            else:
                words.append(operand)
    passed = "".join(f", i64 {word}" for word in words)
    w.do(f"call void @wb_print{count}(i64 {op.attrs[NUMBER]}, i64 {thread_index(emitter)}{passed})")


def _append(count: int) -> str:
    """Return LLVM IR of a function that appends a print's record, with `count` words for its values, to the buffer.

    Without room for it, it is counted as dropped.
    """
    names = ["number", "thread", *(f"v{n}" for n in range(count))]
    size = 8 * len(names)
    stores = "\n".join(
        f"  %at{n} = getelementptr inbounds i8, ptr %record, i64 {8 * n}\n  store i64 %{name}, ptr %at{n}"
        for n, name in enumerate(names)
    )
    return f"""\
define internal void @wb_print{count}({", ".join(f"i64 %{n}" for n in names)}) noinline cold nounwind {{
start:
  %used = atomicrmw add ptr @{SYMBOL}, i64 {size} monotonic
  %end = add i64 %used, {size}
  %fits = icmp ule i64 %end, {CAPACITY}
  br i1 %fits, label %write, label %drop
drop:
  %dropped = getelementptr inbounds i8, ptr @{SYMBOL}, i64 8
  %before = atomicrmw add ptr %dropped, i64 1 monotonic
  ret void
write:
  %first = add i64 %used, {HEAD}
  %record = getelementptr inbounds i8, ptr @{SYMBOL}, i64 %first
{stores}
  ret void
}}"""
