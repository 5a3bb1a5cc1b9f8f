"""Modules of kernels, and Warp's attributes of types and devices, as data: set once, when this package is imported."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from workbench.compat.warp.makers import number_type, vector
from workbench.compat.warp.settings import MemoryKind
from workbench.host.vectors import HostVector
from workbench.types import ArrayType, Scalar, Vector


def _ctype(kind: Scalar) -> Any:
    return ctypes.c_uint16 if kind.is_half else np.ctypeslib.as_ctypes_type(kind.numpy)


INITIAL_OPTIONS: dict[str, Any] = {
    "enable_backward": True, "mode": None, "max_unroll": None, "block_dim": 256, "fast_math": False,
    "fuse_fp": True, "deterministic": None, "lineinfo": False, "enable_mathdx_gemm": True, "strip_hash": False,
    "compile_time_trace": False, "cuda_output": None, "deterministic_max_records": None, "optimization_level": None,
    "cpu_compiler_flags": None, "enable_cpu_blocks": None, "default_grid_stride": None, "extra_build_options": None,
}  # fmt: skip


class Module:
    """Represents a module of kernels in name and options only; kernels are built one by one at their first launch.

    Attributes:
        name: that of the Python module.
        options: settings, without effect but for `enable_backward`.
    """

    def __init__(self, name: str, loader: Any = None) -> None:
        self.name, self.loader = name, loader
        self.options: dict[str, Any] = {**INITIAL_OPTIONS}
        self.kernels: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self.structs: dict[str, Any] = {}

    def load(self, *args: Any, **options: Any) -> Module:
        """Return the module itself: nothing is loaded ahead."""
        return self

    def unload(self) -> None:
        """Do nothing: what was built stays in the cache."""

    mark_modified = unload


_MODULES: dict[str, Module] = {}


def get_module(name: str) -> Module:
    """Return the module of kernels of this name, which is created if there is none."""
    return _MODULES.setdefault(name, Module(name))


class Widened(type):
    """The metaclass of classes that Warp's programs use more widely than for their own instances.

    `isinstance` is also true of what is in the class's `wide`, and a call returns what its `made` returns, if it has
    these itself: classes that a user derives are ordinary ones.
    """

    def __instancecheck__(cls, value: object) -> bool:
        return type.__instancecheck__(cls, value) or isinstance(value, vars(cls).get("wide", ()))

    def __call__(cls, *args: Any, **options: Any) -> Any:
        """Return what `made` returns, or else an instance."""
        return vars(cls).get("made", super().__call__)(*args, **options)


class Attribute:
    """Represents a computed attribute; an attribute of that name that an instance has itself takes precedence."""

    def __init__(self, name: str, value: Callable[[Any], Any]) -> None:
        self.value, self.__doc__ = value, f"Return what Warp calls `{name}`."

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else self.value(instance)


def _never(*args: Any, **options: Any) -> bool:
    return False


_CAPABILITIES = (
    "is_mempool_supported", "is_mempool_enabled", "is_uva", "is_primary", "is_capturing", "is_cpu_gpu_atomic_supported",
    "is_cpu_memory_access_from_gpu_supported", "is_gpu_memory_access_from_cpu_supported", "is_managed_memory_supported",
    "is_concurrent_managed_access_supported",
)  # fmt: skip
_COUNTS = ("sm_count", "arch", "total_memory", "free_memory", "max_shared_memory_per_block")
ATTRIBUTES: dict[Any, dict[str, Callable[[Any], Any]]] = {
    Scalar: {"_type_": _ctype, "_length_": lambda t: 1},
    Vector: {
        "_length_": lambda t: t.length,
        "_shape_": lambda t: t.shape,
        "_wp_scalar_type_": lambda t: number_type(t.dtype),
        "_type_": lambda t: _ctype(t.dtype),
    },
    ArrayType: {"memory_kind": lambda t: MemoryKind.UNKNOWN},
    HostVector: {
        "get_row": lambda m: m.__getitem__,
        "set_row": lambda m: m.__setitem__,
        "get_col": lambda m: lambda k: vector(m.type.shape[0], m.type.dtype)(*(row[k] for row in m)),
        "set_col": lambda m: lambda k, v: m.__setitem__((slice(None), k), v),
    },
    wb.Device: {
        "alias": lambda d: d.name,
        "ordinal": lambda d: d.index if d.is_cuda else -1,
        **dict.fromkeys(_CAPABILITIES, _never),
        "can_access": lambda d: lambda other: d == other,
        **dict.fromkeys(("context", "pci_bus_id", "uuid"), lambda d: None),
        **dict.fromkeys(_COUNTS, lambda d: 0),
    },
}
"""Warp's attributes by the class that gets them: name, and function from an instance to the value."""


def _set_beside(annotation: Any, name: str, value: Any) -> None:
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
    ArrayType.__setattr__ = _set_beside  # type: ignore[method-assign]
    for cls, names in ATTRIBUTES.items():
        for name, value in names.items():
            setattr(cls, name, Attribute(name, value))
