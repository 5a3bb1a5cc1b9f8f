"""One allocation on a device, with a version that counts its changes.

Views share their allocation, so a change through one view is a change for all; the tape and the recorder compare
versions to notice that an array is no longer what it was.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from workbench.backends.cpu.native.memory_locks import ANY, bit_of
from workbench.runtime.active_observers import notify
from workbench.runtime.device.device import Device, driver_of, pinning_driver
from workbench.runtime.device.driver_handles import Buffer


class Memory:
    """Bytes on a device.

    Attributes:
        device: where they are.
        address: of the first byte.
        nbytes: how many.
        owner: what keeps the bytes alive.
        plain: whether the owner is a flat NumPy array of just these bytes.
        version: goes up with every change made through Workbench.
        grad: the gradient array of the array that was made with `requires_grad=True` here; None without one.
        half_added: of gradients, the version that a backward pass left which was stopped in the middle; -1 without one.
        adjoint_apart: whether a tape keeps the adjoint of these bytes to itself: no array here had requires_grad=True.
        as_integers: whether there was a view of its floats as integers.
        turn: on the CPU its bit in the masks by which launches take turns (`backends/cpu/native/memory_locks.py`).
    """

    __slots__ = (
        "address",
        "adjoint_apart",
        "as_integers",
        "device",
        "grad",
        "half_added",
        "nbytes",
        "owner",
        "plain",
        "turn",
        "version",
    )

    def __init__(self, device: Device, address: int, nbytes: int, owner: Any, turn: int = ANY) -> None:
        self.device = device
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        self.plain = False
        self.version = 0
        self.grad: Any = None
        self.half_added = -1
        self.adjoint_apart = False
        self.as_integers = False
        self.turn = turn

    @property
    def is_pinned(self) -> bool:
        """Whether it is page-locked memory of the CPU."""
        return isinstance(self.owner, Buffer) and not self.device.is_cuda

    @property
    def seen_by(self) -> str:
        """The kind of the devices whose driver copies from and to it without the CPU; empty if there are none."""
        if self.device.is_cuda:
            return self.device.kind
        return self.owner.kind if isinstance(self.owner, Buffer) else ""

    def shares(self, other: Memory) -> bool:
        """Whether some byte that NumPy arrays see is in both; of other memory whose spans meet, it is assumed."""
        if not (isinstance(self.owner, np.ndarray) and isinstance(other.owner, np.ndarray)):
            return True
        return np.shares_memory(self.owner, other.owner)


def allocate(device: Device, nbytes: int, pinned: bool = False, zeroed: bool = False) -> Memory:
    """Fresh memory, aligned to 64 bytes on the CPU; contents undefined, or on the CPU `zeroed`.

    Args:
        device: where.
        nbytes: how much.
        pinned: on the CPU, page-locked where there is a CUDA device, or an emulated one in use: copies to and from
            it then need no waiting.
        zeroed: on the CPU, memory of zeros, which the system gives without writing to it.

    Raises:
        DeviceError: the device has not that much left.
    """
    pinning = pinning_driver() if pinned and not device.is_cuda else None
    if pinning is not None:
        locked = pinning.pinned(0, nbytes)
        made = Memory(device, locked.handle, nbytes, locked)
    elif device.is_cuda:
        buffer = driver_of(device).alloc(device.index, max(nbytes, 1))
        made = Memory(device, buffer.handle, nbytes, buffer)
    else:
        raw: Any = (np.zeros if zeroed else np.empty)(nbytes + 64, np.uint8)
        start = ctypes.addressof(ctypes.c_char.from_buffer(raw))  # `__array_interface__` takes four times as long
        shift = -start % 64
        made = Memory(device, start + shift, nbytes, raw[shift : shift + nbytes], bit_of(start))
        made.plain = True
    notify("allocating", made, zeroed)
    return made


def of_numpy(data: np.ndarray[Any, Any], device: Device) -> Memory:
    """The memory that a NumPy array's elements lie in, kept alive by it."""
    address = data.__array_interface__["data"][0]
    reach = [(n - 1) * s for n, s in zip(data.shape, data.strides, strict=True)] if data.size else []
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    root: Any = data
    while isinstance(root.base, np.ndarray):
        root = root.base
    turn = bit_of(root.__array_interface__["data"][0]) if root.base is None else ANY
    made = Memory(device, address + low, high - low + data.itemsize if data.size else 0, data, turn)
    notify("allocating", made, True)
    return made
