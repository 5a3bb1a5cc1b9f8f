"""A kernel's constant description for the generic native handler, the thunk that passes it along, and the handler.

The description is everything about a call that its operands do not say: names for errors, element types, ranks, places
in the parameter buffer, initial values. It is compiled, not allocated, so a target's code and data are one object.

The handler is C whose generated LLVM IR is compiled once and kept by the cache (`design/native.md`). XLA gives a
handler no data of its own, so each kernel has a thunk that passes its description along; the thunk is all that is made
per kernel, and between `jit(f)(x)` and the kernel's entry no Python runs.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.cpu import systems
from workbench.backends.cpu.jit import CpuCode, load_symbols
from workbench.backends.layout import Layout
from workbench.cache.native import native_image
from workbench.errors import LaunchError
from workbench.forks import fork_safe_lock
from workbench.interop.jax.native.abi import code, string_text
from workbench.interop.jax.native.faults import EXPLAIN, explain_faults
from workbench.runtime.native.launcher import install_launcher
from workbench.types import Complex, Scalar, Vector, number_type

THUNK = "workbench_thunk"
DESCRIPTION = "workbench_description"
OUTDATED = "workbench_outdated"
"""The word that is null, or points to why the kernel must not be called any more (see `edits`)."""
TYPE = "%Kernel = type { "
FIRST_FIELDS = 11
"""Fields of a description in the first version whose exports are read."""
WAITING, RECORDED = 1, 2
ADDED = (0, 65_536, 0)
"""The values of fields that descriptions of older versions lack: `late`, `strip` and `sums`."""


class Kind(IntEnum):
    """Represents the handler's treatment of a parameter; the numbers are part of a description."""

    ARRAY = 0
    SCALAR = 1
    ACCUMULATOR = 2  # a result of rank 0 that the kernel sees as an array of one element
    SHAPE = 3  # an array of which only the shape is used


@dataclass(frozen=True)
class Wire:
    """Represents the source of a kernel's parameter under XLA.

    Attributes:
        name: the parameter's.
        kind: how the handler treats it.
        type: the type of an element (a vector's components are the last axis of the operand).
        rank: dimensions besides batch axes and that last axis.
        operand, result, value: number among the call's operands, results, static values; -1 for none.
        fill: what the result holds before the launch, a number or its bytes; None if it may hold anything.
        view: dimensions of the kernel's array where that is a view of the operand or result; 0 where it is all of it.
    """

    name: str
    kind: Kind
    type: Scalar | Vector
    rank: int
    operand: int = -1
    result: int = -1
    value: int = -1
    fill: float | int | bytes | None = None
    view: int = 0

    @property
    def inner(self) -> tuple[int, ...]:
        """The axis of an element's components: (n,) of a vector, () of a scalar or a complex number."""
        return (prod(self.type.shape),) if self.type.shape else ()  # type: ignore[union-attr]


@dataclass(frozen=True)
class Description:
    """Represents all wires of one target, in the order of the kernel's parameters.

    Attributes:
        kernel: the name in errors.
        wires: one per parameter; the results among them are numbered without gaps, and there is at least one.
        layout: of the parameter buffer.
        grain: the largest launch, in points, that stays on one thread; -1 on a GPU.
        strip: points that run before it looks whether to stop; 0 on a GPU.
        sums: words that a strip leaves for the end.
        checked: the code reports faults, which only the generic handler reads.
        late: 0 if a fault or an interrupt fails the call; WAITING if other devices may wait for what comes next;
            RECORDED if faults are one more result.
    """

    kernel: str
    wires: tuple[Wire, ...]
    layout: Layout
    grain: int
    strip: int = 0
    sums: int = 0
    checked: bool = False
    late: int = 0

    def operands(self) -> tuple[Wire, ...]:
        """Return the operand wires in order, each operand once: not the wires that only take a shape from it."""
        # A SHAPE wire borrows an operand for its sizes; the wire that passes the data is the one that counts.
        by_number = {w.operand: w for w in self.wires if w.operand >= 0 and w.kind is not Kind.SHAPE}
        return tuple(by_number[n] for n in range(len(by_number)))

    def results(self) -> tuple[Wire, ...]:
        """Return the wires that are results, in their order."""
        by_number = {w.result: w for w in self.wires if w.result >= 0 and w.kind is not Kind.SHAPE}
        return tuple(by_number[n] for n in range(len(by_number)))

    def aliases(self) -> tuple[tuple[int, int], ...]:
        """Return (operand, result) of each parameter that goes in and comes out."""
        wires = [w for w in self.wires if w.kind is not Kind.SHAPE]
        return tuple((w.operand, w.result) for w in wires if w.operand >= 0 and w.result >= 0)

    def to_llvm_ir(self) -> str:
        """Return the description as LLVM IR, without addresses of this process: the same text in every process."""
        rows, strings, views = [], [string_text("kernel", self.kernel)], 0
        for position, (wire, slot) in enumerate(zip(self.wires, self.layout.slots, strict=True)):
            strings.append(string_text(f"param.{position}", wire.name))
            filled = pattern(wire) or b""
            width, bits = len(filled), int.from_bytes(filled, "little")
            inner = wire.inner[0] if wire.inner else 0
            fields = (
                wire.kind, code(number_type(wire.type)), wire.rank, inner, wire.operand, wire.result, wire.value,
                wire.type.size, slot.offset, width, bits, views if wire.view else -1, wire.view,
            )  # fmt: skip
            views += 1 + 2 * wire.view if wire.view else 0
            rows.append(f"%Param {{ ptr @param.{position}, {', '.join(f'i64 {int(f)}' for f in fields)} }}")
        values = sum(w.value >= 0 for w in self.wires)
        # Batch axes are read off the first result: it has all of them, while an operand may have 1 in their place.
        lead = next(n for n, w in enumerate(self.wires) if w.result == 0 and w.kind is not Kind.SHAPE)
        results = len(self.results()) + (self.late == RECORDED)
        counts = (len(self.wires), len(self.operands()), results, values, self.layout.size, self.grain, lead)
        # New fields go to the end, so that exports of earlier versions still fit; `completed` adds what they lack.
        behind = f"i64 {views}, i64 {int(self.late)}, i64 {self.strip}, i64 {self.sums}"
        table = f"[{len(rows)} x %Param]"
        return "\n".join(
            [
                f"%Param = type {{ ptr, {', '.join(['i64'] * 13)} }}",
                f"{TYPE}ptr, ptr, {', '.join(['i64'] * 7)}, ptr, {', '.join(['i64'] * (1 + len(ADDED)))} }}",
                *strings,
                f"@params = private constant {table} [",
                ",\n".join(f"  {row}" for row in rows),
                "]",
                f"@{DESCRIPTION} = constant %Kernel {{",
                f"  ptr @kernel, ptr ENTRY, {', '.join(f'i64 {c}' for c in counts)}, ptr @params, {behind}",
                "}",
            ]
        )


def completed(llvm_ir: str) -> str:
    r"""Return the LLVM IR of a description that an earlier version kept, with the fields that it lacks.

    completed("… = type { …, i64 }\n…ptr @params, i64 3\n}")    # … i64 3, i64 0, i64 65536, i64 0
    """
    lines = llvm_ir.split("\n")
    (kind,) = (n for n, line in enumerate(lines) if line.startswith(TYPE))
    (value,) = (n for n, line in enumerate(lines) if line.startswith("  ptr @kernel,"))
    # How many fields the kept text has says which version wrote it.
    missing = ADDED[lines[kind].count(",") + 1 - FIRST_FIELDS :]
    lines[kind] = lines[kind].replace(" }", ", i64" * len(missing) + " }")
    lines[value] += "".join(f", i64 {n}" for n in missing)
    return "\n".join(lines)


def pattern(wire: Wire) -> bytes | None:
    """Return the bytes of one component that a result is filled with; None where nothing is filled in.

    Raises:
        LaunchError: a component is larger than 8 bytes, and its fill is not one number repeated.
    """
    if wire.fill is None or isinstance(wire.fill, bytes):
        return wire.fill
    kind = number_type(wire.type)
    component: Any = np.asarray(wire.fill).astype(kind.numpy)[()]
    if isinstance(kind, Complex) and component.real == component.imag:
        return component.real.tobytes()
    if kind.size > 8:
        raise LaunchError(f"{wire.name} is {wire.type!r}, which JAX fills with 0 only.", parameter=wire.name)
    return component.tobytes()


def static_bits(value: np.generic) -> int:
    """Return a static value as the int64 whose first bytes in memory are its own."""
    return struct.unpack("<q", value.tobytes().ljust(8, b"\0"))[0]


def static_value(bits: int, scalar: Scalar) -> np.generic:
    """Return the static value of type `scalar` that the first bytes of an int64 hold."""
    return np.frombuffer(struct.pack("<q", bits), scalar.numpy, 1)[0]


SYMBOL = "workbench_ffi"
PROGRAM = "workbench_program"
NOTES = ("wb_ffi_on", "wb_ffi_head", "wb_ffi_lost", "wb_ffi_room", "wb_ffi_notes", "wb_ffi_free")
"""The symbols that a reader of the notes needs (notes.c)."""
ON_LOAD: list[Callable[[Mapping[str, int]], None]] = []
"""Called with the addresses of the handler's symbols when it is loaded."""
CUDA, CUDA_INITIALIZE = "workbench_cuda", "workbench_cuda_initialize"
STOPPED, STOP = "workbench_stopped", "wb_ffi_stop"
REFUSE = "workbench_outdated_call"
MAX_BATCH_AXES = 8
_lock = fork_safe_lock(__name__, "_lock")


@lru_cache
def handler_text(system: str = sys.platform, machine: str = platform.machine()) -> str:
    """Return the handler as LLVM IR text, for an operating system and a processor (default: this machine's)."""
    system_text = systems.clock_text(system) + systems.yield_text(system) + systems.format_text(system)
    handler = Path(__file__).with_name("handler.ll").read_text(encoding="utf-8")
    return system_text + systems.floats_text(machine) + handler


def handler_address() -> int:
    """Return the address of `workbench_ffi(frame, kernel)`: from the cache, else compiled now; one per process.

    Raises:
        BuildError: LLVM refused the text, or the object cannot be loaded.
    """
    with _lock:
        return _load().address


def address_of(symbol: str) -> int:
    """Return the address of another of the handler's functions: `PROGRAM(frame, table)`, `STOPPED(frame, kernel)`, …"""
    with _lock:
        return _load().addresses[symbol]


@lru_cache(maxsize=1)
def _load() -> CpuCode:
    """Load the native handler, connect it to the word that interrupts set, and notify `ON_LOAD`; once per process."""
    symbols = (SYMBOL, PROGRAM, CUDA, CUDA_INITIALIZE, EXPLAIN, STOPPED, STOP, REFUSE, *NOTES)
    code = load_symbols(native_image(SYMBOL, handler_text(), optimise=False), symbols)
    # The word that an interrupt sets lies in the launcher; the handler's pointer to it is filled once, here.
    ctypes.c_void_p.from_address(code.addresses[STOP]).value = install_launcher().stopping.serve_jax()
    for on_load in ON_LOAD:
        on_load(code.addresses)
    explain_faults(code.addresses[EXPLAIN])
    return code
