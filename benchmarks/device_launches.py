"""What a launch on a GPU costs the host: kernels over one element, on a stand-in for the driver whose calls do nothing.

Beside them the same launch on the CPU, in the same run: ratios, and no times of a GPU.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from measure import Row, Table, clock, take_turns, write

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.cuda_driver.stand_in import library

library()  # this process's driver, before anything asks for CUDA

import workbench as wb  # noqa: E402

ROUNDS = 40
REPEAT = 300
CPU = "launch(kernel, …) on the CPU"
TEXT = 'extern "C" __global__ void text(float a, const float* x, float* y) { y[threadIdx.x] = a * x[threadIdx.x]; }'


@wb.kernel
def touch(a: float, x: wb.array(dtype=float), y: wb.array(dtype=float)):
    """The smallest kernel with a number and two arrays."""
    i = wb.tid()
    y[i] = a * x[i]


@wb.kernel
def touch2d(a: float, x: wb.array2d(dtype=float), y: wb.array2d(dtype=float)):
    """The same over two dimensions."""
    i, j = wb.tid()
    y[i, j] = a * x[i, j]


def arrays(device: str, *shape: int) -> tuple[wb.array, wb.array]:
    """Two arrays of float32."""
    return wb.zeros(shape, float, device=device), wb.zeros(shape, float, device=device)


def cases() -> dict[str, Callable[[], object]]:
    """The launches by what they are."""
    (x, y), (gx, gy), (hx, hy) = arrays("cpu", 1), arrays("cuda:0", 1), arrays("cuda:0", 1, 1)
    stream, text = wb.Stream("cuda:0"), wb.cuda_module(TEXT)["text"]
    kept = wb.launch(touch, 1, [2.0, gx], [gy], record_cmd=True)
    on_cpu = wb.launch(touch, 1, [2.0, x], [y], record_cmd=True)
    with wb.capture() as graph:
        wb.launch(touch, 1, [2.0, gx], [gy])
    assert kept is not None and on_cpu is not None
    return {
        CPU: lambda: wb.launch(touch, 1, [2.0, x], [y]),
        "launch(kernel, …)": lambda: wb.launch(touch, 1, [2.0, gx], [gy]),
        "launch(kernel, …), 2-D": lambda: wb.launch(touch2d, (1, 1), [2.0, hx], [hy]),
        "launch(…, stream=)": lambda: wb.launch(touch, 1, [2.0, gx], [gy], stream=stream),
        "launch(…, block_dim=128)": lambda: wb.launch(touch, 1, [2.0, gx], [gy], block_dim=128),
        "CUDA C++: text[1](…)": lambda: text[1](2.0, gx, gy),
        "Launch.launch() on the CPU": on_cpu.launch,
        "Launch.launch()": kept.launch,
        "graph.launch()": graph.launch,
    }


def main() -> None:
    """Time them in turns, and write the table."""
    title = "Processor time of a launch over one element, on a driver whose calls do nothing; the machine was loaded"
    table = Table("device_launches", title, ROUNDS)
    found = take_turns({name: clock(work, REPEAT, time.process_time) for name, work in cases().items()}, ROUNDS)
    for name, seconds in found.items():
        note = "" if name == CPU else f"{seconds / found[CPU]:.2f} of that on the CPU"
        table.rows.append(Row(name, {"workbench": seconds}, note))
    write(table)


if __name__ == "__main__":
    main()
