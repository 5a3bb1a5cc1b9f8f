"""WebAssembly in a browser against native code on one thread: the kernels of `against_gcc`, a stencil, sizes.

Native calls and the browser's take turns. Calls are repeated for milliseconds, since browsers' clocks are coarse.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["WORKBENCH_THREADS"] = "1"
import against_gcc as gcc
import numpy as np
from measure import OURS, Row, Table, clock, take_turns, write

import workbench as wb
from kernel_ext import show
from kernel_ext.widgets.modules import script_text
from workbench import inspect

ROUNDS = 11
BROWSER = "chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
OPEN = """async ([name, program, payload]) => {
  const bytes = Uint8Array.from(atob(payload), (c) => c.charCodeAt(0));
  (globalThis.machines ??= {})[name] = await openMachine(program, bytes);
}"""
TIMED = """async ([name, times]) => {
  const started = performance.now();
  for (let k = 0; k < times; k++) await machines[name].run();
  return (performance.now() - started) / 1000 / times;
}"""


@wb.kernel
def wave(u: wb.array2d(dtype=float), v: wb.array2d(dtype=float), c: float):
    """A step of the heat equation with clamped borders."""
    i, j = wb.tid()
    n = u.shape[0]
    up, down, left, right = wb.max(i - 1, 0), wb.min(i + 1, n - 1), wb.max(j - 1, 0), wb.min(j + 1, n - 1)
    v[i, j] = u[i, j] + c * (u[up, j] + u[down, j] + u[i, left] + u[i, right] - 4.0 * u[i, j])


@wb.kernel
def sines(x: wb.array(dtype=float), y: wb.array(dtype=float)):
    """Two functions of maths."""
    i = wb.tid()
    y[i] = wb.sin(x[i]) * wb.exp(-x[i])


@wb.kernel
def sines64(x: wb.array(dtype=wb.float64), y: wb.array(dtype=wb.float64)):
    """The same in float64."""
    i = wb.tid()
    y[i] = wb.sin(x[i]) * wb.exp(-x[i])


def commands() -> dict[str, Any]:
    """Kept launches, by name."""
    draw = np.random.default_rng(1)
    n, side, many, small = 100_000, 600, 1500, 30_000
    flat = [wb.array(draw.random(n, np.float32)) for _ in range(2)]
    square = wb.array(draw.random((side, side), np.float32))
    points = wb.array(draw.random((many, 3), np.float32), dtype=wb.vec3)
    matrices = [wb.array(draw.random((small, 3, 3), np.float32), dtype=wb.mat33) for _ in range(2)]
    grid = wb.array(draw.random((256, 256), np.float32))
    doubles = wb.array(draw.random(n))
    given = {
        "saxpy, 1e5": (gcc.saxpy, n, [2.5, *flat, wb.zeros(n)]),
        "stencil, 600²": (gcc.stencil, (side, side), [square, wb.zeros((side, side))]),
        "bodies, 1500²": (gcc.bodies, many, [points, wb.zeros(many, dtype=wb.vec3)]),
        "row_largest, 600²": (gcc.row_largest, side, [square, wb.zeros(side)]),
        "product of mat33, 3e4": (gcc.product, small, [*matrices, wb.zeros(small, dtype=wb.mat33)]),
        "heat step, 256²": (wave, (256, 256), [grid, wb.zeros((256, 256)), 0.2]),
        "sin·exp float32, 1e5": (sines, n, [flat[0], wb.zeros(n)]),
        "sin·exp float64, 1e5": (sines64, n, [doubles, wb.zeros(n, dtype=wb.float64)]),
    }
    return {
        name: wb.launch(kernel, dim, arguments, record_cmd=True, checks=False)
        for name, (kernel, dim, arguments) in given.items()
    }


def repeats(once: Callable[[int], float]) -> int:
    """How often a call has to run to take some 20 ms."""
    return max(1, int(0.02 / max(once(20), 1e-6)))


def main() -> None:
    """Compare the answers, time all, write the table."""
    path = shutil.which(BROWSER)
    if path is None:
        sys.exit(f"{BROWSER} is not installed: nothing to compare with")
    from playwright.sync_api import sync_playwright

    table = Table("wasm", "Native code and WebAssembly in a browser, one thread each", ROUNDS)
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=path, args=FLAGS).new_page()
        page.add_script_tag(content=script_text("machine"))
        for name, command in commands().items():
            output = [value for value in command.params.values() if isinstance(value, wb.array)][-1]
            program = inspect.page_program(command, output)
            page.evaluate(OPEN, [name, program.data(), base64.b64encode(program.payload()).decode()])
            command.launch()
            page.evaluate("name => machines[name].run()", name)
            got = page.evaluate("name => Array.from(machines[name].read('watch'), Number)", name)
            same = np.array_equal(np.array(got), output.numpy().reshape(-1).astype(np.float64))
            assert same, f"{name} differs"
            times = repeats(lambda k, name=name: page.evaluate(TIMED, [name, k]))
            cases = {
                OURS: clock(command.launch, times),
                "wasm": lambda name=name, times=times: page.evaluate(TIMED, [name, times]),
            }
            table.rows.append(Row(name, take_turns(cases, ROUNDS), f"module of {program.code_size:,} bytes"))
    table.rows += sizes()
    write(table)


def sizes() -> list[Row]:
    """A page of a stencil with a slider: how long its export takes, and its bytes as a note."""
    u, v = wb.array(np.random.default_rng(2).random((256, 256), np.float32)), wb.zeros((256, 256))
    with wb.record(inputs=True) as rec:
        for _ in range(10):
            wb.launch(wave, (256, 256), [u, v, 0.2])
            wb.launch(wave, (256, 256), [v, u, 0.2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        shown = show.controls(rec, c=(0, 0.25), watch=u)
        started = time.perf_counter()
        show.page(str(path), shown)
        spent = time.perf_counter() - started
        kept = len(base64.b64encode(inspect.page_program(rec, u).compressed()))
        whole = path.stat().st_size
    note = f"page of {whole:,} bytes, {kept:,} of them arrays of noise and modules"
    return [Row("export of 20 heat steps, 256²", {OURS: spent}, note)]


if __name__ == "__main__":
    main()
