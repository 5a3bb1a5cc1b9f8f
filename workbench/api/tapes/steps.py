"""What a tape records: one step for each launch, copy, sum, fill and function of the user's.

A step knows which arrays carry derivatives through it, and what undoes it. All that may refuse happens in `reversed`,
before any gradient is changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from workbench.api.builds.overlaps import overlap
from workbench.errors import LaunchError, NotDifferentiable
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.types import is_float

Undo = Callable[[], None]


class Keeper(Protocol):
    """What looks after what an array held: a tape's snapshots or checkpoints."""

    def as_it_was(self, value: array, version: int) -> array | None:
        """The array with what it held at that version; None if it was not kept."""
        ...


class Tape(Protocol):
    """A tape, as far as its steps see it: `tape.py` has it."""

    deterministic: bool
    adjoints: dict[Memory, array]
    written: set[Memory]

    @property
    def kept(self) -> Keeper:
        """Copies of what has changed."""
        ...

    def adjoint_of(self, value: array) -> array:
        """The array that gathers this one's gradient."""
        ...


class Step(ABC):
    """One thing that ran.

    Attributes:
        changed: arrays of floats whose elements it changes.
        used: arrays of floats whose elements it reads.
        touched: all arrays of the step, of integers too.
    """

    __slots__ = ("changed", "touched", "used")

    changed: Sequence[array]
    used: Sequence[array]
    touched: Sequence[array]

    @abstractmethod
    def again(self, instead: Callable[[array], array]) -> None:
        """Run it once more, on other arrays."""

    @abstractmethod
    def reversed(self, tape: Tape) -> Undo:
        """What carries gradients from what it changed to what it used.

        Raises:
            NotDifferentiable: there is no right gradient.
        """

    def carries(self, reached: set[Memory]) -> bool:
        """Whether a gradient that has reached these memories goes through it; then it reaches what it used, too."""
        if not any(a.memory in reached for a in self.changed):
            return False
        reached.update([a.memory for a in self.used])
        return True


def _floats(value: array) -> tuple[array, ...]:
    return (value,) if is_float(value.dtype) else ()


@dataclass(eq=False, slots=True)
class CopyStep(Step):
    """A copy, or with `add` a sum."""

    target: array
    source: array
    add: bool = False

    def __post_init__(self) -> None:
        self.changed, self.used = _floats(self.target), _floats(self.source)
        self.touched = (self.target, self.source)

    def again(self, instead: Callable[[array], array]) -> None:
        """Copy or add again."""
        target, source = instead(self.target), instead(self.source)
        target.add_(source) if self.add else target.copy_(source)

    def reversed(self, tape: Tape) -> Undo:
        """The target's adjoint is added to the source's; of a copy it is gone then.

        Raises:
            NotDifferentiable: elements of one of them share memory, so a sum would keep only one of their gradients.
        """
        for value in (self.source, self.target):
            if not value.is_contiguous and overlap({"": value}):
                raise NotDifferentiable(
                    f"Elements of the {value.type!r} of shape {value.shape} and strides {value.strides} share memory; "
                    f"its {'sum' if self.add else 'copy'} has no gradient.",
                    advice="Copy it in a kernel: y[i, j] = x[i, j].",
                )
        gone, found = tape.adjoint_of(self.target), tape.adjoint_of(self.source)
        inside = not self.add and self.target.memory is self.source.memory  # a part of the source is overwritten too

        def undo() -> None:
            moved = gone.fresh_like().copy_(gone) if inside else gone
            if inside:
                gone.zero_()
            found.add_(moved)
            if not (self.add or inside):
                gone.zero_()

        return undo


@dataclass(eq=False, slots=True)
class FillStep(Step):
    """A fill."""

    target: array
    value: object

    def __post_init__(self) -> None:
        # What a fill writes is a constant.
        self.changed, self.used, self.touched = _floats(self.target), (), (self.target,)

    def again(self, instead: Callable[[array], array]) -> None:
        """Fill again."""
        instead(self.target).fill_(self.value)

    def reversed(self, tape: Tape) -> Undo:
        """What the target held had no influence."""
        gone = tape.adjoint_of(self.target)
        return lambda: (gone.zero_(), None)[1]


@dataclass(eq=False, slots=True)
class FunctionStep(Step):
    """Something the user knows how to undo."""

    backward: Undo
    arrays: Sequence[array]

    def __post_init__(self) -> None:
        # Only the user knows which are read and which are written.
        self.changed = self.used = self.touched = self.arrays

    def again(self, instead: Callable[[array], array]) -> None:
        """Refuse.

        Raises:
            LaunchError: always: what the user did is not known.
        """
        raise LaunchError("A function given to record_func cannot run again.", advice="Use a tape without checkpoints.")

    def reversed(self, tape: Tape) -> Undo:
        """What the user gave."""
        for value in self.changed:
            tape.adjoint_of(value)
        return self.backward
