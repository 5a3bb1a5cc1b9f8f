"""`map(f, …)`: the elementwise kernel of a function, made from the arguments and kept for the next call.

The kernel is an ordinary one, launched in the ordinary way: tapes, recorders and the cache see nothing special.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from workbench.api.kernels.func import Func
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.api.kernels.source_text import definition_of
from workbench.api.launches.launch import launch
from workbench.builtins import FORMS, Form
from workbench.errors import LaunchError, its_type
from workbench.frontend import Definition, Scope, as_builtin, result_types
from workbench.host.narrow import HostArray, Numpy, is_list, is_numpy, is_numpy_array
from workbench.host.vectors import HostVector
from workbench.ranges import fits, misfit
from workbench.runtime.arrays.array import Element, array
from workbench.runtime.arrays.host_convert import refuse_masked
from workbench.runtime.arrays.placeholder import Symbol
from workbench.runtime.device.device import Device, get_device
from workbench.source import Source
from workbench.structs import AnyType, StructArray
from workbench.types import (
    NUMBERS,
    ArrayType,
    Kind,
    Scalar,
    Vector,
    complex64,
    complex128,
    element,
    float32,
    float64,
    is_float,
)

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
