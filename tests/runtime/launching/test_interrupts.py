"""An interrupt ends what runs on the CPU, wherever it was started and whatever loop it is in; nothing fires later."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench import inspect
from workbench.api.builds import build
from workbench.runtime.native.launcher import install_launcher

PROGRAM = Path(__file__).parent / "interrupted" / "program.py"
LIMIT = 120
"""Seconds for a program that would go on for much longer."""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is POSIX")

QUICK = ("for", "endless, checked", "threads", "graph", "tape")
OTHERS = (
    "for, checked", "for, many threads", "for, in order", "for, downwards", "for, by steps", "nested", "known",
    "endless", "while", "while, unused", "while, unused, checked", "threads, checked", "sum", "short rows", "tiles",
    "kept", "replay", "rows", "loop of a graph", "backward", "adjoint", "waiting",
)  # fmt: skip


def outcome(case: str, *more: str) -> dict[str, Any]:
    """What the interrupted program says."""
    done = subprocess.run([sys.executable, PROGRAM, case, *more], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "nothing is told twice, and nothing is swallowed"
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", [*QUICK, *(pytest.param(case, marks=pytest.mark.slow) for case in OTHERS)])
def test_an_interrupt_ends_it(case: str) -> None:
    found = outcome(case)
    assert found["error"] == "KeyboardInterrupt"
    assert " was stopped after " in found["text"]
    assert "Half written: " in found["text"] or case == "loop of a graph"
    assert (found["late"], found["right"]) == ("", True), "what comes next works, and is not interrupted"
    assert found["versions"] > 0 or case in ("adjoint", "backward"), "who asks sees that the array has changed"
    assert ("was stopped while this tape recorded: y is half written" in found["refused"]) == (case == "tape")
    assert ("The gradient of y of counted is half added" in found["refused"]) == (case == "backward")
    assert ("left these gradients half added: x of counted, y of counted." in found["text"]) == (case == "backward")


def test_a_handler_of_the_users_own_decides() -> None:
    """It runs in the middle of the launch: the first time it lets that go on, the second time it raises."""
    found = outcome("for", "own")
    assert (found["error"], found["signals"], found["text"]) == ("Enough", 2, "")
    assert found["notes"][0].startswith("counted was stopped after ")


@wb.kernel
def count(x: wb.array(dtype=int), n: int):
    i = wb.tid()
    for _ in range(n):
        x[i] = (x[i] + 1) % 1000


def test_a_press_while_nothing_runs_stops_nothing_later() -> None:
    x = wb.zeros(4, dtype=int)
    wb.launch(count, 4, [x, 1])
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(60)
    wb.launch(count, 4, [x, 1_000_000])
    assert x.numpy().tolist() == [1] * 4


def test_launches_of_other_threads_go_on() -> None:
    x, pause = wb.zeros(4, dtype=int), threading.Event()
    wb.launch(count, 4, [x, 0])
    worker = threading.Thread(target=lambda: wb.launch(count, 4, [x, 20_000_000]))
    worker.start()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        pause.wait(60)
    worker.join()
    assert x.numpy().tolist() == [0] * 4


def test_a_handler_that_launches_does_not_wait_for_itself() -> None:
    """Its launch changes what the launch holds in whose middle it runs."""
    s, x, seen = wb.zeros(1, dtype=int), wb.zeros(4, dtype=int), []
    words = install_launcher().stopping.words

    @wb.kernel
    def add(s: wb.array(dtype=int), x: wb.array(dtype=int), n: int):
        i = wb.tid()
        for _ in range(n):
            x[i] = (x[i] + 1) % 1000
        s[0] += 1

    def handler(number: int, frame: object) -> None:
        seen.append(number)
        wb.launch(add, 4, [s, x, 0])
        raise InterruptedError("that is enough")

    def press() -> None:
        while not words().began:
            pass
        os.kill(os.getpid(), signal.SIGINT)

    wb.launch(add, 4, [s, x, 1])
    before = signal.signal(signal.SIGINT, handler)
    try:
        presser = threading.Thread(target=press)
        presser.start()
        with pytest.raises(InterruptedError, match="enough"):
            wb.launch(add, 4, [s, x, 2**31 - 1])
        presser.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT] and s.numpy()[0] == 8


@wb.kernel
def sums(x: wb.array2d(dtype=float), y: wb.array(dtype=float), z: wb.array(dtype=wb.float64)):
    i = wb.tid()
    s, k = 0.0, 0
    for j in range(x.shape[1]):
        s += x[i, j] * x[i, j]
    y[i] = s
    t = wb.float64(0.0)
    while k < x.shape[1]:
        t += wb.float64(x[i, k])
        k += 1
    z[i] = t


@wb.kernel
def twice(x: wb.array(dtype=float), y: wb.array(dtype=float)):
    i = wb.tid()
    y[i] = 2.0 * x[i]


@wb.kernel
def at_length(y: wb.array(dtype=float)):
    i = wb.tid()
    s = 0.0
    for j in range(3000):
        for k in range(20):
            s += float(j * k)
    y[i] = s


def test_who_looks() -> None:
    """Short threads: who calls the entry, a strip at a time; known trips count in full; other loops look themselves."""
    short, known, unknown = (build.load(kernel.specialise()) for kernel in (twice, at_length, count))
    texts = [inspect.llvm(kernel) for kernel in (twice, at_length, count)]
    assert ["load volatile i32, ptr %stop" in text for text in texts] == [False, True, True]
    assert short.strip % 64 == 0 and short.strip * short.cost > 2**19
    assert known.cost > 60_000 and known.strip < 64 < unknown.strip


def test_sums_over_many_strips_are_those_of_one_loop() -> None:
    """In order, bit by bit, over more turns than a strip has and not a multiple of it."""
    x = np.random.default_rng(3).random((3, 100_003), np.float32)
    y, z = wb.zeros(3), wb.zeros(3, dtype=wb.float64)
    wb.launch(sums, 3, [wb.array(x), y, z])
    expected = [np.add.accumulate(row * row, dtype=np.float32)[-1] for row in x]
    assert y.numpy().tolist() == [float(v) for v in expected]
    assert z.numpy().tolist() == [np.add.accumulate(row, dtype=np.float64)[-1] for row in x]


@pytest.mark.slow
def test_a_forked_child_is_interrupted_too() -> None:
    text = """
import os, signal, sys, threading
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import program
from workbench.runtime.native.launcher import install_launcher
run = program.CASES["endless"]()
def fork():
    child = os.fork()
    if child == 0:
        def press():
            while not install_launcher().stopping.words().began: pass
            os.kill(os.getpid(), signal.SIGINT)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=press, daemon=True).start()
        try:
            run()
        except KeyboardInterrupt as error:
            os._exit(7 if "endless was stopped" in str(error) else 1)
        os._exit(2)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
fork()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text, PROGRAM], capture_output=True, text=True, timeout=LIMIT
    )
    assert done.stdout.strip() == "7", done.stderr


@pytest.mark.slow
def test_no_interrupt_is_swallowed_in_a_destructor() -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM.parent / "destructors.py"], capture_output=True, text=True, timeout=LIMIT
    )
    found = json.loads(done.stdout)
    assert len(found) > 10 and set(found) == {1}, "each arrives, once"
    assert not done.stderr
