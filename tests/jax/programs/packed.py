"""Loads a packed program without cache or source, and prints it and its gradient. Arguments: its file, and sizes."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import jax.numpy as jnp

import workbench as wb

exported = wb.jax_unpack(Path(sys.argv[1]).read_bytes())
for size in map(int, sys.argv[2:]):
    x = jnp.linspace(0.0, 1.0, size)
    print(*jax.jit(exported.call)(x, 0.5).tolist())
    print(*jax.grad(lambda x: (exported.call(x, 0.5) ** 2).sum())(x).tolist())
