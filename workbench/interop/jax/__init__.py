"""Kernels as JAX functions, through XLA's foreign function interface.

Nothing here imports jax before a function made by `jax_kernel` or `jax_callable` is called.
"""

from workbench.interop.jax.recording import call_log  # noqa: F401  # makes itself a source of recorders
from workbench.interop.jax.sharing.export import jax_export
from workbench.interop.jax.sharing.pack import jax_pack, jax_unpack
from workbench.interop.jax.sharing.preload import jax_preload
from workbench.interop.jax.wrappers.jax_callable import GraphMode, JaxCallable, jax_callable
from workbench.interop.jax.wrappers.jax_kernel import JaxKernel, jax_kernel

__all__ = [
    "GraphMode", "JaxCallable", "JaxKernel", "jax_callable", "jax_export", "jax_kernel", "jax_pack", "jax_preload",
    "jax_unpack",
]  # fmt: skip
