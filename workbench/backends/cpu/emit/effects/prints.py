"""`print` in LLVM IR: the values go to the buffer of `backends/prints.py`, off the hot path."""

from __future__ import annotations

from workbench.backends.cpu.emit.effects.faults import thread_index
from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.text.values import cast, register
from workbench.backends.prints import CAPACITY, HEAD, SYMBOL, width
from workbench.ir.attributes import NUMBER
from workbench.ir.values import Op
from workbench.types import Kind, element, float32

_BUFFER = f"@{SYMBOL} = global [{HEAD + CAPACITY} x i8] zeroinitializer, align 16"


def emit_print(emitter: Emitter, op: Op) -> None:
    """Emit a call with the print's number, the thread and the values as words."""
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
    """Return the function that writes a record of so many words, where there is room."""
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
