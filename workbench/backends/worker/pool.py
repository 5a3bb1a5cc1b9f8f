"""Worker processes and the threads that talk to them: one thread per process, started when there is work.

A thread (`Service`) starts its process, hands it jobs, reads its answers, and cleans up.

A caller waits for its job. An interrupt, or dropping the job, ends the job's process; the thread starts another for the
next job. Ctrl-C never reaches the pool's threads, so no process is lost however a caller ends. Callers only take plain
locks, which an interrupt cannot leave held.

`call` runs a compiler's function in a worker process, or in this one if none can be started.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from workbench import errors
from workbench.backends.worker.process import OUTSIDE, Process, Unavailable, ending
from workbench.backends.worker.server import HELLO
from workbench.config import settings
from workbench.errors import BuildError, WorkbenchError
from workbench.events import Notice, publish
from workbench.forks import after_fork, fork_safe_lock
from workbench.work import Dropped, current, go_on


class Limits(msgspec.Struct, frozen=True):
    """The limits of one job.

    Attributes:
        seconds: of processor time; 0: unlimited.
        memory: bytes; 0: unlimited.
        clock: seconds of wall-clock time.
    """

    seconds: float = 0.0
    memory: int = 0
    clock: float = 900.0


NONE = Limits()


class Lost(Exception):
    """Raised when a worker ended without an answer.

    Attributes:
        reason: "crashed (signal 11)", "took more than 60 s of processor time".
        stage: the last stage that it reported; may be empty.
        log: the last lines that it wrote.
    """

    def __init__(self, ending: str, stage: str = "", log: str = "") -> None:
        super().__init__(ending)
        self.reason = ending
        self.stage = stage
        self.log = log


class TaskFailed(Exception):
    """Raised when a task ended with an exception: `kind` is its class's name, `facts` its message and attributes."""

    def __init__(self, details: Mapping[str, Any]) -> None:
        super().__init__(details["message"])
        self.kind = str(details["error"])
        self.facts = dict(details)


class Ends(Protocol):
    """The interface of what runs a job's process, as the job uses it."""

    def end_of(self, job: Job) -> None:
        """End the process, if it still works for the job."""
        ...


class Job(msgspec.Struct, eq=False):
    """A request to a worker process, and its outcome.

    Attributes:
        request: what is sent, with `data`.
        data: bytes for the task.
        limits: of time and memory.
        stage: the last stage that its process reported.
        began: when a process got it (`time.monotonic`); None before.
        cancelled: why it was cancelled; empty if it was not.
        over: whether it has ended, in whatever way.
        service: what runs its process; None before one is chosen.
    """

    request: dict[str, Any]
    data: bytes
    limits: Limits
    stage: str = ""
    began: float | None = None
    cancelled: str = ""
    over: bool = False
    service: Ends | None = None
    _answer: tuple[dict[str, Any], bytes] | None = None
    _problem: Exception | None = None
    _until_over: Any = msgspec.field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Hold the lock that is released when the job is over."""
        self._until_over.acquire()

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds` for the job's end; return whether it is over.

        It is cancelled if it has taken longer than its limit on the clock.
        """
        if not self.over and self._until_over.acquire(timeout=seconds):
            self._until_over.release()
        if not self.over and self.began is not None and time.monotonic() - self.began > self.limits.clock:
            self.cancel(f"did not end within {self.limits.clock:.0f} s")
        return self.over

    def cancel(self, why: str = "was cancelled") -> None:
        """End the process that works for the job, if there is one, and note why unless that was done before."""
        self.cancelled = self.cancelled or why
        if self.service is not None:
            self.service.end_of(self)

    def finish(self, answer: tuple[dict[str, Any], bytes] | None, problem: Exception | None = None) -> None:
        """End the job with its answer, or with the exception that `result` raises."""
        self._answer, self._problem, self.over = answer, problem, True
        self._until_over.release()

    def result(self) -> tuple[dict[str, Any], bytes]:
        """Return the answer and the bytes of a job that is over.

        Raises:
            TaskFailed: the task ended with an exception.
            Lost: its process crashed, passed a limit or was ended.
            Unavailable: no process could be started.
        """
        if self._problem is not None:
            raise self._problem
        assert self._answer is not None
        return self._answer


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


Task = Callable[[dict[str, Any], bytes, Callable[[str], None]], tuple[dict[str, Any], bytes]]

CLOCK = 10
"""Seconds of wall-clock time allowed for each second of processor time: the machine may be busy with other work."""
_told: set[str] = set()
_here = fork_safe_lock(__name__, "_here", threading.RLock)


def compile_limits() -> Limits:
    """Return the limits of one compilation, from the settings `compile_seconds` and `compile_memory`."""
    now = settings()
    return Limits(now.compile_seconds, now.compile_memory, CLOCK * now.compile_seconds)


def task_name(task: Callable[..., Any]) -> str:
    """Return a function's name as "module:function", by which a worker imports it."""
    return f"{task.__module__}:{task.__name__}"


def call(pool: Pool, task: Task, request: dict[str, Any], data: bytes = b"") -> tuple[dict[str, Any], bytes]:
    """Run `task(request, data, …)` in a worker process; return its answer and its bytes.

    If no process can be started, it runs in this one, which is announced once.

    Raises:
        Lost: its process crashed, passed a limit or was ended.
        WorkbenchError: the task raised it.
        RuntimeError: the task raised something else.
        Dropped: this is background work that is no longer needed.
        KeyboardInterrupt: the user interrupted; the process that worked for the task is ended.
        SystemExit: this Python is ending, and this is not its main thread: the thread ends without a message.
    """
    try:
        return pool.run({**request, "task": task_name(task)}, data, compile_limits())
    except TaskFailed as refused:
        raise raised(refused) from None
    except Unavailable as problem:
        if ending() and threading.current_thread() is not threading.main_thread():
            # A daemon thread: Python would end while it compiles here, and its result would never be used.
            raise (Dropped if current() is not None else SystemExit) from None
        if str(problem) not in _told:
            _told.add(str(problem))
            publish(
                Notice(f"Kernels are compiled in this process, where nothing ends a compiler that hangs: {problem}.")
            )
    with _here:
        return task(request, data, lambda stage: None)


def raised(refused: TaskFailed) -> Exception:
    """Return the exception that a worker's task raised: a WorkbenchError of its class, or a RuntimeError for others."""
    kind = getattr(errors, refused.kind, None)
    details = refused.facts
    if not (isinstance(kind, type) and issubclass(kind, WorkbenchError)):
        return RuntimeError(details["message"])
    return kind(**details["details"])


def build_error(compiler: str, function: str, lost: Lost, then: str = "") -> BuildError:
    """Return the error for a compilation whose worker was lost.

    Args:
        compiler: "LLVM", "NVRTC".
        function: the kernel's name; may be empty.
        lost: how the worker ended.
        then: a sentence about what was tried after that, which is appended to the message.
    """
    subject = f"{compiler}, compiling {function}," if function else compiler
    stage = f" at stage {lost.stage}" if lost.stage else ""
    first_line = f": {lost.log.splitlines()[0]}" if lost.log else ""
    advice = "Nothing else is affected."
    if "took more" in lost.reason or "did not end" in lost.reason:
        name = "WORKBENCH_COMPILE_MEMORY (bytes)" if "memory" in lost.reason else "WORKBENCH_COMPILE_SECONDS"
        advice = f"Make the kernel smaller, or set {name} higher."
    return BuildError(
        f"{subject} {lost.reason}{stage}{first_line}.{then}", advice=advice, function=function, log=lost.log
    )
