"""Arguments of CUDA C++ kernels that are no numbers and no arrays of them: structs, complex numbers, tables of arrays.

The compiler says what a class has (`probe`), so what Python passes is compared with it, field by field. A launch then
knows bytes: an array of structs is a view of its bytes, and a struct by value is a vector of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from workbench.backends.cuda.user_source.probe import Element, Field
from workbench.backends.cuda.user_source.signature import Parameter
from workbench.errors import KernelTypeError, LaunchError, its_type
from workbench.host.narrow import HostArray
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.structure import StructValue, number
from workbench.runtime.arrays.views import flat_as
from workbench.runtime.device.device import Device
from workbench.structs import Struct
from workbench.types import Vector, uint8


def as_argument(kernel: str, p: Parameter, value: Any, device: Device) -> Any:
    """Return the argument in the form that a launch takes.

    A struct becomes the numbers that its bytes are, an array of structs a view of its bytes, a list for a pointer
    to pointers an array of addresses, a complex number a pair; all else is returned unchanged.

    Raises:
        LaunchError: it does not fit the parameter's class; or it holds addresses, and something records the launch.
    """
    element = p.element
    if element is None:
        return value
    if element.depth == 2:
        return _table(kernel, p, value, device)
    if not p.pointer:
        return _by_value(kernel, p, element, value)
    if not isinstance(value, array) or (element.type is not None and not isinstance(value.dtype, Struct)):
        return value
    of: Any = value.dtype
    problem = _differs(element, None if of == uint8 else of.numpy, value.nbytes)
    if not value.is_contiguous:
        problem = "has gaps; pass a dense copy"
    if value.requires_grad:
        problem = "requires a gradient, and CUDA C++ has none of structs; pass one that does not"
    if problem:
        raise LaunchError(f"{kernel}: {p.name} is `{p.text}`; the array {problem}.", parameter=p.name)
    return flat_as(value, p.type)


def host_bytes(kernel: str, p: Parameter, value: HostArray) -> HostArray:
    """Return a NumPy array for a pointer as an array of numbers: complex ones as pairs, structs as their bytes.

    An array of plain numbers is returned unchanged.

    Raises:
        LaunchError: its structs are others than the parameter's.
    """
    element, dense = p.element, cast("HostArray", np.ascontiguousarray(value))
    if element is None or element.depth == 2 or (element.type is not None and value.dtype.names is None):
        pairs = isinstance(p.type, Vector) and p.type.length == 2 and value.dtype.kind == "c"
        return dense.view(f"f{value.dtype.itemsize // 2}").reshape(*value.shape, 2) if pairs else value
    if problem := _differs(element, value.dtype if value.dtype != np.uint8 else None, value.nbytes):
        raise LaunchError(f"{kernel}: {p.name} is `{p.text}`; the array {problem}.", parameter=p.name)
    scalar = p.type.dtype if isinstance(p.type, Vector) else p.type
    return dense.reshape(-1).view(scalar.numpy).reshape(-1, *p.type.shape)


def _differs(element: Element, dtype: np.dtype[Any] | None, nbytes: int) -> str:
    """Return how an array's elements differ from a class's layout, as a phrase; empty if they fit.

    Plain bytes (`dtype` None) fit if they are a multiple of the class's size.
    """
    if dtype is None or (element.size == 1 and not element.fields):  # void* takes anything
        return "" if nbytes % element.size == 0 else f"has {nbytes} bytes, no multiple of {element.size}"
    if dtype.itemsize != element.size:
        return f"has elements of {dtype.itemsize} bytes, not {element.size}"
    if dtype.names is None or not element.fields:
        return f"has elements of {dtype}; pass a structured array ({_shown(element)})" if element.known else ""
    theirs: Any = dtype.fields or {}
    for f in element.fields:
        other: Any = theirs.get(f.name)
        if other is None:
            return f"has no field {f.name} ({_shown(element)})"
        if other[1] != f.offset or other[0].itemsize != f.size:
            return f"has {f.name} at byte {other[1]} in {other[0].itemsize}, not at {f.offset} in {f.size}"
        if f.type is not None and other[0].base.names is None and other[0].base != f.type.numpy:
            return f"has {f.name} of {other[0]}, not {f.type!r}"
    more = set(dtype.names) - {f.name for f in element.fields} if element.known else set[str]()
    return f"has a field {min(more)}, which the class has not" if more else ""


def _shown(element: Element) -> str:
    """Return a struct's layout for an error message: "x: float32 at 0, …", or its size if its fields are unknown."""
    return ", ".join(f"{f.name}: {f.type!r} at {f.offset}" for f in element.fields) or f"{element.size} bytes"


def _by_value(kernel: str, p: Parameter, element: Element, value: Any) -> Any:
    """Return the argument for a parameter that is no pointer.

    A struct becomes the numbers that its bytes are, a complex number a pair; numbers and vectors are unchanged.

    Raises:
        LaunchError: it does not fit the class.
    """
    if element.type is not None and isinstance(p.type, Vector) and np.iscomplexobj(value) and np.ndim(value) == 0:
        return value.real, value.imag
    if element.type is not None and not isinstance(value, (StructValue, Mapping, np.void)):
        return cast("object", value)
    fields: Any = value  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, StructValue):
        fields = {f.name: getattr(value, f.name) for f in value.__wb_struct__.fields}
    if getattr(getattr(fields, "dtype", None), "names", None) is not None:
        problem, data = _differs(element, fields.dtype, fields.nbytes), fields.tobytes()
    elif isinstance(fields, (bytes, np.void)):
        data = _raw(fields)
        problem = "" if len(data) == element.size else f"has {len(data)} bytes"
    else:
        problem, data = _packed(kernel, p, element, fields)
    if problem:
        raise LaunchError(
            f"{kernel}: {p.name} is `{p.text}`; the value {problem}.",
            parameter=p.name,
            advice=f"Pass a tuple, a dict or a wb.struct of {_shown(element)}.",
        )
    scalar = p.type.dtype if isinstance(p.type, Vector) else p.type
    numbers = np.frombuffer(data, scalar.numpy).tolist()
    return tuple(numbers) if isinstance(p.type, Vector) else numbers[0]


def _raw(value: Any) -> bytes:
    """Return the bytes of a value, which is bytes or a NumPy scalar."""
    return value if isinstance(value, bytes) else value.tobytes()


def _packed(kernel: str, p: Parameter, element: Element, value: Any) -> tuple[str, bytes]:
    """Pack a tuple or a dict of a struct's fields; return what is wrong with it (empty if nothing), and the bytes."""
    if element.size == 1 and not element.fields and not value:  # a class without members, such as a functor
        return "", b"\0"
    if not element.known:
        return f"has to be {element.size} bytes, or () if it is empty: not all of its members are seen", b""
    if not isinstance(value, (Mapping, tuple, list)):
        return f"is {its_type(cast('object', value))}", b""
    items: dict[str, Any] = dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}
    items = items or dict(zip((f.name for f in element.fields), cast("Sequence[Any]", value), strict=False))
    if len(cast("Sequence[Any]", value)) != len(element.fields) or set(items) != {f.name for f in element.fields}:
        return f"has other fields ({', '.join(map(str, items))})", b""
    out = bytearray(element.size)
    for f in element.fields:
        out[f.offset : f.offset + f.size] = _field(kernel, p, f, items[f.name])
    return "", bytes(out)


def _field(kernel: str, p: Parameter, f: Field, value: Any) -> bytes:
    """Return the bytes of one field of a struct argument; an array in a pointer's field becomes its address.

    Raises:
        LaunchError: the value does not fit the field, or is an array while something records launches.
    """
    if f.pointer and isinstance(value, array):
        _refuse_recorded(kernel, p)
        value = value.address
    shape = () if f.type is None or f.type.size == f.size else (f.size // f.type.size,)
    try:
        if f.type is None or np.shape(value) != shape:
            data = _raw(value) if isinstance(value, (bytes, np.void)) else b""
            if len(data) != f.size:
                raise KernelTypeError(f"it is {f.size} bytes, not {value!r}")
            return data
        numbers = [number(f.type, v, f.name) for v in (value if shape else [value])]
        return np.array(numbers, f.type.numpy).tobytes()
    except KernelTypeError as error:
        raise LaunchError(f"{kernel}: {p.name}.{f.name}: {error.message}", parameter=p.name) from None


def _table(kernel: str, p: Parameter, value: Any, device: Device) -> Any:
    """Return an array on the device with the addresses of the arrays in a list; anything else unchanged.

    Raises:
        LaunchError: the list holds other things or arrays elsewhere, or something records the launch.
    """
    if not isinstance(value, (tuple, list)):
        return value
    arrays = cast("Sequence[Any]", value)
    if not all(isinstance(a, array) and a.device == device for a in arrays):
        raise LaunchError(f"{kernel}: {p.name} is `{p.text}`: pass a list of arrays on {device}.", parameter=p.name)
    _refuse_recorded(kernel, p)
    table = array(np.array([a.address for a in arrays] or [0], np.uint64), device=device)
    weakref.finalize(table, lambda *_: None, *arrays)  # they live as long as what points to them
    return table


def _refuse_recorded(kernel: str, p: Parameter) -> None:
    """Raise a LaunchError if a tape, record or graph observes launches: it misses arrays passed by address."""
    if OBSERVERS.get():
        raise LaunchError(
            f"{kernel}: {p.name} reaches arrays through addresses in memory, which no tape, record or graph sees.",
            parameter=p.name,
            advice="Launch it outside of them, or give the kernel a parameter for each array.",
        )
