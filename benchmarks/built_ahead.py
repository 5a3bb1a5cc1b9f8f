"""The first training step of twenty kernels, cold: a tape with twenty launches and its backward pass, on the CPU.

Each round runs two new processes with an empty cache, in turn: one as it is, and one in which nothing is built ahead,
so that all is built one after the other. The second says what there is to do: Python's time is what is left of the step
without LLVM's. The goal is 1.3 times (Python's time + the greater of the slowest kernel's LLVM and all of LLVM's over
the cores). What is compiled once per machine is compiled before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from measure import OURS, Row, Table, write

ROUNDS, KERNELS, N = 7, 20, 4096
SERIAL = "one after the other"
GOAL = 1.3
BODIES = (
    "    y[i] = sin(x[i] * {c}) + 0.5 * x[i]\n",
    "    s = 0.0\n    for j in range(3):\n        s += x[(i + j) % x.shape[0]] * float(j + {c})\n    y[i] = s * 0.1\n",
    "    v = x[i]\n    for j in range(4):\n        v = v - 0.1 * (v * v * v - {c} * v)\n    y[i] = tanh(v)\n",
    "    a = x[i]\n    b = x[(i + 1) % x.shape[0]]\n    y[i] = a * exp(-b * b) + sqrt(a * a + b * b + {c})\n",
)


def one_step(serial: bool) -> None:
    """Run the step in this process; print its seconds, those of Python, of LLVM, and of LLVM's slowest kernel."""
    import time

    import numpy as np

    import workbench as wb
    from workbench import events
    from workbench.api.builds import build

    described = build.ahead

    def at_once(*args: Any, begin: bool = True) -> Any:
        return build.load(*args) if begin else described(*args, begin=False)

    if serial:
        build.ahead = at_once  # type: ignore[assignment]
    head = "@kernel\ndef layer{k}(x: array[float], y: array[float]):\n    i = tid()\n"
    text = "".join((head + BODIES[k % len(BODIES)]).format(k=k, c=f"{k + 1}.0") for k in range(KERNELS + 1))
    first, *layers = wb.build_cell(text, {}, compile=False).kernels.values()
    values = [wb.array(np.linspace(0, 1, N, dtype=np.float32), requires_grad=True)]
    values += [wb.zeros(N, requires_grad=True) for _ in layers]
    ones = np.ones(N, np.float32)

    def step(kernels: list[wb.Kernel]) -> None:
        with wb.Tape() as tape:
            for kernel, x, y in zip(kernels, values, values[1:], strict=False):
                wb.launch(kernel, N, [x], [y])
        tape.backward(grads={values[len(kernels)]: ones})

    step([first])
    built: list[events.CompileDone] = []
    events.subscribe(built.append, events.CompileDone)
    started = time.perf_counter()
    step(layers)
    seconds = time.perf_counter() - started
    llvm = [e.stages["optimise"] + e.stages["emit"] for e in built]
    print(json.dumps([seconds, seconds - sum(llvm), sum(llvm), max(llvm), len(built)]))


def measured(how: str) -> list[float]:
    """What a new process with an empty cache says."""
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as cache:
        command = [sys.executable, __file__, how]
        environment = {**os.environ, "WORKBENCH_CACHE": cache}
        return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Write the table: the round with the middle ratio."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    rounds = []
    for _ in range(ROUNDS):
        ahead, serial = measured("ahead"), measured("serial")
        bound = serial[1] + max(serial[3], serial[2] / cores)
        rounds.append((ahead[0] / bound, ahead, serial, bound))
        print(f"{ahead[0]:.2f} s, {serial[0]:.2f} s serial, bound {bound:.2f} s: {ahead[0] / bound:.2f}", flush=True)
    ratios = sorted(r[0] for r in rounds)
    middle = sorted(rounds)[len(rounds) // 2]
    _, ahead, serial, bound = middle
    table = Table("built_ahead", f"The first training step of {KERNELS} kernels, cold, CPU", ROUNDS)
    note = f"{ahead[0] / bound:.2f} × the bound; {ratios[0]:.2f} to {ratios[-1]:.2f} in {ROUNDS} rounds, goal {GOAL}"
    table.rows = [
        Row("the step", {OURS: ahead[0], SERIAL: serial[0]}, note),
        Row("Python's time", {SERIAL: serial[1]}),
        Row(
            "LLVM's time, of all kernels and adjoints",
            {SERIAL: serial[2]},
            f"{serial[4]:.0f} built, then {ahead[4]:.0f}",
        ),
        Row("LLVM's time, of the slowest", {SERIAL: serial[3]}),
        Row(f"the bound: Python's time and LLVM's over {cores} cores", {SERIAL: bound}),
    ]
    write(table)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one_step(sys.argv[1] == "serial")
    else:
        main()
