"""JAX's modules, imported at the first call that needs them: the one file of this package that imports jax."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from workbench.errors import DeviceError


@lru_cache(maxsize=1)
def library() -> Any:
    """Import JAX at the first call, and return a namespace with its modules.

    It has `jax`, `jnp`, the interpreters `ad`, `batching`, `mlir` and `partial_eval`, and the classes `Primitive` and
    `ShapedArray`.

    Raises:
        DeviceError: JAX is not installed.
    """
    try:
        import jax
        import jax.numpy as jnp
        from jax.core import ShapedArray
        from jax.interpreters import ad, batching, mlir, partial_eval
    except ImportError as error:
        raise DeviceError("JAX is not installed.", advice="pip install 'kernel-workbench[jax]'") from error
    return SimpleNamespace(
        jax=jax,
        jnp=jnp,
        ad=ad,
        batching=batching,
        mlir=mlir,
        Primitive=type(jax.lax.add_p),  # `jax.extend.core` has it too, and imports all of Pallas: 18 ms
        ShapedArray=ShapedArray,
        partial_eval=partial_eval,
    )


@lru_cache(maxsize=1)
def literal_type() -> Any:
    """Return the class of a jaxpr's constants; late, as `jax.extend` imports all of Pallas."""
    from jax.extend.core import Literal

    return Literal


def partitioning() -> Any:
    """Return `jax.experimental.custom_partitioning`; None if this JAX has no sharding rules or uses none now."""
    import jax

    # Asked each time: XLA's older partitioner, switched on later, would end the process for want of a callback.
    if not getattr(jax.config, "jax_use_shardy_partitioner", False):
        return None
    try:
        from jax.experimental import custom_partitioning

        custom_partitioning.SdyShardingRule  # noqa: B018  not in JAX 0.5
    except (ImportError, AttributeError):
        return None
    return custom_partitioning


def needs_devices(primitive: Any) -> None:
    """Ask JAX to give the lowering rule of a primitive the devices, as `custom_partitioning` does for its own."""
    try:
        from jax._src.dispatch import prim_requires_devices_during_lowering as known
    except ImportError:  # then launches are not divided
        return
    known.add(primitive)


@lru_cache(maxsize=1)
def old_shard_map() -> Any:
    """Return the module of `shard_map` in JAX before 0.6, where primitives must be made known to it; None later."""
    import jax

    # The newer name first: to look at the older one is deprecated where both are.
    if hasattr(jax.lax, "pcast") or hasattr(jax.lax, "pvary"):
        return None
    from jax.experimental import shard_map

    return shard_map


@lru_cache(maxsize=1)
def jet_rules() -> dict[Any, Any]:
    """Return the table of rules of `jax.experimental.jet` by primitive; an unused dict if JAX has no jet."""
    try:
        from jax.experimental.jet import jet_rules
    except ImportError:
        return {}
    return jet_rules


@lru_cache(maxsize=1)
def checkify_library() -> Any:
    """Return the module with `checkify`'s table of rules; None if this JAX has none."""
    try:
        from jax._src import checkify
    except ImportError:
        return None
    return checkify


def located(target: str) -> Any:
    """Return a context in which lowered operations are called after a target's kernel: in HLO, and so in profiles."""
    # Without the primitive's location below it, whose name XLA would take.
    return library().mlir.ir.Location.name(target.split(".")[1])


@lru_cache(maxsize=1)
def export_library() -> Any:
    """Return `jax.export`, which needs packages that the rest of JAX does not.

    Raises:
        DeviceError: one of them is not installed.
    """
    try:
        from jax import export
    except ImportError as error:
        raise DeviceError(f"jax.export cannot be used: {error}.", advice="pip install flatbuffers absl-py") from error
    return export
