"""Dimensions of a launch that may be computed in parts, each with a part of the arrays: for sharding under JAX.

A dimension may be if every array is subscripted by the thread's index along it, plus something bounded (`offsets`), at
one and the same axis, always, or never. A part is then a launch of its own over those parts of the arrays, each with as
much of its neighbours (a halo) as the subscripts reach. Halos are read only, or added to only. What such threads write
elsewhere has to be a sum, a minimum or a maximum that none of them reads.

The index as a number, and the size of an axis that is divided, have other values in a part than in the whole. A kernel
that uses them is given them (`positioned`): where its part begins, and the size of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from workbench.ir.analysis import Sizes
from workbench.ir.ops import ADDITIONS, AXIS, EFFECTS, ELEMENTS, KIND, LEGAL, LEVEL, OPERATIONS, TILED, UPDATES
from workbench.ir.values import Function, Op, Value, walk
from workbench.passes.analysis.offsets import Offset, Offsets, subscripts
from workbench.source import UNKNOWN, Location
from workbench.types import ArrayType

MERGED = {"add": "sum", "min": "minimum", "max": "maximum"}
"""The ways to combine the parts of an array that every part of a launch updates."""


class Reason(NamedTuple):
    """The reason why a dimension is not computed in parts; `place` is its location, or `UNKNOWN`."""

    text: str
    place: Location = UNKNOWN

    def __str__(self) -> str:
        """Return the reason with its line, if that is known."""
        return f"{self.text} ({self.place})" if self.place.line else self.text


class Part(NamedTuple):
    """An axis of an array parameter, which a dimension of a launch may divide."""

    array: str
    axis: int


class Halo(NamedTuple):
    """The number of elements before and after its own that a part accesses.

    `added` says that it adds to them; otherwise it only reads them.
    """

    before: int
    after: int
    added: bool = False


_UNKNOWN = Sizes()


@dataclass(frozen=True)
class Dimension:
    """A dimension of a launch, and what it means for the arrays to divide the launch along it.

    Attributes:
        axes: by array that its index subscripts, the axis.
        merged: by array that all its threads update, how: a key of `MERGED`.
        halos: by array that is accessed beyond the thread's own index, how far.
        ring: whether subscripts wrap around the launch.
        numbered: whether its index, or its size, is used as a number, too.
        refused: why it is not computed in parts; None if it may be.
    """

    axes: dict[str, int] = field(default_factory=dict[str, int])
    merged: dict[str, str] = field(default_factory=dict[str, str])
    halos: dict[str, Halo] = field(default_factory=dict[str, Halo])
    ring: bool = False
    numbered: bool = False
    refused: Reason | None = None


@dataclass(frozen=True)
class Partition:
    """The result of `partition`: how a launch of a function may be divided into parts, and what it does to its arrays.

    Attributes:
        dimensions: one per dimension of the launch.
        sizes: axes of arrays whose sizes it uses.
        accessed: the arrays whose elements it accesses.
        unbounded: by axis of an array that is subscripted by something that depends on a thread's index and has no
            offset from it: why it is not divided.
    """

    dimensions: tuple[Dimension, ...]
    sizes: frozenset[Part]
    accessed: frozenset[str]
    unbounded: dict[Part, Reason]


def partition(function: Function, sizes: Sizes = _UNKNOWN) -> Partition:
    """Find the dimensions of a launch of `function` that may be computed in parts.

    Args:
        function: a kernel or a derivative.
        sizes: of the launch, for indices that are clamped or taken modulo a size.

    Returns:
        What is known of each dimension, and of the arrays.

    partition(add).dimensions[0].axes    # {"x": 0, "y": 0} for y[i] = x[i] + 1.0
    """
    uses = _Uses(function)
    for op in walk(function.body):
        uses.note(op)
    uses.offsets = Offsets(function, sizes).accesses()
    dimensions = tuple(uses.dimension(n, sizes) for n in range(function.launch_ndim))
    accessed = frozenset(a for a, _ in uses.accesses)
    return Partition(dimensions, frozenset(uses.sizes), accessed, uses.unbounded())


def unknown_uses(function: Function) -> Reason | None:
    """Return why indices and arrays are used in ways that the IR does not show: tiles, prints, unknown operations, ….

    None if it shows them all.
    """
    uses = _Uses(function)
    for op in walk(function.body):
        uses.note(op)
    return uses.unknown


class _Uses:
    """Collects how a function's operations use thread indices, sizes and arrays.

    Attributes:
        arrays: the array parameters to their names.
        index: values that are the thread's index, to its dimension.
        dependent: values that depend on a thread's index.
        offsets: of accesses, the offset of each subscript from the thread's index; set after the walk.
        accesses: each access, with the name of its array.
        used: all operands.
        numbered: dimensions whose index or size is used as a number.
        sizes: axes of arrays whose sizes are used.
        unknown: why the uses cannot be seen; None if they can.
    """

    def __init__(self, function: Function) -> None:
        self.arrays = {p: p.name for p in function.params if isinstance(p.type, ArrayType)}
        self.index: dict[Value, int] = {}
        self.dependent: set[Value] = set()
        self.offsets: dict[Op, tuple[Offset | None, ...]] = {}
        self.accesses: list[tuple[str, Op]] = []
        self.used: set[Value] = set()
        self.numbered: set[int] = set()
        self.sizes: set[Part] = set()
        self.unknown: Reason | None = None

    def note(self, op: Op) -> None:
        """Record the uses by an operation; call it for those that define its operands first."""
        self.used.update(op.operands)
        if op.name == "tid" or not self.dependent.isdisjoint(op.operands):
            self.dependent.update(op.results)
        if op.name in TILED or LEVEL in op.attrs or op.name == "print":
            self._refuse("it prints" if op.name == "print" else "it uses tiles", op)
        elif op.name in OPERATIONS and op.name not in LEGAL:
            self._refuse(f"it holds {op.name}", op)
        elif op.name == "tid":
            self.index[op.result] = op.attrs[AXIS]
        elif op.name == "launch_dim":
            self.numbered.add(op.attrs[AXIS])
        elif op.name == "shape" and op.operands[0] in self.arrays:
            self.sizes.add(Part(self.arrays[op.operands[0]], op.attrs[AXIS]))
        else:
            self._note_operands(op)

    def _note_operands(self, op: Op) -> None:
        """Record an access, and indices and arrays that are operands otherwise."""
        first = subscripts(op)
        if op.operands and op.operands[0] in self.arrays and (op.name in ELEMENTS or op.name == "reduce_add"):
            self.accesses.append((self.arrays[op.operands[0]], op))
        elif any(isinstance(v.type, ArrayType) for v in op.operands):
            self._refuse(f"an array is passed to {op.name}", op)
        for position, operand in enumerate(op.operands):
            if operand in self.index and position not in first:
                self.numbered.add(self.index[operand])

    def _refuse(self, text: str, op: Op) -> None:
        """Record why the uses are unknown, with the operation's location; the first reason stays."""
        self.unknown = self.unknown or Reason(text, op.location)

    def dimension(self, number: int, sizes: Sizes) -> Dimension:
        """Return what it means for the arrays to divide the launch along a dimension, or why that is refused.

        Args:
            number: the dimension's.
            sizes: those of the launch; a halo as wide as the dimension is refused.

        Returns:
            By the names of arrays: the axis that the dimension indexes; for an array written without such an
            axis, how its parts are merged; the halo. Besides: whether an offset goes round a ring, whether the
            dimension is numbered, and the first reason to refuse.
        """
        refused = self.unknown
        axes: dict[str, int] = {}
        merged: dict[str, str] = {}
        halos: dict[str, Halo] = {}
        for name in dict.fromkeys(name for name, _ in self.accesses):
            ops = [op for other, op in self.accesses if other == name]
            axis_lists = [self._own_axes(op, number) for op in ops]
            if any(axis_lists):
                refused = refused or _uneven(name, ops, axis_lists)
                axes[name] = next(p for p in axis_lists if p)[0]
                halo, why = self._halo(name, ops, number)
                refused = refused or why
                if halo is not None:
                    halos[name] = halo
                    if len(sizes.dims) > number and halo.before + halo.after + 1 >= sizes.dims[number]:
                        refused = refused or Reason(f"{name} is accessed as far away as it is large", ops[0].location)
            elif any(op.name in EFFECTS for op in ops):
                kind, why = self._merge(name, ops)
                refused, merged[name] = refused or why, kind
        offsets = [o for per_axis in self.offsets.values() for o in per_axis if o is not None and o.dimension == number]
        return Dimension(axes, merged, halos, any(o.ring for o in offsets), number in self.numbered, refused)

    def unbounded(self) -> dict[Part, Reason]:
        """Return, by axis, why arrays whose subscripts depend on the thread's index have no offset from it."""
        reasons: dict[Part, Reason] = {}
        for name, op in self.accesses:
            for axis, (n, offset) in enumerate(zip(subscripts(op), self.offsets.get(op, ()), strict=False)):
                if offset is None and op.operands[n] in self.dependent:
                    why = f"a subscript of {name} is not the thread's index plus a bounded number"
                    reasons.setdefault(Part(name, axis), Reason(why, op.location))
        return reasons

    def _own_axes(self, op: Op, number: int) -> tuple[int, ...]:
        """Return the axes at which an access is subscripted by the index along a dimension plus something bounded."""
        offsets = self.offsets.get(op, ())
        return tuple(n for n, offset in enumerate(offsets) if offset is not None and offset.dimension == number)

    def _halo(self, name: str, ops: Iterable[Op], number: int) -> tuple[Halo | None, Reason | None]:
        """Return how far accesses to an array reach beyond the thread's index, and why that cannot be divided.

        Returns:
            A halo and None; None and None if there are no such accesses; None and the reason if the array is written
            there.
        """
        ops = list(ops)
        offsets = [o for op in ops for o in self.offsets.get(op, ()) if o is not None and o.dimension == number]
        before, after = max(0, -min(o.low for o in offsets)), max(0, max(o.high for o in offsets))
        writes = [op for op in ops if op.name in EFFECTS]
        if not (before or after):
            return None, None
        if not writes:
            return Halo(before, after), None
        kind, why = self._merge(name, ops)
        if why is None and kind == "add":
            return Halo(before, after, added=True), None
        return None, Reason(f"{name} is written, and not only at the thread's own index", writes[0].location)

    def _merge(self, name: str, ops: Iterable[Op]) -> tuple[str, Reason | None]:
        """Return how the parts of an array that every thread may write to are combined, and why they cannot be.

        Returns:
            A key of `MERGED`, or ""; and the reason, or None if they can be combined.
        """
        kinds: set[str] = set()
        for op in ops:
            kind = op.attrs[KIND] if op.name == "atomic" else "add" if op.name in ADDITIONS else ""
            if op.name not in UPDATES or kind not in MERGED:
                return "", Reason(
                    f"all its threads may write to one element of {name}, or read what others wrote", op.location
                )
            if any(v in self.used for v in op.results):
                return "", Reason(f"the old value of an update of {name} is used", op.location)
            kinds.add(kind)
        kind, *others = sorted(kinds)
        return kind, Reason(f"{name} is updated in several ways") if others else None


def _uneven(name: str, ops: list[Op], axes: list[tuple[int, ...]]) -> Reason | None:
    """Return why the accesses of an array do not all have the index at one and the same axis; None if they do."""
    for op, own_axes in zip(ops, axes, strict=True):
        if len(own_axes) > 1:
            return Reason(f"its index is two subscripts of {name}", op.location)
        if own_axes != next(p for p in axes if p):
            return Reason(f"{name} is accessed at other elements as well", op.location)
    return None
