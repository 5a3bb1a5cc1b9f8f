"""Decompositions of 2 × 2 and 3 × 3 matrices, in the kernel language: Jacobi's rotations, a fixed number of times.

Each rotation makes one pair of directions independent; from round to round the error falls faster than its square. Four
rounds reach float32's precision and six float64's. All of it is plain arithmetic, so it is differentiable where the
decomposition is (distinct singular values or eigenvalues). Golub and Van Loan, "Matrix Computations", 8.5 and 8.6.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import epsilon, has_components, is_double, matrix_from_cols, vector
from workbench.builtins.declaration.rules import MATRIX, MATRIX2, kinds
from workbench.builtins.scalars.maths import sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.vectors.dot_and_length import cross, dot


@written("_scaled(m)")
def _scaled(m):
    """Return the matrix over the magnitude of its largest component, and that (1 if all are 0): no square overflows."""
    largest = max(abs(x) for row in m for x in row)
    scale = where(largest == 0.0, 1.0, largest)
    return m / scale, scale


@written("_columns(m)")
def _columns(m):
    """Return the columns of a matrix as vectors."""
    if has_components(m, 4):
        return vector(m[0, 0], m[1, 0]), vector(m[0, 1], m[1, 1])
    x, y, z = m
    return vector(x[0], y[0], z[0]), vector(x[1], y[1], z[1]), vector(x[2], y[2], z[2])


@written("_axes(m)")
def _axes(m):
    """Return the unit vectors along x, y and z, of as many and such components as a row of the matrix has."""
    zero, one = type(m[0, 0])(0.0), type(m[0, 0])(1.0)
    if has_components(m, 4):
        return vector(one, zero), vector(zero, one)
    return vector(one, zero, zero), vector(zero, one, zero), vector(zero, zero, one)


@written("_sweeps(m)")
def _sweeps(m):
    """Return a tuple with one number per sweep of rotations, for a loop: 2 of one pair, else 4, or 6 in float64."""
    if has_components(m, 4):
        return 1, 2
    if is_double(m):
        return 1, 2, 3, 4, 5, 6
    return 1, 2, 3, 4


@written("_pairs(m)")
def _pairs(m):
    """Return each pair of a matrix's columns, by their numbers, and the column that is in neither."""
    if has_components(m, 4):
        return ((0, 1, 2),)
    return (0, 1, 2), (0, 2, 1), (1, 2, 0)


@written("_rotation(p, q, both)")
def _rotation(p, q, both):
    """Return tangent, cosine and sine of the smaller angle whose rotation makes [[p, both], [both, q]] diagonal."""
    difference = q - p
    square = difference * difference + both * both * 4.0
    root = sqrt(where(square == 0.0, 1.0, square))
    one = type(p)(1.0)
    side = where(difference < 0.0, -one, one)
    t = both * side * 2.0 / (difference * side + root)
    c = 1.0 / sqrt(t * t + 1.0)
    return t, c, t * c


@written("_turned(a, b, c, s)")
def _turned(a, b, c, s):
    """Return two numbers or vectors, rotated by the angle of this cosine and sine."""
    return a * c - b * s, a * s + b * c


@written("_with(values, i, x, j, y)")
def _with(values, i, x, j, y):
    """Return a tuple with x in place i and y in place j."""
    return tuple(x if k == i else y if k == j else values[k] for k in range(len(values)))


@written("_rotated(vectors, i, j, c, s)")
def _rotated(vectors, i, j, c, s):
    """Return vectors of which two are rotated by the angle of this cosine and sine."""
    x, y = _turned(vectors[i], vectors[j], c, s)
    return _with(vectors, i, x, j, y)


@written("_swapped(swap, values, i, j)")
def _swapped(swap, values, i, j):
    """Return a tuple with two of its values exchanged where `swap` is true."""
    return _with(values, i, where(swap, values[j], values[i]), j, where(swap, values[i], values[j]))


@written("_unit(v, size, small, instead)")
def _unit(v, size, small, instead):
    """Return v over its size; `instead` where the size is at most `small`, too small to have a direction."""
    lost = size <= small
    return where(lost, instead, v / where(lost, 1.0, size))


@written("_sqrt_or_zero(x)")
def _sqrt_or_zero(x):
    """Return the square root; at 0 it is 0, with derivative 0."""
    none = x == 0.0
    return where(none, 0.0, sqrt(where(none, 1.0, x)))


@written("_frame(a, b, c, scale)")
def _frame(a, b, c, scale):
    """Return three unit vectors at right angles: along a, along b next to that, and next to both on c's side."""
    zero, one = type(scale)(0.0), type(scale)(1.0)
    axis = vector(one, zero, zero)
    small = scale * epsilon(scale) * 4.0
    first = _unit(a, _sqrt_or_zero(dot(a, a)), small * 0.0, axis)
    b = b - first * dot(first, b)
    b = b - first * dot(first, b)  # what rounding left of it
    x, y, _ = first
    perpendicular = where(x * x + y * y > 0.5, vector(-y, x, zero), cross(first, axis))
    perpendicular = perpendicular / sqrt(dot(perpendicular, perpendicular))
    second = _unit(b, _sqrt_or_zero(dot(b, b)), small, perpendicular)
    third = cross(first, second)
    return first, second, third * where(dot(third, c) < 0.0, -one, one)


@written("_frame2(a, b, scale)")
def _frame2(a, b, scale):
    """Return two unit vectors at right angles: along a, and the one next to that on b's side; along x if a is 0."""
    zero, one = type(scale)(0.0), type(scale)(1.0)
    first = _unit(a, _sqrt_or_zero(dot(a, a)), scale * epsilon(scale) * 0.0, vector(one, zero))
    x, y = first
    perpendicular = vector(-y, x)
    return first, perpendicular * where(dot(perpendicular, b) < 0.0, -one, one)


@written("qr3(A)", kinds(MATRIX))
def qr3(m, /):
    """Orthogonal Q and upper triangular R with Q @ R = A and a diagonal of R that is not negative: `Q, R = qr3(A)`."""
    m, size = _scaled(m)
    a, b, c = _columns(m)
    scale = _sqrt_or_zero(dot(a, a) + dot(b, b) + dot(c, c))
    x, y, z = _frame(a, b, c, scale)
    zero = type(scale)(0.0)
    r = type(m)(dot(x, a), dot(x, b), dot(x, c), zero, dot(y, b), dot(y, c), zero, zero, dot(z, c))
    return matrix_from_cols(x, y, z), r * size


@written("qr2(A)", kinds(MATRIX2))
def qr2(m, /):
    """Orthogonal Q and upper triangular R with Q @ R = A and a diagonal of R that is not negative: `Q, R = qr2(A)`."""
    m, size = _scaled(m)
    first, second = _columns(m)
    x, y = _frame2(first, second, size)
    zero = type(size)(0.0)
    r = type(m)(dot(x, first), dot(x, second), zero, dot(y, second))
    return matrix_from_cols(x, y), r * size


@written("eig3(A)", kinds(MATRIX))
def eig3(m, /):
    """Eigenvectors (columns of Q) and eigenvalues d, ascending, of a symmetric matrix: `Q, d = eig3(A)`.

    Of a matrix that is not symmetric the symmetric part is meant.
    """
    m, size = _scaled(m)
    values, axes = (m[0, 0], m[1, 1], m[2, 2]), _axes(m)
    others = (m[1, 2] + m[2, 1]) * 0.5, (m[0, 2] + m[2, 0]) * 0.5, (m[0, 1] + m[1, 0]) * 0.5
    for _ in _sweeps(m):
        for i, j, k in _pairs(m):
            tangent, c, s = _rotation(values[i], values[j], others[k])
            values = _with(values, i, values[i] - tangent * others[k], j, values[j] + tangent * others[k])
            others = _with(_rotated(others, j, i, c, s), k, type(c)(0.0), k, c)
            axes = _rotated(axes, i, j, c, s)
    for i, j, _ in _pairs(m):
        swap = values[i] > values[j]
        values, axes = _swapped(swap, values, i, j), _swapped(swap, axes, i, j)
    x, y, z = axes
    return matrix_from_cols(x, y, z), vector(values[0], values[1], values[2]) * size


@written("eig2(A)", kinds(MATRIX2))
def eig2(m, /):
    """Eigenvectors (columns of Q) and eigenvalues d, ascending, of a symmetric matrix: `Q, d = eig2(A)`.

    Of a matrix that is not symmetric the symmetric part is meant.
    """
    m, size = _scaled(m)
    both = (m[0, 1] + m[1, 0]) * 0.5
    tangent, c, s = _rotation(m[0, 0], m[1, 1], both)
    values, (x, y) = (m[0, 0] - tangent * both, m[1, 1] + tangent * both), _rotated(_axes(m), 0, 1, c, s)
    swap = values[0] > values[1]
    (p, q), (x, y) = _swapped(swap, values, 0, 1), _swapped(swap, (x, y), 0, 1)
    return matrix_from_cols(x, y), vector(p, q) * size


@written("_singular(m)")
def _singular(m):
    """Return a matrix's columns, rotated to right angles and ordered by length; these lengths; the rotated axes."""
    columns, axes = _columns(m), _axes(m)
    for _ in _sweeps(m):
        for i, j, _ in _pairs(m):
            a, b = columns[i], columns[j]
            _, c, s = _rotation(dot(a, a), dot(b, b), dot(a, b))
            columns, axes = _rotated(columns, i, j, c, s), _rotated(axes, i, j, c, s)
    sizes = tuple(dot(a, a) for a in columns)
    for i, j, _ in _pairs(m):
        swap = sizes[i] < sizes[j]
        sizes, columns, axes = _swapped(swap, sizes, i, j), _swapped(swap, columns, i, j), _swapped(swap, axes, i, j)
    return columns, tuple(_sqrt_or_zero(size) for size in sizes), axes


@written("svd3(A)", kinds(MATRIX))
def svd3(m, /):
    """Singular values s, descending, and orthogonal U, V with U @ diag(s) @ transpose(V) = A: `U, s, V = svd3(A)`."""
    m, size = _scaled(m)
    (a, b, c), (p, q, r), (x, y, z) = _singular(m)
    i, j, k = _frame(a, b, c, p)
    return matrix_from_cols(i, j, k), vector(p, q, r) * size, matrix_from_cols(x, y, z)


@written("svd2(A)", kinds(MATRIX2))
def svd2(m, /):
    """Singular values s, descending, and orthogonal U, V with U @ diag(s) @ transpose(V) = A: `U, s, V = svd2(A)`."""
    m, size = _scaled(m)
    (a, b), (p, q), (x, y) = _singular(m)
    i, j = _frame2(a, b, size)
    return matrix_from_cols(i, j), vector(p, q) * size, matrix_from_cols(x, y)
