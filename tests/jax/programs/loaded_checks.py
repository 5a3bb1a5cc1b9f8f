"""Load an exported program with checks, whose kernel is not here, and say what its fault says."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import export

import workbench as wb

program = export.deserialize(bytearray(Path(sys.argv[1]).read_bytes()))
wb.jax_preload(program)
x = jnp.arange(1.0, 5.0)
assert program.call(x, jnp.array([0, 1, 2], jnp.int32)).tolist() == [1, 2, 3]
try:
    jax.block_until_ready(program.call(x, jnp.array([0, 100, 2], jnp.int32)))
except Exception as error:
    print(error)
