"""Work that a library queued in a stream, as one node of a graph: CUDA captures it, which sees all that enters it.

Only CUDA knows what is inside, so which arrays it reads and writes is what the user says; where nothing is said it runs
after all that was captured before it and before all that comes after.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from workbench.errors import DeviceError, LaunchError
from workbench.runtime.arrays.array import array
from workbench.runtime.device.device import Device, driver_of
from workbench.runtime.device.driver import Driver
from workbench.runtime.device.streams import CapturedStream, Stream
from workbench.runtime.work import Access, Work

_RELAXED = 2
"""CU_STREAM_CAPTURE_MODE_RELAXED: a library may still ask for memory while its work is captured."""


class CudaGraph:
    """CUDA's graph of a library's work, destroyed when no node uses it any more."""

    def __init__(self, driver: Driver, handle: Any) -> None:
        """Take over the graph of this handle."""
        self._driver, self.handle = driver, handle

    def __del__(self) -> None:
        """Destroy CUDA's graph; errors are ignored."""
        with suppress(Exception):  # at the interpreter's end there may be no driver any more
            self._driver.call("cuGraphDestroy", self.handle)


class Library(Work, frozen=True, eq=False, dict=True):
    """Work that a library queued in a stream, captured by CUDA as a graph.

    Attributes:
        label: what pictures call it.
        captured: CUDA's graph of it.
        where: the device.
        used: the arrays that the user says it uses; empty: nothing is known.
    """

    label: str
    captured: CudaGraph
    where: Device
    used: tuple[Access, ...]

    @property
    def name(self) -> str:
        """The name in pictures."""
        return self.label

    @property
    def size(self) -> tuple[int, ...]:
        """Empty: only CUDA knows what is inside."""
        return ()

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return self.where

    @property
    def accesses(self) -> Sequence[Access]:
        """The arrays that the user says it uses."""
        return self.used

    @property
    def is_barrier(self) -> bool:
        """Return whether nothing is known of the arrays that the work uses, so that it stays where it is."""
        return not self.used

    def launch(self) -> None:
        """Raise an error: it runs only as a node of its graph.

        Raises:
            LaunchError: always.
        """
        raise LaunchError(
            f"{self.label} is work of a library in a graph, and cannot be looked into.",
            advice="Launch the graph without a tape, jvp, jax_callable or find_nan around it.",
        )

    def on(self, instead: Callable[[Any], Any]) -> Work:
        """Return this node, if it uses none of the arrays that are replaced.

        Raises:
            LaunchError: it does; a library's work cannot be changed.
        """
        for access in self.used:
            if instead(access.array) is not access.array:
                raise LaunchError(
                    f"{access.name} is used by work of a library ({self.label}), which cannot be given another array.",
                    parameter=access.name,
                    advice="Capture the graph again.",
                )
        return self


@contextmanager
def foreign_work(
    device: Device, reads: Sequence[array], writes: Sequence[array], name: str, keep: Callable[[Library], None]
) -> Generator[Stream]:
    """Capture what is queued in the stream that this yields; it becomes one node of a graph.

    Args:
        device: the GPU.
        reads, writes: the arrays that the work reads, and those that it writes.
        name: what pictures and messages call it.
        keep: is passed the node when the `with` ends.

    Raises:
        DeviceError: CUDA could not capture it; `keep` is not called.
    """
    driver = driver_of(device)
    stream = CapturedStream(device)
    driver.call("cuStreamBeginCapture", stream.handle, driver.api.CUstreamCaptureMode(_RELAXED))
    try:
        yield stream
    except BaseException:
        with suppress(DeviceError):
            driver.call("cuGraphDestroy", driver.call("cuStreamEndCapture", stream.handle))
        raise
    try:
        with driver.keeping_current():
            driver.use(device.index)
            handle = driver.call("cuStreamEndCapture", stream.handle)
    except DeviceError as problem:
        raise DeviceError(
            f"What {name} did in the stream cannot be captured: {problem.message}",
            status=problem.status,
            advice="It may have waited for the stream, or used another one; call it before or after g.launch().",
        ) from None
    named = [Access(a, f"{name}.reads{k}", True, False) for k, a in enumerate(reads)]
    used = (*named, *_written(writes, name))
    keep(Library(name, CudaGraph(driver, handle), device, used))


def _written(writes: Sequence[array], name: str) -> list[Access]:
    """Return an access for each array that a library's work writes, which counts as read too, named after the work."""
    return [Access(a, f"{name}.writes{k}", True, True) for k, a in enumerate(writes)]
