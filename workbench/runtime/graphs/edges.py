"""The edges between nodes, from what they read and write, and the levels of nodes that may run in parallel.

The address space is cut where any access begins or ends. Each piece knows its last writer and who read it since, so a
node depends on the writer of what it reads (RAW), on the readers of what it writes (WAR), and on the writer before it
(WAW). An edge that a longer path implies is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import msgspec

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
