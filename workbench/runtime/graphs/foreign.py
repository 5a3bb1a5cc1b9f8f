"""Work that a library queued in a stream, as one node of a graph: CUDA captures it, which sees all that enters it.

Only CUDA knows what is inside, so which arrays it reads and writes is what the user says; where nothing is said it runs
after all that was captured before it and before all that comes after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from workbench.errors import DeviceError, LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import Device, driver_of
from workbench.runtime.device.driver import Driver
from workbench.runtime.device.streams import Stream
from workbench.runtime.graphs.nodes import Access, Node

_RELAXED = 2
"""CU_STREAM_CAPTURE_MODE_RELAXED: a library may still ask for memory while its work is captured."""


class ForeignNode(Node):
    """Work of a library; `handle` is CUDA's graph of it."""

    kind = "library"

    def __init__(self, found: Driver, handle: Any, device: Device, accesses: Sequence[Access], name: str) -> None:
        self._driver, self.handle = found, handle
        self._device, self._accesses, self._name = device, tuple(accesses), name

    @property
    def device(self) -> Device:
        """Where it runs."""
        return self._device

    @property
    def name(self) -> str:
        """What pictures call it."""
        return self._name

    @property
    def accesses(self) -> Sequence[Access]:
        """The arrays that the user says it uses."""
        return self._accesses

    @property
    def is_barrier(self) -> bool:
        """Whether nothing is known of what it uses."""
        return not self._accesses

    def replace_arrays(self, instead: Callable[[Any], Any]) -> None:
        """Use other arrays.

        Raises:
            LaunchError: it uses one that is replaced; a library's work cannot be changed.
        """
        for access in self._accesses:
            if instead(access.array) is not access.array:
                raise LaunchError(
                    f"{access.name} is used by work of a library ({self._name}), which cannot be given another array.",
                    parameter=access.name, advice="Capture the graph again.",
                )  # fmt: skip

    def __del__(self) -> None:
        with suppress(Exception):  # at the interpreter's end there may be no driver any more
            self._driver.call("cuGraphDestroy", self.handle)


@contextmanager
def foreign_work(
    device: Device, reads: Sequence[array], writes: Sequence[array], name: str, keep: Callable[[ForeignNode], None]
) -> Iterator[Stream]:
    """A stream whose work inside the `with` becomes one node, handed to `keep`.

    Raises:
        DeviceError: CUDA could not capture it; nothing is kept.
    """
    found = driver_of(device)
    stream = Stream(device)
    found.call("cuStreamBeginCapture", stream.handle, found.api.CUstreamCaptureMode(_RELAXED))
    try:
        yield stream
    except BaseException:
        with suppress(DeviceError):
            found.call("cuGraphDestroy", found.call("cuStreamEndCapture", stream.handle))
        raise
    try:
        with found.keeping_current():
            found.use(device.index)
            handle = found.call("cuStreamEndCapture", stream.handle)
    except DeviceError as problem:
        raise DeviceError(
            f"What {name} did in the stream cannot be captured: {problem.message}", status=problem.status,
            advice="It may have waited for the stream, or used another one; call it before or after g.launch().",
        ) from None  # fmt: skip
    named = [Access(a, f"{name}.reads{k}", True, False) for k, a in enumerate(reads)]
    keep(ForeignNode(found, handle, device, [*named, *_written(writes, name)], name))


def _written(writes: Sequence[array], name: str) -> list[Access]:
    return [Access(a, f"{name}.writes{k}", True, True) for k, a in enumerate(writes)]
