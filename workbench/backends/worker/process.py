"""A worker process, as its parent sees it.

It is started plainly: `multiprocessing` would run the user's script again in it, and `fork` would copy threads' locks.
It sees no terminal's interrupts, and inherits nothing but its three pipes.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any

from workbench.backends.worker.server import STAGE, read_frame, write_frame
from workbench.forks import after_fork, free_at_fork

ROOT = Path(__file__).parents[2]
# `import workbench` would take half a second for all of the library; a worker needs a file or two of it.
_BEGIN = """
import sys
package = type(sys)("workbench")
package.__path__ = [sys.argv[1]]
sys.modules["workbench"] = package
sys.path += [path for path in sys.argv[3:] if path not in sys.path]
from workbench.backends.worker.server import serve
serve(sys.argv[2])
"""
_LAST_LINES = 5
OUTSIDE = tuple(-getattr(signal, name) for name in ("SIGKILL", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Exit statuses of a process that something else ended by a signal."""

_starting = free_at_fork(threading.RLock())
"""Held while a process is started, so that a forked child knows all pipes that it has to close."""
_processes: set[Process] = set()
_closed: list[bool] = []


class Unavailable(Exception):
    """Raised when no worker process can be started, with the reason; `for_good`: trying again is no use."""

    def __init__(self, message: str, for_good: bool = False) -> None:
        super().__init__(message)
        self.for_good = for_good


def ending() -> bool:
    """Return whether this Python is ending: no process is started any more, and running ones are killed."""
    return bool(_closed)


def _undebugged() -> AbstractContextManager[None]:
    """Return a context in which debugpy leaves new processes alone.

    In each Python process that is started it would wait for a debugger, and in a notebook none comes.
    """
    debugger = sys.modules.get("_pydev_bundle.pydev_monkey")
    return getattr(debugger, "skip_subprocess_arg_patch", nullcontext)()


class Process:
    """A worker process; used by one thread, `kill` by any.

    Args:
        paths: folders that it may import from besides Python's own; None: all that this process imports from, for
            libraries that look for their files themselves.
        first: `"module:function"`, called before the first request; empty for none.
    """

    def __init__(self, paths: Sequence[str] | None, first: str = "") -> None:
        """Start the process; its first message says that it runs.

        Raises:
            Unavailable: there is no Python to run, no process can be started now, or this Python is ending.
        """
        bare = ("-P",) if paths is None else ("-I", "-S")  # no site: it starts in 10 ms
        folders = _own_paths() if paths is None else paths
        command = [python(), *bare, *_flags(), "-c", _BEGIN, str(ROOT), first, *folders]
        with _starting, _undebugged():
            if ending():
                raise Unavailable("this Python is ending")
            self._errors = _scratch()
            try:
                self._popen = subprocess.Popen(
                    command,
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors or subprocess.DEVNULL,
                    start_new_session=True,
                    creationflags=_creation(),
                )
            except OSError as problem:
                self._close_errors()
                raise Unavailable(f"{Path(command[0]).name} cannot be started: {problem}") from None
            _processes.add(self)
            self._job: int | None = None
            if sys.platform == "win32":
                from workbench.backends.worker.windows import job_of

                self._job = job_of(self._popen)
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self._stdin, self._stdout = self._popen.stdin, self._popen.stdout
        self.pid = self._popen.pid

    def send(self, header: dict[str, Any], data: bytes = b"") -> None:
        """Send a request.

        Raises:
            OSError: the process has ended.
        """
        write_frame(self._stdin.fileno(), header, data)

    def receive(self) -> tuple[dict[str, Any], bytes] | None:
        """Wait for the process's next message, and return it; None if the process has ended."""
        return read_frame(self._stdout.fileno())

    @property
    def has_ended(self) -> bool:
        """True if the process has ended; asking removes its entry from the system's table."""
        return self._popen.poll() is not None

    def kill(self) -> None:
        """Kill the process; a thread that waits for a message from it gets None."""
        with suppress(OSError):
            self._popen.kill()

    def end(self) -> tuple[int, str, str]:
        """Close the pipes to the process, which makes it end; wait for that, and release its resources.

        Returns:
            Its status, the last lines it wrote, and the last stage of its request; empty if it had none.
        """
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):
                pipe.close()
        status = self._popen.wait()
        log, stage = self._written()
        _processes.discard(self)
        if self._job is not None:
            from workbench.backends.worker.windows import close

            close(self._job)
            self._job = None
        self._close_errors()
        return status, log, stage

    def close(self) -> None:
        """Kill the process, and wait until it has ended."""
        self.kill()
        self._popen.wait()

    def abandon(self) -> None:
        """Close this process's copies of the pipes, in a forked child: the worker is the parent's."""
        for file in (self._stdin, self._stdout, self._errors):
            with suppress(OSError):
                if file is not None:
                    file.close()
        self._popen.returncode = 0

    def _written(self) -> tuple[str, str]:
        """Return up to five lines that the process wrote to stderr, and its last stage.

        The lines begin at the last one with "ERROR"; without such a line they are the last five. Both are of the
        request that ran, and empty if stderr is not recorded.
        """
        if self._errors is None:
            return "", ""
        self._errors.seek(0)
        rows: list[str] = []
        stage = b""
        for row in self._errors.read().splitlines():
            output, mark, name = row.partition(STAGE)  # what the compiler said may lack the end of its line
            if output or not mark:
                rows.append(output.decode(errors="replace"))
            if mark:
                stage = name
                rows = rows if stage else []  # a request is over
        first = max((n for n, row in enumerate(rows) if "ERROR" in row), default=max(0, len(rows) - _LAST_LINES))
        return "\n".join(rows[first : first + _LAST_LINES]), stage.decode(errors="replace")

    def _close_errors(self) -> None:
        """Close the file that receives the process's stderr, if there is one."""
        if self._errors is not None:
            self._errors.close()


def python() -> str:
    """Return the path of the Python interpreter that workers run.

    Raises:
        Unavailable: none is known, since Python is embedded in another program.
    """
    if sys.executable and Path(sys.executable).name.lower().startswith(("python", "pypy")):
        return sys.executable
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for path in (Path(sys.base_prefix, "bin", name), Path(sys.base_prefix, "python.exe")):
        if path.is_file():
            return str(path)
    raise Unavailable(f"sys.executable is {sys.executable!r}, which is no Python interpreter", for_good=True)


def _own_paths() -> list[str]:
    """Return the folders of this process's `sys.path` as absolute paths, without the empty entry."""
    return [os.path.abspath(path) for path in sys.path if path]


def _flags() -> list[str]:
    """Return the command-line options of this interpreter that say where bytecode goes."""
    flags = ["-B"] if sys.dont_write_bytecode else []
    return [*flags, "-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else flags


def _creation() -> int:
    """Return Windows's flags for a new process: no console window, and no Ctrl-C that is meant for this process."""
    return getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


def _scratch() -> IO[bytes] | None:
    """Return a file without a name that receives a worker's stderr; None if none can be created."""
    if hasattr(os, "memfd_create"):
        with suppress(OSError):
            return open(os.memfd_create("workbench-worker"), "w+b")
    import tempfile

    with suppress(OSError):
        return tempfile.TemporaryFile()
    return None


@atexit.register
def _close() -> None:
    """End all workers at this process's end, and let no more be started."""
    with _starting:
        _closed.append(True)
    for process in tuple(_processes):
        process.close()


def _abandon() -> None:
    """Close all workers' pipes and forget the workers, in a forked child: they are the parent's."""
    for process in tuple(_processes):
        process.abandon()
    _processes.clear()


after_fork(_abandon)
