"""Detection of unreported writes: through NumPy's views of an array, or through memory shared with another library.

A derivative depends on bytes that must not change. If others can write to a memory, each version of it that a
derivative depends on gets a digest, which is compared later. Memory that is not shared costs one comparison.
"""

from __future__ import annotations

import weakref
from pickle import PickleBuffer
from typing import Any

import numpy as np

from workbench.backends.cpu.native.digest import digest_of
from workbench.cache.native import native_image
from workbench.host.narrow import is_numpy_array
from workbench.runtime.device.memory import UNWRITTEN, Memory


class _Bytes:
    """All bytes of a memory on the CPU, as NumPy's array interface shows them."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.__array_interface__ = {
            "version": 3,
            "shape": (memory.nbytes,),
            "typestr": "|u1",
            "data": (memory.address, False),
        }


def flat(memory: Memory) -> np.ndarray[Any, Any]:
    """Return the bytes of a memory on the CPU as a NumPy array, which keeps it alive."""
    return np.asarray(_Bytes(memory))


def exported(memory: Memory) -> Any:
    """Return a CPU memory as a buffer for NumPy views that users may write to; views share it while one is alive."""
    if memory.version == UNWRITTEN:
        memory.version = 0  # from here on it may be written to
    buffer = memory.exported() if memory.exported is not None else None
    if buffer is None:
        # No NumPy array that lies in another one: views of views would refer to that, and not keep this alive.
        buffer = PickleBuffer(memory.owner) if memory.plain else flat(memory)
        memory.exported = weakref.ref(buffer)
    if memory.needed == memory.version:
        _seal(memory)
    return buffer


def depend_on(memory: Memory) -> int:
    """Note that a derivative depends on what the memory holds now, and return its version."""
    memory.needed = memory.version
    if memory.shared or (memory.exported is not None and memory.exported() is not None):
        _seal(memory)
    return memory.version


def notice(memory: Memory) -> int:
    """Count a write that nobody reported, if the memory differs from the digest of its version; return the version."""
    if memory.sealed is not None and memory.sealed[0] == memory.version and memory.sealed[1] != _digest(memory):
        memory.version += 1
    return memory.version


def _seal(memory: Memory) -> None:
    """Note the digest of what a memory holds with its version, unless that was done for this version."""
    if memory.sealed is None or memory.sealed[0] != memory.version:
        memory.sealed = memory.version, _digest(memory)


def _digest(memory: Memory) -> int:
    """Return a digest of a CPU memory's bytes; gaps of a strided NumPy owner do not count."""
    owner = memory.owner
    if is_numpy_array(owner) and not owner.flags.c_contiguous:  # what lies in its gaps is not of this memory
        dense = np.ascontiguousarray(owner)
        return digest_of(native_image)(dense.ctypes.data, dense.nbytes)
    return digest_of(native_image)(memory.address, memory.nbytes)
