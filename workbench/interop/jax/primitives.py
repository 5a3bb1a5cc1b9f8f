"""Two JAX primitives: a kernel's launch, and its derivative applied to tangents.

`launch` is what runs. Its jvp rule binds `launch_tangent`, which is linear in the tangents and whose transpose binds
the launch of the adjoint kernel; so grad, vjp and their combinations with jit, vmap, scan and checkpoint follow from
JAX's own machinery. `launch_tangent` itself cannot run yet: that would be the tangent kernel.

Batch axes stand first, the same number on every operand; where an operand does not vary along one, its size there is 1
(`expand_dims`), and the handler reads it again for each batch without a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import DeviceError, LaunchError, NotDifferentiable
from workbench.interop.jax.descriptor import Wire
from workbench.interop.jax.handler import MAX_BATCH_AXES
from workbench.interop.jax.library import library
from workbench.interop.jax.plan import Gradient, Plan
from workbench.types import element, is_float

VMAP_METHODS = ("expand_dims", "broadcast_all", "sequential")
Shape = tuple[int, ...]


@dataclass(frozen=True)
class How:
    """What is static about one launch.

    Attributes:
        dims: the launch's dimensions.
        operands, results: shapes without batch axes, with the components' axis of vectors.
        batch: sizes of the batch axes.
        values: static arguments as int64 bits, in the order of the plan's wires.
        effect: never merged with an equal call nor dropped.
        vmap_method: one of `VMAP_METHODS`.
    """

    dims: Shape
    operands: tuple[Shape, ...]
    results: tuple[Shape, ...]
    batch: Shape = ()
    values: tuple[int, ...] = ()
    effect: bool = False
    vmap_method: str = "expand_dims"

    def batched(self, size: int) -> How:
        """The same under one more batch axis, the outermost."""
        axes = (size, *self.batch)
        if len(axes) > MAX_BATCH_AXES:
            raise LaunchError(f"A kernel works under at most {MAX_BATCH_AXES} nested jax.vmap; this is one more.")
        return How(self.dims, self.operands, self.results, axes, self.values, self.effect, self.vmap_method)


class Primitives(NamedTuple):
    """The two primitives, with their rules."""

    launch: Any
    tangent: Any


@lru_cache(maxsize=1)
def primitives() -> Primitives:
    """The primitives, made and registered with JAX at the first call."""
    jax = library()
    launch, tangent = jax.Primitive("workbench_launch"), jax.Primitive("workbench_launch_tangent")
    launch.multiple_results = tangent.multiple_results = True
    launch.def_effectful_abstract_eval(_launch_results)
    launch.def_impl(partial(_run_jitted, launch))
    jax.mlir.register_lowering(launch, _lower_launch, platform="cpu")
    jax.mlir.register_lowering(launch, _refuse_platform)
    jax.ad.primitive_jvps[launch] = _launch_jvp
    jax.batching.primitive_batchers[launch] = _batch_launch
    tangent.def_abstract_eval(_tangent_results)
    tangent.def_impl(_refuse_forward_mode)
    jax.mlir.register_lowering(tangent, _refuse_lowering)
    jax.ad.primitive_transposes[tangent] = _transpose_tangent
    jax.batching.primitive_batchers[tangent] = _batch_tangent
    return Primitives(launch, tangent)


def launch(plan: Plan, operands: Sequence[Any], how: How) -> list[Any]:
    """The results of a launch, in the order of the plan's."""
    return primitives().launch.bind(*operands, plan=plan, how=how)


# ---- the launch


def _avals(wires: Sequence[Wire], how: How) -> list[Any]:
    shapes = (how.results[w.result] for w in wires)
    return [
        library().ShapedArray((*how.batch, *shape), np.dtype(element(w.type).name))
        for w, shape in zip(wires, shapes, strict=True)
    ]


def _launch_results(*avals: Any, plan: Plan, how: How) -> tuple[list[Any], Any]:
    return _avals(plan.results, how), _effect() if how.effect else frozenset()


@lru_cache(maxsize=1)
def _effect() -> Any:
    """The effect of JAX's own FFI calls: it is known to all of JAX's transformations."""
    jax = library().jax
    call = jax.ffi.ffi_call("workbench.effect", jax.ShapeDtypeStruct((), np.float32), has_side_effect=True)
    return frozenset(jax.make_jaxpr(call)().effects)


def _run_jitted(primitive: Any, *operands: Any, plan: Plan, how: How) -> list[Any]:
    return _jitted(primitive, plan, how)(*operands)


@lru_cache(maxsize=4096)
def _jitted(primitive: Any, plan: Plan, how: How) -> Callable[..., list[Any]]:
    return library().jax.jit(lambda *operands: primitive.bind(*operands, plan=plan, how=how))


def _lower_launch(ctx: Any, *operands: Any, plan: Plan, how: How) -> Any:
    plan.target.register()
    rule = library().jax.ffi.ffi_lowering(
        plan.target.name,
        has_side_effect=how.effect,
        operand_output_aliases=dict(plan.target.description.aliases()),
    )
    attributes = {"dims": np.array(how.dims, np.int64)}
    if how.values:
        attributes["values"] = np.array(how.values, np.int64)
    return rule(ctx, *operands, **attributes)


def _refuse_platform(ctx: Any, *operands: Any, plan: Plan, how: How) -> Any:
    raise DeviceError(
        f"The kernel {plan.kernel} can run under JAX on the CPU only, so far.",
        advice='Run it with jax.default_device(jax.devices("cpu")[0]).',
        function=plan.kernel,
    )


def _batch_launch(operands: Sequence[Any], axes: Sequence[Any], *, plan: Plan, how: How) -> tuple[list[Any], list[int]]:
    size = _axis_size(operands, axes)
    if how.vmap_method == "sequential":
        return _one_by_one(operands, axes, plan, how), [0] * len(plan.results)
    whole = {operand for operand, _ in plan.target.description.aliases()}
    if how.vmap_method == "broadcast_all":
        whole = set(range(len(operands)))
    moved = [_lead(x, axis, size if n in whole else 1) for n, (x, axis) in enumerate(zip(operands, axes, strict=True))]
    return launch(plan, moved, how.batched(size)), [0] * len(plan.results)


def _one_by_one(operands: Sequence[Any], axes: Sequence[Any], plan: Plan, how: How) -> list[Any]:
    jax = library()
    moving = [jax.jnp.moveaxis(x, axis, 0) for x, axis in zip(operands, axes, strict=True) if axis is not None]

    def once(slices: Sequence[Any]) -> list[Any]:
        rest = iter(slices)
        return launch(plan, [x if axis is None else next(rest) for x, axis in zip(operands, axes, strict=True)], how)

    return jax.jax.lax.map(once, moving)


def _axis_size(operands: Sequence[Any], axes: Sequence[Any]) -> int:
    return next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)


def _lead(x: Any, axis: int | None, size: int) -> Any:
    """`x` with its batch axis first; where it has none, with one of `size`."""
    jax = library()
    return jax.jax.lax.broadcast(x, (size,)) if axis is None else jax.jnp.moveaxis(x, axis, 0)


# ---- its derivative


def _launch_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, plan: Plan, how: How
) -> tuple[list[Any], list[Any]]:
    gradient = plan.gradient()
    results = launch(plan, primals, how)
    floats = [is_float(w.type) for w in plan.operands]
    wanted = tuple(n for n, (t, f) in enumerate(zip(tangents, floats, strict=True)) if f and not _is_zero(t))
    moved = primitives().tangent.bind(
        *_residuals(gradient, primals, results), *(tangents[n] for n in wanted), plan=plan, how=how, wanted=wanted
    )
    rest = iter(moved)
    pairs = zip(results, plan.results, strict=True)
    return results, [next(rest) if is_float(w.type) else _no_tangent(r) for r, w in pairs]


def _no_tangent(result: Any) -> Any:
    """The tangent of a result that is not of floats."""
    jax = library()
    return jax.ad.Zero(jax.ShapedArray(result.shape, jax.jax.dtypes.float0))


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is library().ad.Zero


def _residuals(gradient: Gradient, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The forward values that the adjoint takes, in the order of its operands."""
    places = {"input": inputs, "output": outputs}
    return [places[s.place][s.number] for s in gradient.operands if s.place in places]


def _tangent_results(*avals: Any, plan: Plan, how: How, wanted: Shape) -> list[Any]:
    return _avals([w for w in plan.results if is_float(w.type)], how)


def _batch_tangent(
    operands: Sequence[Any], axes: Sequence[Any], *, plan: Plan, how: How, wanted: Shape
) -> tuple[list[Any], list[int]]:
    size = _axis_size(operands, axes)
    moved = [_lead(x, axis, 1) for x, axis in zip(operands, axes, strict=True)]
    results = primitives().tangent.bind(*moved, plan=plan, how=how.batched(size), wanted=wanted)
    return results, [0] * len(results)


def _transpose_tangent(cotangents: Sequence[Any], *operands: Any, plan: Plan, how: How, wanted: Shape) -> list[Any]:
    """Cotangents of the results to those of the tangents, by the adjoint kernel."""
    ad = library().ad
    split = len(operands) - len(wanted)
    residuals, linear = operands[:split], operands[split:]
    if all(_is_zero(c) for c in cotangents):
        return [None] * split + [ad.Zero(x.aval) for x in linear]
    gradient = plan.gradient()
    floats = [n for n, w in enumerate(plan.results) if is_float(w.type)]
    full = {n: ad.instantiate_zeros(c) for n, c in zip(floats, cotangents, strict=True)}
    rest = iter(residuals)
    given = [full[s.number] if s.place == "cotangent" else next(rest) for s in gradient.operands]
    results = launch(gradient.plan, given, _adjoint_how(gradient, plan, how))
    found = {s.number: r for s, r in zip(gradient.results, results, strict=True) if s.place == "input"}
    return [None] * split + [_sum_shared(found[n], x.aval, how) for n, x in zip(wanted, linear, strict=True)]


def _adjoint_how(gradient: Gradient, plan: Plan, how: How) -> How:
    """The statics of the adjoint's launch: its operands and results have the shapes of the values they belong to."""

    def shape(source: Any) -> Shape:
        if source.place == "input":
            return how.operands[source.number]
        return () if source.place == "static" else how.results[source.number]

    operands = tuple(shape(s) for s in gradient.operands)
    results = tuple(shape(s) for s in gradient.results)
    return How(how.dims, operands, results, how.batch, how.values, False, how.vmap_method)


def _sum_shared(cotangent: Any, aval: Any, how: How) -> Any:
    """Summed over the batch axes along which the operand did not vary."""
    axes = tuple(n for n, size in enumerate(how.batch) if aval.shape[n] == 1 and size != 1)
    return cotangent.sum(axis=axes, keepdims=True) if axes else cotangent


def _refuse_forward_mode(*operands: Any, plan: Plan, how: How, wanted: Shape) -> Any:
    raise NotDifferentiable(
        f"The kernel {plan.kernel} has no forward-mode derivative yet, which jax.jvp and jax.jacfwd need.",
        advice="Use reverse mode: jax.grad, jax.vjp or jax.jacrev.",
        function=plan.kernel,
    )


def _refuse_lowering(ctx: Any, *operands: Any, plan: Plan, how: How, wanted: Shape) -> Any:
    _refuse_forward_mode(plan=plan, how=how, wanted=wanted)
