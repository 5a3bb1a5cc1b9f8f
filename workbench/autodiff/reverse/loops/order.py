"""The order of a reversed loop's turns: where they commute, they run in the order of the program.

Where they do nothing but add, to what the loop carries and to elements, any order gives the same sums, up to rounding.
Backends are quicker at loops that go up: so do LLVM and the memory of a machine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from workbench.autodiff.reverse.loops.iterations import Loop
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.ir.ops import ACCESSES, EFFECTS, OPAQUE, SLOT_WRITES, TILED
from workbench.ir.values import Block, Op, Value, indices_of, walk


def only_adds(sweep: ReverseSweep, loop: Loop, block: Block) -> bool:
    """Return whether a reversed loop's iterations may run in any order, which changes sums by rounding alone.

    Args:
        sweep: emitted it.
        loop: the kernel's loop.
        block: the reversed body, whose first parameter counts the iterations.
    """
    body = _ReversedBody(sweep, loop, block)
    if any(op.name in OPAQUE or op.name in SLOT_WRITES or op.name in TILED for op in body.ops):
        return False
    carried = zip(block.params[1:], block.yielded, strict=True)
    return all(body.is_sum(p, v) for p, v in carried) and body.touches_disjoint_elements()


class _ReversedBody:
    """The body of a reversed loop, with what the test whether its iterations commute asks of it.

    Attributes:
        sweep: emitted it.
        loop: the kernel's loop.
        block: the body.
        ops: its operations, at any depth.
        defs: the operations of all values of the adjoint.
        inside: the values that the body defines.
        users: how many operands in the body each value is.
    """

    def __init__(self, sweep: ReverseSweep, loop: Loop, block: Block) -> None:
        self.sweep, self.loop, self.block = sweep, loop, block
        self.ops = list(walk(block))
        self.defs = sweep.builder.defs
        self.inside = {v for op in self.ops for v in (*op.results, *(p for b in op.blocks for p in b.params))}
        self.users: dict[Value, int] = defaultdict(int)
        for value in (v for op in self.ops for v in op.operands):
            self.users[value] += 1

    def is_sum(self, param: Value, value: Value) -> bool:
        """Return whether a carried value does not change, or is only added to (a bool: or-ed), or is not read at all.

        Args:
            param: the value at an iteration's beginning.
            value: that at its end.
        """

        def adds(value: Value) -> bool:
            if value is param:
                return self.users[param] == 1
            op = self.defs.get(value) if value in self.inside and self.users[value] == 1 else None
            return op is not None and op.name in ("add", "or_") and any(map(adds, op.operands))

        return value is param or not self.users[param] or adds(value)

    def touches_disjoint_elements(self) -> bool:
        """Return whether no two iterations touch one element, except elements only read or only added to."""
        accesses: dict[Value, list[Op]] = defaultdict(list)
        for op in self.ops:
            if op.name in ACCESSES:
                accesses[op.operands[0]].append(op)
        return all(
            not any(op.name in EFFECTS for op in uses)
            or self.are_additions(uses)
            or (
                not self.sweep.overlapping
                and any(map(self.distinguishes_iterations, zip(*map(indices_of, uses), strict=False)))
            )
            for uses in accesses.values()
        )

    def are_additions(self, uses: Sequence[Op]) -> bool:
        """Return whether elements are only added to, by an atomic operation or a load, a sum and a store."""
        loads = {op for op in uses if op.name == "load"}
        for op in uses:
            if op.name == "store":
                total = self.defs.get(op.operands[-1])
                old = self.defs.get(total.operands[0]) if total is not None and total.name == "add" else None
                if old not in loads or old.operands != op.operands[:-1] or self.users[old.result] != 1:
                    return False
                loads.remove(old)
            elif op.name not in ("load", "atomic_add") or (op.name == "atomic_add" and self.users[op.result]):
                return False
        return not loads

    def distinguishes_iterations(self, indices: tuple[Value, ...]) -> bool:
        """Return whether accesses have the same index here, which differs in each iteration and is never negative.

        Args:
            indices: of all accesses, at one position.
        """
        return len(set(indices)) == 1 and self.moves(indices[0]) and self.is_positive(indices[0])

    def moves(self, value: Value) -> bool:
        """Return whether a value is the iteration's number plus something that is the same in all iterations."""
        op = self.defs.get(value)
        if value is self.block.params[0]:
            return True
        if op is None or value not in self.inside or op.name not in ("add", "cast"):
            return False
        moving = [v for v in op.operands if v in self.inside or v in self.block.params]
        return len(moving) == 1 and self.moves(moving[0])

    def is_positive(self, value: Value) -> bool:
        """Return whether an index is known not to be negative."""
        op = self.defs.get(value)
        if value is self.block.params[0]:
            bounds = self.loop.op.operands
            start, step = (self.sweep.constant(bounds[k]) if self.loop.index is not None else 0 for k in (0, 2))
            return start is not None and start >= 0 and (self.loop.index is None or (step or 0) > 0)
        if op is None:
            return False
        if op.name == "const":
            return (self.sweep.builder.number(value) or 0) >= 0
        return op.name in ("tid", "shape") or (
            op.name in ("add", "mul", "cast") and all(map(self.is_positive, op.operands))
        )
