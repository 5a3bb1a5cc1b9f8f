"""`with checks("races"):`: each launch on the CPU is tried on the emulated device first, which looks for races."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

from workbench.api.launches.launch import launch_options, prepare
from workbench.autodiff import FORWARD
from workbench.errors import LaunchError
from workbench.runtime.active_observers import observing, unobserved
from workbench.runtime.arrays.array import array
from workbench.runtime.deferred_errors import raise_late
from workbench.runtime.device.streams import synchronize
from workbench.runtime.launching.checks import choosing_checks
from workbench.runtime.launching.execute import execute
from workbench.runtime.launching.observer import Observer
from workbench.runtime.launching.record import LaunchOptions, LaunchRecord


@contextmanager
def checks(on: bool | Literal["races"] = True) -> Generator[None]:
    """Turn checks on (or off) for the launches inside the `with` that do not choose themselves.

        with wb.checks("races"):
            wb.launch(blur, n, [x, y])

    Args:
        on: "races": a launch on the CPU runs on copies of its arrays first, on the emulated device, which takes seconds
            and finds threads that write what others use. Adjoints and CUDA C++ are not tried. An array that is passed
            twice is copied once; different views of one memory are copied separately, so races between them are missed.

    Raises:
        KernelFault: a launch inside has a race, and has not run; or at the end, a fault that could not be raised where
            it happened (`runtime/deferred_errors.py`).
        LaunchError: `on` is something else.
    """
    if on not in (True, False, "races"):
        raise LaunchError(f"checks is True, False or 'races', not {on!r}.", parameter="checks")
    with choosing_checks(bool(on)), observing(_Races()) if on == "races" else nullcontext():
        yield
    # Here the program waits for an answer about its checks, so errors that had nowhere to go are raised.
    raise_late()


class _Races(Observer):
    """An observer that tries launches on the emulated device before they run."""

    def launching(self, record: LaunchRecord) -> None:
        """Run a forward launch of a Python kernel on the CPU on the emulated device first, on copies.

        Raises:
            KernelFault: it has a race, or another fault.
        """
        executable = record.executable
        if record.direction != FORWARD or executable.geometry is not None or executable.device.is_cuda:
            return
        with unobserved():
            kernel, copies = record.specialisation.kernel, dict[int, array]()

            def copied(value: Any) -> Any:
                if not isinstance(value, array):
                    return value
                return copies.setdefault(id(value), value.to("emulated"))

            values = [copied(record.arguments[name]) for name in kernel.parameters]
            options = LaunchOptions(launch_options(kernel, True).code, record.launch_options.block_dim)
            execute(prepare(kernel, record.dim, values, None, "emulated", options, bool(executable.function.block_dim)))
            synchronize("emulated")
