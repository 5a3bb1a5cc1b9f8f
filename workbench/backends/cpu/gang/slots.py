"""A thread's own arrays: one element of all threads of a gang lies side by side.

Those in which all threads have the same are one array.
"""

from __future__ import annotations

from workbench.backends.cpu.emit.emit_module import HANDLERS
from workbench.backends.cpu.emit.memory import wide_index
from workbench.backends.cpu.emit.slots import storage
from workbench.backends.cpu.emit.types import memory, register, width
from workbench.backends.cpu.gang.emitter import GangEmitter
from workbench.backends.llvm.values import masked_gather, splat, vector
from workbench.ir.values import Op, Value, slots_of
from workbench.limits import GANG_FRAME_BYTES
from workbench.types import Kind, Scalar, element


def emit_slots(emitter: GangEmitter, op: Op) -> None:
    """Emit the memory of a gang's slots, allocated once, at the entry.

    It is on the stack if all arrays of the gang together are small enough. Slots whose contents all threads share are
    those of a single thread.
    """
    if op.result not in emitter.varying:
        HANDLERS["slots"](emitter, op)
        return
    type, parts = slots_of(op.result), _parts(emitter, op.result)
    own, threads = ("gang", "slots", emitter.width, parts, op.result), emitter.width * parts
    array_type, size = f"[{type.count} x {_row_type(emitter, op.result)}]", type.count * element(type).size * threads
    on_heap = size if max(size, emitter.frame * threads) > GANG_FRAME_BYTES else 0
    addresses = tuple(storage(emitter, (*own, k), array_type, on_heap) for k in range(width(type.dtype)))
    for _ in emitter.each_part():
        emitter.vectors[op.result] = addresses


def emit_read(emitter: GangEmitter, op: Op) -> None:
    """Emit the read of a slot, component by component: a vector load if the index is uniform, else a gather."""
    if op.operands[0] not in emitter.varying:
        HANDLERS["slot_read"](emitter, op)
        return
    for _ in emitter.parts_of(op):
        _read(emitter, op)


def _read(emitter: GangEmitter, op: Op) -> None:
    """Emit the read of a slot in the current part: a vector load at a uniform index, else a gather or scalar loads."""
    w, scalar = emitter.writer, element(op.result.type)
    kind = vector(memory(scalar), emitter.width)
    parts = []
    for address in emitter.vectors[op.operands[0]]:
        if op.operands[1] not in emitter.varying:
            parts.append(w.emit(f"load {kind}, ptr {slot_row(emitter, op, address)}", op.result.name))
            continue
        if emitter.maths.gathers and scalar.size >= 4:
            parts.append(_gathered(emitter, _pointers(emitter, op, address), scalar))
            continue
        part = "poison"
        for lane, at in enumerate(_elements(emitter, op, address)):
            one = w.emit(f"load {memory(scalar)}, ptr {at}")
            part = w.emit(f"insertelement {kind} {part}, {memory(scalar)} {one}, i64 {lane}", op.result.name)
        parts.append(part)
    if scalar.kind is Kind.BOOL:
        parts = [w.emit(f"icmp ne {kind} {part}, zeroinitializer") for part in parts]
    emitter.bind_flags(op.result, parts)


def _gathered(emitter: GangEmitter, addresses: str, scalar: Scalar) -> str:
    """Emit a gather of scalars from a vector of addresses, all of which are valid."""
    return masked_gather(emitter.typed(addresses, "ptr"), None, register(scalar), scalar.size, "poison").text


def emit_write(emitter: GangEmitter, op: Op) -> None:
    """Emit the write to a slot, component by component; lanes that are off write back what is there."""
    if op.operands[0] not in emitter.varying:
        HANDLERS["slot_write"](emitter, op)
        return
    for part in emitter.each_part():
        if part < _parts(emitter, op.operands[0]):
            _write(emitter, op)


def _write(emitter: GangEmitter, op: Op) -> None:
    """Emit the write of a slot in the current part; lanes that are off write back what is there."""
    w, value = emitter.writer, op.operands[2]
    scalar = element(value.type)
    cell = memory(scalar)
    kind = vector(cell, emitter.width)
    for address, part in zip(emitter.vectors[op.operands[0]], emitter.vector(value), strict=True):
        if scalar.kind is Kind.BOOL:
            part = w.emit(f"zext {vector('i1', emitter.width)} {part} to {kind}")
        if op.operands[1] not in emitter.varying:
            row = slot_row(emitter, op, address)
            if emitter.mask:
                part = emitter.merged(emitter.mask, cell, part, w.emit(f"load {kind}, ptr {row}"))
            w.do(f"store {kind} {part}, ptr {row}")
            continue
        for lane, at in enumerate(_elements(emitter, op, address)):
            one = w.emit(f"extractelement {kind} {part}, i64 {lane}")
            if emitter.mask:
                on = w.emit(f"extractelement {vector('i1', emitter.width)} {emitter.flags(emitter.mask)}, i64 {lane}")
                one = w.emit(f"select i1 {on}, {cell} {one}, {cell} {w.emit(f'load {cell}, ptr {at}')}")
            w.do(f"store {cell} {one}, ptr {at}")


def slot_row(emitter: GangEmitter, op: Op, address: str) -> str:
    """Return the address of the current part's elements at a uniform index.

    Args:
        emitter: its block is open.
        op: reads or writes a slot.
        address: of the slots.
    """
    slots, part = op.operands[0], emitter.part % _parts(emitter, op.operands[0])
    kind, index = _row_type(emitter, slots), wide_index(emitter, op.operands[1])
    return emitter.writer.emit(f"getelementptr {kind}, ptr {address}, i64 {index}, i64 {part}")


def _parts(emitter: GangEmitter, slots: Value) -> int:
    """Return how many parts of a gang have slots of their own: those of one row, if all rows hold the same in them."""
    return emitter.parts if slots in emitter.by_row else emitter.row_parts


def _row_type(emitter: GangEmitter, slots: Value) -> str:
    """Return the LLVM type of the elements at one index, of all parts."""
    return f"[{_parts(emitter, slots)} x {vector(memory(element(slots_of(slots))), emitter.width)}]"


def _elements(emitter: GangEmitter, op: Op, address: str) -> list[str]:
    """Return the address of each lane's element; for a lane that is off, of its element 0."""
    addresses, kind = _pointers(emitter, op, address), vector("ptr", emitter.width)
    return [emitter.writer.emit(f"extractelement {kind} {addresses}, i64 {lane}") for lane in range(emitter.width)]


def _pointers(emitter: GangEmitter, op: Op, address: str) -> str:
    """Return a vector of the addresses of all lanes' elements; for a lane that is off, of its element 0."""
    w, index = emitter.writer, op.operands[1]
    kind, cell = emitter.scalar_kind(index), memory(element(op.operands[0].type))
    (at,) = emitter.vector(index)
    safe = Value(index.type, "index")
    emitter.vectors[safe] = (emitter.merged(emitter.mask, kind, at, splat(kind, "0")),)
    w.lanes = emitter.width
    wide = wide_index(emitter, safe)
    w.lanes = 0
    vector_type = vector("i64", emitter.width)
    rows = w.emit(f"mul {vector_type} {wide}, {splat('i64', str(emitter.width * emitter.parts))}")
    numbers = w.emit(f"add {vector_type} {rows}, {emitter.lane_numbers('i64', first=emitter.first_lane)}")
    return w.emit(f"getelementptr {cell}, ptr {address}, {vector_type} {numbers}")
