"""Errors that a running program finds in its results: reported as a kernel's faults are, by a kernel that asserts.

A callback into Python could raise as well, but JAX then logs its own frames and puts them before the message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from workbench.api.builds.build import load
from workbench.api.kernels.kernel import Specialisation, kernel
from workbench.builtins import FORMS
from workbench.errors import KernelFault
from workbench.interop.jax.launches.experimental import reports_faults, with_error
from workbench.interop.jax.launches.plan import FAULT_WORDS, Code, LaunchConfig, Plan, Roles, forward_plan
from workbench.interop.jax.launches.primitives import launch
from workbench.interop.jax.native import edits
from workbench.interop.jax.native.faults import Reporting
from workbench.interop.jax.native.target import make_target
from workbench.interop.jax.values.access import marker
from workbench.interop.jax.values.library import checkify_library, library
from workbench.interop.jax.values.manual import aligned, know
from workbench.ir.build import replace_body
from workbench.ir.ops import MESSAGE
from workbench.ir.values import Block, Function, Op
from workbench.source import UNKNOWN
from workbench.types import ArrayType, Scalar, is_float, uint32

_TEXT = "def none(bad, after):\n    i = tid()\n    assert bad[i] == 0\n    after[i] = bad[i]\n"


@dataclass(frozen=True)
class Report:
    """Represents a count over a result that has to be 0, and the error where it is not.

    Attributes:
        count: returns a whole number for a result and further values.
        function: the kernel's name, or the function's.
        message: the message behind the number.
        advice: what to do about it.
    """

    count: Callable[..., Any]
    function: str
    message: str
    advice: str

    def fault(self, count: int) -> KernelFault:
        """Return the KernelFault whose message reports `count` violations."""
        return KernelFault(f"{count} {self.message}", advice=self.advice, function=self.function)

    def error_text(self, words: Any) -> str:
        """Return the error's text; the first of `words` is the count."""
        return str(self.fault(int(words[0]))).lstrip()

    def __call__(self, value: Any, *more: Any) -> Any:
        """Return `value`; the program fails when it runs if the count is not 0. (JAX drops it with an unused value.)

        Raises:
            KernelFault: the count is known now, and not 0; a program that is traced raises JAX's error when it runs.
        """
        if any(isinstance(x, library().jax.core.Tracer) for x in (value, *more)):
            return _reported().bind(*aligned([value, *more]), report=self, batch=0)
        if count := int(self.count(value, *more)):
            raise self.fault(count)
        return value


@dataclass(frozen=True)
class Unwritten:
    """Counts the elements of a result that still hold the bit pattern that marks them as unwritten."""

    scalar: Scalar

    def __call__(self, value: Any) -> Any:
        """Return the number of elements of `value` that hold the marker."""
        bits = np.dtype(f"uint{self.scalar.bits}")
        pattern = marker(self.scalar)
        assert pattern is not None
        return (library().jax.lax.bitcast_convert_type(value, bits) == np.frombuffer(pattern, bits)[0]).sum()


def watch(function: str, name: str, scalar: Scalar, value: Any) -> Any:
    """Return the result `value`; the program reports, when it runs, the elements of it that still hold the marker.

    The marker is the bit pattern of unwritten elements; nothing is reported for a type without one.

    Raises:
        KernelFault: the value is known now, and has such elements.
    """
    if marker(scalar) is None:
        return value
    message = f"of {value.size} elements of the result {name} were never written by {function}."
    advice = f'Write them all, or give them a value first: init={{"{name}": "zeros"}}.'
    return Report(Unwritten(scalar), function, message, advice)(value)


@dataclass(frozen=True)
class NotAdditive:
    """Counts the elements of a result for which f(x + r) differs from f(x) + f(r): the launch f is not linear there.

    Attributes:
        plan, config: the launch.
        linear: numbers of the operands that x stands for.
        result: number of the result.
    """

    plan: Plan
    config: LaunchConfig
    linear: tuple[int, ...]
    result: int

    def __call__(self, value: Any, *operands: Any) -> Any:
        """Return how many elements of the launch's result are not additive in the operands `linear`.

        It launches twice more, with other values y for these operands and with the sums, and compares f(x + y) with
        f(x) + f(y), to half of the type's digits. None are counted if a result is not finite.

        Args:
            value: the launch's result f(x) for `operands`.
            operands: all operands of the launch.
        """
        jnp = library().jnp
        other, both = list(operands), list(operands)
        for n in self.linear:
            x = jnp.asarray(operands[n])
            # Values of either sign that no kernel has reason to treat apart.
            other[n] = jnp.cos(1.7 * jnp.arange(x.size) + 1.0).reshape(x.shape).astype(x.dtype)
            both[n] = x + other[n]
        apart, total = (launch(self.plan, inputs, self.config)[self.result] for inputs in (other, both))
        size = jnp.max(jnp.abs(jnp.stack([value, apart, total])))
        off = jnp.abs(total - value - apart) > jnp.sqrt(jnp.finfo(value.dtype).eps) * size
        return jnp.where(jnp.isfinite(size), off, False).sum()


def watch_linear(
    function: str, names: Sequence[str], plan: Plan, config: LaunchConfig, operands: Sequence[Any], results: list[Any]
) -> list[Any]:
    """Return a launch's results; the program reports, when it runs, where they are not linear in the inputs `names`."""
    numbers = tuple(w.operand for w in plan.target.description.wires if w.name in names)
    watched = []
    for n, (wire, result) in enumerate(zip(plan.results, results, strict=True)):
        if is_float(wire.type):
            message = (
                f"of {result.size} elements of the result {wire.name} of {function} are not linear in "
                f"{' and '.join(names)}: at x + r it is not the sum of those at x and r."
            )
            report = Report(NotAdditive(plan, config, numbers, n), function, message, "Leave it out of linear=.")
            result = report(result, *operands)
        watched.append(result)
    return watched


@lru_cache(maxsize=1)
def _reported() -> Any:
    """Return the primitive that returns its first operand and fails when it runs if the report's count is not 0.

    It is linear in that operand by a rule of its own, as its code does not show it. An effect would not do:
    `checkpoint` refuses that of calls, and that of JAX's debug callbacks leaves a token which fails at every barrier
    once the program has failed.
    """
    jax = library()
    primitive = jax.Primitive("workbench_reported")

    def transpose(cotangent: Any, *operands: Any, report: Report, batch: int) -> list[Any]:
        zeros = [jax.ad.Zero(x.aval) if jax.ad.is_undefined_primal(x) else None for x in operands]
        return [cotangent if zeros[0] is not None else None, *zeros[1:]]

    def over(operands: Any, axes: Any, *, report: Report, batch: int) -> Any:
        size = next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)
        moved = [
            jax.jax.lax.broadcast(x, (size,)) if axis is None else jax.jnp.moveaxis(x, axis, 0)
            for x, axis in zip(operands, axes, strict=True)
        ]
        return primitive.bind(*moved, report=report, batch=batch + 1), 0

    primitive.def_abstract_eval(lambda value, *more, report, batch: value)
    primitive.def_impl(_report)
    jax.mlir.register_lowering(primitive, jax.mlir.lower_fun(_report, multiple_results=False))
    bind = primitive.bind
    jax.ad.primitive_jvps[primitive] = lambda primals, tangents, **params: (bind(*primals, **params), tangents[0])
    jax.ad.primitive_transposes[primitive] = transpose
    jax.batching.primitive_batchers[primitive] = over
    know(primitive)
    if (checkify := checkify_library()) is not None:
        checkify.error_checks[primitive] = _followed
    return primitive


def _followed(error: Any, enabled: Any, value: Any, *more: Any, report: Report, batch: int) -> tuple[Any, Any]:
    """Apply `checkify`'s rule to a report: its error becomes part of the error value."""
    if not reports_faults(enabled):
        return error, _reported().bind(value, *more, report=report, batch=batch)
    count = _count(report, batch)(value, *more).sum().astype("int32")
    return with_error(error, count != 0, report.error_text, library().jnp.full(FAULT_WORDS + 1, count)), value


def _report(value: Any, *more: Any, report: Report, batch: int) -> Any:
    """Return `value`, which waits for a launch that fails if the report's count is not 0; `batch`: `vmap` axes."""
    bad = _count(report, batch)(value, *more)
    config = LaunchConfig((1,), ((1,),), ((1,),), tuple(bad.shape), effect=True, reports=True)
    (after,) = launch(_plan(report), [bad.reshape(*bad.shape, 1).astype(np.uint32)], config)
    # JAX drops what nothing uses, so the value waits for it.
    return library().jax.lax.optimization_barrier((value, after))[0]


def _count(report: Report, batch: int) -> Callable[..., Any]:
    """Return the report's function that counts, mapped over `batch` leading axes."""
    count = report.count
    for _ in range(batch):
        count = library().jax.vmap(count)
    return count


@lru_cache
def _specialisation() -> Specialisation:
    """Return the kernel that asserts that all counts are 0, for flat arrays of uint32."""
    scope: dict[str, Any] = {"tid": FORMS["tid"]}
    exec(_TEXT, scope)
    flat = ArrayType(uint32, 1)
    return kernel(scope["none"], source=_TEXT).specialise((flat, flat))


@lru_cache(maxsize=1024)
def _plan(report: Report) -> Plan:
    """Return the plan of the launch that asserts that a count is 0: all share one code, each message has a target."""
    code = Code(_specialisation(), checks=True)
    executable = load(code.specialisation, options=code.options, device="cpu")
    assertion_plan = forward_plan(executable, Roles(("bad",), ("after",), frozenset(), frozenset(), {}), code)
    # Where a file is loaded without this process, the text comes from the IR, so that it has the message too.
    text = Reporting(lambda: _saying(code.function(), f"Some {report.message}  {report.advice}"), report.fault)
    description = replace(assertion_plan.target.description, kernel=f"results of {report.function}")
    target = make_target(description, assertion_plan.target.digest, assertion_plan.target.code, text)
    edits.claim(target.name, code.specialisation)
    return replace(assertion_plan, target=target)


def _saying(function: Function, message: str) -> Function:
    """Return the function with this message in its assertions, and without locations."""

    def op(old: Op) -> Op:
        attrs = {**old.attrs, MESSAGE: message} if old.name == "assert" else old.attrs
        return msgspec.structs.replace(old.replace(attrs=attrs), location=UNKNOWN)

    return replace_body(function, Block(function.body.params, tuple(map(op, function.body.ops))))
