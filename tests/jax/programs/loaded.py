"""Runs an exported program in a process that never saw its kernels. Arguments: its file, and sizes to call it with.

Beside the file may lie a serialised executable for 3 elements, and its text.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import export
from jax.experimental import serialize_executable

import workbench as wb

exported = export.deserialize(bytearray(Path(sys.argv[1]).read_bytes()))
assert wb.jax_preload(exported) == wb.jax_preload(exported) != ()
for size in map(int, sys.argv[2:]):
    x = jnp.arange(float(size))
    print(*exported.call(x, 0.5).tolist())
    if exported.has_vjp():

        def slope(x: jax.Array) -> jax.Array:
            return jax.grad(lambda x: (exported.call(x, 0.5) ** 2).sum())(x)

        print(*slope(x).tolist())
        print(*jax.grad(lambda x: (slope(x) ** 2).sum())(x).tolist())

executable = Path(sys.argv[1] + ".executable")
if executable.exists():
    text, data = pickle.loads(executable.read_bytes())
    assert wb.jax_preload(text) != ()
    print(*serialize_executable.deserialize_and_load(*data)(jnp.arange(3.0), jnp.float32(0.5)).tolist())
