"""DLPack's structures and capsules, read and made with ctypes. Source: dlpack.h 1.0, "DLPack Python specification"."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

from workbench.runtime.arrays.shapes import dense

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
READ_ONLY = 1
CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
"""Type codes that arrays have; 3 (handles) they have not."""
_NAME, _VERSIONED, _USED = b"dltensor", b"dltensor_versioned", b"used_"


class DataType(ctypes.Structure):
    """DLDataType."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("dtype", DataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

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
    """Return whether a value is a capsule of Python's, as `__dlpack__` returns."""
    return type(value).__name__ == "PyCapsule"


class Taken:
    """A tensor taken out of a capsule: its facts; the memory is given back when this is dropped."""

    def __init__(self, capsule: Any) -> None:
        """Takes it over.

        Raises:
            ValueError: the capsule holds no tensor, or one that was taken before.
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
        deleter: Any = getattr(self, "_deleter", None)
        if deleter:
            _Deleter(deleter)(self._address)
            self._deleter = None


_given: dict[int, tuple[Any, ...]] = {}
"""Tensors handed out and not yet given back, by address, with what keeps them alive."""


def _give_back(address: int) -> None:
    _given.pop(address, None)


_give_back_native = _Deleter(_give_back)


_raw_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_raw_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


def _dropped(capsule: int) -> None:
    """Return the tensor of a capsule that ends without having been taken (it is no Python object any more)."""
    with suppress(Exception):
        if _raw_is_valid(capsule, _NAME):
            _give_back(_raw_pointer(capsule, _NAME))


_dropped_native = _Deleter(_dropped)


def capsule(
    address: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: tuple[int, int],
    device: tuple[int, int],
    owner: Any,
) -> Any:
    """Return a capsule (unversioned) of this memory, which keeps `owner` alive until the consumer is done.

    Args:
        address: of the first element.
        shape: sizes.
        strides: in elements.
        dtype: DLPack's type code and bits.
        device: DLPack's device type and number.
        owner: anything.
    """
    sizes, steps = ((ctypes.c_int64 * len(shape))(*values) for values in (shape, strides))
    pointer = ctypes.POINTER(ctypes.c_int64)
    tensor = Tensor(
        address, *device, len(shape), DataType(*dtype, 1), ctypes.cast(sizes, pointer), ctypes.cast(steps, pointer), 0
    )
    managed = Managed(tensor, None, ctypes.cast(_give_back_native, ctypes.c_void_p))
    location = ctypes.addressof(managed)
    _given[location] = managed, sizes, steps, owner
    return _new(location, _NAME, ctypes.cast(_dropped_native, ctypes.c_void_p))
