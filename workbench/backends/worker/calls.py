"""Calling a compiler's function in a worker process; in this one where no process can be had."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from workbench import errors
from workbench.backends.worker.jobs import Limits, Lost, TaskFailed
from workbench.backends.worker.pool import Pool
from workbench.backends.worker.process import Unavailable, ending
from workbench.config import settings
from workbench.errors import BuildError, WorkbenchError
from workbench.events import Notice, publish
from workbench.forks import fork_safe_lock
from workbench.work import Dropped, current

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
