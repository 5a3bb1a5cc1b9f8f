"""Indices of arrays and vectors, and components of vectors: one, several by letters (`v.xy`, `v.zyx`), or a slice.

A negative index counts from the end, as in Python. Where an index is provably not negative (a thread's index, a loop
counter from 0, a size, sums of those) nothing is emitted for that; elsewhere the builtin `wrap_index` stands in the IR.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from workbench.builtins.declaration.declare import TABLE
from workbench.frontend.state.coerce import assign_type, describe, extracted, materialise, scalar_components, usable
from workbench.frontend.state.context import Context, is_thread
from workbench.frontend.state.operands import Literal, Operand, Static, value_of
from workbench.host.narrow import is_tuple
from workbench.ir.values import Value, vector_of
from workbench.tiles import is_tile
from workbench.types import Kind, Matrix, Scalar, Vector, element, int32, is_integer, is_vector

LETTERS = "xyzw"
"""Components of a vector, in order."""


def is_swizzle(base: object, attr: str) -> bool:
    """Return whether letters name 2 to 4 components of a value that is a plain vector, with repetitions: `v.xxy`."""
    if not isinstance(base, Value) or type(base.type) is not Vector:
        return False
    return 2 <= len(attr) <= 4 and set(attr) <= set(LETTERS[: base.type.length])


def swizzle(context: Context, base: Value, attr: str) -> Value:
    """Emit the vector of the components that the letters name."""
    parts = {letter: extracted(context, base, LETTERS.index(letter)) for letter in dict.fromkeys(attr)}
    return context.builder.one("vec", [parts[letter] for letter in attr], Vector(len(attr), vector_of(base).dtype))


def subscript(context: Context, base: Value, node: ast.expr) -> Operand:
    """Lower `v[i]` of a vector, or `v[a:b]` with bounds written out.

    Raises:
        KernelTypeError: an index is no integer, or a literal outside; or a slice is empty, or a bound is not known.
    """
    type = vector_of(base)
    if not isinstance(node, ast.Slice):
        return extracted(context, base, component(context, type, context.lower(node)))
    positions = of_slice(context, type, type.length, bounds(context, node))
    parts = [extracted(context, base, k) for k in positions]
    return context.builder.one("vec", parts, Vector(len(positions), type.dtype)) if parts else ()


def written_slice(bounds: Sequence[Operand | None]) -> slice | None:
    """Return the slice with these bounds and step, if they are integers that are known at compile time; else None."""
    numbers = [b.value if isinstance(b, Literal) else b for b in bounds]
    return slice(*numbers) if all(n is None or isinstance(n, int) for n in numbers) else None


def of_slice(context: Context, type: Vector, size: int, bounds: Sequence[Operand | None]) -> range:
    """Return the positions that a slice selects among `size` components, rows or columns.

    Raises:
        KernelTypeError: a bound is not an integer known when compiling, the step is 0, or nothing is selected.
    """
    known = written_slice(bounds)
    if known is None or known.step == 0:
        message = "The bounds of a vector's slice are integers written out."
        raise context.type_error(message, "Take the components: v[i].")
    positions = range(size)[known]
    if not positions and not context.shared.warp_meanings:  # there it is a value, `()`
        raise context.type_error(f"This slice of a {type!r} has no component.")
    return positions


def replaced(context: Context, base: Value, positions: Sequence[int], operand: Operand, what: str, name: str) -> Value:
    """Emit a vector or matrix with its components at these positions replaced; return it.

    Args:
        context: where.
        base: the vector or matrix.
        positions: of components, a matrix's row by row.
        operand: a vector with one component for each position, or one number for all.
        what: how messages call these components.
        name: that of the result.

    Raises:
        KernelTypeError: the operand does not fit.
    """
    type = vector_of(base)
    if not positions:
        return base
    number = isinstance(operand, Literal) or (isinstance(operand, Value) and isinstance(operand.type, Scalar))
    value = assign_type(context, operand, type.dtype if number else Vector(len(positions), type.dtype), what)
    for k, position in enumerate(positions):
        part = value if number else extracted(context, value, k)
        at = context.builder.const(position)
        base = context.builder.emit("insert", (base, at, part), (type,), names=(name,)).result
    return base


def components(context: Context, operands: Sequence[Operand]) -> list[Operand]:
    """Return the components of the only operand if that is a vector, as `min(v)` takes them; else it alone."""
    (only,) = operands
    return list(scalar_components(context, only) if isinstance(only, Value) and is_vector(only.type) else operands)


def index(context: Context, operand: Value | Literal, size: Callable[[], Value]) -> Value:
    """Emit an index along a dimension, counted from the end where it is negative.

    Args:
        context: where.
        operand: the index.
        size: emits the number of elements; called only if it is needed.

    Raises:
        KernelTypeError: it is no integer, or a tile.
    """
    if isinstance(operand, Literal):
        if operand.is_float:
            raise context.type_error("Indices must be integers or slices; this is a float.", "Write int(…).")
        value = materialise(context, operand)
        if operand.value >= 0:
            return value
        count = size()
        return _emit(context, "add", count, context.builder.cast(value, count.type))
    if is_tile(operand):
        what = "differs between the threads of a block" if is_thread(operand) else "is a tile"
        raise context.type_error(
            f"This line uses a tile, so indices are the same for the whole block; this one {what}.",
            "Take what the line needs of the tile before it, v = t[…] or v = untile(t), and use v here.",
        )
    if not is_integer(operand.type):
        raise context.type_error(f"Indices must be integers or slices; this is {operand.type!r}.", "Write int(…).")
    if operand in context.shared.non_negative or operand.type.kind is Kind.UINT:  # type: ignore[union-attr]
        return operand
    if element(operand.type).bits < int32.bits:
        # The size need not fit into the index's own type.
        operand = context.builder.cast(operand, int32)
    return _emit(context, "wrap_index", operand, context.builder.cast(size(), operand.type))


def nodes(context: Context, node: ast.expr) -> list[ast.expr]:
    """Return the expressions of the single indices in `x[node]`.

    A name of a tuple stands for its elements, as in Python: after `p = (i, j)`, `x[p]` is `x[p[0], p[1]]`.
    """
    if isinstance(node, ast.Tuple):
        return node.elts
    operand = context.lower(node) if isinstance(node, ast.Name) else None
    if isinstance(operand, Static):
        operand = operand.value
    if not is_tuple(operand):
        return [node]
    return [
        ast.copy_location(ast.Subscript(node, ast.copy_location(ast.Constant(k), node), ast.Load()), node)
        for k in range(len(operand))
    ]


def once(context: Context, node: ast.expr, names: list[str]) -> ast.expr:
    """Evaluate indices that contain calls once, into local names, for code that uses them twice.

    Args:
        context: of the subscript; its local names receive the indices.
        node: the expression between the brackets.
        names: the new names are appended to it; none is an identifier of Python.

    Returns:
        The node with these names in place of the indices.
    """
    if isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([once(context, e, names) for e in node.elts], node.ctx), node)
    # Only a call can have an effect, or give another value the second time.
    if not any(isinstance(inner, ast.Call) for inner in ast.walk(node)) or isinstance(node, ast.Slice):
        return node
    names.append(f"index of the target {len(context.env)}")
    context.env[names[-1]] = context.lower(node)
    return ast.copy_location(ast.Name(names[-1], ast.Load()), node)


def bounds(context: Context, node: ast.Slice) -> list[Operand | None]:
    """Return what stands between the colons of a slice; None where nothing does."""
    return [None if b is None else context.lower(b) for b in (node.lower, node.upper, node.step)]


def _emit(context: Context, name: str, *operands: Value) -> Value:
    """Emit a builtin by name on operands; the result has the type of the first."""
    return context.builder.one(TABLE[name].name, operands, operands[0].type)


def component(context: Context, vector: Vector, operand: Operand) -> Value:
    """Emit the index of a vector's component; from the end where it is negative.

    Raises:
        KernelTypeError: it is no integer, or a literal outside.
    """
    operand = usable(context, operand)
    if isinstance(operand, Literal):
        if operand.is_float or not -vector.length <= operand.value < vector.length:
            raise context.type_error(f"{vector!r} has components 0 to {vector.length - 1}, not {operand.value!r}.")
        return context.builder.const(int(operand.value) % vector.length)
    if not is_integer(operand.type):
        raise context.type_error(f"A component's index must be an integer; this is {operand.type!r}.")
    if operand in context.shared.non_negative:
        return operand
    return _emit(context, "wrap_index", operand, context.builder.const(vector.length, operand.type))


def attribute(context: Context, base: Value | Literal, attr: str) -> Operand:
    """Lower `v.x` and `v.zyx` of a vector.

    Raises:
        KernelSyntaxError: the letters name no components.
    """
    if is_swizzle(base, attr):
        return swizzle(context, value_of(base), attr)
    letters = isinstance(base, Value) and isinstance(base.type, Vector) and not isinstance(base.type, Matrix)
    if letters and attr in tuple("xyzw"[: base.type.length]):  # type: ignore[union-attr]
        return extracted(context, base, LETTERS.index(attr))  # type: ignore[arg-type]
    raise context.syntax_error(f"{describe(base)} has no {attr}.")
