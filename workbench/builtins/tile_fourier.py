"""Fourier transforms of tiles, in the kernel language: products with the matrices of two shorter transforms.

Bailey, "FFTs in external or hierarchical memory" (1990): a row of n = p·q numbers as a matrix of p × q, its columns
transformed, each number turned, its rows transformed, read column by column.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.forms import factors, vector
from workbench.builtins.declaration.rules import Arg
from workbench.builtins.scalars.maths import cos, sin
from workbench.builtins.tiles import tile_arange, tile_astype, tile_broadcast, tile_reshape, tile_transpose
from workbench.builtins.vectors.dot_and_length import dot
from workbench.errors import KernelTypeError
from workbench.tiles import Tile
from workbench.types import Kind, Matrix, Quaternion, Type, Vector, int32


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
