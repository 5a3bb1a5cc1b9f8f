"""Arrays as other libraries see them: NumPy, DLPack, the CUDA array interface.

DLPack's structures and capsules are read and made with ctypes. Source: dlpack.h 1.0, "DLPack Python specification".
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

import numpy as np

from workbench.runtime.arrays.host_convert import item
from workbench.runtime.arrays.shapes import Strided, dense
from workbench.runtime.arrays.unseen_writes import exported, flat
from workbench.runtime.device.device import driver_of
from workbench.structs import Struct
from workbench.types import Complex, bfloat16, element, number_type

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
READ_ONLY = 1
CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
"""DLPack's type codes that arrays can have, with the kinds' names; 3 (opaque handles) is none of them."""
_BY_NAME = {name: code for code, name in CODES.items()}
_NAME, _VERSIONED, _USED = b"dltensor", b"dltensor_versioned", b"used_"


class DataType(ctypes.Structure):
    """DLPack's struct DLDataType."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class Tensor(ctypes.Structure):
    """DLPack's struct DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("dtype", DataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """DLPack's struct DLManagedTensor."""

    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Versioned(ctypes.Structure):
    """DLPack's struct DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


_api = ctypes.pythonapi
# Prototypes of our own: types set on the shared functions would be anybody's (jaxlib sets them too).
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _api))
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", _api))
_names = {name: ctypes.c_char_p(_USED + name) for name in (_NAME, _VERSIONED)}  # a capsule keeps only the pointer


def is_capsule(value: Any) -> bool:
    """Return whether a value is a Python capsule, such as `__dlpack__` returns."""
    return type(value).__name__ == "PyCapsule"


class Taken:
    """A DLPack tensor taken out of a capsule; its producer gets the memory back when this object is dropped.

    Attributes:
        read_only: whether its memory must not be written.
        device: DLPack's device type and number.
        address: of the first element.
        shape: sizes.
        strides: in bytes.
        code, bits, lanes: the element type: DLPack's type code, bits of a number, numbers in an element.
    """

    def __init__(self, capsule: Any) -> None:
        """Take the tensor out of a capsule, which is marked as used.

        Raises:
            ValueError: the capsule holds no tensor, one that was taken before, or one of another version than 1.
        """
        name = next((n for n in (_VERSIONED, _NAME) if _is_valid(capsule, n)), None)
        if name is None:
            raise ValueError("the capsule holds no DLPack tensor, or it was taken before")
        self._address = _pointer(capsule, name)
        managed = (Versioned if name == _VERSIONED else Managed).from_address(self._address)
        if isinstance(managed, Versioned) and managed.major != 1:
            raise ValueError(f"the tensor is of DLPack version {managed.major}; this reads version 1")
        _rename(capsule, _names[name])
        self._deleter = managed.deleter
        described: Tensor = managed.tensor
        dims = range(described.ndim)
        self.read_only = isinstance(managed, Versioned) and bool(managed.flags & READ_ONLY)
        self.device = (described.device_type, described.device_id)
        self.address = (described.data or 0) + described.byte_offset
        self.shape = tuple(described.shape[k] for k in dims)
        self.code, self.bits, self.lanes = described.dtype.code, described.dtype.bits, described.dtype.lanes
        if described.strides:
            self.strides = tuple(described.strides[k] * (self.bits // 8) for k in dims)
        else:
            self.strides = dense(self.shape, self.bits // 8)

    def __del__(self) -> None:
        """Return the memory to its producer, by calling its deleter once."""
        deleter: Any = getattr(self, "_deleter", None)
        if deleter:
            _Deleter(deleter)(self._address)
            self._deleter = None


_exported: dict[int, tuple[Any, ...]] = {}
"""Tensors that consumers hold and have not released, by address, with what keeps their memory alive."""


def _give_back(address: int) -> None:
    """Release the tensor at an address, and with it the memory that was shared; nothing if it is unknown."""
    _exported.pop(address, None)


_give_back_native = _Deleter(_give_back)


_raw_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_raw_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


def _dropped(capsule: int) -> None:
    """Release the tensor of a capsule that is destroyed (no Python object any more) before anyone took the tensor."""
    with suppress(Exception):
        for name in (_NAME, _VERSIONED):
            if _raw_is_valid(capsule, name):
                _give_back(_raw_pointer(capsule, name))


_dropped_native = _Deleter(_dropped)


def capsule(
    address: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: tuple[int, int],
    device: tuple[int, int],
    owner: Any,
    read_only: bool = False,
) -> Any:
    """Return a capsule of this memory, which keeps `owner` alive until the consumer is done.

    Args:
        address: of the first element.
        shape: sizes.
        strides: in elements.
        dtype: DLPack's type code and bits.
        device: DLPack's device type and number.
        owner: anything.
        read_only: whether the memory must not be written. Only a versioned capsule can say so (DLPack 1.0); others
            are unversioned, which every consumer takes.
    """
    sizes, steps = ((ctypes.c_int64 * len(shape))(*values) for values in (shape, strides))
    pointer = ctypes.POINTER(ctypes.c_int64)
    tensor = Tensor(
        address, *device, len(shape), DataType(*dtype, 1), ctypes.cast(sizes, pointer), ctypes.cast(steps, pointer), 0
    )
    release = ctypes.cast(_give_back_native, ctypes.c_void_p)
    managed = Versioned(1, 0, None, release, READ_ONLY, tensor) if read_only else Managed(tensor, None, release)
    location = ctypes.addressof(managed)
    _exported[location] = managed, sizes, steps, owner
    return _new(location, _VERSIONED if read_only else _NAME, ctypes.cast(_dropped_native, ctypes.c_void_p))


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


def dlpack_device(source: Strided) -> tuple[int, int]:
    """Return DLPack's type and number of an array's device; an emulated device counts as the CPU."""
    return (CUDA, source.device.index) if source.device.kind == "cuda" else (CPU, 0)


def to_dlpack(source: Strided, stream: int | None, options: dict[str, Any]) -> Any:
    """Return a capsule of the array's memory.

    On a GPU, what the consumer's stream does from now on comes after what ours has queued.

    Raises:
        BufferError: the array is of structs, or on an emulated device; it would have to be copied; or it is read-only
            and the consumer takes no capsule that says so (`max_version` below 1.0).
    """
    if source.device.is_emulated:
        raise BufferError(
            f"arrays on {source.device} have memory that others do not see; they can have a copy: x.to('cpu')"
        )
    if isinstance(source.dtype, Struct):
        raise BufferError(f"DLPack has no type for {source.dtype!r}; give a field: a.field(name)")
    scalar, component_type = element(source.dtype), number_type(source.dtype)
    if not source.device.is_cuda and scalar != bfloat16:
        return source.numpy().__dlpack__(**options)
    if options.get("dl_device") not in (None, dlpack_device(source)) or options.get("copy"):
        raise BufferError("an array is exported as it is, where it is; copy it with to() or clone() before")
    read_only = source.memory.read_only
    if read_only and (options.get("max_version") or (0, 0)) < (1, 0):
        raise BufferError("this array is read-only, which DLPack before 1.0 cannot say; give a copy: x.clone()")
    if source.device.is_cuda:
        _hand_over(source, stream)
    inner = source.dtype.shape
    strides, size = (*source.strides, *dense(inner, component_type.size)), component_type.size
    kind = "complex" if isinstance(component_type, Complex) else "bfloat" if scalar == bfloat16 else scalar.kind.value
    return capsule(
        source.address,
        (*source.shape, *inner),
        tuple(s // size for s in strides),
        (_BY_NAME[kind], 8 * size),
        dlpack_device(source),
        (source.memory, None if source.device.is_cuda else exported(source.memory)),
        read_only,
    )


def _hand_over(source: Strided, stream: int | None) -> None:
    """Make the consumer's stream wait for what ours has queued.

    `stream` is the consumer's, in DLPack's numbers: None is the legacy default stream, -1 asks for no waiting.
    """
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
    """Return the array's description by version 3 of the CUDA array interface.

    Raises:
        AttributeError: the array is not on a GPU, or of a type the interface has no name for.
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
        "data": (source.address if source.size else 0, source.memory.read_only),
        "stream": int(driver.stream_handle(source.device.index)) or 1,
    }
