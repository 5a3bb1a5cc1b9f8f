"""Arguments into the parameter buffer."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import CodeType
from typing import Any

import numpy as np

from workbench.backends.layout import Layout, Slot, multiplier
from workbench.host.narrow import is_list
from workbench.types import MAX_NDIM, Aggregate, ArrayType, Complex, Scalar, Vector, element, is_half

CODES = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
    "uint64": "Q", "float16": "e", "bfloat16": "H", "float32": "f", "float64": "d",
}  # fmt: skip


_ARRAY_PIECES = [struct.Struct(f"<Q{2 * ndim}q").pack for ndim in range(MAX_NDIM + 1)]


def slot_format(slot: Slot) -> str:
    """Return the format by which Python's `struct` packs one parameter, padded to a multiple of 8 bytes."""
    type = slot.type
    if isinstance(type, ArrayType):
        return f"Q{2 * type.ndim}q"
    assert not isinstance(type, Aggregate)
    code = CODES[type.name] if isinstance(type, Scalar) else f"{type.length}{CODES[type.dtype.name]}"
    return f"{code}{-slot.size % 8}x"


def array_piece(address: int, shape: Sequence[int], strides: Sequence[int]) -> bytes:
    """Return an array's bytes in a parameter buffer: address, shape, strides."""
    return _ARRAY_PIECES[len(shape)](address, *shape, *strides)


@functools.lru_cache(maxsize=1024)
def dims_piece(dims: tuple[int, ...], divided: bool = False) -> bytes:
    """Return the bytes of a launch's 1 to 4 dimensions in a parameter buffer.

    With `divided`, which CUDA code with 32-bit indices needs, each has the multiplier that divides by it.
    """
    sizes = (*dims, 1, 1, 1)[:4]
    if divided and max(sizes) < 1 << 31:  # else there are no threads
        return struct.pack("<8I", *(word for n in sizes for word in (n, multiplier(n))))
    return struct.pack("<4q", *sizes)


def value_piece(slot: Slot) -> Callable[[Any], bytes]:
    """Return a function that turns a number, or a vector's sequence of numbers, into the bytes of its slot."""
    pack = struct.Struct(f"<{slot_format(slot)}").pack
    if is_half(slot.type):
        return _halves_piece(element(slot.type), -slot.size % 8)
    if isinstance(slot.type, Complex) and slot.type.shape:
        return lambda numbers: pack(*(part for z in numbers for part in (z.real, z.imag)))
    if isinstance(slot.type, Complex):
        return lambda number: pack(number.real, number.imag)
    return (lambda numbers: pack(*numbers)) if isinstance(slot.type, Vector) else pack


def _halves_piece(scalar: Scalar, padding: int) -> Callable[[Any], bytes]:
    """Return a function that turns a 16-bit float, or a vector's sequence of them, into bytes, then `padding` zeros.

    `struct` knows no bfloat16, and raises an error for an infinite float16.
    """

    def packed(value: Any) -> bytes:
        with np.errstate(over="ignore"):
            bits = b"".join(scalar(n).tobytes() for n in (value if is_list(value) else (value,)))
        return bits + bytes(padding)

    return packed


@lru_cache(maxsize=256)
def _packing(*parts: str) -> CodeType:
    """Return the code of a function of dimensions and arguments that joins their bytes; layouts alike share it."""
    return compile(f"lambda d, v: join((dims(d), {', '.join(parts)}))", "<packing>", "eval")


class Packer:
    """Packs the arguments of launches into parameter buffers of one layout.

    Args:
        layout: of the buffers.
        divided: whether dimensions are packed with the multipliers that divide by them, for 32-bit CUDA code.

    Attributes:
        pieces: for each slot a function that makes its bytes of an argument; None for arrays, which have theirs.
        pack: takes 1 to 4 dimensions and the arguments (arrays, numbers, and sequences of them for vectors); returns
            bytes.
    """

    def __init__(self, layout: Layout, divided: bool = False) -> None:
        self.layout = layout
        self.pieces = tuple(None if isinstance(s.type, ArrayType) else value_piece(s) for s in layout.slots)
        # One expression for all slots: a third of the time that a loop over them takes in each launch.
        parts = [f"v[{k}].packed" if p is None else f"p[{k}](v[{k}])" for k, p in enumerate(self.pieces)]
        space = {"join": b"".join, "dims": partial(dims_piece, divided=divided), "p": self.pieces}
        self.pack: Callable[[tuple[int, ...], Sequence[Any]], bytes] = eval(_packing(*parts), space)

    def new(self) -> ctypes.Array[ctypes.c_char]:
        """Return a parameter buffer of zeros, as large as the layout."""
        return ctypes.create_string_buffer(self.layout.size)

    def single(self, position: int, value: Any) -> bytes:
        """Return the bytes of one argument, which is not an array, by the position of its parameter."""
        piece = self.pieces[position]
        assert piece is not None
        return piece(value)

    def write(self, buffer: ctypes.Array[ctypes.c_char], dims: Sequence[int], values: Sequence[Any]) -> None:
        """Pack dimensions and arguments into an existing buffer, which is overwritten."""
        buffer[:] = self.pack(tuple(dims), values)
