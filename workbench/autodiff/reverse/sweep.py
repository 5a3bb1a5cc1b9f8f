"""The reverse sweep: a block's operations walked backwards, each giving cotangents to its operands.

Which rule an operation has is in a table (`reverse`); the rules take the sweep, and walk blocks inside an operation by
`ReverseSweep.block`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from workbench.autodiff.memory.effects import Memory
from workbench.autodiff.reverse.emitter import Cotangent, Cotangents, Emitter
from workbench.autodiff.reverse.recompute import recompute
from workbench.builtins import Ref
from workbench.errors import NotDifferentiable
from workbench.ir.values import Block, Op, Value

EffectRule = Callable[["ReverseSweep", Op, Cotangents], None]
"""The rule of an operation that changes memory or has blocks: it takes its results' cotangents itself."""
ValueRule = Callable[["ReverseSweep", Op, Cotangent, Cotangents], None]
"""The rule of an operation with one result: it is called where that has a cotangent."""


class Rules(msgspec.Struct, frozen=True):
    """The reverse rules of all operations.

    Attributes:
        effects: those of operations that change memory or have blocks, by name.
        values: those of other operations, by name.
        builtin: that of every operation in neither.
    """

    effects: Mapping[str, EffectRule]
    values: Mapping[str, ValueRule]
    builtin: ValueRule


class ReverseSweep(msgspec.Struct, frozen=True):
    """A reverse sweep over a function.

    Attributes:
        rules: what each operation does to cotangents.
        function: the kernel's name.
        active: the values that get a cotangent.
        memory: what the kernel does to its arrays.
        env: the kernel's values in the adjoint; grows with the sweep.
        adjoints: for each parameter of the kernel that has a gradient, its adjoint array.
        plain: arrays whose adjoint is added to without atomics.
        builder: where the adjoint is written.
        checkpointed: loops with the numbers of carried values that must be known in each iteration.
        checkpoints: how many states of such a loop are kept at once.
        stack: every state of a short loop may be kept, in memory of the thread's own that is as quick as a cache.
        cautious: a thread may overwrite what it stored, so that a cotangent may be 0 because the value was never seen.
        overlapping: adjoint arrays may share memory.
        uncleared: arrays whose adjoint is read, but not cleared.
    """

    rules: Rules
    function: str
    active: frozenset[Value]
    memory: Memory
    env: dict[Value, Value]
    adjoints: dict[Value, Value]
    plain: frozenset[Value]
    builder: Emitter
    checkpointed: frozenset[tuple[Op, int]] = frozenset()
    checkpoints: int = 16
    stack: bool = True
    cautious: bool = False
    overlapping: bool = False
    uncleared: frozenset[Value] = frozenset()

    def block(self, block: Block, cotangents: Cotangents, of: Op | None = None) -> None:
        """Recompute the block's values, then walk it backwards; what is left in `cotangents` is of values outside it.

        Args:
            block: the kernel's block.
            cotangents: those of what it yields; receives all others.
            of: the `later` of the branch whose side it is (see `recompute`); None: it is no side.
        """
        ops = block.ops[:-1] if block.ops and block.ops[-1].name == "yield" else block.ops
        # All of the block first: a rule may need any value of it, and what none needs is pruned afterwards.
        recompute(ops, self.env, self.builder, self.memory.overwritten, of=of)
        for op in reversed(ops):
            self.builder.location = op.location
            if op.name in self.rules.effects:
                # Effects have a turn even without a cotangent: their adjoint array may hold one.
                self.rules.effects[op.name](self, op, cotangents)
            elif op.results:
                # All users of the value come after it in the block, so its sum is complete when its own turn comes.
                cotangent = cotangents.take(op.result)
                if cotangent is not None:
                    self.rules.values.get(op.name, self.rules.builtin)(self, op, cotangent, cotangents)

    def new_cotangents(self) -> Cotangents:
        """Return cotangents without any contribution, for a nested block."""
        return Cotangents(self.builder, self.active)

    def ref(self, value: Value) -> Ref:
        """Return the kernel's value in the adjoint, wrapped for Python's operators."""
        return self.builder.ref(self.env[value])

    def not_differentiable(self, message: str, op: Op, advice: str = "") -> NotDifferentiable:
        """Return the error that an operation has no derivative."""
        return NotDifferentiable(message, op.location, advice=advice, function=self.function)

    def constant(self, index: Value) -> int | None:
        """Return the number of an integer constant; None if the value is no constant."""
        return self.builder.number(self.env[index])
