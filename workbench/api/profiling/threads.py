"""The work of each thread of a launch: its lines, and the elements that it reads and writes.

The launch runs as for `wb.profile`, with every warp noted in place of the first one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from workbench.api.builds.arguments import Dim
from workbench.api.kernels.kernel import Kernel
from workbench.api.profiling.profile import record_of
from workbench.api.profiling.run import Follow, Geometry, counting_kernel, follow
from workbench.api.profiling.subject import Subject, subject_of
from workbench.api.profiling.warp import LANES, Step, warps
from workbench.errors import LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.launching.record import BLOCK_DIM, LaunchRecord

ENTRIES = 1 << 14
"""Basic blocks and accesses of warps that are kept: about 200 kB of a view."""
MOST = 1 << 22
"""Threads of the largest launch that is followed: it runs as a whole."""
OUTCOMES = ("wrote", "only read", "touched no array", "past the end")


class Elements(msgspec.Struct, frozen=True):
    """An array of the launch: name, shape, bytes per element and bytes from one to the next along each dimension."""

    name: str
    shape: tuple[int, ...]
    itemsize: int
    strides: tuple[int, ...]

    def index(self, at: int) -> tuple[int, ...] | None:
        """Return the index of the element that contains the byte `at` of an array; None if none does."""
        index: list[int] = []
        for stride, size in zip(self.strides, self.shape, strict=True):
            k = min(at // stride, size - 1) if stride > 0 and size else 0
            index.append(k)
            at -= k * stride
        return tuple(index) if 0 <= at < self.itemsize else None


class Touch(msgspec.Struct, frozen=True):
    """An access of one thread to an element of an array.

    Attributes:
        thread: what `tid()` returns there; in CUDA C++ and kernels of tiles the numbers of block and thread.
        kind: "read", "write" or "atomic".
        line: as the reader of the cell counts.
    """

    thread: tuple[int, ...]
    kind: str
    line: int


class Threads(msgspec.Struct, frozen=True):
    """A trace of the threads of a launch; `print` summarises it, a notebook draws it.

    Attributes:
        kernel, direction: what ran.
        dim: the launch's dimensions.
        grid, block: blocks, and threads of a block, along x, y, z.
        by_thread: whether `tid()` numbers threads; not in CUDA C++ and kernels of tiles.
        first, blocks: the first block that was followed, and how many were.
        warps: steps of each warp, by the numbers of its block and of the warp in the block.
        arrays: those that the launch was given.
        lines: the kernel's lines by their numbers.
        ends: whether the steps are all.
    """

    kernel: str
    direction: str
    dim: tuple[int, ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    by_thread: bool
    first: int
    blocks: int
    warps: Mapping[tuple[int, int], tuple[Step, ...]]
    arrays: tuple[Elements, ...]
    lines: Mapping[int, str]
    ends: bool

    @property
    def title(self) -> str:
        """The launch, in a phrase."""
        count, each = math.prod(self.grid), math.prod(self.block)
        direction = "" if self.direction == "forward" else f" ({self.direction})"
        return f"{self.kernel}{direction} · {_many(count, 'block')} of {_many(each, 'thread')}"

    @property
    def notes(self) -> list[str]:
        """Sentences that a reader needs: which blocks were followed, and what the trace leaves out."""
        count, each = math.prod(self.grid), math.prod(self.block)
        notes: list[str] = []
        if self.blocks < count:
            last = self.first + self.blocks - 1
            notes.append(
                f"Followed: block {self.first} to {last} of {count}. show.threads(…, first=…) begins elsewhere."
            )
        if not self.ends:
            notes.append(
                f"The block does more than is kept: these are its first {ENTRIES:,} accesses and basic blocks."
            )
        if each % LANES:
            notes.append(f"A block of {each} threads leaves lanes of its last warp empty.")
        return notes

    def thread(self, block: int, thread: int) -> tuple[int, ...] | None:
        """Return the name of a thread of a block: its `tid()`, else block and thread; None if it is past the end."""
        if thread >= math.prod(self.block):
            return None
        if not self.by_thread:
            return block, thread
        number = block * math.prod(self.block) + thread
        return tuple(map(int, np.unravel_index(number, self.dim))) if number < math.prod(self.dim) else None

    def touches(self, name: str, *index: int) -> list[Touch]:
        """List the threads that touched an element of an array, in the order of the blocks that were followed.

        Args:
            name: the array's, as the kernel calls it.
            index: one index for each dimension.

        Returns:
            One entry per thread and access; empty if none of those that were followed did.

        Raises:
            LaunchError: the launch has no such array or element.

        Example:
            >>> t.touches("y", 3)
            [Touch(thread=(3,), kind='write', line=4)]
        """
        own = next((a for a in self.arrays if a.name == name), None)
        if (
            own is None
            or len(index) != len(own.shape)
            or not all(0 <= i < n for i, n in zip(index, own.shape, strict=True))
        ):
            there = ", ".join(f"{a.name} of shape {a.shape}" for a in self.arrays)
            raise LaunchError(
                f"{self.kernel} was not launched with an element {name}[{', '.join(map(str, index))}].",
                advice=f"It has {there or 'no arrays'}.",
            )
        touches: list[Touch] = []
        for (block, warp), steps in self.warps.items():
            for step in steps:
                for access in step.accesses:
                    if access.array == name:
                        touches += [
                            Touch(self.thread(block, LANES * warp + lane) or (), access.kind, step.number)
                            for lane, at in enumerate(access.at)
                            if at >= 0 and own.index(at) == index
                        ]
        return touches

    def outcomes(self, block: int, warp: int) -> tuple[tuple[int, ...], int]:
        """Return what each lane of a warp did, as an index in `OUTCOMES`, and a mask of the lanes that diverged.

        A lane diverged if it was inactive in a step and active in another one.
        """
        reads = writes = every = dark = 0
        steps = self.warps.get((block, warp), ())
        for step in steps:
            every |= step.mask
            for access in (a for a in step.accesses if a.space == "global"):
                lanes = sum(1 << lane for lane, at in enumerate(access.at) if at >= 0)
                if access.kind == "read":
                    reads |= lanes
                else:
                    writes |= lanes
        for step in steps:
            dark |= every & ~step.mask
        gone = [self.thread(block, LANES * warp + lane) is None for lane in range(LANES)]
        kinds = tuple(3 if gone[k] else 0 if writes >> k & 1 else 1 if reads >> k & 1 else 2 for k in range(LANES))
        return kinds, dark

    def __str__(self) -> str:
        counts: Counter[int] = Counter()
        diverged = 0
        for block, warp in self.warps:
            kinds, dark = self.outcomes(block, warp)
            left = max(0, min(LANES, math.prod(self.block) - LANES * warp))
            counts.update(kinds[:left])
            diverged += bool(dark)
        counted = ", ".join(f"{counts[k]:,} {what}" for k, what in enumerate(OUTCOMES) if counts[k])
        return "\n".join(
            [
                f"{self.title}: {counted or 'nothing ran'} · {diverged} of {_many(len(self.warps), 'warp')} diverged",
                *self.notes,
            ]
        )

    __repr__ = __str__


def _many(count: int, what: str) -> str:
    """Return a count with a noun, which is in the singular for 1."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def threads(
    kernel: Kernel, dim: Dim, inputs: Sequence[Any] = (), outputs: Sequence[Any] = (), *, adjoint: bool = False,
    arch: str = "sm_90", block_dim: Any = BLOCK_DIM, tiled: bool = False, first: int = 0,
) -> Threads:  # fmt: skip
    """Run a launch on copies of its arrays, and trace what each of its threads does.

    No GPU is needed: the PTX that NVRTC makes runs on the CPU. Of a launch of many threads as many blocks are followed
    as there is room for, from the block `first` on.

    Args:
        kernel: what to run.
        dim: threads along 1 to 4 dimensions, as for `wb.launch`.
        inputs, outputs: arguments, as for `wb.launch`; arrays on the CPU or on an emulated device.
        adjoint: follow the adjoint; arrays without `.grad` get adjoints of ones.
        arch: the architecture that is compiled for.
        block_dim: threads of a block, 1 to 1024; of CUDA C++ also a size per dimension.
        tiled: `dim` counts blocks, as for `wb.launch_tiled`.
        first: the first block that is followed.

    Returns:
        Steps of each warp, and who touched which element.

    Raises:
        LaunchError: the arguments do not fit, there is no such block, or the launch is too large.
        DeviceError: NVRTC is not installed, or does not know `arch`.
        BuildError: the PTX has an instruction that cannot be executed.
        NotDifferentiable: with `adjoint`, the kernel has no right adjoint.

    Example:
        >>> t = workbench.inspect.threads(blur, n, [x], [y], block_dim=64)
        >>> print(t)
        blur · 4 blocks of 64 threads: 256 wrote · 2 of 8 warps diverged
    """
    record = record_of(kernel, dim, inputs, outputs, adjoint, block_dim, tiled)
    what = subject_of(record, arch)
    count, each = what.geometry.blocks, math.prod(what.geometry.block)
    if count * each > MOST:
        raise LaunchError(
            f"{record.kernel}: {count * each:,} threads are too many to follow; {MOST:,} are the most.",
            parameter="dim",
            advice="Launch fewer threads.",
        )
    if count and not 0 <= first < count:
        raise LaunchError(
            f"{record.kernel} has no block {first}: the launch has {count}.",
            parameter="first",
            advice=f"Give a number from 0 to {count - 1}.",
        )
    return _followed(what, record, first, record.executable.geometry is None and record.specialisation.tiling is None)


def _followed(what: Subject, record: LaunchRecord, first: int, by_thread: bool) -> Threads:
    """Run a launch's blocks from `first` on, and return what each thread did; fewer blocks if they note too much.

    `by_thread` is for a kernel of which each thread has an index of its own, as opposed to one that sees blocks.
    """
    geometry: Geometry = what.geometry
    kernel = counting_kernel(what.program, what.code.entry)
    blocks = geometry.blocks - first
    while True:
        whom = Follow(first, blocks, LANES, ENTRIES)
        seen = follow(kernel, what.program, record, geometry, what.offsets, whom)
        if seen.noted <= ENTRIES or blocks == 1:
            break
        blocks = max(1, min(blocks - 1, int(0.9 * blocks * ENTRIES / seen.noted)))
    return Threads(
        record.kernel, record.direction, tuple(record.dim), geometry.grid, geometry.block, by_thread, first, blocks,
        warps(what, kernel, seen), tuple(_arrays(record)), dict(what.code.lines), seen.noted <= ENTRIES,
    )  # fmt: skip


def _arrays(record: LaunchRecord) -> Iterator[Elements]:
    """Yield name, shape, bytes of an element and strides of each array of a launch."""
    for name, value in record.arguments.items():
        if isinstance(value, array):
            yield Elements(name, tuple(value.shape), value.dtype.size, tuple(value.strides))
