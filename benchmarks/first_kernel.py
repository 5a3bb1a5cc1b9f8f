"""Until a kernel's first result, and until an edited kernel's: each system in a new process with an empty cache.

A program imports its system, compiles a kernel for the CPU, runs it over 1,000 floats and checks the result; that is a
row. Then it does so with five more kernels, which differ by a constant, as after an edit: their median is another.
The last row is the same edit compiled to machine code for a GPU that is not here, and not run. Rounds take turns.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from measure import OURS, Row, Table, write

ROUNDS, EDITS = 5, 5
KERNELS = {
    OURS: """
import workbench as wb

@wb.kernel
def scaled(a: float, x: wb.array[float], y: wb.array[float]):
    i = wb.tid()
    y[i] = a * x[i] + {constant}.0

def run(x, y):
    result = wb.array(y)
    wb.launch(scaled, dim=1000, inputs=[2.0, wb.array(x), result])
    return result.numpy()
""",
    "warp": """
import warp as wp

@wp.kernel
def scaled(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + {constant}.0

def run(x, y):
    result = wp.array(y, device="cpu")
    wp.launch(scaled, dim=1000, inputs=[2.0, wp.array(x, device="cpu"), result], device="cpu")
    return result.numpy()
""",
    "numba": """
import numba

@numba.njit(parallel=True)
def scaled(a, x, y):
    for i in numba.prange(x.shape[0]):
        y[i] = a * x[i] + {constant}.0

def run(x, y):
    scaled(2.0, x, y)
    return y
""",
    "taichi": """
import taichi as ti

if not hasattr(ti, "begun"):
    ti.begun = ti.init(arch=ti.cpu, offline_cache=False)

@ti.kernel
def scaled(a: float, x: ti.types.ndarray(), y: ti.types.ndarray()):
    for i in x:
        y[i] = a * x[i] + {constant}.0

def run(x, y):
    scaled(2.0, x, y)
    return y
""",
}
FOR_A_GPU = {
    OURS: """
import workbench as wb

CELL = '''
def scaled(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = a * x[i] + {constant}.0
'''

def run(x, y):
    wb.build_cell(CELL, dict(wb.LANGUAGE), backend="cuda", arch="sm_90", gradient=False)
""",
    "warp": """
import sys, tempfile
import warp as wp

wp.set_module_options({{"enable_backward": False}})

@wp.kernel
def scaled(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + {constant}.0

def run(x, y):
    wp.compile_aot_module(sys.modules[__name__], arch=90, module_dir=tempfile.mkdtemp(), use_ptx=False)
""",
    "triton": """
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def scaled(a, x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, a * tl.load(x + i, mask=i < n) + {constant}.0, mask=i < n)

def run(x, y):
    types = dict(a="fp32", x="*fp32", y="*fp32", n="i32", BLOCK="constexpr")
    triton.compile(ASTSource(scaled, types, dict(BLOCK=256)), target=GPUTarget("cuda", 90, 32))
""",
}
PROGRAM = """
import importlib, statistics, time
import numpy as np

seconds = []
for constant in range({kernels}):
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    begun = time.perf_counter()
    result = importlib.import_module(f"{name}_{{constant}}").run(x, y)
    seconds.append(time.perf_counter() - begun)
    assert result is None or np.array_equal(result, 2 * x + constant)
print(seconds[0], statistics.median(seconds[1:]))
"""


def write_program(folder: Path, name: str, kernel: str) -> Path:
    """A system's program and its kernels; all read a kernel's text from its file."""
    for constant in range(1 + EDITS):
        (folder / f"{name}_{constant}.py").write_text(kernel.format(constant=constant))
    program = folder / f"run_{name}.py"
    program.write_text(PROGRAM.format(name=name, kernels=1 + EDITS))
    return program


def measured(program: Path, cache: Path) -> tuple[float, ...]:
    """Seconds of a process: until the first result, and for an edited kernel."""
    places = {"WORKBENCH_CACHE": "ours", "WARP_CACHE_PATH": "warp", "TRITON_CACHE_DIR": "triton"}
    environment = {**os.environ, **{variable: str(cache / name) for variable, name in places.items()}}
    command = [sys.executable, program]
    told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return tuple(float(seconds) for seconds in told.splitlines()[-1].split())


def medians(kernels: Mapping[str, str], kind: str, place: Path) -> list[dict[str, float]]:
    """For the first and for an edited kernel: each system's median; one that is not installed is left out."""
    names = [name for name in kernels if name == OURS or importlib.util.find_spec(name)]
    programs = {name: write_program(place, f"{kind}_{name}", kernels[name]) for name in names}
    seen: dict[str, list[tuple[float, ...]]] = {name: [] for name in names}
    for turn in range(ROUNDS + 1):  # the first reads the packages from the disk, and does not count
        for name, program in programs.items():
            seconds = measured(program, place / f"{kind}-{name}-{turn}")
            seen[name] += [seconds] if turn else []
    return [{name: statistics.median(t[k] for t in times) for name, times in seen.items()} for k in range(2)]


def main() -> None:
    """Write the table."""
    table = Table("first_kernel", "Kernels in a new process with an empty cache, wall time", ROUNDS)
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as place:
        first, edited = medians(KERNELS, "cpu", Path(place))
        _, for_a_gpu = medians(FOR_A_GPU, "gpu", Path(place))
    table.rows = [
        Row("import, and the first kernel's result, CPU", first),
        Row("an edited kernel's result, CPU", edited),
        Row("an edited kernel as machine code for sm_90, not run", for_a_gpu),
    ]
    write(table)


if __name__ == "__main__":
    main()
