"""Elementwise kernels and reductions of arrays: `map(f, …)`, Python's operators, `x.sum()`, `a @ b`.

**Maps.** The elementwise kernel of a function is made from the arguments and kept for the next call. The kernel is an
ordinary one, launched in the ordinary way: tapes, recorders and the cache see nothing special. Elementwise operators of
arrays are maps, too; `runtime/arithmetic.py` has their Python names.

**Reductions.** The kernels behind `x.sum()`, `x.dot(y)`, `x.max(axis=0)`, `a @ b` are of any number type, and
differentiated like yours.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np

from workbench.api.kernels.func import Func
from workbench.api.kernels.kernel import Kernel, Specialisation, kernel
from workbench.api.kernels.source_text import definition_of
from workbench.api.launches.launch import launch
from workbench.builtins import FORMS, TABLE, Builtin, Form
from workbench.errors import LaunchError, its_type
from workbench.frontend.names.python_names import as_builtin
from workbench.frontend.state.definition import Definition, Scope
from workbench.frontend.statements.lower import result_types
from workbench.host.narrow import HostArray, Numpy, is_list, is_numpy, is_numpy_array
from workbench.host.vectors import HostVector
from workbench.ranges import fits, misfit, number
from workbench.runtime.arrays.array import Element, array
from workbench.runtime.arrays.create import empty, zeros
from workbench.runtime.arrays.host_convert import refuse_masked
from workbench.runtime.arrays.shapes import Symbol
from workbench.runtime.device.device import Device, get_device
from workbench.source import Source
from workbench.structs import AnyType, Struct, StructArray
from workbench.types import (
    NUMBERS,
    ArrayType,
    Complex,
    Kind,
    Scalar,
    Vector,
    complex64,
    complex128,
    element,
    float32,
    float64,
    int32,
    is_float,
)
from workbench.types import bool as bool_

KEPT = 256
LETTERS = "ijkl"
_MAPPED: OrderedDict[int, _Mapped] = OrderedDict()


def map(
    f: Func | Callable[..., object], *arguments: object, out: object = None, device: Device | str | None = None
) -> array | tuple[array, ...]:
    """Apply a function to the elements of arrays, one thread for each.

    Args:
        f: a func, a name of the language, or a plain Python function (made a func).
        arguments: arrays, NumPy's too, of one shape (1 to 4 dimensions) or of shapes that broadcast as NumPy's do, and
            numbers or vectors (`wb.vec3(…)`) that go with every element. A Python float counts in the arrays' widest
            float type, an int as int32.
        out: an array of that shape, or one for each result, to write to; made if it is not given.
        device: where to run; that of the arrays.

    Returns:
        The array of results; a tuple of arrays where `f` has several.

    Raises:
        LaunchError: no array is given, shapes do not broadcast, or `out` does not fit.
        WorkbenchError: what is wrong with `f` for these arguments.
    """
    mapped, kernel, values, outs = planned(f, arguments, out, device)
    launch(kernel, outs[0].shape, inputs=values, outputs=outs, device=device)
    types = tuple(v.type if isinstance(v, array) else _type(v) for v in values)
    mapped.keep(types, tuple(a.dtype for a in outs), kernel.specialise([*types, *(a.type for a in outs)]))
    return outs[0] if len(outs) == 1 else tuple(outs)


def planned(
    f: Func | Callable[..., object], arguments: Sequence[object], out: object, device: Device | str | None
) -> tuple[_Mapped, Kernel, list[array | Symbol | Numpy], list[array]]:
    """Return what `map` of these arguments launches: the function, its kernel, the kernel's inputs, and its outputs.

    Raises:
        LaunchError: no array is given, shapes do not broadcast, or `out` does not fit.
    """
    values = _values(arguments, device)
    arrays = [v for v in values if isinstance(v, array)]
    shape = _common_shape(arrays)
    indices = tuple(_index(v.shape, shape) if isinstance(v, array) else "" for v in values)
    mapped = _mapped(f)
    types = tuple(v.type if isinstance(v, array) else _type(v) for v in values)
    outs = _outputs(out, mapped.results(types), shape, arrays)
    return mapped, mapped.kernel(indices, len(shape), len(outs)), values, outs


class _Mapped:
    """The kernels generated for one function that `map` applies.

    Attributes:
        function: the function as the user passed it; the reference keeps its identity unique.
        func: the function in the form that the kernels call.
    """

    def __init__(self, mapped: Func | Form | Callable[..., object]) -> None:
        """Hold the function; a plain Python function is made a func.

        Raises:
            LaunchError: it is a kernel.
        """
        if isinstance(mapped, Kernel):
            raise LaunchError(f"map() takes a func; {mapped.name} is a kernel.", advice="Make it a func: @wb.func.")
        usable = hasattr(mapped, "__wb_definitions__") or isinstance(mapped, Form) or as_builtin(mapped) is not None
        self.function = mapped
        self.func = mapped if usable else Func(definition_of(mapped))
        self._kernels: dict[str, Kernel] = {}
        self._results: dict[tuple[AnyType, ...], tuple[tuple[AnyType, ...], Specialisation]] = {}

    def results(self, types: tuple[AnyType, ...]) -> tuple[AnyType, ...]:
        """Return the types of the results for arguments of these types."""
        known = self._results.get(types)
        if known is not None and known[1].is_current():
            return known[0]
        names = [f"x{k}" for k in range(len(types))]
        source = f"def {self._name}({', '.join(names)}):\n    return f({', '.join(names)})\n"
        elements = [t.dtype if isinstance(t, (ArrayType, StructArray)) else t for t in types]
        typed = dict(zip(names, elements, strict=True))
        return result_types(self._definition(source), typed, self._warp_meanings)

    def keep(self, types: tuple[AnyType, ...], results: tuple[AnyType, ...], specialisation: Specialisation) -> None:
        """Remember the results' types for arguments of these types, for as long as the specialisation is current."""
        self._results[types] = results, specialisation

    def kernel(self, indices: Sequence[str], ndim: int, outs: int) -> Kernel:
        """Return the kernel that applies the function.

        Args:
            indices: the subscript with which it reads each argument; "" for one that is no array.
            ndim: the dimensions of the results.
            outs: how many results there are.
        """
        source = self._source(indices, ndim, outs)
        kernel = self.kernel_of(source)
        kernel.elementwise = Elementwise(self, tuple(indices), ndim, outs)
        return kernel

    def kernel_of(self, source: str) -> Kernel:
        """Return the kernel with this source code, in which the function is `f`."""
        if source not in self._kernels:
            self._kernels[source] = Kernel(self._definition(source))
            self._kernels[source].warp_meanings = self._warp_meanings
        return self._kernels[source]

    def restricted(self, indices: Sequence[str], ndim: int, outs: int) -> Kernel:
        """Return the kernel that applies the function only where its first argument, an array of bools, is true.

        The array has the shape of the results; `indices`, `ndim` and `outs` are as for `kernel`.
        """
        return self.kernel_of(self._source(indices, ndim, outs, "live"))

    def _source(self, indices: Sequence[str], ndim: int, outs: int, live: str = "") -> str:
        """Return the source code of the kernel that applies the function to each element.

        Args:
            indices: the subscript of each argument; "" for one that is no array.
            ndim: the dimensions of the launch and of the results.
            outs: the number of results.
            live: "", or the name of a first parameter of bools: results are not written where it is false.
        """
        index = ", ".join(LETTERS[:ndim])
        names = [f"x{k}" for k in range(len(indices))]
        read = [f"{n}[{at}]" if at else n for n, at in zip(names, indices, strict=True)]
        results = [f"y{k}" for k in range(outs)]
        guard = f"    if {live}[{index}]:\n    " if live else ""
        return (
            f"def {self._name}({', '.join([live] * bool(live) + names + results)}):\n    {index} = tid()\n"
            f"{guard}    {', '.join(f'{y}[{index}]' for y in results)} = f({', '.join(read)})\n"
        )

    @property
    def _warp_meanings(self) -> bool:
        """True if the function is read with Warp's meanings in place of Workbench's."""
        return getattr(self.func, "warp_meanings", False)

    @property
    def _name(self) -> str:
        """The name of the generated kernels: `map_` and the function's name."""
        return f"map_{getattr(self.func, 'name', None) or getattr(self.func, '__name__', 'func')}"

    def _definition(self, source: str) -> Definition:
        """Return the definition in a text of one def; in its scope `f` is the function and `tid` the builtin."""
        (node,) = ast.parse(source).body
        assert isinstance(node, ast.FunctionDef)
        scope = Scope(own={"f": self.func, "tid": FORMS["tid"]})
        return Definition(self._name, node, Source(source, f"the kernel of {self._name}"), scope, written=(source, 1))


@dataclass(frozen=True)
class Elementwise:
    """A description of a kernel that `map` generated: the function that it applies to elements, and how it reads them.

    Attributes:
        mapped: the function and its kernels.
        indices: the subscript with which a thread reads each argument; "" for one that is no array.
        ndim: dimensions of the results.
        outs: how many results there are.
    """

    mapped: _Mapped
    indices: tuple[str, ...]
    ndim: int
    outs: int

    @property
    def func(self) -> object:
        """The function that is applied to the elements."""
        return self.mapped.func

    def restricted(self) -> Kernel:
        """Return the kernel that applies the function only where its first argument, an array of bools, is true."""
        kernel = self.mapped.restricted(self.indices, self.ndim, self.outs)
        kernel.restricts = self
        return kernel


def live_kernel(of: Elementwise, index: str, live: bool, chosen: bool, negated: bool) -> Kernel:
    """Return the kernel that sets `out`, an array of bools, where a gradient reaches the elements of an operand.

    Args:
        of: the map.
        index: the subscript with which a thread reads the operand.
        live: whether the kernel's first argument is an array of bools, true at the elements of the result that the
            gradient reaches; False: it reaches all.
        chosen: whether its next argument is the condition of a `where`.
        negated: whether the operand is used where that condition is false.
    """
    at, where = ", ".join(LETTERS[: of.ndim]), of.indices[0]
    names = ["live"] * live + ["c"] * chosen + ["out"]
    terms = [f"live[{at}]"] * live
    terms += [f"{'not ' * negated}{f'c[{where}]' if where else 'c'}"] * chosen
    source = (
        f"def mark({', '.join(names)}):\n    {at} = tid()\n    if {' and '.join(terms)}:\n        out[{index}] = True\n"
    )
    return of.mapped.kernel_of(source)


def _mapped(f: Func | Callable[..., object]) -> _Mapped:
    """Return the function's generated kernels, remembered for the `KEPT` functions that were used last."""
    mapped = _MAPPED.get(id(f))
    if mapped is None:
        mapped = _MAPPED[id(f)] = _Mapped(f)
        while len(_MAPPED) > KEPT:
            _MAPPED.popitem(last=False)
    _MAPPED.move_to_end(id(f))
    return mapped


def _values(arguments: Sequence[object], device: Device | str | None) -> list[array | Symbol | Numpy]:
    """Return the arguments with NumPy arrays as Workbench arrays and Python numbers as NumPy scalars.

    A Python float has the widest float type of the arrays.

    Raises:
        LaunchError: there is no array among them, or a number does not fit.
    """
    ours = [a for a in arguments if isinstance(a, array)]
    vectors = [a.dtype for a in ours if isinstance(a.dtype, Vector) and a.dtype.shape]
    theirs = [is_numpy_array(a) and _is_array(a, vectors) for a in arguments]
    if not ours and not any(theirs):
        raise LaunchError("map() needs an array among its arguments.")
    target = get_device(device) if device is not None or not ours else ours[0].device
    values: list[object] = [
        array(a, device=target) if is_theirs else a for a, is_theirs in zip(arguments, theirs, strict=True)
    ]
    arrays = [v for v in values if isinstance(v, array)]
    floats = [t for a in arrays if (t := element(a.dtype)).kind is Kind.FLOAT]
    widest = max(floats, key=lambda t: t.bits, default=float32)
    return [_number(v, widest) for v in values]


def _common_shape(arrays: Sequence[array]) -> tuple[int, ...]:
    """Return the shape to which all arrays broadcast.

    Raises:
        LaunchError: there is none.
    """
    first = arrays[0].shape
    if all(a.shape == first for a in arrays):
        return first
    try:
        return np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shown = ", ".join(str(a.shape) for a in arrays)
        raise LaunchError(
            f"The shapes {shown} do not fit together.",
            advice="Sizes are compared from the last dimension on; each must be the same, or 1. A vector for each of "
            "them is written wb.vec3(…).",
        ) from None


def _index(own: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Return the subscript by which a thread of `shape` reads an array of shape `own`: 0 along broadcast axes."""
    letters = LETTERS[len(shape) - len(own) : len(shape)]
    return ", ".join("0" if n == 1 != size else k for n, size, k in zip(own, shape[-len(own) :], letters, strict=True))


def _is_array(value: HostArray, vectors: Sequence[Vector]) -> bool:
    """Return whether `map` takes a NumPy value as an array: it has dimensions and is no value of a vector type.

    Args:
        value: an argument of NumPy's.
        vectors: the element types of the arrays beside it that hold vectors.

    Raises:
        LaunchError: it is masked, or a `np.matrix`, whose operators have another meaning; or it can be read as
            numbers, one for each element, and as vectors.
    """
    refuse_masked(value)
    if isinstance(value, np.matrix):
        raise LaunchError(
            "A np.matrix multiplies as matrices do, and arrays element by element.", advice="Pass np.asarray(m)."
        )
    if not value.ndim or getattr(value, "type", None) is not None:
        return False
    for kind in vectors:
        if value.shape[-len(kind.shape) :] == kind.shape:
            raise LaunchError(
                f"A NumPy array of shape {value.shape} beside an array of {kind!r} may be numbers or vectors.",
                advice=f"Write wb.array(a, dtype=wb.{kind!r}), wb.array(a), or wb.{kind!r}(…) for one vector.",
            )
    return True


def _number(value: object, widest: Scalar) -> array | Symbol | Numpy:
    """Return an argument of `map` as an array, symbol or NumPy value; a Python float becomes one of type `widest`.

    Raises:
        LaunchError: it is out of range, or neither array, number nor vector.
    """
    if isinstance(value, (array, Symbol)):
        return value
    if is_numpy_array(value) and not value.ndim and value.dtype.name in NUMBERS:
        return value.dtype.type(value)  # NumPy hands its own scalars over as arrays without a dimension
    if is_numpy(value) and value.dtype.name in NUMBERS:
        return value
    if isinstance(value, complex):
        return (complex128 if widest == float64 else complex64)(value)
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int) and -(2**31) <= value < 2**31:
        return np.int32(value)
    if isinstance(value, float):
        if not fits(value, widest):
            raise LaunchError(f"map(): {misfit(value, widest)}.", advice="Pass inf where that is meant.")
        return widest(value)
    advice = "wb.array(…) makes an array of it." if is_list(value) else ""
    raise LaunchError(f"map() takes arrays, numbers and vectors; this is {its_type(value)}: {value!r}.", advice=advice)


def _type(value: Symbol | Numpy) -> AnyType:
    """Return the type of a symbol, NumPy scalar or vector."""
    if isinstance(value, Symbol):
        return value.type
    return value.type if isinstance(value, HostVector) else NUMBERS[value.dtype.name]


def _outputs(out: object, types: Sequence[AnyType], shape: tuple[int, ...], arrays: Sequence[array]) -> list[array]:
    """Return the arrays to write to: those given, checked, or new ones that require a gradient where an argument does.

    Raises:
        LaunchError: one that is given does not fit.
    """
    if out is None:
        wanted = any(a.requires_grad for a in arrays)
        elements = cast("Sequence[Element]", types)  # a function on the host returns nothing else
        return [arrays[0].kin.undefined(shape, t, arrays[0].device, wanted and is_float(t)) for t in elements]
    outs: list[object] = list(out) if is_list(out) else [out]
    checked: list[array] = []
    if len(outs) != len(types):
        raise LaunchError(f"map(): the function has {len(types)} results; out has {len(outs)}.", parameter="out")
    for passed, type in zip(outs, types, strict=True):
        if not isinstance(passed, array) or passed.dtype != type or passed.shape != shape:
            what = f"{passed.dtype!r} of shape {passed.shape}" if isinstance(passed, array) else repr(passed)
            raise LaunchError(f"map(): out must be an array of {type!r} of shape {shape}, not {what}.", parameter="out")
        checked.append(passed)
    return checked


# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportInvalidTypeForm=false, reportCallIssue=false


tid, atomic_add, atomic_max, atomic_min = (FORMS[n] for n in ("tid", "atomic_add", "atomic_max", "atomic_min"))


@kernel
def add_up(x: array[Any], out: array[Any]):
    """Add all elements, each in the type of `out`, to what `out[0]` has, atomically; a thread for each."""
    atomic_add(out, 0, out.dtype(x[tid()]))


@kernel
def add_products(x: array[Any], y: array[Any], out: array[Any]):
    """Add the products of two arrays' elements to what `out[0]` has, atomically; a thread for each pair."""
    i = tid()
    atomic_add(out, 0, x[i] * y[i])


@kernel
def add_up_along(x: array(dtype=Any, ndim=3), out: array(dtype=Any, ndim=2)):
    """Add up along the middle dimension, in the type of `out`: one thread per sum."""
    i, j = tid()
    total = out.dtype(0)
    for k in range(x.shape[1]):
        total += out.dtype(x[i, k, j])
    out[i, j] = total


def _extremes(change: Any, further: Any) -> tuple[Kernel, Kernel]:
    """Return the kernels for a largest or smallest element: of a whole array, and along the middle of three dimensions.

    Args:
        change: an atomic that leaves the further of two values in an element, such as `atomic_max`.
        further: a builtin that returns the further of two values, such as `max`.
    """

    @kernel
    def extreme_element(x: array[Any], out: array[Any]):
        """Find the largest or smallest element, in the type of `out`, which holds one of them."""
        change(out, 0, out.dtype(x[tid()]))

    @kernel
    def extreme_along(x: array(dtype=Any, ndim=3), out: array(dtype=Any, ndim=2)):
        """Find the largest or smallest elements along the middle dimension: one thread each."""
        i, j = tid()
        result = x[i, 0, j]
        for k in range(1, x.shape[1]):
            result = further(result, x[i, k, j])
        out[i, j] = result

    return extreme_element, extreme_along


EXTREMES = {"max": _extremes(atomic_max, TABLE["max"]), "min": _extremes(atomic_min, TABLE["min"])}
"""Of all elements, and along a dimension, by name."""


@kernel
def converted(x: array[Any], out: array[Any]):
    """Write each element, converted to the type of `out`, to `out`; a thread for each."""
    i = tid()
    out[i] = out.dtype(x[i])


@kernel
def multiplied(a: array(dtype=Any, ndim=2), b: array(dtype=Any, ndim=2), out: array(dtype=Any, ndim=2)):
    """Multiply two matrices into `out`: one thread computes each element of it."""
    i, j = tid()
    total = out.dtype(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    out[i, j] = total


def binary(name: str, left: Any, right: Any) -> Any:
    """Compute `left + right` and the like by a builtin's name; NotImplemented if an operand is of another kind.

    A Python number takes the array's type, as in kernels.
    """
    kind = _number_type(left, right)
    if kind is None:
        return NotImplemented
    meanings = left.meanings if isinstance(left, array) else right.meanings
    return map(meanings.get(name, TABLE[name]), _fitting(left, kind), _fitting(right, kind))


def unary(name: str, value: array) -> Any:
    """Compute `-x` and the like by a builtin's name."""
    return map(TABLE[name], value)


def logical(name: str, left: array, right: Any) -> Any:
    """Compute `left & right` and the like: logical for bools, bitwise for integers."""
    return binary(f"{name}_" if left.dtype == bool_ else f"bit_{name}", left, right)


def inverted(value: array) -> Any:
    """Compute `~x`: logical not for bools, bitwise not for integers."""
    return unary("not_" if value.dtype == bool_ else "invert", value)


def applied(builtin: Builtin, *values: Any) -> Any:
    """Apply a builtin to the elements of arrays; a Python number takes the arrays' type.

    Raises:
        LaunchError: `dot`, `length` or `argmax` of arrays of numbers: an element has none.
    """
    if builtin.name in _OF_VECTORS and all(isinstance(v, array) and isinstance(v.dtype, Scalar) for v in values):
        raise LaunchError(
            f"{builtin.name}() is of each element, and here the elements are numbers.",
            advice=f"Write {_OF_VECTORS[builtin.name]} for that of whole arrays.",
        )
    kind = _number_type(*values)
    return map(builtin, *(_fitting(value, kind) for value in values))


_OF_VECTORS = {
    "dot": "x.dot(y)",
    "length": "wb.sqrt(x.dot(x))",
    "length_sq": "x.dot(x)",
    "argmax": "np.argmax(x)",
    "argmin": "np.argmin(x)",
}


def _number_type(*values: Any) -> Scalar | None:
    """Return the type of Python numbers beside arrays: the widest float, else integer; None if a value is no operand.

    Beside arrays of bools alone a float is a float32: `wb.where(x > 0.0, 1.0, -1.0)`.
    """
    if not all(isinstance(v, (array, np.ndarray, np.generic, int, float, complex, Symbol)) for v in values):
        return None
    dtypes = [element(v.dtype) for v in values if isinstance(v, array) and not isinstance(v.dtype, Struct)]
    ranked = [t for t in dtypes if t.kind is Kind.FLOAT] or [t for t in dtypes if t != bool_]
    weak = float32 if any(isinstance(v, float) for v in values) else bool_
    return max(ranked, key=lambda t: t.bits, default=weak)


def _fitting(value: Any, kind: Scalar | None) -> Any:
    """Return an operand of an operator; a Python number or symbol becomes one of type `kind`, unless that is None.

    Raises:
        LaunchError: it is a float, and the arrays are of integers.
    """
    if isinstance(value, Symbol) and kind is not None:
        return value.become("an operator", "the number", kind)
    if kind is None or type(value) not in (int, float):
        return value
    if isinstance(value, float) and not is_float(kind):
        raise LaunchError(
            f"{value!r} beside an array of {kind!r}: types are not converted by themselves.",
            advice="Convert the array: wb.array(x, dtype=float).",
        )
    return number(value, int32 if kind == bool_ else kind)


def total(x: array, axis: int | None = None, keepdims: bool = False) -> array:
    """Return the sum of all elements, as an array of one element, or the sums along an axis."""
    if x.dtype == bool_:
        return total(applied(TABLE["where"], x, np.int32(1), np.int32(0)), axis, keepdims)
    if axis is not None:
        return _along(add_up_along, "sum()", x, x.dtype, axis, keepdims)
    out = zeros(1, x.dtype, x.device, x.requires_grad)
    return _reduced(add_up, "sum()", x.size, [_flat(x)], out)


def mean(x: array, axis: int | None = None, keepdims: bool = False) -> array:
    """Return the mean of all elements, as an array of one element, or the means along an axis.

    Integers and 16-bit floats are added as wider floats, so that no sum overflows.
    """
    if x.dtype == bool_:
        return mean(applied(TABLE["where"], x, np.int32(1), np.int32(0)), axis, keepdims)
    if not isinstance(x.dtype, Scalar) or (x.dtype.kind is Kind.FLOAT and not x.dtype.is_half):
        return total(x, axis, keepdims) / (x.size if axis is None else x.shape[_dimension(x, axis, "mean()")])
    wide = float64 if x.dtype.bits == 64 else float32
    if axis is not None:
        added = _along(add_up_along, "mean()", x, wide, axis, keepdims)
        return added / x.shape[_dimension(x, axis, "mean()")]
    out = zeros(1, wide, x.device, x.requires_grad)
    return _reduced(add_up, "mean()", x.size, [_flat(x)], out) / x.size


def inner(x: array, y: Any) -> array:
    """Return the sum of the products of two arrays' elements, as an array of one element.

    Raises:
        LaunchError: they are not two arrays of numbers of the same shape and dtype.
    """
    y = array(y, device=x.device) if isinstance(y, np.ndarray) else y
    if not isinstance(y, array) or (x.shape, x.dtype) != (y.shape, y.dtype) or not is_number_type(x.dtype):
        shown = f"{y.type!r} of shape {y.shape}" if isinstance(y, array) else repr(y)
        raise LaunchError(
            f"dot() takes two arrays of numbers of one shape and dtype, not {x.type!r} of shape {x.shape} and {shown}."
        )
    out = zeros(1, x.dtype, x.device, x.requires_grad or y.requires_grad)
    return _reduced(add_products, "dot()", x.size, [_flat(x), _flat(y)], out)


def extreme(name: str, x: array, axis: int | None = None, keepdims: bool = False) -> array:
    """Return the largest ("max") or smallest ("min") of all elements, or of those along an axis, as an array.

    Raises:
        LaunchError: the elements are no real numbers, or there are none.
    """
    what = f"{name}()"
    chosen = x.size if axis is None else x.shape[_dimension(x, axis, what)]
    if not isinstance(x.dtype, Scalar) or x.dtype == bool_ or not chosen:
        raise LaunchError(f"{what} takes an array of numbers that is not empty, not {x.type!r} of shape {x.shape}.")
    if axis is not None:
        return _along(EXTREMES[name][1], what, x, x.dtype, axis, keepdims)
    flat, narrow = _flat(x), x.dtype.bits < 32
    out = empty(1, _atomic(x.dtype), x.device)
    _reduced(converted, what, 1, [flat[:1]], out)
    _reduced(EXTREMES[name][0], what, x.size, [flat], out)
    return _reduced(converted, what, 1, [out], empty(1, x.dtype, x.device)) if narrow else out


def _atomic(kind: Scalar) -> Scalar:
    """Return the type in which atomics compare elements of this one: they have 32 or 64 bits."""
    return kind if kind.bits >= 32 else float32 if kind.kind is Kind.FLOAT else int32


def _dimension(x: array, axis: int, what: str) -> int:
    """Return an axis counted from 0, which may be negative; `what` names the reduction in the error.

    Raises:
        LaunchError: the array has no such axis.
    """
    if not -x.ndim <= axis < x.ndim:
        raise LaunchError(f"{what} along axis {axis}: an array of shape {x.shape} has the axes 0 to {x.ndim - 1}.")
    return axis % x.ndim


def _along(of: Kernel, what: str, x: array, kind: Any, axis: int, keepdims: bool) -> array:
    """Reduce an array along an axis, by a kernel of three dimensions: before the axis, along it, and after it."""
    at = _dimension(x, axis, what)
    before, after = x.shape[:at], x.shape[at + 1 :]
    sizes = prod(before), prod(after)
    out = empty(sizes, kind, x.device, x.requires_grad)
    _reduced(of, what, sizes, [x.reshape(sizes[0], x.shape[at], sizes[1])], out)
    return out.reshape(*before, *((1,) if keepdims else ()), *after) if keepdims or x.ndim > 1 else out.flatten()


def product(left: Any, right: Any) -> Any:
    """Multiply matrices and vectors, `a @ b`; NotImplemented if an operand is no array.

    Raises:
        LaunchError: shapes or dtypes do not fit.
    """
    a, b = (array(v, device=_device_of(left, right)) if isinstance(v, np.ndarray) else v for v in (left, right))
    if not isinstance(a, array) or not isinstance(b, array):
        return NotImplemented
    if a.ndim > 2 or b.ndim > 2 or a.shape[-1] != b.shape[0] or a.dtype != b.dtype or not is_number_type(a.dtype):
        raise LaunchError(
            f"@ takes matrices and vectors of numbers, (n, k) @ (k, m), of one dtype; these are {a.type!r} of shape "
            f"{a.shape} and {b.type!r} of shape {b.shape}."
        )
    if a.ndim == b.ndim == 1:
        return inner(a, b)
    rows = a.reshape(1, -1) if a.ndim == 1 else a
    columns = b.reshape(-1, 1) if b.ndim == 1 else b
    shape = (rows.shape[0], columns.shape[1])
    out = empty(shape, a.dtype, a.device, a.requires_grad or b.requires_grad)
    launch(multiplied, shape, inputs=[rows, columns], outputs=[out], device=a.device)
    return out if a.ndim == b.ndim else out.flatten()


def is_number_type(dtype: object) -> bool:
    """Return whether elements of this type are numbers, complex ones too."""
    return isinstance(dtype, Scalar) or type(dtype) is Complex


def _device_of(left: Any, right: Any) -> Any:
    """Return the device of the first operand that is an array; None if none is."""
    return next((v.device for v in (left, right) if isinstance(v, array)), None)


def _flat(x: array) -> array:
    """Return the elements in one dimension, in row-major order."""
    return x if x.ndim == 1 else x.flatten()


def _reduced(of: Kernel, what: str, n: int | tuple[int, ...], inputs: list[array], out: array) -> array:
    """Launch the reduction `of` over `n` threads from `inputs` into `out`, and return `out`.

    Raises:
        LaunchError: the elements are structs.
    """
    if isinstance(out.dtype, Struct):
        raise LaunchError(
            f"{what} takes an array of numbers or vectors, not of structs.", advice="Take a field: x['v']."
        )
    launch(of, n, inputs=inputs, outputs=[out], device=out.device)
    return out
