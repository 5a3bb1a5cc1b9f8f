"""The benchmarks of a GPU, walked on the mock driver with small sizes: they run to their end, whatever the numbers."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.runtime.device.driver import devices, driver

pytest.importorskip("cuda.bindings.driver")
ROOT = Path(__file__).parents[3]
BENCHMARKS = sorted((ROOT / "benchmarks/gpu").glob("*.py"))
SHARED = "on_device"


@pytest.fixture
def mock(monkeypatch: pytest.MonkeyPatch, need: Callable[[str], str]) -> Iterator[Any]:
    need("nvrtc")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks/gpu"))
    from tests.support.devices import mock_device

    shared = importlib.import_module(SHARED)
    monkeypatch.setattr(shared, "RUNS", 1)
    monkeypatch.setattr(shared, "WARM_UP", 0)

    with mock_device.device(monkeypatch) as made:
        yield made


def module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"gpu_benchmark_{name}", ROOT / f"benchmarks/gpu/{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in BENCHMARKS if p.stem != SHARED], ids=lambda p: p.stem)
def test_without_a_device_it_says_so(path: Path) -> None:
    if devices():
        pytest.skip("this machine has a CUDA device")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=900, cwd=ROOT)
    assert done.returncode == 0 and done.stdout.startswith("Nothing measured: this benchmark needs a CUDA device.")


def test_grids_reduction_and_arithmetic(mock: Any) -> None:
    benchmark = module("kernels")
    speeds = {"copy": benchmark.copy_speed(driver(), 100), **benchmark.grids(driver(), side=8, side_3d=4)}
    rates = benchmark.arithmetic(driver(), bodies=10, count=20, terms=3)
    speeds["reduction"] = benchmark.reduction_speed(driver(), 100)
    assert list(speeds) == ["copy", "stencil", "axpy2d", "heat3d", "reduction"]
    assert list(rates) == ["n-body", "poly", "n-body, fast_math", "poly, fast_math"]
    assert all(value > 0 for value in (*speeds.values(), *rates.values()))
    assert len(mock.launches) >= 8


def test_saxpy_and_its_launches(mock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = module("saxpy")
    for name, value in (("QUEUED", 2), ("N", 64), ("SIDE", 8)):
        monkeypatch.setattr(benchmark, name, value)
    monkeypatch.setattr(benchmark, "core_launch", lambda gpu, x, y: lambda: None)
    monkeypatch.setattr(benchmark, "cupy_launch", lambda: None)
    kernels = __import__("workbench").build_cell(benchmark.CELL, {}, backend="cpu").names
    speeds, costs = benchmark.bandwidths(driver(), kernels), benchmark.launches(driver(), kernels)
    assert set(speeds) == {"device copy", "saxpy", "blur 3×3", "adjoint of saxpy"}
    assert set(costs) == {"wb.launch", "Launch.launch()", "cuda.core launch"}


@pytest.mark.slow
def test_a_tiled_product(mock: Any) -> None:
    benchmark = module("tiles")
    rates, back = (benchmark.measured(driver(), side=40, adjoint=adjoint) for adjoint in (False, True))
    assert list(rates) == list(back) == ["float32", "tf32", "float16", "bfloat16"]
    assert all(rate > 0 for rate in (*rates.values(), *back.values()))
    assert mock.launches == [(1, benchmark.BLOCK)] * 12
