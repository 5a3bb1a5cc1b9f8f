"""The builder that the adjoint is written with: it remembers how each value was made, and names for readers.

`inlined` and `written` copy operations through it, with other values for some: closed blocks (a gradient or a replay
that a user wrote) and what is recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.autodiff.analysis.carried import Form, forms
from workbench.builtins import Ref
from workbench.ir.build import Builder
from workbench.ir.rewrite import copy_block, fresh, replace_body
from workbench.ir.values import Block, Function, Op, Value, number_of

Env = dict[Value, Value]


class Emitter(Builder):
    """A builder of adjoints and tangents that records how values were computed.

    Attributes:
        defs: the operation of each value.
        labels: names for readers, for values that had none when they were emitted.
        recomputed: values of the forward sweep.
        laters: for each branch or loop, the `later` (see `recompute`) that stood for it last.
        counts: for each `while`, as it was recomputed last, how many iterations it had, as int64.
        events: for each loop, as it was recomputed last, by the number of a carried value with a form (`forms`), the
            iterations of the last event of each kind.
    """

    def __init__(self) -> None:
        """Begin with the outermost block open, and empty."""
        super().__init__()
        self.defs: dict[Value, Op] = {}
        self.labels: dict[Value, str] = {}
        self.recomputed: set[Value] = set()
        self.laters: dict[Op, Op] = {}
        self.counts: dict[Op, Value] = {}
        self.events: dict[Op, dict[int, list[Value]]] = {}
        self._forms: dict[Op, dict[int, Form]] = {}
        self._free: dict[Op, tuple[Value, ...]] = {}

    def free(self, op: Op) -> tuple[Value, ...]:
        """Return the operands of an operation, and the values from outside that its blocks use."""
        if op not in self._free:
            used = dict.fromkeys(op.operands)
            for block in op.blocks:
                inside = set(block.params)
                for inner in block.ops:
                    # Kept by operation: nested blocks are asked about at every level, which would be quadratic in the
                    # depth.
                    names = self.free(inner) if inner.blocks else inner.operands
                    used.update(dict.fromkeys(v for v in names if v not in inside))
                    inside.update(inner.results)
            self._free[op] = tuple(used)
        return self._free[op]

    def forms(self, op: Op, env: Env) -> dict[int, Form]:
        """Return those carried values of a loop that need no history, by number, as a `Latch` or an `Extreme`.

        It is computed once for each loop; empty for other operations.

        Args:
            op: the kernel's loop.
            env: the kernel's values to those here, by which constants are recognised.
        """
        if op not in self._forms:
            self._forms[op] = forms(op, lambda value: self.defs.get(env[value]) if value in env else None)
        return self._forms[op]

    def append(self, op: Op) -> Op:
        """Add an existing operation to the open block, and return it."""
        self.defs.update((v, op) for v in op.results)
        return super().append(op)

    def number(self, value: Value) -> int | None:
        """Return an integer constant's number, also behind casts; None if the value is no constant."""
        op = self.defs.get(value)
        while op is not None and op.name == "cast":
            op = self.defs.get(op.operands[0])
        return int(number_of(op)) if op is not None and op.name == "const" else None

    def label(self, value: Value, name: str) -> None:
        """Set a value's name for readers, unless it has one."""
        if name and not value.name:
            self.labels.setdefault(value, name)

    def ref(self, value: Value) -> Ref:
        """Return the value wrapped for Python's operators, which emit here."""
        return Ref(self, value)

    def reopened(self, block: Block, params: Sequence[Value], tail: Callable[[], Sequence[Value]]) -> Block:
        """Return a block with the same operations, other parameters, and what `tail` emits and returns as its results.

        Args:
            block: operations without a `yield`.
            params: the parameters.
            tail: emits more operations; returns what to yield.
        """
        with self.block(params) as opened:
            for op in block.ops:
                self.append(op)
            self.yield_(*tail())
        return opened.block


def relabelled(function: Function, labels: dict[Value, str]) -> Function:
    """Return a copy of the function in which the values in `labels` have these names."""

    def label(value: Value) -> Value:
        return Value(value.type, labels[value]) if value in labels else value

    return replace_body(function, copy_block(function.body, {}, label))


Lost = Callable[[Op, Env], bool]


def inlined(
    block: Block, arguments: Sequence[Value], builder: Emitter, lost: Lost = lambda op, env: False
) -> list[Value]:
    """Emit copies of a block's operations with arguments in place of its parameters; return what it yields.

    Args:
        block: a closed block.
        arguments: for its parameters.
        builder: where to emit.
        lost: may emit something else for an operation, given that and the values so far, and returns whether it did.
    """
    # A map of its own: the block's values mean nothing to what comes after it.
    env = dict(zip(block.params, arguments, strict=True))
    written(block.ops[:-1], env, builder, lost)
    return [env[v] for v in block.yielded]


def written(ops: Sequence[Op], env: Env, builder: Emitter, lost: Lost = lambda op, env: False) -> None:
    """Emit copies of operations, with the blocks inside.

    Args:
        ops: the operations.
        env: their operands to the values to use; receives their results, and the parameters of their blocks.
        builder: where to emit.
        lost: takes an operation and `env`; an operation of which it is true is left out.
    """
    for op in ops:
        builder.location = op.location
        if lost(op, env):
            continue
        blocks: list[Block] = []
        for inner in op.blocks:
            params = tuple(fresh(p) for p in inner.params)
            env.update(zip(inner.params, params, strict=True))
            with builder.block(params) as opened:
                written(inner.ops, env, builder, lost)
            blocks.append(opened.block)
        builder.location = op.location
        types, names = [v.type for v in op.results], [v.name for v in op.results]
        emitted = builder.emit(op.name, [env[v] for v in op.operands], types, op.attrs, blocks, names)
        env.update(zip(op.results, emitted.results, strict=True))
