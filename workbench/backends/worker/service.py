"""The thread of one worker process: it starts the process, hands it jobs, reads its answers, and cleans up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from workbench.backends.worker.jobs import NONE, Job, Limits, Lost, TaskFailed
from workbench.backends.worker.process import OUTSIDE, Process, Unavailable
from workbench.backends.worker.server import HELLO

START_LIMIT = 120.0
"""Seconds of wall-clock time within which a process has to send its greeting: a busy machine may take a while."""


class JobSource(Protocol):
    """The interface of a pool, as its services use it.

    Attributes:
        name: of the pool's threads.
        paths: returns the folders that the process may import from; called when it starts.
        once: the process ends with its job.
        first: what a process calls before its first job, "module:function"; may be empty.
    """

    name: str
    paths: Callable[[], Sequence[str] | None]
    once: bool
    first: str

    def take(self, service: Service) -> Job | None:
        """Wait for the next job; None if the service is to end."""
        ...

    def give_up(self, service: Service, problem: Unavailable) -> None:
        """Remove the service, whose process could not be started; fail the jobs that wait if it was the last one."""
        ...


class Service:
    """The parent's driver of one worker process: a thread that starts it, feeds it jobs and collects the results.

    It has a thread and is not a subclass of one: in a forked child, Python calls `_stop` of each of the parent's
    threads; a method of that name here waited there for a lock that nobody would release.

    Args:
        pool: where its jobs come from.
        changed: the condition, with the pool's lock, that is notified when a job is queued.
    """

    def __init__(self, pool: JobSource, changed: threading.Condition) -> None:
        self.pool = pool
        self.changed = changed
        self.idle = True
        self.process: Process | None = None
        self._lock = threading.Lock()
        self._job: Job | None = None

    def start(self) -> None:
        """Start the thread.

        Raises:
            RuntimeError: the system has no room for another thread.
        """
        threading.Thread(target=self._run, name=f"workbench-{self.pool.name}", daemon=True).start()

    @property
    def works(self) -> bool:
        """True if its process is doing a job."""
        job = self._job
        return job is not None and job.began is not None

    def _run(self) -> None:
        """Start the process and run the pool's jobs on it until there are to be fewer services; the body of the thread.

        Any error goes to the pool and to the job that runs.
        """
        try:
            if not self.pool.once:
                self._start()
            while (job := self.pool.take(self)) is not None:
                self._do(job)
                if self.pool.once:
                    self._end_process()
        except Exception as error:  # whatever it is, who waits must hear of it
            problem = error if isinstance(error, Unavailable) else Unavailable(f"its thread failed: {error!r}")
            self.pool.give_up(self, problem)
            if self._job is not None:
                self._over(self._job, None, problem)
        self._end_process()

    def end_of(self, job: Job) -> None:
        """Kill the process, if it still works for this job."""
        with self._lock:
            if self._job is job and self.process is not None:
                self.process.kill()

    def bury(self) -> None:
        """Release what is left of the process if it ended while it was idle; the next job starts another."""
        if self.process is not None and self.process.has_ended:
            self._end_process()

    def _start(self) -> Process:
        """Return the process; start one if there is none.

        Raises:
            Unavailable: it could not be started, or ended without its greeting.
        """
        if self.process is None:
            process = Process(self.pool.paths(), self.pool.first)
            late = threading.Timer(START_LIMIT, process.kill)
            late.daemon = True
            late.start()
            greeting = process.receive()
            late.cancel()
            if greeting is None or greeting[0] != HELLO:
                process.kill()
                status, log, _ = process.end()
                started = f"a new process {_ending('', status, NONE)}: {log}".rstrip(": ")
                raise Unavailable(started, for_good=status not in OUTSIDE)
            self.process = process
        return self.process

    def _end_process(self) -> tuple[int, str, str]:
        """End the process and wait for that; return its status, log and last stage, (0, "", "") if there is none."""
        with self._lock:
            process, self.process = self.process, None
        return process.end() if process is not None else (0, "", "")

    def _do(self, job: Job) -> None:
        """Run a job to its end, on a second process if the first was ended from outside or had not heard of it."""
        self._job = job
        for last in (False, True):
            process = self._start()
            job.began = time.monotonic()
            passed = self._converse(process, job)
            if passed is None:
                return
            process.kill()
            status, log, job.stage = self._end_process()
            # Somebody ended it, or it was dead before it heard of the job: that says nothing about the job.
            again = not self.pool.once and (status in OUTSIDE or not job.stage)
            if last or job.cancelled or passed or not again:
                lost = Lost(job.cancelled or _ending(passed, status, job.limits), job.stage, log)
                return self._over(job, None, lost)

    def _converse(self, process: Process, job: Job) -> str | None:
        """Send the job to the process and receive the answer.

        Returns:
            None if an answer came; else the limit that was exceeded, "time" or "memory", or "" if the process ended or
            the job was cancelled.
        """
        if job.cancelled:
            return ""
        limits = {"seconds": job.limits.seconds, "memory": job.limits.memory}
        try:
            process.send({**job.request, **limits}, job.data)
        except OSError:
            return ""
        while (message := process.receive()) is not None:
            header, data = message
            if "passed" in header:
                return header["passed"]
            else:
                self._answered(job, header, data)
                return None
        return ""

    def _answered(self, job: Job, header: dict[str, Any], data: bytes) -> None:
        """End the job with the answer or error that its process sent; end a process that retains much memory."""
        if job.limits.memory and header["memory"] > job.limits.memory // 4:
            self._end_process()  # it keeps too much of what it once needed
        if "error" in header:
            self._over(job, None, TaskFailed(header))
        else:
            self._over(job, (header["facts"], data))

    def _over(self, job: Job, answer: Any, problem: Exception | None = None) -> None:
        """Finish the job with its answer or problem; the service then has none."""
        with self._lock:
            self._job = None
        job.finish(answer, problem)


def _ending(passed: str, status: int, limits: Limits) -> str:
    """Return why a process ended without an answer, as a phrase: the exceeded limit `passed`, else the exit status."""
    if passed == "time":
        return f"took more than {limits.seconds:g} s of processor time"
    if passed == "memory":
        return f"took more than {limits.memory / (1 << 30):.3g} GiB of memory"
    if status in OUTSIDE:
        return f"was killed (signal {-status})"
    return f"crashed (signal {-status})" if status < 0 else f"ended with status {status} and no answer"
