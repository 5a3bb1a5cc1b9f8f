"""What a gradient costs: adjoints against their forward kernels, and loops backwards by trip count and number of slots.

Every ratio is of two times taken in turn. The plot (`results/loops_backwards.svg`) shows the time of the adjoint for
each iteration of the forward loop: it grows with the number of times an iteration has to be run again.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from measure import OURS, RESULTS, Row, Table, take_turns, write

os.environ["WORKBENCH_THREADS"] = "1"
import workbench as wb
from workbench.autodiff import adjoint
from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.native.dispatch import dispatch
from workbench.backends.layout import layout
from workbench.cache.native import load_kernel
from workbench.ir.values import Function
from workbench.runtime.native.pack import Packer

ROUNDS = 15
STEPS = 1000
SLOTS = (4, 8, 16, 32)
COUNTS = (10, 30, 100, 300, 1000, 3000, 10000)


@wb.kernel
def elementwise(x: wb.array[wb.float32], y: wb.array[wb.float32]):
    """One element."""
    i = wb.tid()
    y[i] = wb.sin(x[i]) * x[i] + wb.sqrt(x[i])


@wb.kernel
def stencil(x: wb.array2d[wb.float32], y: wb.array2d[wb.float32]):
    """Five points."""
    i, j = wb.tid()
    y[i + 1, j + 1] = 0.25 * (x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2]) - x[i + 1, j + 1]


@wb.kernel
def swing(x: wb.array[wb.float64], y: wb.array[wb.float64], n: int):
    """A pendulum."""
    i = wb.tid()
    q = x[i]
    v = wb.float64(0.0)
    for _ in range(n):
        v = v - wb.float64(0.01) * wb.sin(q)
        q = q + wb.float64(0.01) * v
    y[i] = q * v


@wb.kernel
def swing_while(x: wb.array[wb.float64], y: wb.array[wb.float64], n: int):
    """The same in a `while`."""
    i = wb.tid()
    q = x[i]
    v = wb.float64(0.0)
    c = 0
    while c < n:
        v = v - wb.float64(0.01) * wb.sin(q)
        q = q + wb.float64(0.01) * v
        c += 1
    y[i] = q * v


def clock(work: Callable[[], object]) -> Callable[[], float]:
    """A case in processor time: the launches run in this thread, and others may want the machine."""

    def timed() -> float:
        started = time.process_time()
        work()
        return time.process_time() - started

    return timed


def launcher(function: Function, dims: tuple[int, ...], values: Sequence[Any]) -> Callable[[], None]:
    """A launch of the compiled function on these arguments."""
    backend = CpuBackend()
    artifact = backend.compile(function, Options(few_cores=True), backend.target())
    code = load_kernel(artifact.image, artifact.metadata["entry"])
    packer = Packer(layout([(p.name, p.type) for p in function.params]))
    buffer = packer.new()
    packer.write(buffer, dims, list(values))
    kept = (buffer, list(values))
    total = int(np.prod(dims))

    def run() -> None:
        dispatch(code.address, ctypes.addressof(kept[0]), total, 1)

    return run


def pair(kernel: Any, dims: tuple[int, ...], values: Sequence[Any], slots: int = 16) -> dict[str, Callable[[], None]]:
    """The forward launch and the adjoint's."""
    function = kernel.specialise().function
    adjoints = [wb.array(np.ones(v.shape), v.dtype) for v in values if isinstance(v, wb.array)]
    backward = adjoint(function, checkpoints=slots)
    return {OURS: launcher(function, dims, values), "adjoint": launcher(backward, dims, [*values, *adjoints])}


def costs() -> Table:
    """Adjoint against forward."""
    table = Table("loops_backwards", "The adjoint's time against the forward kernel's (one thread)", ROUNDS)
    random = np.random.default_rng(0)
    flat = [wb.array(random.uniform(0.5, 1.5, 1 << 20), wb.float32) for _ in range(2)]
    grid = [wb.array(random.uniform(0.5, 1.5, (1024, 1024)), wb.float32) for _ in range(2)]
    few = [wb.array(random.uniform(0.5, 1.5, 64), wb.float64) for _ in range(2)]
    cases = {
        "elementwise, 1 M": (elementwise, (1 << 20,), flat, "goal 3×"),
        "5-point stencil, 1 M": (stencil, (1022, 1022), grid, "goal 3.5×"),
        f"{STEPS:,} steps, range": (swing, (64,), [*few, STEPS], "16 slots, goal 6×"),
        f"{STEPS:,} steps, while": (swing_while, (64,), [*few, STEPS], "16 slots, goal 7.5×"),
    }
    for what, (kernel, dims, values, note) in cases.items():
        runs = {name: clock(work) for name, work in pair(kernel, dims, values).items()}
        table.rows.append(Row(what, take_turns(runs, ROUNDS), note))
    return table


def by_slots() -> dict[int, list[float]]:
    """For each number of slots, the adjoint's time over the forward's at each trip count."""
    few = [wb.array(np.linspace(0.5, 1.5, 16), wb.float64) for _ in range(2)]
    found: dict[int, list[float]] = {s: [] for s in SLOTS}
    for n in COUNTS:
        runs = {str(s): pair(swing, (16,), [*few, n], s) for s in SLOTS}
        cases = {name: clock(run["adjoint"]) for name, run in runs.items()}
        times = take_turns({**cases, "forward": clock(runs[str(SLOTS[0])][OURS])}, 7)
        for s in SLOTS:
            found[s].append(times[str(s)] / times["forward"])
    return found


def plot(found: dict[int, list[float]]) -> str:
    """The ratios as an SVG, iterations on a logarithmic axis."""
    wide, high, left, low = 560, 320, 50, 280
    top = max(max(row) for row in found.values()) * 1.1
    across = [left + (np.log10(n) - 1) / 3 * (wide - left - 90) for n in COUNTS]
    frame = f'viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="12"'
    rows = [f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>']
    rows.append(f'<rect width="{wide}" height="{high}" fill="white"/>')
    for tick in range(0, int(top) + 1, 2):
        y = low - tick / top * (low - 20)
        rows.append(f'<line x1="{left}" x2="{across[-1]:.0f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        rows.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick}×</text>')
    for n, x in zip(COUNTS, across, strict=True):
        rows.append(f'<text x="{x:.1f}" y="{low + 18}" text-anchor="middle">{n}</text>')
    for colour, (slots, ratios) in zip(("#4477aa", "#228833", "#aa3377", "#cc8833"), found.items(), strict=True):
        points = [f"{x:.1f},{low - r / top * (low - 20):.1f}" for x, r in zip(across, ratios, strict=True)]
        rows.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = points[-1].split(",")
        rows.append(f'<text x="{float(x) + 6:.1f}" y="{float(y) + 4:.1f}" fill="{colour}">{slots} slots</text>')
    rows.append(f'<text x="{left}" y="{high - 8}">iterations; time of the adjoint over time of the loop</text></svg>')
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    write(costs())
    ratios = by_slots()
    for slots, row in ratios.items():
        print(slots, [f"{n}: {r:.1f}×" for n, r in zip(COUNTS, row, strict=True)])
    (RESULTS / "loops_backwards.svg").write_text(plot(ratios))
