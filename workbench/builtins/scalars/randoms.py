"""Random numbers: a state of 32 bits that each draw advances; the same bits on every backend.

The generator is PCG-RXS-M-XS-32 (O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms
for Random Number Generation", HMC-CS-2014-0905): a linear congruential step, then a permutation of its bits. Step and
permutation together hash a seed (Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020). The period
is 2³²: with very many draws in one launch, streams of different threads meet.

Two hidden builtins hold the integer part; everything else is written in the kernel language. A draw advances the local
name that holds its state, in place; inside a func that is the func's own.
"""

# The bodies are read by our compiler: to Python's checker, what a generic parameter has is unknown.
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from workbench.builtins.declaration.declare import TABLE, builtin, written
from workbench.builtins.declaration.forms import low_word
from workbench.builtins.declaration.rules import WEAK_INT, Arg, Signature, Weak, argument_error, check_count, integers
from workbench.builtins.scalars.bits import raw_shr
from workbench.builtins.scalars.maths import cbrt, cos, exp, log, sin, sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.scalars.rounding import floor
from workbench.errors import KernelTypeError
from workbench.types import VECTORS, Kind, Scalar, Type, Vector, float32, float64, int32, is_integer, uint32, uint64

vec2, vec3 = VECTORS["vec2"], VECTORS["vec3"]


def _word(name: str, args: Sequence[Arg]) -> Signature:
    """Return the types of an operation from uint32 to uint32, component by component; other integers are converted."""
    _, t = integers(1)(name, args)
    word = t.with_dtype(uint32) if isinstance(t, Vector) else uint32
    return (word,), word


@builtin(
    _word,
    hidden=True,
    cuda="wb_rand_next({0})",
    differentiable="no: integers",
    prelude="WB_FN unsigned int wb_rand_next(unsigned int state) { return state * 747796405U + 2891336453U; }\n",
)
def rand_next(state):
    """Return the state after a draw."""
    return state * np.uint32(747796405) + np.uint32(2891336453)


rand_next.expansion(lambda state: state * 747796405 + 2891336453)


@builtin(
    _word,
    hidden=True,
    cuda="wb_rand_word({0})",
    differentiable="no: integers",
    prelude="""
WB_FN unsigned int wb_rand_word(unsigned int state) {
    unsigned int word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737U;
    return (word >> 22) ^ word;
}
""",
)
def rand_word(state):
    """Return the 32 random bits of a state."""
    shift = (state >> np.uint32(28)) + np.uint32(4)
    word = ((state >> shift) ^ state) * np.uint32(277803737)
    return (word >> np.uint32(22)) ^ word


@rand_word.expansion
def _(state):
    """Emit `rand_word(state)` by other builtins, and return its result."""
    xor = TABLE["bit_xor"]
    word = xor(raw_shr(state, raw_shr(state, 28) + 4), state) * 277803737
    return xor(raw_shr(word, 22), word)


def _seeds(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check the arguments of `rand_init`: one or two integers.

    Returns:
        None for each: they stay as they are.

    Raises:
        KernelTypeError: they are something else.
    """
    check_count(name, args, "a seed, or a seed and an offset", 1, 2)
    for arg in args:
        if not (arg is WEAK_INT or (isinstance(arg, Scalar) and is_integer(arg))):
            raise argument_error(name, args, "integers", "Write int(…).")
    return [None] * len(args)


def alone(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check that the only argument is a state, and return that it stays as it is."""
    check_count(name, args, "a state", 1)
    return [None]


def bounds(type: Scalar) -> Callable[[str, Sequence[Arg]], Sequence[Type | None]]:
    """Return the function that checks the arguments of a draw: a state, or a state and two bounds of the type.

    Of a float type bounds may be of any float type, and integers become floats.
    """

    def takes(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
        check_count(name, args, "a state, or a state, low and high", 1, 3)
        return [None, *(bound(name, arg, type) for arg in args[1:])]

    return takes


def bound(name: str, arg: Arg, type: Scalar, what: str = "A bound") -> Type:
    """Return the type that a bound of a random number, or another argument, is converted to.

    Of a float `type`, any number is taken: a float keeps its type, and others get `type`.

    Raises:
        KernelTypeError: `type` is an integer type, and the argument has another one and is no literal.
    """
    if type.kind is Kind.FLOAT and isinstance(arg, Scalar):
        return arg if arg.kind is Kind.FLOAT else type
    if isinstance(arg, Weak) or arg == type:
        return type
    raise KernelTypeError(f"{what} of {name}() is {type!r}; the value is {arg!r}.", advice=f"Write {type!r}(…).")


@written("rand_init(seed, offset=…)", _seeds)
def rand_init(seed, offset=None):
    """Return the first state (a uint32) of the stream of this seed, or of this seed and offset.

    Write `state = rand_init(seed, i)`. Different offsets (a thread's index, say) give different streams.
    """
    if offset is None:
        return rand_word(rand_next(low_word(seed)))
    return rand_word(rand_next(low_word(seed) + rand_word(rand_next(low_word(offset)))))


# Draws. Each returns the advanced state last; a call rebinds the name that holds it.


@written("randi(state, low=…, high=…)", bounds(int32), draws=True)
def randi(state, low=None, high=None, /):
    """Return a random int32: any of them, or one with low ≤ r < high; low if that range is empty."""
    state = rand_next(state)
    if low is None:
        return int32(rand_word(state)), state
    return _within(rand_word(state), low, high), state


@written("randu(state, low=…, high=…)", bounds(uint32), draws=True)
def randu(state, low=None, high=None, /):
    """Return a random uint32: any of them, or one with low ≤ r < high; low if that range is empty."""
    state = rand_next(state)
    if low is None:
        return rand_word(state), state
    return _within(rand_word(state), low, high), state


@written("_within(word, low, high)")
def _within(word, low, high):
    """Return low plus the upper half of a word times the range, without a division; the bias is at most span / 2³²."""
    span = where(high > low, uint32(high) - uint32(low), 0)
    return low + type(low)(uint32(raw_shr(uint64(word) * uint64(span), 32)))


@written("randf(state, low=…, high=…)", bounds(float32), draws=True)
def randf(state, low=None, high=None, /):
    """Return a random float32, a multiple of 2⁻²⁴ with 0 ≤ r < 1, or low + (high - low) * r.

    Differentiable in low and high.
    """
    state = rand_next(state)
    unit = float32(raw_shr(rand_word(state), 8)) * 2.0**-24
    if low is None:
        return unit, state
    return low + (high - low) * unit, state


@written("randn(state)", alone, draws=True)
def randn(state, /):
    """Return a random float32 of the standard normal distribution, by Box and Muller's transform of two draws.

    It is at most 5.77 in magnitude, and within 8 ulp on CPU and CUDA.
    """
    radius = sqrt(log(1.0 - randf(state)) * -2.0)
    return radius * cos(randf(state) * (2 * math.pi)), state


@written("_around(state)", draws=True)
def _around(state, /):
    """Draw an angle of the whole circle; return its cosine and its sine."""
    angle = randf(state) * (2 * math.pi)
    return cos(angle), sin(angle), state


@written("sample_triangle(state)", alone, draws=True)
def sample_triangle(state, /):
    """Barycentric coordinates (vec2) of an even choice in a triangle."""
    root = sqrt(randf(state))
    return vec2(1.0 - root, randf(state) * root), state


@written("sample_unit_ring(state)", alone, draws=True)
def sample_unit_ring(state, /):
    """Return a vec2 of length 1, every direction as likely."""
    x, y = _around(state)
    return vec2(x, y), state


@written("sample_unit_disk(state)", alone, draws=True)
def sample_unit_disk(state, /):
    """Return a vec2, even in the unit disk."""
    root = sqrt(randf(state))
    x, y = _around(state)
    return vec2(x * root, y * root), state


@written("sample_unit_sphere_surface(state)", alone, draws=True)
def sample_unit_sphere_surface(state, /):
    """Return a vec3 of length 1, every direction as likely."""
    height = randf(state)
    radius = sqrt(height * (1.0 - height)) * 2.0
    x, y = _around(state)
    return vec3(x * radius, y * radius, 1.0 - height * 2.0), state


@written("sample_unit_sphere(state)", alone, draws=True)
def sample_unit_sphere(state, /):
    """Return a vec3, even in the unit ball."""
    surface = sample_unit_sphere_surface(state)
    return surface * cbrt(randf(state)), state


@written("sample_unit_hemisphere_surface(state)", alone, draws=True)
def sample_unit_hemisphere_surface(state, /):
    """Return a vec3 of length 1 with z ≥ 0, every such direction as likely."""
    height = randf(state)
    radius = sqrt((1.0 - height) * (1.0 + height))
    x, y = _around(state)
    return vec3(x * radius, y * radius, height), state


@written("sample_unit_hemisphere(state)", alone, draws=True)
def sample_unit_hemisphere(state, /):
    """Return a vec3, even in the half of the unit ball with z ≥ 0."""
    surface = sample_unit_hemisphere_surface(state)
    return surface * cbrt(randf(state)), state


@written("sample_unit_square(state)", alone, draws=True)
def sample_unit_square(state, /):
    """Return a vec2, even in the square of side 1 around the origin."""
    return vec2(randf(state) - 0.5, randf(state) - 0.5), state


@written("sample_unit_cube(state)", alone, draws=True)
def sample_unit_cube(state, /):
    """Return a vec3, even in the cube of side 1 around the origin."""
    return vec3(randf(state) - 0.5, randf(state) - 0.5, randf(state) - 0.5), state


def _mean(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    """Check the arguments of `poisson`: a state and a mean.

    Returns:
        The types to convert them to: None for the state, which stays, and float32.

    Raises:
        KernelTypeError: they are something else.
    """
    check_count(name, args, "a state and a mean", 2)
    return [None, bound(name, args[1], float32, "The mean")]


@written("poisson(state, lam)", _mean, draws=True)
def poisson(state, lam, /):
    """Return a random uint32 of the Poisson distribution of mean lam: 0 where lam is not positive.

    A mean above 4e9 counts as 4e9. Up to lam = 32 by walking the distribution's sum (one draw, about lam steps), beyond
    by Hörmann's PTRS (1993; three draws, now and then five or more), both in float64. No gradient flows to lam.
    """
    lam = float64(lam)
    lam = where(lam > 4e9, 4e9, lam)  # counts stay in a uint32
    walked = _walked(lam, _unit(state))
    proposed = _proposed(state, lam)
    return uint32(where(lam > 32.0, proposed, walked)), state


@written("_unit(state)", draws=True)
def _unit(state, /):
    """Return a float64 with 0 < r < 1: the middles of 2³² equal parts."""
    return (float64(randu(state)) + 0.5) * 2.0**-32, state


@written("_walked(lam, unit)")
def _walked(lam, unit):
    """Return the first count up to which probabilities sum up to `unit`; 0 where lam is not in 0 … 32."""
    count = float64(0.0)
    left = where(lam <= 32.0, unit, 0.0)
    chance = exp(-lam)
    while left > chance:
        count += 1.0
        left -= chance
        chance *= lam / count
    return count


@written("_proposed(state, lam)", draws=True)
def _proposed(state, lam, /):
    """Draw a count by PTRS: propose one, by two draws, until it is taken; 0 without a draw where lam is at most 32."""
    spread = sqrt(max(lam, 32.0)) * 2.53 + 0.931
    count = float64(0.0)
    wanted = lam > 32.0
    while wanted:
        count, taken = _proposal(lam, spread, _unit(state), _unit(state))
        wanted = not taken
    return count, state


@written("_proposal(lam, spread, unit, level)")
def _proposal(lam, spread, unit, level):
    """Return a count, and whether it is taken: at once in the middle, else by its logarithmic probability."""
    side = unit - 0.5
    edge = 0.5 - abs(side)
    slope = spread * 0.02483 - 0.059
    count = floor((slope * 2.0 / edge + spread) * side + lam + 0.43)
    level_at_once = 0.9277 - 3.6224 / (spread - 2.0)
    hat = 1.1239 + 1.1328 / (spread - 3.4)
    height = log(level * hat / (slope / (edge * edge) + spread))
    taken = height <= _log_probability(lam, max(count, 1.0))
    taken = where(count < 0.0, False, taken)
    taken = where(edge < 0.013, where(level > edge, False, taken), taken)
    return count, where(edge >= 0.07, where(level <= level_at_once, True, taken), taken)


@written("_log_probability(lam, k)")
def _log_probability(lam, k):
    """Return log(lamᵏ e⁻ˡᵃᵐ / k!), with Stirling's series: 1e-11 at k = 15; a 0, rarer than 1e-13, counts as a 1."""
    square = k * k
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / (square * 1260.0)) / square) / k
    return k * log(lam / k) + (k - lam) - log(k * (2 * math.pi)) * 0.5 - series
