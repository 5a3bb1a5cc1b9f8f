"""Launches that are linear in some operands, so that JAX may transpose them: proved from the IR, or declared."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from functools import lru_cache

from workbench.autodiff.analysis.linearity import Share, refuse_nonlinear
from workbench.interop.jax.launches.plan import Plan
from workbench.interop.jax.native.descriptor import Wire


def check_linear(plan: Plan, linear: Collection[int], declared: Collection[str]) -> None:
    """Refuse a launch that is not linear in the operands with these numbers, taken together.

    Args:
        plan: the launch.
        linear: numbers of operands.
        declared: names of parameters in which the user, or the way it was made, says that it is linear.

    Raises:
        NotDifferentiable: neither the IR nor a declaration says so; `location` is the line that is not linear.
    """
    plan.code.check()
    names = {w.name for w in plan.target.description.wires if w.operand in linear}
    if not names <= set(declared):
        _prove(plan, frozenset(linear))


@lru_cache(maxsize=256)
def _prove(plan: Plan, linear: frozenset[int]) -> None:
    wires = plan.target.description.wires
    function = plan.code.function()
    # Half floats and the like keep their names, so a wire and its parameter are found by name.
    starts = {w.name: _share(w, linear) for w in wires}
    names = [w.name for w in wires if w.operand in linear]
    refuse_nonlinear(function, starts, {w.name: _memory(w) for w in wires}, names)


def _share(wire: Wire, linear: Collection[int]) -> Share:
    if wire.operand >= 0:
        return Share.LINEAR if wire.operand in linear else Share.FIXED
    # What a result holds undefined is not read; a marker of bytes stands for elements that nothing writes.
    filled = wire.value >= 0 or (isinstance(wire.fill, (int, float)) and wire.fill != 0)
    return Share.FIXED if filled else Share.NOTHING


def _memory(wire: Wire) -> Hashable:
    return ("operand", wire.operand) if wire.operand >= 0 else ("result", wire.result)
