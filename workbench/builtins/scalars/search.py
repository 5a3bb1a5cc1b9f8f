"""Search in sorted arrays: a loop of halving steps."""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import natural
from workbench.builtins.declaration.rules import RULES, Arg, argument_error, check_count
from workbench.builtins.scalars.bits import raw_shr
from workbench.builtins.scalars.operators import where
from workbench.builtins.scalars.randoms import bound, randf
from workbench.errors import KernelTypeError
from workbench.types import ArrayType, Scalar, Type, int32, is_float


def searched(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check the arguments of a search: an array and a value, or an array, begin, end and a value.

    Returns:
        The types to convert them to; None for what stays as it is.

    Raises:
        KernelTypeError: they are something else.
    """
    check_count(name, args, "an array and a value, or an array, begin, end and a value", 2, 4)
    array, *limits, value = args
    array = _sorted_array(name, array)
    (_, common), _ = RULES["lt"](name, [array.dtype, value])
    wide = array.size_type
    return [None, *(wide if limit == wide else bound(name, limit, int32) for limit in limits), common]


def _sorted_array(name: str, array: Arg) -> ArrayType:
    """Return the argument's type, an array of numbers of one dimension; whether it is sorted is not checked.

    Raises:
        KernelTypeError: it is something else.
    """
    if not isinstance(array, ArrayType) or array.ndim != 1 or not isinstance(array.dtype, Scalar):
        raise KernelTypeError(f"{name}() takes an array of numbers of one dimension; this is {array!r}.")
    return array


def _sums(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check the arguments of `sample_cdf`: a state and an array of floats of one dimension.

    Returns:
        None for each: they stay as they are.

    Raises:
        KernelTypeError: they are something else.
    """
    check_count(name, args, "a state and an array", 2)
    if not is_float(_sorted_array(name, args[1])):
        raise argument_error(name, args[1:], "an array of floats")
    return [None, None]


@written("lower_bound(array, begin=…, end=…, value)", searched)
def lower_bound(array, begin, end=None, value=None, /):
    """In a sorted array of one dimension, the first index whose element is not below the value (an int32).

    The length where all are below it. `lower_bound(array, begin, end, value)` looks at begin ≤ index < end alone, cut
    to the array, and gives `end` where all are below the value, `begin` where the range is empty.
    """
    size = len(array)
    if value is None:
        return search_between(array, type(size)(0), size, begin)
    low, high = type(size)(begin), type(size)(end)  # pyright: ignore[reportArgumentType]
    return search_between(array, max(low, 0), min(high, size), value)


@written("_search_between(array, low, high, value)")
def search_between(array, low, high, value):
    """Return the first index of low ≤ i < high whose element is not below the value; high if there is none."""
    while low < high:
        middle = natural(low + raw_shr(high - low, 1))
        below = array[middle] < value
        low, high = where(below, middle + 1, low), where(below, high, middle)
    return natural(low)


@written("sample_cdf(state, cdf)", _sums, draws=True)
def sample_cdf(state, cdf, /):
    """Return an index (an int32) drawn with the probabilities whose running sum, ending in 1, is the array `cdf`.

    That is lower_bound(cdf, randf(state)), the last index at most.
    """
    size = len(cdf)
    return search_between(cdf, type(size)(0), max(size - 1, 0), randf(state)), state
