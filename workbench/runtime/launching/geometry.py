"""Launches of kernels that see their blocks: CUDA C++ text, where a user writes `blockIdx` and `__shared__`.

A launch's dimensions are those of an array, the last one along x. The parameter buffer is the one of all launches, with
a tail for the CPU's stub: blocks, threads of a block, shared memory, and where each of the kernel's parameters lies.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.backends.layout import Layout
from workbench.errors import LaunchError
from workbench.runtime.native.pack import Packer
from workbench.types import ArrayType

MAX_BLOCK = 1024
MAX_SHARED = 227 * 1024
"""Bytes of dynamic shared memory that any device gives to a block."""
# Grid and block (three each), shared memory, seed, number of guarded arrays: what the CPU's stub reads.
_HEAD = struct.Struct("<9q")


@dataclass(frozen=True)
class Block:
    """The threads of a block.

    Attributes:
        x, y, z: how many along each axis.
        shared: bytes of dynamic shared memory.
        seed: shuffles the order of threads on the CPU; 0 is in order.
    """

    x: int = 1
    y: int = 1
    z: int = 1
    shared: int = 0
    seed: int = 0

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Threads along x, y, z."""
        return self.x, self.y, self.z

    def grid(self, dims: Sequence[int]) -> tuple[int, int, int]:
        """Blocks along x, y, z that cover these dimensions."""
        # The last dimension along x, so that neighbours in memory are neighbours in a warp.
        x, y, z = (*reversed(dims), 1, 1)[:3]
        return -(-x // self.x), -(-y // self.y), -(-z // self.z)


def as_block(value: Any, dims: Sequence[int], kernel: str) -> Block:
    """`block_dim` of a launch: threads along the dimensions of the launch, the last one along x.

    Args:
        value: a number of threads (along x), as many numbers as `dims` has, or a Block.
        dims: the launch's dimensions.
        kernel: its name.

    Raises:
        LaunchError: it is none of these, or no device has so many threads or so much shared memory.
    """
    if isinstance(value, Block):
        return value
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(sizes) <= 3 or any(isinstance(n, bool) or not hasattr(n, "__index__") or n < 1 for n in sizes):
        raise LaunchError(
            f"{kernel}: block_dim is 1 to 3 whole numbers of at least 1, not {value!r}.", parameter="block_dim"
        )
    if len(sizes) > 1 and len(sizes) != len(dims):
        raise LaunchError(
            f"{kernel}: block_dim has {len(sizes)} sizes and dim has {len(dims)}.", parameter="block_dim",
            advice="Give a block as many sizes as the launch has dimensions, or one number of threads along the last.",
        )  # fmt: skip
    x, y, z = (*(int(n) for n in reversed(sizes)), 1, 1)[:3]
    # CUDA's own limits, the same on all architectures; refused here, the message has the kernel's name.
    if x * y * z > MAX_BLOCK or z > 64:
        raise LaunchError(
            f"{kernel}: a block of {' × '.join(map(str, sizes))} threads is more than {MAX_BLOCK}"
            f"{'' if x * y * z > MAX_BLOCK else ', or more than 64 along z'}.", parameter="block_dim",
        )  # fmt: skip
    return Block(x, y, z)


def with_shared(block: Block, shared: Any, kernel: str) -> Block:
    """The block with so many bytes of dynamic shared memory.

    Raises:
        LaunchError: it is no such number.
    """
    if isinstance(shared, bool) or not isinstance(shared, int) or not 0 <= shared <= MAX_SHARED:
        raise LaunchError(
            f"{kernel}: dynamic shared memory is 0 to {MAX_SHARED} bytes, not {shared!r}.", parameter="shared"
        )
    return replace(block, shared=shared)


@dataclass(frozen=True)
class Geometry:
    """How a kernel that sees its blocks is called.

    Attributes:
        places: for each of the kernel's parameters, the slot of the buffer that holds it.
        block: the threads of a block.
        guarded: on the CPU, arrays lie in copies with room around them, so that what is written outside is found.
    """

    places: tuple[int, ...]
    block: Block = Block()
    guarded: bool = False


class BlockPacker(Packer):
    """Writes the buffer with its tail; the fourth dimension, which such a launch never has, says where the tail is."""

    def __init__(self, layout: Layout, geometry: Geometry) -> None:
        super().__init__(layout)
        self.geometry = geometry
        self._tail = layout.size - tail_size(layout, geometry)
        offsets = [layout.slots[k].offset for k in geometry.places]
        self._offsets = struct.pack(f"<{len(offsets)}q", *offsets)
        self._arrays = [(k, s.offset) for k, s in enumerate(layout.slots) if isinstance(s.type, ArrayType)]

    def pack(self, dims: tuple[int, ...], values: Sequence[Any]) -> bytes:
        """As any launch, with grid and block behind."""
        block = self.geometry.block
        head = super().pack((*(*dims, 1, 1, 1)[:3], self._tail), values)
        count = len(self._arrays) if self.geometry.guarded else 0
        tail = _HEAD.pack(*block.grid(dims), *block.sizes, block.shared, block.seed, count) + self._offsets
        # The buffer has addresses and shapes but no sizes in bytes, which a guarded copy needs.
        sizes = [n for k, offset in self._arrays for n in (offset, values[k].nbytes)]
        return head + tail + struct.pack(f"<{len(sizes)}q", *sizes)


def with_tail(layout: Layout, geometry: Geometry) -> Layout:
    """The layout with room for the tail."""
    return Layout(layout.slots, layout.size + tail_size(layout, geometry))


def tail_size(layout: Layout, geometry: Geometry) -> int:
    """Bytes of the tail."""
    arrays = sum(isinstance(s.type, ArrayType) for s in layout.slots)
    return _HEAD.size + 8 * len(geometry.places) + 16 * arrays
