"""What it takes until a small cell can be launched: cold, from disk, from memory, and through NVRTC; the same for Warp.

Every cold compile is of a cell that no cache has seen (a constant is new). A process's first use of its compiler has a
row of its own: the notebook warms LLVM in the background while the first cell is typed, and Warp keeps what it parsed.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import warp as wp
from measure import Row, Table, clock, take_turns, write

import workbench as wb
from workbench import inspect

ROUNDS = 5
ARCH = 90
CELL = """
def cell(a: float, x: array(dtype=float), y: array(dtype=float)):
    i = tid()
    v = a * x[i] + {constant}.0
    if v > 0.0:
        y[i] = sin(v) * x[i]
    else:
        y[i] = v
"""
EMPTY = "def cell(x: array(dtype=float)):\n    i = tid()\n"
FOLDER = Path(tempfile.mkdtemp(prefix="workbench-bench-cells-"))
_numbers = itertools.count(1)


def build(text: str, gradient: bool = False) -> wb.Kernel:
    """Build a cell for the CPU."""
    return wb.build_cell(text, {}, backend="cpu", gradient=gradient).kernels["cell"]


def warp_module(text: str, name: str = "", gradient: bool = True) -> ModuleType:
    """The same cell as a Python file for Warp (which reads a kernel's text from its file), imported, not compiled."""
    name = name or f"cell_{next(_numbers)}"
    for word in ("array", "tid", "sin"):
        text = text.replace(f"{word}(", f"wp.{word}(")
    options = f"wp.set_module_options({{'enable_backward': {gradient}}})\n"
    (FOLDER / f"{name}.py").write_text(f"import warp as wp\n{options}\n@wp.kernel\n{text.strip()}\n")
    importlib.invalidate_caches()
    with contextlib.suppress(KeyError):
        del sys.modules[name]
    return importlib.import_module(name)


def new_cell() -> str:
    """The cell with a constant that no cell had before."""
    return CELL.format(constant=next(_numbers))


def timed(work: Callable[[], Any]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def warp_cold(gradient: bool) -> float:
    """Warp: import, generate, compile and load, CPU."""
    text = new_cell()
    return timed(lambda: warp_module(text, gradient=gradient).cell.module.load("cpu"))


def nvrtc(text: str) -> float:
    """Workbench: from the typed kernel to PTX."""
    kernel = build(text)
    return timed(lambda: inspect.ptx(kernel, f"sm_{ARCH}"))


def warp_nvrtc(text: str) -> float:
    """Warp: from the Python function to PTX, forward only."""
    module = warp_module(text, gradient=False)
    return timed(lambda: wp.compile_aot_module(module, arch=ARCH, module_dir=FOLDER / "ptx", use_ptx=True))


def in_new_process(system: str, state: str) -> float:
    """Seconds that a fresh process needs for a cell: `warm` with the cell on disk, or `first` with an empty cache."""
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="workbench-bench-first-") as empty:
        if state == "first":
            environment |= {"WORKBENCH_CACHE": f"{empty}/workbench", "WARP_CACHE_PATH": f"{empty}/warp"}
        command = [sys.executable, __file__, system, state, str(FOLDER)]
        out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(out.stdout.splitlines()[-1])


def other_process(system: str, state: str, folder: str) -> None:
    """The fresh process: print the seconds. Nothing is compiled before a `first` cell."""
    if system == "workbench":
        if state == "warm":
            build(new_cell())
        print(timed(lambda: build(CELL.format(constant=0))))
        return
    sys.path.insert(0, folder)
    wp.init()
    print(timed(lambda: importlib.import_module("on_disk").cell.module.load("cpu")))


def main() -> None:
    """Time each way and write the table."""
    wp.config.quiet = True
    sys.path.insert(0, str(FOLDER))
    wp.init()
    inspect.warm()
    known = CELL.format(constant=0)
    build(known)
    warp_module(known, name="on_disk").cell.module.load("cpu")

    def redefined() -> None:
        warp_module(known, name="on_disk").cell.module.load("cpu")

    rows: dict[str, dict[str, Callable[[], float]]] = {
        "cold, CPU, forward": {"workbench": lambda: timed(lambda: build(new_cell())), "warp": lambda: warp_cold(False)},
        "cold, CPU, with adjoint": {
            "workbench": lambda: timed(lambda: build(new_cell(), gradient=True)),
            "warp": lambda: warp_cold(True),
        },
        "found on disk, new process": {
            "workbench": lambda: in_new_process("workbench", "warm"),
            "warp": lambda: in_new_process("warp", "warm"),
        },
        "cold, the first kernel of a process, empty cache": {
            "workbench": lambda: in_new_process("workbench", "first"),
            "warp": lambda: in_new_process("warp", "first"),
        },
        "found in memory, cell run again": {"workbench": clock(lambda: build(known)), "warp": clock(redefined)},
        "NVRTC to PTX, sm_90, forward": {
            "workbench": lambda: nvrtc(new_cell()),
            "warp": lambda: warp_nvrtc(new_cell()),
        },
        "NVRTC to PTX, sm_90, empty kernel": {"workbench": lambda: nvrtc(EMPTY), "warp": lambda: warp_nvrtc(EMPTY)},
    }
    table = Table("compile_times", "From a small cell to a kernel", ROUNDS)
    table.rows = [Row(what, take_turns(cases, ROUNDS)) for what, cases in rows.items()]
    write(table)


if __name__ == "__main__":
    os.environ.setdefault("WORKBENCH_CACHE", str(FOLDER / "cache"))
    os.environ.setdefault("WARP_CACHE_PATH", str(FOLDER / "warp"))
    if len(sys.argv) == 4:
        other_process(*sys.argv[1:])
    else:
        main()
