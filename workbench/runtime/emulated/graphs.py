"""Graphs of the emulated driver: nodes with edges, copies of them that can be launched, conditional bodies."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from workbench.runtime.emulated.code import Kernel, Launch, Runner
from workbench.runtime.emulated.status_error import expect

_NUMBERS = itertools.count(1)
NodeWork = tuple[Kernel, Launch] | Callable[[], object]
"""The work of a node without graphs inside: a launch with its kernel, or a function that copies or fills."""


class Condition(msgspec.Struct, eq=False):
    """The value that decides whether the bodies of a conditional node run.

    Attributes:
        value: 0 means no.
        default: what it is at the beginning of a launch of the graph; None leaves it as it is.
        graph: the graph that it was made for.
    """

    value: int
    default: int | None
    graph: Graph


class Conditional(msgspec.Struct, frozen=True, eq=False):
    """The work of a conditional node.

    Attributes:
        condition: the value that decides.
        loop: whether it is a "while"; otherwise it is an "if".
        bodies: the graph that runs if, or while, the condition is not 0; an "if" may have another one for 0.
    """

    condition: Condition
    loop: bool
    bodies: tuple[Graph, ...]


class Node(msgspec.Struct, eq=False):
    """A node of a graph.

    Attributes:
        after: the nodes that have to be done before.
        work: a launch with its kernel, a graph, a condition with bodies, or a function to call; None does nothing.
        number: the same in all copies of the node.
    """

    after: tuple[Node, ...]
    work: NodeWork | Graph | Conditional | None
    number: int = msgspec.field(default_factory=lambda: next(_NUMBERS))


class Graph(msgspec.Struct, eq=False):
    """A graph (CUgraph): nodes in the order in which they were added; `inner`: it is a body of a conditional node."""

    device: int = 0
    nodes: list[Node] = msgspec.field(default_factory=list[Node])
    inner: bool = False

    def add(self, after: Iterable[Node], work: Any) -> Node:
        """Add a new node, and return it.

        Raises:
            CudaStatusError: it is to come after a node of another graph, or twice after one.
        """
        before = tuple(after)
        expect(len(set(before)) == len(before), "a dependency of a node is given twice")
        expect(all(n in self.nodes for n in before), "a node depends on a node of another graph")
        node = Node(before, work)
        self.nodes.append(node)
        return node

    def conditions(self) -> list[Condition]:
        """Return the conditions of all conditional nodes in the graph, those in graphs inside it included."""
        conditions: list[Condition] = []
        for node in self.nodes:
            if isinstance(node.work, Conditional):
                conditions += [node.work.condition, *(c for body in node.work.bodies for c in body.conditions())]
            elif isinstance(node.work, Graph):
                conditions += node.work.conditions()
        return conditions


class Executing(msgspec.Struct, eq=False):
    """A graph that can be launched (CUgraphExec): a copy, whose launches, copies and fills can be replaced.

    Attributes:
        graph: the copy.
        work: the launch, copy or fill of each node, by the node's number.
    """

    graph: Graph
    work: dict[int, NodeWork]


def executing(graph: Graph) -> Executing:
    """Return a copy of a graph that can be launched."""
    executable = Executing(_copied(graph), {})
    for node in _all_nodes(executable.graph):
        if node.work is not None and not isinstance(node.work, (Graph, Conditional)):
            executable.work[node.number] = node.work
    return executable


def _copied(graph: Graph) -> Graph:
    """Return a copy of a graph, with copies of the graphs inside; nodes keep their numbers."""
    copy, known = Graph(graph.device, inner=graph.inner), dict[Node, Node]()
    for node in graph.nodes:
        work = node.work
        if isinstance(work, Graph):
            work = _copied(work)
        elif isinstance(work, Conditional):
            work = replace(work, bodies=tuple(_copied(body) for body in work.bodies))
        known[node] = Node(tuple(known[n] for n in node.after), work, node.number)
        copy.nodes.append(known[node])
    return copy


def _all_nodes(graph: Graph) -> Iterable[Node]:
    """Yield the nodes of a graph and of the graphs inside, at any depth."""
    for node in graph.nodes:
        yield node
        inner = (node.work,) if isinstance(node.work, Graph) else ()
        inner = node.work.bodies if isinstance(node.work, Conditional) else inner
        for body in inner:
            yield from _all_nodes(body)


def play(executable: Executing, choose: Callable[[list[Node]], Node], run: Runner, device: int) -> None:
    """Execute a graph once: each node when all that it comes after are done.

    Args:
        executable: the graph.
        choose: returns one of the nodes that may be next.
        run: executes a launch.
        device: the number of the device.

    Raises:
        CudaStatusError: a kernel failed.
    """
    for condition in executable.graph.conditions():
        if condition.default is not None:
            condition.value = condition.default

    def walk(graph: Graph) -> None:
        left, done = list(graph.nodes), set[Node]()
        while left:
            node = choose([n for n in left if done.issuperset(n.after)])
            left.remove(node)
            one(node)
            done.add(node)

    def one(node: Node) -> None:
        work = node.work
        if isinstance(work, Graph):
            walk(work)
        elif isinstance(work, Conditional):
            if work.loop:
                while work.condition.value:
                    walk(work.bodies[0])
            elif work.condition.value or len(work.bodies) > 1:
                walk(work.bodies[0 if work.condition.value else 1])
        elif work is not None:
            now = executable.work[node.number]
            if callable(now):
                now()
            else:
                run(*now, device)

    walk(executable.graph)
