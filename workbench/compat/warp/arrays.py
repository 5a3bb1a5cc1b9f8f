"""Arrays as Warp has them: its attributes, its division, and NumPy's types of numbers without a dtype."""

from __future__ import annotations

import ctypes
from operator import attrgetter
from typing import Any, ClassVar, TypeVar

import numpy as np

import workbench as wb
from workbench.builtins import TABLE
from workbench.compat.warp import launches
from workbench.compat.warp.absent import absent, is_absent
from workbench.compat.warp.kinds import Widened, number_type
from workbench.compat.warp.settings import MemoryKind
from workbench.runtime.arrays.host_convert import as_value
from workbench.runtime.arrays.shapes import dense
from workbench.structs import StructArray, as_element
from workbench.types import AnyVector, ArrayType, Scalar, Vector, is_float
from workbench.weak import WeakValueDict

_ASKED: WeakValueDict[int, wb.array] = WeakValueDict()
"""The arrays whose address a program read: an array that it makes from such an address shares the memory."""


def address(x: wb.array) -> int | None:
    """Return the address of an array's first element, and remember the array for `from_ptr`; None if empty."""
    if not x.size:
        return None
    _ASKED.put(x.address, x)
    return x.address


def from_ptr(ptr: int | None, dtype: Any, shape: Any, strides: Any = None, device: Any = None) -> wb.array:
    """Return an array of the memory at an address, which is not copied; a new empty one for no address or no elements.

    The address is one of the CPU, or exactly the `ptr` that was read of an array on any device.

    Raises:
        LaunchError: `device` is a GPU, and the address was not read from an array.
    """
    kind = as_element(dtype)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    owner = _ASKED.get(ptr) if ptr else None
    if owner is None and wb.get_device(device).is_cuda:
        raise wb.LaunchError("ptr= is an address of the CPU here.", advice="Pass the array itself, through DLPack.")
    if not ptr or 0 in sizes:
        return wb.empty(sizes, kind, device)
    inner = tuple(kind.shape)
    item = wb.types.element(kind).numpy if not hasattr(kind, "fields") else kind.numpy
    steps = dense(sizes, kind.size) if strides is None else (strides,) if isinstance(strides, int) else tuple(strides)
    if owner is not None and 0 <= ptr - owner.memory.address <= owner.memory.nbytes - kind.size:
        return owner.window(sizes, steps, ptr, dtype=kind)
    reach = sum((n - 1) * abs(s) for n, s in zip(sizes, steps, strict=True)) + kind.size
    raw = np.ctypeslib.as_array((ctypes.c_uint8 * reach).from_address(ptr))
    view = np.ndarray((*sizes, *inner), item, raw, 0, (*steps, *dense(inner, item.itemsize)))
    return wb.array(view, kind, copy=False, device=device)


HINTS = ("pinned", "capacity", "deleter")
"""Named arguments of arrays, without effect."""


def without_hints(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that have an effect: without hints, None as shape or strides, and with `n` called `shape`."""
    named = {("shape" if name == "n" else name): v for name, v in options.items() if name not in HINTS}
    return {name: v for name, v in named.items() if v is not None or name not in ("shape", "strides")}


def _as_warp_reads(data: Any, dtype: Any) -> Any:
    """Return data for an array as NumPy data of the shape that Warp reads; the data itself if nothing differs.

    Without a dtype, lists of numbers become float64 or int64. With a vector or matrix dtype, a single value becomes
    an array of one, and a last axis that holds the components of several is split.
    """
    kind = as_element(dtype) if dtype is not None else None
    is_array = isinstance(data, wb.array)
    if (
        data is None
        or (is_array and (kind is None or data.dtype.shape))
        or not (kind is None or isinstance(kind, Vector))
    ):
        return data
    try:
        host = np.asarray(data)
    except ValueError:  # rows of several lengths: `workbench.array` says which
        return data
    if kind is None:
        return host if isinstance(data, (list, tuple)) and host.dtype.name in ("float64", "int64") else data
    size, ndim = kind.length, len(kind.shape)
    if host.shape == kind.shape:
        return host.reshape(1, *kind.shape)
    if host.dtype == object or host.ndim == 0 or host.shape[max(0, host.ndim - ndim) :] == kind.shape:
        return data
    if host.shape[-2:] == (size, 1):
        return host.reshape(*host.shape[:-2], *kind.shape)
    if host.shape[-1] % size:
        return data
    count = host.shape[-1] // size
    return host.reshape(*host.shape[:-1], *([count] if count != 1 or host.ndim == 1 else []), *kind.shape)


def _with_dimensions(dtype: Any, ndim: int) -> tuple[Any, int]:
    """Return the dtype and the number of dimensions of an annotation, from what its brackets hold.

    That is a pair of both, the number also as `Literal[2]`, or a dtype alone: then the number is `ndim`.
    """
    if isinstance(dtype, tuple) and len(dtype) == 2:
        dtype, count = dtype
        ndim = getattr(count, "__args__", (count,))[0]  # Literal[2]
    return dtype, ndim


def annotation(dtype: Any, ndim: int) -> Any:
    """Return the annotation of an array of `ndim` dimensions; `dtype` may be a pair of it and the dimensions.

    For a struct that holds arrays the element type is `Any`, and a launch refuses it. For a dtype that is an absent
    class, an absent class is returned in place of an array's annotation.
    """
    dtype, ndim = _with_dimensions(dtype, ndim)
    if is_absent(dtype):
        return absent(dtype.__name__)
    struct = getattr(dtype, "__wb_struct__", None)
    return wb.array(dtype=Any if struct is not None and struct.has_arrays else dtype, ndim=ndim)


def make(data: Any = None, dtype: Any = None, retain_grad: bool = False, **options: Any) -> Any:
    """Return an array, or an annotation if there is neither data, a shape nor a device, as `wp.array(…)` does."""
    result = marked(_array_or_annotation(data, dtype, **without_hints(options)))
    if retain_grad and isinstance(result, wb.array):
        result.retain_grad = True  # type: ignore[attr-defined]
    if options.get("requires_grad") and isinstance(result, wb.array) and not result.requires_grad:
        result.asks_gradient = True  # type: ignore[attr-defined]
    if options.get("copy") is False and isinstance(result, wb.array):
        result._ref = data  # type: ignore[attr-defined]
    return result


def _array_or_annotation(data: Any, dtype: Any, **options: Any) -> Any:
    """Return the array that `wp.array(…)` means: on memory at a pointer, of zeros in a shape, or of data.

    Without data, shape and device it is an annotation. `options` are those of `workbench.array`, and Warp's `ptr`,
    `strides`, `grad`, `shape` and `ndim`.
    """
    if "ptr" in options or "strides" in options:
        kind, gradient, names = dtype or float, options.get("grad"), ("strides", "device")
        pointed = from_ptr(options.get("ptr"), kind, options.get("shape", 0), *map(options.get, names))
        if gradient is not None or options.get("requires_grad"):
            pointed = wb.array(pointed, copy=False, requires_grad=True)
        if gradient is not None:
            pointed.grad = gradient
        return pointed
    if dtype is Any or isinstance(dtype, (TypeVar, AnyVector)):
        return wb.array(None, dtype, **options) if data is None else _array_or_annotation(data, None, **options)
    if data is None and "shape" in options and "ndim" not in options:
        return wb.zeros(options.pop("shape"), dtype or float, **options)
    if data is None and not {"shape", "device"} & {*options}:
        return annotation(dtype or Any, options.get("ndim") or 1)
    shape = options.pop("shape", None) if isinstance(data, wb.array) else None
    result = wb.array(_as_warp_reads(data, dtype), dtype, **options)
    return result if shape is None else result.reshape(shape)


_SLOT: Any = wb.array.dtype


_ATTACHED: dict[str, Any] = {
    "retain_grad": False, "detach": None, "_ref": None, "_is_read": False,
    **dict.fromkeys(("release", "__del__"), lambda: None),
}  # fmt: skip
"""Attributes that programs set on arrays, and what they are until then."""


class array(wb.array, metaclass=Widened):
    """Represents a `workbench.array` with Warp's attributes and division; so are its views, clones and results.

    Numbers without a dtype are float64 or int64: `wp.array([1.0])`. A call makes an array or an annotation, and
    `isinstance` is true of any of either; a user's own subclass has instances.
    """

    __slots__ = ()
    create, includes = staticmethod(make), (wb.array, ArrayType, StructArray)
    meanings: ClassVar[dict[str, Any]] = {name: launches.as_func(TABLE[name], 2) for name in ("div", "floordiv", "mod")}
    dtype: Any = property(lambda x: number_type(_SLOT.__get__(x)), _SLOT.__set__)
    capacity = property(lambda x: x.nbytes)
    pinned, is_transposed, deleter = False, False, None
    ctype = property(attrgetter("packed"))
    ptr = property(address)
    memory_kind = property(lambda x: MemoryKind.CUDA_DEVICE if x.device.is_cuda else MemoryKind.HOST)
    __array_interface__ = property(lambda x: x.numpy().__array_interface__)

    def __new__(cls, data: Any = None, dtype: Any = None, *, ndim: int | None = None, **options: Any) -> Any:
        """Create an array, never an annotation."""
        return object.__new__(cls)

    def __init__(self, data: Any = None, dtype: Any = None, **options: Any) -> None:
        """Initialise an instance of a user's own subclass as an array of the same arguments."""
        c = make(data, dtype, **options)
        self.bind(c.memory, c.dtype, c.shape, c.strides, c.requires_grad, c.address)

    def __class_getitem__(cls, dtype: Any) -> Any:
        """Return an array's annotation; `dtype` alone means one dimension, or is a pair of it and their number."""
        return annotation(dtype, 1)

    def __getitem__(self, index: Any) -> Any:
        """Return an element or a view; with arrays of indices in place of slices, an indexed array.

        Raises:
            LaunchError: arrays of indices stand beside a number.
        """
        parts = index if isinstance(index, tuple) else (index,)
        tables = [p if isinstance(p, wb.array) else None for p in parts]
        if not any(t is not None for t in tables):
            return super().__getitem__(index)
        if any(isinstance(p, (int, np.integer)) for p in parts):
            raise wb.LaunchError("x[…] takes arrays of indices beside slices alone.", advice="Index the array first.")
        sliced = super().__getitem__(tuple(slice(None) if isinstance(p, wb.array) else p for p in parts))
        return IndexedArray(sliced, tables)

    @property
    def grad(self) -> Any:
        """The gradient, as `workbench.array` has it; of a view that part of its array's gradient; or None.

        That of an array of integers which was made with `requires_grad` is 0.
        """
        gradient = self.memory.grad
        if getattr(self, "attached", {}).get("asks_gradient") and gradient is None:
            return wb.zeros_like(self)
        return marked(super().grad if self._grad is not None or gradient is None else self.twin(gradient.memory))

    @grad.setter
    def grad(self, value: Any) -> None:
        """Set the gradient; an array whose type is no float type ignores it."""
        if is_float(self.dtype):  # in Warp an array of integers may have one, which stays 0
            wb.array.grad.fset(self, value)  # type: ignore[misc]

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; one that `workbench.array` lacks is kept in `attached`.

        Raises:
            ValueError: it is `retain_grad`, of an array that requires no gradient.
        """
        if name == "retain_grad" and value and not self.requires_grad:
            raise ValueError("retain_grad is of an array that requires a gradient: requires_grad=True")
        try:
            super().__setattr__(name, value)
        except AttributeError:
            if hasattr(type(self), name):
                raise
            self.attached = {**getattr(self, "attached", {}), name: value}

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that a program set on the array, or its initial value if it is one of `_ATTACHED`.

        Raises:
            AttributeError: it is neither.
        """
        attached = _ATTACHED if name == "attached" else {**_ATTACHED, **getattr(self, "attached", {})}
        if name not in attached:
            raise AttributeError(f"'array' object has no attribute {name!r}")
        return attached[name] and self.requires_grad if name == "retain_grad" else attached[name]

    def __bool__(self) -> bool:
        """Return whether the array has elements."""
        return self.size > 0

    def __ctype__(self) -> Any:
        """Return the array itself: the stand-ins of native calls take it."""
        return self

    def list(self) -> Any:
        """Return the elements in one flat list, whatever the dimensions."""
        values = self.numpy()
        flat = values.reshape(-1, *values.shape[self.ndim :])
        shaped = bool(self.dtype.shape) or not isinstance(self.dtype, Scalar)
        return [as_value(self.dtype, v.copy()) for v in flat] if shaped else flat.tolist()

    def view(self, dtype: Any) -> Any:
        """Return the same memory as elements of another type; where their number stays the same, in the same shape."""
        result = super().view(dtype)
        return result.reshape(self.shape) if self.dtype.shape and result.size == self.size else result

    def assign(self, source: Any) -> Any:
        """Copy `source`, an array or data for one, into the array; with as many elements its shape may differ."""
        data = source if isinstance(source, wb.array) else make(source, self.dtype, device=self.device)
        return self.copy_(data.reshape(self.shape) if data.size == self.size and data.dtype == self.dtype else data)


array.kin = array


class _IndexedClass(Widened):
    """The metaclass of `IndexedArray`, with which `IndexedArray[dtype, ndim]` is an annotation."""

    def __getitem__(cls, item: Any) -> Any:
        """Return the annotation of an indexed array; `item` is a dtype, then of one dimension, or that and ndim."""
        dtype, ndim = _with_dimensions(item, 1)
        return Any if dtype is Any else wb.indexedarray(dtype=dtype, ndim=ndim)


class IndexedArray(wb.indexedarray, metaclass=_IndexedClass):
    """Represents a `workbench.indexedarray` whose annotation may name its dimensions; programs derive from it."""

    includes = wb.indexedarray

    @staticmethod
    def create(data: Any = None, indices: Any = None, dtype: Any = None, **options: Any) -> Any:
        """Return an indexed array, or an annotation if there is no data."""
        if data is None:
            return wb.indexedarray(dtype=dtype, **options)
        return type.__call__(IndexedArray, data, indices, dtype, **options)

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Create an indexed array, never an annotation."""
        return object.__new__(cls)

    def __init__(self, data: Any = None, indices: Any = None, dtype: Any = None, **options: Any) -> None:
        """Index the first dimensions by these indices; the others have none."""
        listed = [indices] if indices is None or isinstance(indices, wb.array) else [*indices]
        super().__init__(data, [*listed, *[None] * (np.ndim(data) - len(listed))], dtype, **options)


def marked(value: Any) -> Any:
    """Turn an array into one with Warp's attributes and division, in place; do so with each array in a list or tuple.

    Anything else is returned as it is.
    """
    if type(value) is wb.array:
        value.__class__ = array
    elif type(value) in (tuple, list):
        return type(value)(map(marked, value))
    return value


class ArrayOf(type(wb.array2d)):
    """Represents `wp.array2d` and its like: `array` of a fixed number of dimensions."""

    def __getitem__(self, dtype: Any) -> Any:
        """Return the annotation of an array of this dtype and of the class's number of dimensions."""
        return annotation(dtype, self.ndim)

    def __call__(self, data: Any = None, dtype: Any = None, **options: Any) -> Any:
        """Return an array of the data, or an annotation if there is neither data nor a shape."""
        return make(data, dtype, ndim=self.ndim, **options)
