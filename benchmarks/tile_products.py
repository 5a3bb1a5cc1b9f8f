"""What `tile_matmul` costs to compile for an architecture that is not here: cuBLASDx on demand, Warp's three products.

Every case is a fresh process with caches of its own, so cold is cold; `products there` has the products and not the
kernel. Seconds of all cores stand beside seconds on the clock: on a busy machine they are the ones to compare.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Row, Table, write

ARCH = "sm_90"
SIZES = {16: 7, 64: 3}
"""Tiles, and how many of the cases are worth their minutes."""
OURS = """
@kernel(matmul="{matmul}")
def gemm(a: array2d[float], b: array2d[float], c: array2d[float]):
    i, j = tid()
    s = tile_zeros(shape=({n}, {n}), dtype=float)
    for k in range(a.shape[1] // {n}):
        x = tile_load(a, shape=({n}, {n}), offset=(i * {n}, k * {n}))
        y = tile_load(b, shape=({n}, {n}), offset=(k * {n}, j * {n}))
        tile_matmul(x, y, s)
    tile_store(c, s * {constant}.0, offset=(i * {n}, j * {n}))
"""
THEIRS = """
import warp as wp

wp.set_module_options({{"enable_backward": {backward}, "enable_mathdx_gemm": {linked}}})


@wp.kernel
def gemm(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    s = wp.tile_zeros(shape=({n}, {n}), dtype=float)
    for k in range(a.shape[1] // {n}):
        x = wp.tile_load(a, shape=({n}, {n}), offset=(i * {n}, k * {n}))
        y = wp.tile_load(b, shape=({n}, {n}), offset=(k * {n}, j * {n}))
        wp.tile_matmul(x, y, s)
    wp.tile_store(c, s * {constant}.0, offset=(i * {n}, j * {n}))
"""


@dataclass(frozen=True)
class Case:
    """What is compiled: whether by cuBLASDx, whether with the adjoint, and whether the products are there already."""

    linked: bool = True
    gradient: bool = False
    warm: bool = False


CASES = {
    "cold, forward": (Case(), Case()),
    "cold, forward; Warp as it is (enable_backward)": (Case(), Case(gradient=True)),
    "cold, forward and adjoint": (Case(gradient=True), Case(gradient=True)),
    "products there, forward": (Case(warm=True), Case(warm=True)),
    "products there, forward and adjoint": (Case(gradient=True, warm=True), Case(gradient=True, warm=True)),
    "without cuBLASDx, forward": (Case(linked=False), Case(linked=False)),
    "without cuBLASDx, forward and adjoint": (Case(linked=False, gradient=True), Case(linked=False, gradient=True)),
}
RUNS: dict[tuple[str, Case, int], dict[str, Any]] = {}
"""What was measured: a case of two rows runs once."""


def workbench(case: Case, n: int, constant: int, folder: Path) -> int:
    """Compile with Workbench; returns the bytes of the cubins."""
    import workbench as wb

    before = {e.digest for e in wb.cache.entries()}
    text = OURS.format(n=n, constant=constant, matmul="cublasdx" if case.linked else "generated")
    names = ("kernel", "array2d", "tid", "tile_zeros", "tile_load", "tile_matmul", "tile_store")
    wb.build_cell(text, {name: getattr(wb, name) for name in names}, backend="cuda", arch=ARCH, gradient=case.gradient)
    return sum(e.bytes for e in wb.cache.entries() if e.backend == "cuda" and e.digest not in before)


def warp(case: Case, n: int, constant: int, folder: Path) -> int:
    """Compile with Warp; returns the bytes of the cubin."""
    import warp as wp

    text = THEIRS.format(n=n, constant=constant, backward=case.gradient, linked=case.linked)
    name = f"tiles_{constant}"
    (folder / f"{name}.py").write_text(text)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    module = importlib.import_module(name)
    wp.compile_aot_module(module, arch=int(ARCH[3:]), module_dir=folder / name, use_ptx=False)
    return sum(path.stat().st_size for path in (folder / name).glob("*.cubin"))


SYSTEMS: dict[str, Callable[[Case, int, int, Path], int]] = {"workbench": workbench, "warp": warp}


def products(folder: Path) -> tuple[int, int]:
    """How many products are in a folder of caches, and their bytes."""
    ours = [p for p in folder.glob("workbench/**/*") if p.is_file() and p.stat().st_size > 1_000_000]
    theirs = list(folder.glob("warp/**/*.lto"))
    return len(ours + theirs), sum(p.stat().st_size for p in ours + theirs)


def spent() -> float:
    """Seconds of all cores that this process and its ended children took."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usages)


def other_process(system: str, case: Case, n: int, folder: Path) -> None:
    """The fresh process: compile, and print what it took; importing the libraries is not in it."""
    library = importlib.import_module(system)
    if system == "warp":
        library.config.quiet = True
        library.init()
    if case.warm:
        SYSTEMS[system](Case(case.linked, case.gradient), n, 1, folder)
    clock, cores = time.perf_counter(), spent()
    size = SYSTEMS[system](case, n, 2, folder)
    count, bytes_ = products(folder)
    facts = {"clock": time.perf_counter() - clock, "cores": spent() - cores, "cubin": size}
    print(json.dumps({**facts, "products": count, "product_bytes": bytes_}))


def in_new_process(system: str, case: Case, n: int) -> dict[str, Any]:
    """What a fresh process with empty caches took."""
    if (system, case, n) in RUNS:
        return RUNS[system, case, n]
    with tempfile.TemporaryDirectory(prefix="workbench-bench-tiles-") as name:
        folder = Path(name)
        caches = {"WORKBENCH_CACHE": folder / "workbench", "WARP_CACHE_PATH": folder / "warp"}
        for path in caches.values():
            path.mkdir(mode=0o700)
        environment = {**os.environ, **{k: str(v) for k, v in caches.items()}, "CUDA_CACHE_DISABLE": "1"}
        request = json.dumps([system, [case.linked, case.gradient, case.warm], n, name])
        command = [sys.executable, __file__, request]
        out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found = RUNS[system, case, n] = json.loads(out.stdout.splitlines()[-1])
    return found


def shown(facts: dict[str, Any]) -> str:
    """Products and sizes for a row's note."""
    return f"{facts['products']} products {facts['product_bytes'] / 1e6:.1f} MB, cubin {facts['cubin'] / 1e3:.0f} kB"


def main() -> None:
    """Compile each way and write the table."""
    table = Table("tile_products", f"tile_matmul of float32, from a cell to a cubin for {ARCH}", 1)
    for n, count in SIZES.items():
        for what, (ours, theirs) in list(CASES.items())[:count]:
            found = {"workbench": in_new_process("workbench", ours, n), "warp": in_new_process("warp", theirs, n)}
            note = "; ".join(f"{system}: {shown(facts)}" for system, facts in found.items())
            for kind in ("clock", "cores"):
                seconds = {system: facts[kind] for system, facts in found.items()}
                name = f"{n}×{n}×{n}, {what}" if kind == "clock" else "… seconds of all cores"
                table.rows.append(Row(name, seconds, note if kind == "clock" else ""))
            print(n, what, found, file=sys.stderr, flush=True)
        write(table)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        system, flags, n, folder = json.loads(sys.argv[1])
        other_process(system, Case(*flags), n, Path(folder))
    else:
        main()
