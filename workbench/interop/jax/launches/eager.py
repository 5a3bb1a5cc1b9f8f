"""Calls that nothing traces: a launch, or a function of launches, is one operation for JAX as `jnp.sin` is.

So it stays compiled under `jax.disable_jit`, and where `jax_debug_nans` finds a NaN in what it gave, the error names
it: JAX would otherwise look for a smaller operation by calling it again, and find the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.interop.jax.native.edits import OURS
from workbench.interop.jax.native.faults import fault_in
from workbench.interop.jax.values.library import library


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
