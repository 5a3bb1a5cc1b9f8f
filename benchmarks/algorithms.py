"""Scans, sorts, histograms and sums of a million numbers on the CPU, against NumPy's.

Run: python benchmarks/algorithms.py. Both take turns; the ratio is NumPy's processor time (all threads of the process)
over Workbench's, the median of the rounds: above 1 Workbench needs less.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

import workbench as wb

N = 1_000_000
ROUNDS = 15


def timed(run: Callable[[], object]) -> float:
    """Seconds of processor time of one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def cases() -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """What both do, by name: ours and NumPy's."""
    rng = np.random.default_rng(0)
    floats, doubles = rng.standard_normal(N).astype(np.float32), rng.standard_normal(N)
    ints = rng.integers(-(2**31), 2**31 - 1, N).astype(np.int32)
    longs, small = ints.astype(np.int64) << 20, rng.integers(0, 1000, N).astype(np.int32)
    runs = np.repeat(small[: N // 10], 10)
    x, d, i, j = wb.array(floats), wb.array(doubles), wb.array(ints), wb.array(small)
    sums, int_sums, keys, wide = wb.empty_like(x), wb.empty_like(i), wb.empty_like(i), wb.array(longs)
    places, order = wb.empty_like(i), wb.array(np.arange(N, dtype=np.int32))
    r, found, lengths = wb.array(runs), wb.empty_like(i), wb.empty_like(i)
    numpy_sums, numpy_int_sums = np.empty_like(floats), np.empty_like(ints)

    def sort(of: wb.array, into: wb.array) -> None:
        into.copy_(of)
        wb.utils.radix_sort(into)

    def sort_pairs(bits: int | None) -> None:
        keys.copy_(i if bits is None else j)
        places.copy_(order)
        wb.utils.radix_sort_pairs(keys, places, end_bit=bits)

    def numpy_pairs(of: np.ndarray) -> object:
        found = np.argsort(of, kind="stable")
        return of[found]

    def numpy_runs() -> object:
        heads = np.flatnonzero(runs[1:] != runs[:-1])
        return runs[heads], np.diff(heads)

    spare = wb.empty_like(wide)
    return {
        "inclusive scan, float32": (lambda: wb.utils.array_scan(x, sums), lambda: np.cumsum(floats, out=numpy_sums)),
        "inclusive scan, int32": (
            lambda: wb.utils.array_scan(i, int_sums),
            lambda: np.cumsum(ints, dtype=np.int32, out=numpy_int_sums),
        ),
        "stable sort, int32": (lambda: sort(i, keys), lambda: np.sort(ints, kind="stable")),
        "stable sort, int64": (lambda: sort(wide, spare), lambda: np.sort(longs, kind="stable")),
        "stable sort of pairs, int32": (lambda: sort_pairs(None), lambda: numpy_pairs(ints)),
        "the same, keys below 1000": (lambda: sort_pairs(10), lambda: numpy_pairs(small)),
        "histogram of 100 bins, float32": (
            lambda: wb.utils.histogram(x, 100, (-4.0, 4.0)),
            lambda: np.histogram(floats, 100, (-4.0, 4.0)),
        ),
        "run lengths, int32": (lambda: wb.utils.runlength_encode(r, found, lengths), numpy_runs),
        "sum, float32": (lambda: float(x.sum()), lambda: floats.sum()),
        "dot, float64": (lambda: float(d.dot(d)), lambda: doubles.dot(doubles)),
    }


def main() -> None:
    """Print a row per algorithm."""
    print(f"{N:,} elements; median of {ROUNDS} rounds in turn, processor time\n")
    print(f"{'':32}{'workbench':>12}{'numpy':>12}{'numpy / workbench':>20}")
    for name, pair in cases().items():
        for run in pair:
            run()
        rounds = [(timed(pair[0]), timed(pair[1])) for _ in range(ROUNDS)]
        ours, theirs = (statistics.median(r[k] for r in rounds) for k in (0, 1))
        ratio = statistics.median(b / a for a, b in rounds)
        print(f"{name:32}{ours * 1e3:9.2f} ms{theirs * 1e3:9.2f} ms{ratio:20.2f}")


if __name__ == "__main__":
    main()
