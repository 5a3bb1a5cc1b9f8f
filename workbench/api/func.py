"""Funcs: functions that kernels call; their bodies become part of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.api.text import definition_of
from workbench.frontend import Definition, check_signature


class Func:
    """A function of the kernel language. Called on the host, it refuses: it has a meaning only inside a kernel."""

    def __init__(self, definition: Definition) -> None:
        check_signature(definition)
        self.name = definition.name
        self.__wb_definitions__ = (definition,)
        self.__name__ = definition.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a func has a meaning only inside a kernel."""
        raise TypeError(f"{self.name} is a func: call it inside a kernel")

    def __repr__(self) -> str:
        return f"<func {self.name}>"


def func(function: Callable[..., Any] | None = None, *, source: str | None = None) -> Any:
    """Decorator: make a Python function callable from kernels.

    Raises:
        KernelSyntaxError: its text cannot be found, or it has variadic parameters.
    """
    if function is None:
        return lambda f: func(f, source=source)
    return Func(definition_of(function, source))
