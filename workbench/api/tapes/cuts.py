"""Work that a tape cannot reverse: launches with `record_tape=False`, changes outside its `with`, conversions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.steps import Step, Tape, Undo
from workbench.errors import NotDifferentiable
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.runtime.work import Work
from workbench.types import element, is_float


@dataclass(eq=False, slots=True)
class CutStep(Step):
    """A change that the tape does not undo: a gradient that has to go through it is refused.

    Attributes:
        arrays: arrays of floats that it has changed.
        lost: their memories that taped steps had changed before, as long as no function of the user's answers for them.
        refusal: returns the error for one of these arrays.
        launch: what ran, with `record_tape=False`; None if it was not seen.
    """

    arrays: Sequence[array]
    lost: set[Memory] = field()  # type: ignore[reportIncompatibleVariableOverride]  (no default, and never None)
    refusal: Callable[[array], NotDifferentiable]
    launch: LaunchStep | None = None

    def __post_init__(self) -> None:
        # No gradient goes through it.
        self.changed, self.used = self.arrays, ()
        self.touched = self.arrays if self.launch is None else self.launch.touched

    @property
    def node(self) -> Work | None:
        """The launch, as records and graphs list it; None if what changed the arrays was not seen."""
        return None if self.launch is None else self.launch.node

    def again(self, instead: Callable[[array], array]) -> None:
        """Run the launch again with other arrays; do nothing if there is none."""
        if self.launch is not None:
            self.launch.again(instead)

    def reversed(self, tape: Tape) -> Undo:
        """Refuse to undo the change.

        Raises:
            NotDifferentiable: always.
        """
        self.check()
        raise AssertionError("check() refuses")

    def check(self) -> None:
        """Refuse a gradient that goes through the change.

        Raises:
            NotDifferentiable: always.
        """
        raise self.refusal(next(a for a in self.changed if a.memory in self.lost))


def untaped(step: LaunchStep, taped: set[Memory]) -> CutStep:
    """Return the step of a launch with `record_tape=False`, after steps that changed the memories `taped`."""
    record = step.record

    def refusal(value: array) -> NotDifferentiable:
        name = next(n for n in sorted(record.writes) if step.arrays[n] is value)
        return NotDifferentiable(
            f"{record.kernel} was launched with record_tape=False and writes {name}, through which the gradient goes.",
            record.location,
            f"Record its backward function: tape.record_func(backward, [{name}, …]), or leave record_tape out.",
            record.kernel,
            parameter=name,
        )

    return CutStep(step.changed, taped & {a.memory for a in step.changed}, refusal, step)


def unseen(value: array) -> CutStep:
    """Return the step of a change, outside the tape's `with`, of an array that taped steps had changed."""

    def refusal(value: array) -> NotDifferentiable:
        return NotDifferentiable(
            f"The {value.type!r} of shape {value.shape} was changed outside the tape's `with`, between two of its "
            "steps, and the gradient goes through it.",
            advice="Change it inside the `with`, or write the new values to another array.",
        )

    return CutStep((value,), {value.memory}, refusal)


def as_integers(touched: Collection[array], changes: Sequence[Memory], taped: Callable[[], set[Memory]]) -> list[Step]:
    """Return steps that refuse gradients through floats that are about to change through a view as integers.

    Args:
        touched: the arrays of the step that changes them.
        changes: the memories that it changes.
        taped: returns the memories of floats that taped steps have changed.
    """

    def refusal(value: array) -> NotDifferentiable:
        return NotDifferentiable(
            f"Floats were changed through a view of them as {value.type!r}, and the gradient goes through them.",
            advice="Change them as floats, or write the new values to another array.",
        )

    views = [v for v in touched if v.memory.as_integers and not is_float(v.dtype) and v.memory in changes]
    return [CutStep((v,), {v.memory}, refusal) for v in views if v.memory in taped()]


def refuse_conversion(source: array, dtype: object) -> NotDifferentiable:
    """Return the error for an array that is converted to another element type, through which no gradient goes."""
    return NotDifferentiable(
        f"An {source.type!r} is converted to an array of {dtype!r}, and the gradient would be lost.",
        advice=f"Convert it in a kernel, y[i] = {element(dtype)!r}(x[i]), or before the tape records. If it is a "
        "constant: wb.array(x.numpy(), dtype=…).",
    )


def refuse_parts(value: array) -> NotDifferentiable:
    """Return the error for memory that is used as complex numbers and as floats: its adjoint can be only one."""
    return NotDifferentiable(
        f"The memory of the {value.type!r} of shape {value.shape} is used as complex numbers and as floats, and a "
        "gradient is of one of both.",
        advice="Take z.real and z.imag in the kernel, or a copy before the tape records: wb.clone(z.imag).",
    )
