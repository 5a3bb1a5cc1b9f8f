"""The trace of a counting kernel: a table of 64-bit words, `HEAD` of them and then entries.

Each warp of the blocks that are followed notes each basic block that it executes and each access to global or shared
memory. One thread of the system runs a block, so a warp's entries are in its order; those of several blocks are mixed.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from workbench.backends.ptx.counters import ROW, first_row

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
