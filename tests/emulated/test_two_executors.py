"""The compiled form of PTX and the interpreter say the same, whatever kernel they run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.interpreted import load_interpreted
from workbench.api.builds import build
from workbench.runtime.device import driver
from workbench.runtime.emulated.execution import load

CELL = """
def mixed(n: array[int], x: array[float], y: array[float]):
    i = tid()
    k = n[i]
    total = 0.0
    while k > 1:
        if k % 2 == 0:
            k = k // 2
        else:
            k = 3 * k + 1
        total += sqrt(x[i]) / (1.0 + total)
    y[i] = total

def halves(x: array[float16], y: array[float16]):
    i = tid()
    y[i] = x[i] * x[i] + float16(1.5)

def doubles(x: array[float64], y: array[float64]):
    i = tid()
    y[i] = x[i] / 3.0 - floor(x[i]) * x[i]

def integers(a: array[int], b: array[uint64]):
    i = tid()
    b[i] = (uint64(a[i]) * uint64(2654435761)) >> uint64(a[i] & 31)

def histogram(a: array[int], bins: array[int]):
    i = tid()
    atomic_add(bins, a[i] & 7, 1)
"""
SHUFFLES = """
__global__ void warps(const float* x, float* y, unsigned* masks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
    y[i] = v;
    masks[i] = __ballot_sync(0xffffffffu, x[i] > 0.5f);
}
__global__ void tables(const int* at, float* y) {
    float local[8];
    for (int k = 0; k < 8; k++) local[k] = k * 0.5f;
    local[at[threadIdx.x] & 7] += 100.0f;
    float total = 0.0f;
    for (int k = 0; k < 8; k++) total += local[(k * 3 + at[threadIdx.x]) & 7] * k;
    y[threadIdx.x] = total;
}
"""


def results() -> list[np.ndarray]:
    """What a number of kernels leave, on whatever the emulated device is."""
    cell = wb.build_cell(CELL, {}, backend="cpu", compile=False).names
    chance, n = np.random.default_rng(4), 300
    x, k = chance.random(n).astype("f4"), chance.integers(1, 500, n).astype("i4")
    found = []

    def on(values: Any) -> wb.array:
        return wb.array(values, device="emulated")

    for name, inputs, output in (
        ("mixed", [k, x], np.zeros(n, "f4")),
        ("halves", [x.astype("f2")], np.zeros(n, "f2")),
        ("doubles", [x.astype("f8") * 9], np.zeros(n, "f8")),
        ("integers", [k], np.zeros(n, "u8")),
        ("histogram", [k], np.zeros(8, "i4")),
    ):
        out = on(output)
        wb.launch(cell[name], n, [on(v) for v in inputs], [out])
        found.append(out.numpy())
    module = wb.cuda_module(SHUFFLES, run="emulated")
    y, masks = on(np.zeros(64, "f4")), on(np.zeros(64, "u4"))
    module["warps"][64](on(x[:64]), y, masks, block_dim=32)
    sums = on(np.zeros(32, "f4"))
    module["tables"][32](on(k[:32]), sums, block_dim=32)
    return [*found, y.numpy(), masks.numpy(), sums.numpy()]


def test_both_give_the_same_bits(need: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    need("nvrtc")
    given = []
    for how in (load, load_interpreted):
        monkeypatch.setattr(driver, "_started", [driver.new_driver(how)])
        monkeypatch.setattr(build, "_DEVICE_CODE", {})
        given.append(results())
    for compiled, interpreted in zip(*given, strict=True):
        np.testing.assert_array_equal(compiled, interpreted)
    assert given[0][4].sum() == 300


@pytest.mark.parametrize("name", ["__fadd_rz(a, b)", "__fmul_rd(a, b)", "__fmaf_ru(a, b, 1.0f)", "__fdiv_rz(a, b)"])
def test_the_interpreter_refuses_directed_rounding_by_name(name: str, need: Any, monkeypatch: Any) -> None:
    need("nvrtc")
    monkeypatch.setattr(driver, "_started", [driver.new_driver(load_interpreted)])
    monkeypatch.setattr(build, "_DEVICE_CODE", {})
    x = wb.ones(1, float, device="emulated")
    text = f"__global__ void k(float* x) {{ float a = x[0], b = x[0] / 3.0f; x[0] = {name}; }}"
    with pytest.raises(wb.DeviceError, match=r"(add|mul|fma|div)\.(rz|rm|rp)\S* is not interpreted"):
        wb.cuda_module(text, run="emulated")["k"][1](x, block_dim=1)
        x.numpy()
