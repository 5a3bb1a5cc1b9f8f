"""Memory: what a tape over a thousand launches keeps, and the peak of a launch over a hundred million elements.

Each case runs in a process of its own, whose peak (`ru_maxrss`) is read before and after. Thousands of
notebook cells are in `soak.py`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from measure import RESULTS, machine

import workbench as wb

LAUNCHES, STATE, ELEMENTS = 1000, 100_000, 100_000_000
ARRAY = wb.array(dtype=wb.float32)


@wb.kernel
def decay(x: ARRAY):
    """A step in place, whose adjoint reads what it overwrites."""
    i = wb.tid()
    x[i] = x[i] - 0.001 * x[i] * x[i]


@wb.kernel
def double(x: ARRAY, y: ARRAY):
    """Elementwise."""
    i = wb.tid()
    y[i] = 2.0 * x[i]


def taped(**options: int) -> int:
    """A tape over a thousand steps in place, forward and backward; the bytes of the arrays themselves."""
    x = wb.ones(STATE, device="cpu", requires_grad=True)
    with wb.Tape(**options) as tape:
        for _ in range(LAUNCHES):
            wb.launch(decay, STATE, inputs=[x])
    tape.backward(grads={x: 1.0})
    assert np.isfinite(x.grad.numpy()).all()
    return 2 * 4 * STATE


def whole() -> int:
    """A launch over a hundred million elements; the bytes of its arrays."""
    x, y = wb.ones(ELEMENTS, device="cpu"), wb.zeros(ELEMENTS, device="cpu")
    wb.launch(double, ELEMENTS, inputs=[x], outputs=[y])
    assert (y.numpy()[:: ELEMENTS // 100] == 2).all()
    return 2 * 4 * ELEMENTS


CASES: dict[str, Callable[[], int]] = {
    f"tape over {LAUNCHES:,} launches in place of {STATE:,} float32": taped,
    "the same, checkpoint_every=32": lambda: taped(checkpoint_every=32),
    f"launch over {ELEMENTS:,} float32": whole,
}


def measured(name: str) -> None:
    """Print the bytes that the peak rose by, and those of the arrays, after a small launch of each kernel."""
    small = wb.ones(8, device="cpu", requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(decay, 8, inputs=[small])
        wb.launch(double, 8, inputs=[small], outputs=[wb.zeros(8, device="cpu")])
    tape.backward(grads={small: 1.0})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    arrays = CASES[name]()
    print(json.dumps([(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, arrays]))


def main() -> None:
    """Run each case in a process of its own, and write the table."""
    if len(sys.argv) > 1:
        measured(sys.argv[1])
        return
    found: dict[str, list[int]] = {}
    for name in CASES:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
        found[name] = json.loads(done.stdout.splitlines()[-1])
    lines = ["## Memory", "", "| | peak rose by | the arrays themselves |", "|---|---|---|"]
    lines += [f"| {name} | {rose / 1e6:,.1f} MB | {arrays / 1e6:,.1f} MB |" for name, (rose, arrays) in found.items()]
    facts = ", ".join(f"{name} {value}" for name, value in machine().items() if value)
    text = "\n".join([*lines, "", "5,000 notebook cells: [soak.md](soak.md).", "", facts, ""])
    print(text)
    kept = {"machine": machine(), "when": time.strftime("%Y-%m-%d"), "bytes": found}
    (RESULTS / "memory.json").write_text(json.dumps(kept, indent=1) + "\n")
    (RESULTS / "memory.md").write_text(text)


if __name__ == "__main__":
    main()
