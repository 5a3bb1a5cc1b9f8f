"""Uses of memory by the steps of a block, from which the placement of barriers follows.

A step stands behind a `touch`, an operation that lists its uses. Two uses need a barrier between them where one thread
may meet what another wrote: the same memory, not both reads, and not known to be the same thread for each element.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from workbench.host.narrow import is_tuple
from workbench.ir.values import Value
from workbench.types import Scalar, Slots, Vector

ANY = "any"
FIRST = "first"
"""Values of `who`: any thread; the first of the block. Other words name a fixed share of the elements per thread."""

ALIGNMENT = 16


@dataclass(eq=False)
class Region:
    """A piece of shared memory.

    Attributes:
        dtype: type of its elements.
        count: how many.
        name: in the text.
        label: what it is for, in a user's words.
        offset: bytes from the start of the block's shared memory; set when all regions are known.
    """

    dtype: Scalar | Vector
    count: int
    name: str
    label: str
    offset: int = 0
    slots: Value = field(init=False)

    def __post_init__(self) -> None:
        """Make the IR value that represents the region."""
        self.slots = Value(Slots(self.dtype, self.count), self.name)

    @property
    def size(self) -> int:
        """Bytes, up to where the next region may begin."""
        return -(-self.count * self.dtype.size // ALIGNMENT) * ALIGNMENT

    def overlaps(self, other: Region) -> bool:
        """Return whether two regions share a byte."""
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


@dataclass(frozen=True)
class Use:
    """A way in which a step touches memory.

    Attributes:
        memory: a region, or an array parameter. Arrays of different parameters are taken to be different memory.
        mode: "read", "write", or "add": atomic, its result unused, so that the order of two does not matter.
        who: see above; a tuple may hold values, which mean the same only within one turn of the loop that makes them.
        pending: a copy that is under way until it is waited for.
        box: of an array, first and last index + 1 along each axis, where they are known while compiling.
    """

    memory: Region | Value
    mode: str
    who: Hashable = ANY
    pending: bool = False
    box: tuple[tuple[int, int] | None, ...] = ()

    def needs_barrier(self, other: Use) -> bool:
        """Return whether a barrier has to stand between the two."""
        # Reads commute, and so do atomic additions whose result is unused.
        if self.mode == other.mode and self.mode != "write":
            return False
        if isinstance(self.memory, Region) and isinstance(other.memory, Region):
            if not self.memory.overlaps(other.memory):
                return False
        elif self.memory is not other.memory or self._is_disjoint(other):
            return False
        # A thread sees its own writes in order; only a copy under way may arrive after its next access.
        same = self.memory is other.memory and self.who == other.who != ANY
        return not same or self.pending or other.pending

    def _is_disjoint(self, other: Use) -> bool:
        """Return whether the two are known to touch different elements of one array."""
        known = (pair for pair in zip(self.box, other.box, strict=False) if None not in pair)
        return any(a[1] <= b[0] or b[1] <= a[0] for a, b in known)  # type: ignore[index]

    def beyond(self, recomputed: set[Value]) -> Use:
        """Return the use as the next iteration of a loop sees it, which recomputes these values."""
        return replace(self, who=ANY) if _mentions(self.who, recomputed) else self


def _mentions(who: Hashable, values: set[Value]) -> bool:
    if is_tuple(who):
        return any(_mentions(part, values) for part in who)
    return isinstance(who, Value) and who in values
