"""The forward sweep of an adjoint: the kernel's values again, without its effects.

What cannot be had again becomes an `unavailable` operation, with the sentence to say if the adjoint turns out to need
it: whether it does is known once the rules are written and everything unused is pruned. For the same reason a branch or
a loop becomes an operation `later`, whose operands are the values that it uses from outside: those that are still there
after pruning are `written_out`. If one of them is in a side of another one, that one yields its results too, so a
block is copied once, however deep it is nested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec
import numpy as np

from workbench.autodiff.reverse.emitter import Emitter, Env, Lost, inlined, nothing
from workbench.builtins import Ref
from workbench.builtins.scalars import operators
from workbench.ir.build import Builder, Rewriter, fresh, rewrite
from workbench.ir.ops import (
    CUDA,
    CUDA_PLACE,
    EFFECTS,
    KIND,
    LOOPS,
    NAME,
    REASON,
    REFERENCE,
    REPLAY_CUDA,
    REPLAY_CUDA_PLACE,
    STANDS_FOR,
    STRUCTURED,
)
from workbench.ir.values import GRADIENT, REPLAY, Block, Function, Op, Value, walk
from workbench.types import Scalar, Vector, element, int64

LATER = "later"


class Missing(msgspec.Struct, frozen=True):
    """The reason why a value of the kernel is unavailable in the adjoint, with advice.

    Attributes:
        message: a sentence without its full stop, to which the line of the need may be added.
        advice: what to write instead.
        loop: the loop whose unrolling would make the value available; None if that does not help.
        carry: the number of the value among those that the loop carries; -1 without one.
    """

    message: str
    advice: str
    loop: Op | None = None
    carry: int = -1


class Later(msgspec.Struct, frozen=True):
    """The branch or loop that a `later` operation stands for.

    Attributes:
        op: the kernel's branch or loop.
        builder: where the adjoint is written.
        overwritten: loads whose elements have been overwritten by then.
        of: the `later` of a branch that has `op` in one of its sides, which are run backwards here; None if there is
            none.
    """

    op: Op
    builder: Emitter
    overwritten: frozenset[Op]
    of: Op | None


class Inside(msgspec.Struct, frozen=True):
    """The `later`s in a branch's sides whose results the branch yields as well, once it is written out.

    Attributes:
        nested: by the `later` of a branch, those in its sides, by the kernel's operations.
        of: the `later` that is being written out; None: nothing more than its results is needed.
    """

    nested: Mapping[Op, Mapping[Op, Op]]
    of: Op | None

    def later(self, op: Op) -> Op | None:
        """Return the `later` in a side that stands for `op`; None if there is none."""
        return self.nested.get(self.of, {}).get(op) if self.of is not None else None

    def within(self, later: Op | None) -> Inside:
        """Return the `Inside` of an operation in a side, by the `later` that stands for it; an empty one for None."""
        return Inside(self.nested, later)

    def values(self) -> list[Value]:
        """Return all values that are yielded in addition to the results."""
        collected: list[Value] = []
        for later in self.nested.get(self.of, {}).values() if self.of is not None else ():
            collected += [*later.results, *self.within(later).values()]
        return collected


RESULTS_ALONE = Inside({}, None)


def recompute(
    ops: Iterable[Op],
    env: Env,
    builder: Emitter,
    overwritten: frozenset[Op],
    inside: Inside | None = None,
    of: Op | None = None,
) -> None:
    """Emit the kernel's operations again, without effects.

    Args:
        ops: the operations.
        env: the kernel's values to the adjoint's; receives the results.
        builder: where the adjoint is written.
        overwritten: loads whose elements have been overwritten by then, which become `unavailable`.
        inside: write branches and loops at once, with the results that this says; None: write a `later` for each.
        of: the `later` of the branch of which the operations are a side that is run backwards; None: of none.
    """
    for op in ops:
        builder.location = op.location
        # An effect without a result changes arrays, and the adjoint leaves them as they were before the launch.
        if op.name in EFFECTS and not op.results:
            continue
        if op.name == "custom" and _is_replaced(op):
            _custom(op, env, builder, overwritten, inside)
            continue
        array = op.operands[0] if op.operands else None
        if op.name in EFFECTS:
            missing = Missing(
                f"The adjoint needs the old value that {_called(op)} returned here, and that is not kept",
                "Keep it in an array of its own in this kernel, and use it in a second one.",
            )
            unavailable(op.result, missing, env, builder)
        # A load like any other, were it not that the element has been written since: the adjoint's arrays hold what was
        # there before the launch.
        elif op in overwritten:
            assert array is not None
            missing = Missing(
                f"{array.name} is overwritten in this kernel, and the adjoint needs the value it had here",
                "Write the result to another array.",
            )
            unavailable(op.result, missing, env, builder)
        elif op.name in STRUCTURED and inside is None:
            _later(op, env, Later(op, builder, overwritten, of))
        else:
            _copy(op, env, builder, overwritten, inside or RESULTS_ALONE)


def _is_replaced(op: Op) -> bool:
    """Return whether a func's call is recomputed otherwise than by a copy: it has a replay, or its body has effects."""
    return op.attrs.get(REPLAY) is not None or not EFFECTS.isdisjoint(op.blocks[0].op_names)


def _custom(op: Op, env: Env, builder: Emitter, overwritten: frozenset[Op], inside: Inside | None) -> None:
    """Emit a func's results again: by the replay that the user wrote, or else by its body without its effects.

    Those of CUDA text that has neither become `unavailable`.
    """
    replay = op.attrs.get(REPLAY)
    if replay is None and op.attrs.get(REPLAY_CUDA):
        values = _native(op, env, builder, overwritten)
    elif replay is None and not op.attrs.get(REFERENCE, True):
        missing = Missing(
            f"The adjoint needs what {op.attrs[NAME]} returned here, and its CUDA text may change arrays",
            "Give func_native a replay_cuda, or a Python body.",
        )
        for value in op.results:
            unavailable(value, missing, env, builder)
        return
    elif replay is None:
        recompute(op.blocks[0].ops[:-1], env, builder, overwritten, inside)
        values = [env[v] for v in op.blocks[0].yielded]
    else:
        values = inlined(replay, [env[v] for v in op.operands], builder, lost_loads(op, "replay", builder, overwritten))
        builder.recomputed.update(values)
    env.update(zip(op.results, values, strict=True))


def _native(op: Op, env: Env, builder: Emitter, overwritten: frozenset[Op]) -> list[Value]:
    """Emit a call of the user's replay in CUDA text; return its results.

    Other targets run the block in it: the func's body without its effects.
    """
    with builder.block() as opened:
        recompute(op.blocks[0].ops[:-1], env, builder, overwritten, inside=RESULTS_ALONE)
        builder.yield_(*(env[v] for v in op.blocks[0].yielded))
    attrs: dict[str, object] = {
        **op.attrs,
        CUDA: op.attrs[REPLAY_CUDA],
        CUDA_PLACE: op.attrs[REPLAY_CUDA_PLACE],
        GRADIENT: None,
    }
    types, names = [v.type for v in op.results], [v.name for v in op.results]
    emitted = builder.emit("custom", [env[v] for v in op.operands], types, attrs, (opened.block,), names)
    builder.recomputed.update(emitted.results)
    return list(emitted.results)


def lost_loads(op: Op, role: str, builder: Emitter, overwritten: frozenset[Op]) -> Lost:
    """Return a function that makes those loads unavailable which would not read what the func read (`emitter.Lost`).

    Args:
        op: the func's call.
        role: "gradient" or "replay", whose loads they are.
        builder: where the adjoint is written.
        overwritten: the loads.
    """

    def lost(inner: Op, inside: Env) -> bool:
        if inner not in overwritten:
            return False
        array = inside[inner.operands[0]]
        missing = Missing(
            f"The {role} of {op.attrs[NAME]} reads {array.name} here, which this kernel writes; the adjoint has it "
            "as it was before the launch",
            "Write to another array, or hand the value to the func.",
        )
        unavailable(inner.result, missing, inside, builder)
        return True

    return lost


def _called(op: Op) -> str:
    """Return the name of an atomic operation as kernels write it: `atomic_max`."""
    return f"atomic_{op.attrs[KIND]}" if op.name == "atomic" else op.name


def unavailable(value: Value, missing: Missing, env: Env, builder: Emitter) -> None:
    """Map a value to an `unavailable` operation, which carries the reason."""
    op = builder.emit("unavailable", (), (value.type,), {REASON: missing}, names=(value.name,))
    env[value] = op.result


def _later(op: Op, env: Env, stands_for: Later) -> None:
    """Emit a `later` for a branch or loop, which is written out where its results are needed.

    The `later` of a loop also has results for its notes (`_noting`).
    """
    builder = stands_for.builder
    operands = tuple(env[v] for v in builder.free(op))
    results = [fresh(v) for v in op.results]
    env.update(zip(op.results, results, strict=True))
    if op.name in LOOPS:
        count, builder.events[op] = _notes(op, builder, env)
        builder.counts.update((op, v) for v in count)
        results += [*count, *(v for noted in builder.events[op].values() for v in noted)]
    builder.laters[op] = builder.append(Op(LATER, operands, tuple(results), STANDS_FOR.of(stands_for), (), op.location))
    builder.recomputed.update(results)


def written_out(function: Function) -> Function:
    """Return the function with each `later` written out as its branch or loop.

    One in a side of a branch that is run backwards becomes further results of that branch.
    """
    laters = dict.fromkeys(op for op in walk(function.body) if op.name == LATER)
    added: dict[Op, dict[Op, Op]] = {}
    for later in laters:
        stands_for = _stands_for(later)
        if stands_for.of in laters and all(isinstance(v.type, (Scalar, Vector)) for v in later.results):
            added.setdefault(stands_for.of, {}).setdefault(stands_for.op, later)
    elsewhere = {later for inside in added.values() for later in inside.values()}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        if op not in laters:
            return None
        return () if op in elsewhere else _written(op, Inside(added, op))

    return rewrite(function, change)


def _stands_for(later: Op) -> Later:
    """Return the branch or loop that a `later` operation stands for."""
    stands_for = later.attrs[STANDS_FOR]
    assert isinstance(stands_for, Later)
    return stands_for


def _written(later: Op, inside: Inside) -> tuple[Op, ...]:
    """Return the operations that replace a `later`: the last has its results, and then the values of `inside`."""
    stands_for = _stands_for(later)
    op, builder = stands_for.op, stands_for.builder
    env = dict(zip(builder.free(op), later.operands, strict=True))
    with builder.block() as opened:
        _structured(op, env, builder, stands_for.overwritten, inside)
    *before, emitted = opened.block.ops
    return *before, emitted.replace(results=(*later.results, *inside.values()))


def _copy(op: Op, env: Env, builder: Emitter, overwritten: frozenset[Op], outer: Inside) -> None:
    """Emit a copy of an operation, and map its results in `env`, also those of the `later` that stands for it.

    Args:
        op: the kernel's operation.
        env: the kernel's values to the adjoint's.
        builder: where the adjoint is written.
        overwritten: loads whose elements have been overwritten by then.
        outer: the further results of the branch that it is copied into.
    """
    later = outer.later(op)
    inside = outer.within(later)
    emitted = _structured(op, env, builder, overwritten, inside)
    results = emitted.results[: len(op.results)]
    env.update(zip(op.results, results, strict=True))
    builder.recomputed.update(results)
    if later is not None:
        env.update(zip((*later.results, *inside.values()), emitted.results, strict=True))


def _structured(op: Op, env: Env, builder: Emitter, overwritten: frozenset[Op], inside: Inside) -> Op:
    """Emit a copy of an operation and its blocks; return it, with what `inside` says as further results."""
    blocks = tuple(_block(b, env, builder, overwritten, inside) for b in op.blocks)
    operands = [env[v] for v in op.operands]
    more = inside.values()
    if op.name in LOOPS and inside.of is not None:
        builder.location = op.location
        count, events = _notes(op, builder, env)
        more = [*count, *(v for noted in events.values() for v in noted)]
        starts, blocks = _noting(op, blocks, count, events, env, builder)
        operands += starts
    builder.location = op.location
    values = [*op.results, *more]
    return builder.emit(op.name, operands, [v.type for v in values], op.attrs, blocks, [v.name for v in values])


def _notes(op: Op, builder: Emitter, env: Env) -> tuple[list[Value], dict[int, list[Value]]]:
    """Return new values for a recomputed loop's notes.

    They are the count of a `while`, if it is one, and, by number of a carried value with a form, the iterations of its
    last events.
    """
    type = int64 if op.name == "while" else op.blocks[0].params[0].type
    scratch, body = Builder(), op.blocks[-1]
    carried = body.params[len(body.params) - len(op.results) :]
    events: dict[int, list[Value]] = {}
    for slot, form in builder.forms(op, env).items():
        event_forms = form.events(Ref(scratch, carried[slot]), Ref(scratch, body.yielded[slot]), partial(Ref, scratch))
        events[slot] = [Value(type, "turn") for _ in event_forms]
    return [Value(int64, "count")] if op.name == "while" else [], events


def _noting(
    op: Op,
    blocks: Sequence[Block],
    count: Sequence[Value],
    events: Mapping[int, Sequence[Value]],
    env: Env,
    builder: Emitter,
) -> tuple[list[Value], tuple[Block, ...]]:
    """Return the starting values of a recomputed loop's notes, and its blocks with them.

    An iteration is noted by the index of a `for`, or its number in a `while`; an event that never happened, as behind
    all.

    Args:
        op: the kernel's loop.
        blocks: the copied blocks.
        count: a value for the number of iterations of a `while`; empty for a `for`.
        events: by number of a carried value, a value for the last iteration of each of its events.
        env: the kernel's values to the adjoint's.
        builder: where the adjoint is written.
    """
    body = blocks[-1]
    counted, noted = [fresh(v) for v in count], {s: [fresh(v) for v in values] for s, values in events.items()}
    flat = [v for values in noted.values() for v in values]
    now = builder.ref(counted[0] if counted else body.params[0])
    starts = [builder.const(0, int64) for _ in count]
    if flat:
        ends = np.iinfo(element(now.type).numpy)
        never = now.like(int(ends.max))
        if op.name == "for":
            never = operators.where(builder.ref(env[op.operands[2]]) > 0, never, now.like(int(ends.min)))
        starts += [never.value] * len(flat)
    with builder.block((*body.params, *counted, *flat)) as opened:
        for inner in body.ops[:-1]:
            builder.append(inner)
        more = [(now + 1).value for _ in count]
        carried = body.params[len(body.params) - len(op.results) :]
        for slot, before in noted.items():
            old, new = builder.ref(carried[slot]), builder.ref(body.yielded[slot])
            event_values = builder.forms(op, env)[slot].events(old, new, lambda v: builder.ref(env.get(v, v)))
            more += [operators.where(e, now, builder.ref(b)).value for e, b in zip(event_values, before, strict=True)]
        builder.yield_(*body.yielded, *more)
    tested = [Block((*b.params, *map(fresh, (*counted, *flat))), b.ops) for b in blocks[:-1]]
    return starts, (*tested, opened.block)


def _block(block: Block, env: Env, builder: Emitter, overwritten: frozenset[Op], inside: Inside) -> Block:
    """Emit a copy of a block, which also yields what `inside` says; values that its operations do not define, as 0."""
    params = tuple(fresh(p) for p in block.params)
    env.update(zip(block.params, params, strict=True))
    with builder.block(params) as opened:
        recompute(block.ops[:-1], env, builder, overwritten, inside)
        builder.location = block.ops[-1].location
        more = [(v.type, env.pop(v, None)) for v in inside.values()]
        builder.yield_(*(env[v] for v in block.yielded), *(v or nothing(builder, type) for type, v in more))
    return opened.block
