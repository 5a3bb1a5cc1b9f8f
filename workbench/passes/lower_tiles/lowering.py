"""The state of lowering tiles: where each tile lies, and the walk over blocks.

A tile is a buffer of slots, which is reused when the tile is dead. An elementwise result overwrites an operand that
is no longer needed, a tile that a loop carries stays in its buffer, and a reshaped tile is the same buffer. So the
loops are those that one would write by hand, and vectorising, checks and the cache work as for every kernel. Each
side of a branch and each iteration of a loop leaves its tiles in the same buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from workbench.ir.ops import LEAD
from workbench.ir.tiles import tile_of
from workbench.ir.values import Block, Op, Value, dtype_of
from workbench.passes.lower_tiles.in_place import InPlace
from workbench.passes.lower_tiles.nests import Nests
from workbench.tiles import Tile, is_tile
from workbench.types import Scalar, Slots, Vector


class Buffer(msgspec.Struct, eq=False):
    """The slots that hold a tile; `owners` are the tiles that share them, such as a tile and its reshape."""

    slots: Value
    count: int
    owners: set[Value] = msgspec.field(default_factory=set[Value])


class TileLowering(Nests):
    """Lowers operations on tiles to loops over slots; `Nests` writes the loops.

    Attributes:
        handlers: the function that lowers an operation, by its name; other operations stay as they are.
        in_place: loads and additions that need no copy.
        windows: by tile that is read in its array, the `window` that gives access to it.
        buffers: the buffer of each tile.
        free: buffers that no tile needs, by type and size.
        mapping: by scalar of the function, the one that replaces it.
        slot_declarations: the operations that declare the buffers.
        dying: the operands that are not needed after the operation that is lowered now.
    """

    def __init__(self, handlers: Mapping[str, Handler], in_place: InPlace) -> None:
        super().__init__()
        self.handlers = handlers
        self.in_place = in_place
        self.windows: dict[Value, Value] = {}
        self.buffers: dict[Value, Buffer] = {}
        self.free: dict[tuple[Scalar | Vector, int], list[Buffer]] = {}
        self.mapping: dict[Value, Value] = {}
        self.slot_declarations: list[Op] = []
        self.dying: set[Value] = set()

    def lower_body(self, block: Block) -> Block:
        """Return the function's body, lowered; the buffers are declared at its beginning."""
        self.ops(block)
        body = self.builder.body()
        return Block((), (*self.slot_declarations, *body.ops))

    # Buffers.

    def new(self, type: Tile, count: int | None = None) -> Buffer:
        """Return a buffer for a tile: a free one of its type and size, or a new one.

        `count` is the number of slots, if it is not the tile's.
        """
        size = type.count if count is None else count
        key = (type.dtype, size)
        if self.free.get(key):
            return self.free[key].pop()
        value = Value(Slots(type.dtype, size), "tile")
        # At the function's head, whatever loop asks for it: storage that a loop made would be made in each turn.
        self.slot_declarations.append(Op("slots", (), (value,)))
        return Buffer(value, size)

    def give_back(self, buffer: Buffer) -> None:
        """Add a buffer that is no longer needed to the free ones."""
        self.free.setdefault((dtype_of(buffer.slots), buffer.count), []).append(buffer)

    def take_back(self, buffer: Buffer) -> None:
        """Remove a buffer from the free ones, if it is one of them."""
        free = self.free.get((dtype_of(buffer.slots), buffer.count), [])
        if buffer in free:
            free.remove(buffer)

    def own(self, value: Value, buffer: Buffer) -> Buffer:
        """Record that a tile is in a buffer, and return the buffer."""
        self.buffers[value] = buffer
        buffer.owners.add(value)
        return buffer

    def release(self, value: Value) -> None:
        """Remove a dead tile from its buffer, and free the buffer if no other tile is in it."""
        buffer = self.buffers[value]
        buffer.owners.discard(value)
        if not buffer.owners:
            self.give_back(buffer)

    def slots_of(self, value: Value) -> Value:
        """Return the slots of a tile."""
        return self.buffers[value].slots

    def takes(self, value: Value) -> bool:
        """Return whether the operation that is lowered now may overwrite this operand."""
        # Another owner is a reshape that shares the buffer.
        return value in self.dying and self.buffers[value].owners == {value}

    def result(self, op: Op, instead: Value | None = None) -> Value:
        """Assign a buffer to the operation's result, and return its slots.

        It is the buffer of the operand `instead`, if that tile is no longer needed.
        """
        if instead is not None and self.takes(instead):
            self.own(op.result, self.buffers[instead])
        else:
            self.own(op.result, self.new(tile_of(op.result)))
        return self.slots_of(op.result)

    def scalar(self, value: Value) -> Value:
        """Return the lowered value of one that is no tile: its replacement, or itself."""
        return self.mapping.get(value, value)

    # Blocks.

    def ops(self, block: Block, outliving: Sequence[Value] = ()) -> None:
        """Lower a block's operations but for the yield; tiles in `outliving` (and those yielded) outlive it."""
        last = _last_uses(block)
        body = block.ops[:-1] if block.ops and block.ops[-1].name == "yield" else block.ops
        local = set(block.params)
        for position, op in enumerate(body):
            self.builder.location = op.location
            # Only tiles of this block die in it: one from outside may be needed by the next turn of a loop.
            used = [v for v in tiles_used(op) if last.get(v) == position and v in local and v not in outliving]
            self.dying = set(used)
            self.handlers.get(op.name, TileLowering.plain)(self, op)
            local.update(op.results)
            for value in (*used, *(r for r in op.results if is_tile(r) and r not in last)):
                if value in self.buffers:
                    self.release(value)

    def plain(self, op: Op) -> None:
        """Emit an operation that has no handler, with lowered operands and blocks."""
        operands = tuple(self.scalar(v) for v in op.operands)
        blocks = tuple(self.inner(b) for b in op.blocks)
        self.builder.append(op.replace(operands, blocks=blocks))

    def inner(self, block: Block) -> Block:
        """Lower a nested block that takes and yields no tile; return the result."""
        with self.builder.block(block.params) as opened:
            self.ops(block)
            self.builder.yield_(*(self.scalar(v) for v in block.yielded))
        return opened.block


Handler = Callable[[TileLowering, Op], None]


def tiles_used(op: Op) -> list[Value]:
    """Return the tiles that an operation, or one inside it, uses; in order, so that the same code results each time."""
    used = dict.fromkeys(v for v in op.operands if is_tile(v))
    for block in op.blocks:
        for inner in block.ops:
            used.update(dict.fromkeys(tiles_used(inner)))
    return list(used)


def _last_uses(block: Block) -> dict[Value, int]:
    """Return the position of the last operation of a block that uses a tile, by tile."""
    last: dict[Value, int] = {}
    for position, op in enumerate(block.ops):
        last.update(dict.fromkeys(tiles_used(op), position))
    return last


def _if(on: TileLowering, op: Op) -> None:
    """Lower an `if`: each branch copies its tiles into the results' buffers."""
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
    """Release the tiles that a block defines and yields, which have been copied."""
    local = {r for o in block.ops for r in o.results} | set(block.params)
    for value in dict.fromkeys(block.yielded):
        if is_tile(value) and value in local and value in on.buffers and value in on.buffers[value].owners:
            on.release(value)


def _loop(on: TileLowering, op: Op) -> None:
    """Lower a `for` or `while`: a carried tile stays in one buffer."""
    lead = LEAD[op.name]
    inits = op.operands[lead:]
    carried = {n: _carried(on, op, v) for n, v in enumerate(inits) if is_tile(v)}
    blocks: list[Block] = []
    for constant, block in enumerate(op.blocks):
        first = len(block.params) - len(op.results)
        body = constant == len(op.blocks) - 1
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
    """Return the buffer of a carried tile, with its first value in it.

    It is that of the tile before the loop, unless that tile is still needed.
    """
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
    """Copy the tiles that a body yields into the buffers of the carried tiles, as if all at once."""
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


BRANCHES: dict[str, Handler] = {"if": _if, "for": _loop, "while": _loop}
