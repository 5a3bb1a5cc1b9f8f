"""Companions of arrays, by memory: gradients, tangents, earlier versions.

A companion lies in its own memory exactly as the array lies in its memory. So views share the companion of what they
are views of, and what overlaps overlaps there too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from workbench.errors import NotDifferentiable
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import lying_in, zeros
from workbench.runtime.device.device import CPU
from workbench.runtime.device.memory import Memory, allocate, allocate_zeros
from workbench.structs import Struct
from workbench.types import element, uint8


def covering(value: array) -> array:
    """Return a flat array over the whole memory of an array, or the array itself if it covers that.

    Its elements are scalars of the array's kind, or bytes if those do not fill the memory.
    """
    memory = value.memory
    if value.is_contiguous and value.nbytes == memory.nbytes:
        return value
    kind = element(value.dtype)
    if memory.nbytes % kind.size:
        kind = uint8
    return lying_in(memory, kind, (memory.nbytes // kind.size,))


def is_all(value: array) -> bool:
    """Return whether an array is dense and covers all of its memory, which is not empty."""
    return value.is_contiguous and value.nbytes == value.memory.nbytes > 0


def is_whole(value: array) -> bool:
    """Return whether an array is dense and covers all of its memory, which was allocated on the CPU by itself."""
    memory = value.memory
    return memory.plain and memory.nbytes == value.nbytes and value.is_contiguous


def copy_of(value: array) -> Memory:
    """Return new memory with a copy of all bytes in the array's memory."""
    copied = allocate(value.device, value.memory.nbytes)
    everything = covering(value)
    everything.twin(copied).copy_(everything)
    return copied


def zeros_beside(values: Collection[array]) -> list[array]:
    """Return for each array an array of zeros as large as its memory.

    It has the array's layout if that covers its memory on the CPU and no observer is open; otherwise it is flat.
    """
    unseen = not OBSERVERS.get()
    plain = [  # `is_all`, without a call
        unseen
        and a.device is CPU
        and a.is_contiguous
        and a.nbytes == a.memory.nbytes > 0
        and not isinstance(a.dtype, Struct)
        for a in values
    ]
    cleared = iter(allocate_zeros([a.nbytes for a, is_plain in zip(values, plain, strict=True) if is_plain]))
    return [a.twin(next(cleared)) if is_plain else _zeros(a) for a, is_plain in zip(values, plain, strict=True)]


def _zeros(value: array) -> array:
    """Return a flat array of zeros, at least as large as the array's memory, on its device."""
    scalar = element(value.dtype)
    return zeros(max(1, -(-value.memory.nbytes // scalar.size)), scalar, value.device)


def is_zero(companion: array) -> bool:
    """Return whether a companion is known to be all zeros, without waiting for a device.

    It is False while any observer is open: a tape may differentiate what the companion was computed from.
    """
    if OBSERVERS.get():
        return False
    memory = companion.memory
    if memory.is_zero:
        return True
    if memory.plain and memory.nbytes <= FEW:
        return memory.owner.tobytes().count(0) == memory.nbytes
    if memory.device.is_cuda or isinstance(companion.dtype, Struct):
        return False
    host = companion.host()
    # By bits, in half the time of `any`.
    return not np.bitwise_or.reduce(host[..., None].view(f"u{element(companion.dtype).size}"), axis=None)


FEW = 256
"""Up to so many bytes, counting zeros in them is quicker than making a view to test."""


def refuse_apart(memories: Iterable[Memory], involved: Collection[Memory]) -> None:
    """Refuse arrays that were made separately of the same bytes: each would have companions of its own.

    Args:
        memories: memories of the arrays that have companions.
        involved: those among them that are written, or whose gradients are requested.

    Raises:
        NotDifferentiable: bytes of an involved memory are also those of another one.
    """
    distinct = list(memories)
    if all([m.plain for m in distinct]):  # each allocated here, by itself
        return
    near: list[Memory] = []
    for memory in sorted((m for m in distinct if m.nbytes), key=lambda m: (m.device.name, m.address)):
        near = [m for m in near if m.device == memory.device and m.address + m.nbytes > memory.address]
        if any((memory in involved or other in involved) and memory.has_bytes_of(other) for other in near):
            raise NotDifferentiable(
                f"Two arrays were made of the same memory, one by one ({memory.nbytes:,} bytes): a derivative by one "
                "would miss what goes through the other.",
                advice="Make one array of that memory, and the other as its view: x[2:], or wb.array(x, copy=False).",
            )
        near.append(memory)


class Twins:
    """The companions of several arrays: for each memory another one, which is zeros until it is written."""

    def __init__(self) -> None:
        self.memories: dict[Memory, Memory] = {}

    def __contains__(self, value: array) -> bool:
        """Return whether the memory of an array has a companion already."""
        return value.memory in self.memories

    def of(self, value: array) -> array:
        """Return the companion of an array; create it, of zeros, if its memory has none."""
        companion = self.memories.get(value.memory)
        if companion is None:
            companion = self.memories[value.memory] = allocate(value.device, value.memory.nbytes)
            covering(value).twin(companion).fill_(0)
        return value.twin(companion)
