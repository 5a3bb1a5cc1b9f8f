"""Limits of a gradient: work that a tape cannot reverse, and elements that nothing uses.

**Cuts** are work that a tape cannot reverse: launches with `record_tape=False`, changes outside its `with`,
conversions.

**Masks** (`Live`) are of the elements that a gradient reaches, where whole-array `where` left some of them unused. A
cotangent that is 0 because the program did not use a value must not meet an infinite slope: in `where(x > 0, sqrt(x),
0)` the root's adjoint would be 0 · inf at x = 0. Inside a kernel a condition says where a value was used
(`design/adjoint.md`, NaN). Between the kernels of whole-array expressions it is an array of bools: `where` marks what
it chose, a map passes on to its operands what was marked in its result, and the adjoint of a map runs for marked
elements only. Any other step reaches all elements that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from workbench.api.kernels.kernel import Kernel
from workbench.api.launches.launch import launch, prepare
from workbench.api.launches.map import LETTERS, Elementwise, live_kernel
from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.steps import Step, Tape, Undo
from workbench.autodiff import FORWARD
from workbench.builtins import TABLE
from workbench.errors import NotDifferentiable
from workbench.runtime.active_observers import Listener, without
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import is_all
from workbench.runtime.arrays.create import zeros
from workbench.runtime.device.memory import Memory
from workbench.runtime.work import Work
from workbench.types import bool as bool_
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


class _Tape(Tape, Listener, Protocol):
    """A tape in its backward pass."""


def elementwise(step: Step) -> Elementwise | None:
    """Return the map that a step applies to the elements of whole arrays, with one result; None for any other step."""
    if not isinstance(step, LaunchStep):
        return None
    record = step.record
    mapped = getattr(getattr(record.specialisation, "kernel", None), "elementwise", None)
    plain = mapped is not None and record.direction == FORWARD and len(record.values) == len(mapped.indices) + 1
    return mapped if plain else None


class Live:
    """The elements of adjoints that gradients reach in one backward pass.

    Attributes:
        some: whether a step may reach only some elements; else `through` returns each step as it is.
    """

    def __init__(self, steps: Sequence[Step], tape: Tape, ends: Iterable[array]) -> None:
        """Follow gradients backward through these steps from all elements of the arrays `ends`."""
        self.some = False
        maps: list[Step] = []
        for step in steps:  # without a call for each: a tape of many launches has no maps
            if isinstance(step, LaunchStep):
                kernel = getattr(step.record.specialisation, "kernel", None)
                if getattr(kernel, "elementwise", None) is not None:
                    maps.append(step)
                self.some = self.some or getattr(kernel, "restricts", None) is not None
        if not (maps or self.some):
            return
        mapped = [(step, what) for step in maps if (what := elementwise(step)) is not None]
        self.some = self.some or any(what.func is TABLE["where"] for _, what in mapped)
        changed = [a for step, _ in mapped for a in step.changed] if self.some else []
        self._of_maps = {tape.adjoint_of(a).memory for a in changed if is_all(a)}
        self._live: dict[Memory, array | None] = {tape.adjoint_of(a).memory: None for a in ends} if self.some else {}

    def through(self, step: Step, tape: _Tape) -> Step:
        """Return the step for the elements that are reached, and note which elements of what it reads are.

        Steps come in the order of the backward pass, so all that used a result have been here before what wrote it.
        """
        if not self.some:
            return step
        mapped = elementwise(step)
        if mapped is not None and isinstance(step, LaunchStep):
            live = [self._live.pop(tape.adjoint_of(a).memory, None) for a in step.changed if is_all(a)]
            live = live[0] if live else None
            with without(tape):
                self._operands(step, mapped, live, tape)
            return step if live is None else _restricted(step, mapped, live)
        of = _restriction(step)
        for value in step.used:
            if of is None or not isinstance(step, LaunchStep) or value.shape != step.record.dim:
                self._live[tape.adjoint_of(value).memory] = None
                continue
            operands = [{**step.record.arguments, **step.as_they_were(tape)}["live"]]
            with without(tape):
                kernel = live_kernel(of, ", ".join(LETTERS[: of.ndim]), True, False, False)
                self._mark(value, kernel, step, operands, tape)
        return step

    def _operands(self, step: LaunchStep, mapped: Elementwise, live: array | None, tape: Tape) -> None:
        """Note which elements of the operands are reached through the live elements of the result."""
        record = step.record
        chooses = mapped.func is TABLE["where"]
        condition = {**record.arguments, **step.as_they_were(tape)}["x0"] if chooses else None
        for k, (value, index) in enumerate(zip(record.values, mapped.indices, strict=False)):
            if isinstance(value, array) and is_float(value.dtype):
                masks = [side for side in (live, condition) if side is not None]
                kernel = live_kernel(mapped, index, live is not None, chooses, negated=k == 2) if masks else None
                self._mark(value, kernel, step, masks, tape)

    def _mark(
        self, value: array, kernel: Kernel | None, step: LaunchStep, operands: Sequence[object], tape: Tape
    ) -> None:
        """Add the elements that the kernel marks to those of the array that are reached; without a kernel, all."""
        memory = tape.adjoint_of(value).memory
        all_known = memory in self._live and self._live[memory] is None
        if kernel is None or all_known or not is_all(value) or memory not in self._of_maps:
            self._live[memory] = None
            return
        known = self._live.get(memory)
        out = self._live[memory] = known if known is not None else zeros(value.shape, bool_, value.device)
        launch(kernel, step.record.dim, inputs=operands, outputs=[out], device=out.device)


def _restriction(step: Step) -> Elementwise | None:
    """Return the map if the step is that map restricted to live elements; None for any other step."""
    kernel = getattr(step.record.specialisation, "kernel", None) if isinstance(step, LaunchStep) else None
    return getattr(kernel, "restricts", None)


def _restricted(step: LaunchStep, mapped: Elementwise, live: array) -> Step:
    """Return the step as if it had run for the live elements alone."""
    values: Sequence[object] = [live, *step.record.values]
    record = prepare(mapped.restricted(), step.record.dim, values, device=step.record.executable.device)
    versions = (live.memory.version, *step.versions)
    return LaunchStep(
        record, record.executable.arrays_of(record.values), versions, step.unwanted, step.ordered, step.sets
    )
