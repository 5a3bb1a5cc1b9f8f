"""Funcs whose gradient, or whose replay, the user wrote.

A `custom` with a gradient is opaque: the gradient is written into the adjoint in place of rules for the func's body.
One with a replay alone is differentiated by its own lines. Both are the user's word; what stays ours is that nothing is
read that is no longer there, and that a result that was not used lets no NaN through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.autodiff.activity import touches_floats
from workbench.autodiff.closed import inlined
from workbench.autodiff.cotangents import Cotangents, Piece, nothing, zero
from workbench.autodiff.recompute import lost_loads
from workbench.builtins import Ref, operators
from workbench.ir.values import Op
from workbench.types import ArrayType, is_float

if TYPE_CHECKING:
    from workbench.autodiff.reverse import Reverse


def reverse_custom(sweep: Reverse, op: Op, cotangents: Cotangents) -> None:
    """The func backwards; nothing, where no cotangent reaches it and it changes no array of floats."""
    seeds = [cotangents.take_full(v) if is_float(v.type) else None for v in op.results]
    (body,) = op.blocks
    if not any(seeds) and not touches_floats(body):
        return
    if op.attrs["gradient"] is not None:
        _gradient(sweep, op, seeds, cotangents)
        return
    inner = sweep.new_cotangents()
    for value, seed in zip(body.yielded, seeds, strict=True):
        if seed is not None:
            inner.add(value, seed)
    sweep.block(body, inner)
    for value, piece in inner.rest().items():
        cotangents.add(value, piece)


def _gradient(sweep: Reverse, op: Op, seeds: list[Piece | None], cotangents: Cotangents) -> None:
    """The user's gradient, with the results' cotangents and the adjoint arrays of the arrays it was given."""
    builder = sweep.builder
    given = [s.ref.value if s is not None else nothing(builder, v.type) for s, v in zip(seeds, op.results, strict=True)]
    arrays = [sweep.adjoints[v] for v in op.operands if isinstance(v.type, ArrayType) and is_float(v.type)]
    arguments = [*(sweep.env[v] for v in op.operands), *given, *arrays]
    lost = lost_loads(op, "gradient", builder, sweep.memory.late)
    live = _live(seeds)
    receivers = [op.operands[k] for k in op.attrs["adjoints"]]
    if live is None:
        results = inlined(op.attrs["gradient"], arguments, builder, lost)
    else:
        with builder.block() as then:
            builder.yield_(*inlined(op.attrs["gradient"], arguments, builder, lost))
        with builder.block() as orelse:
            builder.yield_(*(zero(builder, v.type).value for v in receivers))
        results = list(builder.if_(live.value, then.block, orelse.block))
    for value, result in zip(receivers, results, strict=True):
        cotangents.add(value, Piece(builder.ref(result), None, live))


def _live(seeds: list[Piece | None]) -> Ref | None:
    """Where any result was used; None: always."""
    live: Ref | None = None
    for seed in seeds:
        if seed is None:
            continue
        if seed.live is None:
            return None
        live = seed.live if live is None else operators.or_(live, seed.live)
    return live
