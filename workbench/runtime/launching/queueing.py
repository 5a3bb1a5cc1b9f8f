"""Queueing a launch on a device: in order with other devices, and with what it leaves to be reported."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from workbench.errors import LaunchError
from workbench.runtime.device.device import Device
from workbench.runtime.device.peers import is_peer_access_enabled, let_device_wait, wait_for_device
from workbench.runtime.device.streams import Stream
from workbench.runtime.launching.executable import Executable
from workbench.runtime.launching.geometry import Block
from workbench.runtime.launching.pending_faults import settling

IN_ORDER: list[Callable[[], Any]] = []
"""Holds a function that returns the module which runs launches in the order of their threads.

That module has kernels, and so belongs to a package that this one may not import.
"""


def in_order() -> Any:
    """Return the module that runs launches in the order of their threads, imported on first use."""
    return IN_ORDER[-1]()


def queue(
    executable: Executable, dims: tuple[int, ...], arguments: Sequence[Any], block_dim: int | Block, stream: Any
) -> None:
    """Queue a launch on its device.

    Raises:
        DeviceError: the device refused it.
        LaunchError: an array lies on another device that this one may no longer reach.
        KernelFault: so many launches with checks are queued that they had to be waited for, and one met a fault.
    """
    if 0 in dims:  # no threads, no work; CUDA would refuse a grid without blocks
        return
    if executable.in_order is not None:
        in_order().run(executable, dims, arguments, block_dim, stream)
        return
    own = executable.device
    other_devices = [a.device for a in executable.arrays_of(arguments) if a.device != own]
    # A stream of another library's may be in no order with the default one, in which its arrays are filled and freed.
    if stream is not None and not isinstance(stream, Stream):
        other_devices.append(own)
    # Each line up to here, and of what is called, costs every launch of a loop.
    params, shape = executable.packer.pack(dims, arguments), executable.shape(dims, block_dim)
    if not (other_devices or executable.reports):
        executable.driver.launch(executable.queue, params, shape, stream, 0, executable.title)
        return
    with (
        _reported(executable, dims, params) as fault,
        _in_order(executable, stream, list(dict.fromkeys(other_devices))),
    ):
        executable.driver.launch(executable.queue, params, shape, stream, fault, executable.title)


def _reported(executable: Executable, dims: tuple[int, ...], params: bytes) -> Any:
    """Return a context manager for queueing a launch: it yields the address of a fault record, 0 without checks.

    What the launch prints, and its faults, will be reported when something waits for the device.
    """
    reports, index = settling(executable.driver), executable.device.index
    if executable.prints:
        reports.prints(index)
    if executable.sanitized:
        reports.watch(index, executable)
    return reports.record(index, executable, dims, params) if executable.checked else nullcontext(0)


@contextmanager
def _in_order(executable: Executable, stream: Any, others: Sequence[Device]) -> Generator[None]:
    """Make the launch inside the `with` wait for what other devices have queued, and their later work for the launch.

    Raises:
        LaunchError: this device may no longer reach the memory of another one.
    """
    own = executable.device
    for other in others:
        if other != own and not is_peer_access_enabled(other, own):
            raise LaunchError(f"{executable.name}: {own} may no longer reach arrays on {other}.")
    for other in others:
        wait_for_device(executable.driver, own.index, stream, other.index)
    yield
    for other in others:
        let_device_wait(executable.driver, own.index, stream, other.index)
