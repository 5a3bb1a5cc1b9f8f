"""The plan of a kernel's tiles: in registers (and in which thread's), in shared memory, or inside another tile.

A tile is in shared memory if the user says so, or if a thread needs elements that other threads hold (operands of a
product; tiles that are sliced, transposed, broadcast or reduced along an axis). Tiles that flow into a product's
result stay in registers in the product's layout; what other threads need of them is copied. A transpose, slice,
broadcast or reshape of shared memory is index arithmetic: the value is a view of its root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from workbench.backends.cuda.cpp.locals import Classes
from workbench.backends.cuda.tiles.placement.layouts import Layout, Spread, Striped, for_fragments, for_product
from workbench.ir.build import Rewriter, rewrite
from workbench.ir.ops import AXIS, LEAD, LINKED, LOOPS, PRECISION, STRUCTURED, VIEWS
from workbench.ir.tiles import tile_of
from workbench.ir.values import Block, Function, Op, Value
from workbench.tiles import is_tile
from workbench.types import float32

# The operands of which a thread reads elements that others have.
_CROSSING = {
    "tile_matmul": (0, 1),
    "tile_transpose": (0,),
    "tile_slice": (0,),
    "tile_broadcast": (0,),
    "tile_place": (-1,),
    "tile_reduce": (0,),
}
_ALONGSIDE = frozenset({"tile_map", "tile_insert"})
"""Operations whose operands and results a thread has in the same registers."""


@dataclass(eq=False)
class Plan:
    """The plan of which tiles of a kernel are in registers, in shared memory, or views of other tiles.

    Attributes:
        function: with a `tile_copy` wherever a tile is needed in shared memory and is not there.
        shared: tiles that have a region of shared memory.
        views: by tile that is part of another one: that one.
        layouts: of the tiles in registers.
        tied: classes of tiles that share a storage: a loop's results and parameters.
    """

    function: Function
    shared: set[Value] = field(default_factory=set[Value])
    views: dict[Value, Value] = field(default_factory=dict[Value, Value])
    layouts: dict[Value, Layout] = field(default_factory=dict[Value, Layout])
    tied: Classes = field(default_factory=Classes)

    def root(self, value: Value) -> Value:
        """Return the tile that holds a view's elements; the tile itself if it is no view."""
        while value in self.views:
            value = self.views[value]
        return value


def uniform_ops(block: Block) -> Iterator[Op]:
    """Yield the operations of a block and of the ifs and loops in it, which a block's threads do together.

    The operations inside maps and combinations of tiles are left out.
    """
    for op in block.ops:
        yield op
        if not op.name.startswith("tile_"):
            for inner in op.blocks:
                yield from uniform_ops(inner)


def plan(function: Function) -> Plan:
    """Return the plan of which tiles of a function are in registers, in shared memory, or views of others.

    The plan's function has copies of tiles to shared memory where these are needed.
    """
    result = Plan(function)
    ops = list(uniform_ops(function.body))
    values = {
        v for op in ops for v in (*op.operands, *op.results, *(p for b in op.blocks for p in b.params)) if is_tile(v)
    }
    # Loops first: their tiles have one storage by definition, so a decision about one is a decision about all.
    for a, b in ties(ops):
        result.tied.join(a, b)
    in_order: set[Value] = set()
    for op in ops:
        # A reshape of what is in order is a view; of a transposed tile it is a copy.
        if op.name == "tile_reshape" and (op.operands[0] not in result.views or op.operands[0] in in_order):
            result.views[op.result] = op.operands[0]
            in_order.add(op.result)
        elif op.name in VIEWS and op.name != "tile_reshape":
            result.views[op.result] = op.operands[0]
    # Before the products' layouts are spread: what must be in shared memory stops them.
    result.shared = _closed(
        {v for v in values if tile_of(v).storage == "shared"} | _reduced(ops) | _linked(ops), result
    )
    spread = _spread(ops, values, result)
    needed = {result.root(v) for op in ops for v in crossing(op)}
    result.shared = _closed(result.shared | {v for v in needed if v not in spread}, result)
    result.shared = _closed(result.shared | _preloaded(ops, result), result)
    _copies(result, spread)
    _layouts(result, spread)
    return result


def _reduced(ops: list[Op]) -> set[Value]:
    """Return the results of reductions along an axis, whose elements several threads compute together."""
    return {op.result for op in ops if op.name == "tile_reduce" and is_tile(op.result)}


def _linked(ops: list[Op]) -> set[Value]:
    """Return the results and accumulators of linked products, whose code reads and writes shared memory alone."""
    linked = [op for op in ops if op.name == "tile_matmul" and op.attrs.get(LINKED)]
    return {v for op in linked for v in (op.result, *op.operands[2:])}


def _preloaded(ops: list[Op], plan: Plan) -> set[Value]:
    """Return the loads whose tiles a loop begins with and carries in shared memory: loaded there, they need no copy."""
    loads = {op.result for op in ops if op.name == "tile_load"}
    loops = [op for op in ops if op.name in LOOPS]
    pairs = [p for op in loops for p in zip(op.results, op.operands[LEAD[op.name] :], strict=True)]
    return {value for result, value in pairs if result in plan.shared and value in loads}


def ties(ops: Iterable[Op]) -> Iterator[tuple[Value, Value]]:
    """Yield each tile that results from a loop with the block parameter that carries it."""
    for op in ops:
        if op.name not in LOOPS:
            continue
        for block in op.blocks:
            carried = block.params[1:] if op.name == "for" else block.params
            yield from (pair for pair in zip(op.results, carried, strict=True) if is_tile(pair[0]))


def flowing(op: Op) -> Iterator[tuple[Value, Value]]:
    """Yield each tile that an `if` or a loop results in with each value that it may have: at ends, and at first."""
    ends = op.blocks[-1:] if op.name == "while" else op.blocks
    firsts = [] if op.name == "if" else [op.operands[LEAD[op.name] :]]
    for values in (*(block.yielded for block in ends), *firsts):
        yield from (pair for pair in zip(op.results, values, strict=True) if is_tile(pair[0]))


def _flows(ops: list[Op]) -> Iterator[tuple[Value, Value]]:
    """Yield pairs of tiles that should share registers: values that enter, go around or leave loops and branches.

    The operands and results of maps and insertions are among them, and a product with its accumulator.
    """
    for op in ops:
        pairs: list[tuple[Value, Value]] = []
        if op.name in STRUCTURED:
            pairs += flowing(op)
        elif op.name in _ALONGSIDE:
            tiles = [v for v in (*op.operands, *op.results) if is_tile(v)]
            pairs += ((tiles[0], other) for other in tiles[1:])
        elif op.name == "tile_matmul":
            pairs += ((op.result, acc) for acc in op.operands[2:])
        yield from (pair for pair in pairs if is_tile(pair[0]))


def crossing(op: Op) -> tuple[Value, ...]:
    """Return the operands of which a thread reads elements of other threads.

    A reduction of all elements has none, as its threads exchange their results.
    """
    if op.name == "tile_reduce" and op.attrs.get(AXIS) is None:
        return ()
    return tuple(op.operands[k] for k in _CROSSING.get(op.name, ()))


def _closed(shared: set[Value], plan: Plan) -> set[Value]:
    """Return the roots of these tiles and of all that share a storage with one of them."""
    roots = {plan.root(v) for v in shared}
    chosen = {plan.tied.of(v) for v in roots}
    every = {plan.root(v) for op in uniform_ops(plan.function.body) for v in _tiles(op)}
    return {v for v in every if plan.tied.of(v) in chosen}


def _tiles(op: Op) -> list[Value]:
    """Return the tiles among an operation's operands, results and, unless it is a tile operation, block parameters."""
    inner = (p for b in op.blocks for p in b.params) if not op.name.startswith("tile_") else ()
    return [v for v in (*op.operands, *op.results, *inner) if is_tile(v)]


def _spread(ops: list[Op], values: set[Value], plan: Plan) -> dict[Value, Spread]:
    """Return the layouts of the tiles in registers that are distributed like a product's result."""
    classes = Classes()
    free = {v for v in values if plan.root(v) is v and v not in plan.shared and tile_of(v).storage != "thread"}
    for a, b in (*ties(ops), *_flows(ops)):
        if a in free and b in free:
            classes.join(a, b)
    layouts: dict[Value, Spread] = {}
    for op in ops:
        if op.name == "tile_matmul" and op.result in free:
            key = classes.of(op.result)
            layout = product_layout(op, plan.function.block_dim)
            # Of several products in one class, that on tensor cores decides: its layout is fixed by the hardware.
            if key not in layouts or layout.fragments:
                layouts[key] = layout
    return {v: layouts[classes.of(v)] for v in free if classes.of(v) in layouts}


def product_layout(op: Op, threads: int) -> Spread:
    """Return the layout of a product's rows and columns over threads: that of the tensor cores where they are used."""
    rows, columns = tile_of(op.result).shape
    fragments = for_fragments(rows, columns, threads) if is_on_tensor_cores(op) else None
    return fragments or for_product(rows, columns, threads)


def is_on_tensor_cores(op: Op) -> bool:
    """Return whether the product may use `mma.sync`: 16-bit floats, or float32 if TF32 was requested."""
    dtype = tile_of(op.operands[0]).dtype
    return dtype.is_half or (dtype == float32 and op.attrs.get(PRECISION) == "tf32")  # type: ignore[union-attr]


def _copies(plan: Plan, spread: dict[Value, Spread]) -> None:
    """Insert copies to shared memory of tiles in a product's layout that other threads need; change the plan."""

    def change(on: Rewriter, op: Op) -> list[Op]:
        ops: list[Op] = []
        if not op.name.startswith("tile_"):
            op = on.inside(op)
        needed = dict.fromkeys(v for v in crossing(op) if plan.root(v) in spread)
        # These go by row-major order, which a product's registers do not have.
        if op.name in ("tile_reshape", "tile_reduce", "tile_scan") and plan.root(op.operands[0]) in spread:
            needed[op.operands[0]] = None
        for value in needed:
            copy = Value(replace(tile_of(value), storage="shared"), value.name)
            plan.shared.add(copy)
            ops.append(Op("tile_copy", (value,), (copy,), {}, (), op.location))
            op = op.replace(tuple(copy if v is value else v for v in op.operands))
        if op.results and op.results[0] in plan.views:
            plan.views[op.result] = op.operands[0]
        return [*ops, op]

    plan.function = rewrite(plan.function, change)


def _layouts(plan: Plan, spread: dict[Value, Spread]) -> None:
    """Set `plan.layouts` for each tile in registers: a product's from `spread`, else striped."""
    threads = plan.function.block_dim
    for op in uniform_ops(plan.function.body):
        for value in _tiles(op):
            if plan.root(value) is value and value not in plan.shared:
                plan.layouts[value] = spread.get(value) or Striped(tile_of(value).count, threads)
