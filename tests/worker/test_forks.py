"""Forked children compile and launch, whatever their parent was doing; they leave its workers and locks alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
import pytest

import workbench as wb
from tests.worker import tasks
from tests.worker.conftest import ROOT, gone
from workbench import forks
from workbench.backends.cpu import jit
from workbench.backends.worker.pool import Pool, task_name
from workbench.cache import store
from workbench.work import Work

# Another test of this process may have loaded JAX, whose threads make Python and JAX warn of a fork.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork\\(\\):RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*fork\\(\\):DeprecationWarning"),
]
TEXT = "def k{0}(x: array(dtype=float)):\n    x[tid()] = x[tid()] * {0}.0 + sin(x[tid()])\n"
ECHO = {"task": task_name(tasks.echo), "given": 3}

PROGRAM = """
import os, signal, sys, threading
import numpy as np
import workbench as wb
text = {text!r}
over = threading.Event()

def build(n):
    return wb.build_cell(text.format(n), {{}}, backend="cpu").kernels[f"k{{n}}"]

def compile():
    n = 10_000
    while not over.is_set():
        n += 1
        build(n)

def child(n):
    signal.alarm(120)
    x = wb.array(np.arange(4, dtype=np.float32))
    wb.launch(build(n), 4, [x])
    expected = np.arange(4, dtype=np.float32) * n + np.sin(np.arange(4, dtype=np.float32))
    return np.allclose(x.numpy(), expected, rtol=1e-5)

threads = [threading.Thread(target=compile) for _ in range(2)]
for thread in threads:
    thread.start()
ends = []
for n in range({rounds}):
    over.wait(0.003 * (n % 11))
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if child(n + 1) else 3)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(4)
    ends.append(os.waitpid(pid, 0)[1])
over.set()
for thread in threads:
    thread.join()
print(ends.count(0), [end for end in ends if end])
"""

# From 3.12 on Python warns of each fork of a process with threads; that such a fork works is what is tested here.
QUIET = ("-W", "ignore::DeprecationWarning")


def rounds_of_forks(rounds: int) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(text=TEXT, rounds=rounds)
    return subprocess.run([sys.executable, *QUIET, "-c", program], capture_output=True, text=True, timeout=1200)


@pytest.mark.slow
def test_children_compile_while_their_parent_does() -> None:
    done = rounds_of_forks(8)
    assert (done.stdout, done.stderr) == ("8 []\n", "")


@pytest.mark.slow
def test_children_compile_while_their_parent_does_many_times() -> None:
    done = rounds_of_forks(60)
    assert (done.stdout, done.stderr) == ("60 []\n", "")


def in_child(call: Callable[[], bool]) -> bool:
    """Fork, and give what the call gives there."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            os._exit(0 if call() else 3)
        except BaseException:
            os._exit(4)
    return os.waitpid(pid, 0)[1] == 0


def test_a_child_has_a_worker_of_its_own_and_its_parents_lives_on(pool: Pool) -> None:
    pid = pool.run(ECHO)[0]["pid"]
    assert in_child(lambda: pool.run(ECHO)[0]["pid"] != pid)
    assert pool.run(ECHO)[0]["pid"] == pid


def test_a_fork_asks_nothing_of_the_threads_of_workers(pool: Pool) -> None:
    pool.run(ECHO)
    (service,) = pool._services
    assert service.process is not None
    with service.process._popen._waitpid_lock, service._lock:  # as its thread does when it looks after its process
        child = os.fork()  # Python calls methods of all its threads in the child, before any of our code runs there
        if child == 0:
            os._exit(0)
        assert gone_by_itself(child)


def gone_by_itself(child: int) -> bool:
    for _ in range(600):
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def test_a_child_keeps_no_worker_alive(pool: Pool) -> None:
    pid = pool.run(ECHO)[0]["pid"]
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    os.close(read)
    (service,) = pool._services
    assert service.process is not None
    service.process._stdin.close()
    service.process._popen.wait(60)  # it would not end while somebody else could write to it
    assert gone(pid)
    os.close(write)
    os.waitpid(child, 0)


def test_locks_that_other_threads_hold_are_free_in_a_child() -> None:
    kernel = wb.build_cell(TEXT.format(3), {}, backend="cpu").kernels["k3"]
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        with kernel._lock, _Slow.value.lock:  # type: ignore[attr-defined]
            held.set()
            over.wait()

    _Slow.__module__ = "workbench.slow"
    module = type(sys)("workbench.slow")
    module.Slow = _Slow  # type: ignore[attr-defined]
    sys.modules["workbench.slow"] = module
    thread = threading.Thread(target=hold)
    if sys.version_info >= (3, 12):
        _Slow.value.lock = threading.RLock()  # type: ignore[attr-defined]
    thread.start()
    held.wait()
    try:
        assert in_child(lambda: kernel._lock.acquire(blocking=False))
        if sys.version_info < (3, 12):
            assert in_child(lambda: _Slow().value == 3)
    finally:
        over.set()
        thread.join()
        del sys.modules["workbench.slow"]


class _Slow:
    @cached_property
    def value(self) -> int:
        return 3


@pytest.mark.parametrize("loader", ["ours", "llvmlite"])
def test_a_fork_waits_for_code_that_is_being_loaded(loader: str) -> None:
    order: list[str] = []
    holding = threading.Event()
    # A thread takes llvmlite's inside ours; whoever imported it, a fork waits for it last.
    lock = jit._lock if loader == "ours" else llvm.ffi.lib._lock._lock
    assert forks._locks()[-1] is llvm.ffi.lib._lock._lock

    def load() -> None:
        with lock:
            holding.set()
            order.append("loads")
            threading.Event().wait(0.05)
            order.append("loaded")

    thread = threading.Thread(target=load)
    thread.start()
    holding.wait()
    assert in_child(lambda: order == ["loads", "loaded"])
    thread.join()


@pytest.mark.parametrize("name", ["_module_locks", "_lock_unlock_module"])
def test_without_python_s_private_names_a_fork_waits_for_locks_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing = forks._bootstrap._module_locks
    monkeypatch.setitem(importing, "workbench.being_imported", lambda: None)
    assert forks._imported_now(set()) == ["workbench.being_imported"]
    monkeypatch.delattr(forks._bootstrap, name)
    assert forks._imported_now(set()) == []
    kernel = wb.build_cell(TEXT.format(3), {}, backend="cpu").kernels["k3"]
    assert in_child(lambda: kernel._lock.acquire(blocking=False))


def test_work_of_the_parent_is_over_in_a_child() -> None:
    may_end = threading.Event()
    work = Work(may_end.wait)

    def child() -> bool:
        assert wb.wait() == 0 and work.wait(0)
        with pytest.raises(RuntimeError, match="dropped"):
            work.result()
        return Work(lambda: 5).result() == 5

    try:
        assert in_child(child)
        assert not work.done
    finally:
        may_end.set()
    assert work.result()


def test_a_child_holds_no_lock_of_its_parents_cache(tmp_path: Any) -> None:
    path = tmp_path / "lock"
    with store.Locks().hold("a", path, 1.0) as held:
        assert held
        assert in_child(lambda: not store._held and not store._locked(os.open(path, os.O_RDWR)))
    with store.Locks().hold("a", path, 1.0) as held:
        assert held


def _compile_in_child(n: int) -> list[float]:
    x = wb.ones(2)
    wb.launch(wb.build_cell(TEXT.format(n), {}, backend="cpu").kernels[f"k{n}"], 2, [x])
    return x.numpy().tolist()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_multiprocessing_compile(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")]))
    expected = _compile_in_child(41)
    with multiprocessing.get_context(method).Pool(2) as workers:
        assert workers.map(_compile_in_child, [41, 42, 41]) == [expected, [x + 1 for x in expected], expected]


def test_a_lock_goes_with_its_owner() -> None:
    class Owner:
        def __init__(self) -> None:
            self.lock = forks.fork_safe_lock(self, "lock")

    before = len(forks._owners)
    owner = Owner()
    assert len(forks._owners) == before + 1
    del owner
    assert len(forks._owners) == before
