"""Funcs whose gradient, or whose replay, the user wrote.

A `custom` with a gradient is opaque: the gradient is written into the adjoint in place of rules for the func's body.
One with a replay alone is differentiated by its own lines. Both are the user's word; what stays ours is that nothing is
read that is no longer there, and that a result that was not used lets no NaN through.
"""

from __future__ import annotations

from workbench.autodiff.analysis.activity import touches_floats
from workbench.autodiff.memory.effects import Memory, overwritten_loads
from workbench.autodiff.reverse.emitter import Cotangents, Piece, inlined, nothing, zero
from workbench.autodiff.reverse.recompute import lost_loads
from workbench.autodiff.reverse.sweep import ReverseSweep
from workbench.builtins import Ref
from workbench.builtins.scalars import operators
from workbench.ir.ops import ADJ_CUDA, ADJ_CUDA_PLACE, ADJOINTS, CUDA, CUDA_PLACE, INPUTS, NAME, OUTPUTS, REFERENCE
from workbench.ir.values import DERIVE, GRADIENT, REPLAY, Block, Function, Op, Value, array_of, walk
from workbench.types import ArrayType, is_float


def reverse_custom(sweep: ReverseSweep, op: Op, cotangents: Cotangents) -> None:
    """Add the cotangents of what a func uses, by the gradient that the user wrote, or else by its own lines.

    It does nothing where no cotangent reaches the func and it changes no array of floats.

    Raises:
        NotDifferentiable: it is CUDA text without a gradient.
    """
    seeds = [cotangents.take_full(v) if is_float(v.type) else None for v in op.results]
    (body,) = op.blocks
    if not any(seeds) and not touches_floats(body):
        return
    if op.attrs.get(GRADIENT) is not None or op.attrs.get(ADJ_CUDA):
        _gradient(sweep, op, seeds, cotangents)
        return
    if not op.attrs.get(REFERENCE, True):
        raise sweep.not_differentiable(
            f"{op.attrs[NAME]} is CUDA text, whose gradient is not known.",
            op,
            "Give func_native an adj_cuda, or a Python body.",
        )
    for value, piece in _derived(sweep, body, seeds).items():
        cotangents.add(value, piece)


def _gradient(sweep: ReverseSweep, op: Op, seeds: list[Piece | None], cotangents: Cotangents) -> None:
    """Emit the user's gradient, with the results' cotangents and the adjoint arrays of its array arguments.

    It runs only where a result was used.
    """
    builder = sweep.builder
    pairs = zip(seeds, op.results, strict=True)
    seed_values = [s.ref.value if s is not None else nothing(builder, v.type) for s, v in pairs]
    arrays = [sweep.adjoints[v] for v in op.operands if isinstance(v.type, ArrayType) and is_float(v.type)]
    arguments = [*(sweep.env[v] for v in op.operands), *seed_values, *arrays]
    lost = lost_loads(op, "gradient", builder, sweep.memory.overwritten)

    def write() -> list[Value]:
        gradient = op.attrs.get(GRADIENT)
        if gradient is None:
            return _native(sweep, op, seeds, arguments)
        return inlined(gradient, arguments, builder, lost)

    live = _live(seeds)
    receivers = [op.operands[k] for k in op.attrs[ADJOINTS]]
    if live is None:
        results = write()
    else:
        # A gradient may store: it must not run at all where the result was not used, so masking its results would come
        # too late.
        with builder.block() as then:
            builder.yield_(*write())
        with builder.block() as orelse:
            builder.yield_(*(zero(builder, v.type).value for v in receivers))
        results = list(builder.if_(live.value, then.block, orelse.block))
    for value, result in zip(receivers, results, strict=True):
        cotangents.add(value, Piece(builder.ref(result), None, live))


def _native(sweep: ReverseSweep, op: Op, seeds: list[Piece | None], arguments: list[Value]) -> list[Value]:
    """Emit a call of the user's CUDA adjoint; return the inputs' contributions.

    Other targets run the block in it: the derivative of the func's own lines, if it has any.
    """
    builder = sweep.builder
    receivers = [op.operands[k] for k in op.attrs[ADJOINTS]]
    with builder.block() as opened:
        arrays = arguments[len(op.operands) + len(op.results) :]
        if op.attrs[REFERENCE]:
            values = _derivative(sweep, op, arguments, arrays, seeds)
        else:
            for array in arrays:
                zeros = [builder.const(0)] * array_of(array).ndim
                # The body has no meaning of its own: it stands for the text's effect on the array, so that no pass
                # drops or moves it.
                builder.store(array, *zeros, builder.load(array, *zeros))
            values = [zero(builder, v.type).value for v in receivers]
        builder.yield_(*values)
    pairs = zip(op.operands, op.attrs[INPUTS], strict=True)
    names = [f"adj_{n}" for v, n in pairs if isinstance(v.type, ArrayType) and is_float(v.type)]
    attrs: dict[str, object] = {
        NAME: f"{op.attrs[NAME]}_adjoint", GRADIENT: None, REPLAY: None, ADJOINTS: (),
        CUDA: op.attrs[ADJ_CUDA], CUDA_PLACE: op.attrs[ADJ_CUDA_PLACE], REFERENCE: op.attrs[REFERENCE],
        INPUTS: (*op.attrs[INPUTS], *("adj_ret" for _ in op.results), *names),
        OUTPUTS: tuple(f"adj_{op.attrs[INPUTS][k]}" for k in op.attrs[ADJOINTS]),
    }  # fmt: skip
    return list(builder.emit("custom", arguments, [v.type for v in receivers], attrs, (opened.block,)).results)


def _derived(sweep: ReverseSweep, body: Block, seeds: list[Piece | None]) -> dict[Value, Piece]:
    """Emit a func's own lines backwards; return the cotangents of the values from outside that they use."""
    inner = sweep.new_cotangents()
    for value, seed in zip(body.yielded, seeds, strict=True):
        if seed is not None:
            inner.add(value, seed)
    sweep.block(body, inner)
    return inner.rest()


def _derivative(
    sweep: ReverseSweep, op: Op, arguments: list[Value], arrays: list[Value], seeds: list[Piece | None]
) -> list[Value]:
    """Emit a func's own lines backwards on `arguments`; return the contributions to the inputs in its `adjoints`.

    Contributions to arrays are added to their adjoint arrays.

    Args:
        sweep: the sweep.
        op: the func's call.
        arguments: its operands, then the results' cotangents and the adjoint arrays.
        arrays: the adjoint arrays.
        seeds: the cotangents of its results; None where one has none.
    """
    closed, builder = op.attrs[DERIVE], sweep.builder
    env = dict(zip(closed.params, arguments, strict=False))
    floats = [p for p in closed.params if is_float(p.type)]
    adjoints = dict(zip((p for p in floats if isinstance(p.type, ArrayType)), arrays, strict=True))
    alone = Function(op.attrs[NAME], closed.params, Block((), closed.ops[:-1]))
    # No array is private here: nothing is known of the indices with which the func was called.
    memory = Memory(sweep.memory.overwritten | overwritten_loads(alone, aliased=False), frozenset())
    computed = (v for inner in walk(closed) for v in (*inner.results, *(p for b in inner.blocks for p in b.params)))
    active = frozenset(v for v in (*closed.params, *computed) if is_float(v.type) and not isinstance(v.type, ArrayType))
    cotangents = Cotangents(builder, active)
    for value, seed in zip(closed.yielded, seeds, strict=True):
        if seed is not None:
            cotangents.add(value, Piece(seed.ref))
    inside = ReverseSweep(sweep.rules, sweep.function, active, memory, env, adjoints, frozenset(), builder)
    inside.block(closed, cotangents)
    pieces = [cotangents.take_full(closed.params[k]) for k in op.attrs[ADJOINTS]]
    return [
        p.ref.value if p is not None else zero(builder, closed.params[k].type).value
        for p, k in zip(pieces, op.attrs[ADJOINTS], strict=True)
    ]


def _live(seeds: list[Piece | None]) -> Ref | None:
    """Return the condition under which any result was used; None if one always is, or none has a cotangent."""
    live: Ref | None = None
    for seed in seeds:
        if seed is None:
            continue
        if seed.live is None:
            return None
        live = seed.live if live is None else operators.or_(live, seed.live)
    return live
