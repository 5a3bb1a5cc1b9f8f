"""Build the stand-in for `libcuda.so.1`, run programs on it, and read what it says of them.

A process has one driver, so a program runs in a process of its own:

    ran = run("import workbench as wb; wb.zeros(10, device='cuda:0')", version=12040, devices=2)
    assert ran.report.refused == () and ran.report.contexts == (0,)

`version` is what `cuDriverGetVersion` answers; functions that came later are not there, and cubins of CUDA 13 are
refused by a driver for CUDA 12. It executes no kernel: memory keeps what copies and fills put there.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
NAME = "libcuda.so.1"
OPTIONS = ("-std=c++17", "-O1", "-fPIC", "-shared", f"-Wl,-soname,{NAME}")
OWN = ("context", "memory pool", "library", "kernel (CUkernel)", "function (CUfunction)", "condition")
"""What a process keeps until it ends: contexts, code, and conditions, which have no function that gives them back."""


class Report(NamedTuple):
    """What the stand-in says of a process.

    Attributes:
        live: by kind of handle or memory, how many were not given back.
        bytes: of each device that are allocated.
        contexts: devices that have a context.
        refused: calls that were refused since the last report, each with the reason.
        launches: how many there were, those of graphs too.
    """

    live: Mapping[str, int]
    bytes: tuple[int, ...]
    contexts: tuple[int, ...]
    refused: tuple[str, ...]
    launches: int

    def left(self, before: Report | None = None) -> dict[str, int]:
        """Return what was not given back since `before`, without what a process keeps."""
        start = before.live if before is not None else {}
        grown = {kind: count - start.get(kind, 0) for kind, count in self.live.items() if kind not in OWN}
        return {kind: count for kind, count in grown.items() if count}


class Ran(NamedTuple):
    """A program that has ended: what it printed, and the report of its end."""

    output: str
    report: Report


@functools.cache
def folder() -> Path:
    """Return a folder with the library, built at most once for each version of its source.

    Raises:
        subprocess.CalledProcessError: the compiler refused it.
    """
    sources = sorted([*HERE.glob("*.h"), *HERE.glob("*.cpp")])
    digest = hashlib.sha256(b"\0".join([repr(OPTIONS).encode(), *(s.read_bytes() for s in sources)])).hexdigest()[:16]
    kept = Path(tempfile.gettempdir()) / f"workbench-standin-{os.getuid()}-{digest}"
    if not (kept / NAME).exists():
        made = Path(tempfile.mkdtemp(prefix="workbench-standin-"))
        subprocess.run(["g++", *OPTIONS, HERE / "libcuda.cpp", "-o", made / NAME], check=True)
        try:
            made.rename(kept)
        except OSError:  # another process was faster
            shutil.rmtree(made)
    return kept


def environment(version: int = 13000, devices: int = 1, arch: int = 90, **more: Any) -> dict[str, str]:
    """Return the environment of a process that finds the stand-in.

    Args:
        version: of CUDA, as the driver says it: 12040, 12080, 13000.
        devices: how many there are.
        arch: their compute capability: 90.
        more: other variables; None unsets one.
    """
    path = os.pathsep.join(filter(None, (str(folder()), os.environ.get("LD_LIBRARY_PATH"))))
    root = os.pathsep.join(filter(None, (str(HERE.parents[2]), os.environ.get("PYTHONPATH"))))
    own = {"LD_LIBRARY_PATH": path, "PYTHONPATH": root, "STANDIN_VERSION": version, "STANDIN_DEVICES": devices}
    whole = {**os.environ, **own, "STANDIN_ARCH": arch, **more}
    return {name: str(value) for name, value in whole.items() if value is not None}


def run(
    program: str, *, version: int = 13000, devices: int = 1, python: str = sys.executable, **more: Any
) -> Ran:  # fmt: skip
    """Run a Python program on the stand-in, in a process of its own.

    Args:
        program: its text.
        version, devices: as for `environment`; `more` as well.
        python: the interpreter.

    Raises:
        AssertionError: it ended with an error; its output is the message.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-standin-run-") as place:
        path, report_path = Path(place, "program.py"), Path(place, "report.json")
        path.write_text(program, encoding="utf-8")
        around = environment(version, devices, **more, STANDIN_REPORT=report_path)
        done = subprocess.run([python, path], env=around, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return Ran(done.stdout, _read(report_path.read_text(encoding="utf-8")))


@functools.cache
def library() -> ctypes.CDLL:
    """Return the stand-in, for `standin_…`; it is the driver of this process if none was loaded before."""
    return ctypes.CDLL(str(folder() / NAME))  # who asks for `libcuda.so.1` from now on gets this one


def report() -> Report:
    """Return the report of this process, which runs on the stand-in, after a garbage collection."""
    gc.collect()
    text = ctypes.create_string_buffer(1 << 16)
    size = library().standin_report
    size.restype, size.argtypes = ctypes.c_int64, (ctypes.c_char_p, ctypes.c_int64)
    while (needed := size(text, len(text))) >= len(text):
        text = ctypes.create_string_buffer(needed + 1)
    return _read(text.value.decode())


def _read(text: str) -> Report:
    found = json.loads(text)
    return Report(
        found["live"], tuple(found["bytes"]), tuple(found["contexts"]), tuple(found["refused"]), found["launches"]
    )
