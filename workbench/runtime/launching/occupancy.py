"""Occupancy of a multiprocessor: how many of its warps a kernel can have at once, by the rules of NVIDIA's calculator.

The rules and the units of allocation (256 registers; 128 bytes of shared memory from compute capability 8.0 on, 256
before) are those of `cuda_occupancy.h` of the CUDA Toolkit 13.0. From 8.0 on the driver takes 1 KiB of shared memory
for each block (CUDA C++ Programming Guide). The limits of each compute capability are in
`backends/cuda/architectures.py`, from the guide's table.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from workbench.backends.cuda.architectures import Architecture

REGISTERS = 65536
"""32-bit registers of a multiprocessor."""
REGISTER_UNIT = 256
"""Registers that a warp is allocated at a time, on all architectures."""
PARTITIONS = 4
"""Partitions of a multiprocessor; each has a quarter of the registers, and warps of its own."""


class Occupancy(msgspec.Struct, frozen=True):
    """The number of a kernel's blocks and warps that fit into a multiprocessor.

    Attributes:
        blocks: that fit at once.
        share: of the warps that a multiprocessor can hold, from 0 to 1.
        limited_by: "threads", "blocks", "registers" or "shared memory": what allows the fewest blocks.
        limits: how many blocks each of these allows; what is not used has no entry.
        warps: of a block.
        slots: warps that a multiprocessor can hold.
    """

    blocks: int
    share: float
    limited_by: str
    limits: Mapping[str, int]
    warps: int
    slots: int


SIZES = (256, 128, 512, 192, 384, 96, 64, 1024)
"""Numbers of threads of a block to choose from; of equally good ones the first is taken."""


def best_block(architecture: Architecture, registers: int, shared: int) -> int:
    """Return the threads of a block with which most of a multiprocessor's warps are active at once.

    Args:
        architecture: the GPU's.
        registers: of a thread.
        shared: bytes of shared memory of a block, static and dynamic.
    """
    return max(SIZES, key=lambda threads: occupancy(architecture, threads, registers, shared).share)


def occupancy(architecture: Architecture, threads: int, registers: int, shared: int) -> Occupancy:
    """Return how many blocks of a kernel fit into a multiprocessor at once; 0 if a block needs more than there is.

    Args:
        architecture: the GPU's.
        threads: of a block.
        registers: of a thread.
        shared: bytes of shared memory of a block, static and dynamic.
    """
    warps, slots = -(-threads // 32), architecture.threads // 32
    limits = {"threads": slots // warps, "blocks": architecture.blocks}
    each = -(-registers * 32 // REGISTER_UNIT) * REGISTER_UNIT
    if each:
        limits["registers"] = REGISTERS // PARTITIONS // each * PARTITIONS // warps
    unit, reserved = (128, 1024) if architecture.capability >= 80 else (256, 0)
    if shared:
        taken = -(-(shared + reserved) // unit) * unit
        limits["shared memory"] = architecture.shared // taken
    blocks = min(limits.values())
    limited_by = next(name for name, fits in limits.items() if fits == blocks)
    return Occupancy(blocks, blocks * warps / slots, limited_by, limits, warps, slots)
