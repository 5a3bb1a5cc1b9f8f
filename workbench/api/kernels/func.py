"""Funcs: functions that kernels call; their bodies become part of the kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, overload

from workbench.api.kernels.editions import follow_reloads
from workbench.api.kernels.pickled import reduced
from workbench.api.kernels.source_text import caller, definition_of
from workbench.errors import KernelTypeError, must_be
from workbench.frontend import Custom, Definition, check_signature
from workbench.host.vectors import ON_HOST


class Func:
    """A function of the kernel language; called from Python on numbers, the interpreter runs it.

    Attributes:
        name: as written.
        stale: why it is out of date; empty if it is not.
        warp_meanings: whether `map` and such a call give its names Warp's meaning (`workbench.compat.warp`).
    """

    warp_meanings = False

    def __init__(self, definition: Definition) -> None:
        """Make a func of one definition, its only version so far.

        Raises:
            KernelTypeError: `definition` is none.
            KernelSyntaxError: it has variadic parameters.
        """
        must_be(definition, Definition, "Func() takes what @wb.func read", KernelTypeError, "Write @wb.func.")
        check_signature(definition)
        self.name = definition.name
        self.__wb_definitions__: tuple[Definition, ...] = (definition,)
        self.__wb_customs__: dict[Definition, Custom] = {}
        self.__name__ = self.__qualname__ = definition.name
        self.__module__ = definition.module
        self.stale = ""

    def mark_stale(self, reason: str) -> None:
        """Mark the func as out of date: every use is refused from now on, with this reason."""
        self.stale = reason

    def beside(self, before: object) -> Func:
        """Make this func another version of `before`, if that is a func above it in the same text; return this func.

        A version with the same annotations is replaced. If the text was edited or run again, `before` is left out.
        """
        (new,) = self.__wb_definitions__
        old = before.__wb_definitions__ if isinstance(before, Func) else ()
        if all(d.source == new.source and d.node.lineno < new.node.lineno for d in old):
            others = tuple(d for d in old if _annotations(d) != _annotations(new))
            self.__wb_definitions__ = (*others, new)
            self.__wb_customs__ = before.__wb_customs__ if isinstance(before, Func) else {}
        return self

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Evaluate the func on the host: return NumPy scalars, vectors or structs (`api.launches.host_call`)."""
        return ON_HOST[0](self, args, kwargs)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Return what pickle needs: the func's name where it can be imported or has gradients or several versions.

        Of any other func also the text and the values of the names that it reads.
        """
        if len(self.__wb_definitions__) > 1 or self.__wb_customs__ or type(self).__init__ is not Func.__init__:
            return self.name  # several versions, or gradients of its own: by name alone
        return reduced(self, self.definition, {})

    def __copy__(self) -> Func:
        """Return the func itself, as for any Python function."""
        return self  # as of a function

    def __deepcopy__(self, memo: object) -> Func:
        """Return the func itself, as for any Python function."""
        return self

    @property
    def definition(self) -> Definition:
        """The definition of its newest version."""
        return self.__wb_definitions__[-1]

    def __repr__(self) -> str:
        return f"<func {self.name}>"


def _annotations(definition: Definition) -> list[str]:
    """Return the parameters' annotations as comparable text; empty for one without."""
    return [ast.dump(a.annotation) if a.annotation else "" for a in definition.parameters]


@overload
def func(function: Callable[..., object], *, source: str | None = None) -> Func: ...
@overload
def func(*, source: str | None = None) -> Callable[[Callable[..., object]], Func]: ...
def func(
    function: Callable[..., object] | None = None, *, source: str | None = None
) -> Func | Callable[[Callable[..., object]], Func]:
    """Decorator: make a Python function callable from kernels.

    A second func of the same name in the same scope, with other annotations, is another version of it: each call takes
    the one that fits its arguments.

        >>> import workbench as wb
        >>> @wb.func
        ... def smooth(t: float):
        ...     return t * t * (3.0 - 2.0 * t)
        >>> wb.map(smooth, wb.array([0.0, 0.5, 1.0])).numpy()
        array([0. , 0.5, 1. ], dtype=float32)

    Args:
        function: a `def`; its parameters may have annotations. None returns a decorator.
        source: its source code, if Python cannot find it (a function made by `exec`).

    Returns:
        A `Func`, which kernels and other funcs call by name.

    Raises:
        KernelSyntaxError: its source code cannot be found, or it has variadic parameters.
    """
    names = caller().f_locals

    def decorate(function: Callable[..., object]) -> Func:
        follow_reloads()
        return Func(definition_of(function, source)).beside(names.get(getattr(function, "__name__", "")))

    if function is None:
        return decorate
    return decorate(function)
