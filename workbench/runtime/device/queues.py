"""The state that launches of a kernel or a graph share, so that each is one native call.

The native part is `backends/cpu/native/queue.c`.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from workbench.runtime.native.launcher import install_launcher

shape_bytes = struct.Struct("=7I").pack
"""Packs blocks along x, y, z, threads of a block along x, y, z, and bytes of dynamic shared memory."""


class DeviceRow(ctypes.Structure):
    """The words by which native launches make a device current: addresses of two driver functions, and its context."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in ("cuCtxGetCurrent", "cuCtxSetCurrent", "context"))


class Queue(msgspec.Struct, frozen=True, eq=False):
    """A function that queues launches of one graph, or of one kernel with packed parameters, and the data it needs.

    Attributes:
        name: the driver's function that launches.
        index: the number of the device.
        stream: the handle of the device's default stream.
        put: takes packed parameters, what `shape_bytes` makes, a stream's handle, and the address of a fault record for
            the kernel's last parameter or 0; returns the driver's status.
        row: what `put` reads, kept alive.
    """

    name: str
    index: int
    stream: int
    put: Callable[[bytes, bytes, int, int], int]
    row: Any


def queue_of(
    name: str, index: int, executable: int, offsets: Sequence[int] | None, device: DeviceRow, stream: int,
    launch: int | Callable[..., int],
) -> Queue:  # fmt: skip
    """Return the queue of a kernel whose parameters lie at these offsets of the packed ones, or of a graph.

    Args:
        name: the driver's function that launches.
        index: the number of the device.
        executable: the handle of the kernel or of the instantiated graph.
        offsets: of the parameters; None of a graph.
        device: the words by which its device is made current.
        stream: the handle of the device's default stream.
        launch: the address of the driver's function, or of a driver that is written in Python a function that takes the
            address of the shape, the stream's handle and the address of the parameters' addresses.
    """
    native, instead = (launch, 0) if isinstance(launch, int) else (0, id(launch))
    count = -1 if offsets is None else len(offsets)
    words = ctypes.addressof(device), native, instead, executable, count, *(offsets or ())
    row = (ctypes.c_uint64 * len(words))(*words)
    put = install_launcher().functions.queue(ctypes.addressof(row))
    return Queue(name, index, stream, put, (row, device, launch))
