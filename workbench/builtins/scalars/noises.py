"""Gradient noise, as arithmetic on hashed lattice points; it has the gradient of its own formula.

Perlin, "Improving Noise" (SIGGRAPH 2002): a random slope at each whole-numbered point, joined by the quintic fade. The
slopes are hashes of the point and the state (see `randoms`), so that noise needs no table, and any state is a noise of
its own.

The sums run over the corners of the lattice cell around the point. They begin at -0.0, which changes no number.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence

from workbench.builtins.declaration.declare import TABLE, written
from workbench.builtins.declaration.forms import has_components, vector
from workbench.builtins.declaration.rules import WEAK_FLOAT, WEAK_INT, Arg, Weak, argument_error
from workbench.builtins.scalars.bits import raw_shr
from workbench.builtins.scalars.randoms import bound, rand_next, rand_word
from workbench.builtins.scalars.rounding import floor
from workbench.errors import KernelTypeError
from workbench.types import Kind, Scalar, Type, Vector, element, float32, int32, uint32

bit_and = TABLE["bit_and"]


def _point(name: str, args: Sequence[Arg]) -> int:
    """Check the types of a state and a point, and return the number of the point's dimensions.

    Raises:
        KernelTypeError: they are something else.
    """
    if len(args) < 2:
        raise KernelTypeError(f"{name}() takes a state and a point, without names.")
    state, point = args[:2]
    if state != uint32:
        raise argument_error(name, [state], "a state, a uint32, first", "Write state = rand_init(seed) first.")
    if point in (WEAK_INT, WEAK_FLOAT):
        return 1
    size = 1 if isinstance(point, Scalar) else point.length if isinstance(point, Vector) else 0
    plain = type(point) is Vector and size in (2, 3, 4)
    if not (isinstance(point, Scalar) or plain) or element(point).kind is not Kind.FLOAT:
        raise argument_error(name, [point], "a float or a vector of 2 to 4 floats as the point")
    return size


def at_point(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check that the arguments are a state and a point; return the types to convert them to, None for as they are.

    Raises:
        KernelTypeError: they are something else.
    """
    _point(name, args)
    if len(args) > 2:
        raise KernelTypeError(f"{name}() takes a state and a point; it got {len(args)} arguments.")
    return [None, *_points(args)]


def with_periods(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check the arguments of `pnoise`: a state, a point, and a period for each of its components.

    Returns:
        The types to convert them to; None for what stays as it is.

    Raises:
        KernelTypeError: they are something else.
    """
    size = _point(name, args)
    if len(args) - 2 != size:
        message = f"{name}() takes one period for each of the {size} components; it got {len(args) - 2}."
        raise KernelTypeError(message)
    return [None, *_points(args), *(bound(name, period, int32, "A period") for period in args[2:])]


def _in_a_field(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check the arguments of `curlnoise`: a state and a vector of 2 or 3 floats.

    Returns:
        None for each: they stay as they are.

    Raises:
        KernelTypeError: they are something else.
    """
    if _point(name, args) not in (2, 3):
        raise KernelTypeError(f"{name}() takes a vector of 2 or 3 floats as the point.")
    if len(args) > 2:
        raise KernelTypeError(f"{name}() takes a state and a point; it has no octaves yet.")
    return [None, None]


def _points(args: Sequence[Arg]) -> list[Type | None]:
    """Return the type to convert a point to, in a list: float32 for a literal, else None, as it stays."""
    return [float32 if isinstance(args[1], Weak) else None]


@written("noise(state, x)", at_point)
def noise(state, x, /):
    """Smooth noise over a float or a vector of 2 to 4 floats x.

    It is 0 at whole-numbered points, twice differentiable, of mean 0, and at most half the number of dimensions in
    magnitude. `state` is a uint32 as rand_init gives it; it is read, not advanced.
    """
    return _noise(state, x)


@written("pnoise(state, x, px, …)", with_periods)
def pnoise(state, x, px, py=None, pz=None, pw=None, /):
    """noise that repeats: px, py, … (one positive int32 for each component of x) are the periods along the axes."""
    return _noise(state, x, px, py, pz, pw)


@written("_noise(state, x, px, py, pz, pw)")
def _noise(state, x, px=None, py=None, pz=None, pw=None):
    """Return the noise at a point: the heights there by the slopes of the cell's corners, summed by their shares."""
    if has_components(x, 4):
        return _noise4(state, sides(x[0], px), sides(x[1], py), sides(x[2], pz), sides(x[3], pw))
    if has_components(x, 3):
        return _noise3(state, sides(x[0], px), sides(x[1], py), sides(x[2], pz))
    if has_components(x, 2):
        return _noise2(state, sides(x[0], px), sides(x[1], py))
    return _noise1(state, sides(x, px))


@written("_sides(x, period)")
def sides(x, period=None):
    """Return the lattice lines below and above x: of each its number, the way to x, its share, that share's slope."""
    lattice = floor(x)
    t = x - lattice
    fade = t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
    rate = (t * (t - 1.0)) * (t * (t - 1.0)) * 30.0
    below = int32(lattice)
    above = below + 1
    if period is not None:
        below, above = below % period, above % period
    return (uint32(below), t, 1.0 - fade, -rate), (uint32(above), t - 1.0, fade, rate)


@written("_slope(hash, axis, x)")
def _slope(hash, axis, x):
    """Return a component of the random slope of a corner, from -1 to 1: eight bits of its hash."""
    return type(x)(float32(bit_and(raw_shr(hash, 8 * axis), 255))) * (2.0 / 255.0) - 1.0


@written("_noise1(state, xs)")
def _noise1(state, xs):
    """Return the noise along a line: a sum over the two ends of a cell, `xs` from `sides`."""
    total = type(xs[0][1])(-0.0)
    for i, x, p, _ in xs:
        total += p * (_slope(rand_word(rand_next(state + i)), 0, x) * x)
    return total


@written("_noise2(state, xs, ys)")
def _noise2(state, xs, ys):
    """Return the noise in a plane: a sum over the four corners of a cell, `xs` and `ys` from `sides`."""
    total = type(xs[0][1])(-0.0)
    for i, x, p, _ in xs:
        hashed = rand_word(rand_next(state + i))
        for j, y, q, _ in ys:
            corner = rand_word(rand_next(hashed + j))
            total += p * q * (_slope(corner, 0, x) * x + _slope(corner, 1, y) * y)
    return total


@written("_noise3(state, xs, ys, zs)")
def _noise3(state, xs, ys, zs):
    """Return the noise in space: a sum over the eight corners of a cell, `xs`, `ys` and `zs` from `sides`."""
    total = type(xs[0][1])(-0.0)
    for i, x, p, _ in xs:
        hashed = rand_word(rand_next(state + i))
        for j, y, q, _ in ys:
            inner = rand_word(rand_next(hashed + j))
            for k, z, r, _ in zs:
                corner = rand_word(rand_next(inner + k))
                rise = _slope(corner, 0, x) * x + _slope(corner, 1, y) * y + _slope(corner, 2, z) * z
                total += p * q * r * rise
    return total


@written("_noise4(state, xs, ys, zs, ws)")
def _noise4(state, xs, ys, zs, ws):
    """Return the noise in four dimensions: a sum over the 16 corners of a cell, `xs` to `ws` from `sides`."""
    total = type(xs[0][1])(-0.0)
    for i, x, p, _ in xs:
        hashed = rand_word(rand_next(state + i))
        for j, y, q, _ in ys:
            inner = rand_word(rand_next(hashed + j))
            for k, z, r, _ in zs:
                innermost = rand_word(rand_next(inner + k))
                for n, w, s, _ in ws:
                    corner = rand_word(rand_next(innermost + n))
                    rise = _slope(corner, 0, x) * x + _slope(corner, 1, y) * y + _slope(corner, 2, z) * z
                    total += p * q * r * s * (rise + _slope(corner, 3, w) * w)
    return total


@written("curlnoise(state, x)", _in_a_field)
def curlnoise(state, x, /):
    """A field without sources, of noise: for a vec2 the rotated gradient of one noise, for a vec3 the curl of three.

    It is once differentiable.
    """
    xs, ys = sides(x[0]), sides(x[1])
    if has_components(x, 2):
        dx, dy = _gradient2(state, xs, ys)
        return vector(dy, -dx)
    zs = sides(x[2])
    _, ay, az = _gradient3(state, xs, ys, zs)
    bx, _, bz = _gradient3(state + 1, xs, ys, zs)
    cx, cy, _ = _gradient3(state + 2, xs, ys, zs)
    return vector(cy - bz, az - cx, bx - ay)


@written("_gradient2(state, xs, ys)")
def _gradient2(state, xs, ys):
    """Return the derivatives of `_noise2` by x and y."""
    dx = dy = type(xs[0][1])(-0.0)
    for i, x, p, dp in xs:
        hashed = rand_word(rand_next(state + i))
        for j, y, q, dq in ys:
            corner = rand_word(rand_next(hashed + j))
            a, b = _slope(corner, 0, x), _slope(corner, 1, y)
            rise = a * x + b * y
            dx = dx + dp * q * rise + p * q * a
            dy = dy + p * dq * rise + p * q * b
    return dx, dy


@written("_gradient3(state, xs, ys, zs)")
def _gradient3(state, xs, ys, zs):
    """Return the derivatives of `_noise3` by x, y and z."""
    dx = dy = dz = type(xs[0][1])(-0.0)
    for i, x, p, dp in xs:
        hashed = rand_word(rand_next(state + i))
        for j, y, q, dq in ys:
            inner = rand_word(rand_next(hashed + j))
            for k, z, r, dr in zs:
                corner = rand_word(rand_next(inner + k))
                a, b, c = _slope(corner, 0, x), _slope(corner, 1, y), _slope(corner, 2, z)
                rise = a * x + b * y + c * z
                dx = dx + dp * q * r * rise + p * q * r * a
                dy = dy + p * dq * r * rise + p * q * r * b
                dz = dz + p * q * dr * rise + p * q * r * c
    return dx, dy, dz
