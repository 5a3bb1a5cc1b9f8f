"""The kernels behind `x.sum()`, `x.dot(y)`, `x.max(axis=0)`, `a @ b`: of any number type, differentiated like yours."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

from workbench.api.kernels.kernel import Kernel, kernel
from workbench.builtins import FORMS, TABLE
from workbench.runtime.arrays.array import array

tid, atomic_add, atomic_max, atomic_min = (FORMS[n] for n in ("tid", "atomic_add", "atomic_max", "atomic_min"))


@kernel
def add_up(x: array[Any], out: array[Any]):
    """Add all elements, each in the type of `out`, to what `out[0]` has, atomically; a thread for each."""
    atomic_add(out, 0, out.dtype(x[tid()]))


@kernel
def add_products(x: array[Any], y: array[Any], out: array[Any]):
    """Add the products of two arrays' elements to what `out[0]` has, atomically; a thread for each pair."""
    i = tid()
    atomic_add(out, 0, x[i] * y[i])


@kernel
def add_up_along(x: array(dtype=Any, ndim=3), out: array(dtype=Any, ndim=2)):
    """Add up along the middle dimension, in the type of `out`: one thread per sum."""
    i, j = tid()
    total = out.dtype(0)
    for k in range(x.shape[1]):
        total += out.dtype(x[i, k, j])
    out[i, j] = total


def _extremes(change: Any, further: Any) -> tuple[Kernel, Kernel]:
    """Return the kernels for a largest or smallest element: of a whole array, and along the middle of three dimensions.

    Args:
        change: an atomic that leaves the further of two values in an element, such as `atomic_max`.
        further: a builtin that returns the further of two values, such as `max`.
    """

    @kernel
    def extreme_element(x: array[Any], out: array[Any]):
        """Find the largest or smallest element, in the type of `out`, which holds one of them."""
        change(out, 0, out.dtype(x[tid()]))

    @kernel
    def extreme_along(x: array(dtype=Any, ndim=3), out: array(dtype=Any, ndim=2)):
        """Find the largest or smallest elements along the middle dimension: one thread each."""
        i, j = tid()
        result = x[i, 0, j]
        for k in range(1, x.shape[1]):
            result = further(result, x[i, k, j])
        out[i, j] = result

    return extreme_element, extreme_along


EXTREMES = {"max": _extremes(atomic_max, TABLE["max"]), "min": _extremes(atomic_min, TABLE["min"])}
"""Of all elements, and along a dimension, by name."""


@kernel
def converted(x: array[Any], out: array[Any]):
    """Write each element, converted to the type of `out`, to `out`; a thread for each."""
    i = tid()
    out[i] = out.dtype(x[i])


@kernel
def multiplied(a: array(dtype=Any, ndim=2), b: array(dtype=Any, ndim=2), out: array(dtype=Any, ndim=2)):
    """Multiply two matrices into `out`: one thread computes each element of it."""
    i, j = tid()
    total = out.dtype(0)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    out[i, j] = total
