"""A captured graph against the same launches one by one, and against a CUDA graph made by hand. Needs a CUDA device."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from on_device import DEVICE, core_kernel, the_driver

import workbench as wb
from workbench.runtime.device.driver import Driver

CELL = """
def saxpy(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = a * x[i] + y[i]
"""
LAUNCHES, ROUNDS, REPEAT = 100, 20, 50


def seconds(gpu: Driver, run: Callable[[], Any]) -> float:
    """Median time of one run, the device's work included."""
    times = []
    for _ in range(ROUNDS):
        gpu.synchronize(0)
        started = time.perf_counter()
        for _ in range(REPEAT):
            run()
        gpu.synchronize(0)
        times.append((time.perf_counter() - started) / REPEAT)
    return statistics.median(times)


def by_hand(gpu: Driver, x: int, y: int, count: int) -> Callable[[], Any]:
    """The same arithmetic as a CUDA graph, captured from cuda.core launches."""
    import cuda.core as core

    text = (
        'extern "C" __global__ void plain(float a, float* x, float* y, int n) {'
        " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }"
    )
    device, kernel = core_kernel(gpu, text, "plain")
    config = core.LaunchConfig(grid=-(-count // 256), block=256)
    builder = device.create_graph_builder()
    builder.begin_building()
    for _ in range(LAUNCHES):
        core.launch(builder, config, kernel, np.float32(0.5), x, y, np.int32(count))
    graph = builder.end_building().complete()
    stream = device.default_stream
    return lambda: graph.launch(stream)


def measured(gpu: Driver, count: int) -> dict[str, float]:
    """Seconds of LAUNCHES launches over `count` threads, each way."""
    saxpy = wb.build_cell(CELL, {}, backend="cpu").names["saxpy"]
    x, y = (wb.zeros(count, float, device=DEVICE) for _ in range(2))

    def one_by_one() -> None:
        for _ in range(LAUNCHES):
            wb.launch(saxpy, count, [0.5, x, y])

    with wb.capture() as graph:
        one_by_one()
    return {
        "graph": seconds(gpu, graph.launch),
        "one by one": seconds(gpu, one_by_one),
        "graph by hand": seconds(gpu, by_hand(gpu, x.address, y.address, count)),
    }


def main() -> None:
    """Measure and print a table."""
    gpu = the_driver()
    for count in (1, 1 << 12, 1 << 20):
        found = measured(gpu, count)
        print(f"{LAUNCHES} launches over {count:,}")
        for name, value in found.items():
            print(f"  {name:<14} {value * 1e6:9.1f} µs  {value / found['graph by hand']:6.2f} × by hand")


if __name__ == "__main__":
    main()
