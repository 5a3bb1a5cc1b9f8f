"""In place of libmathdx: a process that notes each product it builds, or crashes, hangs or refuses, as it is told."""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import threading
from pathlib import Path


def main(notes: Path, mode: str) -> None:
    request = json.loads(sys.stdin.readline())
    if mode == "crash":
        print("a last word", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "hang":
        threading.Event().wait()
    if mode == "silent":
        return
    spec = request["product"]
    if mode == "refuse":
        write(request["result"], {"error": "no such product", "advice": "", "log": "what it said"}, b"")
        return
    if mode == "cut":
        Path(request["result"]).write_bytes(b"abc")
        return
    (notes / str(os.getpid())).write_text(json.dumps(spec))
    write(request["result"], {"facts": {"seconds": 0.0}}, json.dumps(spec).encode())


def write(path: str, facts: dict[str, object], data: bytes) -> None:
    head = json.dumps(facts).encode()
    Path(f"{path}.new").write_bytes(struct.pack(">Q", len(head)) + head + data)
    os.replace(f"{path}.new", path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
