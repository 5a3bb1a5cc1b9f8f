"""One launch of a CUDA text on the CPU: in this process, or in one of its own under a sanitizer."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.cuda.host.code import HostCode
from workbench.backends.cuda.host.compile import compile_host
from workbench.backends.cuda.host.program import Entry, Unit, program
from workbench.backends.cuda.host.run import Argument, launch_host, parts
from workbench.errors import BuildError, KernelFault

MAIN = Path(__file__).with_name("host_main.hpp")


def run_text(
    text: str, kernel: str, types: Sequence[str], arguments: Sequence[Argument], grid: Sequence[int],
    block: Sequence[int], *, shared: int = 0, seed: int = 1, threads: str = "",
) -> None:  # fmt: skip
    """Compile a text and run one kernel of it; arrays are changed in place.

    Args:
        text: CUDA C++.
        kernel: its name.
        types: the C++ type of each parameter.
        arguments: one a parameter.
        grid: blocks along x, y, z.
        block: threads of a block along x, y, z.
        shared: bytes of dynamic shared memory.
        seed: shuffles the order of threads; 0 is in order.
        threads: "fibers" or "alone", by default what the text needs.

    Raises:
        BuildError: g++ refused the text.
        KernelFault: a barrier that not all threads reach, a failed assert, …
    """
    code = HostCode(compile_host(program([Unit(text, (Entry(kernel, tuple(types)),))], threads)))
    launch_host(code, kernel, arguments, grid, block, shared, seed)


def run_apart(
    text: str, kernel: str, types: Sequence[str], arguments: Sequence[Argument], grid: Sequence[int],
    block: Sequence[int], *, shared: int = 0, seed: int = 1, sanitize: str = "thread",
) -> None:  # fmt: skip
    """As `run_text`, in a process of its own under a sanitizer.

    Args:
        text, kernel, types, arguments, grid, block, shared, seed: as in `run_text`; arrays are C-contiguous.
        sanitize: "thread" runs each CUDA thread as a real one and finds races (keep blocks small: 128 threads are
            plenty); "address" or "undefined" run threads one after the other, "" under nothing.

    Raises:
        BuildError: g++ refused the text.
        KernelFault: what the sanitizer found, or as `run_text`; `log` is all that was said.
    """
    threads = "threads" if sanitize == "thread" else ""
    flags = ("-g", f"-fsanitize={sanitize}", "-fno-omit-frame-pointer") if sanitize else ()
    made = main_program(Unit(text, (Entry(kernel, tuple(types)),)), threads)
    arrays = {id(a): a for a in (parts(given)[0] for given in arguments) if a is not None}
    with tempfile.TemporaryDirectory(prefix="workbench-host-") as folder:
        binary, job = Path(folder) / "run", Path(folder) / "job"
        binary.write_bytes(compile_host(made, flags, shared=False, function=kernel))
        binary.chmod(0o700)
        job.write_bytes(_job(arguments, list(arrays), arrays, grid, block, shared, seed))
        environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1", "UBSAN_OPTIONS": "halt_on_error=1"}
        done = subprocess.run([str(binary), str(job)], capture_output=True, text=True, env=environment)
        if done.returncode == 2:
            raise BuildError("The host program could not read its arguments.", function=kernel, log=done.stderr)
        if done.returncode:
            said = next((row for row in done.stderr.splitlines() if row.strip(" =")), f"exit status {done.returncode}")
            raise KernelFault(said.strip(), function=kernel, log=done.stderr)
        data, at = job.read_bytes(), 0
        for array in arrays.values():
            array.view(np.uint8).reshape(-1)[:] = np.frombuffer(data, np.uint8, array.nbytes, at)
            at += array.nbytes


def main_program(unit: Unit, threads: str = "") -> str:
    """The program with a `main` that runs the unit's only kernel (see `run_apart`)."""
    (entry,) = unit.entries
    used = f"#define WB_HOST_MAIN wb_unit_0::wb_host_{entry.name}\n"
    return f"{program([unit], threads)}\n#undef printf\n#include <new>\n{used}{MAIN.read_text()}"


def _job(
    arguments: Sequence[Argument], order: list[int], arrays: dict[int, Any], grid: Sequence[int], block: Sequence[int],
    shared: int, seed: int,
) -> bytes:  # fmt: skip
    grid, block = ((*s, 1, 1, 1)[:3] for s in (grid, block))
    pieces = [np.array([len(arguments), len(order), *grid, *block, shared, seed], np.int64).tobytes()]
    for array in arrays.values():
        pieces += [np.int64(array.nbytes).tobytes(), array.tobytes()]
    for given in arguments:
        array, rest = parts(given)
        data = rest if array is None else bytes(8) + rest
        region = -1 if array is None else order.index(id(array))
        pieces += [np.array([len(data), region], np.int64).tobytes(), data]
    return b"".join(pieces)
