"""The calls that XLA made while a recorder was open: read from the native notes (`native/notes.c`).

A call is run again outside JAX as ordinary work, on arrays with the operands that were kept (`replay_call`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from workbench.errors import LaunchError, RecordError
from workbench.interop.jax.native.abi import CODES
from workbench.interop.jax.native.descriptor import ON_LOAD
from workbench.interop.jax.native.registry import plan_of, segments
from workbench.interop.jax.recording.replay_call import unfold
from workbench.interop.jax.values.library import library
from workbench.runtime.arrays.array import array
from workbench.runtime.records.external_calls import add_source
from workbench.runtime.work import Access, Call, Work
from workbench.types import NUMBERS

CAPACITY = 65536
ROOM = 1 << 30
"""Bytes of operands that are kept between two drains; what is more is noted without its operands."""

_NAMES = {number: name for name, number in CODES.items()}
_BUFFER_WORDS, _MOST_DIMS = 16, 13


@dataclass(frozen=True, eq=False)
class Operand:
    """Represents a buffer of a call: NumPy's name of its element type, shape, contents (None: not kept)."""

    dtype: str
    shape: tuple[int, ...]
    data: np.ndarray[Any, Any] | None = None


class CallEntry(Work, frozen=True, eq=False, dict=True):
    """Represents a call that XLA made; with `record(inputs=True)` it can be run again outside JAX.

    Attributes:
        kernel: address of the kernel's description.
        label: the kernel's name.
        attributes: the call's, as numbers: the launch's dimensions first.
        operands, results: its buffers.
        plan: the kernel's plan; None if that is gone.
        calls: of a fused program, its launches.
        segment: of a fused program, what it was made from; None if it was only preloaded.
    """

    kernel: int
    label: str
    attributes: tuple[tuple[int, ...], ...]
    operands: tuple[Operand, ...]
    results: tuple[Operand, ...]
    plan: Any = None
    calls: tuple[CallEntry, ...] = ()
    segment: Any = None

    @property
    def kind(self) -> str:
        """The kind of this entry in a record: "jax"."""
        return "jax"

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.label

    @property
    def size(self) -> tuple[int, ...]:
        """The launch's dimensions, without batches; of a fused program how many launches it has."""
        return (len(self.calls),) if self.calls else self.attributes[0] if self.attributes else ()

    @property
    def parts(self) -> tuple[Work, ...]:
        """The launches inside a fused program; none for a launch."""
        return self.calls

    @property
    def bytes(self) -> int:
        """Bytes of all operands and results."""
        return sum(int(np.prod(o.shape)) * _numpy(o.dtype).itemsize for o in (*self.operands, *self.results) if o.dtype)

    @property
    def accesses(self) -> Sequence[Access]:
        """No accesses: the operands belong to JAX."""
        return ()

    @cached_property
    def _call(self) -> Call:
        """The call as work that runs outside JAX.

        Raises:
            RecordError: its operands were not kept, or its kernel is gone.
        """
        if any(o.data is None for o in self.operands):
            raise RecordError(
                f"The operands of JAX's call of {self.label} were not kept.", advice="Record with inputs=True."
            )
        if self.segment is not None and self.calls:
            steps, outputs = self._program()
        elif self.plan is None:
            raise RecordError(
                f"The kernel {self.label} that JAX called is known by its machine code alone, or is gone."
            )
        else:
            operands = [o.data for o in self.operands if o.data is not None]
            results = [(o.dtype, o.shape) for o in self.results]
            steps, outputs = unfold(self.plan, self.attributes, operands, results)
        return Call(self.label, self.size, steps, outputs, started=self.started, seconds=self.seconds)

    def _program(self) -> tuple[tuple[Work, ...], tuple[array, ...]]:
        """Return the launches of a fused program on the operands that were kept, and the arrays of its results."""
        done = [call.unfolded() for call in self.calls]
        # A program's last result may be memory for what lives inside it only.
        shown = len(self.results) - self.segment.scratch
        writers = [self.segment.written_by(n) for n in range(shown)]
        return tuple(s for call in done for s in call.steps), tuple(done[w[0]].outputs[w[1]] for w in writers if w)

    @property
    def outputs(self) -> tuple[array, ...]:
        """The arrays with its results after `launch`; of more than four dimensions the first ones are joined."""
        return self.unfolded().outputs

    def launch(self) -> None:
        """Run the call again outside JAX, on the operands that it had then; `outputs` has the results.

        Raises:
            LaunchError: its operands were not kept, or it has no form outside of JAX.
            KernelFault: it was made with checks, and met a fault again.
        """
        try:
            call = self._call
        except RecordError as error:
            raise LaunchError(error.message, advice=error.advice) from None
        call.launch()

    def unfolded(self) -> Call:
        """Return the call as ordinary work, which needs no JAX and can be saved.

        Raises:
            RecordError: its operands were not kept, its kernel is gone, or it has a form that has none in a file.
        """
        return self._call

    def on(self, instead: Callable[[Any], Any]) -> Work:
        """Return the entry itself: JAX's operands have no names by which they could be replaced."""
        return self


class Notes:
    """Reads the native notes of this process for recorders: calls that XLA made."""

    def __init__(self, addresses: Mapping[str, int]) -> None:
        """Attach to the notes; `addresses` are those of the handler's symbols, by name."""
        self._steps: dict[int, list[CallEntry]] = {}
        self._on = ctypes.c_int32.from_address(addresses["wb_ffi_on"])
        self._head, self._lost, self._room = (
            ctypes.c_int64.from_address(addresses[f"wb_ffi_{name}"]) for name in ("head", "lost", "room")
        )
        self._slots = (ctypes.c_void_p * CAPACITY).from_address(addresses["wb_ffi_notes"])
        self._free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(addresses["wb_ffi_free"])

    def listen(self, on: bool, inputs: bool) -> None:
        """Turn notes on, with operands or without, or off."""
        self._room.value = ROOM
        self._on.value = (3 if inputs else 1) if on else 0

    def drain(self) -> tuple[Sequence[Work], int]:
        """Wait for all that JAX has queued; return the calls noted since the last time, and how many were lost."""
        if not self._on.value:
            return (), 0
        for value in library().jax.live_arrays():
            with suppress(Exception):  # the failure is reported to whoever reads it
                value.block_until_ready()
        # Off while they are read: XLA's threads may call handlers meanwhile.
        before, self._on.value = self._on.value, 0
        notes = [self._take(k) for k in range(min(self._head.value, CAPACITY))]
        lost, self._lost.value, self._head.value = self._lost.value, 0, 0
        self._on.value = before
        return self._assembled([n for n in notes if n is not None]), lost

    def _assembled(self, notes: Sequence[tuple[CallEntry, int, int]]) -> list[CallEntry]:
        """Return the calls in the order of their ends, the launches of a program inside it: they ended first."""
        calls: list[CallEntry] = []
        for entry, frame, parent in notes:
            if parent:
                self._steps.setdefault(parent, []).append(entry)
            else:
                steps = self._steps.pop(frame, ())
                calls.append(msgspec.structs.replace(entry, calls=tuple(steps)) if steps else entry)
        return calls

    def _take(self, number: int) -> tuple[CallEntry, int, int] | None:
        """Return the call in a slot with the addresses of its frame and program, and free the note; None if empty."""
        address = self._slots[number]
        self._slots[number] = None
        if not address:
            return None
        try:
            return _read(address)
        finally:
            self._free(address)


def _read(address: int) -> tuple[CallEntry, int, int]:
    """Return the call of a note, the address of its frame, and that of the program that it is a step of (0: none)."""
    words = ctypes.POINTER(ctypes.c_int64)
    note = ctypes.cast(address, words)
    kernel, start, end, _, operands, results, count, view_words, frame, parent = note[:10]
    at, attributes = 10, []
    for _ in range(count):
        attributes.append(tuple(note[at + 1 : at + 1 + note[at]]))
        at += 1 + note[at]
    buffers = []
    for n in range(operands + results):
        dtype, rank, start_of_data, *dims = note[at + _BUFFER_WORDS * n : at + _BUFFER_WORDS * (n + 1)]
        shape, name = tuple(dims[: min(rank, _MOST_DIMS)]), _NAMES.get(dtype, "")
        data = None
        if view_words and n < operands and rank <= _MOST_DIMS and name:
            data = np.empty(shape, _numpy(name))
            ctypes.memmove(data.ctypes.data, address + start_of_data, data.nbytes)
        buffers.append(Operand(name, shape, data))
    label = ctypes.string_at(ctypes.c_void_p.from_address(kernel).value or 0).decode()
    inputs, outputs = tuple(buffers[:operands]), tuple(buffers[operands:])
    entry = CallEntry(
        kernel, label, tuple(attributes), inputs, outputs, plan_of(kernel),
        segment=segments.get(kernel), started=start / 1e9, seconds=(end - start) / 1e9,
    )  # fmt: skip
    return entry, frame, parent


def _numpy(name: str) -> np.dtype[Any]:
    """Return NumPy's dtype of a type that XLA calls by this name."""
    return NUMBERS[name].numpy if name in NUMBERS else np.dtype(name)


ON_LOAD.append(lambda addresses: add_source(Notes(addresses)))
