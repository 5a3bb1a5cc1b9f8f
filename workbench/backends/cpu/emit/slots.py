"""A thread's slots: arrays made once at the entry and used again by every thread, on the stack unless they are large.

Each component of a vector has an array of its own, as it has a register of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.memory import read, wide_index
from workbench.backends.cpu.text.values import memory, register, width
from workbench.ir.values import Op
from workbench.limits import SLOT_LANES, STACK_ARRAY_BYTES
from workbench.types import Kind, Slots, element


def emit_slots(emitter: Emitter, op: Op) -> None:
    """Stack memory, in the entry block: a loop around it must not make more of it."""
    type = op.result.type
    assert isinstance(type, Slots)
    kind = f"[{type.count} x {memory(element(type))}]"
    keys = [("slots", op.result, k) for k in range(width(type.dtype))]
    size = type.count * element(type).size
    if size <= STACK_ARRAY_BYTES:
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
    emitter.bind(op.result, [read(emitter, op, place, scalar, op.result.name) for place in _places(emitter, op)])


def emit_write(emitter: Emitter, op: Op) -> None:
    """Each component by itself."""
    scalar = element(op.operands[2].type)
    for place, operand in zip(_places(emitter, op), emitter.operands(op.operands[2]), strict=True):
        if scalar.kind is Kind.BOOL:
            operand = emitter.writer.emit(f"zext i1 {operand} to i8")
        emitter.writer.do(f"store {memory(scalar)} {operand}, ptr {place}")


def emit_sum(emitter: Emitter, op: Op) -> None:
    """All that is there, in halves: the first with the second, until one number is left; on every target alike."""
    type = op.operands[0].type
    assert isinstance(type, Slots)
    columns = zip(*(emitter.operands(v) for v in op.operands), strict=True)
    for result, sums in zip(op.results, zip(*(_sums(emitter, c, type) for c in columns), strict=True), strict=True):
        emitter.bind(result, sums)


def _sums(emitter: Emitter, places: Sequence[str], type: Slots) -> list[str]:
    """The sum of each: once a half is no longer than a vector, two of them are halved side by side."""
    w, kind = emitter.writer, register(element(type))
    verb = "fadd" if element(type).kind is Kind.FLOAT else "add"

    def shuffled(a: str, b: str, lanes: int, chosen: Sequence[int]) -> str:
        mask = ", ".join(f"i32 {k}" for k in chosen)
        return w.emit(f"shufflevector <{lanes} x {kind}> {a}, <{lanes} x {kind}> {b}, <{len(chosen)} x i32> <{mask}>")

    found: list[str] = []
    for place in places:
        starts = (
            w.emit(f"getelementptr inbounds {kind}, ptr {place}, i64 {k}") for k in range(0, type.count, SLOT_LANES)
        )
        parts = [w.emit(f"load <{SLOT_LANES} x {kind}>, ptr {start}") for start in starts]
        while len(parts) > 1:
            half = len(parts) // 2
            pairs = zip(parts[:half], parts[half:], strict=True)
            parts = [w.emit(f"{verb} <{SLOT_LANES} x {kind}> {a}, {b}") for a, b in pairs]
        found += parts
    # A vector holds so many numbers (`lanes`), those of one sum side by side (`length`).
    lanes = length = int(SLOT_LANES)
    while length > 1:
        length //= 2
        firsts = [k for k in range(2 * lanes) if k // length % 2 == 0]
        two = len(found) % 2 == 0
        if not two:
            firsts = firsts[: len(firsts) // 2]
        pairs = list(zip(found[::2], found[1::2], strict=True)) if two else [(v, v) for v in found]
        found = []
        for a, b in pairs:
            halves = [shuffled(a, b, lanes, [k + by for k in firsts]) for by in (0, length)]
            found.append(w.emit(f"{verb} <{len(firsts)} x {kind}> {halves[0]}, {halves[1]}"))
        lanes = len(firsts)
    each = lanes
    return [w.emit(f"extractelement <{lanes} x {kind}> {vector}, i64 {k}") for vector in found for k in range(each)][
        : len(places)
    ]


def _places(emitter: Emitter, op: Op) -> list[str]:
    kind = memory(element(op.operands[0].type))
    index = wide_index(emitter, op.operands[1])
    return [
        emitter.writer.emit(f"getelementptr inbounds {kind}, ptr {base}, i64 {index}")
        for base in emitter.operands(op.operands[0])
    ]
