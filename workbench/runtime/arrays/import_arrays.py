"""Other libraries' arrays as ours, without a copy: DLPack, the CUDA array interface; PyTorch's and JAX's by name.

The array that is made keeps the other library's memory alive. What cannot be shared is refused with what to do.
"""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np

from workbench.errors import LaunchError, its_type
from workbench.runtime.arrays import dlpack
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.dlpack import Taken
from workbench.runtime.arrays.host_convert import refuse_masked
from workbench.runtime.arrays.shapes import dense, extent
from workbench.runtime.device.device import CPU, Device, get_device
from workbench.runtime.device.driver import driver
from workbench.runtime.device.memory import Memory
from workbench.types import MAX_NDIM, NUMBERS, Complex, Kind, Scalar, Vector, as_type, element, number_type

_DEVICES = {dlpack.CPU: "cpu", dlpack.CUDA_HOST: "cpu", dlpack.CUDA: "cuda", dlpack.CUDA_MANAGED: "cuda"}

_WHOLE = {Kind.BOOL, Kind.INT, Kind.UINT}
"""Kinds of numbers that are whole: one may be read as another one of the same size."""


def from_dlpack(source: Any, dtype: Any = None, *, copy: bool = False, requires_grad: bool = False) -> array:
    """Return an array over the memory of another library's: NumPy, PyTorch, JAX, CuPy and whatever speaks DLPack.

    Args:
        source: has `__dlpack__`, or `__cuda_array_interface__`; or a capsule that `__dlpack__` returned.
        dtype: a vector type, to take the last axes as components, or another integer type of the same size; the
            source's own dtype if None.
        copy: copy instead of sharing: for what is read-only, as JAX's arrays are.
        requires_grad: whether it has a `.grad`.

    Returns:
        An array over the same bytes, or with `copy` over its own.

    Raises:
        TypeError: the source speaks neither protocol, or holds a dtype that arrays do not support.
        ValueError: it has no dimension or more than 4.
        LaunchError: its memory is read-only, not aligned, or on a device that this machine does not have.
    """
    return _import(source, dtype, copy, requires_grad, only_read=False)


def _import(source: Any, dtype: Any, copy: bool, requires_grad: bool, only_read: bool) -> array:
    """Return an array over another library's memory, which it offers by DLPack or by the CUDA array interface.

    Args:
        source: the other library's array, or a DLPack capsule.
        dtype: a vector type, to take the last axes as components, or another integer type of the same size; None:
            the source's own.
        copy: copy instead of sharing.
        requires_grad: whether the array has a `.grad`.
        only_read: accept read-only DLPack memory; the array is then read-only.

    Raises:
        TypeError: the source speaks neither protocol, or holds a dtype that arrays do not support.
        ValueError: it has no dimension or more than 4.
        LaunchError: its memory is read-only, not aligned, or on a device that this machine does not have.
    """
    refuse_masked(source)
    if hasattr(source, "__dlpack__") or dlpack.is_capsule(source):
        imported = _from_capsule(source, dtype, copy or only_read)
    elif hasattr(source, "__cuda_array_interface__"):
        imported = _from_interface(source, dtype, copy)
    else:
        raise TypeError(f"{its_type(source)} has neither __dlpack__ nor __cuda_array_interface__")
    if copy:
        imported = imported.fresh_like().copy_(imported)
    if requires_grad:
        imported.require_grad()
    return imported


def from_torch(tensor: Any, dtype: Any = None, *, requires_grad: bool | None = None) -> array:
    """Return an array that shares the memory of a PyTorch tensor.

    Args:
        tensor: on the CPU or a CUDA device.
        dtype: a vector type, to take the last axes as components; the tensor's own dtype if None.
        requires_grad: whether it has a `.grad`; None: as the tensor.

    Returns:
        An array over the same bytes.

    Raises:
        TypeError: the tensor holds a dtype that arrays do not support.
        ValueError: it has no dimension or more than 4.
        LaunchError: its memory is read-only, not aligned, or on a device that this machine does not have.
    """
    wanted = bool(getattr(tensor, "requires_grad", False)) if requires_grad is None else requires_grad
    plain = tensor.detach() if getattr(tensor, "requires_grad", False) else tensor
    return from_dlpack(plain, dtype, requires_grad=wanted)


def from_jax(values: Any, dtype: Any = None, *, copy: bool = True, requires_grad: bool = False) -> array:
    """Return a JAX array's values, as an array; by default a copy.

    Args:
        values: a JAX array.
        dtype: a vector type, to take the last axes as components; the array's own dtype if None.
        copy: False shares the memory, and the array is read-only: JAX counts on its arrays never to change.
        requires_grad: whether it has a `.grad`.

    Returns:
        An array with the same values.

    Raises:
        TypeError: the values have a dtype that arrays do not support.
        ValueError: they have no dimension or more than 4.
        LaunchError: their memory is not aligned, or on a device that this machine does not have.
    """
    return _import(values, dtype, copy, requires_grad, only_read=True)


def _from_capsule(source: Any, dtype: Any, may_be_read_only: bool) -> array:
    """Return an array over the memory of a DLPack capsule, or of an object that can be asked for one.

    Raises:
        LaunchError: it is read-only without `may_be_read_only`, or is on a device that arrays cannot be on.
        TypeError: its elements have no type here.
    """
    if dlpack.is_capsule(source):
        taken = Taken(source)
        device = _device_of(*taken.device, source)
    else:
        kind, index = source.__dlpack_device__()
        device = _device_of(int(kind), int(index), source)
        stream: dict[str, Any] = {"stream": _own_stream(device)} if device.is_cuda else {}
        try:
            capsule = source.__dlpack__(**stream, max_version=(1, 0))
        except TypeError:
            capsule = source.__dlpack__(**stream)
        taken = Taken(capsule)
    read_only = taken.read_only or _is_immutable(source)
    if read_only and not may_be_read_only:
        raise LaunchError(
            f"The {type(source).__name__} is read-only, and kernels may write to arrays.", advice="Pass copy=True."
        )
    name = dlpack.CODES.get(taken.code, "")
    name = "bool" if name == "bool" else f"{name}{taken.bits}"
    if name not in NUMBERS or taken.lanes != 1:
        raise TypeError(
            f"{its_type(source)} of DLPack type code {taken.code}, {taken.bits} bits cannot become an array"
        )
    return adopted(taken, device, taken.address, taken.shape, taken.strides, NUMBERS[name], dtype, read_only)


def _is_immutable(source: Any) -> bool:
    """Return whether an array is one of JAX, which counts on its arrays never to change; its capsules do not say so."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(source, jax.Array)


def _device_of(kind: int, index: int, source: Any) -> Device:
    """Return the device of a DLPack device type and index; raise a LaunchError if arrays cannot be there."""
    name = _DEVICES.get(kind)
    if name is None:
        raise LaunchError(
            f"The {type(source).__name__} is on a device of DLPack type {kind}; arrays are on the CPU or CUDA.",
            advice="Copy it to the CPU first.",
        )
    return CPU if name == "cpu" else get_device(f"cuda:{index}")


def _own_stream(device: Device) -> int:
    """Return the number of our current stream on a GPU, as both protocols count: 1 is the legacy default stream."""
    cuda = driver()
    assert cuda is not None
    return int(cuda.stream_handle(device.index)) or 1


def _from_interface(source: Any, dtype: Any, copy: bool) -> array:
    """Return an array over memory described by `__cuda_array_interface__`, after waiting for its stream if necessary.

    Raises:
        LaunchError: it is read-only and not to be copied.
        TypeError: its elements have no type here, or it is masked.
    """
    interface = source.__cuda_array_interface__
    address, read_only = interface["data"]
    host = np.dtype(interface["typestr"])
    if host.name not in NUMBERS or interface.get("mask") is not None:
        raise TypeError(f"{its_type(source)} of {interface['typestr']} cannot become an array")
    if read_only and not copy:
        raise LaunchError(
            f"The {type(source).__name__} is read-only, and kernels may write to arrays.", advice="Pass copy=True."
        )
    device = get_device(f"cuda:{getattr(getattr(source, 'device', None), 'id', 0)}")
    cuda = driver()
    if cuda is not None and interface.get("stream") not in (None, _own_stream(device)):
        cuda.synchronize(device.index)
    strides = interface.get("strides") or dense(interface["shape"], host.itemsize)
    return adopted(source, device, address or 0, tuple(interface["shape"]), tuple(strides), NUMBERS[host.name], dtype)


def adopted(
    owner: Any, device: Device, address: int, shape: tuple[int, ...], strides: tuple[int, ...],
    scalar: Scalar | Complex,
    dtype: Any, read_only: bool = False,
) -> array:  # fmt: skip
    """Return an array over memory that `owner` keeps alive.

    Args:
        owner: what keeps it alive.
        device: where it is.
        address: of the first element.
        shape, strides: of numbers of type `scalar`; strides in bytes.
        scalar: the type of the numbers.
        dtype: a vector type, to take the last axes as components, or another integer type of the same size; None:
            `scalar`.
        read_only: whether the array may only be read.

    Raises:
        TypeError: the memory cannot have the dtype.
        ValueError: the array would have no dimension or more than 4.
        LaunchError: the memory is not aligned for the numbers.
    """
    kind: Scalar | Vector = as_type(dtype) if dtype is not None else scalar
    inner = kind.shape
    dims = len(shape) - len(inner)
    own = number_type(kind)
    kinds = {getattr(number, "kind", None) for number in (own, scalar)}
    same = own == scalar or (own.size == scalar.size and kinds <= _WHOLE)
    fits = same and shape[max(dims, 0) :] == inner
    if not fits or (prod(shape) and strides[dims:] != dense(inner, scalar.size)):
        raise TypeError(f"an array of {scalar!r} of shape {shape} cannot become one of {kind!r}")
    if not 1 <= dims <= MAX_NDIM:
        raise ValueError(f"an array has 1 to 4 dimensions; this one has {dims}")
    least = element(scalar).size
    if address % least or any(s % least for s in strides):
        raise LaunchError(f"The memory is not aligned for {scalar!r}.", advice="Pass copy=True when you create it.")
    adopted_array = object.__new__(array)
    memory = Memory(device, address, 0, owner)
    memory.read_only, memory.shared = read_only, not (read_only or device.is_cuda)
    adopted_array.bind(memory, kind, shape[:dims], strides[:dims], False, address)
    low, high = extent(adopted_array)
    memory.address, memory.nbytes = low, high - low
    return adopted_array
