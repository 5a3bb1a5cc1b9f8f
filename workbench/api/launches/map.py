"""`map(f, …)`: the elementwise kernel of a function, made from the arguments and kept for the next call.

The kernel is an ordinary one, launched in the ordinary way: tapes, recorders and the cache see nothing special.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from workbench.api.kernels.func import Func
from workbench.api.kernels.kernel import Kernel, Specialisation
from workbench.api.kernels.source_text import definition_of
from workbench.api.launches.launch import launch
from workbench.api.narrow import HostArray, Numpy, is_list, is_numpy, is_numpy_array
from workbench.builtins import FORMS, Form
from workbench.errors import LaunchError, its_type
from workbench.frontend import Definition, Scope, as_builtin, result_types
from workbench.host.vectors import HostVector
from workbench.ranges import fits, misfit
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty
from workbench.runtime.arrays.placeholder import Symbol
from workbench.runtime.device.device import Device, get_device
from workbench.source import Source
from workbench.structs import AnyType, StructArray
from workbench.types import SCALARS, ArrayType, Kind, Scalar, Vector, element, float32, is_float

KEPT = 256
LETTERS = "ijkl"
_MAPPED: OrderedDict[int, _Mapped] = OrderedDict()


def map(
    f: Func | Callable[..., object], *arguments: object, out: object = None, device: Device | str | None = None
) -> array | tuple[array, ...]:
    """Apply a function to the elements of arrays, one thread for each.

    Args:
        f: a func, a name of the language, or a plain Python function (made a func).
        arguments: arrays of one shape (1 to 4 dimensions) or of shapes that broadcast as NumPy's do, and numbers or
            vectors that go with every element. A Python float counts in the arrays' widest float type, an int as int32.
        out: an array of that shape, or one for each result, to write to; made if it is not given.
        device: where to run; that of the arrays.

    Returns:
        The array of results; a tuple of arrays where `f` has several.

    Raises:
        LaunchError: no array is given, shapes do not broadcast, or `out` does not fit.
        WorkbenchError: what is wrong with `f` for these arguments.
    """
    values = _values(arguments, device)
    arrays = [v for v in values if isinstance(v, array)]
    shape = _common_shape(arrays)
    indices = tuple(_index(v.shape, shape) if isinstance(v, array) else "" for v in values)
    mapped = _mapped(f)
    types = tuple(v.type if isinstance(v, array) else _type(v) for v in values)
    found = mapped.results(types)
    outs = _outputs(out, found, shape, arrays)
    kernel = mapped.kernel(indices, len(shape), len(outs))
    launch(kernel, shape, inputs=values, outputs=outs, device=arrays[0].device)
    mapped.keep(types, found, kernel.specialise([*types, *(a.type for a in outs)]))
    return outs[0] if len(outs) == 1 else tuple(outs)


class _Mapped:
    """What was made of one function.

    Attributes:
        given: the function as the user gave it, kept alive so that its identity stays its own.
        func: what the kernels call.
    """

    def __init__(self, given: Func | Form | Callable[..., object]) -> None:
        if isinstance(given, Kernel):
            raise LaunchError(f"map() takes a func; {given.name} is a kernel.", advice="Make it a func: @wb.func.")
        usable = hasattr(given, "__wb_definitions__") or isinstance(given, Form) or as_builtin(given) is not None
        self.given = given
        self.func = given if usable else Func(definition_of(given))
        self._kernels: dict[str, Kernel] = {}
        self._results: dict[tuple[AnyType, ...], tuple[tuple[AnyType, ...], Specialisation]] = {}

    def results(self, types: tuple[AnyType, ...]) -> tuple[AnyType, ...]:
        """The types of the results for arguments of these types."""
        known = self._results.get(types)
        if known is not None and known[1].is_current():
            return known[0]
        names = [f"x{k}" for k in range(len(types))]
        text = f"def {self._name}({', '.join(names)}):\n    return f({', '.join(names)})\n"
        elements = [t.dtype if isinstance(t, (ArrayType, StructArray)) else t for t in types]
        given = dict(zip(names, elements, strict=True))
        return result_types(self._definition(text), given, self._warp_meanings)

    def keep(self, types: tuple[AnyType, ...], found: tuple[AnyType, ...], specialisation: Specialisation) -> None:
        """Keep the results' types for as long as nothing that the function captures changes."""
        self._results[types] = found, specialisation

    def kernel(self, indices: Sequence[str], ndim: int, outs: int) -> Kernel:
        """The kernel that reads its arguments at these indices; "" for one that is no array."""
        index = ", ".join(LETTERS[:ndim])
        names = [f"x{k}" for k in range(len(indices))]
        read = [f"{n}[{at}]" if at else n for n, at in zip(names, indices, strict=True)]
        results = [f"y{k}" for k in range(outs)]
        text = (
            f"def {self._name}({', '.join([*names, *results])}):\n    {index} = tid()\n"
            f"    {', '.join(f'{y}[{index}]' for y in results)} = f({', '.join(read)})\n"
        )
        if text not in self._kernels:
            self._kernels[text] = Kernel(self._definition(text))
            self._kernels[text].warp_meanings = self._warp_meanings
        return self._kernels[text]

    @property
    def _warp_meanings(self) -> bool:
        return getattr(self.func, "warp_meanings", False)

    @property
    def _name(self) -> str:
        return f"map_{getattr(self.func, 'name', None) or getattr(self.func, '__name__', 'func')}"

    def _definition(self, text: str) -> Definition:
        (node,) = ast.parse(text).body
        assert isinstance(node, ast.FunctionDef)
        scope = Scope(own={"f": self.func, "tid": FORMS["tid"]})
        return Definition(self._name, node, Source(text, f"the kernel of {self._name}"), scope, written=(text, 1))


def _mapped(f: Func | Callable[..., object]) -> _Mapped:
    mapped = _MAPPED.get(id(f))
    if mapped is None:
        mapped = _MAPPED[id(f)] = _Mapped(f)
        while len(_MAPPED) > KEPT:
            _MAPPED.popitem(last=False)
    _MAPPED.move_to_end(id(f))
    return mapped


def _values(arguments: Sequence[object], device: Device | str | None) -> list[array | Symbol | Numpy]:
    """Arrays as ours, numbers with a type."""
    ours = [a for a in arguments if isinstance(a, array)]
    shapes = [a.shape for a in ours or filter(is_numpy_array, arguments) if a.ndim]
    if not shapes:
        raise LaunchError("map() needs an array among its arguments.")
    place = get_device(device) if device is not None or not ours else ours[0].device
    values: list[object] = [
        array(a, device=place) if is_numpy_array(a) and _is_array(a, ours, shapes) else a for a in arguments
    ]
    arrays = [v for v in values if isinstance(v, array)]
    floats = [t for a in arrays if (t := element(a.dtype)).kind is Kind.FLOAT]
    widest = max(floats, key=lambda t: t.bits, default=float32)
    return [_number(v, widest) for v in values]


def _common_shape(arrays: Sequence[array]) -> tuple[int, ...]:
    """The shape to which all of them broadcast."""
    first = arrays[0].shape
    if all(a.shape == first for a in arrays):
        return first
    try:
        return np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shown = ", ".join(str(a.shape) for a in arrays)
        raise LaunchError(
            f"The shapes {shown} do not fit together.",
            advice="Sizes are compared from the last dimension on; each must be the same, or 1.",
        ) from None


def _index(own: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Where a thread of `shape` reads an array of shape `own`: 0 along what is repeated."""
    letters = LETTERS[len(shape) - len(own) : len(shape)]
    return ", ".join(
        "0" if n == 1 != whole else k for n, whole, k in zip(own, shape[-len(own) :], letters, strict=True)
    )


def _is_array(value: HostArray, ours: Sequence[array], shapes: Sequence[tuple[int, ...]]) -> bool:
    """Whether a NumPy array is one here too: a few numbers beside arrays of vectors are a vector."""
    if value.ndim == 0 or isinstance(value, HostVector):
        return False
    if value.shape == shapes[0]:
        return True
    alone = not any(isinstance(a.dtype, Vector) for a in ours) and value.size == shapes[0][-1]
    return alone or not (value.ndim == 1 and 2 <= value.size <= 4)


def _number(value: object, widest: Scalar) -> array | Symbol | Numpy:
    if isinstance(value, (array, Symbol)):
        return value
    if is_numpy_array(value) and not value.ndim and value.dtype.name in SCALARS:
        return value.dtype.type(value)  # NumPy hands its own scalars over as arrays without a dimension
    if is_numpy(value) and value.dtype.name in SCALARS:
        return value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int) and -(2**31) <= value < 2**31:
        return np.int32(value)
    if isinstance(value, float):
        if not fits(value, widest):
            raise LaunchError(f"map(): {misfit(value, widest)}.", advice="Pass inf where that is meant.")
        return widest(value)
    raise LaunchError(f"map() takes arrays, numbers and vectors; this is {its_type(value)}: {value!r}.")


def _type(value: Symbol | Numpy) -> AnyType:
    if isinstance(value, Symbol):
        return value.type
    if isinstance(value, HostVector) and value.type is not None:
        return value.type
    scalar = SCALARS[value.dtype.name]
    return Vector(value.size, scalar) if value.ndim else scalar


def _outputs(out: object, found: Sequence[AnyType], shape: tuple[int, ...], arrays: Sequence[array]) -> list[array]:
    """The arrays to write to: those given, checked, or new ones that want a gradient where an argument does."""
    if out is None:
        wanted = any(a.requires_grad for a in arrays)
        return [empty(shape, t, arrays[0].device, wanted and is_float(t)) for t in found]
    outs: list[object] = list(out) if is_list(out) else [out]
    checked: list[array] = []
    if len(outs) != len(found):
        raise LaunchError(f"map(): the function has {len(found)} results; out has {len(outs)}.", parameter="out")
    for given, type in zip(outs, found, strict=True):
        if not isinstance(given, array) or given.dtype != type or given.shape != shape:
            what = f"{given.dtype!r} of shape {given.shape}" if isinstance(given, array) else repr(given)
            raise LaunchError(f"map(): out must be an array of {type!r} of shape {shape}, not {what}.", parameter="out")
        checked.append(given)
    return checked
