"""The part of `cuda.core` that Workbench uses, over the emulated driver: devices, memory, object code and events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.runtime.emulated.code import Library
from workbench.runtime.emulated.state import State
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
    """Options of an event: whether it keeps the time."""

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
        """Return the value of a driver call.

        Raises:
            CUDAError: it refused.
        """
        status, *values = answer
        if status != self._driver.CUresult.CUDA_SUCCESS:
            raise self.error(CudaStatusError(status.name, self._driver.cuGetErrorString(status)[1].decode()))
        return values[0] if values else None

    def error(self, error: CudaStatusError) -> CUDAError:
        """Return the exception for a failed call."""
        return CUDAError(error, getattr(self._driver.CUresult, error.status))

    @property
    def driver(self) -> Any:
        """The emulated driver."""
        return self._driver


class Device:
    """A substitute for `cuda.core.Device`."""

    def __init__(self, core: Core, index: int) -> None:
        self._core, self.device_id = core, core.state.known(index)

    @property
    def default_stream(self) -> DefaultStream:
        """The legacy default stream, of whichever device is current."""
        return DefaultStream(self._core)

    def set_current(self) -> None:
        """Make its context current in this thread."""
        state = self._core.state
        self._core.check(self._core.driver.cuCtxSetCurrent(state.contexts[self.device_id]))

    def allocate(self, nbytes: int, *, stream: Any) -> Allocated:
        """Allocate memory of the device, freed in order with a stream's work."""
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
    """The legacy default stream."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.handle = core.driver.CUstream(1)

    def record(self, options: EventOptions = EventOptions()) -> Recorded:
        """Record an event at its end."""
        driver, check = self._core.driver, self._core.check
        event = Recorded(self._core, check(driver.cuEventCreate(0 if options.timing_enabled else 2)))
        check(driver.cuEventRecord(event.handle, self.handle))
        return event


class Recorded:
    """An event that was recorded; `later - earlier` is milliseconds."""

    def __init__(self, core: Core, handle: Any) -> None:
        self._core, self.handle = core, handle

    def sync(self) -> None:
        """Wait until it is over."""
        self._core.check(self._core.driver.cuEventSynchronize(self.handle))

    def __sub__(self, earlier: Recorded) -> float:
        self.sync()
        return float(self._core.check(self._core.driver.cuEventElapsedTime(earlier.handle, self.handle)))


class Allocated:
    """Memory of a device; `handle` is its address."""

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
    """The class `ObjectCode`, as far as it is used."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def from_ptx(self, text: bytes, *, name: str = "") -> Module:
        """Make PTX executable for the current device."""
        state = self._core.state
        with state.lock:
            state.flush()
            try:
                executable = state.load(text, state.devices[state.device()])
            except CudaStatusError as error:
                raise self._core.error(error) from None
        return Module(self._core, executable)

    def from_cubin(self, image: bytes, *, name: str = "") -> Module:
        """Raise an error: nothing here can execute machine code."""
        why = "a cubin is machine code of a GPU; emulated devices run PTX"
        raise self._core.error(CudaStatusError("CUDA_ERROR_NO_BINARY_FOR_GPU", why))


class Module:
    """A substitute for `cuda.core.ObjectCode`: loaded code."""

    def __init__(self, core: Core, executable: Any) -> None:
        self._core, self._loaded = core, executable
        self.handle = core.state.handles.new(Library(executable))

    def get_kernel(self, name: str) -> LoadedKernel:
        """Return the kernel of that name."""
        try:
            kernel = self._core.state.kernel(self._loaded, name)
        except CudaStatusError as error:
            raise self._core.error(error) from None
        return LoadedKernel(self._core.driver.CUkernel(kernel.number))


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel; `handle` is a CUkernel."""

    handle: Any
