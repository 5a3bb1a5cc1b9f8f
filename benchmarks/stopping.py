"""What it costs that launches can be stopped: kernels of this checkout and of another, round by round.

    python benchmarks/stopping.py /path/to/a/checkout/of/786ae84

Each checkout has a process of its own, which times one kernel on request; the two take turns, so what
else the machine does meets both. Counted are wall time and processor time of all threads. The kernels of
`throughput.py` and `against_gcc.py` are among them, with sizes that fit into the cache beside some that do not.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import OURS, Row, Table, write

ROUNDS = 31
LEAST, BLOCKS = 0.002, 5
"""Seconds of a block of launches, about; blocks of a measurement, of which the fastest counts."""
HERE = Path(__file__).parents[1]
TEXT = """
def saxpy(a: float, x: array(dtype=float), y: array(dtype=float), z: array(dtype=float)):
    i = tid()
    z[i] = a * x[i] + y[i]

def sin_exp(a: float, x: array(dtype=float), y: array(dtype=float), z: array(dtype=float)):
    i = tid()
    z[i] = a * sin(x[i]) * exp(y[i])

def stencil(x: array2d(dtype=float), y: array2d(dtype=float)):
    i, j = tid()
    if i > 0 and i < x.shape[0] - 1 and j > 0 and j < x.shape[1] - 1:
        y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) - x[i, j]

def bodies(p: array(dtype=vec3), force: array(dtype=vec3)):
    i = tid()
    f = vec3(0.0, 0.0, 0.0)
    for j in range(p.shape[0]):
        d = p[j] - p[i]
        r = dot(d, d) + 0.01
        f += d * (1.0 / (r * sqrt(r)))
    force[i] = f

def row_largest(x: array2d(dtype=float), y: array(dtype=float)):
    i = tid()
    best = x[i, 0]
    for j in range(1, x.shape[1]):
        v = x[i, j]
        best = v if v > best else best
    y[i] = best

def product(a: array(dtype=mat33), b: array(dtype=mat33), c: array(dtype=mat33)):
    i = tid()
    c[i] = a[i] @ b[i]

def sparse_rows(at: array(dtype=int), where: array(dtype=int), v: array(dtype=float), x: array(dtype=float),
                y: array(dtype=float)):
    i = tid()
    s = 0.0
    for k in range(at[i], at[i + 1]):
        s += v[k] * x[where[k]]
    y[i] = s

def while_sum(x: array(dtype=float), y: array(dtype=float), n: int):
    i = tid()
    s = 0.0
    k = 0
    while k < n:
        s += x[(i + k) % 64]
        k += 1
    y[i] = s

def nested(x: array(dtype=float), y: array(dtype=float), n: int, m: int):
    i = tid()
    s = 0.0
    for j in range(n):
        for k in range(m):
            s += x[i + j * m + k]
    y[i] = s
"""


def serve(tree: str) -> None:
    """Answer each line of the input, the name of a launch, by its seconds: wall and processor time."""
    import numpy as np

    import workbench as wb

    assert wb.__file__.startswith(tree), wb.__file__
    kernels = wb.build_cell(TEXT, {n: getattr(wb, n) for n in dir(wb)}, backend="cpu").kernels
    draw = np.random.default_rng(1)

    def numbers(*shape: int) -> object:
        return wb.array(draw.random(shape, np.float32))

    def whole(values: np.ndarray) -> object:
        return wb.array(values.astype(np.int32))

    def points(n: int, kind: object, *shape: int) -> object:
        return wb.array(draw.random((n, *shape), np.float32), dtype=kind)

    rows, each = 20_000, 9
    matrix = [whole(np.arange(rows + 1) * each), whole(draw.integers(0, rows, rows * each)), numbers(rows * each)]
    square = numbers(600, 600)
    launches = {
        "saxpy, 1e7": ("saxpy", 10**7, [2.5, numbers(10**7), numbers(10**7), numbers(10**7)]),
        "saxpy, 1e6": ("saxpy", 10**6, [2.5, numbers(10**6), numbers(10**6), numbers(10**6)]),
        "saxpy, 1e5": ("saxpy", 10**5, [2.5, numbers(10**5), numbers(10**5), numbers(10**5)]),
        "saxpy, 100": ("saxpy", 100, [2.5, numbers(100), numbers(100), numbers(100)]),
        "sin·exp, 1e6": ("sin_exp", 10**6, [2.5, numbers(10**6), numbers(10**6), numbers(10**6)]),
        "stencil, 600²": ("stencil", (600, 600), [square, numbers(600, 600)]),
        "bodies, 1500": ("bodies", 1500, [points(1500, wb.vec3, 3), points(1500, wb.vec3, 3)]),
        "row_largest, 600²": ("row_largest", 600, [square, numbers(600)]),
        "product, 3e4": ("product", 30_000, [points(30_000, wb.mat33, 3, 3) for _ in range(3)]),
        "sparse rows, 2e4 of 9": ("sparse_rows", rows, [*matrix, numbers(rows), numbers(rows)]),
        "while sum, 1e4 of 30": ("while_sum", 10_000, [numbers(64), numbers(10_000), 30]),
        "nested loops, 2e4 of 9×4": ("nested", 20_000, [numbers(30_000), numbers(20_000), 9, 4]),
        "nested loops, 64 of 9×4": ("nested", 64, [numbers(200), numbers(64), 9, 4]),
    }
    commands = {
        name: wb.launch(kernels[kernel], dim, given, record_cmd=True, checks=False)
        for name, (kernel, dim, given) in launches.items()
    }
    repeats: dict[str, int] = {}
    print(json.dumps(list(commands)), flush=True)
    for line in sys.stdin:
        command = commands[line.strip()]
        if line not in repeats:
            command.launch()
            started = time.perf_counter()
            command.launch()
            repeats[line] = max(1, int(LEAST / (time.perf_counter() - started)))
        blocks = []
        for _ in range(BLOCKS):
            clocks = time.perf_counter(), time.process_time()
            for _ in range(repeats[line]):
                command.launch()
            blocks.append((time.perf_counter() - clocks[0], time.process_time() - clocks[1]))
        print(json.dumps([min(b[kind] for b in blocks) / repeats[line] for kind in (0, 1)]), flush=True)


class Side:
    """A process of one checkout."""

    def __init__(self, tree: Path, cache: str) -> None:
        """Start it; its kernels are compiled when this returns."""
        environment = {**os.environ, "PYTHONPATH": str(tree), "WORKBENCH_CACHE": cache, "WORKBENCH_THREADS": "1"}
        command = [sys.executable, __file__, "--serve", str(tree)]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.names: list[str] = self._read()

    def time(self, name: str) -> tuple[float, float]:
        """Seconds a launch: wall and processor time."""
        assert self._process.stdin is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        wall, processor = self._read()
        return wall, processor

    def _read(self) -> list:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def main(before: Path) -> None:
    """Run both in turn, and write the table."""
    table = Table("stopping", "What it costs that launches can be stopped", ROUNDS)
    with tempfile.TemporaryDirectory(prefix="workbench-bench-stopping-") as folder:
        sides = {}
        for name, tree in ((OURS, HERE), ("before", before)):
            cache = Path(folder, name)
            cache.mkdir(mode=0o700)
            sides[name] = Side(tree, str(cache))
        for what in sides[OURS].names:
            seen: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
            for turn in range(ROUNDS + 1):
                for name, side in sides.items():
                    found = side.time(what)
                    if turn:
                        seen[name].append(found)
            for kind, words in enumerate(("wall", "processor")):
                medians = {name: statistics.median(times[kind] for times in rounds) for name, rounds in seen.items()}
                table.rows.append(Row(f"{what}, {words}", medians))
        for side in sides.values():
            side.close()
    write(table)


if __name__ == "__main__":
    serve(sys.argv[2]) if sys.argv[1] == "--serve" else main(Path(sys.argv[1]).resolve())
