"""`fault` in CUDA C++: a call that writes the record of `backends/layout.py` once. No trap: the context lives on."""

from __future__ import annotations

from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.backends.cuda.cpp.pieces import Key, Pieces
from workbench.backends.layout import FAULT_VALUES
from workbench.ir.ops import NUMBER
from workbench.ir.values import Op
from workbench.types import is_float

KEY: Key = ("fault",)
PARAMETER = "wb_fault*"
_VALUES = [f"v{n}" for n in range(FAULT_VALUES)]
FAULT_PIECES: Pieces = {
    KEY: f"""\
struct wb_fault {{ unsigned long long count; long long number, thread, values[{FAULT_VALUES}]; }};
static __device__ __noinline__ void wb_report(
    wb_fault* fault, long long number, long long thread, {", ".join(f"long long {v}" for v in _VALUES)}) {{
    if (atomicAdd(&fault->count, 1ULL) != 0ULL) return;
    fault->number = number;
    fault->thread = thread;
{"".join(f"    fault->values[{n}] = {v};{chr(10)}" for n, v in enumerate(_VALUES))}}}
"""
}


def emit_fault(e: Emitter, op: Op) -> list[str]:
    """Emit the call that reports a fault: the operation's number, the thread and the values."""
    values: list[str] = []
    for value in op.operands:
        text = e.expressions.argument(value)
        values.append(f"__double_as_longlong({text})" if is_float(value.type) else text)
    values += ["0"] * (FAULT_VALUES - len(values))
    return [f"wb_report({e.fault}, {op.attrs[NUMBER]}, {e.thread}, {', '.join(values)});"]
