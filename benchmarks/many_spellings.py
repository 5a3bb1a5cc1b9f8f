"""Seven kernels in seventeen spellings: what a kernel costs should not depend on how it is written.

Each kernel is a body: two stencils, softmax, sums of rows and of columns, a blur that looks whether a neighbour is
there, and Newton's iteration. A spelling wraps it: an early return, a condition, a loop around, indices of 64 bits,
axes that change places, threads that begin at their own index and go on by the size of the launch. Every spelling is
compared with the plain one, bit by bit, before it is timed.

python benchmarks/many_spellings.py [--rounds N]
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from measure import RESULTS, machine, shown

import workbench as wb

SIZE = 512
ARRAYS = "x: wb.array2d[float], y: wb.array2d[float]"
SHAPE = "h, w = x.shape[0], x.shape[1]"
BODIES = {
    "stencil, periodic": (2, """
y[i, j] = x[i, (j + 1) % w] + x[i, (j + w - 1) % w] + x[(i + 1) % h, j] + x[(i + h - 1) % h, j] - 4.0 * x[i, j]
"""),
    "stencil, clamped": (2, """
y[i, j] = x[i, min(j + 1, w - 1)] + x[i, max(j - 1, 0)] + x[min(i + 1, h - 1), j] + x[max(i - 1, 0), j] - 4.0 * x[i, j]
"""),
    "softmax": (1, """
m = x[i, 0]
for k in range(w):
    m = max(m, x[i, k])
s = float(0.0)
for k in range(w):
    s += wb.exp(x[i, k] - m)
for k in range(w):
    y[i, k] = wb.exp(x[i, k] - m) / s
"""),
    "sum of a row": (1, """
s = float(0.0)
for k in range(w):
    s += x[i, k] * x[i, k]
y[i, 0] = s
"""),
    "sum of a column": (1, """
s = float(0.0)
for k in range(h):
    s += x[k, i] * x[k, i]
y[0, i] = s
"""),
    "blur": (2, """
s = float(0.0)
for a in range(-2, 3):
    for b in range(-2, 3):
        p, q = i + a, j + b
        if p >= 0 and p < h and q >= 0 and q < w:
            s += x[p, q]
y[i, j] = s
"""),
    "Newton": (2, """
v = x[i, j] + 1.5
r = v
for k in range(8):
    r = 0.5 * (r + v / r)
y[i, j] = r
"""),
}  # fmt: skip
"""By name: how many indices a thread has, and what it does with them."""
HEADS = {
    "plain": "",
    "behind a return": "if outside:\n    return\n",
    "behind a condition": "if not outside:\n    ",
    "a uniform condition": "if n > 0:\n    ",
    "a condition by row": "if i < n * 4096:\n    ",
    "a print that never runs": "if n > 5:\n    print(i)\n",
    "an assert": "assert n > 0\n",
    "in a loop": "for _ in range(n):\n    ",
    "in a loop of one": "for _ in range(1):\n    ",
    "in a loop with break": "for turn in range(n):\n    if turn > 3:\n        break\n    ",
    "in a loop with continue": "for turn in range(n):\n    if turn > 3:\n        continue\n    ",
    "indices of 64 bits": {1: "i = wb.int64(i)\n", 2: "i, j = wb.int64(i), wb.int64(j)\n"},
}
"""By spelling: the lines before the body, which is indented as the last of them."""
AXES = {
    "axes swapped": ("j, i = wb.tid()\n", (SIZE, SIZE)),
    "a flat index": ("t = wb.tid()\ni, j = t // x.shape[1], t % x.shape[1]\n", SIZE * SIZE),
    "a row per thread": ("i = wb.tid()\nfor j in range(x.shape[1]):\n    ", SIZE),
    "by the size of the launch": (
        "for t in range(wb.tid(), x.shape[0] * x.shape[1], n * 4096):\n"
        "    i, j = t // x.shape[1], t % x.shape[1]\n    ", 4096),
    "a stretch per thread": (
        "q, c = wb.tid(), n * 64\n"
        "for t in range(q * c, min(q * c + c, x.shape[0] * x.shape[1])):\n"
        "    i, j = t // x.shape[1], t % x.shape[1]\n    ", 4096),
}  # fmt: skip
"""By spelling of kernels of two indices: what gives these, and the launch."""
ROWS = {"by the size of the launch": ("for i in range(wb.tid(), x.shape[0], n * 128):\n    ", 128)}
"""The same of kernels of one."""


def spellings(ndim: int, body: str) -> Iterator[tuple[str, str, object]]:
    """Yield the name, the lines and the launch of each spelling of a body of `ndim` indices."""
    own = {1: "i = wb.tid()\noutside = i >= x.shape[0]\n", 2: "i, j = wb.tid()\noutside = i >= h or j >= w\n"}[ndim]
    for name, head in HEADS.items():
        lines = head if isinstance(head, str) else head[ndim]
        yield name, f"{SHAPE}\n{own}{behind(lines, body)}", (SIZE,) * ndim
    for name, (lines, dim) in (AXES if ndim == 2 else ROWS).items():
        yield name, f"{SHAPE}\n{behind(lines, body)}", dim


def behind(head: str, body: str) -> str:
    """Return the body behind the lines of `head`, as deep as the last of them ends."""
    *lines, last = head.split("\n")
    return "\n".join([*lines, *(last + line for line in body.strip("\n").split("\n"))])


def prepared(folder: Path, number: int, lines: str, dim: object) -> tuple[Callable[[], object], np.ndarray]:
    """Return a call that launches a kernel of these lines, and what it computes."""
    text = "\n".join(f"    {line}" for line in lines.split("\n"))
    path = folder / f"spelling{number}.py"
    path.write_text(f"import workbench as wb\n\n@wb.kernel\ndef k({ARRAYS}, n: int):\n{text}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = wb.array(np.random.default_rng(3).uniform(0.1, 1.0, (SIZE, SIZE)).astype(np.float32))
    y = wb.zeros((SIZE, SIZE))

    def call() -> None:
        wb.launch(module.k, dim, [x, y, 1])

    call()
    return call, y.numpy().copy()


def main() -> None:
    """Time all spellings of all kernels, in turn, and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    table: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kernel, (ndim, body) in BODIES.items():
            calls, results = {}, {}
            for number, (name, lines, dim) in enumerate(spellings(ndim, body)):
                calls[name], results[name] = prepared(Path(folder), number + 100 * len(table), lines, dim)
                assert np.array_equal(results[name], results["plain"]), (kernel, name)
            times = dict.fromkeys(calls, float("inf"))
            for _ in range(rounds):
                for name, call in calls.items():
                    started = time.process_time()
                    for _ in range(10):
                        call()
                    times[name] = min(times[name], (time.process_time() - started) / 10)
            table[kernel] = times
    head = ["## Seven kernels in many spellings", "", f"| | {' | '.join(table)} |", "|---" * (len(table) + 1) + "|"]
    rows = [f"| plain | {' | '.join(shown(times['plain']) for times in table.values())} |"]
    for name in dict.fromkeys(name for times in table.values() for name in times if name != "plain"):
        cells = (f"{t[name] / t['plain']:.2f}" if name in t else "–" for t in table.values())
        rows.append(f"| {name} | {' | '.join(cells)} |")
    note = f"{SIZE}×{SIZE} float32; times over that of the plain one. Least processor time of {rounds} rounds."
    facts = ", ".join(f"{name} {value}" for name, value in machine().items() if value)
    print("\n".join([*head, *rows]))
    (RESULTS / "many_spellings.md").write_text("\n".join([*head, *rows, "", note, "", facts, ""]))


if __name__ == "__main__":
    main()
