"""An allocation on a device, with a version that counts its changes.

Views share their allocation, so a change through one view is a change for all; the tape and the recorder compare
versions to notice that an array is no longer what it was.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.backends.cpu.native.dispatch import ANY, bit_of
from workbench.errors import LaunchError
from workbench.host.narrow import HostArray, is_numpy_array
from workbench.runtime.active_observers import notify
from workbench.runtime.device.device import CPU, Device, driver_of, pinning_driver
from workbench.runtime.device.driver_calls import Buffer

_SMALL = 4096
"""Bytes up to which several memories share one allocation, which then lives as long as one of them."""
UNWRITTEN = -1
"""The version of memory whose contents are undefined: its first write is no change."""


class Memory:
    """An allocation: bytes on a device, with a version.

    Attributes:
        device: where they are.
        address: of the first byte.
        nbytes: how many.
        owner: what keeps the bytes alive.
        plain: whether the owner is a flat NumPy array of just these bytes.
        version: goes up with every change made through Workbench; `UNWRITTEN` until the first write to fresh memory.
        grad: the gradient array of the array that was made with `requires_grad=True` here; None without one.
        partial_gradients: for a gradient, its version when a backward pass was stopped in the middle of adding to it;
            else None.
        adjoint_apart: whether a tape keeps the adjoint of these bytes to itself: no array here had requires_grad=True.
        as_integers: whether there was a view of its floats as integers.
        as_parts: whether there was a view of its complex numbers as floats, or of its floats as complex numbers.
        read_only: whether its owner counts on it never to change.
        shared: whether another library has the memory, too, and may write to it at any time.
        exported: a weak reference to the buffer that NumPy views for users have in common; None if there was none.
        needed: the version that a derivative depends on; None if there is none.
        sealed: a version and the digest of what the memory held then (`runtime/arrays/unseen_writes.py`).
        zero: the version in which it is known to be all zeros but for `besides`; None if there is none.
        besides: NumPy views of this memory: only these may hold something else in that version.
        lock_bit: the allocation's lock bit, by which CPU launches that change the same memory take turns
            (`backends/cpu/native/dispatch.py`).
    """

    __slots__ = (
        "address",
        "adjoint_apart",
        "as_integers",
        "as_parts",
        "besides",
        "device",
        "exported",
        "grad",
        "lock_bit",
        "nbytes",
        "needed",
        "owner",
        "partial_gradients",
        "plain",
        "read_only",
        "sealed",
        "shared",
        "version",
        "zero",
    )

    def __init__(self, device: Device, address: int, nbytes: int, owner: Any, lock_bit: int = ANY) -> None:
        self.device = device
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        self.plain = False
        self.version = 0
        self.grad: Any = None
        self.partial_gradients: int | None = None
        self.adjoint_apart = False
        self.as_integers = False
        self.as_parts = False
        self.read_only = False
        self.shared = False
        self.exported: weakref.ref[Any] | None = None
        self.needed: int | None = None
        self.sealed: tuple[int, int] | None = None
        self.zero: int | None = None
        self.besides: list[Any] = []
        self.lock_bit = lock_bit

    def must_be_writable(self, what: str) -> None:
        """Check that the memory may be written.

        Raises:
            LaunchError: it is read-only; `what` names the array that would be written to.
        """
        if self.read_only:
            raise LaunchError(
                f"{what} is read-only: its owner counts on it never to change.", advice="Write to a copy: wb.clone(x)."
            )

    @property
    def is_alone(self) -> bool:
        """Return whether no other Memory has these bytes: they were allocated here, by themselves."""
        return self.plain or isinstance(self.owner, Buffer)

    @property
    def is_zero(self) -> bool:
        """Return whether the memory is known to be all zeros."""
        return self.is_zero_besides and not self.besides

    @property
    def is_zero_besides(self) -> bool:
        """Return whether all bytes outside of the views `besides` are known to be zeros.

        It is False if others may have written to the memory unseen.
        """
        return self.zero == self.version and self.exported is None and not self.shared

    def cleared(self, besides: Sequence[Any] = ()) -> None:
        """Note that the memory is all zeros now, except in the NumPy views `besides`."""
        if self.exported is not None and self.exported() is None:
            self.exported = None  # the last view that others could write to is gone
        self.zero, self.besides = self.version, [*besides]

    @property
    def is_pinned(self) -> bool:
        """Return whether the memory is page-locked memory of the CPU."""
        return isinstance(self.owner, Buffer) and not self.device.is_cuda

    @property
    def seen_by(self) -> str:
        """The kind of devices whose driver copies from and to it directly: "cuda", "emulated", or "" for none."""
        if self.device.is_cuda:
            return self.device.kind
        return self.owner.kind if isinstance(self.owner, Buffer) else ""

    def has_bytes_of(self, other: Memory) -> bool:
        """Return whether two memories whose spans overlap have a byte in common.

        It is computed if both belong to NumPy arrays, which may have gaps, and assumed otherwise.
        """
        if not (is_numpy_array(self.owner) and is_numpy_array(other.owner)):
            return True
        return np.shares_memory(self.owner, other.owner)


def allocate(device: Device, nbytes: int, pinned: bool = False, zeroed: bool = False) -> Memory:
    """Allocate memory, aligned to 64 bytes on the CPU; its contents are undefined unless it is `zeroed`.

    Args:
        device: where.
        nbytes: how much.
        pinned: on the CPU, page-locked if there is a CUDA device, or an emulated one in use: copies to and from
            it then need no waiting.
        zeroed: on the CPU and not pinned: memory of zeros, which the system gives without writing to it.

    Raises:
        DeviceError: the device has not that much left.
    """
    pinning = pinning_driver() if pinned and not device.is_cuda else None
    if pinning is not None:
        pinning_owner, index = pinning
        locked = pinning_owner.pinned(index, nbytes)
        memory = Memory(device, locked.handle, nbytes, locked)
    elif device.is_cuda:
        buffer = driver_of(device).alloc(device.index, max(nbytes, 1))
        memory = Memory(device, buffer.handle, nbytes, buffer, bit_of(buffer.handle))
    else:
        start, shift, data = _aligned(nbytes, zeroed)
        memory = Memory(device, start + shift, nbytes, data, bit_of(start))
        memory.plain = True
    if zeroed and memory.plain:
        memory.zero = memory.version
    if not zeroed:
        memory.version = UNWRITTEN
    notify("allocating", memory, zeroed)
    return memory


def allocate_zeros(sizes: Sequence[int]) -> list[Memory]:
    """Allocate zeroed memories on the CPU, one of each size.

    Small ones share an allocation, of which no observer is notified.
    """
    start, shift, data = _aligned(sum([n + -n % 64 for n in sizes if n <= _SMALL]), True)
    memories: list[Memory] = []
    at = 0
    for n in sizes:
        if n > _SMALL:
            memories.append(allocate(CPU, n, zeroed=True))
            continue
        address = start + shift + at
        memory = Memory(CPU, address, n, data[at : at + n], bit_of(address))
        memory.plain, memory.zero = True, 0
        memories.append(memory)
        at += n + -n % 64
    return memories


def _aligned(nbytes: int, zeroed: bool) -> tuple[int, int, np.ndarray[Any, Any]]:
    """Allocate bytes that begin at a line of the CPU's cache, of 64 bytes.

    Return the address of the NumPy array around them, their offset in it, and the bytes themselves.
    """
    raw: Any = (np.zeros if zeroed else np.empty)(nbytes + 64, np.uint8)
    start = ctypes.addressof(ctypes.c_char.from_buffer(raw))  # `__array_interface__` takes four times as long
    shift = -start % 64
    return start, shift, raw[shift : shift + nbytes]


def copy_aligned(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a dense copy that begins at a line of the CPU's cache, so that a vector never lies in two lines.

    NumPy's own arrays begin 16 bytes behind a line.
    """
    copy = _aligned(data.nbytes, False)[2].view(data.dtype).reshape(data.shape)
    copy[...] = data
    return copy


def of_numpy(data: np.ndarray[Any, Any], device: Device, shared: bool = True) -> Memory:
    """Return the memory of a NumPy array's elements, which the array keeps alive; `shared`: others may write to it."""
    address = data.__array_interface__["data"][0]
    reach = [(n - 1) * s for n, s in zip(data.shape, data.strides, strict=True)] if data.size else []
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    root: HostArray = data
    while is_numpy_array(root.base):
        root = root.base
    lock_bit = bit_of(root.__array_interface__["data"][0]) if root.base is None else ANY
    memory = Memory(device, address + low, high - low + data.itemsize if data.size else 0, data, lock_bit)
    memory.shared = shared
    if not shared and data.flags.c_contiguous:
        memory.owner, memory.plain = data.reshape(-1).view(np.uint8), True
    notify("allocating", memory, True)
    return memory
