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
    return _noise(state, lines(x))


@written("pnoise(state, x, px, …)", with_periods)
def pnoise(state, x, px, py=None, pz=None, pw=None, /):
    """noise that repeats: px, py, … (one positive int32 for each component of x) are the periods along the axes."""
    return _noise(state, lines(x, px, py, pz, pw))


@written("_lines(x, px, py, pz, pw)")
def lines(x, px=None, py=None, pz=None, pw=None):
    """Return for each axis the lattice lines below and above a point of one to four dimensions, from `sides`."""
    if has_components(x, 4):
        return sides(x[0], px), sides(x[1], py), sides(x[2], pz), sides(x[3], pw)
    if has_components(x, 3):
        return sides(x[0], px), sides(x[1], py), sides(x[2], pz)
    if has_components(x, 2):
        return sides(x[0], px), sides(x[1], py)
    return (sides(x, px),)


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


@written("_corners(start, axes, mixed)")
def corners(start, axes, mixed):
    """Return the corners of a cell: of each its hash, and of each axis the line that it is on.

    `mixed` is a function of the hash on the lines so far, at first `start`, and of the number of one more.
    """
    result = [(start, ())]
    for ends in axes:
        result = [(mixed(hashed, line[0]), along + (line,)) for hashed, along in result for line in ends]  # noqa: RUF005
    return tuple(result)


@written("_hashed(hash, number)")
def _hashed(hash, number):
    """Return the hash of a hash and the number of a lattice line."""
    return rand_word(rand_next(hash + number))


@written("_share(along, axis)")
def share(along, axis):
    """Return a corner's share: the product of its lines'; of one axis, by its number, the share's slope instead."""
    factors = tuple(line[3] if k == axis else line[2] for k, line in enumerate(along))
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return product


@written("_rise(slopes, along)")
def _rise(slopes, along):
    """Return the height at the point of a plane through a corner, by its slopes along the axes."""
    height = slopes[0] * along[0][1]
    for slope, line in zip(slopes[1:], along[1:]):  # noqa: B905
        height = height + slope * line[1]
    return height


@written("_slopes(hash, along)")
def _slopes(hash, along):
    """Return the random slopes of a corner, from -1 to 1."""
    return tuple(_slope(hash, k, along[k][1]) for k in range(len(along)))


@written("_noise(state, axes)")
def _noise(state, axes):
    """Return the noise in a cell: the heights by the slopes of its corners, summed by their shares."""
    total = type(axes[0][0][1])(-0.0)
    for hashed, along in corners(state, axes, _hashed):
        total += share(along, -1) * _rise(_slopes(hashed, along), along)
    return total


@written("curlnoise(state, x)", _in_a_field)
def curlnoise(state, x, /):
    """A field without sources, of noise: for a vec2 the rotated gradient of one noise, for a vec3 the curl of three.

    It is once differentiable.
    """
    if has_components(x, 2):
        dx, dy = _gradient(state, lines(x))
        return vector(dy, -dx)
    _, ay, az = _gradient(state, lines(x))
    bx, _, bz = _gradient(state + 1, lines(x))
    cx, cy, _ = _gradient(state + 2, lines(x))
    return vector(cy - bz, az - cx, bx - ay)


@written("_gradient(state, axes)")
def _gradient(state, axes):
    """Return the derivatives of `_noise` along the axes."""
    zero = type(axes[0][0][1])(-0.0)
    total = tuple(zero for _ in axes)
    for hashed, along in corners(state, axes, _hashed):
        slopes = _slopes(hashed, along)
        rise = _rise(slopes, along)
        total = tuple(total[k] + share(along, k) * rise + share(along, -1) * slopes[k] for k in range(len(axes)))
    return total
