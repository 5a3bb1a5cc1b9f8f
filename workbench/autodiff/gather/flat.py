"""Adjoints of flattened launches: `r = i // w; c = i % w` as two dimensions, in which threads gather, and back."""

from __future__ import annotations

from msgspec.structs import replace

from workbench.autodiff.gather.differences import Differences, Size
from workbench.ir.attributes import AXIS
from workbench.ir.build import Builder
from workbench.ir.ops import LOADS
from workbench.ir.rewrite import Rewriter
from workbench.ir.values import Block, Function, Op, Value, array_of, walk
from workbench.passes.loops.flattened import Divisions, Rewritten, divisions_of
from workbench.passes.pipeline import ADJOINT, run
from workbench.types import int32, int64


class Flat:
    """A function of one dimension that divides its index by one number.

    Attributes:
        rows: the function of two dimensions: a thread's row, and its place in it.
        width: how many threads a row has.
    """

    def __init__(self, divisions: Divisions, width: Size) -> None:
        self.divisions, self.width = divisions, width
        self.divisor = divisions.divisor(divisions.width)
        rewritten = Rewritten(divisions)
        body = rewritten.body(rewritten.by_rows, self.divisor)
        self.rows = run(ADJOINT, replace(divisions.function, body=body, launch_ndim=2))

    def flattened(self, function: Function) -> Function:
        """A function of those two dimensions as one of one again, for launches of whole rows."""
        b = Builder()
        index = b.one("tid", (), int32, {AXIS: 0})
        width = self.divisions.copied(b, self.divisor, {})
        threads = b.cast(width, int64)
        rows = b.one("floordiv", (b.one("launch_dim", (), int64, {AXIS: 0}), threads), int64)
        stand: dict[str, tuple[Value, Value]] = {
            "tid": (b.one("floordiv", (index, width), int32), b.one("mod", (index, width), int32)),
            "launch_dim": (rows, threads),
        }

        def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
            if op.name not in stand:
                return None
            on.mapping[op.result] = stand[op.name][op.attrs[AXIS]]
            return ()

        rest = Rewriter(change).block(function.body)
        return run(ADJOINT, replace(function, body=Block((), (*b.body().ops, *rest.ops)), launch_ndim=1))


def flat(function: Function) -> Flat | None:
    """The function as one of two dimensions; None if it has no rows, or reads no array of two dimensions."""
    divisions = divisions_of(function)
    if divisions is None or len(divisions.found) > 1:
        return None
    if not any(op.name in LOADS and array_of(op.operands[0]).ndim > 1 for op in walk(function.body)):
        return None
    width = Differences(function).size(divisions.divisor(divisions.width))
    return None if width is None else Flat(divisions, width)
