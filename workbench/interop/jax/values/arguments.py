"""From JAX values to kernel parameters, and what is said of values that do not fit.

Types are found or checked at trace time; each refusal names the parameter, describes the value and says what to do
about it. XLA would refuse a wrong operand too, but only when the program runs and without the user's place in the
traceback.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.builtins.declaration.rules import promote
from workbench.errors import LaunchError
from workbench.interop.jax.values.library import library
from workbench.ranges import fits
from workbench.runtime.device.memory import Memory
from workbench.structs import AnyType, IndexedArray, Struct, StructArray
from workbench.types import (
    NUMBERS,
    Aggregate,
    ArrayType,
    Kind,
    Scalar,
    Type,
    Vector,
    as_type,
    element,
    is_complex,
    is_float,
    is_wide,
    number_type,
)

ALLOW_64 = 'Allow 64 bits first: jax.config.update("jax_enable_x64", True).'


def conversion(name: str, value: Any, wanted: Scalar) -> str:
    """Return advice for converting the argument `name` to the type `wanted`."""
    if advice := not_in_the_language(name, value):
        return advice
    # Without it, astype("float64") gives float32 again.
    before = f"{ALLOW_64} Then convert" if wanted.bits == 64 and not wide() else "Convert"
    return f"{before} it: {name}.astype({wanted.name!r})."


def not_in_the_language(name: str, value: Any) -> str:
    """Return advice for a value of a type that only JAX has, such as a key; empty for other values."""
    jax = library().jax
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return f"A key is passed as its data, an array of uint32: jax.random.key_data({name})."
    return ""


def wide() -> bool:
    """Return whether JAX has types of 64 bits now."""
    return library().jax.config.jax_enable_x64


def described(value: Any) -> str:
    """Return how an error names a value: `float32[4,3]`, or its text and class for a value without dtype."""
    if is_typed(value):
        return f"{value.dtype.name}[{','.join(str(s) for s in value.shape)}]"
    shown = " ".join(repr(value).split())
    return f"{shown if len(shown) <= 60 else shown[:60] + '…'} ({type(value).__name__})"


def is_typed(value: Any) -> bool:
    """Return whether a value has a shape and a dtype, as arrays of JAX and NumPy have; sparse ones do not count."""
    is_array = hasattr(value, "shape") and hasattr(value, "dtype") and not hasattr(value, "todense")
    return is_array and not isinstance(value, float)


def misfit(kernel: str, name: str, value: Any, wanted: Type, advice: str) -> LaunchError:
    """Return the error of a value that is not of the type of its parameter."""
    return LaunchError(
        f"{name} of {kernel} takes {wanted!r}, not {described(value)}.",
        advice=advice,
        function=kernel,
        parameter=name,
        expected=wanted,
        given=described(value),
    )


_SAFE = 6e4  # below this every float type has the number, or its neighbour
_RANK = {Kind.BOOL: 0, Kind.UINT: 1, Kind.INT: 1, Kind.FLOAT: 2}


def type_of(kernel: str, name: str, value: Any, annotation: Type | None) -> Type:
    """Return the type of the parameter `name` of `kernel` for an argument.

    Raises:
        LaunchError: the value does not fit the annotation, or is of no type of the language.
    """
    if annotation is None:
        type = _inferred(kernel, name, value)
    elif isinstance(annotation, ArrayType):
        type = _check_array(kernel, name, value, annotation)
    else:
        type = annotation
    _check_width(kernel, name, type)
    if is_wide([n for n in getattr(value, "shape", ()) if not is_symbolic(n)]):
        raise LaunchError(
            f"{name} of {kernel} is {described(value)}; through JAX each size is below 2³¹.",
            advice="Reshape it to more dimensions.",
            function=kernel,
            parameter=name,
        )
    return type


def operand(kernel: str, name: str, value: Any, type: Type) -> Any:
    """Return `value` as an operand of exactly this type; single values are converted as JAX would promote them.

    Raises:
        LaunchError: it is not one value, or its type does not convert.
    """
    if isinstance(type, ArrayType):
        return flat(value, type.dtype)
    assert not isinstance(type, Aggregate)
    shape = type.shape
    scalar = number_type(type)
    # The usual argument, at once: below `_SAFE` no float type overflows, so JAX need not be asked.
    if value.__class__ is float and not shape and is_float(scalar) and abs(value) < _SAFE:
        return scalar.numpy.type(value)
    if not is_typed(value):
        return flat(_from_python(kernel, name, value, type, shape), type)
    if tuple(value.shape) != shape:
        raise misfit(kernel, name, value, type, "Pass one value.")
    own = NUMBERS.get(value.dtype.name)
    if own == scalar:
        return flat(value, type)
    if own is None or not _converts(value, own, scalar):
        raise misfit(kernel, name, value, type, conversion(name, value, scalar))
    return flat(library().jax.lax.convert_element_type(value, scalar.numpy), type)


def flat(value: Any, dtype: Scalar | Vector) -> Any:
    """Return values of `dtype` as the handler takes them: a matrix's components along one axis."""
    inner = len(dtype.shape)
    return library().jnp.reshape(value, (*value.shape[:-inner], -1)) if inner > 1 else value


def shaped(value: Any, dtype: Scalar | Vector) -> Any:
    """Undo `flat`: give a matrix's components their two axes again."""
    return library().jnp.reshape(value, (*value.shape[:-1], *dtype.shape)) if len(dtype.shape) > 1 else value


def static_value(kernel: str, name: str, value: Any, type: Type) -> np.generic:
    """Return the value of a static argument as a NumPy scalar of its type.

    Raises:
        LaunchError: it is traced, no number, or none that the type can hold.
    """
    if not isinstance(type, Scalar) or not isinstance(value, (bool, int, float, np.generic)):
        raise LaunchError(
            f"{name} of {kernel} is static and takes a Python number, not {described(value)}.",
            advice="Leave it out of static_argnames to give arrays or traced values.",
            function=kernel,
            parameter=name,
        )
    return _from_python(kernel, name, value, type, ())[()]


def result_type(kernel: str, name: str, annotation: Type | None) -> ArrayType:
    """Return the array type of an output, which its annotation gives.

    Raises:
        LaunchError: there is no annotation, it is not an array's, or it is of 64 bits and JAX is set to 32.
    """
    if annotation is None:
        raise LaunchError(
            f"{name} of {kernel} is an output without annotation, and JAX must know its type before the call.",
            advice=f"Annotate it: {name}: wb.array(dtype=wb.float32).",
            function=kernel,
            parameter=name,
        )
    if not isinstance(annotation, ArrayType):
        raise LaunchError(
            f"{name} of {kernel} is an output of type {annotation!r}; outputs are arrays.",
            advice="Outputs are the last parameters: set num_outputs to how many of them there are.",
            function=kernel,
            parameter=name,
        )
    _check_width(kernel, name, annotation)
    return annotation


def dimensions(kernel: str, what: str, dims: Any) -> tuple[Any, ...]:
    """Return `dims` as a tuple of 1 to 4 sizes, each symbolic or below 2³¹: `tid()` is an int32.

    Raises:
        LaunchError: it is not that; the message calls it `what`.
    """
    sizes = (dims,) if isinstance(dims, (int, np.integer)) or is_symbolic(dims) else dims
    good = isinstance(sizes, (tuple, list)) and all(isinstance(s, (int, np.integer)) or is_symbolic(s) for s in sizes)
    if not good or not 1 <= len(sizes) <= 4 or not all(is_symbolic(s) or 0 <= s < 2**31 for s in sizes):
        raise LaunchError(
            f"{what} of {kernel} is {dims!r}; it takes 1 to 4 whole numbers below 2³¹, known when JAX traces.",
            function=kernel,
        )
    return tuple(s if is_symbolic(s) else int(s) for s in sizes)


def is_symbolic(size: Any) -> bool:
    """Return whether a size is one of `jax.export`'s, known only when the program runs."""
    return hasattr(size, "dimension_as_value") and hasattr(size, "scope")


def base_shape(value: Any, type: Type) -> tuple[int, ...]:
    """Return the shape of an array argument without the axes of its elements' components; () of a single value."""
    return tuple(value.shape[: type.ndim]) if isinstance(type, ArrayType) else ()


def aspect(value: Any) -> Any:
    """Return the shape and dtype of a value, or the type of a Python number: they decide how it is passed."""
    return (tuple(value.shape), value.dtype) if is_typed(value) else type(value)


def host_values(memory: Memory, scalar: Scalar) -> np.ndarray[Any, Any]:
    """Return a copy of all numbers in a memory on the host, flat."""
    raw = ctypes.string_at(memory.address, memory.nbytes) if memory.nbytes else b""
    return np.frombuffer(raw, scalar.numpy)


def tree_of(value: Any) -> tuple[bool, Any]:
    """Return whether an argument is a single value, and, if not, the structure of its tree (else None)."""
    if is_typed(value) or isinstance(value, (bool, int, float)):
        return True, None
    return False, library().jax.tree.structure(value)


def by_name(function: str, inputs: tuple[str, ...], args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return positional and named arguments by parameter.

    Raises:
        LaunchError: one is missing, unknown, or given twice.
    """
    if not named and len(args) == len(inputs):
        return dict(zip(inputs, args, strict=True))
    check_names(function, "The call", named, inputs)
    twice = next((n for n in inputs[: len(args)] if n in named), None)
    missing = [n for n in inputs[len(args) :] if n not in named]
    if len(args) > len(inputs) or missing or twice:
        wanted = ", ".join(inputs) or "nothing"
        count = f"{twice} was given twice" if twice else f"not {len(args) + len(named)}"
        raise LaunchError(
            f"{function} takes {len(inputs)} inputs under JAX ({wanted}), {count}.",
            advice="Parameters after these are outputs; num_outputs says how many there are.",
            function=function,
        )
    return {n: args[k] if k < len(args) else named[n] for k, n in enumerate(inputs)}


def split(
    function: str, parameters: tuple[str, ...], num_outputs: int, in_out: frozenset[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Divide the parameters into inputs and outputs, which come last; `num_outputs` counts the inputs `in_out` too.

    Raises:
        LaunchError: the numbers do not fit.
    """
    pure = num_outputs - len(in_out)
    if num_outputs < 1 or not 0 <= pure <= len(parameters):
        raise LaunchError(
            f"num_outputs={num_outputs} does not fit {function}, which has {len(parameters)} parameters.",
            advice="It counts the outputs, which come last, and the names in in_out_argnames.",
            function=function,
        )
    return parameters[: len(parameters) - pure], parameters[len(parameters) - pure :]


def names(option: str | Sequence[str]) -> frozenset[str]:
    """Return an option that is one name or several names as a set of names."""
    return frozenset((option,) if isinstance(option, str) else option)


def check_block(kernel: str, size: Any) -> None:
    """Check that a block has 1 to 1024 threads.

    Raises:
        LaunchError: it has fewer or more.
    """
    if not isinstance(size, int) or not 1 <= size <= 1024:
        raise LaunchError(f"block_dim of {kernel} is {size!r}; it is 1 to 1024.", function=kernel)


def check_names(kernel: str, option: str, names: Any, known: tuple[str, ...]) -> None:
    """Check that every one of `names` is among `known`.

    Raises:
        LaunchError: one is not.
    """
    for name in names:
        if name not in known:
            raise LaunchError(
                f"{option} of {kernel} names {name!r}, which is not one of {', '.join(known) or 'its parameters'}.",
                function=kernel,
                parameter=name,
            )


def fills(kernel: str, init: Mapping[str, Any], types: Mapping[str, ArrayType]) -> dict[str, float | int]:
    """Return the initial values of outputs as numbers; "zeros" is 0.

    Raises:
        LaunchError: one is neither a number that the output can hold nor "zeros".
    """
    scalars: dict[str, float | int] = {}
    for name, value in init.items():
        scalar = number_type(types[name])
        number = 0 if isinstance(value, str) and value == "zeros" else value
        if not isinstance(number, (bool, int, float, np.generic)):
            raise LaunchError(
                f'init of {kernel} sets {name} to {value!r}; it takes a number or "zeros".',
                function=kernel,
                parameter=name,
            )
        scalars[name] = _from_python(kernel, name, number, scalar, ())[()].item()
    return scalars


def _converts(value: Any, own: Scalar, wanted: Scalar) -> bool:
    """Return whether a value may change its type: as JAX promotes, weakly typed numbers by kind alone."""
    if getattr(value, "weak_type", False) or isinstance(value, np.generic):
        return _rank(own) <= _rank(wanted)
    return is_complex(own) <= is_complex(wanted) and promote(element(own), element(wanted)) == element(wanted)


def _rank(number: Any) -> int:
    """Return the rank of a number's kind, by which weakly typed numbers are promoted; complex is the highest."""
    return 3 if is_complex(number) else _RANK[number.kind]


def without_structs(kernel: str, name: str, annotation: AnyType | None) -> Type | None:
    """Return the annotation, if it is neither a struct, an array of structs, nor an indexed array.

    Raises:
        LaunchError: it is one.
    """
    if isinstance(annotation, IndexedArray):
        raise LaunchError(
            f"{name} of {kernel} is {annotation!r}, which is not supported under JAX.",
            advice="Pass the array and its indices, and read x[indices[i]].",
            function=kernel,
            parameter=name,
        )
    if isinstance(annotation, (Struct, StructArray)):
        raise LaunchError(
            f"{name} of {kernel} is {annotation!r}; arrays of structs, and structs as outputs, "
            "are not supported under JAX.",
            advice="Use a struct of arrays: it is a pytree with one array per field, and may be input and output.",
            function=kernel,
            parameter=name,
        )
    return annotation


def _inferred(kernel: str, name: str, value: Any) -> Type:
    """Return the type of a parameter without annotation, from its value.

    Raises:
        LaunchError: it is no array or number, or of a type or rank that the language does not have.
    """
    if not is_typed(value):
        if isinstance(value, (bool, int, float, complex)):
            return as_type(type(value) if type(value) in (bool, int, float, complex) else float)
        raise LaunchError(
            f"{name} of {kernel} takes an array or a number, not {described(value)}.", function=kernel, parameter=name
        )
    scalar = NUMBERS.get(value.dtype.name)
    if scalar is None or len(value.shape) > 4:
        raise LaunchError(
            f"{name} of {kernel} is {described(value)}, which the kernel language does not have.",
            advice=not_in_the_language(name, value) or f"It has arrays of 1 to 4 dimensions of {', '.join(NUMBERS)}.",
            function=kernel,
            parameter=name,
        )
    return ArrayType(scalar, len(value.shape)) if value.shape else scalar


def _check_array(kernel: str, name: str, value: Any, annotation: ArrayType) -> ArrayType:
    """Return the annotation of an array parameter.

    Raises:
        LaunchError: the value does not have its dtype, its rank, or the axes of its components.
    """
    scalar = number_type(annotation)
    inner = annotation.dtype.shape
    if not is_typed(value):
        sparse = " Of a sparse one pass data and indices, or todense()." if hasattr(value, "todense") else ""
        raise misfit(kernel, name, value, annotation, f"Pass a JAX or NumPy array.{sparse}")
    if value.dtype.name != scalar.name:
        raise misfit(kernel, name, value, annotation, conversion(name, value, scalar))
    wanted = [
        *("any" for _ in range(annotation.ndim)),
        *(f"{n} components" if len(inner) == 1 else str(n) for n in inner),
    ]
    if len(value.shape) != len(wanted):
        advice = f"Its shape has {len(wanted)} dimensions: {', '.join(wanted)}."
        if not inner:
            more = ", or call the function under jax.vmap" if len(value.shape) > annotation.ndim else ""
            advice = f"The kernel's has {annotation.ndim} dimension{'s'[: annotation.ndim - 1]}: reshape it{more}."
        raise misfit(kernel, name, value, annotation, advice)
    if inner and tuple(value.shape[-len(inner) :]) != inner:
        what = f"axis holds the {inner[0]} components" if len(inner) == 1 else f"axes are {inner[0]} by {inner[1]}"
        raise misfit(kernel, name, value, annotation, f"Its last {what}.")
    return annotation


def _check_width(kernel: str, name: str, type: Type) -> None:
    """Raise LaunchError if the type has 64 bits and JAX is set to 32."""
    scalar = number_type(type)
    if element(scalar).bits == 64 and not wide():
        raise LaunchError(
            f"{name} of {kernel} is {type!r}, and JAX is set to 32-bit types.",
            advice=ALLOW_64,
            function=kernel,
            parameter=name,
        )


def _from_python(kernel: str, name: str, value: Any, type: Scalar | Vector, shape: tuple[int, ...]) -> Any:
    """Return a number, or a tuple of them for a vector, as a NumPy array of the element type.

    Raises:
        LaunchError: the type cannot hold it.
    """
    scalar = number_type(type)
    try:
        plain = np.asarray(value)
        own = NUMBERS.get(plain.dtype.name)
        if own is None or _rank(own) > _rank(scalar) or plain.shape != shape:
            raise ValueError
        if is_float(scalar) and not all(fits(n, element(scalar)) for n in plain.reshape(-1).tolist()):
            raise ValueError
        with np.errstate(over="ignore"):
            return np.asarray(value, dtype=scalar.numpy) if shape else np.asarray(plain.item(), dtype=scalar.numpy)
    except (ValueError, TypeError, OverflowError):
        raise misfit(kernel, name, value, type, f"Pass a value that {scalar.name} can hold.") from None


def frozen(dims: Any) -> Any:
    """Return dimensions in a hashable form; None stays None, and an object of another kind becomes its id."""
    if dims is None:
        return None
    if isinstance(dims, Mapping):
        return tuple(sorted((n, frozen(d)) for n, d in dims.items()))
    if isinstance(dims, (list, tuple)):
        return tuple(map(frozen, dims))
    known = isinstance(dims, (int, str, np.integer)) or is_symbolic(dims)
    return dims if known else id(dims)
