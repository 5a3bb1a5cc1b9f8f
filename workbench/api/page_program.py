"""A record, a kept launch or a graph as the program of a page that computes (`design/wasm.md`)."""

from __future__ import annotations

from typing import Any

from workbench.api.graphs.graph import Graph
from workbench.api.launches.launch_object import Launch
from workbench.runtime.arrays.array import array
from workbench.runtime.pages.export import program_of
from workbench.runtime.pages.program import Program
from workbench.runtime.records.entries import GraphEntry, LaunchEntry
from workbench.runtime.records.recorder import Recorder


def page_program(
    subject: Recorder | Launch | Graph, watch: Any = None, from_start: bool = True, colour: Any = None
) -> Program:
    """What a page runs again: modules of WebAssembly, a schedule, arrays.

        inspect.page_program(rec, watch=x).data()

    Args:
        subject: what a page runs.
        watch: an array that the page reads after each run; anything else is not read.
        colour: another such array, by which points are coloured.
        from_start: begin with what a record kept of its arrays, where it did; else with what they hold now.

    Returns:
        The program: `.data()` are JSON values, `.compressed()` the bytes that go with them.

    Raises:
        RecordError: it holds something that cannot run in a page; the message names it.
    """
    seen = {name: a for name, a in (("watch", watch), ("colour", colour)) if isinstance(a, array)}
    if isinstance(subject, Recorder):
        return program_of(subject.entries, subject.contents if from_start else None, seen)
    entry = LaunchEntry(subject.record) if isinstance(subject, Launch) else GraphEntry(subject)
    return program_of([entry], None, seen)
