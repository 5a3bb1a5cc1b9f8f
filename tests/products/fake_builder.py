"""In place of libmathdx: tasks of a worker that note each product they build, or crash, hang or refuse."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from workbench.errors import BuildError

NOTES = "FAKE_BUILDER_NOTES"
"""The environment variable that names the folder of notes."""


def build(request: dict[str, Any], data: bytes, tell: Any) -> tuple[dict[str, Any], bytes]:
    spec = json.dumps(request["product"])
    Path(os.environ[NOTES], str(os.getpid())).write_text(spec)
    return {"seconds": 0.0}, spec.encode()


def crash(request: dict[str, Any], data: bytes, tell: Any) -> Any:
    print("a last word", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(request: dict[str, Any], data: bytes, tell: Any) -> Any:
    threading.Event().wait()


def silent(request: dict[str, Any], data: bytes, tell: Any) -> Any:
    os._exit(0)


def cut(request: dict[str, Any], data: bytes, tell: Any) -> Any:
    from workbench.backends.worker import server

    os.write(server._out, b"\0\0\0\0\0\0\1\0abc")
    os._exit(0)


def refuse(request: dict[str, Any], data: bytes, tell: Any) -> Any:
    raise BuildError("no such product", log="what it said")
