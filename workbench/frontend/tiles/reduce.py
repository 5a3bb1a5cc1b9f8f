"""Calls on whole tiles: maps, reductions, scans, products, and values scattered to their elements.

The calls are `tile_map(func, …)`, `tile_sum` and its kin, `tile_scan` and `tile_matmul`. `tile_scatter_add` and
`tile_scatter_masked` take the values of those threads that have one, at elements of a tile.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import msgspec

from workbench.builtins import tile_algorithms
from workbench.builtins.declaration.declare import TABLE, Builtin, Form
from workbench.frontend.functions import inline, library
from workbench.frontend.names import python_names
from workbench.frontend.state import coerce
from workbench.frontend.state.context import Context, FormHandler, is_thread
from workbench.frontend.state.operands import Literal, Operand, Static, value_of
from workbench.frontend.tiles import elementwise
from workbench.frontend.tiles.arguments import Arguments, tiling_of
from workbench.frontend.tiles.slicing import check_alone, reshaped
from workbench.ir.ops import AXIS, EXCLUSIVE, KIND, PRECISION, ROLE, TRANSPOSE_A, TRANSPOSE_B
from workbench.ir.tiles import is_number, tile_of, without
from workbench.ir.values import Value
from workbench.tiles import Tile, is_tile, shown
from workbench.types import Scalar, Vector, element, float32, int32
from workbench.types import bool as bool_

ARITHMETIC = {"add": "sum", "min": "min", "max": "max"}


def tile_map(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_map(func, *tiles)`: call the func for the elements of tiles at each position."""
    tiling_of(context)
    if node.keywords or len(node.args) < 2:
        raise context.type_error("tile_map() takes a func and tiles, without names.")
    callee = context.lower(node.args[0])
    operands = [context.lower(a) for a in node.args[1:]]
    if not coerce.any_tile(operands):
        raise context.type_error("tile_map() takes at least one tile.")
    several = False

    def make(parts: Sequence[Operand]) -> Sequence[Value]:
        nonlocal several
        result = called(context, "tile_map", callee, list(parts))
        # A func that returns one value in a tuple still returns a tuple, as in Python.
        several = isinstance(result, tuple)
        return [coerce.materialise(context, f) for f in (result if isinstance(result, tuple) else (result,))]

    results = coerce.over(context, "tile_map()", operands, make)
    return results if several else results[0]


def called(context: Context, form: str, callee: Operand, args: list[Operand]) -> Operand:
    """Lower a call of a func or builtin for one element of tiles, and return its result.

    Raises:
        KernelTypeError: it is neither; `form` is how the message calls the operation.
    """
    target = callee.value if isinstance(callee, Static) else None
    builtin = python_names.as_builtin(target)
    # The func runs per element, so operations on tiles in it are refused; restored even if lowering unwinds.
    lifted, context.shared.lifted = context.shared.lifted, True
    try:
        if builtin is not None:
            return coerce.apply(context, builtin, args)
        if isinstance(callee, Static) and hasattr(target, "__wb_definitions__"):
            return inline.call(context, callee, args, {})
    finally:
        context.shared.lifted = lifted
    raise context.type_error(f"{form}() takes a func or a builtin first; this is {coerce.describe(callee)}.")


def _axis(arguments: Arguments, tile: Tile) -> int | None:
    """Return the argument `axis` of a reduction, counted from 0; None for a reduction over all elements.

    Raises:
        KernelTypeError: the tile has no such axis.
    """
    axis = arguments.number("axis")
    if axis is None:
        return None
    if not -tile.ndim <= axis < tile.ndim:
        raise arguments.error(f"got axis {axis} of a tile of shape {shown(tile.shape)}.")
    # Along the only axis of a row is over all elements; one form less for the backends.
    return axis % tile.ndim if tile.ndim > 1 else None


def reduction(kind: str) -> FormHandler:
    """Return the lowering of `tile_<kind>(a, axis)`: a reduction of all elements, or along one axis."""

    def lower(context: Context, node: ast.Call) -> Operand:
        arguments = Arguments(context, node, "a axis?")
        return reduced(arguments, arguments.tile("a"), kind, ())

    return lower


def reduced(arguments: Arguments, value: Value, kind: str, blocks: Any) -> Value:
    """Emit a reduction of all elements of a tile, to a number of the block, or along an axis, to a tile.

    Args:
        arguments: of the call: `axis`, by default all elements.
        value: the tile.
        kind: "sum", "min", "max", "argmin", "argmax" or "func".
        blocks: of a "func", the block that combines two elements; else empty.

    Raises:
        KernelTypeError: the elements cannot be reduced so, or there is no such axis.
    """
    context, tile = arguments.context, tile_of(value)
    if kind != "func" and not (is_number(tile.dtype) or (kind == "sum" and element(tile.dtype) != bool_)):
        advice = "Count with tile_astype(a, int)." if tile.dtype == bool_ else ""
        raise arguments.error(f"takes a tile of numbers; this is {tile!r}.", advice)
    # 32 bits suffice for a place: a tile has at most 2^20 elements.
    dtype: Any = int32 if kind in ("argmin", "argmax") else tile.dtype
    axis = _axis(arguments, tile)
    type: Any = dtype if axis is None else Tile(dtype, without(tile.shape, axis))
    reduction = context.builder.emit("tile_reduce", (value,), (type,), {KIND: kind, AXIS: axis}, blocks).result
    if dtype == int32 and kind.startswith("arg"):
        context.shared.non_negative.add(reduction)
    # In Warp the result is a tile of one element. A number stands for it; of a vector, [0] would be a component.
    alone = axis is None and isinstance(dtype, Vector) and context.shared.warp_meanings
    return coerce.fill(context, (1,), reduction, "register") if alone else reduction


def tile_reduce(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_reduce(func, a, axis)`."""
    arguments = Arguments(context, node, "op a axis?")
    value = arguments.tile("a")
    callee = arguments.by_name["op"]
    builtin = python_names.as_builtin(callee.value) if isinstance(callee, Static) else None
    # The named kinds have an adjoint; a combination given as a func has none.
    if isinstance(builtin, Builtin) and builtin.name in ARITHMETIC:
        return reduced(arguments, value, ARITHMETIC[builtin.name], ())
    dtype = tile_of(value).dtype
    a, b = Value(dtype, "a"), Value(dtype, "b")
    with context.builder.block((a, b)) as opened:
        combined = coerce.usable(context, called(context, "tile_reduce", callee, [a, b]))
        result = coerce.materialise(context, combined)
        if result.type != dtype:
            raise arguments.error(f"takes a func of two {dtype!r} that returns one; this one returns {result.type!r}.")
        context.builder.yield_(result)
    return reduced(arguments, value, "func", (opened.block,))


def _scanned(arguments: Arguments, kind: str, exclusive: bool) -> Value:
    """Emit a prefix sum, minimum or maximum (`kind`) over a tile of numbers, and return the tile.

    Raises:
        KernelTypeError: it is no tile of numbers.
    """
    value = arguments.tile("a")
    tile = tile_of(value)
    if not is_number(tile.dtype):
        raise arguments.error(f"takes a tile of numbers; this is {tile!r}.")
    type: Any = Tile(tile.dtype, tile.shape)
    return arguments.context.builder.one("tile_scan", (value,), type, {KIND: kind, EXCLUSIVE: exclusive})


def tile_scan(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_scan(a, kind, exclusive)`."""
    arguments = Arguments(context, node, "a kind? exclusive?")
    return _scanned(arguments, arguments.word("kind", ("sum", "min", "max"), "sum"), arguments.flag("exclusive", False))


def scan(kind: str, exclusive: bool) -> FormHandler:
    """Return the lowering of `tile_scan_inclusive(a)` and the like: a prefix sum, minimum or maximum (`kind`).

    An exclusive one leaves each element itself out.
    """

    def lower(context: Context, node: ast.Call) -> Operand:
        return _scanned(Arguments(context, node, "a"), kind, exclusive)

    return lower


def tile_matmul(context: Context, node: ast.Call) -> Operand:
    """Lower `tile_matmul(a, b)`, and `tile_matmul(a, b, acc)`, which adds to acc and rebinds that name.

    With alpha and beta it is alpha * (a @ b) + beta * acc.
    """
    arguments = Arguments(context, node, "a b out? alpha? beta? precision?")
    written = arguments.nodes.get("out")
    acc = _scaled(arguments, "beta", arguments.tile("out")) if "out" in arguments else None
    left = _scaled(arguments, "alpha", arguments.tile("a"))
    product = matmul(context, left, arguments.tile("b"), acc, precision(arguments))
    # The tree was marked before lowering (`Store` on an argument), so that branches and loops carry the name.
    if isinstance(written, ast.Name) and isinstance(written.ctx, ast.Store):
        # Set where Python might not evaluate the call, as behind `and`: whether the name is rebound would depend on the
        # data.
        accumulator = getattr(node, "uncertain", "")
        if accumulator:
            problem = f"changes {written.id}, so it cannot stand {accumulator}."
            raise arguments.error(problem, "Give it a line of its own.")
        msgspec.structs.force_setattr(product, "name", product.name or written.id)
        context.env[written.id] = product
    return product


def _scaled(arguments: Arguments, factor: str, tile: Value) -> Value:
    """Emit a tile times the argument `factor`, if that is given; times a beta of 0 it is 0, whatever it holds."""
    if factor not in arguments:
        return tile
    number, none = arguments.by_name[factor], Literal(0.0)
    scaled = coerce.apply(arguments.context, TABLE["mul"], (number, tile))
    if factor == "beta":
        is_none = coerce.apply(arguments.context, TABLE["eq"], (number, none))
        scaled = coerce.apply(arguments.context, TABLE["where"], (is_none, none, scaled))
    return value_of(scaled)


def precision(arguments: Arguments) -> str:
    """Return the precision that the operands are rounded to: "tf32", or empty.

    Raises:
        KernelTypeError: it is something else, or the tiles are not of float32.
    """
    written = arguments.by_name.get("precision")
    if written is None:
        return ""
    if not isinstance(written, Static) or written.value != "tf32" or tile_of(arguments.tile("a")).dtype != float32:
        raise arguments.error('takes precision="tf32", for tiles of float32.', "Leave it out for full precision.")
    return "tf32"


def matmul(context: Context, a: Value, b: Value, acc: Value | None = None, precision: str = "") -> Value:
    """Emit the product of two tiles, added to a tile `acc` if there is one; return the result.

    `precision` is what the factors are rounded to: "tf32", or empty for their own.

    Raises:
        KernelTypeError: shapes or types do not fit; the message has all of them.
    """
    left, right = tile_of(a), tile_of(b)

    def refuse(message: str, advice: str = "") -> Exception:
        return context.type_error(message, advice)

    if acc is not None:
        check_alone(context, acc.name, acc)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        numbers = is_number(left.dtype) and is_number(right.dtype)
        raise refuse(
            f"tile_matmul() takes tiles of M×K and K×N; these are {shown(left.shape)} and {shown(right.shape)}.",
            "Transpose one: tile_transpose(b)." if numbers else "Multiply elements by tile_map and a func.",
        )
    a, b = (_widened(context, t, [tile_of(v).dtype for v in (a, b, *([] if acc is None else [acc]))]) for t in (a, b))
    left, right = tile_of(a), tile_of(b)
    if left.dtype != right.dtype or not is_number(left.dtype) or not _is_float(left.dtype):
        message = f"tile_matmul() takes tiles of floats; these have {left.dtype!r} and {right.dtype!r} elements."
        raise refuse(message, "Convert one: tile_astype(a, dtype).")
    shape = (left.shape[0], right.shape[1])
    dtype = left.dtype if acc is None else tile_of(acc).dtype
    if acc is not None and (tile_of(acc).shape != shape or dtype not in (left.dtype, _wide(left.dtype))):
        raise refuse(
            f"tile_matmul() adds a product of {shown(shape)} and {left.dtype!r} to acc, which is {tile_of(acc)!r}.",
            f"Make acc with tile_zeros({shape}, dtype={_wide(left.dtype)!r}).",
        )
    # Adjoints set the transposes and another role, so their products need no copy, and link-time code is counted by
    # role.
    attrs: dict[str, object] = {TRANSPOSE_A: False, TRANSPOSE_B: False, ROLE: "forward"}
    attrs |= {PRECISION: precision} if precision else {}
    type: Any = Tile(dtype, shape)
    operands = (a, b) if acc is None else (a, b, acc)
    product = context.builder.one("tile_matmul", operands, type, attrs)
    return coerce.stored(product, tile_of(acc).storage if acc is not None else "register")


def _widened(context: Context, tile: Value, types: Sequence[Any]) -> Value:
    """Return a factor in the widest type of both factors and what is added to; itself where 16 bits become 32 there."""
    own, widest = tile_of(tile).dtype, max(types, key=lambda t: element(t).bits)
    factors = {*types[:2]}
    if not all(isinstance(t, Scalar) and _is_float(t) for t in types) or own == widest:
        return tile
    if len(factors) == 1 and widest == _wide(own):
        return tile
    return coerce.over(
        context, "tile_matmul()", [tile], lambda parts: [context.builder.cast(value_of(parts[0]), widest)]
    )[0]


def _is_float(dtype: Any) -> bool:
    """Return whether a dtype is a float scalar or no scalar; True of every vector, also of integers."""
    return not isinstance(dtype, Scalar) or dtype.kind.value == "float"


def _wide(dtype: Any) -> Any:
    """Return the dtype in which products of this dtype are summed: float32 for 16-bit floats, else the dtype itself."""
    # Sums of 16-bit products are kept in float32: with an 11-bit or 8-bit significand they would stop growing early.
    return float32 if element(dtype).is_half else dtype


def _scattering(form: Form) -> FormHandler:
    """Return the lowering of a scatter to a tile by this form of the library."""

    def lower(context: Context, node: ast.Call) -> Operand:
        """Lower `tile_scatter_add(t, i, …, value, has_value)` and its kin, which rebind the name t.

        Raises:
            KernelTypeError: there is no local name of a tile, or another number of indices than the tile has.
        """
        tiling_of(context)
        name = ast.unparse(node.func).split(".")[-1]
        target = node.args[0] if node.args else None
        tile = context.env.get(target.id) if isinstance(target, ast.Name) else None
        known = {"value", "has_value", "atomic"}  # `atomic` has no effect: values are added in the order of threads
        named = {k.arg: k.value for k in node.keywords if k.arg in known}
        count = 1 + (tile.type.ndim if is_tile(tile) else 1)
        nodes = [*node.args, *(named[k] for k in ("value", "has_value") if k in named)]
        if not is_tile(tile) or is_thread(tile) or len(nodes) not in (count + 2, count + 3):
            raise context.type_error(
                f"{name}() takes the local name of a tile, an index for each of its dimensions, value and has_value."
            )

        type: Tile = tile.type  # type: ignore[assignment]
        operands: list[Operand] = [elementwise.number_of(context, type, nodes[1:count], elementwise.expression)]
        operands += [coerce.usable(context, elementwise.expression(context, n)) for n in nodes[count : count + 2]]
        operands[1] = coerce.assign_type(context, operands[1], type.dtype, f"An element of {name}()'s tile", tiles=True)
        changed = value_of(library.call(context, form, [reshaped(context, tile, (type.count,)), *operands]))
        context.env[target.id] = reshaped(context, changed, type.shape)  # type: ignore[union-attr]
        return ()

    return lower


FORMS: dict[str, FormHandler] = {
    "tile_map": tile_map,
    "tile_reduce": tile_reduce,
    **{f"tile_{kind}": reduction(kind) for kind in ("sum", "min", "max", "argmin", "argmax")},
    "tile_scan": tile_scan,
    "tile_scan_inclusive": scan("sum", False),
    "tile_scan_exclusive": scan("sum", True),
    "tile_scan_max_inclusive": scan("max", False),
    "tile_scan_min_inclusive": scan("min", False),
    "tile_matmul": tile_matmul,
    "tile_scatter_add": _scattering(tile_algorithms.scatter_add),
    "tile_scatter_masked": _scattering(tile_algorithms.scatter_masked),
}
