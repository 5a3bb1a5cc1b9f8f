"""Indices beside a thread's own, in 64 bits: so that a compiler sees neighbours in them without asking.

`x[j + 1]` in 32 bits is beside `x[j]` only where j + 1 does not wrap, which LLVM tests before each loop over threads: a
test for every index, in loops of a few dozen threads as in long ones. A sum that wraps is negative, and there is no
such element. So the index is computed in 64 bits, where it cannot wrap.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from workbench.ir.analysis import Analysis, Atom
from workbench.ir.build import Builder
from workbench.ir.ops import ELEMENTS
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Function, Op, Value, array_of
from workbench.limits import WIDENED_OFFSET
from workbench.passes.analysis.cost import constants
from workbench.types import int32, int64


def beside(function: Function) -> Function:
    """Return the function with such indices in 64 bits; itself if it has none."""
    if function.block_dim or not function.launch_ndim:
        return function
    indices = _Indices(function)
    if not indices.accesses:
        return function
    whole: dict[Value, Value] = {}

    def change(_: Rewriter, op: Op) -> Iterator[Op] | None:
        b = Builder()
        b.location = op.location
        if op in indices.accesses:
            at = array_of(op.operands[0]).ndim
            index = indices.wide(b, op.operands[at], whole)
            b.append(op.replace((*op.operands[:at], index, *op.operands[at + 1 :])))
        elif op.name == "tid" and op.result in indices.tids:
            b.append(op)
            whole[op.result] = b.cast(op.result, int64)
        else:
            return None
        return iter(b.body().ops)

    return rewrite(function, change)


class _Indices:
    """Last indices of accesses that are the thread's own plus something.

    Attributes:
        accesses: those with such an index, which wraps only where there is no element.
        tids: the thread's own index in these.
    """

    def __init__(self, function: Function) -> None:
        self.analysis, self.known = Analysis(function), constants(function.body)
        self.tid = Atom("tid", axis=function.launch_ndim - 1)
        self.distance = cache(self._distance)
        every = [a for a in self.analysis.accesses() if a.op.name in ELEMENTS]
        self.accesses = {a.op: a.indices[-1] for a in every if self.cannot_wrap(a.indices[-1])}
        self.tids = {tid for index in self.accesses.values() for tid in self.own(index)}

    def cannot_wrap(self, index: Value) -> bool:
        """Return whether an index is such a sum, and wraps only where there is no element."""
        if self.distance(index) is not None:
            return True
        op = self.analysis.defs.get(index)
        near = self.near(op) if op is not None and index.type == int32 else None
        # A sum of two numbers wraps to a negative one; of three it could come around.
        return near is not None and self.distance(near) == 0

    def own(self, index: Value | None) -> Iterator[Value]:
        """Yield the thread's index in a sum."""
        while index is not None:
            op = self.analysis.defs[index]
            if op.name == "tid":
                yield index
            index = self.near(op)

    def near(self, op: Op) -> Value | None:
        """Return the operand of a sum or difference that is near the thread's index."""
        operands = op.operands[: {"add": 2, "sub": 1}.get(op.name, 0)]
        return next((v for v in operands if self.distance(v) is not None), None)

    def _distance(self, value: Value) -> int | None:
        """Return how far from the thread's index a value is at most; None if it is not known to be near."""
        form = self.analysis.form(value)
        if value.type != int32 or form.terms.get(self.tid) != 1:
            return None
        far = abs(form.constant)
        for atom, n in form.terms.items():
            most = 0 if atom == self.tid else self.most(atom)
            if most is None:
                return None
            far += abs(n) * most
        return far if far < WIDENED_OFFSET else None

    def most(self, atom: Atom) -> int | None:
        """Return the greatest magnitude of a loop's counter between two numbers; None of anything else.

        The first thread of a row (of a flattened launch) counts as 0: its sum with a thread's own index is an index.
        """
        if atom.value is None:
            return None
        op, loop = self.analysis.defs.get(atom.value), self.analysis.counters.get(atom.value)
        if op is not None and op.name == "row_first":
            return 0
        ends = [self.known.get(v) for v in loop.operands[:2]] if loop else [None]
        return None if None in ends else max(abs(int(end or 0)) for end in ends)

    def wide(self, b: Builder, value: Value, whole: dict[Value, Value]) -> Value:
        """Return the same in 64 bits."""
        op = self.analysis.defs.get(value)
        if value in whole:
            return whole[value]
        if op is None or self.near(op) is None:
            return b.cast(value, int64)
        return b.one(op.name, tuple(self.wide(b, v, whole) for v in op.operands), int64)
