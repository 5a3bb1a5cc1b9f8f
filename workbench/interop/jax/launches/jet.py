"""`jax.experimental.jet`, which has no rule for a primitive that it does not know: refused with the way round."""

from __future__ import annotations

from typing import Any, NoReturn

from workbench.errors import NotDifferentiable
from workbench.interop.jax.values.library import jet_rules


def refuse_jet(primitive: Any) -> None:
    """Have `jet` of this primitive say what to write instead of a KeyError."""

    def rule(primals: Any, series: Any, **params: Any) -> NoReturn:
        source = params.get("plan") or params["program"]
        name = getattr(source, "kernel", "") or source.name
        raise NotDifferentiable(
            f"jax.experimental.jet has no rule for {name}.",
            advice="Nest jax.jvp for each order: f1 = lambda x: jax.jvp(f, (x,), (v,))[1], then jvp of f1.",
            function=name,
        )

    jet_rules()[primitive] = rule
