"""The base class of observers of launches and changes of arrays: tapes, recorders and captures override its methods."""

from __future__ import annotations

from typing import Any, NoReturn

from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.names import Listed


class Observer(Listed):
    """A receiver of what is run, in order, before it runs; each method does nothing until it is overridden.

    Attributes:
        takes: whether it carries out what it is notified of itself, in another form or later. Observers opened before
            it then see what it does, and not what it was notified of.
        looks_inside: whether it sees the nodes of a captured graph that is launched, one by one, rather than the graph.
        replays: whether it can run again what it is notified of.
        defers: whether it runs nothing before it ends, so that until then the code need not be built.
        differentiates: whether it does not see inside work whose derivative has a rule of its own (`mapped.py`).
    """

    takes = False
    looks_inside = True
    replays = False
    defers = False
    differentiates = False
    _internal = (
        "adding allocating branching called converting copying defers differentiates done filling launching "
        "looks_inside mapping measured reading replaying replays stopped takes"
    )

    def allocating(self, memory: Memory, filled: bool) -> None:
        """Observe that `memory` is new; its contents are undefined until they are written, unless it is `filled`."""

    def launching(self, record: LaunchRecord) -> LaunchRecord | None:
        """Observe that a launch is about to run.

        Returns:
            A launch on the CPU that does the same and more, to run in its place; None: it runs as it is.
        """

    def branching(self, node: Any) -> Any:
        """Observe that a branch or loop is captured, about whose condition nothing is known before the graph runs.

        Returns:
            The node to capture in its place.

        Raises:
            LaunchError: this observer looks inside graphs, and so has to know what runs.
        """
        if self.looks_inside:
            raise LaunchError(
                f"A graph decides when it runs which branch it takes: a {type(self).__name__} cannot follow it here.",
                advice="Do so outside of wb.capture(), or write the decision in a kernel.",
            )
        return node

    def copying(self, target: array, source: array) -> None:
        """Observe that `target` is about to become a copy of `source`."""

    def adding(self, target: array, source: array) -> None:
        """Observe that `source` is about to be added to `target`."""

    def converting(self, source: array, dtype: object) -> None:
        """Observe that an array of another element type is about to be made of `source`."""

    def mapping(self, mapped: Any) -> None:
        """Observe that a result was computed whose derivative has a rule of its own."""

    def filling(self, target: array, value: float) -> None:
        """Observe that `target` is about to be filled with `value`."""

    def reading(self, source: array) -> None:
        """Observe that Python is about to read the elements of `source`."""

    def replaying(self, graph: Any) -> None:
        """Observe that a captured graph is about to run, unless this observer looks inside it."""

    def measured(self, subject: object, before: Any, after: Any) -> None:
        """Observe the two events of the device's stream between which the announced work lies; called before `done`."""

    def stopped(self, record: LaunchRecord) -> None:
        """Observe that the launch that was announced last raised an exception; it was interrupted, for example."""

    def done(self, subject: object, started: float, seconds: float) -> None:
        """Observe the end of announced work: a record, target or graph; `started` as `time.perf_counter`."""

    def __reduce__(self) -> NoReturn:
        """Raise a LaunchError: an observer cannot be copied or pickled."""
        raise LaunchError(
            f"A {type(self).__name__} cannot be copied or pickled: it refers to this process's arrays.",
            advice="Run the launches again under a new one.",
        )
