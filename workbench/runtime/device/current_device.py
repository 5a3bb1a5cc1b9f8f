"""Other libraries follow the device that is current in a thread: whatever Workbench calls leaves it as it was."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class Keeping(Protocol):
    """An object with devices, one of which is current in a thread."""

    def keeping_current(self) -> AbstractContextManager[None]:
        """Return a context manager that restores the thread's current device."""
        ...


P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D", bound=Keeping)


@contextmanager
def keeping_current(api: Any) -> Iterator[None]:
    """Keep current what is in the thread: another device's context, or another library's of the same device."""
    _, before, *_ = (*api.cuCtxGetCurrent(), 0)  # with an error, which the next call meets, nothing else is returned
    try:
        yield
    finally:
        if int(before or 0):
            api.cuCtxSetCurrent(before)


def keeps_current(method: Callable[Concatenate[D, P], T]) -> Callable[Concatenate[D, P], T]:
    """Wrap a method so that it leaves the caller's device current."""

    @functools.wraps(method)
    def wrapped(self: D, *args: P.args, **named: P.kwargs) -> T:
        with self.keeping_current():
            return method(self, *args, **named)

    return wrapped
