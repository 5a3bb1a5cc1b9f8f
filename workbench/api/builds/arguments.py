"""From what a user passes to what a launch needs: types for generic parameters, checked values for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, TypeAlias, cast

import numpy as np

from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.errors import KernelTypeError, LaunchError, WorkbenchError, its_type
from workbench.host.narrow import HostArray, is_numpy, is_numpy_array
from workbench.host.uniform import IN_USE, Uniform
from workbench.host.vectors import HostVector
from workbench.limits import BLOCK_THREADS
from workbench.ranges import fits, misfit
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty, from_numpy
from workbench.runtime.arrays.host_convert import is_masked
from workbench.runtime.arrays.indexed import indexedarray, plain
from workbench.runtime.arrays.shapes import Symbol
from workbench.runtime.arrays.structure import StructValue, arrays_in, is_number, same_struct, spread
from workbench.runtime.device.device import Device, is_peer_access_enabled
from workbench.runtime.launching.geometry import Block
from workbench.runtime.launching.record import BY_OCCUPANCY
from workbench.structs import Absent, AnyType, IndexedArray, Struct, StructArray
from workbench.types import (
    NUMBERS,
    Aggregate,
    ArrayType,
    Complex,
    Kind,
    Scalar,
    Vector,
    complex64,
    float32,
    int32,
    is_wide,
    number_type,
)
from workbench.types import bool as bool_

Dim: TypeAlias = "int | tuple[int, ...] | list[int] | HostArray"
"""A launch's dimensions, as a user writes them."""


def as_dims(dim: Dim, kernel: str) -> tuple[int, ...]:
    """Return a launch's dimensions: 1 to 4 non-negative integers, each below 2³¹ unless one of them is 0.

    Raises:
        LaunchError: anything else.
    """
    if type(dim) is int and 0 <= dim < 2**31:
        return (dim,)
    if type(dim) is tuple and 1 <= len(dim) <= 4 and set(map(type, dim)) == {int} and 0 <= min(dim) <= max(dim) < 2**31:
        return dim
    sizes = as_sizes(dim, kernel)
    if 0 not in sizes and max(sizes) >= 2**31:
        raise LaunchError(
            f"{kernel}: a dimension of {max(sizes)} is too large; each is below 2³¹, as tid() is an int32.",
            advice="Launch over two dimensions, (rows, columns), and write n = int64(i) * columns + j.",
            parameter="dim",
        )
    return sizes


def as_sizes(dim: Dim, kernel: str) -> tuple[int, ...]:
    """Return a launch's dimensions: 1 to 4 non-negative integers, which may be too large for `tid()` to count.

    Raises:
        LaunchError: they are anything else.
    """
    dim = np.atleast_1d(dim) if isinstance(dim, np.ndarray) else dim
    sizes: tuple[Any, ...] = tuple(dim) if isinstance(dim, (tuple, list, np.ndarray)) else (dim,)
    if any(isinstance(n, (array, np.ndarray)) for n in sizes):
        raise LaunchError(
            f"{kernel}: dim is missing: the threads come before the arguments.",
            parameter="dim",
            advice=f"Write wb.launch({kernel}, n, […]) or {kernel}[n](…).",
        )
    if not 1 <= len(sizes) <= 4 or not all(isinstance(n, (int, np.integer)) and n >= 0 for n in sizes):
        message = f"{kernel}: dim has at most 4 dimensions, each a non-negative integer; this is {dim!r}."
        raise LaunchError(message, parameter="dim")
    return tuple(n + 0 if isinstance(n, int) else int(n) for n in sizes)


def as_blocks(dims: tuple[int, ...], specialisation: Specialisation, kernel: str) -> tuple[int, ...]:
    """Return how many blocks run for `dims` threads; for a kernel that runs once per thread, `dims` unchanged.

    Raises:
        LaunchError: the threads do not fill whole blocks.
    """
    if specialisation.tiling is None:
        return dims
    if (threads := int(np.prod(dims))) % (block := specialisation.tiling.block_dim):
        raise LaunchError(
            f"{kernel} uses tiles, so it runs in whole blocks: {threads} threads, block_dim {block}.",
            parameter="dim",
            advice="Launch a multiple of block_dim, or count blocks: wb.launch_tiled(kernel, dim=[…], …).",
        )
    return (threads // block,)


def as_block_dim(value: int | np.integer[Any] | Block | None, kernel: str) -> int:
    """Return the threads of a block, an int from 1 to 1024; `BY_OCCUPANCY` if the value is None.

    Raises:
        LaunchError: anything else.
    """
    if value is None:
        return BY_OCCUPANCY
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= BLOCK_THREADS:
        raise LaunchError(
            f"{kernel}: block_dim is an int from 1 to {BLOCK_THREADS} or None, not {value!r}.", parameter="block_dim"
        )
    return int(value)


def as_stream(stream: object, device: Device, kernel: str) -> object:
    """Return the stream if it belongs to this device; None if it is None, or on the CPU, which works synchronously.

    Raises:
        LaunchError: the stream is another device's, or is no CUDA stream.
    """
    if stream is None:
        return None
    owner = getattr(stream, "device", device if device.is_cuda else None)
    if owner is None or (isinstance(owner, Device) and owner != device):
        what = f"of {owner}" if owner is not None else "none of Workbench's"
        raise LaunchError(
            f"{kernel}: the stream is {what}; the launch is on {device}.",
            parameter="stream",
            advice=f'Use a stream of its device, wb.Stream("{device}"), or leave stream out.',
        )
    if device.is_cuda and not hasattr(stream, "handle") and not hasattr(stream, "__cuda_stream__"):
        raise LaunchError(
            f"{kernel}: {its_type(stream)} is not a CUDA stream.",
            parameter="stream",
            advice=f'Use wb.Stream("{device}"), or a stream of a library that has __cuda_stream__.',
        )
    return stream if device.is_cuda else None


def listed(kernel: Kernel, inputs: Sequence[object], outputs: Sequence[object]) -> list[object]:
    """Return the arguments of a launch, with defaults for those left out and uniforms replaced by their values.

    There are fewer than parameters if one that was left out has no default.

    Raises:
        LaunchError: inputs or outputs are not lists.
    """
    require_lists(kernel, inputs, outputs)
    try:
        values = [*inputs, *outputs]
    except TypeError:
        raise not_listed(kernel, (), inputs, outputs) from None
    values += defaults_after(kernel, len(values))
    take_uniforms(kernel, values)
    return values


def require_lists(kernel: Kernel, inputs: object, outputs: object) -> None:
    """Refuse what can be iterated but is no list of arguments.

    Raises:
        LaunchError: the inputs or outputs are an array, a dict, a string or a set.
    """
    if any(isinstance(values, (array, np.ndarray, Mapping, str, Set)) for values in (inputs, outputs)):
        raise not_listed(kernel, (), inputs, outputs)


def defaults_after(kernel: Kernel, count: int) -> list[object]:
    """Return the defaults of all parameters after the first `count`; an empty list if one of them has no default.

    The kernel's parameters are updated first for the uniforms that it reads.
    """
    if IN_USE and hasattr(kernel, "follow_uniforms"):
        kernel.follow_uniforms()
    rest = getattr(kernel, "parameters", ())[count:]  # `prepare` refuses what is no kernel
    return [kernel.defaults[n] for n in rest] if all(n in kernel.defaults for n in rest) else []


def take_uniforms(kernel: Kernel, values: list[object]) -> Mapping[str, Uniform]:
    """Replace uniforms (values that a slider or the like may change) among the arguments by their current values.

    Args:
        kernel: whose arguments these are.
        values: in the order of its parameters; changed in place.

    Returns:
        The uniforms, by parameter.
    """
    uniforms: dict[str, Uniform] = {}
    if IN_USE and hasattr(kernel, "annotations"):
        for k, (name, value) in enumerate(zip(kernel.parameters, values, strict=False)):
            if isinstance(value, Uniform):
                uniforms[name] = value
                type = kernel.annotations[name]
                values[k] = _in_array(value, type, values) if isinstance(type, ArrayType) else value.peek()
    return uniforms


def _in_array(uniform: Uniform, type: ArrayType, values: Sequence[object]) -> array:
    """Return an array of one element that holds the uniform's value, on the device of the other arguments.

    There is one for each type and device, which the uniform keeps up to date.
    """
    device = next((a.device for v in values for a in arrays_in(v)), None)
    key = type.dtype, device
    if key not in uniform.arrays:
        uniform.arrays[key] = array(np.array([uniform.peek()]), type.dtype, device=device)
    return uniform.arrays[key]


def with_defaults(
    kernel: Kernel, dim: object, inputs: Sequence[object], outputs: Sequence[object]
) -> tuple[list[object], Sequence[object], Mapping[str, Uniform]]:
    """Return the arguments of a launch with defaults for those left out.

    Returns:
        The arguments, fewer than parameters if one left out has no default; the outputs with the defaults that
        follow them; and uniforms by parameter.

    Raises:
        LaunchError: inputs or outputs are not lists.
    """
    try:
        values = [*inputs, *outputs]
    except TypeError:
        raise not_listed(kernel, dim, inputs, outputs) from None
    few = IN_USE or len(values) < len(getattr(kernel, "parameters", ()))
    rest = defaults_after(kernel, len(values)) if few else []
    values += rest
    return values, [*outputs, *rest] if rest else outputs, take_uniforms(kernel, values) if IN_USE else {}


def not_listed(kernel: Kernel, dim: object, inputs: object, outputs: object) -> LaunchError:
    """Return the error for inputs or outputs that are no list; it says if `dim` holds arrays, and so was left out."""
    well = isinstance(inputs, Sequence) and not isinstance(inputs, str)
    name, passed = "outputs" if well else "inputs", cast("object", outputs if well else inputs)
    if isinstance(dim, (list, tuple)) and any(isinstance(e, (array, np.ndarray)) for e in cast("list[object]", dim)):
        message = f"{kernel.name}: the threads come before the arguments."
        return LaunchError(message, advice=f"Write wb.launch({kernel.name}, {passed!r}, […]).")
    message = f"{kernel.name}: {name} is a list with one value per parameter; this is {its_type(passed)}."
    return LaunchError(message, advice=f"Write {name}=[…].")


def wrong_count(kernel: Kernel, values: Sequence[object]) -> LaunchError:
    """Return the error for too few or too many arguments: it names the missing parameters, or counts the arguments."""
    if len(values) < len(kernel.parameters):
        missing = kernel.parameters[len(values) :]
        problem = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        return LaunchError(f"{kernel.name} takes {_counted(len(kernel.parameters))}; {problem}.")
    return LaunchError(f"{kernel.name} takes {_counted(len(kernel.parameters))}; {len(values)} were given.")


def deduce(kernel: Kernel, values: Sequence[object]) -> tuple[AnyType, ...]:
    """Return one type per parameter: its annotation, or for a generic parameter the argument's type.

    An annotated array passed as None is `Absent`; one with a size beyond int32 is of the wide type; an indexed one is
    of the type for the dimensions that have indices.
    """
    return tuple(
        _member(kernel, name, value)
        if annotation is None
        else Absent(annotation.dtype, annotation.ndim)
        if value is None and isinstance(annotation, ArrayType) and not isinstance(annotation, IndexedArray)
        else _widened(annotation, value)
        for (name, annotation), value in zip(kernel.annotations.items(), values, strict=True)
    )


def deduce_pointer(kernel: Kernel, name: str, dtype: Scalar | Vector, value: object) -> ArrayType:
    """Return the type of an array passed for a C++ pointer to `dtype`; it may have any number of dimensions.

    Raises:
        LaunchError: the value is no array.
    """
    if not isinstance(value, array) and not is_numpy_array(value):
        raise _wrong(kernel, name, f"an array of {dtype!r}", value)
    rows = len(dtype.shape) if is_numpy_array(value) and value.dtype == dtype.numpy else 0
    return ArrayType(dtype, max(1, value.ndim - rows), wide=is_wide(value.shape))


def _widened(annotation: AnyType, value: object) -> AnyType:
    """Return the annotation, refined by the argument.

    An array's type gets sizes in 64 bits if the argument needs them; an indexed array's gets the dimensions that have
    indices. All else is returned unchanged.
    """
    if isinstance(annotation, IndexedArray):
        indexed = value.type.indexed if isinstance(value, indexedarray) else (False,) * annotation.ndim
        return IndexedArray(annotation.dtype, annotation.ndim, indexed=indexed)
    if isinstance(annotation, ArrayType) and is_wide(getattr(value, "shape", ())):
        return ArrayType(annotation.dtype, annotation.ndim, wide=True)
    return annotation


def _member(kernel: Kernel, name: str, value: object) -> AnyType:
    """Return the type of an argument of a generic parameter.

    A NumPy array has a type here as well. An int is a float32 where the parameter's family takes floats only.

    Raises:
        LaunchError: the type is outside the parameter's family, or the value has none.
    """
    family = kernel.families.get(name)
    if family is None:
        return _type_of(kernel, name, value)
    if is_numpy_array(value) and value.dtype.name in NUMBERS and value.ndim:
        type: AnyType = ArrayType(NUMBERS[value.dtype.name], value.ndim, wide=is_wide(value.shape))
    else:
        type = _type_of(kernel, name, value)
    if isinstance(value, int) and not isinstance(value, bool) and not family.accepts(type) and family.accepts(float32):
        type = float32
    if not family.accepts(type):
        raise LaunchError(f"{kernel.name}: {name} takes {family!r}; the argument is {type!r}.", parameter=name)
    return type


def _type_of(kernel: Kernel, name: str, value: object) -> AnyType:
    """Return the type of an argument whose parameter has no annotation.

    A Python float counts as float32, an int as int32, a complex as complex64; NumPy values have their dtype's type.

    Raises:
        LaunchError: it is no array, number, vector, or struct.
    """
    if isinstance(value, (array, indexedarray, Symbol)) or (isinstance(value, HostVector) and value.type is not None):
        return value.type
    if isinstance(value, StructValue):
        return value.__wb_struct__
    if is_numpy(value) and value.dtype.name in NUMBERS:
        scalar = NUMBERS[value.dtype.name]
        if value.ndim == 0:
            return scalar
        return ArrayType(scalar, value.ndim, wide=is_wide(value.shape))
    for python, type in ((bool, bool_), (int, int32), (float, float32), (complex, complex64)):
        if isinstance(value, python):
            return type
    raise _wrong(kernel, name, "an array or a number", value)


def check(kernel: Kernel, name: str, type: AnyType, value: object, device: Device) -> object:
    """Return the argument as a launch packs it: an array, a Python number, a flat tuple of components, or a struct.

    Raises:
        LaunchError: wrong dtype, dimensions, device or kind; the message names the parameter.
    """
    if isinstance(value, Uniform):
        value = value.peek()
    if is_masked(value):
        raise LaunchError(
            f"{kernel.name}: {name} is a masked array, and arrays have no mask.",
            parameter=name,
            advice=f"Pass {name}.filled(…), with a value for what is hidden.",
        )
    if isinstance(type, Absent):
        if value is not None:
            raise LaunchError(
                f"{kernel.name}: {name} was None when this launch was made; its code has no array there.",
                parameter=name,
                advice=f"Make the launch again, with an array for {name}.",
            )
        return empty((0,) * type.ndim, type.dtype, device)
    if isinstance(type, IndexedArray):
        return _indexed(kernel, name, type, value, device)
    if isinstance(type, ArrayType):
        return check_array(kernel, name, type, value, device)
    if isinstance(type, StructArray):
        return check_array(kernel, name, type, value, device)
    if isinstance(type, Struct):
        return _struct(kernel, name, type, value, device)
    assert not isinstance(type, Aggregate)
    if isinstance(value, Symbol):
        return value.become(kernel.name, name, type)
    if isinstance(type, Vector) and type.shape:
        return _vector(kernel, name, type, value)
    if isinstance(type, Complex):
        return _complex(kernel, name, type, value)
    if not is_number(value):
        if isinstance(value, array):
            raise LaunchError(
                f"{kernel.name}: {name} is {type!r}; the argument is an array.",
                parameter=name,
                advice=f"Pass a number, or annotate {name} as {value.type!r}.",
            )
        raise _wrong(kernel, name, repr(type), value)
    return _number(kernel, name, cast("Scalar", type), value)


def _number(kernel: Kernel, name: str, type: Scalar, value: Any) -> bool | int | float:
    """Return the argument as a Python bool, int or float.

    Raises:
        LaunchError: it is out of the type's range, or a float for an integer parameter.
    """
    if type == bool_:
        return bool(value)
    if type.kind is Kind.FLOAT:
        if not fits(value, type):
            raise LaunchError(
                f"{kernel.name}: {misfit(value, type, name)}.", parameter=name, advice="Pass inf where that is meant."
            )
        return float(value)
    if isinstance(value, (float, np.floating)):
        raise LaunchError(
            f"{kernel.name}: {name} is {type!r}; {value!r} is a float.", parameter=name, advice=f"Pass int({value!r})."
        )
    number = int(value)
    if not fits(number, type):
        raise LaunchError(f"{kernel.name}: {misfit(number, type, name)}.", parameter=name)
    return number


def _complex(kernel: Kernel, name: str, type: Complex, value: Any) -> complex:
    """Return the argument as a Python complex; raise a LaunchError if it is no number or out of the type's range."""
    if not is_number(value) and not isinstance(value, (complex, np.complexfloating)):
        raise _wrong(kernel, name, f"{type!r}: a number", value)
    if not fits(value, type.dtype):
        raise LaunchError(f"{kernel.name}: {misfit(value, number_type(type), name)}.", parameter=name)
    return complex(cast("complex", value))


def _vector(kernel: Kernel, name: str, type: Vector, value: Any) -> tuple[complex, ...]:
    """Return the components of a vector, complex number or matrix argument, flat and row by row.

    Raises:
        LaunchError: the shape is another, or a component does not fit the type.
    """
    real = not isinstance(type, Complex)
    if isinstance(value, array) or np.shape(value) != type.shape or (real and np.iscomplexobj(value)):
        wanted = " × ".join(map(str, type.shape))
        raise _wrong(kernel, name, f"{type!r}: {wanted} numbers", value)
    flat = value if len(type.shape) == 1 else [v for row in value for v in row]
    return tuple((_number if real else _complex)(kernel, name, number_type(type), v) for v in flat)


def _struct(kernel: Kernel, name: str, type: Struct, value: object, device: Device) -> StructValue:
    """Return the value as a struct of this type; one of another type is accepted if that has the same fields.

    Raises:
        LaunchError: it is no such struct, or an array in it is on another device or has a size beyond int32.
    """
    try:
        same = same_struct(type, value, name)
    except KernelTypeError as error:
        raise LaunchError(f"{kernel.name}: {error.message}", parameter=name, advice=error.advice) from None
    for a in arrays_in(same):
        if a.device != device:
            raise LaunchError(
                f"{kernel.name}: an array in {name} is on {a.device}; the launch is on {device}.", parameter=name
            )
        if is_wide(a.shape):
            raise _too_wide(kernel, name, a)
    return same


def spread_adjoints(
    kernel: Kernel, types: Sequence[AnyType], adjoints: Mapping[str, object], device: Device
) -> dict[str, object]:
    """Return the adjoints by parameter of the IR, in which each field of a struct is a parameter ("name.field").

    An adjoint of a struct is an array of one such struct, or a struct whose arrays are adjoints; those of its numbers
    are then dropped.

    Raises:
        LaunchError: the adjoint of a struct is neither, or that of an array of structs does not fit.
    """
    by_name: dict[str, object] = {}
    for (name, value), type in zip(adjoints.items(), types, strict=False):
        if value is None or not isinstance(type, (Struct, StructArray)):
            by_name[name] = value
            continue
        if isinstance(type, StructArray):
            by_name |= spread(name, check(kernel, f"adj_{name}", type, value, device))
            continue
        if isinstance(value, StructValue):  # its arrays are adjoint arrays; the sums for its numbers are not kept
            parts = spread(name, _struct(kernel, f"adj_{name}", type, value, device))
            by_name |= {n: v for n, v in parts.items() if isinstance(v, array)}
            continue
        structs = check_array(kernel, f"adj_{name}", StructArray(type, 1), value, device)
        by_name |= {f"{name}.{path}": a for path, a in structs.field_arrays().items()}
    return by_name


def check_array(kernel: Kernel, name: str, type: ArrayType | StructArray, value: object, device: Device) -> array:
    """Return the argument for an array parameter; on the CPU a NumPy array is wrapped without a copy.

    Raises:
        LaunchError: no array, another dtype or number of dimensions, an unreachable device, or a size beyond int32.
    """
    plain = is_numpy_array(value)
    if is_numpy_array(value) and not device.is_cuda:
        value = _wrap(kernel, name, type, value)
    if not isinstance(value, array):
        raise _wrong(kernel, name, repr(type), value)
    if value.dtype != type.dtype or value.ndim != type.ndim:
        if isinstance(type, StructArray) and isinstance(value.dtype, Struct) and value.dtype != type.dtype:
            raise LaunchError(
                f"{kernel.name}: {name} is {type!r}; the elements of this array are another struct: "
                f"{type.dtype.difference(value.dtype)}.",
                parameter=name,
                advice="Make the array again, or run the kernel's cell again.",
            )
        what = "dtype" if value.dtype != type.dtype else "number of dimensions"
        flat = f"Pass {name}.flatten(), or" if type.ndim == 1 else "Pass it by reshape, or"
        here = f"array{value.ndim}d" if value.ndim > 1 else "array"
        advice = f"{flat} annotate {name}: {here}[{type.dtype!r}]."
        if what == "dtype":
            advice = f"Make it with dtype={type.dtype!r}."
        if what == "dtype" and plain and isinstance(type.dtype, Scalar):
            advice = f"Pass {name}.astype(np.{type.dtype.name}), or make it with dtype=np.{type.dtype.name}."
        raise LaunchError(
            f"{kernel.name}: {name} is {type!r}; it got {value.type!r} of shape {value.shape}: another {what}.",
            parameter=name,
            advice=advice,
        )
    if value.device != device and not is_peer_access_enabled(value.device, device):
        raise LaunchError(
            f"{kernel.name}: {name} is on {value.device}; the launch is on {device}.",
            parameter=name,
            advice=f"Pass {name}.to({device.name!r}), or launch with device={value.device.name!r}.",
        )
    if is_wide(value.shape) and not getattr(type, "wide", False):
        raise _too_wide(kernel, name, value)
    return value


def _indexed(kernel: Kernel, name: str, type: IndexedArray, value: object, device: Device) -> indexedarray:
    """Return the argument for an indexed-array parameter; a plain array is wrapped as one without indices.

    Raises:
        LaunchError: it does not fit, or has indices for other dimensions than the type.
    """
    if isinstance(value, indexedarray):
        check_array(kernel, name, type.behind, value.data, device)
    else:
        value = plain(check_array(kernel, name, type.behind, value, device))
    if type.tables != value.type.tables:
        raise LaunchError(
            f"{kernel.name}: {name} has indices for the dimensions {list(value.type.tables)}; this launch was made "
            f"with indices for {list(type.tables)}.",
            parameter=name,
            advice="Make the launch again.",
        )
    return value


def _too_wide(kernel: Kernel, name: str, value: array) -> LaunchError:
    """Return the error for an array size beyond int32 where the compiled code has int32 sizes.

    That is so for an array in a struct, and where the launch was recorded with a smaller one.
    """
    return LaunchError(
        f"{kernel.name}: {name} has shape {value.shape}; a size of 2³¹ or more is not possible here.",
        parameter=name,
        advice="Give it more dimensions, or launch the kernel with it as an array of its own.",
    )


def _wrap(kernel: Kernel, name: str, type: ArrayType | StructArray, value: HostArray) -> array:
    """Return a NumPy array as one of Workbench's that shares its memory.

    Raises:
        LaunchError: it is read-only or not aligned, or its dtype has no counterpart.
    """
    if not value.flags.writeable or not value.flags.aligned:
        raise LaunchError(
            f"{kernel.name}: the NumPy array for {name} is read-only or not aligned.",
            parameter=name,
            advice="Pass a copy.",
        )
    try:
        if isinstance(type, StructArray):
            return from_numpy(value, type.dtype)
        wanted = type.dtype if isinstance(type.dtype, Vector) and value.dtype == type.dtype.numpy else value.dtype
        return from_numpy(value, wanted)
    except WorkbenchError:  # it is a TypeError too, and says all there is to say
        raise
    except (TypeError, ValueError) as error:
        raise LaunchError(f"{kernel.name}: {name} is {type!r}; {error}.", parameter=name) from None


def _wrong(kernel: Kernel, name: str, wanted: str, value: object) -> LaunchError:
    """Return the error for an argument of another kind than `wanted`, which is in words ("an array of float32")."""
    kind = type(value).__name__
    what = "None" if value is None else f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"
    sequence = isinstance(value, (list, tuple, np.ndarray)) and wanted.startswith("array")
    advice = f"Make an array of it first, so that it can be seen and kept: {name} = wb.array(…)." if sequence else ""
    return LaunchError(f"{kernel.name}: {name} takes {wanted}; the argument is {what}.", parameter=name, advice=advice)


def _counted(count: int) -> str:
    """Return a count in words: "1 argument", "2 arguments"."""
    return f"{count} argument{'s' * (count != 1)}"
