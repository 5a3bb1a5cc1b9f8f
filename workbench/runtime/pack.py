"""Arguments into the parameter buffer."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

from workbench.backends.layout import Layout, Slot
from workbench.runtime.array import array
from workbench.types import ArrayType, Scalar

CODES = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
    "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip


def slot_format(slot: Slot) -> str:
    """The `struct` format of one parameter, padded to a multiple of 8 bytes."""
    type = slot.type
    if isinstance(type, ArrayType):
        return f"Q{2 * type.ndim}q"
    code = CODES[type.name] if isinstance(type, Scalar) else f"{type.length}{CODES[type.dtype.name]}"
    return f"{code}{-slot.size % 8}x"


class Packer:
    """Writes buffers of one layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._struct = struct.Struct("<4q" + "".join(slot_format(s) for s in layout.slots))
        assert self._struct.size == layout.size

    def new(self) -> ctypes.Array[ctypes.c_char]:
        """An empty buffer."""
        return ctypes.create_string_buffer(self.layout.size)

    def pack(self, dims: Sequence[int], values: Sequence[Any]) -> bytes:
        """1 to 4 dimensions and the arguments as the bytes of a buffer; values are as for `write`."""
        return self._struct.pack(*self._flat(dims, values))

    def write(self, buffer: ctypes.Array[ctypes.c_char], dims: Sequence[int], values: Sequence[Any]) -> None:
        """Write 1 to 4 dimensions and the arguments: arrays, numbers, or sequences of numbers for vectors."""
        self._struct.pack_into(buffer, 0, *self._flat(dims, values))

    def _flat(self, dims: Sequence[int], values: Sequence[Any]) -> list[Any]:
        flat: list[Any] = [*dims, 1, 1, 1][:4]
        for value in values:
            if type(value) is array:
                flat += value.packed
            elif type(value) in _SINGLE:
                flat.append(value)
            else:
                flat += value
        return flat


_SINGLE = frozenset((bool, int, float))
