"""Devices that an error has broken for good: reported in full by the call that met it, in a sentence by later ones.

After some errors (an illegal address, a failed assert of a kernel) a context answers nothing else. CUDA then gives
the same status to every call, whatever it was for, so what a later call was doing says nothing: the first error does.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Callable

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
LABEL = re.compile(r"CUDA_ERROR_\w+")
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
            since = " since this line" if broken.location is not None else ""
            after = f", after a launch of {broken.last}" if broken.last else ""
            raise DeviceError(
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
        name = LABEL.search(text)
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
        try:
            self.check(index)
        except DeviceError as error:
            return error
        return None


def _user_line() -> Location | None:
    """Return the user's line that is running; None if there is none."""
    site = call_site()
    if site is None:
        return None
    text = "".join(linecache.getlines(site.filename))
    return Location(Source(text, os.path.basename(site.filename), site.filename), site.line)
