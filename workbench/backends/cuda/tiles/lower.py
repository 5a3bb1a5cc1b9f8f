"""A kernel of tile operations as what each thread does: scalars, loops, the thread's registers, shared memory.

The result is ordinary IR with a few operations more, which `text` writes: `lane`, `shared`, `touch` and `barrier`,
`shuffle`, `product`, `copy_in`, `quotient` and `remainder` (of non-negative numbers). A value that is the same in all
threads stays a scalar that each thread has; its effects are the first thread's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec

from workbench.backends.base import Options
from workbench.backends.cuda.tiles.placement.arena import arrange
from workbench.backends.cuda.tiles.placement.layouts import Body, Layout, Striped, when
from workbench.backends.cuda.tiles.placement.locations import InRegisters, InShared, TileLocation, row_major, view
from workbench.backends.cuda.tiles.placement.pitches import pitches
from workbench.backends.cuda.tiles.placement.plan import Plan, plan
from workbench.backends.cuda.tiles.placement.storage import Storage
from workbench.backends.cuda.tiles.placement.uses import ANY, FIRST, Region, Use, place_barriers
from workbench.ir.build import Builder, replace_body
from workbench.ir.ops import ADDITIONS, COUNT, EFFECTS, LEAD, OFFSET, REPORTS, STRUCTURED, USES
from workbench.ir.tiles import tile_of
from workbench.ir.values import Block, Function, Op, Value, number_of, walk
from workbench.passes.pipeline import CUDA_TILES_PLACED, run
from workbench.tiles import Tile, is_tile, shown
from workbench.types import ArrayType, Scalar, Slots, Vector, int32, is_integer
from workbench.types import bool as bool_


class Lowered(msgspec.Struct, frozen=True, eq=False):
    """A kernel whose tiles were lowered to the code of each thread.

    Attributes:
        function: without tiles.
        shared: bytes of shared memory of a block.
        regions: the parts of that memory.
        plan: which tiles are in registers, in shared memory, or views.
    """

    function: Function
    shared: int
    regions: tuple[Region, ...]
    plan: Plan


class Lowering:
    """The lowering of one kernel's tiles to the code of each thread, by a table such as `emit.OPERATIONS`.

    The table's functions emit through `builder`, and ask here for locations, layouts and scratch memory.
    """

    def __init__(self, function: Function, options: Options, stages: int = 1) -> None:
        """Plan the tiles of a kernel; its loops load ahead into so many stages of shared memory; 1: not ahead."""
        self.contiguous, self.apart, self.stages = options.contiguous, options.apart, stages
        self.plan = plan(function)
        self.storage = Storage(self.plan)
        self.pitches = pitches(self.plan, self.storage)
        self.function = self.plan.function
        self.threads = function.block_dim
        self.builder = Builder()
        self.lane = Value(int32, "lane")
        self.regions: dict[Value, Region] = {}
        self.registers: dict[Value, Value] = {}
        self.views: dict[Value, TileLocation] = {}
        self.scratches: dict[Op, list[Region]] = {}
        # What is loaded ahead is in use all through its loop.
        self.ahead: dict[Op, set[Region]] = {}
        # An old value of an atomic, say, is handed out only if something uses it.
        self.used = {v for op in walk(self.function.body) for v in op.operands}
        self.numbers = {
            op.result: int(number_of(op))
            for op in walk(self.function.body)
            if op.name == "const" and isinstance(op.result.type, Scalar) and is_integer(op.result.type)
        }
        self.now: Op

    def lowered(self, table: dict[str, Callable[[Lowering, Op], None]]) -> Lowered:
        """Lower the whole function, with barriers, and return it; call it once.

        Args:
            table: by the name of an operation on tiles, the function that lowers it.
        """
        self.table = table
        body = self.block(self.function.body)
        used = self._arranged()
        # At the head, where they dominate every use; which there are is known only after the body has been written.
        head = [Op("lane", (), (self.lane,), COUNT.of(self.threads))]
        head += [Op("shared", (), (r.slots,), OFFSET.of(r.offset)) for r in self.all_regions]
        head += [Op("slots", (), (slots,), {}) for slots in self.registers.values()]
        # Barriers last: whether two regions share bytes is known only once all of them have their offsets.
        placed = replace_body(self.function, place_barriers(Block((), (*head, *body.ops))))
        return Lowered(run(CUDA_TILES_PLACED, placed), used, tuple(self.all_regions), self.plan)

    @property
    def all_regions(self) -> list[Region]:
        """The regions of shared memory, first of tiles, then of scratches, in the order of their first use."""
        return [*self.regions.values(), *(r for regions in self.scratches.values() for r in regions)]

    def _arranged(self) -> int:
        """Set the offsets of all regions of shared memory, and return the bytes that a block needs."""
        ops = {op for op in walk(self.function.body)}
        # Regions that are needed at one operation must not overlap; all others may lie on the same bytes.
        together = [
            [
                *(self.regions[s] for s in self.storage.around(op) if s in self.regions),
                *self.scratches.get(op, ()),
                *self.ahead.get(op, ()),
            ]
            for op in ops
        ]
        order = {region: n for n, region in enumerate(self.all_regions)}
        # Sets have no order of their own: sorted, the same kernel gets the same offsets and so the same cache key.
        rows = [sorted(set(regions), key=order.__getitem__) for regions in together]
        return arrange(sorted(rows, key=lambda row: [order[r] for r in row]))

    # Blocks and what is the same in all threads.

    def block(self, block: Block) -> Block:
        """Return a block lowered, without the tiles among its parameters and in its yield."""
        with self.builder.block(tuple(p for p in block.params if not is_tile(p))) as scope:
            for op in block.ops:
                if op.name != "yield":
                    self.op(op)
            if block.ops and block.ops[-1].name == "yield":
                self.builder.yield_(*(v for v in block.yielded if not is_tile(v)))
        return scope.block

    def op(self, op: Op) -> None:
        """Lower one operation and emit it; an operation that is the same in all threads stays as it is.

        An operation in the table, or with blocks, is lowered by its function. Effects, prints and asserts are
        emitted for the first thread of the block alone.
        """
        self.now, self.builder.location = op, op.location
        if op.name in self.table:
            self.table[op.name](self, op)
        elif op.name in STRUCTURED:
            self._STRUCTURED[op.name](self, op)
        elif op.name in EFFECTS or op.name == "native":
            self.effect(op)
        elif op.name in REPORTS:
            # Prints and asserts: once per block, as the interpreter and the CPU do it.
            self.first(lambda: self.builder.append(op))
        else:
            # Every thread loads the same element: that is as good as one load and a broadcast, and needs no barrier.
            if op.name in ("load", "atomic_load"):
                self.touch(Use(op.operands[0], "read", ANY))
            self.builder.append(op)

    def effect(self, op: Op) -> None:
        """Emit an operation that changes memory once per block; its results reach all threads through shared memory.

        Without arrays, a `native` has nothing to change and runs in every thread.
        """
        arrays = [v for v in op.operands if isinstance(v.type, ArrayType)]
        # Without arrays it has nothing to change, so every thread may run it.
        if op.name == "native" and not arrays:
            self.builder.append(op)
            return
        # An old value that is not used needs neither shared memory nor a barrier to reach the other threads.
        wanted = [v for v in op.results if v in self.used]
        adds = op.name in ADDITIONS and not wanted
        self.touch(*(Use(a, "add" if adds else "write", FIRST) for a in arrays))
        scratch = [self.scratch(v.type, 1, "what one thread finds") for v in wanted]  # type: ignore[arg-type]
        # Inside the `if` of the first thread the results are other values: SSA has one definition of each.
        inner = {v: Value(v.type, v.name) for v in op.results}
        self.touch(*(Use(r, "write", FIRST) for r in scratch))

        def once() -> None:
            self.builder.append(op.replace(results=tuple(inner.values())))
            for value, region in zip(wanted, scratch, strict=True):
                self.builder.slot_write(region.slots, self.constant(0), inner[value])

        self.first(once)
        for value, region in zip(wanted, scratch, strict=True):
            self.touch(Use(region, "read", ANY))
            self.builder.append(Op("slot_read", (region.slots, self.constant(0)), (value,), {}, (), op.location))

    def first(self, body: Callable[[], object]) -> None:
        """Emit `body` in an `if`, for the first thread of the block alone."""
        alone = self.builder.one("eq", (self.lane, self.constant(0)), bool_)
        when(self.builder, alone, body)

    def _if(self, op: Op) -> None:
        """Lower an `if`; results that are tiles are assigned at the ends of its branches."""
        blocks = [self._branch(op, block) for block in op.blocks]
        self._append(op, op.operands, blocks)

    def loop(self, op: Op) -> None:
        """Lower a loop; tiles that it carries are not carried any more, but assigned to one storage."""
        lead = LEAD[op.name]
        carried = op.operands[lead:]
        # A loop's tile is one storage for all turns, so its first value is copied in before the loop.
        self.copies(list(zip(op.results, carried, strict=True)))
        operands = op.operands[:lead] + tuple(v for v in carried if not is_tile(v))
        blocks = [self.block(block) for block in op.blocks[:-1]] + [self._branch(op, op.blocks[-1])]
        self._append(op, operands, blocks)

    def _branch(self, op: Op, block: Block) -> Block:
        """Lower a branch of an `if` or the body of a loop, which ends with new values for the tiles of the results."""
        with self.builder.block(tuple(p for p in block.params if not is_tile(p))) as scope:
            for inner in block.ops[:-1]:
                self.op(inner)
            self.now = block.ops[-1]
            # Tiles are not yielded but written to the storage of the results, which all branches share.
            self.copies(list(zip(op.results, block.yielded, strict=True)))
            self.builder.yield_(*(v for v in block.yielded if not is_tile(v)))
        return scope.block

    def _append(self, op: Op, operands: tuple[Value, ...], blocks: Sequence[Block]) -> None:
        """Append an operation with these operands and blocks, and without its results that are tiles."""
        results = tuple(v for v in op.results if not is_tile(v))
        self.builder.append(op.replace(operands, results=results, blocks=tuple(blocks)))

    _STRUCTURED: ClassVar[dict[str, Callable[[Lowering, Op], None]]] = {"if": _if, "for": loop, "while": loop}

    # Places and steps.

    def constant(self, value: int) -> Value:
        """Return an int32 constant."""
        return self.builder.const(value)

    def touch(self, *uses: Use) -> None:
        """Record that the following operations use memory in these ways, for the placement of barriers."""
        if uses:
            self.builder.emit("touch", (), (), {USES: uses})

    def scratch(self, dtype: Scalar | Vector, count: int, label: str) -> Region:
        """Reserve shared memory for the operation that is being lowered, and return its region.

        The memory holds `count` elements; `label` says for what, in messages.
        """
        region = Region(dtype, count, "scratch", label)
        self.scratches.setdefault(self.now, []).append(region)
        return region

    def location_of(self, value: Value) -> TileLocation:
        """Return the location of a tile: registers, shared memory or a view; assign one at the first call."""
        if value in self.views:
            return self.views[value]
        key, type = self.storage.of(value), tile_of(value)
        if value in self.plan.shared:
            if key not in self.regions:
                label = f"the tile {value.name} ({shown(type.shape)} {type.dtype!r})".replace("  ", " ")
                count = type.shape[0] * self.pitches[key] if key in self.pitches else type.count
                self.regions[key] = Region(type.dtype, count, value.name or "tile", label)
            steps = (self.pitches[key], 1) if key in self.pitches else row_major(type.shape)
            return InShared(self.regions[key], steps)
        layout = self.plan.layouts[value]
        if key not in self.registers:
            self.registers[key] = storage_of(type, layout.registers, value.name or "tile")
        return InRegisters(self.registers[key], layout)

    def in_shared(self, value: Value) -> InShared:
        """Return the location of a tile that is in shared memory."""
        location = self.location_of(value)
        assert isinstance(location, InShared)
        return location

    def make_view(self, op: Op) -> None:
        """Give the result of a view operation a location inside that of its operand."""
        source = self.location_of(op.operands[0])
        # A view in registers can only be a reshape in order, and elements keep their number under it.
        self.views[op.result] = source if isinstance(source, InRegisters) else view(self.builder, op, source)

    def layout(self, *values: Value) -> tuple[Layout, bool]:
        """Return the layout over threads of these tiles of one shape, and whether one of them is in registers."""
        for value in values:
            location = self.location_of(value)
            if isinstance(location, InRegisters):
                return location.layout, True
        return Striped(tile_of(values[0]).count, self.threads), False

    def each(self, values: Sequence[Value], body: Body) -> None:
        """Emit `body` for each element of these tiles of one shape."""
        layout, registers = self.layout(*values)
        layout.each(self.builder, self.lane, tile_of(values[0]).shape, body, registers)

    def uses(self, mode: str, layout: Layout, *values: Value) -> tuple[Use, ...]:
        """Return the uses of these tiles by a step in which each thread accesses its elements in `layout`.

        `mode` is "read" or "write". Tiles in registers have none.
        """
        return tuple(use for v in values for use in self.location_of(v).uses(mode, layout.who))

    def copies(self, pairs: list[tuple[Value, Value]]) -> None:
        """Emit the assignment of new values to tiles, all at once.

        Args:
            pairs: targets and sources; those that are no tiles are skipped.
        """
        pairs = [(a, b) for a, b in pairs if is_tile(a) and not self._is_same_tile(a, b)]
        targets = {self.storage.of(a) for a, _ in pairs}
        late: list[tuple[Value, TileLocation]] = []
        for target, source in pairs:
            # Two tiles may change places: a source that is a target as well is set aside before it is overwritten.
            if self.storage.of(self.plan.root(source)) in targets and len(pairs) > 1:
                late.append((target, self.aside(source)))
            else:
                self.copy(self.location_of(target), self.location_of(source), tile_of(target))
        for target, source in late:
            self.copy(self.location_of(target), source, tile_of(target))

    # A view has the storage of its root but other indices, so it is never a copy onto itself.
    def _is_same_tile(self, a: Value, b: Value) -> bool:
        """Return whether two tiles have the same elements in the same storage, `b` being no view."""
        return b not in self.plan.views and self.storage.of(a) is self.storage.of(b)

    def aside(self, source: Value) -> TileLocation:
        """Emit a copy of a tile to new storage; return its location."""
        type, location = tile_of(source), self.location_of(source)
        if isinstance(location, InRegisters):
            slots = storage_of(type, location.layout.registers, "next")
            self.registers[slots] = slots
            copy: TileLocation = InRegisters(slots, location.layout)
        else:
            copy = InShared(self.scratch(type.dtype, type.count, "a tile of a loop, kept"), row_major(type.shape))
        self.copy(copy, location, type)
        return copy

    def copy(self, target: TileLocation, source: TileLocation, type: Tile) -> None:
        """Emit a copy of a tile element by element; between registers of different threads through shared memory."""
        b = self.builder
        layouts = [p.layout for p in (target, source) if isinstance(p, InRegisters)]
        # A thread cannot read another one's registers, and shuffles reach no further than its warp.
        if len(layouts) == 2 and layouts[0] != layouts[1]:
            between = InShared(
                self.scratch(type.dtype, type.count, "a tile that changes threads"), row_major(type.shape)
            )
            self.copy(between, source, type)
            source, layouts = between, layouts[:1]
        layout = layouts[0] if layouts else Striped(type.count, self.threads)
        self.touch(*source.uses("read", layout.who), *target.uses("write", layout.who))
        layout.each(b, self.lane, type.shape, lambda e: target.write(b, e, source.read(b, e)), bool(layouts))


def storage_of(type: Tile, count: int, name: str) -> Value:
    """Return a value for slots of a thread that hold `count` elements of a tile."""
    return Value(Slots(type.dtype, count), name)
