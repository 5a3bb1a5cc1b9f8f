"""Batches of `jax.vmap` as dimensions of one launch, where the handler would launch the kernel once per batch.

On a GPU that is one `cuLaunchKernel` for all batches. On the CPU the handler's own loop costs a few nanoseconds per
batch, so this form, for which another kernel has to be compiled, is for launches of many batches with few points
each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from workbench.interop.jax.launches.plan import LaunchConfig, Plan, Shape, rewritten_plan
from workbench.interop.jax.native.descriptor import Kind, Wire
from workbench.ir.build import Builder, Rewriter
from workbench.ir.ops import AXIS, VALUE
from workbench.ir.values import Block, Function, Op, Value
from workbench.passes.analysis.partition import unknown_uses
from workbench.types import MAX_NDIM, ArrayType, int32

FEWEST_BATCHES, MOST_POINTS = 64, 128
"""On the CPU, a kernel for whole batches is compiled for at least so many batches of at most so many points each."""


def one_launch(plan: Plan, config: LaunchConfig, operands: Sequence[Shape]) -> tuple[Plan, LaunchConfig]:
    """Return the launch with its innermost batch axes as dimensions of its own, as many as it can have.

    It is returned unchanged if it has checks, views, conditions or symbolic sizes, fewer than two batches, or a kernel
    that can have no batch axes.

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
        config,
        batch=outer,
        dims=(*inner, *config.dims),
        operands=shapes,
        results=tuple((*inner, *shape) for shape in config.results),
    )
    return _batched_plan(plan, axes, varies), config


def pays_on_cpu(plan: Plan, config: LaunchConfig) -> bool:
    """Return whether a launch's batch is worth a kernel compiled for it on the CPU: many batches of few points.

    It is not if strips of the launch leave sums: the handler gives each batch the bits that it has alone.
    """
    if plan.target.description.sums or config.is_symbolic:
        return False
    return math.prod(config.batch) >= FEWEST_BATCHES and math.prod(config.dims) <= MOST_POINTS


def _most_axes(plan: Plan) -> int:
    """Return how many batch axes one launch of the plan can have; computed once per plan."""
    most = plan.traced.get("batch axes")
    if most is None:
        most = plan.traced["batch axes"] = most_batch_axes(plan.code.function())
    return most


def _batched_plan(plan: Plan, axes: int, varies: tuple[tuple[bool, ...], ...]) -> Plan:
    """Return the plan of a launch over so many batch axes, built once for each `varies`.

    That says of each operand along which of these axes it varies.
    """
    key = "batched", axes, varies
    batched_plan = plan.traced.get(key)
    if batched_plan is None:
        wires = plan.target.description.wires
        batch_axes = {w.name: _batch_axes(w, axes, varies) for w in wires if w.value < 0}
        function = batched(plan.code.function(), axes, batch_axes)
        batched_plan = plan.traced[key] = rewritten_plan(plan, function, tuple(_wire(w, axes) for w in wires))
    return batched_plan


def _batch_axes(wire: Wire, axes: int, varies: tuple[tuple[bool, ...], ...]) -> BatchAxes:
    """Return the batch axes of a wire's parameter; a result has all of them."""
    # Every batch has a result of its own.
    return BatchAxes((True,) * axes if wire.result >= 0 else varies[wire.operand], wire.kind is Kind.ACCUMULATOR)


def _wire(wire: Wire, axes: int) -> Wire:
    """Return the wire with so many batch axes before its own; a single value becomes an array. Static numbers stay."""
    if wire.value >= 0:
        return wire
    single = wire.kind in (Kind.SCALAR, Kind.ACCUMULATOR)
    return replace(wire, kind=Kind.ARRAY if single else wire.kind, rank=axes + (0 if single else wire.rank))


class BatchAxes(NamedTuple):
    """Represents the batch axes of a parameter of a batched function.

    Attributes:
        varies: for each batch axis, whether the parameter varies along it; if not, its size there is 1.
        single: whether the parameter was an array of one element, which has no axis of its own here.
    """

    varies: tuple[bool, ...]
    single: bool = False


def most_batch_axes(function: Function) -> int:
    """Return how many batch axes `batched` can give to a function.

    0 if its accesses are not all at indices (tiles, native code), if it runs in blocks, or if it never asks for
    `tid()`: then the IR does not say how many dimensions its launch has.
    """
    if not function.launch_ndim or function.block_dim or unknown_uses(function) is not None:
        return 0
    ranks = [p.type.ndim for p in function.params if isinstance(p.type, ArrayType)]
    return MAX_NDIM - max(function.launch_ndim, *ranks, 1)


def batched(function: Function, axes: int, batch_axes: Mapping[str, BatchAxes]) -> Function:
    """Return `function` over so many batch axes, in one launch.

    Args:
        function: one that `most_batch_axes` allows so many.
        axes: how many; the launch has them before its own dimensions.
        batch_axes: by name of a parameter that has batches: arrays get the axes before their own, numbers become
            arrays of these axes.
    """
    builder = Builder()
    index = [builder.one("tid", (), int32, {AXIS: n}) for n in range(axes)]
    zero = builder.const(0)
    params = [_param(p, axes, batch_axes.get(p.name)) for p in function.params]
    lead = {
        new: tuple(i if varies else zero for i, varies in zip(index, batch_axes[new.name].varies, strict=True))
        for new in params
        if new.name in batch_axes
    }
    mapping: dict[Value, Value] = {}
    for old, new in zip(function.params, params, strict=True):
        is_number = old is not new and not isinstance(old.type, ArrayType)
        mapping[old] = builder.load(new, *lead[new]) if is_number else new
    singles = {new for new in params if new.name in batch_axes and batch_axes[new.name].single}
    rewriter = Rewriter(_change(axes, lead, singles), mapping)
    body = rewriter.block(function.body)
    ops = (*builder.body().ops, *body.ops)
    return msgspec.structs.replace(
        function, params=tuple(params), body=Block(body.params, ops), launch_ndim=function.launch_ndim + axes
    )


def _param(param: Value, axes: int, batch_axes: BatchAxes | None) -> Value:
    """Return the parameter of the batched function: a number becomes an array of the batch axes. None: it stays."""
    if batch_axes is None:
        return param
    if not isinstance(param.type, ArrayType):
        return Value(ArrayType(param.type, axes), param.name)  # type: ignore[arg-type]
    return Value(replace(param.type, ndim=axes + (0 if batch_axes.single else param.type.ndim)), param.name)


def _change(
    axes: int, lead: Mapping[Value, tuple[Value, ...]], singles: Collection[Value]
) -> Callable[[Rewriter, Op], Iterable[Op] | None]:
    """Return the rewriting rule of a batched function: further axes of the launch and of shapes, and indices that lead.

    Args:
        axes: the number of batch axes.
        lead: the batch's indices of each array that has batches.
        singles: the arrays of them that had one element, and have no axis of their own.
    """

    def change(rewriter: Rewriter, op: Op) -> Iterable[Op] | None:
        further = AXIS.of(op.attrs[AXIS] + axes) if op.name in ("tid", "shape", "launch_dim") else None
        if op.name in ("tid", "launch_dim"):
            return (op.replace(attrs=further),)
        array = op.operands[0] if op.operands else None
        if array is None or array not in lead or op.name == "owned":
            return None
        if op.name == "shape" and array not in singles:
            return (op.replace(attrs=further),)
        if op.name == "shape":
            return (Op("const", (), op.results, VALUE.of(1), location=op.location),)
        if op.name == "reduce_add":
            operands = (array, *lead[array], op.operands[1])
            return (Op("atomic_add", operands, (Value(op.operands[1].type),), location=op.location),)
        own = 2 if array in singles else 1
        return (op.replace((array, *lead[array], *op.operands[own:])),)

    return change
