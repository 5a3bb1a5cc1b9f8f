"""Calls that XLA made, written out as ordinary work: the bits that JAX got, in files, and without JAX."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb

jax = pytest.importorskip("jax")
jnp = jax.numpy


@wb.kernel
def axpy(a: float, x: wb.array(dtype=float), y: wb.array(dtype=float), out: wb.array(dtype=float)):
    i = wb.tid()
    out[i] = a * x[i] + wb.sin(y[i])


@wb.kernel
def shifted(k: int, v: wb.array(dtype=wb.vec3), x: wb.array(dtype=float), hits: wb.array(dtype=int)):
    i = wb.tid()
    if i + k < x.shape[0]:
        x[i] = x[i] + v[i][0] * v[i][2]
        wb.atomic_add(hits, 0, 1)


@wb.kernel
def rows(m: wb.array2d(dtype=wb.float16), scale: float, out: wb.array2d(dtype=float)):
    i, j = wb.tid()
    out[i, j] = wb.float32(m[i, j]) * scale


AXPY = wb.jax_kernel(axpy)
SHIFTED = wb.jax_kernel(shifted, num_outputs=2, in_out_argnames=["x"], init={"hits": "zeros"})
X, Y = np.linspace(0, 1, 6, dtype=np.float32), np.ones(6, np.float32)
V, M = np.arange(18, dtype=np.float32).reshape(6, 3), np.arange(6, dtype=np.float16).reshape(2, 3)


def loss(a: Any, x: Any) -> Any:
    return jnp.sum(AXPY(a, x, Y) ** 2)


def rows_of(m: Any) -> Any:
    return wb.jax_kernel(rows)(m, 0.5, output_dims={"out": (2, 3)})


CASES: dict[str, Callable[[], Any]] = {
    "forward": lambda: AXPY(2.0, X, Y),
    "gradient": lambda: jax.grad(loss, argnums=(0, 1))(2.0, X),
    "tangent": lambda: jax.jvp(lambda x: AXPY(2.0, x, Y), (X,), (Y,)),
    "twice": lambda: jax.hessian(lambda x: loss(1.5, x))(X),
    "batches": lambda: jax.vmap(lambda a, x: AXPY(a, x, Y))(X, np.stack([X] * 6)),
    "batches of batches": lambda: jax.vmap(jax.vmap(lambda x: AXPY(3.0, x, Y)))(np.ones((2, 3, 6), np.float32)),
    "half": lambda: rows_of(M),
}


DIRECT = [case for case in CASES if case != "twice"]
"""Those whose results are results of calls: nothing of JAX's own comes after."""
SLOW = ("twice", "batches of batches")


@pytest.mark.parametrize("case", [pytest.param(c, marks=pytest.mark.slow if c in SLOW else ()) for c in CASES])
def test_a_call_written_out_gives_the_same_bits(case: str, tmp_path: Path) -> None:
    with wb.record(inputs=True) as rec:
        results = [np.asarray(leaf) for leaf in jax.tree.leaves(CASES[case]())]
    calls = [e for e in rec if e.kind == "jax"]
    assert calls
    rec.replay()
    expected = [[o.numpy().tobytes() for o in call.outputs] for call in calls]
    ours = {data for outputs in expected for data in outputs}
    assert all(leaf.tobytes() in ours for leaf in results if case in DIRECT)
    for call in calls:
        written = call.unfolded()
        assert (written.kind, written.name, written.size) == (call.kind, call.name, call.size)
    rec.save(tmp_path / "run.wbr")
    again = wb.load_record(tmp_path / "run.wbr", trust=True)
    again.replay()
    again.replay()
    assert [[o.numpy().tobytes() for o in e.outputs] for e in again if e.kind == "jax"] == expected


def test_values_that_are_changed_in_place_and_vectors() -> None:
    with wb.record(inputs=True) as rec:
        x, hits = SHIFTED(2, V, X, launch_dims=6, output_dims={"hits": 1})
    (call,) = [e for e in rec if e.kind == "jax"]
    written = call.unfolded()
    for _ in range(2):
        written.launch()
        assert np.array_equal(written.outputs[0].numpy(), x) and np.array_equal(written.outputs[1].numpy(), hits)


def test_saved_calls_run_where_there_is_no_jax(tmp_path: Path) -> None:
    with wb.record(inputs=True) as rec:
        expected = np.asarray(jax.jit(jax.grad(loss, argnums=1))(2.0, X))
    rec.save(tmp_path / "run.wbr")
    program = (
        "import sys; sys.modules['jax'] = None\n"
        "import workbench as wb; r = wb.load_record(sys.argv[1]); r.replay(); print(r)\n"
        "print([o.numpy().tolist() for o in r[-1].outputs])"
    )
    run = [sys.executable, "-W", "error", "-c", program, str(tmp_path / "run.wbr")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=900, check=True).stdout
    assert "axpy (adjoint)" in done and str(expected.tolist()) in done.splitlines()[-1]
