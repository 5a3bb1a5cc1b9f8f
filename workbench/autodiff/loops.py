"""Loops backwards.

The reversed `for` runs the same indices from the last to the first. It carries the cotangents of the carried values,
and a sum for every outer value that the body uses. The carried values themselves are not kept: an integer that grows
by a constant is computed from the index, anything else is unavailable, so a loop is right where no rule needs it
(sums, recurrences with constant factors) and refused where one does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.autodiff.activity import touches_floats
from workbench.autodiff.cotangents import Cotangents, Piece, truth, zero
from workbench.autodiff.recompute import Missing, unavailable
from workbench.builtins import Ref, operators, rounding
from workbench.ir.values import Block, Op, Value
from workbench.types import Kind, element, is_integer
from workbench.types import bool as bool_

if TYPE_CHECKING:
    from workbench.autodiff.reverse import Reverse


def reverse_while(sweep: Reverse, op: Op, cotangents: Cotangents) -> None:
    """Nothing, where no cotangent flows through it.

    Raises:
        NotDifferentiable: one does.
    """
    carried = [v for v in op.results if v in sweep.active]
    advice = "Use `for … in range(…)`, with an `if` inside where the loop should stop early."
    if carried:
        name = next((v.name for v in carried if v.name), "a float")
        raise sweep.refuse(f"This while loop carries {name}, and a gradient would have to flow through it.", op, advice)
    if touches_floats(op.blocks[1]):
        raise sweep.refuse("This while loop changes an array of floats, which cannot be run backwards.", op, advice)


def reverse_for(sweep: Reverse, op: Op, cotangents: Cotangents) -> None:
    """The loop backwards; nothing, where no cotangent flows through it."""
    (body,) = op.blocks
    seeds = {slot: cotangents.take_full(v) for slot, v in enumerate(op.results)}
    if not any(seeds.values()) and not touches_floats(body):
        return
    slots = [s for s, v in enumerate(op.results) if v in sweep.active or body.params[1 + s] in sweep.active]
    carried = [_Carried(s, body.params[1 + s], seeds[s]) for s in slots]
    bounds, index = _backwards(sweep, op)
    # A cotangent that is 0 because the value was not used must not meet a NaN: seldom so in a loop, so tried without.
    backwards = _reversed_body(sweep, op, index, carried, masked=False)
    masked = backwards.may_die or any(c.seed is None or c.seed.live is not None for c in carried)
    if masked:
        backwards = _reversed_body(sweep, op, index, carried, masked=True)
    starts = [v for c in carried for v in _pair(sweep, c.seed, c.param)]
    for value in backwards.sums:
        starts += _pair(sweep, None, value)
    results = [sweep.builder.ref(v) for v in sweep.builder.for_(*bounds, starts, backwards.block)]
    for one, total, live in zip(carried, results[::2], results[1::2], strict=False):
        cotangents.add(op.operands[3 + one.slot], Piece(total, None, live if masked else None))
    rest = results[2 * len(carried) :]
    runs = _runs(sweep, op)
    for (value, always), total, live in zip(backwards.sums.items(), rest[::2], rest[1::2], strict=True):
        cotangents.add(value, Piece(total, None, None if runs and always else live))


@dataclass(frozen=True)
class _Carried:
    """A slot whose cotangent the reversed loop carries, and its cotangent behind the loop."""

    slot: int
    param: Value
    seed: Piece | None


@dataclass(frozen=True)
class _Body:
    """The reversed body; the outer values it sums cotangents for, and whether each iteration has one for them; whether
    a carried cotangent may become one of a value that was not used.
    """

    block: Block
    sums: dict[Value, bool]
    may_die: bool


def _reversed_body(sweep: Reverse, op: Op, index: _Index, carried: list[_Carried], masked: bool) -> _Body:
    """One iteration backwards. Each cotangent it carries stands beside a bool: whether it counts."""
    (body,) = op.blocks
    builder = sweep.builder
    states = [(_state(c.param), Value(bool_)) for c in carried]
    with builder.block() as opened:
        _primal_params(sweep, op, index())
        inner = sweep.new_cotangents()
        for one, (state, live) in zip(carried, states, strict=True):
            inner.add(body.yielded[one.slot], Piece(builder.ref(state), None, builder.ref(live) if masked else None))
        sweep.block(body, inner)
        builder.location = op.location
        nexts = [inner.take_full(c.param) for c in carried]
        found = inner.rest()
    sums = [(_state(v), Value(bool_)) for v in found]

    def tail() -> list[Value]:
        values = [v for c, piece in zip(carried, nexts, strict=True) for v in _pair(sweep, piece, c.param)]
        for (total, live), piece in zip(sums, found.values(), strict=True):
            here = piece.live if piece.live is not None else truth(builder, True)
            values += [(builder.ref(total) + piece.ref).value, operators.or_(builder.ref(live), here).value]
        return values

    params = [index.counter, *(v for pair in (*states, *sums) for v in pair)]
    may_die = any(piece is None or piece.live is not None for piece in nexts)
    always = {v: piece.live is None for v, piece in found.items()}
    return _Body(builder.reopened(opened.block, params, tail), always, may_die)


def _pair(sweep: Reverse, piece: Piece | None, like: Value) -> tuple[Value, Value]:
    """A cotangent and whether it counts, as values."""
    if piece is None:
        return zero(sweep.builder, like.type).value, truth(sweep.builder, False).value
    live = piece.live if piece.live is not None else truth(sweep.builder, True)
    return piece.ref.value, live.value


def _runs(sweep: Reverse, op: Op) -> bool:
    """Whether the loop is known to have an iteration."""
    bounds = [sweep.constant(v) for v in op.operands[:3]]
    start, stop, step = bounds
    return start is not None and stop is not None and bool(step) and bool(range(start, stop, step))


def _state(value: Value) -> Value:
    return Value(value.type, value.name and f"adj_{value.name}")


class _Index:
    """How the reversed loop's counter gives the index of the iteration."""

    def __init__(self, counter: Value) -> None:
        self.counter = counter

    def __call__(self) -> Value:
        return self.counter


class _Counted(_Index):
    """By counting from 0: start + (count - 1 - counter) * step."""

    def __init__(self, counter: Value, start: Ref, step: Ref, last: Ref) -> None:
        super().__init__(counter)
        self.start, self.step, self.last = start, step, last

    def __call__(self) -> Value:
        counter = Ref(self.start.builder, self.counter)
        return (self.start + (self.last - counter) * self.step).value


def _backwards(sweep: Reverse, op: Op) -> tuple[tuple[Value, Value, Value], _Index]:
    """Bounds of the reversed loop, and its index. Python's range backwards: last, start - step, -step."""
    start, stop, step = (sweep.ref(v) for v in op.operands[:3])
    name = op.blocks[0].params[0].name
    fixed = sweep.constant(op.operands[2])
    if element(start.type).kind is Kind.UINT:
        span = stop - start
        rounded = span if fixed == 1 else rounding.floordiv(span + (step - 1), step)
        count = operators.where(stop > start, rounded, start.like(0))
        index = _Counted(Value(start.type), start, step, count - 1)
        return (start.like(0).value, count.value, start.like(1).value), index
    if fixed in (1, -1):
        last = stop - fixed
    else:
        last = start - (rounding.floordiv(start - stop, step) + 1) * step
    back = step.like(-fixed) if fixed is not None else -step
    return (last.value, (start - step).value, back.value), _Index(Value(start.type, name))


def _primal_params(sweep: Reverse, op: Op, index: Value) -> None:
    """Map the body's parameters: the index, and what the carried values are in that iteration."""
    (body,) = op.blocks
    sweep.env[body.params[0]] = index
    for slot, param in enumerate(body.params[1:]):
        grown = _growth(sweep, body, param, body.yielded[slot])
        if grown is None:
            name = param.name or "A value"
            missing = Missing(
                f"{name} changes in every iteration, and the adjoint needs its value at each",
                "Use a range of constants, so that the loop can be unrolled, or keep the values in an array.",
                loop=op,
            )
            unavailable(param, missing, sweep.env, sweep.builder)
        else:
            start, step = sweep.ref(op.operands[0]), sweep.ref(op.operands[2])
            done = sweep.builder.ref(index) - start
            if sweep.constant(op.operands[2]) != 1:
                done = rounding.floordiv(done, step)
            value = sweep.ref(op.operands[3 + slot]) + done.cast(param.type) * grown
            sweep.env[param] = value.value


def _growth(sweep: Reverse, body: Block, param: Value, following: Value) -> Ref | None:
    """What each iteration adds to a carried integer, where that is the same in all of them."""
    if not is_integer(param.type):
        return None
    if following is param:
        return zero(sweep.builder, param.type)
    inside = {v: op for op in body.ops for v in op.results}
    op = inside.get(following)
    if op is None or op.name not in ("add", "sub") or param not in op.operands:
        return None
    other = op.operands[1] if op.operands[0] is param else op.operands[0]
    if op.name == "sub" and op.operands[0] is not param:
        return None
    if other not in inside and other not in body.params:
        amount = sweep.ref(other)
    elif other in inside and inside[other].name == "const":
        amount = Ref(sweep.builder, sweep.builder.one("const", (), other.type, dict(inside[other].attrs)))
    else:
        return None
    return -amount if op.name == "sub" else amount
