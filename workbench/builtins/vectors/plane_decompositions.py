"""Decompositions of 2 × 2 matrices, in the kernel language, after those of 3 × 3: here one rotation is exact.

A second one removes what rounding has left. Golub and Van Loan, "Matrix Computations", 8.5 and 8.6.
"""

from __future__ import annotations

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import epsilon, matrix_from_cols, vector
from workbench.builtins.declaration.rules import MATRIX2, kinds
from workbench.builtins.scalars.operators import where
from workbench.builtins.vectors.decompositions import _orthogonal, _rotation, _sqrt_or_zero, _swapped, _turned, _unit
from workbench.builtins.vectors.dot_and_length import dot


@written("_scaled2(m)")
def _scaled2(m):
    """The matrix over its largest component, and that: squares neither overflow nor vanish."""
    (a, b), (c, d) = m
    largest = max(abs(a), abs(b), abs(c), abs(d))
    scale = where(largest == 0.0, 1.0, largest)
    return m / scale, scale


@written("_frame2(a, b, scale)")
def _frame2(a, b, scale):
    """Two directions at right angles: a's, and the one beside it on b's side; b's, if a has none."""
    zero, one = type(scale)(0.0), type(scale)(1.0)
    first = _unit(a, _sqrt_or_zero(dot(a, a)), scale * epsilon(scale) * 0.0, vector(one, zero))
    x, y = first
    beside = vector(-y, x)
    return first, beside * where(dot(beside, b) < 0.0, -one, one)


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
