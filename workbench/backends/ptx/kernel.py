"""Loaded PTX kernels: launches over a grid, and the fault that one may end with."""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workbench.backends.cpu.jit import CpuCode, load_symbols
from workbench.backends.cpu.native import dispatch
from workbench.backends.ptx.compile import Compiled, KernelMetadata
from workbench.backends.ptx.context import AT, FAULT_WORDS, FAULTS, GLOBAL_RACE, SHARED_RACE, WORDS
from workbench.backends.ptx.emit.kernel import ENTRY
from workbench.backends.ptx.library import global_races, library_object, races
from workbench.backends.ptx.library.global_races import GRANULE, PER_GRANULE
from workbench.backends.ptx.syntax.program import Instruction, Loc
from workbench.errors import LaunchError
from workbench.events import Notice, publish

THREADS = 1024
"""The greatest number of threads in a block."""
WORKERS = 64
"""The greatest number of system threads that one launch runs on."""

Print = Callable[[int, int], int]
"""Prints for a kernel: takes the generic addresses of a format and of its packed values; returns `printf`'s result."""
Condition = Callable[[int, int], None]
"""Takes a handle of a conditional graph node, and the value that a kernel sets for it."""

_PRINT = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64)
_CONDITION = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint32)


@dataclass(frozen=True)
class Arena:
    """The memory that kernels may touch, as 16-byte aligned host addresses.

    Attributes:
        base, size: all of it, in bytes; an access outside is a fault, never a crash.
        scratch, scratch_size: the part of it that is the shared and local memory of running blocks, for one launch at
            a time. `Kernel.scratch_size` says how much a launch needs.
    """

    base: int
    size: int
    scratch: int
    scratch_size: int


@dataclass(frozen=True)
class Fault:
    """The fault that stopped a launch.

    Attributes:
        kernel: the kernel's name.
        kind: a key of `context.FAULTS`.
        instruction: the one at fault.
        thread: linear index in its block; if lanes have not reached a barrier or a warp instruction, one of those
            lanes.
        block: its x, y, z.
        address: the address that was accessed; without meaning if the fault is no access.
        size: bytes of the access.
        lanes: mask of the lanes of the warp that are at fault.
        other: for a race, the instruction of the other access; None otherwise.
        other_thread: for a race, the linear index in its block of the thread that executed `other`; otherwise -1.
        other_block: for a race, that thread's block.
        shared: for a stray or unwritten access in a sanitized kernel, the first address of the block's shared memory.
    """

    kernel: str
    kind: int
    instruction: Instruction
    thread: int
    block: tuple[int, int, int]
    address: int
    size: int
    lanes: int
    other: Instruction | None = None
    other_thread: int = -1
    other_block: tuple[int, int, int] = (0, 0, 0)
    shared: int = 0

    @property
    def loc(self) -> Loc | None:
        """The source line of the instruction; None if the PTX has no line information."""
        return self.instruction.loc

    def __str__(self) -> str:
        """Return a sentence: the kernel, what happened, the instruction, its line, the block and the thread."""
        i = self.instruction
        text = f"The kernel {self.kernel!r} {FAULTS.get(self.kind, 'failed')}: {i.name}, line {i.line} of its PTX"
        text += f", block {self.block}, thread {self.thread}"
        if self.kind in (1, 2):
            text += f", {self.size} bytes at {self.address:#x}"
        return text + "."


@dataclass(frozen=True)
class Launch:
    """The parameters of a launch besides grid, block and the kernel's own.

    Attributes:
        dynamic_shared: bytes after the static shared memory.
        symbols: addresses of the module's variables by name.
        prints, condition: what the kernel's calls of these device functions do; None: nothing.
        workers: system threads to run on; 0: one per core.
        seed: permutes the blocks, and chooses which warp of a block goes first; 0 or 1 leaves the blocks in order.
        counters: the table that a counting kernel adds to (`counters.py`).
        touched: address of a byte per 32 bytes of the arena, set where global memory is accessed; 0: none.
        hits: address of a 32-bit count of atomics per 4 bytes of the arena; 0: none.
        together: all blocks run at once, since they may wait for one another: a cooperative launch.
        every: only every so many-th block runs, to count a sample; 1: all.
        trace: address of a table that records what some warps execute (`counters.empty_trace`); 0: none.
        spans: for a sanitized kernel, the first address and the end of each allocation that it may reach, ascending.
        written: for a sanitized kernel, the distance from a byte to its shadow, 0xFF while nothing has written the
            byte; 0: reads of such memory are not looked for.
    """

    dynamic_shared: int = 0
    symbols: Mapping[str, int] = field(default_factory=dict[str, int])
    prints: Print | None = None
    condition: Condition | None = None
    workers: int = 0
    seed: int = 0
    counters: ctypes.Array[ctypes.c_int64] | None = None
    touched: int = 0
    hits: int = 0
    together: bool = False
    every: int = 1
    trace: int = 0
    spans: np.ndarray | None = None
    written: int = 0


class Kernel:
    """A PTX kernel that is loaded as native code and can be launched on the CPU.

    Attributes:
        code: the native code, whose address is that of the function that runs one warp.
        metadata: what a launch needs to know besides.
    """

    def __init__(self, code: CpuCode, metadata: KernelMetadata) -> None:
        self.code = code
        self.metadata = metadata

    def scratch_size(self, block: Sequence[int], dynamic_shared: int = 0, workers: int = 0, together: int = 0) -> int:
        """Return the bytes of scratch memory that a launch needs: shared and local memory of blocks that run at once.

        Args:
            block: threads along up to three dimensions.
            dynamic_shared: bytes of dynamic shared memory.
            workers: system threads; 0: one per core.
            together: the number of blocks of a cooperative launch; 0 for other launches.
        """
        return self._slot(block, dynamic_shared) * (together or _workers(workers))

    def shared_size(self, dynamic: int) -> int:
        """Return the bytes of a block's shared memory, static and `dynamic`, rounded up to a multiple of 64."""
        return _up(self.metadata.shared + dynamic, 64)

    def _slot(self, block: Sequence[int], dynamic: int) -> int:
        """Return the bytes of scratch memory that one running block needs, for its shared and its local memory."""
        threads = _up(_product(block), 32)
        return max(64, self.shared_size(dynamic) + _up(threads * _up(self.metadata.local, 16), 64))

    def launch(
        self, grid: Sequence[int], block: Sequence[int], parameters: bytes, arena: Arena, launch: Launch = Launch()
    ) -> Fault | None:
        """Run all blocks of a grid and wait for them; other Python threads run meanwhile (the GIL is released).

        Args:
            grid, block: up to three dimensions, in blocks and in threads.
            parameters: packed as the entry's parameters say (`Function.parameters`).
            arena: the memory that it may touch.
            launch: shared memory, symbols, callbacks.

        Returns:
            The first fault, or None.

        Raises:
            LaunchError: the dimensions, the parameters, the symbols, the table of counters or the scratch memory do not
                fit; nothing has run.
            KeyboardInterrupt: or another exception of a signal's handler; the launch has stopped in the middle.
        """
        g, b = _three(grid), _three(block)
        together = _product(g) if launch.together else 0
        metadata, workers = self.metadata, together or _workers(launch.workers)
        needed = self.scratch_size(b, launch.dynamic_shared, workers, together)
        self._check(g, b, parameters, arena, launch, needed)
        total = -(-(blocks := _product(g)) // launch.every)
        if not total:
            return None
        # Loads of whole 16 bytes at the end of the parameters stay within the buffer.
        packed = (ctypes.c_char * (len(parameters) + 64)).from_buffer_copy(parameters + bytes(64))
        held = ctypes.addressof(packed)
        table = (ctypes.c_int64 * (WORDS + 8))()
        record = (ctypes.c_int64 * len(FAULT_WORDS))()
        symbols = (ctypes.c_int64 * (len(metadata.symbols) + 1))(*(launch.symbols[n] for n in metadata.symbols))
        counters = launch.counters or (ctypes.c_int64 * 1)()
        prints, condition = _callbacks(launch)
        every, first = _order(1 if together else blocks, launch)
        shared, local = self.shared_size(launch.dynamic_shared), _up(metadata.local, 16)
        threads = _product(b)
        watching = _Watching(metadata, g, launch, workers) if launch.spans is not None else None
        words = {
            "ARENA": arena.base, "SIZE": arena.size & ~15, "PARAMS": held, "SYMBOLS": ctypes.addressof(symbols),
            "FAULT": ctypes.addressof(record), "WARP": self.code.address, "SUSPENDS": int(metadata.suspends),
            "PRINT": ctypes.cast(prints, ctypes.c_void_p).value or 0,
            "CONDITION": ctypes.cast(condition, ctypes.c_void_p).value or 0,
            "NTID_X": b[0], "NTID_Y": b[1], "NTID_Z": b[2], "NCTAID_X": g[0], "NCTAID_Y": g[1], "NCTAID_Z": g[2],
            "THREADS": threads, "WARPS": -(-threads // 32), "SCRATCH": arena.scratch,
            "SLOT_SIZE": self._slot(b, launch.dynamic_shared), "SHARED_SIZE": shared, "DYNAMIC": launch.dynamic_shared,
            "LOCAL_SIZE": local, "COUNTERS": ctypes.addressof(counters), "SEED": launch.seed % (1 << 31),
            "TOUCHED": launch.touched, "HITS": launch.hits, "EVERY": every, "FIRST": first, "BLOCKS": blocks,
            "TRACE": launch.trace, "SCRATCH_END": arena.scratch + arena.scratch_size, "TOGETHER": together or 1,
            **(watching.words() if watching else {}),
        }  # fmt: skip
        for name, value in words.items():
            table[AT[name]] = value
        entry = library_object.install().address
        total, workers = (1, 1) if together else (total, workers)
        grain = max(1, min(-(-total // (8 * workers)), 65536 // threads))
        dispatch.dispatch(entry, ctypes.addressof(table), total, workers, grain)
        return self._fault(record, g) if record[0] else None

    def _check(
        self, g: Sequence[int], b: Sequence[int], parameters: bytes, arena: Arena, launch: Launch, needed: int
    ) -> None:
        """Raise a LaunchError unless blocks, parameters, counters, symbols and the `needed` scratch bytes fit."""
        name = self.metadata.name
        threads = _product(b)
        if min(g) < 0 or not 1 <= threads <= THREADS or min(b) < 1:
            raise LaunchError(
                f"The kernel {name!r} cannot run in blocks of {tuple(b)} threads.",
                advice=f"A block has 1 to {THREADS} threads.",
            )
        if len(parameters) < self.metadata.parameter_size:
            raise LaunchError(
                f"The kernel {name!r} takes {self.metadata.parameter_size} bytes of parameters, not {len(parameters)}."
            )
        words = len(launch.counters or ())
        if words < self.metadata.counters:
            raise LaunchError(
                f"The kernel {name!r} counts in a table of {self.metadata.counters} words, not of {words}."
            )
        missing = [s for s in self.metadata.symbols if s not in launch.symbols]
        if missing:
            raise LaunchError(f"The variable {missing[0]!r} of the kernel {name!r} has no address.")
        if needed > arena.scratch_size:
            raise LaunchError(
                f"The kernel {name!r} needs {needed} bytes for shared and local memory; {arena.scratch_size} are there."
            )

    def _fault(self, record: ctypes.Array[ctypes.c_int64], grid: Sequence[int]) -> Fault:
        """Return the fault that a launch's record describes; for a race with the other access and its thread."""
        f: dict[str, int] = dict(zip(FAULT_WORDS, record, strict=True))
        code = self.metadata.code
        instruction = code[min(f["instruction"], len(code) - 1)]
        thread = f["warp"] * 32 + f["lane"]
        where = (f["x"], f["y"], f["z"])
        address, other = (f[name] & ((1 << 64) - 1) for name in ("address", "other"))
        fault = Fault(self.metadata.name, f["kind"], instruction, thread, where, address, f["size"], f["mask"])
        if fault.kind == SHARED_RACE:
            return replace(fault, other=code[other & 0x3FFFF], other_thread=other >> 26 & 1023, other_block=where)
        if fault.kind == GLOBAL_RACE:
            block = other >> 24 & (global_races.BLOCKS - 1)
            x, y, z = block % grid[0], block // grid[0] % grid[1], block // grid[0] // grid[1]
            return replace(fault, other=code[other & 0x3FFFF], other_thread=other >> 48 & 1023, other_block=(x, y, z))
        return replace(fault, shared=other)


def _order(blocks: int, launch: Launch) -> tuple[int, int]:
    """Return the step between successive blocks in the order that a launch's seed asks for, and the first block.

    The step is coprime to the number of blocks, so each comes once; a launch of a sample goes by `launch.every` from 0.
    """
    if launch.seed < 2 or launch.every > 1:
        return launch.every, 0
    every = next(k for k in range(launch.seed % blocks | 1, 2 * blocks + 2) if math.gcd(k, blocks) == 1)
    return every, (launch.seed >> 7) % blocks


_TOLD: set[int] = set()
"""The rates at which races are sampled that the user was told of."""


class _Watching:
    """The shadow memory of one launch of a kernel's sanitized variant."""

    def __init__(self, metadata: KernelMetadata, grid: Sequence[int], launch: Launch, workers: int) -> None:
        """Allocate the shadow memory of a launch on so many system threads.

        A `Notice` says so if only a sample of global memory is watched for races, once for each rate.
        """
        assert launch.spans is not None
        self._spans, self._written = launch.spans, launch.written
        self._shared = metadata.shared + launch.dynamic_shared
        self._size = races.CLOCKS + races.PER_BYTE * self._shared
        self._shadow = np.zeros(self._size * workers, np.uint8)
        self._table = RaceTable(launch.spans)
        every = self._table.every
        if every > 1 and every not in _TOLD:
            _TOLD.add(every)
            publish(
                Notice(
                    f"The emulated device's arrays take {self._table.reached >> 20} MiB: races in global memory are "
                    f"looked for in one of every {every} groups of 4 bytes."
                )
            )
        self._releases = np.zeros(min(_product(grid), global_races.BLOCKS), np.int32)

    def words(self) -> dict[str, int]:
        """Return by name the words of the launch's context that the sanitized kernel needs (`context.py`)."""
        return {
            "SPANS": self._spans.ctypes.data, "SPAN_COUNT": len(self._spans), "SHADOW": self._shadow.ctypes.data,
            "SHADOW_SIZE": self._size, "SHARED_BYTES": self._shared, "WRITTEN": self._written,
            "RELEASES": self._releases.ctypes.data, **self._table.words(),
        }  # fmt: skip


def load(compiled: Compiled) -> Kernel:
    """Load a compiled kernel into this process, so that it can be launched.

    Raises:
        BuildError: its object file is not for this machine.
    """
    base = library_object.install()
    return Kernel(load_symbols(compiled.image, (ENTRY,), base.addresses, (base,)), compiled.metadata)


def _three(values: Sequence[int]) -> tuple[int, int, int]:
    """Return the first three of these numbers as ints, padded with ones."""
    x, y, z = (*map(int, values), 1, 1, 1)[:3]
    return x, y, z


def _product(values: Sequence[int]) -> int:
    """Return the product of the first three numbers."""
    x, y, z = _three(values)
    return x * y * z


def _up(value: int, to: int) -> int:
    """Return `value` rounded up to a multiple of `to`."""
    return -(-value // to) * to


def _workers(requested: int) -> int:
    """Return the number of system threads: `requested`, or for 0 the cores of this process, at most `WORKERS`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(requested or cores, WORKERS)


SHADOW_LIMIT = 384 << 20
"""The most bytes that a `RaceTable` may come to use; if the allocations would need more, a sample is watched."""
_NORESERVE = 0x4000 if sys.platform == "linux" else 0
"""MAP_NORESERVE, which Python's mmap has no name for in every version."""


class RaceTable:
    """The sparse shadow of global memory in which a sanitized launch looks for races, new for each launch.

    Attributes:
        reached: bytes of all allocations together.
        every: one of every so many groups of 4 bytes is watched: 1 for up to 32 MiB of allocations, else an odd
            number, so that the sample is spread over strides that are powers of two.
    """

    def __init__(self, spans: np.ndarray) -> None:
        """Make an empty table for allocations, rows of first address and end, in ascending order."""
        self._first = int(spans[0, 0]) // GRANULE * GRANULE
        self._bytes = int(spans[-1, 1]) - self._first
        self.reached = int((spans[:, 1] - spans[:, 0]).sum())
        try:
            self._reserve(self.reached)
        except (OSError, OverflowError, ValueError):  # the system has not so many addresses
            self._reserve(self._bytes)

    def _reserve(self, reached: int) -> None:
        """Map the sparse table, and set `every` so that `reached` bytes of allocations use at most `SHADOW_LIMIT`."""
        if sys.platform == "win32":  # which counts all of it as used
            reached = self._bytes
        self.every = -(-reached * PER_GRANULE // GRANULE // SHADOW_LIMIT) | 1
        size = (self._bytes // GRANULE // self.every + 2) * PER_GRANULE
        if sys.platform == "win32":
            self._map = mmap.mmap(-1, size)
        else:
            self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
        self._held = np.frombuffer(self._map, np.uint8)

    def words(self) -> dict[str, int]:
        """Return by name the words of the launch's context that say where the table is (`context.py`)."""
        return {
            "RACES": self._held.ctypes.data,
            "RACES_FROM": self._first,
            "RACES_BYTES": self._bytes,
            "RACES_EVERY": self.every,
        }


def _callbacks(launch: Launch) -> tuple[Any, Any]:
    """Return the launch's `prints` and `condition` as C functions; if None, they do nothing."""

    def print_(_: int, form: int, values: int) -> int:
        return launch.prints(form, values) if launch.prints else 0

    def set_condition(_: int, handle: int, value: int) -> None:
        if launch.condition:
            launch.condition(handle, value)

    return _PRINT(print_), _CONDITION(set_condition)
