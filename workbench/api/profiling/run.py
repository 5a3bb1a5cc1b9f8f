"""A checked launch run on the CPU from its PTX, with counters, on copies of its arrays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from workbench.backends.ptx.compile import Compiled
from workbench.backends.ptx.counters import Counted, Event, empty_table, empty_trace, read_table, read_trace
from workbench.backends.ptx.emit.kernel import emit_kernel
from workbench.backends.ptx.kernel import Arena, Kernel, Launch, load
from workbench.backends.ptx.library import library_object
from workbench.backends.ptx.printf import placed_variables
from workbench.backends.ptx.syntax.program import Program
from workbench.cache.native import native_image
from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.device.memory import Memory
from workbench.runtime.device.streams import synchronize
from workbench.runtime.launching.record import LaunchRecord

ALIGNED = 256
"""Bytes: as a GPU's allocations begin."""
ALL = 1 << 28
"""Lane instructions up to which all blocks run: one to two seconds of two cores."""
PILOT = 8
"""Blocks that run first, to see how many instructions a block has."""


class Geometry(msgspec.Struct, frozen=True):
    """The geometry of a launch on a GPU: blocks and threads along x, y, z, and bytes of dynamic shared memory.

    Attributes:
        grid: blocks along x, y, z.
        block: threads of a block along x, y, z.
        shared: bytes of dynamic shared memory of a block.
        dims: the launch's dimensions as the code takes them; empty if it takes them as the record has them, or none.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0
    dims: bytes = b""

    @property
    def blocks(self) -> int:
        """The number of all blocks."""
        return math.prod(self.grid)


class Follow(msgspec.Struct, frozen=True):
    """A choice of warps to trace: the first `warps` of each of `blocks` blocks, from the block `first` on.

    At most `entries` entries are traced.
    """

    first: int = 0
    blocks: int = 1
    warps: int = 1
    entries: int = 1024


FIRST_WARP = Follow()
"""The first warp of the first block."""


class Counting(msgspec.Struct, frozen=True):
    """The counts of one run of a launch.

    Attributes:
        instructions: those that were executed; counts of a sample are scaled to all blocks.
        blocks: how many ran.
        touched: distinct 32-byte sectors of global memory.
        hottest: the most atomic operations on one element.
        trace: what the warps did that were followed, each in its order.
        noted: how many events there were; the first ones are in `trace`.
        shared_size: bytes of a block's shared memory.
        arrays: of each array the first address of its copy and the one after the last.
    """

    instructions: tuple[Counted, ...] = ()
    blocks: int = 0
    touched: int = 0
    hottest: int = 0
    trace: tuple[Event, ...] = ()
    noted: int = 0
    shared_size: int = 0
    arrays: Mapping[str, tuple[int, int]] = msgspec.field(default_factory=dict[str, tuple[int, int]])


def counting_kernel(program: Program, name: str) -> Kernel:
    """Return a kernel of a PTX program with counters, compiled or from the cache.

    Raises:
        BuildError: it has an instruction that cannot be executed.
    """
    library_object.install(native_image("wb_ptx_library", library_object.text, vectorise=False))
    emitted = emit_kernel(program, name, counting=True)
    image = native_image(f"{name} (PTX, counting)", emitted.text, vectorise=False)
    return load(Compiled(image, emitted.metadata))


def count(
    kernel: Kernel, program: Program, record: LaunchRecord, geometry: Geometry, offsets: Sequence[int]
) -> Counting:
    """Run a launch on copies of its arrays, and return the counts.

    Of a launch of more than `ALL` lane instructions only evenly spaced blocks run.

    Args:
        kernel, program: the code.
        record: the launch.
        geometry: its blocks.
        offsets: where each parameter of the PTX begins in the record's packed arguments.

    Raises:
        LaunchError: it did what a GPU does not survive, or the host has too little memory.
    """
    if not geometry.blocks:
        return Counting()
    every = max(1, geometry.blocks // PILOT)
    if every > 1:
        pilot = _Run(kernel, program, record, geometry, offsets).count(every)
        each = max(1, sum(c.counts.threads for c in pilot.instructions) // geometry.blocks)
        every = _odd(-(-geometry.blocks * each // ALL))
    return _Run(kernel, program, record, geometry, offsets).count(every)


def follow(
    kernel: Kernel, program: Program, record: LaunchRecord, geometry: Geometry, offsets: Sequence[int], whom: Follow
) -> Counting:
    """Run a whole launch on copies of its arrays, and trace the warps that `whom` chooses.

    Raises:
        LaunchError: as `count`.
    """
    return _Run(kernel, program, record, geometry, offsets).count(1, whom)


def _odd(every: int) -> int:
    """Return a distance between sampled blocks, made odd: blocks in rows of a power of two then differ in column."""
    return every if every == 1 else every | 1


class _Run:
    """A run of a launch on fresh copies of its arrays.

    Attributes:
        kernel, program, record, geometry: the code with counters, its PTX, the launch and its blocks.
        offsets: where each parameter of the PTX begins in the record's packed arguments.
        bytes: the buffer that holds the run's memory, which begins at the address `base` and has `size` bytes.
        end: the first address that is not reserved yet.
        touched: of each 32-byte sector whether it was accessed.
        hits: of each 4 bytes how many atomic operations they had; empty if the kernel has none.
        addresses: of the copies, by the id of the memory copied.
        variables: the program's variables in the run's memory.
        arena: the run's memory as the kernel is given it.
    """

    def __init__(
        self, kernel: Kernel, program: Program, record: LaunchRecord, geometry: Geometry, offsets: Sequence[int]
    ) -> None:
        """Reserve the run's memory, and copy the arrays of the launch into it.

        Raises:
            LaunchError: the host has too little memory, or an array is on a GPU.
        """
        self.kernel, self.program, self.record, self.geometry = kernel, program, record, geometry
        self.offsets = offsets
        scratch = kernel.scratch_size(geometry.block, geometry.shared)
        arrays = {n: a for n, a in record.arguments.items() if isinstance(a, array)}
        memories = list({id(a.memory): a.memory for a in arrays.values()}.values())
        variables = sum(_up(max(v.size, 1)) for v in program.variables.values())
        size = _up(scratch) + variables + sum(_up(m.nbytes + 1) for m in memories) + ALIGNED
        try:
            self.bytes = np.zeros(size + ALIGNED, np.uint8)
            self.touched = np.zeros(size // 32 + 1, np.uint8)
            self.hits = np.zeros(size // 4 + 1 if _has_atomics(kernel) else 0, np.uint32)
        except MemoryError:
            raise LaunchError(
                f"{record.kernel}: {size:,} bytes for copies of its arrays are not there.",
                advice="Profile it on smaller arrays.",
            ) from None
        self.base = self.end = _up(self.bytes.ctypes.data)
        self.size = size
        self.addresses = {id(m): self._copy(m) for m in memories}
        self.variables = placed_variables(program, self)
        self.arena = Arena(self.base, size & ~15, self.alloc(scratch), scratch)

    @property
    def memory(self) -> np.ndarray:
        """The memory of the run: all bytes from `base` on."""
        return self.bytes[self.base - self.bytes.ctypes.data :]

    def alloc(self, nbytes: int) -> int:
        """Reserve `nbytes` of the memory, aligned to `ALIGNED`, and return their address."""
        at, self.end = self.end, self.end + _up(max(nbytes, 1))
        return at

    def ranges(self) -> dict[str, tuple[int, int]]:
        """Return, by array, the first address of its copy and the end of the memory that holds it."""
        arrays = {n: a for n, a in self.record.arguments.items() if isinstance(a, array)}
        starts = {n: self.addresses[id(a.memory)] + a.address - a.memory.address for n, a in arrays.items()}
        return {n: (at, self.addresses[id(arrays[n].memory)] + arrays[n].memory.nbytes) for n, at in starts.items()}

    def _copy(self, memory: Memory) -> int:
        """Copy a memory into the run's and return the copy's address; raise a LaunchError for memory of a GPU."""
        if memory.device.is_cuda and memory.device.kind != "emulated":
            raise LaunchError(
                f"{self.record.kernel}: wb.profile reads arrays on the CPU or on an emulated device, not on "
                f"{memory.device}.",
                advice='Pass copies: x.to("cpu").',
            )
        if memory.device.is_cuda:
            synchronize(memory.device)  # fills and launches before this one may still be queued
        at = self.alloc(memory.nbytes + 1)
        ctypes.memmove(at, memory.address, memory.nbytes)
        return at

    def parameters(self) -> bytes:
        """Return the packed parameters of the PTX kernel, with the addresses of the copies."""
        record = self.record
        buffer = bytearray(bytes(record.buffer))
        buffer[: len(self.geometry.dims)] = self.geometry.dims
        for slot in record.executable.layout.slots:
            value = record.arguments[slot.name]
            if isinstance(value, array):
                at = self.addresses[id(value.memory)] + value.address - value.memory.address
                buffer[slot.offset : slot.offset + 8] = at.to_bytes(8, "little")
        entry = self.program.entry(self.kernel.metadata.name)
        packed = bytearray(max(entry.parameter_size, 1))
        for parameter, start in zip(entry.parameters, self.offsets, strict=True):
            packed[parameter.offset : parameter.offset + parameter.size] = buffer[start : start + parameter.size]
        return bytes(packed)

    def count(self, every: int, follow: Follow = FIRST_WARP) -> Counting:
        """Run every `every`-th block, and return the counts, with the trace of the warps that `follow` chooses.

        Raises:
            LaunchError: the launch did what a GPU does not survive.
        """
        metadata, geometry = self.kernel.metadata, self.geometry
        words = empty_table(len(metadata.blocks), len(metadata.code))
        table = (ctypes.c_int64 * len(words))(*words)
        trace = empty_trace(follow.entries, follow.first, follow.blocks, follow.warps)
        launch = Launch(
            geometry.shared, self.variables, counters=table, touched=self.touched.ctypes.data,
            hits=self.hits.ctypes.data if self.hits.size else 0, every=every, trace=trace.ctypes.data,
        )  # fmt: skip
        fault = self.kernel.launch(geometry.grid, geometry.block, self.parameters(), self.arena, launch)
        if fault is not None:
            raise LaunchError(
                str(fault), advice="Launch it with checks=True on the CPU: that names the line and the index."
            )
        ran = -(-geometry.blocks // every)
        return Counting(
            tuple(_scaled(read_table(list(table), metadata.code, metadata.blocks), geometry.blocks / ran)),
            ran,
            int(self.touched.sum()),
            int(self.hits.max()) if self.hits.size else 0,
            tuple(read_trace(trace, len(metadata.blocks))),
            int(trace[0]),
            self.kernel.shared_size(geometry.shared),
            self.ranges(),
        )


def _scaled(counted: Iterable[Counted], factor: float) -> Iterator[Counted]:
    """Yield the counted instructions with their counts multiplied by `factor`, for a run of only some blocks."""
    for one in counted:
        yield one if factor == 1 else replace(one, counts=one.counts.scaled(factor))


def _has_atomics(kernel: Kernel) -> bool:
    """Return whether the kernel's PTX has `atom` or `red` instructions."""
    return any(i.opcode in ("atom", "red") for i in kernel.metadata.code)


def _up(value: int) -> int:
    """Return the value rounded up to a multiple of `ALIGNED`."""
    return -(-value // ALIGNED) * ALIGNED
