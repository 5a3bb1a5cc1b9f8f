"""Writing a closed block (a gradient or a replay that a user wrote) into an adjoint, with values for its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.autodiff.reverse.emitter import Emitter
from workbench.ir.rewrite import fresh
from workbench.ir.values import Block, Op, Value

Env = dict[Value, Value]
Lost = Callable[[Op, Env], bool]


def inlined(
    block: Block, arguments: Sequence[Value], builder: Emitter, lost: Lost = lambda op, env: False
) -> list[Value]:
    """Write the block's operations with these arguments; gives what it yields.

    `lost` may put something else in the place of an operation, and says whether it did.
    """
    env = dict(zip(block.params, arguments, strict=True))
    written(block.ops[:-1], env, builder, lost)
    return [env[v] for v in block.yielded]


def written(ops: Sequence[Op], env: Env, builder: Emitter, lost: Lost = lambda op, env: False) -> None:
    """Write operations; `env` maps their values to those here and learns the results."""
    for op in ops:
        builder.location = op.location
        if lost(op, env):
            continue
        blocks = []
        for inner in op.blocks:
            params = tuple(fresh(p) for p in inner.params)
            env.update(zip(inner.params, params, strict=True))
            with builder.block(params) as opened:
                written(inner.ops, env, builder, lost)
            blocks.append(opened.block)
        builder.location = op.location
        types, names = [v.type for v in op.results], [v.name for v in op.results]
        made = builder.emit(op.name, [env[v] for v in op.operands], types, dict(op.attrs), blocks, names)
        env.update(zip(op.results, made.results, strict=True))
