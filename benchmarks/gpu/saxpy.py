"""Bandwidth of simple kernels against a device copy, and the host's cost of a launch. Needs a CUDA device."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from workbench.runtime.driver import Driver, driver, why_no_cuda

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
N = 1 << 28
SIDE = 1 << 14
RUNS, WARM_UP, QUEUED = 20, 3, 1000
DEVICE = "cuda:0"


def device_seconds(gpu: Driver, run: Callable[[], Any]) -> float:
    """Median time of one run on the device, by events."""
    times = []
    for turn in range(WARM_UP + RUNS):
        before = gpu.event(0)
        run()
        after = gpu.event(0)
        gpu.synchronize(0)
        if turn >= WARM_UP:
            times.append((after - before) / 1e3)
    return statistics.median(times)


def host_seconds(gpu: Driver, run: Callable[[], Any]) -> float:
    """Median host time of one of many queued runs."""
    times = []
    for turn in range(WARM_UP + RUNS):
        gpu.synchronize(0)
        start = time.perf_counter()
        for _ in range(QUEUED):
            run()
        if turn >= WARM_UP:
            times.append((time.perf_counter() - start) / QUEUED)
    return statistics.median(times)


def bandwidths(gpu: Driver, kernels: dict[str, Any]) -> dict[str, float]:
    """Bytes a second of each row."""
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
    """Host seconds a launch of each row."""
    x, y = (wb.zeros(1, float, device=DEVICE) for _ in range(2))
    kept = wb.launch(kernels["saxpy"], 1, [2.0, x], [y], record_cmd=True)
    return {
        "wb.launch": host_seconds(gpu, lambda: wb.launch(kernels["saxpy"], 1, [2.0, x], [y])),
        "Launch.launch()": host_seconds(gpu, kept.launch),
        "cuda.core launch": host_seconds(gpu, core_launch(gpu, x.address, y.address)),
    }


def core_launch(gpu: Driver, x: int, y: int) -> Callable[[], None]:
    """The same arithmetic through cuda.core's own compiler-independent path: plain pointers and numbers."""
    import cuda.core as core

    from workbench.backends.base import Options
    from workbench.backends.cuda.nvrtc import build

    text = 'extern "C" __global__ void plain(float a, float* x, float* y, int n) { y[0] = a * x[0] + y[0]; }'
    device = core.Device(0)
    device.set_current()
    kernel = core.ObjectCode.from_cubin(build(text, Options(), gpu.arch(0), "cubin").image).get_kernel("plain")
    config = core.LaunchConfig(grid=1, block=256)
    stream, number, count = device.default_stream, np.float32(2.0), np.int32(1)
    return lambda: core.launch(stream, config, kernel, number, x, y, count)


def main() -> None:
    """Measure, print a table, and write JSON where asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", type=Path, help="write the numbers to this file")
    asked = options.parse_args()
    gpu = driver()
    if gpu is None:
        print(f"Nothing measured: this benchmark needs a CUDA device. {why_no_cuda()}")
        sys.exit(0)
    kernels = wb.build_cell(CELL, {}, backend="cuda").names
    speeds, costs = bandwidths(gpu, kernels), launches(gpu, kernels)
    print(f"{gpu.name(0)} ({gpu.arch(0)})")
    for name, value in speeds.items():
        print(f"  {name:<18} {value / 1e9:9.1f} GB/s  {value / speeds['device copy']:6.1%} of a copy")
    for name, value in costs.items():
        print(f"  {name:<18} {value * 1e6:9.2f} µs    {value / costs['cuda.core launch']:6.2f} × cuda.core")
    if asked.json:
        facts = {"device": gpu.name(0), "arch": gpu.arch(0), "bytes_a_second": speeds, "seconds_a_launch": costs}
        asked.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
