"""What a recorder holds as a program for a page.

Launches keep their packed parameters, with addresses of the page's memory; copies, sums and fills are the entries of
`backends/cpu/native/copies.py`, compiled once. Arrays begin as they were before their first use if the record kept
that, else as they are now.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from workbench.backends.cpu.machine import WASM
from workbench.backends.cpu.native import copies
from workbench.backends.layout import FAULT_SIZE
from workbench.backends.prints import SYMBOL, prints
from workbench.cache.native import native_image
from workbench.errors import RecordError
from workbench.ir.attributes import PARTS
from workbench.ir.values import number_ops
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.copies import everywhere
from workbench.runtime.arrays.host_convert import repeats
from workbench.runtime.arrays.shapes import side_by_side
from workbench.runtime.device.memory import Memory
from workbench.runtime.graphs.nodes import BodyNode, LaunchNode, MoveNode
from workbench.runtime.graphs.plan_cpu import DENSE_SCALARS, STRIDED_SCALARS, move_words
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.pages.program import Program, Row
from workbench.runtime.records.contents import Contents, read_bytes
from workbench.runtime.records.entries import CopyEntry, Entry, FillEntry, GraphEntry, LaunchEntry, WriteEntry
from workbench.structs import Struct
from workbench.types import ArrayType, Scalar, Vector, element, is_float

LARGEST = 1_000_000_000
"""Bytes of a program's memory; a page of more would not open everywhere."""
INSTEAD = "A page can hold launches of kernels, copies, fills, tapes and graphs that ran on the CPU."


def program_of(
    entries: Sequence[Entry], kept: Contents | None = None, seen: Mapping[str, array] = MappingProxyType({})
) -> Program:
    """The program that runs these entries.

    Args:
        entries: what a page runs again, in order.
        kept: what arrays held before their first use, if they are to begin so; else with what they hold now.
        seen: arrays that are read after runs, by the page's names for them.

    Raises:
        RecordError: an entry cannot run in a page; the message names it.
    """
    for entry in entries:
        _check(entry)
    writer = _Writer(Contents(kept.kept if kept is not None else None))
    unread = _unread(entries) - {a.memory for a in seen.values()}
    writer.lay_out([*(a for e in entries for a in _arrays(e)), *seen.values()], unread)
    schedule: list[Any] = []
    for number, entry in enumerate(entries):
        schedule += writer.steps(entry)
        writer.owners += [number] * (len(writer.titles) - len(writer.owners))
    return writer.finished(schedule, seen)


def _check(entry: Entry) -> None:
    """Refuse what no page runs, by name."""
    if isinstance(entry, LaunchEntry):
        _check_launch(entry.record)
    elif isinstance(entry, GraphEntry):
        for node in entry.graph.walk():
            if isinstance(node, LaunchNode):
                _check_launch(node.record)
            elif not isinstance(node, MoveNode | BodyNode):
                raise RecordError(f"the graph calls {node.name}, which needs Python. {INSTEAD}")
    elif not isinstance(entry, CopyEntry | FillEntry):
        raise RecordError(f"{entry.name or entry.kind} is a call of {entry.kind}, which needs Python. {INSTEAD}")


def _check_launch(record: LaunchRecord) -> None:
    loaded = record.loaded
    if loaded.compile_for is None:
        raise RecordError(f"{record.kernel} is CUDA C++, which no browser runs. {INSTEAD}")
    if loaded.device.is_cuda:
        raise RecordError(f"{record.kernel} ran on {loaded.device}, and a page has a CPU only; record it there")


def _arrays(entry: Entry) -> Iterator[array]:
    """All arrays of an entry, conditions of graphs too."""
    yield from entry.arrays
    if isinstance(entry, GraphEntry):
        nodes = (node for node in entry.graph.walk() if isinstance(node, BodyNode))
        yield from (node.condition for node in nodes if node.condition is not None)


def _unread(entries: Sequence[Entry]) -> set[Memory]:
    """Memory that a copy or a fill writes whole before anything reads it, as a tape's copies: what it held is noise."""
    used: set[Memory] = set()
    found: set[Memory] = set()
    for entry in entries:
        memories = [a.memory for a in _arrays(entry)]
        if isinstance(entry, WriteEntry) and entry.kind != "add":
            target = entry.target
            whole = side_by_side(target) and target.nbytes == target.memory.nbytes
            if whole and target.memory not in used and target.memory not in memories[1:]:
                found.add(target.memory)
        used.update(memories)
    return found


class _Writer:
    """A program being written.

    Attributes:
        program: so far.
        owners: by row, the number of its entry.
        starts, places: where ranges of this process's memory begin and end, and where they lie in the page's.
    """

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.program = Program()
        self.starts: list[int] = []
        self.places: list[tuple[int, int, int]] = []
        self.numbers: dict[str, list[list[Any]]] = {}
        self.arrays: dict[str, dict[str, Any] | None] = {}
        self.titles: list[str] = []
        self.faults: list[dict[str, list[int]]] = []
        self.lines: list[int] = []
        self.owners: list[int] = []
        self.prints: dict[str, list[Any]] = {}

    def lay_out(self, arrays: Sequence[array], unread: set[Memory]) -> None:
        """Place the memory of all arrays; what overlaps here overlaps there. What is unread begins as zeros."""
        for a in arrays:
            if a.device.is_cuda:
                raise RecordError(
                    f"an array of this record lies on {a.device}, and a page has a CPU only; record it there"
                )
        before = set(self.contents.kept)
        self.contents.keep(arrays)
        used = {a.memory for a in arrays}
        spans = [
            (low, np.zeros_like(data) if memory in unread else data)
            for memory, (low, data) in self.contents.kept.items() if memory in used or memory in before
        ]  # fmt: skip
        merged: list[list[int]] = []
        for low, data in sorted(spans, key=lambda span: span[0]):
            if merged and low < merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], low + data.nbytes)
            elif data.nbytes:
                merged.append([low, low + data.nbytes])
        total = sum(high - low for low, high in merged)
        if total > LARGEST:
            raise RecordError(
                f"the arrays take {total / 1e9:.1f} GB, and a page takes {LARGEST / 1e9:.0f} GB; record fewer"
            )
        for low, high in merged:
            self.starts.append(low)
            # The same place within 64 bytes as here: then vectors are aligned alike.
            self.places.append((low, high, self.program.reserve(high - low + low % 64) + low % 64))
        for low, data in reversed(spans):  # of bytes that are kept twice, those that were kept first
            if data.nbytes:
                self.program.place(data.tobytes(), self.address(low))

    def address(self, here: int) -> int:
        """Where a byte of this process lies in the page; 0 for none."""
        k = bisect_right(self.starts, here) - 1
        if here == 0 or k < 0 or here >= self.places[k][1]:
            return 0
        low, _, there = self.places[k]
        return there + here - low

    def steps(self, entry: Entry) -> Iterator[Any]:
        """What an entry does: numbers of rows, and branches and loops of these."""
        match entry:
            case LaunchEntry():
                yield from self.launch(entry.record)
            case CopyEntry(what=what, target=target, source=source):
                yield from self.move(what, target, source, 0)
            case FillEntry(target=target, value=value):
                yield from self.move("fill", target, None, value)
            case GraphEntry(graph=graph):
                yield from self.body(graph)
            case _:
                raise AssertionError(entry.kind)

    def body(self, body: Any) -> Iterator[Any]:
        """The nodes of a graph, in the order in which they were captured."""
        for node in body.nodes:
            if isinstance(node, LaunchNode):
                yield from self.launch(node.record, bytes(node.buffer))
            elif isinstance(node, MoveNode):
                yield from self.move(node.kind, node.target, node.source, node.value)
            elif isinstance(node, BodyNode):
                inside = {name: list(self.body(found)) for name, found in node.bodies.items()}
                main = inside.get("body", inside.get("true", []))
                at = self.address(node.condition.address) if node.condition is not None else 0
                yield [node.kind if at else "if", at, main, inside.get("false", [])]

    def launch(self, record: LaunchRecord, buffer: bytes = b"") -> Iterator[int]:
        """The row of a launch."""
        loaded = record.loaded
        if not record.threads:
            return
        assert loaded.compile_for is not None
        entry = loaded.compile_for(WASM)
        name, program = entry.metadata["entry"], self.program
        if entry.metadata.get("prints") and loaded.digest not in self.prints:
            made = program.link(entry.image, (name,))
            self.prints[loaded.digest] = [made.addresses[SYMBOL], _prints(record)]
        params = bytearray(buffer or bytes(record.buffer))
        for slot in loaded.layout.slots:
            if isinstance(slot.type, ArrayType):
                (here,) = struct.unpack_from("<q", params, slot.offset)
                struct.pack_into("<q", params, slot.offset, self.address(here))
        at = program.place(bytes(params))
        self._name_arguments(record, at)
        fault = program.reserve(FAULT_SIZE) if loaded.checked else 0
        sums = entry.metadata.get("sums", 0)
        row = Row(program.entry(entry.image, name), at, record.threads, loaded.strip, sums, fault)
        yield self._row(row, loaded.title, _lines(record) if loaded.checked else {})

    def move(self, kind: str, target: array, source: array | None, value: Any) -> Iterator[int]:
        """The row of a copy, a sum or a fill."""
        if kind == "add" and isinstance(target.dtype, Struct):
            assert source is not None
            others = source.field_arrays()
            for path, part in target.field_arrays().items():
                if is_float(part.dtype):
                    yield from self.move(kind, part, others[path], 0)
            return
        if not target.size:
            return
        element = None
        if kind == "fill" and not repeats(target.dtype, value):
            one = everywhere(target, value)
            kind, source, element = "copy", one, read_bytes(one.memory, one.address, target.dtype.size)
        name, words, pattern = move_words(kind, target, source, value)
        placed = element if pattern is None else pattern
        from_ = self.address(words[1]) if placed is None else self.program.place(placed.tobytes())
        # The struct of copies.c: two pointers of 32 bits, then words of 64.
        params = struct.pack("<II", self.address(words[0]), from_) + np.array(words[2:], np.int64).tobytes()
        grain = max(1, (DENSE_SCALARS if words[3] else STRIDED_SCALARS) // words[2])
        entry = self.program.entry(_moves(), name)
        yield self._row(Row(entry, self.program.place(params), target.size, grain), kind, {})

    def _row(self, row: Row, title: str, lines: dict[str, list[int]]) -> int:
        self.program.rows.append(row)
        self.titles.append(title)
        if lines not in self.faults:
            self.faults.append(lines)
        self.lines.append(self.faults.index(lines))
        return len(self.titles) - 1

    def _name_arguments(self, record: LaunchRecord, at: int) -> None:
        """Note numbers and arrays by their parameters' names, arrays by kernel and name too; several share none."""
        for slot in record.loaded.layout.slots:
            if isinstance(slot.type, Scalar):
                self.numbers.setdefault(slot.name, []).append([at + slot.offset, slot.type.name])
        for name, value in record.arguments.items():
            if not isinstance(value, array) or isinstance(value.dtype, Struct):
                continue
            place = self.place_of(value)
            for known in (name, f"{record.loaded.title}.{name}"):
                self.arrays[known] = place if self.arrays.get(known, place) == place else None

    def place_of(self, value: array) -> dict[str, Any]:
        """How a page reads an array."""
        inner = value.dtype.length if isinstance(value.dtype, Vector) else 1
        return {
            "at": self.address(value.address), "dtype": element(value.dtype).name, "shape": list(value.shape),
            "strides": list(value.strides), "inner": inner,
        }  # fmt: skip

    def finished(self, schedule: list[Any], seen: Mapping[str, array]) -> Program:
        """The program with its schedule and names."""
        arrays = {name: place for name, place in self.arrays.items() if place is not None}
        arrays |= {name: self.place_of(a) for name, a in seen.items()}
        found = {
            "schedule": schedule,
            "numbers": self.numbers,
            "arrays": arrays,
            "titles": self.titles,
            "owners": self.owners,
        }
        self.program.facts = {**found, "faults": self.faults, "lines": self.lines, "prints": list(self.prints.values())}
        return self.program


def _lines(record: LaunchRecord) -> dict[str, list[int]]:
    """What faults say, and the numbers of the operations of which they say it."""
    found: dict[str, list[int]] = {}
    for op, number in number_ops(record.loaded.function).items():
        if op.location.line:
            text = f"line {op.location.shown_line}, {op.location.source.line(op.location.line).strip()}"
            found.setdefault(text, []).append(number)
    return found


def _prints(record: LaunchRecord) -> list[dict[str, Any]]:
    """Each print's parts, and the types of its values: names, and how many components there are (0: one number)."""
    found = []
    for op in prints(record.loaded.function):
        types = [(v.type, element(v.type).name) for v in op.operands]
        kinds = [[name, type.length if isinstance(type, Vector) else 0] for type, name in types]
        found.append({"parts": [p if isinstance(p, str) else list(p) for p in op.attrs[PARTS]], "types": kinds})
    return found


@cache
def _moves() -> bytes:
    return native_image("wb_moves", copies.text(), target=WASM)
