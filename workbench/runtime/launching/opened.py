"""Observers that a `with` opens, and what is left of them where an interrupt comes between two of its instructions."""

from __future__ import annotations

from contextvars import Token
from types import TracebackType
from typing import Any, Self

from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.launching.observer import Observer


class Opened(Observer):
    """Observes what runs inside its `with`.

    Python raises a signal's exception where a function begins and after calls. The one after `set` and the one after
    `reset` change nothing here; one that comes as `__exit__` begins leaves it open, which `opened` finds.
    """

    _token: Token[Any] | None = None

    def __enter__(self) -> Self:
        if self._token is not None:
            raise RuntimeError(f"this {type(self).__name__.lower()} is recording already")
        try:
            self._token = OBSERVERS.set((*OBSERVERS.get(), self))
        except BaseException:
            OBSERVERS.set(tuple([o for o in OBSERVERS.get() if o is not self]))
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._token is not None:
                OBSERVERS.reset(self._token)
        finally:
            self._token = None


def opened() -> tuple[Opened, ...]:
    """Those that are open here, the first one first."""
    return tuple(o for o in OBSERVERS.get() if isinstance(o, Opened))
