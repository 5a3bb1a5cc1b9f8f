"""Where a counting kernel writes down its first warp: a table of 64-bit words, `HEAD` of them and then entries.

The first warp of the first block notes each basic block that it executes and each access to global or shared memory,
in order. One thread of the system runs a block, so nothing else writes there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.backends.ptx.counters import ROW, first_row

HEAD = 3
"""Words before the entries: how many there were, room for how many, the address of the block's shared memory."""
ENTRY = 35
"""Words of an entry: what it is, the lanes, bytes per lane, an address per lane."""


@dataclass(frozen=True)
class Event:
    """What the warp executed.

    Attributes:
        block: the number of a basic block, or -1.
        instruction: the index of an instruction that accesses memory, or -1.
        mask: lanes, the first in the lowest bit.
        size: bytes per lane of an access.
        at: of each lane the address, of an access.
    """

    block: int
    instruction: int
    mask: int
    size: int
    at: tuple[int, ...]


def empty_trace(entries: int) -> np.ndarray:
    """A table with room for so many entries."""
    table = np.zeros(HEAD + ENTRY * entries, np.int64)
    table[1] = entries
    return table


def read_trace(table: np.ndarray, blocks: int) -> Iterator[Event]:
    """What was noted, in order; what there was no room for is left out (`table[0] > table[1]`).

    Args:
        table: the words after the launch.
        blocks: how many basic blocks the kernel has.
    """
    used = int(min(table[0], table[1]))
    for entry in table[HEAD : HEAD + ENTRY * used].reshape(used, ENTRY):
        tag, mask, size, *at = entry.tolist()
        instruction = -1 if tag < 0 else (tag - first_row(blocks)) // len(ROW)
        yield Event(~tag if tag < 0 else -1, instruction, mask, size, tuple(at) if tag >= 0 else ())
