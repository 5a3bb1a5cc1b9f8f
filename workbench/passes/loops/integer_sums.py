"""Loops whose turns only sum integers up: in any order, with the same result."""

from __future__ import annotations

from workbench.ir.ops import EFFECTS, LOOPS
from workbench.ir.values import Block, Op, Value
from workbench.types import is_integer

_SUMS = frozenset({"add", "bit_and", "bit_or", "bit_xor", "min", "max"})
_COMPARISONS = frozenset({"lt", "le", "gt", "ge"})


def sums_integers(loop: Op) -> bool:
    """Return whether all that a `for` carries are sums (or extremes) of integers, which nothing else reads."""
    (body,) = loop.blocks
    params = body.params[1:]
    flow = _Flow(set(params))
    return (
        all(is_integer(p.type) for p in params)
        and flow.goes_through(body)
        and flow.sums.issuperset(body.yielded)
        and len(set(body.yielded)) == len(params)
    )


class _Flow:
    """The flow of carried values through a loop.

    Attributes:
        sums: a carried value, and what was added to it.
        compared: a comparison of such a value with another one, by its result.
    """

    def __init__(self, sums: set[Value]) -> None:
        self.sums, self.compared = sums, dict[Value, Op]()

    def goes_through(self, block: Block) -> bool:
        """Return whether operations only add to what is carried, and have no effects."""
        return all(map(self._is_ruled, block.ops))

    def _is_ruled(self, op: Op) -> bool:
        if op.name in EFFECTS or op.name in LOOPS:
            return False
        if op.name == "if":
            return self._is_choice(op)
        own = [v for v in op.operands if v in self.sums]
        condition = self.compared.get(op.operands[0]) if op.name == "where" else None
        if condition is not None and set(condition.operands) == set(op.operands[1:]):
            self.sums.add(op.result)  # the greater or the lesser one
        elif not self.compared.keys().isdisjoint(op.operands):
            return False
        elif own and op.name in _COMPARISONS and len(own) == 1:
            self.compared[op.result] = op
        elif own and ((op.name in _SUMS and len(own) == 1) or (op.name == "where" and own == list(op.operands[1:]))):
            self.sums.add(op.result)
        else:
            return not own or op.name == "yield"
        return True

    def _is_choice(self, op: Op) -> bool:
        if op.operands[0] in self.sums or op.operands[0] in self.compared or not all(map(self.goes_through, op.blocks)):
            return False
        for result, *values in zip(op.results, *(block.yielded for block in op.blocks), strict=True):
            own = [v in self.sums for v in values]
            if any(own):
                self.sums.add(result)
            if any(own) != all(own):
                return False
        return True
