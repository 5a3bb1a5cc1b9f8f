"""A graph on the CPU as one native call: its levels as steps of the native scheduler.

Levels with little work run one after the other on the caller's thread; a level with more than about 0.2 ms is cut into
pieces that all cores share, whichever node they belong to. Parameter buffers belong to the nodes, so that a changed
scalar is written where the plan points already.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from ctypes import addressof
from typing import Any, NamedTuple

import numpy as np

from workbench.backends.cpu.native import copies, schedule
from workbench.backends.layout import FAULT_SIZE
from workbench.cache.native import native_image
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.copies import move_of
from workbench.runtime.graphs.nodes import BodyNode, LaunchNode, MoveNode, Node, Subgraph
from workbench.runtime.launching.execute import cpu_threads
from workbench.runtime.launching.pending_faults import fault_of
from workbench.runtime.launching.prints import printing
from workbench.runtime.native.in_flight import Native, explain, runs, sorted_names
from workbench.runtime.native.launcher import install_launcher

DENSE_SCALARS, STRIDED_SCALARS = 131_072, 8_192
"""Scalars of a copy that one core takes at a time."""


class Work(NamedTuple):
    """An entry with its parameters, how many threads or elements it has, a fault record.

    One core takes `grain` of them at a time, and looks after each `strip` whether to stop. `mask` is the memory that it
    reads and changes; see `backends/cpu/native/memory_locks.py`. Each strip leaves `sums` words for the end.
    """

    entry: int
    params: int
    total: int
    grain: int
    strip: int
    fault: int
    mask: int
    sums: int = 0


class CpuPlan:
    """Tables for the native scheduler, and all they point to."""

    def __init__(self, body: Subgraph) -> None:
        self._keep: list[Any] = []
        self._entries = copies.entries(native_image)
        launches = [n for n in body.walk() if isinstance(n, LaunchNode)]
        checked = [n for n in launches if n.record.loaded.checked or n.record.loaded.prints]
        self._printing = [n.record.loaded for n in launches if n.record.loaded.prints]
        self._checked = {id(node): k for k, node in enumerate(checked)}
        self._nodes = checked
        self._planned: dict[int, tuple[int, int, int]] = {}
        self._faults = np.zeros((len(checked), FAULT_SIZE // 8), np.int64)
        self._pair = np.array(self._table(body), np.int64)
        names = list(dict.fromkeys(n.record.loaded.title for n in launches))
        shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        written = sorted_names(name for n in launches for name in n.record.writes)
        self.native = Native(f"graph of {shown}" if shown else "graph", written=written)
        self._run = install_launcher().functions.graph(self._pair.ctypes.data)

    @runs(lambda frame: frame["self"].native)
    def run(self) -> None:
        """Run it; what kernels print, and a fault, are reported when all is done.

        Raises:
            KernelFault: what the first launch with a fault reported.
            KeyboardInterrupt: or whatever a signal handler raises: it was stopped midway.
        """
        self._faults.fill(0)
        with printing(*self._printing):
            try:
                self._run()
            except BaseException as error:
                explain(error, self.native)
                raise
        for node, record in zip(self._nodes, self._faults, strict=True):
            fault = fault_of(node.record.loaded, node.dims, node.buffer, record.tobytes()) if record[0] else None
            if fault is not None:
                raise fault

    @property
    def direct(self) -> tuple[Callable[[], int], CpuPlan] | None:
        """The native function alone, where no kernel prints or tests, and this plan, which it needs."""
        return None if self._nodes else (self._run, self)

    def patch(self, nodes: Sequence[LaunchNode]) -> bool:
        """Whether these launches' current parameters are already where they should be: in the buffers."""
        return all(self._planned.get(id(n)) == _fixed(n) for n in nodes)

    def _table(self, body: Subgraph) -> tuple[int, int]:
        rows = list(self._steps_of(body))
        return self._words(rows, schedule.STEP_WORDS), len(rows)

    def _words(self, rows: Sequence[Sequence[int]], width: int) -> int:
        table = np.array(rows, np.int64).reshape(len(rows), width)
        self._keep.append(table)
        return table.ctypes.data

    def _steps_of(self, body: Subgraph) -> Iterator[tuple[int, ...]]:
        inline: list[Work] = []
        for level in body.levels:
            nodes = [body.nodes[k] for k in level]
            works = [w for w in map(self._work, nodes) if w is not None and w.total]
            weight = sum(w.total / w.grain for w in works)
            threads = min(cpu_threads(), math.ceil(weight))
            if threads < 2:
                inline += works
            else:
                yield from self._flush(inline)
                for w in (w for w in works if w.sums):
                    row = (
                        w.entry,
                        w.params,
                        w.total,
                        min(threads, -(-w.total // w.grain)),
                        w.strip,
                        w.fault,
                        w.mask,
                        w.sums,
                    )
                    yield schedule.LAUNCH, self._words([row], len(row)), 1, 1, 0, 0, 0, 0
                works = [w for w in works if not w.sums]
                items = [
                    (w.entry, w.params, start, min(start + w.grain, w.total), w.fault, w.strip, 0)
                    for w in works
                    for start in range(0, w.total, w.grain)
                ]
                table = self._words(items, schedule.ITEM_WORDS)
                if items:
                    yield schedule.RUN, table, len(items), min(threads, len(items)), 0, 0, 0, _mask(works)
            for node in nodes:
                if isinstance(node, BodyNode):
                    yield from self._flush(inline)
                    yield self._control(node)
        yield from self._flush(inline)

    def _flush(self, inline: list[Work]) -> Iterator[tuple[int, ...]]:
        if inline:
            items = [(w.entry, w.params, 0, w.total, w.fault, w.strip, w.sums) for w in inline]
            yield schedule.RUN, self._words(items, schedule.ITEM_WORDS), len(items), 1, 0, 0, 0, _mask(inline)
            inline.clear()

    def _control(self, node: BodyNode) -> tuple[int, ...]:
        kind = schedule.WHILE if node.kind == "while" else schedule.IF
        condition = node.condition.address if node.condition is not None else 0
        main = node.bodies.get("body") or node.bodies.get("true")
        other = node.bodies.get("false")
        first = self._table(main) if main is not None else (0, 0)
        second = self._table(other) if other is not None else (0, 0)
        return kind, *first, 1, condition, *second, 0

    def _work(self, node: Node) -> Work | None:
        if isinstance(node, LaunchNode):
            loaded = node.record.loaded
            self._keep.append((loaded, node.buffer))
            self._planned[id(node)] = fixed = _fixed(node)
            slot = self._checked.get(id(node))
            fault = self._faults[slot].ctypes.data if slot is not None else 0
            total = math.prod(node.dims)
            return Work(
                loaded.address, addressof(node.buffer), total, loaded.threads_per_task, loaded.strip, fault, fixed[2],
                loaded.sums,
            )  # fmt: skip
        return self._move(node) if isinstance(node, MoveNode) else None

    def _move(self, node: MoveNode) -> Work:
        entry, words, keep = move_words(node.kind, node.target, node.source, node.value)
        params = np.array(words, np.int64)
        self._keep.append((params, keep, node.target, node.source))
        grain = max(1, (DENSE_SCALARS if words[3] else STRIDED_SCALARS) // words[2])
        mask = node.target.memory.turn if node.kind == "add" else 0
        return Work(self._entries[entry], params.ctypes.data, node.target.size, grain, grain, 0, mask)


def _fixed(node: LaunchNode) -> tuple[int, int, int]:
    """What a plan says of a launch beside its parameters: code, threads, the memory that it takes turns on."""
    record = node.record
    return id(record.loaded), record.threads, record.loaded.mask(record.values)


def _mask(works: Sequence[Work]) -> int:
    found = 0
    for work in works:
        found |= work.mask
    return found


def move_words(kind: str, target: array, source: array | None, value: Any) -> tuple[str, list[int], Any]:
    """The entry of `backends/cpu/moves` for a copy, sum or fill, its parameters, and what these point to.

    Raises:
        LaunchError: a sum or fill of a type that has none.
    """
    move = move_of(kind, target, source, value)
    words = list(move.words)
    if move.pattern is not None:
        words[1] = move.pattern.ctypes.data
    return move.entry, words, move.pattern
