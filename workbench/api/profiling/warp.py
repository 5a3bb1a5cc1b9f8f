"""The work of a warp of a launch, line by line: which lanes are active, and where each reads and writes.

The kernel with counters notes it while it counts (`backends/ptx/counters.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import ClassVar

import msgspec

from workbench.api.profiling.run import Counting
from workbench.api.profiling.subject import Subject
from workbench.api.renamed import OldName
from workbench.backends.ptx.counters import Event
from workbench.backends.ptx.kernel import Kernel
from workbench.backends.ptx.syntax.program import Instruction
from workbench.source import Location

STEPS = 120
"""As many are kept of the first warp."""
LANES = 32
_STORES = ("st", "stmatrix")
_ATOMICS = ("atom", "red")
_BARRIERS = ("bar", "barrier")
_JUMPS = ("bra", "brx", "ret", "exit")


class Access(msgspec.Struct, frozen=True):
    """An access of a warp to memory.

    Attributes:
        kind: "read", "write" or "atomic".
        space: "global" or "shared".
        array: the parameter that global memory belongs to; empty if it belongs to none.
        size: bytes per lane.
        at: for each lane the byte at which it begins, counted from the array's first byte, or from the block's first of
            shared memory; -1 for a lane that does not take part.
    """

    kind: str
    space: str
    array: str
    size: int
    at: tuple[int, ...]

    @property
    def sectors(self) -> int:
        """32-byte sectors of global memory that it touches."""
        return len({a // 32 for a in self.at if a >= 0})

    @property
    def least(self) -> int:
        """The fewest sectors, or wavefronts of shared memory, that could transfer as many bytes."""
        if self.space == "global":
            return -(-len({a for a in self.at if a >= 0}) * self.size // 32)
        return sum(any(a >= 0 for a in group) for group in self._groups())

    @property
    def cost(self) -> int:
        """The sectors, or wavefronts of shared memory, that the access takes."""
        return self.sectors if self.space == "global" else self.wavefronts

    said: ClassVar[OldName] = OldName("summary")

    @property
    def summary(self) -> str:
        """The access in a phrase."""
        what = {"read": "reads", "write": "writes", "atomic": "updates"}[self.kind]
        active = sum(a >= 0 for a in self.at)
        unit = "sector" if self.space == "global" else "wavefront"
        would = "" if self.cost == self.least else f" where {self.least} would do"
        return (
            f"{active} of {LANES} lanes: each {what} {self.size} {'byte' if self.size == 1 else 'bytes'} of "
            f"{self.array or f'{self.space} memory'}, {self.cost} {unit}{'' if self.cost == 1 else 's'}{would}"
        )

    @property
    def wavefronts(self) -> int:
        """Passes over the 32 banks of shared memory: 8 bytes per lane go by halves of the warp, 16 by quarters."""
        return sum(_passes(group, max(1, self.size // 4)) for group in self._groups())

    def _groups(self) -> list[tuple[int, ...]]:
        """Return the lanes' addresses in groups that access shared memory together: 32, 16 or 8 lanes."""
        each = LANES // max(1, self.size // 4)
        return [self.at[k : k + each] for k in range(0, LANES, each)]


def _passes(at: tuple[int, ...], words: int) -> int:
    """Return the wavefronts of one access: the number of distinct words in the bank with the most of them.

    Args:
        at: the lanes' addresses in shared memory, in bytes; negative for an idle lane.
        words: 4-byte words per lane.
    """
    banks: dict[int, set[int]] = {}
    for first in {a // 4 for a in at if a >= 0}:
        for word in range(first, first + words):
            banks.setdefault(word % 32, set()).add(word)
    return max(map(len, banks.values()), default=0)


class Step(msgspec.Struct, frozen=True):
    """A step of a warp: instructions of one line, executed in a row with the same lanes.

    Attributes:
        number: the line, as the reader of the cell counts.
        where: the name of its source, if that is not the kernel's.
        text: the line.
        mask: active lanes, the first in the lowest bit.
        accesses: to global and shared memory.
        barrier: it ends where the warp waits for the others of its block.
    """

    number: int
    where: str
    text: str
    mask: int
    accesses: tuple[Access, ...]
    barrier: bool = False


def first_warp(subject: Subject, kernel: Kernel, counting: Counting) -> tuple[tuple[Step, ...], bool]:
    """Return the steps of the first warp of the first block, at most `STEPS`; and whether these are all.

    Args:
        subject: what was profiled.
        kernel: its code with counters.
        counting: what the run noted.
    """
    steps = warps(subject, kernel, counting).get((0, 0), ())
    return steps[:STEPS], counting.noted <= len(counting.trace) and len(steps) <= STEPS


def warps(subject: Subject, kernel: Kernel, counting: Counting) -> dict[tuple[int, int], tuple[Step, ...]]:
    """Return the steps of each warp that was followed: by the numbers of its block and of the warp in the block.

    Args:
        subject: what ran.
        kernel: its code with counters.
        counting: what the run noted.
    """
    code, starts = kernel.metadata.code, kernel.metadata.blocks
    lines, ends = list(subject.lines_of(code)), [*sorted(starts), len(code)]
    next_start = dict(pairwise(ends))
    events: dict[tuple[int, int], list[Event]] = {}
    for event in counting.trace:
        events.setdefault(event.of, []).append(event)
    steps: dict[tuple[int, int], tuple[Step, ...]] = {}
    for warp, noted in sorted(events.items()):
        making: list[_Making] = []
        for event, accesses in _by_block(noted):
            start = starts[event.block]
            for index in range(start, next_start[start]):
                if code[index].opcode not in _JUMPS:  # what leads from one line to another is part of neither
                    _execute(making, code[index], lines[index], event.mask)
                    mine = (a for a in accesses if a.instruction == index)
                    making[-1].accesses.extend(_access(code[index], a, counting) for a in mine)
        steps[warp] = tuple(_step(one, subject.code.own.source.label) for one in making)
    return steps


class _Making(msgspec.Struct):
    """A step of a warp that is still being collected.

    Attributes:
        at: the line that its instructions come from.
        mask: active lanes, the first in the lowest bit.
        accesses: to memory, so far.
        barrier: whether its last instruction is a barrier of the block.
    """

    at: Location
    mask: int
    accesses: list[Access]
    barrier: bool = False


def _execute(making: list[_Making], instruction: Instruction, at: Location, mask: int) -> None:
    """Begin a new step if an instruction is of another line or mask, or follows a barrier; note if it is a barrier."""
    if not making or (making[-1].at, making[-1].mask) != (at, mask) or making[-1].barrier:
        making.append(_Making(at, mask, []))
    making[-1].barrier = instruction.opcode in _BARRIERS and "warp" not in instruction.modifiers


def _step(one: _Making, own: str) -> Step:
    """Return a collected step; it names its source if that is not `own`, the label of the kernel's."""
    at = one.at
    where = "" if at.source.label == own else at.source.name
    return Step(at.shown_line, where, at.source.line(at.line), one.mask, tuple(one.accesses), one.barrier)


def _by_block(events: Iterable[Event]) -> Iterator[tuple[Event, list[Event]]]:
    """Yield each basic block that was executed, with the accesses in it."""
    block, accesses = None, list[Event]()
    for event in events:
        if event.block < 0:
            accesses.append(event)
            continue
        if block is not None:
            yield block, accesses
        block, accesses = event, []
    if block is not None:
        yield block, accesses


def _access(instruction: Instruction, event: Event, counting: Counting) -> Access:
    """Return an access to memory, from its event.

    Each lane's address counts from the start of the block's shared memory or of the array, from 0 if it is in no array;
    it is -1 for an idle lane.
    """
    lowest = min(event.at[lane] for lane in range(LANES) if event.mask >> lane & 1)
    shared = event.shared <= lowest < event.shared + counting.shared_size
    own = ((name, first) for name, (first, end) in counting.arrays.items() if first <= lowest < end)
    name, start = ("", event.shared) if shared else next(own, ("", 0))
    kind = "atomic" if instruction.opcode in _ATOMICS else "write" if instruction.opcode in _STORES else "read"
    if instruction.opcode == "cp" and shared:
        kind = "write"
    at = tuple(event.at[lane] - start if event.mask >> lane & 1 else -1 for lane in range(LANES))
    return Access(kind, "shared" if shared else "global", name, event.size, at)
