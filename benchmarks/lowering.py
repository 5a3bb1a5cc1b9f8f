"""How long a kernel of 10 to 3,000 lines takes from text to IR: milliseconds of processor time, and their growth.

Usage: `lowering.py [REPETITIONS]`. The least of the repetitions counts. The exponent is the slope between the first
and the last size, through the logarithms.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from measure import RESULTS, machine

import workbench as wb
from workbench.frontend.statements.lower import lower

SIZES = (10, 100, 1000, 3000)
KINDS: dict[str, Callable[[int], list[str]]] = {
    "one line after the other": lambda n: [f"v{n} = x[i] * {n}.5 + sin(s)", f"s = s + v{n}"],
    "branches": lambda n: [f"if x[i] > {n}.0:", "    s = s * 1.5", "else:", f"    s = s - x[i + {n % 7}]"],
    "loops": lambda n: [f"t{n} = 0.0", f"for k{n} in range(n):", f"    t{n} += x[k{n}] * s", f"s = s + t{n}"],
}
HEAD = ["def k(x: array[float], y: array[float], n: int):", "    i = tid()", "    s = 0.0"]


def milliseconds(kind: str, lines: int, repetitions: int) -> float:
    """The least time of lowering such a kernel."""
    text, n = list(HEAD), 0
    while len(text) < lines:
        text += [f"    {line}" for line in KINDS[kind](n)]
        n += 1
    times: list[float] = []
    for _ in range(repetitions):
        kernel = wb.build_cell("\n".join([*text, "    y[i] = s"]), {}, compile=False).kernels["k"]
        types = dict(zip(kernel.parameters, kernel.specialise().types, strict=True))
        started = time.process_time()
        lower(kernel.definition, types)
        times.append(time.process_time() - started)
    return min(times) * 1e3


def main() -> None:
    """Measure all, and write the tables."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    rows = {kind: {n: milliseconds(kind, n, repetitions * max(1, 100 // n)) for n in SIZES} for kind in KINDS}
    lines = [
        "## From a kernel's text to IR, processor time",
        "",
        f"| | {' | '.join(f'{n} lines' for n in SIZES)} | exponent |",
    ]
    lines.append("|---" * (len(SIZES) + 2) + "|")
    for kind, row in rows.items():
        exponent = math.log(row[SIZES[-1]] / row[SIZES[0]]) / math.log(SIZES[-1] / SIZES[0])
        lines.append(f"| {kind} | {' | '.join(f'{row[n]:.3g} ms' for n in SIZES)} | {exponent:.2f} |")
    system = machine()
    lines += ["", f"Least of {repetitions} repetitions.", "", ", ".join(f"{k} {v}" for k, v in system.items()), ""]
    (RESULTS / "lowering.md").write_text("\n".join(lines), encoding="utf-8")
    (RESULTS / "lowering.json").write_text(json.dumps({"system": system, "rows": rows}, indent=1), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
