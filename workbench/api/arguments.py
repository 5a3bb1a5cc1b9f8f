"""From what a user passes to what a launch needs: types for generic parameters, checked values for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.api.kernel import Kernel
from workbench.errors import KernelTypeError, LaunchError
from workbench.runtime.array import array
from workbench.runtime.create import from_numpy
from workbench.runtime.device import Device
from workbench.runtime.structure import StructValue, arrays_in, same_struct, spread
from workbench.runtime.symbol import Symbol
from workbench.structs import AnyType, Struct, StructArray
from workbench.types import SCALARS, ArrayType, Kind, Scalar, Vector, float32, int32
from workbench.types import bool as bool_

NUMBERS = (bool, int, float, np.bool_, np.number)


def as_dims(dim: Any, kernel: str) -> tuple[int, ...]:
    """A launch's dimensions: an int or 1 to 4 ints of at least 0.

    Raises:
        LaunchError: anything else.
    """
    if (
        type(dim) is tuple
        and 1 <= len(dim) <= 4
        and {type(n) for n in dim} == {int}
        and 0 <= min(dim) <= max(dim) < 2**31
    ):
        return dim
    given = tuple(dim) if isinstance(dim, (tuple, list, np.ndarray)) else (dim,)
    if not 1 <= len(given) <= 4 or not all(isinstance(n, (int, np.integer)) and n >= 0 for n in given):
        raise LaunchError(f"{kernel}: dim is 1 to 4 integers of at least 0, not {dim!r}.", parameter="dim")
    if any(n >= 2**31 for n in given):
        raise LaunchError(f"{kernel}: a dimension of {max(given)} is too large; each is below 2³¹.", parameter="dim")
    return tuple(int(n) for n in given)


def as_block_dim(value: Any, kernel: str) -> int:
    """Threads of a block: an int from 1 to 1024.

    Raises:
        LaunchError: anything else.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= 1024:
        raise LaunchError(
            f"{kernel}: block_dim is a whole number from 1 to 1024, not {value!r}.", parameter="block_dim"
        )
    return int(value)


def as_stream(stream: Any, device: Device, kernel: str) -> Any:
    """The stream itself, where it can be one of this device.

    Raises:
        LaunchError: the device is the CPU, or the stream is another device's.
    """
    if stream is None:
        return None
    if not device.is_cuda:
        raise LaunchError(
            f"{kernel}: the launch is on the CPU, which has no streams.", parameter="stream", advice="Leave stream out."
        )
    owner = getattr(stream, "device", device)
    if isinstance(owner, Device) and owner != device:
        raise LaunchError(f"{kernel}: the stream is of {owner}; the launch is on {device}.", parameter="stream")
    return stream


def wrong_count(kernel: Kernel, values: Sequence[Any]) -> LaunchError:
    """The error for too few or too many arguments."""
    if len(values) < len(kernel.parameters):
        missing = ", ".join(kernel.parameters[len(values) :])
        return LaunchError(f"{kernel.name} takes {len(kernel.parameters)} arguments; {missing} is missing.")
    return LaunchError(f"{kernel.name} takes {len(kernel.parameters)} arguments; {len(values)} were given.")


def deduce(kernel: Kernel, values: Sequence[Any]) -> tuple[AnyType, ...]:
    """One type a parameter: its annotation, or what the argument is."""
    return tuple(
        annotation if annotation is not None else _member(kernel, name, value)
        for (name, annotation), value in zip(kernel.annotations.items(), values, strict=True)
    )


def _member(kernel: Kernel, name: str, value: Any) -> AnyType:
    """The type of an argument of a generic parameter: within its family, where it has one."""
    family = kernel.families.get(name)
    if family is None:
        return _type_of(kernel, name, value)
    if isinstance(value, np.ndarray) and value.dtype.name in SCALARS and value.ndim:
        type: AnyType = ArrayType(SCALARS[value.dtype.name], value.ndim)
    else:
        type = _type_of(kernel, name, value)
    if isinstance(value, int) and not isinstance(value, bool) and not family.accepts(type) and family.accepts(float32):
        type = float32
    if not family.accepts(type):
        raise LaunchError(f"{kernel.name}: {name} takes {family!r}; the argument is {type!r}.", parameter=name)
    return type


def _type_of(kernel: Kernel, name: str, value: Any) -> AnyType:
    if isinstance(value, (array, Symbol)):
        return value.type
    if isinstance(value, StructValue):
        return value.__wb_struct__
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.name in SCALARS:
        scalar = SCALARS[value.dtype.name]
        if value.ndim == 0:
            return scalar
        if value.ndim == 1 and 2 <= value.size <= 4:
            return Vector(value.size, scalar)
        return ArrayType(scalar, value.ndim)
    for python, type in ((bool, bool_), (int, int32), (float, float32)):
        if isinstance(value, python):
            return type
    raise _wrong(kernel, name, "an array or a number", value)


def check(kernel: Kernel, name: str, type: AnyType, value: Any, device: Device) -> Any:
    """The argument as the packer takes it.

    Raises:
        LaunchError: wrong dtype, dimensions, device or kind; the message names the parameter.
    """
    if isinstance(type, ArrayType):
        return _array(kernel, name, type, value, device)
    if isinstance(type, StructArray):
        return _array(kernel, name, type, value, device)
    if isinstance(type, Struct):
        return _struct(kernel, name, type, value, device)
    if isinstance(value, Symbol):
        return value.become(kernel.name, name, type)
    if isinstance(type, Vector):
        return _vector(kernel, name, type, value)
    if not isinstance(value, NUMBERS):
        if isinstance(value, array):
            raise LaunchError(
                f"{kernel.name}: {name} is {type!r}; the argument is an array.", parameter=name,
                advice=f"Pass a number, or annotate {name} as {value.type!r}.",
            )  # fmt: skip
        raise _wrong(kernel, name, repr(type), value)
    return _number(kernel, name, type, value)


def _number(kernel: Kernel, name: str, type: Scalar, value: Any) -> Any:
    if type == bool_:
        return bool(value)
    if type.kind is Kind.FLOAT:
        return float(value)
    if isinstance(value, (float, np.floating)):
        raise LaunchError(
            f"{kernel.name}: {name} is {type!r}; {value!r} is a float.", parameter=name, advice=f"Pass int({value!r})."
        )
    number = int(value)
    low = 0 if type.kind is Kind.UINT else -(2 ** (type.bits - 1))
    if not low <= number < low + 2**type.bits:
        raise LaunchError(f"{kernel.name}: {number} does not fit {name}, which is {type!r}.", parameter=name)
    return number


def _vector(kernel: Kernel, name: str, type: Vector, value: Any) -> tuple[Any, ...]:
    if isinstance(value, array) or np.shape(value) != type.shape:
        wanted = " × ".join(map(str, type.shape))
        raise _wrong(kernel, name, f"{type!r}: {wanted} numbers", value)
    flat = value if len(type.shape) == 1 else [v for row in value for v in row]
    return tuple(_number(kernel, name, type.dtype, v) for v in flat)


def _struct(kernel: Kernel, name: str, type: Struct, value: Any, device: Device) -> StructValue:
    """The struct, where it is one of this type or of another of the same content."""
    try:
        found = same_struct(type, value, name)
    except KernelTypeError as error:
        raise LaunchError(f"{kernel.name}: {error.message}", parameter=name, advice=error.advice) from None
    for a in arrays_in(found):
        if a.device != device:
            raise LaunchError(
                f"{kernel.name}: an array in {name} is on {a.device}; the launch is on {device}.", parameter=name
            )
    return found


def spread_adjoints(
    kernel: Kernel, types: Sequence[AnyType], given: Mapping[str, Any], device: Device
) -> dict[str, Any]:
    """Adjoints by parameter of the IR: those of a struct come from an array of one such struct, field by field.

    Raises:
        LaunchError: what is given for a struct is no array of it.
    """
    found: dict[str, Any] = {}
    for (name, value), type in zip(given.items(), types, strict=False):
        if value is None or not isinstance(type, (Struct, StructArray)):
            found[name] = value
            continue
        if isinstance(type, StructArray):
            found |= spread(name, check(kernel, f"adj_{name}", type, value, device))
            continue
        if isinstance(value, StructValue):  # its arrays are adjoint arrays; of its numbers nobody keeps the sum
            parts = spread(name, _struct(kernel, f"adj_{name}", type, value, device))
            found |= {n: v for n, v in parts.items() if isinstance(v, array)}
            continue
        whole = check(kernel, f"adj_{name}", StructArray(type, 1), value, device)
        found |= {f"{name}.{path}": a for path, a in whole.field_arrays().items()}
    return found


def _array(kernel: Kernel, name: str, type: ArrayType | StructArray, value: Any, device: Device) -> array:
    if isinstance(value, np.ndarray) and not device.is_cuda:
        value = _wrap(kernel, name, type, value)
    if not isinstance(value, array):
        raise _wrong(kernel, name, repr(type), value)
    if value.dtype != type.dtype or value.ndim != type.ndim:
        if isinstance(type, StructArray) and isinstance(value.dtype, Struct) and value.dtype != type.dtype:
            raise LaunchError(
                f"{kernel.name}: {name} is {type!r}; the elements of this array are another struct: "
                f"{type.dtype.difference(value.dtype)}.",
                parameter=name, advice="Make the array anew, or run the kernel's cell again.",
            )  # fmt: skip
        what = "dtype" if value.dtype != type.dtype else "number of dimensions"
        raise LaunchError(
            f"{kernel.name}: {name} is {type!r}; it got {value.type!r} of shape {value.shape}: another {what}.",
            parameter=name, advice=f"Make it with dtype={type.dtype!r}." if what == "dtype" else "",
        )  # fmt: skip
    if value.device != device:
        raise LaunchError(
            f"{kernel.name}: {name} is on {value.device}; the launch is on {device}.", parameter=name,
            advice=f"Pass {name}.to({device.name!r}), or launch with device={value.device.name!r}.",
        )  # fmt: skip
    return value


def _wrap(kernel: Kernel, name: str, type: ArrayType | StructArray, value: np.ndarray[Any, Any]) -> array:
    """A NumPy array as ours, without a copy."""
    if not value.flags.writeable or not value.flags.aligned:
        raise LaunchError(
            f"{kernel.name}: the NumPy array for {name} is read-only or not aligned.",
            parameter=name,
            advice="Pass a copy.",
        )
    try:
        if isinstance(type, StructArray):
            return from_numpy(value, type.dtype)
        wanted = type.dtype if isinstance(type.dtype, Vector) and value.dtype == type.dtype.dtype.numpy else value.dtype
        return from_numpy(value, wanted)
    except (TypeError, ValueError) as error:
        raise LaunchError(f"{kernel.name}: {name} is {type!r}; {error}.", parameter=name) from None


def _wrong(kernel: Kernel, name: str, wanted: str, value: Any) -> LaunchError:
    return LaunchError(
        f"{kernel.name}: {name} takes {wanted}; the argument is a {type(value).__name__}.", parameter=name
    )
