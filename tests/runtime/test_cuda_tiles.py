"""Kernels of tiles on the way to a CUDA device, on the mock driver: blocks, their size, their shared memory."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb

pytest.importorskip("cuda.bindings.driver")
TESTS = Path(__file__).parents[1]
for folder in ("mockdriver", "hostshim"):
    if str(TESTS / folder) not in sys.path:
        sys.path.insert(0, str(TESTS / folder))


def _loaded() -> Any:
    spec = importlib.util.spec_from_file_location("test_gpu_tiles_on_host", TESTS / "gpu/test_gpu_tiles.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GPU = _loaded()


def _cases() -> list[Any]:
    """Every test of tiles for a device, once for each of its parameters."""
    cases = []
    for name, test in inspect.getmembers(GPU, inspect.isfunction):
        if name.startswith("test_"):
            marks = [m for m in getattr(test, "pytestmark", []) if m.name == "parametrize"]
            values = marks[0].args[1] if marks else [None]
            cases += [pytest.param(test, v, id=f"{name}-{v}" if marks else name) for v in values]
    return cases


@pytest.fixture
def mock(monkeypatch: pytest.MonkeyPatch, need: Callable[[str], str]) -> Iterator[Any]:
    need("g++")
    import emulated

    with emulated.device(monkeypatch) as made:
        yield made


@pytest.mark.parametrize(("test", "value"), _cases())
def test_what_a_device_is_asked_to_do(mock: Any, test: Any, value: Any) -> None:
    test("cuda:0", *([] if value is None else [value]))


def test_a_launch_has_the_kernel_s_blocks(mock: Any) -> None:
    x = wb.array(np.arange(3000, dtype=np.float32), device="cuda:0")
    y = wb.zeros(3, float, device="cuda:0")
    wb.launch_tiled(GPU.total, dim=[3], inputs=[x, y], block_dim=96)
    assert mock.launches == [(3, 96)]


def test_shared_memory_is_allowed_once_and_asked_for_at_each_launch(mock: Any) -> None:
    x = wb.zeros(40000, float, device="cuda:0")
    y = wb.zeros(40000, float, device="cuda:0")
    for _ in range(2):
        wb.launch_tiled(GPU.wide, dim=[2], inputs=[x, y], block_dim=64)
    allowed = [call[2] for call in mock.calls if call[0] == "cuKernelSetAttribute"]
    asked = [call[8] for call in mock.calls if call[0] == "cuLaunchKernel"]
    assert allowed == [80000] and asked == [80000, 80000]
