"""A signature of a traced function: from JAX values to stand-in arrays, the call, and back.

A signature is what decides a program: types and shapes of the inputs, values of the static ones, the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import LaunchError
from workbench.interop.jax.launches.reports import watch
from workbench.interop.jax.programs.trace import Filled, Trace, Undefined, stood_for
from workbench.interop.jax.values import arguments
from workbench.interop.jax.values.library import library
from workbench.interop.jax.values.struct_pytrees import TracedNumber
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import CPU, ScopedDevice
from workbench.runtime.launching.checks import checks_here, checks_wanted
from workbench.tiles import contents
from workbench.types import ArrayType, Type, number_type

Shape = tuple[int, ...]


@dataclass(frozen=True)
class PytreeParam:
    """Represents an input parameter: a value, or a tree of them.

    Attributes:
        name: the parameter's.
        tree: the tree's form; None for a single value.
        types, full_shapes: of its values; shapes with the components' axes.
        static: (type, value) where it is part of the program; else None.
    """

    name: str
    tree: Any
    types: tuple[Type, ...] = ()
    full_shapes: tuple[Shape, ...] = ()
    static: Any = None

    @classmethod
    def of(cls, function: str, name: str, value: Any, annotation: Type | None, static: bool) -> PytreeParam:
        """Describe the input parameter `name` by a value of it; `static`: the value is part of the program.

        Raises:
            LaunchError: the value does not fit the annotation.
        """
        if static:
            return cls(name, None, static=(type(value), value))
        single, tree = (True, None) if annotation is not None else arguments.tree_of(value)
        values = [value] if single else library().jax.tree.leaves(value)
        types = tuple(arguments.type_of(function, name, v, annotation) for v in values)
        return cls(name, tree, types, tuple(tuple(np.shape(v)) for v in values))

    def values(self, value: Any) -> list[Any]:
        """Return the leaves of the tree of a value of this parameter; none of a static one."""
        if self.static is not None:
            return []
        return [value] if self.tree is None else library().jax.tree.leaves(value)

    def built(self, values: list[Any]) -> Any:
        """Rebuild the parameter's value from the flat list of its leaves; a static one has its own."""
        if self.static is not None:
            return self.static[1]
        return values[0] if self.tree is None else library().jax.tree.unflatten(self.tree, values)

    def shapes(self) -> list[Shape]:
        """Return the shapes of the parameter's arrays, without components' axes."""
        pairs = zip(self.types, self.full_shapes, strict=True)
        return [shape[: t.ndim] for t, shape in pairs if isinstance(t, ArrayType)]


@dataclass(frozen=True)
class Output:
    """Represents a result that is no input: parameter, type, shape without components, initial value (None: any)."""

    name: str
    type: ArrayType
    shape: Shape
    init: float | int | None


@dataclass(frozen=True)
class Signature:
    """Represents what decides a program of a traced function, for calls with arguments of these types and shapes.

    Attributes:
        function: the function's name.
        leaves: its input parameters.
        outputs: the results that are no inputs.
        in_out: names of the inputs that are also results.
        wide: whether JAX has 64-bit types.
    """

    function: str
    leaves: tuple[PytreeParam, ...]
    outputs: tuple[Output, ...]
    in_out: frozenset[str]
    wide: bool

    def operands(self, values: Mapping[str, Any]) -> list[Any]:
        """Return the flat operands for the values of parameters.

        Raises:
            LaunchError: one does not convert to its type.
        """
        return [
            arguments.operand(self.function, leaf.name, v, t)
            for leaf in self.leaves
            for v, t in zip(leaf.values(values[leaf.name]), leaf.types, strict=True)
        ]

    def results(self, flat: Sequence[Any]) -> list[Any]:
        """Return flat results by parameter: in-out ones as their trees, then the outputs."""
        if not self.in_out:
            return list(flat)
        rest = iter(flat)
        in_out = [leaf for leaf in self.leaves if leaf.name in self.in_out]
        return [*(leaf.built([next(rest) for _ in leaf.types]) for leaf in in_out), *rest]

    def result_types(self) -> list[tuple[str, ArrayType, Shape]]:
        """Return name, type and shape without components of each flat result.

        Raises:
            LaunchError: an in-out parameter is not an array.
        """
        types = []
        for leaf in self.leaves:
            for type, shape in zip(leaf.types, leaf.full_shapes, strict=True):
                if leaf.name in self.in_out:
                    array_type = arguments.result_type(self.function, leaf.name, type)
                    types.append((leaf.name, array_type, shape[: array_type.ndim]))
        return [*types, *((o.name, o.type, o.shape) for o in self.outputs)]


def active() -> Trace | None:
    """Return the trace that is under way in this context; None if there is none."""
    return next((o for o in OBSERVERS.get() if isinstance(o, Trace)), None)


@contextmanager
def _alone(*observers: Trace) -> Iterator[None]:
    """Let only these traces observe launches, and make the CPU the default device, within a `with` block."""
    token = OBSERVERS.set(observers)
    try:
        # Stand-ins are CPU arrays whatever device the program will run on: only their sizes are used.
        with ScopedDevice(CPU):
            yield
    finally:
        OBSERVERS.reset(token)


def run_traced(
    trace: Trace,
    function: Callable[..., Any],
    signature: Signature,
    operands: Sequence[Any],
    rebound: Callable[[str], LaunchError],
) -> list[Any]:
    """Call the function on stand-ins for JAX values; return the results as flat JAX values.

    Args:
        trace: records what it does.
        function: the user's.
        signature: of this call.
        operands: flat, as `Signature.operands` gives them.
        rebound: makes the error for an output that nothing wrote, from its name.

    Raises:
        LaunchError: an output was not written, or the function returned something.
        ValuesRead: it needs values.
    """
    watched = checks_here()
    poisoned = watched or checks_wanted()
    # Made unobserved, then given to the trace: it must not take them for arrays that the function makes.
    with _alone():
        arguments, outputs_in = _stand_ins(trace, signature, operands)
        shapes = [stood_for(o.shape, trace.around) for o in signature.outputs]
        outputs = [array.undefined(s, o.type.dtype, CPU) for s, o in zip(shapes, signature.outputs, strict=True)]
        for target, output in zip(outputs, signature.outputs, strict=True):
            scalar = number_type(output.type)
            known = Filled(scalar.numpy.type(output.init)) if output.init is not None else Undefined(poisoned)
            trace.give(target, known, output.name)
    with _alone(trace):
        returned = function(*arguments, *outputs)
        if returned is not None:
            raise LaunchError(
                f"{signature.function} returns a value; its results are its last parameters.",
                trace.definition.locate(trace.definition.node),
                "Write into the output parameters, and return nothing.",
                signature.function,
            )
        for target, output in zip(outputs, signature.outputs, strict=True):
            if trace.is_undefined(target) and target.size:
                raise rebound(output.name)
        results = [trace.take(a) for a in outputs_in]
        for target, output in zip(outputs, signature.outputs, strict=True):
            results.append(trace.take(target) if target.size else _empty(output))
            if watched and output.init is None:
                results[-1] = watch(signature.function, output.name, number_type(output.type), results[-1])
    return results


def _empty(output: Output) -> Any:
    """Return an output without elements, with its components' axes."""
    return library().jnp.zeros((*output.shape, *output.type.dtype.shape), number_type(output.type).numpy)


def _stand_ins(trace: Trace, signature: Signature, operands: Sequence[Any]) -> tuple[list[Any], list[array]]:
    """Return the values that the function gets for its inputs, and the arrays among them that are results."""
    rest, arguments, outputs = iter(operands), [], []
    for leaf in signature.leaves:
        values = []
        for type, shape in zip(leaf.types, leaf.full_shapes, strict=True):
            value = next(rest)
            if isinstance(type, ArrayType):
                stand_in = array.undefined(stood_for(shape[: type.ndim], trace.around), type.dtype, CPU)
                trace.give(stand_in, value, leaf.name)
                values.append(stand_in)
                outputs += [stand_in] if leaf.name in signature.in_out else []
            else:
                values.append(TracedNumber(contents(type), library().jnp.asarray(value), leaf.name, trace.values_read))
        arguments.append(leaf.built(values))
    return arguments, outputs


def run_inside(outer: Trace, callee: Any, values: Mapping[str, Any], output_dims: Any) -> Any:
    """Call another jax_callable inside a traced function; return its results as stand-in arrays of the outer trace.

    The outer trace sees these results, not the launches; in-out arguments are updated in place.
    """
    tree = library().jax.tree

    def plain(value: Any) -> Any:
        if isinstance(value, array):
            return outer.take(value)
        return value.value if isinstance(value, TracedNumber) else value

    plain_values = {n: tree.map(plain, v) for n, v in values.items()}
    # The inner call is traced by its own trace; the outer one sees its results only.
    token = OBSERVERS.set(())
    try:
        results = callee(*plain_values.values(), output_dims=output_dims)
        signature = callee.signature(plain_values, output_dims)
        flat, ours = tree.leaves(results), []
        for value, (name, type, shape) in zip(flat, signature.result_types(), strict=True):
            ours.append(array.undefined(shape, type.dtype, CPU))
            outer.give(ours[-1], value, name)
    finally:
        OBSERVERS.reset(token)
    changed = [a for n, v in values.items() if n in callee.in_out for a in tree.leaves(v)]
    for target, value in zip(changed, ours, strict=False):
        target.copy_(value)
    shaped = signature.results(ours)
    return shaped[0] if len(shaped) == 1 else tuple(shaped)
