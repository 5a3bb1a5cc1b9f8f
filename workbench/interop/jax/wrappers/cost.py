"""The cost of a call, which XLA cannot know: to its own cost analysis a foreign call is a name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.interop.jax.launches.plan import attributes
from workbench.interop.jax.launches.primitives import primitives
from workbench.interop.jax.recording.replay_call import unfold
from workbench.interop.jax.values.arguments import is_typed
from workbench.interop.jax.values.library import library, literal_type
from workbench.runtime.work import Fill, Launch


class Costed:
    """Adds `cost_analysis` to a JAX function made of launches."""

    def cost_analysis(self, *args: Any, **named: Any) -> dict[str, float]:
        """Count what a call does: as `jax.jit(f).lower(…).compile().cost_analysis()`, which has -1 for our calls.

        Operations are counted by running a few threads in the interpreter, on the values given. Without values (a
        `jax.ShapeDtypeStruct`, or what the function computes first) floats and single numbers are 1, integers in arrays
        0: loops that they steer count accordingly.

        Args:
            *args, **named: as in a call, or `jax.ShapeDtypeStruct` in place of arrays.

        Returns:
            "flops", the operations on floats, -1 if they could not be counted, and "bytes accessed", the least that
            has to move: each array read or written once.

        Raises:
            LaunchError: as a call does.

            f.cost_analysis(jnp.ones(1000))      # {'flops': 2000.0, 'bytes accessed': 8000.0}
        """
        from workbench.api.measurement.cost_model import effort_of_launch

        jax = library().jax
        leaves, tree = jax.tree.flatten((args, named))
        arrays = {n: x for n, x in enumerate(leaves) if is_typed(x)}
        call: Any = self

        def traced(replaced: dict[int, Any]) -> Any:
            values, names = jax.tree.unflatten(tree, [replaced.get(n, x) for n, x in enumerate(leaves)])
            return call(*values, **names)

        closed = jax.make_jaxpr(traced)(arrays)
        known = {v: x for v, x in zip(closed.jaxpr.invars, arrays.values(), strict=True) if hasattr(x, "__array__")}
        flops, moved = 0.0, 0.0
        for entry in _work(closed, known):
            if isinstance(entry, Fill):
                moved += entry.target.nbytes
            elif isinstance(entry, Launch):
                effort = effort_of_launch(entry.record)
                moved += effort.bytes
                flops = flops + effort.flops if effort.flops is not None and flops >= 0 else -1.0
        return {"flops": flops, "bytes accessed": moved}


def _work(closed: Any, known: Mapping[Any, Any]) -> Iterator[Any]:
    """Yield the fills, copies and launches of a closed jaxpr; `known` has values of its variables."""
    literal = literal_type()
    values = {**dict(zip(closed.jaxpr.constvars, closed.consts, strict=True)), **known}

    def value(atom: Any) -> Any:
        return atom.val if isinstance(atom, literal) else values.get(atom)

    for equation in closed.jaxpr.eqns:
        inner = getattr(equation.params.get("program"), "closed", None) or equation.params.get("jaxpr")
        if equation.primitive is primitives().launch:
            plan, config = equation.params["plan"], equation.params["config"]
            operands = [_array(v.aval, value(v)) for v in equation.invars]
            results = [(v.aval.dtype.name, v.aval.shape) for v in equation.outvars]
            yield from unfold(plan, tuple(attributes(plan, config).values()), operands, results)[0]
        elif hasattr(inner, "consts"):
            passed = zip(inner.jaxpr.invars, map(value, equation.invars), strict=True)
            yield from _work(inner, {v: x for v, x in passed if x is not None})


def _array(aval: Any, value: Any) -> Any:
    """Return an array for an operand of a launch: its value if known, else zeros for arrays of integers, or ones."""
    if value is not None:
        return np.broadcast_to(np.asarray(value, aval.dtype), aval.shape)
    return (
        np.zeros(aval.shape, aval.dtype) if aval.shape and aval.dtype.kind in "iu" else np.ones(aval.shape, aval.dtype)
    )
