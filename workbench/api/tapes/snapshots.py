"""Copies that a tape stores of arrays before they change: copy on overwrite.

An adjoint reads arrays as its launch found them. A copy is made at the last moment: when such an array is about to
change, of each version at most once, and only if an adjoint really reads it (the adjoint's IR says).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.api.tapes.steps import ReadingStep, Step
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.companions import copy_of
from workbench.runtime.arrays.unseen_writes import depend_on
from workbench.runtime.device.memory import Memory


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
