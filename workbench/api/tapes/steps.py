"""What a tape records: one step for each launch, copy, sum, fill and function of the user's.

A step knows which arrays carry derivatives through it, and what undoes it. All that may refuse happens in `reversed`,
before any gradient is changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from workbench.api.builds import build
from workbench.api.builds.bind import bind, is_dense, overlap
from workbench.autodiff import adjoint_names, parameters, then
from workbench.backends.base import Options
from workbench.errors import LaunchError, NotDifferentiable
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of
from workbench.runtime.arrays.create import zeros
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.execute import execute, execute_again
from workbench.runtime.launching.record import LaunchRecord, memory_versions
from workbench.types import ArrayType, is_float

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
    """

    changed: Sequence[array]
    used: Sequence[array]

    @property
    @abstractmethod
    def touched(self) -> Sequence[array]:
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


@dataclass(frozen=True, eq=False)
class LaunchStep(Step):
    """A launch.

    Attributes:
        record: what ran.
        unwanted: arrays that it only reads, and whose gradients are not requested.
    """

    record: LaunchRecord
    unwanted: frozenset[str] = frozenset()

    @cached_property
    def arrays(self) -> dict[str, array]:
        """The array arguments by parameter."""
        return {n: a for n, a in self.record.arguments.items() if isinstance(a, array)}

    @cached_property
    def changed(self) -> Sequence[array]:  # type: ignore[override]
        """Float arrays that the launch writes."""
        return [a for n, a in self.arrays.items() if n in self.record.writes and is_float(a.dtype)]

    @cached_property
    def used(self) -> Sequence[array]:  # type: ignore[override]
        """Float arrays that the launch reads and whose gradients are requested."""
        read = self.record.reads - self.unwanted
        return [a for n, a in self.arrays.items() if n in read and is_float(a.dtype)]

    @cached_property
    def needed(self) -> frozenset[str]:
        """Array parameters that the adjoint reads; none where there is no adjoint: `reversed` says so."""
        record = self.record
        floats = {n: a for n, a in self.arrays.items() if is_float(a.dtype)}
        options = replace(adjoint_options(record, self.unwanted), contiguous=is_dense(self.arrays))
        try:
            found = build.load(
                record.specialisation, then(record.direction, "adjoint"), options, record.loaded.device, overlap(floats)
            )
        except NotDifferentiable:
            return frozenset()
        return (found.reads | found.writes) & self.arrays.keys()

    @property
    def touched(self) -> Sequence[array]:
        """Its array arguments."""
        return list(self.arrays.values())

    def again(self, instead: Callable[[array], array]) -> None:
        """Launch with other arrays."""
        arguments = {**self.record.arguments, **{n: instead(a) for n, a in self.arrays.items()}}
        execute(replace(self.record, arguments=arguments, versions=memory_versions(arguments)))

    def check(self) -> None:
        """Build the adjoint.

        Raises:
            NotDifferentiable: there is no right one.
        """
        record = self.record
        build.load(
            record.specialisation, then(record.direction, "adjoint"), adjoint_options(record, self.unwanted),
            record.loaded.device,
        )  # fmt: skip

    def reads_of(self, memory: Memory) -> str:
        """The first parameter in this memory that the adjoint reads; "" if it reads none."""
        return next((n for n, a in self.arrays.items() if a.memory is memory and n in self.needed), "")

    def version_of(self, memory: Memory) -> int:
        """The memory's version just before the launch."""
        return next(self.record.versions[n] for n, a in self.arrays.items() if a.memory is memory)

    def reversed(self, tape: Tape) -> Undo:
        """The adjoint launch, on the arrays as the launch found them."""
        made = self.adjoint(tape)
        return lambda: execute_again(made)

    def adjoint(self, tape: Tape) -> LaunchRecord:
        """The adjoint launch.

        Raises:
            NotDifferentiable: there is no right one.
        """
        adjoints = {
            n: a if n in self.unwanted else tape.adjoint_of(a) for n, a in self.arrays.items() if is_float(a.dtype)
        }
        options = replace(self.record.options, ordered=tape.deterministic or self.record.options.ordered)
        made = replace(self.record, how=replace(self.record.how, code=options))
        return bind_adjoint(made, adjoints, self.as_they_were(tape), self.unwanted)

    def as_they_were(self, tape: Tape) -> dict[str, array]:
        """Arrays that have changed since, as they were, and copies of those that are adjoints: `backward` changes them.

        Raises:
            NotDifferentiable: the adjoint reads one of which no copy was kept.
        """
        found = {}
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
    def changed(self) -> Sequence[array]:  # type: ignore[override]
        """The target."""
        return (self.target,) if is_float(self.target.dtype) else ()

    @property
    def used(self) -> Sequence[array]:  # type: ignore[override]
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
    value: Any
    used: Sequence[array] = ()

    @property
    def changed(self) -> Sequence[array]:  # type: ignore[override]
        """The target."""
        return (self.target,) if is_float(self.target.dtype) else ()

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
    changed: Sequence[array]

    @property
    def used(self) -> Sequence[array]:  # type: ignore[override]
        """The same arrays: only the user knows which."""
        return self.changed

    @property
    def touched(self) -> Sequence[array]:
        """The same arrays."""
        return self.changed

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


def adjoint_options(record: LaunchRecord, unwanted: Set[str]) -> Options:
    """The options of the adjoint of a recorded launch, which finds no gradients of `unwanted` and of numbers."""
    options = replace(record.options, numbers=False)
    if not unwanted:
        return options
    params = record.specialisation.function.params
    return replace(options, constant=tuple(k for k, p in enumerate(params) if p.name in unwanted))


def bind_adjoint(
    record: LaunchRecord, adjoints: Mapping[str, array], instead: Mapping[str, Any] | None = None,
    unwanted: Set[str] = frozenset(),
) -> LaunchRecord:  # fmt: skip
    """The adjoint launch of a recorded launch, with adjoints by parameter; numbers get none.

    Args:
        record: a launch, forward or a derivative.
        adjoints: adjoint arrays by parameter.
        instead: arguments of the launch to be replaced.
        unwanted: arrays of a forward launch whose gradients are not found; what `adjoints` has for them is not touched.

    Raises:
        NotDifferentiable: there is no right adjoint.
    """
    params = parameters(record.specialisation.function.params, record.direction)
    types = {p.name: p.type for p in params}
    complete = {}
    for name, adjoint in adjoint_names(params).items():
        type = types[name]
        complete[adjoint] = adjoints[name] if isinstance(type, ArrayType) else zeros(1, type, record.loaded.device)
    arguments = {**record.arguments, **(instead or {}), **complete}
    options = adjoint_options(record, unwanted)
    direction = then(record.direction, "adjoint")
    how = replace(record.how, code=options)
    return bind(record.specialisation, direction, record.dim, arguments, record.loaded.device, how)
