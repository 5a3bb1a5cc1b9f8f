"""The maximum rates of this machine, measured with Workbench's own kernels: bytes and float operations per second.

A copy of arrays larger than the caches bounds what memory gives (as the STREAM benchmark does); a kernel that only
multiplies and adds in registers bounds arithmetic. Data that fits in a cache can be faster than the first number.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import msgspec

from workbench.api.builds.cell import build_cell
from workbench.api.launches.launch import launch
from workbench.builtins import FORMS, TABLE
from workbench.runtime.active_observers import unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.arrays.create import zeros
from workbench.runtime.device.device import Device, get_device
from workbench.runtime.device.streams import synchronize
from workbench.types import float32

ELEMENTS = {"cpu": 16 << 20, "cuda": 256 << 20}
"""float32 elements of each of the two arrays of the copy."""
CHAINS, LINKS, THREADS = 8, 32, 1 << 18
REPEAT = 9
_TEXT = "".join([
    "def copied(x: array[float32], y: array[float32]):\n    i = tid()\n    y[i] = x[i]\n\n",
    "def arithmetic(a: float32, y: array[float32]):\n    i = tid()\n    b = y[i]\n",
    *(f"    c{k} = b + {float(k)}\n" for k in range(CHAINS)),
    *(f"    c{k} = c{k} * a + b\n" for _ in range(LINKS) for k in range(CHAINS)),
    f"    y[i] = {' + '.join(f'c{k}' for k in range(CHAINS))}\n",
])  # fmt: skip


class Ceiling(msgspec.Struct, frozen=True):
    """The most that was measured: bytes per second, and operations on float32 per second."""

    device: Device
    bytes_per_second: float
    flops_per_second: float


def ceiling(device: Device | str | None = None) -> Ceiling:
    """Measure what a device can do at most; once per process, it takes some tenths of a second.

    Raises:
        DeviceError: there is no such device, or it has too little memory.
    """
    return _measured(get_device(device))


@functools.cache
def _measured(device: Device) -> Ceiling:
    language = {**FORMS, **TABLE, "array": array, "float32": float32}
    with unobserved():
        kernels = build_cell(
            _TEXT, {}, name="ceiling", fast_math=True, checks=False, compile=False, language=language
        ).kernels
        count = ELEMENTS[device.kind]
        x, y = zeros(count, device=device), zeros(count, device=device)
        copied = _best(device, lambda: launch(kernels["copied"], count, [x, y], device=device))
        small = y[:THREADS]
        worked = _best(device, lambda: launch(kernels["arithmetic"], THREADS, [0.5, small], device=device))
    flops = THREADS * CHAINS * (2 * LINKS + 1)
    return Ceiling(device, 2 * x.nbytes / copied, flops / worked)


def _best(device: Device, work: Callable[[], object]) -> float:
    """Return the shortest of a few runs, after a first run that does not count."""
    seconds: list[float] = []
    for _ in range(REPEAT + 1):
        synchronize(device)
        started = time.perf_counter()
        work()
        synchronize(device)
        seconds.append(time.perf_counter() - started)
    return min(seconds[1:])
