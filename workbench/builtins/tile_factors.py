"""Factors and triangular solves of tiles, in the kernel language: column by column, each step by the whole block.

Gradients by the rules of Murray, "Differentiation of the Cholesky decomposition" (2016), and Giles, "An extended
collection of matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), 2.3.1.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import adjoint
from workbench.builtins.declaration.rules import Arg
from workbench.builtins.scalars.maths import sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.tiles import (
    tile_arange,
    tile_assign,
    tile_broadcast,
    tile_extract,
    tile_reshape,
    tile_sum,
    tile_transpose,
    tile_view,
    tile_zeros,
)
from workbench.errors import KernelTypeError
from workbench.tiles import Tile
from workbench.types import Kind, Scalar, Type, int32


def _floats(type: Arg) -> bool:
    """Return whether the type is that of a tile of real floats."""
    return isinstance(type, Tile) and isinstance(type.dtype, Scalar) and type.dtype.kind is Kind.FLOAT


def _square(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check that the arguments are a square tile of floats and, but for `tile_cholesky`, a tile with as many rows.

    Returns:
        None for each: they stay as they are.

    Raises:
        KernelTypeError: they are something else.
    """
    wanted = "a" if name in ("tile_cholesky",) else "a, b"
    if len(args) != len(wanted.split(", ")):
        raise KernelTypeError(f"{name}() takes {wanted}; it got {len(args)} arguments.")
    first = args[0]
    if not _floats(first) or first.ndim != 2 or first.shape[0] != first.shape[1]:  # type: ignore[union-attr]
        raise KernelTypeError(f"{name}() takes a square tile of floats first; it got {first!r}.")
    for second in args[1:]:
        fits = _floats(second) and second.dtype == first.dtype and second.ndim in (1, 2)  # type: ignore[union-attr]
        if not fits or second.shape[0] != first.shape[0]:  # type: ignore[union-attr]
            raise KernelTypeError(f"{name}() takes a tile with as many rows; it got {first!r} and {second!r}.")
    return [None] * len(args)


def _equal_tiles(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check that the arguments are two tiles of numbers of one shape and type, and return that they stay as they are.

    Raises:
        KernelTypeError: they are something else.
    """
    numbers = all(isinstance(a, Tile) and isinstance(a.dtype, Scalar) for a in args)
    if len(args) != 2 or not numbers or args[0] != args[1]:
        got = ", ".join(map(repr, args))
        raise KernelTypeError(f"{name}() takes two tiles of numbers of one shape and type; it got {got}.")
    return [None, None]


@written("tile_dot(a, b)", _equal_tiles)
def tile_dot(a, b, /):
    """Return the sum of the products of two tiles' elements: a number of the block."""
    return tile_sum(a * b)


@written("_tile_column(a, j)")
def _tile_column(a, j):
    """Return column j of a tile, as a tile of one column."""
    return tile_view(a, (0, j), (a.shape[0], 1))


@written("_tile_row(a, j)")
def _tile_row(a, j):
    """Return row j of a tile, as a tile of one row."""
    return tile_view(a, (j, 0), (1, a.shape[1]))


@written("_tile_outer(column, row)")
def _tile_outer(column, row):
    """Return the outer product of a tile of one column and a tile of one row."""
    shape = (column.shape[0], row.shape[1])
    return tile_broadcast(column, shape) * tile_broadcast(row, shape)


@written("_tile_lower(a, diagonal)")
def _tile_lower(a, diagonal):
    """Return the lower triangle of a square tile, its diagonal multiplied by the number `diagonal`; 0 above."""
    n = tile_arange(0, a.shape[0], 1, dtype=int32)
    rows = tile_broadcast(tile_reshape(n, (a.shape[0], 1)), a.shape)
    columns = tile_broadcast(tile_reshape(n, (1, a.shape[0])), a.shape)
    return where(rows < columns, a.dtype(0.0), where(rows == columns, a * a.dtype(diagonal), a))


@written("tile_diag_add(a, d)", _square)
def tile_diag_add(a, d, /):
    """Return the square tile with the elements of d added along its diagonal."""
    n = tile_arange(0, a.shape[0], 1, dtype=int32)
    rows = tile_broadcast(tile_reshape(n, (a.shape[0], 1)), a.shape)
    columns = tile_broadcast(tile_reshape(n, (1, a.shape[0])), a.shape)
    return where(rows == columns, a + tile_broadcast(tile_reshape(d, (1, a.shape[0])), a.shape), a)


@written("tile_cholesky(a)", _square)
def tile_cholesky(a, /):
    """The lower triangular L with L @ L.T = a, for a symmetric positive definite tile, of which the lower half is read.

    Other tiles give NaN. `x = tile_cholesky_solve(tile_cholesky(a), b)` solves a @ x = b.
    """
    rows = tile_reshape(tile_arange(0, a.shape[0], 1, dtype=int32), (a.shape[0], 1))
    factor = tile_zeros(a.shape, dtype=a.dtype)
    for j in range(a.shape[0]):
        column = where(rows < j, a.dtype(0.0), _tile_column(a, j) / sqrt(tile_extract(a, j, j)))
        tile_assign(factor, column, (0, j))
        a = a - _tile_outer(column, tile_transpose(column))
    return factor


@tile_cholesky.derivative
def _tile_cholesky_gradient(a, adj, /):
    """Add to the adjoint of a what the adjoint `adj` of its factor brings."""
    factor = tile_cholesky(a)
    upper = tile_transpose(factor)
    inner = _tile_lower(upper @ adj, 0.5)
    product = tile_transpose(tile_upper_solve(upper, tile_transpose(tile_upper_solve(upper, inner))))
    adjoint[a] += _tile_lower(product + tile_transpose(product), 0.5)


@written("_tile_solved(a, b, lower)")
def _tile_solved(a, b, lower):
    """Solve triangular a @ x = b for each column of b: from the first row on if a is lower, else from the last."""
    x = tile_zeros(b.shape, dtype=b.dtype)
    for k in range(a.shape[0]):
        j = k if lower else a.shape[0] - 1 - k
        row = _tile_row(b, j) / tile_extract(a, j, j)
        tile_assign(x, row, (j, 0))
        b = b - _tile_outer(_tile_column(a, j), row)
    return x


@written("tile_lower_solve(l, b)", _square)
def tile_lower_solve(l, b, /):  # noqa: E741
    """The x with l @ x = b, of a lower triangular tile l; b is a vector, or has a right-hand side in each column.

    What l holds above its diagonal is not read.
    """
    return tile_reshape(_tile_solved(l, tile_reshape(b, (l.shape[0], -1)), True), b.shape)


@tile_lower_solve.derivative
def _tile_lower_solve_gradient(l, b, adj, /):  # noqa: E741
    """Add to the adjoints of l and b what the adjoint `adj` of the solution brings; of l to its lower part alone."""
    x = tile_lower_solve(l, b)
    back = tile_upper_solve(tile_transpose(l), adj)
    column, row = tile_reshape(back, (l.shape[0], -1)), tile_transpose(tile_reshape(x, (l.shape[0], -1)))
    adjoint[b] += back
    adjoint[l] += _tile_lower(-(column @ row), 1.0)


@written("tile_upper_solve(u, b)", _square)
def tile_upper_solve(u, b, /):
    """The x with u @ x = b, of an upper triangular tile u; b is a vector, or has a right-hand side in each column.

    What u holds below its diagonal is not read.
    """
    return tile_reshape(_tile_solved(u, tile_reshape(b, (u.shape[0], -1)), False), b.shape)


@tile_upper_solve.derivative
def _tile_upper_solve_gradient(u, b, adj, /):
    """Add to the adjoints of u and b what the adjoint `adj` of the solution brings; of u to its upper part alone."""
    x = tile_upper_solve(u, b)
    back = tile_lower_solve(tile_transpose(u), adj)
    column, row = tile_reshape(back, (u.shape[0], -1)), tile_transpose(tile_reshape(x, (u.shape[0], -1)))
    adjoint[b] += back
    adjoint[u] += tile_transpose(_tile_lower(-tile_transpose(column @ row), 1.0))


@written("tile_cholesky_solve(l, b)", _square)
def tile_cholesky_solve(l, b, /):  # noqa: E741
    """Return the x with a @ x = b, from l = tile_cholesky(a)."""
    return tile_upper_solve(tile_transpose(l), tile_lower_solve(l, b))
