"""Entries made ready to run again: neighbouring CPU launches become one native table, prepared once.

The packed parameters of all launches lie in one block of memory. A changed number is written over its old bytes there,
so a replay with another `dt` costs what the kernels cost; other arrays may need other code, so they make another table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.backends.cpu import dispatch
from workbench.backends.layout import FAULT_SIZE
from workbench.runtime.entries import Entry, LaunchEntry
from workbench.runtime.execute import fault_of, install_launcher, table_row
from workbench.runtime.memory import Memory
from workbench.runtime.prints import printing
from workbench.runtime.record import LaunchRecord


@dataclass(frozen=True, eq=False)
class Batch:
    """CPU launches in a row, as one table.

    Attributes:
        records: the launches.
        offsets: where each one's parameters begin.
        params: the packed parameters of all.
        faults: a fault record for each launch with checks.
        table: the rows.
    """

    records: tuple[LaunchRecord, ...]
    offsets: tuple[int, ...]
    params: np.ndarray[Any, Any]
    faults: np.ndarray[Any, Any]
    table: np.ndarray[Any, Any]

    def run(self) -> None:
        """Run all, in one native call.

        Raises:
            KernelFault: of the first launch that met a fault; those after it have not run.
            KeyboardInterrupt: between two launches.
        """
        if self.faults.size:
            self.faults[:] = 0
        with printing(*(r.loaded for r in self.records)):
            done = install_launcher().functions.replay(self.table.ctypes.data, len(self.records))
        if done == len(self.records):
            return
        record, start = self.records[done], self.offsets[done]
        params = self.params[start : start + record.loaded.layout.size]
        place = self.table[done, 5] - self.faults.ctypes.data
        found = fault_of(record.loaded, record.dim, params, self.faults[place : place + FAULT_SIZE].tobytes())
        if found is not None:
            raise found


def make_batch(records: Sequence[LaunchRecord]) -> Batch:
    """The table of some CPU launches."""
    offsets, end = [], 0
    for record in records:
        offsets.append(end)
        end += record.loaded.layout.size
    params = np.empty(end + 8, np.uint8)[: max(end, 1)]
    faults = np.zeros(FAULT_SIZE * sum(r.loaded.checked for r in records), np.uint8)
    table = np.empty((len(records), dispatch.ENTRY_SIZE // 8), np.int64)
    next_fault = faults.ctypes.data
    for k, (record, start) in enumerate(zip(records, offsets, strict=True)):
        size = record.loaded.layout.size
        params[start : start + size] = np.frombuffer(record.buffer, np.uint8)
        table[k] = table_row(record, params.ctypes.data + start, next_fault if record.loaded.checked else 0)
        next_fault += FAULT_SIZE * record.loaded.checked
    return Batch(tuple(records), tuple(offsets), params, faults, table)


class Prepared:
    """Entries ready to run: batches of CPU launches, and between them whatever has to go through Python.

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
        waiting: list[LaunchRecord] = []
        for entry in entries:
            if isinstance(entry, LaunchEntry) and not entry.record.loaded.device.is_cuda:
                waiting.append(entry.record)
                continue
            self._close(waiting)
            self.steps.append(entry)
        self._close(waiting)

    def _close(self, waiting: list[LaunchRecord]) -> None:
        """Make a batch of the launches that wait."""
        if waiting:
            self.steps.append(make_batch(waiting))
            for record in waiting:
                for memory in record.changes:
                    self.changes[memory] = self.changes.get(memory, 0) + 1
            waiting.clear()

    def run(self) -> None:
        """Run all, on the arrays' contents of now.

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
        old = [patch.write(words) for patch, words in ready]
        try:
            yield
        finally:
            for (patch, _), words in zip(ready, old, strict=True):
                patch.write(words)

    def _patch(self, name: str) -> list[_Patch]:
        if name not in self._patches:
            self._patches[name] = list(_patches(self.steps, name))
        return self._patches[name]


@dataclass(frozen=True, eq=False)
class _Patch:
    """The places of one parameter of one kernel in one batch: one row a launch, one column a word of 8 bytes."""

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
        """Write the words; gives what was there."""
        old = self.words64[self.places]
        self.words64[self.places] = words
        return old


def _patches(steps: Sequence[Batch | Entry], name: str) -> Iterator[_Patch]:
    for step in steps:
        if not isinstance(step, Batch):
            continue
        words = step.params[: step.params.size // 8 * 8].view(np.int64)
        groups: dict[int, list[int]] = {}
        for k, record in enumerate(step.records):
            if name in record.arguments:
                groups.setdefault(id(record.loaded), []).append(k)
        for members in groups.values():
            record = step.records[members[0]]
            slots = record.loaded.layout.slots
            position = next(k for k, s in enumerate(slots) if s.name == name)
            slot = slots[position]
            starts = np.array([step.offsets[k] + slot.offset for k in members]) // 8
            places = starts[:, None] + np.arange((slot.size + 7) // 8)
            yield _Patch(record, name, position, words, places)
