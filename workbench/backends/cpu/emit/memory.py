"""Parameters and array elements: from the packed buffer of `backends/layout.py` to loads, stores and additions."""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter
from workbench.backends.cpu.emit.types import index_instruction, memory, register, width
from workbench.ir.ops import AXIS
from workbench.ir.values import Op, Value, array_of, component_of
from workbench.structs import ELEMENT
from workbench.types import Kind, Scalar, element

SIZE_RANGE = "!range !0"
"""LLVM metadata on loads of sizes: they are never negative, and below 2**47."""


def together(emitter: Emitter, array: Value) -> Value:
    """Return the first field of the array of structs that `array` is a field of; `array` itself if it is none.

    It is `array` itself, too, where arrays may not be contiguous. Fields of dense structs share the first one's address
    and sizes, so that LLVM sees how they lie to each other.
    """
    if not emitter.options.contiguous or not array_of(array).pitch:
        return array
    root = array.name.partition(ELEMENT)[0]
    return next(p for p in emitter.function.params if p.name.startswith(f"{root}{ELEMENT}."))


def data(emitter: Emitter, array: Value) -> str:
    """Return an array's pointer to element 0, which is loaded once, at the entry."""
    known = emitter.pointers.get(array)
    if known is None:
        known = emitter.pointers[array] = _first_load(emitter, array)
    return known


def _first_load(emitter: Emitter, array: Value) -> str:
    """Emit the load of an array's pointer to element 0 at the entry; return its register."""
    first = together(emitter, array)
    if first is not array:
        apart = array_of(array).offset - array_of(first).offset
        text = f"getelementptr inbounds i8, ptr {data(emitter, first)}, i64 {apart}"
        return emitter.writer.once((array.name, "data"), text, f"{array.name}.data")
    # `once`: loaded at the entry, before the loops. A store in a loop might otherwise change it, for all that LLVM
    # knows.
    where = emitter.field(emitter.slots[array].offset, f"{array.name}.at")
    return emitter.writer.once((array.name, "data"), f"load ptr, ptr {where}", f"{array.name}.data")


def size(emitter: Emitter, array: Value, axis: int) -> str:
    """Return the array's extent along an axis, as i64."""
    array, axis = together(emitter, array), _own_axis(emitter, array, axis)
    where = emitter.field(emitter.slots[array].offset + 8 + 8 * axis, f"{array.name}.shape{axis}.at")
    text = f"load i64, ptr {where}, {SIZE_RANGE}"
    return emitter.writer.once((array.name, "shape", axis), text, f"{array.name}.shape{axis}")


def stride(emitter: Emitter, array: Value, axis: int) -> str:
    """Return the distance in bytes between neighbours along an axis, as i64."""
    ndim = array_of(array).ndim
    if array in emitter.unit_strides and axis == ndim - 1:
        return str(_cell(array))
    axis = _own_axis(emitter, array, axis)
    where = emitter.field(emitter.slots[array].offset + 8 + 8 * (ndim + axis), f"{array.name}.stride{axis}.at")
    text = f"load i64, ptr {where}"
    return emitter.writer.once((array.name, "stride", axis), text, f"{array.name}.stride{axis}")


def _own_axis(emitter: Emitter, array: Value, axis: int) -> int:
    """Return the array's axis that is one of the function's."""
    return array_of(array).ndim - 1 - axis if emitter.function.transposed else axis


def _cell(array: Value) -> int:
    """Return how many bytes an element has."""
    return width(array_of(array).dtype) * element(array_of(array).dtype).size


def emit_unit_stride(emitter: Emitter, op: Op) -> None:
    """Emit whether neighbours along an axis of an array are adjacent."""
    (array,) = op.operands
    apart = stride(emitter, array, op.attrs[AXIS])
    emitter.bind(op.result, [emitter.writer.emit(f"icmp eq i64 {apart}, {_cell(array)}")])


def launch_dim(emitter: Emitter, axis: int) -> str:
    """Return the launch's extent along an axis of the function, as i64."""
    axis = emitter.function.axes[axis] if emitter.function.axes else axis
    where = emitter.field(8 * axis, f"dim{axis}.at")
    return emitter.writer.once(("dim", axis), f"load i64, ptr {where}, {SIZE_RANGE}", f"dim{axis}")


def wide_index(emitter: Emitter, index: Value) -> str:
    """Return the LLVM operand of an index, converted to i64."""
    if emitter.wide and index in emitter.wide:
        return emitter.wide[index]
    operand = emitter.operand(index)
    text = index_instruction(operand, index.type)
    return emitter.writer.emit(text) if text else operand


def element_addresses(emitter: Emitter, op: Op) -> list[str]:
    """Return pointers to the components of the element that `op` accesses.

    An operation that accesses one component has a single pointer.

    Args:
        emitter: its block is open.
        op: an access whose operands are an array, its indices, and others.
    """
    array = op.operands[0]
    t = array_of(array)
    indices = [wide_index(emitter, v) for v in op.operands[1 : 1 + t.ndim]]
    base = data(emitter, array)
    address = _dense if emitter.options.contiguous else _strided
    first = address(emitter, array, base, indices)
    scalar, count = element(t.dtype), width(t.dtype)
    w = emitter.writer
    component = component_of(op)
    if component is not None:
        return [w.emit(f"getelementptr inbounds {memory(scalar)}, ptr {first}, i64 {wide_index(emitter, component)}")]
    return [first] + [w.emit(f"getelementptr inbounds {memory(scalar)}, ptr {first}, i64 {k}") for k in range(1, count)]


def _dense(emitter: Emitter, array: Value, base: str, indices: list[str]) -> str:
    """Emit the address of an element of a contiguous array, in row-major order.

    Args:
        emitter: its block is open.
        array: the array.
        base: the address of its first element.
        indices: LLVM operands, as i64.
    """
    w, t = emitter.writer, array_of(array)
    offset = indices[0]
    for axis, index in enumerate(indices[1:], 1):
        # nsw: an index that is out of range has no meaning without checks, and with them does not come here.
        row = w.emit(f"mul nsw i64 {offset}, {size(emitter, array, axis)}")
        offset = w.emit(f"add nsw i64 {row}, {index}")
    cell = memory(element(t.dtype))
    cell = f"[{width(t.dtype)} x {cell}]" if width(t.dtype) > 1 else cell
    cell = f"[{t.pitch} x i8]" if t.pitch else cell
    return w.emit(f"getelementptr inbounds {cell}, ptr {base}, i64 {offset}")


def _strided(emitter: Emitter, array: Value, base: str, indices: list[str]) -> str:
    """Emit the address of an element by the array's strides in bytes.

    Args:
        emitter: its block is open.
        array: the array.
        base: the address of its first element.
        indices: LLVM operands, as i64.
    """
    w = emitter.writer
    pointer = base
    for axis, index in enumerate(indices):
        offset = w.emit(f"mul nsw i64 {index}, {stride(emitter, array, axis)}")
        pointer = w.emit(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}")
    return pointer


def emit_shape(emitter: Emitter, op: Op) -> None:
    """Emit an array's extent along an axis: as i64, or truncated to int32, as the result's type asks."""
    extent = size(emitter, op.operands[0], op.attrs[AXIS])
    if element(op.result.type).bits == 64:
        emitter.bind(op.result, [extent])
        return
    emitter.bind(op.result, [emitter.writer.emit(f"trunc i64 {extent} to i32", op.result.name)])


def emit_load(emitter: Emitter, op: Op) -> None:
    """Emit the load of an element, component by component."""
    scalar = element(op.result.type)
    name = op.result.name
    emitter.bind(op.result, [read(emitter, op, address, scalar, name) for address in element_addresses(emitter, op)])


def emit_store(emitter: Emitter, op: Op) -> None:
    """Emit the store of an element, component by component."""
    value = op.operands[-1]
    scalar = element(value.type)
    for address, operand in zip(element_addresses(emitter, op), emitter.operands(value), strict=True):
        # A bool is a byte in memory, and a bit in a register.
        if scalar.kind is Kind.BOOL:
            operand = emitter.writer.emit(f"zext i1 {operand} to i8")
        emitter.writer.do(f"store {memory(scalar)} {operand}, ptr {address}")


def read(emitter: Emitter, op: Op, address: str, scalar: Scalar, hint: str = "") -> str:
    """Emit the load of a scalar for `op`; return its register: an i1 if it is a bool, frozen where `op` needs it."""
    name = emitter.writer.emit(f"load {memory(scalar)}, ptr {address}", hint)
    if op in emitter.frozen or op in emitter.guarded:
        name = emitter.writer.emit(f"freeze {memory(scalar)} {name}", hint)
    # Any byte but 0 is true: NumPy's view of other memory may hold others.
    return emitter.writer.emit(f"icmp ne i8 {name}, 0", hint) if scalar.kind is Kind.BOOL else name


def emit_atomic_add(emitter: Emitter, op: Op) -> None:
    """Emit an addition to an element; the result is its old value.

    Each component is added atomically, a vector not as a whole. In code for one core nothing is atomic but additions of
    16-bit floats.
    """
    value = op.operands[-1]
    if emitter.one_core and not element(value.type).is_half:
        _plain_add(emitter, op)
        return
    olds = [
        emitter.writer.emit(atomic_add(emitter, address, operand, element(value.type)), op.result.name)
        for address, operand in zip(element_addresses(emitter, op), emitter.operands(value), strict=True)
    ]
    emitter.bind(op.result, olds)


def _plain_add(emitter: Emitter, op: Op) -> None:
    """Emit an addition to an element that is not atomic, and bind its old value."""
    value, olds = op.operands[-1], []
    scalar = element(value.type)
    verb = "fadd" if scalar.kind is Kind.FLOAT else "add"
    for address, operand in zip(element_addresses(emitter, op), emitter.operands(value), strict=True):
        olds.append(read(emitter, op, address, scalar, op.result.name))
        total = emitter.writer.emit(f"{verb} {register(scalar)} {olds[-1]}, {operand}")
        emitter.writer.do(f"store {memory(scalar)} {total}, ptr {address}")
    emitter.bind(op.result, olds)


def atomic_add(emitter: Emitter, address: str, operand: str, scalar: Scalar) -> str:
    """Return the LLVM instruction that adds to a scalar atomically and gives its old value."""
    if scalar.is_half:
        emitter.needs_halves(scalar)
        return f"call i16 @wb.atomic_add.{scalar}(ptr {address}, i16 {operand})"
    verb = "fadd" if scalar.kind is Kind.FLOAT else "add"
    # Monotonic: additions need no order with other memory, only not to be lost.
    return f"atomicrmw {verb} ptr {address}, {register(scalar)} {operand} monotonic"


def add_to_first(emitter: Emitter, array: Value, value: Value) -> None:
    """Emit an atomic addition to element 0 of an array of any number of dimensions."""
    scalar, w = element(value.type), emitter.writer
    for component, operand in enumerate(emitter.operands(value)):
        cell = w.emit(f"getelementptr inbounds {memory(scalar)}, ptr {data(emitter, array)}, i64 {component}")
        w.emit(atomic_add(emitter, cell, operand, scalar))
