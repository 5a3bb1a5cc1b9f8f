"""Launches of one, two and eight threads, each with a long loop: what cannot be spread over lanes or cores."""

from __future__ import annotations

import numpy as np
import scipy.signal

from programs.program import Program

N = 1 << 20


def filtered(x: np.ndarray, threads: int, pole: float) -> np.ndarray:
    """Return what a filter of one pole gives for each thread's part, in float64."""
    return scipy.signal.lfilter([1.0], [1.0, -pole], x.astype(np.float64).reshape(threads, -1)).ravel()


def serial() -> list[Program]:
    """Running sums, a recurrence and a sum of integers over 2²⁰ numbers."""
    random = np.random.default_rng(21)
    x, seed = (random.standard_normal(N).astype(np.float32) for _ in range(2))
    whole = random.integers(0, 1000, N, dtype=np.int32)
    programs: list[Program] = []
    for threads in (1, 2, 8):
        each, share = N // threads, f"{threads} thread{'s' * (threads > 1)}"
        for name, kernel, pole in (("running sums", "running", 1.0), ("recurrence", "recurrence", 0.9)):
            programs.append(
                Program(
                    f"{name} of {share}", {"x": x, "y": 0 * x}, [(kernel, threads, ["x", each, "y"])], "y", ("x",),
                    exact=filtered(x, threads, pole), gradient=filtered(seed[::-1], threads, pole)[::-1], seed=seed,
                    error=1e-4, warp="forward",
                )
            )  # fmt: skip
        programs.append(
            Program(
                f"integer sums of {share}", {"x": whole, "o": np.zeros(threads, np.int32)},
                [("integers", threads, ["x", each, "o"])], "o", exact=whole.reshape(threads, -1).sum(1), error=0.0,
                peers={"numpy": lambda threads=threads: whole.reshape(threads, -1).sum(1)},
            )
        )  # fmt: skip
    return programs
