"""The forward sweep of an adjoint: the kernel's values again, without its effects.

What cannot be had again becomes an `unavailable` operation, with the sentence to say if the adjoint turns out to need
it: whether it does is known once the rules are written and everything unused is pruned. For the same reason a branch or
a loop becomes an operation `later`, whose operands are the values that it uses from outside: those that are still there
after pruning are `written_out`. So a block inside n others is not copied n times to no purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from workbench.autodiff.reverse.emitter import Emitter
from workbench.autodiff.reverse.inline_block import Env, Lost, inlined
from workbench.ir.ops import EFFECTS, STRUCTURED
from workbench.ir.rewrite import fresh, rewrite
from workbench.ir.values import Block, Function, Op, Value, walk
from workbench.types import int64

LATER = "later"


@dataclass(frozen=True)
class Missing:
    """Why a value is unavailable, and what to do.

    Attributes:
        message: a sentence without its full stop, to which the place of the need may be added.
        advice: what to write instead.
        loop: the loop whose unrolling would make the value available; None where that does not help.
    """

    message: str
    advice: str
    loop: Op | None = None


def recompute(ops: Iterable[Op], env: Env, builder: Emitter, late: frozenset[Op], whole: bool = False) -> None:
    """Emit the operations without effects; `env` maps the kernel's values to the adjoint's and learns the results.

    With `whole`, branches and loops at once.
    """
    for op in ops:
        builder.location = op.location
        if op.name in EFFECTS and not op.results:
            continue
        if op.name == "custom" and _is_replaced(op):
            _custom(op, env, builder, late, whole)
            continue
        array = op.operands[0] if op.operands else None
        if op.name in EFFECTS:
            missing = Missing(
                f"The adjoint needs the old value that {_called(op)} returned here, and that is not kept",
                "Keep it in an array of its own in this kernel, and use it in a second one.",
            )
            unavailable(op.result, missing, env, builder)
        elif op in late:
            assert array is not None
            missing = Missing(
                f"{array.name} is overwritten in this kernel, and the adjoint needs the value it had here",
                "Write the result to another array.",
            )
            unavailable(op.result, missing, env, builder)
        elif op.name in STRUCTURED and not whole:
            _later(op, env, builder, late)
        else:
            _copy(op, env, builder, late)


def _is_replaced(op: Op) -> bool:
    return op.attrs["replay"] is not None or any(inner.name in EFFECTS for inner in walk(op.blocks[0]))


def _custom(op: Op, env: Env, builder: Emitter, late: frozenset[Op], whole: bool) -> None:
    """The results of a func by the replay the user wrote, or by its body without its effects."""
    replay = op.attrs["replay"]
    if replay is None and op.attrs.get("replay_cuda"):
        values = _native(op, env, builder, late)
    elif replay is None and not op.attrs.get("reference", True):
        missing = Missing(
            f"The adjoint needs what {op.attrs['name']} returned here, and its CUDA text may change arrays",
            "Give func_native a replay_cuda, or a Python body.",
        )
        for value in op.results:
            unavailable(value, missing, env, builder)
        return
    elif replay is None:
        recompute(op.blocks[0].ops[:-1], env, builder, late, whole)
        values = [env[v] for v in op.blocks[0].yielded]
    else:
        values = inlined(replay, [env[v] for v in op.operands], builder, lost_loads(op, "replay", builder, late))
        builder.recomputed.update(values)
    env.update(zip(op.results, values, strict=True))


def _native(op: Op, env: Env, builder: Emitter, late: frozenset[Op]) -> list[Value]:
    """The replay that is CUDA text; elsewhere the body without its effects."""
    with builder.block() as opened:
        recompute(op.blocks[0].ops[:-1], env, builder, late, whole=True)
        builder.yield_(*(env[v] for v in op.blocks[0].yielded))
    attrs = {**op.attrs, "cuda": op.attrs["replay_cuda"], "cuda_place": op.attrs["replay_cuda_place"], "gradient": None}
    types, names = [v.type for v in op.results], [v.name for v in op.results]
    made = builder.emit("custom", [env[v] for v in op.operands], types, attrs, (opened.block,), names)
    builder.recomputed.update(made.results)
    return list(made.results)


def lost_loads(op: Op, role: str, builder: Emitter, late: frozenset[Op]) -> Lost:
    """For the gradient or replay of `op`: loads that would not see what the func saw are unavailable."""

    def lost(inner: Op, inside: Env) -> bool:
        if inner not in late:
            return False
        array = inside[inner.operands[0]]
        missing = Missing(
            f"The {role} of {op.attrs['name']} reads {array.name} here, which this kernel writes; the adjoint has it "
            "as it was before the launch",
            "Write to another array, or hand the value to the func.",
        )
        unavailable(inner.result, missing, inside, builder)
        return True

    return lost


def _called(op: Op) -> str:
    return f"atomic_{op.attrs['kind']}" if op.name == "atomic" else op.name


def unavailable(value: Value, missing: Missing, env: Env, builder: Emitter) -> None:
    """Map the value to an `unavailable` operation."""
    op = builder.emit("unavailable", (), (value.type,), {"reason": missing}, names=(value.name,))
    env[value] = op.result


def _later(op: Op, env: Env, builder: Emitter, late: frozenset[Op]) -> None:
    """A branch or loop, to be written out where its results are needed; a `while` counts its iterations."""
    operands = [env[v] for v in builder.free(op)]
    results = [fresh(v) for v in op.results]
    env.update(zip(op.results, results, strict=True))
    if op.name == "while":
        operands.append(builder.const(0, int64))
        builder.counts[op] = count = Value(int64)
        results.append(count)
    if results:
        attrs = {"write": partial(_written, op, builder, late)}
        builder.append(Op(LATER, tuple(operands), tuple(results), attrs, (), op.location))
        builder.recomputed.update(results)


def written_out(function: Function) -> Function:
    """The function with each `later` as the branch or loop it stands for."""
    return rewrite(function, lambda on, op: (op.attrs["write"](op),) if op.name == LATER else None)


def _written(op: Op, builder: Emitter, late: frozenset[Op], later: Op) -> Op:
    env = dict(zip(builder.free(op), later.operands, strict=False))
    blocks = _blocks(op, env, builder, late)
    operands = [env[v] for v in op.operands]
    if op.name == "while":
        operands.append(later.operands[-1])
        blocks = _counting(blocks, op, builder)
    return op.replace(tuple(operands), results=later.results, blocks=blocks)


def _counting(blocks: Sequence[Block], op: Op, builder: Emitter) -> tuple[Block, ...]:
    """The blocks of a `while`, counting its iterations."""
    condition, body = blocks
    tested, before = Value(int64, "count"), Value(int64, "count")
    builder.location = op.location
    with builder.block((*body.params, before)) as opened:
        for inner in body.ops[:-1]:
            builder.append(inner)
        more = builder.one("add", (before, builder.const(1, int64)), int64)
        builder.yield_(*body.yielded, more)
    return Block((*condition.params, tested), condition.ops), opened.block


def _copy(op: Op, env: Env, builder: Emitter, late: frozenset[Op]) -> None:
    blocks = _blocks(op, env, builder, late)
    builder.location = op.location
    operands = [env[v] for v in op.operands]
    names = [v.name for v in op.results]
    copied = builder.emit(op.name, operands, [v.type for v in op.results], dict(op.attrs), blocks, names)
    env.update(zip(op.results, copied.results, strict=True))
    builder.recomputed.update(copied.results)


def _blocks(op: Op, env: Env, builder: Emitter, late: frozenset[Op]) -> tuple[Block, ...]:
    """The blocks inside an operation, complete."""
    return tuple(_block(b, env, builder, late) for b in op.blocks)


def _block(block: Block, env: Env, builder: Emitter, late: frozenset[Op]) -> Block:
    params = tuple(fresh(p) for p in block.params)
    env.update(zip(block.params, params, strict=True))
    with builder.block(params) as opened:
        recompute(block.ops, env, builder, late, whole=True)
    return opened.block
