"""Loops backwards.

The reversed loop has the same iterations, from the last to the first. It carries the cotangents of the carried values,
and a sum for every outer value that the body uses. The carried values themselves it computes from the iteration's
number where it can; where a rule needs others, some states of the loop are kept (`checkpoints.py`),
else nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from workbench.autodiff.analysis.activity import touches_floats
from workbench.autodiff.reverse.emitter import Cotangents, Piece, truth, zero
from workbench.autodiff.reverse.loops.iterations import Iteration, Loop, PositionIteration, before, counters, only_adds
from workbench.autodiff.reverse.loops.states import Checkpoints, States, few
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.builtins import Ref
from workbench.builtins.scalars import extrema, operators
from workbench.ir.build import fresh
from workbench.ir.ops import OPAQUE, SCALAR
from workbench.ir.values import Block, Op, Value, walk
from workbench.types import bool as bool_
from workbench.types import element, int32, int64


def reverse_loop(sweep: ReverseSweep, op: Op, cotangents: Cotangents) -> None:
    """Emit a loop backwards, and add the cotangents of what it starts from and uses.

    It does nothing where no cotangent reaches the loop and it changes no array of floats.
    """
    loop = Loop(op)
    seeds = {n: cotangents.take_full(v) for n, v in enumerate(op.results)}
    if not any(seeds.values()) and not touches_floats(loop.body):
        return
    carries = [n for n, v in enumerate(op.results) if v in sweep.active or loop.carried[n] in sweep.active]
    carried = [_Carried(n, loop.carried[n], seeds[n]) for n in carries]
    # The forward loop is not run again here: unless states are kept, the reversed body recomputes one iteration from
    # its number.
    needed = {carry for other, carry in sweep.checkpointed if other is op}
    counted = counters(sweep, loop, needed)
    form = _checkpointed(sweep, loop) if needed and not counted else _straight(sweep, loop, carried, counted)
    # A cotangent that is 0 because the value was not used must not meet a NaN: seldom so in a loop, so tried without.
    backwards = form.written(carried, masked=False)
    masked = backwards.may_die or any(c.seed is None or c.seed.live is not None for c in carried)
    if masked:
        # The body is written a second time; the first attempt is dropped with its block, before anything refers to it.
        backwards = form.written(carried, masked=True)
    starts = [v for c in carried for v in _pair(sweep, c.seed, c.param)]
    # An outer value is used in every iteration: its cotangents are summed in a carried value, from 0.
    for value in backwards.sums:
        starts += _pair(sweep, None, value)
    starts += [sweep.env[op.results[carry]] for carry in counted]
    results = [sweep.builder.ref(v) for v in form.run(starts, backwards)]
    for one, total, live in zip(carried, results[::2], results[1::2], strict=False):
        cotangents.add(loop.init[one.carry], Piece(total, None, live if masked else None))
    rest = results[2 * len(carried) : len(results) - len(counted)]
    runs = _runs(sweep, op)
    for (value, always), total, live in zip(backwards.sums.items(), rest[::2], rest[1::2], strict=True):
        # If the loop may run no iteration, nothing has used the value: its 0 must not meet an infinite slope.
        cotangents.add(value, Piece(total, None, None if runs and always else live))


class _Carried(msgspec.Struct, frozen=True):
    """A carried value whose cotangent the reversed loop carries.

    Attributes:
        carry: its number.
        param: the body's parameter.
        seed: its cotangent after the loop; None: it has none there.
    """

    carry: int
    param: Value
    seed: Piece | None


class _Body(msgspec.Struct, frozen=True):
    """The body of a reversed loop.

    Attributes:
        block: the body.
        sums: the values from outside whose cotangents it sums up, and whether each iteration has one for them.
        may_die: a carried cotangent may become one of a value that was not used.
    """

    block: Block
    sums: dict[Value, bool]
    may_die: bool


class _Form(msgspec.Struct, frozen=True):
    """A way to write a reversed loop: without states, with all states, or with checkpoints.

    Attributes:
        written: emits its body, given the carried values, and whether cotangents go with a bool that says whether they
            count.
        run: emits the loop, given the starting values and the body; returns the results.
    """

    written: Callable[..., _Body]
    run: Callable[[list[Value], _Body], tuple[Value, ...]]


def _straight(sweep: ReverseSweep, loop: Loop, carried: list[_Carried], counted: Sequence[int]) -> _Form:
    """Return how to write a reversed loop as one `for` without states; it runs forward if the order does not matter.

    Args:
        sweep: the sweep.
        loop: the kernel's loop.
        carried: the values whose cotangents are carried.
        counted: the numbers of counters, which are carried backwards.
    """
    bounds, iteration = _backwards(sweep, loop, carried)
    attrs = SCALAR.of(True) if _ends_early(sweep, loop, carried) else None

    def written(carried: list[_Carried], masked: bool) -> _Body:
        return _reversed_body(sweep, iteration, carried, masked, counted)

    def run(starts: list[Value], body: _Body) -> tuple[Value, ...]:
        up = only_adds(sweep, loop, body.block)
        return sweep.builder.for_(*(_forwards(sweep, loop, iteration) if up else bounds), starts, body.block, attrs)

    return _Form(written, run)


def _checkpointed(sweep: ReverseSweep, loop: Loop) -> _Form:
    """Return how to write a reversed loop that stores states: of all iterations if these are few, else checkpoints."""
    count = few(sweep, loop)
    if count:
        states = States(sweep, loop, count)

        def reversed_(carried: list[_Carried], masked: bool) -> _Body:
            return _reversed_body(sweep, states.iteration, carried, masked)

        return _Form(reversed_, lambda starts, body: states.run(starts, body.block))
    checkpoints = Checkpoints(sweep, loop)

    def written(carried: list[_Carried], masked: bool) -> _Body:
        with checkpoints.round() as iterations:
            bodies = [_reversed_body(sweep, iteration, carried, masked) for iteration in iterations]
            body = bodies[0]
            carries = [Value(p.type, p.name) for p in body.block.params[1:]]
            checkpoints.reverse_chunk(carries, [b.block for b in bodies])
        return _Body(checkpoints.closed(carries), body.sums, body.may_die)

    return _Form(written, lambda starts, body: checkpoints.run(starts, body.block))


def _reversed_body(
    sweep: ReverseSweep, iteration: Iteration, carried: list[_Carried], masked: bool, counted: Sequence[int] = ()
) -> _Body:
    """Emit one iteration backwards, as the body of the reversed loop.

    Beside each cotangent it carries a bool that says whether that counts.

    Args:
        sweep: the sweep.
        iteration: the iteration.
        carried: the values whose cotangents are carried.
        masked: rules heed those bools.
        counted: the numbers of counters, which are carried backwards.
    """
    body, op = iteration.loop.body, iteration.loop.op
    builder = sweep.builder
    states = [(_state(c.param), Value(bool_)) for c in carried]
    with builder.block() as opened:
        iteration.enter()
        after = [fresh(iteration.loop.carried[carry]) for carry in counted]
        for carry, value in zip(counted, after, strict=True):
            sweep.env[iteration.loop.carried[carry]] = before(sweep, iteration.loop, carry, builder.ref(value)).value
        ended = [sweep.env[iteration.loop.carried[carry]] for carry in counted]
        inner = sweep.new_cotangents()
        for one, (state, live) in zip(carried, states, strict=True):
            inner.add(body.yielded[one.carry], Piece(builder.ref(state), None, builder.ref(live) if masked else None))
        sweep.block(body, inner)
        # Adding up is the loop's own work: an error in it is at the loop's line.
        builder.location = op.location
        nexts = [inner.take_full(c.param) for c in carried]
        rest = inner.rest()
    sums = [(_state(v), Value(bool_)) for v in rest]

    def tail() -> list[Value]:
        values = [v for c, piece in zip(carried, nexts, strict=True) for v in _pair(sweep, piece, c.param)]
        for (total, live), piece in zip(sums, rest.values(), strict=True):
            here = piece.live if piece.live is not None else truth(builder, True)
            values += [(builder.ref(total) + piece.ref).value, operators.or_(builder.ref(live), here).value]
        return values + ended

    params = [iteration.counter, *(v for pair in (*states, *sums) for v in pair), *after]
    may_die = any(piece is None or piece.live is not None for piece in nexts)
    always = {v: piece.live is None for v, piece in rest.items()}
    return _Body(builder.reopened(opened.block, params, tail), always, may_die)


def _pair(sweep: ReverseSweep, piece: Piece | None, like: Value) -> tuple[Value, Value]:
    """Return a cotangent and a bool that says whether it counts; without one, 0 and false.

    Args:
        sweep: the sweep.
        piece: the cotangent, or None.
        like: a value of its type.
    """
    if piece is None:
        return zero(sweep.builder, like.type).value, truth(sweep.builder, False).value
    live = piece.live if piece.live is not None else truth(sweep.builder, True)
    return piece.ref.value, live.value


def _runs(sweep: ReverseSweep, op: Op) -> bool:
    """Return whether a loop is known to have an iteration; False for every `while`."""
    if op.name == "while":
        return False
    # Only bounds known while compiling count; otherwise the bools that the loop carries say it at run time.
    bounds = [sweep.constant(v) for v in op.operands[:3]]
    start, stop, step = bounds
    return start is not None and stop is not None and bool(step) and bool(range(start, stop, step))


def _state(value: Value) -> Value:
    """Return a new value for a value's cotangent, which a reversed loop carries; it is named `adj_<name>`."""
    return Value(value.type, value.name and f"adj_{value.name}")


def _forwards(sweep: ReverseSweep, loop: Loop, iteration: Iteration) -> tuple[Value, Value, Value]:
    """Return the bounds (start, stop, step) of a reversed loop that runs from the first iteration to the last."""
    if not isinstance(iteration, PositionIteration):
        start, stop, step = (sweep.env[v] for v in loop.op.operands[:3])
        return start, stop, step
    return sweep.builder.const(0, int64), loop.count(sweep).value, sweep.builder.const(1, int64)


def _backwards(
    sweep: ReverseSweep, loop: Loop, carried: list[_Carried]
) -> tuple[tuple[Value, Value, Value], Iteration]:
    """Return the bounds (start, stop, step) of a reversed loop from the last iteration to the first, and its iteration.

    A `for` with a step of 1 or -1 and an index of int32 or int64 counts by that, others by the number of iterations.
    """
    bounds, index = loop.op.operands[:3], loop.index
    fixed = sweep.constant(bounds[2]) if index is not None else None
    # Indices of 8 and 16 bits may well reach the ends of their type, which nothing lies behind.
    if index is None or fixed not in (1, -1) or index.type not in (int32, int64):
        back = sweep.builder.ref(sweep.builder.const(-1, int64))
        last, end = loop.count(sweep) + back, back
        if index is None:
            last, end = _between(sweep, loop, carried, last, end, back)
        return (last.value, end.value, back.value), PositionIteration(sweep, loop, Value(int64, "position"))
    start, stop, step = (sweep.ref(v) for v in bounds)
    # The last index needs no division, which is slow on GPUs. Behind the least number, as of int(-inf), there is no
    # other; the range's start is left out, since threads with one end go through the loop together.
    limit = 2 ** (element(index.type).bits - 1)
    defining = sweep.builder.defs.get(stop.value)
    if defining is None or defining.name != "shape":  # a size is neither
        stop = extrema.max(stop, stop.like(1 - limit)) if fixed == 1 else extrema.min(stop, stop.like(limit - 2))
    back = step.like(-fixed)
    last, end = _between(sweep, loop, carried, stop - fixed, start - step, back)
    return (last.value, end.value, back.value), Iteration(sweep, loop, Value(index.type, index.name))


def _ends_early(sweep: ReverseSweep, loop: Loop, carried: list[_Carried]) -> bool:
    """Return whether a reversed loop does no more than pass on the cotangent of a running extreme.

    It begins at the last iteration in which another value took part in that, and ends with the one in which it last
    changed: of all values one, unless there are ties. Threads run so few iterations one by one.
    """
    iterations = sweep.builder.events[loop.op].get(carried[0].carry, ()) if len(carried) == 1 else ()
    opaque = any(op.name in OPAQUE for op in walk(loop.body))
    return len(iterations) == 2 and not touches_floats(loop.body) and not opaque


def _between(
    sweep: ReverseSweep, loop: Loop, carried: list[_Carried], last: Ref, end: Ref, back: Ref
) -> tuple[Ref, Ref]:
    """Return the first iteration and the end of a reversed loop, narrowed if it passes on a running extreme alone.

    Args:
        sweep: the sweep.
        loop: the kernel's loop.
        carried: the values whose cotangents are carried.
        last: the first iteration to run backwards.
        end: the one behind the last to run.
        back: the step.
    """
    if not _ends_early(sweep, loop, carried):
        return last, end
    changed, taken = (sweep.builder.ref(v) for v in sweep.builder.events[loop.op][carried[0].carry])
    ends = np.iinfo(element(changed.type).numpy)
    never = changed.like(int(ends.max))
    if loop.index is not None and sweep.constant(loop.op.operands[2]) == -1:
        never = changed.like(int(ends.min))
    first = operators.where(taken.equals(never), end, taken)
    return first, operators.where(changed.equals(never), end, changed + back)
