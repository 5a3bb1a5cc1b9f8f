"""Summaries of a tape: its steps by kind, and the bytes that it keeps for gradients."""

from __future__ import annotations

import msgspec

from workbench.api.tapes.checkpoints import Checkpoints
from workbench.api.tapes.flow import kind_of
from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.steps import ReadingStep, Step
from workbench.api.tapes.tape import Tape
from workbench.errors import must_be
from workbench.runtime.device.memory import Memory


class TapeSteps(msgspec.Struct, frozen=True):
    """The summary of a tape's steps of one kind; of launches, those of one kernel.

    Attributes:
        kind: "launch", "copy", "add", "fill", "function" and so on.
        name: the kernel; empty for steps that are no launches.
        times: how many there are.
        dim: the dimensions of the first, or the shape of the array that it changes.
        changes: parameters that the first launch writes.
    """

    kind: str
    name: str
    times: int
    dim: tuple[int, ...]
    changes: tuple[str, ...]


class MemoryRow(msgspec.Struct, frozen=True):
    """Copies for the adjoints of one kernel.

    Attributes:
        kernel: its name.
        times: how often it was launched.
        nbytes: of the arrays that its adjoints read and that changed later, all launches together.
    """

    kernel: str
    times: int
    nbytes: int


class TapeMemory(msgspec.Struct, frozen=True):
    """The bytes of copies that a tape holds, and those that it would hold without checkpoints.

    Attributes:
        rows: by kernel, what a tape without checkpoints keeps.
        kept: bytes of all present copies.
        peak: the most bytes of copies at once so far, those of backward passes included.
        plain: bytes without checkpoints: the sum of the rows.
        steps: how many there are.
        again: how many steps backward passes ran again.
        recomputes: whether the tape has checkpoints.
    """

    rows: tuple[MemoryRow, ...]
    kept: int
    peak: int
    plain: int
    steps: int
    again: int
    recomputes: bool

    def table(self) -> list[tuple[str, ...]]:
        """Return the rows as text, the column heads first."""
        heads = ("kernel", "launches", "bytes per launch", "recomputed" if self.recomputes else "kept")
        rows = [(r.kernel, f"{r.times:,}", f"{r.nbytes / r.times:,.0f}", f"{r.nbytes:,}") for r in self.rows]
        return [heads, *rows]

    def summary(self) -> str:
        """Return a sentence on the bytes that are kept; with recomputing, on the peak and the reruns, too."""
        if not self.recomputes:
            return f"{self.kept:,} bytes kept in {self.steps:,} steps"
        runs = f"; {self.again / max(1, self.steps):.1f} times as many steps ran again" if self.again else ""
        return f"{self.kept:,} bytes kept, at most {self.peak:,}; without checkpoints {self.plain:,}{runs}"

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.table(), strict=True)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in self.table()]
        return "\n".join([self.summary(), *lines])

    __repr__ = __str__


def tape_memory(tape: Tape) -> TapeMemory:
    """Return how many bytes a tape keeps for gradients, by kernel.

        with wb.Tape(checkpoint=20) as tape:
            loss = simulate(x, 10_000)
        tape.backward(loss)
        print(wb.inspect.tape_memory(tape))

    Args:
        tape: closed; after `backward`, `peak` has the copies of that, too.

    Returns:
        The present bytes, the most so far, and by kernel those of a tape without checkpoints.

    Raises:
        LaunchError: it is something else.
    """
    must_be(tape, Tape, "tape_memory() takes a tape")
    # As `Snapshots` keeps it: when an array changes, one copy for all adjoints of before that read it.
    waiting: dict[Memory, list[ReadingStep]] = {}
    needed: dict[str, int] = {}
    times: dict[str, int] = {}
    for step in tape.steps:
        changed = (
            step.record.executable.written_of(step.record.values) if isinstance(step, LaunchStep) else step.changed
        )
        if isinstance(step, LaunchStep):
            kernel = step.record.kernel
            times[kernel] = times.get(kernel, 0) + 1
        if isinstance(step, ReadingStep):
            for k in step.needed:
                waiting.setdefault(step.touched[k].memory, []).append(step)
        for memory in dict.fromkeys([a.memory for a in changed]):
            readers = [s for s in waiting.pop(memory, ()) if s.reads_of(memory)]
            if readers:
                first = readers[0].title
                needed[first] = needed.get(first, 0) + memory.nbytes
    rows = tuple([MemoryRow(kernel, count, needed.get(kernel, 0)) for kernel, count in times.items()])
    plain, snapshots = sum(needed.values()), tape.kept
    if isinstance(snapshots, Checkpoints):
        return TapeMemory(rows, tape.nbytes, snapshots.copies.peak, plain, len(tape), snapshots.ran, True)
    return TapeMemory(rows, tape.nbytes, tape.nbytes, plain, len(tape), 0, False)


def tape_steps(tape: Tape) -> list[TapeSteps]:
    """Summarise a tape: one entry per kernel or kind of step, in the order of the first of each.

    Returns:
        An entry for the launches of each kernel, and one each for all copies, all sums, all fills and so on.
    """
    groups: dict[tuple[str, str], list[Step]] = {}
    for step in tape.steps:
        record = step.record if isinstance(step, LaunchStep) else None
        groups.setdefault((kind_of(step), record.kernel if record else ""), []).append(step)
    summary: list[TapeSteps] = []
    for (kind, name), steps in groups.items():
        first = steps[0]
        launch = first.record if isinstance(first, LaunchStep) else None
        dim = launch.dim if launch else first.changed[0].shape if first.changed else ()
        changes = tuple(sorted(launch.writes)) if launch else ()
        summary.append(TapeSteps(kind, name, len(steps), tuple(dim), changes))
    return summary
