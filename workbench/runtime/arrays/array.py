"""Arrays: typed, strided views of device memory, shared with NumPy without copies on the CPU.

`array[float32]` and `array(dtype=float32, ndim=2)` are annotations; `array([1, 2, 3])` is an array. An array of vectors
has the vector as its element: its NumPy form has one more axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from workbench.errors import LaunchError
from workbench.frontend.names.annotate import array_of
from workbench.host.narrow import is_list
from workbench.runtime.active_observers import notify
from workbench.runtime.arithmetic import Arithmetic
from workbench.runtime.arrays import copies
from workbench.runtime.arrays.dlpack import cuda_array_interface, dlpack_device, host_view, to_dlpack
from workbench.runtime.arrays.host_convert import as_elements, as_value, check_fits, host_form, item
from workbench.runtime.arrays.shapes import Shape, as_shape, dense, is_far, lies_densely, located, tag_of
from workbench.runtime.arrays.unseen_writes import exported
from workbench.runtime.arrays.views import Viewed
from workbench.runtime.device.call_site import warn
from workbench.runtime.device.device import CPU, Device, driver_of, get_device
from workbench.runtime.device.memory import Memory, allocate, copy_aligned, of_numpy
from workbench.runtime.names import warn_no_grad
from workbench.runtime.native.pack import array_piece
from workbench.structs import Struct, StructArray, array_type, as_element
from workbench.types import MAX_NDIM, ArrayType, Scalar, Vector, is_float, is_wide

Element = Scalar | Vector | Struct
READ_ONLY = " read-only"
"""The end of the tag of an array whose memory may only be read: it makes sure that no launch that writes is cached."""


class array(Viewed, Arithmetic):
    """An array of 1 to 4 dimensions.

    Attributes:
        dtype: the element type, a scalar or a vector.
        shape: elements along each dimension.
        nbytes: bytes of all elements.
        strides: bytes from one element to the next along each dimension.
        device: where it is.
        is_contiguous: whether the elements are adjacent in memory, in row-major order.
        is_dense: whether a kernel finds them without strides: adjacent, or, of a field that a kernel gets of an array
            of structs, in adjacent structs.
        tag: dtype, dimensions, density, `is_far` and device as one string: arrays of one tag suit the same code.
        requires_grad: whether a tape accumulates this array's gradient in `.grad`.
        kin: the class of views and results; a subclass that is to have its own kind of them sets it.
        attached: what other packages keep with the array, by name; not set until one does.
        grad: the gradient, of the same dtype and shape; None without `requires_grad`.
    """

    __wb_generic__ = True
    kin: ClassVar[type[array]]
    __slots__ = (
        "__weakref__", "_fields", "_grad", "_shape", "address", "attached", "device", "dtype", "is_contiguous",
        "is_dense", "memory", "nbytes", "packed", "requires_grad", "strides", "tag", "type",
    )  # fmt: skip

    def __new__(cls, data: Any = None, dtype: Any = None, *, ndim: int | None = None, **options: Any) -> Any:
        """Return an array; without data and shape, the array type of `dtype` and `ndim`, which is an annotation.

        Raises:
            TypeError: neither data, nor a shape, nor a dtype is given.
        """
        if isinstance(data, (type, Scalar, Vector)):  # array(float), as array[float]
            data, dtype = None, data
        if data is None and "shape" not in options:
            if dtype is None:
                raise TypeError("array() takes data, or a dtype (and ndim) to stand as an annotation")
            generic = array_of(dtype, ndim)
            if generic is not None:
                return generic
            return array_type(dtype, 1 if ndim is None else ndim)
        return super().__new__(cls)

    def __class_getitem__(cls, dtype: Any) -> Any:
        """Return the annotation `array[dtype]`: an array of one dimension."""
        return array_of(dtype, 1) or array_type(dtype, 1)

    def __init__(  # pyright: ignore[reportInconsistentConstructor]  (the other takes annotations' arguments, too)
        self, data: Any = None, dtype: Any = None, *, ndim: int | None = None, shape: Shape | None = None,
        device: Device | str | None = None, requires_grad: bool = False, copy: bool = True,
    ) -> None:  # fmt: skip
        """Create an array from `data` (a sequence of numbers or a NumPy array).

        Args:
            data: numbers, nested as the shape; for a vector dtype the last axis holds the components, or all are flat.
            dtype: the element type; that of a NumPy array, else int32 or float32, if it is not given.
            ndim: checked against the data where given.
            shape: that of the data, which may be nested otherwise; of zeros where there is no data.
            device: where it lies; the current device if it is not given.
            requires_grad: whether it has a `.grad`.
            copy: False shares the memory of a NumPy array, or of what gives one (CPU, same dtype).

        Raises:
            TypeError: the dtype is none of the language's, or the data cannot have it.
            ValueError: more than 4 dimensions, another number than `ndim`, or another number of elements than `shape`.
            LaunchError: memory to be shared is read-only.
            NotDifferentiable: an array becomes one of another dtype while a tape records it.
        """
        target, buffer = get_device(device), None
        if data is None:
            assert shape is not None
            kind = as_element(dtype or float)
            buffer, dtype = np.zeros((*as_shape(shape), *kind.shape), item(kind)), kind
        if isinstance(data, array):
            if (dtype is None or as_element(dtype) == data.dtype) and ndim in (None, data.ndim):
                self._again(data, target, requires_grad, copy)
                return
            notify("converting", data, as_element(dtype or data.dtype))
            data, dtype = data.numpy(), dtype or data.dtype
        host, kind = host_form(data if buffer is None else buffer, dtype)
        host = host if shape is None else host.reshape(*as_shape(shape), *kind.shape)
        dims = host.ndim - len(kind.shape)
        if not 1 <= dims <= MAX_NDIM or (ndim is not None and dims != ndim):
            raise ValueError(f"an array has 1 to 4 dimensions{f', here {ndim}' if ndim else ''}; the data has {dims}")
        own = data is None or is_list(data)
        own = own or (type(data) is np.ndarray and not np.may_share_memory(host, data))
        if (copy and not own) or not host.flags.aligned:
            host, own = copy_aligned(host), True
        if not host.flags.writeable:
            what = f"The {type(data).__name__} is read-only, and kernels may write to arrays."
            raise LaunchError(what, advice="wb.array(…) makes a copy.")
        self._adopt(host, kind, requires_grad, own)
        if target.is_cuda:
            held = np.ascontiguousarray(host)
            self.bind(allocate(target, held.nbytes), kind, self.shape, None, requires_grad)
            driver_of(target).copy_to_device(self.address, held, target.index)
            self.changed()

    def _again(self, source: array, target: Device, requires_grad: bool, copy: bool) -> None:
        """Become a copy of `source`, which observers see; with `copy=False`, on its device, a view of its memory."""
        if copy or target != source.device:
            self.bind(allocate(target, source.nbytes), source.dtype, source.shape, None, requires_grad)
            self.copy_(source)
        else:
            self.bind(source.memory, source.dtype, source.shape, source.strides, requires_grad, source.address)

    def _adopt(self, host: np.ndarray[Any, Any], kind: Element, requires_grad: bool, own: bool) -> None:
        """Become a view of NumPy memory on the CPU; `own` is False for memory that something else also holds.

        The last axes of `host` are a vector's components; if those do not lie side by side, the memory is a copy.
        """
        dims = host.ndim - len(kind.shape)
        if host.size and host.strides[dims:] != dense(kind.shape, host.itemsize):
            host, own = np.ascontiguousarray(host), True
        address = host.__array_interface__["data"][0]
        self.bind(
            of_numpy(host, CPU, shared=not own), kind, host.shape[:dims], host.strides[:dims], requires_grad, address
        )

    def bind(
        self, memory: Memory, dtype: Element, shape: Sequence[int | np.integer[Any]], strides: Sequence[int] | None,
        requires_grad: bool, address: int | None = None, type: ArrayType | StructArray | None = None,
    ) -> None:  # fmt: skip
        """Initialise the array as elements that lie in a memory.

        Args:
            memory: the memory.
            dtype: the element type.
            shape, strides: the array's; None as strides (in bytes): it is dense.
            requires_grad: whether it has a `.grad`.
            address: the first element's; None: the memory's.
            type: the array's type in a kernel; None: it follows from dtype and shape.
        """
        self.memory = memory
        self.address = memory.address if address is None else address
        self.dtype = dtype
        self._shape = tuple(n if isinstance(n, int) else int(n) for n in shape)
        self.nbytes = self.size * dtype.size
        self.strides = tuple(int(s) for s in strides) if strides is not None else dense(self.shape, dtype.size)
        self.device = memory.device
        wide, kind = is_wide(self.shape), type if type is not None else array_type(dtype, len(self.shape))
        self.type: Any = replace(kind, wide=True) if wide and isinstance(kind, ArrayType) else kind
        self.is_contiguous = self.is_dense = lies_densely(self.shape, self.strides, dtype.size)
        if pitch := getattr(kind, "pitch", 0):
            self.is_dense = lies_densely(self.shape, self.strides, pitch)
        far = is_far(self.shape, self.strides)
        self.tag = (
            tag_of(self.type, getattr(dtype, "content", ""), self.is_dense, far, self.device)
            + READ_ONLY * memory.read_only
        )
        self.packed = array_piece(self.address, self.shape, self.strides)
        self.requires_grad = False
        self._grad: array | None = None
        self._fields: dict[str, array] | None = None
        if requires_grad:
            self._ask_for_grad()

    def _ask_for_grad(self) -> None:
        """Set `requires_grad` and create a gradient; for elements that are no floats only warn."""
        if is_float(self.dtype):
            self.require_grad()
        else:
            warn(f"An array of {self.dtype!r} has no gradient: only floats have one. requires_grad=True is ignored.")

    def require_grad(self) -> None:
        """Set `requires_grad`, and make a gradient: that of another view of the array's memory, or else zeros.

        Raises:
            TypeError: its elements are no floats.
        """
        if not is_float(self.dtype):
            raise TypeError(f"an array of {self.dtype!r} has no gradient: only floats have one")
        self.requires_grad = True
        known = self.memory.grad  # of another view
        self._grad = self.twin(known.memory if known is not None else allocate(self.device, self.memory.nbytes))
        if known is None:
            self.memory.grad = self._grad.fill_(0)

    def link_grad(self, grad: array) -> None:
        """Set `requires_grad`, and make `grad`, of the array's shape and dtype, its gradient; it has none yet."""
        self.requires_grad, self._grad = True, grad
        self.memory.grad = self.memory.grad if self.memory.grad is not None else grad

    @property
    def grad(self) -> array | None:
        """The gradient a tape accumulated; None without `requires_grad`.

        What is assigned (an array, NumPy's too, or one number; None is 0) is copied, and `requires_grad` is then true.
        """
        if self._grad is None and self.memory.adjoint_apart:
            warn_no_grad()
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        """Set the gradient's elements (None: to 0); an array without `requires_grad` gets a gradient first."""
        if not self.requires_grad:
            self.require_grad()
        assert self._grad is not None
        self._grad[...] = 0 if value is None else value

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self._shape)

    @property
    def version(self) -> int:
        """The number of changes of this array's memory through Workbench; the first write to new memory is none."""
        return max(self.memory.version, 0)

    def changed(self) -> None:
        """Count a change of the array's memory; call it after writing there by other means than Workbench."""
        self.memory.version += 1

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return the elements as a NumPy array; the components of vectors take the last axis.

        On the CPU it shares the array's memory, and is read-only if the array is; from a GPU it is a copy. Workbench
        does not notice what is written to it: call `changed()` afterwards.

        Raises:
            LaunchError: a capture that is open has written the array, and nothing of it has run.
        """
        notify("reading", self)
        if self.device.is_cuda:
            return self.host()
        if not self.memory.read_only:
            return host_view(self, exported(self.memory))
        view = self.host()
        view.flags.writeable = False
        return view

    def host(self) -> np.ndarray[Any, Any]:
        """Return the elements as `numpy` does, for the library's own use: observers are not notified.

        Users must not get the result: on the CPU it shares memory without being known as a view of others.
        """
        if not self.device.is_cuda:
            return host_view(self)
        packed = self if self.is_contiguous else self.contiguous()
        host = np.empty((*self.shape, *self.dtype.shape), item(self.dtype))
        driver_of(self.device).copy_to_host(host, packed.address, self.device.index)
        return host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return the elements as NumPy asks for them: `numpy()`, or a copy, in another dtype if one is requested.

        Raises:
            ValueError: `copy` is False, and the elements would have to be copied.
        """
        host = self.numpy()
        if copy is False and (self.device.is_cuda or (dtype is not None and host.dtype != dtype)):
            raise ValueError(
                f"an array of {self.dtype!r} on {self.device.name} cannot be had as {dtype} without a copy"
            )
        if dtype is not None and host.dtype != dtype:
            return host.astype(dtype)
        return host.copy() if copy else host

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        """Return a DLPack capsule of the array's memory for a consumer that works on `stream`; observers see a read."""
        notify("reading", self)
        return to_dlpack(self, stream, options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type and number."""
        return dlpack_device(self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array's description by version 3 of the CUDA array interface; an AttributeError if it is not on a GPU."""
        return cuda_array_interface(self)

    def window(
        self,
        shape: Sequence[int],
        strides: Sequence[int],
        address: int,
        memory: Memory | None = None,
        dtype: Element | None = None,
    ) -> array:
        """Return another view of the array's memory, or of another memory.

        Args:
            shape: sizes.
            strides: in bytes.
            address: of the first element, absolute.
            memory: None: the array's.
            dtype: the element type; None: the array's.
        """
        view = object.__new__(self.kin)
        kind = replace(self.type, ndim=len(shape)) if dtype is None and len(shape) != self.ndim else None
        if dtype is None and kind is None:
            kind = replace(self.type, wide=False) if getattr(self.type, "wide", False) else self.type
        view.bind(memory or self.memory, dtype or self.dtype, shape, strides, False, address, kind)
        return view

    def twin(self, memory: Memory) -> array:
        """Return an array with this one's layout in `memory`: for a gradient, a tangent or an earlier version.

        Its place in that memory is the array's place in its own memory.
        """
        address = memory.address + self.address - self.memory.address
        if memory.device is not self.device:
            return self.window(self.shape, self.strides, address, memory)
        return self._alike(memory, address)

    def _alike(self, memory: Memory, address: int) -> array:
        """Return an array of this one's layout in another memory of a device; the layout's attributes are copied."""
        twin = object.__new__(self.kin)
        twin.memory, twin.address, twin.device = memory, address, memory.device
        twin.dtype, twin.type, twin.tag = self.dtype, self.type, self.tag
        if self.memory.read_only and not memory.read_only:
            twin.tag = self.tag.removesuffix(READ_ONLY)
        twin._shape, twin.strides = self._shape, self.strides
        twin.is_contiguous, twin.is_dense = self.is_contiguous, self.is_dense
        twin.nbytes, twin.packed = self.nbytes, array_piece(address, self._shape, self.strides)
        twin.requires_grad, twin._grad, twin._fields = False, None, None
        return twin

    def __getitem__(self, index: Any) -> Any:
        """Return a view; an element's value if each dimension has an integer; for a string that field."""
        if isinstance(index, str):
            return self.field(index)
        start, shape, strides = located(index, self.shape, self.strides)
        if shape:
            return self.window(shape, strides, self.address + start)
        notify("reading", self)
        element = self.window((1,), (self.dtype.size,), self.address + start).host()[0].copy()
        return as_value(self.dtype, element)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Set the selected elements, or one field of all (a string), to a number or to the elements of an array."""
        if isinstance(index, str):
            self.field(index)[...] = value
            return
        start, shape, strides = located(index, self.shape, self.strides)
        if not shape:  # one element
            shape, strides = [1] * self.ndim, list(self.strides)
        target = self.window(shape, strides, self.address + start)
        if isinstance(value, array):
            target.copy_(value)
        elif not isinstance(self.dtype, Struct) and np.ndim(value) == 0:
            target.fill_(value)
        else:
            host = np.broadcast_to(as_elements(value, self.dtype), (*target.shape, *self.dtype.shape))
            target.copy_(array(host, self.dtype, device=self.device))

    def fill_(self, value: Any) -> array:
        """Set every element (every component) to `value`; return the array.

        Raises:
            OverflowError: the value does not fit the element type; infinity is written inf.
            LaunchError: the array is read-only.
        """
        memory, clears = self.memory, copies.is_zero(value)
        if not clears:  # which fits everywhere
            value = value.numpy() if hasattr(value, "__wb_struct__") else value  # a struct, as a record
            check_fits(value, self.dtype)
        memory.must_be_writable("This array")
        if notify("filling", self, value):
            return self
        clears = clears and memory.plain and self.nbytes == memory.nbytes and self.is_contiguous
        known = clears and memory.is_zero_besides
        memory.version += 1
        if known:
            copies.clear(self)
        else:
            copies.fill(self, value)
        if clears:
            memory.cleared()
        return self

    def copy_(self, source: array) -> array:
        """Become a copy of `source`, across devices too; return the array.

        Raises:
            LaunchError: shape or dtype differ, or the array is read-only.
        """
        copies.must_match(self, source, "A copy")
        self.memory.must_be_writable("This array")
        if notify("copying", self, source):
            return self
        self.memory.version += 1
        copies.copy(self, source)
        return self

    def add_(self, source: array) -> array:
        """Add the elements of `source` to those of the array, in place; return the array.

        Raises:
            LaunchError: shape or dtype differ, or the array is read-only.
        """
        copies.must_match(self, source, "A sum")
        self.memory.must_be_writable("This array")
        if notify("adding", self, source):
            return self
        self.memory.version += 1
        copies.add(self, source)
        return self

    @classmethod
    def undefined(
        cls, shape: tuple[int, ...], dtype: Element, device: Device, requires_grad: bool = False, pinned: bool = False,
        zeroed: bool = False,
    ) -> array:  # fmt: skip
        """Return a dense array whose elements are undefined, as `wb.empty` does.

        Args:
            shape: 1 to 4 sizes.
            dtype: the element type.
            device: where it lies.
            requires_grad: whether it has a `.grad`.
            pinned: on the CPU, in page-locked memory if there is a CUDA device.
            zeroed: fill it with zeros, on the CPU; observers do not hear of that.
        """
        memory = allocate(device, prod(shape) * dtype.size, pinned, zeroed)
        # A size that JAX leaves open is an int too, and equal to the number that stands in for it.
        if isinstance(dtype, Struct) or not all([type(n) is int for n in shape]):
            blank = object.__new__(cls)
            blank.bind(memory, dtype, shape, None, False)
        else:
            blank = _laid_out(shape, dtype, device)._alike(memory, memory.address)
            blank.__class__ = cls
        if requires_grad:
            blank._ask_for_grad()
        return blank

    def fresh_like(self, dtype: Any = None) -> array:
        """Return a dense array of the same shape and device, undefined until written; `dtype` None: the same."""
        if dtype is None and self.is_contiguous:
            memory = allocate(self.device, self.nbytes)
            return self._alike(memory, memory.address)
        return self.kin.undefined(self.shape, self.dtype if dtype is None else as_element(dtype), self.device)

    def zero_(self) -> array:
        """Set every element to 0; return the array."""
        return self.fill_(0)

    def assign(self, source: Any) -> array:
        """Become a copy of `source` (an array or anything `array()` takes); return the array."""
        return self.copy_(source if isinstance(source, array) else array(source, self.dtype, device=self.device))

    def to(self, device: Device | str) -> array:
        """Return the array itself if it is already there, else a copy on that device."""
        target = get_device(device)
        return self if target == self.device else self.kin.undefined(self.shape, self.dtype, target).copy_(self)

    def __repr__(self) -> str:
        try:
            notify("reading", self)
        except LaunchError:
            return f"array(written by a capture, dtype={self.dtype!r}, shape={self.shape}, device={self.device})"
        values = np.array2string(self.host(), threshold=20, edgeitems=3, precision=5, prefix="array(")
        return f"array({values}, dtype={self.dtype!r}, shape={self.shape}, device={self.device})"


array.kin = array


@lru_cache(maxsize=256)
def _laid_out(shape: tuple[int, ...], dtype: Scalar | Vector, device: Device) -> array:
    """Return a dense array without memory, as a template of this layout for new arrays."""
    blank = object.__new__(array)
    blank.bind(Memory(device, 0, 0, None), dtype, shape, None, False)
    return blank
