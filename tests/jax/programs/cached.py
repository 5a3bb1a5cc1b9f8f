"""A gradient compiled with JAX's persistent cache. Argument: the cache's folder. Prints whether XLA compiled."""

from __future__ import annotations

import sys

import jax
from stencil import K, loss, whole

jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
found: list[str] = []
jax.monitoring.register_event_listener(lambda event, **_: found.append(event))
jax.block_until_ready(jax.jit(jax.grad(loss(whole)))(jax.numpy.ones(40), K))
print("hit" if "/jax/compilation_cache/cache_hits" in found else "compiled")
