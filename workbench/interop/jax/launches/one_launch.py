"""Batches of `jax.vmap` as dimensions of one launch, where the handler would launch the kernel once per batch.

On a GPU that is one `cuLaunchKernel` for all batches. On the CPU the handler's own loop costs a few nanoseconds per
batch, so it is left only for launches of many batches with few points each: another kernel has to be compiled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from workbench.interop.jax.launches.launch_config import LaunchConfig, Shape
from workbench.interop.jax.launches.plan import Plan, rewritten_plan
from workbench.interop.jax.native.descriptor import Kind, Wire
from workbench.passes.batched import Place, batched, most_batch_axes

FEWEST_BATCHES, MOST_POINTS = 64, 128
"""On the CPU."""


def one_launch(plan: Plan, config: LaunchConfig, operands: Sequence[Shape]) -> tuple[Plan, LaunchConfig]:
    """Return the launch with its innermost batch axes as dimensions of its own, as many as it can have.

    Args:
        plan, config: the launch.
        operands: shapes of its operands, batch axes first.
    """
    if plan.checked or config.views or config.within or config.is_symbolic or math.prod(config.batch) < 2:
        return plan, config
    axes = min(len(config.batch), _most_axes(plan))
    if not axes:
        return plan, config
    outer, inner = config.batch[:-axes], config.batch[-axes:]
    shapes = tuple(shape[len(outer) :] for shape in operands)
    varies = tuple(tuple(n != 1 for n in shape[:axes]) for shape in shapes)
    config = replace(
        config, batch=outer, dims=(*inner, *config.dims), operands=shapes,
        results=tuple((*inner, *shape) for shape in config.results),
    )  # fmt: skip
    return _batched_plan(plan, axes, varies), config


def pays_on_cpu(plan: Plan, config: LaunchConfig) -> bool:
    """Return whether the launch is worth a kernel of its own on the CPU.

    What strips of a launch sum up stays with the handler: there each batch has the bits that it has alone.
    """
    if plan.target.description.sums or config.is_symbolic:
        return False
    return math.prod(config.batch) >= FEWEST_BATCHES and math.prod(config.dims) <= MOST_POINTS


def _most_axes(plan: Plan) -> int:
    found = plan.traced.get("batch axes")
    if found is None:
        found = plan.traced["batch axes"] = most_batch_axes(plan.code.function())
    return found


def _batched_plan(plan: Plan, axes: int, varies: tuple[tuple[bool, ...], ...]) -> Plan:
    key = "batched", axes, varies
    found = plan.traced.get(key)
    if found is None:
        wires = plan.target.description.wires
        places = {w.name: _place(w, axes, varies) for w in wires if w.value < 0}
        function = batched(plan.code.function(), axes, places)
        found = plan.traced[key] = rewritten_plan(plan, function, tuple(_wire(w, axes) for w in wires))
    return found


def _place(wire: Wire, axes: int, varies: tuple[tuple[bool, ...], ...]) -> Place:
    # Every batch has a result of its own.
    return Place((True,) * axes if wire.result >= 0 else varies[wire.operand], wire.kind is Kind.ACCUMULATOR)


def _wire(wire: Wire, axes: int) -> Wire:
    if wire.value >= 0:
        return wire
    single = wire.kind in (Kind.SCALAR, Kind.ACCUMULATOR)
    return replace(wire, kind=Kind.ARRAY if single else wire.kind, rank=axes + (0 if single else wire.rank))
