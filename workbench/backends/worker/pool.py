"""Worker processes and the threads that talk to them: one thread per process, started when there is work.

A caller waits for its job. An interrupt, or dropping the job, ends the job's process; the thread starts another for
the next job. Ctrl-C never reaches the pool's threads, so no process is lost however a caller ends. Callers only take
plain locks, which an interrupt cannot leave held.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from workbench.backends.worker.jobs import NONE, Job, Limits
from workbench.backends.worker.process import Unavailable
from workbench.backends.worker.service import Service
from workbench.forks import after_fork
from workbench.work import current, go_on

POLL = 0.05
"""Seconds between two checks of a waiting thread: whether its work was dropped, and how long it takes."""
PATIENCE = 1.0
"""Seconds that a job waits behind others before one more process is started."""
MOST = 16
LOOK = 20.0
"""Seconds between two checks of an idle thread whether its process is still there."""


class Pool:
    """A pool of worker processes that do the same kind of work.

    Args:
        name: of its threads.
        paths: returns the folders that its processes may import from (`Process`); called when one starts.
        most: processes at once, unless all of them are stuck; 0: as many as cores, and at least two.
        once: a process ends with its job.
        first: `"module:function"`, called by each process as it starts, while its first job is being prepared.
    """

    def __init__(
        self, name: str, paths: Callable[[], Sequence[str] | None], most: int = 0, once: bool = False, first: str = ""
    ) -> None:
        self.name = name
        self.paths = paths
        self.once = once
        self.first = first
        self.most = most or max(2, _cores())
        self.begin()
        _pools.add(self)

    def begin(self) -> None:
        """Reset the pool to one without processes or jobs.

        In a forked child, its threads and processes are the parent's.
        """
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._waiting: deque[Job] = deque()
        self._services: set[Service] = set()
        self._problem: Unavailable | None = None

    def prepare(self) -> None:
        """Start a process for a job to come, if there is none and starting one has not failed for good."""
        with self._lock:
            if not self._services and self._problem is None:
                self._grow()

    def submit(self, request: dict[str, Any], data: bytes = b"", limits: Limits = NONE) -> Job:
        """Queue a request, and return its job without waiting for it."""
        job = Job(request, data, limits)
        self._enqueue(job)
        return job

    def _enqueue(self, job: Job) -> None:
        """Queue a job, at the head unless it is background work, and wake or start a service for it.

        If no process can be started for good, the job fails at once.
        """
        with self._lock:
            # What somebody waits for goes before what is built ahead.
            self._waiting.append(job) if _ahead() else self._waiting.appendleft(job)
            if self._problem is not None:
                self._fail(self._problem)
            elif sum(s.idle for s in self._services) < len(self._waiting) and len(self._services) < self.most:
                self._grow()
            self._changed.notify()

    def run(self, request: dict[str, Any], data: bytes = b"", limits: Limits = NONE) -> tuple[dict[str, Any], bytes]:
        """Queue a request, wait for it, and return the answer and bytes.

        Raises:
            TaskFailed: the task ended with an exception.
            Lost: its process crashed, passed a limit or was ended.
            Unavailable: no process could be started.
            Dropped: this is background work that is no longer needed.
            KeyboardInterrupt: the user interrupted; the process that worked for it is ended.
        """
        go_on()
        job = self.submit(request, data, limits)
        self.wait_for(job)
        return job.result()

    def wait_for(self, job: Job) -> None:
        """Wait for the end of a job; an exception meanwhile cancels it.

        While it waits long behind other jobs, more processes are started.

        Raises:
            Dropped: this is background work that is no longer needed.
            KeyboardInterrupt: the user interrupted.
        """
        lock, patient = self._lock, time.monotonic() + PATIENCE
        try:
            while not job.wait(POLL):
                go_on()
                if self._lock is not lock:  # a signal handler forked, and this is the child
                    lock, job.began, job.service = self._lock, None, None
                    self._enqueue(job)
                if job.began is None and time.monotonic() > patient and not _ahead():
                    patient = time.monotonic() + PATIENCE
                    self._help()
        except BaseException:
            self._withdraw(job)
            raise

    def processes(self) -> list[int]:
        """Return the ids of the processes that run."""
        with self._lock:
            return [s.process.pid for s in self._services if s.process is not None]

    def _grow(self) -> None:
        """Add and start a service; if its thread cannot start and there is no other, fail all waiting jobs."""
        service = Service(self, self._changed)
        self._services.add(service)
        try:
            service.start()
        except RuntimeError as problem:  # no thread can be made either
            self._services.discard(service)
            if not self._services:
                self._fail(Unavailable(str(problem)))

    def _help(self) -> None:
        """Start one more process if all are busy, up to `MOST` or the pool's own limit, if that is larger."""
        with self._lock:
            if all(s.works for s in self._services) and len(self._services) < max(MOST, self.most):
                self._grow()

    def _withdraw(self, job: Job) -> None:
        """Cancel a job, and take it from the queue if no service has it yet."""
        job.cancel()
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)

    def _fail(self, problem: Unavailable) -> None:
        """End all waiting jobs with this problem; the caller holds the lock."""
        while self._waiting:
            self._waiting.popleft().finish(None, problem)

    # What a service asks.

    def take(self, service: Service) -> Job | None:
        """Wait for a service's next job, and return it.

        If there are more processes than there should be, the service is removed from the pool, and None returned.
        """
        with service.changed:
            service.idle = True
            while not self._waiting:
                if len(self._services) > self.most:
                    self._services.discard(service)
                    return None
                service.changed.wait(LOOK)
                service.bury()
            service.idle = False
            job = self._waiting.popleft()
            job.service = service
            return job

    def give_up(self, service: Service, problem: Unavailable) -> None:
        """Remove a service whose process could not be started; fail the jobs that wait if it was the last one."""
        with service.changed:
            self._services.discard(service)
            if problem.for_good:
                self._problem = problem
            if not self._services:
                self._fail(problem)


def _ahead() -> bool:
    """Return whether this thread does background work that nobody waits for yet."""
    work = current()
    return work is not None and work.ahead


def _cores() -> int:
    """Return how many cores this process may run on; of all cores where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


def _begin_all() -> None:
    """Reset every pool, in a forked child."""
    for pool in tuple(_pools):
        pool.begin()


after_fork(_begin_all)
