"""The directions that can be derived from a kernel, by name.

"forward" is the kernel itself, "adjoint" its adjoint, "tangent" its tangent; "adjoint tangent" is the tangent of its
adjoint, and so on: each word derives once more from what the words before it name. "finite" is the kernel with asserts
that all it writes is finite, "accesses" one that notes what its threads read and write; "ordered" is one that notes
what it would add to shared floats, and "counted" one that counts that (`ordered.py`). "gathered-adjoint" and
"clearing-adjoint" are the adjoint as two launches, the sums and the clearing (see `gather/form.py`); "local-adjoint" is
the form of the sums whose threads add to elements of their own index alone. "adjoint-residuals" is the kernel that
stores results of its loops, and "residual-adjoint" the adjoint that reads them (`residuals.py`). Launch records, cache
keys and events identify code by this string.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from workbench.autodiff.adjoint_signature import (
    adjoint_names,
    adjoint_type,
    log_name,
    order_logs,
    residual_params,
    tangent_names,
)
from workbench.autodiff.memory.boxes import stored_boxes
from workbench.deep import with_deep_stack
from workbench.errors import NotDifferentiable
from workbench.ir.values import Function, Value
from workbench.limits import CHECKPOINTS
from workbench.passes.pipeline import FINITE, SILENT, run
from workbench.types import ArrayType, Type, int32

if TYPE_CHECKING:
    from workbench.autodiff.memory.effects import Launch

FORWARD = "forward"
GATHERED, CLEARING, LOCAL = "gathered-adjoint", "clearing-adjoint", "local-adjoint"
ORDERED, COUNTED = IN_ORDER = ("ordered", "counted")
STORING, READING = RESIDUALS = ("adjoint-residuals", "residual-adjoint")
ADJOINTS = ("adjoint", GATHERED, CLEARING, LOCAL)
"""Steps that take a function to its adjoint, or to a part of it: with the parameters of an adjoint."""


def then(direction: str, step: str) -> str:
    """Return the direction that derives once more: `step` after `direction`, or `step` alone after "forward"."""
    return step if direction == FORWARD else f"{direction} {step}"


def derived(
    function: Function, direction: str, atomic: bool = False, numbers: bool = True, checkpoints: int = CHECKPOINTS,
    constant: frozenset[str] = frozenset(), stack: bool = True, launch: Launch | None = None,
    uncleared: bool = False,
) -> Function:  # fmt: skip
    """Derive the function of a direction from a kernel.

    Args:
        function: a kernel.
        direction: "forward", which returns the kernel itself, or steps separated by spaces, such as "adjoint tangent".
        atomic: adjoints accumulate atomically: for arrays that overlap.
        numbers: adjoints compute the gradients of numbers too.
        checkpoints: states that adjoints keep of a loop at once.
        constant: names of parameters whose gradients an adjoint, if that is the first step, need not compute. Later
            steps compute all: the gradient of a gradient may well be by what the gradient was not.
        stack: adjoints may keep every state of a short loop (see `adjoint`).
        launch: adjoints are for launches like this one (see `adjoint`).
        uncleared: an adjoint, if that is the first step, does not clear the cotangents of arrays of which the kernel
            only overwrites a box (`stored_boxes`).

    Raises:
        NotDifferentiable: a step cannot be taken.
    """
    steps, kernel = _steps(direction), function
    left = frozenset(stored_boxes(kernel) if uncleared else ())
    for number, step in enumerate(steps):
        # Imports here, not at the top: forward code needs neither mode, and importing them takes a fifth of what a
        # first kernel needs in this process.
        if step in ADJOINTS:
            twice = steps[: number + 1] == ["adjoint", "adjoint"] and launch is None and not atomic
            function = _adjoint(
                function, (kernel, constant) if twice else None, atomic=atomic, numbers=numbers,
                checkpoints=checkpoints, constant=frozenset[str]() if number else constant, stack=stack, launch=launch,
                uncleared=left if number == 0 else frozenset[str](),
            )  # fmt: skip
            function = function if step == "adjoint" else _part(function, step)
        elif step in RESIDUALS:
            reverse = _adjoint(
                function, None, atomic=atomic, numbers=numbers, checkpoints=checkpoints, constant=constant, stack=stack,
                launch=launch, uncleared=left,
            )  # fmt: skip
            function = _with_residuals(function, reverse)[RESIDUALS.index(step)]
        elif step == "finite":
            function = run(FINITE, function)
        elif step == "accesses":
            from workbench.autodiff.instrumented import logged

            function = logged(run(SILENT, function))
        elif step in IN_ORDER:
            from workbench.autodiff.instrumented import counted, noted, runnable

            function = runnable(function, bool(number) and steps[number - 1] in ADJOINTS, atomic)
            function = (noted if step == ORDERED else counted)(function)
        else:
            from workbench.autodiff.forward_mode import tangent

            function = tangent(function)
    return function


def _adjoint(function: Function, of: tuple[Function, frozenset[str]] | None, **options: Any) -> Function:
    """Derive an adjoint; if that is refused for the adjoint of an adjoint, try the other way (`adjoint_of_adjoint`).

    Args:
        function: the function to differentiate.
        of: the kernel whose adjoint the function is, and the parameters constant there; None: it is no such adjoint.
        **options: of `adjoint`.

    Raises:
        NotDifferentiable: neither way is possible.
    """
    from workbench.autodiff.reverse_mode import adjoint

    try:
        return adjoint(function, **options)
    except NotDifferentiable:
        again = None
        if of is not None:
            from workbench.autodiff.reverse_mode import adjoint_of_adjoint

            forwarded = {name: options[name] for name in ("checkpoints", "stack", "numbers")}
            with suppress(NotDifferentiable):
                again = adjoint_of_adjoint(of[0], **forwarded, constant=of[1])
        if again is None:
            raise
        return again


def _with_residuals(kernel: Function, adjoint: Function) -> tuple[Function, Function]:
    """Return the kernel that stores residuals, and the adjoint that reads them.

    Raises:
        NotDifferentiable: the adjoint repeats no loop of the kernel.
    """
    from workbench.autodiff.residuals import with_residuals

    forms = with_residuals(kernel, adjoint)
    if forms is None:
        raise NotDifferentiable("This adjoint repeats no loop.", function=kernel.name)
    return forms


def _part(adjoint: Function, step: str) -> Function:
    """Return one launch of an adjoint's gather form: the one that clears for the step CLEARING, else the one that sums.

    Raises:
        NotDifferentiable: the adjoint has no gather form.
    """
    from workbench.autodiff.gather.form import gather_adjoint

    form = gather_adjoint(adjoint, step == LOCAL)
    if form is None:
        raise NotDifferentiable("This adjoint has no gather form.", function=adjoint.name)
    return form.cleared if step == CLEARING else form.sums


@with_deep_stack
def repeats_loops(kernel: Function, adjoint: Function) -> bool:
    """Return whether an adjoint repeats loops of the kernel, whose results may be residuals."""
    from workbench.autodiff.residuals import with_residuals

    return with_residuals(kernel, adjoint) is not None


def parameters(params: Sequence[Value], direction: str) -> tuple[Value, ...]:
    """Return the parameters of the function that `derived` returns for a direction, without deriving it.

    An adjoint has an array beside each float: of an array the same type, of a number one element that collects the sum.
    A tangent has beside each float the same type. Steps that log add their logs, others nothing.
    """
    for step in _steps(direction):
        params = [*params, *_MORE[step](params)]
    return tuple(params)


def _steps(direction: str) -> list[str]:
    """Return the steps of a direction such as "adjoint tangent", in order; none for the kernel itself."""
    return [] if direction == FORWARD else direction.split(" ")


def _appending(
    names: Callable[[Sequence[Value]], dict[str, str]], kind: Callable[[Type], Type]
) -> Callable[[Sequence[Value]], list[Value]]:
    """Return a function that takes parameters and returns those that a step adds beside them.

    Args:
        names: gives the added parameters' names by those of existing ones.
        kind: gives an added parameter's type from that of the existing one.
    """

    def more(params: Sequence[Value]) -> list[Value]:
        named = names(params)
        return [Value(kind(p.type), named[p.name]) for p in params if p.name in named]

    return more


_MORE: dict[str, Callable[[Sequence[Value]], Sequence[Value]]] = {
    **dict.fromkeys(ADJOINTS, _appending(adjoint_names, adjoint_type)),
    "tangent": _appending(tangent_names, lambda type: type),
    "finite": lambda params: (),
    "accesses": lambda params: [Value(ArrayType(int32, 2), log_name(params, "log"))],
    **dict.fromkeys(IN_ORDER, order_logs),
    STORING: residual_params,
    READING: lambda params: [*_MORE["adjoint"](params), *residual_params(params)],
}
"""The parameters that each step adds."""
