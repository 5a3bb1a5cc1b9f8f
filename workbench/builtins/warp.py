"""Meanings of some names in Warp 1.19, written in the language: those whose numbers are not ours.

A kernel that requests Warp's meaning (see `workbench.compat.warp`) calls these instead. Facts about Warp are read in
its native headers. Its noise is Perlin's, of slopes of length 1 that primes and a hash draw for each lattice point.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from workbench.builtins.declaration.declare import STATE, TABLE, Form, Takes, written
from workbench.builtins.declaration.forms import has_components, slope, vector
from workbench.builtins.declaration.rules import NUMBER, QUATERNION, Arg, kinds
from workbench.builtins.scalars.bits import raw_shr
from workbench.builtins.scalars.extrema import abs
from workbench.builtins.scalars.maths import acos, asin, cos, log, sin, sqrt
from workbench.builtins.scalars.noises import at_point, corners, share, sides, with_periods
from workbench.builtins.scalars.operators import where
from workbench.builtins.scalars.randoms import alone, bounds, rand_init, rand_next, rand_word
from workbench.builtins.scalars.rounding import floor, fmod, trunc
from workbench.builtins.scalars.search import search_between, searched
from workbench.builtins.tile_algorithms import complex_rows, tile_fourier
from workbench.builtins.tiles import (
    block_dim,
    tile,
    tile_assign,
    tile_extract,
    tile_full,
    tile_reshape,
    tile_zeros,
)
from workbench.builtins.vectors.rotations import quat_from_axis_angle, quat_inverse, quat_to_axis_angle
from workbench.errors import KernelTypeError
from workbench.types import VECTORS, Scalar, Type, float32, int32, uint32

Kind = Literal["int", "float", "form"]
MEANINGS: dict[tuple[str, Kind], Form] = {}
"""The forms for Warp's meanings, by name and type of operands; "form" for a name that is no elementwise operation."""
vec3 = VECTORS["vec3"]
bit_xor = TABLE["bit_xor"]


def _means(name: str, *kinds: Kind, takes: Takes | None = None, draws: bool = False) -> Callable[..., Form]:
    """Declare what a name means in Warp, by a decorator of a function of the kernel language; it becomes a `Form`.

    Args:
        name: of the language.
        kinds: the types of operands for which it has that meaning; "form" for a name that is no elementwise
            operation.
        takes: from the types of the arguments to those that the function takes; None: they stay as they are.
        draws: the first parameter is a random state; the function returns the advanced state after its results.
    """

    def declare(body: Callable[..., Any]) -> Form:
        form = Form(name, name, body.__doc__ or "", STATE if draws else None, body, takes)
        MEANINGS.update({(name, kind): form for kind in kinds})
        return form

    return declare


@_means("div", "int")
def div(x, y):
    """Return the quotient of integers, rounded towards zero, as in C."""
    return where(x % y != 0 and (x < 0) != (y < 0), x // y + 1, x // y)


MEANINGS["cw_div", "int"] = div


@_means("mod", "int")
def mod(x, y):
    """Return the remainder of x / y, with the sign of x, as in C."""
    r = x % y
    return where(r != 0 and (x < 0) != (y < 0), r - y, r)


@_means("mod", "float")
def float_mod(x, y):
    """Return the remainder of x / y, with the sign of x, as in C."""
    return fmod(x, y)


@_means("floordiv", "float")
def floordiv(x, y):
    """Return the quotient x / y as a float, rounded down after the division was rounded."""
    return floor(x / y)


@_means("min", "float")
def min(x, y):
    """Return the smaller one, or the other one if one is NaN; at a tie y has the gradient."""
    return where(x < y or y != y, x, y)


@_means("max", "float")
def max(x, y):
    """Return the larger one, or the other one if one is NaN; at a tie y has the gradient."""
    return where(x > y or y != y, x, y)


@_means("clamp", "float")
def clamp(x, low, high):
    """Return x within the bounds; a bound if x is NaN."""
    return min(max(low, x), high)


@_means("sign", "int", "float")
def sign(x):
    """Return the sign of x as -1 or 1; 1 at 0."""
    return where(x < type(x)(0), type(x)(-1), type(x)(1))


@_means("step", "int", "float")
def step(x):
    """Return 1 below 0, else 0."""
    return where(x < type(x)(0), type(x)(1), type(x)(0))


@_means("round", "float")
def round(x):
    """Return x rounded to a whole number, halves away from zero."""
    truncated = trunc(x)
    return where(abs(x - truncated) >= 0.5, truncated + where(x < 0.0, type(x)(-1), type(x)(1)), truncated)


@_means("acos", "float")
def arc_cosine(x):
    """Return the arc cosine; beyond -1 and 1, that of the nearer of the two."""
    return acos(clamp(x, -1.0, 1.0))


@_means("asin", "float")
def arc_sine(x):
    """Return the arc sine; beyond -1 and 1, that of the nearer of the two."""
    return asin(clamp(x, -1.0, 1.0))


@_means("lower_bound", "form", takes=searched)
def lower_bound(array, begin, end=None, value=None, /):
    """Return the first index whose element is not below the value; the last index if all are below it."""
    size = len(array)
    if value is None:
        return search_between(array, type(size)(0), size - 1, begin)
    low, high = type(size)(begin), type(size)(end)  # pyright: ignore[reportArgumentType]
    return search_between(array, where(low < 0, 0, low), where(high < size, high, size) - 1, value)


@_means("tile_ifft", "form", takes=complex_rows)
def tile_ifft(x, /):
    """Return the inverse Fourier transform without the division by the number of elements."""
    return tile_fourier(x, x.dtype.dtype(-1.0))


# Draws: the next state is the drawn word itself.


@written("_word(state)")
def _word(state):
    """Return the next state, which is also the 32 bits that are drawn."""
    return rand_word(rand_next(state))


@written("_unit(word)")
def _unit(word):
    """Return the upper 24 of 32 bits as a float32 from 0 to below 1."""
    return float32(raw_shr(word, 8)) * 2.0**-24


@_means("randi", "form", takes=bounds(int32), draws=True)
def randi(state, low=None, high=None, /):
    """Return a random int32; within bounds, the remainder of a word by their distance."""
    state = _word(state)
    return _as_int(state, low, high), state


@written("_as_int(word, low, high)")
def _as_int(word, low, high):
    """Return a random word as an int32: all its bits, or within bounds, `low` plus its remainder by their distance."""
    return int32(word) if low is None else int32(word % (uint32(high) - uint32(low))) + low


@_means("randu", "form", takes=bounds(uint32), draws=True)
def randu(state, low=None, high=None, /):
    """Return a random uint32; within bounds, the remainder of a word by their distance."""
    state = _word(state)
    if low is None:
        return state, state
    return state % (high - low) + low, state


@_means("randf", "form", takes=bounds(float32), draws=True)
def randf(state, low=None, high=None, /):
    """Return a float32 drawn from [0, 1) or between bounds, by 24 bits of the next word."""
    state = _word(state)
    return _as_float(state, low, high), state


@written("_as_float(word, low, high)")
def _as_float(word, low, high):
    """Return a random word as a float32 in [0, 1), or between bounds if they are set."""
    return _unit(word) if low is None else (high - low) * _unit(word) + low


@_means("randn", "form", takes=alone, draws=True)
def randn(state, /):
    """Return a normal float32 by Box and Muller's transform of a draw that is moved away from 0."""
    radius = sqrt(log(randf(state) + 5.96e-8) * -2.0)
    return radius * cos(randf(state) * (2 * math.pi)), state


@written("_tile_drawn(tile, rng, of_word, low, high)")
def _tile_drawn(tile, rng, of_word, low, high):
    """Return the tile with draws as elements: each thread of a block has a state of its own, and every n-th element."""
    flat, n = tile_reshape(tile, (tile.size,)), block_dim()
    for thread in range(n):
        state = _word(uint32(thread) + rng)
        for k in range(thread, tile.size, n):
            state = _word(state)
            tile_assign(flat, tile_full((1,), of_word(state, low, high), dtype=tile.dtype), (k,))
    return tile_reshape(flat, tile.shape)


@_means("tile_randi", "form")
def tile_randi(shape, rng, min=None, max=None, storage=None):
    """Return a tile of random int32 that a state starts, which stays as it is."""
    return _tile_drawn(tile_zeros(shape, dtype=int32), rng, _as_int, min, max)


@_means("tile_randf", "form")
def tile_randf(shape, rng, min=None, max=None, storage=None):
    """Return a tile of random float32 that a state starts, which stays as it is."""
    return _tile_drawn(tile_zeros(shape, dtype=float32), rng, _as_float, min, max)


@_means("tile_from_thread", "form")
def tile_from_thread(shape, value, thread_idx, storage=None):
    """Return a tile with one thread's value everywhere."""
    return tile_full(shape, tile_extract(tile(value, preserve_type=True), thread_idx))


@_means("sample_unit_hemisphere_surface", "form", takes=alone, draws=True)
def sample_unit_hemisphere_surface(state, /):
    """Return a random point, uniform on the unit hemisphere; the first draw is its height below the pole."""
    depth = randf(state)
    radius = sqrt(depth * (2.0 - depth))
    angle = randf(state) * (2 * math.pi)
    return vec3(radius * cos(angle), radius * sin(angle), 1.0 - depth), state


@_means("sample_unit_hemisphere", "form", takes=alone, draws=True)
def sample_unit_hemisphere(state, /):
    """Return a random point in the unit hemisphere; the first draw is its direction's height below the pole."""
    surface = sample_unit_hemisphere_surface(state)
    return surface * randf(state) ** (1.0 / 3.0), state


@_means("quat_slerp", "form", takes=kinds(QUATERNION, QUATERNION, NUMBER))
def quat_slerp(a, b, t, /):
    """Return the rotation at t from a to b, by the axis and the angle between them: also where they are no units."""
    axis, angle = quat_to_axis_angle(quat_inverse(a) * b)
    return a * quat_from_axis_angle(axis, t * angle)


@_means("noise", "form", takes=at_point)
def noise(state, x, /):
    """Perlin noise at x, as in Warp."""
    return _noise(state, x)


@_means("pnoise", "form", takes=with_periods)
def pnoise(state, x, px, py=None, pz=None, pw=None, /):
    """Return Perlin noise with periods; below 0 it does not repeat."""
    return _noise(state, x, px, py, pz, pw)


def _with_octaves(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check the arguments of `curlnoise`: a state, a point of 2 to 4 dimensions, perhaps octaves, lacunarity and gain.

    Returns:
        The types to convert them to; None for what stays as it is.

    Raises:
        KernelTypeError: they are something else.
    """
    at_point(name, args[:2])
    if isinstance(args[1], Scalar) or len(args) > 5:
        raise KernelTypeError(f"{name}() takes a state, a vector of 2 to 4 floats, octaves, lacunarity and gain.")
    return [None, None, uint32, float32, float32][: len(args)]


@_means("curlnoise", "form", takes=_with_octaves)
def curlnoise(state, xyz, octaves=None, lacunarity=None, gain=None, /):
    """Return a field without sources: the rotated gradient of Warp's noise, or the curl of three, summed over octaves.

    Each octave has `lacunarity` times the frequency of the one before, and `gain` times its height.
    """
    count = 1 if octaves is None else int32(octaves)
    rate = 2.0 if lacunarity is None else lacunarity
    decay = 0.5 if gain is None else gain
    frequency, height = 1.0, 1.0
    a = xyz * 0.0
    b, c = a, a
    for _ in range(count):
        at = xyz * frequency
        a += height * slope(_noise)(state, at)
        if not has_components(xyz, 2):
            state = rand_init(int32(state), 10019689)
            b += height * slope(_noise)(state, at)
            state = rand_init(int32(state), 13112221)
            c += height * slope(_noise)(state, at)
        height *= decay
        frequency *= rate
    if has_components(xyz, 2):
        return vector(-a[1], a[0])
    return vector(c[1] - b[2], a[2] - c[0], b[0] - a[1])


@written("_noise(state, x, px, py, pz, pw)")
def _noise(state, x, px=None, py=None, pz=None, pw=None):
    """Return Warp's noise at a point of one to four dimensions; px, py, … are its periods, if it repeats."""
    if has_components(x, 4):
        xs, ys, zs = _lines(x[0], px, 73856093), _lines(x[1], py, 19349663), _lines(x[2], pz, 53471161)
        return _summed((xs, ys, zs, _lines(x[3], pw, 10000019, state)))
    if has_components(x, 3):
        xs, ys = _lines(x[0], px, 73856093), _lines(x[1], py, 19349663)
        return _summed((xs, ys, _lines(x[2], pz, 53471161, state)))
    if has_components(x, 2):
        return _summed((_lines(x[0], px, 73856093), _lines(x[1], py, 19349663, state)))
    total = type(x)(0.0)
    for number, way, part, _ in _lines(x, px, 73856093, state):
        total += part * way * (_unit(_word(number)) * 2.0 - 1.0)
    return total


@written("_lines(x, period, prime, state)")
def _lines(x, period, prime, state=None):
    """Return the lattice lines below and above x as `sides` does, their numbers times a prime, plus a state."""
    below, above = sides(x)
    i, j = int32(below[0]), int32(above[0])
    if period is not None:
        i = mod(i, period)
        j = mod(i + 1, period)
    m, n = uint32(i) * prime, uint32(j) * prime
    if state is not None:
        m, n = m + state, n + state
    return (m,) + below[1:], (n,) + above[1:]  # noqa: RUF005


@written("_summed(axes)")
def _summed(axes):
    """Return Warp's noise in a cell: the heights of planes through its corners, summed by their shares."""
    total = type(axes[0][0][1])(0.0)
    for hashed, along in corners(uint32(0), axes, bit_xor):
        total += share(along, -1) * _rise(hashed, along)
    return total


@written("_rise(state, along)")
def _rise(state, along):
    """Return the height at the point of the plane through a corner whose slope the state draws."""
    state = _word(state)
    slope = _unit(state) - 0.5
    height, square = slope * along[0][1], slope * slope
    for line in along[1:]:
        state = _word(state)
        slope = _unit(state) - 0.5
        height, square = height + slope * line[1], square + slope * slope
    return height / sqrt(square)
