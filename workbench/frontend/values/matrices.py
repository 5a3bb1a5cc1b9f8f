"""Matrices and quaternions in the front end: their construction, rows and components, and operators.

A matrix is the vector of its components, row by row, so reading `m[i, j]` is an `extract` and changing it an `insert`
at `i * columns + j`. A column past the end of a row must not reach the next one: it counts as past the matrix.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import isqrt, prod

from workbench import types
from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.scalars.operators import where
from workbench.frontend.state import coerce
from workbench.frontend.state.coerce import any_tile, lowered, over
from workbench.frontend.state.context import Context, FormHandler
from workbench.frontend.state.operands import Literal, Operand, Static
from workbench.frontend.values import subscripts, transforms
from workbench.ir.values import Value
from workbench.types import Complex, Kind, Matrix, Quaternion, Scalar, Transform, Vector
from workbench.types import bool as bool_

Position = int | Value
_BINARY_PLACE = ("add", "sub", "bit_and", "bit_or", "bit_xor", "lshift", "rshift")


def matrix_of(value: Value) -> Matrix:
    """Return the type of a value that is known to be a matrix."""
    assert isinstance(value.type, Matrix)
    return value.type


def parts(context: Context, value: Value) -> tuple[Value, ...]:
    """Emit the elements that a loop over a value gets: the rows of a matrix, the components of a vector."""
    type = value.type
    if isinstance(type, Complex):
        real, imag = (parts(context, p) for p in coerce.in_parts(context, value))
        return tuple(coerce.joined(context, *pair) for pair in zip(real, imag, strict=True))
    if isinstance(type, Matrix):
        return tuple(row(context, value, r) for r in range(type.rows))
    return tuple(coerce.components(context, value))


def row(context: Context, m: Value, position: Position) -> Value:
    """Emit a row of a matrix, as a vector."""
    type = matrix_of(m)
    line = [coerce.extracted(context, m, _flat(context, type, position, c)) for c in range(type.columns)]
    return context.builder.one("vec", line, Vector(type.columns, type.dtype))


def _flat(context: Context, type: Matrix, r: Position, c: Position) -> Position:
    """Return the position of component (r, c) of a matrix, counted row by row; an int if both are, else emitted."""
    if isinstance(r, int) and isinstance(c, int):
        return r * type.columns + c
    builder = context.builder
    row = Ref(builder, builder.const(r) if isinstance(r, int) else builder.cast(r, types.int32))
    start = row * type.columns
    if isinstance(c, int):
        return (start + c if c else start).value
    is_long = types.element(c.type).bits == types.int64.bits
    wide, unsigned = (types.int64, types.uint64) if is_long else (types.int32, types.uint32)
    column = Ref(builder, builder.cast(c, wide))
    position = where(column.cast(unsigned) < type.columns, start + column.cast(types.int32), prod(type.shape))
    return builder.one("view_index", (position.cast(wide).value, column.value, builder.const(type.columns, wide)), wide)


def subscript(context: Context, m: Value, node: ast.expr) -> Operand:
    """Lower `m[i, j]`, a component, `m[i]`, a row, and slices of both, which give a vector or a matrix.

    Raises:
        KernelTypeError: an index is no integer or outside, or a slice's bounds are not written out.
    """
    r, c = _subscripts(context, m, node)
    if not isinstance(r, range) and not isinstance(c, range):
        return _at(context, m, r, c)
    parts = [_at(context, m, i, j) for i in _each(r) for j in _each(c)]
    return context.builder.one("vec", parts, _form(m, r, c)) if parts else ()


def _at(context: Context, m: Value, r: Position, c: Position) -> Value:
    """Emit the read of component (r, c) of a matrix."""
    return coerce.extracted(context, m, _flat(context, matrix_of(m), r, c))


def _each(axis: Position | range) -> Sequence[Position]:
    """Return the positions that a subscript selects along an axis: those of a range, or the only one."""
    return axis if isinstance(axis, range) else [axis]


def _form(m: Value, r: Position | range, c: Position | range) -> Vector:
    """Return the type of a part of a matrix: a matrix if both axes have a slice, else a vector."""
    type = matrix_of(m)
    size = len(_each(r)) * len(_each(c))
    if isinstance(r, range) and isinstance(c, range):
        return Matrix(size, type.dtype, len(c))
    return Vector(size, type.dtype)


def changed(context: Context, name: str, m: Value, node: ast.expr, operand: Operand) -> Value:
    """Emit the matrix after `m[i, j] = operand`, `m[i] = operand` or the same of slices; return it.

    A slice takes a number for all of its components, or a vector or matrix of its shape.

    Raises:
        KernelTypeError: the operand or an index does not fit.
    """
    type = matrix_of(m)
    r, c = _subscripts(context, m, node)
    part, line = not isinstance(r, range) and not isinstance(c, range), c == range(type.columns)
    number = isinstance(operand, Literal) or (isinstance(operand, Value) and isinstance(operand.type, Scalar))
    what = f"A {'component' if part else 'row' if line else 'part'} of {name}"
    both = isinstance(node, ast.Tuple) and len(node.elts) > 1
    one = part or (number and (both or isinstance(r, range)))
    value = coerce.assign_type(context, operand, type.dtype if one else _form(m, r, c), what)
    for k, (i, j) in enumerate((i, j) for i in _each(r) for j in _each(c)):
        m = _with(context, name, m, i, j, value if one else coerce.extracted(context, value, k))
    return m


def _with(context: Context, name: str, m: Value, r: Position, c: Position, part: Value) -> Value:
    """Emit the matrix with another component (r, c), labelled `name`; return it."""
    position = _flat(context, matrix_of(m), r, c)
    index = context.builder.const(position) if isinstance(position, int) else position
    return context.builder.emit("insert", (m, index, part), (m.type,), names=(name,)).result


def _subscripts(context: Context, m: Value, node: ast.expr) -> list[Position | range]:
    """Return for both axes what a subscript selects: an index, or a range of them for a slice.

    Raises:
        KernelTypeError: there are more than 2 indices, or one is no integer or outside.
    """
    type = matrix_of(m)
    nodes = subscripts.nodes(context, node)
    if len(nodes) not in (1, 2):
        raise context.type_error(f"A {type!r} takes 1 or 2 indices, not {len(nodes)}.", "Write m[i, j].")
    positions = [_subscript(context, type, axis, n) for axis, n in enumerate(nodes)]
    return positions if len(positions) == 2 else [*positions, range(type.columns)]


def _subscript(context: Context, type: Matrix, axis: int, node: ast.expr) -> Position | range:
    """Return an index or a slice along an axis: a literal from 0 on, a slice as a range.

    Raises:
        KernelTypeError: it is no integer, or outside.
    """
    with context.at(node):
        size, what = type.shape[axis], ("rows", "columns")[axis]
        if isinstance(node, ast.Slice):
            return subscripts.of_slice(context, type, size, subscripts.bounds(context, node))
        operand = coerce.usable(context, context.lower(node))
        if isinstance(operand, Literal) and (operand.is_float or not -size <= operand.value < size):
            raise context.type_error(f"{type!r} has {what} 0 to {size - 1}, not {operand.value!r}.")
        if isinstance(operand, Literal):
            return int(operand.value) % size
        return subscripts.component(context, Vector(size, type.dtype), operand)


def sign_of(context: Context, name: str, left: Operand, right: Operand) -> str:
    """Return the name of the builtin that an operator on vectors, matrices, quaternions or transforms stands for.

    It is refused where it would not mean what NumPy means, or what quaternions mean.

    Raises:
        KernelTypeError: with what to write instead.
    """
    kinds = [o.type for o in (left, right) if isinstance(o, Value)]
    vector_types = [t for t in kinds if isinstance(t, Vector) and t.shape]
    if not vector_types:
        return name
    if any(isinstance(t, Transform) for t in kinds):
        return transforms.sign_of(context, name, left, right)
    if any(isinstance(t, Quaternion) for t in kinds):
        return _on_quaternions(context, name, left, right, len(vector_types))
    if not any(len(t.shape) == 2 for t in vector_types):
        return name
    if name == "pow":
        raise context.type_error("** on matrices is not in the language.", "Write m @ m.")
    if len(vector_types) == 2 and name == "mul" and context.shared.warp_meanings:
        return "matmul"
    if len(vector_types) == 2 and name not in (*_BINARY_PLACE, "matmul"):
        advice = "Write m @ inverse(n), or cw_div(m, n)." if name == "div" else "Write m @ n, or cw_mul(m, n)."
        a, b = kinds
        raise context.type_error(f"{_SIGNS.get(name, name)} between {a!r} and {b!r} could be two things.", advice)
    return name


_SIGNS = {"mul": "*", "div": "/", "floordiv": "//", "mod": "%"}


def _on_quaternions(context: Context, name: str, left: Operand, right: Operand, count: int) -> str:
    """Return the name of the builtin for an operator of which an operand is a quaternion.

    Args:
        context: of the operator.
        name: of the operator's own builtin.
        left: the first operand.
        right: the second operand.
        count: how many operands are vectors or quaternions.

    Raises:
        KernelTypeError: quaternions have no such operator.
    """
    both = count == 2
    if both and name in ("mul", *_BINARY_PLACE) and _same_form(left, right):
        return "quat_mul" if name == "mul" else name
    over_number = isinstance(left, Value) and isinstance(left.type, Quaternion)
    if not both and (name == "mul" or (name == "div" and (over_number or context.shared.warp_meanings))):
        return name
    raise context.type_error(
        "Quaternions have + - * among them, and * and / with a number; "
        f"this is {coerce.describe(left)} and {coerce.describe(right)}.",
        "Write quat_rotate(q, v) to rotate a vector, q * quat_inverse(r) to divide.",
    )


def _same_form(left: Operand, right: Operand) -> bool:
    """Return whether both operands are quaternions."""
    return all(isinstance(o, Value) and isinstance(o.type, Quaternion) for o in (left, right))


def construct(context: Context, type: Vector, args: Sequence[Operand]) -> Value:
    """Emit `vec3()`, `vec3(s)`, `vec3(x, y, z)`, `vec4(v, w)` of parts, a cast `vec3d(v)`; of a matrix row by row.

    Raises:
        KernelTypeError: there are too many numbers, or too few, or they are of another type.
    """
    operands = [coerce.usable(context, a) for a in args]
    line, count = len(type.shape) == 1, prod(type.shape)
    if len(operands) > 1 and line:
        operands = [c for o in operands for c in _parts(context, o)]
    if any_tile(operands):
        return over(context, f"{type!r}()", operands, lambda parts: [construct(context, type, [*parts])])[0]
    vector_types = [o.type for o in operands if isinstance(o, Value) and isinstance(o.type, Vector) and o.type.shape]
    same_form = vector_types and vector_types[0].with_dtype(type.dtype) in (type, getattr(type, "real", type))
    if len(operands) == 1 and same_form:
        return coerce.convert(context, operands[0], type)
    if vector_types:
        advice = "" if line else "Write matrix_from_rows(…) or matrix_from_cols(…)."
        rows = "" if line else ", row by row"
        message = f"{type!r}() takes {count} components{rows}, not a {vector_types[0]!r}."
        raise context.type_error(message, advice)
    counts = (0, count) if isinstance(type, Quaternion) else (0, 1, count)
    if len(operands) not in counts:
        *first, last = map(str, counts)
        wanted = f"{', '.join(first)} or {last}"
        raise context.type_error(f"{type!r}() takes {wanted} components; it got {len(operands)}.")
    if len(operands) < count:
        operands = [operands[0] if operands else Literal(0)] * count
    what, number = f"A component of {type!r}", types.number_type(type)
    return coerce.composed(context, [coerce.assign_type(context, o, number, what) for o in operands], type)


def _parts(context: Context, operand: Value | Literal) -> Sequence[Value | Literal]:
    """Return the components of a vector, or the rows of a matrix; an operand that is neither as the only one."""
    return parts(context, operand) if isinstance(operand, Value) and types.is_vector(operand.type) else (operand,)


def _lines(context: Context, node: ast.Call) -> list[Value]:
    """Return the vectors that a call makes a matrix of, which are of one type.

    Raises:
        KernelTypeError: they are something else, or too many.
    """
    name = ast.unparse(node.func)
    if node.keywords or not node.args:
        raise context.type_error(f"{name}() takes vectors, without names.")
    values = [coerce.materialise(context, context.lower(a)) for a in node.args]
    if any(not types.is_vector(v.type) or v.type != values[0].type for v in values):
        got = ", ".join(repr(v.type) for v in values)
        raise context.type_error(f"{name}() takes vectors of one type; it got {got}.")
    if not types.is_small((len(values), *values[0].type.shape)):  # type: ignore[union-attr]
        raise context.type_error(f"{name}() makes a matrix of up to {types.MOST_COMPONENTS} components.")
    return values


def _from_lines(columns: bool) -> FormHandler:
    """Return the lowering of a call that makes a matrix of vectors, each of them a column, or else a row."""

    def lower(context: Context, node: ast.Call) -> Operand:
        rows = [parts(context, line) for line in _lines(context, node)]
        rows = [*zip(*rows, strict=True)] if columns else rows
        type = types.vector_of((len(rows), len(rows[0])), rows[0][0].type)
        return coerce.composed(context, [c for row in rows for c in row], type)

    return lower


def _no_rotation(type: type[Vector], value: tuple[float, ...]) -> FormHandler:
    """Return the lowering of `quat_identity(dtype=float)` or `transform_identity(dtype=float)`, a constant."""

    def lower(context: Context, node: ast.Call) -> Operand:
        return context.builder.const(value, type(len(value), _float_dtype(context, node)))

    return lower


def _float_dtype(context: Context, node: ast.Call) -> Scalar:
    """Return the float scalar type that a call's only argument, `dtype`, stands for; float32 without one.

    Raises:
        KernelTypeError: there are other arguments, or it is no float scalar type.
    """
    dtypes = [*lowered(context, node, "dtype?").values()]
    scalar = number_of(dtypes[0]) if dtypes else types.float32
    if not isinstance(scalar, Scalar) or scalar.kind is not Kind.FLOAT:
        raise context.type_error(f"The dtype of {ast.unparse(node.func)}() is a float type.", "Write dtype=float.")
    return scalar


def number_of(operand: Operand) -> Scalar | Complex | None:
    """Return the type of numbers that an operand stands for, as `float` does; None if it is something else."""
    try:
        scalar = types.as_type(operand.value) if isinstance(operand, Static) else None
    except TypeError:
        return None
    return scalar if scalar is not None and scalar == types.number_type(scalar) else None  # type: ignore[return-value]


def _identity(context: Context, node: ast.Call) -> Operand:
    """Lower `identity(n=3, dtype=float)`: both known at compile time."""
    arguments = lowered(context, node, "n dtype?")
    size, kind = arguments["n"], arguments.get("dtype")
    if not isinstance(size, Literal) or size.value not in range(1, isqrt(types.MOST_COMPONENTS) + 1):
        raise context.type_error(f"The n of identity() is 1 to {isqrt(types.MOST_COMPONENTS)}, written out.")
    scalar = types.float32 if kind is None else number_of(kind)
    if scalar is None or scalar == bool_:
        raise context.type_error("The dtype of identity() is a number type.", "Write dtype=float.")
    n = int(size.value)
    one, zero = (1.0, 0.0) if types.is_float(scalar) else (1, 0)
    flat = tuple(one if r == c else zero for r in range(n) for c in range(n))
    return coerce.convert(
        context, context.builder.const(flat, Matrix(n * n, types.element(scalar), n)), types.vector_of((n, n), scalar)
    )


FORMS: dict[str, FormHandler] = {
    "identity": _identity,
    "matrix_from_rows": _from_lines(columns=False),
    "matrix_from_cols": _from_lines(columns=True),
    "quat_identity": _no_rotation(Quaternion, (0.0,) * 3 + (1.0,)),
    "transform_identity": _no_rotation(Transform, (0.0,) * 6 + (1.0,)),
}


def attribute(context: Context, m: Value, attr: str) -> Operand:
    """Lower `m.T`, as NumPy's.

    Raises:
        KernelSyntaxError: another attribute.
    """
    if attr == "T":
        return coerce.apply(context, TABLE["transpose"], (m,))
    raise context.syntax_error(f"{coerce.describe(m)} has no {attr}; it has T.", "Write m[i, j] for a component.")
