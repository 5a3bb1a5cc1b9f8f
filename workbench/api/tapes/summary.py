"""Summaries of a tape: its steps by kind, the bytes that it keeps for gradients, and what computed what as a graph.

The graph has the tape's steps, which of them computed what another one read, and what is kept for whose gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from workbench.api.renamed import renamed
from workbench.api.tapes.branch_step import BranchStep
from workbench.api.tapes.checkpoints import Checkpoints, Snapshot
from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.steps import MoveStep, ReadingStep, Step
from workbench.api.tapes.tape import Tape
from workbench.errors import must_be
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.shapes import extent
from workbench.runtime.device.memory import Memory
from workbench.runtime.graphs.body import Use, edges
from workbench.runtime.graphs.pictures import arranged, drawn, edge_facts

MOST = 200
"""Steps that a picture shows; of a longer tape it shows the first ones."""

Named = Callable[[array], str]


def tape_graph(tape: Tape, named: Named = lambda _: "", most: int = MOST) -> dict[str, Any]:
    """Return the steps as nodes and the arrays between them as edges, with positions as `Graph.layout` has them.

    Args:
        tape: what recorded the steps.
        named: returns an array's name; "" takes the name of the kernel's parameter.
        most: how many steps, from the first on.

    Returns:
        nodes (each with `said`: what is kept for its gradient and why, as pairs of words), edges, width, height.
    """
    steps = tape.steps[:most]
    copies = _snapshots_of(tape)
    nodes = [_node(k, step, copies(step)) for k, step in enumerate(steps)]
    tape_edges = edges([[*_uses(step, named)] for step in steps])
    lines = [edge_facts(edge) for edge in tape_edges]
    for line in lines:
        read = [name for reason, name in line["because"] if reason == "RAW"]
        if read:
            line.update(arrays=list(dict.fromkeys(read)), because=[["gradients of", name] for name in read])
    return arranged({"device": "", "nodes": nodes, "edges": lines})


def _uses(step: Step, named: Named) -> Iterator[Use]:
    """Yield the arrays of a step through which gradients go, as uses: read or written."""
    for arrays, reads in ((step.used, True), (step.changed, False)):
        for value in arrays:
            yield Use(*extent(value), named(value) or _parameter(step, value), reads, not reads)


tape_svg = renamed(made="picture")(drawn)
"""Draw the data of `tape_graph`, under a title, as SVG text."""


def kind_of(step: Step) -> str:
    """Return the kind of a step: "launch", "copy", "add", "fill", "function", "if", "while", "cut" or "solve"."""
    if isinstance(step, MoveStep | BranchStep):
        return step.work.kind
    return type(step).__name__.removesuffix("Step").lower()


def _snapshots_of(tape: Tape) -> Callable[[Step], list[Snapshot]]:
    """Return a function that lists the copies which the adjoint of a step reads."""

    def of(step: Step) -> list[Snapshot]:
        if not isinstance(step, ReadingStep) or not tape.snapshots:
            return []
        snapshots = tape.kept.by_version
        read = {memory: snapshots.get((memory, step.version_of(memory))) for memory in {a.memory for a in step.touched}}
        return [copy for memory, copy in read.items() if copy is not None and step.reads_of(memory)]

    return of


def _node(index: int, step: Step, copies: list[Snapshot]) -> dict[str, object]:
    """Return a step as a node of the picture of a tape: plain data, with the copies that its gradient needs."""
    launch = step.record if isinstance(step, LaunchStep) else None
    dims = list(launch.dim if launch else step.changed[0].shape if step.changed else ())
    kind = kind_of(step)
    remarks = [
        ["kept", f"{c.parameter}, {c.nbytes:,} bytes: its adjoint reads it, and {c.changed_by} changed it"]
        for c in copies
    ]
    detail = "×".join(map(str, dims))
    if copies:
        detail += f"  keeps {', '.join(sorted({c.parameter for c in copies}))}"
    return {
        "index": index, "kind": "forward" if launch else kind, "name": launch.kernel if launch else kind, "dims": dims,
        "milliseconds": None, "critical": False, "bodies": {}, "title": launch.kernel if launch else kind,
        "detail": detail, "said": remarks or [["kept", "nothing: its adjoint reads no array that changed later"]],
    }  # fmt: skip


def _parameter(step: Step, value: array) -> str:
    """Return the name of the launch's parameter that uses an array's memory; "array" if there is none."""
    names = step.arrays if isinstance(step, LaunchStep) else {}
    return next((name for name, other in names.items() if other.memory is value.memory), "array")


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
