"""A function for a part of a launch that is told where the part begins, and how large the whole is.

In `y[i] = x[i] + float(i)` the subscript counts within the part of the arrays, and the number within the whole launch.
In `y[i] = x[max(i - 1, 0)]` the index is clamped as in the whole, and then counted from where the part of x begins.
Parts of one size may have more threads together than the launch, and so more elements: threads beyond it do nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from workbench.ir.analysis import Sizes
from workbench.ir.build import Builder, Rewriter
from workbench.ir.ops import AXIS
from workbench.ir.values import Block, Function, Op, Value
from workbench.passes.analysis.offsets import Offsets, subscripts
from workbench.passes.analysis.partition import Part
from workbench.types import bool as bool_
from workbench.types import int32, int64


class Cut(NamedTuple):
    """The dimension of the launch that divides an axis, and how many elements its parts have before their own."""

    dimension: int
    before: int


_NONE: Mapping[Part, int] = {}


def positioned(
    function: Function, sizes: Mapping[Part, int], cuts: Mapping[Part, Cut], launch: Sizes, checked: bool = False,
    padded: Collection[int] = (), extra: Mapping[Part, int] = _NONE,
) -> Function:  # fmt: skip
    """Return `function` with two more parameters for each dimension that is divided: its part's start, its whole size.

    Args:
        function: a function whose `partition` for this launch allows these dimensions.
        sizes: axes whose sizes are used, and the dimension that divides each; their sizes become those of the whole.
        cuts: by axis of an array that is divided, the dimension that divides it, and how far its halo reaches before.
        launch: sizes of the whole launch.
        checked: whether indices are compared with the sizes of the whole.
        padded: dimensions of which parts may have more threads together than the launch.
        extra: by axis that is longer or shorter than the launch, by how much; negative for shorter.
    """
    return _Positioned(function, sizes, cuts, launch, checked, extra).function(padded)


class _Positioned:
    """Rewrites one function for a part of its launch.

    Attributes:
        source: the function.
        sizes: axes whose sizes are used, and the dimension that divides each.
        cuts: by axis of an array that is divided, the dimension that divides it, and its halo.
        checked: whether indices are compared with the sizes of the whole.
        extra: by axis that is longer or shorter than the launch, by how much.
        offsets: of the function's indices from the thread's own.
        dimensions: those that are divided.
        begins: by dimension, the parameter for where the part begins.
        wholes: by dimension, the parameter for the size of the whole.
        global_indices: each thread's index in the whole, by its index in the part.
    """

    def __init__(
        self, function: Function, sizes: Mapping[Part, int], cuts: Mapping[Part, Cut], launch: Sizes, checked: bool,
        extra: Mapping[Part, int],
    ) -> None:  # fmt: skip
        self.source, self.sizes, self.cuts, self.checked, self.extra = function, sizes, cuts, checked, extra
        self.offsets = Offsets(function, launch)
        self.dimensions = sorted({c.dimension for c in cuts.values()})
        self.begins = {k: Value(int32, f"begin_{k}") for k in self.dimensions}
        self.wholes = {k: Value(int32, f"whole_{k}") for k in self.dimensions}
        self.global_indices: dict[Value, Value] = {}

    def function(self, padded: Collection[int]) -> Function:
        """Return the function with parameters for the start and the whole size of each dimension that is divided.

        `padded` has the dimensions in which threads beyond the launch do nothing.
        """
        body = Rewriter(self.change).block(self.source.body)
        for dimension in sorted(padded):
            body = self.within(dimension, body)
        added = (v for k in self.dimensions for v in (self.begins[k], self.wholes[k]))
        return replace(self.source, params=(*self.source.params, *added), body=body)

    def within(self, dimension: int, body: Block) -> Block:
        """Return the body in an `if`, so that only threads within the launch's dimension run it."""
        builder = Builder()
        index = builder.one("tid", (), int32, {AXIS: dimension})
        number = builder.one("add", (index, self.begins[dimension]), int32)
        with builder.block() as then:
            builder.extend(body.ops)
            builder.yield_()
        with builder.block() as otherwise:
            builder.yield_()
        builder.if_(builder.one("lt", (number, self.wholes[dimension]), bool_), then.block, otherwise.block)
        return builder.body()

    def length(self, builder: Builder, part: Part, dimension: int) -> Value:
        """Emit the size of an axis of the whole array."""
        size, extra = self.wholes[dimension], self.extra.get(part, 0)
        return builder.one("add", (size, builder.const(extra)), int32) if extra else size

    def change(self, rewriter: Rewriter, op: Op) -> Iterable[Op] | None:
        """Return an operation in terms of the whole: indices, sizes and subscripts; None if nothing changes.

        The result of `launch_dim` or `shape` is replaced in the rewriter's mapping.
        """
        if op.name == "tid" and op.attrs[AXIS] in self.begins:
            self.global_indices[op.result] = Value(int32, op.result.name)
            begin = self.begins[op.attrs[AXIS]]
            return op, Op("add", (op.result, begin), (self.global_indices[op.result],), location=op.location)
        builder = Builder()
        builder.location = op.location
        if op.name == "launch_dim" and op.attrs[AXIS] in self.wholes:
            rewriter.mapping[op.result] = builder.cast(self.wholes[op.attrs[AXIS]], int64)
            return builder.body().ops
        if op.name == "shape":
            part = Part(op.operands[0].name, op.attrs[AXIS])
            if part in self.sizes:
                rewriter.mapping[op.result] = self.length(builder, part, self.sizes[part])
                return builder.body().ops
        inside = subscripts(op)
        operands = tuple(
            self.subscript(builder, rewriter, op.operands[0].name, n - 1, v)
            if n in inside
            else self.global_indices.get(v, v)
            for n, v in enumerate(op.operands)
        )
        return None if operands == op.operands else (*builder.body().ops, rewriter.inside(op.replace(operands)))

    def subscript(self, builder: Builder, rewriter: Rewriter, name: str, axis: int, value: Value) -> Value:
        """Emit the subscript in a part of an array, for one in the whole array; along an undivided axis it stays."""
        part = Part(name, axis)
        cut = self.cuts.get(part)
        if cut is None:
            return self.global_indices.get(value, value)
        local = self.local(builder, rewriter, value, cut.dimension)
        wraps = self.offsets.launches(value)
        if wraps:
            size = builder.cast(self.wholes[cut.dimension], value.type)
            back = builder.one("mul", (size, builder.const(wraps, value.type)), value.type)
            local = builder.one("sub", (local, back), value.type)
        if cut.before:
            local = builder.one("add", (local, builder.const(cut.before, value.type)), value.type)
        if not self.checked or value in self.global_indices:
            return local
        # A report has the index and the size that the user knows.
        position = self.global_indices.get(value, value), self.length(builder, part, cut.dimension)
        return builder.one("view_index", tuple(builder.cast(v, int64) for v in (local, *position)), int64)

    def local(self, builder: Builder, rewriter: Rewriter, value: Value, dimension: int) -> Value:
        """Emit an index of the whole as one of a part without its halo; it is not wrapped around a ring."""
        op = self.offsets.analysis.defs.get(value)
        if op is None or value in self.global_indices:
            return value
        one, *others = (rewriter.mapping.get(v, v) for v in op.operands)
        if op.name == "cast":
            return builder.cast(self.local(builder, rewriter, one, dimension), value.type)
        if op.name in ("mod", "wrap_index"):
            local, wraps = self.local(builder, rewriter, one, dimension), self.offsets.wraps(op)
            back = builder.one("mul", (others[0], builder.const(wraps, value.type)), value.type) if wraps else None
            return local if back is None else builder.one("sub", (local, back), value.type)
        moved = next((n for n, v in enumerate(op.operands) if self.moves(v, dimension)), None)
        if moved is not None and (op.name == "add" or (op.name == "sub" and moved == 0)):
            ends = [one, *others]
            ends[moved] = self.local(builder, rewriter, ends[moved], dimension)
            operands = [v if n == moved else self.global_indices.get(v, v) for n, v in enumerate(ends)]
            return builder.one(op.name, operands, value.type)
        return builder.one("sub", (value, builder.cast(self.begins[dimension], value.type)), value.type)

    def moves(self, value: Value, dimension: int) -> bool:
        """Return whether a value is the thread's index along the dimension plus something bounded."""
        offset = self.offsets.of(value, {})
        return offset is not None and offset.dimension == dimension
