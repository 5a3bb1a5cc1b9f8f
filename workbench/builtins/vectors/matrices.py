"""Products and parts of small matrices.

One text in plain arithmetic is both a builtin's reference (on NumPy scalars) and its expansion (on IR values), so they
agree to the last bit; `tests/builtins` checks the texts against NumPy's own linear algebra.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from workbench.builtins.declaration.declare import Builtin, builtin
from workbench.builtins.declaration.refs import Ref, pack
from workbench.builtins.declaration.rules import Arg, Rule, Signature, argument_error, common_type, count, promote_all
from workbench.builtins.vectors.dot_and_length import PAIR
from workbench.errors import KernelTypeError
from workbench.types import MOST_COMPONENTS, SCALARS, Kind, Matrix, Scalar, Type, Vector, element, is_small, vector_of

Rows = list[list[Any]]


def rows(m: Any) -> Rows:
    """Return the components of a matrix (a Ref or a NumPy array) by rows; of a vector one row, a `VectorRow`."""
    shape = m.type.shape if isinstance(m, Ref) else np.shape(m)  # type: ignore[union-attr]
    flat = m.components() if isinstance(m, Ref) else list(np.ravel(m))
    if len(shape) == 1:
        return VectorRow([flat])
    return [flat[k : k + shape[1]] for k in range(0, len(flat), shape[1])]


class VectorRow(list[list[Any]]):
    """The rows of a vector: one, which is no matrix of one row."""


def summed(terms: Sequence[Any]) -> Any:
    """Return the sum of the terms, added from the first on."""
    return reduce(add, terms)


def products(a: Rows, b: Rows) -> Rows:
    """Return the matrix product of two matrices, as rows of scalars."""
    columns = list(zip(*b, strict=True))
    return [[summed([x * y for x, y in zip(row, column, strict=True)]) for column in columns] for row in a]


def turned(m: Rows) -> Rows:
    """Return the transposed matrix."""
    return [list(column) for column in zip(*m, strict=True)]


def minor(m: Rows, row: int, column: int) -> Rows:
    """Return the matrix without a row and a column."""
    return [[x for c, x in enumerate(line) if c != column] for r, line in enumerate(m) if r != row]


def det(m: Rows) -> Any:
    """Return the determinant, along the first row."""
    if len(m) == 1:
        return m[0][0]
    if len(m) == 2:
        return m[0][0] * m[1][1] - m[0][1] * m[1][0]
    terms = [m[0][c] * det(minor(m, 0, c)) for c in range(len(m))]
    total = terms[0]
    for c, term in enumerate(terms[1:], 1):
        total = total - term if c % 2 else total + term
    return total


def _like(x: Any, number: int) -> Any:
    """Return a number in the type of a component, on IR values and on NumPy scalars."""
    return x.like(number) if hasattr(x, "like") else x.dtype.type(number)


def cofactors(m: Rows) -> Rows:
    """Return for each component the signed determinant of the matrix without its row and column."""
    if len(m) == 1:
        return [[_like(m[0][0], 1)]]
    size = range(len(m))
    return [[-det(minor(m, r, c)) if (r + c) % 2 else det(minor(m, r, c)) for c in size] for r in size]


def inverted(m: Rows) -> Rows:
    """Return the inverse, by cofactors."""
    down = turned(cofactors(m))
    size = summed([x * y for x, y in zip(m[0], [row[0] for row in down], strict=True)])
    # One division, not n²: these took half the time of a 3×3 inverse, and each of a GPU's is a dozen instructions.
    scale = 1 / size
    return [[x * scale for x in row] for row in down]


# Type rules.


def floats_of(
    name: str, args: Sequence[Arg], wanted: str, fits: Callable[[Sequence[Any]], bool], integers: bool = False
) -> list[Vector]:
    """Return the arguments' types, promoted to one float type, or with `integers` one type of numbers.

    Args:
        name: the operation's.
        args: the types, all of vectors or matrices.
        wanted: what the operation takes, for the error.
        fits: says whether the types have the form that is wanted.
        integers: whether integers are taken, too.

    Raises:
        KernelTypeError: they do not fit.
    """
    if not all(isinstance(a, Vector) for a in args) or not fits(args):
        raise argument_error(name, args, wanted)
    scalar = promote_all(element(a) for a in args if isinstance(a, Vector))
    if scalar is None or scalar.kind is Kind.BOOL or (scalar.kind is not Kind.FLOAT and not integers):
        raise argument_error(name, args, f"{wanted} of floats", "Cast the components to a float type.")
    return [a.with_dtype(scalar) for a in args if isinstance(a, Vector)]


def is_square(t: Any) -> bool:
    """Return whether a type is that of a square matrix."""
    return isinstance(t, Matrix) and t.rows == t.columns


def on_matrix(
    result: Callable[[Any], Type], square: bool = False, most: int = MOST_COMPONENTS, integers: bool = False
) -> Rule:
    """Return the rule for one matrix of floats.

    Args:
        result: the result's type, from the matrix type.
        square: whether the matrix must be square.
        most: the most rows that it may have.
        integers: whether matrices of integers are taken, too.
    """
    wanted = ("a square matrix" if square else "a matrix") + (f" of up to {most} rows" if most <= 8 else "")

    def rule(name: str, args: Sequence[Arg]) -> Signature:
        count(name, args, 1)
        form = is_square if square else lambda t: isinstance(t, Matrix)
        (t,) = floats_of(name, args, wanted, lambda a: form(a[0]) and a[0].rows <= most, integers)
        return (t,), result(t)

    return rule


def on_vectors(operands: int, result: Callable[..., Type], length: int | None = None) -> Rule:
    """Return the rule for `operands` vectors of numbers, which are promoted to one type.

    Args:
        operands: how many.
        result: the result's type, from those of the vectors.
        length: the length that they must have; None: any.
    """

    def rule(name: str, args: Sequence[Arg]) -> Signature:
        count(name, args, operands)
        wanted = f"{'a vector' if operands == 1 else 'vectors'}{f' of length {length}' if length else ''}"
        types = floats_of(
            name,
            args,
            wanted,
            lambda a: all(type(t) is Vector and length in (None, t.length) for t in a),
            integers=True,
        )
        return tuple(types), result(*types)

    return rule


def same_form(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of an operation on two vectors or two matrices of one shape, which are promoted to one type.

    Raises:
        KernelTypeError: they are something else, or bools, or, for `cw_div`, integers.
    """
    count(name, args, 2)
    if not all(isinstance(a, Vector) for a in args):
        raise argument_error(name, args, "two vectors or two matrices")
    t = common_type(name, args)
    if element(t).kind is Kind.BOOL or (element(t).kind is not Kind.FLOAT and name == "cw_div"):
        raise argument_error(name, args, "vectors or matrices of floats", "Cast the components to a float type.")
    return (t, t), t


def contracted(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of an operation on two matrices of one shape that gives a number.

    Raises:
        KernelTypeError: they are something else.
    """
    if not all(isinstance(a, Matrix) for a in args):
        raise argument_error(name, args, "two matrices")
    operands, t = same_form(name, args)
    return operands, element(t)


def product(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of a product of two matrices or vectors, as NumPy's `@`.

    Raises:
        KernelTypeError: an operand is a number or something else, or the shapes do not fit.
    """
    count(name, args, 2)
    if any(isinstance(a, Scalar) for a in args):
        raise argument_error(name, args, "matrices or vectors", "Write * for a product with a number.")
    kinds = floats_of(
        name,
        args,
        "matrices or vectors",
        lambda a: all(type(t) is Vector or isinstance(t, Matrix) for t in a),
        integers=True,
    )
    left, right = kinds
    if left.shape[-1] != right.shape[0]:
        first, second = " × ".join(map(str, left.shape)), " × ".join(map(str, right.shape))
        raise KernelTypeError(
            f"@ takes as many columns on the left as rows on the right; it got {first} and {second}.",
            advice="Write transpose(m) where it should be the other way round.",
        )
    return tuple(kinds), form((*left.shape[:-1], *right.shape[1:]), left.dtype)


def form(shape: Sequence[int], scalar: Scalar) -> Scalar | Vector:
    """Return the type of values of this NumPy shape; the scalar type for an empty one.

    Raises:
        KernelTypeError: it is too large for a matrix.
    """
    if not shape:
        return scalar
    if not is_small(shape):
        shown = " × ".join(map(str, shape))
        raise KernelTypeError(f"The result of {shown} components is too large for a matrix.", advice="Use an array.")
    return vector_of(shape, scalar)


def _square_of(t: Vector) -> Scalar | Vector:
    """Return the type of a square matrix with a row for each component of the vector `t`.

    Raises:
        KernelTypeError: that is too large for a matrix.
    """
    return form((t.length, t.length), t.dtype)


def small(rule: Rule, **attributes: Any) -> Callable[[Callable[..., Any]], Builtin]:
    """Declare a builtin by a text that is reference and expansion in one; a decorator.

    The text gets each operand's rows (a vector is one row) and returns the result's rows, or a scalar.
    """

    def declare(text: Callable[..., Any]) -> Builtin:
        entry = builtin(rule, elementwise=False, **attributes)(text)

        def reference(*operands: Any) -> Any:
            values = np.array(text(*map(rows, operands)))
            result = rule(entry.name, [form(np.shape(o), SCALARS[np.asarray(o).dtype.name]) for o in operands])[1]
            return values.reshape(result.shape) if isinstance(result, Vector) else values

        def expansion(*operands: Ref) -> Ref:
            result = rule(entry.name, [o.type for o in operands])[1]
            result_rows = text(*map(rows, operands))
            return pack([c for row in result_rows for c in row], result) if isinstance(result, Vector) else result_rows

        entry.reference, entry.expand = reference, expansion
        return entry

    return declare


@small(product, operator="@", domain=(PAIR[0], PAIR[0]), ulp=4)
def matmul(a, b):
    """Matrix product: of matrices, of a matrix and a vector on either side, of two vectors (their dot)."""
    if not isinstance(b, VectorRow):
        return products(a, b)
    results = [row[0] for row in products(a, turned(b))]
    return results[0] if isinstance(a, VectorRow) else [results]


@matmul.adjoint
def _(ct, result, a, b):
    """Return the cotangents of a and b, from the cotangent `ct` of `matmul(a, b)`."""
    left, right = isinstance(a.type, Matrix), isinstance(b.type, Matrix)
    if not left and not right:
        return b * ct, a * ct
    if left and right:
        return matmul(ct, transpose(b)), matmul(transpose(a), ct)
    return (outer(ct, b), matmul(ct, a)) if left else (matmul(b, ct), outer(a, ct))


@small(on_matrix(lambda t: Matrix(t.length, t.dtype, t.rows), integers=True), domain=PAIR[:1])
def transpose(a):
    """Rows as columns."""
    return turned(a)


transpose.adjoint(lambda ct, result, a: (transpose(ct),), passing=True)


@small(on_matrix(element, square=True, integers=True), domain=PAIR[:1])
def trace(a):
    """Sum of the diagonal."""
    return summed([a[k][k] for k in range(len(a))])


trace.adjoint(lambda ct, result, a: (diag(ct.splat(Vector(a.type.rows, a.type.dtype))),))


@small(on_matrix(element, square=True, most=4), domain=((0.5, 2.0),), ulp=4)
def determinant(a):
    """Determinant, by cofactors."""
    return det(a)


@determinant.adjoint
def _(ct, result, a):
    """Return the cotangent of a, from the cotangent `ct` of `determinant(a)`."""
    return (pack([c for row in cofactors(rows(a)) for c in row], a.type) * ct.splat(a.type),)


@small(on_matrix(lambda t: t, square=True, most=4), domain=((0.5, 2.0),), ulp=4)
def inverse(a):
    """Inverse, by cofactors; a singular matrix gives infinities or NaN."""
    return inverted(a)


@inverse.adjoint
def _(ct, result, a):
    """Return the cotangent of a, from the cotangent `ct` of `inverse(a)`."""
    back = transpose(result)
    return (-matmul(matmul(back, ct), back),)


@small(on_vectors(2, lambda a, b: form((a.length, b.length), a.dtype)), domain=PAIR)
def outer(a, b):
    """Matrix of all products: row i, column j is a[i] * b[j]."""
    return [[x * y for y in b[0]] for x in a[0]]


outer.adjoint(lambda ct, result, a, b: (matmul(ct, b), matmul(a, ct)))


@small(on_vectors(1, _square_of), domain=PAIR[:1])
def diag(a):
    """Square matrix with this diagonal, 0 elsewhere."""
    zero = _like(a[0][0], 0)
    return [[x if r == c else zero for c in range(len(a[0]))] for r, x in enumerate(a[0])]


diag.adjoint(lambda ct, result, a: (get_diag(ct),), passing=True)


@small(on_matrix(lambda t: Vector(t.rows, t.dtype), square=True, integers=True), domain=PAIR[:1])
def get_diag(a):
    """Return the diagonal of a square matrix."""
    return [[a[k][k] for k in range(len(a))]]


get_diag.adjoint(lambda ct, result, a: (diag(ct),), passing=True)


@small(on_vectors(1, _square_of, length=3), domain=PAIR[:1])
def skew(a):
    """Return the matrix whose product with v is cross(a, v)."""
    ((x, y, z),) = a
    zero = _like(x, 0)
    return [[zero, -z, y], [z, zero, -x], [-y, x, zero]]


@skew.adjoint
def _(ct, result, a):
    """Return the cotangent of a, from the cotangent `ct` of `skew(a)`."""
    m = rows(ct)
    return (pack([m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]),)


@small(contracted, domain=PAIR, ulp=4)
def ddot(a, b):
    """Sum of the products of the components of two matrices."""
    return summed([x * y for left, right in zip(a, b, strict=True) for x, y in zip(left, right, strict=True)])


ddot.adjoint(lambda ct, result, a, b: (b * ct, a * ct))


@small(same_form, domain=PAIR)
def cw_mul(a, b):
    """Product component by component, of two vectors or two matrices."""
    return [[x * y for x, y in zip(left, right, strict=True)] for left, right in zip(a, b, strict=True)]


cw_mul.adjoint(lambda ct, result, a, b: (ct * b, ct * a), whole=True)


@small(same_form, domain=((-2.0, 2.0), (0.5, 2.0)))
def cw_div(a, b):
    """Quotient component by component, of two vectors or two matrices."""
    return [[x / y for x, y in zip(left, right, strict=True)] for left, right in zip(a, b, strict=True)]


cw_div.adjoint(lambda ct, result, a, b: (ct / b, -(ct * result / b)), whole=True)
