"""Parameters and array elements: from the packed buffer of `backends/layout.py` to loads, stores and atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.backends.cpu.text.values import cast, index_instruction, memory, register, width
from workbench.ir.values import Op, Value
from workbench.structs import ELEMENT
from workbench.types import ArrayType, Kind, Scalar, element, float32, float64

if TYPE_CHECKING:
    from workbench.backends.cpu.emit.emit import Speller

SIZE_RANGE = "!range !0"
"""On loads of sizes: never negative, below 2**47."""


def parameter(speller: Speller, value: Value) -> tuple[str, ...]:
    """A scalar or vector parameter's components, read from the buffer before the loops."""
    slot = speller.slots[value]
    scalar = element(value.type)
    names = []
    for k in range(width(value.type)):
        key = (value.name, k)
        where = _field(speller, slot.offset + k * scalar.size, f"{value.name}.at")
        name = speller.writer.once(key, f"load {memory(scalar)}, ptr {where}", value.name)
        if scalar.kind is Kind.BOOL:
            name = speller.writer.once((*key, "bool"), f"icmp ne i8 {name}, 0", value.name)
        names.append(name)
    return tuple(names)


def together(speller: Speller, array: Value) -> Value:
    """The first field of the array of structs that `array` is a field of; itself where it is none.

    Where elements lie densely all fields share its address and sizes, so that LLVM sees how they lie to each other.
    """
    if not speller.options.contiguous or not _array(array).pitch:
        return array
    root = array.name.partition(ELEMENT)[0]
    return next(p for p in speller.function.params if p.name.startswith(f"{root}{ELEMENT}."))


def data(speller: Speller, array: Value) -> str:
    """The pointer to element 0."""
    first = together(speller, array)
    if first is not array:
        apart = _array(array).offset - _array(first).offset
        text = f"getelementptr inbounds i8, ptr {data(speller, first)}, i64 {apart}"
        return speller.writer.once((array.name, "data"), text, f"{array.name}.data")
    where = _field(speller, speller.slots[array].offset, f"{array.name}.at")
    return speller.writer.once((array.name, "data"), f"load ptr, ptr {where}", f"{array.name}.data")


def size(speller: Speller, array: Value, axis: int) -> str:
    """The array's extent along an axis, as i64."""
    array = together(speller, array)
    where = _field(speller, speller.slots[array].offset + 8 + 8 * axis, f"{array.name}.shape{axis}.at")
    text = f"load i64, ptr {where}, {SIZE_RANGE}"
    return speller.writer.once((array.name, "shape", axis), text, f"{array.name}.shape{axis}")


def stride(speller: Speller, array: Value, axis: int) -> str:
    """The distance in bytes of two neighbours along an axis, as i64."""
    ndim = _array(array).ndim
    where = _field(speller, speller.slots[array].offset + 8 + 8 * (ndim + axis), f"{array.name}.stride{axis}.at")
    text = f"load i64, ptr {where}"
    return speller.writer.once((array.name, "stride", axis), text, f"{array.name}.stride{axis}")


def launch_dim(speller: Speller, axis: int) -> str:
    """The launch's extent along an axis, as i64."""
    where = _field(speller, 8 * axis, f"dim{axis}.at")
    return speller.writer.once(("dim", axis), f"load i64, ptr {where}, {SIZE_RANGE}", f"dim{axis}")


def _field(speller: Speller, offset: int, hint: str) -> str:
    return speller.writer.once(("field", offset), f"getelementptr inbounds i8, ptr %params, i64 {offset}", hint)


def _array(value: Value) -> ArrayType:
    assert isinstance(value.type, ArrayType)
    return value.type


def wide_index(speller: Speller, index: Value) -> str:
    """An index as i64."""
    operand = speller.operand(index)
    text = index_instruction(operand, index.type)
    return speller.writer.emit(text) if text else operand


def places(speller: Speller, op: Op) -> list[str]:
    """Pointers to the components of the element that `op` (array, *indices, …) means."""
    array = op.operands[0]
    t = _array(array)
    indices = [wide_index(speller, v) for v in op.operands[1 : 1 + t.ndim]]
    base = data(speller, array)
    address = _dense if speller.options.contiguous else _strided
    first = address(speller, array, base, indices)
    scalar, count = element(t.dtype), width(t.dtype)
    w = speller.writer
    return [first] + [w.emit(f"getelementptr inbounds {memory(scalar)}, ptr {first}, i64 {k}") for k in range(1, count)]


def _dense(speller: Speller, array: Value, base: str, indices: list[str]) -> str:
    w, t = speller.writer, _array(array)
    offset = indices[0]
    for axis, index in enumerate(indices[1:], 1):
        row = w.emit(f"mul nsw i64 {offset}, {size(speller, array, axis)}")
        offset = w.emit(f"add nsw i64 {row}, {index}")
    cell = memory(element(t.dtype))
    cell = f"[{width(t.dtype)} x {cell}]" if width(t.dtype) > 1 else cell
    cell = f"[{t.pitch} x i8]" if t.pitch else cell
    return w.emit(f"getelementptr inbounds {cell}, ptr {base}, i64 {offset}")


def _strided(speller: Speller, array: Value, base: str, indices: list[str]) -> str:
    w = speller.writer
    pointer = base
    for axis, index in enumerate(indices):
        offset = w.emit(f"mul nsw i64 {index}, {stride(speller, array, axis)}")
        pointer = w.emit(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}")
    return pointer


def spell_shape(speller: Speller, op: Op) -> None:
    """An extent as int32, or as it is."""
    whole = size(speller, op.operands[0], op.attrs["axis"])
    if element(op.result.type).bits == 64:
        speller.bind(op.result, [whole])
        return
    speller.bind(op.result, [speller.writer.emit(f"trunc i64 {whole} to i32", op.result.name)])


def spell_load(speller: Speller, op: Op) -> None:
    """Each component by itself."""
    scalar = element(op.result.type)
    name = op.result.name
    found = [read(speller, place, scalar, name) for place in places(speller, op)]
    if op in speller.frozen:
        found = [speller.writer.emit(f"freeze {register(scalar)} {part}", name) for part in found]
    speller.bind(op.result, found)


def spell_store(speller: Speller, op: Op) -> None:
    """Each component by itself."""
    value = op.operands[-1]
    scalar = element(value.type)
    for place, operand in zip(places(speller, op), speller.operands(value), strict=True):
        if scalar.kind is Kind.BOOL:
            operand = speller.writer.emit(f"zext i1 {operand} to i8")
        speller.writer.do(f"store {memory(scalar)} {operand}, ptr {place}")


def read(speller: Speller, place: str, scalar: Scalar, hint: str = "") -> str:
    """A scalar from memory, in a register."""
    name = speller.writer.emit(f"load {memory(scalar)}, ptr {place}", hint)
    return speller.writer.emit(f"icmp ne i8 {name}, 0", hint) if scalar.kind is Kind.BOOL else name


def spell_atomic_add(speller: Speller, op: Op) -> None:
    """Each component atomically, a vector as a whole is not; plainly in code for one core."""
    value = op.operands[-1]
    if speller.one_core and not element(value.type).is_half:
        _plain_add(speller, op)
        return
    olds = [
        speller.writer.emit(atomic_add(speller, place, operand, element(value.type)), op.result.name)
        for place, operand in zip(places(speller, op), speller.operands(value), strict=True)
    ]
    speller.bind(op.result, olds)


def _plain_add(speller: Speller, op: Op) -> None:
    value, olds = op.operands[-1], []
    scalar = element(value.type)
    verb = "fadd" if scalar.kind is Kind.FLOAT else "add"
    for place, operand in zip(places(speller, op), speller.operands(value), strict=True):
        olds.append(read(speller, place, scalar, op.result.name))
        total = speller.writer.emit(f"{verb} {register(scalar)} {olds[-1]}, {operand}")
        speller.writer.do(f"store {memory(scalar)} {total}, ptr {place}")
    speller.bind(op.result, olds)


def atomic_add(speller: Speller, place: str, operand: str, scalar: Scalar) -> str:
    """The instruction that adds atomically and gives the old value."""
    if scalar.is_half:
        speller.needs_halves(scalar)
        return f"call i16 @wb.atomic_add.{scalar}(ptr {place}, i16 {operand})"
    verb = "fadd" if scalar.kind is Kind.FLOAT else "add"
    return f"atomicrmw {verb} ptr {place}, {register(scalar)} {operand} monotonic"


def spell_reduce_add(speller: Speller, op: Op) -> None:
    """Into a local sum; the entry adds it to memory once, after its last thread.

    Floats are summed as float64 in any order (`reassoc`, so that the sum vectorises): the order of threads has no
    meaning, and the gradient of a scalar may have 10⁸ addends.
    """
    array, value = op.operands
    scalar = element(value.type)
    for k, operand in enumerate(speller.operands(value)):
        w = speller.writer
        place, kind = accumulator(speller, array, k)
        if scalar.is_half:
            speller.needs_halves(scalar)
            operand = w.emit(cast(operand, scalar, float32))
        if scalar.kind is Kind.FLOAT and scalar.bits < 64:
            operand = w.emit(f"fpext float {operand} to double")
        old = w.emit(f"load {kind}, ptr {place}")
        verb = "fadd reassoc nsz" if scalar.kind is Kind.FLOAT else "add"
        total = w.emit(f"{verb} {kind} {old}, {operand}", "sum")
        w.do(f"store {kind} {total}, ptr {place}")


def accumulator(speller: Speller, array: Value, component: int) -> tuple[str, str]:
    """The local sum (a stack slot that becomes a register) for a component of element 0, and its LLVM type."""
    scalar = element(array.type)
    kind = "double" if scalar.kind is Kind.FLOAT else register(scalar)
    w = speller.writer
    key = (array.name, "sum", component)
    if key not in speller.sums:
        place = w.once(key, f"alloca {kind}", f"{array.name}.sum")
        w.head.append(f"  store {kind} {'-0.0' if kind == 'double' else '0'}, ptr {place}")
        speller.sums[key] = (array, component)
    return w.once(key, ""), kind


def flush_sums(speller: Speller) -> None:
    """Add the local sums to element 0 of their arrays."""
    w = speller.writer
    for array, component in list(speller.sums.values()):
        scalar = element(array.type)
        place, kind = accumulator(speller, array, component)
        total = w.emit(f"load {kind}, ptr {place}")
        if kind == "double" and scalar.bits < 64:
            total = w.emit(cast(total, float64, scalar))
        cell = w.emit(f"getelementptr inbounds {memory(scalar)}, ptr {data(speller, array)}, i64 {component}")
        w.emit(atomic_add(speller, cell, total, scalar))
