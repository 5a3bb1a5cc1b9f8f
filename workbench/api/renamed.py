"""Old spellings of public names: they work as the present ones do, and warn of what to write."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from workbench.runtime.device.call_site import warn

P = ParamSpec("P")
R = TypeVar("R")


def renamed(**present: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a function that takes parameters by their old names, too.

    Args:
        present: the parameter's present name, by its old one.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in present.keys() & kwargs:
                warn(f"The parameter {old} is {present[old]} now.")
                kwargs[present[old]] = kwargs.pop(old)
            return function(*args, **kwargs)

        vars(called)["renamed"] = present
        return called

    return decorate


class OldName:
    """An attribute under its old name: `said = OldName("summary")` reads `summary`."""

    def __init__(self, present: str) -> None:
        """Stand for the attribute whose present name is `present`."""
        self._present = present
        self.__doc__ = f"The old name of `{present}`."

    def __set_name__(self, owner: type, name: str) -> None:
        """Note the class and the old name, for the warning."""
        self._old = f"{owner.__name__}.{name}"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the attribute that has the present name, after a warning; of the class this object itself."""
        if instance is None:
            return self
        warn(f"{self._old} is {self._present} now.")
        return getattr(instance, self._present)
