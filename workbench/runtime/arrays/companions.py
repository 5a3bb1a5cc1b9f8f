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
    """Return an array of all that lies in the array's memory, of the same kind of numbers."""
    memory = value.memory
    if value.is_contiguous and value.nbytes == memory.nbytes:
        return value
    kind = element(value.dtype)
    if memory.nbytes % kind.size:
        kind = uint8
    return lying_in(memory, kind, (memory.nbytes // kind.size,))


def is_all(value: array) -> bool:
    """Return whether its elements, side by side, are all of its memory, and some."""
    return value.is_contiguous and value.nbytes == value.memory.nbytes > 0


def is_whole(value: array) -> bool:
    """Return whether an array is dense and covers all of a memory that was allocated on the CPU."""
    memory = value.memory
    return memory.plain and memory.nbytes == value.nbytes and value.is_contiguous


def copy_of(value: array) -> Memory:
    """Return a copy of the array's memory as it is now."""
    copied = allocate(value.device, value.memory.nbytes)
    everything = covering(value)
    everything.twin(copied).copy_(everything)
    return copied


def zeros_beside(values: Collection[array]) -> list[array]:
    """Zeros for each array, as large as its memory, and like the array where that is all of it."""
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
    scalar = element(value.dtype)
    return zeros(max(1, -(-value.memory.nbytes // scalar.size)), scalar, value.device)


def is_zero(companion: array) -> bool:
    """Return whether it is 0 and no tape differentiates what it came from; a device is not waited for to find out."""
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
"""Bytes that are counted quicker than a view of them is made."""


def refuse_apart(memories: Iterable[Memory], involved: Collection[Memory]) -> None:
    """Refuse arrays that were made one by one of the same bytes: each would have companions of its own.

    Args:
        memories: in which arrays with companions lie.
        involved: those among them that are written, or whose gradients are requested.

    Raises:
        NotDifferentiable: bytes of an involved memory are those of another one, too.
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
    """Represents companions, one for each memory, of zeros until they are written."""

    def __init__(self) -> None:
        self.memories: dict[Memory, Memory] = {}

    def __contains__(self, value: array) -> bool:
        return value.memory in self.memories

    def of(self, value: array) -> array:
        """Return the companion of the array; create it if there is none."""
        companion = self.memories.get(value.memory)
        if companion is None:
            companion = self.memories[value.memory] = allocate(value.device, value.memory.nbytes)
            covering(value).twin(companion).fill_(0)
        return value.twin(companion)
