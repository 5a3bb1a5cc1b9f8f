"""What is the same in all threads of a row."""

from __future__ import annotations

from workbench.builtins import TABLE
from workbench.ir.attributes import AXIS
from workbench.ir.ops import EFFECTS, LEAD, PURE, STRUCTURED
from workbench.ir.values import Block, Function, Op, Value, definitions, indices_of, walk
from workbench.types import Scalar, Vector, int32, int64


class Rows:
    """What is the same in all threads of a row.

    Attributes:
        axis: the launch's last index.
        changed: arrays that the function changes.
        same: values that are the same in all of them.
        unit: the thread's own index along the row plus something that is the same.
        tids: that index itself.
    """

    def __init__(self, function: Function) -> None:
        self.axis = function.launch_ndim - 1
        self.changed = {op.operands[0] for op in walk(function.body) if op.name in EFFECTS}
        self.same = {p for p in function.params if isinstance(p.type, (Scalar, Vector))}
        self.unit: set[Value] = set()
        made = definitions(function.body)
        self.tids = [v for v, op in made.items() if op.name == "tid" and op.attrs[AXIS] == self.axis]
        self._note(function.body)

    def _note(self, block: Block) -> None:
        for op in block.ops:
            if op.name == "tid":
                (self.unit if op.attrs[AXIS] == self.axis else self.same).update(op.results)
            elif op.name == "shape" or self.is_the_same(op):
                self.same.update(op.results)
            elif op.name in ("cast", "add", "sub") and op.result.type in (int32, int64):
                units = [v for v in op.operands if v in self.unit]
                rest = [v for v in op.operands if v not in self.unit]
                if len(units) == 1 and units[0] is op.operands[0 if op.name == "sub" else op.operands.index(units[0])]:
                    if self.same.issuperset(rest):
                        self.unit.update(op.results)
            if op.name == "for" and self.same.issuperset(op.operands[:3]):
                self.same.add(op.blocks[0].params[0])
            for inner in op.blocks:
                self._note(inner)

    def is_the_same(self, op: Op) -> bool:
        """Return whether all threads of a row have the same results; an element may be asked for once for all."""
        if op.name in ("slots", "slot_read", "slot_write", "tid"):
            return False
        if op.name == "load":
            return op.operands[0] not in self.changed and self.same.issuperset(op.operands[1:])
        return (op.name in PURE or op.name in TABLE) and not op.blocks and self.same.issuperset(op.operands)

    def is_common_value(self, op: Op) -> bool:
        """Return whether it is computed once for a group."""
        return op.name not in STRUCTURED and bool(op.results) and self.same.issuperset(op.results)

    def nearby(self, op: Op) -> bool:
        """Return whether neighbouring threads access neighbouring elements, or all of them the same one."""
        *outer, last = indices_of(op)
        return self.same.issuperset(outer) and (last in self.same or last in self.unit)


def initial(op: Op) -> tuple[Value, ...]:
    """What a loop's carried values are in its first turn."""
    return op.operands[LEAD[op.name] :]
