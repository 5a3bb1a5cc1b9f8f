"""Launches of kernels that see their blocks: CUDA C++ text, where a user writes `blockIdx` and `__shared__`.

A launch's dimensions are those of an array, the last one along x. The parameter buffer is the one of all launches; the
driver is given the place of each parameter in it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from workbench.errors import LaunchError

MAX_BLOCK = 1024
MAX_SHARED = 227 * 1024
"""The most bytes of dynamic shared memory that any device gives to a block."""


class Block(msgspec.Struct, frozen=True):
    """The shape of a block of threads, and its dynamic shared memory.

    Attributes:
        x, y, z: threads along each axis.
        shared: bytes of dynamic shared memory.
    """

    x: int = 1
    y: int = 1
    z: int = 1
    shared: int = 0

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Threads along x, y, z."""
        return self.x, self.y, self.z

    def grid(self, dims: Sequence[int]) -> tuple[int, int, int]:
        """Return the blocks along x, y, z that cover a launch's dimensions, the last of which lies along x."""
        # The last dimension along x, so that neighbours in memory are neighbours in a warp.
        x, y, z = (*reversed(dims), 1, 1)[:3]
        return -(-x // self.x), -(-y // self.y), -(-z // self.z)


def as_block(value: Any, dims: Sequence[int], kernel: str) -> Block:
    """Return a launch's `block_dim` as a Block: threads along the dimensions of the launch, the last one along x.

    Args:
        value: a number of threads (along x), as many numbers as `dims` has, or a Block, which is returned as it is.
        dims: the launch's dimensions.
        kernel: its name.

    Raises:
        LaunchError: it is none of these, or no device has so many threads in a block.
    """
    if isinstance(value, Block):
        return value
    if type(value) is int and 1 <= value <= MAX_BLOCK:
        return _line(value)
    several = isinstance(value, (tuple, list))
    sizes: tuple[Any, ...] = tuple(cast("Sequence[Any]", value)) if several else (value,)
    if not 1 <= len(sizes) <= 3 or any(isinstance(n, bool) or not hasattr(n, "__index__") or n < 1 for n in sizes):
        raise LaunchError(
            f"{kernel}: block_dim is 1 to 3 whole numbers of at least 1, not {value!r}.", parameter="block_dim"
        )
    if len(sizes) > 1 and len(sizes) != len(dims):
        raise LaunchError(
            f"{kernel}: block_dim has {len(sizes)} sizes and dim has {len(dims)}.",
            parameter="block_dim",
            advice="Give a block as many sizes as the launch has dimensions, or one number of threads along the last.",
        )
    x, y, z = (*(int(n) for n in reversed(sizes)), 1, 1)[:3]
    # CUDA's own limits, the same on all architectures; refused here, the message has the kernel's name.
    if x * y * z > MAX_BLOCK or z > 64:
        raise LaunchError(
            f"{kernel}: a block of {' × '.join(map(str, sizes))} threads is more than {MAX_BLOCK}"
            f"{'' if x * y * z > MAX_BLOCK else ', or more than 64 along z'}.",
            parameter="block_dim",
        )
    return Block(x, y, z)


@functools.cache
def _line(threads: int) -> Block:
    """Return the one-dimensional block of so many threads; the same object each time."""
    return Block(threads)


def with_shared(block: Block, shared: Any, kernel: str) -> Block:
    """Return the block with so many bytes of dynamic shared memory.

    Raises:
        LaunchError: `shared` is not an integer from 0 to `MAX_SHARED`.
    """
    if isinstance(shared, bool) or not isinstance(shared, int) or not 0 <= shared <= MAX_SHARED:
        raise LaunchError(
            f"{kernel}: dynamic shared memory is 0 to {MAX_SHARED} bytes, not {shared!r}.", parameter="shared"
        )
    return replace(block, shared=shared)


class Geometry(msgspec.Struct, frozen=True):
    """The calling convention of a kernel that sees its blocks.

    Attributes:
        param_slots: for each of the kernel's parameters, the index of the slot of the buffer that holds it.
        block: the block of threads.
    """

    param_slots: tuple[int, ...]
    block: Block = Block()
