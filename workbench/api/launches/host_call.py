"""A func, or a name of the language, called on Python's own values: read as in a kernel, and run by the interpreter.

    >>> import workbench as wb
    >>> @wb.func
    ... def smooth(t: float):
    ...     return t * t * (3.0 - 2.0 * t)
    >>> smooth(0.5)
    np.float32(0.5)

A Python number stands for itself, as if it were written in a kernel: `smooth(1)` is `smooth(1)` there.
"""

from __future__ import annotations

import ast
import cmath
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.api.launches.map import map
from workbench.backends.python import interpret
from workbench.builtins import Form
from workbench.errors import LaunchError
from workbench.frontend.state.definition import Definition, Scope
from workbench.frontend.statements.lower import lower, result_types
from workbench.host.narrow import is_numpy, is_numpy_array
from workbench.host.vectors import PRODUCT, HostVector
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import empty
from workbench.runtime.arrays.structure import StructValue, spread
from workbench.source import Source
from workbench.structs import AnyType
from workbench.types import NUMBERS, ArrayType, Scalar, Vector, complex64, float32, is_small, matrix

MAKES = ("identity", "matrix_from_rows", "matrix_from_cols", "quat_identity", "transform_identity")
"""Names without a function behind them that make a value of their arguments alone."""


def called(f: Any, values: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Evaluate `f(*values, **keywords)` on the host in the interpreter.

    Args:
        f: a func, a name of the language, or `PRODUCT`.
        values: numbers, vectors, structs, arrays on the CPU (which a func can change), types, funcs.
        keywords: such values by name.

    Returns:
        A NumPy scalar, a vector, a struct; a tuple of them if there are several results. A name of the
        language is applied to the elements of arrays, as `map` does.

    Raises:
        TypeError: the name has a meaning only inside a kernel.
        WorkbenchError: the arguments do not fit, or `f` has errors.
    """
    name = "_product" if f == PRODUCT else f.name
    if isinstance(f, Form):
        if f.rebinds is not None:
            raise TypeError(f"{name}() advances the random state it is given: call it in a kernel or a func")
        if f.body is None and name not in MAKES:
            raise TypeError(f"{name}() has a meaning only inside a kernel")
        if any(isinstance(v, array) for v in values) and not keywords:
            return map(f, *values)
    call = _Call(name, f)
    if f == PRODUCT:  # of vectors whose numbers mean what they mean in Warp
        call.warp_meanings = any(v.type.dtype.plain is not v.type.dtype for v in values)
    definitions = getattr(f, "__wb_definitions__", ())
    names = [p.arg for p in definitions[0].parameters] if definitions else []
    names += [f"x{k}" for k in range(len(names), len(values))]
    written = [call.argument(n, v) for n, v in zip(names, values, strict=False)]
    written += [f"{n}={call.argument(n, v)}" for n, v in keywords.items()]
    return call.result(" * ".join(written) if f == PRODUCT else f"{name}({', '.join(written)})")


class _Call:
    """A call on the host: written as kernel source, with the values and types of its parameters.

    Attributes:
        name: what is called.
        warp_meanings: whether names in it mean what they mean in Warp.
        own: the names that the source sees: what is called, and compile-time arguments such as types.
        values, types: of the arguments that become parameters, by name.
    """

    def __init__(self, name: str, f: Any) -> None:
        """Begin a call of `f`, which the source calls `name`; it has no arguments yet."""
        self.name = name
        self.warp_meanings = getattr(f, "warp_meanings", False)
        self.own: dict[str, Any] = {name: f}
        self.values: dict[str, Any] = {}
        self.types: dict[str, AnyType] = {}

    def argument(self, name: str, value: Any) -> str:
        """Return the text of an argument: a finite Python number itself, else `name`, which then means the value."""
        number = isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
        if number and cmath.isfinite(value):
            return repr(value)
        type = _type(value)
        if type is None:
            self.own[name] = value
        else:
            self.values[name], self.types[name] = value, type
        return name

    def result(self, source: str) -> Any:
        """Run the call, given as text, in a kernel of one thread.

        Returns:
            Its result; a tuple if there are several, None if there is none.
        """
        parameters = ", ".join(self.types)
        definition = self._definition(f"def {self.name}_({parameters}):\n    return {source}\n")
        result_list = result_types(definition, self.types, self.warp_meanings, nothing=True)
        outs = {f"result_{k}": empty(1, type) for k, type in enumerate(result_list)}
        stores = ", ".join(f"{y}[0]" for y in outs) + " = " if outs else ""
        kernel = self._definition(f"def {self.name}_({', '.join([*self.types, *outs])}):\n    {stores}{source}\n")
        types = self.types | {y: out.type for y, out in outs.items()}
        function = lower(kernel, types, warp_meanings=self.warp_meanings).function
        arguments = [p for n, v in {**self.values, **outs}.items() for p in spread(n, v).values()]
        interpret.run(function, 1, [p.host() if isinstance(p, array) else p for p in arguments])
        for value in self.values.values():
            if isinstance(value, array):
                value.changed()
        results = tuple(out[0] for out in outs.values()) or (None,)
        return results[0] if len(results) == 1 else results

    def _definition(self, source: str) -> Definition:
        """Return the definition that a text of one def says, in whose scope the call's name means the func."""
        (node,) = ast.parse(source).body
        assert isinstance(node, ast.FunctionDef)
        return Definition(f"{self.name}_", node, Source(source, f"the call of {self.name}"), Scope(own=self.own))


def _type(value: Any) -> AnyType | None:
    """Return the type of a parameter that takes the value; None for a compile-time value: a func, a type.

    Raises:
        LaunchError: the value is an array on a GPU.
    """
    if isinstance(value, array):
        if value.device.is_cuda:
            raise LaunchError(f"A func called from Python runs on the CPU; this array is on {value.device}.")
        return value.type
    if isinstance(value, StructValue):
        return value.__wb_struct__
    if isinstance(value, HostVector) and value.type is not None:
        return value.type
    if is_numpy(value) and value.dtype.name in NUMBERS:
        scalar = NUMBERS[value.dtype.name]
        if not value.ndim:
            return scalar
        if isinstance(scalar, Scalar) and is_small(value.shape):
            return Vector(value.size, scalar) if value.ndim == 1 else matrix(value.shape, scalar)
        return ArrayType(scalar, value.ndim) if is_numpy_array(value) else None
    return float32 if isinstance(value, float) else complex64 if isinstance(value, complex) else None
