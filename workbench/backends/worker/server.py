"""A worker process: one request after the other from its input, each answered on its output.

A request names a function, `"module:function"`; it is called with the request, its bytes, and a function that reports
which stage it has come to. Stages go to stderr, a file that the parent reads if this process is lost; messages would
wake the parent each time. The process ends when its input ends, as it does when the parent ends, and during a
computation when the parent is gone. A request may limit processor time and memory: a watching thread, which can run
because compilers release the GIL, reports which limit was exceeded and ends the process.

A message is a length, a header and bytes, and is read whole or not at all. `marshal` serialises it: both processes run
one interpreter, and a worker needs no import for it. This module imports as little as it can, since a worker is started
while somebody waits for a first kernel.
"""

from __future__ import annotations

import marshal
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import Any

_LENGTH = 8
STAGE = b"\0stage "
"""The beginning of a line of a worker's stderr that names the current stage; the name is empty after a request."""


def write_frame(fd: int, header: dict[str, Any], data: bytes = b"") -> None:
    """Write one message to a file descriptor.

    Raises:
        OSError: the other end is closed.
    """
    body = marshal.dumps((header, data))
    left = memoryview(len(body).to_bytes(_LENGTH, "big") + body)
    while left:
        left = left[os.write(fd, left) :]


def read_frame(fd: int) -> tuple[dict[str, Any], bytes] | None:
    """Return the next message from a file descriptor; None if the other end closes, even in the middle of one."""
    head = _read(fd, _LENGTH)
    body = _read(fd, int.from_bytes(head, "big")) if head else b""
    return marshal.loads(body) if body else None


def _read(fd: int, count: int) -> bytes:
    """Return exactly `count` bytes from a file descriptor; none if it ends or fails before."""
    parts: list[bytes] = []
    while count:
        try:
            part = os.read(fd, min(count, 1 << 20))
        except OSError:
            part = b""
        if not part:
            return b""
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


POLL = 0.05
"""Seconds between two checks of the limits."""
LOG = 1 << 16
"""Bytes of stderr from past requests beyond which the file is emptied."""
HELLO = {"hello": True}

_parent = os.getppid()
_running = threading.Event()
_job: list[tuple[float, float]] = []  # of the request that runs: processor seconds and resident bytes at most
_writing = threading.Lock()
_out = 1


def serve(first: str) -> None:
    """Answer requests until the input ends, and end the process.

    Args:
        first: the function to call before them, "module:function"; empty for none.
    """
    global _out
    source, _out = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # what a compiler prints is no answer
    os.close(0)
    _be_first_to_go()
    threading.Thread(target=_watch, daemon=True).start()
    _send(HELLO)
    if first:
        with suppress(Exception):  # the first request hears of it
            _function(first)()
    while (message := read_frame(source)) is not None:
        _answer(*message)
    os._exit(0)


def _answer(request: dict[str, Any], data: bytes) -> None:
    """Run one request under its limits, and send its answer, or its exception, with this process's memory in bytes."""
    seconds = request.get("seconds") or float("inf")
    _job.append((time.process_time() + seconds, request.get("memory") or float("inf")))
    _running.set()
    try:
        details, result = _function(request["task"])(request, data, _tell_stage)
        answer: dict[str, Any] = {"facts": details}
    except Exception as problem:
        answer, result = {"error": type(problem).__name__, **described(problem)}, b""
    _running.clear()
    _job.clear()
    _forget_log()
    _send({**answer, "memory": resident()}, result)


def _function(name: str) -> Callable[..., Any]:
    """Import and return a function named `"module:function"`."""
    module, function = name.split(":")
    return getattr(import_module(module), function)


def described(problem: Exception) -> dict[str, Any]:
    """Return an exception's message and plain attributes, as values that a message can hold."""
    plain = {name: value for name, value in vars(problem).items() if isinstance(value, (str, int, float))}
    return {"message": str(getattr(problem, "message", problem)), "details": plain}


def _tell_stage(stage: str) -> None:
    """Write the stage that has begun to stderr, which the parent reads if this process is lost."""
    with suppress(OSError):
        os.write(2, STAGE + stage.encode() + b"\n")


def _forget_log() -> None:
    """Report that no stage is under way, and empty the log if it has grown long (each time would take longer)."""
    _tell_stage("")
    with suppress(OSError):  # it need not be a file
        if os.lseek(2, 0, os.SEEK_CUR) > LOG:
            os.lseek(2, 0, os.SEEK_SET)
            os.ftruncate(2, 0)


def _send(header: dict[str, Any], data: bytes = b"") -> None:
    """Write one message to the parent, whole even between threads; end this process if the parent is gone."""
    with _writing:
        try:
            write_frame(_out, header, data)
        except OSError:
            os._exit(1)  # the other end is gone


def _watch() -> None:
    """End this process when a running request exceeds a limit, after a message, or when the parent has ended."""
    while _running.wait():
        time.sleep(POLL)
        for until, memory in tuple(_job):
            if os.getppid() != _parent:
                os._exit(1)
            passed = "time" if time.process_time() > until else "memory" if resident() > memory else ""
            if passed:
                _send({"passed": passed})
                os._exit(1)


def resident() -> int:
    """Return the bytes of this process in memory; 0 if the system does not say.

    They are those resident now on Linux, those committed now on Windows, the most ever resident elsewhere.
    """
    if sys.platform == "win32":
        return import_module("workbench.backends.worker.windows").committed()  # of no use elsewhere
    try:
        return int(os.pread(_statm(), 64, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@lru_cache
def _statm() -> int:
    """Return a descriptor of the system's file on this process's memory.

    It is kept open, since opening takes longer than reading.
    """
    return os.open("/proc/self/statm", os.O_RDONLY)


def _be_first_to_go() -> None:
    """Leave no core files, and let the system end this process before the session if memory runs out."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("900")
    except (ImportError, OSError, ValueError):
        pass
