"""From a fault record to the error that a user gets.

The record holds an operation's number; all else (place, names, message, types of the values) is read from the function
as it stands now, so that an artifact from the cache says nothing that is out of date.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from workbench.backends.layout import FAULT_SIZE, FAULT_VALUES
from workbench.errors import KernelFault
from workbench.ir.ops import ELEMENTS, MESSAGE, REGIONS, TILE_PARTS
from workbench.ir.tiles import tile_of
from workbench.ir.values import Function, Op, Value, definitions, indices_of, number_ops
from workbench.passes.checks.bounds_checks import DIVISIONS, SHIFTS, part_of, reported
from workbench.structs import ELEMENT
from workbench.tiles import shown
from workbench.types import ArrayType, Matrix, element, is_float
from workbench.types import bool as bool_

Numbers = tuple[Any, ...]

_SIGNS = {
    "floordiv": "//", "mod": "%", "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "eq": "==", "ne": "!=",
}  # fmt: skip


class FaultRecord(msgspec.Struct, frozen=True):
    """A fault as checked code wrote it in the layout of `backends/layout.py`.

    Attributes:
        count: faults in the launch; the rest describes the first one.
        number: of the operation that faulted (`ir.values.number_ops`).
        thread: its linear index; of a kernel with tiles, the block's.
        values: raw 64-bit patterns.
    """

    count: int
    number: int
    thread: int
    values: tuple[int, ...]

    @classmethod
    def read(cls, data: bytes) -> FaultRecord | None:
        """Return the record in these bytes; None if its count is 0, as no fault was reported."""
        count, number, thread, *values = struct.unpack(f"<{3 + FAULT_VALUES}q", data[:FAULT_SIZE])
        return cls(count, number, thread, tuple(values)) if count else None


def raised_by(
    function: Function, record: FaultRecord, dims: Sequence[int], shapes: Mapping[str, Sequence[int]]
) -> KernelFault:
    """Return the error for a launch of `function` that left this record.

    Args:
        function: the function before checks were inserted; its operations' numbers are the record's.
        record: the fault.
        dims: the launch's dimensions.
        shapes: of each array argument, by parameter.
    """
    op = next(op for op, number in number_ops(function).items() if number == record.number)
    defining = definitions(function.body)
    values = tuple(_value(bits, v) for bits, v in zip(record.values, reported(op, defining), strict=False))
    return describe(function, op, defining, unravelled(record.thread, dims), values, shapes, record.count)


def describe(
    function: Function, op: Op, defining: Mapping[Value, Op], thread: tuple[int, ...], values: Numbers,
    shapes: Mapping[str, Sequence[int]], count: int = 1,
) -> KernelFault:  # fmt: skip
    """Return the error for an operation that faulted.

    Args:
        function: the kernel, for its name and whether it runs by blocks.
        op: the operation.
        defining: the operation that defines each value.
        thread: the index of the thread, or of the block if the kernel has tiles.
        values: what the check reports: indices, operands, or a component.
        shapes: of each array argument, by parameter.
        count: faults in the launch.
    """
    who = f"{'block' if function.block_dim else 'thread'} {thread}"  # of tiles a line runs for the whole block
    if op.name in ELEMENTS:
        sentence = _access(op, defining, who, values, shapes)
        values = values[: len(indices_of(op))]
    elif op.name in REGIONS:
        sentence = _tile_outside(op, who, values, shapes)
    else:
        sentence = _SENTENCES[op.name](op, defining, who, values)
        if op.name in ("extract", "insert") and isinstance(op.operands[0].type, Matrix):
            values = (_outside(op.operands[0].type, values)[1],)
    more = f"{count} faults in this launch; this is the first." if count > 1 else ""
    name = function.name.removesuffix("_tangent").removesuffix("_adjoint")
    return KernelFault(sentence, op.location, more, name, thread=thread, values=values, count=count)


def _value(bits: int, value: Value) -> Any:
    """Return the number that 64 bits of a fault record stand for, by the type of the value that was reported."""
    type = element(value.type)
    if is_float(type):
        return struct.unpack("<d", struct.pack("<q", bits))[0]
    if type == bool_:
        return bool(bits)
    return bits % (1 << 64) if type.name == "uint64" else bits


def unravelled(linear: int, dims: Sequence[int]) -> tuple[int, ...]:
    """Return the multi-dimensional index of a linear one, the last dimension fastest."""
    indices: list[int] = []
    for size in reversed(dims):
        indices.append(linear % size)
        linear //= size
    return tuple(reversed(indices))


def _access(
    op: Op, defining: Mapping[Value, Op], who: str, values: Numbers, shapes: Mapping[str, Sequence[int]]
) -> str:
    """Return the sentence for an index out of range, of an array or of a slice (a view) of one.

    `values` are the reported indices, then the sizes of the slices that index it, in the order of the axes.
    """
    full = op.operands[0].name
    name = full.partition(ELEMENT)[0]
    indices = indices_of(op)
    spans = iter(values[len(indices) :])
    for axis, (value, index, size) in enumerate(zip(values, indices, shapes[full], strict=False)):
        maker = defining.get(index)
        if maker is not None and maker.name == "view_index":
            maker, span = defining.get(maker.operands[1]), next(spans, None)
            least = -(span or 0) if maker is not None and maker.name == "wrap_index" else 0
            if span is None or not least <= value < span:
                elements = "fewer elements" if span is None else "1 element" if span == 1 else f"{span} elements"
                return f"A slice of {name} has {elements} along axis {axis}; {who} asked for index {value}."
            continue
        least = -size if maker is not None and maker.name == "wrap_index" else 0
        if not least <= value < size:
            elements = "1 element" if size == 1 else f"{size} elements"
            return f"{name} has {elements} along axis {axis}; {who} asked for index {value}."
    raise AssertionError(f"{name}{list(values)} is in range of {list(shapes[full])}")


def _tile_outside(op: Op, who: str, values: Numbers, shapes: Mapping[str, Sequence[int]]) -> str:
    """Return the sentence for a tile that a load, store or atomic addition puts outside of its array."""
    tile = tile_of(op.operands[-1] if op.name == "tile_store" else op.result)
    full = op.operands[0].name
    return (
        f"A tile of shape {shown(tile.shape)} at {values} is not inside of {full.partition(ELEMENT)[0]}, which has "
        f"shape {shown(tuple(shapes[full]))}, in {who}."
    )


def _tile_part(op: Op, defining: Mapping[Value, Op], who: str, values: Numbers) -> str:
    """Return the sentence for an element or a part that lies outside of a tile, at the offsets `values`."""
    tile, sizes = tile_of(op.operands[0]), part_of(op)
    if all(n == 1 for n in sizes):
        return f"A tile of shape {shown(tile.shape)} has no element {values}; {who} asked for it."
    return f"A part of shape {shown(sizes)} at {values} is not inside of a tile of {shown(tile.shape)}; {who}."


def _outside(type: Matrix, values: Numbers) -> tuple[int, int]:
    """Return the axis along which an index of a matrix is out of range, and that index as the user wrote it.

    Args:
        type: of the matrix.
        values: what the fault reports: the position of the component, counted row by row, and the column where that was
            known only at run time. A negative row had the number of rows added to it, which is undone.
    """
    position, *column = values
    if column and not -type.columns <= column[0] < type.columns:
        return 1, column[0]
    row = position // type.columns
    return 0, row if row >= 0 else row - type.rows


def _component(op: Op, defining: Mapping[Value, Op], who: str, values: Numbers) -> str:
    """Return the sentence for a component of a vector, or a row or column of a matrix, that is out of range."""
    type = op.operands[0].type
    assert not isinstance(type, ArrayType)
    if isinstance(type, Matrix):
        axis, index = _outside(type, values)
        kind = ("row", "column")[axis]
        return f"A {type!r} has {kind}s 0 to {type.shape[axis] - 1}; {who} asked for {kind} {index}."
    length = getattr(type, "length", 0)
    return f"A {type!r} has components 0 to {length - 1}; {who} asked for component {values[0]}."


def _division(op: Op, defining: Mapping[Value, Op], who: str, values: Numbers) -> str:
    """Return the sentence for an integer division or remainder by zero; `values` are its operands."""
    return f"An integer was divided by zero: {who} computed {values[0]} {_SIGNS[op.name]} {values[1]}."


def _shift(op: Op, defining: Mapping[Value, Op], who: str, values: Numbers) -> str:
    """Return the sentence for a shift by a negative amount or by the width of the type or more."""
    type = element(op.result.type)
    shown = f"{values[0]} {_SIGNS[op.name]} {values[1]}"
    return f"Shifts of {type!r} go by 0 to {type.bits - 1} bits; {who} computed {shown}."


def _assertion(op: Op, defining: Mapping[Value, Op], who: str, values: Numbers) -> str:
    """Return the sentence for a failed `assert`: its message, if any, and the comparison with its values."""
    test = defining.get(op.operands[0])
    seen = f": {values[0]!r} {_SIGNS[test.name]} {values[1]!r} does not hold" if test is not None and values else ""
    message = str(op.attrs[MESSAGE]).rstrip()
    if not message:
        return f"An assertion failed in {who}{seen}."
    return (
        f"{message if message[-1] in '.!?' else message + '.'}  {who.capitalize()}{seen or ' failed this assertion'}."
    )


def _step(op: Op, defining: Mapping[Value, Op], who: str, values: Numbers) -> str:
    """Return the sentence for a `range()` whose step is 0; `values` are its arguments."""
    return f"The step of range() is 0 in {who}: range({', '.join(map(str, values))}) has no turn."


_SENTENCES: dict[str, Callable[[Op, Mapping[Value, Op], str, Numbers], str]] = {
    **dict.fromkeys(("extract", "insert"), _component),
    **dict.fromkeys(sorted(DIVISIONS), _division),
    **dict.fromkeys(sorted(SHIFTS), _shift),
    **dict.fromkeys(sorted(TILE_PARTS), _tile_part),
    "assert": _assertion,
    "for": _step,
}
