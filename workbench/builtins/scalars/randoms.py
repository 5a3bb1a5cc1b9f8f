"""Random numbers: a state of 32 bits that each draw advances; the same bits on every backend.

The generator is PCG-RXS-M-XS-32 (O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms
for Random Number Generation", HMC-CS-2014-0905): a linear congruential step, then a permutation of its bits. Step and
permutation together hash a seed (Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020). The period
is 2³²: with very many draws in one launch, streams of different threads meet.

Two hidden builtins hold the integer part; everything else is made of them by `frontend.randoms`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.builtins.declaration.declare import TABLE, builtin, form
from workbench.builtins.declaration.rules import Arg, Signature, integers
from workbench.builtins.scalars.bits import raw_shr
from workbench.types import Vector, uint32


def _word(name: str, args: Sequence[Arg]) -> Signature:
    """One integer, taken as uint32, to a uint32."""
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


_DRAW = "It advances the local name `state` in place; inside a func that is the func's own."

form(
    "rand_init(seed, offset=…)",
    "The first state (a uint32) of the stream of this seed, or of this seed and offset: `state = rand_init(seed, i)`. "
    "Different offsets (a thread's index, say) give different streams.",
)
form("randi(state, low=…, high=…)", f"A random int32, of all or of low ≤ r < high (low where there is none). {_DRAW}")
form("randu(state, low=…, high=…)", f"A random uint32, of all or of low ≤ r < high (low where there is none). {_DRAW}")
form(
    "randf(state, low=…, high=…)",
    "A random float32, a multiple of 2⁻²⁴ with 0 ≤ r < 1, or low + (high - low) * r. Differentiable in low and high. "
    f"{_DRAW}",
)
form(
    "randn(state)",
    "A random float32 of the standard normal distribution, by Box and Muller's transform of two draws: at most 5.77 in "
    f"magnitude. Within 8 ulp on CPU and CUDA. {_DRAW}",
)
form(
    "poisson(state, lam)",
    "A random uint32 of the Poisson distribution of mean lam: 0 where lam is not positive; a mean above 4e9 counts as "
    "4e9. Up to lam = 32 by walking the distribution's sum (one draw, about lam steps), beyond by Hörmann's PTRS "
    f"(1993; three draws, now and then five or more), both in float64. No gradient flows to lam. {_DRAW}",
)
form("sample_triangle(state)", f"Barycentric coordinates (vec2) of an even choice in a triangle. {_DRAW}")
form("sample_unit_ring(state)", f"A vec2 of length 1, every direction as likely. {_DRAW}")
form("sample_unit_disk(state)", f"A vec2, even in the unit disk. {_DRAW}")
form("sample_unit_sphere_surface(state)", f"A vec3 of length 1, every direction as likely. {_DRAW}")
form("sample_unit_sphere(state)", f"A vec3, even in the unit ball. {_DRAW}")
form("sample_unit_hemisphere_surface(state)", f"A vec3 of length 1 with z ≥ 0, every such direction as likely. {_DRAW}")
form("sample_unit_hemisphere(state)", f"A vec3, even in the half of the unit ball with z ≥ 0. {_DRAW}")
form("sample_unit_square(state)", f"A vec2, even in the square of side 1 around the origin. {_DRAW}")
form("sample_unit_cube(state)", f"A vec3, even in the cube of side 1 around the origin. {_DRAW}")
