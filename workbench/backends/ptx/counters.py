"""The counters of a counting kernel: a table of 64-bit words, two per basic block and a row per instruction.

A variant of the compiled PTX counts; code compiled without counters has no trace of them. Counts are what a GPU of the
PTX's kind would issue: they do not depend on the machine that runs it, and say nothing of time.

Its trace is a second table, `HEAD` words and then entries. Each warp of the blocks that are followed notes each basic
block that it executes and each access to global or shared memory. One thread of the system runs a block, so a warp's
entries are in its order; those of several blocks are mixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from workbench.backends.ptx.syntax.program import Instruction

BLOCK = 2
"""Words of the table for each basic block: how many warps and how many lanes executed it."""
ROW = (
    "sectors", "least_sectors", "wavefronts", "least_wavefronts", "atomics", "conflicts", "bytes", "lanes",
    "low", "high", "shared_low", "shared_high",
)  # fmt: skip
"""Words of the table for each instruction.

`lanes`: how many lanes executed it, counted only if it has a guard and does arithmetic on floats. `low` to `high`: the
range, over all executions, of the bytes between neighbouring lanes' addresses in global memory; `shared_low` to
`shared_high`: the same in shared memory.
"""
AT = {name: n for n, name in enumerate(ROW)}
NEVER = 1 << 62
"""The initial value of `low`; that of `high` is its negative."""
UNEVEN = 1 << 40
"""The range from minus to plus this number, recorded as a spacing, says that lanes were not evenly spaced."""

_FLOATS = {"f16": 1, "bf16": 1, "f32": 1, "f64": 1, "f16x2": 2, "bf16x2": 2}
_OPERATIONS = {
    "add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2, "div": 1, "rcp": 1, "sqrt": 1, "rsqrt": 1, "sin": 1, "cos": 1,
    "ex2": 1, "lg2": 1, "tanh": 1,
}  # fmt: skip


class Counts(msgspec.Struct, frozen=True):
    """Counts for an instruction, a source line or a launch.

    Attributes:
        instructions: PTX instructions, each once per warp that executes it.
        threads: PTX instructions, each once per active lane of a warp that executes it.
        global_sectors: 32-byte sectors of global memory that warps touch, each once per access of a warp.
        global_sectors_least: the sectors that would do if the distinct bytes of each access were contiguous.
        shared_wavefronts: passes over the 32 banks that accesses to shared memory take.
        shared_wavefronts_least: the passes that they would take without bank conflicts.
        atomics: atomic operations, one per lane.
        atomic_conflicts: atomic operations on an address that an earlier lane of the warp has in the same
            instruction.
        barriers: arrivals of warps at barriers of the block.
        flops: operations on floats: `fma` is two; comparisons, conversions and changes of sign are none.
        bytes: of global memory that lanes read and write.
    """

    instructions: int = 0
    threads: int = 0
    global_sectors: int = 0
    global_sectors_least: int = 0
    shared_wavefronts: int = 0
    shared_wavefronts_least: int = 0
    atomics: int = 0
    atomic_conflicts: int = 0
    barriers: int = 0
    flops: int = 0
    bytes: int = 0

    @property
    def efficiency(self) -> float:
        """The fraction of lanes that are active in a warp instruction, on average; 1.0 if nothing was executed."""
        return self.threads / (32 * self.instructions) if self.instructions else 1.0

    def __add__(self, other: Counts) -> Counts:
        """Return the sum of two counts, field by field."""
        return Counts(*(getattr(self, name) + getattr(other, name) for name in Counts.__struct_fields__))

    def scaled(self, factor: float) -> Counts:
        """Return counts that are each multiplied by a factor and rounded."""
        return Counts(*(round(getattr(self, name) * factor) for name in Counts.__struct_fields__))


class Counted(msgspec.Struct, frozen=True):
    """An instruction of a kernel (after inlining) with its counts.

    Attributes:
        instruction: the PTX instruction.
        counts: over the whole launch.
        spacing: bytes between neighbouring lanes' addresses in global memory; None if that differs or is not known.
        shared_spacing: bytes between neighbouring lanes' addresses in shared memory; None if that differs or is not
            known.
    """

    instruction: Instruction
    counts: Counts
    spacing: int | None = None
    shared_spacing: int | None = None


def first_row(blocks: int) -> int:
    """Return the index of the word at which the instructions' rows begin, in a table for `blocks` basic blocks."""
    return BLOCK * blocks


def empty_table(blocks: int, instructions: int) -> list[int]:
    """Return the words of a table of counters for so many basic blocks and instructions, before anything is counted."""
    row = [0] * len(ROW)
    row[AT["low"]] = row[AT["shared_low"]] = NEVER
    row[AT["high"]] = row[AT["shared_high"]] = -NEVER
    return [0] * first_row(blocks) + row * instructions


def read_table(table: Sequence[int], code: Sequence[Instruction], starts: Sequence[int]) -> Iterator[Counted]:
    """Yield each instruction that was executed, with its counts, in the order of the code.

    Args:
        table: the words after the launch.
        code: the kernel's instructions.
        starts: the index in `code` of each block's first instruction.
    """
    blocks = {start: n for n, start in enumerate(starts)}
    rows, block = first_row(len(starts)), 0
    for index, instruction in enumerate(code):
        block = blocks.get(index, block)
        warps, lanes = table[BLOCK * block], table[BLOCK * block + 1]
        if not warps:
            continue
        start = rows + index * len(ROW)
        row = dict(zip(ROW, table[start : start + len(ROW)], strict=True))
        executed = row["lanes"] if has_lane_count(instruction) else lanes
        barrier = instruction.opcode in ("bar", "barrier") and "warp" not in instruction.modifiers
        counts = Counts(
            warps, lanes, row["sectors"], row["least_sectors"], row["wavefronts"], row["least_wavefronts"],
            row["atomics"], row["conflicts"], warps if barrier else 0,
            flops_per_lane(instruction) * executed + flops_per_warp(instruction) * warps, row["bytes"],
        )  # fmt: skip
        even = row["low"] if row["low"] == row["high"] else None
        shared = row["shared_low"] if row["shared_low"] == row["shared_high"] else None
        yield Counted(instruction, counts, even, shared)


def has_lane_count(instruction: Instruction) -> bool:
    """Return whether an instruction's lanes are counted apart from its block's.

    That is so if it has a guard, which may exclude some lanes, and does arithmetic on floats.
    """
    return instruction.guard is not None and flops_per_lane(instruction) > 0


def flops_per_lane(instruction: Instruction) -> int:
    """Return the number of floating-point operations that each lane does in an instruction; 0 for an `mma`."""
    kinds = [m for m in instruction.modifiers if m in _FLOATS]
    return _OPERATIONS.get(instruction.opcode, 0) * _FLOATS[kinds[0]] if kinds else 0


def flops_per_warp(instruction: Instruction) -> int:
    """Return the number of floating-point operations that a warp does in an `mma`; 0 for other instructions.

    A product of m × n × k is 2 m n k operations.
    """
    if instruction.opcode != "mma" or not any(m in _FLOATS or m == "tf32" for m in instruction.modifiers):
        return 0
    shape = next((m for m in instruction.modifiers if m[0] == "m" and "n" in m and "k" in m), "m0n0k0")
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return 2 * int(m) * int(n) * int(k)


HEAD = 5
"""Words of a trace before its entries.

They are the number of entries that there were, the number that there is room for, and which warps are traced: the first
block, the number of blocks, and the number of warps of each.
"""
ENTRY = 38
"""Words of an entry of a trace.

They are its tag (of a block or an instruction), the mask of lanes, bytes per lane, the block, the warp, the address of
the block's shared memory, and an address per lane.
"""


class Event(msgspec.Struct, frozen=True):
    """An entry of the trace: a basic block, or an access to memory, that a warp executed.

    Attributes:
        block: the number of the basic block; -1 for an access to memory.
        instruction: the index of the instruction that accesses memory; -1 for a basic block.
        mask: the lanes that executed it, lane 0 in the lowest bit.
        size: bytes per lane of an access; 0 for a basic block.
        of: the linear index of the thread block, and the number of the warp in it.
        shared: the address of the block's shared memory.
        at: an address per lane, which counts for lanes in `mask`; empty for a basic block.
    """

    block: int
    instruction: int
    mask: int
    size: int
    of: tuple[int, int]
    shared: int
    at: tuple[int, ...]


def empty_trace(entries: int, first: int = 0, blocks: int = 1, warps: int = 1) -> np.ndarray:
    """Return the words of an empty trace.

    Args:
        entries: how many there is room for.
        first: linear index of the first thread block to trace.
        blocks: how many thread blocks to trace.
        warps: how many warps of each block to trace.
    """
    table = np.zeros(HEAD + ENTRY * entries, np.int64)
    table[1:HEAD] = entries, first, blocks, warps
    return table


def read_trace(table: np.ndarray, blocks: int) -> Iterator[Event]:
    """Yield the entries of a trace in order.

    Those for which there was no room are missing; some are if `table[0] > table[1]`.

    Args:
        table: the words after the launch.
        blocks: how many basic blocks the kernel has.
    """
    used = int(min(table[0], table[1]))
    for entry in table[HEAD : HEAD + ENTRY * used].reshape(used, ENTRY):
        tag, mask, size, block, warp, shared, *at = entry.tolist()
        instruction = -1 if tag < 0 else (tag - first_row(blocks)) // len(ROW)
        own = tuple(at) if tag >= 0 else ()
        yield Event(~tag if tag < 0 else -1, instruction, mask, size, (block, warp), shared, own)
