"""Errors that a running program finds in its results: reported as a kernel's faults are, by a kernel that asserts.

A callback into Python could raise as well, but JAX then logs its own frames and puts them before the message.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from workbench.api.builds.build import load
from workbench.api.kernels.kernel import Specialisation, kernel
from workbench.builtins import FORMS
from workbench.errors import KernelFault
from workbench.interop.jax.launches.launch_config import LaunchConfig
from workbench.interop.jax.launches.plan import Code, Plan, Roles, forward_plan
from workbench.interop.jax.launches.primitives import launch
from workbench.interop.jax.native import edits
from workbench.interop.jax.native.faults import Report
from workbench.interop.jax.native.target import make_target
from workbench.interop.jax.values.library import library
from workbench.interop.jax.values.uninitialised import marker
from workbench.ir.attributes import MESSAGE
from workbench.ir.rewrite import replace_body
from workbench.ir.values import Block, Function, Op
from workbench.source import UNKNOWN
from workbench.types import ArrayType, Scalar, uint32

_TEXT = "def none(bad, after):\n    i = tid()\n    assert bad[i] == 0\n    after[i] = bad[i]\n"


def watch(function: str, name: str, scalar: Scalar, value: Any) -> Any:
    """The result `value`; when the program runs, it reports elements that still hold the marker."""
    pattern = marker(scalar)
    if pattern is None:
        return value
    jax = library().jax
    bits = np.dtype(f"uint{scalar.bits}")
    left = (jax.lax.bitcast_convert_type(value, bits) == np.frombuffer(pattern, bits)[0]).sum()
    said = f"of {value.size} elements of the result {name} were never written by {function}."
    advice = f'Write them all, or give them a value first: init={{"{name}": "zeros"}}.'
    return report(value, left, function, said, advice)


def report(value: Any, bad: Any, function: str, said: str, advice: str) -> Any:
    """`value`, of a program that fails when it runs if a count is not 0.

    Args:
        value: a result.
        bad: the count.
        function: the kernel's name, or the function's.
        said: what the message says after the count.
        advice: what to do about it.

    Raises:
        KernelFault: the count is known now, and not 0; a program that is traced raises JAX's error when it runs.
    """
    jax = library()
    made = partial(_fault, function, said, advice)
    if isinstance(bad, jax.jax.core.Tracer):
        config = LaunchConfig((1,), ((1,),), ((1,),), effect=True, reports=True)
        (after,) = launch(_plan(function, said, advice), [jax.jnp.reshape(bad, (1,)).astype(np.uint32)], config)
        # JAX drops what nothing uses, so the value passes with it. (An effect of JAX's own would keep it too, but
        # `checkpoint` refuses that of calls, and that of debug callbacks leaves a token which fails at every barrier.)
        return jax.jax.lax.optimization_barrier((value, after.astype(value.dtype)))[0]
    if bad > 0:
        raise made(int(bad))
    return value


def _fault(function: str, said: str, advice: str, count: int) -> KernelFault:
    return KernelFault(f"{count} {said}", advice=advice, function=function)


@lru_cache
def _specialisation() -> Specialisation:
    scope: dict[str, Any] = {"tid": FORMS["tid"]}
    exec(_TEXT, scope)
    flat = ArrayType(uint32, 1)
    return kernel(scope["none"], source=_TEXT).specialise((flat, flat))


@lru_cache(maxsize=1024)
def _plan(function: str, said: str, advice: str) -> Plan:
    """The launch that asserts that its count is 0: one code, and a target for each message."""
    code = Code(_specialisation(), checks=True)
    loaded = load(code.specialisation, options=code.options, device="cpu")
    made = forward_plan(loaded, Roles(("bad",), ("after",), frozenset(), frozenset(), {}), code)
    # Where a file is loaded without this process, the text comes from the IR, so that it has the message too.
    text = Report(lambda: _saying(code.function(), f"Some {said}  {advice}"), partial(_fault, function, said, advice))
    description = replace(made.target.description, kernel=f"results of {function}")
    target = make_target(description, made.target.digest, made.target.code, text)
    edits.claim(target.name, code.specialisation)
    return replace(made, target=target)


def _saying(function: Function, message: str) -> Function:
    def op(old: Op) -> Op:
        attrs = {**old.attrs, MESSAGE: message} if old.name == "assert" else old.attrs
        return replace(old.replace(attrs=attrs), location=UNKNOWN)

    return replace_body(function, Block(function.body.params, tuple(map(op, function.body.ops))))
