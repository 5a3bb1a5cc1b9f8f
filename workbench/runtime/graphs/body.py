"""A body of a graph: nodes in the order they were captured, the edges between them, and a plan that runs them.

A plan runs the nodes on their device. `trail` is the way that a run takes through them: node by node, with where each
stands in the graph's picture.

**Edges** follow from what nodes read and write, and so do the levels of nodes that may run in parallel. The address
space is cut where any access begins or ends. Each piece knows its last writer and who read it since, so a node depends
on the writer of what it reads (RAW), on the readers of what it writes (WAR), and on the writer before it (WAW). An edge
that a longer path implies is left out.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from workbench.errors import LaunchError
from workbench.events import Replayed, listening, publish
from workbench.runtime.active_observers import OBSERVERS, notify
from workbench.runtime.arrays.shapes import extent
from workbench.runtime.device.device import CPU, Device
from workbench.runtime.device.memory import Memory
from workbench.runtime.device.streams import mark, synchronize
from workbench.runtime.graphs.plan_cpu import CpuPlan, flat_nodes
from workbench.runtime.graphs.plan_cuda import CudaPlan
from workbench.runtime.work import Launch, Nodes, While, Work

WINDOW = 4096
"""The number of nodes back that redundant edges are looked for; it bounds the memory for very long graphs."""


class Use(msgspec.Struct, frozen=True):
    """A use of bytes [low, high) by a node; `name` is that of the array, `reads` and `writes` what is done to them."""

    low: int
    high: int
    name: str
    reads: bool
    writes: bool


class Edge(msgspec.Struct, frozen=True):
    """A dependence: `target` runs after `source`.

    Attributes:
        source, target: indices of nodes.
        because: pairs of a reason (RAW, WAR or WAW: what `target` does after what `source` does) and an array's name.
    """

    source: int
    target: int
    because: tuple[tuple[str, str], ...]

    @property
    def arrays(self) -> tuple[str, ...]:
        """The names of the arrays that cause it."""
        return tuple(dict.fromkeys(name for _, name in self.because))

    @property
    def carries_data(self) -> bool:
        """Return whether `target` reads what `source` wrote; otherwise the edge is only an order."""
        return any(reason == "RAW" for reason, _ in self.because)


class _Piece(msgspec.Struct):
    """A range of addresses that every node uses as a whole: its last writer (-1: none), and the readers since then."""

    writer: int = -1
    readers: list[int] = msgspec.field(default_factory=list[int])


Conflicts = dict[int, dict[tuple[str, str], None]]


def edges(nodes: Sequence[Sequence[Use]]) -> list[Edge]:
    """Return the edges between nodes; those that longer paths imply are left out.

    Args:
        nodes: what each node reads and writes, in an order in which they may run.
    """
    cuts = sorted({address for uses in nodes for use in uses for address in (use.low, use.high)})
    pieces = [_Piece() for _ in cuts]
    ranges: dict[tuple[int, int], list[_Piece]] = {}
    edges_: list[Edge] = []
    before: list[int] = []  # per node, bit k: it runs after node n-1-k
    for n, uses in enumerate(nodes):
        conflicts: Conflicts = {}
        spans: list[tuple[Use, list[_Piece]]] = []
        for use in uses:
            span = (use.low, use.high)
            if span not in ranges:
                ranges[span] = pieces[bisect_left(cuts, use.low) : bisect_left(cuts, use.high)]
            spans.append((use, ranges[span]))
        for use, covered in spans:
            _conflicts(n, use, covered, conflicts)
        for use, covered in spans:
            _note(n, use, covered)
        edges_ += _needed(n, conflicts, before)
    return edges_


def _conflicts(n: int, use: Use, pieces: list[_Piece], conflicts: Conflicts) -> None:
    """Add to `conflicts` the earlier nodes that a use must come after, each with reasons (RAW, WAW, WAR) and array."""
    for piece in pieces:
        if use.reads and piece.writer >= 0:
            conflicts.setdefault(piece.writer, {})["RAW", use.name] = None
        if use.writes:
            if piece.writer >= 0:
                conflicts.setdefault(piece.writer, {})["WAW", use.name] = None
            for reader in piece.readers:
                conflicts.setdefault(reader, {})["WAR", use.name] = None


def _note(n: int, use: Use, pieces: list[_Piece]) -> None:
    """Note node `n` as the last writer of the pieces, or as one of their readers."""
    for piece in pieces:
        if use.writes:
            piece.writer, piece.readers = n, []
        elif piece.writer != n and (not piece.readers or piece.readers[-1] != n):
            piece.readers.append(n)


def _needed(n: int, conflicts: Conflicts, before: list[int]) -> list[Edge]:
    """Return the edges into node n that no path through another one implies; append what it runs after to `before`."""
    seen, needed = 0, list[Edge]()
    mask = (1 << WINDOW) - 1
    for source in sorted(conflicts, reverse=True):
        bit = 1 << (n - 1 - source)
        if seen & bit:
            continue
        seen |= (bit | before[source] << (n - source)) & mask
        needed.append(Edge(source, n, tuple(conflicts[source])))
    before.append(seen)
    return needed[::-1]


def levels(count: int, edges_: Sequence[Edge]) -> list[list[int]]:
    """Return the indices of nodes level by level; a node's level is the length of the longest path to it.

    Those of one level may run at the same time. The edges are in the order in which `edges` returns them.
    """
    depth = [0] * count
    for edge in edges_:
        depth[edge.target] = max(depth[edge.target], depth[edge.source] + 1)
    rows: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for n, d in enumerate(depth):
        rows[d].append(n)
    return rows


ALL = Use(0, 2**64, "all memory", True, True)
"""The use that stands for a node of which nothing is known: it reads and writes all memory."""


Direct = tuple[Callable[[], Any], CpuPlan]


class Plan(Protocol):
    """A plan that runs a body: it is built once, and patched if a parameter changes."""

    def run(self) -> None:
        """Run all nodes; on CUDA they are queued."""
        ...

    @property
    def direct(self) -> Direct | None:
        """A native function that does all that `run` does, with what it keeps alive; None if `run` does more."""
        ...

    def patch(self, body: Nodes) -> bool:
        """Overwrite the plan's parameters by those of the body's launches; return whether that was possible."""
        ...


class Body:
    """A sequence of nodes on one device, with the edges between them and a plan that runs them.

    Attributes:
        nodes: in the order they were captured.
        generation: goes up whenever a plan made before no longer holds.
    """

    def __init__(self) -> None:
        self.nodes: list[Work] = []
        self._edges: list[Edge] | None = None
        self._plan: Plan | None = None
        self._direct: Direct | None = None
        self._written: list[Memory] = []
        self._inner: list[Nodes] = []
        self._generations: list[int] = []
        self.generation = 0

    @property
    def device(self) -> Device:
        """The device that it runs on; the CPU if it is empty."""
        return self.nodes[0].device if self.nodes else CPU

    @property
    def edges(self) -> list[Edge]:
        """The edges: which node must run after which, and why; redundant edges are left out."""
        if self._edges is None:
            names = self.array_names()
            self._edges = edges(
                [
                    [Use(*names[id(a.array)], a.reads, a.writes) for a in node.accesses] + [ALL] * node.is_barrier
                    for node in self.nodes
                ]
            )
        return self._edges

    @property
    def levels(self) -> list[list[int]]:
        """Indices of the nodes, level by level; those of one level may run at the same time."""
        return levels(len(self.nodes), self.edges)

    def array_names(self) -> dict[int, tuple[int, int, str]]:
        """Return the range of bytes and a name of each array that nodes use, by the array's `id`.

        The name is that of the first parameter that these bytes were passed for, numbered if two ranges share it.
        """
        names_by_id: dict[int, tuple[int, int, str]] = {}
        named: dict[tuple[int, int], str] = {}
        used: dict[str, int] = {}
        for node in sorted(self.nodes, key=lambda node: not isinstance(node, Launch)):
            for access in node.accesses:
                if id(access.array) in names_by_id:
                    continue
                span = extent(access.array)
                if span not in named:
                    used[access.name] = number = used.get(access.name, 0) + 1
                    named[span] = access.name if number == 1 else f"{access.name}#{number}"
                names_by_id[id(access.array)] = (*span, named[span])
        return names_by_id

    def walk(self) -> Iterator[Work]:
        """Yield every node, each followed by those of the bodies inside it."""
        for node in self.nodes:
            yield node
            for body in node.bodies.values():
                yield from body.walk()

    def add(self, node: Work) -> None:
        """Append a node.

        Raises:
            LaunchError: it is of another device than the rest.
        """
        if self.nodes and node.device != self.device:
            raise LaunchError(
                f"This graph runs on {self.device}; {node!r} is on {node.device}.",
                advice="Capture a graph for each device, and copy between devices outside of them.",
            )
        self.nodes.append(node)
        self.stale()

    def around(self, node: Work) -> Body:
        """Return a new body that has only this node."""
        body = Body()
        body.add(node)
        return body

    def stale(self, arrays: bool = True) -> None:
        """Discard the plan, and if `arrays` (the nodes' arrays changed) the edges too."""
        self._plan = self._direct = None
        self.generation += 1
        if arrays:
            self._edges = None

    def put(self, instead: Mapping[int, Work], arrays: bool) -> None:
        """Replace nodes, here and in bodies inside; the plan takes the new ones over if it can, or is discarded.

        Args:
            instead: the new nodes, by the id of the old one.
            arrays: whether arrays changed, those of copies and conditions included.
        """
        plan, before = self._plan, self._edges
        for body in (self, *self.inner()):
            body.nodes[:] = [instead.get(id(node), node) for node in body.nodes]
            body.stale(arrays)
        only_launches = all(isinstance(node, Launch) for node in self.walk())
        fits = plan is not None and (not arrays or (only_launches and self.edges == before))
        if plan is not None and fits and plan.patch(self):
            self._generations = [body.generation for body in self._inner]
            self._use(plan)

    def changed(self, values: Mapping[str, Any], swap: Callable[[Any], Any]) -> Nodes:
        """Return a body with parameters changed by name and arrays replaced by `swap`; this one if nothing changes."""
        nodes = [node.changed(values, swap) for node in self.nodes]
        if all(new is old for new, old in zip(nodes, self.nodes, strict=True)):
            return self
        body = Body()
        body.nodes = nodes
        return body

    def inner(self) -> list[Nodes]:
        """Return the bodies inside, at any depth."""
        return [body for node in self.walk() for body in node.bodies.values()]

    def run(self) -> None:
        """Run all nodes on their arrays' contents of now.

        Raises:
            KernelFault: code with checks met a fault; all that did not fault is done.
            DeviceError: the device refused it.
        """
        if self._inner and [body.generation for body in self._inner] != self._generations:
            self.stale()
        plan = self._plan or self._planned()
        for memory in self._written:
            memory.version += 1
        plan.run()

    def step(self) -> Iterator[Work]:
        """Run node by node, through branches and loops as their conditions say.

            for node in graph.step():
                print(node, x.numpy())

        Returns:
            Each node without graphs inside as soon as it has run; the rest runs as the iterator goes on.

        Raises:
            LaunchError: a node cannot run outside of its graph (a library's work).
            KernelFault: code with checks met a fault; nothing after it runs.
        """
        for node in self.nodes:
            yield from node.step()

    def _planned(self) -> Plan:
        """Make a new plan of the body as it is now, which later runs use, and return it."""
        self._inner = self.inner()
        self._generations = [body.generation for body in self._inner]
        return self._use(CudaPlan(self) if self.device.is_cuda else CpuPlan(flat_nodes(self), self))

    def _use(self, plan: Plan) -> Plan:
        """Make later runs use a plan, and note which memories they change; return the plan."""
        self._plan, self._written = plan, self.written()
        self._direct = None if self._inner else plan.direct
        return plan

    def written(self) -> list[Memory]:
        """Return the memory that a run may change."""
        memories = {id(a.array.memory): a.array.memory for node in self.nodes for a in node.accesses if a.writes}
        return list(memories.values())

    def timed(self) -> float:
        """Make a new plan, run all nodes once, and return the seconds until the device has finished them."""
        self._planned()
        synchronize(self.device)
        started = time.perf_counter()
        self.run()
        synchronize(self.device)
        return time.perf_counter() - started

    def launch(self) -> None:
        """Run all nodes, and notify observers: of each node those that look inside graphs, of the whole others.

        Raises:
            KernelFault: code with checks met a fault.
            DeviceError: the device refused it.
        """
        observers = OBSERVERS.get()
        if not observers and not listening(Replayed):
            self.run()
            return
        if any(observer.looks_inside for observer in observers):
            for _ in self.step():
                pass
            return
        if notify("replaying", self):
            return
        on_device = bool(observers) and self.device.is_cuda
        before = mark(self.device, None) if on_device else None
        started = time.perf_counter()
        self.run()
        seconds = time.perf_counter() - started
        after = mark(self.device, None) if on_device else None
        for observer in observers:
            if on_device:
                observer.measured(self, before, after)
            observer.done(self, started, seconds)
        publish(Replayed(sum(isinstance(n, Launch) for n in self.walk()), seconds))


class Stop(msgspec.Struct, frozen=True, eq=False):
    """A node that has run, or a branch or loop that has decided.

    Attributes:
        node: the node.
        index: its number in the graph's picture (`Graph.layout`).
        outermost: the number of the graph's own node that it is in; its own if it is one.
        turns: of each loop around it, from outside, which turn this is; the first is 1.
        chosen: of a branch or loop the graph inside that runs next; "" if it is over, and of other nodes.
    """

    node: Work
    index: int
    outermost: int
    turns: tuple[int, ...]
    chosen: str = ""


def trail(graph: Nodes) -> Iterator[Stop]:
    """Run a graph node by node, through branches and loops as their conditions say.

        for stop in wb.inspect.trail(graph):
            print(stop.turns, stop.node, stop.chosen)

    Args:
        graph: a captured graph, or a record or tape as `wb.inspect.graph_of` returns it.

    Returns:
        Every node as soon as it has run, and every branch and loop whenever its condition was read; the rest runs as
        the iterator goes on.

    Raises:
        KernelFault: code with checks met a fault; nothing after it runs.
    """
    return _through(graph, 0, None, ())


def _through(body: Nodes, start: int, outermost: int | None, turns: tuple[int, ...]) -> Iterator[Stop]:
    """Run a body node by node, and yield each node that ran, and each branch and loop when its condition was read.

    Args:
        body: the body.
        start: the number of its first node in a picture of the outermost graph.
        outermost: the number of the outermost graph's node that it lies in; None for that graph's own body.
        turns: of the loops around it, from 1.
    """
    after = start + len(body.nodes)  # pictures list a body's own nodes first, then those of the graphs inside them
    for index, node in enumerate(body.nodes, start):
        outer, starts = index if outermost is None else outermost, dict[str, int]()
        for name, inner in node.bodies.items():
            starts[name] = after
            after += sum(1 for _ in inner.walk())
        if not starts:
            node.launch()
            yield Stop(node, index, outer, turns)
            continue
        for iteration, name in enumerate(node.bodies_run(), 1):
            yield Stop(node, index, outer, turns, name)
            deeper = (*turns, iteration) if isinstance(node, While) else turns
            yield from _through(node.bodies[name], starts[name], outer, deeper)
        yield Stop(node, index, outer, turns)
