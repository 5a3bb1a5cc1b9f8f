"""Kernels of many kinds on the CPU, and their gradients: against NumPy or SciPy, Warp, numba and JAX, each checked.

What counts is the processor time of all threads (the least of all rounds): the machines are shared, Warp's kernels run
on one thread and the others on several. The wall time beside it is a median. Every result is compared with NumPy's or
SciPy's in float64, a known one, or JAX's in float64, before anything is timed. A gradient is a run forward and
backward.

python benchmarks/workloads.py [name …]      all, or those whose names begin so ("gradient:" for the gradients)
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator

# Threads of OpenMP that wait by turning would be charged to numba, or to whoever comes next: the system counts the
# time of a thread of another core only at its ticks.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
from measure import RESULTS, machine, shown
from programs.everyday import cells, functions, rows
from programs.few_threads import serial
from programs.fields import borders, gas, heat
from programs.linear import networks, small, sparse
from programs.mechanisms import attention, eight_bits, flattened, indirect, loops, narrow, records
from programs.particles import bodies, cloths, masses, neighbours
from programs.program import Call, Program, Workload
from programs.rays import marches, options, sets
from programs.reductions import by_index, sums

ROUNDS = 6
SUBJECTS: tuple[Callable[[], list[Program]], ...] = (
    *(sums, by_index, sparse, small, networks, borders, heat, gas, bodies, cloths, masses, neighbours),
    *(marches, sets, options, rows, functions, cells),
    *(flattened, loops, indirect, eight_bits, narrow, records, attention, serial),
)
Times = dict[str, dict[str, tuple[float, float]]]


def chosen(names: list[str], alone: bool = False) -> Iterator[list[Workload]]:
    """The rows of one subject after the other: all would not fit in memory at once. `alone` leaves the peers out."""

    def wanted(name: str) -> bool:
        return not names or name.startswith(tuple(names))

    for subject in SUBJECTS:
        yield [row for program in subject() for row in program.workloads(wanted, alone)]


def wrong(load: Workload, system: str, call: Call) -> bool:
    """Whether a result is too far from the exact one; that is printed."""
    got = np.asarray(call(), np.float64).reshape(np.shape(load.exact))
    worst = float(np.max(np.abs(got - load.exact)) / np.max(np.abs(load.exact)))
    found = not worst <= (load.error if system == "workbench" else max(load.error, 1e-4))
    if found:
        print(f"{load.name}: {system} is wrong by {worst:.1e}", flush=True)
    return found and system == "workbench"


def timed(loads: list[Workload]) -> Times:
    """Processor and wall seconds of each system; all take turns."""
    seen: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for _ in range(ROUNDS):
        for load in loads:
            for system, call in load.calls.items():
                wall, processor = time.perf_counter(), time.process_time()
                call()
                took = time.process_time() - processor, time.perf_counter() - wall
                seen.setdefault(load.name, {}).setdefault(system, []).append(took)
    return {
        name: {s: (min(c for c, _ in t), statistics.median(w for _, w in t)) for s, t in systems.items()}
        for name, systems in seen.items()
    }


OTHERS = ("numpy", "scipy", "warp", "numba", "jax")


def line(load: Workload, times: Times) -> str:
    """A row: our times, and each peer's processor time over ours."""
    systems = times[load.name]
    processor, wall = systems["workbench"]
    cells = [f"{systems[p][0] / processor:.2f}×" if p in systems else "" for p in OTHERS]
    beside = f"{processor / times[load.beside]['workbench'][0]:.2f}× {load.beside}" if load.beside in times else ""
    return f"| {load.name} | {shown(processor)} | {shown(wall)} | {' | '.join(cells)} | {beside} |"


def main() -> int:
    """Check, time, and write the table; the number of rows that are wrong."""
    names = sys.argv[1:]
    lines = ["## Workloads on the CPU", "", "| | workbench | wall | " + " | ".join(OTHERS) + " | beside |"]
    lines.append("|---" * (len(OTHERS) + 4) + "|")
    print("\n".join(lines), flush=True)
    times: Times = {}
    failed = 0
    for made in chosen(names):
        loads = [load for load in made if not any([wrong(load, *system) for system in load.calls.items()])]
        failed += len(made) - len(loads)
        times |= timed(loads)
        rows = [line(load, times) for load in loads]
        print("\n".join(rows), flush=True)
        lines += rows
        if not names:
            keep(lines, times)
    return failed


def keep(lines: list[str], times: Times) -> None:
    """Write what has been measured so far: all rows take half an hour on a loaded machine."""
    note = f"Least processor time of all threads over {ROUNDS} rounds; × is that system's over Workbench's. "
    note += "A gradient is a run forward and backward. Other work ran beside."
    facts = ", ".join(f"{name} {value}" for name, value in machine().items() if value)
    kept = {"machine": machine(), "when": time.strftime("%Y-%m-%d"), "rounds": ROUNDS, "seconds": times}
    (RESULTS / "workloads.json").write_text(json.dumps(kept, indent=1) + "\n")
    (RESULTS / "workloads.md").write_text("\n".join([*lines, "", note, "", facts, ""]))


if __name__ == "__main__":
    sys.exit(main())
