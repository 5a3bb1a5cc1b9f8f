"""g++ for a host program: to the bytes of a shared object, or to an executable; and loading one."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from workbench.errors import BuildError, DeviceError

FLAGS = ("-x", "c++", "-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-w")
SHARED = ("-fPIC", "-shared")
PLACE = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<text>.*)$", re.MULTILINE
)


def compiler() -> str:
    """The C++ compiler: `CXX`, else g++.

    Raises:
        DeviceError: there is none, or the system is not Linux.
    """
    if not sys.platform.startswith("linux"):
        raise DeviceError(
            "CUDA C++ runs on the CPU of Linux alone.", advice='Compile it for reading: without run="host".'
        )
    found = shutil.which(os.environ.get("CXX") or "g++")
    if not found:
        raise DeviceError("Running CUDA C++ on the CPU needs g++.", advice="Install it (apt install g++), or set CXX.")
    return found


@cache
def compiler_version(path: str) -> str:
    """The first line of what the compiler says of itself."""
    return subprocess.run([path, "--version"], capture_output=True, text=True).stdout.partition("\n")[0]


def compile_host(text: str, flags: tuple[str, ...] = (), shared: bool = True, function: str = "") -> bytes:
    """The program's shared object, or executable, as bytes.

    Raises:
        BuildError: g++ refused the text; `log` holds what it said.
        DeviceError: there is no g++.
    """
    command = compiler()
    with tempfile.TemporaryDirectory(prefix="workbench-host-") as folder:
        made = Path(folder) / "made"
        listed = [command, *FLAGS, *(SHARED if shared else ()), *flags, "-o", str(made), "-", "-lm", "-lpthread"]
        done = subprocess.run(listed, input=text, text=True, capture_output=True)
        if done.returncode:
            raise _refused(done.stderr, text, function)
        return made.read_bytes()


def first_error(log: str) -> tuple[str, int, int, str] | None:
    """File, line, column and sentence of the first error in g++'s words."""
    found = PLACE.search(log)
    return (found["file"], int(found["line"]), int(found["column"]), found["text"]) if found else None


def _refused(log: str, text: str, function: str) -> BuildError:
    first = first_error(log)
    said = f"g++ refused the text at {first[0]}:{first[1]}: {first[3]}." if first else f"g++ failed: {log[:300]}"
    return BuildError(said, function=function, log=log, text=text)


def load_host(image: bytes) -> ctypes.CDLL:
    """A shared object from its bytes; it stays loaded."""
    handle, path = tempfile.mkstemp(prefix="workbench-host-", suffix=".so")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(image)
        return ctypes.CDLL(path)
    finally:
        os.unlink(path)
