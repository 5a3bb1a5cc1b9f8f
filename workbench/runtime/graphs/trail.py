"""The way that a run takes through a graph: node by node, with where each stands in the graph's picture."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from workbench.runtime.work import Nodes, While, Work


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
        for turn, name in enumerate(node.turns(), 1):
            yield Stop(node, index, outer, turns, name)
            deeper = (*turns, turn) if isinstance(node, While) else turns
            yield from _through(node.bodies[name], starts[name], outer, deeper)
        yield Stop(node, index, outer, turns)
