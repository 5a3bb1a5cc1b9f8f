"""`if`, `for` and `while` with tiles: each side of a branch and each iteration leaves them in the same buffers."""

from __future__ import annotations

from workbench.ir.ops import LEAD
from workbench.ir.tiles import tile_of
from workbench.ir.values import Block, Op, Value, dtype_of
from workbench.passes.lower_tiles.lowering import Buffer, Handler, TileLowering, tiles_used
from workbench.tiles import Tile, is_tile


def _if(on: TileLowering, op: Op) -> None:
    """Lower an `if`: each side copies its tiles into the results' buffers."""
    # Taken before the sides are lowered, so that neither side uses these buffers for something else.
    results = {r: on.new(tile_of(r)) for r in op.results if is_tile(r)}
    blocks: list[Block] = []
    for block in op.blocks:
        with on.builder.block() as opened:
            on.ops(block)
            for result, value in zip(op.results, block.yielded, strict=True):
                if result in results:
                    on.copy(results[result].slots, on.slots_of(value), results[result].count)
            _let_go(on, block)
            on.builder.yield_(*(on.scalar(v) for v in block.yielded if not is_tile(v)))
        blocks.append(opened.block)
    for result, buffer in results.items():
        on.own(result, buffer)
    plain = tuple(r for r in op.results if not is_tile(r))
    on.builder.append(Op("if", (on.scalar(op.operands[0]),), plain, op.attrs, tuple(blocks), op.location))


def _let_go(on: TileLowering, block: Block) -> None:
    """Free the tiles that a block made and yielded, once they are copied."""
    local = {r for o in block.ops for r in o.results} | set(block.params)
    for value in dict.fromkeys(block.yielded):
        if is_tile(value) and value in local and value in on.buffers and value in on.buffers[value].owners:
            on.release(value)


def _loop(on: TileLowering, op: Op) -> None:
    """Lower `for` and `while`: carried tiles stay in one buffer."""
    lead = LEAD[op.name]
    inits = op.operands[lead:]
    carried = {n: _carried(on, op, v) for n, v in enumerate(inits) if is_tile(v)}
    blocks: list[Block] = []
    for number, block in enumerate(op.blocks):
        first = len(block.params) - len(op.results)
        body = number == len(op.blocks) - 1
        for n, buffer in carried.items():
            on.own(block.params[first + n], buffer)
        params = tuple(p for p in block.params if not is_tile(p))
        with on.builder.block(params) as opened:
            # The condition of a `while` runs before the body, which still needs every parameter.
            on.ops(block, () if body else block.params)
            if body:
                for buffer in carried.values():
                    on.take_back(buffer)
                _around(on, block, carried)
            on.builder.yield_(*(on.scalar(v) for v in block.yielded if not is_tile(v)))
        for n, buffer in carried.items():
            buffer.owners.discard(block.params[first + n])
        blocks.append(opened.block)
    for n, buffer in carried.items():
        on.own(op.results[n], buffer)
    operands = tuple(on.scalar(v) for v in op.operands if not is_tile(v))
    plain = tuple(r for r in op.results if not is_tile(r))
    on.builder.append(op.replace(operands, results=plain, blocks=tuple(blocks)))


def _carried(on: TileLowering, op: Op, init: Value) -> Buffer:
    """Return the buffer of a carried tile: that of before the loop, unless that is still needed."""
    inside = {v for b in op.blocks for o in b.ops for v in tiles_used(o)}
    # The loop overwrites the buffer in its first turn.
    alone = op.operands.count(init) == 1 and init not in inside
    if alone and on.takes(init):
        buffer = on.buffers[init]
        on.dying.discard(init)
        buffer.owners.discard(init)
        del on.buffers[init]
        return buffer
    buffer = on.new(tile_of(init))
    on.copy(buffer.slots, on.slots_of(init), buffer.count)
    return buffer


def _around(on: TileLowering, block: Block, carried: dict[int, Buffer]) -> None:
    """Copy what is yielded to where the next iteration looks for it, as if all at once."""
    homes = {b.slots for b in carried.values()}
    moves = [(b, on.buffers[block.yielded[n]]) for n, b in carried.items()]
    moves = [(to, source) for to, source in moves if to is not source]
    held: list[tuple[Buffer, Buffer]] = []
    for to, source in moves:
        if source.slots in homes and len(moves) > 1:
            copy = on.new(Tile(dtype_of(source.slots), (source.count,)))
            on.copy(copy.slots, source.slots, source.count)
            held.append((to, copy))
        else:
            held.append((to, source))
    for to, source in held:
        on.copy(to.slots, source.slots, to.count)
    for (_, source), (_, copy) in zip(moves, held, strict=True):
        if copy is not source:
            on.give_back(copy)
    homes_held = {id(b) for b in carried.values()}
    for value in dict.fromkeys(block.yielded):
        if is_tile(value) and value in on.buffers:
            buffer = on.buffers[value]
            local = any(value in o.results for o in block.ops)
            if id(buffer) in homes_held:
                buffer.owners.discard(value)
            elif local and value in buffer.owners:
                on.release(value)


LOWER: dict[str, Handler] = {"if": _if, "for": _loop, "while": _loop}
