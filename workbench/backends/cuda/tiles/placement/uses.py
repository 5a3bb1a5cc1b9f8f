"""Which memory a step of a block touches, and how: what barriers are placed by.

A step stands behind a `touch`, an operation that lists its uses. Two uses need a barrier between them where one thread
may meet what another wrote: the same memory, not both reads, and not known to be the same thread for each element.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from workbench.ir.values import Value
from workbench.types import Scalar, Slots, Vector

ANY = "any"
FIRST = "first"
"""Who: any thread; the first of the block. Every other word names a fixed share of the elements for each thread."""

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
        """The IR value that stands for it."""
        self.slots = Value(Slots(self.dtype, self.count), self.name)

    @property
    def size(self) -> int:
        """Bytes, up to where the next region may begin."""
        return -(-self.count * self.dtype.size // ALIGNMENT) * ALIGNMENT

    def overlaps(self, other: Region) -> bool:
        """Whether they share a byte."""
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


@dataclass(frozen=True)
class Use:
    """One way in which a step touches memory.

    Attributes:
        place: a region, or an array parameter. Arrays of different parameters are taken to be different memory.
        mode: "read", "write", or "add": atomic, its result unused, so that the order of two does not matter.
        who: see above; a tuple may hold values, which mean the same only within one turn of the loop that makes them.
        pending: a copy that is under way until it is waited for.
        box: of an array, first and last index + 1 along each axis, where they are known while compiling.
    """

    place: Region | Value
    mode: str
    who: Hashable = ANY
    pending: bool = False
    box: tuple[tuple[int, int] | None, ...] = ()

    def meets(self, other: Use) -> bool:
        """Whether a barrier has to stand between the two."""
        # Reads commute, and so do atomic additions whose result is unused.
        if self.mode == other.mode and self.mode != "write":
            return False
        if isinstance(self.place, Region) and isinstance(other.place, Region):
            if not self.place.overlaps(other.place):
                return False
        elif self.place is not other.place or self._apart(other):
            return False
        # A thread sees its own writes in order; only a copy under way may arrive after its next access.
        same = self.place is other.place and self.who == other.who != ANY
        return not same or self.pending or other.pending

    def _apart(self, other: Use) -> bool:
        """Whether the two are known to touch different elements of one array."""
        known = (pair for pair in zip(self.box, other.box, strict=False) if None not in pair)
        return any(a[1] <= b[0] or b[1] <= a[0] for a, b in known)  # type: ignore[index]

    def beyond(self, made: set[Value]) -> Use:
        """The use as the next turn of a loop sees it, which makes these values again."""
        return replace(self, who=ANY) if _mentions(self.who, made) else self


def _mentions(who: Hashable, made: set[Value]) -> bool:
    if isinstance(who, tuple):
        return any(_mentions(part, made) for part in who)
    return isinstance(who, Value) and who in made
