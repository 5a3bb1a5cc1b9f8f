"""A substitute for `cuda.bindings.driver` on a machine without a GPU.

Structures and constants are the package's own. Like a real driver it refuses handles of another kind, calls in a thread
without a context, freed memory and wrong sizes. Functions that it lacks are refused by name. With each status it keeps
a sentence, which `cuGetErrorString` returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.backends.cuda.architectures import Architecture
from workbench.host.narrow import is_tuple
from workbench.runtime.emulated.calls.device_calls import TABLE as DEVICES
from workbench.runtime.emulated.calls.graph_calls import TABLE as GRAPHS
from workbench.runtime.emulated.calls.stream_calls import CAPTURES
from workbench.runtime.emulated.calls.stream_calls import TABLE as QUEUES
from workbench.runtime.emulated.code import Executable
from workbench.runtime.emulated.findings import Finding
from workbench.runtime.emulated.state import Called, State, joined
from workbench.runtime.emulated.status_error import CudaStatusError

TABLE = joined(DEVICES, QUEUES, CAPTURES, GRAPHS)


def is_call(name: str) -> bool:
    """Return whether a name of the driver's module is that of a function; others are structures and constants."""
    return name.startswith("cu") and name[2:3].isupper()


class EmulatedDriver:
    """A substitute for the module `cuda.bindings.driver`.

    Attributes:
        state: memory, handles, streams and all else that the driver holds.
    """

    def __init__(
        self, api: Any, load: Callable[[bytes, Architecture], Executable], memory: int, seed: int | None = None
    ) -> None:
        """Stand in for `api`, the real module, whose structures and constants are used.

        Args:
            api: `cuda.bindings.driver`.
            load: makes PTX executable for an architecture.
            memory: bytes of each device.
            seed: of the order of work; None for the order in which it was queued.
        """
        self.state = State(api, load, memory, seed)
        self._api = api

    def __getattr__(self, name: str) -> Any:
        """Return a function of the driver, or the package's attribute of that name."""
        if not is_call(name):
            return getattr(self._api, name)
        getattr(self._api, name)  # a name that CUDA has not is an error here, too
        function = self._function(name, TABLE.get(name))
        setattr(self, name, function)
        return function

    def _function(self, name: str, called: Called | None) -> Callable[..., tuple[Any, ...]]:
        """Return a driver's function as the bindings have it: its call returns a tuple of status and results.

        A refusal is a status, not an exception. Without `called` every call returns "not supported".
        """
        statuses, state = self._api.CUresult, self.state

        def call(*args: Any) -> tuple[Any, ...]:
            with state.lock:
                try:
                    if called is None:
                        raise CudaStatusError("CUDA_ERROR_NOT_SUPPORTED", f"the emulated driver has no {name}")
                    if called.context:
                        self._check(state.device())
                    values = called.do(state, *args)
                    if called.context:
                        self._check(state.device())
                except CudaStatusError as error:
                    state.here.why = error.why
                    return (getattr(statuses, error.status),)
            return (
                statuses.CUDA_SUCCESS,
                *(values if is_tuple(values) else () if values is None else (values,)),
            )

        return call

    def _check(self, device: int) -> None:
        """Raise the error that has broken a device, if one has.

        Raises:
            CudaStatusError: the device is broken.
        """
        broken = self.state.streams.broken.get(device)
        if broken is not None:  # a new one: the traceback of the first would grow, and keep all that called it
            raise CudaStatusError(broken.status, broken.why)

    def findings(self, device: int) -> list[Finding]:
        """Return what sanitized launches on a device did wrong since the last call; no driver of CUDA's has this."""
        return self.state.findings(device)

    def cuGetErrorString(self, status: Any) -> tuple[Any, bytes]:
        """Return success, and a sentence on this thread's last call that failed, whatever `status` is."""
        return self._api.CUresult.CUDA_SUCCESS, getattr(self.state.here, "why", "").encode()
