"""A kernel inside JAX that would go on for minutes: `interrupted.py CASE` says "go" before, and how it ended."""

from __future__ import annotations

import json
import os
import sys
import threading
import time

import jax
import jax.numpy as jnp

import workbench as wb


@wb.kernel
def slow(x: wb.array(dtype=float), n: int, y: wb.array(dtype=float)):
    i = wb.tid()
    s = x[i]
    for k in range(n):
        s = wb.sin(s + float(k))
    y[i] = s


LONG, FEW = jnp.int32(2**31 - 1), jnp.int32(3)
f = wb.jax_kernel(slow, num_outputs=1)


def steps(x: wb.array(dtype=float), n: int, y: wb.array(dtype=float)):
    wb.launch(slow, x.shape[0], [x, n, y])


def called_back(x: wb.array(dtype=float), n: int, y: wb.array(dtype=float)):
    wb.launch(slow, x.shape[0], [x, int(n), y])


program = wb.jax_callable(steps, num_outputs=1)
back = wb.jax_callable(called_back, num_outputs=1, graph_mode="none")


def one(value):
    """The only result."""
    return value[0] if isinstance(value, (tuple, list)) else value


def behind(x, n):
    """With so much of XLA's own that the call does not run in the thread that makes it."""
    return one(f(jax.lax.fori_loop(0, 50, lambda _, v: jnp.sin(v) + v @ jnp.ones((64, 64)) * 1e-9, x), n))


def back_behind(x, n):
    """The same of a function that JAX calls back."""
    return one(back(jax.lax.fori_loop(0, 50, lambda _, v: jnp.sin(v) + v @ jnp.ones((64, 64)) * 1e-9, x), n))


def turns(x, n):
    """A loop of XLA's around short launches."""
    return jax.lax.fori_loop(0, n, lambda _, v: one(f(v, FEW)), x)


CASES = {
    "jit": jax.jit(lambda x, n: one(f(x, n))),
    "many threads": jax.jit(lambda x, n: one(f(jnp.ones(2**20), n))),
    "behind": jax.jit(behind),
    "turns": jax.jit(turns),
    "grad": jax.jit(jax.grad(lambda x, n: one(f(x, n)).sum())),
    "called back": jax.jit(lambda x, n: one(back(x, n))),
    "called back behind": jax.jit(back_behind),
    "called back eagerly": lambda x, n: one(back(x, n)),
    "called back for a gradient": jax.jit(jax.grad(lambda x, n: one(back(x, n)).sum())),
    "program": jax.jit(lambda x, n: one(program(x, n))),
}


def a_moment() -> None:
    """Python code for the interrupt to arrive in: in Python 3.13 that may be half a millisecond after JAX's error."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        pass


def main(case: str) -> None:
    """Run until it is interrupted."""
    g, x = CASES[case], jnp.ones(64)
    expected = g(x, FEW).tolist()
    g(x, FEW).block_until_ready()
    result, error, late = None, None, ""
    print("go", flush=True)
    try:
        try:
            result = g(x, LONG)
            result.block_until_ready()
        except Exception as caught:
            error = caught
            a_moment()
    except KeyboardInterrupt as caught:
        error = caught
    try:
        threading.Event().wait(0.01)
        again = g(x, FEW).tolist()
    except KeyboardInterrupt as caught:
        late = repr(caught)
    poisoned = ""
    if result is not None:
        try:
            result.tolist()
        except Exception as caught:
            poisoned = str(caught)
    context = getattr(error, "__context__", None)
    found = {
        "error": type(error).__name__, "said": str(error), "context": str(context or ""), "late": late,
        "right": again == expected, "poisoned": poisoned,
    }  # fmt: skip
    print(json.dumps(found), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
