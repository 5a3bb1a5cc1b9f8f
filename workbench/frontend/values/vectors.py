"""Vectors, matrices, quaternions and transforms: construction, indices, components, attributes and operators.

A negative index counts from the end, as in Python. Where an index is provably not negative (a thread's index, a loop
counter from 0, a size, sums of those) nothing is emitted for that; elsewhere the builtin `wrap_index` stands in the IR.

A component of a vector is read by its index, several by letters (`v.xy`, `v.zyx`) or a slice. A matrix is the vector of
its components, row by row, so reading `m[i, j]` is an `extract` and changing it an `insert` at `i * columns + j`. A
column past the end of a row must not reach the next one: it counts as past the matrix.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from math import isqrt, prod

from workbench import types
from workbench.builtins.declaration.declare import TABLE
from workbench.builtins.declaration.refs import Ref
from workbench.builtins.scalars.operators import where
from workbench.errors import WorkbenchError
from workbench.frontend.state import coerce
from workbench.frontend.state.context import Context, FormHandler, is_thread
from workbench.frontend.state.operands import Literal, Operand, Static, value_of
from workbench.host.narrow import is_tuple
from workbench.ir.values import Value, vector_of
from workbench.tiles import is_tile
from workbench.types import Complex, Kind, Matrix, Quaternion, Scalar, Transform, Vector, element, int32, is_integer
from workbench.types import bool as bool_

LETTERS = "xyzw"
"""Components of a vector, in order."""


def is_swizzle(base: object, attr: str) -> bool:
    """Return whether letters name 2 to 4 components of a value that is a plain vector, with repetitions: `v.xxy`."""
    if not isinstance(base, Value) or type(base.type) is not Vector:
        return False
    return 2 <= len(attr) <= 4 and set(attr) <= set(LETTERS[: base.type.length])


def swizzle(context: Context, base: Value, attr: str) -> Value:
    """Emit the vector of the components that the letters name."""
    parts = {letter: coerce.extracted(context, base, LETTERS.index(letter)) for letter in dict.fromkeys(attr)}
    return context.builder.one("vec", [parts[letter] for letter in attr], Vector(len(attr), vector_of(base).dtype))


def subscript(context: Context, base: Value, node: ast.expr) -> Operand:
    """Lower `v[i]` of a vector, or `v[a:b]` with bounds written out; of a matrix also `m[i, j]` and `m[i]`, a row.

    Raises:
        KernelTypeError: an index is no integer, or a literal outside; or a slice is empty, or a bound is not known.
    """
    type = vector_of(base)
    if isinstance(type, Matrix):
        return _matrix_subscript(context, base, node)
    if not isinstance(node, ast.Slice):
        return coerce.extracted(context, base, component(context, type, context.lower(node)))
    positions = of_slice(context, type, type.length, bounds(context, node))
    parts = [coerce.extracted(context, base, k) for k in positions]
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
    value = coerce.assign_type(context, operand, type.dtype if number else Vector(len(positions), type.dtype), what)
    for k, position in enumerate(positions):
        part = value if number else coerce.extracted(context, value, k)
        at = context.builder.const(position)
        base = context.builder.emit("insert", (base, at, part), (type,), names=(name,)).result
    return base


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
        value = coerce.materialise(context, operand)
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
    operand = coerce.usable(context, operand)
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
    """Lower `v.x` and `v.zyx` of a vector, `m.T` of a matrix, `t.p` and `t.q` of a transform.

    Raises:
        KernelSyntaxError: it has no such attribute.
    """
    type = base.type if isinstance(base, Value) else None
    if isinstance(type, Transform):
        assert isinstance(base, Value)
        if attr not in PLACES:
            raise no_part(context, base, attr)
        return context.builder.one("vec", [coerce.extracted(context, base, k) for k in PLACES[attr]], type.part(attr))
    if isinstance(type, Matrix):
        if attr == "T":  # as NumPy's
            return coerce.apply(context, TABLE["transpose"], (base,))
        raise context.syntax_error(
            f"{coerce.describe(base)} has no {attr}; it has T.", "Write m[i, j] for a component."
        )
    if is_swizzle(base, attr):
        return swizzle(context, value_of(base), attr)
    if isinstance(type, Vector) and attr in tuple(LETTERS[: type.length]):
        return coerce.extracted(context, value_of(base), LETTERS.index(attr))
    raise context.syntax_error(f"{coerce.describe(base)} has no {attr}.")


PLACES = {"p": range(3), "q": range(3, 7)}
EXAMPLE = "Write transform(p, q), with p a vec3 and q a quat, or transform_identity()."


def _transform(context: Context, type: Transform, args: Sequence[Operand]) -> Value:
    """Lower `transform(p, q)`, `transform(p)` without a rotation, of 7 numbers or of one, `transformd(t)` as a cast.

    Raises:
        KernelTypeError: the arguments are something else.
    """
    operands = [coerce.usable(context, a) for a in args]
    types = [o.type if isinstance(o, Value) else None for o in operands]
    if len(types) == 1 and isinstance(types[0], Transform):
        return context.builder.cast(coerce.materialise(context, operands[0]), type)
    if types == [type.part("p")]:
        operands, types = [*operands, *_unrotated(context, type)], [*types, type.part("q")]
    if types == [type.part("p"), type.part("q")]:
        parts = [c for o in operands for c in coerce.components(context, coerce.materialise(context, o))]
    elif not operands:
        parts = [coerce.assign_type(context, Literal(0.0), type.dtype, "")] * type.length
    elif len(operands) in (1, type.length) and not any(isinstance(t, Vector) for t in types):
        operands = operands * (type.length // len(operands))
        parts = [coerce.assign_type(context, o, type.dtype, f"A component of {type!r}") for o in operands]
    else:
        got = ", ".join(map(coerce.describe, operands)) or "nothing"
        raise context.type_error(f"{type!r}() takes p and q, or 7 numbers; it got {got}.", EXAMPLE)
    return context.builder.one("vec", parts, type)


def _unrotated(context: Context, type: Transform) -> list[Value]:
    """Return the quaternion without rotation, as the only item of a list."""
    numbers = [coerce.assign_type(context, Literal(float(k == 3)), type.dtype, "") for k in range(4)]
    return [context.builder.one("vec", numbers, type.part("q"))]


def no_part(context: Context, t: Value, name: str) -> WorkbenchError:
    """Return the error for a name that a transform does not have."""
    return context.syntax_error(f"{coerce.describe(t)} has no {name}; it has p and q.")


def transform_changed(context: Context, t: Value, name: str, operand: Operand, label: str) -> Value:
    """Emit the transform after `t.p = operand` or `t.q = operand`, and return it.

    Raises:
        KernelSyntaxError: another name.
        KernelTypeError: the operand does not fit.
    """
    type = t.type
    assert isinstance(type, Transform)
    if name not in PLACES:
        raise no_part(context, t, name)
    part = coerce.assign_type(context, operand, type.part(name), f"{label or 'The transform'}.{name}")
    for position, component in zip(PLACES[name], coerce.components(context, part), strict=True):
        index = context.builder.const(position)
        t = context.builder.emit("insert", (t, index, component), (type,), names=(label,)).result
    return t


def _on_transforms(context: Context, name: str, left: Operand, right: Operand) -> str:
    """Return the name of the builtin for an operator between transforms, or a transform and a number.

    Raises:
        KernelTypeError: there is none.
    """
    types = [o.type if isinstance(o, Value) else None for o in (left, right)]
    both = all(isinstance(t, Transform) for t in types)
    if both and name == "mul":
        return "transform_multiply"
    one = any(t is None or isinstance(t, Scalar) for t in types)
    if (both and name in ("add", "sub")) or (one and name in ("mul", "div")):
        return name
    raise context.type_error(
        "Transforms have * + - among them, and * and / with a number; "
        f"this is {coerce.describe(left)} and {coerce.describe(right)}.",
        "Write transform_point(t, v) for a point, transform_vector(t, v) for a direction.",
    )


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


def _matrix_subscript(context: Context, m: Value, node: ast.expr) -> Operand:
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


def matrix_changed(context: Context, name: str, m: Value, node: ast.expr, operand: Operand) -> Value:
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
    written = nodes(context, node)
    if len(written) not in (1, 2):
        raise context.type_error(f"A {type!r} takes 1 or 2 indices, not {len(written)}.", "Write m[i, j].")
    positions = [_along(context, type, axis, n) for axis, n in enumerate(written)]
    return positions if len(positions) == 2 else [*positions, range(type.columns)]


def _along(context: Context, type: Matrix, axis: int, node: ast.expr) -> Position | range:
    """Return an index or a slice along an axis: a literal from 0 on, a slice as a range.

    Raises:
        KernelTypeError: it is no integer, or outside.
    """
    with context.at(node):
        size, what = type.shape[axis], ("rows", "columns")[axis]
        if isinstance(node, ast.Slice):
            return of_slice(context, type, size, bounds(context, node))
        operand = coerce.usable(context, context.lower(node))
        if isinstance(operand, Literal) and (operand.is_float or not -size <= operand.value < size):
            raise context.type_error(f"{type!r} has {what} 0 to {size - 1}, not {operand.value!r}.")
        if isinstance(operand, Literal):
            return int(operand.value) % size
        return component(context, Vector(size, type.dtype), operand)


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
        return _on_transforms(context, name, left, right)
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
    if isinstance(type, Transform):
        return _transform(context, type, args)
    operands = [coerce.usable(context, a) for a in args]
    line, count = len(type.shape) == 1, prod(type.shape)
    if len(operands) > 1 and line:
        operands = [c for o in operands for c in _each_part(context, o)]
    if coerce.any_tile(operands):
        return coerce.over(context, f"{type!r}()", operands, lambda parts: [construct(context, type, [*parts])])[0]
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


def _each_part(context: Context, operand: Value | Literal) -> Sequence[Value | Literal]:
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
    dtypes = [*coerce.lowered(context, node, "dtype?").values()]
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
    arguments = coerce.lowered(context, node, "n dtype?")
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
