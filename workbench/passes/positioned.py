"""A function for a part of a launch that is given where the part begins, and how large the whole is.

In `y[i] = x[i] + float(i)` the subscript counts within the part of the arrays, and the number within the whole launch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from workbench.ir.attributes import AXIS
from workbench.ir.rewrite import Rewriter
from workbench.ir.values import Function, Op, Value
from workbench.passes.analysis.partition import Part, subscripts
from workbench.types import int32


def positioned(function: Function, dimensions: Sequence[int], sizes: Mapping[Part, int]) -> Function:
    """`function` with two more parameters for each of these dimensions: where the part begins, the size of the whole.

    Args:
        function: a function whose `partition` allows these dimensions.
        dimensions: of the launch.
        sizes: axes that are divided, and along which dimension; their sizes are those of the whole.
    """
    begins = {k: Value(int32, f"begin_{k}") for k in dimensions}
    wholes = {k: Value(int32, f"whole_{k}") for k in dimensions}
    names = {p: p.name for p in function.params}
    numbers: dict[Value, Value] = {}

    def change(rewriter: Rewriter, op: Op) -> Iterable[Op] | None:
        if op.name == "tid" and op.attrs[AXIS] in begins:
            numbers[op.result] = Value(int32, op.result.name)
            add = Op("add", (op.result, begins[op.attrs[AXIS]]), (numbers[op.result],), location=op.location)
            return op, add
        if op.name == "shape":
            dimension = sizes.get(Part(names.get(op.operands[0], ""), op.attrs[AXIS]))
            if dimension is not None:
                rewriter.mapping[op.result] = wholes[dimension]
                return ()
        inside = subscripts(op)
        operands = tuple(v if n in inside else numbers.get(v, v) for n, v in enumerate(op.operands))
        return None if operands == op.operands else (rewriter.inside(op.replace(operands)),)

    body = Rewriter(change).block(function.body)
    added = (v for k in dimensions for v in (begins[k], wholes[k]))
    return replace(function, params=(*function.params, *added), body=body)
