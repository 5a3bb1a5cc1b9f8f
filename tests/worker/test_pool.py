"""Workers: what is answered, what is lost, and that nothing is left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.worker import tasks
from tests.worker.conftest import gone, running
from workbench import events
from workbench.backends.worker import pool as pools
from workbench.backends.worker import process, windows
from workbench.backends.worker.pool import Limits, Lost, Pool, TaskFailed, call, task_name
from workbench.backends.worker.process import Unavailable
from workbench.errors import BuildError
from workbench.work import Work

ECHO = {"task": task_name(tasks.echo), "given": 3}


def ask(pool: Pool, task: object, limits: Limits = Limits()) -> object:  # noqa: B008  (frozen)
    return pool.run({"task": f"{tasks.__name__}:{task}", "given": 3}, b"text", limits)


def test_one_process_answers_one_request_after_the_other(pool: Pool) -> None:
    first, second = pool.run(ECHO, b"a" * 300_000), pool.run(ECHO, b"")
    assert first == ({"pid": second[0]["pid"], "given": 3}, b"a" * 300_000)
    assert pool.processes() == [first[0]["pid"]]


def test_a_process_prepares_itself_once_before_it_is_asked(pool: Pool) -> None:
    pool.first = task_name(tasks.prepare)
    for _ in range(2):
        found, _ = pool.run({"task": task_name(tasks.prepared)})
        assert found["by"] == [found["pid"]]


def test_one_that_cannot_prepare_itself_answers_all_the_same(pool: Pool) -> None:
    pool.first = task_name(tasks.prepare_in_vain)
    assert pool.run(ECHO)[0]["given"] == 3


def test_nothing_is_left_of_an_idle_process_that_was_killed(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "LOOK", 0.01)
    killed = pool.run(ECHO)[0]["pid"]
    os.kill(killed, signal.SIGKILL)
    assert gone(killed), "its parent has not asked for it"
    assert pool.processes() == []
    assert pool.run(ECHO)[0]["pid"] != killed


class Kernel32:
    """Windows' library, as far as workers ask it; `fails` names a function that refuses."""

    def __init__(self, fails: str = "") -> None:
        self.calls: list[tuple[object, ...]] = []
        self.fails = fails

    def __getattr__(self, name: str) -> Callable[..., int]:
        def function(*arguments: object) -> int:
            self.calls.append((name, *arguments))
            return 0 if name == self.fails else 7

        return function


def test_a_job_of_windows_ends_with_its_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [ctypes.sizeof(t) for t in (windows.BasicLimits, windows.ExtendedLimits, windows.MemoryCounters)]
    assert sizes == [64, 144, 72], "as in 64-bit Windows"
    for fails, job in (("", 7), ("CreateJobObjectW", None), ("AssignProcessToJobObject", None)):
        library = Kernel32(fails)
        monkeypatch.setattr(windows, "_kernel32", lambda library=library: library)
        assert windows.job_of(SimpleNamespace(_handle=5)) == job
        closed = ("CloseHandle", 7) in library.calls
        assert closed == (fails == "AssignProcessToJobObject")
        assert (("AssignProcessToJobObject", 7, 5) in library.calls) == (fails != "CreateJobObjectW")


def test_it_is_of_this_process_alone(pool: Pool) -> None:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    try:
        facts, _ = ask(pool, "descriptors")  # type: ignore[misc]
    finally:
        os.close(read)
        os.close(write)
    assert facts["session"] != os.getsid(0), "it would see the terminal's Ctrl-C"
    names = [row.split(maxsplit=1)[1] for row in facts["open"]]
    assert sum(name.startswith("pipe:") for name in names) == 2, names
    assert all(name.startswith(("pipe:", "/memfd:", "/dev/null", "/proc/")) for name in names), names


def test_what_a_compiler_prints_is_no_answer(pool: Pool) -> None:
    assert ask(pool, "shout") == ({}, b"x" * (3 << 20))


@pytest.mark.parametrize(
    ("task", "limits", "reason", "stage"),
    [
        ("crash", Limits(), "crashed (signal 6)", "crash"),
        ("spin", Limits(seconds=0.2), "took more than 0.2 s of processor time", "spin"),
        ("grow", Limits(memory=200 << 20), "took more than 0.195 GiB of memory", "grow"),
    ],
)
def test_what_does_not_answer_is_lost_and_the_next_job_is_done(
    pool: Pool, task: str, limits: Limits, reason: str, stage: str
) -> None:
    with pytest.raises(Lost) as lost:
        ask(pool, task, limits)
    assert (lost.value.reason, lost.value.stage) == (reason, stage)
    assert lost.value.log == ("LLVM ERROR: Cannot select: t1" if task == "crash" else "")
    assert pool.run(ECHO)[0]["given"] == 3


def test_what_waits_for_ever_is_ended_by_the_clock(pool: Pool, began: Callable[[], int]) -> None:
    job = pool.submit({"task": "tests.worker.tasks:sleep"})
    pid = began()
    job.limits = Limits(clock=0.0)
    pool.wait_for(job)
    with pytest.raises(Lost, match="did not end within 0 s"):
        job.result()
    assert gone(pid)


def test_an_exception_of_a_task_is_raised_here(pool: Pool) -> None:
    with pytest.raises(BuildError, match="no such thing") as caught:
        call(pool, tasks.refuse, {})
    assert caught.value.log == "what it said"
    with pytest.raises(RuntimeError, match="given"):
        call(pool, tasks.echo, {})
    with pytest.raises(TaskFailed):
        pool.run({"task": "tests.worker.tasks:nothing"})


def test_one_that_was_killed_in_between_is_replaced(pool: Pool) -> None:
    for _ in range(3):
        pid = pool.run(ECHO)[0]["pid"]
        os.kill(pid, signal.SIGKILL)
        assert pool.run(ECHO)[0]["pid"] != pid
        assert not running(pid), "no zombie"


def test_one_that_is_killed_at_work_is_asked_again_and_a_second_time_not(pool: Pool, began: Callable[[], int]) -> None:
    pids: list[int] = []

    def kill() -> None:
        for _ in range(2):
            pids.append(began())
            os.kill(pids[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(Lost, match=r"was killed \(signal 9\)"):
        ask(pool, "sleep")
    killer.join()
    assert len(set(pids)) == 2 and all(gone(pid) for pid in pids)


def test_dropped_work_ends_its_process_and_nobody_elses(pool: Pool, began: Callable[[], int]) -> None:
    work = Work(ask, pool, "spin")
    pid = began()
    other = pool.run(ECHO)[0]["pid"]
    work.drop()
    assert work.wait(60) and gone(pid)
    assert pool.run(ECHO)[0]["pid"] == other


def test_jobs_do_not_wait_for_one_that_is_stuck(pool: Pool, began: Callable[[], int]) -> None:
    pool.most = 1
    work = Work(ask, pool, "sleep")
    pid = began()
    try:
        assert pool.run(ECHO)[0]["pid"] != pid
    finally:
        work.drop()
    assert work.wait(60) and gone(pid)


def test_what_a_compiler_said_of_one_request_is_not_said_of_the_next(pool: Pool) -> None:
    ask(pool, "shout")
    with pytest.raises(Lost) as lost:
        ask(pool, "spin", Limits(seconds=0.2))
    assert (lost.value.stage, lost.value.log) == ("spin", "")


def test_nothing_is_left_open(pool: Pool) -> None:
    pool.run(ECHO)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(Lost):
            ask(pool, "crash")
    pool.run(ECHO)
    assert len(os.listdir("/proc/self/fd")) <= before  # processes of earlier tests may be closed meanwhile


def test_a_process_that_keeps_too_much_is_replaced(pool: Pool) -> None:
    first = pool.run(ECHO, limits=Limits(memory=160 << 20))[0]["pid"]
    assert pool.run(ECHO)[0]["pid"] != first


@pytest.mark.parametrize(
    ("executable", "reason"),
    [("", "is no Python interpreter"), ("/usr/bin/blender", "is no Python interpreter"), ("/nowhere/python3", "")],
)
def test_without_a_process_the_work_is_done_here_and_that_is_said_once(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, executable: str, reason: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(sys, "base_prefix", "/nowhere")
    monkeypatch.setattr(pools, "_told", set())
    told: list[events.Notice] = []
    stop = events.subscribe(told.append, events.Notice)
    try:
        assert call(pool, tasks.echo, {"given": 1})[0] == {"pid": os.getpid(), "given": 1}
        assert call(pool, tasks.echo, {"given": 2})[0] == {"pid": os.getpid(), "given": 2}
    finally:
        stop()
    assert len(told) == 1 and reason in told[0].message
    assert not pool.processes()


def test_another_programs_python_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/blender")
    assert Path(process.python()).is_file()


def test_a_moment_without_processes_is_no_lasting_one(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    real = process.subprocess.Popen

    def refuse(*args: object, **options: object) -> object:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(process.subprocess, "Popen", refuse)
    with pytest.raises(Unavailable, match="Resource temporarily unavailable"):
        pool.run(ECHO)
    monkeypatch.setattr(process.subprocess, "Popen", real)
    assert pool.run(ECHO)[0]["given"] == 3


def test_a_python_that_does_not_work_is_not_tried_again(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_BEGIN", "raise SystemExit('broken')")
    with pytest.raises(Unavailable, match="a new process ended with status 1 and no answer: broken"):
        pool.run(ECHO)
    monkeypatch.undo()
    with pytest.raises(Unavailable):
        pool.run(ECHO)


def test_a_folder_for_temporary_files_is_not_needed(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    monkeypatch.setenv("TMPDIR", "/nowhere")
    assert pool.run(ECHO)[0]["given"] == 3


def test_a_debugger_does_not_wait_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """debugpy puts itself into each Python process that is started, and waits there for someone who debugs it."""
    seen: list[bool] = []
    alone: list[bool] = [False]

    @contextmanager
    def skip_subprocess_arg_patch() -> Iterator[None]:
        alone[0] = True
        yield
        alone[0] = False

    debugger = ModuleType("_pydev_bundle.pydev_monkey")
    debugger.skip_subprocess_arg_patch = skip_subprocess_arg_patch
    monkeypatch.setitem(sys.modules, debugger.__name__, debugger)
    started = subprocess.Popen

    def start(*args: Any, **options: Any) -> Any:
        seen.append(alone[0])
        return started(*args, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
    worker = process.Process([])
    worker.kill()
    worker.end()
    assert seen == [True]
    assert alone == [False]
