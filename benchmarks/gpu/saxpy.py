"""Bandwidth of simple kernels against a device copy, and the host's cost of a launch. Needs a CUDA device."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from on_device import DEVICE, core_kernel, device_seconds, median, the_driver, title

import workbench as wb
from workbench.runtime.device.driver import Driver

CELL = """
def saxpy(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = a * x[i] + y[i]

def blur(image: array2d[float], out: array2d[float]):
    i, j = tid()
    total = 0.0
    for di in range(-1, 2):
        for dj in range(-1, 2):
            total += image[clamp(i + di, 0, image.shape[0] - 1), clamp(j + dj, 0, image.shape[1] - 1)]
    out[i, j] = total / 9.0
"""
PLAIN = 'extern "C" __global__ void plain(float a, float* x, float* y, int n) { y[0] = a * x[0] + y[0]; }'
N = 1 << 28
SIDE = 1 << 14
QUEUED = 1000


def host_seconds(gpu: Driver, run: Callable[[], Any]) -> float:
    """Median host time of one of many queued runs."""

    def once() -> float:
        gpu.synchronize(0)
        start = time.perf_counter()
        for _ in range(QUEUED):
            run()
        return (time.perf_counter() - start) / QUEUED

    return median(once)


def bandwidths(gpu: Driver, kernels: dict[str, Any]) -> dict[str, float]:
    """Bytes per second of each row."""
    x, y = (wb.full(N, 1.0, float, device=DEVICE) for _ in range(2))
    image, out = (wb.full((SIDE, SIDE), 1.0, float, device=DEVICE) for _ in range(2))
    found = {"device copy": 2 * 4 * N / device_seconds(gpu, lambda: gpu.copy(y.address, x.address, 4 * N, 0))}
    saxpy = wb.launch(kernels["saxpy"], N, [2.0, x], [y], record_cmd=True)
    found["saxpy"] = 3 * 4 * N / device_seconds(gpu, saxpy.launch)
    blur = wb.launch(kernels["blur"], (SIDE, SIDE), [image], [out], record_cmd=True)
    found["blur 3×3"] = 2 * 4 * SIDE * SIDE / device_seconds(gpu, blur.launch)
    adj_a, adj_x = wb.zeros(1, float, device=DEVICE), wb.zeros(N, float, device=DEVICE)
    back = wb.launch(kernels["saxpy"], N, [2.0, x], [y], adjoint=True, adj_inputs=[adj_a, adj_x], adj_outputs=[y],
                     record_cmd=True)  # fmt: skip
    found["adjoint of saxpy"] = 5 * 4 * N / device_seconds(gpu, back.launch)
    return found


def launches(gpu: Driver, kernels: dict[str, Any]) -> dict[str, float]:
    """Host seconds per launch of each row."""
    x, y = (wb.zeros(1, float, device=DEVICE) for _ in range(2))
    kept = wb.launch(kernels["saxpy"], 1, [2.0, x], [y], record_cmd=True)
    cupy = cupy_launch()
    return {
        "wb.launch": host_seconds(gpu, lambda: wb.launch(kernels["saxpy"], 1, [2.0, x], [y])),
        "Launch.launch()": host_seconds(gpu, kept.launch),
        "cuda.core launch": host_seconds(gpu, core_launch(gpu, x.address, y.address)),
        **({"CuPy launch": host_seconds(gpu, cupy)} if cupy else {}),
    }


def cupy_launch() -> Callable[[], None] | None:
    """The same through CuPy; None if it is not installed."""
    try:
        import cupy  # type: ignore[import-not-found]
    except ImportError:
        return None
    kernel, number = cupy.RawKernel(PLAIN, "plain"), np.float32(2.0)
    x, y, count = cupy.zeros(1, np.float32), cupy.zeros(1, np.float32), np.int32(1)
    return lambda: kernel((1,), (256,), (number, x, y, count))


def core_launch(gpu: Driver, x: int, y: int) -> Callable[[], None]:
    """The same arithmetic through cuda.core's own compiler-independent path: plain pointers and numbers."""
    import cuda.core as core

    device, kernel = core_kernel(gpu, PLAIN, "plain")
    config = core.LaunchConfig(grid=1, block=256)
    stream, number, count = device.default_stream, np.float32(2.0), np.int32(1)
    return lambda: core.launch(stream, config, kernel, number, x, y, count)


def main() -> None:
    """Measure, print a table, and write JSON where asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", type=Path, help="write the numbers to this file")
    asked = options.parse_args()
    gpu = the_driver()
    kernels = wb.build_cell(CELL, {}, backend="cuda").names
    speeds, costs = bandwidths(gpu, kernels), launches(gpu, kernels)
    print(title(gpu))
    for name, value in speeds.items():
        print(f"  {name:<18} {value / 1e9:9.1f} GB/s  {value / speeds['device copy']:6.1%} of a copy")
    for name, value in costs.items():
        print(f"  {name:<18} {value * 1e6:9.2f} µs    {value / costs['cuda.core launch']:6.2f} × cuda.core")
    if asked.json:
        facts = {"device": gpu.name(0), "arch": gpu.arch(0), "bytes_a_second": speeds, "seconds_a_launch": costs}
        asked.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
