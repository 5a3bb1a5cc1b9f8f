"""Gradients and replays that a user writes for a func: `func_grad`, `func_replay`.

They belong to one version of the func, found by the types of their first parameters, and are checked against it when a
kernel that calls it is compiled: only then the types of its results are known.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from workbench.api.kernels.func import Func
from workbench.api.kernels.source_text import definition_of
from workbench.errors import KernelTypeError, its_type
from workbench.frontend import Custom, Definition, parameter_types, refuse_references


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
