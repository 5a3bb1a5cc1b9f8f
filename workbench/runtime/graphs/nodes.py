"""What a graph is made of: launches, copies, sums, fills, graphs inside graphs, branches and loops.

A node says which memory it reads and writes, so that the order between nodes follows from that alone; it holds what it
uses, so a graph keeps its arrays and code alive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import msgspec

from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import Device
from workbench.runtime.device.memory import Memory
from workbench.runtime.graphs.edges import Edge
from workbench.runtime.launching.record import LaunchRecord


class Access(msgspec.Struct, frozen=True, eq=False):
    """One array that a node uses, under the node's own name for it."""

    array: array
    name: str
    reads: bool
    writes: bool


class Subgraph(Protocol):
    """A `Body` as the nodes around it, plans and pictures see it."""

    nodes: list[Node]
    generation: int

    @property
    def device(self) -> Device:
        """Where it runs."""
        ...

    @property
    def edges(self) -> list[Edge]:
        """Which node must run after which."""
        ...

    @property
    def levels(self) -> list[list[int]]:
        """Indices of nodes that may run side by side."""
        ...

    def walk(self) -> Iterator[Node]:
        """Every node, those of bodies inside included."""
        ...

    def written(self) -> list[Memory]:
        """The memory that a run may change."""
        ...

    def stale(self, arrays: bool = True) -> None:
        """Forget the plan, and the edges if arrays changed."""
        ...


class Node:
    """One step of a graph.

    Attributes:
        kind: "forward", "adjoint", "copy", "add", "fill", "graph", "if", "while" or "library".
        milliseconds: of one run, where the graph was profiled.
    """

    kind: str
    milliseconds: float | None = None
    is_barrier = False
    """Whether it may use any memory at all."""

    @property
    def device(self) -> Device:
        """Where it runs."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What pictures call it."""
        return self.kind

    @property
    def dims(self) -> tuple[int, ...]:
        """Threads of a launch, elements of a copy; () if it has none."""
        return ()

    @property
    def accesses(self) -> Sequence[Access]:
        """The arrays it uses."""
        raise NotImplementedError

    @property
    def bodies(self) -> Mapping[str, Subgraph]:
        """Graphs inside it, by what they are for."""
        return {}

    def replace_arrays(self, instead: Callable[[Any], Any]) -> None:
        """Use other arrays: `instead` gives what to use in place of each."""
        raise NotImplementedError

    def __repr__(self) -> str:
        dims = f"[{'×'.join(map(str, self.dims))}]" if self.dims else ""
        return f"<{self.kind} {self.name if self.name != self.kind else ''}{dims}>".replace(" >", ">")


class LaunchNode(Node):
    """A launch, forward or adjoint, with a parameter buffer of its own that changes in place."""

    def __init__(self, record: LaunchRecord) -> None:
        self.record = record
        self.buffer = record.loaded.packer.new()
        self.rebind(record)

    @property
    def kind(self) -> str:
        """The direction of its record."""
        return self.record.direction

    @property
    def name(self) -> str:
        """What pictures call it."""
        return self.record.kernel

    @property
    def device(self) -> Device:
        """Where it runs."""
        return self.record.loaded.device

    @property
    def dims(self) -> tuple[int, ...]:
        """Threads or elements."""
        return self.record.dim

    @cached_property
    def accesses(self) -> Sequence[Access]:
        """The arrays it uses."""
        reads, writes = self.record.reads, self.record.writes
        return [
            Access(a, name, name in reads, name in writes)
            for name, a in self.record.arguments.items()
            if isinstance(a, array) and (name in reads or name in writes)
        ]

    def rebind(self, record: LaunchRecord) -> None:
        """Be another launch of the same kernel; parameters are written in place while the code is the same."""
        self.__dict__.pop("accesses", None)
        if record.loaded is not self.record.loaded:
            self.buffer = record.loaded.packer.new()
        self.record = record
        record.loaded.packer.write(self.buffer, record.dim, list(record.arguments.values()))

    def replace_arrays(self, instead: Callable[[Any], Any]) -> None:
        """Use other arrays."""
        self.rebind(self.record.changed({n: instead(a) for n, a in self.record.arguments.items()}))


class MoveNode(Node):
    """A copy, a sum or a fill; a fill has the pattern of one element's scalar in place of a source."""

    def __init__(self, kind: str, target: array, source: array | None = None, value: float = 0.0) -> None:
        self.kind = kind
        self.target = target
        self.source = source
        self.value = value

    @property
    def device(self) -> Device:
        """Where it runs."""
        return self.target.device

    @property
    def name(self) -> str:
        """What pictures call it."""
        return f"fill {self.value:g}" if self.kind == "fill" else self.kind

    @property
    def dims(self) -> tuple[int, ...]:
        """Threads or elements."""
        return self.target.shape

    @property
    def accesses(self) -> Sequence[Access]:
        """The arrays it uses."""
        made = [Access(self.target, "target", self.kind == "add", True)]
        return made if self.source is None else [*made, Access(self.source, "source", True, False)]

    def replace_arrays(self, instead: Callable[[Any], Any]) -> None:
        """Use other arrays."""
        self.target, self.source = instead(self.target), instead(self.source)


class BodyNode(Node):
    """A graph inside a graph: run once ("graph"), by a condition ("if"), or while it holds ("while")."""

    def __init__(self, kind: str, bodies: Mapping[str, Subgraph], condition: array | None = None) -> None:
        self.kind = kind
        self._bodies = dict(bodies)
        self.condition = condition

    @property
    def device(self) -> Device:
        """Where it runs."""
        if self.condition is not None:
            return self.condition.device
        return next(iter(self._bodies.values())).device

    @property
    def bodies(self) -> Mapping[str, Subgraph]:
        """Graphs inside it."""
        return self._bodies

    @property
    def is_barrier(self) -> bool:
        """Whether something inside is."""
        return any(node.is_barrier for body in self._bodies.values() for node in body.nodes)

    @property
    def accesses(self) -> Sequence[Access]:
        """The arrays it uses."""
        inner = [a for body in self._bodies.values() for node in body.nodes for a in node.accesses]
        head = [Access(self.condition, "condition", True, False)] if self.condition is not None else []
        return [*head, *_united(inner)]

    def replace_arrays(self, instead: Callable[[Any], Any]) -> None:
        """Use other arrays."""
        self.condition = instead(self.condition)


def _united(accesses: Iterable[Access]) -> Iterator[Access]:
    """One access an array."""
    found: dict[int, Access] = {}
    for new in accesses:
        old = found.get(id(new.array), new)
        found[id(new.array)] = Access(new.array, old.name, new.reads or old.reads, new.writes or old.writes)
    yield from found.values()


def condition_of(given: Any) -> array:
    """The condition of a branch or loop: an int32 array of one element.

    Raises:
        TypeError: anything else.
    """
    fits = isinstance(given, array) and repr(given.dtype) == "int32" and given.size == 1
    if not fits:
        what = f"{given.type!r} of shape {given.shape}" if isinstance(given, array) else type(given).__name__
        raise TypeError(f"a condition is an int32 array of one element; this is {what}")
    return given
