"""Launches of several Python threads that add to one array: nothing is lost, whatever form the additions take."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from workbench.backends.cpu.native.dispatch import ANY, bit_of
from workbench.runtime.native.launcher import install_launcher

N, TURNS, THREADS = 100_000, 30, 4


@wb.kernel
def total(x: wb.array(dtype=wb.float64), s: wb.array(dtype=wb.float64)):
    i = wb.tid()
    wb.atomic_add(s, 0, x[i])


@wb.kernel
def each(x: wb.array(dtype=wb.float64), s: wb.array(dtype=wb.float64)):
    i = wb.tid()
    wb.atomic_add(s, i, x[i])


@wb.kernel
def scattered(x: wb.array(dtype=wb.float64), s: wb.array(dtype=wb.float64)):
    i = wb.tid()
    wb.atomic_add(s, i % 7, x[i])
    wb.atomic_add(s, i % 5, x[i])


def together(work: Callable[[], None]) -> None:
    """Run the work in several threads at once."""
    ready = threading.Barrier(THREADS)

    def run() -> None:
        ready.wait()
        work()

    workers = [threading.Thread(target=run) for _ in range(THREADS)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


@pytest.mark.parametrize("kernel", [total, each, scattered], ids=lambda k: k.name)
def test_launches_add_up(kernel: wb.Kernel) -> None:
    x, s = wb.ones(N, dtype=wb.float64), wb.zeros(N, dtype=wb.float64)
    wb.launch(kernel, N, [x, s])
    one = s.numpy().copy()
    together(lambda: [wb.launch(kernel, N, [x, s]) for _ in range(TURNS)] and None)
    assert np.array_equal(s.numpy(), one * (1 + TURNS * THREADS))


def test_kept_launches_views_and_replays_add_up() -> None:
    x, s = wb.ones(N, dtype=wb.float64), wb.zeros(N + 3, dtype=wb.float64)
    with wb.record() as rec:
        wb.launch(each, N, [x, s[3:]])
        s[:N].add_(x)
    kept = wb.launch(each, N, [x, s[:N]], record_cmd=True)

    def work() -> None:
        for _ in range(TURNS):
            kept.launch()
            rec.replay()
            wb.launch(each, N, [x, s[1 : N + 1]])

    s.zero_()
    together(work)
    assert s.numpy().sum() == 4 * N * TURNS * THREADS


def test_graphs_and_gradients_add_up() -> None:
    x, s = wb.ones(N, dtype=wb.float64, requires_grad=True), wb.zeros(N, dtype=wb.float64)
    y = wb.zeros(N, dtype=wb.float64, requires_grad=True)
    with wb.capture() as graph:
        wb.launch(total, N, [x, s])
        s.add_(x)
    ones = wb.ones(N, dtype=wb.float64)

    def work() -> None:
        for _ in range(TURNS):
            graph.launch()
            wb.launch(each, N, [x], [y], adjoint=True, adj_outputs=[ones])

    together(work)
    assert s.numpy().sum() == 2 * N * TURNS * THREADS
    assert np.array_equal(x.grad.numpy(), np.full(N, TURNS * THREADS))


def test_memory_that_two_arrays_share_has_one_turn() -> None:
    data = np.zeros(100, np.float32)
    whole, part = wb.from_numpy(data), wb.from_numpy(data[50:])
    assert whole.memory is not part.memory and whole.memory.lock_bit == part.memory.lock_bit == bit_of(data.ctypes.data)
    assert wb.from_numpy(np.frombuffer(bytearray(64), np.float32)).memory.lock_bit == ANY
    assert wb.zeros(10).memory.lock_bit.bit_count() == 1
    arrays = [wb.zeros(100_000 + k) for k in range(50)]
    assert len({a.memory.lock_bit for a in arrays}) > 10, "allocations are spread over the bits"


def test_a_launch_waits_for_memory_and_not_for_other_memory() -> None:
    native = install_launcher().functions
    x, s = wb.ones(N, dtype=wb.float64), wb.zeros(N, dtype=wb.float64)
    other = next(
        a for a in (wb.zeros(8 + k, dtype=wb.float64) for k in range(100)) if a.memory.lock_bit != s.memory.lock_bit
    )
    wb.launch(total, N, [x, s])
    done = threading.Event()
    held = ctypes.c_int64()
    native.hold(s.memory.lock_bit, ctypes.addressof(held))
    waiting = threading.Thread(target=lambda: (wb.launch(total, N, [x, s]), done.set()))
    waiting.start()
    wb.launch(total, N, [x, other])
    seen = done.is_set(), s.numpy()[0]
    native.drop(held.value)
    waiting.join()
    assert seen == (False, N) and other.numpy()[0] == N and s.numpy()[0] == 2 * N


FORKING = """
import ctypes, os, workbench as wb
from tests.runtime.launching.test_turns import N, total
from workbench.runtime.native.launcher import install_launcher
x, s = wb.ones(N, dtype=wb.float64), wb.zeros(N, dtype=wb.float64)
held = ctypes.c_int64()
install_launcher().functions.hold(s.memory.lock_bit, ctypes.addressof(held))
child = os.fork()
if child == 0:
    wb.launch(total, N, [x, s])
    os._exit(0 if s.numpy()[0] == N else 1)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is POSIX")
def test_a_forked_child_waits_for_nobody() -> None:
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=900, check=True)
    assert done.stdout.strip() == "0"
