"""Python's operators, number functions and reductions on arrays.

Each is a kernel, and kernels live a floor up: `workbench` says here which module carries the operations out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from workbench.runtime.active_observers import notify
from workbench.runtime.names import Lacking

OPERATIONS: list[Callable[[], Any]] = []
"""Holds one function, which returns the module of the operations; it is imported when the first of them is used."""

OPERATORS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "floor_divide": "floordiv", "remainder": "mod",
    "power": "pow", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
}  # fmt: skip
"""Builtins of the kernel language that stand for operators, by the name of NumPy's ufunc."""

LOGICAL = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
"""The same for operators that are logical on bools and bitwise on integers."""


def _operations() -> Any:
    """Return the module that implements operators and reductions, imported on first use."""
    return OPERATIONS[0]()


def _by_numpy(function: Any, args: Any, options: Any) -> Any:
    """Call a NumPy function with Workbench arrays as NumPy arrays that it can only read.

    Raises:
        TypeError: the function writes to one, which tapes, records and the array's version would not notice.
    """
    try:
        result = function(*map(_read_only, args), **{name: _read_only(value) for name, value in options.items()})
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise TypeError(
            f"{function.__name__}() would change a Workbench array unseen by tapes and records; "
            "write x[...] = … instead, or change x.numpy() and call x.changed()"
        ) from None
    if type(result) is np.ndarray and not result.flags.writeable and result.base is not None:
        with suppress(ValueError):  # a view of a view, which may be written as x.numpy() may
            result.flags.writeable = True
    return result


def _is_numpy(value: Any) -> bool:
    """Return whether the value is a NumPy array or scalar."""
    return isinstance(value, (np.ndarray, np.generic))


def _read_only(value: Any) -> Any:
    """Return a Workbench array as a read-only NumPy view, those in lists and tuples too; other values unchanged."""
    if isinstance(value, Arithmetic):
        host = np.asarray(value).view()
        host.flags.writeable = False
        return host
    return type(value)(map(_read_only, value)) if type(value) in (list, tuple) else value


class Arithmetic(Lacking):
    """The operators that `array` inherits: each is one kernel, launched at once, which tapes, records and captures see.

    `==` compares identity: arrays are keys of gradients and records.

    Attributes:
        meanings: by a builtin's name, the func that operators call in its place; a subclass may have some.
    """

    __slots__ = ()
    meanings: Mapping[str, Any] = {}

    def __wb_call__(self, builtin: Any, values: tuple[Any, ...]) -> Any:
        """Return the result of a builtin that is called on the host with an array: `wb.where(x < 0.0, 0.0, x)`."""
        return _operations().applied(builtin, *values)

    # NumPy: an operator between its array and ours is ours; its functions read ours and return its own arrays.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Carry out an operator between NumPy's array and ours as a kernel; call other ufuncs on NumPy views."""
        mixed = any(map(_is_numpy, inputs))
        if mixed and method == "__call__" and not options:
            if ufunc is np.matmul:
                return _operations().product(*inputs)
            if ufunc.__name__ in OPERATORS:
                return _operations().binary(OPERATORS[ufunc.__name__], *inputs)
            if ufunc.__name__ in LOGICAL:  # all three commute
                return _operations().logical(LOGICAL[ufunc.__name__], *sorted(inputs, key=_is_numpy))
        return _by_numpy(getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """Call a NumPy function on read-only NumPy views of the arrays; return its result."""
        return _by_numpy(function, args, options)

    # Operators.

    def __add__(self, other: Any) -> Any:
        """Return a new array: the sum of the array and `other`, element by element."""
        return _operations().binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        """Return a new array: the sum of `other` and the array, element by element."""
        return _operations().binary("add", other, self)

    def __sub__(self, other: Any) -> Any:
        """Return a new array: the difference of the array and `other`, element by element."""
        return _operations().binary("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        """Return a new array: the difference of `other` and the array, element by element."""
        return _operations().binary("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        """Return a new array: the product of the array and `other`, element by element."""
        return _operations().binary("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        """Return a new array: the product of `other` and the array, element by element."""
        return _operations().binary("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        """Return a new array: the quotient of the array and `other`, element by element."""
        return _operations().binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        """Return a new array: the quotient of `other` and the array, element by element."""
        return _operations().binary("div", other, self)

    def __floordiv__(self, other: Any) -> Any:
        """Return a new array: the floor quotient of the array and `other`, element by element."""
        return _operations().binary("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        """Return a new array: the floor quotient of `other` and the array, element by element."""
        return _operations().binary("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        """Return a new array: the remainder of the array and `other`, element by element."""
        return _operations().binary("mod", self, other)

    def __rmod__(self, other: Any) -> Any:
        """Return a new array: the remainder of `other` and the array, element by element."""
        return _operations().binary("mod", other, self)

    def __pow__(self, other: Any) -> Any:
        """Return a new array: the power of the array and `other`, element by element."""
        return _operations().binary("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        """Return a new array: the power of `other` and the array, element by element."""
        return _operations().binary("pow", other, self)

    def __matmul__(self, other: Any) -> Any:
        """Return a new array: the matrix product of the array and `other`."""
        return _operations().product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        """Return a new array: the matrix product of `other` and the array."""
        return _operations().product(other, self)

    def __lt__(self, other: Any) -> Any:
        """Return an array of bools: whether each element is less than that of `other`."""
        return _operations().binary("lt", self, other)

    def __le__(self, other: Any) -> Any:
        """Return an array of bools: whether each element is less than or equal to that of `other`."""
        return _operations().binary("le", self, other)

    def __gt__(self, other: Any) -> Any:
        """Return an array of bools: whether each element is greater than that of `other`."""
        return _operations().binary("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        """Return an array of bools: whether each element is greater than or equal to that of `other`."""
        return _operations().binary("ge", self, other)

    def __and__(self, other: Any) -> Any:
        """Return a new array: `and` of the elements, logical on bools and bitwise on integers."""
        return _operations().logical("and", self, other)

    def __or__(self, other: Any) -> Any:
        """Return a new array: `or` of the elements, logical on bools and bitwise on integers."""
        return _operations().logical("or", self, other)

    def __xor__(self, other: Any) -> Any:
        """Return a new array: `xor` of the elements, logical on bools and bitwise on integers."""
        return _operations().logical("xor", self, other)

    def __invert__(self) -> Any:
        """Return a new array: `not` of each bool, or each integer with all bits inverted."""
        return _operations().inverted(self)

    def __pos__(self: Any) -> Any:
        """Return a dense copy."""
        return self.fresh_like().copy_(self)

    def __neg__(self) -> Any:
        """Return a new array of the negated elements."""
        return _operations().unary("neg", self)

    def __abs__(self) -> Any:
        """Return a new array of the elements' absolute values."""
        return _operations().unary("abs", self)

    # In place: the array stays the one that others hold, and a view writes through.

    def __iadd__(self: Any, other: Any) -> Any:
        """Replace each element by its sum with that of `other`, in place; return the array."""
        return self.copy_(self + other)

    def __isub__(self: Any, other: Any) -> Any:
        """Replace each element by its difference with that of `other`, in place; return the array."""
        return self.copy_(self - other)

    def __imul__(self: Any, other: Any) -> Any:
        """Replace each element by its product with that of `other`, in place; return the array."""
        return self.copy_(self * other)

    def __itruediv__(self: Any, other: Any) -> Any:
        """Replace each element by its quotient with that of `other`, in place; return the array."""
        return self.copy_(self / other)

    def __ifloordiv__(self: Any, other: Any) -> Any:
        """Replace each element by its floor quotient with that of `other`, in place; return the array."""
        return self.copy_(self // other)

    def __imod__(self: Any, other: Any) -> Any:
        """Replace each element by its remainder with that of `other`, in place; return the array."""
        return self.copy_(self % other)

    def __ipow__(self: Any, other: Any) -> Any:
        """Replace each element by its power with that of `other`, in place; return the array."""
        return self.copy_(self**other)

    def __imatmul__(self: Any, other: Any) -> Any:
        """Replace the elements by those of the matrix product with `other`, in place; return the array."""
        return self.copy_(self @ other)

    def __iand__(self: Any, other: Any) -> Any:
        """Replace each element by its `and` with that of `other`, in place; return the array."""
        return self.copy_(self & other)

    def __ior__(self: Any, other: Any) -> Any:
        """Replace each element by its `or` with that of `other`, in place; return the array."""
        return self.copy_(self | other)

    def __ixor__(self: Any, other: Any) -> Any:
        """Replace each element by its `xor` with that of `other`, in place; return the array."""
        return self.copy_(self ^ other)

    # Reductions.

    def sum(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """Return the sum of the elements, in their own type; of bools their number.

            rows.sum(axis=1)

        Args:
            axis: the dimension to add along; negative ones count from the last. None: all elements.
            keepdims: with an axis: whether the result keeps that dimension, with size 1.

        Returns:
            An array without that dimension; without an axis, of one element: a loss, for example; `float(x.sum())` is a
            number.

        Raises:
            LaunchError: there is no such dimension.
        """
        return _operations().total(self, axis, keepdims)

    def mean(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """Return the mean of the elements.

        Args:
            axis: the dimension to take it along; negative ones count from the last. None: all elements.
            keepdims: with an axis: whether the result keeps that dimension, with size 1.

        Returns:
            An array: of integers and 16-bit floats a float32 (of 64-bit integers a float64).

        Raises:
            LaunchError: there is no such dimension.
        """
        return _operations().mean(self, axis, keepdims)

    def dot(self, other: Any) -> Any:
        """Return the sum of the products of two arrays' elements.

        Args:
            other: an array of the same shape and dtype.

        Returns:
            An array of one element.

        Raises:
            LaunchError: shapes or dtypes differ.
        """
        return _operations().inner(self, other)

    def max(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """Return the largest element; NaN if there is one.

        Without an axis it has no gradient: `backward` refuses. Along an axis it has one.

        Args:
            axis: the dimension to search along; negative ones count from the last. None: all elements.
            keepdims: with an axis: whether the result keeps that dimension, with size 1.

        Returns:
            An array without that dimension; without an axis, of one element.

        Raises:
            LaunchError: there is nothing to choose from, the elements have no order, or there is no such dimension.
        """
        return _operations().extreme("max", self, axis, keepdims)

    def min(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """Return the smallest element; NaN if there is one.

        Without an axis it has no gradient: `backward` refuses. Along an axis it has one.

        Args:
            axis: the dimension to search along; negative ones count from the last. None: all elements.
            keepdims: with an axis: whether the result keeps that dimension, with size 1.

        Returns:
            An array without that dimension; without an axis, of one element.

        Raises:
            LaunchError: there is nothing to choose from, the elements have no order, or there is no such dimension.
        """
        return _operations().extreme("min", self, axis, keepdims)

    # Numbers and sequences.

    def __bool__(self) -> bool:
        """Return the truth of the only element; raise a TypeError unless there is exactly one."""
        return bool(self._only("is true or false"))

    def item(self: Any) -> Any:
        """Return the only element, as a Python number.

            loss.item()

        Raises:
            TypeError: it has other than one element, or one that is a vector.
        """
        return self._only()

    def tolist(self: Any) -> list[Any]:
        """Return the elements as Python numbers, in lists nested as the shape; a vector is one more list."""
        notify("reading", self)
        return self.host().tolist()

    def __len__(self: Any) -> int:
        """Return the size of the first dimension."""
        return self.shape[0]

    def __iter__(self: Any) -> Iterator[Any]:
        """Iterate over the first dimension: views, or values of elements if it is the only one."""
        return (self[i] for i in range(len(self)))

    def __float__(self) -> float:
        """Return the only element as a float; raise a TypeError unless there is exactly one."""
        return float(self._only())

    def __int__(self) -> int:
        """Return the only element as an int; raise a TypeError unless there is exactly one."""
        return int(self._only())

    def __format__(self, spec: str) -> str:
        """Format the only element by `spec`; without one, return the array as text."""
        return format(self._only("takes a format"), spec) if spec else str(self)

    def _only(self: Any, does: str = "converts to a number") -> Any:
        """Return the only element as a Python number; observers learn that it is read.

        Raises:
            TypeError: there are other than one element, or it is no number; `does` is the verb in the message.
        """
        if self.size != 1:
            raise TypeError(f"only an array of one element {does}; this one has shape {self.shape}")
        notify("reading", self)
        host = self.host()
        if host.size != 1:
            raise TypeError(f"a {self.dtype!r} is no number; take one of its components")
        return host.item()
