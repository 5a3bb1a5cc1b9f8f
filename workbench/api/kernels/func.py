"""Funcs: functions that kernels call; their bodies become part of the kernel.

A user may write CUDA text for a func (`func_native`), and its gradient or replay (`func_grad`, `func_replay`).
Gradients and replays belong to one version of the func, found by the types of their first parameters, and are checked
against it when a kernel that calls it is compiled: only then the types of its results are known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, overload

from msgspec.structs import replace

from workbench.api.kernels.editions import follow_reloads
from workbench.api.kernels.pickled import reduced
from workbench.api.kernels.source_text import caller, definition_of
from workbench.errors import KernelTypeError, its_type, must_be
from workbench.frontend.functions.derivatives import Custom, native_of
from workbench.frontend.names.annotate import parameter_types, refuse_references
from workbench.frontend.state.definition import Definition
from workbench.frontend.statements.lower import check_signature
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


def func_native(
    cuda: str, adj_cuda: str | None = None, replay_cuda: str | None = None, *, source: str | None = None
) -> Callable[[Callable[..., object]], Func]:
    """Decorator: make a func of CUDA C++ source; off CUDA it is its Python body, which defines its meaning.

    The source sees the parameters by name (an array as `x.data`, `x.shape[k]`, `x.strides[k]` in bytes) and returns
    its one result by `return`; its type is the def's annotation. Where the body is `...`, kernels that call the func
    run on CUDA alone.

    Args:
        cuda: the statements.
        adj_cuda: statements that add to `adj_x` for every input x of floats (a number, a vector, or an array like x),
            given the result's adjoint `adj_ret`. Without them the gradient is derived from the Python body.
        replay_cuda: statements that compute the result again without effects, for adjoints.
        source: the function's source code, if Python cannot find it.

    Returns:
        A decorator that returns a `Func`.

    Raises:
        KernelTypeError: a parameter has no type.
    """
    return lambda function: with_text(definition_of(function, source), cuda, adj_cuda, replay_cuda)


def with_text(definition: Definition, cuda: str, adj_cuda: str | None = None, replay_cuda: str | None = None) -> Func:
    """Return a new func of this definition, which on CUDA is these CUDA C++ statements in place of its Python body.

    Args:
        definition: the func's Python text.
        cuda: the statements.
        adj_cuda: statements of its gradient; None derives that from the Python body.
        replay_cuda: statements that compute the result again without effects; None: there are none.

    Raises:
        KernelTypeError: a parameter has no type.
    """
    func = Func(definition)
    func.__wb_customs__[definition] = Custom(native=native_of(definition, cuda, adj_cuda, replay_cuda))
    return func


def func_grad(func: object, *, source: str | None = None) -> Callable[[Callable[..., object]], Func]:
    """Decorator: make a function the gradient of a func, in place of the one derived from the func's lines.

    The decorated function takes the func's inputs and then the adjoint of each of its results. For every input x that
    has one it adds to `wb.adjoint[x]`; of an array, to its elements: `wb.adjoint[x][i] += …`. It changes nothing else.

    Args:
        func: the func; of one with several versions, the version whose parameters the gradient's begin with.
        source: the function's source code, if Python cannot find it.

    Returns:
        A decorator that returns the gradient as a `Func`.

    Raises:
        KernelTypeError: `func` is not a func, or the first parameters are not its inputs.
    """
    return lambda function: _attach(func, definition_of(function, source), "gradient")


def func_replay(func: object, *, source: str | None = None) -> Callable[[Callable[..., object]], Func]:
    """Decorator: make a function the replay of a func: adjoints run it, in place of the func's lines, for the results.

    It takes the func's inputs, returns the same number of values of the same types, and changes nothing.

    Args:
        func: the func; of one with several versions, the version with the same parameters.
        source: the function's source code, if Python cannot find it.

    Returns:
        A decorator that returns the replay as a `Func`.

    Raises:
        KernelTypeError: `func` is not a func, or the parameters are not its inputs.
    """
    return lambda function: _attach(func, definition_of(function, source), "replay")


def _attach(func: object, definition: Definition, role: str) -> Func:
    """Attach a definition to a func as its "gradient" or "replay", and return that definition as a `Func`."""
    attach(func, definition, role)
    return Func(definition)


def attach(func: object, definition: Definition, role: str) -> None:
    """Store a definition with a func, as the gradient or the replay of the version of it that it fits.

    A gradient's parameters begin with those of the version; a replay has exactly these.

    Args:
        func: the func; changed in place.
        definition: of the gradient or replay.
        role: "gradient" or "replay".

    Raises:
        KernelTypeError: `func` is not a func, no version of it fits, or a parameter is a reference.
    """
    location = definition.locate(definition.node)
    if not isinstance(func, Func):
        kernel = getattr(func, "__name__", "it") if hasattr(func, "__wb_kernel__") else ""
        what = f"{kernel} is a kernel" if kernel else f"this is {its_type(func)}"
        raise KernelTypeError(
            f"A {role} belongs to a func; {what}.",
            location,
            "Give it the func that the kernel calls: @wb.func above its def.",
            definition.name,
        )
    refuse_references(definition, f"a {role}")
    for version in func.__wb_definitions__:
        refuse_references(version, f"a func with a {role}")
    own = _asked(definition)
    fitting = [d for d in func.__wb_definitions__ if _asked(d) == own[: len(d.parameters)]]
    if role == "replay":
        fitting = [d for d in fitting if len(d.parameters) == len(own)]
    if not fitting:
        versions = "; ".join(f"{d.name}({_shown(d)})" for d in func.__wb_definitions__)
        raise KernelTypeError(
            f"The parameters of a {role} {'begin with' if role == 'gradient' else 'are'} the func's inputs; these are "
            f"({_shown(definition)}).",
            location,
            f"The func: {versions}.",
            definition.name,
        )
    target = max(fitting, key=lambda d: len(d.parameters))
    customs = func.__wb_customs__
    customs[target] = replace(customs.get(target, Custom()), **{role: definition})


def _asked(definition: Definition) -> list[object]:
    """Return for each parameter its annotated type, else its family of types; None if it is generic."""
    types, families = parameter_types(definition)
    return [type or families.get(name) for name, type in types.items()]


def _shown(definition: Definition) -> str:
    """Return the parameters of a definition with their types, as text for messages."""
    names = [a.arg for a in definition.parameters]
    return ", ".join(f"{n}: {t!r}" if t is not None else n for n, t in zip(names, _asked(definition), strict=True))
