"""CUDA C++ kernels on the mock driver: grids, blocks, shared memory and parameters as the driver takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.mock_device import MockDriver

TEXT = """
__global__ void scale(float* x, float a, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) x[row * columns + column] *= a;
}
__global__ void scale_adjoint(float a, float* adj_x, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) adj_x[row * columns + column] *= a;
}
__global__ void reversed(const int* x, int* y) {
    extern __shared__ int s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
"""


@pytest.fixture
def device(mock: MockDriver) -> MockDriver:
    return mock


def on_device(values: Any, **more: Any) -> wb.array:
    return wb.array(np.asarray(values), device="cuda:0", **more)


def test_it_is_launched_taped_replayed_and_captured(device: MockDriver) -> None:
    module = wb.cuda_module(TEXT)
    x = on_device(np.ones((5, 7), np.float32), requires_grad=True)
    with wb.record() as rec, wb.Tape() as tape:
        wb.launch(module["scale"], (5, 7), inputs=[x, 3.0, 5, 7], block_dim=(2, 4))
    assert device.launches[-1] == (2 * 3, 8) and (x.numpy() == 3).all()
    tape.backward(grads={x: np.full((5, 7), 2, np.float32)})
    assert (x.grad.numpy() == 6).all()
    rec.replay()
    assert (x.numpy() == 9).all()
    with wb.capture() as graph:
        module["scale"][[5, 7]](x, 2.0, 5, 7, block_dim=(1, 32))
    graph.launch()
    graph.launch()
    assert (x.numpy() == 36).all() and device.launches[-1] == (5, 32)


def test_much_shared_memory_is_asked_for(device: MockDriver) -> None:
    module = wb.cuda_module(TEXT)
    x, y = on_device(np.arange(64, dtype=np.int32)), on_device(np.zeros(64, np.int32))
    module["reversed"][64](x, y, block_dim=64, shared=100 * 1024)
    assert (y.numpy() == np.arange(64)[::-1]).all()
    assert [c for c in device.calls if c[0] == "cuKernelSetAttribute"]
    with pytest.raises(wb.LaunchError, match=r"the launch is on the CPU\.  Pass arrays on the device"):
        module["reversed"][64](*(wb.zeros(64, dtype=wb.int32, device="cpu") for _ in "xy"), block_dim=64)
