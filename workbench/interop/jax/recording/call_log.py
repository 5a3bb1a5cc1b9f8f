"""The calls that XLA made while a recorder was open: read from the native notes (`native/notes.c`).

A call is run again outside JAX by handing the same handler a frame of our own, with the operands that were kept and
fresh results: so batches, views, static values and initial values mean what they meant.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from workbench.errors import LaunchError, RecordError, WorkbenchError
from workbench.interop.jax.native.abi import ATTR_ARRAY, CODES, FUNCTIONS, STAGE_EXECUTE, STRUCTS
from workbench.interop.jax.native.faults import fault_in
from workbench.interop.jax.native.handler import LOADED
from workbench.interop.jax.native.registry import plan_of, segments
from workbench.interop.jax.recording.replay_call import unfold
from workbench.interop.jax.values.library import library
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import from_numpy
from workbench.runtime.arrays.substitute import Substitution
from workbench.runtime.records.entries import CalledEntry, Entry
from workbench.runtime.records.external_calls import add_source
from workbench.types import MAX_NDIM, SCALARS

CAPACITY = 65536
ROOM = 1 << 30
"""Bytes of operands that are kept between two drains; what is more is noted without its operands."""

_NAMES = {number: name for name, number in CODES.items()}
_BUFFER_WORDS, _MOST_DIMS = 16, 13


@dataclass(frozen=True, eq=False)
class Operand:
    """A buffer of a call: element type as NumPy calls it, shape, and what it held where that was kept."""

    dtype: str
    shape: tuple[int, ...]
    data: np.ndarray[Any, Any] | None = None


class CallEntry(Entry, frozen=True, eq=False):
    """A call that XLA made; with `record(inputs=True)` it can be run again outside JAX.

    Attributes:
        kernel: address of the kernel's description.
        handler: address of the native handler.
        label: the kernel's name.
        attributes: the call's, as numbers: the launch's dimensions first.
        operands, results: its buffers.
        outputs: what the results were when it was last run again here; of more than four dimensions the first as one.
        plan: the kernel's plan; None if that is gone.
        calls: of a fused program, its launches.
        segment: of a fused program, what it was made from; None if it was only preloaded.
    """

    kernel: int
    handler: int
    label: str
    attributes: tuple[tuple[int, ...], ...]
    operands: tuple[Operand, ...]
    results: tuple[Operand, ...]
    outputs: list[array]
    plan: Any = None
    calls: tuple[CallEntry, ...] = ()
    segment: Any = None

    @property
    def kind(self) -> str:
        """It is a call of JAX."""
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
    def parts(self) -> tuple[Entry, ...]:
        """The launches inside a fused program."""
        return self.calls

    @property
    def bytes(self) -> int:
        """Bytes of all operands and results."""
        return sum(int(np.prod(o.shape)) * _numpy(o.dtype).itemsize for o in (*self.operands, *self.results) if o.dtype)

    @property
    def subject(self) -> object:
        """It is not announced."""
        return self

    def launch(self) -> None:
        """Run it again, on the operands that it had then; `outputs` has the results.

        Raises:
            LaunchError: its operands were not kept, or the handler refused the call.
            KernelFault: it was made with checks, and met a fault again.
        """
        given = self._given(LaunchError)
        made = [_aligned(o.shape, o.dtype) for o in self.results]
        refusal = _call(self.handler, self.kernel, given, made, self.attributes)
        if refusal:
            raise fault_in(refusal) or LaunchError(refusal)
        self.outputs[:] = [from_numpy(_seen(m)) for m in made[: self._shown] if m.dtype.name in SCALARS]

    @property
    def _shown(self) -> int:
        """How many results are some: a fused program's last may be memory for what lives inside it only."""
        return len(self.results) - (self.segment is not None and self.segment.scratch)

    def _given(self, error: type[WorkbenchError]) -> list[np.ndarray[Any, Any]]:
        if any(o.data is None for o in self.operands):
            raise error(f"The operands of JAX's call of {self.label} were not kept.", advice="Record with inputs=True.")
        return [o.data for o in self.operands if o.data is not None]

    def unfolded(self) -> CalledEntry:
        """The call as ordinary work, which needs no JAX and can be saved.

        Raises:
            RecordError: its operands were not kept, its kernel is gone, or it has a form that has none in a file.
        """
        given = self._given(RecordError)
        if self.segment is not None and self.calls:
            return self._unfolded_program()
        if self.plan is None:
            raise RecordError(f"The kernel {self.label} that JAX called no longer exists, so the call cannot be saved.")
        results = [(o.dtype, o.shape) for o in self.results]
        steps, outputs = unfold(self.plan, self.attributes, given, results)
        return CalledEntry(self.label, self.size, steps, outputs, started=self.started, seconds=self.seconds)

    def _unfolded_program(self) -> CalledEntry:
        """Its launches, each on what it found then; the outputs are those of the launches that wrote them last."""
        done = [call.unfolded() for call in self.calls]
        steps = tuple(step for call in done for step in call.steps)
        writers = [self.segment.written_by(n) for n in range(self._shown)]
        outputs = tuple(done[w[0]].outputs[w[1]] for w in writers if w is not None)
        return CalledEntry(self.label, self.size, steps, outputs, started=self.started, seconds=self.seconds)

    def changed(self, values: Mapping[str, Any], swap: Substitution) -> Entry:
        """The same call: JAX's operands have no names and are replaced by nothing."""
        return self


class Notes:
    """The native notes of this process, as a source of recorders."""

    def __init__(self, addresses: Mapping[str, int]) -> None:
        """From the addresses of the handler's symbols."""
        self._handlers = addresses["workbench_ffi"], addresses["workbench_program"]
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

    def drain(self) -> tuple[Sequence[Entry], int]:
        """The calls noted since the last time, once all that JAX has queued is done; and how many were lost."""
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
        """Calls in the order of their ends, the launches of a program inside it: they ended before it."""
        found: list[CallEntry] = []
        for entry, frame, parent in notes:
            if parent:
                self._steps.setdefault(parent, []).append(entry)
            else:
                steps = self._steps.pop(frame, ())
                found.append(msgspec.structs.replace(entry, calls=tuple(steps)) if steps else entry)
        return found

    def _take(self, number: int) -> tuple[CallEntry, int, int] | None:
        address = self._slots[number]
        self._slots[number] = None
        if not address:
            return None
        try:
            return _read(address, self._handlers)
        finally:
            self._free(address)


def _read(address: int, handlers: tuple[int, int]) -> tuple[CallEntry, int, int]:
    """The call of a note, the address of its frame, and of that of the program that it is a step of."""
    words = ctypes.POINTER(ctypes.c_int64)
    note = ctypes.cast(address, words)
    kernel, start, end, _, operands, results, count, kept, frame, parent = note[:10]
    at, attributes = 10, []
    for _ in range(count):
        attributes.append(tuple(note[at + 1 : at + 1 + note[at]]))
        at += 1 + note[at]
    buffers = []
    for n in range(operands + results):
        dtype, rank, place, *dims = note[at + _BUFFER_WORDS * n : at + _BUFFER_WORDS * (n + 1)]
        shape, name = tuple(dims[: min(rank, _MOST_DIMS)]), _NAMES.get(dtype, "")
        data = None
        if kept and n < operands and rank <= _MOST_DIMS and name:
            data = _aligned(shape, name)
            if data.nbytes:
                ctypes.memmove(data.ctypes.data, address + place, data.nbytes)
        buffers.append(Operand(name, shape, data))
    label = ctypes.string_at(ctypes.c_void_p.from_address(kernel).value or 0).decode()
    made = buffers[:operands], buffers[operands:]
    entry = CallEntry(
        kernel, handlers[kernel in segments], label, tuple(attributes), tuple(made[0]), tuple(made[1]), [],
        plan_of(kernel), segment=segments.get(kernel), started=start / 1e9, seconds=(end - start) / 1e9,
    )  # fmt: skip
    return entry, frame, parent


def _seen(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A result as an array of our own has it: 1 to 4 dimensions."""
    extra = data.ndim - MAX_NDIM + 1
    return data.reshape(-1, *data.shape[extra:]) if extra > 1 else data.reshape(data.shape or (1,))


def _numpy(name: str) -> np.dtype[Any]:
    return SCALARS[name].numpy if name in SCALARS else np.dtype(name)


def _aligned(shape: tuple[int, ...], name: str) -> np.ndarray[Any, Any]:
    """An array that begins at a multiple of 64 bytes, as XLA's buffers do."""
    dtype = _numpy(name)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.zeros(count + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count].view(dtype).reshape(shape)


_SIMPLE = {"i64": ctypes.c_int64, "i32": ctypes.c_int32, "ptr": ctypes.c_void_p, "[18 x ptr]": ctypes.c_void_p * 18}


def _structures() -> dict[str, Any]:
    """XLA's structures for ctypes, from the table that the handler's text is made of."""
    made: dict[str, Any] = {}
    for name, fields in STRUCTS.items():
        listed = [(f, made[t[1:]] if t.startswith("%") else _SIMPLE[t]) for f, t in fields]
        made[name] = type(name, (ctypes.Structure,), {"_fields_": listed})
    return made


_XLA = _structures()
_REFUSED, _NOTHING = 1, 2


def _call(
    handler: int, kernel: int, given: Sequence[np.ndarray[Any, Any]], made: Sequence[np.ndarray[Any, Any]],
    attributes: Sequence[tuple[int, ...]],
) -> str:  # fmt: skip
    """Hand the handler a frame of our own, on this thread alone; returns why it refused, or an empty text."""
    said: list[str] = []
    pointer = ctypes.c_void_p

    def create(arguments: int) -> int:
        asked = _XLA["ErrorCreate"].from_address(arguments)
        said.append(ctypes.string_at(asked.message).decode(errors="replace"))
        return _REFUSED

    # XLA is played here: error functions that keep the message, and for all others one that says that there is nothing.
    callbacks = {
        "XLA_FFI_Error_Create": ctypes.CFUNCTYPE(pointer, pointer)(create),
        "XLA_FFI_Error_Destroy": ctypes.CFUNCTYPE(None, pointer)(lambda _: None),
    }
    absent = ctypes.CFUNCTYPE(pointer, pointer)(lambda _: _NOTHING)
    api = _XLA["Api"](ctypes.sizeof(_XLA["Api"]))
    for name, number in FUNCTIONS.items():
        api.XLA_FFI_Error_Create[number] = ctypes.cast(callbacks.get(name, absent), pointer).value
    kept: list[Any] = []
    frame = _XLA["Frame"](ctypes.sizeof(_XLA["Frame"]), None, ctypes.addressof(api), None, STAGE_EXECUTE)
    for items, arrays in ((frame.args, given), (frame.rets, made)):
        buffers = [_buffer(a, kept) for a in arrays]
        table = (pointer * (len(buffers) or 1))(*(ctypes.addressof(b) for b in buffers))
        kept += [buffers, table]
        items.size, last = len(buffers), items._fields_[-1][0]
        setattr(items, last, ctypes.addressof(table))
    numbers = [np.array(a, np.int64) for a in attributes]
    arrays = [_XLA["Array"](CODES["int64"], a.size, a.ctypes.data) for a in numbers]
    kinds = (ctypes.c_int32 * (len(arrays) or 1))(*([ATTR_ARRAY] * len(arrays)))
    table = (pointer * (len(arrays) or 1))(*(ctypes.addressof(a) for a in arrays))
    frame.attrs.size, frame.attrs.types, frame.attrs.attrs = (
        len(arrays),
        ctypes.addressof(kinds),
        ctypes.addressof(table),
    )
    entry = ctypes.CFUNCTYPE(pointer, pointer, pointer)(handler)
    entry(ctypes.addressof(frame), kernel)
    return said[0] if said else ""


def _buffer(data: np.ndarray[Any, Any], kept: list[Any]) -> Any:
    dims = (ctypes.c_int64 * max(1, data.ndim))(*data.shape)
    kept += [dims, data]
    code = CODES[data.dtype.name]
    return _XLA["Buffer"](
        ctypes.sizeof(_XLA["Buffer"]), None, code, data.ctypes.data, data.ndim, ctypes.addressof(dims)
    )


LOADED.append(lambda addresses: add_source(Notes(addresses)))
