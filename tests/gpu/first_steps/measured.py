"""Stage 2: the benchmarks of `benchmarks/gpu`, as ratios to what limits each, and the hardware's counters.

On an emulated device they run with small sizes, and their figures are dropped: it has no times.
"""

from __future__ import annotations

import csv
import importlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.gpu.first_steps.harness import OUTPUT_LENGTH, ROOT, Given, NotAvailable

SIDE = 8192
"""Of the products of matrices."""
METRICS = {
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "instructions": "smsp__inst_executed.sum",
}


def _benchmark(given: Given, name: str) -> Any:
    """A module of `benchmarks/gpu`, set to the step's device."""
    if given.index != 0:
        raise NotAvailable("the benchmarks measure the first device only")
    sys.path.insert(0, str(ROOT / "benchmarks/gpu"))
    shared: Any = importlib.import_module("on_device")
    shared.DEVICE = given.device
    if given.is_emulated:
        shared.RUNS, shared.WARM_UP = 1, 0
    return importlib.import_module(name)


def _tell(given: Given, unit: float, figures: dict[str, float], beside: Mapping[str, float | None]) -> None:
    """Keep figures in units, and their ratios to those of the same name, or to the one called "device copy"."""
    if given.is_emulated:
        given.saw(ran=sorted(figures), figures="none: an emulated device has no times")
        return
    for name, value in figures.items():
        limit = beside.get(name, beside.get("device copy"))
        ratio = {"ratio": round(value / limit, 3)} if limit else {}
        given.saw(**{name: {"value": round(value / unit, 3), **ratio}})


def bandwidth(given: Given) -> None:
    """saxpy, its adjoint and a blur in GB/s, against a copy on the device."""
    import workbench as wb

    module = _benchmark(given, "saxpy")
    module.N, module.SIDE = given.size(module.N, 256), given.size(module.SIDE, 16)
    found = module.bandwidths(given.gpu, wb.build_cell(module.CELL, {}, backend="cpu").names)
    _tell(given, 1e9, found, {"device copy": found["device copy"]})


def grids(given: Given) -> None:
    """heat3d, axpy2d and a stencil in GB/s, against a copy on the device."""
    module = _benchmark(given, "kernels")
    copy = module.copy_speed(given.gpu, given.size(module.COUNT, 256))
    found = module.grids(given.gpu, given.size(module.SIDE, 16), given.size(module.SIDE_3D, 6))
    _tell(given, 1e9, found, {"device copy": copy})


def sums(given: Given) -> None:
    """A sum of 1e8 squares into one element in GB/s, against a copy on the device."""
    module = _benchmark(given, "kernels")
    count = given.size(100_000_000, 256)
    copy = module.copy_speed(given.gpu, count)
    _tell(given, 1e9, {"reduction": module.reduction_speed(given.gpu, count)}, {"device copy": copy})


def arithmetic(given: Given) -> None:
    """n-body and a polynomial in TFLOP/s, with `fast_math` (which contracts `a * b + c`) against without."""
    module = _benchmark(given, "kernels")
    sizes = (given.size(module.BODIES, 32), given.size(module.COUNT >> 4, 64), given.size(module.TERMS, 8))
    found = module.arithmetic(given.gpu, *sizes)
    exact = {f"{name}, fast_math": value for name, value in found.items() if not name.endswith("fast_math")}
    _tell(given, 1e12, found, exact)


def tiles_forward(given: Given) -> None:
    """Tiled products by type in TFLOP/s, against cuBLAS."""
    _products(given, adjoint=False)


def tiles_adjoint(given: Given) -> None:
    """Adjoints of tiled products by type in TFLOP/s, against the forward product of cuBLAS."""
    _products(given, adjoint=True)


def _products(given: Given, adjoint: bool) -> None:
    module = _benchmark(given, "tiles")
    side, found = given.size(SIDE, 40), {}
    for name in module.TYPES:  # one by one: some may be so slow that the step is ended
        found[name] = module.rate(given.gpu, name, side, adjoint)
        _tell(given, 1e12, found, {})
    if not given.is_emulated:
        theirs = module.library_rates(side)
        given.saw(cublas={name: round(rate / 1e12, 1) for name, rate in theirs.items()} or "no library has it here")
        _tell(given, 1e12, found, theirs)


def launch_costs(given: Given) -> None:
    """Host time per launch in µs, against cuda.core's own launch, and CuPy's if it is there."""
    import workbench as wb

    module = _benchmark(given, "saxpy")
    found = module.launches(given.gpu, wb.build_cell(module.CELL, {}, backend="cpu").names)
    _tell(given, 1e-6, found, {name: found["cuda.core launch"] for name in found})


def graph_costs(given: Given) -> None:
    """100 launches in µs, as a graph and one by one, against a graph made by hand."""
    module = _benchmark(given, "graphs")
    for count in (1, 1 << 12, 1 << 20):
        found = module.measured(given.gpu, count)
        named = {f"{name}, {count} threads": value for name, value in found.items()}
        _tell(given, 1e-6, named, {name: found["graph by hand"] for name in named})


def counters(given: Given) -> None:
    """Sectors, wavefronts and bank conflicts of three kernels by ncu, beside those of wb.profile."""
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NotAvailable("ncu is not installed")
    probe = Path(__file__).with_name("counted.py")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "counters.csv")
        command = [ncu, "--csv", "--log-file", str(log), "--clock-control", "none", "--metrics",
                   ",".join(METRICS.values()), sys.executable, str(probe), given.device]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    found = read_counters(text.splitlines())
    if not found:
        raise AssertionError(f"ncu counted nothing:\n{(text + done.stdout + done.stderr)[-OUTPUT_LENGTH:]}")
    given.saw(**found)
    given.saw(profile=_profile())


def read_counters(rows: Iterable[str]) -> dict[str, dict[str, float]]:
    """The metrics of each kernel, from the table that ncu writes; the sum of its launches."""
    names = {metric: name for name, metric in METRICS.items()}
    found: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(row for row in rows if row.startswith('"')):
        name = names.get(row["Metric Name"] or "")
        if name is not None:
            counts = found.setdefault(row["Kernel Name"], {})
            counts[name] = counts.get(name, 0) + float(row["Metric Value"].replace(",", ""))
    return found


def _profile() -> dict[str, dict[str, Any]]:
    """What `wb.profile` counts of the same kernels."""
    import workbench as wb
    from tests.gpu.first_steps import counted

    totals = {}
    for name, (kernel, dim, arrays, tiled) in counted.cases("cpu").items():
        total = wb.profile(kernel, dim, arrays, block_dim=counted.BLOCK, tiled=tiled).total
        totals[name] = {k: getattr(total, k) for k in ("global_sectors", "shared_wavefronts", "instructions")}
    return totals
