"""Random numbers: a state of 32 bits that each draw advances; the same bits on every backend.

The generator is PCG-RXS-M-XS-32 (O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms
for Random Number Generation", HMC-CS-2014-0905): a linear congruential step, then a permutation of its bits. Step and
permutation together hash a seed (Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020). The period
is 2³²: with very many draws in one launch, streams of different threads meet.

Two hidden builtins hold the integer part; everything else is written in the kernel language. A draw advances the local
name that holds its state, in place; inside a func that is the func's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from workbench.builtins.declaration.declare import TABLE, builtin, written
from workbench.builtins.declaration.forms import low_word
from workbench.builtins.declaration.rules import WEAK_INT, Arg, Signature, Weak, check_count, integers, refuse
from workbench.builtins.scalars.bits import raw_shr
from workbench.builtins.scalars.maths import cbrt, cos, log, sin, sqrt
from workbench.builtins.scalars.operators import where
from workbench.errors import KernelTypeError
from workbench.types import VECTORS, Kind, Scalar, Type, Vector, float32, int32, is_integer, uint32, uint64

vec2, vec3 = VECTORS["vec2"], VECTORS["vec3"]


def _word(name: str, args: Sequence[Arg]) -> Signature:
    """Take one integer as uint32, and return a uint32."""
    _, t = integers(1)(name, args)
    word = t.with_dtype(uint32) if isinstance(t, Vector) else uint32
    return (word,), word


@builtin(
    _word, hidden=True, cuda="wb_rand_next({0})", differentiable="no: integers",
    prelude="WB_FN unsigned int wb_rand_next(unsigned int state) { return state * 747796405U + 2891336453U; }\n",
)  # fmt: skip
def rand_next(state):
    """The state after a draw."""
    return state * np.uint32(747796405) + np.uint32(2891336453)


@rand_next.expansion
def _(state):
    return state * 747796405 + 2891336453


@builtin(
    _word, hidden=True, cuda="wb_rand_word({0})", differentiable="no: integers",
    prelude="""
WB_FN unsigned int wb_rand_word(unsigned int state) {
    unsigned int word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737U;
    return (word >> 22) ^ word;
}
""",
)  # fmt: skip
def rand_word(state):
    """The 32 random bits of a state."""
    shift = (state >> np.uint32(28)) + np.uint32(4)
    word = ((state >> shift) ^ state) * np.uint32(277803737)
    return (word >> np.uint32(22)) ^ word


@rand_word.expansion
def _(state):
    xor = TABLE["bit_xor"]
    word = xor(raw_shr(state, raw_shr(state, 28) + 4), state) * 277803737
    return xor(raw_shr(word, 22), word)


def _seeds(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    check_count(name, args, "a seed, or a seed and an offset", 1, 2)
    for arg in args:
        if not (arg is WEAK_INT or (isinstance(arg, Scalar) and is_integer(arg))):
            raise refuse(name, args, "integers", "Write int(…).")
    return [None] * len(args)


def alone(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Take a state."""
    check_count(name, args, "a state", 1)
    return [None]


def bounds(type: Scalar) -> Callable[[str, Sequence[Arg]], Sequence[Type | None]]:
    """Take a state, or a state and two bounds of the type; integers become a float type, any float type is taken."""

    def takes(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
        check_count(name, args, "a state, or a state, low and high", 1, 3)
        return [None, *(bound(name, arg, type) for arg in args[1:])]

    return takes


def bound(name: str, arg: Arg, type: Scalar, what: str = "A bound") -> Type:
    """The type that a bound is brought to."""
    if type.kind is Kind.FLOAT and isinstance(arg, Scalar):
        return arg if arg.kind is Kind.FLOAT else type
    if isinstance(arg, Weak) or arg == type:
        return type
    raise KernelTypeError(f"{what} of {name}() is {type!r}; the value is {arg!r}.", advice=f"Write {type!r}(…).")


@written("rand_init(seed, offset=…)", _seeds)
def rand_init(seed, offset=None):
    """The first state (a uint32) of the stream of this seed, or of this seed and offset.

    Write `state = rand_init(seed, i)`. Different offsets (a thread's index, say) give different streams.
    """
    if offset is None:
        return rand_word(rand_next(low_word(seed)))
    return rand_word(rand_next(low_word(seed) + rand_word(rand_next(low_word(offset)))))


# Draws. Each returns the advanced state last; a call rebinds the name that holds it.


@written("randi(state, low=…, high=…)", bounds(int32), draws=True)
def randi(state, low=None, high=None, /):
    """A random int32: any of them, or one with low ≤ r < high; low if that range is empty."""
    state = rand_next(state)
    if low is None:
        return int32(rand_word(state)), state
    return _within(rand_word(state), low, high), state


@written("randu(state, low=…, high=…)", bounds(uint32), draws=True)
def randu(state, low=None, high=None, /):
    """A random uint32: any of them, or one with low ≤ r < high; low if that range is empty."""
    state = rand_next(state)
    if low is None:
        return rand_word(state), state
    return _within(rand_word(state), low, high), state


@written("_within(word, low, high)")
def _within(word, low, high):
    """The upper half of a product with the whole range: no division; the bias is at most span / 2³²."""
    span = where(high > low, uint32(high) - uint32(low), 0)
    return low + type(low)(uint32(raw_shr(uint64(word) * uint64(span), 32)))


@written("randf(state, low=…, high=…)", bounds(float32), draws=True)
def randf(state, low=None, high=None, /):
    """A random float32, a multiple of 2⁻²⁴ with 0 ≤ r < 1, or low + (high - low) * r.

    Differentiable in low and high.
    """
    state = rand_next(state)
    unit = float32(raw_shr(rand_word(state), 8)) * 2.0**-24
    if low is None:
        return unit, state
    return low + (high - low) * unit, state


@written("randn(state)", alone, draws=True)
def randn(state, /):
    """A random float32 of the standard normal distribution, by Box and Muller's transform of two draws.

    It is at most 5.77 in magnitude, and within 8 ulp on CPU and CUDA.
    """
    radius = sqrt(log(1.0 - randf(state)) * -2.0)
    return radius * cos(randf(state) * (2 * math.pi)), state


@written("_around(state)", draws=True)
def _around(state, /):
    """Cosine and sine of an angle of the whole circle."""
    angle = randf(state) * (2 * math.pi)
    return cos(angle), sin(angle), state


@written("sample_triangle(state)", alone, draws=True)
def sample_triangle(state, /):
    """Barycentric coordinates (vec2) of an even choice in a triangle."""
    root = sqrt(randf(state))
    return vec2(1.0 - root, randf(state) * root), state


@written("sample_unit_ring(state)", alone, draws=True)
def sample_unit_ring(state, /):
    """A vec2 of length 1, every direction as likely."""
    x, y = _around(state)
    return vec2(x, y), state


@written("sample_unit_disk(state)", alone, draws=True)
def sample_unit_disk(state, /):
    """A vec2, even in the unit disk."""
    root = sqrt(randf(state))
    x, y = _around(state)
    return vec2(x * root, y * root), state


@written("sample_unit_sphere_surface(state)", alone, draws=True)
def sample_unit_sphere_surface(state, /):
    """A vec3 of length 1, every direction as likely."""
    height = randf(state)
    radius = sqrt(height * (1.0 - height)) * 2.0
    x, y = _around(state)
    return vec3(x * radius, y * radius, 1.0 - height * 2.0), state


@written("sample_unit_sphere(state)", alone, draws=True)
def sample_unit_sphere(state, /):
    """A vec3, even in the unit ball."""
    surface = sample_unit_sphere_surface(state)
    return surface * cbrt(randf(state)), state


@written("sample_unit_hemisphere_surface(state)", alone, draws=True)
def sample_unit_hemisphere_surface(state, /):
    """A vec3 of length 1 with z ≥ 0, every such direction as likely."""
    height = randf(state)
    radius = sqrt((1.0 - height) * (1.0 + height))
    x, y = _around(state)
    return vec3(x * radius, y * radius, height), state


@written("sample_unit_hemisphere(state)", alone, draws=True)
def sample_unit_hemisphere(state, /):
    """A vec3, even in the half of the unit ball with z ≥ 0."""
    surface = sample_unit_hemisphere_surface(state)
    return surface * cbrt(randf(state)), state


@written("sample_unit_square(state)", alone, draws=True)
def sample_unit_square(state, /):
    """A vec2, even in the square of side 1 around the origin."""
    return vec2(randf(state) - 0.5, randf(state) - 0.5), state


@written("sample_unit_cube(state)", alone, draws=True)
def sample_unit_cube(state, /):
    """A vec3, even in the cube of side 1 around the origin."""
    return vec3(randf(state) - 0.5, randf(state) - 0.5, randf(state) - 0.5), state
