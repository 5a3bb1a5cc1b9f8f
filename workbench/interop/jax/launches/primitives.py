"""Two JAX primitives: a kernel's launch, and its derivative applied to tangents.

`launch` is what runs. Its jvp rule binds `launch_tangent`, which is linear in the tangents, runs as the launch of the
tangent kernel, and is transposed to the launch of the adjoint kernel. Those are launches like any other, with tangents
and adjoints of their own; so derivatives of any order and their combinations with jit, vmap, scan and checkpoint follow
from JAX's own machinery. A rule for a new transform of JAX (jvp, transpose, vmap and partial evaluation have theirs)
stands in this file, and for functions of launches in `programs/program.py`.

**Batch axes** stand first, the same number on every operand; where an operand does not vary along one, its size there
is 1 (`expand_dims`), and the handler reads it again for each batch without a copy.

**Calls that nothing traces.** A launch, or a function of launches, is one operation for JAX as `jnp.sin` is
(`as_one_operation`). So it stays compiled under `jax.disable_jit`, and where `jax_debug_nans` finds a NaN in what it
returned, the error names it: JAX would otherwise look for a smaller operation by calling it again, and find the same
one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from workbench.autodiff.analysis.linearity import Share, refuse_nonlinear
from workbench.errors import DeviceError, NotDifferentiable
from workbench.interop.jax.launches.cuda import CudaTarget, cuda_target
from workbench.interop.jax.launches.derive import Gradient, Source
from workbench.interop.jax.launches.experimental import experimental_rules
from workbench.interop.jax.launches.one_launch import one_launch, pays_on_cpu
from workbench.interop.jax.launches.partitioned import lowered, note_call_site, partitioned, result_shardings
from workbench.interop.jax.launches.plan import FAULT_WORDS, LaunchConfig, Plan, Shape, attributes, traced_launch
from workbench.interop.jax.native import edits
from workbench.interop.jax.native.descriptor import Wire
from workbench.interop.jax.native.edits import OURS
from workbench.interop.jax.native.faults import fault_in
from workbench.interop.jax.native.target import Target
from workbench.interop.jax.values.library import library, located, needs_devices, old_shard_map
from workbench.interop.jax.values.manual import aligned, as_typed, is_among_devices, is_partitioned, know, shaped
from workbench.types import is_float, number_type


def as_one_operation(
    function: Callable[..., Any], name: str, checked: Callable[[], bool] | None = None
) -> Callable[..., Any]:
    """Return `function`, which takes and returns JAX values, jitted as one operation called `name`.

    Args:
        function: the function.
        name: the operation's name in JAX's errors.
        checked: returns, once the operation is compiled, whether its code has checks; then a call waits for its
            results. An error of XLA's that reports a fault is raised as that KernelFault. None: a call neither waits
            nor translates.
    """
    jax = library().jax

    def operation(*operands: Any) -> Any:
        return function(*operands)

    operation.__name__ = operation.__qualname__ = name
    setattr(operation, "_apply_primitive", True)  # noqa: B010  what JAX calls its own operations, since 0.4
    jitted = jax.jit(operation)

    def call(*operands: Any) -> Any:
        before = OURS.set(True)
        try:
            if not jax.config.jax_disable_jit:
                return jitted(*operands)
            with jax.disable_jit(False):
                return jitted(*operands)
        finally:
            OURS.reset(before)

    def wait(*operands: Any) -> Any:
        try:
            results = call(*operands)
            return jax.block_until_ready(results) if checked is not None and checked() else results
        except Exception as error:
            fault = fault_in(error)
            if fault is None:
                raise
        raise fault

    return call if checked is None else wait


VMAP_METHODS = ("expand_dims", "broadcast_all", "sequential")


class Primitives(NamedTuple):
    """Represents the two JAX primitives: a kernel's launch, and its derivative applied to tangents."""

    launch: Any
    tangent: Any


@lru_cache(maxsize=1)
def primitives() -> Primitives:
    """Return the two primitives, which the first call defines and registers with JAX."""
    jax = library()
    launch, tangent = jax.Primitive("workbench_launch"), jax.Primitive("workbench_launch_tangent")
    launch.multiple_results = tangent.multiple_results = True
    launch.def_effectful_abstract_eval(_launch_results)
    launch.def_impl(partial(_run_jitted, launch))
    jax.mlir.register_lowering(launch, _lower_launch, platform="cpu")
    jax.mlir.register_lowering(launch, _lower_cuda, platform="cuda")
    jax.mlir.register_lowering(launch, _refuse_platform)
    jax.ad.primitive_jvps[launch] = _launch_jvp
    jax.ad.primitive_transposes[launch] = _transpose_launch
    jax.batching.primitive_batchers[launch] = _batch_launch
    tangent.def_abstract_eval(_tangent_results)
    tangent.def_impl(partial(_run_jitted, tangent))
    jax.mlir.register_lowering(tangent, jax.mlir.lower_fun(_run_tangent, multiple_results=True))
    jax.ad.primitive_jvps[tangent] = _tangent_jvp
    jax.ad.primitive_transposes[tangent] = _transpose_tangent
    jax.batching.primitive_batchers[tangent] = _batch_tangent
    for primitive in (launch, tangent):
        know(primitive)
        needs_devices(primitive)
    experimental_rules(launch)
    experimental_rules(tangent, tangent_of)
    return Primitives(launch, tangent)


def launch(plan: Plan, operands: Sequence[Any], config: LaunchConfig) -> list[Any]:
    """Bind the launch primitive to operands; return the plan's results, and last the faults if it records them."""
    note_call_site(plan, config)
    return primitives().launch.bind(*aligned(operands), plan=plan, config=config)


# ---- the launch


def _avals(wires: Sequence[Wire], plan: Plan, config: LaunchConfig, like: Sequence[Any]) -> list[Any]:
    """Return the JAX types of the results that these wires are, batch axes first, for operands of the types `like`."""
    placed = result_shardings(plan, config, like[: len(plan.operands)])
    return [
        shaped((*config.batch, *config.results[w.result]), number_type(w.type).numpy, like, placed[w.result])
        for w in wires
    ]


def _launch_results(*avals: Any, plan: Plan, config: LaunchConfig) -> tuple[list[Any], Any]:
    """Return the JAX types of a launch's results, records of faults last if it has them, and its effects."""
    acts = config.effect and not config.reports
    stays = plan.stays and not config.records
    effects = (_effect() if acts else frozenset()) | (fault_effect() if stays else frozenset())
    records = [shaped((*config.batch, FAULT_WORDS), np.dtype(np.int32), avals)] if config.records else []
    return [*_avals(plan.results, plan, config, avals), *records], effects


@lru_cache(maxsize=1)
def _effect() -> Any:
    """Return the JAX effects of a launch with a side effect: those of JAX's own FFI calls.

    All of JAX's transformations know them.
    """
    jax = library().jax
    # Traced, never run: only its effect is looked at, which has no public name.
    call = jax.ffi.ffi_call("workbench.effect", jax.ShapeDtypeStruct((), np.float32), has_side_effect=True)
    return frozenset(jax.make_jaxpr(call)().effects)


@lru_cache(maxsize=1)
def fault_effect() -> Any:
    """Return the JAX effects of launches that report faults.

    With an effect JAX keeps a launch whose results are unused, as those that gradients need often are.
    """
    jax = library().jax
    # A kind of the effect of `jax.debug.print`: all transformations know that, `jax.checkpoint` among them.
    (printing,) = jax.make_jaxpr(lambda: jax.debug.print(""))().effects
    return frozenset([type("Faults", (type(printing),), {"__repr__": lambda self: "Faults"})()])


def _run_jitted(primitive: Any, *operands: Any, plan: Plan, config: LaunchConfig, **more: Any) -> list[Any]:
    """Run a primitive outside of `jit`, compiled as one operation once per plan and configuration."""
    key = primitive, config, *more.items()
    jitted = plan.traced.get(key)
    if jitted is None:
        checked = (lambda: True) if plan.checked else None
        bound = partial(primitive.bind, plan=plan, config=config, **more)
        jitted = plan.traced[key] = as_one_operation(bound, plan.target.description.kernel, checked)
    return jitted(*operands)


def _lower_launch(ctx: Any, *operands: Any, plan: Plan, config: LaunchConfig) -> Any:
    """Lower a launch for the CPU: to a call of its target; for several devices, to a call that XLA divides."""
    divisible = partitioned(ctx, plan, config, primitives().launch.bind)
    if divisible is not None:
        # A program out of JAX's persistent cache calls one without asking again what a device runs.
        for part in divisible.plans:
            edits.called(ctx, part.late).register()
        return lowered(ctx, operands, divisible, f"{edits.called(ctx, plan.late).name} {attributes(plan, config)}")
    if is_partitioned(ctx) and _acts(plan, config):
        return _on_each_device(ctx, operands, plan, config)
    if pays_on_cpu(plan, config):
        plan, config = one_launch(plan, config, [a.shape for a in ctx.avals_in])
    late = plan.recorded if config.records else plan.late if is_among_devices(ctx) else None
    return _call_target(ctx, operands, plan, config, late or plan.target)


def _lower_cuda(ctx: Any, *operands: Any, plan: Plan, config: LaunchConfig) -> Any:
    """Lower a launch for CUDA: its batches become dimensions of one launch, and records of faults are zeros."""
    if config.records:  # nothing is checked there, so there is no fault
        jax = library()
        plain = partial(primitives().launch.bind, plan=plan, config=replace(config, records=False))
        none = jax.jnp.zeros((*config.batch, FAULT_WORDS), "int32")
        return jax.mlir.lower_fun(lambda *values: [*plain(*values), none], multiple_results=True)(ctx, *operands)
    plan, config = one_launch(plan, config, [a.shape for a in ctx.avals_in])
    return _call_target(ctx, operands, plan, config, cuda_target(plan, config.block))


def _call_target(
    ctx: Any, operands: Sequence[Any], plan: Plan, config: LaunchConfig, target: Target | CudaTarget
) -> Any:
    """Register the target that edits and exports call for, and lower to an FFI call of it."""
    target = edits.called(ctx, target)
    target.register()
    rule = library().jax.ffi.ffi_lowering(
        target.name,
        has_side_effect=_acts(plan, config),
        operand_output_aliases=dict(plan.target.description.aliases()),
    )
    ffi_attributes = {n: np.array(numbers, np.int64) for n, numbers in attributes(plan, config).items()}
    with located(plan.target.name):
        return rule(ctx, *operands, **ffi_attributes)


def _acts(plan: Plan, config: LaunchConfig) -> bool:
    """Return whether XLA must run the call even if nothing uses its results."""
    return config.effect or (plan.stays and not config.records)


def _on_each_device(ctx: Any, operands: Sequence[Any], plan: Plan, config: LaunchConfig) -> Any:
    """Lower a launch with an effect, in a program of several devices, so that each device runs it whole.

    XLA requires a sharding of calls with effects, and loses it unless they are its own callbacks (openxla's
    `shardy-xla` pass, JAX 0.10.2). Inside a region of `shard_map` none is needed.
    """
    jax = library().jax
    unsharded, mesh = jax.sharding.PartitionSpec(), ctx.module_context.axis_context.abstract_mesh
    bound = partial(primitives().launch.bind, plan=plan, config=config)
    shard_map = jax.shard_map if (old := old_shard_map()) is None else old.shard_map
    each = shard_map(lambda *values: bound(*values), mesh=mesh, in_specs=unsharded, out_specs=unsharded)
    return library().mlir.lower_fun(each, multiple_results=True)(ctx, *operands)


def _refuse_platform(ctx: Any, *operands: Any, plan: Plan, config: LaunchConfig) -> Any:
    """Raise DeviceError: the lowering for platforms other than the CPU and CUDA."""
    raise DeviceError(
        f"The kernel {plan.kernel} can run under JAX on the CPU and on CUDA devices.",
        advice='Run it with jax.default_device(jax.devices("cpu")[0]).',
        function=plan.kernel,
    )


def _batch_launch(
    operands: Sequence[Any], axes: Sequence[Any], *, plan: Plan, config: LaunchConfig
) -> tuple[list[Any], list[int]]:
    """Return the results of a launch under one more batch axis, the first; `axes` has None for operands without one.

    With the method "sequential" it is one launch after another.
    """
    size = _axis_size(operands, axes)
    if config.vmap_method == "sequential":
        results = _one_by_one(operands, axes, plan, config)
        return results, [0] * len(results)
    # In-out operands are changed, so each batch needs its own.
    aliased = {operand for operand, _ in plan.target.description.aliases()}
    if config.vmap_method == "broadcast_all":
        aliased = set(range(len(operands)))
    pairs = zip(operands, axes, strict=True)
    moved = [_lead(x, axis, size if n in aliased else 1) for n, (x, axis) in enumerate(pairs)]
    results = launch(plan, moved, config.batched(size))
    return results, [0] * len(results)


def _one_by_one(operands: Sequence[Any], axes: Sequence[Any], plan: Plan, config: LaunchConfig) -> list[Any]:
    """Launch for each slice of the operands along `axes` (None: the same in all); the results' batch axis is 0."""
    jax = library()
    moving = [jax.jnp.moveaxis(x, axis, 0) for x, axis in zip(operands, axes, strict=True) if axis is not None]

    def once(slices: Sequence[Any]) -> list[Any]:
        rest = iter(slices)
        return launch(plan, [x if axis is None else next(rest) for x, axis in zip(operands, axes, strict=True)], config)

    return jax.jax.lax.map(once, moving)


def _axis_size(operands: Sequence[Any], axes: Sequence[Any]) -> int:
    """Return the size of a batch axis, from the first operand that has it; `axes` has None for the others."""
    return next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)


def _lead(x: Any, axis: int | None, size: int) -> Any:
    """Return `x` with its batch axis first, or with a new one of `size` if it has none."""
    jax = library()
    return jax.jax.lax.broadcast(x, (size,)) if axis is None else jax.jnp.moveaxis(x, axis, 0)


# ---- its derivative


def _launch_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, plan: Plan, config: LaunchConfig
) -> tuple[list[Any], list[Any]]:
    """Launch, and return the results and their tangents: JAX's zero for results that are not of floats.

    Raises:
        NotDifferentiable: the kernel was wrapped without derivatives.
    """
    # Here rather than at the launch: a kernel that cannot be differentiated may still run.
    plan.code.check()
    results = launch(plan, primals, config)
    floats = [is_float(w.type) for w in plan.operands]
    wanted = tuple(n for n, (t, f) in enumerate(zip(tangents, floats, strict=True)) if f and not _is_zero(t))
    values = aligned([*primals, *(tangents[n] for n in wanted)])
    moved = primitives().tangent.bind(*values, plan=plan, config=config, wanted=wanted)
    rest = iter(moved)
    moves = [is_float(w.type) for w in plan.results] + [False] * config.records
    return results, [next(rest) if m else _no_tangent(r) for r, m in zip(results, moves, strict=True)]


def _transpose_launch(cotangents: Sequence[Any], *operands: Any, plan: Plan, config: LaunchConfig) -> list[Any]:
    """Transpose a launch that is linear in the operands that JAX does not know, by the adjoint kernel.

    Returns:
        For each of those operands its cotangent; None for the others.

    Raises:
        NotDifferentiable: nothing says that the launch is linear in them.
    """
    ad, jnp = library().ad, library().jnp
    wanted = tuple(n for n, x in enumerate(operands) if ad.is_undefined_primal(x))
    if all(_is_zero(c) for c in cotangents):
        return [ad.Zero(x.aval) if n in wanted else None for n, x in enumerate(operands)]
    check_linear(plan, wanted, config.linear)
    linear = [operands[n].aval for n in wanted]
    # A linear kernel's derivative does not depend on where it is taken.
    inputs = [jnp.zeros(x.aval.shape, x.aval.dtype) if n in wanted else x for n, x in enumerate(operands)]
    seeds = {n: c for n, (c, w) in enumerate(zip(cotangents, plan.results, strict=False)) if is_float(w.type)}
    around = adjoint_of(plan, config)
    pulled = _pulled if around is None else around.pulled
    by_operand = dict(zip(wanted, pulled(plan, config, inputs, seeds, wanted, linear), strict=True))
    return [by_operand.get(n) for n in range(len(operands))]


def _no_tangent(result: Any) -> Any:
    """Return JAX's zero tangent for a result that is not of floats."""
    jax = library()
    return jax.ad.Zero(jax.ShapedArray(result.shape, jax.jax.dtypes.float0))


def _is_zero(tangent: Any) -> bool:
    """Return whether a tangent is JAX's symbolic zero."""
    return type(tangent) is library().ad.Zero


def _tangent_results(*avals: Any, plan: Plan, config: LaunchConfig, wanted: Shape) -> list[Any]:
    """Return the JAX types of the tangents of the results that are of floats."""
    return _avals([w for w in plan.results if is_float(w.type)], plan, config, avals)


def _run_tangent(*operands: Any, plan: Plan, config: LaunchConfig, wanted: Shape) -> list[Any]:
    """Return the tangents of a launch's results of floats.

    They come from the tangent kernel, which computes the results too, which are dropped; those of an adjoint's
    launch from derivatives of the launch that it was derived from. `operands` are the launch's, then the tangents
    of those numbered `wanted`.
    """
    jnp = library().jnp
    around = adjoint_of(plan, config)
    if around is not None:
        return around.tangents(operands, wanted)
    moved, tangent_form = plan.tangent()
    split = len(plan.operands)
    tangents = dict(zip(wanted, operands[split:], strict=True))
    ones = (1,) * len(config.batch)
    inputs = list(operands[:split])
    for n in tangent_form.operands:
        dtype = number_type(plan.operands[n].type).numpy
        inputs.append(tangents[n] if n in tangents else jnp.zeros((*ones, *config.operands[n]), dtype))
    shapes = (*config.operands, *(config.operands[n] for n in tangent_form.operands))
    aliased = {operand for operand, _ in moved.target.description.aliases()}
    inputs = [
        jnp.broadcast_to(x, (*config.batch, *shape)) if n in aliased else x
        for n, (x, shape) in enumerate(zip(inputs, shapes, strict=True))
    ]
    results = launch(
        moved,
        inputs,
        replace(
            config,
            operands=shapes,
            results=(*config.results, *(config.results[n] for n in tangent_form.results)),
            values=(*config.values, *[0] * tangent_form.statics),
            effect=False,
            views=tuple(config.views[n] for n in tangent_form.views),
            linear=(),
        ),
    )
    return results[len(plan.results) : len(moved.results)]


def tangent_of(avals: tuple[Any, ...], plan: Plan, config: LaunchConfig, wanted: Shape) -> Any:
    """Return the closed jaxpr of what `launch_tangent` runs for operands of these types."""
    key = avals, config, wanted
    known = plan.traced.get(key)
    if known is None:
        jax = library().jax
        shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]
        run = partial(_run_tangent, plan=plan, config=config, wanted=wanted)
        known = plan.traced[key] = jax.make_jaxpr(run)(*shapes)
    return known


def _tangent_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, plan: Plan, config: LaunchConfig, wanted: Shape
) -> tuple[list[Any], list[Any]]:
    """Differentiate `launch_tangent`, which is linear in the tangents.

    Where only these move, the derivative is the operation itself once more; else it is that of the tangent kernel.
    """
    jax = library()
    split = len(plan.operands)
    # The primals stay: then the operation is linear, and its derivative is itself.
    if all(map(_is_zero, tangents[:split])):
        again = partial(primitives().tangent.bind, *primals[:split], plan=plan, config=config, wanted=wanted)
        return again(*primals[split:]), again(*map(jax.ad.instantiate_zeros, tangents[split:]))
    run = partial(_run_tangent, plan=plan, config=config, wanted=wanted)
    full = [
        # JAX's type for tangents of integers.
        np.zeros(x.shape, jax.jax.dtypes.float0)
        if not np.issubdtype(x.dtype, np.inexact) and x.dtype.name not in ("bfloat16", "float16")
        else jax.ad.instantiate_zeros(t)
        for x, t in zip(primals, tangents, strict=True)
    ]
    return jax.jax.jvp(run, tuple(primals), tuple(full))


def _batch_tangent(
    operands: Sequence[Any], axes: Sequence[Any], *, plan: Plan, config: LaunchConfig, wanted: Shape
) -> tuple[list[Any], list[int]]:
    """Return the tangents of a launch under one more batch axis, the first."""
    size = _axis_size(operands, axes)
    moved = [_lead(x, axis, 1) for x, axis in zip(operands, axes, strict=True)]
    results = primitives().tangent.bind(*aligned(moved), plan=plan, config=config.batched(size), wanted=wanted)
    return results, [0] * len(results)


def _transpose_tangent(
    cotangents: Sequence[Any], *operands: Any, plan: Plan, config: LaunchConfig, wanted: Shape
) -> list[Any]:
    """Transpose `launch_tangent`: from cotangents of the results to those of the tangents, by the adjoint kernel.

    The result has an entry for each of `operands`: None for those of the launch itself, which come first, and then
    the tangents' cotangents. If all cotangents are zero, so are these, and nothing is launched.
    """
    ad = library().ad
    split = len(plan.operands)
    inputs, linear = operands[:split], [x.aval for x in operands[split:]]
    if all(_is_zero(c) for c in cotangents):
        return [None] * split + [ad.Zero(aval) for aval in linear]
    floats = [n for n, w in enumerate(plan.results) if is_float(w.type)]
    seeds = dict(zip(floats, cotangents, strict=True))
    around = adjoint_of(plan, config)
    pulled = _pulled if around is None else around.pulled
    return [None] * split + pulled(plan, config, inputs, seeds, wanted, linear)


def _pulled(
    plan: Plan,
    config: LaunchConfig,
    inputs: Sequence[Any],
    cotangents: Mapping[int, Any],
    wanted: Shape,
    linear: Sequence[Any],
) -> list[Any]:
    """Launch the adjoint; return the cotangents of the operands numbered `wanted`, whose types are `linear`.

    Args:
        plan, config: the launch.
        inputs: its operands.
        cotangents: of its results of floats, by number.
        wanted: numbers of operands.
        linear: the abstract values of the results of this function.
    """
    ad, jnp = library().ad, library().jnp
    adjoint, gradient = plan.gradient(wanted, traced_launch(plan, config))
    full = {n: ad.instantiate_zeros(c) for n, c in cotangents.items()}

    def operand_of(source: Source) -> Any:
        if source.role == "output":  # only its shape is used: what a launch found undefined is not read
            dtype = number_type(plan.results[source.position].type).numpy
            return jnp.zeros((*[1] * len(config.batch), *config.results[source.position]), dtype)
        return inputs[source.position] if source.role == "input" else full[source.position]

    values = [operand_of(s) for s in gradient.operands]
    aliased = {operand for operand, _ in adjoint.target.description.aliases()}
    adjoint_config = _adjoint_config(adjoint, gradient, config)
    note_adjoint(adjoint, adjoint_config, Adjoint(plan, config, gradient))
    values = [
        jnp.broadcast_to(x, (*config.batch, *shape)) if n in aliased else x
        for n, (x, shape) in enumerate(zip(values, adjoint_config.operands, strict=True))
    ]
    results = launch(adjoint, values, adjoint_config)
    by_operand = {s.position: r for s, r in zip(gradient.results, results, strict=False) if s.role == "input"}
    return [_sum_shared(by_operand[n], aval, config) for n, aval in zip(wanted, linear, strict=True)]


class Adjoint(NamedTuple):
    """Represents the launch that an adjoint's launch was derived from.

    Attributes:
        plan, config: that launch.
        gradient: how the adjoint's operands and results relate to it.
    """

    plan: Plan
    config: LaunchConfig
    gradient: Gradient


def note_adjoint(adjoint: Plan, config: LaunchConfig, of: Adjoint) -> None:
    """Record from which launch an adjoint's launch was derived, for derivatives of the adjoint."""
    adjoint.traced["adjoint of", replace(config, batch=())] = of


def adjoint_of(plan: Plan, config: LaunchConfig) -> _Around | None:
    """Return the derivative rule of an adjoint's launch; None if the launch is differentiated like any other.

    That is so for a launch that is no adjoint, where the kernel it was derived from has no tangent, and where gradients
    are the user's own: they need not be a transposed Jacobian, of which alone second derivatives are symmetric.
    """
    known = plan.traced.get(("adjoint of", replace(config, batch=())))
    if known is None or "custom" in plan.code.specialisation.function.body.op_names:
        return None
    try:
        known.plan.tangent()
    except NotDifferentiable:
        return None
    return _Around(plan, config, known)


class _Around:
    """Differentiates an adjoint's launch A(x, c) = J(x)ᵀc by means of its primal launch, whose tangent is J(x)v.

    Adjoints are never differentiated themselves: a loop that runs backwards from kept states has no adjoint. By
    symmetry of second derivatives, all that is asked of A follows from the tangent launch and that one's adjoint:
    along x the derivative of A towards v is the gradient of the number c · J(x)v, and so is its transpose.

    Attributes:
        adjoint, config: the launch A.
        plan, primal: the plan and the configuration of its primal launch, with A's batches.
        gradient: how A's operands and results relate to those of the primal launch.
        operand_indices: the number of A's operand by its source.
    """

    def __init__(self, adjoint: Plan, config: LaunchConfig, known: Adjoint) -> None:
        """Prepare the derivatives of the launch of `adjoint` and `config`, derived from that of `known`."""
        self.adjoint, self.config, self.plan, self.gradient = adjoint, config, known.plan, known.gradient
        self.primal = replace(known.config, batch=config.batch)
        self.operand_indices = {s: n for n, s in enumerate(known.gradient.operands)}

    def inputs(self, operands: Sequence[Any]) -> list[Any]:
        """Return the primal launch's operands, from its adjoint's; zeros for one that the adjoint lacks."""
        jnp, ones = library().jnp, (1,) * len(self.config.batch)

        def one(n: int) -> Any:
            position = self.operand_indices.get(Source("input", n))
            if position is not None:
                return operands[position]
            return jnp.zeros((*ones, *self.primal.operands[n]), number_type(self.plan.operands[n].type).numpy)

        return [one(n) for n in range(len(self.plan.operands))]

    def moved(self, inputs: Sequence[Any], tangents: Mapping[int, Any]) -> list[Any]:
        """Return tangents of the primal launch's results of floats at `inputs`; `tangents`: by operand's number."""
        wanted = tuple(sorted(tangents))
        values = aligned([*inputs, *(tangents[n] for n in wanted)])
        return primitives().tangent.bind(*values, plan=self.plan, config=self.primal, wanted=wanted)

    def second(
        self, operands: Sequence[Any], inputs: Sequence[Any], tangents: Mapping[int, Any], by: Sequence[int]
    ) -> tuple[list[Any], Sequence[Any]]:
        """Return the primal launch's tangents J(x)v, and the gradients of c · J(x)v by the inputs numbered `by`.

        Args:
            operands: those of the adjoint's launch, with the cotangents c.
            inputs: the primal launch's operands x.
            tangents: v, by number of the primal launch's operand.
            by: numbers of the primal launch's operands.
        """
        jax = library().jax

        def along(*values: Any) -> list[Any]:
            here = list(inputs)
            for n, value in zip(by, values, strict=True):
                here[n] = value
            return self.moved(here, tangents)

        results, pull = jax.vjp(along, *(inputs[n] for n in by))
        floats = [n for n, w in enumerate(self.plan.results) if is_float(w.type)]
        return results, pull([self.cotangent(operands, n, r) for n, r in zip(floats, results, strict=True)])

    def cotangent(self, operands: Sequence[Any], position: int, like: Any) -> Any:
        """Return the cotangent of a result of the primal launch, from the operands of its adjoint's launch.

        It is broadcast to the shape of `like`; zeros if the adjoint takes none.
        """
        argument_number = self.operand_indices.get(Source("cotangent", position))
        jnp = library().jnp
        if argument_number is None:
            return jnp.zeros_like(like)
        return as_typed(jnp.broadcast_to(operands[argument_number], like.shape), like)

    def tangents(self, operands: Sequence[Any], wanted: Shape) -> list[Any]:
        """Return the tangents of the results of floats of an adjoint's launch.

        `operands` are that launch's own, then the tangents of those numbered `wanted`.
        """
        jnp, split = library().jnp, len(self.adjoint.operands)
        moving = {self.gradient.operands[n]: t for n, t in zip(wanted, operands[split:], strict=True)}
        results = [s.position for s in self.gradient.results if s.role == "input"]
        inputs, totals = self.inputs(operands), dict[int, Any]()
        for n in results:  # each of a batch has its own gradient
            inputs[n] = jnp.broadcast_to(inputs[n], (*self.config.batch, *self.primal.operands[n]))
        towards = {s.position: t for s, t in moving.items() if s.role == "input"}
        if towards:
            totals = dict(zip(results, self.second(operands, inputs, towards, results)[1], strict=True))
        along = {s.position: t for s, t in moving.items() if s.role == "cotangent"}
        if along:
            full = {
                n: along.get(n, jnp.zeros((*self.config.batch, *self.primal.results[n]), number_type(w.type).numpy))
                for n, w in enumerate(self.plan.results)
                if is_float(w.type)
            }
            more = _pulled(self.plan, self.primal, inputs, full, tuple(results), [inputs[n].aval for n in results])
            totals = {n: totals[n] + m if n in totals else m for n, m in zip(results, more, strict=True)}
        pairs = [(s, w) for s, w in zip(self.gradient.results, self.adjoint.results, strict=True) if is_float(w.type)]
        # What is no gradient of an input is dropped by whoever launched A.
        return [
            totals[s.position]
            if s.role == "input" and s.position in totals
            else jnp.zeros((*self.config.batch, *self.config.results[w.result]), number_type(w.type).numpy)
            for s, w in pairs
        ]

    def pulled(
        self, plan: Plan, config: LaunchConfig, operands: Sequence[Any], cotangents: Mapping[int, Any], wanted: Shape,
        linear: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        """Return the cotangents of an adjoint's launch's operands numbered `wanted`, from those of its results.

        Args:
            plan, config: the adjoint's launch.
            operands: its operands.
            cotangents: of its results of floats, by number.
            wanted: numbers of its operands.
            linear: the abstract values of the results of this function.
        """
        jnp, sources = library().jnp, [self.gradient.operands[n] for n in wanted]
        towards = {
            s.position: cotangents[n]
            for n, s in enumerate(self.gradient.results)
            if s.role == "input" and not _is_zero(cotangents[n])
        }
        by = [s.position for s in sources if s.role == "input"]
        results, gradients = self.second(operands, self.inputs(operands), towards, by) if towards else ([], [])
        floats = [n for n, w in enumerate(self.plan.results) if is_float(w.type)]
        by_source = {Source("input", n): g for n, g in zip(by, gradients, strict=False)}
        by_source |= {Source("cotangent", n): r for n, r in zip(floats, results, strict=False)}
        return [
            _sum_shared(by_source[s], aval, config) if s in by_source else jnp.zeros(aval.shape, aval.dtype)
            for s, aval in zip(sources, linear, strict=True)
        ]


def _adjoint_config(adjoint: Plan, gradient: Gradient, config: LaunchConfig) -> LaunchConfig:
    """Return the configuration of the adjoint's launch: its values have the shapes of their primal values."""

    def shape(source: Source) -> Shape:
        if source.role == "input" or source.of == "input":
            return config.operands[source.position]
        return () if source.role == "static" else config.results[source.position]

    operands = tuple(shape(s) for s in gradient.operands)
    results = tuple(shape(s) for s in gradient.results)
    views = tuple(config.views[n] for n in gradient.views)
    # In the cotangents an adjoint is linear, whatever its kernel is.
    cotangent_operands = [n for n, s in enumerate(gradient.operands) if s.role == "cotangent"]
    linear = tuple(w.name for w in adjoint.target.description.wires if w.operand in cotangent_operands)
    return replace(config, operands=operands, results=results, effect=False, views=views, linear=linear)


def _sum_shared(cotangent: Any, aval: Any, config: LaunchConfig) -> Any:
    """Return a cotangent of the type `aval`, summed over the batch axes along which the operand does not vary."""
    axes = tuple(n for n, size in enumerate(config.batch) if aval.shape[n] == 1 and size != 1)
    return as_typed(cotangent.sum(axis=axes, keepdims=True) if axes else cotangent, aval)


def check_linear(plan: Plan, linear: Collection[int], declared: Collection[str]) -> None:
    """Check that a launch is linear in the operands with these numbers, taken together.

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
    """Check by the IR that a launch is linear in the operands with these numbers, together; once per plan and operands.

    Raises:
        NotDifferentiable: the IR does not show it; `location` is the line that is not linear.
    """
    wires = plan.target.description.wires
    function = plan.code.function()
    # Half floats and the like keep their names, so a wire and its parameter are found by name.
    starts = {w.name: _share(w, linear) for w in wires}
    names = [w.name for w in wires if w.operand in linear]
    refuse_nonlinear(function, starts, {w.name: _memory(w) for w in wires}, names)


def _share(wire: Wire, linear: Collection[int]) -> Share:
    """Return how a parameter depends, before the launch, on the operands `linear`: linearly, not, or it is 0."""
    if wire.operand >= 0:
        return Share.LINEAR if wire.operand in linear else Share.FIXED
    # What a result holds undefined is not read; a marker of bytes stands for elements that nothing writes.
    filled = wire.value >= 0 or (isinstance(wire.fill, (int, float)) and wire.fill != 0)
    return Share.FIXED if filled else Share.NOTHING


def _memory(wire: Wire) -> Hashable:
    """Return what parameters have in common that are one memory: the operand's number, else the result's."""
    return ("operand", wire.operand) if wire.operand >= 0 else ("result", wire.result)
