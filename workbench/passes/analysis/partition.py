"""Which dimensions of a launch may be computed in parts, each with a part of the arrays: what sharding under JAX needs.

A dimension may be if a thread's index along it is only a subscript: of each array it is always the subscript of the
same axis, or of none. A part is then a launch of its own over those parts of the arrays, and nothing in it can differ
from the whole. What such threads write elsewhere has to be a sum, a minimum or a maximum that none of them reads.

Every other use of the index is refused, because its value in a part differs from that in the whole: arithmetic, seeds,
conditions. A comparison with the size of an axis that is cut together with the launch is the one exception (`guards`):
it has the same outcome for every thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from workbench.ir.attributes import AXIS, KIND, LEVEL
from workbench.ir.ops import EFFECTS, ELEMENTS, LEGAL, OPERATIONS, TILED, UPDATES
from workbench.ir.values import Function, Op, Value, walk
from workbench.source import UNKNOWN, Location
from workbench.types import ArrayType

MERGED = {"add": "sum", "min": "minimum", "max": "maximum"}
"""How the parts of an array that every part of a launch updates are put together."""
_GUARDS = {"lt": 0, "ge": 0, "gt": 1, "le": 1}
"""Comparisons of an index with a size that have one outcome for all indices below the size; the index's position."""


class Reason(NamedTuple):
    """Why a dimension is not computed in parts, or an array's size is needed; and the place in the source."""

    text: str
    place: Location = UNKNOWN

    def __str__(self) -> str:
        """With the line, if it is known."""
        return f"{self.text} ({self.place})" if self.place.line else self.text


class Part(NamedTuple):
    """An axis of an array parameter."""

    array: str
    axis: int


@dataclass(frozen=True)
class Dimension:
    """One dimension of the launch.

    Attributes:
        axes: of each array that it subscripts, the axis.
        merged: arrays that its threads all update, and how: a key of `MERGED`.
        guards: sizes that its index is compared with; each must be that of an axis which is cut with it.
        refused: why it is not computed in parts; None if it may be.
    """

    axes: dict[str, int] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)
    guards: tuple[tuple[Part, Reason], ...] = ()
    refused: Reason | None = None


@dataclass(frozen=True)
class Partition:
    """What is known of a kernel or of a derivative.

    Attributes:
        dimensions: one per dimension that `tid()` asks for.
        sizes: axes whose sizes it uses other than in guards: these stay whole.
        accessed: the arrays of which it touches elements.
    """

    dimensions: tuple[Dimension, ...]
    sizes: dict[Part, Reason]
    accessed: frozenset[str]


def partition(function: Function) -> Partition:
    """Which dimensions of a launch of `function` may be computed in parts.

    partition(add).dimensions[0].axes    # {"x": 0, "y": 0} for y[i] = x[i] + 1.0
    """
    found = _Uses(function)
    for op in walk(function.body):
        found.note(op)
    dimensions = tuple(found.dimension(n) for n in range(function.launch_ndim))
    return Partition(dimensions, found.used_sizes(), frozenset(a for a, _ in found.accesses))


class _Uses:
    """What operations do with thread indices, sizes and arrays."""

    def __init__(self, function: Function) -> None:
        self.arrays = {p: p.name for p in function.params if isinstance(p.type, ArrayType)}
        self.index: dict[Value, int] = {}
        self.size: dict[Value, Part] = {}
        self.accesses: list[tuple[str, Op]] = []
        self.used: set[Value] = set()
        self._values: dict[int, Reason] = {}
        self._guards: list[tuple[int, Part, Reason]] = []
        self._sizes: dict[Part, Reason] = {}
        self._never: Reason | None = None

    def note(self, op: Op) -> None:
        """Take in one operation; those that make its operands came before."""
        self.used.update(op.operands)
        if op.name in TILED or LEVEL in op.attrs or op.name in ("launch_dim", "print"):
            self._refuse(f"it uses {op.name}" if op.name in ("print", "launch_dim") else "it uses tiles", op)
        elif op.name in OPERATIONS and op.name not in LEGAL:
            self._refuse(f"it holds {op.name}", op)
        elif op.name == "tid":
            self.index[op.result] = op.attrs[AXIS]
        elif op.name == "shape" and op.operands[0] in self.arrays:
            self.size[op.result] = Part(self.arrays[op.operands[0]], op.attrs[AXIS])
        elif not self._is_guard(op):
            self._values_of(op)

    def _is_guard(self, op: Op) -> bool:
        first = _GUARDS.get(op.name)
        if first is None:
            return False
        index, size = op.operands[first], op.operands[1 - first]
        if index not in self.index or size not in self.size:
            return False
        part = self.size[size]
        self._guards.append((self.index[index], part, Reason(f"its index is compared with a size of {part.array}", op.location)))
        return True

    def _values_of(self, op: Op) -> None:
        """Note the operands that are more than an array and its subscripts."""
        count = 0
        if op.operands and op.operands[0] in self.arrays and (op.name in ELEMENTS or op.name == "reduce_add"):
            self.accesses.append((self.arrays[op.operands[0]], op))
            count = 1 + (len(_subscripts(op)))
        for position, operand in enumerate(op.operands):
            if operand in self.index and position >= count:
                why = Reason("its index is used for more than a subscript", op.location)
                self._values.setdefault(self.index[operand], why)
            if operand in self.size:
                part = self.size[operand]
                self._sizes.setdefault(part, Reason(f"the size of {part.array} along it is used", op.location))
            if isinstance(operand.type, ArrayType) and not (position == 0 and count):
                self._refuse(f"an array is passed to {op.name}", op)

    def _refuse(self, text: str, op: Op) -> None:
        self._never = self._never or Reason(text, op.location)

    def used_sizes(self) -> dict[Part, Reason]:
        return self._sizes

    def dimension(self, number: int) -> Dimension:
        """What is known of a dimension of the launch."""
        refused = self._never or self._values.get(number)
        axes, merged = {}, {}
        for name in dict.fromkeys(name for name, _ in self.accesses):
            ops = [op for other, op in self.accesses if other == name]
            places = [self._places(op, number) for op in ops]
            if any(places):
                refused = refused or _uneven(name, ops, places)
                axes[name] = next(p for p in places if p)[0]
            elif any(op.name in EFFECTS for op in ops):
                kind, why = self._merge(name, ops)
                refused, merged[name] = refused or why, kind
        guards = tuple((part, why) for n, part, why in self._guards if n == number)
        return Dimension(axes, merged, guards, refused)

    def _places(self, op: Op, number: int) -> tuple[int, ...]:
        """The subscripts of an access that are the index along this dimension."""
        return tuple(n for n, v in enumerate(_subscripts(op)) if self.index.get(v) == number)

    def _merge(self, name: str, ops: Iterable[Op]) -> tuple[str, Reason | None]:
        """How an array that every thread may write to is put together again."""
        kinds = set()
        for op in ops:
            kind = op.attrs[KIND] if op.name == "atomic" else "add"
            if op.name not in UPDATES or kind not in MERGED:
                return "", Reason(f"all its threads may write to one element of {name}, or read what others wrote", op.location)
            if any(v in self.used for v in op.results):
                return "", Reason(f"the old value of an update of {name} is used", op.location)
            kinds.add(kind)
        kind, *others = sorted(kinds)
        return kind, Reason(f"{name} is updated in several ways") if others else None


def _subscripts(op: Op) -> tuple[Value, ...]:
    array = op.operands[0].type
    assert isinstance(array, ArrayType)
    return op.operands[1 : 1 + array.ndim] if op.name in ELEMENTS else ()


def _uneven(name: str, ops: list[Op], places: list[tuple[int, ...]]) -> Reason | None:
    """Why the accesses of an array do not all have the index at one and the same axis."""
    for op, found in zip(ops, places, strict=True):
        if len(found) > 1:
            return Reason(f"its index is two subscripts of {name}", op.location)
        if found != next(p for p in places if p):
            return Reason(f"{name} is accessed at other elements as well", op.location)
    return None
