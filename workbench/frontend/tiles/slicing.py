"""Parts and forms of tiles: `t[i, j]`, `t[0:8]`, `tile_view`, `tile_assign`, `tile_reshape` and their kin.

A change of a part is refused where it would be lost. In NumPy, and in Warp, a row of a tile is a view. Here it is a
tile of its own, so a program that changes a row in place and then reads the tile would compute another number. In
Python a function changes the object that it is given; here a func has its own copy of a tile, vector or struct.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from math import prod
from typing import Any

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.names.annotate import references
from workbench.frontend.state import coerce
from workbench.frontend.state.context import Context, Env, FormHandler
from workbench.frontend.state.definition import root
from workbench.frontend.state.operands import Literal, Operand, Static, value_of
from workbench.frontend.tiles import elementwise
from workbench.frontend.tiles.arguments import Arguments, tiling_of
from workbench.frontend.values import vectors
from workbench.ir.ops import AXES, SHAPE
from workbench.ir.tiles import tile_of
from workbench.ir.values import Value
from workbench.limits import BLOCK_THREADS
from workbench.tiles import Tile, is_shape, is_tile, shown
from workbench.types import Scalar, Vector, float32, int32, int64, is_integer, matrix


def part_of(context: Context, part: Value, tile: Value) -> Value:
    """Note that `part` is a part or another form of a tile, and return it.

    It is not noted for a tile without a name, which is not known elsewhere.
    """
    parts = context.shared.parts
    # A part of a part belongs to the first whole: that is the value which would differ from NumPy's.
    if part is not tile and (tile.name or tile in parts):
        parts[part] = parts.get(tile, (tile, tile.name))
    return part


def follow(context: Context, operand: Operand, result: Value) -> None:
    """Note that a part which a branch merges into another value is still a part."""
    if isinstance(operand, Value) and operand in context.shared.parts:
        context.shared.parts[result] = context.shared.parts[operand]


def carry_parts(context: Context, before: Env, carried: Mapping[str, Value]) -> None:
    """Note of the values that a loop carries that they are parts of tiles; the tile itself may be carried, too."""
    for name, value in carried.items() if context.shared.parts else ():
        follow(context, before[name], value)
        tile, owner = context.shared.parts.get(value, (None, ""))
        # Inside the loop the whole is the loop's parameter, another value than before it, under the same name.
        if tile is not None and before.get(owner) is tile and owner in carried:
            context.shared.parts[value] = carried[owner], owner


def check_alone(context: Context, name: str, tile: Operand) -> None:
    """Refuse to change a part of a tile in place, where a name still holds that tile and it is read later.

    Raises:
        KernelTypeError: `name` is such a part.
    """
    if not isinstance(tile, Value) or tile not in context.shared.parts:
        return
    outer, owner = context.shared.parts[tile]
    held = any(operand is outer for other, operand in context.env.items() if other != name)
    # Refused only if the difference could be seen: if no name holds the whole, or nothing reads it later, both meanings
    # agree.
    if held and _is_read_later(context, owner):
        raise context.type_error(
            f"{name or 'This'} is a part of {owner}, and tiles are values: {owner} would stay as it is.",
            f"Change {owner} itself: {owner}[…] = …, or tile_assign({owner}, …, offset=…).",
        )


def check_seen(context: Context, name: str) -> None:
    """Refuse to change a part of a parameter in place where nothing reads it later: the caller keeps what it has.

    Raises:
        KernelTypeError: it is such a change.
    """
    definition = context.definition
    if all(p.arg != name for p in definition.parameters) or _is_bound(definition.node, name):
        return
    if name not in references(definition) and not _is_read_later(context, name):
        message = f"{name} is {definition.name}'s own copy, and nothing reads it after this change."
        raise context.type_error(message, f"Return {name} and assign it at the call, or write to an array.")


def _is_bound(node: ast.FunctionDef, name: str) -> bool:
    """Return whether the function gives the name another value somewhere, not counting `name += …`."""
    nodes = list(ast.walk(node))
    sums = {id(n.target) for n in nodes if isinstance(n, ast.AugAssign)}
    names = (n for n in nodes if isinstance(n, ast.Name) and n.id == name and id(n) not in sums)
    return any(isinstance(n.ctx, ast.Store) for n in names)


def _is_read_later(context: Context, name: str) -> bool:
    """Return whether the function reads a name after the present statement, or in the next iteration of a loop."""
    nodes = list(ast.walk(context.definition.node))
    here = _begin(context.node) if context.node is not None else (0, 0)
    around = [n for n in nodes if isinstance(n, ast.stmt) and _begin(n) <= here < _end(n)]
    # Positions in the text stand for order: the lowering of what comes later has not happened yet.
    line, end = here[0], _end(max(around, key=_begin)) if around else here
    parts = (ast.Attribute, ast.Subscript)
    changed = {id(root(n)) for n in nodes if isinstance(n, parts) and isinstance(n.ctx, ast.Store)}
    names = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and id(n) not in changed]
    reads = [_begin(n) for n in names if isinstance(n.ctx, ast.Load)]
    stores = [n.lineno for n in names if isinstance(n.ctx, ast.Store)]
    spans = [(n.lineno, n.end_lineno or n.lineno) for n in nodes if isinstance(n, (ast.For, ast.While))]
    # In a loop a read above the line comes after it, in the next round, unless the loop gives the name a new value.
    again = [(a, b) for a, b in spans if a <= line <= b and not any(a <= at <= b for at in stores)]
    return any(at >= end or any(a <= at[0] <= b for a, b in again) for at in reads)


def _begin(node: ast.AST) -> tuple[int, int]:
    """Return the line and the column at which a node begins; 0 where it has none."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    """Return the line and the column at which a node ends; 0 where it has none."""
    return getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0


Part = tuple[list[Value], tuple[int, ...], tuple[int, ...]]


def reshaped(context: Context, value: Value, shape: tuple[int, ...], storage: str = "register") -> Value:
    """Emit a tile with another shape or storage; the same tile if both are as they were."""
    type = tile_of(value)
    if type.shape == shape and type.storage == storage:
        return value
    tile = context.builder.one("tile_reshape", (value,), Tile(type.dtype, shape, storage), {SHAPE: shape})
    # The elements are the same ones, so what is known of them still holds.
    if value in context.shared.non_negative:
        context.shared.non_negative.add(tile)
    return tile


def located(context: Context, tile: Value, node: ast.expr) -> Part:
    """Return the start of `t[…]`, the sizes of the part, and its shape: without the dimensions that have an index.

    Raises:
        KernelTypeError: there are too many indices, or one is outside, or differs between the threads of a block.
    """
    tiling_of(context)
    type = tile_of(tile)
    nodes = list(node.elts) if isinstance(node, ast.Tuple) else [node]
    if len(nodes) > type.ndim:
        raise context.type_error(f"A tile of shape {shown(type.shape)} has no {len(nodes)} dimensions.")
    starts: list[Value] = []
    sizes: list[int] = []
    shape: list[int] = []
    for axis, size in enumerate(type.shape):
        written = nodes[axis] if axis < len(nodes) else ast.Slice()
        if isinstance(written, ast.Slice):
            low, count = _slice(context, written, size)
            starts.append(context.builder.const(low, int32))
            sizes.append(count)
            shape.append(count)
        else:
            with context.at(written):
                starts.append(_index(context, context.lower(written), size))
            sizes.append(1)
    return starts, tuple(sizes), tuple(shape)


def _index(context: Context, operand: Operand, size: int) -> Value:
    """Emit an index along a tile's dimension of this size, as int32 or int64; negative ones count from the end.

    Raises:
        KernelTypeError: a literal is out of range, or the index is no integer that the whole block shares.
    """
    operand = coerce.usable(context, coerce.uniform(context, operand, "An index of a tile"))
    if isinstance(operand, Literal) and not operand.is_float and not -size <= operand.value < size:
        message = f"Index {operand.value} is out of bounds: this dimension of the tile has {size} elements."
        raise context.type_error(message)
    if isinstance(operand, Literal) and not operand.is_float:
        # Python's negative index, folded now: backends see indices from 0 on.
        return context.builder.const(int(operand.value) % size, int32)
    index = vectors.index(context, operand, lambda: context.builder.const(size, int32))
    return index if index.type in (int32, int64) else context.builder.cast(index, int64)


def _slice(context: Context, node: ast.Slice, size: int) -> tuple[int, int]:
    """Return the first position and the number of elements of a slice of a dimension of this size, with a step of 1.

    Raises:
        KernelTypeError: it is empty, has another step, or a bound is not known at compile time.
    """
    span = _span(context, node, size)
    if not span or span.step != 1:
        message = "This slice is an empty tile, or has another step than 1; a tile has at least one element."
        raise context.type_error(message)
    # Starts and sizes are part of types and addresses; a step would need a third number per axis in every backend.
    return span.start, len(span)


def _span(context: Context, node: ast.Slice, size: int) -> range:
    """Return the positions that a slice of a dimension of this size selects; empty for a step of 0.

    Raises:
        KernelTypeError: a bound is not known at compile time.
    """
    span = vectors.written_slice(vectors.bounds(context, node))
    if span is None:
        message = "A slice of a tile has bounds that are known at compile time."
        raise context.type_error(message, "If the start is not: tile_view(t, offset=(i, j), shape=(m, n)).")
    return range(size)[span] if span.step != 0 else range(0)


def subscript(context: Context, tile: Value, node: ast.expr) -> Value:
    """Lower `t[…]`: a part of the tile, an element of it for the whole block, or one for each thread."""
    numbers = elementwise.element_indices(context, tile, node)
    if numbers is not None:
        return elementwise.taken(context, tile, numbers)
    tile, node = _gathered(context, tile, node)
    starts, sizes, shape = located(context, tile, node)
    if not shape:
        return context.builder.one("tile_extract", (tile, *starts), tile_of(tile).dtype)
    part = context.builder.one("tile_slice", (tile, *starts), Tile(tile_of(tile).dtype, sizes), {SHAPE: sizes})
    return part_of(context, reshaped(context, part, shape), tile)


def _gathered(context: Context, tile: Value, node: ast.expr) -> tuple[Value, ast.expr]:
    """Select the parts of a tile that a tile of indices, or slices with a step, stand for.

    Returns:
        The tile of these parts, and the index that is left to do, with whole slices in their place.

    Raises:
        KernelTypeError: there are two tiles of indices.
    """
    nodes = list(node.elts) if isinstance(node, ast.Tuple) else [node]
    several = 0
    for axis, (written, size) in enumerate(zip(nodes, tile_of(tile).shape, strict=False)):
        numbers: Operand | None = None
        if isinstance(written, ast.Slice) and written.step is not None:
            span = _span(context, written, size)
            if not span or span.step == 1:
                continue
            at = [Literal(span.start), Literal(span.step)]
            (numbers,) = context.builder.tile_map((len(span),), (), lambda i, e, at=at: [_offset(context, i[0], *at)])
        elif isinstance(written, ast.Name) and is_tile(context.env.get(written.id)):
            numbers = context.env[written.id]
        elif isinstance(written, (ast.Call, ast.BinOp, ast.Subscript)):
            numbers = context.lower(written)
        if not is_tile(numbers) or tile_of(numbers).ndim != 1 or not is_integer(tile_of(numbers).dtype):
            continue
        if not isinstance(written, ast.Slice):
            numbers = elementwise.from_begin(context, numbers, size)
        several += not isinstance(written, ast.Slice)
        if several > 1:
            raise context.type_error("Of a tile's indices one may be a tile.", "Index one axis at a time.")
        tile = elementwise.take_along_axis(context, tile, axis, value_of(numbers))
        nodes[axis] = ast.copy_location(ast.Slice(), written)
    return tile, node if len(nodes) == 1 and nodes[0] is node else ast.Tuple(nodes, ast.Load())


def _offset(context: Context, i: Value, start: Operand, step: Operand) -> Value:
    """Emit `i * step + start`."""
    return coerce.apply(context, TABLE["add"], (coerce.apply(context, TABLE["mul"], (i, step)), start))


def changed(context: Context, label: str, tile: Value, node: ast.expr, operand: Operand) -> Value:
    """Emit the tile after `t[…] = operand`, and return it; `label` is its name, or empty.

    Raises:
        KernelTypeError: the operand does not fit, or the change would be lost.
    """
    check_alone(context, label, tile)
    type = tile_of(tile)
    what = f"An element of {label or 'a tile'}"
    numbers = elementwise.element_indices(context, tile, node)
    if numbers is not None:
        return elementwise.put(
            context, tile, numbers, coerce.assign_type(context, operand, type.dtype, what, tiles=True)
        )
    starts, sizes, shape = located(context, tile, node)
    value = coerce.assign_type(context, operand, type.dtype, what, tiles=True)
    result: Any = type
    if not shape and not is_tile(value):
        return context.builder.emit("tile_insert", (tile, *starts, value), (result,), names=(label,)).result
    if not is_tile(value):
        value = coerce.fill(context, sizes, value, "register")
    elif tile_of(value).shape != (shape or (1,)):
        part, operand_shape = shown(shape) if shape else "1", shown(tile_of(value).shape)
        raise context.type_error(f"A tile of shape {operand_shape} does not fit a part of shape {part}.")
    operands = (tile, *starts, reshaped(context, value, sizes))
    return context.builder.emit("tile_place", operands, (result,), names=(label,)).result


def is_first(context: Context, base: Operand, node: ast.expr) -> bool:
    """Return whether a subscript is `s[0]` of a number: what `tile_sum` returns stands for the tile of one element."""
    number = isinstance(base, Value) and isinstance(base.type, Scalar)
    return number and isinstance(node, ast.Constant) and node.value == 0


def attribute(context: Context, tile: Value, attr: str) -> Operand:
    """Lower `t.shape`, `t.ndim`, `t.size`, `t.dtype` and `t.T`.

    Raises:
        KernelSyntaxError: another attribute.
    """
    type = tile_of(tile)
    if attr == "shape":
        return tuple(Literal(n) for n in type.shape)
    if attr in ("ndim", "size"):
        return Literal(type.ndim if attr == "ndim" else type.count)
    if attr == "T":
        return transposed(context, tile, tuple(reversed(range(type.ndim))))
    if attr == "dtype":
        return Static(type.dtype, f"{tile.name}.dtype")
    raise context.syntax_error(f"A tile has shape, ndim, size, dtype and T; it has no {attr}.")


def transposed(context: Context, tile: Value, axes: tuple[int, ...]) -> Value:
    """Emit the tile with its axes in another order."""
    type = tile_of(tile)
    transposed_type = Tile(type.dtype, tuple(type.shape[a] for a in axes))
    return part_of(context, context.builder.one("tile_transpose", (tile,), transposed_type, {AXES: axes}), tile)


def tile_view(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_view(t, offset, shape)`: the part of a tile that begins at `offset`.

    Fewer offsets than dimensions are 0 for the last ones. Without `shape`, the dimensions with an offset are
    dropped, and the others are whole.
    """
    arguments = Arguments(context, node, "t offset shape?")
    tile = arguments.tile("t")
    type = tile_of(tile)
    parts = arguments.several("offset")
    if len(parts) > type.ndim:
        raise arguments.error(f"takes up to {type.ndim} numbers as offset; it got {len(parts)}.")
    # Fewer offsets than dimensions leave the last ones whole, as in NumPy.
    starts = [_index(context, p, n) for p, n in zip(parts, type.shape, strict=False)]
    starts += [context.builder.const(0, int32)] * (type.ndim - len(starts))
    if "shape" in arguments:
        sizes = shape = arguments.shape()
    else:
        shape = type.shape[len(parts) :] or (1,)
        sizes = (1,) * len(parts) + type.shape[len(parts) :]
    if len(sizes) != type.ndim or any(a > b for a, b in zip(sizes, type.shape, strict=True)):
        raise arguments.error(f"takes a part of shape {shown(sizes)} of a tile of shape {shown(type.shape)}.")
    for axis, (operand, size) in enumerate(zip(parts, sizes, strict=False)):
        if isinstance(operand, Literal):
            _ask_inside(arguments, axis, int(operand.value) % type.shape[axis], size, type)
    part = context.builder.one("tile_slice", (tile, *starts), Tile(type.dtype, sizes), {SHAPE: sizes})
    return part_of(context, reshaped(context, part, shape), tile)


def _ask_inside(arguments: Arguments, axis: int, start: int, size: int, tile: Tile) -> None:
    """Refuse a part that is known to be outside of the tile along an axis.

    Raises:
        KernelTypeError: it is.
    """
    if not 0 <= start <= tile.shape[axis] - size:
        part = f"elements {start} to {start + size - 1} along axis {axis}"
        problem = f"takes {part} of a tile of shape {shown(tile.shape)}."
        raise arguments.error(problem, "A part lies inside of its tile.")


def tile_assign(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_assign(dst, src, offset)`: rebinds the name dst."""
    arguments = Arguments(context, node, "dst src offset?")
    target = arguments.nodes["dst"]
    if not isinstance(target, ast.Name):
        raise arguments.error("changes a tile, so it takes a local name first.")
    tile = arguments.tile("dst")
    check_alone(context, target.id, tile)
    check_seen(context, target.id)
    type = tile_of(tile)
    source = arguments.tile("src")
    if context.shared.warp_meanings and isinstance(type.dtype, Scalar):  # numbers are converted there
        source = coerce.convert(context, source, Tile(type.dtype, tile_of(source).shape))
    source = coerce.assign_type(context, source, type.dtype, f"An element of {target.id}", tiles=True)
    sizes = tile_of(source).shape
    if len(sizes) != type.ndim or any(a > b for a, b in zip(sizes, type.shape, strict=True)):
        raise arguments.error(f"puts a tile of shape {shown(sizes)} into one of shape {shown(type.shape)}.")
    starts = arguments.offsets(type.ndim)
    for axis, start in enumerate(arguments.several("offset") if "offset" in arguments else ()):
        if isinstance(start, Literal):
            _ask_inside(arguments, axis, int(start.value), sizes[axis], type)
    operands = (tile, *starts, source)
    target_type: Any = type
    context.env[target.id] = context.builder.emit("tile_place", operands, (target_type,), names=(target.id,)).result
    return ()


def only_element(context: Context, tile: Value) -> Value:
    """Return the element of a tile that has one; any other tile as it is."""
    type = tile_of(tile)
    if type.count != 1 or type.storage == "thread":
        return tile
    zeros = [context.builder.const(0)] * type.ndim
    return context.builder.one("tile_extract", (tile, *zeros), type.dtype)


def tile_extract(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_extract(t, i, j)`: `t[i, j]`, an element for each thread where an index differs between them."""
    tiling_of(context)
    if node.keywords or len(node.args) < 2:
        raise context.type_error("tile_extract() takes a tile and an index for each of its dimensions.")
    tile = context.lower(node.args[0])
    if isinstance(tile, Value) and isinstance(tile.type, Scalar) and len(node.args) == 2:
        return tile  # of one element, as reductions return it
    if not is_tile(tile):
        raise context.type_error(f"tile_extract() takes a tile first; this is {coerce.describe(tile)}.")
    if tile_of(tile).ndim != len(node.args) - 1:
        wanted, count = shown(tile_of(tile).shape), len(node.args) - 1
        message = f"tile_extract() takes an index for each dimension of {wanted}; it got {count}."
        raise context.type_error(message, "t[i] is a row.")
    indices = node.args[1] if len(node.args) == 2 else ast.copy_location(ast.Tuple(node.args[1:], ast.Load()), node)
    return subscript(context, tile, indices)


def tile_broadcast(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_broadcast(a, shape)`."""
    arguments = Arguments(context, node, "a shape")
    tile, shape = arguments.tile("a"), arguments.shape()
    small = tile_of(tile).shape
    extra = len(shape) - len(small)
    if extra < 0 or not all(a in (1, b) for a, b in zip(small, shape[extra:], strict=True)):
        problem = f"cannot bring a tile of shape {shown(small)} to {shown(shape)}."
        raise arguments.error(problem, "Sizes of 1 are repeated.")
    return context.builder.one("tile_broadcast", (tile,), Tile(tile_of(tile).dtype, shape), {SHAPE: shape})


def tile_reshape(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_reshape(a, shape)`; one size may be -1."""
    arguments = Arguments(context, node, "a shape")
    tile = arguments.tile("a")
    count, sizes = tile_of(tile).count, arguments.integers("shape", 0)
    known = prod(n for n in sizes if n != -1)  # as in NumPy one size may be left open: it is what the others leave
    if sizes.count(-1) == 1 and known > 0 and count % known == 0:
        sizes[sizes.index(-1)] = count // known
    shape = tuple(sizes)
    if not is_shape(shape) or Tile(float32, shape).count != count:
        raise arguments.error(
            f"cannot bring a tile of shape {shown(tile_of(tile).shape)}, which has {count} elements, to {shown(shape)}."
        )
    return part_of(context, reshaped(context, tile, shape), tile)


def tile_squeeze(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_squeeze(a)`: without the sizes of 1; `axis` says which of them."""
    arguments = Arguments(context, node, "a axis?")
    tile = arguments.tile("a")
    shape = tile_of(tile).shape
    axes = set[int]() if "axis" in arguments else {k for k, n in enumerate(shape) if n == 1}
    for axis in arguments.integers("axis", len(shape)) if "axis" in arguments else ():
        if not -len(shape) <= axis < len(shape) or shape[axis] != 1:
            raise arguments.error(f"takes axes of size 1; the tile is {shown(shape)}.")
        axes.add(axis % len(shape))
    return part_of(
        context, reshaped(context, tile, tuple(n for k, n in enumerate(shape) if k not in axes) or (1,)), tile
    )


def tile_transpose(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_transpose(a)`: its axes in reverse; `axes` gives another order."""
    arguments = Arguments(context, node, "a axes?")
    tile = arguments.tile("a")
    ndim = tile_of(tile).ndim
    axes = tuple(arguments.integers("axes", -1) if "axes" in arguments else reversed(range(ndim)))
    if sorted(axes) != list(range(ndim)):
        raise arguments.error(f"takes axes as an order of 0 to {ndim - 1}.")
    return transposed(context, tile, axes)


def tile_astype(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_astype(a, dtype)`."""
    arguments = Arguments(context, node, "a dtype")
    tile, dtype = arguments.tile("a"), arguments.dtype(float32)
    if isinstance(dtype, Vector) != isinstance(tile_of(tile).dtype, Vector):
        raise arguments.error(f"takes a type like {tile_of(tile).dtype!r}; this is {dtype!r}.")
    converted = coerce.convert(context, tile, Tile(dtype, tile_of(tile).shape))
    return reshaped(context, converted, tile_of(converted).shape)


def assembled(context: Context, node: ast.Call) -> Operand:
    """Lower `tile(x)`: the threads' values as a tile; components of vectors as rows, of matrices as rows of rows."""
    tiling = tiling_of(context)
    arguments = Arguments(context, node, "x preserve_type?")
    operand = arguments.by_name["x"]
    if not is_tile(operand):
        per_thread = coerce.usable(context, operand)
        if isinstance(per_thread, Value) and not isinstance(per_thread.type, (Scalar, Vector)):
            problem = f"takes a value of each thread; this is {coerce.describe(per_thread)}."
            raise arguments.error(problem, "Of an array: tile_load.")
        is_float = isinstance(per_thread, Literal) and per_thread.is_float
        number = coerce.convert(context, per_thread, float32) if is_float else per_thread
        value = number if isinstance(number, Value) else coerce.convert(context, number, int32)
        operand = coerce.fill(context, (tiling.block_dim,), value, "thread")
    tile: Value = operand
    if tile_of(tile).storage != "thread":
        raise arguments.error(f"takes a value of each thread; this is a tile of shape {shown(tile_of(tile).shape)}.")
    dtype, n = coerce.as_element(context, tile_of(tile).dtype, "A tile"), tiling.block_dim
    if not isinstance(dtype, Vector) or arguments.flag("preserve_type", False):
        return reshaped(context, tile, (n,))
    # Each row is put into a tile of zeros: the IR has no operation that stacks, and backends write each part in place.
    rows = coerce.fill(context, (dtype.length, n), coerce.convert(context, Literal(0), dtype.dtype), "register")
    for k in range(dtype.length):
        (row,) = coerce.over(context, "tile()", [tile], lambda parts, k=k: [coerce.extracted(context, parts[0], k)])  # type: ignore[arg-type,misc]
        place_at = [context.builder.const(k, int32), context.builder.const(0, int32)]
        rows = context.builder.one("tile_place", (rows, *place_at, reshaped(context, row, (1, n))), tile_of(rows), {})
    return reshaped(context, rows, (*dtype.shape, n))


def untile(context: Context, node: ast.Call) -> Operand:
    """Lower `untile(t)`: element k is thread k's value; of several rows a vector, of rows of rows a matrix."""
    tiling = tiling_of(context)
    arguments = Arguments(context, node, "a")
    tile = arguments.tile("a")
    type, n = tile_of(tile), tiling.block_dim
    if type.shape == (n,):
        return only_element(context, tile) if n == 1 else reshaped(context, tile, (n,), "thread")
    count = prod(type.shape[:-1])
    if type.ndim not in (2, 3) or type.shape[-1] != n or not 2 <= count <= 64 or isinstance(type.dtype, Vector):
        raise arguments.error(
            f"takes a tile of one element for each of the {n} threads of a block; this one is {shown(type.shape)}.",
            f"Launch with block_dim={type.count}." if type.ndim == 1 and type.count <= BLOCK_THREADS else "",
        )
    kind = matrix(type.shape[:2], type.dtype) if type.ndim == 3 else Vector(count, type.dtype)
    tile, zero = reshaped(context, tile, (count, n)), context.builder.const(0, int32)
    rows: list[Operand] = []
    for k in range(count):
        starts, row = (tile, context.builder.const(k, int32), zero), Tile(type.dtype, (1, n))
        part = context.builder.one("tile_slice", starts, row, {SHAPE: (1, n)})
        rows.append(reshaped(context, part, (n,)))
    (vectors,) = coerce.over(context, "untile()", rows, lambda parts: [context.builder.one("vec", [*parts], kind)])  # type: ignore[list-item]
    return only_element(context, vectors) if n == 1 else coerce.stored(vectors, "thread")


_CALLS = (
    tile_view, tile_assign, tile_extract, tile_broadcast, tile_reshape, tile_squeeze, tile_transpose, tile_astype,
    untile,
)  # fmt: skip
FORMS: dict[str, FormHandler] = {"tile": assembled, **{lower.__name__: lower for lower in _CALLS}}
