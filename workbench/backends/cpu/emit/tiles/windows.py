"""Operands of products in memory: in slots, or in a part of an array, whose rows are further apart."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.memory import data, places, size
from workbench.backends.cpu.text.values import width
from workbench.ir.attributes import AXES
from workbench.ir.values import Op, Value, array_of
from workbench.types import element


def emit_window(emitter: Emitter, op: Op) -> None:
    """Emit the address, and the distance of rows: of the array's part, or of the slots."""
    emitter.bind(op.result, window(emitter, op, *op.operands[-2:]))


def window(emitter: Emitter, op: Op, slots: Value, condition: Value) -> tuple[str, str, str]:
    """Return the address; elements from row to row of the array; and whether that is the address."""
    w = emitter.writer
    (there,) = places(emitter, op)
    inside = emitter.operand(condition)
    address = w.emit(f"select i1 {inside}, ptr {there}, ptr {emitter.operand(slots)}")
    return address, _count(emitter, op.operands[0], op.attrs[AXES][0] + 1), inside


def arguments(emitter: Emitter, window: Sequence[str], columns: int) -> str:
    """Return a function's arguments for a tile of so many columns: its address, and elements from row to row."""
    if len(window) == 1:
        return f"ptr {window[0]}, i64 {columns}"
    address, row, inside = window
    return f"ptr {address}, i64 {emitter.writer.emit(f'select i1 {inside}, i64 {row}, i64 {columns}')}"


def emit_apart(emitter: Emitter, op: Op) -> None:
    """Emit whether one array ends before the other begins."""
    w = emitter.writer
    (first, end), (second, other) = (_ends(emitter, v) for v in op.operands)
    before, behind = w.emit(f"icmp ule ptr {end}, {second}"), w.emit(f"icmp ule ptr {other}, {first}")
    emitter.bind(op.result, [w.emit(f"or i1 {before}, {behind}")])


def _ends(emitter: Emitter, array: Value) -> tuple[str, str]:
    """Emit the addresses at which a dense array begins and ends."""
    kind, w = array_of(array), emitter.writer
    cell = kind.pitch or width(kind.dtype) * element(kind.dtype).size
    bytes = w.emit(f"mul i64 {_count(emitter, array, 0)}, {cell}")
    return data(emitter, array), w.emit(f"getelementptr i8, ptr {data(emitter, array)}, i64 {bytes}")


def _count(emitter: Emitter, array: Value, first: int) -> str:
    """Return the product of the array's extents from an axis on."""
    count = "1"
    for axis in range(first, array_of(array).ndim):
        extent = size(emitter, array, axis)
        count = extent if count == "1" else emitter.writer.emit(f"mul i64 {count}, {extent}")
    return count
