"""A process that runs battery items on one copy of the tree: it forks a child for each request.

The parent imports what no fault can stand in (NumPy, LLVM's binding, the oracle), so that a child starts in
milliseconds; the compiler itself is imported in the child, from the copy, with an empty cache of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import resource
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.judge.mutation.battery import Item, Refused, Wrong, saved
from tests.judge.mutation.mutants import FOLDERS

LAST = 400
HANGS = 12.0
"""Processor time after which an item hangs."""
WAITS = 240.0
"""And on the clock: a machine may do much else."""
MEMORY = 16 << 30
CODEGEN = "workbench/backends/cpu/codegen.py"


def serve(items: list[Item]) -> None:
    """Answer requests, one JSON object a line, until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_in_child(items, request)), flush=True)


def _in_child(items: list[Item], request: dict[str, Any]) -> dict[str, Any]:
    """Run the request in a forked child, and end the child and all its workers after its time."""
    folder = tempfile.mkdtemp(prefix="mutant-")
    reader, writer = os.pipe()
    begun = time.monotonic()
    child = os.fork()
    if not child:
        os.close(reader)
        os.setpgid(0, 0)
        _child(items, request, folder, writer)
    os.close(writer)
    answers = _read(reader, child)
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
    _, status, usage = os.wait4(child, 0)
    shutil.rmtree(folder, ignore_errors=True)
    answer = _verdict(answers, os.waitstatus_to_exitcode(status))
    return answer | {"cpu": usage.ru_utime + usage.ru_stime, "wall": time.monotonic() - begun}


def _processor(child: int) -> float:
    """The processor time that a process has taken."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _read(reader: int, child: int) -> list[dict[str, Any]]:
    """What the child wrote before its end; its last word is a hang if it says nothing for too long."""
    data = b""
    heard, spent = time.monotonic(), 0.0
    while True:
        if select.select([reader], [], [], 5.0)[0]:
            part = os.read(reader, 1 << 20)
            data += part
            heard, spent = time.monotonic(), _processor(child)
            if not part or (data.endswith(b"}\n") and b'"done"' in data.splitlines()[-1][:100]):
                hang = False
                break
        elif _processor(child) - spent > HANGS or time.monotonic() - heard > WAITS:
            hang = True
            break
    os.close(reader)
    rows = [json.loads(row) for row in data.splitlines() if row.endswith(b"}")]
    return [*rows, {"hang": True}] if hang else rows


def _verdict(answers: list[dict[str, Any]], status: int) -> dict[str, Any]:
    last = answers[-1] if answers else {}
    begun = [a["begin"] for a in answers if "begin" in a]
    end = {"item": begun[-1] if begun else "import", "ran": len(begun)}
    if last.get("hang"):
        return {"verdict": "hang", "said": "its time was over", **end}
    if last.get("done"):
        return end | last
    return {"verdict": "crash", "said": f"the process ended with {status}", **end}


def _child(items: list[Item], request: dict[str, Any], folder: str, writer: int) -> None:
    """Import the copy and run the items; the answer goes through the pipe. Never returns."""

    def say(**answer: Any) -> None:
        os.write(writer, json.dumps(answer).encode() + b"\n")

    try:
        os.environ["WORKBENCH_CACHE"] = folder
        tempfile.tempdir = folder
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        say(**_run(items, request, say))
    except BaseException as problem:  # whatever a fault brings
        say(done=True, verdict="crash", item="import", said=_said(problem))
    finally:
        os._exit(0)


def _run(items: list[Item], request: dict[str, Any], say: Callable[..., None]) -> dict[str, Any]:
    if request.get("learn") is not None:
        return _learn(items[request["learn"]], request)
    compiled = Compiled(Path(request["objects"]), request["file"])
    compiled.install()
    begun = time.process_time()
    for number in request["items"]:
        item = items[number]
        if time.process_time() > begun + request["budget"]:
            return {"done": True, "verdict": "out of time", "item": "", "said": "", "changed": compiled.new}
        say(begin=item.name)
        try:
            item.run()
        except Exception as problem:
            return {"done": True, "verdict": _kind(problem), "item": item.name, "said": _said(problem)}
    return {"done": True, "verdict": "survived", "item": "", "said": "", "changed": compiled.new}


def _learn(item: Item, request: dict[str, Any]) -> dict[str, Any]:
    """Write the item with the oracle's answers to a file; the answer has the lines of the compiler that it runs."""
    Compiled(Path(request["objects"]), "").install()
    lines = Lines(request["root"])
    try:
        learned = item.learned(lines)
    except Exception as problem:
        return {"done": True, "verdict": "unusable", "item": item.name, "said": _said(problem)}
    Path(request["to"]).write_bytes(pickle.dumps(learned))
    seen = {file: sorted(numbers) for file, numbers in lines.seen.items()}
    return {"done": True, "verdict": "learned", "item": item.name, "cases": len(learned.cases), "lines": seen}


class Compiled:
    """Machine code by the text that LLVM was given: what the text decides is compiled once for all mutants.

    LLVM runs in the child itself, where a line of `codegen` is traced and a crash is seen. A fault in `codegen` itself
    takes nothing from here.

    Attributes:
        new: how many texts no run before had: where 0, all machine code is that of the unchanged tree.
    """

    def __init__(self, folder: Path, mutated: str) -> None:
        self._folder, self._reads, self.new = folder, mutated != CODEGEN, 0

    def install(self) -> None:
        """Put it in the place of the worker processes."""
        from workbench.backends.worker.pool import Pool

        Pool.run = self._compile  # type: ignore[method-assign,assignment]
        Pool.prepare = lambda pool: None  # type: ignore[method-assign]

    def _compile(self, request: dict[str, Any], data: bytes, *_: Any, **__: Any) -> tuple[dict[str, Any], bytes]:
        key = hashlib.sha256(json.dumps(request, sort_keys=True, default=repr).encode() + b"\0" + data).hexdigest()
        path = self._folder / key
        if self._reads and path.exists():
            return pickle.loads(path.read_bytes())
        self.new += 1
        module, _, function = request["task"].partition(":")
        result = getattr(__import__(module, fromlist=[function]), function)(request, data, lambda stage: None)
        if self._reads:
            own = path.with_suffix(f".{os.getpid()}")
            own.write_bytes(pickle.dumps(result))
            own.replace(path)
        return result


def _kind(problem: Exception) -> str:
    return "wrong" if isinstance(problem, Wrong) else "refused" if isinstance(problem, Refused) else "crash"


def _said(problem: BaseException) -> str:
    return "".join(traceback.format_exception_only(problem)).strip()[:LAST]


class Lines:
    """The lines of the compiler that run while it is entered, in every thread."""

    def __init__(self, root: str) -> None:
        self._folders = tuple(str(Path(root, folder)) + "/" for folder in FOLDERS)
        self._root = len(str(root)) + 1
        self.seen: dict[str, set[int]] = {}
        self._left: dict[CodeType, set[int]] = {}

    def __enter__(self) -> None:
        threading.settrace(self._call)
        sys.settrace(self._call)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            inside = code.co_filename.startswith(self._folders)
            left = self._left[code] = {n for _, _, n in code.co_lines() if n} if inside else set()
        if not left:
            return None
        seen = self.seen.setdefault(code.co_filename[self._root :], set())

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                seen.add(frame.f_lineno)
                left.discard(frame.f_lineno)
            return line if left else None

        seen.add(frame.f_lineno)
        return line


def main(arguments: Iterable[str]) -> None:
    """Import what children share, and serve."""
    import jax  # noqa: F401
    import llvmlite.binding  # noqa: F401
    import msgspec  # noqa: F401
    import numpy  # noqa: F401

    import tests.judge.oracle

    path, *imported = arguments
    if imported:
        import tests.judge.verdicts  # noqa: F401
    serve(saved(Path(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
