"""Values computed before a launch, or before a row of threads: each once, in int64 where it is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.ir.analysis import Analysis
from workbench.ir.attributes import AXIS
from workbench.ir.build import Builder
from workbench.ir.values import Function, Value
from workbench.types import Type, int32, int64

Bounds = tuple[Value, Value]
"""The least and the greatest number that something can be."""


class Prologue:
    """Operations that all threads share, and what is known of the function that they stand before.

    Attributes:
        analysis: of the function.
        builder: where the operations are written.
        axes: of the launch, those whose index is known here.
        through: operations that may be computed again here.
    """

    def __init__(self, function: Function, axes: Iterable[int], through: frozenset[str]) -> None:
        self.analysis, self.builder = Analysis(function), Builder()
        self.axes, self.through = frozenset(axes), through
        self._copies: dict[Value, Value | None] = {}
        self._shared: dict[tuple[object, ...], Value] = {}

    def share(self, key: tuple[object, ...], make: Callable[[], Value]) -> Value:
        """Return the value of this key, made on first request."""
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]

    def emit(self, name: str, *operands: Value, type: Type = int64) -> Value:
        """Return the result of an operation."""
        return self.share((name, *operands), lambda: self.builder.one(name, operands, type))

    def number(self, number: int) -> Value:
        """Return a number as int64."""
        return self.share(("const", number), lambda: self.builder.const(number, int64))

    def copy(self, value: Value) -> Value | None:
        """Return the value, computed again here; None if it differs between the threads that share the prologue."""
        if value in self.analysis.params:
            return value
        if value not in self._copies:
            self._copies[value] = self._copied(value)
        return self._copies[value]

    def _copied(self, value: Value) -> Value | None:
        op = self.analysis.defs.get(value)
        if op is None or not (op.attrs[AXIS] in self.axes if op.name == "tid" else op.name in self.through):
            return None
        operands = (
            op.operands if op.name == "shape" else tuple(v for o in op.operands if (v := self.copy(o)) is not None)
        )
        if len(operands) < len(op.operands):
            return None
        return self.share(
            (op.name, value.type, tuple(op.attrs.items()), *operands),
            lambda: self.builder.emit(op.name, operands, (value.type,), op.attrs).result,
        )

    def wide(self, value: Value | None) -> Value | None:
        """Return an int32 as int64 here; None if it differs between threads."""
        copy = self.copy(value) if value is not None and value.type == int32 else None
        return None if copy is None else self.share(("wide", copy), lambda: self.builder.cast(copy, int64))

    def together(self, name: str, a: Bounds | None, b: Bounds | None) -> Bounds | None:
        """Return the bounds of a sum ("add") or a difference ("sub"); None if one of them has none."""
        if a is None or b is None:
            return None
        low, high = b if name == "add" else b[::-1]
        return self.emit(name, a[0], low), self.emit(name, a[1], high)

    def fold(self, name: str, values: Iterable[Value], type: Type = int64) -> Value:
        """Return all values joined by an operation of two."""
        first, *rest = dict.fromkeys(values)
        for value in rest:
            first = self.emit(name, first, value, type=type)
        return first
