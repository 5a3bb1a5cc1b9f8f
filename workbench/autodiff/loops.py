"""Loops backwards.

The reversed `for` runs the same indices from the last to the first. It carries the cotangents of the carried values,
and a sum for every outer value that the body uses. The carried values themselves are not kept: an integer that grows
by a constant is computed from the index, anything else is unavailable, so a loop is right where no rule needs it
(sums, recurrences with constant factors) and refused where one does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.autodiff.activity import touches_floats
from workbench.autodiff.cotangents import Cotangents, Piece, truth, zero
from workbench.autodiff.recompute import Missing, unavailable
from workbench.builtins import Ref, operators, rounding
from workbench.ir.values import Block, Op, Value
from workbench.types import Kind, element, is_integer

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
    builder = sweep.builder
    seeds = {slot: cotangents.take_full(v) for slot, v in enumerate(op.results)}
    if not any(seeds.values()) and not touches_floats(body):
        return
    slots = [s for s, v in enumerate(op.results) if v in sweep.active or body.params[1 + s] in sweep.active]
    bounds, index = _backwards(sweep, op)
    states = [_state(body.params[1 + s]) for s in slots]
    with builder.block() as opened:
        index_now = index()
        _primal_params(sweep, op, index_now)
        inner = sweep.new_cotangents()
        for slot, state in zip(slots, states, strict=True):
            inner.add(body.yielded[slot], Piece(builder.ref(state)))
        sweep.block(body, inner)
        builder.location = op.location
        nexts = [inner.take_full(body.params[1 + s]) for s in slots]
        found = inner.rest()
    sums = [(_state(v), Value(truth(builder, False).type)) for v in found]
    counter = index.counter

    def tail() -> list[Value]:
        values = [(n.ref if n else zero(builder, s.type)).value for n, s in zip(nexts, states, strict=True)]
        for (total, live), piece in zip(sums, found.values(), strict=True):
            values.append((builder.ref(total) + piece.ref).value)
            values.append(operators.or_(builder.ref(live), piece.live or truth(builder, True)).value)
        return values

    params = [counter, *states, *(v for pair in sums for v in pair)]
    reversed_body = builder.reopened(opened.block, params, tail)
    starts = []
    for slot, state in zip(slots, states, strict=True):
        seed = seeds[slot]
        starts.append((seed.ref if seed is not None else zero(builder, state.type)).value)
    for value in found:
        starts += [zero(builder, value.type).value, truth(builder, False).value]
    results = builder.for_(*bounds, starts, reversed_body)
    for slot, result in zip(slots, results, strict=False):
        cotangents.add(op.operands[3 + slot], Piece(builder.ref(result)))
    totals = results[len(slots) :]
    for value, total, live in zip(found, totals[::2], totals[1::2], strict=True):
        cotangents.add(value, Piece(builder.ref(total), None, builder.ref(live)))


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
    if other is param or (op.name == "sub" and op.operands[0] is not param):
        return None
    if other not in inside and other not in body.params:
        amount = sweep.ref(other)
    elif other in inside and inside[other].name == "const":
        amount = Ref(sweep.builder, sweep.builder.one("const", (), other.type, dict(inside[other].attrs)))
    else:
        return None
    return -amount if op.name == "sub" else amount
