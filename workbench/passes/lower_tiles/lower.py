"""Operations on tiles as loops over slots: what a block of threads does, done by one.

A tile is a buffer of slots, used again when the tile is dead: what is made element by element takes the place of an
operand that nobody needs any more, a tile that a loop carries stays where it is, a reshaped one is the same buffer. So
the loops are those that one would write by hand, and vectorising, checks and the cache are those of every kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.ir.rewrite import replace_body
from workbench.ir.tiles import RULES, is_tiled
from workbench.ir.values import Block, Function, Op, Value
from workbench.passes.lower_tiles import memory, reductions
from workbench.passes.lower_tiles import moves as untile_moves
from workbench.passes.lower_tiles.nests import Nests
from workbench.passes.strip_custom_gradients import without_customs
from workbench.tiles import Tile, is_tile
from workbench.types import Slots


def untile(function: Function) -> Function:
    """The function without operations on tiles; itself where it has none. One thread of a launch of it is one block."""
    if not is_tiled(function.body):
        return function
    function = without_customs(function)
    lowering = Untile(function)
    body = lowering.whole(function.body)
    return replace_body(function, body)


@dataclass(eq=False)
class Buffer:
    """The slots of a tile, and the tiles that live in them."""

    slots: Value
    count: int
    owners: set[Value] = field(default_factory=set)


class Untile(Nests):
    """One walk; see `Nests` for what writes loops."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.buffers: dict[Value, Buffer] = {}
        self.free: dict[tuple[Any, int], list[Buffer]] = {}
        self.mapping: dict[Value, Value] = {}
        self.made: list[Op] = []
        self.dying: set[Value] = set()

    def whole(self, block: Block) -> Block:
        """The function's body; the buffers are made first."""
        self.ops(block)
        body = self.builder.body()
        return Block((), (*self.made, *body.ops))

    # Buffers.

    def new(self, type: Tile, count: int | None = None) -> Buffer:
        """A buffer for a tile: one that is free, or another."""
        size = type.count if count is None else count
        key = (type.dtype, size)
        if self.free.get(key):
            return self.free[key].pop()
        slots: Any = Slots(type.dtype, size)
        value = Value(slots, "tile")
        self.made.append(Op("slots", (), (value,)))
        return Buffer(value, size)

    def give_back(self, buffer: Buffer) -> None:
        """A buffer that nobody needs any more."""
        self.free.setdefault((buffer.slots.type.dtype, buffer.count), []).append(buffer)  # type: ignore[union-attr]

    def take_back(self, buffer: Buffer) -> None:
        """A buffer that is not for others after all, if it was given back."""
        free = self.free.get((buffer.slots.type.dtype, buffer.count), [])  # type: ignore[union-attr]
        if buffer in free:
            free.remove(buffer)

    def own(self, value: Value, buffer: Buffer) -> Buffer:
        """Say where a tile lies."""
        self.buffers[value] = buffer
        buffer.owners.add(value)
        return buffer

    def release(self, value: Value) -> None:
        """The tile is dead."""
        buffer = self.buffers[value]
        buffer.owners.discard(value)
        if not buffer.owners:
            self.give_back(buffer)

    def slots_of(self, value: Value) -> Value:
        """The slots of a tile."""
        return self.buffers[value].slots

    def takes(self, value: Value) -> bool:
        """Whether the operation that is lowered now may overwrite this operand."""
        return value in self.dying and self.buffers[value].owners == {value}

    def result(self, op: Op, instead: Value | None = None) -> Value:
        """The slots of the operation's result: those of the operand `instead`, where that is not needed any more."""
        if instead is not None and self.takes(instead):
            self.own(op.result, self.buffers[instead])
        else:
            self.own(op.result, self.new(tile_type(op.result)))
        return self.slots_of(op.result)

    def scalar(self, value: Value) -> Value:
        """A value that is no tile."""
        return self.mapping.get(value, value)

    # Blocks.

    def ops(self, block: Block, kept: Sequence[Value] = ()) -> None:
        """Lower a block's operations but for the yield; tiles in `kept` (and those yielded) outlive it."""
        last = _last_uses(block)
        body = block.ops[:-1] if block.ops and block.ops[-1].name == "yield" else block.ops
        local = set(block.params)
        for position, op in enumerate(body):
            self.builder.location = op.location
            used = [v for v in _tiles_used(op) if last.get(v) == position and v in local and v not in kept]
            self.dying = set(used)
            LOWER.get(op.name, Untile.plain)(self, op)
            local.update(op.results)
            for value in (*used, *(r for r in op.results if is_tile(r) and r not in last)):
                if value in self.buffers:
                    self.release(value)

    def plain(self, op: Op) -> None:
        """As it is, with the scalars that tiles became."""
        operands = tuple(self.scalar(v) for v in op.operands)
        blocks = tuple(self.inner(b) for b in op.blocks)
        self.builder.append(Op(op.name, operands, op.results, op.attrs, blocks, op.location))

    def inner(self, block: Block) -> Block:
        """A nested block in which no tile is carried."""
        with self.builder.block(block.params) as opened:
            self.ops(block)
            self.builder.yield_(*(self.scalar(v) for v in block.yielded))
        return opened.block

    def choice(self, op: Op) -> None:
        """`if`: each side copies its tiles to where the results lie."""
        results = {r: self.new(tile_type(r)) for r in op.results if is_tile(r)}
        blocks = []
        for block in op.blocks:
            with self.builder.block() as opened:
                self.ops(block)
                for result, value in zip(op.results, block.yielded, strict=True):
                    if result in results:
                        self.copy(results[result].slots, self.slots_of(value), results[result].count)
                self.let_go(block)
                self.builder.yield_(*(self.scalar(v) for v in block.yielded if not is_tile(v)))
            blocks.append(opened.block)
        for result, buffer in results.items():
            self.own(result, buffer)
        plain = tuple(r for r in op.results if not is_tile(r))
        self.builder.append(Op("if", (self.scalar(op.operands[0]),), plain, op.attrs, tuple(blocks), op.location))

    def let_go(self, block: Block) -> None:
        """Free the tiles that a block made and yielded, once they are copied."""
        local = {r for o in block.ops for r in o.results} | set(block.params)
        for value in dict.fromkeys(block.yielded):
            if is_tile(value) and value in local and value in self.buffers and value in self.buffers[value].owners:
                self.release(value)

    def loop(self, op: Op) -> None:
        """`for` and `while`: carried tiles stay in one place."""
        lead = 3 if op.name == "for" else 0
        inits = op.operands[lead:]
        carried = {n: self.carried(op, v) for n, v in enumerate(inits) if is_tile(v)}
        blocks = []
        for number, block in enumerate(op.blocks):
            first = len(block.params) - len(op.results)
            body = number == len(op.blocks) - 1
            for n, buffer in carried.items():
                self.own(block.params[first + n], buffer)
            params = tuple(p for p in block.params if not is_tile(p))
            with self.builder.block(params) as opened:
                self.ops(block, () if body else block.params)
                if body:
                    for buffer in carried.values():
                        self.take_back(buffer)
                    self.around(block, carried)
                self.builder.yield_(*(self.scalar(v) for v in block.yielded if not is_tile(v)))
            for n, buffer in carried.items():
                buffer.owners.discard(block.params[first + n])
            blocks.append(opened.block)
        for n, buffer in carried.items():
            self.own(op.results[n], buffer)
        operands = tuple(self.scalar(v) for v in op.operands if not is_tile(v))
        plain = tuple(r for r in op.results if not is_tile(r))
        self.builder.append(Op(op.name, operands, plain, op.attrs, tuple(blocks), op.location))

    def carried(self, op: Op, init: Value) -> Buffer:
        """Where a carried tile lies: where it lay before the loop, unless that is still needed."""
        inside = {v for b in op.blocks for o in b.ops for v in _tiles_used(o)}
        alone = op.operands.count(init) == 1 and init not in inside
        if alone and self.takes(init):
            buffer = self.buffers[init]
            self.dying.discard(init)
            buffer.owners.discard(init)
            del self.buffers[init]
            return buffer
        buffer = self.new(tile_type(init))
        self.copy(buffer.slots, self.slots_of(init), buffer.count)
        return buffer

    def around(self, block: Block, carried: dict[int, Buffer]) -> None:
        """Copy what is yielded to where the next iteration looks for it, as if all at once."""
        homes = {b.slots for b in carried.values()}
        moves = [(b, self.buffers[block.yielded[n]]) for n, b in carried.items()]
        moves = [(to, source) for to, source in moves if to is not source]
        held: list[tuple[Buffer, Buffer]] = []
        for to, source in moves:
            if source.slots in homes and len(moves) > 1:
                kept = self.new(Tile(source.slots.type.dtype, (source.count,)))  # type: ignore[union-attr]
                self.copy(kept.slots, source.slots, source.count)
                held.append((to, kept))
            else:
                held.append((to, source))
        for to, source in held:
            self.copy(to.slots, source.slots, to.count)
        for (_, source), (_, kept) in zip(moves, held, strict=True):
            if kept is not source:
                self.give_back(kept)
        homes_held = {id(b) for b in carried.values()}
        for value in dict.fromkeys(block.yielded):
            if is_tile(value) and value in self.buffers:
                buffer = self.buffers[value]
                local = any(value in o.results for o in block.ops)
                if id(buffer) in homes_held:
                    buffer.owners.discard(value)
                elif local and value in buffer.owners:
                    self.release(value)


def tile_type(value: Value) -> Tile:
    """The type of a tile."""
    assert isinstance(value.type, Tile)
    return value.type


def _tiles_used(op: Op) -> list[Value]:
    """The tiles that an operation, or one inside of it, uses; in order, so that the same code comes of it each time."""
    found = dict.fromkeys(v for v in op.operands if is_tile(v))
    for block in op.blocks:
        for inner in block.ops:
            found.update(dict.fromkeys(_tiles_used(inner)))
    return list(found)


def _last_uses(block: Block) -> dict[Value, int]:
    last: dict[Value, int] = {}
    for position, op in enumerate(block.ops):
        last.update(dict.fromkeys(_tiles_used(op), position))
    return last


LOWER: dict[str, Callable[[Untile, Op], None]] = {
    "if": Untile.choice,
    "for": Untile.loop,
    "while": Untile.loop,
    **memory.LOWER,
    **untile_moves.LOWER,
    **reductions.LOWER,
}
assert RULES.keys() <= LOWER.keys()
