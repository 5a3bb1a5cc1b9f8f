"""Calls that recurse as deeply as the user's program nests.

An `elif` is inside the one before it, each term of a sum inside the next, and an early return nests what follows. Our
functions follow that by recursion, which Python limits to about 1,000 calls. Where one meets the limit, it is done
again in a thread with a larger stack and a higher limit; whoever does not meet it pays nothing.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from workbench.forks import fork_safe_lock
from workbench.work import Work

P = ParamSpec("P")
R = TypeVar("R")

LIMIT = 40_000
"""Python calls inside one another; the stack of `Work` has room for as many where each goes through C."""

_inside = ContextVar("inside a deep call", default=False)
_guard = fork_safe_lock(__name__, "_guard")
_raised: list[int] = []


def with_deep_stack(call: Callable[P, R]) -> Callable[P, R]:
    """Decorate a side-effect-free function that may recurse deeply: if it overflows, it is run again on a larger stack.

    Raises:
        RecursionError: it nests more deeply than `LIMIT`, or overflows inside another such function.
    """

    @functools.wraps(call)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except RecursionError:
            if _inside.get():
                raise
        return Work(_below, call, args, kwargs, name=call.__name__).result()

    return run


def _below(call: Callable[..., R], args: tuple[object, ...], kwargs: dict[str, object]) -> R:
    """Call a function in this thread under a raised recursion limit; an overflow inside is then not tried again."""
    _inside.set(True)
    with _higher_limit():
        return call(*args, **kwargs)


@contextmanager
def _higher_limit() -> Generator[None]:
    """Raise Python's recursion limit to at least `LIMIT` in a `with` block; it is one limit for all threads."""
    with _guard:
        _raised.append(sys.getrecursionlimit() if not _raised else _raised[0])
        sys.setrecursionlimit(max(LIMIT, _raised[0]))
    try:
        yield
    finally:
        with _guard:
            before = _raised.pop()
            if not _raised:
                sys.setrecursionlimit(before)
