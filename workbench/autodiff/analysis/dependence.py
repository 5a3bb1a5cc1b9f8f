"""Paths from elements of one array to those of another: the path with the fewest cuts.

A derivative flows along the edges of `activity`. Values flow along others too, where it is cut: casts to integers,
comparisons, indices, conditions, builtins whose rule says None. The cuts on the way say why a gradient is zero.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection

import msgspec

from workbench.autodiff.analysis.activity import edges_of
from workbench.builtins import TABLE
from workbench.ir.ops import EFFECTS
from workbench.ir.values import Block, Function, Op, Value
from workbench.types import bool as bool_
from workbench.types import is_float


class Link(msgspec.Struct, frozen=True, eq=False):
    """A step of a path: an operation through which one value influences another, or an array.

    Attributes:
        op: the operation.
        value: the influenced value; None for a write to the array.
        cut: why no derivative flows ("cast", "comparison", "index", "condition", "builtin", "integers"); "" if one
            does.
        inside: the `if`, `for` and `while` operations around it, outermost first.
    """

    op: Op
    value: Value | None
    cut: str
    inside: tuple[Op, ...]


def shortest_path(function: Function, sources: Collection[str], targets: Collection[str]) -> tuple[Link, ...] | None:
    """Return the path with the fewest cuts from a load of a source array to a write to a target; None if there is none.

    Args:
        function: a kernel.
        sources: names of arrays.
        targets: names of arrays.
    """
    graph = _Graph(sources, targets)
    graph.block(function.body, ())
    return graph.shortest()


class _Graph:
    """The links of a function, by the value from which they start; those of loads from a source start from None.

    Attributes:
        sources: names of the arrays from whose loads paths begin.
        targets: names of the arrays at whose writes paths end.
        links: by value, the steps that lead on from it.
    """

    def __init__(self, sources: Collection[str], targets: Collection[str]) -> None:
        self.sources, self.targets = sources, targets
        self.links: dict[Value | None, list[Link]] = defaultdict(list)

    def block(self, block: Block, inside: tuple[Op, ...]) -> None:
        """Add the links of a block, also of nested ones; `inside` are the operations around it, outermost first."""
        for op in block.ops:
            self.op(op, inside)
            for inner in op.blocks:
                self.block(inner, (*inside, op))

    def op(self, op: Op, inside: tuple[Op, ...]) -> None:
        """Add the links through an operation, without those inside its blocks."""
        if op.name == "load" and op.operands[0].name in self.sources:
            self.links[None].append(Link(op, op.result, "" if is_float(op.result.type) else "integers", inside))
        if op.name in EFFECTS:
            self.effect(op, inside)
            return
        flows = dict.fromkeys((a, b) for a, b in edges_of(op) if is_float(a.type) and is_float(b.type))
        for a, b in flows:
            self.links[a].append(Link(op, b, "", inside))
        for a, b in self.others(op):
            if (a, b) not in flows:
                self.links[a].append(Link(op, b, _cut(op, b), inside))

    def others(self, op: Op) -> list[tuple[Value, Value]]:
        """Return all pairs of values of which the first may influence the second through an operation."""
        inner = [p for block in op.blocks for p in block.params]
        ends = [*op.results, *inner]
        pairs = [(a, b) for a in op.operands for b in ends]
        for block in op.blocks:
            pairs += [(a, b) for a in block.yielded for b in ends]
        return pairs

    def effect(self, op: Op, inside: tuple[Op, ...]) -> None:
        """Add the links of a write to a target array: from its value, its indices and the conditions around it."""
        if op.operands[0].name not in self.targets:
            return
        *indices, value = op.operands[1:]
        plain = is_float(value.type) and op.name != "atomic"
        self.links[value].append(Link(op, None, "" if plain else _cut(op, None), inside))
        for index in indices:
            self.links[index].append(Link(op, None, "index", inside))
        for around in inside:
            # What decides whether a write happens influences the array too, though no derivative follows.
            for condition in (*around.operands, *(v for b in around.blocks[:-1] for v in b.yielded)):
                self.links[condition].append(Link(op, None, "condition", inside))

    def shortest(self) -> tuple[Link, ...] | None:
        """Return a path with the fewest cuts from a source to a target; None if there is none."""
        best: dict[Value | None, int] = {None: 0}
        came: dict[Value, tuple[Value | None, Link]] = {}
        pending: deque[tuple[Value | None, int]] = deque([(None, 0)])
        end: tuple[int, Value | None, Link] | None = None
        while pending:
            value, cost = pending.popleft()
            # A stale entry of the queue, or one that cannot beat the way that was found.
            if cost > best[value] or (end is not None and cost >= end[0]):
                continue
            for link in self.links[value]:
                total = cost + bool(link.cut)
                if link.value is None:
                    end = (total, value, link) if end is None or total < end[0] else end
                elif total < best.get(link.value, 1 << 30):
                    best[link.value] = total
                    came[link.value] = (value, link)
                    # Costs are 0 or 1, so a deque replaces the heap of Dijkstra's algorithm (0-1 breadth-first search).
                    (pending.append if link.cut else pending.appendleft)((link.value, total))
        if end is None:
            return None
        _, value, link = end
        links = [link]
        while value is not None:
            value, link = came[value]
            links.append(link)
        return tuple(reversed(links))


def _cut(op: Op, result: Value | None) -> str:
    """Return why no derivative flows through an operation, as `Link.cut` says it; `result` is None for a write."""
    if op.name in _CUTS:
        return _CUTS[op.name]
    if op.name in TABLE:
        return "comparison" if result is not None and result.type == bool_ else "builtin"
    return "integers"


_CUTS = {
    "cast": "cast", "load": "index", "extract": "index", "insert": "index", "if": "condition", "for": "condition",
    "while": "condition", "atomic": "builtin",
}  # fmt: skip
