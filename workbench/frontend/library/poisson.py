"""`poisson(state, lam)`: a count of the Poisson distribution, as two loops of which at most one runs.

Up to a mean of 32 the distribution's sum is walked until it reaches one draw; beyond, Hörmann's PTRS (The transformed
rejection method for generating Poisson random variables, 1993) proposes counts, about 1.2 until it takes one. All in
float64: whether a proposal is taken decides how many numbers are drawn, so CPU and CUDA have to decide alike.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from workbench.builtins.declaration.refs import Ref
from workbench.builtins.scalars.extrema import abs as magnitude
from workbench.builtins.scalars.extrema import max as larger
from workbench.builtins.scalars.maths import exp, log, sqrt
from workbench.builtins.scalars.operators import where
from workbench.builtins.scalars.rounding import floor
from workbench.frontend.library import randoms
from workbench.frontend.state.coerce import usable
from workbench.frontend.state.context import Context
from workbench.frontend.state.operands import Literal, Operand
from workbench.ir.values import Value
from workbench.types import bool as truth
from workbench.types import float64, uint32

Expression = Callable[[Context, ast.expr], Operand]

WALKED = 32.0  # the largest mean that is walked
LARGEST = 4e9  # the largest mean: counts stay in a uint32


def _poisson(context: Context, node: ast.Call, expression: Expression) -> Operand:
    mean = usable(context, expression(context, node.args[1])) if len(node.args) == 2 else Literal(0)
    stream = randoms.stream(context, node, 2, 2, "a state and a mean")
    lam = randoms.float_bound(context, mean, "The mean of poisson()").cast(float64)
    lam = where(lam > LARGEST, lam.like(LARGEST), lam)
    walked = _walk(lam, _unit(stream))
    return where(lam > WALKED, _propose(context, stream, lam), walked).cast(uint32).value


def _unit(stream: randoms.Stream) -> Ref:
    """A float64 with 0 < r < 1: the middles of 2³² equal parts."""
    return (stream.word().cast(float64) + 0.5) * 2.0**-32


def _walk(lam: Ref, unit: Ref) -> Ref:
    """The first count whose probability, with those of all before it, reaches `unit`; 0 where lam is not in 0 … 32."""
    builder = lam.builder
    first = (lam.like(0).value, where(lam <= WALKED, unit, lam.like(0)).value, exp(-lam).value)
    names = ("count", "left", "chance")
    asked = [Value(float64, n) for n in names]
    with builder.block(asked) as asking:
        builder.yield_((Ref(builder, asked[1]) > Ref(builder, asked[2])).value)
    walked = [Value(float64, n) for n in names]
    with builder.block(walked) as walking:
        count, left, chance = (Ref(builder, v) for v in walked)
        following = count + 1.0
        builder.yield_(following.value, (left - chance).value, (chance * (lam / following)).value)
    return Ref(builder, builder.while_(first, asking.block, walking.block)[0])


def _propose(context: Context, stream: randoms.Stream, lam: Ref) -> Ref:
    """PTRS: counts are proposed until one is taken; advances the stream by two a proposal, where lam is above 32."""
    builder = context.builder
    spread = sqrt(larger(lam, WALKED)) * 2.53 + 0.931
    state = context.env[stream.name]
    assert isinstance(state, Value)
    first = (state, lam.like(0).value, (lam > WALKED).value)
    kinds = {"state": uint32, "count": float64, "wanted": truth}
    asked, tried = ([Value(kind, name) for name, kind in kinds.items()] for _ in range(2))
    with builder.block(asked) as asking:
        builder.yield_(asked[2])
    context.env[stream.name] = tried[0]
    with builder.block(tried) as trying:
        count, taken = _proposal(lam, spread, _unit(stream), _unit(stream))
        advanced = context.env[stream.name]
        assert isinstance(advanced, Value)
        builder.yield_(advanced, count.value, where(taken, taken.like(False), taken.like(True)).value)
    result = builder.while_(first, asking.block, trying.block)
    context.env[stream.name] = result[0]
    return Ref(builder, result[1])


def _proposal(lam: Ref, spread: Ref, unit: Ref, level: Ref) -> tuple[Ref, Ref]:
    """A count, and whether it is taken: at once in the middle, else by its logarithmic probability."""
    side = unit - 0.5
    edge = 0.5 - magnitude(side)
    slope = spread * 0.02483 - 0.059
    count = floor((slope * 2.0 / edge + spread) * side + lam + 0.43)
    level_at_once = 0.9277 - 3.6224 / (spread - 2.0)
    hat = 1.1239 + 1.1328 / (spread - 3.4)
    height = log(level * hat / (slope / (edge * edge) + spread))
    taken = height <= _log_probability(lam, larger(count, 1.0))
    no = taken.like(False)
    taken = where(count < 0.0, no, taken)
    taken = where(edge < 0.013, where(level > edge, no, taken), taken)
    return count, where(edge >= 0.07, where(level <= level_at_once, taken.like(True), taken), taken)


def _log_probability(lam: Ref, k: Ref) -> Ref:
    """log(lamᵏ e⁻ˡᵃᵐ / k!), with Stirling's series: 1e-11 at k = 15; a 0, rarer than 1e-13 here, counts as a 1."""
    square = k * k
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / (square * 1260.0)) / square) / k
    return k * log(lam / k) + (k - lam) - log(k * (2 * math.pi)) * 0.5 - series


FORMS: dict[str, Callable[[Context, ast.Call, Expression], Operand]] = {"poisson": _poisson}
