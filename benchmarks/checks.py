"""Measure what checks cost: rows of `workloads.py` with and without them, in turn.

In most rows one look at sizes and parameters before the launch makes the guards needless. In rows that gather, an index
is data, so the guard stays.

python benchmarks/checks.py [row …]
"""

from __future__ import annotations

import sys
import time

from measure import OURS, Row, Table, write
from workloads import SUBJECTS, wrong

import workbench as wb

ROUNDS = 9
CHECKED = "with checks"
LEAST = 0.02
"""Seconds that a sample takes at least."""
ROWS = (
    *("product", "7×7 convolution", "7×7, borders clamped", "7×7, borders periodic", "heat, walls kept"),
    *("heat, insulated", "heat, torus", "lattice gas", "bodies", "cloth", "rays to waves", "Mandelbrot set"),
    *("option, by chance", "recurrence of 8 threads", "log-sum-exp", "matrix times vector", "distances", "network"),
    *("network per thread", "attention per thread", "flattened stencil", "game of life", "sum", "maths functions"),
    *("histogram", "additions by index", "elements by index", "CSR product", "CSR times dense", "embedding sums"),
    "masses and springs",
)


def main() -> None:
    """Time all rows and write the table."""
    names = sys.argv[1:] or list(ROWS)
    table = Table("checks", "Kernels with and without checks", ROUNDS, figure="Least processor time")
    for subject in SUBJECTS:
        programs = [program for program in subject() if program.name in names]
        for load in (load for program in programs for load in program.workloads(names.__contains__, alone=True)):
            call, samples = load.calls["workbench"], dict[bool, list[float]]({False: [], True: []})
            wb.set_checks(True)
            if wrong(load, "workbench", call):  # once: some rows add to what is there
                raise SystemExit(f"{load.name} is wrong")
            started = time.perf_counter()
            call()
            times = max(1, round(LEAST / (time.perf_counter() - started)))
            for turn in range(ROUNDS):
                for checks in (turn % 2 == 0, turn % 2 == 1):
                    wb.set_checks(checks)
                    started = time.process_time()
                    for _ in range(times):
                        call()
                    samples[checks].append((time.process_time() - started) / times)
            wb.set_checks(False)
            seconds = {OURS: min(samples[False]), CHECKED: min(samples[True])}
            print(f"{load.name}: {seconds[CHECKED] / seconds[OURS]:.2f}", flush=True)
            table.rows.append(Row(load.name, seconds))
    if not sys.argv[1:]:
        write(table)


if __name__ == "__main__":
    main()
