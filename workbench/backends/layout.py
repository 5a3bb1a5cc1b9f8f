"""The parameter buffer: how a launch's arguments lie in memory, the same for launcher, replayer and FFI handler.

    bytes 0-31            int64 dim[4]: the launch's dimensions, unused ones 1
    then each parameter   at the next multiple of 8:
        array             data pointer, int64 shape[ndim], int64 strides[ndim] (bytes)
        scalar, vector    its bytes (a bool takes one)
    size                  rounded up to a multiple of 8

CUDA code with 32-bit indices takes each dimension as uint32 size, uint32 `multiplier(size)`.

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

from workbench.structs import StructArray, alignment
from workbench.types import Aggregate, ArrayType, Type

DIMS_SIZE = 32
FAULT_SIZE = 56
FAULT_VALUES = 4
DECLINED = -1
"""In place of an operation's number: the code was not made for this launch, and has done nothing."""


class Slot(msgspec.Struct, frozen=True):
    """The layout of one parameter: name, type, offset and size in bytes."""

    name: str
    type: Type
    offset: int
    size: int


class Layout(msgspec.Struct, frozen=True):
    """The layout of a launch's parameter buffer: a slot per parameter, in order, and the total size in bytes."""

    slots: tuple[Slot, ...]
    size: int


def slot_size(type: Type) -> int:
    """Return the bytes of an argument of this type in the buffer: an array's pointer, shape and strides, or a value."""
    assert not isinstance(type, Aggregate)
    return 8 + 16 * type.ndim if isinstance(type, ArrayType) else type.size


def layout(parameters: Sequence[tuple[str, Type]]) -> Layout:
    """Return the layout of these (name, type) parameters."""
    offset = DIMS_SIZE
    slots: list[Slot] = []
    for name, type in parameters:
        size = slot_size(type)
        slots.append(Slot(name, type, offset, size))
        offset += (size + 7) // 8 * 8
    return Layout(tuple(slots), offset)


def shape_in(buffer: Array[c_char], slot: Slot) -> tuple[int, ...]:
    """Return the shape of the array argument at `slot` of a packed parameter buffer."""
    assert isinstance(slot.type, ArrayType)
    return struct.unpack_from(f"<{slot.type.ndim}q", buffer, slot.offset + 8)


def multiplier(size: int) -> int:
    """Return the multiplier m with which code divides by `size`: by a multiplication and shifts.

    `n // size == (2 * n * m >> 32) >> (size - 1).bit_length()` holds for all n and sizes below 2³¹, and m has 32
    bits. It is 0 for size 0, by which nothing is divided.
    """
    return -(-(1 << 31 + (size - 1).bit_length()) // size) if size else 0


def access_bytes(type: ArrayType | StructArray) -> int:
    """Return how many bytes, up to 16, a GPU can access at once in a dense array of vectors or structs.

    The size of an element (of a field: of its struct) is a multiple of it. It is 0 if that is no more than one
    scalar's.
    """
    common = math.gcd(getattr(type, "pitch", 0) or type.dtype.size, 16)
    return common if common > alignment(type.dtype) else 0
