"""A tape with little memory: what changes is copied once in so many steps, and the steps between run again.

The steps are cut into segments. Of memory that a segment changes, what it held before is kept, once; nothing else is.
`backward` takes the segments from the last: it runs the segment's steps again on copies, beside the arrays, under a
tape of its own, and goes backwards through that. So a thousand steps in place keep a thousand over the segment's length
copies, and those of one segment, for one more run of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from workbench.api.tapes.cuts import CutStep
from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.snapshots import Snapshot, Snapshots
from workbench.api.tapes.steps import Step, Tape
from workbench.errors import NotDifferentiable
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of, covering
from workbench.runtime.device.memory import Memory, allocate
from workbench.types import is_float


class _Inner(Tape, AbstractContextManager[object], Protocol):
    """The tape of one segment, while it runs again."""

    steps: list[Step]

    def lend(self, memory: Memory, base: array) -> None:
        """Use this array as the adjoint of everything in a memory."""


class Segment(msgspec.Struct, eq=False):
    """Steps that run again together.

    Attributes:
        steps: in order.
        arrays: of each memory that they touch, one array in it.
        versions: what the memory's version was at the first touch.
        changed: memories that they change; False where nothing of what it held before is ever used.
    """

    steps: list[Step] = msgspec.field(default_factory=list[Step])
    arrays: dict[Memory, array] = msgspec.field(default_factory=dict[Memory, array])
    versions: dict[Memory, int] = msgspec.field(default_factory=dict[Memory, int])
    changed: dict[Memory, bool] = msgspec.field(default_factory=dict[Memory, bool])

    def touch(self, value: array) -> None:
        """Note that a step uses the array."""
        self.arrays.setdefault(value.memory, value)
        self.versions.setdefault(value.memory, value.memory.version)


class Checkpoints(Snapshots):
    """Copies of a tape that keeps one of each changed memory in `every` steps."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self.every = every
        self.segments: list[Segment] = []
        self._interrupted = False

    def note(self, step: Step) -> None:
        """Add the step to its segment, before it runs."""
        if not self.segments or self._interrupted or len(self.segments[-1].steps) == self.every:
            self.segments.append(Segment())
            self._interrupted = False
        here = self.segments[-1]
        here.steps.append(step)
        for value in step.touched:
            here.touch(value)

    def watches(self, memory: Memory) -> bool:
        """Whether the segment has not changed it yet."""
        return memory not in self.segments[-1].changed

    def interrupt(self) -> None:
        """End the segment: something outside has changed an array, and its steps would not do so again."""
        self._interrupted = True

    def before_change(self, target: array, changed_by: str) -> None:
        """Keep what the memory holds, if the segment has not changed it yet."""
        here, memory = self.segments[-1], target.memory
        if memory in here.changed:
            return
        covers = target.is_contiguous and target.nbytes == memory.nbytes and changed_by in ("fill", "copy")
        fresh = covers and not any(memory in s.versions for s in self.segments[:-1]) and _first(here, memory)
        here.changed[memory] = not fresh
        if not fresh and (memory, memory.version) not in self.kept:
            copy = copy_of(here.arrays[memory])
            self.kept[memory, memory.version] = Snapshot(
                "", "an array", "", changed_by, memory.nbytes, memory.version, copy
            )

    def backward(self, tape: Tape, again: Callable[[], _Inner], steps: list[Step], ends: set[Memory]) -> None:
        """Go backwards through the segments.

        Args:
            tape: whose copies these are.
            again: makes the tape of one segment.
            steps: those through which a gradient goes.
            ends: memories whose adjoints are not 0.

        Raises:
            NotDifferentiable: a kernel has no right adjoint, or a memory has changed unseen.
        """
        wanted = set(steps)
        for step in steps:
            if isinstance(step, LaunchStep | CutStep):
                step.check()
        for segment in reversed(self.segments):
            if wanted.isdisjoint(segment.steps):
                continue
            places = {m: self._place(segment, m) for m in segment.versions}
            inner = again()
            with inner:
                for step in segment.steps:
                    step.again(_moved(places))
            for memory, value in segment.arrays.items():
                if is_float(value.dtype):
                    tape.adjoint_of(value)
                    inner.lend(places[memory], tape.adjoints[memory])
            reached = {places[m] for m in ends if m in places}
            for step in reversed(inner.steps):
                if step.carries(reached):
                    step.reversed(inner)()
            ends |= {m for m, place in places.items() if place in reached}

    def _place(self, segment: Segment, memory: Memory) -> Memory:
        """Memory that holds what this one held when the segment began, to be changed freely if the segment does so."""
        if segment.changed.get(memory) is False:
            return allocate(memory.device, memory.nbytes)
        version, value = segment.versions[memory], segment.arrays[memory]
        kept = self.kept.get((memory, version))
        if kept is None and memory.version != version:
            raise NotDifferentiable(
                "An array that this tape's steps use has changed outside its `with`, and they have to run again.",
                advice="Call backward() before the change.",
            )
        source = value.twin(kept.memory) if kept is not None else value
        return copy_of(covering(source)) if memory in segment.changed else source.memory

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self.segments.clear()


def _moved(places: Mapping[Memory, Memory]) -> Callable[[array], array]:
    return lambda value: value.twin(places[value.memory])


def _first(segment: Segment, memory: Memory) -> bool:
    """Whether the step that was noted last is the first of the segment to touch the memory, and reads none of it."""
    return sum([a.memory is memory for step in segment.steps for a in step.touched]) == 1
