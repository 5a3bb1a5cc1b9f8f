"""A tape as a graph: its steps, which of them computed what another one read, and what is kept for whose gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from workbench.api.renamed import renamed
from workbench.api.tapes.branch_step import BranchStep
from workbench.api.tapes.launch_step import LaunchStep
from workbench.api.tapes.snapshots import Snapshot
from workbench.api.tapes.steps import MoveStep, ReadingStep, Step
from workbench.api.tapes.tape import Tape
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.shapes import extent
from workbench.runtime.graphs.edges import Use, edges
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
