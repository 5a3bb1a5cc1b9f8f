"""A process that does one task for this one, and that can be ended at any moment.

libmathdx and nvJitLink take gigabytes and seconds, may crash, and cannot be asked to stop. In a process of their own a
crash, a hang and a cancel end that process and nothing else; what counts is only an answer that is whole. It is no
child by `multiprocessing`, which would run the user's script again in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from workbench.backends.cuda.products.answer import read_answer
from workbench.errors import BuildError

# `import workbench` would take a second for all of the library; a worker needs this folder and numpy.
_BEGIN = """
import sys, types
package = types.ModuleType("workbench")
package.__path__ = sys.argv[1:]
sys.modules["workbench"] = package
from workbench.backends.cuda.products.worker import main
main()
"""
WORKER = (sys.executable, "-P", "-c", _BEGIN, str(Path(__file__).parents[3]))
_LAST_LINES = 5


class Process:
    """One task on its way.

    Args:
        command: what to run; it reads one line of JSON, the request, and writes the file named in it as `result`.
        request: JSON values.
        folder: where its files go; whoever made it removes it.
        name: of its files, different from those of the others in that folder.
        shown: for messages: "builds cuBLASDx's 16×16×16 f32 product".
        time_limit: seconds.
    """

    def __init__(
        self, command: tuple[str, ...], request: dict[str, Any], folder: Path, name: str, shown: str, time_limit: float
    ) -> None:
        self._shown = shown
        self._result = str(folder / f"{name}.answer")
        self._started = time.monotonic()
        self._limit = time_limit
        self._errors = open(folder / f"{name}.log", "w+b")  # closed with the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env=_environment(str(folder)),
            start_new_session=True,  # an interrupt from the keyboard is ours to answer
        )
        with suppress(OSError):  # one that ended before it read: its exit tells why
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps({**request, "result": self._result}).encode() + b"\n")
            self._process.stdin.flush()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._started

    def is_over(self) -> bool:
        """Whether it has ended, or has to be ended."""
        return self._process.poll() is not None or self.seconds > self._limit

    def answer(self) -> tuple[dict[str, Any], bytes]:
        """What it found, when `is_over`.

        Raises:
            BuildError: the task failed, or its process did.
        """
        status = self._process.poll()
        log = self.kill()
        if status is None:
            raise self._failed(f"did not end within {self._limit:.0f} s", log)
        try:
            facts, data = read_answer(self._result)
        except (OSError, ValueError):
            raise self._failed(_ending(status), log) from None
        if "error" in facts:
            raise BuildError(facts["error"], advice=facts["advice"], log=facts["log"] or log)
        return facts, data

    def kill(self) -> str:
        """End it, if it has not ended; gives the last lines it wrote, the first time."""
        if self._errors.closed:
            return ""
        if self._process.poll() is None:
            self._process.kill()
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._process.wait()
        log = _tail(self._errors)
        self._errors.close()
        return log

    def _failed(self, how: str, log: str) -> BuildError:
        advice = 'The generated matrix multiplication works without it: matmul="generated".'
        return BuildError(f"The process that {self._shown} {how}.", advice=advice, log=log)


def _ending(status: int) -> str:
    return f"was ended by signal {-status}" if status < 0 else f"ended with status {status} and no answer"


def _tail(file: IO[bytes]) -> str:
    file.seek(0)
    return "\n".join(file.read().decode(errors="replace").splitlines()[-_LAST_LINES:])


def _environment(folder: str) -> dict[str, str]:
    """This process's, with a folder for files that goes with the work."""
    return {**os.environ, "TMPDIR": folder, "LIBMATHDX_TMPDIR": folder}
