"""Jobs of a worker, and the ways in which one may end."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """The limits of one job: seconds and bytes.

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

    def __init__(self, ending: str, stage: str = "", log: str = "") -> None:
        super().__init__(ending)
        self.how = ending
        self.stage = stage
        self.log = log


class Refused(Exception):
    """A task ended with an exception; `kind` is its class, `facts` what it holds."""

    def __init__(self, details: Mapping[str, Any]) -> None:
        super().__init__(details["message"])
        self.kind = str(details["error"])
        self.facts = dict(details)


class Ends(Protocol):
    """The process that works for a job, as the job sees it."""

    def end_of(self, job: Job) -> None:
        """End the job's process, if it still works for it."""
        ...


class Job(msgspec.Struct, eq=False):
    """Something that a worker is given to do.

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
    service: Ends | None = None
    _answer: tuple[dict[str, Any], bytes] | None = None
    _problem: Exception | None = None
    _until_over: Any = msgspec.field(default_factory=threading.Lock)

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
        """End the job with its answer or its problem."""
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
