"""What worker processes cost: the first kernel of a fresh process and a later cold cell, against another checkout.

    python benchmarks/isolation.py /path/to/a/checkout/of/786ae84

Both run the same program in turn, each in processes of its own with an empty cache. Counted are wall time and processor
time, that of worker processes included: whatever a program leaves behind becomes this process's child (Linux), and is
waited for. A later cell is the difference between a process that builds and launches many cells and one that builds
a single one.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Row, Table, write

PR_SET_CHILD_SUBREAPER = 36
ROUNDS = 15
MANY = 61
HERE = Path(__file__).parents[1]
PROGRAM = """
import sys
import workbench as wb
assert wb.__file__.startswith(sys.argv[2]), wb.__file__
text = '''
def cell(a: float, x: array(dtype=float), y: array(dtype=float)):
    i = tid()
    v = a * x[i] + {}.0
    if v > 0.0:
        y[i] = sin(v) * x[i]
    else:
        y[i] = v
'''
x, y = wb.zeros(10), wb.zeros(10)
for n in range(int(sys.argv[1])):
    kernel = wb.build_cell(text.replace("{}", str(n + 1)), {}, backend="cpu").kernels["cell"]
    wb.launch(kernel, 10, [1.0, x, y])
"""


def run(tree: Path, cells: int) -> tuple[float, float]:
    """Wall and processor seconds of a fresh process that builds and launches so many new cells."""
    with tempfile.TemporaryDirectory(prefix="workbench-bench-isolation-") as folder:
        os.chmod(folder, 0o700)
        environment = {**os.environ, "PYTHONPATH": str(tree), "WORKBENCH_CACHE": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles all of the library's source
        started = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(cells), str(tree)], env=environment, cwd=folder)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"the program failed in {tree}")
        return wall, used.ru_utime + used.ru_stime + _orphans()


def _orphans() -> float:
    """Processor seconds of the processes that a program left behind, after they ended."""
    seconds = 0.0
    while True:
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            return seconds
        seconds += used.ru_utime + used.ru_stime


def main(before: Path) -> None:
    """Run both in turn, and write the table."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    trees = {"workbench": HERE, "before": before}
    seen: dict[tuple[str, int], list[tuple[float, float]]] = {(t, n): [] for t in trees for n in (1, MANY)}
    for turn in range(ROUNDS + 1):
        for name, count in seen:
            found = run(trees[name], count)
            if turn:  # the first one writes bytecode
                seen[name, count].append(found)
    medians = {
        key: [statistics.median(r[kind] for r in runs) for kind in (0, 1)] for key, runs in seen.items()
    }  # wall, processor
    table = Table("isolation", "What compiling in worker processes costs", ROUNDS)
    for kind, words in enumerate(("wall", "processor time of all processes")):
        first = {name: medians[name, 1][kind] for name in trees}
        later = {name: (medians[name, MANY][kind] - medians[name, 1][kind]) / (MANY - 1) for name in trees}
        table.rows += [Row(f"first kernel of a process, {words}", first), Row(f"a later cold cell, {words}", later)]
    write(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
