"""Proof that programs stand on both sides of a limit: the comparisons with it while they are compiled."""

from __future__ import annotations

import importlib
import operator
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from workbench import limits

PACKAGES = ("ir", "frontend", "passes", "autodiff", "backends.cpu", "api")


class Watched(int):
    """A limit that notes on which side of it the numbers are that it is compared with.

    Attributes:
        sides: True for a number above it, or at it where the comparison says so.
    """

    sides: set[bool]

    @classmethod
    def of(cls, value: int, sides: set[bool]) -> Watched:
        """Return the number as one that notes comparisons in `sides`."""
        watched = cls(value)
        watched.sides = sides
        return watched

    def scaled(self, other: int, by: Callable[[int, int], int]) -> Watched:
        """Return a multiple of the limit, which notes comparisons too."""
        return Watched.of(by(int(self), int(other)), self.sides)

    def __mul__(self, other: int) -> Watched:  # type: ignore[override]
        return self.scaled(other, operator.mul)

    def __floordiv__(self, other: int) -> Watched:  # type: ignore[override]
        return self.scaled(other, operator.floordiv)


def _comparison(name: str) -> Callable[[Watched, Any], Any]:
    def compare(self: Watched, other: Any) -> Any:
        result = getattr(int, name)(self, other)
        if isinstance(other, int | float):
            self.sides.add(result if name in ("__lt__", "__le__") else not result)
        return result

    return compare


for _name in ("__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Watched, _name, _comparison(_name))
Watched.__hash__ = int.__hash__  # type: ignore[method-assign]


@cache
def _modules() -> tuple[Any, ...]:
    """Return all modules that may have a limit's name; imported now, since a later import would not be watched."""
    for package in PACKAGES:
        root = importlib.import_module(f"workbench.{package}")
        for module in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            importlib.import_module(module.name)
    return tuple(m for name, m in sys.modules.items() if name.startswith("workbench.") and m is not limits)


@contextmanager
def replaced(name: str, by: int) -> Iterator[None]:
    """Let every module that uses the limit have another number for it."""
    limit = limits.table()[name]
    users = [(m, k) for m in _modules() for k, value in vars(m).items() if value is limit]
    assert users, name
    try:
        for module, key in users:
            setattr(module, key, by)
        yield
    finally:
        for module, key in users:
            setattr(module, key, limit)


@contextmanager
def watched(name: str) -> Iterator[set[bool]]:
    """Note the sides of the limit on which there are numbers that it is compared with, in the set that this returns."""
    sides: set[bool] = set()
    with replaced(name, Watched.of(int(limits.table()[name]), sides)):
        yield sides
