"""Kernels as JAX functions, through XLA's foreign function interface.

Nothing here imports jax before a function made by `jax_kernel` or `jax_callable` is called. Each public name is
imported from its own file (`workbench.__getattr__`): to wrap a kernel needs none of what exports and packs programs.
"""

from workbench.interop.jax.recording import call_log  # noqa: F401  # makes itself a source of recorders
