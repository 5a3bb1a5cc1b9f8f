"""`shard_map` over 2, 4 and 8 devices of one process, and `pmap`: values and gradients equal those on one device."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import warnings

import jax
import numpy as np
from stencil import K, X, local, loss, sharded, whole

grad = jax.jit(jax.grad(loss(whole), (0, 1)))(X, K)
for count in (2, 4, 8):
    spread = jax.jit(sharded(jax.sharding.Mesh(np.array(jax.devices()[:count]), ("x",))))
    np.testing.assert_allclose(spread(X, K), whole(X, K), rtol=1e-6)
    found = jax.jit(jax.grad(loss(spread), (0, 1)))(X, K)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), found, grad)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    rows = jax.pmap(local, axis_name="x", in_axes=(0, None))(X.reshape(8, 6), K)
np.testing.assert_allclose(rows.reshape(-1), whole(X, K), rtol=1e-6)
print("equal")
