"""A recorder's work as a program for a page that computes: its memory, its modules, and rows that run one by one.

`kernel_ext/widgets/static/machine.js` runs it. Memory, from address 0: room for the stack, which grows downwards, so
one that is too deep ends in a trap and not in data; then whatever is placed, in order. What launches need while they
run comes behind it.

Launches keep their packed parameters, with addresses of the page's memory; copies, sums and fills are the entries of
`backends/cpu/native/copies.py`, compiled once. Arrays begin as they were before their first use if the record kept
that, else as they are now.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from workbench.backends.cpu.machine import WASM
from workbench.backends.cpu.native import copies
from workbench.backends.layout import FAULT_SIZE
from workbench.backends.prints import SYMBOL, prints
from workbench.backends.wasm.module import Module, make_module
from workbench.cache.native import native_image
from workbench.errors import RecordError
from workbench.ir.ops import PARTS
from workbench.ir.values import number_ops
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.runtime.graphs.plan_cpu import move_grain, move_words
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.records.contents import Contents
from workbench.runtime.work import Add, Call, Copy, Fill, Graph, Launch, Work, plain_moves
from workbench.structs import Struct
from workbench.types import ArrayType, Complex, Scalar, Vector, element

STACK = 1 << 20
ALIGNED = 64


Row = tuple[int, int, int, int, int, int]
"""A launch, copy, sum or fill.

It has the number of its function; the address of its packed parameters; how many threads or elements it has; how many
of them a strip has (the native launcher's number, so that sums have the same bits); how many words a strip leaves for
the end; the address of its fault record, 0 without checks.
"""


@dataclass
class Program:
    """A program for a page: memory with its first contents, WebAssembly modules linked into it, and rows.

    Attributes:
        rows: what runs.
        page_data: further entries of `data`, JSON values.
        stop: the address of the words that tell native code to stop.
    """

    rows: list[Row] = field(default_factory=list[Row])
    page_data: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Reserve the stack and the words that tell native code to stop."""
        self._end = STACK
        self._chunks: list[tuple[int, bytes]] = []
        self._modules: list[tuple[Module, list[str]]] = []
        self._entries: dict[tuple[bytes, str], int] = {}
        self.stop = self.reserve(40)

    def reserve(self, size: int) -> int:
        """Reserve so many bytes, which are zeros at first; return their address."""
        start = self._end
        self._end += -(-size // ALIGNED) * ALIGNED
        return start

    def place(self, data: bytes, start: int | None = None) -> int:
        """Put bytes into the memory, as they are to be whenever the program is rewound; return their address.

        With `start` they are put there, in memory that was reserved before.
        """
        at = self.reserve(len(data)) if start is None else start
        if data:
            self._chunks.append((at, data))
        return at

    def entry(self, image: bytes, name: str) -> int:
        """Return the number of the function `name` of an object file, which is linked at the first call."""
        if (image, name) not in self._entries:
            self.link(image, (name,))
        return self._entries[image, name]

    def link(self, image: bytes, names: Sequence[str]) -> Module:
        """Link an object file, and number its functions `names`; return the module.

        Raises:
            BuildError: it is no WebAssembly object, or lacks one of the functions.
        """
        module = make_module(image, names, self._end)
        self.reserve(module.size)
        for name in names:
            self._entries[image, name] = len(self._entries)
        self._modules.append((module, list(names)))
        return module

    @property
    def size(self) -> int:
        """Bytes of its memory."""
        return self._end

    @property
    def code_size(self) -> int:
        """Bytes of its WebAssembly modules."""
        return sum(len(module.image) for module, _ in self._modules)

    def data(self) -> dict[str, Any]:
        """Return the description of the program that the page's `openMachine` takes, as JSON values."""
        rows = [list(row) for row in self.rows]
        plain: dict[str, Any] = {
            "schedule": list(range(len(rows))),
            "numbers": {},
            "counters": {},
            "arrays": {},
            "titles": [],
            "faults": [],
            "lines": [],
            "prints": [],
        }
        return {
            **plain, "memory": self._end, "stack": STACK, "stop": self.stop, "rows": rows,
            "chunks": [[at, len(data)] for at, data in self._chunks],
            "modules": [[len(module.image), names, module.fused] for module, names in self._modules], **self.page_data,
        }  # fmt: skip

    def payload(self) -> bytes:
        """Return the bytes that the page's `openMachine` takes: contents of memory, then modules."""
        return b"".join([*(data for _, data in self._chunks), *(module.image for module, _ in self._modules)])

    def compressed(self) -> bytes:
        """Return the payload compressed, as a browser's `DecompressionStream("deflate")` reads it."""
        return zlib.compress(self.payload(), 9)


LARGEST = 1_000_000_000
"""The most bytes of a program's memory; a page with more would not open everywhere."""
INSTEAD = "A page can hold launches of kernels, copies, fills, tapes, graphs and calls of JAX that ran on the CPU."


def program_of(
    entries: Sequence[Work],
    contents: Contents | None = None,
    seen: Mapping[str, array] = MappingProxyType({}),
    counters: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> Program:
    """Return the program by which a web page runs entries of a record again.

    Args:
        entries: what a page runs again, in order.
        contents: what arrays held before their first use, if they are to begin so; else with what they hold now.
        seen: arrays that are read after runs, by the page's names for them.
        counters: by how much numbers advance with each run, and how far they are.

    Raises:
        RecordError: an entry cannot run in a page; the message names it.
    """
    numbered = [(n, part) for n, entry in enumerate(entries) for part in _parts(entry.unfolded())]
    entries = [entry for _, entry in numbered]
    for entry in entries:
        _check(entry)
    writer = _Writer(Contents(contents.saved if contents is not None else None))
    unread = _unread(entries) - {a.memory for a in seen.values()}
    writer.lay_out([*(a for e in entries for a in e.arrays), *seen.values()], unread)
    schedule: list[Any] = []
    for number, entry in numbered:
        schedule += writer.steps(entry)
        writer.owners += [number] * (len(writer.titles) - len(writer.owners))
    program = writer.finished(schedule, seen)
    program.page_data["counters"] = {name: list(values) for name, values in counters.items()}
    return program


def _check(entry: Work) -> None:
    """Check that a page can run an entry, and all that is inside it.

    Raises:
        RecordError: it cannot; the message names the entry.
    """
    if isinstance(entry, Launch):
        _check_launch(entry.record)
    elif not isinstance(entry, Copy | Fill | Graph | Call):
        raise RecordError(f"{entry.title} is a call of {entry.kind}, which needs Python. {INSTEAD}")
    inside = entry.steps if isinstance(entry, Call) else [n for body in entry.bodies.values() for n in body.nodes]
    for node in inside:
        _check(node)


def _parts(entry: Work) -> Iterator[Work]:
    """Yield an entry, or if it is a copy, sum or fill the plain ones that it consists of."""
    yield from plain_moves(entry) if isinstance(entry, Copy | Fill) else (entry,)


def _check_launch(record: LaunchRecord) -> None:
    """Raise a RecordError if a page cannot run the launch: CUDA C++, or a launch on a GPU."""
    executable = record.executable
    if executable.compile_for is None:
        raise RecordError(f"{record.kernel} is CUDA C++, which no browser runs. {INSTEAD}")
    if executable.device.is_cuda:
        raise RecordError(f"{record.kernel} ran on {executable.device}, and a page has a CPU only; record it there")


def _unread(entries: Sequence[Work]) -> set[Memory]:
    """Return the memory that a copy or fill overwrites entirely before anything reads it."""
    used: set[Memory] = set()
    unread: set[Memory] = set()
    for entry in entries:
        memories = [a.memory for a in entry.arrays]
        if isinstance(entry, Copy | Fill) and not isinstance(entry, Add):
            target = entry.target
            overwritten = target.is_contiguous and target.nbytes == target.memory.nbytes
            if overwritten and target.memory not in used and target.memory not in memories[1:]:
                unread.add(target.memory)
        used.update(memories)
    return unread


class _Writer:
    """A page's program that is being written.

    Attributes:
        program: what is laid out so far.
        owners: by row, the number of its entry.
        starts, regions: ranges of this process's memory: where each begins, and its begin, end and address in the page.
    """

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.program = Program()
        self.starts: list[int] = []
        self.regions: list[tuple[int, int, int]] = []
        self.scalars: dict[str, list[list[Any]]] = {}
        self.arrays: dict[str, dict[str, Any] | None] = {}
        self.titles: list[str] = []
        self.faults: list[dict[str, list[int]]] = []
        self.lines: list[int] = []
        self.owners: list[int] = []
        self.prints: dict[str, list[Any]] = {}

    def lay_out(self, arrays: Sequence[array], unread: set[Memory]) -> None:
        """Assign an address in the page to the memory of all arrays; what overlaps here overlaps there.

        What is in `unread` begins as zeros.

        Raises:
            RecordError: an array is on a GPU, or all together are larger than `LARGEST`.
        """
        for a in arrays:
            if a.device.is_cuda:
                raise RecordError(
                    f"an array of this record lies on {a.device}, and a page has a CPU only; record it there"
                )
        before = set(self.contents.saved)
        self.contents.keep(arrays)
        used = {a.memory for a in arrays}
        spans = [
            (low, np.zeros_like(data) if memory in unread else data)
            for memory, (low, data) in self.contents.saved.items()
            if memory in used or memory in before
        ]
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
            self.regions.append((low, high, self.program.reserve(high - low + low % 64) + low % 64))
        for low, data in reversed(spans):  # of bytes that are kept twice, those that were kept first
            if data.nbytes:
                self.program.place(data.tobytes(), self.address(low))

    def address(self, here: int) -> int:
        """Return the page's address of a byte of this process; 0 for address 0 and for memory that was not laid out."""
        k = bisect_right(self.starts, here) - 1
        if here == 0 or k < 0 or here >= self.regions[k][1]:
            return 0
        low, _, there = self.regions[k]
        return there + here - low

    def steps(self, node: Work) -> Iterator[Any]:
        """Yield a node's steps: numbers of rows, and branches and loops of these.

        The nodes of a graph come in the order of its capture.
        """
        match node:
            case Launch():
                yield from self.launch(node.record)
            case Copy() | Fill():
                yield from self.move(node)
            case Call():
                yield from (step for inner in node.steps for step in self.steps(inner))
            case Graph():
                inside = {name: [s for n in body.nodes for s in self.steps(n)] for name, body in node.bodies.items()}
                main = inside.get("body", inside.get("true", []))
                if node.condition is None:
                    yield from main
                else:
                    yield [node.kind, self.address(node.condition.address), main, inside.get("false", [])]
            case _:
                raise AssertionError(node.kind)

    def launch(self, record: LaunchRecord) -> Iterator[int]:
        """Add the row of a launch, and yield its number; nothing for a launch without threads."""
        executable = record.executable
        if not record.threads:
            return
        assert executable.compile_for is not None
        entry = executable.compile_for(WASM)
        name, program = entry.metadata["entry"], self.program
        if entry.metadata.get("prints") and executable.digest not in self.prints:
            module = program.link(entry.image, (name,))
            self.prints[executable.digest] = [module.addresses[SYMBOL], _prints(record)]
        params = bytearray(record.executable.packer.pack(record.dim, record.values))
        for slot in executable.layout.slots:
            if isinstance(slot.type, ArrayType):
                (here,) = struct.unpack_from("<q", params, slot.offset)
                struct.pack_into("<q", params, slot.offset, self.address(here))
        at = program.place(bytes(params))
        self._name_arguments(record, at)
        fault = program.reserve(FAULT_SIZE) if executable.checked else 0
        sums = entry.metadata.get("sums", 0)
        row = program.entry(entry.image, name), at, record.threads, executable.strip, sums, fault
        yield self._row(row, executable.title, _lines(record) if executable.checked else {})

    def move(self, node: Copy | Fill) -> Iterator[int]:
        """Add the row of a copy, a sum or a fill, and yield its number; nothing for arrays without elements."""
        if not node.target.size:
            return
        name, words, pattern = move_words(node)
        from_ = self.address(words[1]) if pattern is None else self.program.place(pattern.tobytes())
        # The struct of copies.c: two pointers of 32 bits, then words of 64.
        params = struct.pack("<II", self.address(words[0]), from_) + np.array(words[2:], np.int64).tobytes()
        entry = self.program.entry(_moves(), name)
        row = entry, self.program.place(params), node.target.size, move_grain(words), 0, 0
        yield self._row(row, node.kind, {})

    def _row(self, row: Row, title: str, lines: dict[str, list[int]]) -> int:
        """Append a row of work to the program, with its title and the lines of its faults; return its number."""
        self.program.rows.append(row)
        self.titles.append(title)
        if lines not in self.faults:
            self.faults.append(lines)
        self.lines.append(self.faults.index(lines))
        return len(self.titles) - 1

    def _name_arguments(self, record: LaunchRecord, at: int) -> None:
        """Note where a launch's numbers and arrays lie, by parameter; arrays by kernel and parameter, too.

        A name that different arrays have stands for none.
        """
        for slot in record.executable.layout.slots:
            if isinstance(slot.type, Scalar):
                self.scalars.setdefault(slot.name, []).append([at + slot.offset, slot.type.name])
            elif isinstance(slot.type, Vector):
                part = slot.type.dtype
                names: Sequence[str] = "xyzw"[: prod(slot.type.shape)] if slot.type.shape else ""
                if isinstance(slot.type, Complex):
                    names = [f"{n}.{p}".strip(".") for n in names or [""] for p in ("real", "imag")]
                for k, axis in enumerate(names):
                    described = [at + slot.offset + k * part.size, part.name]
                    self.scalars.setdefault(f"{slot.name}.{axis}", []).append(described)
        for name, value in record.arguments.items():
            if not isinstance(value, array) or isinstance(value.dtype, Struct):
                continue
            described = self.place_of(value)
            for known in (name, f"{record.executable.title}.{name}"):
                self.arrays[known] = described if self.arrays.get(known, described) == described else None

    def place_of(self, value: array) -> dict[str, Any]:
        """Return an array's description as a page reads it: address, type, shape, strides in bytes, components."""
        inner = value.dtype.length if isinstance(value.dtype, Vector) else 1
        return {
            "at": self.address(value.address),
            "dtype": element(value.dtype).name,
            "shape": list(value.shape),
            "strides": list(value.strides),
            "inner": inner,
        }

    def finished(self, schedule: list[Any], seen: Mapping[str, array]) -> Program:
        """Return the program with its schedule, and with the arrays that are read after runs."""
        arrays = {name: described for name, described in self.arrays.items() if described is not None}
        arrays |= {name: self.place_of(a) for name, a in seen.items()}
        payload = {
            "schedule": schedule,
            "numbers": self.scalars,
            "arrays": arrays,
            "titles": self.titles,
            "owners": self.owners,
        }
        self.program.page_data = {
            **payload,
            "faults": self.faults,
            "lines": self.lines,
            "prints": list(self.prints.values()),
        }
        return self.program


def _lines(record: LaunchRecord) -> dict[str, list[int]]:
    """Return the messages of a kernel's faults, each with the numbers of the operations that it is about."""
    lines: dict[str, list[int]] = {}
    for op, number in number_ops(record.executable.function).items():
        if op.location.line:
            text = f"line {op.location.shown_line}, {op.location.source.line(op.location.line).strip()}"
            lines.setdefault(text, []).append(number)
    return lines


def _prints(record: LaunchRecord) -> list[dict[str, Any]]:
    """Return each print of a kernel: its parts, and type and number of components of each value (0: one number)."""
    described: list[dict[str, Any]] = []
    for op in prints(record.executable.function):
        types = [(v.type, element(v.type).name) for v in op.operands]
        kinds = [[name, type.length if isinstance(type, Vector) else 0] for type, name in types]
        described.append({"parts": [p if isinstance(p, str) else list(p) for p in op.attrs[PARTS]], "types": kinds})
    return described


@cache
def _moves() -> bytes:
    """Return the WebAssembly module that copies, adds and fills arrays, compiled once."""
    return native_image("wb_moves", copies.text(), target=WASM)
