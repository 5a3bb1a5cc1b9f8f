"""A number that JAX traces, inside a function that `jax_callable` traces: it computes, and has no value yet."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from workbench.errors import LaunchError
from workbench.interop.jax.values import arguments
from workbench.runtime.arrays.placeholder import Symbol
from workbench.types import NUMBERS, Scalar, Vector


class TracedNumber(Symbol):
    """Represents a JAX value of rank 0 under a parameter's name; arithmetic with numbers gives others."""

    def __init__(self, type: Scalar | Vector, value: Any, name: str, read: Callable[[str, str], Exception]) -> None:
        """Wrap a traced number; `read` makes the error for a use that needs its value, from use and name."""
        super().__init__(type)
        self.value = value
        self.name = name
        self._read = read

    def become(self, kernel: str, name: str, type: Scalar | Vector) -> TracedNumber:
        """Return the number as an argument of this type.

        Raises:
            LaunchError: it is of another type that does not convert to this one.
        """
        scalars = type in NUMBERS.values() and self.type in NUMBERS.values()
        if self.type != type and not scalars:
            raise LaunchError(f"{name} of {kernel} takes {type!r}, not {self.type!r}.", function=kernel, parameter=name)
        if isinstance(type, Vector) and type.shape:
            return self
        return TracedNumber(type, arguments.operand(kernel, name, self.value, type), self.name, self._read)

    def _with(self, value: Any) -> TracedNumber:
        """Return a traced number with another JAX value, of that value's type, under the same name."""
        return TracedNumber(NUMBERS[value.dtype.name], value, self.name, self._read)

    def _refuse(self, *_: Any) -> Any:
        """Raise the error for code that reads the number, which has no value yet."""
        raise self._read(f"asks for the value of {self.name}", self.name)

    __bool__ = __int__ = __float__ = __index__ = _refuse

    def __hash__(self) -> int:
        """Return a hash by identity, since `==` gives a traced value."""
        # == computes a traced value, which no dict can use; by identity a number is found before that is asked.
        return id(self)

    def __repr__(self) -> str:
        """Return the name and the type."""
        return f"<{self.name}, a traced {self.type!r}>"


def _binary(act: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a method that applies `act` to the values of two numbers; NotImplemented if the other is none."""

    def method(self: TracedNumber, other: Any) -> Any:
        if isinstance(other, TracedNumber):
            return self._with(act(self.value, other.value))
        return self._with(act(self.value, other)) if isinstance(other, (bool, int, float, complex)) else NotImplemented

    return method


def _unary(act: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a method that applies `act` to a number's value."""
    return lambda self: self._with(act(self.value))


def _reversed(act: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a method that applies `act` to the values of another number and of this one, in that order.

    The method returns NotImplemented if the other is no number.
    """
    return _binary(lambda a, b: act(b, a))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(TracedNumber, f"__{_name}__", _binary(getattr(operator, _name)))
    setattr(TracedNumber, f"__r{_name}__", _reversed(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(TracedNumber, f"__{_name}__", _binary(getattr(operator, _name)))
for _name in ("neg", "pos", "abs"):
    setattr(TracedNumber, f"__{_name}__", _unary(getattr(operator, _name)))
