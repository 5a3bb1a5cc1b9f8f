"""A record, a kept launch or a graph as the program of a page that computes (`design/wasm.md`)."""

from __future__ import annotations

from typing import Any

from workbench.api.graphs.graph import Graph
from workbench.api.launches.launch_object import Launch
from workbench.api.recorder import Recorder
from workbench.api.tapes.tape import Tape
from workbench.runtime import work
from workbench.runtime.arrays.array import array
from workbench.runtime.pages.program import Program, program_of


def page_program(
    subject: Recorder | Launch | Graph | Tape, watch: Any = None, from_start: bool = True, colour: Any = None
) -> Program:
    """Return a program that a web page runs again and again: modules of WebAssembly, a schedule, arrays.

        inspect.page_program(rec, watch=x).data()

    Args:
        subject: what the page runs.
        watch: an array that the page reads after each run; anything else is not read.
        colour: another such array, by which points are coloured.
        from_start: begin with the contents that a record stored of its arrays, if it did; else with the present ones.

    Returns:
        The program: `.data()` are JSON values, `.compressed()` the bytes that go with them.

    Raises:
        RecordError: it holds something that cannot run in a page; the message names it.
    """
    seen = {name: a for name, a in (("watch", watch), ("colour", colour)) if isinstance(a, array)}
    if isinstance(subject, Tape):
        subject = Recorder(subject)
    if isinstance(subject, Recorder):
        counters = subject.counters
        steps = {n: (counters.step(n, subject.launches), counters.amounts.get(n, 0)) for n in counters.steps}
        return program_of(subject.entries, subject.contents if from_start else None, seen, steps)
    node = work.Launch(subject.record) if isinstance(subject, Launch) else work.Graph({"body": subject})
    return program_of([node], None, seen)
