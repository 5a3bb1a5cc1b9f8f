"""Worker processes and the threads that speak with them: one thread a process, started when there is work.

Who asks for something waits for its job. An interrupt, or work that was dropped, ends the job's process; the thread
starts another for the next job. Ctrl-C never reaches the pool's threads, so no process is lost however a caller ends.
Callers only take plain locks, which an interrupt cannot leave held.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.backends.worker.process import OUTSIDE, Process, Unavailable
from workbench.backends.worker.server import HELLO
from workbench.forks import after_fork
from workbench.work import go_on

POLL = 0.05
"""Seconds between two looks of a thread that waits: whether its work was dropped, and how long it takes."""
PATIENCE = 1.0
"""Seconds that a job waits behind others before it gets a process more."""
MOST = 16
START_LIMIT = 120.0
"""Seconds on the clock until a process has to greet: a busy machine may take a while to start one."""


@dataclass(frozen=True)
class Limits:
    """What one job may take.

    Attributes:
        seconds: of processor time; 0: as many as there are.
        memory: bytes; 0: as many as there are.
        clock: seconds on the clock.
    """

    seconds: float = 0.0
    memory: int = 0
    clock: float = 900.0


NONE = Limits()


class Lost(Exception):
    """A worker ended without an answer.

    Attributes:
        how: "crashed (signal 11)", "took more than 60 s of processor time".
        stage: what it had come to; may be empty.
        log: what it wrote last.
    """

    def __init__(self, how: str, stage: str = "", log: str = "") -> None:
        super().__init__(how)
        self.how = how
        self.stage = stage
        self.log = log


class Refused(Exception):
    """A task ended with an exception; `kind` is its class, `facts` what it holds."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        super().__init__(facts["message"])
        self.kind = str(facts["error"])
        self.facts = dict(facts)


@dataclass(eq=False)
class Job:
    """Something that a worker is asked for.

    Attributes:
        request: what is sent, with `data`.
        limits: what it may take.
        stage: what the worker has come to.
        began: when a worker got it; None before.
        cancelled: why it was ended from here; empty while it is wanted.
        over: whether it has ended, however.
    """

    request: dict[str, Any]
    data: bytes
    limits: Limits
    stage: str = ""
    began: float | None = None
    cancelled: str = ""
    over: bool = False
    service: _Service | None = None
    _answer: tuple[dict[str, Any], bytes] | None = None
    _problem: Exception | None = None
    _until_over: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Not over yet."""
        self._until_over.acquire()

    def wait(self, seconds: float) -> bool:
        """Wait so long for its end; gives whether it is over. It is ended where it takes too long on the clock."""
        if not self.over and self._until_over.acquire(timeout=seconds):
            self._until_over.release()
        if not self.over and self.began is not None and time.monotonic() - self.began > self.limits.clock:
            self.cancel(f"did not end within {self.limits.clock:.0f} s")
        return self.over

    def cancel(self, why: str = "was cancelled") -> None:
        """End it, and its process where it has one."""
        self.cancelled = self.cancelled or why
        if self.service is not None:
            self.service.end_of(self)

    def finish(self, answer: tuple[dict[str, Any], bytes] | None, problem: Exception | None = None) -> None:
        """It is over."""
        self._answer, self._problem, self.over = answer, problem, True
        self._until_over.release()

    def result(self) -> tuple[dict[str, Any], bytes]:
        """Facts and bytes, when it is over.

        Raises:
            Refused: the task ended with an exception.
            Lost: its process crashed, passed a limit or was ended.
            Unavailable: no process could be started.
        """
        if self._problem is not None:
            raise self._problem
        assert self._answer is not None
        return self._answer


class Pool:
    """Workers of one kind.

    Args:
        name: of its threads.
        paths: gives the folders that its processes may import from; called when one starts.
        most: processes at once, where none is stuck; 0: as many as cores, and at least two.
        once: a process ends with its job.
    """

    def __init__(self, name: str, paths: Callable[[], Sequence[str]], most: int = 0, once: bool = False) -> None:
        self.name = name
        self.paths = paths
        self.once = once
        self.most = most or max(2, _cores())
        self.begin()
        _pools.add(self)

    def begin(self) -> None:
        """As new, without a process: in a forked child, threads and processes are the parent's."""
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._waiting: deque[Job] = deque()
        self._services: set[_Service] = set()
        self._problem: Unavailable | None = None

    def prepare(self) -> None:
        """Start a process where there is none, for a job that will come."""
        with self._lock:
            if not self._services and self._problem is None:
                self._grow()

    def submit(self, request: dict[str, Any], data: bytes = b"", limits: Limits = NONE) -> Job:
        """Ask for something without waiting for it."""
        job = Job(request, data, limits)
        with self._lock:
            self._waiting.append(job)
            if self._problem is not None:
                self._fail(self._problem)
            elif sum(s.idle for s in self._services) < len(self._waiting) and len(self._services) < self.most:
                self._grow()
            self._changed.notify()
        return job

    def run(
        self, request: dict[str, Any], data: bytes = b"", limits: Limits = NONE
    ) -> tuple[dict[str, Any], bytes]:  # fmt: skip
        """Ask for something and wait for it.

        Raises:
            Refused, Lost, Unavailable: as `Job.result`.
            Dropped: this is background work that nobody wants any more.
            KeyboardInterrupt: as ever; the process that worked for it is ended.
        """
        job = self.submit(request, data, limits)
        lock, patient = self._lock, time.monotonic() + PATIENCE
        try:
            while not job.wait(POLL):
                go_on()
                if self._lock is not lock:  # a signal handler forked, and this is the child
                    return self.run(request, data, limits)
                if job.began is None and time.monotonic() > patient:
                    patient = time.monotonic() + PATIENCE
                    self._help()
        except BaseException:
            self._withdraw(job)
            raise
        return job.result()

    def processes(self) -> list[int]:
        """Ids of the processes that run."""
        with self._lock:
            return [s.process.pid for s in self._services if s.process is not None]

    def _grow(self) -> None:
        service = _Service(self, self._changed)
        self._services.add(service)
        try:
            service.start()
        except RuntimeError as problem:  # no thread can be made either
            self._services.discard(service)
            if not self._services:
                self._fail(Unavailable(str(problem)))

    def _help(self) -> None:
        """One process more, where all work for others."""
        with self._lock:
            if all(s.works for s in self._services) and len(self._services) < max(MOST, self.most):
                self._grow()

    def _withdraw(self, job: Job) -> None:
        job.cancel()
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)

    def _fail(self, problem: Unavailable) -> None:
        while self._waiting:
            self._waiting.popleft().finish(None, problem)

    # What a service asks.

    def take(self, service: _Service) -> Job | None:
        """The next job; None: there are more processes than there should be."""
        with service.changed:
            service.idle = True
            while not self._waiting:
                if len(self._services) > self.most:
                    self._services.discard(service)
                    return None
                service.changed.wait()
            service.idle = False
            job = self._waiting.popleft()
            job.service = service
            return job

    def give_up(self, service: _Service, problem: Unavailable) -> None:
        """No process can be started; who waits has to do without."""
        with service.changed:
            self._services.discard(service)
            if problem.for_good:
                self._problem = problem
            if not self._services:
                self._fail(problem)


class _Service(threading.Thread):
    """The thread of one worker process."""

    def __init__(self, pool: Pool, changed: threading.Condition) -> None:
        super().__init__(name=f"workbench-{pool.name}", daemon=True)
        self.pool = pool
        self.changed = changed
        self.idle = True
        self.process: Process | None = None
        self._lock = threading.Lock()
        self._job: Job | None = None

    @property
    def works(self) -> bool:
        """Whether its process does a job now."""
        job = self._job
        return job is not None and job.began is not None

    def run(self) -> None:
        """Start the process, and do jobs."""
        try:
            self._start()
            while (job := self.pool.take(self)) is not None:
                self._do(job)
                if self.pool.once:
                    self._stop()
        except Unavailable as problem:
            self.pool.give_up(self, problem)
            if self._job is not None:
                self._over(self._job, None, problem)
        self._stop()

    def end_of(self, job: Job) -> None:
        """End the process, if it still works for this job."""
        with self._lock:
            if self._job is job and self.process is not None:
                self.process.kill()

    def _start(self) -> Process:
        """The process; a new one where there is none."""
        if self.process is None:
            process = Process(self.pool.paths())
            late = threading.Timer(START_LIMIT, process.kill)
            late.daemon = True
            late.start()
            greeting = process.receive()
            late.cancel()
            if greeting is None or greeting[0] != HELLO:
                process.kill()
                status, log = process.end()
                how = f"a new process {_how('', status, NONE)}: {log}".rstrip(": ")
                raise Unavailable(how, for_good=status not in OUTSIDE)
            self.process = process
        return self.process

    def _stop(self) -> tuple[int, str]:
        with self._lock:
            process, self.process = self.process, None
        return process.end() if process is not None else (0, "")

    def _do(self, job: Job) -> None:
        self._job = job
        for last in (False, True):
            process = self._start()
            job.began = time.monotonic()
            passed = self._converse(process, job)
            if passed is None:
                return
            process.kill()
            status, log = self._stop()
            # Somebody ended it, or it was dead before it heard of the job: that says nothing about the job.
            again = status in OUTSIDE or not job.stage
            if last or job.cancelled or passed or not again:
                lost = Lost(job.cancelled or _how(passed, status, job.limits), job.stage, log)
                return self._over(job, None, lost)

    def _converse(self, process: Process, job: Job) -> str | None:
        """Send the job and hear its answer; None where it came, else the limit that was passed, or ""."""
        if job.cancelled:
            return ""
        limits = {"seconds": job.limits.seconds, "memory": job.limits.memory}
        try:
            process.send({**job.request, **limits}, job.data)
        except OSError:
            return ""
        while (message := process.receive()) is not None:
            header, data = message
            if "stage" in header:
                job.stage = header["stage"]
            elif "passed" in header:
                return header["passed"]
            else:
                self._answered(job, header, data)
                return None
        return ""

    def _answered(self, job: Job, header: dict[str, Any], data: bytes) -> None:
        if job.limits.memory and header["memory"] > job.limits.memory // 4:
            self._stop()  # it keeps too much of what it once needed
        if "error" in header:
            self._over(job, None, Refused(header))
        else:
            self._over(job, (header["facts"], data))

    def _over(self, job: Job, answer: Any, problem: Exception | None = None) -> None:
        with self._lock:
            self._job = None
        job.finish(answer, problem)


def _how(passed: str, status: int, limits: Limits) -> str:
    if passed == "time":
        return f"took more than {limits.seconds:g} s of processor time"
    if passed == "memory":
        return f"took more than {limits.memory / (1 << 30):.3g} GiB of memory"
    if status in OUTSIDE:
        return f"was killed (signal {-status})"
    return f"crashed (signal {-status})" if status < 0 else f"ended with status {status} and no answer"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


def _begin_all() -> None:
    for pool in tuple(_pools):
        pool.begin()


after_fork(_begin_all)
