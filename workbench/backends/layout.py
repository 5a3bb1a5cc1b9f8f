"""The parameter buffer: how a launch's arguments lie in memory, the same for launcher, replayer and FFI handler.

    bytes 0-31            int64 dim[4]: the launch's dimensions, unused ones 1
    then each parameter   at the next multiple of 8:
        array             data pointer, int64 shape[ndim], int64 strides[ndim] (bytes)
        scalar, vector    its bytes (a bool takes one)
    size                  rounded up to a multiple of 8

A CUDA kernel takes the same pieces as by-value parameters, so its parameter pointers point into this buffer.

Code with checks also gets the address of a fault record, zeroed before the launch:

    bytes 0-7             int64 count: faults so far; who finds 0 here writes the rest
    bytes 8-15            int64 number: of the operation that faulted (`ir.values.number_ops`)
    bytes 16-23           int64 thread: its linear index, last dimension fastest
    bytes 24-55           values[4]: int64, or float64 where the operation reports a float
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from ctypes import Array, c_char

import msgspec

from workbench.types import Aggregate, ArrayType, Type, Vector

DIMS_SIZE = 32
FAULT_SIZE = 56
FAULT_VALUES = 4


class Slot(msgspec.Struct, frozen=True):
    """One parameter's place: name, type, offset and size in bytes."""

    name: str
    type: Type
    offset: int
    size: int


class Layout(msgspec.Struct, frozen=True):
    """The buffer's slots in the order of the parameters, and its size in bytes."""

    slots: tuple[Slot, ...]
    size: int


def slot_size(type: Type) -> int:
    """Bytes that an argument of this type takes."""
    assert not isinstance(type, Aggregate)
    return 8 + 16 * type.ndim if isinstance(type, ArrayType) else type.size


def layout(parameters: Sequence[tuple[str, Type]]) -> Layout:
    """The layout of these (name, type) parameters."""
    offset = DIMS_SIZE
    slots = []
    for name, type in parameters:
        size = slot_size(type)
        slots.append(Slot(name, type, offset, size))
        offset += (size + 7) // 8 * 8
    return Layout(tuple(slots), offset)


def shape_in(buffer: Array[c_char], slot: Slot) -> tuple[int, ...]:
    """The shape of an array argument in a packed buffer."""
    assert isinstance(slot.type, ArrayType)
    return struct.unpack_from(f"<{slot.type.ndim}q", buffer, slot.offset + 8)


def wide(dtype: object) -> int:
    """The bytes, up to 16, that a GPU can load of a vector at once and of which it is a multiple; 0 if no more than one
    component."""
    if not isinstance(dtype, Vector):
        return 0
    found = math.gcd(dtype.size, 16)
    return found if found > dtype.dtype.size else 0
