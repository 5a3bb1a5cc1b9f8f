"""Copies that a tape stores of arrays before they change, and checkpoints: a backward pass with little memory.

**Copy on overwrite** (`Snapshots`). An adjoint reads arrays as its launch found them. A copy is made at the last
moment: when such an array is about to change, of each version at most once, and only if an adjoint really reads it (the
adjoint's IR says).

**Checkpoints.** What changes is copied once in so many steps, and the steps between run again. The steps are cut into
segments. Of memory that a segment changes, what it held before is kept, once; nothing else is. `backward` takes the
segments from the last: it runs the segment's steps again on copies, beside the arrays, under a tape of its own, and
goes backwards through that. So a thousand steps in place keep a thousand over the segment's length copies, and those of
one segment, for one more run of the program.

Segments have one length (`checkpoint_every`), or there are few of them (`checkpoint`). A tape does not know how many
steps will come, so there each two neighbours become one whenever there are too many; going back through a long one,
whose length is known, is the same task with fewer steps, cut by the binomial schedule of Griewank and Walther
(Algorithm 799, ACM TOMS 26, 2000): no step runs again more often than needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb
from typing import Protocol

import msgspec

from workbench.api.tapes.cuts import Live
from workbench.api.tapes.steps import ReadingStep, Step, Tape, carrying
from workbench.errors import NotDifferentiable
from workbench.runtime.active_observers import Listener
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of, covering
from workbench.runtime.arrays.unseen_writes import depend_on
from workbench.runtime.device.memory import Memory, allocate
from workbench.types import is_float


@dataclass(frozen=True, eq=False)
class Snapshot:
    """An array as it was at a version, copied for an adjoint.

    Attributes:
        kernel: the kernel whose adjoint reads it; "" where all that changes is copied (`checkpoint_every`).
        parameter: its name in that kernel.
        line: where the kernel is defined: `cell 3:12`.
        changed_by: what was about to change it: a kernel's name, "copy", "add" or "fill".
        nbytes: the size of the copy.
        version: of the array's memory at that time.
        memory: the copy.
    """

    kernel: str
    parameter: str
    line: str
    changed_by: str
    nbytes: int
    version: int
    memory: Memory = field(repr=False)

    def __str__(self) -> str:
        name = f"{self.parameter} of {self.kernel}" if self.kernel else self.parameter
        return f"{name}, {self.nbytes:,} bytes, before {self.changed_by} changed it"


def listed(steps: int, snapshots: Sequence[Snapshot]) -> str:
    """Return a tape's text: its steps, copies and their bytes in a line, then a line for each kind of copy.

    A kind's line has its count; after 8 kinds, a last line says how many more there are.
    """
    kinds = Counter(str(s) for s in snapshots)
    nbytes = sum(s.nbytes for s in snapshots)
    total = f"{kinds.total()} {'copy' if kinds.total() == 1 else 'copies'} kept, {nbytes:,} bytes"
    lines = [f"<Tape of {steps} step{'' if steps == 1 else 's'}; {total if kinds else 'nothing had to be kept'}>"]
    lines += [f"  {f'{count} × ' if count > 1 else ''}{shown}" for shown, count in kinds.items()]
    return "\n".join([*lines[:9], f"  and {len(lines) - 9} kinds more"] if len(lines) > 9 else lines)


class Snapshots:
    """The copies of one tape, and the launches whose adjoints read arrays that have not changed since.

    Attributes:
        by_version: the copies, by memory and its version.
    """

    def __init__(self) -> None:
        self._waiting: dict[Memory, list[ReadingStep]] = {}
        self.by_version: dict[tuple[Memory, int], Snapshot] = {}

    def note(self, step: Step, changed: Sequence[array]) -> list[array]:
        """Watch the arrays of a step that is about to run.

        Args:
            step: the step.
            changed: the arrays that it is about to change.

        Returns:
            Those of `changed` for which `before_change` is to be called.
        """
        waiting = self._waiting
        if isinstance(step, ReadingStep):
            for k in step.needed:
                memory = step.touched[k].memory
                waiting.setdefault(memory, []).append(step)
                if memory.exported is None and not memory.shared:
                    memory.needed = memory.version  # all that `depend_on` would do, without a call
                else:
                    depend_on(memory)
        return [a for a in changed if a.memory in waiting] if waiting else []

    def interrupt(self) -> None:
        """Do nothing: a change outside the tape's `with` matters to `Checkpoints` only."""

    def before_change(self, target: array, changed_by: str) -> None:
        """Copy the array's memory, if the adjoint of a launch on it reads what it holds now."""
        memory = target.memory
        key = (memory, memory.version)
        for step in self._waiting.pop(memory, ()):
            name = step.reads_of(memory)
            if name and step.version_of(memory) == memory.version and key not in self.by_version:
                line, copy = str(step.location or ""), copy_of(next(a for a in step.touched if a.memory is memory))
                self.by_version[key] = Snapshot(step.title, name, line, changed_by, memory.nbytes, memory.version, copy)

    def as_it_was(self, value: array, version: int) -> array | None:
        """Return the array as it was at a version of its memory; None if that was not copied."""
        snapshot = self.by_version.get((value.memory, version))
        return value.twin(snapshot.memory) if snapshot is not None else None

    def clear(self) -> None:
        """Drop all copies."""
        self._waiting.clear()
        self.by_version.clear()


class _Inner(Tape, Listener, AbstractContextManager[object], Protocol):
    """The tape of one segment, while it runs again."""

    steps: list[Step]

    def lend(self, memory: Memory, base: array) -> None:
        """Use this array as the adjoint of all arrays in a memory."""


class Segment(msgspec.Struct, eq=False):
    """Consecutive steps of a tape that run again together.

    Attributes:
        steps: in order.
        arrays: for each memory that they touch, one array in it.
        versions: the version of each memory at its first touch.
        changed: memories that they change; False where their former contents are never used.
        closed: whether something outside the tape changed an array after it, which no step does again.
    """

    steps: list[Step] = msgspec.field(default_factory=list[Step])
    arrays: dict[Memory, array] = msgspec.field(default_factory=dict[Memory, array])
    versions: dict[Memory, int] = msgspec.field(default_factory=dict[Memory, int])
    changed: dict[Memory, bool] = msgspec.field(default_factory=dict[Memory, bool])
    closed: bool = False

    def touch(self, value: array) -> None:
        """Note that a step uses the array."""
        self.arrays.setdefault(value.memory, value)
        self.versions.setdefault(value.memory, depend_on(value.memory))

    def append(self, following: Segment) -> list[tuple[Memory, int]]:
        """Merge the segment that follows into this one; return the memories and versions that need no copy now."""
        unused = [(m, following.versions[m]) for m in following.changed if m in self.changed]
        self.steps += following.steps
        self.arrays = following.arrays | self.arrays
        self.versions = following.versions | self.versions
        self.changed = following.changed | self.changed
        self.closed = following.closed
        return unused


class Copies:
    """A count of the bytes of the copies that a backward pass holds: now, and at most.

    Attributes:
        now: bytes of copies that are alive.
        peak: the greatest `now` so far.
    """

    __slots__ = ("now", "peak")

    def __init__(self) -> None:
        self.now = self.peak = 0

    def add(self, nbytes: int) -> None:
        """Count bytes that were copied, or, if negative, freed."""
        self.now += nbytes
        self.peak = max(self.peak, self.now)


class Checkpoints(Snapshots):
    """The copies of a tape that runs steps again instead of keeping what each changed.

    Attributes:
        segments: in the order of their steps.
        copies: of this tape, and of those of its segments.
        ran: how many steps ran again.
    """

    def __init__(self, every: int = 0, states: int = 0, lengths: Sequence[int] = ()) -> None:
        """Cut the steps into segments of `every` steps, into at most `states` / 2 of equal length, or as `lengths` say.

        Args:
            every: steps of a segment; 0: the segments grow.
            states: how many copies of what changes may exist at once.
            lengths: of the segments, if the number of steps is known.
        """
        super().__init__()
        self.segments: list[Segment] = []
        self.copies = Copies()
        self.ran = 0
        self._states, self._length, self._lengths = states, every or 1, list(lengths)
        self._grows = not every and not lengths
        self._first: Mapping[Memory, Memory] = {}

    def within(self, outer: Checkpoints, first: Mapping[Memory, Memory]) -> Checkpoints:
        """Return itself, as part of another one's backward pass.

        Args:
            outer: counts its copies, too.
            first: copies of memories as they are before the first step; they are used, not made again.
        """
        self.copies, self._first = outer.copies, first
        return self

    @property
    def own(self) -> int:
        """Bytes of the copies that this tape made itself."""
        lent = {*map(id, self._first.values())}
        return sum([s.nbytes for s in self.by_version.values() if id(s.memory) not in lent])

    def note(self, step: Step, changed: Sequence[array]) -> list[array]:
        """Add a step to its segment before it runs.

        Returns:
            Those of `changed` that no earlier step of the segment changes; `before_change` is to be called for them.
        """
        if not self.segments or self.segments[-1].closed or len(self.segments[-1].steps) == self._room():
            if self._grows and len(self.segments) >= max(2, self._states // 2):
                self._join()
            self.segments.append(Segment())
        here = self.segments[-1]
        here.steps.append(step)
        for value in step.touched:
            here.touch(value)
        return [a for a in changed if a.memory not in here.changed]

    def _room(self) -> int:
        """Return how many steps the last segment takes."""
        return self._lengths[len(self.segments) - 1] if self._lengths else self._length

    def _join(self) -> None:
        """Merge each two neighbouring segments into one, and double the length of those to come."""
        joined: list[Segment] = []
        for segment in self.segments:
            before = joined[-1] if joined else None
            if before is None or before.closed or len(before.steps) > self._length:
                joined.append(segment)
                continue
            for key in before.append(segment):
                self.copies.add(-self.by_version.pop(key).nbytes if key in self.by_version else 0)
        self.segments = joined
        self._length *= 2

    def interrupt(self) -> None:
        """End the present segment: something outside the tape changed an array, and its steps would not do so again."""
        if self.segments:
            self.segments[-1].closed = True

    def before_change(self, target: array, changed_by: str) -> None:
        """Copy what the memory holds, if the present segment has not changed it yet and it may be read again."""
        here, memory = self.segments[-1], target.memory
        if memory in here.changed:
            return
        covers = target.is_contiguous and target.nbytes == memory.nbytes and changed_by in ("fill", "copy")
        fresh = covers and not any(memory in s.versions for s in self.segments[:-1]) and _first(here, memory)
        here.changed[memory] = not fresh
        if not fresh and (memory, memory.version) not in self.by_version:
            copy = self._first.get(memory) if len(self.segments) == 1 else None
            if copy is None:
                copy = copy_of(here.arrays[memory])
                self.copies.add(memory.nbytes)
            self.by_version[memory, memory.version] = Snapshot(
                "", "an array", "", changed_by, memory.nbytes, memory.version, copy
            )

    def backward(
        self, tape: Tape, again: Callable[[Snapshots], _Inner], steps: Sequence[Step], ends: set[Memory], live: Live
    ) -> None:
        """Go backwards through the segments, and add to the adjoints of the tape.

        Args:
            tape: the tape whose copies these are.
            again: makes the tape of one segment, with these copies.
            steps: those through which a gradient goes.
            ends: memories whose adjoints are not 0.
            live: which of their elements are reached.

        Raises:
            NotDifferentiable: a kernel has no right adjoint, or a memory has changed unseen.
        """
        wanted = set(steps)
        for index, segment in reversed([*enumerate(self.segments)]):
            if wanted.isdisjoint(segment.steps):
                continue
            copies = {m: self._memory_at_start(segment, m) for m in segment.versions}
            beside = sum([copies[m].nbytes for m in segment.changed])
            self.copies.add(beside)
            inner, snapshots = self._again(segment, index, copies, again)
            for memory, value in segment.arrays.items():
                if is_float(value.dtype):
                    tape.adjoint_of(value)
                    inner.lend(copies[memory], tape.adjoints[memory])
            reached = {copies[m] for m in ends if m in copies}
            if isinstance(snapshots, Checkpoints):
                snapshots.backward(inner, again, carrying(inner.steps, {*reached}), reached, live)
                self.ran += snapshots.ran
            else:
                for step in carrying(inner.steps, reached):
                    live.through(step, inner).reversed(inner)()
            ends |= {m for m, copy in copies.items() if copy in reached}
            self.copies.add(-beside - (snapshots.own if isinstance(snapshots, Checkpoints) else _bytes(snapshots)))

    def _again(
        self, segment: Segment, index: int, beside: Mapping[Memory, Memory], again: Callable[[Snapshots], _Inner]
    ) -> tuple[_Inner, Snapshots]:
        """Run the steps of a segment again on memories beside their own; return the tape of that, and its copies."""
        # The copies of the user's tape stay, so that one may go back twice; those of a segment's tape go with it.
        count, snapshots = len(segment.steps), Snapshots()
        states = 1 + self._states - (len(self.segments) if self._grows else index + 1)
        if self._grows:  # of fewer, the recursion would hold more: a working copy for each run
            states = max(states, next(s for s in range(1, count + 1) if comb(2 * s, s - 1) >= count))
        if 0 < self._states and states < count > 1:
            lengths = schedule(count, states)
            first = {
                m: self.by_version[key].memory
                for v, m in beside.items()
                if (key := (v, segment.versions[v])) in self.by_version
            }
            snapshots = Checkpoints(0, states, lengths).within(self, first)
        inner = again(snapshots)
        with inner:
            for step in segment.steps:
                step.again(_moved(beside))
        self.ran += count
        if not isinstance(snapshots, Checkpoints):
            self.copies.add(_bytes(snapshots))
        return inner, snapshots

    def _memory_at_start(self, segment: Segment, memory: Memory) -> Memory:
        """Return a memory with what `memory` held when the segment began.

        It is a separate one, which may be changed freely, if the segment changes it.

        Raises:
            NotDifferentiable: that was not copied, and the memory has changed.
        """
        if segment.changed.get(memory) is False:
            own_copy = allocate(memory.device, memory.nbytes)
            own_copy.version = segment.versions[memory]  # a fill of older memory overwrites it here, too
            return own_copy
        version, value = segment.versions[memory], segment.arrays[memory]
        snapshot = self.by_version.get((memory, version))
        if snapshot is None and memory.version != version:
            raise NotDifferentiable(
                "An array that this tape's steps use has changed outside its `with`, and they have to run again.",
                advice="Call backward() before the change.",
            )
        source = value.twin(snapshot.memory) if snapshot is not None else value
        return copy_of(covering(source)) if memory in segment.changed else source.memory

    def clear(self) -> None:
        """Drop all segments and copies."""
        super().clear()
        self.segments.clear()


def schedule(steps: int, states: int) -> list[int]:
    """Return the lengths of the segments into which steps are cut to go back through them with so many states.

    A segment is gone through again with the states that those before it leave free and its own beginning. Where no
    step runs again more than `runs` times it has at most `comb(free + runs, free)` steps; `runs` is the least possible.

    Args:
        steps: how many there are.
        states: how many may exist at once, that of the beginning included; at least 2, or as many as steps.

    Example:
        >>> schedule(10, 3)
        [6, 3, 1]
    """
    runs = 0
    while comb(states + runs, states - 1) < steps:  # the sum of the greatest lengths
        runs += 1
    ends = [min(steps, comb(free + 1 + runs, free)) for free in range(states)]
    return [length for a, b in pairwise([0, *ends]) if (length := b - a)][::-1]


def _bytes(snapshots: Snapshots) -> int:
    """Return the bytes that the snapshots hold."""
    return sum([s.nbytes for s in snapshots.by_version.values()])


def _moved(moved: Mapping[Memory, Memory]) -> Callable[[array], array]:
    """Return a function from an array to the same view of the memory that `moved` has for its own."""
    return lambda value: value.twin(moved[value.memory])


def _first(segment: Segment, memory: Memory) -> bool:
    """Return whether the memory occurs only once among the arrays of all steps of the segment."""
    return sum([a.memory is memory for step in segment.steps for a in step.touched]) == 1
