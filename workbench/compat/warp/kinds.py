"""Warp's types of numbers and their makers, and the attributes that programs read of Workbench's classes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np

import workbench as wb
from workbench import types
from workbench.compat.warp.absent import absent
from workbench.compat.warp.settings import MemoryKind, config
from workbench.host.vectors import HostVector
from workbench.types import ArrayType, Complex, Kind, Matrix, Quaternion, Scalar, Transform, Vector, any_vector, as_type


def vector(length: Any, dtype: Any = float) -> Any:
    """Return the type of vectors of `length` components; of 0 `tuple`, of more than the language has an `absent` class.

    Raises:
        TypeError: the dtype is not a scalar type.
    """
    if isinstance(length, int) and not 1 <= length <= types.MOST_COMPONENTS:
        return absent(f"vector({length})") if length else tuple
    return number_type(types.vector(length, dtype))


def matrix(shape: Any, dtype: Any = float) -> Any:
    """Return the type of matrices of a shape (rows, columns); for one that the language lacks, an `absent` class.

    For no rows and no columns it is `tuple`.

    Raises:
        TypeError: the dtype is not a scalar type.
    """
    sizes = [n for n in shape if isinstance(n, int)] if isinstance(shape, (tuple, list)) else []
    if len(sizes) == 2 and (min(sizes) < 1 or sizes[0] * sizes[1] > types.MOST_COMPONENTS):
        return absent(f"matrix({tuple(shape)})") if any(sizes) else tuple
    return number_type(types.matrix(shape, dtype))


def quaternion(dtype: Any = float) -> Any:
    """Return the type of quaternions with components of `dtype`; for an open one (`Any`), an annotation for all."""
    return any_vector(Quaternion, (4,), dtype) or number_type(Quaternion(4, types.element(as_type(dtype))))


def transformation(dtype: Any = float) -> Any:
    """Return the type of rigid motions with components of `dtype`; for an open one (`Any`), an annotation for all."""
    return any_vector(Transform, (7,), dtype) or number_type(Transform(7, types.element(as_type(dtype))))


PYTHON = ("float32", "int32", "bool")
"""Names of the types that Python's own numbers have in a kernel."""


@cache
def _number_class(kind: type[np.generic]) -> Any:
    """Return a subclass of NumPy's scalar class `kind`, with Warp's `value`."""
    return type(kind.__name__, (kind,), {"value": property(np.generic.item)})


class Number(Scalar):
    """Represents a type of numbers, equal to Workbench's; its values have Warp's `value`, and integers wrap around."""

    @property
    def plain(self) -> Scalar:
        """Workbench's own type that this one is equal to."""
        return types.SCALARS[self.name]

    def component(self, number: Any) -> Any:
        """Return a vector's component, given as a NumPy scalar, in the form that Warp gives it.

        That is a Python number if the type is float32, int32 or bool, or with `config.legacy_scalar_return_types`;
        otherwise a scalar of this type.
        """
        return number.item() if self.name in PYTHON or config.legacy_scalar_return_types else self(number)

    def __call__(self, value: Any = 0) -> Any:
        """Return a NumPy scalar of this type; an integer that does not fit is cut to its lowest bits."""
        if self.kind in (Kind.INT, Kind.UINT) and isinstance(value, (int, float, np.number)):
            value = types.wrapped(int(value), self)
        number = super().__call__(value)
        return _number_class(type(number))(number)


NUMBERS = {n: Number(n, t.kind, t.bits) for n, t in types.SCALARS.items() if n not in ("bool", "bfloat16")}
"""Warp's types of numbers, by name."""


def number_type(kind: Any) -> Any:
    """Return Warp's scalar or vector type for Workbench's, always the same object; any other type itself."""
    if isinstance(kind, Vector) and not isinstance(kind, Complex):
        return _vector_type(kind)
    return NUMBERS.get(kind.name, kind) if type(kind) is Scalar else kind


@cache
def _vector_type(kind: Vector) -> Vector:
    """Return a vector or matrix type with Warp's type of its numbers; always the same object."""
    return kind.with_dtype(NUMBERS.get(kind.dtype.name, kind.dtype))


_NAMED = {**types.VECTORS, **types.MATRICES, **types.QUATERNIONS, **types.TRANSFORMS}
TYPES = {**NUMBERS, **{name: number_type(kind) for name, kind in _NAMED.items()}}
"""Warp's types of numbers, vectors and matrices, by the names that kernels see without an import."""


def of_warp(value: Any) -> Any:
    """Return a vector or matrix as a value of Warp's type; any other value itself."""
    return HostVector.of(value, number_type(value.type)) if isinstance(value, HostVector) and value.type else value


for _make, _kind in ((vector, Vector), (matrix, Matrix), (quaternion, Quaternion), (transformation, Transform)):
    _make.__dict__["__wb_makes__"] = _kind


class Widened(type):
    """The metaclass of classes that Warp's programs use more widely than for their own instances.

    `isinstance` is also true of what is in the class's `includes`, and a call returns what its `create` returns, if it
    has these itself: classes that a user derives are ordinary ones.
    """

    def __instancecheck__(cls, value: object) -> bool:
        """Return whether a value is an instance, or one of what the class's own `includes` names, if any."""
        return type.__instancecheck__(cls, value) or isinstance(value, vars(cls).get("includes", ()))

    def __call__(cls, *args: Any, **options: Any) -> Any:
        """Return what `create` returns, or else an instance."""
        return vars(cls).get("create", super().__call__)(*args, **options)


class Attribute:
    """Represents a computed attribute; an attribute of that name that an instance has itself takes precedence."""

    def __init__(self, name: str, value: Callable[[Any], Any]) -> None:
        """Compute the attribute `name` of an instance by calling `value` with the instance."""
        self.value, self.__doc__ = value, f"Return what Warp calls `{name}`."

    def __get__(self, instance: Any, owner: type) -> Any:
        """Return the instance's value; read from the class, this descriptor."""
        return self if instance is None else self.value(instance)


class _Allocator:
    """Hands out memory on a device by its address, as Warp's allocators do."""

    def __init__(self, device: wb.Device) -> None:
        """Start without memory; all of it will be on this device, and lives until it is given back."""
        self.device, self.arrays = device, dict[int, wb.array]()

    def allocate(self, size: int) -> int:
        """Return the address of `size` bytes."""
        memory = wb.empty(size, wb.uint8, self.device)
        self.arrays[memory.address] = memory
        return memory.address

    def deallocate(self, address: int, size: int) -> None:
        """Give the memory at this address back."""
        self.arrays.pop(address, None)


def _ctype(kind: Scalar) -> Any:
    """Return the `ctypes` type of a scalar type; of 16-bit floats an unsigned integer."""
    return ctypes.c_uint16 if kind.is_half else np.ctypeslib.as_ctypes_type(kind.numpy)


def _from_ptr(kind: Vector, ptr: int) -> HostVector:
    """Return a copy of the value of a vector or matrix type at an address of the CPU.

    Raises:
        RuntimeError: the address is 0.
    """
    if not ptr:
        raise RuntimeError(f"NULL pointer exception: {kind!r} at the address 0")
    raw = np.frombuffer(ctypes.string_at(ptr, kind.size), kind.numpy)
    return HostVector.of(raw.reshape(kind.shape).copy(), kind)


_CAPABILITIES = (
    "is_mempool_supported", "is_mempool_enabled", "is_uva", "is_primary", "is_capturing", "is_cpu_gpu_atomic_supported",
    "is_cpu_memory_access_from_gpu_supported", "is_gpu_memory_access_from_cpu_supported", "is_managed_memory_supported",
    "is_concurrent_managed_access_supported",
)  # fmt: skip
_COUNTS = ("sm_count", "arch", "total_memory", "free_memory", "max_shared_memory_per_block")
ATTRIBUTES: dict[Any, dict[str, Any]] = {
    Scalar: {"_type_": _ctype, "_length_": 1},
    Vector: {
        "_length_": lambda t: t.length,
        "_shape_": lambda t: t.shape,
        "_wp_scalar_type_": lambda t: number_type(t.dtype),
        "_type_": lambda t: _ctype(t.dtype),
        "from_ptr": lambda t: lambda ptr: _from_ptr(t, ptr),
    },
    ArrayType: {"memory_kind": MemoryKind.UNKNOWN},
    HostVector: {
        "get_row": lambda m: m.__getitem__,
        "set_row": lambda m: m.__setitem__,
        "get_col": lambda m: lambda k: vector(m.type.shape[0], m.type.dtype)(*(row[k] for row in m)),
        "set_col": lambda m: lambda k, v: m.__setitem__((slice(None), k), v),
    },
    wb.Device: {
        "alias": lambda d: d.name,
        "get_allocator": lambda d: lambda pinned=False: _Allocator(d),
        "context_guard": lambda d: nullcontext(),
        "ordinal": lambda d: d.index if d.is_cuda else -1,
        **dict.fromkeys(_CAPABILITIES, False),
        "can_access": lambda d: lambda other: d == other,
        **dict.fromkeys(("context", "pci_bus_id", "uuid")),
        **dict.fromkeys(_COUNTS, 0),
    },
}
"""Warp's attributes by the class that gets them: name, and the value or a function from an instance to it."""


def _set_on_annotation(annotation: Any, name: str, value: Any) -> None:
    """Set an attribute on the annotation of an array, whose type it does not change.

    Raises:
        AttributeError: the name is `dtype` or `ndim`.
    """
    if name in ("dtype", "ndim"):
        raise AttributeError(f"{name} of an annotation of an array cannot be changed: make another one")
    vars(annotation)[name] = value


def _is_device(device: wb.Device, other: object) -> bool:
    """Return whether `other`, a device or a device's name, is this device."""
    return device is other or device.name == (other.name if isinstance(other, wb.Device) else other)


def apply() -> None:
    """Add Warp's attributes to Workbench's classes, and make a device equal to its name."""
    wb.Device.__eq__ = _is_device  # type: ignore[method-assign]
    wb.Device.__ne__ = lambda device, other: not _is_device(device, other)  # type: ignore[method-assign]
    ArrayType.__setattr__ = _set_on_annotation  # type: ignore[method-assign]
    for cls, names in ATTRIBUTES.items():
        for name, value in names.items():
            setattr(cls, name, Attribute(name, value) if callable(value) else value)
