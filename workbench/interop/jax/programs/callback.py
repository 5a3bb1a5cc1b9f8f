"""A function called back in Python from an XLA program: for functions that read values while they run.

Each call copies operands and results and takes the GIL; under vmap it is one call after another. Reverse mode works:
the function runs again under a tape, and its adjoints are the gradients. Values that it reads in Python are constants
to the tape. Forward mode and second derivatives are refused, since a tape has neither for code that reads values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from workbench.api.tapes.tape import Tape
from workbench.backends.cpu.native.stopping import put_off
from workbench.errors import KernelFault, NotDifferentiable
from workbench.interop.jax.native.faults import fault_in, message_of, stopped
from workbench.interop.jax.programs.run import Signature
from workbench.interop.jax.values.library import library
from workbench.interop.jax.values.manual import is_among_devices, varying
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros
from workbench.runtime.deferred_errors import error_later
from workbench.runtime.device.device import CPU, ScopedDevice
from workbench.runtime.launching.checks import checks_wanted, choosing_checks
from workbench.runtime.native.launcher import install_launcher
from workbench.types import ArrayType, Vector, is_float, number_type

Arrays = list[np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Called:
    """Represents a function that XLA calls back in Python, with one signature.

    Attributes:
        function: the user's.
        signature: of its calls.
        checks: whether its launches run with checks.
        late: neither a fault nor an interrupt fails the call, because other devices may wait for what comes next.
    """

    function: Callable[..., Any]
    signature: Signature
    checks: bool
    late: bool = False

    @property
    def shapes(self) -> list[Any]:
        """The shapes and dtypes of the function's results, with components' axes."""
        shape = library().jax.ShapeDtypeStruct
        types = self.signature.result_types()
        return [shape((*dims, *type.dtype.shape), number_type(type).numpy) for _, type, dims in types]

    @property
    def floats(self) -> list[int]:
        """The numbers, in order, of the results that are of floats."""
        return [n for n, (_, type, _) in enumerate(self.signature.result_types()) if is_float(type)]

    def run(self, *operands: Any) -> Arrays:
        """Call the function on copies of the operands; return the results.

        They are zeros if a fault or an interrupt ended the function and must not fail the call.
        """
        with _Run(self, operands) as arrays:
            self.function(*arrays.args)
            return [a.numpy() for a in arrays.results]
        return [np.zeros(s.shape, s.dtype) for s in self.shapes]

    def gradients(self, wanted: tuple[int, ...], *values: Any) -> Arrays:
        """Return the gradients of the operands numbered `wanted`, by the function's tape.

        `values` are the operands, then the cotangents of the results of floats. The gradients are zeros if a fault or
        an interrupt ended the function and must not fail the call.
        """
        count = len(values) - len(self.floats)
        with _Run(self, values[:count]) as arrays:
            with Tape(into_grad=False) as tape:
                self.function(*arrays.args)
            seeds = zip((arrays.results[n] for n in self.floats), values[count:], strict=True)
            tape.backward(grads={a: array(np.asarray(v), a.dtype) for a, v in seeds})
            return [tape.adjoint_of(arrays.operands[n]).numpy() for n in wanted]
        return [np.zeros_like(values[n]) for n in wanted]


class _Run:
    """Represents one call of a function from XLA: a context manager in which the function runs.

    Inside, no observer of the caller's sees it. An error that must not fail the call is raised later, and the
    program goes on behind the `with`.

    Attributes:
        operands: the call's operands, copied, as what the function gets.
        args: the function's arguments, built from the operands, then its outputs.
        results: the arrays among them that are results.
    """

    def __init__(self, called: Called, operands: Sequence[Any]) -> None:
        """Keep the function's description and the values of the call's operands for `__enter__`."""
        self._called, self._values = called, operands

    def __enter__(self) -> _Run:
        """Enter the CPU's scope without observers, and build the call's arguments; return itself with them."""
        # XLA calls from any of its threads, with whatever context that has.
        self._token = OBSERVERS.set(())
        self._around = ExitStack()
        self._around.enter_context(install_launcher().stopping.called_by_jax())
        self._around.enter_context(ScopedDevice(CPU))
        self._around.enter_context(choosing_checks(self._called.checks))
        signature, rest = self._called.signature, iter(self._values)
        self.operands: list[Any] = []
        self.args: list[Any] = []
        stored: list[Any] = []
        for leaf in signature.leaves:
            values = [_argument(type, np.asarray(next(rest))) for type in leaf.types]
            self.operands += values
            stored += values if leaf.name in signature.in_out else []
            self.args.append(leaf.built(values))
        # Zeros rather than undefined: no kernel's IR says here what is read before it is written.
        outputs = [zeros(o.shape, o.type.dtype).fill_(o.init or 0) for o in signature.outputs]
        self.args += outputs
        self.results = [*stored, *outputs]
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        """Restore the surroundings; return True, and raise the error later, for one that must not fail the call.

        That is a fault or an interrupt of a call that is `late`. An interrupt is put off in every case, and the
        text of any other fault is noted for `fault_in`.
        """
        self._around.close()
        OBSERVERS.reset(self._token)
        late = self._called.late and isinstance(error, KeyboardInterrupt | KernelFault)
        if isinstance(error, KeyboardInterrupt):
            put_off(error)
        if late:
            error_later(error if isinstance(error, KernelFault) else stopped(self._called.signature.function))
        elif isinstance(error, KernelFault):
            message_of(error)
        return late


def _argument(type: Any, value: np.ndarray[Any, Any]) -> Any:
    """Return what the function gets for a value: an array with a copy of it, a vector, or a Python number."""
    if isinstance(type, ArrayType):
        # JAX's buffers must not change, and the function may write to what it is given.
        return array(value, type.dtype, copy=True)
    return type(value) if isinstance(type, Vector) and type.shape else value[()].item()


def call_back(function: Callable[..., Any], signature: Signature, values: Mapping[str, Any]) -> Sequence[Any]:
    """Return the function's results for JAX values, flat, by a callback into Python.

    Raises:
        KernelFault: a launch of the function's reported one.
    """
    called = Called(function, signature, checks_wanted())
    try:
        return _primitives().called.bind(*signature.operands(values), called=called)
    except Exception as error:
        fault = fault_in(error)
        if fault is None:
            raise
    raise fault


class _Primitives(NamedTuple):
    """Represents the two primitives: the call of a function, and its derivative, which is linear in the tangents."""

    called: Any
    linear: Any


@lru_cache(maxsize=1)
def _primitives() -> _Primitives:
    """Return the primitives, which the first call defines and registers with JAX."""
    jax = library()
    called, linear = jax.Primitive("workbench_called"), jax.Primitive("workbench_called_linear")
    called.multiple_results = linear.multiple_results = True
    called.def_impl(_run)
    called.def_abstract_eval(lambda *avals, called: [jax.ShapedArray(s.shape, s.dtype) for s in called.shapes])
    jax.mlir.register_lowering(called, _lower)
    jax.ad.primitive_jvps[called] = _jvp
    jax.batching.primitive_batchers[called] = partial(_one_by_one, called)
    linear.def_impl(_refuse_forward)
    linear.def_abstract_eval(_linear_results)
    jax.mlir.register_lowering(linear, _refuse_lowering)
    jax.ad.primitive_jvps[linear] = _refuse_second
    jax.ad.primitive_transposes[linear] = _transpose
    jax.batching.primitive_batchers[linear] = partial(_one_by_one, linear)
    return _Primitives(called, linear)


def _run(*operands: Any, called: Called) -> Sequence[Any]:
    """Return the results of a callback to the function; under `vmap` it is one call after another."""
    return library().jax.pure_callback(called.run, called.shapes, *operands, vmap_method="sequential")


def _lower(ctx: Any, *operands: Any, called: Called) -> Any:
    """Lower a call to a Python callback; among several devices no error may fail it."""
    callback = replace(called, late=is_among_devices(ctx))
    return library().mlir.lower_fun(partial(_run, called=callback), multiple_results=True)(ctx, *operands)


def _one_by_one(primitive: Any, operands: Sequence[Any], axes: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    """Bind a primitive to each slice along `axes` (None: the same in all); return results with the batch axis 0."""
    jax = library()
    moving = [jax.jnp.moveaxis(x, axis, 0) for x, axis in zip(operands, axes, strict=True) if axis is not None]

    def once(slices: Sequence[Any]) -> list[Any]:
        rest = iter(slices)
        return primitive.bind(
            *(x if axis is None else next(rest) for x, axis in zip(operands, axes, strict=True)), **params
        )

    mapped = jax.jax.lax.map(once, moving)
    return mapped, [0] * len(mapped)


def _is_zero(tangent: Any) -> bool:
    """Return whether a tangent is JAX's symbolic zero."""
    return type(tangent) is library().ad.Zero


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, called: Called) -> tuple[Any, Any]:
    """Call the function, and return its results and their tangents, which can only be transposed.

    Raises:
        NotDifferentiable: a tangent belongs to a scalar operand.
    """
    jax = library()
    results = _primitives().called.bind(*primals, called=called)
    types = [(leaf.name, type) for leaf in called.signature.leaves for type in leaf.types]
    wanted = tuple(n for n, t in enumerate(tangents) if not _is_zero(t) and is_float(types[n][1]))
    for name, type in (types[n] for n in wanted):
        if not isinstance(type, ArrayType):
            raise NotDifferentiable(
                f"{called.signature.function} is called back in Python, which provides no "
                f"gradient for the scalar {name}.",
                advice="Pass it as an array of one element, or let the function read no values.",
                function=called.signature.function,
            )
    moved = iter(_primitives().linear.bind(*primals, *(tangents[n] for n in wanted), called=called, wanted=wanted))

    def none(result: Any) -> Any:
        return jax.ad.Zero(jax.ShapedArray(result.shape, jax.jax.dtypes.float0))

    return results, [next(moved) if n in called.floats else none(r) for n, r in enumerate(results)]


def _linear_results(*avals: Any, called: Called, wanted: tuple[int, ...]) -> list[Any]:
    """Return the JAX types of the tangents of the results that are of floats."""
    shapes = called.shapes
    return [library().ShapedArray(shapes[n].shape, shapes[n].dtype) for n in called.floats]


def _transpose(cotangents: Sequence[Any], *operands: Any, called: Called, wanted: tuple[int, ...]) -> list[Any]:
    """Return the cotangents of the operands `wanted`, by a callback that runs the function under a tape.

    Operands before those get None.
    """
    jax = library()
    primals, linear = operands[: len(operands) - len(wanted)], operands[len(operands) - len(wanted) :]
    shapes = [jax.jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in linear]

    @jax.jax.custom_jvp
    def gradients(*values: Any) -> Any:
        # Seen at tracing: a transpose has no lowering context to ask.
        late = any(varying(getattr(v, "aval", None)) for v in values)
        host = partial(replace(called, late=late).gradients, wanted)
        return jax.jax.pure_callback(host, shapes, *values, vmap_method="sequential")

    @gradients.defjvp
    def refuse(primals: Any, tangents: Any) -> Any:
        raise _refusal(called, "has no second derivatives")

    return [None] * len(primals) + list(gradients(*primals, *map(jax.ad.instantiate_zeros, cotangents)))


def _refusal(called: Called, what: str) -> NotDifferentiable:
    """Return the error for a derivative that a function called in Python does not have; `what` says which."""
    name = called.signature.function
    return NotDifferentiable(
        f"{name} is called back in Python and {what}: only grad and vjp work, once.",
        advice="Let the function read no values, so that it can be traced.",
        function=name,
    )


def _refuse_second(*operands: Any, called: Called, wanted: tuple[int, ...]) -> Any:
    """Raise NotDifferentiable: a second derivative is asked for."""
    raise _refusal(called, "has no second derivatives")


def _refuse_forward(*operands: Any, called: Called, wanted: tuple[int, ...]) -> Any:
    """Raise NotDifferentiable: tangents are asked for outside of `jit`."""
    raise _refusal(called, "has no forward mode")


def _refuse_lowering(ctx: Any, *operands: Any, called: Called, wanted: tuple[int, ...]) -> Any:
    """Raise NotDifferentiable: tangents are asked for inside of `jit`."""
    raise _refusal(called, "has no forward mode")
