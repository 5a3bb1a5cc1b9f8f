"""Work of the CPU as one native call: a table of steps for the interpreter of `backends/cpu/native/schedule.c`.

A graph runs level by level: levels with little work one after the other on the caller's thread, a level with more than
about 0.2 ms cut into pieces that all cores share, whichever node they belong to. A list runs in order. The packed
parameters of all launches lie in one block that belongs to the plan, so a changed number is written where the tables
point already.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.backends.cpu.native import copies, schedule
from workbench.backends.layout import DECLINED, FAULT_SIZE
from workbench.cache.native import native_image
from workbench.errors import KernelFault
from workbench.runtime.arrays.copies import move_of
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.execute import cores, cpu_threads
from workbench.runtime.launching.pending_faults import fault_of
from workbench.runtime.launching.prints import printing
from workbench.runtime.native.launcher import Native, explain, install_launcher, runs, sorted_names
from workbench.runtime.work import Add, Copy, Fill, Graph, Launch, Nodes, While, Work

DENSE_SCALARS, STRIDED_SCALARS = 131_072, 8_192
"""Scalars of a copy that one core takes at a time: of dense arrays, and of strided ones."""


class Row(NamedTuple):
    """A launch, copy, sum or fill for the native interpreter.

    Attributes:
        entry: the address of the native function.
        params: the address of its packed parameters.
        total: how many threads or elements it has.
        strip: how many of them a core takes at a time; after each strip it looks whether to stop.
        fault: the address of its fault record; 0 without checks.
        mask: lock bits of the memory that it reads and changes (`backends/cpu/native/dispatch.py`).
        sums: how many words each strip leaves for the end.
        cores: the most CPU threads that share it.
    """

    entry: int
    params: int
    total: int
    strip: int
    fault: int
    mask: int
    sums: int
    cores: int

    def launch(self, threads: int, mask: int) -> tuple[int, ...]:
        """Return this work as a row of the native launcher's table, for so many CPU threads, under these locks."""
        threads = min(threads, self.cores)
        return self.entry, self.params, self.total, threads, self.strip, self.fault, mask, self.sums


class CpuPlan:
    """A plan that runs nodes on the CPU by one native call: tables for the interpreter, and all that they point to.

    Attributes:
        nodes: what runs; for a graph, nodes of bodies inside included.
        params: the packed parameters of all nodes.
        offsets: where each node's parameters begin in `params`.
        conditional: the records of launches whose code is right for some numbers only.
    """

    def __init__(self, nodes: Sequence[Work], body: Nodes | None = None) -> None:
        """Plan nodes in their order; with `body`, whose `flat_nodes` they are, by its levels, branches and loops."""
        self.nodes = list(nodes)
        self._tables: list[np.ndarray[Any, Any]] = []
        parts, self._moves = self._packed()
        self.offsets = np.cumsum([0, *(part.size for part in parts)])
        self.params = np.concatenate([*parts, np.zeros(8, np.uint8)])
        self._is_in_order, self._begin = body is None, 0
        launches = [(k, self._executable(n)) for k, n in enumerate(self.nodes) if isinstance(n, Launch)]
        records = [n.record for n in self.nodes if isinstance(n, Launch)]
        self.conditional = [record for record in records if record.is_conditional]
        self._printing = tuple(dict.fromkeys(executable for _, executable in launches if executable.prints))
        self._faulting = {k: at for at, k in enumerate(k for k, executable in launches if executable.checked)}
        self._faults = np.zeros((len(self._faulting), FAULT_SIZE // 8), np.int64)
        self._first = _first_numbers(body) if body is not None else {}
        self._title = "" if body is None else _title(self.nodes)
        head = self._table(body) if body is not None else self._in_order()
        self._run = install_launcher().functions.steps(self._words([head], 2))

    @runs(lambda frame: frame["self"].native)
    def run(self) -> None:
        """Run all nodes; for a graph, what kernels print and a fault are reported when all is done.

        Raises:
            KernelFault: what the first launch with a fault reported; of nodes in order, what comes after has not run.
            KeyboardInterrupt: or whatever a signal handler raises: it was stopped midway.
        """
        if self._faulting or self._printing:
            self._run_reporting()
            return
        try:
            self._run()
        except BaseException as error:
            explain(error, self.native)
            raise

    def _run_reporting(self) -> None:
        """Run all nodes; then show what kernels printed, and raise the first fault.

        Raises:
            KernelFault: what the first launch with a fault reported.
        """
        declined = self._run_noting()
        while declined is not None:
            declined = self._resume(declined)

    def _run_noting(self) -> int | None:
        """Run the nodes, show what kernels printed, and return the position of a launch that was declined, or None.

        Raises:
            KernelFault: what the first launch with a fault reported.
        """
        self._faults.fill(0)
        with printing(*self._printing):
            try:
                self._run()
            except BaseException as error:
                explain(error, self.native)
                raise
        for k, at in self._faulting.items():
            if self._faults[at, 0] and self._faults[at, 1] == DECLINED:
                return k
            fault = self._fault(k, self._faults[at]) if self._faults[at, 0] else None
            if fault is not None:
                raise fault
        return None

    def _resume(self, k: int) -> int | None:
        """Run nodes in order from `k` on, whose launch was declined, and return as `_run_noting` does.

        All launches of the code that declined now run the code that takes every launch.

        Raises:
            KernelFault: what the first of these launches with a fault reported.
        """
        executable = self._launch(k).record.executable
        _ = executable.complete
        rows, (step,) = self._tables[0], self._tables[1]
        for other, node in enumerate(self.nodes):
            if isinstance(node, Launch) and node.record.executable is executable:
                row = self._row(other)
                rows[other] = row.launch(row.cores, row.mask)
        before = step[1], step[2]
        step[1], step[2], self._begin = rows[k:].ctypes.data, len(rows) - k, k
        try:
            return self._run_noting()
        finally:
            step[1], step[2], self._begin = *before, 0

    def _fault(self, k: int, words: np.ndarray[Any, Any]) -> KernelFault | None:
        """Return the fault of the launch at position `k` from the words of its fault record; None if it has none."""
        record = self._launch(k).record
        params = self.params[self.offsets[k] : self.offsets[k] + record.executable.layout.size]
        return fault_of(record.executable, record.dim, params, words.tobytes())

    @property
    def native(self) -> Native:
        """The native call, as messages describe it: a graph as a whole, of a list the node that it has come to."""
        if self._title:
            written = sorted_names(name for n in self.nodes if isinstance(n, Launch) for name in n.record.writes)
            return Native(self._title, written=written)
        count = len(self.nodes)
        node = self.nodes[min(self._begin + install_launcher().stopping.words().rows, count - 1)]
        if not isinstance(node, Launch):
            return Native(f"replay of a {node.kind}", rows=count)
        record = node.record
        return Native(f"replay of {record.executable.title}", record.threads, sorted_names(record.writes), count)

    @property
    def direct(self) -> tuple[Callable[[], int], CpuPlan] | None:
        """The native function alone and this plan, which it needs; None if a kernel prints or has checks."""
        return None if self._faulting or self._printing else (self._run, self)

    def patch(self, body: Nodes) -> bool:
        """Overwrite the plan's parameters by those of the body's launches, if code, threads and locks stay the same.

        Return whether they do; if not, nothing changes, and another plan is needed.
        """
        new = flat_nodes(body)
        pairs = [(k, n) for k, n in enumerate(new) if isinstance(n, Launch) and n is not self.nodes[k]]
        if not all(_fixed(self._launch(k)) == _fixed(node) for k, node in pairs):
            return False
        for k, node in pairs:
            self._write(k, node)
            self.nodes[k] = node
        return True

    def _write(self, k: int, node: Launch) -> None:
        """Overwrite the packed parameters of node `k` by those of another launch of the same code."""
        packed = np.frombuffer(_pack(node), np.uint8)
        self.params[self.offsets[k] : self.offsets[k] + packed.size] = packed

    def _launch(self, k: int) -> Launch:
        """Return node `k`, which is a launch."""
        node = self.nodes[k]
        assert isinstance(node, Launch)
        return node

    def _packed(self) -> tuple[list[np.ndarray[Any, Any]], dict[int, tuple[int, Sequence[int], Any]]]:
        """Return each node's packed parameters, and by index of each copy, sum and fill its native function's data.

        That is the function's address, the parameters as words, and what these point to.
        """
        entries, moves = copies.entries(native_image), dict[int, tuple[int, Sequence[int], Any]]()
        parts: list[np.ndarray[Any, Any]] = []
        for k, node in enumerate(self.nodes):
            if isinstance(node, Launch):
                parts.append(np.frombuffer(_pack(node), np.uint8))
            elif isinstance(node, Copy | Fill):
                name, words, keep = move_words(node)
                moves[k] = entries[name], words, keep
                parts.append(np.array(words, np.int64).view(np.uint8))
            else:
                parts.append(np.zeros(0, np.uint8))
        return parts, moves

    def _words(self, rows: Sequence[Sequence[int]], width: int) -> int:
        """Return the address of a table of 64-bit words with these rows, which lives as long as the plan."""
        table = np.array(rows, np.int64).reshape(len(rows), width)
        self._tables.append(table)
        return table.ctypes.data

    def _in_order(self) -> tuple[int, int]:
        """Return the address and the number (1) of steps that run all nodes one after another."""
        rows = [row.launch(row.cores, row.mask) for row in map(self._row, range(len(self.nodes)))]
        step = schedule.IN_ORDER, self._words(rows, len(rows[0])), len(rows), 1, 0, 0, 0, 0
        return self._words([step], schedule.STEP_WORDS), 1

    def _table(self, body: Nodes) -> tuple[int, int]:
        """Return the address and the number of the interpreter's steps for a body."""
        steps = list(self._steps_of(body))
        return self._words(steps, schedule.STEP_WORDS), len(steps)

    def _steps_of(self, body: Nodes) -> Iterator[tuple[int, ...]]:
        """Yield the interpreter's steps of a body, level by level: small work in one thread, large work in several."""
        inline: list[Row] = []
        first = self._first[id(body)]
        for level in body.levels:
            works = [self._row(first + k) for k in level if not body.nodes[k].bodies]
            works = [w for w in works if w.total]
            threads = min(cpu_threads(), math.ceil(sum(w.total / w.strip for w in works if w.cores > 1)))
            if threads < 2:
                inline += works
            else:
                yield from self._flush(inline)
                yield from self._launches(schedule.LAUNCH, [w for w in works if w.sums], threads)
                yield from self._launches(schedule.SHARED, [w for w in works if not w.sums], threads)
            for node in (body.nodes[k] for k in level):
                if isinstance(node, Graph):
                    yield from self._flush(inline)
                    yield self._control(node)
        yield from self._flush(inline)

    def _flush(self, inline: list[Row]) -> Iterator[tuple[int, ...]]:
        """Yield the step that runs the waiting rows in one thread, if there are any, and empty the list."""
        yield from self._launches(schedule.LAUNCH, inline, 1)
        inline.clear()

    def _launches(self, kind: int, works: Sequence[Row], threads: int) -> Iterator[tuple[int, ...]]:
        """Yield the interpreter's step that runs some rows, under the locks of all; nothing if there are none."""
        rows = [w.launch(threads, 0) for w in works]
        if rows:
            yield kind, self._words(rows, len(rows[0])), len(rows), threads, 0, 0, 0, _mask(works)

    def _control(self, node: Graph) -> tuple[int, ...]:
        """Return the interpreter's step for a graph inside, a branch or a loop; a condition's address of 0 is none."""
        kind = schedule.WHILE if isinstance(node, While) else schedule.IF
        condition = node.condition.address if node.condition is not None else 0
        main, other = node.graph, node.bodies.get("false")
        first = self._table(main) if main is not None else (0, 0)
        second = self._table(other) if other is not None else (0, 0)
        return kind, *first, 1, condition, *second, 0

    def _executable(self, node: Launch) -> Executable:
        """Return the code that a launch runs: code that may decline it only where `_resume` can go on from there."""
        executable = node.record.executable
        may_decline = self._is_in_order and not executable.prints and "complete" not in vars(executable)
        return executable if may_decline else executable.complete

    def _row(self, k: int) -> Row:
        """Return node `k`, a launch, copy, sum or fill, as native work: entry, parameters, threads and locks."""
        node, params = self.nodes[k], self.params.ctypes.data + int(self.offsets[k])
        if isinstance(node, Launch):
            record, executable = node.record, self._executable(node)
            at = self._faulting.get(k)
            fault = self._faults[at].ctypes.data if at is not None else 0
            mask = executable.mask(record.values)
            return Row(
                executable.address,
                params,
                record.threads,
                executable.strip,
                fault,
                mask,
                executable.sums,
                cores(executable),
            )
        entry, words, _ = self._moves[k]
        mask = node.target.memory.lock_bit if isinstance(node, Add) else 0
        return Row(entry, params, math.prod(node.size), move_grain(words), 0, mask, 0, cpu_threads())


def flat_nodes(body: Nodes) -> list[Work]:
    """Return the nodes of a body, then those of each body inside; a body that is used twice counts once."""
    return [node for inner in _bodies(body) for node in inner.nodes]


def _bodies(body: Nodes) -> list[Nodes]:
    """Return a body and those inside it, at any depth, each once."""
    inside = (inner for node in body.walk() for inner in node.bodies.values())
    return list({id(one): one for one in (body, *inside)}.values())


def _first_numbers(body: Nodes) -> dict[int, int]:
    """Return the position in `flat_nodes` at which each body's nodes begin, by the body's id."""
    first, begins = 0, dict[int, int]()
    for one in _bodies(body):
        begins[id(one)] = first
        first += len(one.nodes)
    return begins


def _title(nodes: Sequence[Work]) -> str:
    """Return a graph's name for messages, by the kernels in it, at most four of them."""
    names = list(dict.fromkeys(n.record.executable.title for n in nodes if isinstance(n, Launch)))
    shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    return f"graph of {shown}" if shown else "graph"


def _pack(node: Launch) -> bytes:
    """Return a launch's dimensions and arguments as the bytes that its code reads."""
    record = node.record
    return record.executable.packer.pack(record.dim, record.values)


def _fixed(node: Launch) -> tuple[int, int, int]:
    """Return what a plan depends on of a launch, besides parameters: its code, its threads and its lock bits."""
    record = node.record
    return id(record.executable), record.threads, record.executable.mask(record.values)


def _mask(rows: Sequence[Row]) -> int:
    """Return the locks of all rows, as the union of their bit masks."""
    mask = 0
    for row in rows:
        mask |= row.mask
    return mask


def move_words(node: Copy | Fill) -> tuple[str, list[int], Any]:
    """Return the native entry of a copy, sum or fill, its parameters as words, and what these point to.

    The entries are in `backends/cpu/native/copies.py`.

    Raises:
        LaunchError: a sum or fill of a type that has none.
    """
    source, value = (None, node.value) if isinstance(node, Fill) else (node.source, 0)
    move = move_of(node.kind, node.target, source, value)
    words = list(move.words)
    if move.pattern is not None:
        words[1] = move.pattern.ctypes.data
    return move.entry, words, move.pattern


def move_grain(words: Sequence[int]) -> int:
    """Return how many elements of a copy, sum or fill with these parameters one core takes at a time."""
    return max(1, (DENSE_SCALARS if words[3] else STRIDED_SCALARS) // words[2])
