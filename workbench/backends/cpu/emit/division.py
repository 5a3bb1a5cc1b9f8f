"""Quotients by a number that is the same in all threads: a product in float64 (`passes/loops/divisors.py`)."""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.ir.values import Op
from workbench.types import Kind, element

_WHOLE = "6755399441055744.0"  # 1.5 · 2⁵²: a float64 of this size has no fraction, and its low bits are the integer


def emit_floor_quotient(emitter: Emitter, op: Op) -> None:
    """Emit the quotient of two integers of 32 bits, rounded down; by 0 it is -1, as `//` defines it.

    x/m + 1/(2|m|) - 1/2 lies within 1/2 - 1/(2|m|) of the quotient. What is computed differs from it by less than
    2⁻¹⁹/|m|, so the nearest integer is the quotient, of all x and m. What depends on m alone is moved out of the loops.
    """
    w = emitter.writer
    x, m = (emitter.operand(v) for v in op.operands)
    signed = element(op.result.type).kind is Kind.INT
    convert = "sitofp" if signed else "uitofp"
    zero = w.emit(f"icmp eq i32 {m}, 0")
    inverse = w.emit(f"fdiv double 1.0, {w.emit(f'{convert} i32 {m} to double')}")
    inverse = w.emit(f"select i1 {zero}, double 0.0, double {inverse}")
    half = w.emit(f"select i1 {w.emit(f'icmp slt i32 {m}, 0')}, double -0.5, double 0.5") if signed else "0.5"
    shift = w.emit(f"fadd double {w.emit(f'fmul double {half}, {inverse}')}, -0.5")
    shift = w.emit(f"select i1 {zero}, double -1.0, double {shift}")
    near = w.emit(f"fmul double {w.emit(f'{convert} i32 {x} to double')}, {inverse}")
    rounded = w.emit(f"fadd double {w.emit(f'fadd double {near}, {shift}')}, {_WHOLE}")
    emitter.bind(op.result, [w.emit(f"trunc i64 {w.emit(f'bitcast double {rounded} to i64')} to i32", op.result.name)])
