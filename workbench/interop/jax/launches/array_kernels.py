"""Kernels of our own for what functions do besides launching: sums, copies and fills of parts of arrays.

They are launches like any other, so their derivatives and batches are those of launches, and native.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from workbench.api.builds.build import load
from workbench.api.kernels.kernel import Kernel, kernel
from workbench.builtins import FORMS
from workbench.interop.jax.launches.plan import Code, Plan, Roles, forward_plan
from workbench.types import NUMBERS, ArrayType

_BODIES = {
    "move": ("a, out", "out[{i}] = a[{i}]"),
    "gather": ("a, out", "out[{i}] = out[{i}] + a[{i}]"),
    "put": ("value, out", "out[{i}] = value"),
    "sum": ("a, b, out", "out[{i}] = a[{i}] + b[{i}]"),
}


@lru_cache
def glue(name: str, ndim: int) -> Kernel:
    """Return the kernel that does `name` to arrays of `ndim` dimensions; its last parameter receives the result.

    "move" copies the first array to it, "gather" adds the first array to it, "put" fills it with a number, and "sum"
    stores the sum of two arrays.
    """
    parameters, body = _BODIES[name]
    index = ", ".join("ijkl"[:ndim])
    source = f"def {name}_part({parameters}):\n    {index} = tid()\n    {body.format(i=index)}\n"
    scope: dict[str, Any] = {"tid": FORMS["tid"]}
    exec(source, scope)
    return kernel(scope[f"{name}_part"], source=source)


@lru_cache
def sum_plan(dtype: str) -> Plan:
    """Return the plan of the launch that stores the sum of two flat arrays of `dtype`, the name of a number type."""
    flat = ArrayType(NUMBERS[dtype], 1)
    specialisation = glue("sum", 1).specialise((flat, flat, flat))
    roles = Roles(("a", "b"), ("out",), frozenset(), frozenset(), {})
    return forward_plan(load(specialisation, device="cpu"), roles, Code(specialisation))
