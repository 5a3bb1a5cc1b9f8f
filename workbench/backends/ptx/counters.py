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
"""Words of a basic block: warps and lanes that executed it."""
ROW = (
    "sectors", "least_sectors", "wavefronts", "least_wavefronts", "atomics", "conflicts", "bytes", "lanes",
    "low", "high", "shared_low", "shared_high",
)  # fmt: skip
"""Words of an instruction. `lanes`: those that executed it, of an instruction with a guard. `low` to `high`: the bytes
between neighbouring lanes' addresses in global memory, over all executions; `shared_low` to `shared_high` in shared."""
AT = {name: n for n, name in enumerate(ROW)}
NEVER = 1 << 62
"""The initial value of `low`; that of `high` is its negative."""
UNEVEN = 1 << 40
"""Distances from minus to plus this: lanes were not evenly spaced."""

_FLOATS = {"f16": 1, "bf16": 1, "f32": 1, "f64": 1, "f16x2": 2, "bf16x2": 2}
_OPERATIONS = {
    "add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2, "div": 1, "rcp": 1, "sqrt": 1, "rsqrt": 1, "sin": 1, "cos": 1,
    "ex2": 1, "lg2": 1, "tanh": 1,
}  # fmt: skip


class Counts(msgspec.Struct, frozen=True):
    """The counts of an instruction, a line or a launch.

    Attributes:
        instructions: PTX instructions, each once per warp that executes it.
        threads: the same, once per active lane.
        global_sectors: 32-byte sectors of global memory that warps touch, each once per access of a warp.
        global_sectors_least: those that the distinct bytes of each access would fill.
        shared_wavefronts: passes over the 32 banks that accesses to shared memory take.
        shared_wavefronts_least: the same without bank conflicts.
        atomics: atomic operations of lanes.
        atomic_conflicts: those on an address that an earlier lane of the same warp's operation has.
        barriers: arrivals of warps at barriers of the block.
        flops: operations on floats: `fma` is two; comparisons, conversions and signs are none.
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
        """Active lanes per warp instruction, from 0 to 1; 1.0 if nothing was executed."""
        return self.threads / (32 * self.instructions) if self.instructions else 1.0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in Counts.__struct_fields__))

    def scaled(self, factor: float) -> Counts:
        """Return each count times a factor, rounded."""
        return Counts(*(round(getattr(self, name) * factor) for name in Counts.__struct_fields__))


class Counted(msgspec.Struct, frozen=True):
    """An instruction of the inlined code and its counts; the spacing of lanes in bytes, None if it was not even."""

    instruction: Instruction
    counts: Counts
    spacing: int | None = None
    shared_spacing: int | None = None


def first_row(blocks: int) -> int:
    """Return the word at which the instructions' rows begin."""
    return BLOCK * blocks


def empty_table(blocks: int, instructions: int) -> list[int]:
    """Return a table of counters for so many blocks and instructions: zeros, and ranges that are empty."""
    row = [0] * len(ROW)
    row[AT["low"]] = row[AT["shared_low"]] = NEVER
    row[AT["high"]] = row[AT["shared_high"]] = -NEVER
    return [0] * first_row(blocks) + row * instructions


def read_table(table: Sequence[int], code: Sequence[Instruction], starts: Sequence[int]) -> Iterator[Counted]:
    """Yield each instruction that was executed, with its counts.

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
    """Return whether the lanes that execute it are counted separately, because a guard excludes some of the block's."""
    return instruction.guard is not None and flops_per_lane(instruction) > 0


def flops_per_lane(instruction: Instruction) -> int:
    """Return operations on floats that each lane does."""
    kinds = [m for m in instruction.modifiers if m in _FLOATS]
    return _OPERATIONS.get(instruction.opcode, 0) * _FLOATS[kinds[0]] if kinds else 0


def flops_per_warp(instruction: Instruction) -> int:
    """Return operations on floats that the lanes do together: `mma` of m × n × k is 2 m n k."""
    if instruction.opcode != "mma" or not any(m in _FLOATS or m == "tf32" for m in instruction.modifiers):
        return 0
    shape = next((m for m in instruction.modifiers if m[0] == "m" and "n" in m and "k" in m), "m0n0k0")
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return 2 * int(m) * int(n) * int(k)


HEAD = 5
"""Words before the entries: how many there were, room for how many, the first block, how many blocks, how many warps
of each."""
ENTRY = 38
"""Words of an entry: what it is, the lanes, bytes per lane, the block, the warp, the address of the block's shared
memory, an address per lane."""


class Event(msgspec.Struct, frozen=True):
    """An entry of the trace: a basic block, or an access to memory, that a warp executed.

    Attributes:
        block: the number of a basic block, or -1.
        instruction: the index of an instruction that accesses memory, or -1.
        mask: lanes, the first in the lowest bit.
        size: bytes per lane of an access.
        of: the block of threads and the warp in it, by number.
        shared: where the block's shared memory begins.
        at: of each lane the address, of an access.
    """

    block: int
    instruction: int
    mask: int
    size: int
    of: tuple[int, int]
    shared: int
    at: tuple[int, ...]


def empty_trace(entries: int, first: int = 0, blocks: int = 1, warps: int = 1) -> np.ndarray:
    """Return a table with room for so many entries, of so many warps of so many blocks from the first on."""
    table = np.zeros(HEAD + ENTRY * entries, np.int64)
    table[1:HEAD] = entries, first, blocks, warps
    return table


def read_trace(table: np.ndarray, blocks: int) -> Iterator[Event]:
    """Yield the entries of a trace in order; those for which there was no room are missing (`table[0] > table[1]`).

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
