"""Algorithms on tiles, in the kernel language: factors and solves, Fourier transforms, gathers, sorting, stacks.

**Factors and triangular solves** go column by column, each step by the whole block. Gradients are by the rules of
Murray, "Differentiation of the Cholesky decomposition" (2016), and Giles, "An extended collection of matrix derivative
results for forward and reverse mode algorithmic differentiation" (2008), 2.3.1.

**Fourier transforms** are products with the matrices of two shorter transforms. Bailey, "FFTs in external or
hierarchical memory" (1990): a row of n = p·q numbers as a matrix of p × q, its columns transformed, each number turned,
its rows transformed, read column by column.

**Gathers and scatters** are of rows and elements of a tile at indices that are known when the kernel runs.

**Sorting** puts each element behind those that come before it.

**A stack** that a block of threads shares is a tile, and how many of its elements are in use.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import adjoint, factors, vector
from workbench.builtins.declaration.rules import Arg
from workbench.builtins.scalars.extrema import max, min
from workbench.builtins.scalars.maths import cos, sin, sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.tiles import (
    block_dim,
    tile,
    tile_arange,
    tile_assign,
    tile_astype,
    tile_broadcast,
    tile_extract,
    tile_reshape,
    tile_scan_exclusive,
    tile_sum,
    tile_transpose,
    tile_view,
    tile_zeros,
    untile,
)
from workbench.builtins.vectors.dot_and_length import dot
from workbench.errors import KernelTypeError
from workbench.tiles import Tile
from workbench.types import Kind, Matrix, Quaternion, Scalar, Type, Vector, int32
from workbench.types import bool as bool_

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false


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


# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false


def complex_rows(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check that the only argument is a tile of vectors of 2 floats, complex numbers; return that it stays as it is.

    Raises:
        KernelTypeError: it is something else.
    """
    (tile,) = args if len(args) == 1 else (None,)
    dtype = tile.dtype if isinstance(tile, Tile) else None
    pairs = isinstance(dtype, Vector) and dtype.length == 2 and dtype.dtype.kind is Kind.FLOAT
    if not pairs or isinstance(dtype, (Matrix, Quaternion)):
        got = ", ".join(map(repr, args))
        raise KernelTypeError(f"{name}() takes a tile of vec2, (real, imaginary); it got {got}.")
    return [None]


@written("_tile_turns(rows, columns, n, one)")
def _tile_turns(rows, columns, n, one):
    """Return the cosines and sines of 2π j k / n, for j of the rows and k of the columns, in the type of `one`."""
    j = tile_broadcast(tile_reshape(tile_arange(0, rows, 1, dtype=int32), (rows, 1)), (rows, columns))
    k = tile_broadcast(tile_reshape(tile_arange(0, columns, 1, dtype=int32), (1, columns)), (rows, columns))
    angle = tile_astype(j * k % n, type(one)) * type(one)(6.283185307179586 / n)
    return cos(angle), sin(angle)


@written("_tile_transformed(real, imaginary, sign)")
def _tile_transformed(real, imaginary, sign):
    """Return the Fourier transforms of rows (real and imaginary parts), by a matrix product; `sign` -1: the inverse."""
    n = real.shape[1]
    c, s = _tile_turns(n, n, n, sign)
    s = s * sign
    return real @ c + imaginary @ s, imaginary @ c - real @ s


@written("_tile_fourier(x, sign)")
def tile_fourier(x, sign):
    """Return the transform along the last axis, or with `sign` -1 n times its inverse."""
    n = x.shape[-1]
    p, q = factors(n)
    rows = tile_reshape(x, (-1, n))
    m = rows.shape[0]
    zero, one = type(sign)(0.0), type(sign)(1.0)
    along = tile_reshape(tile_transpose(tile_reshape(rows, (m, p, q)), (0, 2, 1)), (m * q, p))
    real, imaginary = _tile_transformed(dot(along, vector(one, zero)), dot(along, vector(zero, one)), sign)
    c, s = _tile_turns(q, p, n, sign)
    shape = (m, q, p)
    c, s = tile_broadcast(c, shape), tile_broadcast(s * sign, shape)
    real, imaginary = tile_reshape(real, shape), tile_reshape(imaginary, shape)
    real, imaginary = real * c + imaginary * s, imaginary * c - real * s
    real = tile_reshape(tile_transpose(real, (0, 2, 1)), (m * p, q))
    imaginary = tile_reshape(tile_transpose(imaginary, (0, 2, 1)), (m * p, q))
    real, imaginary = _tile_transformed(real, imaginary, sign)
    both = real * vector(one, zero) + imaginary * vector(zero, one)
    return tile_reshape(tile_transpose(tile_reshape(both, (m, p, q)), (0, 2, 1)), x.shape)


@written("tile_fft(x)", complex_rows)
def tile_fft(x, /):
    """Return the Fourier transform along the last axis of a tile of vec2 (real, imaginary), as NumPy's fft.

    Of n = p·q numbers it takes n (p + q) products; p is the greatest divisor of n up to its root.
    """
    return tile_fourier(x, x.dtype.dtype(1.0))


@written("tile_ifft(x)", complex_rows)
def tile_ifft(x, /):
    """Return the inverse of tile_fft, divided by n as NumPy's ifft: tile_ifft(tile_fft(x)) is x."""
    return tile_fourier(x, x.dtype.dtype(-1.0)) * x.dtype.dtype(1.0 / x.shape[-1])


# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false


@written("_tile_gather(a, indices)")
def gather(a, indices, /):
    """Return the rows of a tile at these indices, one below the other."""
    rows = tile_zeros((indices.shape[0], a.shape[1]), dtype=a.dtype)
    for n in range(indices.shape[0]):
        tile_assign(rows, tile_view(a, (indices[n], 0), (1, a.shape[1])), (n, 0))
    return rows


@gather.derivative
def _gather_gradient(a, indices, adj, /):
    """Add each row of `adj` to the adjoint of the row of a from which it came."""
    total = tile_zeros(a.shape, dtype=a.dtype)
    for n in range(indices.shape[0]):
        index = indices[n]
        row = tile_view(total, (index, 0), (1, a.shape[1])) + tile_view(adj, (n, 0), (1, a.shape[1]))
        tile_assign(total, row, (index, 0))
    adjoint[a] += total


@written("_tile_scatter(a, indices, rows)")
def scatter(a, indices, rows, /):
    """Return the tile with these rows at these indices; of two at one index the later one."""
    for n in range(indices.shape[0]):
        tile_assign(a, tile_view(rows, (n, 0), (1, a.shape[1])), (indices[n], 0))
    return a


@scatter.derivative
def _scatter_gradient(a, indices, rows, adj, /):
    """Add the rows of `adj` at the indices to the adjoint of `rows`, and all others to that of a.

    Of several rows at one index only the last gets it.
    """
    taken = tile_zeros(rows.shape, dtype=a.dtype)
    none = tile_zeros((1, a.shape[1]), dtype=a.dtype)
    for k in range(indices.shape[0]):
        n = indices.shape[0] - 1 - k
        tile_assign(taken, tile_view(adj, (indices[n], 0), (1, a.shape[1])), (n, 0))
        tile_assign(adj, none, (indices[n], 0))
    adjoint[rows] += taken
    adjoint[a] += adj


@written("_tile_scatter_add(a, index, value, has_value)")
def scatter_add(a, index, value, has_value, /):
    """Return the tile, of one dimension, with the values of those threads that have one added, in their order."""
    flags, indices, values = tile(where(has_value, 1, 0)), tile(index), tile(value, preserve_type=True)
    for k in range(block_dim()):
        if flags[k] == 1:
            tile_assign(a, tile_view(a, (indices[k],), (1,)) + tile_view(values, (k,), (1,)), (indices[k],))
    return a


@written("_tile_scatter_masked(a, index, value, has_value)")
def scatter_masked(a, index, value, has_value, /):
    """Return the tile, of one dimension, with the values of those threads that have one; of two the later thread's."""
    flags, indices, values = tile(where(has_value, 1, 0)), tile(index), tile(value, preserve_type=True)
    for k in range(block_dim()):
        if flags[k] == 1:
            tile_assign(a, tile_view(values, (k,), (1,)), (indices[k],))
    return a


# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false


def _rows(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check that the arguments are a row of numbers, and perhaps a row of anything of the same length.

    Returns:
        None for each: they stay as they are.

    Raises:
        KernelTypeError: they are something else.
    """
    rows = all(isinstance(a, Tile) and a.ndim == 1 and a.shape == args[0].shape for a in args)  # type: ignore[union-attr]
    keys = args[0] if args else None
    if not 1 <= len(args) <= 2 or not rows or not isinstance(keys, Tile) or not isinstance(keys.dtype, Scalar):
        got = ", ".join(map(repr, args))
        raise KernelTypeError(f"{name}() takes a tile of one dimension, and values of the same length; it got {got}.")
    if keys.dtype == bool_:
        raise KernelTypeError(f"{name}() takes numbers; this is {keys!r}.", advice="Convert it: tile_astype(a, int).")
    return [None] * len(args)


@written("_tile_place(a, j)")
def _tile_place(a, j):
    """Return the rank of element j: the number of smaller ones, and equal ones on its left; NaN come last."""
    indices = tile_arange(0, a.shape[0], 1, dtype=int32)
    x = tile_extract(a, j)
    left = where(indices < j, 1, 0)
    if x == x:
        return tile_sum(where(a < x, 1, where(a == x, left, 0)))
    return tile_sum(where(a == a, 1, left))


@written("tile_sort(keys, values=None)", _rows)
def tile_sort(keys, values, /):
    """Return a tile of one dimension in ascending order, NaN last; with values, also those in the order of their keys.

        keys, values = tile_sort(keys, values)

    Equal keys keep their order. It takes n² comparisons, shared by the block. Gradients follow the elements.
    """
    sorted_keys = tile_zeros(keys.shape, dtype=keys.dtype)
    if values is None:
        for j in range(keys.shape[0]):
            tile_assign(sorted_keys, tile_view(keys, (j,), (1,)), (_tile_place(keys, j),))
        return sorted_keys
    sorted_values = tile_zeros(values.shape, dtype=values.dtype)
    for j in range(keys.shape[0]):
        rank = _tile_place(keys, j)
        tile_assign(sorted_keys, tile_view(keys, (j,), (1,)), (rank,))
        tile_assign(sorted_values, tile_view(values, (j,), (1,)), (rank,))
    return sorted_keys, sorted_values


# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownMemberType=false


def _stack(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check the arguments: a stack's tile and count, and for a push also a value and whether there is one.

    Returns:
        The types to convert them to; None for what stays as it is.

    Raises:
        KernelTypeError: they are something else.
    """
    count = 4 if name == "tile_stack_push" else 2
    items = args[0] if args else None
    if len(args) != count or not isinstance(items, Tile) or items.ndim != 1:
        got = ", ".join(map(repr, args))
        wanted = "items, count, value, has_value" if count == 4 else "items, count"
        raise KernelTypeError(f"{name}() takes {wanted}, and items is a tile of one dimension; it got {got}.")
    return [None, int32, items.dtype, None][:count]


@written("tile_stack_push(items, count, value, has_value)", _stack)
def tile_stack_push(items, count, value, has_value, /):
    """Put the values of those threads of a block that have one on a stack, in the order of threads.

        items, count, index = tile_stack_push(items, count, value, x > 0.0)

    It returns the stack (a tile, and how many of its elements are in use) and, for each thread, where its value lies;
    -1 without one, and where the tile is full.
    """
    flags, values = tile(where(has_value, 1, 0)), tile(value, preserve_type=True)
    slots = tile_scan_exclusive(flags) + count
    for k in range(flags.shape[0]):
        if flags[k] == 1 and slots[k] < items.shape[0]:
            tile_assign(items, tile_view(values, (k,), (1,)), (slots[k],))
    index = where(flags == 1, where(slots < items.shape[0], slots, -1), -1)
    return items, min(count + tile_sum(flags), items.shape[0]), untile(index)


@written("tile_stack_pop(items, count)", _stack)
def tile_stack_pop(items, count, /):
    """Take one value from a stack for each thread of a block, the newest for the first thread.

        value, index, count = tile_stack_pop(items, count)

    It returns, for each thread, the value and where it lay (0 and -1 where none is left), and how many are left.
    """
    values = tile_zeros((block_dim(),), dtype=items.dtype)
    slots = count - 1 - tile_arange(0, block_dim(), 1, dtype=int32)
    for k in range(block_dim()):
        if slots[k] >= 0:
            tile_assign(values, tile_view(items, (slots[k],), (1,)), (k,))
    return untile(values), untile(where(slots < 0, -1, slots)), max(count - block_dim(), 0)
