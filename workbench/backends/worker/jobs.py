"""Jobs of a worker, and the ways in which one may end."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec


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
