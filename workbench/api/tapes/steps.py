"""What a tape records: one step for each launch, copy, sum, fill and function of the user's.

A step knows which arrays carry derivatives through it, and what undoes it. All that may refuse happens in `reversed`,
before any gradient is changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from workbench.api.builds import build
from workbench.api.builds.bind import adjoints_of
from workbench.api.builds.gathered import gathers, hold
from workbench.api.builds.overlaps import is_dense, overlap
from workbench.api.kernels.kernel import Specialisation
from workbench.api.tapes.adjoint_launch import adjoint_options, bind_adjoint
from workbench.api.tapes.plain_adjoint import apart, plain_adjoint
from workbench.autodiff import CLEARING, FORWARD, GATHERED, then
from workbench.errors import LaunchError, NotDifferentiable
from workbench.events import Launched, listening
from workbench.runtime.active_observers import OBSERVERS
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import execute, run_unseen
from workbench.runtime.launching.loaded import Loaded
from workbench.runtime.launching.record import LaunchRecord, memory_versions
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
    """One thing that ran."""

    @property
    @abstractmethod
    def changed(self) -> Sequence[array]:
        """Arrays of floats whose elements it changes."""

    @property
    @abstractmethod
    def used(self) -> Sequence[array]:
        """Arrays of floats whose elements it reads."""

    @property
    @abstractmethod
    def touched(self) -> Collection[array]:
        """All arrays of the step, of integers too."""

    @abstractmethod
    def again(self, instead: Callable[[array], array]) -> None:
        """Run it once more, on other arrays."""

    @abstractmethod
    def reversed(self, tape: Tape) -> Undo:
        """What carries gradients from what it changed to what it used.

        Raises:
            NotDifferentiable: there is no right gradient.
        """

    def passes(self, reached: set[Memory]) -> bool:
        """Whether a gradient that has reached these memories goes through it."""
        return any(a.memory in reached for a in self.changed)


class LaunchStep(Step):
    """A launch.

    Attributes:
        record: what ran.
        unwanted: arrays that it only reads, and whose gradients are not requested.
        arrays: the array arguments by parameter.
        floats: those that hold floats.
    """

    def __init__(self, record: LaunchRecord, unwanted: frozenset[str] = frozenset()) -> None:
        """Of a launch that is about to run: a tape makes one per launch, so the arguments are gone through once."""
        self.record = record
        self.unwanted = unwanted
        loaded, arguments = record.loaded, record.arguments
        self.arrays = {n: arguments[n] for n in loaded.arrays}
        self.floats = {n: arguments[n] for n in loaded.float_arrays}
        self._changed = [arguments[n] for n in loaded.floats_written]
        self._used = [arguments[n] for n in loaded.floats_read if n not in unwanted]
        self._needed: Set[str] | None = None

    @property
    def changed(self) -> Sequence[array]:
        """Float arrays that the launch writes."""
        return self._changed

    @property
    def used(self) -> Sequence[array]:
        """Float arrays that it reads and whose gradients are requested."""
        return self._used

    @property
    def needed(self) -> Set[str]:
        """Arrays that the adjoint reads, by parameter; none if there is no adjoint: `reversed` says so."""
        if self._needed is None:
            try:
                plain = plain_adjoint(self.record, self.unwanted, False) if apart(self.arrays.values()) else None
                code = self._code(is_dense(self.arrays), overlap(self.floats)) if plain is None else plain.loaded
                self._needed = code.touched
            except NotDifferentiable:
                self._needed = frozenset()
        return self._needed

    def _code(self, contiguous: bool | None = None, atomic: bool = False) -> Loaded:
        record = self.record
        options = adjoint_options(record, self.unwanted, contiguous)
        return build.load(
            record.specialisation, then(record.direction, "adjoint"), options, record.loaded.device, atomic
        )

    @property
    def touched(self) -> Collection[array]:
        """Its array arguments."""
        return self.arrays.values()

    def again(self, instead: Callable[[array], array]) -> None:
        """Launch with other arrays."""
        arguments = {**self.record.arguments, **{n: instead(a) for n, a in self.arrays.items()}}
        execute(replace(self.record, arguments=arguments, versions=memory_versions(arguments)))

    def check(self) -> None:
        """Build the adjoint.

        Raises:
            NotDifferentiable: there is no right one.
        """
        self._code()

    def reads_of(self, memory: Memory) -> str:
        """The first parameter in this memory that the adjoint reads; "" if it reads none."""
        return next((n for n, a in self.arrays.items() if a.memory is memory and n in self.needed), "")

    def version_of(self, memory: Memory) -> int:
        """The memory's version just before the launch."""
        return next(self.record.versions[n] for n, a in self.arrays.items() if a.memory is memory)

    def reversed(self, tape: Tape) -> Undo:
        """The adjoint launch, on the arrays as the launch found them."""
        adjoints = self.adjoints(tape)
        called = self._called(tape, adjoints)
        if called is not None:
            return called
        made = self.gathered(tape, adjoints) or [self.bound(tape, adjoints)]

        def undo() -> None:
            for one in made:
                if isinstance(one, array):
                    one.zero_()
                else:
                    # Steps undone before it change arrays: whoever watches is given the versions of that time.
                    execute(one.again() if OBSERVERS.get() else one)

        return undo

    def _called(self, tape: Tape, adjoints: Mapping[str, array]) -> Undo | None:
        """The adjoint launch without a record of it; None if it needs one."""
        if OBSERVERS.get() or listening(Launched):
            return None
        record = self.record
        found = plain_adjoint(record, self.unwanted, tape.deterministic)
        if found is None:
            return None
        kept = self.as_they_were(tape)
        values = found.arguments({**record.arguments, **kept} if kept else record.arguments, adjoints)
        return None if values is None else partial(run_unseen, found.loaded, record.dim, values)

    def adjoint(self, tape: Tape) -> LaunchRecord:
        """The adjoint launch.

        Raises:
            NotDifferentiable: there is no right one.
        """
        return self.bound(tape, self.adjoints(tape))

    def adjoints(self, tape: Tape) -> dict[str, array]:
        """The adjoint arrays by parameter."""
        return {n: a if n in self.unwanted else tape.adjoint_of(a) for n, a in self.floats.items()}

    def bound(self, tape: Tape, adjoints: Mapping[str, array], step: str = "adjoint") -> LaunchRecord:
        """The adjoint launch, or a part of it, with these adjoint arrays."""
        kept = self.as_they_were(tape)
        return bind_adjoint(self.record, adjoints, kept, self.unwanted, tape.deterministic, step)

    def gathered(self, tape: Tape, adjoints: Mapping[str, array]) -> list[LaunchRecord | array]:
        """The adjoint in gather form: launches, and adjoint arrays that are cleared whole; none if it has none."""
        record = self.record
        # Which order sums have in a loop is promised by `deterministic`: these have another one.
        if record.direction != FORWARD or tape.deterministic or record.options.ordered:
            return []
        if not isinstance(record.specialisation, Specialisation):
            return []
        names = adjoints_of(record.specialisation, "adjoint")
        options = adjoint_options(record, self.unwanted)
        arguments = {**record.arguments, **{names[n]: a for n, a in adjoints.items()}}
        found = gathers(record.specialisation, record.dim, arguments, options.constant)
        if found is None:
            return []
        sums = self.bound(tape, adjoints, GATHERED)
        if found.filled and hold(found.fills, record.dim, arguments):
            return [sums, *(arguments[n] for n in sorted(found.clears))]
        return [sums, self.bound(tape, adjoints, CLEARING)] if found.clears else [sums]

    def as_they_were(self, tape: Tape) -> dict[str, array]:
        """Arrays that have changed since, as they were, and copies of those that are adjoints: `backward` changes them.

        Raises:
            NotDifferentiable: the adjoint reads one of which no copy was kept.
        """
        found: dict[str, array] = {}
        record = self.record
        for name, value in self.arrays.items():
            version = record.versions[name]
            if value.memory.version == version:
                if value.memory in tape.written and name in self.needed:
                    found[name] = value.twin(copy_of(value))
                continue
            kept = tape.kept.as_it_was(value, version)
            if kept is not None:
                found[name] = kept
            elif name in self.needed:
                raise NotDifferentiable(
                    f"{name} of {record.kernel} has changed since the launch, outside the tape's `with`, and the "
                    "adjoint needs it as it was.",
                    record.location,
                    "Write the new values to another array, or call backward() before the change.",
                    record.kernel,
                    parameter=name,
                )
        return found


@dataclass(frozen=True, eq=False)
class CopyStep(Step):
    """A copy, or with `add` a sum."""

    target: array
    source: array
    add: bool = False

    @property
    def changed(self) -> Sequence[array]:
        """The target."""
        return (self.target,) if is_float(self.target.dtype) else ()

    @property
    def used(self) -> Sequence[array]:
        """The source."""
        return (self.source,) if is_float(self.source.dtype) else ()

    @property
    def touched(self) -> Sequence[array]:
        """Both."""
        return (self.target, self.source)

    def again(self, instead: Callable[[array], array]) -> None:
        """Copy or add again."""
        target, source = instead(self.target), instead(self.source)
        target.add_(source) if self.add else target.copy_(source)

    def reversed(self, tape: Tape) -> Undo:
        """The target's adjoint is added to the source's; of a copy it is gone then."""
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


@dataclass(frozen=True, eq=False)
class FillStep(Step):
    """A fill."""

    target: array
    value: object

    @property
    def changed(self) -> Sequence[array]:
        """The target."""
        return (self.target,) if is_float(self.target.dtype) else ()

    @property
    def used(self) -> Sequence[array]:
        """None: what a fill writes is a constant."""
        return ()

    @property
    def touched(self) -> Sequence[array]:
        """The target."""
        return (self.target,)

    def again(self, instead: Callable[[array], array]) -> None:
        """Fill again."""
        instead(self.target).fill_(self.value)

    def reversed(self, tape: Tape) -> Undo:
        """What the target held had no influence."""
        gone = tape.adjoint_of(self.target)
        return lambda: (gone.zero_(), None)[1]


@dataclass(frozen=True, eq=False)
class FunctionStep(Step):
    """Something the user knows how to undo."""

    backward: Undo
    arrays: Sequence[array]

    @property
    def changed(self) -> Sequence[array]:
        """All of its arrays: only the user knows which are written."""
        return self.arrays

    @property
    def used(self) -> Sequence[array]:
        """All of its arrays: only the user knows which are read."""
        return self.arrays

    @property
    def touched(self) -> Sequence[array]:
        """All of its arrays."""
        return self.arrays

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
