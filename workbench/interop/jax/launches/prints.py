"""Kernels that print, under JAX: the launch itself runs without its prints, and a debug callback runs it for them.

So prints are ordered, batched and repeated as those of `jax.debug.print` are, the launch stays native, and its
derivatives print nothing. The kernel runs twice; what it prints is known only while it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from copy import copy
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from workbench.api.kernels.kernel import Specialisation
from workbench.api.launches.launch import launch
from workbench.api.launches.launch_tiled import launch_tiled
from workbench.errors import KernelFault
from workbench.interop.jax.launches.plan import Plan
from workbench.interop.jax.native.descriptor import Wire
from workbench.interop.jax.values.library import library
from workbench.passes.checks.bounds_checks import without_prints
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import full
from workbench.structs import Struct

_SILENT: WeakKeyDictionary[Specialisation, Specialisation] = WeakKeyDictionary()


def silent(specialisation: Specialisation) -> Specialisation:
    """Return the specialisation without its prints; itself if it has none."""
    if "print" not in specialisation.function.body.op_names:
        return specialisation
    silenced = _SILENT.get(specialisation)
    if silenced is None:
        silenced = _SILENT[specialisation] = copy(specialisation)
        silenced.function = without_prints(specialisation.function)
        silenced.executables, silenced.bound, silenced.jax_plans = {}, {}, {}
    return silenced


def print_when_run(
    specialisation: Specialisation, plan: Plan, dims: Sequence[int], results: Sequence[Sequence[int]],
    scalars: Mapping[str, Any], operands: Sequence[Any], block: int,
) -> None:  # fmt: skip
    """Let the program print, when it runs, what a kernel prints.

    Args:
        specialisation: the kernel, with its prints.
        plan: its launch without them.
        dims: of the launch.
        results: shapes of the results.
        scalars: values of static numbers, by parameter.
        operands: of the launch.
        block: threads of a block, of a kernel of tiles.
    """
    shapes = tuple(map(tuple, results))
    printed = _Printed(specialisation, plan, tuple(dims), shapes, dict(scalars), block)
    library().jax.debug.callback(printed, *operands)


@dataclass(frozen=True, eq=False)
class _Printed:
    """Represents a launch that runs again for its printed lines alone.

    Attributes:
        specialisation: the kernel, with its prints.
        plan: its launch without them.
        dims: of the launch.
        results: shapes of the results.
        scalars: values of static numbers, by parameter.
        block: threads of a block, of a kernel of tiles.
    """

    specialisation: Specialisation
    plan: Plan
    dims: tuple[int, ...]
    results: tuple[tuple[int, ...], ...]
    scalars: Mapping[str, Any]
    block: int

    def __call__(self, *operands: Any) -> None:
        """Print what the kernel prints for these operands; no tape or recorder of the caller sees it run."""
        # In a context of its own: no tape or recorder that is open shall hear of it.
        Context().run(self._run, [np.asarray(x) for x in operands])

    def _run(self, operands: list[np.ndarray[Any, Any]]) -> None:
        """Launch the kernel, with its prints, on arrays of its own on the CPU; a fault of it is dropped."""
        kernel = self.specialisation.kernel
        arguments = {w.name: self._argument(w, operands) for w in self.plan.target.description.wires}
        values = [_together(n, t, arguments) for n, t in zip(kernel.parameters, self.specialisation.types, strict=True)]
        # A fault is the launch's own, and it reports it.
        with suppress(KernelFault):
            if self.specialisation.tiling is not None:
                launch_tiled(kernel, self.dims, values, block_dim=self.block, device="cpu", checks=self.plan.checked)
            else:
                launch(kernel, self.dims, values, device="cpu", checks=self.plan.checked)

    def _argument(self, wire: Wire, operands: list[np.ndarray[Any, Any]]) -> Any:
        """Return the value of a wire: a static number, a new array for a result, or the operand's value."""
        if wire.value >= 0:
            return self.scalars[wire.name]
        inner = wire.type.shape
        if wire.operand < 0:
            shape = self.results[wire.result]
            start = wire.fill if isinstance(wire.fill, (int, float)) else 0
            return full(shape[: wire.rank], start, dtype=wire.type, device="cpu")
        value = operands[wire.operand]
        plain = value.reshape((*value.shape[: wire.rank], *inner))
        if wire.rank == 0:
            return plain[()] if not inner else wire.type(*plain.reshape(-1).tolist())
        return array(plain, dtype=wire.type, device="cpu")


def _together(name: str, type: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the value of a parameter from those of wires by name; a struct is built from its fields' values."""
    if not isinstance(type, Struct):
        return arguments[name]
    return type.host(**{f.name: _together(f"{name}.{f.name}", f.type, arguments) for f in type.fields})
