"""A function called back in Python from an XLA program: for functions that read values while they run.

Each call copies operands and results and takes the GIL; it works under jit, vmap (one call after another), scan, and
not under differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import NotDifferentiable
from workbench.interop.jax.library import library
from workbench.interop.jax.run import Signature
from workbench.runtime.array import array
from workbench.runtime.create import zeros
from workbench.runtime.device import CPU, ScopedDevice
from workbench.runtime.observers import OBSERVERS
from workbench.types import ArrayType, Vector, element


def call_back(function: Callable[..., Any], signature: Signature, values: Mapping[str, Any]) -> Sequence[Any]:
    """The function's results for JAX values, flat, by a callback.

    Raises:
        NotDifferentiable: under differentiation.
    """
    jax = library().jax
    shapes = [
        jax.ShapeDtypeStruct((*shape, *type.dtype.shape), element(type).numpy)
        for _, type, shape in signature.result_types()
    ]

    def host(*operands: Any) -> list[np.ndarray[Any, Any]]:
        return _call(function, signature, operands)

    @jax.custom_jvp
    def called(*operands: Any) -> Any:
        return jax.pure_callback(host, shapes, *operands, vmap_method="sequential")

    @called.defjvp
    def refuse(primals: Any, tangents: Any) -> Any:
        raise NotDifferentiable(
            f"{signature.function} is called back in Python, and JAX cannot differentiate through that.",
            advice="Let the function read no values, so that it can be traced.",
            function=signature.function,
        )

    return called(*signature.operands(values))


def _call(function: Callable[..., Any], signature: Signature, operands: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    token = OBSERVERS.set(())
    try:
        with ScopedDevice(CPU):
            rest, given, kept = iter(operands), [], []
            for leaf in signature.leaves:
                values = [_argument(type, np.asarray(next(rest))) for type in leaf.types]
                kept += values if leaf.name in signature.in_out else []
                given.append(leaf.built(values))
            outputs = [zeros(o.shape, o.type.dtype).fill_(o.init or 0) for o in signature.outputs]
            function(*given, *outputs)
            return [a.numpy() for a in (*kept, *outputs)]
    finally:
        OBSERVERS.reset(token)


def _argument(type: Any, value: np.ndarray[Any, Any]) -> Any:
    if isinstance(type, ArrayType):
        return array(value, type.dtype, copy=True)
    return type(value) if isinstance(type, Vector) else value[()].item()
