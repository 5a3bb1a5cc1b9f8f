"""The static configuration of one launch under XLA, and how it is encoded for the native handler.

It has what a target's description does not say: the launch's dimensions, its operands' shapes, batches, views.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from workbench.backends.layout import FAULT_SIZE
from workbench.errors import LaunchError
from workbench.interop.jax.launches.plan import Dims, Plan
from workbench.interop.jax.native.descriptor import Kind, static_value
from workbench.interop.jax.native.handler import MAX_BATCH_AXES
from workbench.interop.jax.values import arguments
from workbench.passes.checks.out_of_range import Condition
from workbench.runtime.launching.record import BLOCK_DIM
from workbench.types import element, is_integer

Shape = tuple[int, ...]
FAULT_WORDS = FAULT_SIZE // 4
"""The number of int32 words in a fault's record."""


@dataclass(frozen=True)
class LaunchConfig:
    """Represents the static part of one launch.

    Attributes:
        dims: the launch's dimensions.
        operands, results: shapes without batch axes, with the components' axis of vectors.
        batch: sizes of the batch axes.
        values: static arguments as int64 bits, in the order of the plan's wires.
        effect: never merged with an equal call nor dropped.
        records: its faults are one more result, the last: a record for each batch.
        reports: its effect is for XLA alone: JAX may move it like any other operation.
        vmap_method: one of `VMAP_METHODS`.
        block: threads of a block on a GPU.
        within: what must hold of sizes that are known at the call only.
        linear: names of parameters in which it is known to be linear without a proof.
        views: of each viewed parameter: bytes from its buffer's start, the view's shape, its strides in bytes.
    """

    dims: Shape
    operands: tuple[Shape, ...]
    results: tuple[Shape, ...]
    batch: Shape = ()
    values: tuple[int, ...] = ()
    effect: bool = False
    vmap_method: str = "expand_dims"
    views: tuple[Shape, ...] = ()
    block: int = BLOCK_DIM
    within: tuple[Condition, ...] = ()
    linear: tuple[str, ...] = ()
    reports: bool = False
    records: bool = False

    def __repr__(self) -> str:
        """Return the dimensions, batch and effect, as a jaxpr shows them; shapes are those of the values there."""
        batch = f" × batch {self.batch}" if self.batch else ""
        return f"dim {self.dims}{batch}{' (has effects)' if self.effect else ''}"

    def batched(self, size: int) -> LaunchConfig:
        """Return the configuration under one more batch axis, the outermost.

        Raises:
            LaunchError: it has MAX_BATCH_AXES already.
        """
        axes = (size, *self.batch)
        if len(axes) > MAX_BATCH_AXES:
            raise LaunchError(f"A kernel works under at most {MAX_BATCH_AXES} nested jax.vmap; this is one more.")
        return replace(self, batch=axes)

    @property
    def is_symbolic(self) -> bool:
        """Return whether a size is known only when the program runs."""
        sizes = (*self.dims, *self.batch, *(n for shape in (*self.operands, *self.results) for n in shape))
        return any(map(arguments.is_symbolic, sizes))


def traced_launch(plan: Plan, config: LaunchConfig) -> Dims | None:
    """Return what tracing knows of a launch: its dimensions, array shapes and static integers.

    An adjoint built with them is right for this launch alone. None if sizes are known only when the program runs.
    """
    if config.is_symbolic:
        return None
    arguments: dict[str, Any] = {}
    views = iter(config.views)
    for wire in plan.target.description.wires:
        view = next(views)[1 : 1 + wire.view] if wire.view else None
        if wire.kind in (Kind.ARRAY, Kind.SHAPE):
            aval = config.results[wire.result] if wire.result >= 0 else config.operands[wire.operand]
            arguments[wire.name] = SimpleNamespace(shape=aval if view is None else view)
        elif wire.value >= 0 and is_integer(wire.type):
            arguments[wire.name] = static_value(config.values[wire.value], element(wire.type))
    return Dims(config.dims, arguments)


def attributes(plan: Plan, config: LaunchConfig) -> dict[str, tuple[int, ...]]:
    """Return the attributes of a launch's FFI call by name, each a tuple of int64.

    Raises:
        LaunchError: a symbolic dimension of the launch is not a size of any of its arrays.
    """
    numbers: dict[str, tuple[int, ...]] = {"dims": tuple(_size(d, plan, config) for d in config.dims)}
    if config.values:
        numbers["values"] = config.values
    if config.views:
        numbers["views"] = tuple(n for view in config.views for n in view)
    if config.within:
        numbers["within"] = tuple(n for condition in config.within for n in _words(condition, plan))
    return numbers


def _words(condition: Condition, plan: Plan) -> tuple[int, ...]:
    """Return a condition as int64 words for the native handler: see `within` in check.c."""
    wires = plan.target.description.wires
    position = {w.name: n for n, w in enumerate(wires)}
    terms = [n for (array, axis), factor in condition.terms for n in (-1 - (4 * position[array] + axis), factor)]
    return (
        position[condition.array],
        condition.axis,
        condition.wraps,
        condition.constant,
        len(condition.terms),
        *terms,
    )


def _size(size: Any, plan: Plan, config: LaunchConfig) -> int:
    """Return a dimension of the launch as the native handler takes it.

    It is the number itself or, if it is symbolic, -1 - (4 · parameter + axis) of an array that has this size.

    Raises:
        LaunchError: no array has it.
    """
    if not arguments.is_symbolic(size):
        return int(size)
    wires = plan.target.description.wires
    for position, wire in enumerate(wires):
        if wire.kind in (Kind.ARRAY, Kind.SHAPE) and (wire.operand >= 0 or wire.result >= 0) and not wire.view:
            shape = config.results[wire.result] if wire.result >= 0 else config.operands[wire.operand]
            if size in shape[: wire.rank]:
                return -1 - (4 * position + shape.index(size))
    raise LaunchError(
        f"{plan.kernel} would be launched over {size} threads, which is not a size of any of its arrays.",
        advice="Under symbolic shapes, pass launch_dims that are dimensions of arguments.",
        function=plan.kernel,
    )
