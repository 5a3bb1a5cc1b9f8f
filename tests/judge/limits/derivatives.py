"""Families whose size is counted by the adjoint: iterations, states of loops, neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.judge.limits.building import floats, indented, integers, output, program, straight, whole
from tests.judge.program import Array, Program, Scalar

THREADS = 5


def _positive() -> Array:
    """Return numbers between 0 and 2, from which the loops below go to a fixed point."""
    x = floats(THREADS)
    return replace(x, values=np.abs(x.values))


def _loop(
    name: str, head: list[str], body: list[str], count: int | None, options: str = "", last: str = "y[i] = v"
) -> Program:
    """A loop of a known number of iterations, or of `m` iterations."""
    text = indented(["i = wb.tid()", "a = x[0]", *head, f"for j in range({'m' if count is None else count}):"])
    arguments = {"x": _positive(), "y": output(THREADS)}
    return program(name, text + indented(body, 1) + last, arguments, THREADS, smooth=True, options=options)


def _with_m(judged: Program, m: int) -> Program:
    arguments = {**judged.arguments, "m": whole(m)}
    text = judged.text.replace("):\n    i = wb.tid()", ", m: wb.int32):\n    i = wb.tid()")
    return type(judged)(judged.name, text, judged.dim, arguments, smooth=True)


LOGISTIC = "v = v * (1.0 - 0.3 * v) + a * 0.01"


def iterations(n: int) -> Program:
    """A loop of n iterations, which only the launch knows."""
    return _with_m(_loop("iterations", ["v = x[i] * 0.25"], [LOGISTIC], None), n)


def squared_iterations(n: int) -> Program:
    """A loop of n² + 1 iterations, more than n states reach."""
    return _with_m(_loop("squared iterations", ["v = x[i] * 0.25"], [LOGISTIC], None), n * n + 1)


def checkpoints(n: int) -> Program:
    """A loop of 40 iterations with n checkpoints."""
    return _with_m(_loop("checkpoints", ["v = x[i] * 0.25"], [LOGISTIC], None, options=f"checkpoints={n}"), 40)


def known_range(n: int) -> Program:
    """A known range whose iterations are n operations together."""
    return _loop("known range", ["v = x[i]"], ["v = v * 0.9990234375 + a"], max(1, n // 2))


def overwritten(n: int) -> Program:
    """A known range of n operations whose state is in an array, so that only writing it out keeps it."""
    body = ["y[i] = y[i] * (1.0 - 0.25 * y[i]) + a * 0.125"]
    judged = _loop("overwritten", [], body, max(1, n // 9), last="y[i] = y[i] * 2.0")
    return replace(judged, arguments={"x": _positive(), "y": replace(_positive(), output=True)})


def known_iterations(n: int) -> Program:
    """A known range of n iterations, too long to be written out."""
    return _loop("known iterations", ["v = x[i]"], [*straight(40).splitlines(), "v = v * (1.0 - 0.2 * v)"], n)


def reversed_body(n: int) -> Program:
    """A loop with a body of n operations."""
    return _with_m(
        _loop("reversed body", ["v = x[i]"], [*straight(n).splitlines(), "v = v * (1.0 - 0.2 * v)"], None), 21
    )


def _states(n: int) -> tuple[list[str], list[str], str]:
    """Return what starts, iterates and reads floats of n bytes together."""
    words = n // 4
    head = [f"v{k} = x[i] * 0.{k % 9 + 1}" for k in range(words)]
    body = [f"v{k} = v{k} * (1.0 - 0.3 * v{(k + 1) % words})" for k in range(words)]
    return head, body, "y[i] = " + " + ".join(f"v{k}" for k in range(words))


def state_bytes(n: int) -> Program:
    """A loop that carries n bytes."""
    head, body, last = _states(n)
    return _with_m(_loop("state bytes", head, body, None, last=last), 21)


def stored_state_bytes(n: int) -> Program:
    """A known range that carries n bytes, too long to be written out."""
    head, body, last = _states(n)
    more = ["v0 = v0 * 0.75", "v0 = v0 + a * 0.125"] * 20
    return _loop("stored state bytes", head, [*body, *more], 60, last=last)


def neighbours(n: int) -> Program:
    """Each thread adds up n neighbours."""
    rows = ["i = wb.tid()", f"if i < x.shape[0] - {n - 1}:"]
    terms = [f"    v = v * 0.5 + x[i + {k}] * x[i + {k}]" for k in range(n)]
    size = n + 13
    return program("neighbours", indented([*rows, "    v = 0.0", *terms, "    y[i] = v"]),
                   {"x": floats(size), "y": output(size)}, size, smooth=True)  # fmt: skip


def neighbours_in_a_plane(n: int) -> Program:
    """Each thread adds up a square of n neighbours or a little more."""
    side = int(np.ceil(np.sqrt(n)))
    rows = ["i, j = wb.tid()", f"if i + {side - 1} < x.shape[0] and j + {side - 1} < x.shape[1]:", "    v = 0.0"]
    rows += [f"    v = v + x[i + {k // side}, j + {k % side}] * {k % 5 + 1}.0" for k in range(n)]
    shape = side + 3, side + 4
    return program("neighbours in a plane", indented([*rows, "    y[i, j] = v * v"]),
                   {"x": floats(*shape), "y": output(*shape)}, shape, smooth=True)  # fmt: skip


def gathered_body(n: int) -> Program:
    """An adjoint that gathers in n operations: the weights of two neighbours are computed from the thread's index."""
    rows = ["i = wb.tid()"]
    for name, scale, count in (("p", 0.125, n // 2), ("q", 0.375, n - n // 2)):
        rows += [f"v = float(i) * {scale}", *straight(count).splitlines(), f"{name} = v"]
    arguments = {"x": floats(24), "a": Scalar(0.375, "wb.float32"), "y": output(23)}
    body = indented([*rows, "y[i] = x[i] * p - x[i + 1] * q"])
    return program("gathered body", body, arguments, 23, smooth=True)


def clamped(n: int) -> Program:
    """Neighbours at distance n, clamped to the array."""
    text = f"i = wb.tid()\ny[i] = x[max(i - {n}, 0)] * x[i] - x[min(i + {n}, x.shape[0] - 1)]"
    return program("clamped", text, {"x": floats(2 * n + 9), "y": output(2 * n + 9)}, 2 * n + 9, smooth=True)


def clamped_near_ends(n: int) -> Program:
    """Neighbours at distance n in an array that is no longer than that."""
    text = f"i = wb.tid()\ny[i] = x[max(i - {n}, 0)] * x[i] - x[min(i + {n}, x.shape[0] - 1)]"
    return program("clamped near ends", text, {"x": floats(n), "y": output(n)}, n, smooth=True)


def added_by_index(n: int) -> Program:
    """Additions by index after n operations."""
    rows = ["i = wb.tid()", "v = x[i]", "a = x[0]", *straight(n).splitlines(), "y[at[i]] += v"]
    return program("added by index", indented(rows), {"x": floats(70), "at": integers(70, below=9), "y": output(9)}, 70,
                   smooth=True)  # fmt: skip


def values_added_by_index(n: int) -> Program:
    """Additions of n values by index."""
    rows = ["i = wb.tid()", "c = at[i]", *(f"v{k} = max(x[i] * {k + 1}.5, -1.0) + x[0]" for k in range(n))]
    rows += [f"y[c, {k}] += v{k}" for k in range(n)]
    return program("values added by index", indented(rows), {"x": floats(70), "at": integers(70, below=9),
                   "y": output(9, n)}, 70, smooth=True)  # fmt: skip
