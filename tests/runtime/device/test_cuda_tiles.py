"""Kernels of tiles on the way to a CUDA device, on the mock driver: blocks, their size, their shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.gpu_tests import module

pytest.importorskip("cuda.bindings.driver")


@pytest.fixture
def gpu() -> Any:
    """Kernels that no earlier test has loaded onto its own mock driver."""
    return module("test_gpu_tiles")


def test_a_launch_has_the_kernel_s_blocks(mock: Any, gpu: Any) -> None:
    x = wb.array(np.arange(3000, dtype=np.float32), device="cuda:0")
    y = wb.zeros(3, float, device="cuda:0")
    wb.launch_tiled(gpu.total, dim=[3], inputs=[x, y], block_dim=96)
    wb.synchronize("cuda:0")
    assert mock.launches == [(3, 96)]


def test_shared_memory_is_allowed_once_and_asked_for_at_each_launch(mock: Any, gpu: Any) -> None:
    x = wb.zeros(40000, float, device="cuda:0")
    y = wb.zeros(40000, float, device="cuda:0")
    for _ in range(2):
        wb.launch_tiled(gpu.wide, dim=[2], inputs=[x, y], block_dim=512)
    allowed = [call[2] for call in mock.calls if call[0] == "cuKernelSetAttribute"]
    asked = [call[8] for call in mock.calls if call[0] == "cuLaunchKernel"]
    assert allowed == [80000] and asked == [80000, 80000]
