"""The kernels behind `x.sum()`, `x.dot(y)`, `x.max(axis=0)`, `a @ b`: of any number type, differentiated like yours."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportInvalidTypeForm=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

from workbench.api.kernels.kernel import kernel
from workbench.builtins import FORMS, TABLE
from workbench.runtime.arrays.array import array

tid, atomic_add, atomic_max, atomic_min = (FORMS[n] for n in ("tid", "atomic_add", "atomic_max", "atomic_min"))
larger, smaller = TABLE["max"], TABLE["min"]


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
    """The largest element, in the type of `out`, which holds one of them."""
    atomic_max(out, 0, out.dtype(x[tid()]))


@kernel
def smallest(x: array[Any], out: array[Any]):
    """The smallest element, in the type of `out`, which holds one of them."""
    atomic_min(out, 0, out.dtype(x[tid()]))


@kernel
def add_up_along(x: array(dtype=Any, ndim=3), out: array(dtype=Any, ndim=2)):
    """The sums along the middle dimension, in the type of `out`: a thread for each."""
    i, j = tid()
    found = out.dtype(0)
    for k in range(x.shape[1]):
        found += out.dtype(x[i, k, j])
    out[i, j] = found


@kernel
def largest_along(x: array(dtype=Any, ndim=3), out: array(dtype=Any, ndim=2)):
    """The largest elements along the middle dimension: a thread for each."""
    i, j = tid()
    found = x[i, 0, j]
    for k in range(1, x.shape[1]):
        found = larger(found, x[i, k, j])
    out[i, j] = found


@kernel
def smallest_along(x: array(dtype=Any, ndim=3), out: array(dtype=Any, ndim=2)):
    """The smallest elements along the middle dimension: a thread for each."""
    i, j = tid()
    found = x[i, 0, j]
    for k in range(1, x.shape[1]):
        found = smaller(found, x[i, k, j])
    out[i, j] = found


@kernel
def converted(x: array[Any], out: array[Any]):
    """The elements in the type of `out`."""
    i = tid()
    out[i] = out.dtype(x[i])


@kernel
def multiplied(a: array(dtype=Any, ndim=2), b: array(dtype=Any, ndim=2), out: array(dtype=Any, ndim=2)):
    """A matrix product: a thread for each element of the result."""
    i, j = tid()
    found = out.dtype(0)
    for k in range(a.shape[1]):
        found += a[i, k] * b[k, j]
    out[i, j] = found
