"""Steps of a tape: one for each launch, copy, sum, fill and function of the user's.

A step is a node of work (`runtime/work.py`) with an adjoint rule: it knows which arrays carry derivatives through it,
and what undoes it. All that may refuse happens in `reversed`, before any gradient is changed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.api.builds.overlaps import overlap
from workbench.errors import LaunchError, NotDifferentiable
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of
from workbench.runtime.device.memory import UNWRITTEN, Memory
from workbench.runtime.launching.mapped import Mapped
from workbench.runtime.work import Add, Copy, Fill, Work
from workbench.source import Location
from workbench.types import is_float

Undo = Callable[[], None]


class Keeper(Protocol):
    """A tape's snapshots or checkpoints, which look after the former contents of arrays."""

    def as_it_was(self, value: array, version: int) -> array | None:
        """Return the array with what it held at that version; None if that was not copied."""
        ...


class Tape(Protocol):
    """The part of a tape that its steps use, as a protocol: `tape.py` has the class.

    Attributes:
        deterministic: whether adjoints add in the order of threads.
        adjoints: by memory, the arrays that accumulate gradients.
        in_place: seeds that a step may read in place of the adjoint, by memory.
        written: memories of adjoints that the pass may change.
        unset: memories whose adjoints hold nothing that counts; the first step of a pass that adds to one may set it.
    """

    deterministic: bool
    adjoints: dict[Memory, array]
    in_place: dict[Memory, array]
    written: set[Memory]
    unset: set[Memory]

    @property
    def kept(self) -> Keeper:
        """The copies of arrays that have changed."""
        ...

    def again(self, snapshots: Any, only: Sequence[array] | None = None) -> Any:
        """Return a tape for steps that run again, which takes its copies from `snapshots`.

        With `only` it computes gradients with respect to these arrays alone.
        """
        ...

    def may_set(self, value: array) -> bool:
        """Return whether the step at hand may set an array's adjoint instead of adding to it."""
        ...

    def set_by_step(self, value: array) -> array:
        """Return the adjoint of an array that the step at hand will set; its elements may be undefined."""
        ...

    def adjoint_of(self, value: array) -> array:
        """Return the array that accumulates this array's gradient."""
        ...


class Step:  # no ABC, with which `isinstance` is Python code: a tape asks for every launch
    """A piece of work that ran, with its rule of differentiation.

    Attributes:
        changed: arrays of floats whose elements it changes.
        used: arrays of floats whose elements it reads.
        touched: all arrays of the step, of integers too.
        lost: memories among those of `changed` through which alone a gradient goes; None: all of them.
    """

    __slots__ = ("changed", "touched", "used")

    changed: Sequence[array]
    used: Sequence[array]
    touched: Sequence[array]
    lost: set[Memory] | None = None

    @property
    def node(self) -> Work | None:
        """The work, as records and graphs list it; None: nothing that Workbench saw.

        Raises:
            LaunchError: it cannot run again.
        """
        return None

    @abstractmethod
    def again(self, instead: Callable[[array], array]) -> None:
        """Run the work again on other arrays: `instead` returns the one to use in place of each."""

    @abstractmethod
    def reversed(self, tape: Tape) -> Undo:
        """Return a function that carries gradients from the arrays that the step changed to those that it used.

        Raises:
            NotDifferentiable: there is no right gradient.
        """

    def check(self) -> None:  # most steps refuse nothing before `reversed`
        """Check that a gradient may go through the step.

        Raises:
            NotDifferentiable: there is no right one.
        """


class ReadingStep(Step):
    """A step whose adjoint reads arrays as they were before it.

    Attributes:
        versions: of the memory of each of `touched`, just before it ran.
    """

    __slots__ = ("versions",)

    versions: Sequence[int]

    @property
    @abstractmethod
    def needed(self) -> Sequence[int]:
        """The positions in `touched` of the arrays that the adjoint reads; empty if there is no adjoint.

        `reversed` then says why.
        """

    @property
    @abstractmethod
    def title(self) -> str:
        """The kernel's name, or what messages call it."""

    @property
    def location(self) -> Location | None:
        """The kernel's `def` in the user's text; None if there is none."""
        return None

    @abstractmethod
    def name_of(self, k: int) -> str:
        """Return the name that the step has for `touched[k]`."""

    def reads_of(self, memory: Memory) -> str:
        """Return the first name of an array in this memory that the adjoint reads; "" if it reads none."""
        return next((self.name_of(k) for k in self.needed if self.touched[k].memory is memory), "")

    def version_of(self, memory: Memory) -> int:
        """Return the memory's version just before the step."""
        return next(v for a, v in zip(self.touched, self.versions, strict=True) if a.memory is memory)

    def as_before(self, tape: Tape) -> dict[int, array]:
        """Return those of `touched` that have changed since, as they were, and copies of those that are adjoints.

        They are by position in `touched`.

        Raises:
            NotDifferentiable: the adjoint reads one of which no copy was kept.
        """
        arrays: dict[int, array] = {}
        for k, (value, version) in enumerate(zip(self.touched, self.versions, strict=True)):
            if value.memory.version == version:
                if value.memory in tape.written and k in self.needed:
                    arrays[k] = value.twin(copy_of(value))
                continue
            snapshot = tape.kept.as_it_was(value, version)
            if snapshot is not None:
                arrays[k] = snapshot
            elif k in self.needed:
                name = self.name_of(k)
                raise NotDifferentiable(
                    f"{name} of {self.title} has changed since the launch, outside the tape's `with`, and the "
                    "adjoint needs it as it was.",
                    self.location,
                    "Write the new values to another array, or call backward() before the change.",
                    self.title,
                    parameter=name,
                )
        return arrays


def carrying(steps: Sequence[Step], reached: set[Memory]) -> list[Step]:
    """Return the steps through which a gradient goes, the last one first.

    Args:
        steps: in the order in which they ran.
        reached: the memories at which the gradient starts; afterwards all that it reaches.
    """
    through: list[Step] = []
    for step in reversed(steps):
        for value in step.changed:
            if value.memory in reached and (step.lost is None or not step.lost.isdisjoint(reached)):
                through.append(step)
                for read in step.used:
                    reached.add(read.memory)
                break
    return through


def _floats(value: array) -> tuple[array, ...]:
    """Return a tuple of the array if its elements are floats, else an empty one."""
    return (value,) if is_float(value.dtype) else ()


def creates(target: array) -> bool:
    """Return whether a fill or copy of the array gives its memory its first contents, and so overwrites nothing."""
    memory = target.memory
    return memory.version == UNWRITTEN and target.is_contiguous and target.nbytes == memory.nbytes


class MoveStep(Step):
    """A copy, a sum or a fill on a tape.

    Attributes:
        creates: whether it gives the target its first contents; then the target's adjoint is not cleared.
    """

    __slots__ = ("creates", "work")

    def __init__(self, work: Copy | Fill) -> None:
        """Represent a copy or fill that is about to run."""
        target = work.target
        self.work = work
        self.creates = not isinstance(work, Add) and creates(target)
        self.changed = _floats(target)
        # What a fill writes is a constant.
        self.used = _floats(work.source) if isinstance(work, Copy) else ()
        self.touched = (target, work.source) if isinstance(work, Copy) else (target,)

    @property
    def node(self) -> Work:
        """The copy or fill, as records and graphs list it."""
        return self.work

    def again(self, instead: Callable[[array], array]) -> None:
        """Copy, add or fill again, with other arrays."""
        self.work.on(instead).launch()

    def reversed(self, tape: Tape) -> Undo:
        """Return a function that adds the target's adjoint to the source's.

        It also clears the target's adjoint if the target was overwritten.

        Raises:
            NotDifferentiable: elements of one of them share memory, so a sum would keep only one of their gradients.
        """
        work = self.work
        gone = tape.adjoint_of(work.target)
        overwrites = not (isinstance(work, Add) or self.creates)
        if isinstance(work, Fill):
            return lambda: (gone.zero_(), None)[1] if overwrites else None
        for value in (work.source, work.target):
            if not value.is_contiguous and overlap({"": value}):
                raise NotDifferentiable(
                    f"Elements of the {value.type!r} of shape {value.shape} and strides {value.strides} share memory; "
                    f"its {'sum' if isinstance(work, Add) else 'copy'} has no gradient.",
                    advice="Copy it in a kernel: y[i, j] = x[i, j].",
                )
        target = tape.adjoint_of(work.source)
        # A part of the source is overwritten, too.
        inside = not isinstance(work, Add) and work.target.memory is work.source.memory

        def undo() -> None:
            moved = gone.fresh_like().copy_(gone) if inside else gone
            if inside:
                gone.zero_()
            target.add_(moved)
            if overwrites and not inside:
                gone.zero_()

        return undo


@dataclass(eq=False, slots=True)
class FunctionStep(Step):
    """Work of the user's own on a tape, with its backward function (`Tape.record_func`).

    Attributes:
        backward: carries gradients through the work.
        arrays: those that it reads or writes.
    """

    backward: Undo
    arrays: Sequence[array]

    def __post_init__(self) -> None:
        # Only the user knows which are read and which are written.
        self.changed = self.used = self.touched = self.arrays

    @property
    def node(self) -> Work:
        """Refuse to list the work.

        Raises:
            LaunchError: always: it is not known what the user did.
        """
        raise LaunchError("A function given to record_func cannot run again.", advice="Use a tape without it.")

    def again(self, instead: Callable[[array], array]) -> None:
        """Refuse to run the work again: it is not known what the user did.

        Raises:
            LaunchError: always.
        """
        _ = self.node

    def reversed(self, tape: Tape) -> Undo:
        """Return the backward function that the user passed; the adjoints of its arrays are created first."""
        for value in self.changed:
            tape.adjoint_of(value)
        return self.backward


class SolveStep(Step):
    """The correction of a result that was computed off the tape, such as a linear solve: `target += along(source)`.

    It carries the result's derivatives (see `Mapped`).
    """

    __slots__ = ("_versions", "mapped")

    def __init__(self, mapped: Mapped) -> None:
        """Represent a correction about to be made, and note the versions of the arrays that its map reads."""
        self.mapped = mapped
        self.changed, self.used = (mapped.target,), (mapped.source,)
        self.touched = (mapped.target, mapped.source)
        self._versions = [a.memory.version for a in mapped.constants]

    @property
    def node(self) -> Work:
        """Refuse to list the work.

        Raises:
            LaunchError: always: the tape has not seen how the result was computed.
        """
        raise LaunchError(
            "The steps of a solve are not on a tape, which cannot run it again.", advice="Use wb.record()."
        )

    def again(self, instead: Callable[[array], array]) -> None:
        """Record the correction again on other arrays; nothing is computed."""
        m = self.mapped
        Mapped(instead(m.target), instead(m.source), m.along, m.against, m.constants).note()

    def reversed(self, tape: Tape) -> Undo:
        """Return a function that adds to the source's adjoint what the target's adjoint contributes.

        Raises:
            NotDifferentiable: an array that the map reads has changed.
        """
        m = self.mapped
        for value, version in zip(m.constants, self._versions, strict=True):
            if value.memory.version != version:
                raise NotDifferentiable(
                    f"An {value.type!r} of shape {value.shape} that a solve has used has changed since; its gradient "
                    "needs what it was.",
                    advice="Compute the matrix of each step in arrays of its own, and solve with that.",
                )
        into, of = tape.adjoint_of(m.source), tape.adjoint_of(m.target)
        return lambda: (into.add_(m.against(of)), None)[1]
