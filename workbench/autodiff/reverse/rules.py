"""The rule of each operation in the reverse sweep; of an `if` here: the side that was taken runs backwards."""

from __future__ import annotations

from workbench.autodiff.analysis.activity import touches_floats
from workbench.autodiff.reverse import elements, tiles
from workbench.autodiff.reverse.custom_gradients import reverse_custom
from workbench.autodiff.reverse.elements import reverse_builtin
from workbench.autodiff.reverse.emitter import Cotangents, Piece, truth, zero
from workbench.autodiff.reverse.loops.reverse_loop import reverse_loop
from workbench.autodiff.reverse.sweep import ReverseSweep, Rules
from workbench.ir.build import OpenBlock
from workbench.ir.values import Block, Op, Value


def reverse_branch(sweep: ReverseSweep, op: Op, cotangents: Cotangents) -> None:
    """Emit an `if` backwards: one with the same condition, in which the side that was taken runs backwards.

    It does nothing where no cotangent reaches it and it changes no array of floats.
    """
    seeds = {slot: cotangents.take_full(v) for slot, v in enumerate(op.results)}
    if not any(seeds.values()) and not any(touches_floats(b) for b in op.blocks):
        return
    sides: list[tuple[OpenBlock, dict[Value, Piece]]] = []
    for block in op.blocks:
        with sweep.builder.block() as opened:
            inner = sweep.new_cotangents()
            for slot, seed in seeds.items():
                if seed is not None:
                    inner.add(block.yielded[slot], seed)
            sweep.block(block, inner, sweep.builder.laters.get(op))
            sweep.builder.location = op.location
            rest = inner.rest()
        sides.append((opened, rest))
    outer = list(dict.fromkeys(v for _, rest in sides for v in rest))
    then, orelse = (_side(sweep, opened.block, rest, outer) for opened, rest in sides)
    results = sweep.builder.if_(sweep.env[op.operands[0]], then, orelse)
    for value, result, live in zip(outer, results[::2], results[1::2], strict=True):
        sweep.builder.label(result, value.name and f"adj_{value.name}")
        always = all(value in rest and rest[value].live is None for _, rest in sides)
        cotangents.add(value, Piece(sweep.builder.ref(result), None, None if always else sweep.builder.ref(live)))


def _side(sweep: ReverseSweep, block: Block, pieces: dict[Value, Piece], outer: list[Value]) -> Block:
    """Return a side that yields, for each outer value, its cotangent (0 if it has none) and whether that counts."""

    def tail() -> list[Value]:
        values: list[Value] = []
        for value in outer:
            piece = pieces.get(value)
            live = piece.live if piece is not None else None
            values.append(piece.ref.value if piece is not None else zero(sweep.builder, value.type).value)
            values.append(live.value if live is not None else truth(sweep.builder, piece is not None).value)
        return values

    return sweep.builder.reopened(block, (), tail)


RULES = Rules(
    effects={
        "if": reverse_branch,
        "for": reverse_loop,
        "while": reverse_loop,
        "custom": reverse_custom,
        **elements.EFFECTS,
        **tiles.EFFECTS,
    },
    values={**elements.VALUES, **tiles.VALUES},
    builtin=reverse_builtin,
)
