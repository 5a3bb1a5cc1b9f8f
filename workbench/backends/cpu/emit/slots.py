"""A thread's slots: arrays made once at the entry and used again by every thread, on the stack unless they are large.

Each component of a vector has an array of its own, as it has a register of its own.
"""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.memory import read, wide_index
from workbench.backends.cpu.emit.types import memory, width
from workbench.ir.values import Op, slots_of
from workbench.limits import STACK_ARRAY_BYTES
from workbench.types import Kind, element


def emit_slots(emitter: Emitter, op: Op) -> None:
    """Emit the memory of a thread's slots, which is allocated once, at the entry."""
    type = slots_of(op.result)
    kind = f"[{type.count} x {memory(element(type))}]"
    keys = [("slots", op.result, k) for k in range(width(type.dtype))]
    size = type.count * element(type).size
    on_heap = size if size > STACK_ARRAY_BYTES else 0
    emitter.bind(op.result, [storage(emitter, key, kind, on_heap) for key in keys])


def storage(emitter: Emitter, key: tuple[object, ...], kind: str, on_heap: int) -> str:
    """Return a pointer to memory that is allocated once, at the entry, and aligned to a cache line of 64 bytes.

    Args:
        emitter: whose entry it is.
        key: identifies the memory: the same key gives the same pointer.
        kind: the LLVM type of memory on the stack.
        on_heap: bytes of memory on the heap; 0: on the stack.
    """
    once = emitter.writer.once
    if not on_heap:
        return once(key, f"alloca {kind}, align 64", "slots")
    emitter.writer.declare("malloc", "declare noalias ptr @malloc(i64)")
    emitter.writer.declare("free", "declare void @free(ptr)")
    address = once((*key, "heap"), f"call noalias ptr @malloc(i64 {on_heap + 63})", "heap")
    if address not in emitter.heap:
        emitter.heap.append(address)
    number = once((*key, "number"), f"ptrtoint ptr {address} to i64", "heap")
    behind = once((*key, "behind"), f"add i64 {number}, 63", "heap")
    more = once((*key, "line"), f"and i64 {behind}, -64", "heap")
    skipped = once((*key, "skipped"), f"sub i64 {more}, {number}", "heap")
    return once(key, f"getelementptr i8, ptr {address}, i64 {skipped}", "slots")


def emit_read(emitter: Emitter, op: Op) -> None:
    """Emit the read of a slot, component by component."""
    scalar = element(op.result.type)
    emitter.bind(
        op.result, [read(emitter, op, address, scalar, op.result.name) for address in _slot_addresses(emitter, op)]
    )


def emit_write(emitter: Emitter, op: Op) -> None:
    """Emit the write to a slot, component by component."""
    scalar = element(op.operands[2].type)
    for address, operand in zip(_slot_addresses(emitter, op), emitter.operands(op.operands[2]), strict=True):
        if scalar.kind is Kind.BOOL:
            operand = emitter.writer.emit(f"zext i1 {operand} to i8")
        emitter.writer.do(f"store {memory(scalar)} {operand}, ptr {address}")


def _slot_addresses(emitter: Emitter, op: Op) -> list[str]:
    """Emit the address of each component of the slot that an operation reads or writes."""
    kind = memory(element(op.operands[0].type))
    index = wide_index(emitter, op.operands[1])
    bases, index = emitter.slot_element(op.operands[0], index)
    return [emitter.writer.emit(f"getelementptr inbounds {kind}, ptr {base}, i64 {index}") for base in bases]
