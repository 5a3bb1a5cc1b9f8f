"""Speed on both sides of every limit that chooses between forms of code: no limit may be a cliff.

The programs are those by which `tests/judge/limits` judges numbers, with more threads; forward, and forward and
backward where they have derivatives. A step is what a unit of work costs at n + 1 beside what it costs at n. Sizes run
in turn in one process, and a time is the least of several processor times, of all threads of the process.

python benchmarks/limits.py [LIMIT …]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from measure import RESULTS, machine, shown

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import workbench as wb  # noqa: E402
from tests.judge.limits.families import FAMILIES, Family  # noqa: E402
from tests.judge.paths import Launch  # noqa: E402
from tests.judge.program import Array, Program  # noqa: E402
from workbench import limits  # noqa: E402

ROUNDS = 9
SAMPLE = 1e-3
"""Seconds that a sample takes at least; as many launches as it needs."""
OPERATIONS = 2_000_000
"""What a launch has about, threads times size."""
STEP = 1.5
MESSAGES = {"EXPLAINED_OPERATIONS", "EXPLAINED_ITERATIONS", "REPORTED_INDICES"}
"""Rows that are about the words of a fault."""
PER_THREAD = {
    *("clamped", "clamped_border", "clamped_near_ends", "border", "plane_sums", "offset_from_thread", "row_threads"),
    *("shared_weights", "sum_threads", "threads", "plane_rows", "flattened_row", "flattened_literal", "checkpoints"),
    *("exits", "chain", "returning_chain", "left_loop"),
}
"""Families whose threads do as much work whatever the size."""
WORK: dict[str, Callable[[int], float]] = {
    "nest": lambda n: 2.0 ** min(n, 7),
    "squared_iterations": lambda n: n * n + 1,
    "integer_power": lambda n: np.log2(n + 1),
    "float_power": lambda n: np.log2(n + 1),
    "uniform_paths": lambda n: 2 * np.log2(n + 1),
    "uniform_sweeps": lambda n: 40 + n,
    "plane_values": lambda n: n // 128,
}
"""The work of a thread by size, where it is not in proportion to it."""


def scaled(program: Program, by: int) -> Program:
    """Return the program with so many times as many threads; what they share stays as it is."""
    arguments = {
        name: replace(a, values=np.tile(a.values, (by, *[1] * (a.values.ndim - 1))))
        if isinstance(a, Array) and a.values.size >= program.dim[0] and a.values.shape[0] * 2 > 1
        else a
        for name, a in program.arguments.items()
    }
    return replace(program, dim=(program.dim[0] * by, *program.dim[1:]), arguments=arguments)


def call(program: Program, gradient: bool, checks: bool) -> Callable[[], object]:
    """Return a call that launches the program, or launches it and goes back; it has run once."""
    launch = Launch.of(program, grad=gradient)
    threads = program.notes.get("block_dim", 0)

    def forward() -> None:
        if threads:
            wb.launch_tiled(launch.kernel, program.dim, launch.inputs, block_dim=threads, checks=checks)
        else:
            launch.go(checks=checks)

    seeds = {launch.arguments[n]: wb.zeros_like(launch.arguments[n]) for n in program.cotangents()} if gradient else {}

    def both() -> None:
        with wb.Tape() as tape:
            forward()
        tape.backward(grads=seeds)

    (both if gradient else forward)()
    return both if gradient else forward


def ready(family: Family, size: int, factor: int, gradient: bool, checked: bool) -> Callable[[], object]:
    """Return the call of a program with `factor` times as many threads, if every index of it is within its array."""
    program = family(size)
    if factor > 1 and program.dim[0] > 1:
        program = scaled(program, factor)
        call(program, False, checks=True)
    return call(program, gradient, checks=checked)


def least(calls: dict[int, Callable[[], object]]) -> dict[int, float]:
    """Return the least processor time of each call, taken in turn."""
    repeats: dict[int, int] = {}
    for size, work in calls.items():
        started = time.process_time()
        work()
        repeats[size] = max(1, int(SAMPLE / max(1e-6, time.process_time() - started)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for size, work in calls.items():
            started = time.process_time()
            for _ in range(repeats[size]):
                work()
            best[size] = min(best[size], (time.process_time() - started) / repeats[size])
    return best


def unit(family: Family, size: int, factor: int) -> float:
    """Return the units of work of a program."""
    name = family.__name__
    work = 1.0 if name in PER_THREAD else WORK.get(name, float)(size)
    return work * float(np.prod(family(size).dim)) * factor


def rows(name: str) -> Iterator[tuple[str, dict[int, float], float]]:
    """Yield, for each family of a limit and each direction, the seconds of a unit of work by size, and the step."""
    sizes: dict[Family, dict[int, int]] = {}
    for family, size, count in FAMILIES[name].cases(name):
        sizes.setdefault(family, {})[size] = count
    limit = int(limits.table()[name]) - name.endswith("_LEAST")
    for family, counted in sizes.items():
        counts = sorted(counted)
        within = [size for size in counts if counted[size] <= limit] or counts[:1]
        beyond = [size for size in counts if counted[size] > limit] or counts[-1:]
        middle = family(counts[len(counts) // 2])
        factor = max(1, round(OPERATIONS / float(np.prod(middle.dim)) / max(counts[0], 20)))
        checked = name == "INTERVAL_DEPTH"
        for gradient in (False, True) if middle.smooth else (False,):
            what = f"{family.__name__}{', gradient' if gradient else ''}"
            try:
                calls = {size: ready(family, size, factor, gradient, checked) for size in counts}
            except wb.KernelFault:  # its threads do not lie side by side along the first axis
                factor = 1
                calls = {size: ready(family, size, 1, gradient, checked) for size in counts}
            units = {size: took / unit(family, size, factor) for size, took in least(calls).items()}
            yield what, units, units[beyond[0]] / units[within[-1]]


NOTE = f"""
A unit of work is an iteration, an operation or a thread of the program, whatever its size counts; a step is its cost
at the first size beyond the limit over that at the last size within. Least of {ROUNDS} processor times of the process,
sizes in turn; bold above {STEP}.
"""


def main(names: list[str]) -> None:
    """Time the families of the limits that are named, or of all; print the table, and write it if it is whole."""
    warnings.simplefilter("ignore")
    table = limits.table()
    skipped = {limits.REFUSED, limits.COST}
    lines = ["| limit | family | a unit of work, by size | step |", "|---|---|---|---|"]
    for name in FAMILIES:
        if table[name].beyond in skipped or name in MESSAGES or (names and name not in names):
            continue
        for what, units, step in rows(name):
            sizes = ", ".join(f"{size}: {shown(took)}" for size, took in units.items())
            mark = f"**{step:.2f}**" if step > STEP else f"{step:.2f}"
            lines.append(f"| {name} {int(table[name])} | {what} | {sizes} | {mark} |")
            print(lines[-1], flush=True)
    if not names:
        facts = ", ".join(f"{name} {value}" for name, value in machine().items() if value)
        text = "\n".join(["## Both sides of every limit", "", *lines, NOTE, facts, ""])
        (RESULTS / "limits.md").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
