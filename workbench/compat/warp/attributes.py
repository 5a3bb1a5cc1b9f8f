"""Warp's attributes of arrays, types, kernels and devices, as data: set once, when this package is imported."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from workbench.frontend import parameter_annotations
from workbench.runtime.arrays.host_convert import as_value
from workbench.runtime.arrays.shapes import dense
from workbench.structs import as_element
from workbench.types import Scalar, Vector
from workbench.weak import Weak

_C: dict[str, Any] = {
    "int8": ctypes.c_int8, "uint8": ctypes.c_uint8, "int16": ctypes.c_int16, "uint16": ctypes.c_uint16,
    "int32": ctypes.c_int32, "uint32": ctypes.c_uint32, "int64": ctypes.c_int64, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double, "bool": ctypes.c_bool, "float16": ctypes.c_uint16,
    "bfloat16": ctypes.c_uint16,
}  # fmt: skip


INITIAL_OPTIONS: dict[str, Any] = {
    "enable_backward": True, "mode": None, "max_unroll": None, "block_dim": 256, "fast_math": False,
    "fuse_fp": True, "deterministic": None, "lineinfo": False, "enable_mathdx_gemm": True, "strip_hash": False,
    "compile_time_trace": False, "cuda_output": None, "deterministic_max_records": None, "optimization_level": None,
    "cpu_compiler_flags": None, "enable_cpu_blocks": None, "default_grid_stride": None, "extra_build_options": None,
}  # fmt: skip


class Module:
    """A name and options in the role of a module; kernels are built one by one at their first launch.

    Attributes:
        name: that of the Python module.
        options: settings, without effect.
    """

    def __init__(self, name: str, loader: Any = None) -> None:
        self.name, self.loader = name, loader
        self.options: dict[str, Any] = {**INITIAL_OPTIONS}
        self.kernels: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self.structs: dict[str, Any] = {}

    def load(self, *args: Any, **options: Any) -> Module:
        """The module itself: nothing is loaded ahead."""
        return self

    def unload(self) -> None:
        """Nothing: what was built stays in the cache."""

    mark_modified = unload


_MODULES: dict[str, Module] = {}


def get_module(name: str) -> Module:
    """The module of kernels of this name."""
    return _MODULES.setdefault(name, Module(name))


def _listed(x: wb.array) -> list[Any]:
    """The elements in a list."""
    values = x.numpy()
    flat = values.reshape(-1, *values.shape[x.ndim :])
    shaped = bool(x.dtype.shape) or not isinstance(x.dtype, Scalar)
    return [as_value(x.dtype, v.copy()) for v in flat] if shaped else flat.tolist()


def _itself(kernel: wb.Kernel, *types: Any) -> wb.Kernel:
    """The kernel, which is built for the types of each launch."""
    return kernel


def _add_overload(func: wb.Func, more: wb.Func) -> None:
    """Add the versions of another func; one with the same types replaces the one before."""
    own = {_types_of(d): d for d in (*func.__wb_definitions__, *more.__wb_definitions__)}
    func.__wb_definitions__ = tuple(own.values())


def _types_of(definition: Any) -> str:
    return repr(parameter_annotations(definition))


def _view(x: wb.array, dtype: Any) -> wb.array:
    """The same memory as elements of another type; those of one number as numbers keep the shape."""
    result = _regrouped(x, dtype)
    return result.reshape(x.shape) if x.dtype.shape and result.size == x.size else result


_regrouped = wb.array.view


class Attribute:
    """A computed attribute, where the instance has none of that name itself: CUDA C++ kernels have a `module`."""

    def __init__(self, name: str, value: Callable[[Any], Any]) -> None:
        self.value, self.__doc__ = value, f"Return what Warp calls `{name}`."

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else self.value(instance)


_ASKED: Weak[int, wb.array] = Weak()
"""The arrays whose address a program knows: an array that it makes there is a part of the same memory."""


def _address(x: wb.array) -> int | None:
    """Return the address of the first element; None of an array without elements."""
    if not x.size:
        return None
    _ASKED.put(x.address, x)
    return x.address


class Attached:
    """An attribute of arrays that programs set: it is kept with the array; until then it is what it was before."""

    def __init__(self, name: str, default: Any = None) -> None:
        self.name, self.default = name, default
        self.before = inspect.getattr_static(wb.array, name, None)

    def __get__(self, instance: Any, owner: type) -> Any:
        values = getattr(instance, "attached", {})
        if self.name in values or self.before is None:
            return values.get(self.name, self.default)
        return self.before.__get__(instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.attached = {**getattr(instance, "attached", {}), self.name: value}


def _unused(x: wb.array) -> bool:
    """Return False: the setting has no effect."""
    return False


def _never(*args: Any, **options: Any) -> bool:
    return False


ATTRIBUTES: dict[Any, dict[str, Callable[[Any], Any]]] = {
    wb.array: {
        "ptr": _address,
        "capacity": lambda x: x.nbytes,
        "pinned": lambda x: False,
        "deleter": lambda x: None,
        "is_transposed": lambda x: False,
        "ctype": lambda x: x.packed,
    },
    Scalar: {"_type_": lambda t: _C[t.name]},
    Vector: {
        "_length_": lambda t: t.length,
        "_shape_": lambda t: t.shape,
        "_wp_scalar_type_": lambda t: t.dtype,
        "_type_": lambda t: _C[t.dtype.name],
    },
    wb.Kernel: {
        "key": lambda k: k.name,
        "module": lambda k: get_module(k.definition.module or "__main__"),
        "options": lambda k: {"enable_backward": k.enable_backward},
        "is_generic": lambda k: any(t is None for t in _annotations(k).values()),
        "overloads": lambda k: {},
        "func": lambda k: k,
    },
    wb.Func: {
        "key": lambda f: f.name,
        "module": lambda f: get_module(f.__module__ or "__main__"),
        "func": lambda f: f,
        "input_types": lambda f: {n: t for n, t in parameter_annotations(f.definition).items() if n != "return"},
    },
    wb.Device: {
        "alias": lambda d: d.name,
        "ordinal": lambda d: d.index if d.is_cuda else -1,
        "is_mempool_supported": _never,
        "is_mempool_enabled": _never,
        "is_uva": _never,
        "is_primary": _never,
        "is_capturing": _never,
        "context": lambda d: None,
        "sm_count": lambda d: 0,
        "arch": lambda d: 0,
        "pci_bus_id": lambda d: None,
        "uuid": lambda d: None,
        "total_memory": lambda d: 0,
        "free_memory": lambda d: 0,
    },
}
"""By class: a name and its value for an instance."""


def _annotations(kernel: wb.Kernel) -> dict[str, Any]:
    return parameter_annotations(kernel.definition)


def _item(x: wb.array, index: Any, before: Any = wb.array.__getitem__) -> Any:
    """`x[indices]`, of arrays of indices, as an indexed array."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(p, wb.array) for p in parts):
        return before(x, index)
    if not all(isinstance(p, wb.array) or p == slice(None) for p in parts):
        raise wb.LaunchError("x[…] takes arrays of indices beside `:` alone.", advice="Slice the array first.")
    tables = [p if isinstance(p, wb.array) else None for p in parts]
    return wb.indexedarray(x, [*tables, *[None] * (x.ndim - len(tables))])


def apply() -> None:
    """Set the attributes."""
    for cls, names in ATTRIBUTES.items():
        for name, value in names.items():
            setattr(cls, name, Attribute(name, value))
    wb.array.list = _listed  # type: ignore[attr-defined]
    wb.array.__getitem__ = _item  # type: ignore[method-assign]
    wb.array.view = _view  # type: ignore[method-assign]
    unused = property(_unused, lambda x, value: None)
    wb.array.retain_grad = unused  # type: ignore[attr-defined]
    wb.Kernel.add_overload = _itself  # type: ignore[attr-defined]
    wb.Func.add_overload = _add_overload  # type: ignore[attr-defined]
    wb.array.release = Attached("release", lambda: None)  # type: ignore[attr-defined]
    wb.array.detach = Attached("detach")  # type: ignore[attr-defined]
    wb.array._ref = Attached("_ref")  # type: ignore[attr-defined]


def from_ptr(ptr: int | None, dtype: Any, shape: Any, strides: Any = None, device: Any = None) -> wb.array:
    """An array of the memory at an address of the CPU, which is not copied.

    Raises:
        LaunchError: it is on another device.
    """
    kind = as_element(dtype)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if wb.get_device(device).is_cuda:
        raise wb.LaunchError("ptr= is an address of the CPU here.", advice="Pass the array itself, through DLPack.")
    if not ptr or 0 in sizes:
        return wb.empty(sizes, kind, device)
    inner = tuple(kind.shape)
    item = wb.types.element(kind).numpy if not hasattr(kind, "fields") else kind.numpy
    steps = dense(sizes, kind.size) if strides is None else (strides,) if isinstance(strides, int) else tuple(strides)
    owner = _ASKED.get(ptr)
    if owner is not None and 0 <= ptr - owner.memory.address <= owner.memory.nbytes - kind.size:
        return owner.window(sizes, steps, ptr, dtype=kind)
    reach = sum((n - 1) * abs(s) for n, s in zip(sizes, steps, strict=True)) + kind.size
    raw = np.frombuffer((ctypes.c_uint8 * reach).from_address(ptr), np.uint8)
    view = np.ndarray((*sizes, *inner), item, raw, 0, (*steps, *dense(inner, item.itemsize)))
    return wb.array(view, kind, copy=False, device=device)
