"""The functions of `cuda.bindings.driver` for a machine without a GPU; structures and constants are the package's own.

As a real driver it refuses handles of another kind, calls in a thread without a context, freed memory and wrong sizes.
What it has not is refused by name. Beside the status it keeps a sentence, which `cuGetErrorString` returns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from workbench.host.narrow import is_tuple
from workbench.runtime.emulated.architectures import Architecture
from workbench.runtime.emulated.calls.capture_calls import TABLE as CAPTURES
from workbench.runtime.emulated.calls.device_calls import TABLE as DEVICES
from workbench.runtime.emulated.calls.graph_calls import TABLE as GRAPHS
from workbench.runtime.emulated.calls.stream_calls import TABLE as QUEUES
from workbench.runtime.emulated.code import Executable
from workbench.runtime.emulated.core import Core
from workbench.runtime.emulated.findings import Finding
from workbench.runtime.emulated.state import Called, State, joined
from workbench.runtime.emulated.status_error import CudaStatusError

TABLE = joined(DEVICES, QUEUES, CAPTURES, GRAPHS)


class EmulatedDriver:
    """A substitute for the module `cuda.bindings.driver`.

    Attributes:
        state: what it holds.
    """

    def __init__(
        self, api: Any, load: Callable[[bytes, Architecture], Executable], memory: int, seed: int | None = None
    ) -> None:
        """Stand in for `api`, the module itself, which gives structures and constants; the rest as in `State`."""
        self.state = State(api, load, memory, seed)
        self._api = api

    @cached_property
    def core(self) -> Core:
        """The substitute for the module `cuda.core`."""
        return Core(self, self.state)

    def __getattr__(self, name: str) -> Any:
        """Return a function of the driver, or the package's attribute of that name."""
        if not name.startswith("cu"):
            return getattr(self._api, name)
        getattr(self._api, name)  # a name that CUDA has not is an error here, too
        function = self._function(name, TABLE.get(name))
        setattr(self, name, function)
        return function

    def _function(self, name: str, called: Called | None) -> Callable[..., tuple[Any, ...]]:
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
        """Give again the error that has broken the device.

        Raises:
            CudaStatusError: one has.
        """
        if device in self.state.streams.broken:
            raise self.state.streams.broken[device]

    def findings(self, device: int) -> list[Finding]:
        """Return what sanitized launches on a device did wrong since the last call; no driver of CUDA's has this."""
        return self.state.findings(device)

    def cuGetErrorString(self, status: Any) -> tuple[Any, bytes]:
        """Return what was wrong with the last call of this thread that failed."""
        return self._api.CUresult.CUDA_SUCCESS, getattr(self.state.here, "why", "").encode()
