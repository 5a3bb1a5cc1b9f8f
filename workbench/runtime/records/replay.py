"""Entries made ready to run again: neighbouring work of the CPU becomes one native table, prepared once.

The packed parameters of all launches lie in one block of memory. A changed number is written over its old bytes there,
so a replay with another `dt` costs what the kernels cost; other arrays may need other code, so they make another table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np

from workbench.backends.cpu.native import copies, dispatch
from workbench.backends.layout import FAULT_SIZE
from workbench.cache.native import native_image
from workbench.runtime.arrays.host_convert import repeats
from workbench.runtime.arrays.substitute import Substitution
from workbench.runtime.device.memory import Memory
from workbench.runtime.graphs.plan_cpu import DENSE_SCALARS, STRIDED_SCALARS, move_words
from workbench.runtime.launching.execute import cpu_threads, table_row
from workbench.runtime.launching.loaded import Loaded
from workbench.runtime.launching.pending_faults import fault_of
from workbench.runtime.launching.prints import printing
from workbench.runtime.launching.record import LaunchRecord
from workbench.runtime.native.in_flight import Native, explain, runs, sorted_names
from workbench.runtime.native.launcher import install_launcher
from workbench.runtime.records.entries import CopyEntry, Entry, FillEntry, LaunchEntry
from workbench.structs import Struct
from workbench.types import element


class Batch(msgspec.Struct, frozen=True, eq=False):
    """CPU work in a row, as one table.

    Attributes:
        entries: launches, and copies, sums and fills that a native function does.
        offsets: where each one's parameters begin.
        params: the packed parameters of all.
        faults: a fault record for each launch with checks.
        table: the rows.
        printers: the kernels that print.
        keep: what the parameters point to.
    """

    entries: tuple[Entry, ...]
    offsets: tuple[int, ...]
    params: np.ndarray[Any, Any]
    faults: np.ndarray[Any, Any]
    table: np.ndarray[Any, Any]
    printers: tuple[Loaded, ...]
    keep: tuple[Any, ...]

    @runs(lambda frame: frame["self"].native())
    def run(self) -> None:
        """Run all, in one native call.

        Raises:
            KernelFault: of the first launch that met a fault; what comes after it has not run.
            KeyboardInterrupt: or what else a signal's handler raises: one was stopped, and what follows has not run.
        """
        if self.faults.size:
            self.faults[:] = 0
        with printing(*self.printers):
            try:
                done = install_launcher().functions.replay(self.table.ctypes.data, len(self.entries))
            except BaseException as error:
                explain(error, self.native())
                raise
        if done == len(self.entries):
            return
        entry, start = self.entries[done], self.offsets[done]
        assert isinstance(entry, LaunchEntry)
        record = entry.record
        params = self.params[start : start + record.loaded.layout.size]
        place = self.table[done, 5] - self.faults.ctypes.data
        found = fault_of(record.loaded, record.dim, params, self.faults[place : place + FAULT_SIZE].tobytes())
        if found is not None:
            raise found

    def native(self) -> Native:
        """What the native call runs, at the entry that it has come to."""
        entry = self.entries[min(install_launcher().stopping.words().rows, len(self.entries) - 1)]
        if not isinstance(entry, LaunchEntry):
            return Native(f"replay of a {entry.kind}", rows=len(self.entries))
        record = entry.record
        written = sorted_names(record.writes)
        return Native(f"replay of {record.loaded.title}", record.threads, written, len(self.entries))


class _Move(msgspec.Struct, frozen=True, eq=False):
    """A copy, sum or fill as a row: native function, parameters, elements, elements per chunk, what they point to."""

    address: int
    params: np.ndarray[Any, Any]
    total: int
    grain: int
    keep: Any


def native_move(entry: Entry) -> _Move | None:
    """A copy, sum or fill as a native function does it; None if there is none, or two arrays may overlap."""
    if not isinstance(entry, (CopyEntry, FillEntry)) or any(a.device.is_cuda for a in entry.arrays):
        return None
    if isinstance(entry, FillEntry) and not repeats(entry.target.dtype, entry.value):
        return None
    source = entry.source if isinstance(entry, CopyEntry) else None
    if source is not None and source.memory is entry.target.memory:
        return None
    dtype = entry.target.dtype
    if entry.kind == "add" and (isinstance(dtype, Struct) or copies.add_name(element(dtype).name) is None):
        return None
    name, words, keep = move_words(entry.kind, entry.target, source, getattr(entry, "value", 0))
    grain = max(1, (DENSE_SCALARS if words[3] else STRIDED_SCALARS) // words[2])
    address = copies.entries(native_image)[name]
    return _Move(address, np.array(words, np.int64).view(np.uint8), entry.target.size, grain, keep)


def make_batch(entries: Sequence[Entry], moved: Mapping[int, _Move]) -> Batch:
    """The table of some CPU work; `moved` has the native form of those that are no launches, by position."""
    params = [
        moved[k].params if k in moved else np.frombuffer(e.record.buffer, np.uint8)  # type: ignore[attr-defined]
        for k, e in enumerate(entries)
    ]
    offsets = np.cumsum([0, *(p.size for p in params)])
    whole = np.concatenate([*params, np.zeros(8, np.uint8)])
    records = [e.record for e in entries if isinstance(e, LaunchEntry)]
    faults = np.zeros(FAULT_SIZE * sum(r.loaded.checked for r in records), np.uint8)
    table = np.empty((len(entries), dispatch.ENTRY_SIZE // 8), np.int64)
    next_fault = faults.ctypes.data
    for k, (entry, start) in enumerate(zip(entries, offsets[:-1], strict=True)):
        place = whole.ctypes.data + int(start)
        if isinstance(entry, LaunchEntry):
            checked = entry.record.loaded.checked
            table[k] = table_row(entry.record, place, next_fault if checked else 0)
            next_fault += FAULT_SIZE * checked
        else:
            move = moved[k]
            turn = entry.changes[0].turn if entry.kind == "add" else 0
            table[k] = move.address, place, move.total, cpu_threads(), move.grain, 0, turn, 0
    printers = tuple(dict.fromkeys(r.loaded for r in records if r.loaded.prints))
    keep = tuple(m.keep for m in moved.values())
    return Batch(tuple(entries), tuple(map(int, offsets[:-1])), whole, faults, table, printers, keep)


class Prepared:
    """Entries ready to run: batches of CPU work, and between them whatever has to go through Python.

    Attributes:
        steps: what runs, in order.
        changes: memory that the batches change, and how often.
        kept: whatever has to live as long.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Made for these entries, in their order."""
        self.steps: list[Batch | Entry] = []
        self.changes: dict[Memory, int] = {}
        self.kept: object = None
        self._patches: dict[str, list[_Patch]] = {}
        waiting: list[Entry] = []
        moved: dict[int, _Move] = {}
        for entry in entries:
            move = native_move(entry)
            if move is not None:
                moved[len(waiting)] = move
            elif not isinstance(entry, LaunchEntry) or entry.record.loaded.device.is_cuda:
                self._close(waiting, moved)
                self.steps.append(entry)
                continue
            waiting.append(entry)
        self._close(waiting, moved)

    def _close(self, waiting: list[Entry], moved: dict[int, _Move]) -> None:
        """Make a batch of what waits."""
        if waiting:
            self.steps.append(make_batch(waiting, moved))
            for entry in waiting:
                for memory in entry.changes:
                    self.changes[memory] = self.changes.get(memory, 0) + 1
            waiting.clear()
            moved.clear()

    def run(self) -> None:
        """Run all, on the arrays' current contents.

        Raises:
            KernelFault, DeviceError: as the launches.
        """
        for memory, times in self.changes.items():
            memory.version += times
        for step in self.steps:
            if isinstance(step, Batch):
                step.run()
            else:
                step.launch()

    @contextmanager
    def patched(self, numbers: Mapping[str, Any]) -> Iterator[None]:
        """Other numbers for the parameters of these names, inside the `with`.

        Raises:
            LaunchError: a number does not fit; nothing is changed.
        """
        ready = [(patch, patch.words(value)) for name, value in numbers.items() for patch in self._patch(name)]
        steps = self.steps
        if numbers:  # launches on a device stand alone
            same = Substitution({})
            self.steps = [s.changed(numbers, same) if isinstance(s, LaunchEntry) else s for s in steps]
        old = [patch.write(words) for patch, words in ready]
        try:
            yield
        finally:
            self.steps = steps
            for (patch, _), words in zip(ready, old, strict=True):
                patch.write(words)

    def _patch(self, name: str) -> list[_Patch]:
        if name not in self._patches:
            self._patches[name] = list(_patches(self.steps, name))
        return self._patches[name]


class _Patch(msgspec.Struct, frozen=True, eq=False):
    """The places of one parameter of one kernel in one batch: one row per launch, one column per word of 8 bytes."""

    record: LaunchRecord
    name: str
    position: int
    words64: np.ndarray[Any, Any]
    places: np.ndarray[Any, Any]

    def words(self, value: Any) -> np.ndarray[Any, Any]:
        """The value's words, checked."""
        checked = self.record.checked(self.name, value)
        return np.frombuffer(self.record.loaded.packer.single(self.position, checked), np.int64)

    def write(self, words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Write the words; returns what was there."""
        old = self.words64[self.places]
        self.words64[self.places] = words
        return old


def _patches(steps: Sequence[Batch | Entry], name: str) -> Iterator[_Patch]:
    for step in steps:
        if not isinstance(step, Batch):
            # A device's driver copies the parameters while it queues the launch.
            if isinstance(step, LaunchEntry) and name in step.record.arguments:
                whole = np.frombuffer(step.record.buffer, np.uint8)
                yield _patch(step.record, [0], whole, name)
            continue
        groups: dict[int, list[int]] = {}
        for k, entry in enumerate(step.entries):
            if isinstance(entry, LaunchEntry) and name in entry.record.arguments:
                groups.setdefault(id(entry.record.loaded), []).append(k)
        for members in groups.values():
            offsets = [step.offsets[k] for k in members]
            yield _patch(_record(step.entries[members[0]]), offsets, step.params, name)


def _patch(record: LaunchRecord, offsets: Sequence[int], params: np.ndarray[Any, Any], name: str) -> _Patch:
    """Of launches of one kernel, whose parameters begin at these offsets."""
    slots = record.loaded.layout.slots
    position = next(k for k, s in enumerate(slots) if s.name == name)
    slot = slots[position]
    starts = np.array([offset + slot.offset for offset in offsets]) // 8
    places = starts[:, None] + np.arange((slot.size + 7) // 8)
    return _Patch(record, name, position, params[: params.size // 8 * 8].view(np.int64), places)


def _record(entry: Entry) -> LaunchRecord:
    assert isinstance(entry, LaunchEntry)
    return entry.record
