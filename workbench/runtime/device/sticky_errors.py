"""Sticky errors, which break a device for good, and waiting for a device.

**Sticky errors** are reported in full by the call that met them, in a sentence by later ones. After some errors (an
illegal address, a failed assert of a kernel) a context answers nothing else. CUDA then gives the same status to every
call, whatever it was for, so what a later call was doing says nothing: the first error does.

**Waiting** asks the device whether it is done, in place of a call that may never return, so that an interrupt can end
it. What was queued goes on: the driver has no way to stop it. So the interrupt says what the device still does.
"""

from __future__ import annotations

import linecache
import os
import re
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from workbench.errors import DeviceError
from workbench.forks import fork_safe_lock
from workbench.runtime.device.call_site import call_site
from workbench.source import Location, Source

STICKY = {
    "CUDA_ERROR_ECC_UNCORRECTABLE": 214,
    "CUDA_ERROR_NVLINK_UNCORRECTABLE": 219,
    "CUDA_ERROR_ILLEGAL_ADDRESS": 700,
    "CUDA_ERROR_LAUNCH_TIMEOUT": 702,
    "CUDA_ERROR_ASSERT": 710,
    "CUDA_ERROR_HARDWARE_STACK_ERROR": 714,
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": 715,
    "CUDA_ERROR_MISALIGNED_ADDRESS": 716,
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": 717,
    "CUDA_ERROR_INVALID_PC": 718,
    "CUDA_ERROR_LAUNCH_FAILED": 719,
}
"""CUresult values, by name, after which a context answers nothing else, as the CUDA driver's manual says of each."""
_LABEL = re.compile(r"CUDA_ERROR_\w+")
ADVICE = "Restart the notebook's kernel, or the process; to find the fault, launch with checks=True."
RESET = 'wb.reset_device("{}") makes it usable again; to find the fault, launch with checks=True.'
"""The advice for a device that can be reset."""


class Broken(msgspec.Struct, frozen=True):
    """The error that broke a device.

    Attributes:
        label: the name of CUDA's status.
        location: the user's line that met it; None if not known.
        last: the name of the last launch; "" if there was none.
        why: what the driver says of the status, in parentheses.
    """

    label: str
    location: Location | None
    last: str
    why: str = ""


class Breakage:
    """The broken devices of a driver, and the last launch on each device, which is the likely cause.

    Attributes:
        resets: whether `Driver.reset` makes a broken device usable again.
        devices: the first error of each broken device, by number.
        last: the name of the last launch on each device, by number.
    """

    def __init__(self, label: Callable[[int], str] = "cuda:{}".format, resets: bool = False) -> None:
        """Begin without broken devices; `label` returns a device's name for messages."""
        self._label = label
        self.resets = resets
        self.devices: dict[int, Broken] = {}
        self.last: dict[int, str] = {}
        self._lock = fork_safe_lock(self, "_lock")

    def _advice(self, index: int) -> str:
        """Return the advice for a broken device: reset it if that is possible, else restart the process."""
        return RESET.format(self._label(index)) if self.resets else ADVICE

    def check(self, index: int) -> None:
        """Raise an error if the device is broken.

        Raises:
            DeviceError: it is broken; the message names the first error, `location` its line.
        """
        broken = self.devices.get(index)
        if broken is not None:
            raise self._error_of(index, broken)

    def _error_of(self, index: int, broken: Broken) -> DeviceError:
        """Return the error of a call on a device that was broken before."""
        since = " since this line" if broken.location is not None else ""
        after = f", after a launch of {broken.last}" if broken.last else ""
        return DeviceError(
            f"{self._label(index)} is broken{since} ({broken.label}{after}){broken.why}.",
            broken.location,
            self._advice(index),
            status=STICKY[broken.label],
        )

    def met(self, index: int | None, doing: str, text: str, why: str = "") -> DeviceError | None:
        """Return the error of a call that CUDA answered with a status that breaks a device, which is noted; else None.

        For a device that was broken before, it is the error that `check` raises.

        Args:
            index: the device that was used; None if not known, so nothing is noted.
            doing: the beginning of the sentence: what was refused.
            text: contains the name of the status.
            why: what the driver says of the status, in parentheses.
        """
        name = _LABEL.search(text)
        label = name.group() if name else ""
        if index is None or label not in STICKY:
            return None
        with self._lock:
            if index not in self.devices:
                last = self.last.get(index, "")
                self.devices[index] = Broken(label, _user_line(), last, why)
                what = f"; launched last: {last}" if last else ""
                extent = "" if self.resets else " for the whole process"
                return DeviceError(
                    f"{doing}: {label}{why}. This has broken {self._label(index)}{extent}{what}.",
                    advice=self._advice(index),
                    status=STICKY[label],
                )
        return self._error_of(index, self.devices[index])


def _user_line() -> Location | None:
    """Return the user's line that is running; None if there is none."""
    site = call_site()
    if site is None:
        return None
    text = "".join(linecache.getlines(site.filename))
    return Location(Source(text, os.path.basename(site.filename), site.filename), site.line)


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

    def use(self, index: int) -> None:
        """Make the device current in this thread."""
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
    driver.use(index)
    api, handle = driver.api, driver.api.CUstream(LEGACY)
    status, *events = api.cuEventCreate(_UNTIMED)
    if status != api.CUresult.CUDA_SUCCESS:
        return
    try:
        if api.cuEventRecord(events[0], handle)[0] == api.CUresult.CUDA_SUCCESS:
            wait_until(driver, index, "cuEventQuery", events[0])
    finally:
        api.cuEventDestroy(events[0])


LEGACY = 1
"""CU_STREAM_LEGACY: the default stream of the device that is current, for which all blocking ones wait."""
_UNTIMED = 2
"""CU_EVENT_DISABLE_TIMING."""
