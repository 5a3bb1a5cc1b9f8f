"""The kernels behind `x.sum()`, `x.dot(y)`, `x.max()` and `a @ b`: of any number type, differentiated like a user's."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

from workbench.api.kernels.kernel import kernel
from workbench.builtins import FORMS
from workbench.runtime.arrays.array import array

tid, atomic_add, atomic_max, atomic_min = (FORMS[n] for n in ("tid", "atomic_add", "atomic_max", "atomic_min"))


@kernel
def add_up(x: array[Any], out: array[Any]):
    """The sum of all elements."""
    atomic_add(out, 0, x[tid()])


@kernel
def add_converted(x: array[Any], out: array[Any]):
    """The sum of all elements in the type of `out`."""
    atomic_add(out, 0, out.dtype(x[tid()]))


@kernel
def add_products(x: array[Any], y: array[Any], out: array[Any]):
    """The sum of the products of two arrays' elements."""
    i = tid()
    atomic_add(out, 0, x[i] * y[i])


@kernel
def largest(x: array[Any], out: array[Any]):
    """The largest element; `out` holds one of them."""
    atomic_max(out, 0, x[tid()])


@kernel
def smallest(x: array[Any], out: array[Any]):
    """The smallest element; `out` holds one of them."""
    atomic_min(out, 0, x[tid()])


@kernel
def multiplied(a: array(dtype=Any, ndim=2), b: array(dtype=Any, ndim=2), out: array(dtype=Any, ndim=2)):
    """A matrix product: a thread for each element of the result."""
    i, j = tid()
    found = out.dtype(0)
    for k in range(a.shape[1]):
        found += a[i, k] * b[k, j]
    out[i, j] = found
