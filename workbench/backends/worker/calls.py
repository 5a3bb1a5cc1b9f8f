"""Calling a compiler's function in a worker process; in this one where no process can be had."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from workbench import errors
from workbench.backends.worker.jobs import Limits, Lost, Refused
from workbench.backends.worker.pool import Pool
from workbench.backends.worker.process import Unavailable, ending
from workbench.config import settings
from workbench.errors import BuildError, WorkbenchError
from workbench.events import Notice, publish
from workbench.forks import renewed
from workbench.work import Dropped, current

Task = Callable[[dict[str, Any], bytes, Callable[[str], None]], tuple[dict[str, Any], bytes]]

CLOCK = 10
"""Seconds on the clock for each of processor time: a machine may do much else."""
_told: set[str] = set()
_here = renewed(__name__, "_here", threading.RLock)


def compile_limits() -> Limits:
    """Return the limits of one compilation: `WORKBENCH_COMPILE_SECONDS`, `WORKBENCH_COMPILE_MEMORY`."""
    now = settings()
    return Limits(now.compile_seconds, now.compile_memory, CLOCK * now.compile_seconds)


def task_name(task: Callable[..., Any]) -> str:
    """Return a function's name, as a worker imports it."""
    return f"{task.__module__}:{task.__name__}"


def call(pool: Pool, task: Task, request: dict[str, Any], data: bytes = b"") -> tuple[dict[str, Any], bytes]:
    """Run `task(request, data, …)` in a worker process; return its facts and its bytes.

    Raises:
        Lost: its process crashed, passed a limit or was ended.
        WorkbenchError: the task raised it.
        RuntimeError: the task raised something else.
        Dropped, KeyboardInterrupt: as `Pool.run`.
        SystemExit: this Python is ending, and this is not its main thread: the thread ends without a word.
    """
    try:
        return pool.run({**request, "task": task_name(task)}, data, compile_limits())
    except Refused as refused:
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


def raised(refused: Refused) -> Exception:
    """Return the exception that ended a task, in this process."""
    kind = getattr(errors, refused.kind, None)
    details = refused.facts
    if not (isinstance(kind, type) and issubclass(kind, WorkbenchError)):
        return RuntimeError(details["message"])
    return kind(**details["details"])


def build_error(compiler: str, function: str, lost: Lost, then: str = "") -> BuildError:
    """Return a lost worker in words.

    Args:
        compiler: "LLVM", "NVRTC".
        function: the kernel's name; may be empty.
        lost: how the worker ended.
        then: what was tried after that.
    """
    subject = f"{compiler}, compiling {function}," if function else compiler
    stage = f" at stage {lost.stage}" if lost.stage else ""
    first_line = f": {lost.log.splitlines()[0]}" if lost.log else ""
    advice = "Nothing else is affected."
    if "took more" in lost.how or "did not end" in lost.how:
        name = "WORKBENCH_COMPILE_MEMORY (bytes)" if "memory" in lost.how else "WORKBENCH_COMPILE_SECONDS"
        advice = f"Make the kernel smaller, or set {name} higher."
    return BuildError(f"{subject} {lost.how}{stage}{first_line}.{then}", advice=advice, function=function, log=lost.log)
