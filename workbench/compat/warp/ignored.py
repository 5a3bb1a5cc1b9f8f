"""What has no effect here: accepted, and mentioned once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

_MENTIONED: set[str] = set()


def mention(what: str, instead: str = "") -> None:
    """Warn once in a process that something has no effect here."""
    if what not in _MENTIONED:
        _MENTIONED.add(what)
        depth = 1
        while sys._getframe(depth).f_globals.get("__name__", "").startswith("workbench."):
            depth += 1
        warnings.warn(f"{what} has no effect in Workbench. {instead}".rstrip(), stacklevel=depth + 1)


def hints(where: str, given: dict[str, Any]) -> None:
    """Mention those hints that are given."""
    for name, value in given.items():
        if value is not None:
            mention(f"{where}({name}=…)")


def ignored(name: str, result: Any = None) -> Callable[..., Any]:
    """A function that takes anything, mentions itself once, and returns `result`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        mention(f"{name}()")
        return result

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Accepted, without effect."
    return call


class Renderer:
    """Stands for a renderer: every method does nothing and returns None. It is mentioned once."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes what Warp's takes; nothing is written."""
        mention("warp.render", "Draw arrays with a plotting library: x.numpy().")

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None
