"""Uses of memory by the steps of a block, from which the placement of barriers follows.

A step stands behind a `touch`, an operation that lists its uses. Two uses need a barrier between them where one
thread may meet what another wrote: the same memory, not both reads, and not known to be the same thread for each
element.

Barriers are placed by a walk in the order of the program, which carries the uses of memory since the last barrier.
Where a `touch` meets one of them, a barrier goes right before it: as late as can be, which in straight code is as few
as can be. What is open at the end of a loop's body is open at its beginning. Conditions and counts are the same in
all threads of a block, so a barrier may stand in a branch and in a loop.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.host.narrow import is_tuple
from workbench.ir.ops import LOOPS, USES, VALUE, WAIT
from workbench.ir.values import Block, Op, Value, walk
from workbench.types import Scalar, Slots, Vector

ANY = "any"
FIRST = "first"
"""Values of `Use.who`: any thread, and the first one of the block. Other values name a fixed share of each thread."""

ALIGNMENT = 16


@dataclass(eq=False)
class Region:
    """A part of a block's shared memory.

    Attributes:
        dtype: type of its elements.
        count: the number of elements.
        name: in the generated text.
        label: what it is for, in a user's words.
        offset: bytes from the start of the block's shared memory; set when all regions are known.
        slots: the IR value that represents it.
    """

    dtype: Scalar | Vector
    count: int
    name: str
    label: str
    offset: int = 0
    slots: Value = field(init=False)

    def __post_init__(self) -> None:
        """Create the IR value that represents the region."""
        self.slots = Value(Slots(self.dtype, self.count), self.name)

    @property
    def size(self) -> int:
        """Bytes that it takes, rounded up to where the next region may begin."""
        return -(-self.count * self.dtype.size // ALIGNMENT) * ALIGNMENT

    def overlaps(self, other: Region) -> bool:
        """Return whether two regions share a byte."""
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


@dataclass(frozen=True)
class Use:
    """An access to memory by a step.

    Attributes:
        memory: a region, or an array parameter. Arrays of different parameters are taken to be different memory.
        mode: "read", "write", or "add": atomic, its result unused, so that the order of two does not matter.
        who: `ANY`, `FIRST`, or a name for the share of elements that each thread accesses; equal names mean equal
            shares. A tuple may contain values, which mean the same only within one iteration of the loop that defines
            them.
        pending: a copy that is under way until it is waited for.
        box: of an array, first and last index + 1 along each axis; None along those where they are not constant.
    """

    memory: Region | Value
    mode: str
    who: Hashable = ANY
    pending: bool = False
    box: tuple[tuple[int, int] | None, ...] = ()

    def needs_barrier(self, other: Use) -> bool:
        """Return whether a barrier has to stand between this use and another one."""
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
        """Return whether two uses of an array are known to access different elements."""
        known = (pair for pair in zip(self.box, other.box, strict=False) if None not in pair)
        return any(a[1] <= b[0] or b[1] <= a[0] for a, b in known)  # type: ignore[index]

    def beyond(self, recomputed: set[Value]) -> Use:
        """Return the use as the next iteration of a loop sees it, which computes the values `recomputed` again."""
        return replace(self, who=ANY) if _mentions(self.who, recomputed) else self


def _mentions(who: Hashable, values: set[Value]) -> bool:
    """Return whether the name of a share, which may be a nested tuple, contains one of these values."""
    if is_tuple(who):
        return any(_mentions(part, values) for part in who)
    return isinstance(who, Value) and who in values


Open = frozenset[Use]
Constants = dict[Value, Any]
"""The constants of the kernel, by value."""


def place_barriers(block: Block) -> Block:
    """Return the block with a `barrier` in place of each `touch` that needs one, and without the others.

    A barrier's attribute `wait` says that copies are under way, which each thread waits for before it arrives.
    """
    constants = {op.result: op.attrs[VALUE] for op in walk(block) if op.name == "const"}
    ops, _ = _walk(block, frozenset(), constants)
    return Block(block.params, tuple(ops))


def _walk(block: Block, open_: Open, constants: Constants) -> tuple[list[Op], Open]:
    """Return a block's operations with barriers for touches where needed, and the uses that no barrier follows.

    Args:
        block: the block.
        open_: the uses before it that no barrier has followed yet.
        constants: the constants of the kernel, by value.
    """
    ops: list[Op] = []
    for op in block.ops:
        if op.name == "touch":
            uses = [use for use in op.attrs[USES] if isinstance(use, Use)]
            if any(use.needs_barrier(other) for use in uses for other in open_):
                # A copy under way is seen by the others only after its own thread has waited for it and then met them.
                wait = any(other.pending for other in open_)
                ops.append(Op("barrier", (), (), WAIT.of(wait), (), op.location))
                # A barrier orders all that came before it against all that follows, so nothing stays open.
                open_ = frozenset()
            open_ |= frozenset(uses)
        elif op.name == "barrier":
            ops.append(op)
            # It waits for the groups of its loop's loads ahead; another copy may still be under way.
            open_ = frozenset(use for use in open_ if use.pending)
        elif op.name == "if":
            branches = [_walk(inner, open_, constants) for inner in op.blocks]
            ops.append(_with(op, [rows for rows, _ in branches]))
            # All threads take the same branch, but not known which: either may have left its uses open.
            open_ = branches[0][1] | branches[1][1]
        elif op.name in LOOPS:
            rows, open_ = _loop(op, open_, constants)
            ops.append(_with(op, rows))
        else:
            ops.append(op)
    return ops, open_


def _loop(op: Op, before: Open, constants: Constants) -> tuple[list[list[Op]], Open]:
    """Return each block's operations of a loop, with barriers, and the uses after it that no barrier follows.

    Args:
        op: the loop.
        before: the uses before it that no barrier has followed yet.
        constants: the constants of the kernel, by value.
    """
    inside = _defined_in(op)
    head = before
    # To a fixed point: what is open at the end of the body is open at its beginning in the next turn. It ends, since
    # there are only so many uses in the body.
    while True:
        rows: list[list[Op]] = []
        open_, tested = head, head
        for position, block in enumerate(op.blocks):
            done, open_ = _walk(block, open_, constants)
            rows.append(done)
            if op.name == "while" and position == 0:
                tested = open_
        again = head | {use.beyond(inside) for use in open_}
        if again == head:
            # A `while` is left after its condition, a `for` after its body; one that may have no turn leaves open what
            # was before it.
            left = tested if op.name == "while" else open_ if _is_entered(op, constants) else before | open_
            return rows, frozenset(use.beyond(inside) for use in left)
        head = again


def _is_entered(op: Op, constants: Constants) -> bool:
    """Return whether a `for` is known to run its body at least once."""
    ends = [int(n) for v in op.operands[:3] if (n := constants.get(v)) is not None]
    return len(ends) == 3 and ends[2] != 0 and len(range(*ends)) > 0


def _defined_in(op: Op) -> set[Value]:
    """Return all results and block parameters that are defined inside an operation's blocks."""
    results: set[Value] = set()
    for block in op.blocks:
        results |= set(block.params)
        for inner in walk(block):
            results |= set(inner.results)
            results |= {p for b in inner.blocks for p in b.params}
    return results


def _with(op: Op, rows: list[list[Op]]) -> Op:
    """Return the operation with other operations in its blocks."""
    blocks = tuple(Block(b.params, tuple(ops)) for b, ops in zip(op.blocks, rows, strict=True))
    return op.replace(blocks=blocks)
