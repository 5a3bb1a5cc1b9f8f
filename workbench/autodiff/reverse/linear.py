"""A builtin's tangent, from its adjoint rule.

The rule says what a cotangent becomes, and it is linear in it. So the tangent is the rule walked backwards with the
operands' tangents as its cotangents: one rule gives both modes, at the same price, and what keeps a NaN of a choice not
taken out of the one keeps it out of the other. (The transpose of a transpose; no unit vectors, no zeros multiplied.)
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.autodiff.analysis.activity import influenced
from workbench.autodiff.memory.effects import Memory
from workbench.autodiff.reverse.emitter import Cotangents, Emitter, Piece, nothing, zero
from workbench.autodiff.reverse.rules import RULES
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.builtins import TABLE, Builtin, Ref
from workbench.builtins.declaration.refs import pack
from workbench.builtins.scalars import operators
from workbench.errors import NotDifferentiable
from workbench.ir.build import Builder
from workbench.ir.values import Block, Op, Value
from workbench.types import Vector

_NOTHING = Memory(frozenset(), frozenset())


def pushed(op: Op, operands: Sequence[Ref], result: Ref, tangents: Sequence[Ref | None], function: str) -> Ref:
    """Emit the tangent of a builtin's result.

    Args:
        op: the builtin's operation.
        operands: its operands.
        result: its result.
        tangents: one per operand; None if it has none.
        function: the kernel's name, for the message.

    Raises:
        NotDifferentiable: the builtin has no rule.
    """
    entry = TABLE[op.name]
    if op.name == "where":
        _, x, y = (t if t is not None else v.like(0) for t, v in zip(tangents, operands, strict=True))
        return operators.where(operands[0], x, y)
    if entry.gradient is None:
        why = entry.differentiable.removeprefix("no: ") or "it has no adjoint rule"
        raise NotDifferentiable(f"{op.name}() has no derivative: {why}.", op.location, function=function)
    kind = result.type
    if not isinstance(kind, Vector) or not entry.elementwise or entry.whole:
        return _transposed(entry, op, operands, result, tangents, function)
    parts: list[Ref] = []
    for c in range(kind.length):
        inner = [_part(v, c) for v in operands]
        tangent_parts = [None if t is None else _part(t, c) for t in tangents]
        parts.append(_transposed(entry, op, inner, result.component(c), tangent_parts, function))
    return pack(parts, kind)


def _part(ref: Ref, component: int) -> Ref:
    """Return a component of a vector; a scalar itself."""
    return ref.component(component) if isinstance(ref.type, Vector) else ref


def _transposed(
    entry: Builtin, op: Op, operands: Sequence[Ref], result: Ref, tangents: Sequence[Ref | None], function: str
) -> Ref:
    """Emit the tangent of a builtin's result, from its adjoint rule.

    The rule is linear in the cotangent: it is emitted for an open one, and walked backwards to that.
    """
    builder = result.builder
    assert isinstance(builder, Emitter) and entry.gradient is not None
    scratch = Builder()
    scratch.location = op.location
    seed, *values = (Value(v.type) for v in (result, result, *operands))
    gradients = entry.gradient(*(Ref(scratch, v) for v in (seed, *values)))
    block = scratch.body()
    env = dict(zip(values, (r.value for r in (result, *operands)), strict=True))
    env[seed] = zero(builder, seed.type).value  # no rule reads it: it would not be linear
    active = influenced(block, (seed,))
    cotangents = Cotangents(builder, active)
    for gradient, tangent in zip(gradients, tangents, strict=True):
        if gradient is not None and tangent is not None:
            cotangents.add(gradient.value, Piece(tangent))
    ReverseSweep(RULES, function, active, _NOTHING, env, {}, frozenset(), builder).block(block, cotangents)
    builder.location = op.location
    cotangent = cotangents.take_full(seed)
    return cotangent.ref if cotangent is not None else zero(builder, seed.type)


def pushed_through(
    gradient: Block,
    inputs: Sequence[Value],
    results: Sequence[Value],
    tangents: Sequence[Value | None],
    builder: Emitter,
    function: str,
) -> list[Value]:
    """Emit the tangents of a func's results, from the gradient that a user wrote for it.

    That is linear in its last parameters, the adjoints of the results, and is walked backwards to them.

    Args:
        gradient: a closed block of `custom`.
        inputs: the func's inputs here.
        results: the func's results, for their types.
        tangents: one for each value that the block yields; None if it has none.
        builder: where to emit.
        function: the kernel's name, for messages.
    """
    seeds = gradient.params[len(inputs) :]
    env = dict(zip(gradient.params, inputs, strict=False))
    env.update((seed, nothing(builder, seed.type)) for seed in seeds)
    active = influenced(gradient, seeds)
    cotangents = Cotangents(builder, active)
    for value, tangent in zip(gradient.yielded, tangents, strict=True):
        if tangent is not None:
            cotangents.add(value, Piece(builder.ref(tangent)))
    location = builder.location
    ReverseSweep(RULES, function, active, _NOTHING, env, {}, frozenset(), builder).block(gradient, cotangents)
    builder.location = location
    cotangent = [cotangents.take_full(seed) for seed in seeds]
    return [f.ref.value if f is not None else nothing(builder, v.type) for f, v in zip(cotangent, results, strict=True)]
