"""Kernels of our own for what functions do besides launching: sums, copies and fills of parts of arrays.

They are launches like any other, so their derivatives and batches are those of launches, and native.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from workbench.api.build import load
from workbench.api.kernel import kernel
from workbench.builtins import FORMS
from workbench.interop.jax.plan import Code, Plan, Roles, forward_plan
from workbench.types import SCALARS, ArrayType

tid: Any = FORMS["tid"]


@kernel
def sum_of(a: Any, b: Any, out: Any) -> None:
    """Two arrays' sum."""
    i = tid()
    out[i] = a[i] + b[i]


@lru_cache
def sum_plan(dtype: str) -> Plan:
    """The launch that adds two flat arrays of a type."""
    flat = ArrayType(SCALARS[dtype], 1)
    specialisation = sum_of.specialise((flat, flat, flat))
    roles = Roles(("a", "b"), ("out",), frozenset(), frozenset(), {})
    return forward_plan(load(specialisation, device="cpu"), roles, Code(specialisation))
