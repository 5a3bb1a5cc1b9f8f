"""Work that would go on for minutes, each started by its name, interrupted as soon as native code runs.

What came of it is printed as JSON. Everything is compiled before. `python program.py CASE own` has its own handler.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from ctypes import addressof, c_int64
from typing import Any

import numpy as np

import workbench as wb
from workbench.runtime.native.launcher import install_launcher

N = 64
LONG = 2**31 - 1


@wb.kernel
def counted(x: wb.array(dtype=float), n: int, y: wb.array(dtype=float)):
    i = wb.tid()
    s = x[i]
    for k in range(n):
        s = wb.sin(s + float(k))
    y[i] = s


@wb.kernel
def downwards(n: int, y: wb.array(dtype=float)):
    i = wb.tid()
    s = 0.0
    for k in range(n, 0, -1):
        s = wb.sin(s + float(k))
    y[i] = s


@wb.kernel
def by_steps(n: int, step: int, y: wb.array(dtype=float)):
    i = wb.tid()
    s = 0.0
    for k in range(0, n, step):
        s = wb.sin(s + float(k))
    y[i] = s


@wb.kernel
def nested(n: int, y: wb.array(dtype=float)):
    i = wb.tid()
    s = 0.0
    for j in range(n):
        for k in range(n):
            for m in range(3):
                s += wb.sin(float(j * k + m))
    y[i] = s


@wb.kernel
def known(y: wb.array(dtype=float)):
    i = wb.tid()
    s = 0.0
    for j in range(20_000):
        for k in range(20_000):
            s += wb.sin(float(j * k))
    y[i] = s


@wb.kernel
def endless(y: wb.array(dtype=float)):
    i = wb.tid()
    while True:
        y[i] += 1.0


@wb.kernel
def until(n: int, y: wb.array(dtype=float)):
    i = wb.tid()
    k = 0
    while k < n:
        k = (k + 1) % 1000
        y[i] = float(k)


@wb.kernel
def unused(x: wb.array(dtype=float), y: wb.array(dtype=float)):
    i = wb.tid()
    s = x[i]
    while s >= 0.0:
        s = s * 0.5
    y[i] = 1.0


@wb.kernel
def cheap(y: wb.array(dtype=float)):
    i, j, k = wb.tid()
    y[k % 64] = float(i + j)


@wb.kernel
def summed(x: wb.array(dtype=float), y: wb.array(dtype=float)):
    i, j, k = wb.tid()
    y[0] += x[k % 64] * float(i + j)


@wb.kernel
def tiled(x: wb.array2d(dtype=float), n: int, y: wb.array2d(dtype=float)):
    wb.tid()
    a = wb.tile_load(x, shape=(16, 16))
    acc = wb.tile_zeros(shape=(16, 16), dtype=float)
    for _ in range(n):
        acc += wb.tile_matmul(a, a) * 1e-30
    wb.tile_store(y, acc)


@wb.kernel
def doubled(x: wb.array(dtype=float), y: wb.array(dtype=float)):
    i = wb.tid()
    y[i] = 2.0 * x[i]


x = wb.array(np.linspace(0, 1, N, dtype=np.float32), requires_grad=True)
y = wb.zeros(N, requires_grad=True)
flag = wb.ones(1, dtype=int)


def launched(kernel: wb.Kernel, dim: Any, *inputs: Any, **options: Any) -> Callable[[], None]:
    """A launch that is compiled already; `LONG` stands for a number of turns."""
    few = [3 if value is LONG else value for value in inputs]
    small = 1 if isinstance(dim, int) else tuple(1 for _ in dim)
    if LONG in inputs or kernel in (cheap, summed):
        wb.launch(kernel, small, few, **options)
    else:
        wb.launch(kernel, 0, few, **options)
    return lambda: wb.launch(kernel, dim, list(inputs), **options)


def kept() -> Callable[[], None]:
    """A kept launch."""
    launched(counted, N, x, LONG, y)
    return wb.launch(counted, N, [x, LONG, y], record_cmd=True).launch


def replayed() -> Callable[[], None]:
    """A replay with another number of turns."""
    with wb.record() as record:
        wb.launch(doubled, N, [x, y])
        wb.launch(counted, N, [x, 3, y])
    record.replay(n=4)
    return lambda: record.replay(n=LONG)


def many_rows() -> Callable[[], None]:
    """A replay of short launches, again and again in one table."""
    with wb.record() as record:
        for _ in range(20_000):
            wb.launch(counted, N, [x, 3, y])
    record.replay(n=4)
    return lambda: record.replay(n=4000)


def graph() -> Callable[[], None]:
    """A captured graph."""
    with wb.capture() as made:
        wb.launch(doubled, N, [x, y])
        wb.launch(counted, N, [x, LONG, y])
    made.prepare()
    return made.launch


def graph_loop() -> Callable[[], None]:
    """A loop of a graph whose condition never ends it."""
    wb.launch(doubled, N, [x, y])

    def turn() -> None:
        wb.launch(doubled, N, [x, y])
        flag.fill_(1)

    with wb.capture() as made:
        wb.capture_while(flag, turn)
    made.prepare()
    return made.launch


def taped() -> Callable[[], None]:
    """A launch on a tape."""
    launched(counted, N, x, LONG, y)

    def run() -> None:
        with tape:
            wb.launch(counted, N, [x, LONG, y])

    return run


def backward() -> Callable[[], None]:
    """A tape's way back."""
    with tape:
        wb.launch(counted, N, [x, 300_000, y])
    tape.backward(grads={y: np.ones(N, np.float32)})
    return lambda: [tape.backward(grads={y: np.ones(N, np.float32)}) for _ in range(10_000)] and None


def adjoint() -> Callable[[], None]:
    """An adjoint launch."""
    ones = wb.ones(N)
    wb.launch(counted, N, [x, 3], [y], adjoint=True, adj_outputs=[ones])
    return lambda: wb.launch(counted, N, [x, 100_000_000], [y], adjoint=True, adj_outputs=[ones])


def waiting() -> Callable[[], None]:
    """A launch that waits for memory which another thread's launch changes."""
    launched(summed, (1, 1, 1), x, y)
    held = c_int64()
    threading.Thread(target=lambda: install_launcher().functions.hold(y.memory.lock_bit, addressof(held))).start()
    while not held.value:
        pass
    return lambda: wb.launch(summed, (1, 1, 1), [x, y])


tape = wb.Tape()
square = wb.zeros((16, 16))
CASES: dict[str, Callable[[], Callable[[], None]]] = {
    "for": lambda: launched(counted, N, x, LONG, y),
    "for, checked": lambda: launched(counted, N, x, LONG, y, checks=True),
    "for, many threads": lambda: launched(counted, 2**20, wb.ones(2**20), LONG, wb.zeros(2**20)),
    "for, in order": lambda: launched(counted, N, x, LONG, y, deterministic=True),
    "for, downwards": lambda: launched(downwards, N, LONG, y),
    "for, by steps": lambda: launched(by_steps, N, LONG, 1, y),
    "nested": lambda: launched(nested, N, LONG, y),
    "known": lambda: launched(known, N, y),
    "endless": lambda: launched(endless, N, y),
    "endless, checked": lambda: launched(endless, N, y, checks=True),
    "while": lambda: launched(until, N, LONG, y),
    "while, unused": lambda: launched(unused, N, x, y),
    "while, unused, checked": lambda: launched(unused, N, x, y, checks=True),
    "threads": lambda: launched(cheap, (10_000, 10_000, 1000), y),
    "threads, checked": lambda: launched(cheap, (10_000, 10_000, 1000), y, checks=True),
    "sum": lambda: launched(summed, (10_000, 10_000, 1000), x, y),
    "short rows": lambda: launched(cheap, (100_000, 50_000, 2), y),
    "tiles": lambda: lambda: wb.launch_tiled(tiled, [1], [square, LONG, square], block_dim=32),
    "kept": kept,
    "replay": replayed,
    "rows": many_rows,
    "graph": graph,
    "loop of a graph": graph_loop,
    "tape": taped,
    "backward": backward,
    "adjoint": adjoint,
    "waiting": waiting,
}


class Enough(Exception):
    """What a handler of the user's own raises."""


def main(case: str, handler: str = "") -> None:
    """Run a case until it is interrupted, and say what that was like."""
    seen: list[int] = []

    def own(number: int, frame: object) -> None:
        seen.append(number)
        if len(seen) == 2:
            raise Enough

    def press() -> None:
        pause, words = threading.Event(), install_launcher().stopping.words
        while not words().began:
            pause.wait(0.01)
        for count in range(2 if handler else 1):
            while len(seen) < count:
                pause.wait(0.01)
            os.kill(os.getpid(), signal.SIGINT)

    if handler == "own":
        signal.signal(signal.SIGINT, own)
    run = CASES[case]()
    before = y.memory.version
    threading.Thread(target=press, daemon=True).start()
    error: BaseException | None = None
    try:
        run()
    except (KeyboardInterrupt, Enough) as caught:
        error = caught
    late = ""
    try:
        wb.launch(doubled, N, [x, y])
    except KeyboardInterrupt as caught:
        late = repr(caught)
    right = bool(np.array_equal(y.numpy(), 2 * x.numpy()))
    refused = ""
    if case in ("tape", "backward"):
        try:
            tape.backward(grads={y: np.ones(N, np.float32)})
        except wb.NotDifferentiable as caught:
            refused = str(caught)
    found = {
        "error": type(error).__name__, "text": str(error), "notes": getattr(error, "__notes__", []), "late": late,
        "right": right, "versions": y.memory.version - before, "refused": refused, "signals": len(seen),
    }  # fmt: skip
    print(json.dumps(found), flush=True)
    if case == "waiting":
        os._exit(0)  # what the other thread holds it holds for ever


if __name__ == "__main__":
    main(*sys.argv[1:])
