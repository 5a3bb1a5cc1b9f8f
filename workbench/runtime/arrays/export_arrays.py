"""Arrays as other libraries see them: NumPy, DLPack, the CUDA array interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.runtime.arrays import dlpack
from workbench.runtime.arrays.host_convert import item
from workbench.runtime.arrays.shapes import Strided, dense
from workbench.runtime.arrays.unseen_writes import exported, flat
from workbench.runtime.device.device import driver_of
from workbench.structs import Struct
from workbench.types import Complex, Kind, bfloat16, element, number_type


def host_view(source: Strided, buffer: Any = None) -> np.ndarray[Any, Any]:
    """Return a CPU array's elements as a NumPy array of the same memory, which it keeps alive.

    Vectors take the last axis, structs are records.

    Args:
        source: the array.
        buffer: all of its memory (`unseen_writes.exported`), for a view that others get; None: for the library's own.
    """
    inner, memory = source.dtype.shape, source.memory
    strides = (*source.strides, *dense(inner, number_type(source.dtype).size)) if inner else source.strides
    if 0 in source.shape:  # NumPy refuses the strides of a field of no structs
        return np.empty((*source.shape, *inner), item(source.dtype))
    lies_in = buffer if buffer is not None else memory.owner if memory.plain else flat(memory)
    return np.ndarray((*source.shape, *inner), item(source.dtype), lies_in, source.address - memory.address, strides)


_CODES = {Kind.INT: 0, Kind.UINT: 1, Kind.FLOAT: 2, Kind.BOOL: 6}


def dlpack_device(source: Strided) -> tuple[int, int]:
    """DLPack's type and number of the array's device; an emulated one is the CPU to others."""
    return (dlpack.CUDA, source.device.index) if source.device.kind == "cuda" else (dlpack.CPU, 0)


def to_dlpack(source: Strided, stream: int | None, options: dict[str, Any]) -> Any:
    """Return a capsule of the array's memory; on a device, ordered before what the consumer's stream does from now on.

    Raises:
        BufferError: an array of structs, or on an emulated device; or a copy on another device is requested.
    """
    if source.device.is_emulated:
        raise BufferError(
            f"arrays on {source.device} have memory that others do not see; they can have a copy: x.to('cpu')"
        )
    if isinstance(source.dtype, Struct):
        raise BufferError(f"DLPack has no type for {source.dtype!r}; give a field: a.field(name)")
    scalar, number = element(source.dtype), number_type(source.dtype)
    if not source.device.is_cuda and scalar != bfloat16:
        return source.numpy().__dlpack__(**options)
    if options.get("dl_device") not in (None, dlpack_device(source)) or options.get("copy"):
        raise BufferError("an array is exported as it is, where it is; copy it with to() or clone() before")
    if source.device.is_cuda:
        _hand_over(source, stream)
    inner = source.dtype.shape
    strides, size = (*source.strides, *dense(inner, number.size)), number.size
    code = 5 if isinstance(number, Complex) else 4 if scalar == bfloat16 else _CODES[scalar.kind]
    return dlpack.capsule(
        source.address,
        (*source.shape, *inner),
        tuple(s // size for s in strides),
        (code, 8 * size),
        dlpack_device(source),
        (source.memory, None if source.device.is_cuda else exported(source.memory)),
    )


def _hand_over(source: Strided, stream: int | None) -> None:
    """Let the consumer's stream wait for ours; -1: it takes care itself."""
    if stream == -1:
        return
    driver = driver_of(source.device)
    index = source.device.index
    own = driver.stream_handle(index)
    theirs = stream or 1
    if theirs != (int(own) or 1):
        event = driver.call("cuEventCreate", 2)  # without timing
        driver.call("cuEventRecord", event, own)
        driver.call("cuStreamWaitEvent", driver.api.CUstream(theirs), event, 0)
        driver.call("cuEventDestroy", event)


def cuda_array_interface(source: Strided) -> dict[str, Any]:
    """Version 3 of the CUDA array interface.

    Raises:
        AttributeError: the array is on the CPU, or of a type the interface has no name for.
    """
    if source.device.kind != "cuda":
        where = "the CPU" if not source.device.is_cuda else str(source.device)
        raise AttributeError(f"an array on {where} has no __cuda_array_interface__")
    driver = driver_of(source.device)
    if isinstance(source.dtype, Struct) or element(source.dtype) == bfloat16:
        raise AttributeError(f"the CUDA array interface has no name for {source.dtype!r}")
    inner, size = source.dtype.shape, number_type(source.dtype).size
    strides = None if source.is_contiguous else (*source.strides, *dense(inner, size))
    return {
        "version": 3,
        "shape": (*source.shape, *inner),
        "typestr": source.dtype.numpy.str,
        "strides": strides,
        "data": (source.address if source.size else 0, False),
        "stream": int(driver.stream_handle(source.device.index)) or 1,
    }
