"""Sizes that `jax.export` leaves open, for a Python function that is traced with stand-in arrays.

A stand-in needs a size in bytes, so an open size is an integer here that remembers the symbol it stands for.
Arithmetic keeps both. Comparisons are JAX's, which raises if they cannot be decided. Other uses of the number in
Python (`range(n)`, `n * 0.5`) are invisible, so the function is traced with two sets of numbers: if the programs
differ, it depends on them.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from workbench.errors import LaunchError
from workbench.interop.jax.values.arguments import is_symbolic

_FIRST = (61, 86)  # one odd, one even: `n // 2` is another function of each


class Size(int):
    """Represents a size that `jax.export` leaves open, as a number that stands for it; `dim` is the symbol in JAX."""

    dim: Any

    def __new__(cls, number: int, dim: Any) -> Any:
        """Return the number with its symbol `dim`; where `dim` is a known size, that as a plain int."""
        if not is_symbolic(dim):
            return int(dim)
        size = super().__new__(cls, number)
        size.dim = dim
        return size

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it as a plain int, without its symbol."""
        return int, (int(self),)

    __hash__ = int.__hash__


def _arithmetic(name: str) -> Callable[[Size, Any], Any]:
    """Return the method of `Size` for an operator of int, such as `add` or `radd`: it computes number and symbol."""
    int_method, apply = getattr(int, f"__{name}__"), getattr(operator, name.removeprefix("r"), None)
    apply = apply or getattr(operator, name)

    def method(self: Size, other: Any) -> Any:
        number = int_method(self, other)
        if number is NotImplemented:
            return number
        one, two = self.dim, open_size(other)
        return Size(number, apply(two, one) if name.startswith("r") else apply(one, two))

    return method


def _comparison(name: str) -> Callable[[Size, Any], Any]:
    """Return the method of `Size` for a comparison: by symbols, but by numbers for Workbench's own code."""
    int_method, apply = getattr(int, f"__{name}__"), getattr(operator, name)

    def method(self: Size, other: Any) -> Any:
        decided = int_method(self, other)
        caller = sys._getframe(1).f_globals.get("__name__", "")
        # Our own code compares stand-ins, which are as large as the number says.
        if decided is NotImplemented or caller.partition(".")[0] == "workbench":
            return decided
        return apply(self.dim, open_size(other))

    return method


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "rfloordiv", "mod", "rmod"):
    setattr(Size, f"__{_name}__", _arithmetic(_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Size, f"__{_name}__", _comparison(_name))


def open_size(size: Any) -> Any:
    """Return JAX's symbol of an open size; any other size itself."""
    return size.dim if isinstance(size, Size) else size


def open_shape(shape: Sequence[Any]) -> tuple[Any, ...]:
    """Return a shape with JAX's symbols in place of the numbers that stand for open sizes."""
    return tuple(map(open_size, shape))


def is_open(shape: Sequence[Any]) -> bool:
    """Return whether one of the sizes is open, known only when the program runs."""
    return any(isinstance(n, Size) for n in shape)


def stood_for(shape: Sequence[Any], around: int) -> tuple[int, ...]:
    """Return the shape of a stand-in array; an open size has another number in each of the rounds 0 and 1."""
    return tuple(_number(n, around) if is_symbolic(n) else n for n in shape)


_names: dict[str, int] = {}
"""Names of open sizes, numbered in the order in which they were met: no two stand for one number."""


def _number(dim: Any, around: int) -> int:
    """Return the number that stands for a symbolic size in round 0 or 1."""
    numbers = {name: _FIRST[around] + 2 * _names.setdefault(name, len(_names)) for name in dim._get_vars()}
    return Size(int(dim._evaluate(numbers)), dim)


def same_program(one: Any, two: Any) -> bool:
    """Return whether two closed jaxprs have the same text, configurations of launches, and constants."""
    return _shown(one) == _shown(two)


def _shown(closed: Any) -> tuple[Any, ...]:
    """Return what identifies a program: its text, the configurations of its launches, and its constants."""
    consts = tuple((c.dtype.name, c.shape, np.asarray(c).tobytes()) for c in closed.consts)
    return str(closed.jaxpr), tuple(_configs(closed.jaxpr)), consts


def _configs(jaxpr: Any) -> Iterator[Any]:
    """Yield the parts of a jaxpr's launches that its text leaves out."""
    for equation in jaxpr.eqns:
        yield equation.params.get("config")
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", None)
            if inner is not None:
                yield from _configs(inner)


def refuse_part() -> LaunchError:
    """Return the error for a view of a part of an array whose size is open."""
    return LaunchError(
        "This is a part of an array whose size is known only when the program runs.",
        advice="Let a kernel compute the indices, or export for known sizes.",
    )
