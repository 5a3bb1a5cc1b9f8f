"""A gradient compiled with JAX's persistent cache, whose folder is the argument.

Prints whether XLA compiled, and how many compilers of ours ran.
"""

from __future__ import annotations

import sys

import jax
from stencil import K, loss, whole

from workbench.backends.cpu.compile import POOL

jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
found: list[str] = []
jax.monitoring.register_event_listener(lambda event, **_: found.append(event))
jax.block_until_ready(jax.jit(jax.grad(loss(whole)))(jax.numpy.ones(40), K))
print("hit" if "/jax/compilation_cache/cache_hits" in found else "compiled", len(POOL.processes()))
