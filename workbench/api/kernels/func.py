"""Funcs: functions that kernels call; their bodies become part of the kernel."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

from workbench.api.kernels.source_text import definition_of
from workbench.frontend import Custom, Definition, check_signature


class Func:
    """A function of the kernel language. Called on the host, it refuses: it has a meaning only inside a kernel."""

    def __init__(self, definition: Definition) -> None:
        check_signature(definition)
        self.name = definition.name
        self.__wb_definitions__: tuple[Definition, ...] = (definition,)
        self.__wb_customs__: dict[Definition, Custom] = {}
        self.__name__ = definition.name
        self.stale = ""

    def mark_stale(self, reason: str) -> None:
        """Refuse every use from now on, with this reason."""
        self.stale = reason

    def beside(self, before: Any) -> Func:
        """This func, as one more version of `before` where that stands above it in the same text.

        A version with the same annotations is replaced; text that was edited, or run again, starts again.
        """
        (new,) = self.__wb_definitions__
        old = before.__wb_definitions__ if isinstance(before, Func) else ()
        if all(d.source == new.source and d.node.lineno < new.node.lineno for d in old):
            kept = tuple(d for d in old if _annotations(d) != _annotations(new))
            self.__wb_definitions__ = (*kept, new)
            self.__wb_customs__ = before.__wb_customs__ if isinstance(before, Func) else {}
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a func has a meaning only inside a kernel."""
        raise TypeError(f"{self.name} is a func: call it inside a kernel")

    def __repr__(self) -> str:
        return f"<func {self.name}>"


def _annotations(definition: Definition) -> list[str]:
    return [ast.dump(a.annotation) if a.annotation else "" for a in definition.parameters]


def func(function: Callable[..., Any] | None = None, *, source: str | None = None) -> Any:
    """Decorator: make a Python function callable from kernels.

    A second func of the same name in the same scope, with other annotations, is another version of it: each call takes
    the one that fits its arguments.

    Raises:
        KernelSyntaxError: its source code cannot be found, or it has variadic parameters.
    """
    names = sys._getframe(1).f_locals
    if function is None:
        return lambda f: Func(definition_of(f, source)).beside(names.get(f.__name__))
    return Func(definition_of(function, source)).beside(names.get(getattr(function, "__name__", "")))
