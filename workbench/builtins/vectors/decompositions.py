"""Decompositions of 3 × 3 matrices, in the kernel language: Jacobi's rotations, a fixed number of times.

Each rotation makes one pair of directions independent; from round to round the error falls faster than its square. Four
rounds reach float32's precision and six float64's. All of it is plain arithmetic, so it is differentiable where the
decomposition is (distinct singular values or eigenvalues). Golub and Van Loan, "Matrix Computations", 8.5 and 8.6.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import epsilon, is_double, matrix_from_cols, vector
from workbench.builtins.declaration.rules import MATRIX, MATRIX2, kinds
from workbench.builtins.scalars.maths import sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.vectors.dot_and_length import cross, dot


@written("_scaled(m)")
def _scaled(m):
    """Return the matrix over the magnitude of its largest component, and that (1 if all are 0): no square overflows."""
    (a, b, c), (d, e, f), (g, h, i) = m
    largest = max(abs(a), abs(b), abs(c), abs(d), abs(e), abs(f), abs(g), abs(h), abs(i))
    scale = where(largest == 0.0, 1.0, largest)
    return m / scale, scale


@written("_columns(m)")
def _columns(m):
    """Return the three columns of a 3 × 3 matrix as vectors."""
    x, y, z = m
    return vector(x[0], y[0], z[0]), vector(x[1], y[1], z[1]), vector(x[2], y[2], z[2])


@written("_axes(x)")
def _axes(x):
    """Return the unit vectors along x, y and z, in the type of x."""
    zero, one = type(x)(0.0), type(x)(1.0)
    return vector(one, zero, zero), vector(zero, one, zero), vector(zero, zero, one)


@written("_sweeps(x)")
def _sweeps(x):
    """Return a tuple with one number per sweep of rotations, for a loop to run over: 4 sweeps, 6 in float64."""
    if is_double(x):
        return 1, 2, 3, 4, 5, 6
    return 1, 2, 3, 4


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


@written("_swapped(swap, a, b)")
def _swapped(swap, a, b):
    """Return b and a where `swap` is true, else a and b."""
    return where(swap, b, a), where(swap, a, b)


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
    axis, _, _ = _axes(scale)
    zero, one = type(scale)(0.0), type(scale)(1.0)
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


@written("eig3(A)", kinds(MATRIX))
def eig3(m, /):
    """Eigenvectors (columns of Q) and eigenvalues d, ascending, of a symmetric matrix: `Q, d = eig3(A)`.

    Of a matrix that is not symmetric the symmetric part is meant.
    """
    m, size = _scaled(m)
    (p, b, c), (d, q, f), (g, h, r) = m
    pq, pr, qr = (b + d) * 0.5, (c + g) * 0.5, (f + h) * 0.5
    x, y, z = _axes(p)
    zero = type(p)(0.0)
    for _ in _sweeps(p):
        tangent, c, s = _rotation(p, q, pq)
        p, q, pq = p - tangent * pq, q + tangent * pq, zero
        pr, qr = _turned(pr, qr, c, s)
        x, y = _turned(x, y, c, s)
        tangent, c, s = _rotation(p, r, pr)
        p, r, pr = p - tangent * pr, r + tangent * pr, zero
        pq, qr = _turned(pq, qr, c, s)
        x, z = _turned(x, z, c, s)
        tangent, c, s = _rotation(q, r, qr)
        q, r, qr = q - tangent * qr, r + tangent * qr, zero
        pq, pr = _turned(pq, pr, c, s)
        y, z = _turned(y, z, c, s)
    swap = p > q
    p, q = _swapped(swap, p, q)
    x, y = _swapped(swap, x, y)
    swap = p > r
    p, r = _swapped(swap, p, r)
    x, z = _swapped(swap, x, z)
    swap = q > r
    q, r = _swapped(swap, q, r)
    y, z = _swapped(swap, y, z)
    return matrix_from_cols(x, y, z), vector(p, q, r) * size


@written("_orthogonal(a, b)")
def _orthogonal(a, b):
    """Return cosine and sine of the rotation that puts two vectors at right angles."""
    _, c, s = _rotation(dot(a, a), dot(b, b), dot(a, b))
    return c, s


@written("svd3(A)", kinds(MATRIX))
def svd3(m, /):
    """Singular values s, descending, and orthogonal U, V with U @ diag(s) @ transpose(V) = A: `U, s, V = svd3(A)`."""
    m, size = _scaled(m)
    a, b, c = _columns(m)
    x, y, z = _axes(size)
    for _ in _sweeps(size):
        cosine, sine = _orthogonal(a, b)
        a, b = _turned(a, b, cosine, sine)
        x, y = _turned(x, y, cosine, sine)
        cosine, sine = _orthogonal(a, c)
        a, c = _turned(a, c, cosine, sine)
        x, z = _turned(x, z, cosine, sine)
        cosine, sine = _orthogonal(b, c)
        b, c = _turned(b, c, cosine, sine)
        y, z = _turned(y, z, cosine, sine)
    p, q, r = dot(a, a), dot(b, b), dot(c, c)
    swap = p < q
    p, q = _swapped(swap, p, q)
    a, b = _swapped(swap, a, b)
    x, y = _swapped(swap, x, y)
    swap = p < r
    p, r = _swapped(swap, p, r)
    a, c = _swapped(swap, a, c)
    x, z = _swapped(swap, x, z)
    swap = q < r
    q, r = _swapped(swap, q, r)
    b, c = _swapped(swap, b, c)
    y, z = _swapped(swap, y, z)
    p, q, r = _sqrt_or_zero(p), _sqrt_or_zero(q), _sqrt_or_zero(r)
    i, j, k = _frame(a, b, c, p)
    return matrix_from_cols(i, j, k), vector(p, q, r) * size, matrix_from_cols(x, y, z)


@written("_scaled2(m)")
def _scaled2(m):
    """Return the matrix over the magnitude of its largest component, and that (1 if all are 0): no square overflows."""
    (a, b), (c, d) = m
    largest = max(abs(a), abs(b), abs(c), abs(d))
    scale = where(largest == 0.0, 1.0, largest)
    return m / scale, scale


@written("_frame2(a, b, scale)")
def _frame2(a, b, scale):
    """Return two unit vectors at right angles: along a, and the one next to that on b's side; along x if a is 0."""
    zero, one = type(scale)(0.0), type(scale)(1.0)
    first = _unit(a, _sqrt_or_zero(dot(a, a)), scale * epsilon(scale) * 0.0, vector(one, zero))
    x, y = first
    perpendicular = vector(-y, x)
    return first, perpendicular * where(dot(perpendicular, b) < 0.0, -one, one)


@written("qr2(A)", kinds(MATRIX2))
def qr2(m, /):
    """Orthogonal Q and upper triangular R with Q @ R = A and a diagonal of R that is not negative: `Q, R = qr2(A)`."""
    m, size = _scaled2(m)
    (a, c), (b, d) = m
    first, second = vector(a, b), vector(c, d)
    x, y = _frame2(first, second, size)
    zero = type(size)(0.0)
    r = type(m)(dot(x, first), dot(x, second), zero, dot(y, second))
    return matrix_from_cols(x, y), r * size


@written("eig2(A)", kinds(MATRIX2))
def eig2(m, /):
    """Eigenvectors (columns of Q) and eigenvalues d, ascending, of a symmetric matrix: `Q, d = eig2(A)`.

    Of a matrix that is not symmetric the symmetric part is meant.
    """
    m, size = _scaled2(m)
    (p, b), (c, q) = m
    both = (b + c) * 0.5
    zero, one = type(p)(0.0), type(p)(1.0)
    tangent, c, s = _rotation(p, q, both)
    p, q = p - tangent * both, q + tangent * both
    x, y = _turned(vector(one, zero), vector(zero, one), c, s)
    swap = p > q
    p, q = _swapped(swap, p, q)
    x, y = _swapped(swap, x, y)
    return matrix_from_cols(x, y), vector(p, q) * size


@written("svd2(A)", kinds(MATRIX2))
def svd2(m, /):
    """Singular values s, descending, and orthogonal U, V with U @ diag(s) @ transpose(V) = A: `U, s, V = svd2(A)`."""
    m, size = _scaled2(m)
    (a, c), (b, d) = m
    first, second = vector(a, b), vector(c, d)
    zero, one = type(size)(0.0), type(size)(1.0)
    x, y = vector(one, zero), vector(zero, one)
    for _ in (1, 2):
        cosine, sine = _orthogonal(first, second)
        first, second = _turned(first, second, cosine, sine)
        x, y = _turned(x, y, cosine, sine)
    p, q = dot(first, first), dot(second, second)
    swap = p < q
    p, q = _swapped(swap, p, q)
    first, second = _swapped(swap, first, second)
    x, y = _swapped(swap, x, y)
    i, j = _frame2(first, second, size)
    return matrix_from_cols(i, j), vector(_sqrt_or_zero(p), _sqrt_or_zero(q)) * size, matrix_from_cols(x, y)
