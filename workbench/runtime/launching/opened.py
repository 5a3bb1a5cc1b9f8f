"""Observers that a `with` opens, and what is left of them where an interrupt comes between two of its instructions."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from workbench.runtime.active_observers import OBSERVERS, enter, leave
from workbench.runtime.launching.observer import Observer


class Opened(Observer):
    """An observer of what runs inside its `with`.

    Python raises a signal's exception where a function begins and after calls. One that comes as `__exit__` begins
    leaves it open, which `opened` finds; any other leaves it closed.
    """

    _is_open = False

    def __enter__(self) -> Self:
        """Begin to observe, and return the observer; raise a RuntimeError if it is open already."""
        if self._is_open:
            raise RuntimeError(f"this {type(self).__name__.lower()} is recording already")
        try:
            self._is_open = True
            enter(self)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop observing, even if an interrupt comes meanwhile."""
        try:
            leave(self)
        except BaseException:  # a signal's, perhaps before anything was done
            leave(self)
            raise
        finally:
            self._is_open = False


def opened() -> tuple[Opened, ...]:
    """Return the `Opened` observers that are open in this context, the one opened first first."""
    return tuple(o for o in OBSERVERS.get() if isinstance(o, Opened))
