"""Fills, copies and sums of arrays, carried out at once; `array` notifies the observers first and counts the change.

On a device, dense ones are the driver's own; strided ones and sums are small kernels.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from workbench.backends.cpu.native.copies import WORDS, add_name, copy_name
from workbench.backends.cuda.copies import FAR
from workbench.backends.layout import multiplier
from workbench.errors import LaunchError, its_type
from workbench.runtime.active_observers import timed
from workbench.runtime.arrays.host_convert import item, repeats, summed
from workbench.runtime.arrays.shapes import BEYOND_INT32, Strided, meet
from workbench.runtime.device.device import driver_of, let_wait
from workbench.runtime.device.device_code import own_kernel
from workbench.runtime.device.driver import Driver
from workbench.runtime.device.driver_calls import LoadedKernel
from workbench.runtime.device.queues import Queue
from workbench.runtime.native.launcher import install_launcher
from workbench.structs import Struct
from workbench.types import Complex, element

BLOCK = 256


def is_zero(value: Any) -> bool:
    """Return whether a fill value is a Python number 0, whose bytes are all zero; -0.0 is not."""
    return type(value) in (int, float) and value == 0 and math.copysign(1, value) > 0


@timed
def fill(target: Strided, value: Any) -> None:
    """Set every element (every component) of an array to a value; on a device this is queued."""
    if not target.device.is_cuda:
        if is_zero(value) and target.is_contiguous:
            ctypes.memset(target.address, 0, target.nbytes)
        else:
            target.host()[...] = value
        return
    if not repeats(target.dtype, value):
        copy(target, everywhere(target, value))
        return
    driver, index = driver_of(target.device), target.device.index
    bits = np.full(1, value, element(target.dtype).numpy)
    if target.is_contiguous and bits.itemsize in (1, 2, 4):
        pattern = int.from_bytes(bits.tobytes(), "little")
        driver.fill(target.address, pattern, target.nbytes // bits.itemsize, index, bits.itemsize)
    else:
        _run(driver, move_of("fill", target, None, value))


@timed
def clear(target: Strided) -> None:
    """Set a CPU array to 0 of which all but `memory.besides` is 0 already."""
    for part in target.memory.besides:
        part[...] = 0


@timed
def copy(target: Strided, source: Strided) -> None:
    """Copy the elements of an array to another one of its shape and dtype, across devices too.

    Within a device, between devices, and to and from page-locked memory the copy is queued.
    """
    device = target.device if target.device.is_cuda else source.device
    dense = target.is_contiguous and source.is_contiguous
    if device.is_cuda or not dense:
        source = _unwritten(target, source)
    if not device.is_cuda and dense:
        ctypes.memmove(target.address, source.address, target.nbytes)
    elif not device.is_cuda:
        target.host()[...] = source.host()
    elif dense and target.memory.seen_by == source.memory.seen_by != "":
        driver = driver_of(device)
        apart = target.device.is_cuda and source.device.is_cuda and target.device != source.device
        if apart:
            let_wait(driver, (device.index, None), (source.device.index, None))
        driver.copy(target.address, source.address, target.nbytes, device.index)
        if apart:
            let_wait(driver, (source.device.index, None), (device.index, None))
    elif not target.device.is_cuda:
        target.host()[...] = source.host()
    elif target.device == source.device:
        _run(driver_of(target.device), move_of("copy", target, source, 0))
    else:
        _from_elsewhere(target, source)


def _unwritten(target: Strided, source: Strided) -> Strided:
    """Return the source, or a copy where writing the target may change what is still to be read.

    A device's threads have no order, and NumPy has the wrong one for two views of one dimension and different strides.
    """
    if not meet(target, source):
        return source
    between = source.fresh_like()
    copy(between, source)
    return between


def must_match(target: Strided, source: Strided, what: str) -> None:
    """Check that two arrays have the same shape and dtype.

    Raises:
        LaunchError: they differ, or `source` is no Workbench array; `what` names the operation.
    """
    if not hasattr(source, "memory"):
        raise LaunchError(
            f"{what} needs a Workbench array; this is {its_type(source)}.",
            advice="wb.array(x) makes one of NumPy's, or of a list.",
        )
    same_dtype = target.dtype is source.dtype or target.dtype == source.dtype  # comparing takes longer
    if target.shape != source.shape or not same_dtype:
        raise LaunchError(
            f"{what} needs arrays of one shape and dtype; the target is {target.type!r} of shape {target.shape}, "
            f"the source {source.type!r} of shape {source.shape}."
        )


def everywhere(target: Strided, value: Any) -> Any:
    """Return a view of the target's shape in which every element is the same one, of this value: its strides are 0.

    To fill the target with a vector or a struct, this view is copied to it.
    """
    single = np.empty((1, *target.dtype.shape), item(target.dtype))
    single[...] = value
    make: Any = target.__class__
    one = make(single, target.dtype, device=target.device)
    return one.window(target.shape, (0,) * target.ndim, one.address)


def _from_elsewhere(target: Strided, source: Strided) -> None:
    """Copy to a GPU, from the CPU or another GPU, where one copy by the driver is not enough.

    That is so if the arrays are not dense, or the driver does not see the source's memory.
    """
    into = target if target.is_contiguous else target.fresh_like()
    if source.device.is_cuda and source.device.kind == target.device.kind:
        copy(into, source.contiguous())
    else:
        driver_of(target.device).copy_to_device(into.address, np.ascontiguousarray(source.host()), target.device.index)
    if into is not target:
        copy(target, into)


@timed
def add(target: Strided, source: Strided) -> None:
    """Add the elements of `source` to those of `target`, on whichever devices they are."""
    if not target.device.is_cuda:
        held = ctypes.c_int64()
        native = install_launcher().functions
        try:
            native.hold(target.memory.lock_bit, ctypes.addressof(held))  # inside: an interrupt can come right after it
            host, other = target.host(), source.host()
            if isinstance(target.dtype, Struct):
                host[...] = summed(host, other, target.dtype)
            else:
                np.add(host, other, out=host)  # without memory for the sum, which takes longer than adding
        finally:
            native.drop(held.value)
    elif source.device != target.device or _sum_entry(target) is None:
        held = target.fresh_like()
        total = np.ascontiguousarray(summed(target.host(), source.host(), target.dtype))
        driver_of(target.device).copy_to_device(held.address, total, target.device.index)
        copy(target, held)
    else:
        apart = _unwritten(target, source)  # held until the kernel is queued
        _run(driver_of(target.device), move_of("add", target, apart, 0))


class Move(msgspec.Struct, frozen=True):
    """A copy, sum or fill as a native entry and its parameters (`backends/cpu/native/copies.py`).

    Attributes:
        entry: the symbol of the native function or CUDA kernel.
        words: the parameters; a fill has no source.
        total: how many elements.
        pattern: the scalar that a fill repeats; None for copies and sums.
        index: the number of the CUDA device; 0 on the CPU.
    """

    entry: str
    words: tuple[int, ...]
    total: int
    pattern: np.ndarray[Any, Any] | None
    index: int

    @property
    def threads(self) -> int:
        """Threads of a CUDA launch: one per scalar if all arrays are dense, else one per element."""
        return self.total * (self.words[2] if self.words[3] else 1)

    def parameters(self) -> tuple[Any, Any, Any]:
        """Return the parameters of the CUDA kernel, as ctypes values."""
        bits = int.from_bytes(self.pattern.tobytes(), "little") if self.pattern is not None else 0
        words = list(self.words)
        if not self.entry.endswith(FAR):
            words[4:8] = (n | multiplier(n) << 32 for n in words[4:8])
        return (
            (ctypes.c_uint64 * WORDS)(*(word % (1 << 64) for word in words)),
            ctypes.c_int64(self.threads),
            ctypes.c_uint64(bits),
        )

    def repeated(self) -> bytes | None:
        """Return the 1, 2 or 4 bytes that a fill repeats, as the driver takes them.

        They are empty for a copy or sum; None if the pattern is longer and its halves differ.
        """
        bits = b"" if self.pattern is None else self.pattern.tobytes()
        bits = bits[:4] if bits[:4] == bits[4:] else bits
        return bits if len(bits) in (0, 1, 2, 4) else None

    def kernel(self, driver: Driver) -> LoadedKernel:
        """Return the CUDA kernel that carries it out, loaded on its device."""
        return own_kernel(driver, self.index, self.entry)

    @property
    def blocks(self) -> int:
        """Blocks of a CUDA launch."""
        return -(-self.threads // BLOCK)


def move_of(kind: str, target: Strided, source: Strided | None, value: Any) -> Move:
    """Return a copy, sum or fill on one device as a native entry with its parameters.

    Args:
        kind: "copy", "add" or "fill".
        target: the array that is written.
        source: the array that is read; None for a fill.
        value: what a fill sets; for structs and complex numbers it is taken to be 0.

    Raises:
        LaunchError: a sum of a type that has none.
    """
    size, pattern = math.gcd(target.dtype.size, 8), None
    entry: str | None = copy_name(size)
    if source is None:
        # A struct and a complex number are filled with 0 alone.
        has_parts = isinstance(target.dtype, (Struct, Complex))
        pattern = np.zeros(1, np.uint8) if has_parts else np.full(1, value, item(target.dtype))
        size = pattern.itemsize
        entry = copy_name(size)
    elif kind == "add":
        entry = _sum_entry(target)
        size = element(target.dtype).size
    if entry is None:
        raise LaunchError(f"A sum of arrays of {target.dtype!r} cannot be in a graph yet.", advice="Use float32.")
    dense = target.is_contiguous and (source is None or source.is_contiguous)
    words = _words(target, source, target.dtype.size // size, dense)
    move = Move(entry, words, target.size, pattern, target.device.index)
    # A CPU's entries have one form.
    return replace(move, entry=entry + FAR) if target.device.is_cuda and move.threads >= BEYOND_INT32 else move


def _sum_entry(target: Strided) -> str | None:
    """Return the name of the native entry that adds arrays of this element type; None if there is none."""
    return None if isinstance(target.dtype, Struct) else add_name(element(target.dtype).name)


def _words(target: Strided, source: Strided | None, count: int, dense: bool) -> tuple[int, ...]:
    """Return a move's table as its native entry reads it: addresses, sizes, strides and flags as 64-bit integers.

    Args:
        target: the array that is written.
        source: the array that is read; None for a fill.
        count: scalars of an element.
        dense: whether both arrays are.
    """
    front = (0,) * (4 - target.ndim)
    sizes = (*(1 for _ in front), *target.shape)
    other: Sequence[int] = (*front, *source.strides) if source is not None else (0,) * 4
    head = (target.address, source.address if source is not None else 0, count, int(dense))
    return (*head, *sizes, *front, *target.strides, *other, int(source is not None))


def _run(driver: Driver, move: Move) -> None:
    """Queue a move on its CUDA device; nothing for one without elements."""
    if move.total:
        queue = _queue(driver, move.index, move.entry)
        params = b"".join(bytes(value) for value in move.parameters())
        kernel = own_kernel(driver, move.index, move.entry)
        driver.launch(queue, params, driver.shape(kernel, (move.blocks, 1, 1), (BLOCK, 1, 1)))


@functools.cache
def _queue(driver: Driver, index: int, entry: str) -> Queue:
    """Return the queue that launches one of our own kernels on a device, remembered."""
    return driver.queue(own_kernel(driver, index, entry), (0, 8 * WORDS, 8 * WORDS + 8))
