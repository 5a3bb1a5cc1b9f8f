"""`poisson(state, lam)`: a count of the Poisson distribution, as two loops of which at most one runs.

Up to a mean of 32 the distribution's sum is walked until it reaches one draw; beyond, Hörmann's PTRS (The transformed
rejection method for generating Poisson random variables, 1993) proposes counts, about 1.2 until it takes one. All in
float64: whether a proposal is taken decides how many numbers are drawn, so CPU and CUDA have to decide alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.builtins.declaration.declare import written
from workbench.builtins.declaration.rules import Arg, check_count
from workbench.builtins.scalars.maths import exp, log, sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.scalars.randoms import bound, randu
from workbench.builtins.scalars.rounding import floor
from workbench.types import Type, float32, float64, uint32


def _mean(name: str, args: Sequence[Arg]) -> Sequence[Type | None]:
    check_count(name, args, "a state and a mean", 2)
    return [None, bound(name, args[1], float32, "The mean")]


@written("poisson(state, lam)", _mean, draws=True)
def poisson(state, lam, /):
    """A random uint32 of the Poisson distribution of mean lam: 0 where lam is not positive.

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
    """A float64 with 0 < r < 1: the middles of 2³² equal parts."""
    return (float64(randu(state)) + 0.5) * 2.0**-32, state


@written("_walked(lam, unit)")
def _walked(lam, unit):
    """The first count whose probability, with those of all before it, reaches `unit`; 0 where lam is not in 0 … 32."""
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
    """PTRS: counts are proposed until one is taken, by two draws each; none is drawn where lam is at most 32."""
    spread = sqrt(max(lam, 32.0)) * 2.53 + 0.931
    count = float64(0.0)
    wanted = lam > 32.0
    while wanted:
        count, taken = _proposal(lam, spread, _unit(state), _unit(state))
        wanted = not taken
    return count, state


@written("_proposal(lam, spread, unit, level)")
def _proposal(lam, spread, unit, level):
    """A count, and whether it is taken: at once in the middle, else by its logarithmic probability."""
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
    """log(lamᵏ e⁻ˡᵃᵐ / k!), with Stirling's series: 1e-11 at k = 15; a 0, rarer than 1e-13 here, counts as a 1."""
    square = k * k
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / (square * 1260.0)) / square) / k
    return k * log(lam / k) + (k - lam) - log(k * (2 * math.pi)) * 0.5 - series
