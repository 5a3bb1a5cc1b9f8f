"""Wrapped kernels in pickles: other processes have the kernel's IR, and not its source code."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")
jnp = jax.numpy
SCALE = 3.0


@wb.func
def twice(x: float):
    return 2.0 * x


@wb.kernel
def curve(x: wb.array[float], k: float, y: wb.array[float]):
    i = wb.tid()
    y[i] = wb.sin(twice(x[i])) * k * SCALE


@wb.kernel
def following(x, y):
    i = wb.tid()
    y[i] = x[i + 1] - x[i]


@wb.struct
class Pair:
    a: wb.array[float]
    b: float


@wb.kernel
def taken(p: Pair, y: wb.array[float]):
    y[wb.tid()] = p.a[wb.tid()] * p.b


def scaled(x: wb.array[float], y: wb.array[float]):
    wb.launch(curve, x.shape, [x, 2.0], [y])


X = np.linspace(0.1, 1, 5, dtype=np.float32)
READER = """
import pickle, sys
import jax, numpy as np
f, steps, x = pickle.load(open(sys.argv[1], "rb"))
g = jax.jit(jax.value_and_grad(lambda x: f(x, 2.0).sum()))
value, slope = g(x)
np.testing.assert_allclose(value, (np.sin(2 * x) * 6).sum(), rtol=1e-6)
np.testing.assert_allclose(slope, 12 * np.cos(2 * x), rtol=1e-5)
np.testing.assert_allclose(jax.vmap(f, (0, None))(np.stack([x, 2 * x]), 1.0)[1], 3 * np.sin(4 * x), rtol=1e-6)
assert steps(np.arange(4, dtype=np.int32) ** 2).tolist() == [1, 3, 5]
np.testing.assert_allclose(steps(x), np.diff(x), rtol=1e-5)
print("read")
"""


@pytest.mark.slow
def test_another_process_calls_and_differentiates_it(tmp_path: Path) -> None:
    f = wb.jax_kernel(curve)
    steps = wb.jax_kernel(following, input_dims={"x": "n"}, launch_dims="n - 1", output_dtypes={"y": "x"})
    steps(X), steps(np.arange(3, dtype=np.int32))
    place = tmp_path / "wrapped"
    place.write_bytes(pickle.dumps((f, steps, X)))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run([sys.executable, "-c", READER, str(place)], capture_output=True, text=True, env=environment)
    assert done.stdout == "read\n", done.stderr


def test_copies_and_what_a_pickle_does_not_hold() -> None:
    f = wb.jax_kernel(curve, static_argnames="k", block_dim=64)
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(f))))
    assert np.array_equal(again(X, 2.0), f(X, 2.0)) and again.block_dim == 64
    assert np.array_equal(copy.deepcopy(f)(X, 2.0), f(X, 2.0))
    steps = wb.jax_kernel(following, input_dims={"x": "n"}, launch_dims="n - 1")
    with pytest.raises(wb.RecordError, match=r"following cannot be pickled.*types.*Call it once before"):
        pickle.dumps(steps)
    steps(X)
    with pytest.raises(wb.LaunchError, match="takes array"):
        pickle.loads(pickle.dumps(steps))(np.arange(3, dtype=np.int32))
    with pytest.raises(wb.RecordError, match="taken cannot be pickled: it takes structs"):
        pickle.dumps(wb.jax_kernel(taken))


def test_a_function_of_launches_is_refused_with_what_to_send_instead() -> None:
    with pytest.raises(wb.errors.RecordError, match=r"scaled cannot be pickled.*wb\.jax_export"):
        pickle.dumps(wb.jax_callable(scaled))
