"""Kernels as JAX functions, through XLA's foreign function interface.

Nothing here imports jax before a function made by `jax_kernel` is called.
"""

from workbench.interop.jax.wrap import JaxKernel, jax_kernel

__all__ = ["JaxKernel", "jax_kernel"]
