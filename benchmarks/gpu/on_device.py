"""What the GPU benchmarks share: the device, times by its events, a kernel through cuda.core alone to compare with."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from typing import Any

from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import build
from workbench.runtime.device.driver import Driver, driver, why_no_cuda
from workbench.runtime.device.streams import moment

DEVICE = "cuda:0"
RUNS, WARM_UP = 20, 3


def the_driver() -> Driver:
    """The driver; where there is no device, the process ends with one line that says so."""
    found = driver()
    if found is None:
        print(f"Nothing measured: this benchmark needs a CUDA device. {why_no_cuda()}")
        sys.exit(0)
    return found


def title(gpu: Driver) -> str:
    """The device's name and architecture."""
    return f"{gpu.name(0)} ({gpu.arch(0)})"


def median(once: Callable[[], float]) -> float:
    """The median of what `once` gives in RUNS calls, after WARM_UP that are not counted."""
    return statistics.median([once() for _ in range(WARM_UP + RUNS)][WARM_UP:])


def device_seconds(gpu: Driver, run: Callable[[], Any]) -> float:
    """Median time of one run on the device, by events."""

    def once() -> float:
        before = moment(DEVICE)
        run()
        return (moment(DEVICE) - before) / 1e3

    return median(once)


def core_kernel(gpu: Driver, text: str, name: str) -> tuple[Any, Any]:
    """`cuda.core`'s device and its kernel of a CUDA C++ text."""
    import cuda.core as core

    device = core.Device(0)
    device.set_current()
    return device, core.ObjectCode.from_cubin(build(text, Options(), gpu.arch(0), "cubin").image).get_kernel(name)
