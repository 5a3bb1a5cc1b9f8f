"""An interpreter of IR, one thread after the other on NumPy arrays: it defines what a kernel means.

Values are NumPy scalars of the exact type, vectors arrays of shape (length,). Each thread runs to its end, in
row-major order, so a race has one outcome here. It is slow (microseconds an operation) and checks every index: for
tests and for stepping.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, cast

import numpy as np
from msgspec.structs import replace

from workbench.backends.faults import FaultRecord, raised_by
from workbench.backends.python import operations, tiles
from workbench.backends.python.thread import Handlers, Interpreter, Step, Thread
from workbench.builtins.declaration.meaning import value_of
from workbench.deep import with_deep_stack
from workbench.errors import LaunchError
from workbench.host.narrow import is_numpy_array
from workbench.ir.values import Function, Value
from workbench.passes import pipeline
from workbench.tiles import contents
from workbench.types import ArrayType, Complex, Vector

HANDLERS = Handlers(operations.PLAIN | tiles.PLAIN, operations.STRUCTURED | tiles.STRUCTURED)


@with_deep_stack
def run(
    function: Function,
    dim: int | Sequence[int],
    args: Sequence[Any],
    *,
    threads: Iterable[Thread] | None = None,
    checks: bool = False,
) -> None:
    """Run the function for every thread of `dim`, in row-major order; arrays are written in place.

    Args:
        function: a legal function.
        dim: the launch's dimensions.
        args: one for each parameter, in order: a NumPy array of the parameter's dtype (any strides; vectors take a
            trailing axis of their length), or a number (a sequence of numbers for a vector).
        threads: the threads to run, in this order, instead of all.
        checks: go on after a fault, as compiled code with checks does, and raise the first one at the end.

    Raises:
        LaunchError: an argument does not fit its parameter; nothing has run.
        KernelFault: an index out of range, a failed assert, or a `range` with step 0. What ran before stays written;
            with `checks`, also a division by zero or a shift out of range, and all threads have run.
    """
    dims = _dims(dim)
    bound = _bind(function, args)
    running = pipeline.run(pipeline.PYTHON, function, bounds_checks=checks)
    faults: list[FaultRecord] = []
    every = product(*(range(n) for n in dims)) if threads is None else threads
    with np.errstate(all="ignore"):
        for thread in every:
            for _ in Interpreter(running, thread, bound, dims, HANDLERS, faults=faults).block(running.body):
                raise AssertionError("an untraced thread gives no steps")
    if faults:
        first = replace(faults[0], count=len(faults))
        raise raised_by(function, first, dims, _shapes(function, bound))


def step(function: Function, dim: int | Sequence[int], args: Sequence[Any], thread: int | Thread) -> Iterator[Step]:
    """Run one thread; yield each operation after it was executed. Arrays are written in place meanwhile.

    Raises:
        LaunchError: the thread is not in `dim`, or an argument does not fit its parameter.
        KernelFault: an index out of range, a failed assert, or a `range` with step 0, when that step is taken.
    """
    dims, index = _dims(dim), _dims(thread)
    if len(index) != len(dims) or not all(0 <= i < n for i, n in zip(index, dims, strict=True)):
        raise LaunchError(f"There is no thread {index} in a launch of {dims}.", function=function.name)
    steps = Interpreter(function, index, _bind(function, args), dims, HANDLERS, trace=True).block(function.body)
    while True:
        with np.errstate(all="ignore"):
            taken = next(steps, None)
        if taken is None:
            return
        yield taken


def _dims(dim: int | Sequence[int]) -> Thread:
    """Return the launch's dimensions as a tuple of int; a number is one dimension."""
    return tuple(int(n) for n in dim) if isinstance(dim, Sequence) else (int(dim),)


def _bind(function: Function, args: Sequence[Any]) -> dict[Value, Any]:
    """Return the checked arguments by parameter.

    Raises:
        LaunchError: there are too few or too many, or an array does not fit its parameter.
    """
    if len(args) != len(function.params):
        raise LaunchError(
            f"{function.name} takes {len(function.params)} arguments; it got {len(args)}.", function=function.name
        )
    return {p: _argument(function, p, a) for p, a in zip(function.params, args, strict=True)}


def _shapes(function: Function, bound: Mapping[Value, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array argument by name, without the axes of its elements' components."""
    return {p.name: bound[p].shape[: p.type.ndim] for p in function.params if isinstance(p.type, ArrayType)}


def _argument(function: Function, param: Value, arg: Any) -> Any:
    """Return an argument as the interpreter computes with it: complex numbers as pairs of floats in a last axis.

    Raises:
        LaunchError: it is not an array of the parameter's dtype and number of dimensions.
    """
    type = param.type
    if isinstance(type, Complex):
        number = cast("Any", np.asarray(arg))
        arg = np.stack((number.real, number.imag), -1)
    if not isinstance(type, ArrayType):
        return value_of(arg, contents(type))
    if isinstance(type.dtype, Complex) and is_numpy_array(arg) and arg.dtype == type.dtype.numpy:
        arg = np.lib.stride_tricks.as_strided(np.real(arg), (*arg.shape, 2), (*arg.strides, type.dtype.dtype.size))
    tail = type.dtype.parts_shape if isinstance(type.dtype, Vector) else ()
    dtype = (type.dtype.dtype if isinstance(type.dtype, Vector) else type.dtype).numpy
    fits = is_numpy_array(arg) and arg.dtype == dtype and arg.ndim == type.ndim + len(tail)
    if not fits or arg.shape[type.ndim :] != tail:
        got = f"{arg.dtype} of shape {arg.shape}" if is_numpy_array(arg) else repr(arg)
        wanted = f"a NumPy array of {dtype} with {type.ndim + len(tail)} dimensions"
        wanted += f", the last of shape {tail}" if tail else ""
        raise LaunchError(
            f"{param.name} is {type!r}: it takes {wanted}; it got {got}.", function=function.name, parameter=param.name
        )
    return arg
