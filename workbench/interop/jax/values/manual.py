"""Values inside `shard_map`: which mesh axes they vary along, declared to JAX for what our primitives take and return.

JAX tracks this in a value's type, and a primitive's operands must agree. Its versions name it differently: 0.5 has
nothing, 0.6 `vma`, later ones a manual axis type.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.interop.jax.values.library import library, old_shard_map


def know(primitive: Any) -> None:
    """Declare to JAX that results of a primitive vary as its operands do, where its values' types do not say it."""
    rules = old_shard_map()
    if rules is not None:
        rules.register_standard_check(primitive)
        rules.register_standard_rewrite(primitive)


def varying(aval: Any) -> frozenset[Any]:
    """Return the mesh axes along which values of this type vary."""
    # The newest name first; a version that has neither gives no axes.
    kind = getattr(aval, "mat", None)
    return frozenset(kind.varying if kind is not None else getattr(aval, "vma", ()))


def is_among_devices(ctx: Any) -> bool:
    """Return whether what is lowered runs once per device on several devices: in `shard_map` or `pmap`."""
    context = ctx.module_context.axis_context
    if getattr(context, "manual_axes", ()):
        return context.mesh.size > 1
    # `pmap` has no manual axes; its devices are an axis by name.
    return math.prod(getattr(getattr(context, "axis_env", None), "sizes", ())) > 1


def explicit_mesh(aval: Any) -> Any:
    """Return the mesh of a value whose type says how it is divided; None of others, and inside `shard_map`."""
    mesh = getattr(getattr(aval, "sharding", None), "mesh", None)
    kinds = "" if mesh is None or varying(aval) else str(getattr(mesh, "axis_types", ""))
    return mesh if "Explicit" in kinds else None


def as_typed(value: Any, aval: Any) -> Any:
    """Return a value divided as the type `aval` says, under a mesh with explicit axes; else the value itself."""
    jax = library().jax
    if explicit_mesh(aval) is None or jax.typeof(value).sharding == aval.sharding:
        return value
    return jax.sharding.reshard(value, aval.sharding)


def is_partitioned(ctx: Any) -> bool:
    """Return whether what is lowered is a program that XLA partitions among several devices, over a mesh that is known.

    It is False for a program that is exported.
    """
    context = ctx.module_context.axis_context
    # What is exported may be loaded on a machine with other devices.
    if getattr(ctx.module_context.lowering_parameters, "for_export", False):
        return False
    devices, mesh = getattr(context, "device_assignment", None), getattr(context, "abstract_mesh", None)
    return devices is not None and len(devices) > 1 and mesh is not None and not mesh.empty


def aligned(operands: Sequence[Any]) -> Sequence[Any]:
    """Return the operands, declared to vary along every mesh axis along which one of them does."""
    jax = library().jax
    tracers = [x for x in operands if isinstance(x, jax.core.Tracer)]
    axes = frozenset().union(*(varying(x.aval) for x in tracers))
    if not axes:
        return operands
    return [_spread(jax, x, tuple(axes - varying(getattr(x, "aval", None)))) for x in operands]


def _spread(jax: Any, value: Any, axes: tuple[Any, ...]) -> Any:
    """Return a value declared to vary along these mesh axes; itself if there are none."""
    if not axes:
        return value
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(jax.numpy.asarray(value), axes, to="varying")
    return jax.lax.pvary(jax.numpy.asarray(value), axes)


def shaped(shape: tuple[Any, ...], dtype: Any, like: Sequence[Any], sharding: Any = None) -> Any:
    """Return the type of a primitive's result for operands of the types `like`, with `sharding` if types have one."""
    shaped_array = library().ShapedArray
    if sharding is not None:
        return shaped_array(shape, dtype, sharding=sharding)
    source = next((a for a in like if varying(a)), None)
    if source is None:
        return shaped_array(shape, dtype)
    sharding = library().jax.sharding
    # Inside of `shard_map` each device has the whole of its value: only how it varies is taken from an operand.
    plain = sharding.NamedSharding(source.sharding.mesh, sharding.PartitionSpec(*[None] * len(shape)))
    kind = {"manual_axis_type": source.mat} if hasattr(source, "mat") else {"vma": source.vma}
    return shaped_array(shape, dtype, sharding=plain, **kind)
