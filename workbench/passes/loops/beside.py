"""Indices beside a thread's own, in 64 bits: so that a compiler sees neighbours in them without asking.

`x[j + 1]` in 32 bits is beside `x[j]` only where j + 1 does not wrap, which LLVM tests before each loop over threads: a
test for every index, in loops of a few dozen threads as in long ones. A sum that wraps is negative, and there is no
such element. So the index is computed in 64 bits, where it cannot wrap.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.ir.attributes import AXIS
from workbench.ir.build import Builder
from workbench.ir.ops import ELEMENTS
from workbench.ir.rewrite import Rewriter, rewrite
from workbench.ir.values import Function, Op, Value, array_of, walk
from workbench.limits import WIDENED_OFFSET
from workbench.passes.analysis.cost import constants
from workbench.types import int32, int64


def beside(function: Function) -> Function:
    """The function with such indices in 64 bits; itself if it has none."""
    if function.block_dim or not function.launch_ndim:
        return function
    indices = _Indices(function)
    if not indices.found:
        return function
    whole: dict[Value, Value] = {}

    def change(_: Rewriter, op: Op) -> Iterator[Op] | None:
        b = Builder()
        b.location = op.location
        if op in indices.found:
            at = array_of(op.operands[0]).ndim
            index = indices.wide(b, op.operands[at], whole)
            b.append(op.replace((*op.operands[:at], index, *op.operands[at + 1 :])))
        elif indices.tids.issuperset(op.results) and op.name == "tid":
            b.append(op)
            whole[op.result] = b.cast(op.result, int64)
        else:
            return None
        return iter(b.body().ops)

    return rewrite(function, change)


class _Indices:
    """Last indices of accesses that are the thread's own plus something.

    Attributes:
        axis: the launch's last.
        found: the accesses.
        tids: what they begin with.
        firsts: the launch's indices of rows' first threads, to which the own one is added without wrapping.
    """

    def __init__(self, function: Function) -> None:
        self.axis = function.launch_ndim - 1
        operations = list(walk(function.body))
        self.made = {v: op for op in operations for v in op.results}
        self.known = constants(function.body)
        self.counters = {op.blocks[0].params[0]: op for op in operations if op.name == "for"}
        self.tids: set[Value] = set()
        self.firsts = {op.result for op in operations if op.name == "row_first"}
        self.found = {op for op in operations if op.name in ELEMENTS and self.cannot_wrap(op)}

    def cannot_wrap(self, op: Op) -> bool:
        """Whether the last index of an access is such a sum, and wraps only where there is no element."""
        rank = array_of(op.operands[0]).ndim
        index = op.operands[rank]
        if self.own(index) is None:
            made = self.made.get(index)
            parts = self.parts(made) if made and made.name in ("add", "sub") and index.type == int32 else None
            # A sum of two numbers wraps to a negative one; of three it could come around.
            if parts is None or self.own(parts[0]) != 0:
                return False
        self.note(index)
        return True

    def note(self, value: Value) -> None:
        """Find the thread's index in a sum."""
        op = self.made[value]
        if op.name == "tid":
            self.tids.add(value)
        else:
            parts = self.parts(op)
            assert parts is not None
            self.note(parts[0])

    def parts(self, op: Op) -> tuple[Value, Value] | None:
        """What is the thread's own of a sum or difference, and what is added or taken away."""
        one, other = op.operands
        if self.own(one) is not None:
            return one, other
        return (other, one) if op.name == "add" and self.own(other) is not None else None

    def own(self, value: Value) -> int | None:
        """How far from the thread's index a value is at most; None if it is not known to be near."""
        op = self.made.get(value)
        if op is None or value.type != int32:
            return None
        if op.name == "tid":
            return 0 if op.attrs[AXIS] == self.axis else None
        parts = self.parts(op) if op.name in ("add", "sub") else None
        if parts is None:
            return None
        if op.name == "add" and parts[1] in self.firsts and self.made[parts[0]].name == "tid":
            return 0
        near, far = self.own(parts[0]), self.most(parts[1])
        return near + far if near is not None and far is not None and near + far < WIDENED_OFFSET else None

    def most(self, value: Value) -> int | None:
        """The greatest magnitude of a number or of a loop's counter between two numbers."""
        if value in self.known:
            return abs(int(self.known[value]))
        loop = self.counters.get(value)
        ends = [self.known.get(v) for v in loop.operands[:2]] if loop else [None]
        return None if None in ends else max(abs(int(end or 0)) for end in ends)

    def wide(self, b: Builder, value: Value, whole: dict[Value, Value]) -> Value:
        """The same in 64 bits."""
        op = self.made.get(value)
        if value in whole:
            return whole[value]
        parts = self.parts(op) if op is not None and op.name in ("add", "sub") else None
        if op is None or parts is None:
            return b.cast(value, int64)
        return b.one(op.name, tuple(self.wide(b, v, whole) for v in op.operands), int64)
