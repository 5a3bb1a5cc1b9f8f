"""Substitutes for `cuda.bindings.driver` and `cuda.core` on a machine without a GPU.

Structures and constants are the package's own; of `cuda.core` there is what Workbench uses. Like a real driver it
refuses handles of another kind, calls in a thread without a context, freed memory and wrong sizes. Functions that it
lacks are refused by name. With each status it keeps a sentence, which `cuGetErrorString` returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workbench.backends.cuda.architectures import Architecture
from workbench.host.narrow import is_tuple
from workbench.runtime.emulated.calls.device_calls import TABLE as DEVICES
from workbench.runtime.emulated.calls.graph_calls import TABLE as GRAPHS
from workbench.runtime.emulated.calls.stream_calls import CAPTURES
from workbench.runtime.emulated.calls.stream_calls import TABLE as QUEUES
from workbench.runtime.emulated.code import Executable, Library
from workbench.runtime.emulated.findings import Finding
from workbench.runtime.emulated.state import Called, State, joined
from workbench.runtime.emulated.status_error import CudaStatusError, expect


class CUDAError(Exception):
    """The error of a failed driver call, as `cuda.core` raises it.

    Attributes:
        status: the number of CUDA's status.
    """

    def __init__(self, error: CudaStatusError, status: Any) -> None:
        super().__init__(f"{error.status}: {error.why}")
        self.status = int(status)


@dataclass(frozen=True)
class EventOptions:
    """Options of an event; `timing_enabled`: it can be subtracted from others."""

    timing_enabled: bool = False


class Core:
    """A substitute for the module `cuda.core`."""

    EventOptions = EventOptions

    def __init__(self, driver: Any, state: State) -> None:
        self._driver = driver
        self.state = state
        self.ObjectCode = _ObjectCodes(self)

    def Device(self, index: int) -> Device:
        """Return the device of this number."""
        return Device(self, index)

    def check(self, answer: tuple[Any, ...]) -> Any:
        """Return the value in the answer of a driver's function; None if it has none.

        Raises:
            CUDAError: the function refused.
        """
        status, *values = answer
        if status != self._driver.CUresult.CUDA_SUCCESS:
            raise self.error(CudaStatusError(status.name, self._driver.cuGetErrorString(status)[1].decode()))
        return values[0] if values else None

    def error(self, error: CudaStatusError) -> CUDAError:
        """Return the exception of `cuda.core` for an error of the emulated driver."""
        return CUDAError(error, getattr(self._driver.CUresult, error.status))

    @property
    def driver(self) -> Any:
        """The emulated driver."""
        return self._driver


class Device:
    """A substitute for `cuda.core.Device`."""

    def __init__(self, core: Core, index: int) -> None:
        """Wrap the device of this number; raise a CudaStatusError if there is none."""
        self._core, self.device_id = core, core.state.known(index)

    @property
    def default_stream(self) -> DefaultStream:
        """The legacy default stream, of whichever device is current when it is used."""
        return DefaultStream(self._core)

    def set_current(self) -> None:
        """Make the device's context current in this thread."""
        state = self._core.state
        self._core.check(self._core.driver.cuCtxSetCurrent(state.contexts[self.device_id]))

    def allocate(self, nbytes: int, *, stream: Any) -> Allocated:
        """Allocate memory of the device.

        Raises:
            CUDAError: it has not that much left, it is broken, or the stream may not be used now.
        """
        state = self._core.state
        with state.lock:
            try:
                stream_object = state.stream(stream.handle, "cuMemAllocAsync")
                state.not_captured_beside(stream_object, "cuMemAllocAsync")
                if self.device_id in state.streams.broken:
                    raise state.streams.broken[self.device_id]
                expect(nbytes > 0, "cuMemAllocAsync: no bytes are requested")
                return Allocated(self._core, state.alloc(nbytes, self.device_id).start, self.device_id)
            except CudaStatusError as error:
                raise self._core.error(error) from None


class DefaultStream:
    """A substitute for the legacy default stream of `cuda.core`."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.handle = core.driver.CUstream(1)

    def record(self, options: EventOptions = EventOptions()) -> Recorded:
        """Record an event at the end of what the stream has queued."""
        driver, check = self._core.driver, self._core.check
        event = Recorded(self._core, check(driver.cuEventCreate(0 if options.timing_enabled else 2)))
        check(driver.cuEventRecord(event.handle, self.handle))
        return event


class Recorded:
    """A substitute for `cuda.core.Event`, recorded; `later - earlier` is in milliseconds."""

    def __init__(self, core: Core, handle: Any) -> None:
        self._core, self.handle = core, handle

    def sync(self) -> None:
        """Wait until the device has come to the event."""
        self._core.check(self._core.driver.cuEventSynchronize(self.handle))

    def __sub__(self, earlier: Recorded) -> float:
        """Wait until this event is over, and return the milliseconds since `earlier`."""
        self.sync()
        return float(self._core.check(self._core.driver.cuEventElapsedTime(earlier.handle, self.handle)))


class Allocated:
    """A substitute for `cuda.core.Buffer`: memory of a device; `handle` is its address."""

    def __init__(self, core: Core, address: int, device: int) -> None:
        self._core, self.handle, self._device = core, address, device

    def close(self) -> None:
        """Free the memory once the work queued so far is done; from any thread, as in cuda.core."""
        state, address = self._core.state, self.handle
        with state.lock:
            stream_object = state.streams.default[self._device]
            try:
                state.not_captured_beside(stream_object, "cuMemFreeAsync")
            except CudaStatusError as error:
                raise self._core.error(error) from None
            state.streams.put(stream_object, lambda: state.free(address), "a free")


class _ObjectCodes:
    """A substitute for the class `cuda.core.ObjectCode`, with its constructors that are used."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def from_ptx(self, text: bytes, *, name: str = "") -> Module:
        """Return PTX as code that the current device can execute.

        Raises:
            CUDAError: the driver refused it.
        """
        state = self._core.state
        with state.lock:
            state.flush()
            try:
                executable = state.load(text, state.devices[state.device()])
            except CudaStatusError as error:
                raise self._core.error(error) from None
        return Module(self._core, executable)

    def from_cubin(self, image: bytes, *, name: str = "") -> Module:
        """Refuse a cubin, which is machine code.

        Raises:
            CUDAError: always.
        """
        why = "a cubin is machine code of a GPU; emulated devices run PTX"
        raise self._core.error(CudaStatusError("CUDA_ERROR_NO_BINARY_FOR_GPU", why))


class Module:
    """A substitute for an instance of `cuda.core.ObjectCode`: loaded code."""

    def __init__(self, core: Core, executable: Any) -> None:
        """Wrap loaded code, and create its CUlibrary handle."""
        self._core, self._loaded = core, executable
        self.handle = core.state.handles.new(Library(executable))

    def get_kernel(self, name: str) -> LoadedKernel:
        """Return the kernel of that name.

        Raises:
            CUDAError: there is none.
        """
        try:
            kernel = self._core.state.kernel(self._loaded, name)
        except CudaStatusError as error:
            raise self._core.error(error) from None
        return LoadedKernel(self._core.driver.CUkernel(kernel.number))


@dataclass(frozen=True)
class LoadedKernel:
    """A substitute for `cuda.core.Kernel`; `handle` is a CUkernel."""

    handle: Any


TABLE = joined(DEVICES, QUEUES, CAPTURES, GRAPHS)


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
        """Raise again the error that has broken a device.

        Raises:
            CudaStatusError: the device is broken.
        """
        if device in self.state.streams.broken:
            raise self.state.streams.broken[device]

    def findings(self, device: int) -> list[Finding]:
        """Return what sanitized launches on a device did wrong since the last call; no driver of CUDA's has this."""
        return self.state.findings(device)

    def cuGetErrorString(self, status: Any) -> tuple[Any, bytes]:
        """Return success, and a sentence on this thread's last call that failed, whatever `status` is."""
        return self._api.CUresult.CUDA_SUCCESS, getattr(self.state.here, "why", "").encode()
