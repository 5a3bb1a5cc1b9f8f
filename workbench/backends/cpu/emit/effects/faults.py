"""`fault` in LLVM IR: a call, off the hot path, that writes the record of `backends/layout.py` once."""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.layout import FAULT_VALUES
from workbench.ir.attributes import NUMBER
from workbench.ir.values import Op
from workbench.types import is_float

_VALUES = ", ".join(f"i64 %v{n}" for n in range(FAULT_VALUES))
_STORES = "\n".join(
    f"  %at{n} = getelementptr inbounds i8, ptr %fault, i64 {24 + 8 * n}\n  store i64 %v{n}, ptr %at{n}"
    for n in range(FAULT_VALUES)
)
_KEEP_FIRST = "br i1 %first, label %write, label %done"
# A gang's lanes do not fault in the order of threads. Only who wrote the record writes it again.
_KEEP_LOWEST = """br i1 %first, label %mine, label %look
look:
  %own = load i1, ptr %owner
  br i1 %own, label %compare, label %done
compare:
  %seen.at = getelementptr inbounds i8, ptr %fault, i64 16
  %seen = load i64, ptr %seen.at
  %lower = icmp slt i64 %thread, %seen
  br i1 %lower, label %write, label %done
mine:
  store i1 true, ptr %owner
  br label %write"""
# Without a record (a caller that asks for none) nothing is written.
_REPORT = f"""\
define internal void @NAME(ptr %fault, ptr %owner, i64 %number, i64 %thread, {_VALUES}) noinline cold nounwind {{
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
    """Emit a call with the operation's number, the thread and the values."""
    w = emitter.writer
    owner = emitter.fault_owner()
    name, choose = ("wb.fault.lowest", _KEEP_LOWEST) if owner else ("wb_fault", _KEEP_FIRST)
    w.declare(name, _REPORT.replace("NAME", name).replace("CHOOSE", choose))
    values = []
    for value in op.operands:
        operand = emitter.operand(value)
        values.append(w.emit(f"bitcast double {operand} to i64") if is_float(value.type) else operand)
    values += ["0"] * (FAULT_VALUES - len(values))
    passed = ", ".join(f"i64 {v}" for v in (op.attrs[NUMBER], thread_index(emitter), *values))
    w.do(f"call void @{name}(ptr %fault, ptr {owner or 'null'}, {passed})")


def thread_index(emitter: Emitter) -> str:
    """Return the thread's linear index."""
    if not emitter.tids:
        return emitter.thread
    w = emitter.writer
    along = w.emit(f"sext i32 {emitter.thread} to i64")
    return w.emit(f"add nsw i64 {emitter.row}, {along}") if emitter.row else along
