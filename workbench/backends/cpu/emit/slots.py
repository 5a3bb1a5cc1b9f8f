"""A thread's slots: arrays made once at the entry and used again by every thread, on the stack unless they are large.

Each component of a vector has an array of its own, as it has a register of its own.
"""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.memory import read, wide_index
from workbench.backends.cpu.text.values import memory, register, width
from workbench.ir.values import Op
from workbench.types import Kind, Slots, element

LARGEST = 2**15  # bytes that one array may have on the stack: threads of macOS have 512 KiB


def emit_slots(emitter: Emitter, op: Op) -> None:
    """Stack memory, in the entry block: a loop around it must not make more of it."""
    type = op.result.type
    assert isinstance(type, Slots)
    kind = f"[{type.count} x {memory(element(type))}]"
    keys = [("slots", op.result, k) for k in range(width(type.dtype))]
    size = type.count * element(type).size
    if size <= LARGEST:
        emitter.bind(op.result, [emitter.writer.once(key, f"alloca {kind}, align 64", "slots") for key in keys])
        return
    emitter.writer.declare("malloc", "declare noalias ptr @malloc(i64)")
    emitter.writer.declare("free", "declare void @free(ptr)")
    places = [emitter.writer.once(key, f"call noalias ptr @malloc(i64 {size})", "slots") for key in keys]
    emitter.heap += places
    emitter.bind(op.result, places)


def emit_read(emitter: Emitter, op: Op) -> None:
    """Each component by itself."""
    scalar = element(op.result.type)
    emitter.bind(op.result, [read(emitter, place, scalar, op.result.name) for place in _places(emitter, op)])


def emit_write(emitter: Emitter, op: Op) -> None:
    """Each component by itself."""
    scalar = element(op.operands[2].type)
    for place, operand in zip(_places(emitter, op), emitter.operands(op.operands[2]), strict=True):
        if scalar.kind is Kind.BOOL:
            operand = emitter.writer.emit(f"zext i1 {operand} to i8")
        emitter.writer.do(f"store {memory(scalar)} {operand}, ptr {place}")


def emit_sum(emitter: Emitter, op: Op) -> None:
    """All that is there, in halves: the first with the second, until one number is left."""
    type, w = op.operands[0].type, emitter.writer
    assert isinstance(type, Slots)
    scalar, kind = element(type), register(element(type))
    wide = f"<{type.count} x {kind}>"
    verb, first = ("fadd", f"{kind} -0.0, ") if scalar.kind is Kind.FLOAT else ("add", "")
    name = f"llvm.vector.reduce.{verb}.v{type.count}{'f' if first else 'i'}{scalar.bits}"
    w.declare(name, f"declare {kind} @{name}({f'{kind}, ' if first else ''}{wide})")
    found: list[str] = []
    for place in emitter.operands(op.operands[0]):
        all_of_them = w.emit(f"load {wide}, ptr {place}")
        found.append(w.emit(f"call {'reassoc ' if first else ''}{kind} @{name}({first}{wide} {all_of_them})"))
    emitter.bind(op.result, found)


def _places(emitter: Emitter, op: Op) -> list[str]:
    kind = memory(element(op.operands[0].type))
    index = wide_index(emitter, op.operands[1])
    return [
        emitter.writer.emit(f"getelementptr inbounds {kind}, ptr {base}, i64 {index}")
        for base in emitter.operands(op.operands[0])
    ]
