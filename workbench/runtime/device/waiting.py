"""Waiting for a device so that an interrupt can end it: asking whether it is done, not a call that may never return.

What was queued goes on: the driver has no way to stop it. So the interrupt says what the device still does.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

from workbench.runtime.device.sticky_errors import Breakage

EAGER = 100e-6
"""Seconds during which the device is asked again without a pause: most waits are short."""
LONGEST = 1e-3
"""The longest pause between two questions, in seconds."""


class Waited(Protocol):
    """The part of a `Driver` that waiting needs."""

    breakage: Breakage

    @property
    def api(self) -> Any:
        """The module `cuda.bindings.driver`."""
        ...

    def label(self, index: int) -> str:
        """Return the name of a device in messages."""
        ...

    def use(self, index: int) -> Any:
        """Make the device current in this thread, and return it."""
        ...


def wait_until(driver: Waited, index: int, function: str, handle: Any) -> None:
    """Wait until the driver's answer about a handle is something other than "not ready".

    An error in the answer is left for the next call to report.

    Args:
        driver: the driver.
        index: the device.
        function: the driver's function that asks: `cuStreamQuery` or `cuEventQuery`.
        handle: the stream or event.

    Raises:
        KeyboardInterrupt: with what the device still does; or what else a signal's handler raises.
    """
    ask, not_ready = getattr(driver.api, function), driver.api.CUresult.CUDA_ERROR_NOT_READY
    started, pause = time.perf_counter(), 20e-6
    try:
        while ask(handle)[0] == not_ready:
            if time.perf_counter() - started > EAGER:
                time.sleep(pause)
                pause = min(2 * pause, LONGEST)
    except KeyboardInterrupt as error:
        last = driver.breakage.last.get(index)
        work = f"; the last queued launch is of {last}" if last else ""
        error.args = error.args or (
            f"Waiting for {driver.label(index)} was stopped after {time.perf_counter() - started:.1f} s. "
            f"The device continues with what was queued{work}.",
        )
        raise


def wait_until_idle(driver: Waited, index: int) -> None:
    """Wait until a device's default stream, for which blocking ones wait, has done what is queued so far.

    If the driver cannot create an event, it returns at once, and the next call reports the reason.

    Raises:
        KeyboardInterrupt: with what the device still does; or what else a signal's handler raises.
    """
    api, handle = driver.api, driver.use(index).default_stream.handle
    status, *events = api.cuEventCreate(_UNTIMED)
    if status != api.CUresult.CUDA_SUCCESS:
        return
    try:
        if api.cuEventRecord(events[0], handle)[0] == api.CUresult.CUDA_SUCCESS:
            wait_until(driver, index, "cuEventQuery", events[0])
    finally:
        api.cuEventDestroy(events[0])


_UNTIMED = 2
"""CU_EVENT_DISABLE_TIMING."""
