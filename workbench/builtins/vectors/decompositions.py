"""Decompositions of 3 × 3 matrices, as compositions: Jacobi's rotations a fixed number of times, no branch, no loop.

Each rotation makes one pair of directions independent; from round to round the error falls faster than its square. Four
rounds reach float32's precision and six float64's. All of it is plain arithmetic, so it is differentiable where the
decomposition is (distinct singular values or eigenvalues). Golub and Van Loan, "Matrix Computations", 8.5 and 8.6.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from workbench.builtins.declaration.refs import Ref, pack
from workbench.builtins.scalars import extrema
from workbench.builtins.scalars.maths import sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.vectors.quaternions import MATRIX, composition
from workbench.builtins.vectors.vectors import cross, dot
from workbench.types import Scalar, element

PAIRS = ((0, 1), (0, 2), (1, 2))


def _scalar(m: Ref) -> Scalar:
    return element(m.type)


def _rounds(scalar: Scalar) -> int:
    return 6 if scalar.bits > 32 else 4


def _scaled(m: Ref) -> tuple[Ref, Ref]:
    """The matrix over its largest component, and that: squares neither overflow nor vanish."""
    largest = reduce(extrema.max, [extrema.abs(c) for c in m.components()])
    scale = where(largest.equals(0), largest.like(1), largest)
    return m / scale, scale


def _columns(m: Ref) -> list[Ref]:
    flat = m.components()
    return [pack(flat[c::3]) for c in range(3)]


def _matrix(columns: list[Ref], like: Ref) -> Ref:
    parts = [c.components() for c in columns]
    return pack([parts[c][r] for r in range(3) for c in range(3)], like.type)  # type: ignore[arg-type]


def _axis(like: Ref, axis: int) -> Ref:
    """A unit vector; `like` is any scalar of its type."""
    return pack([like.like(1.0 if k == axis else 0.0) for k in range(3)])


def _rotation(p: Ref, q: Ref, both: Ref) -> tuple[Ref, Ref, Ref]:
    """Tangent, cosine and sine of the smaller angle that makes [[p, both], [both, q]] diagonal."""
    apart = q - p
    square = apart * apart + both * both * 4.0
    none = square.equals(0)
    root = sqrt(where(none, square.like(1), square))
    side = where(apart < 0.0, apart.like(-1), apart.like(1))
    t = both * side * 2.0 / (apart * side + root)
    c = 1.0 / sqrt(t * t + 1.0)
    return t, c, t * c


def _turned(columns: list[Ref], p: int, q: int, c: Ref, s: Ref) -> None:
    columns[p], columns[q] = columns[p] * c - columns[q] * s, columns[p] * s + columns[q] * c


def _sorted(values: list[Ref], *columns: list[Ref], descending: bool) -> None:
    """Values in order, and the columns of each list with them."""
    for p, q in ((0, 1), (0, 2), (1, 2)):
        swap = values[p] < values[q] if descending else values[p] > values[q]
        for row in (values, *columns):
            row[p], row[q] = where(swap, row[q], row[p]), where(swap, row[p], row[q])


def _unit(v: Ref, size: Ref, small: Ref, instead: Ref) -> Ref:
    """v over its size; `instead` where that is too small to have a direction."""
    lost = size <= small
    return where(lost, instead, v / where(lost, size.like(1), size))


def _frame(a: Ref, b: Ref, c: Ref, scale: Ref) -> tuple[Ref, Ref, Ref]:
    """Three directions at right angles: a's, b's beside a, and the one beside both, on c's side."""
    small = scale * float(np.finfo(element(scale.type).numpy).eps) * 4.0
    size = sqrt_or_zero(dot(a, a))
    first = _unit(a, size, small * 0.0, _axis(scale, 0))
    for _ in range(2):
        b = b - first * dot(first, b)
    x, y, _ = first.components()
    flat = x * x + y * y > 0.5
    zero = scale.like(0)
    beside = where(flat, pack([-y, x, zero]), cross(first, _axis(scale, 0)))
    beside = beside / sqrt(dot(beside, beside))
    second = _unit(b, sqrt_or_zero(dot(b, b)), small, beside)
    third = cross(first, second)
    return first, second, third * where(dot(third, c) < 0.0, scale.like(-1), scale.like(1))


def sqrt_or_zero(x: Ref) -> Ref:
    """The square root; at 0 it is 0, with derivative 0."""
    none = x.equals(0)
    return where(none, x.like(0), sqrt(where(none, x.like(1), x)))


@composition("qr3(A)", MATRIX)
def qr3(m: Ref) -> tuple[Ref, Ref]:
    """Orthogonal Q and upper triangular R with Q @ R = A and a diagonal of R that is not negative: `Q, R = qr3(A)`."""
    m, whole = _scaled(m)
    a, b, c = _columns(m)
    scale = sqrt_or_zero(dot(a, a) + dot(b, b) + dot(c, c))
    x, y, z = _frame(a, b, c, scale)
    zero = scale.like(0)
    r = pack([dot(x, a), dot(x, b), dot(x, c), zero, dot(y, b), dot(y, c), zero, zero, dot(z, c)], m.type)  # type: ignore[arg-type]
    return _matrix([x, y, z], m), r * whole


@composition("eig3(A)", MATRIX)
def eig3(m: Ref) -> tuple[Ref, Ref]:
    """Eigenvectors (columns of Q) and eigenvalues d, ascending, of a symmetric matrix: `Q, d = eig3(A)`.

    Of a matrix that is not symmetric the symmetric part is meant.
    """
    m, whole = _scaled(m)
    flat = m.components()
    d = [flat[0], flat[4], flat[8]]
    off = {p: (flat[3 * p[0] + p[1]] + flat[3 * p[1] + p[0]]) * 0.5 for p in PAIRS}
    vectors = [_axis(flat[0], k) for k in range(3)]
    for _ in range(_rounds(_scalar(m))):
        for p, q in PAIRS:
            both = off[p, q]
            t, c, s = _rotation(d[p], d[q], both)
            d[p], d[q] = d[p] - t * both, d[q] + t * both
            other = 3 - p - q
            up, uq = (min(p, other), max(p, other)), (min(q, other), max(q, other))
            off[up], off[uq] = off[up] * c - off[uq] * s, off[up] * s + off[uq] * c
            off[p, q] = both.like(0)
            _turned(vectors, p, q, c, s)
    _sorted(d, vectors, descending=False)
    return _matrix(vectors, m), pack(d) * whole


@composition("svd3(A)", MATRIX)
def svd3(m: Ref) -> tuple[Ref, Ref, Ref]:
    """Singular values s, descending, and orthogonal U, V with U @ diag(s) @ transpose(V) = A: `U, s, V = svd3(A)`."""
    m, whole = _scaled(m)
    b, v = _columns(m), [_axis(m.component(0), k) for k in range(3)]
    for _ in range(_rounds(_scalar(m))):
        for p, q in PAIRS:
            _, c, s = _rotation(dot(b[p], b[p]), dot(b[q], b[q]), dot(b[p], b[q]))
            _turned(b, p, q, c, s)
            _turned(v, p, q, c, s)
    sizes = [dot(column, column) for column in b]
    _sorted(sizes, b, v, descending=True)
    sizes = [sqrt_or_zero(size) for size in sizes]
    x, y, z = _frame(b[0], b[1], b[2], sizes[0])
    return _matrix([x, y, z], m), pack(sizes) * whole, _matrix(v, m)
