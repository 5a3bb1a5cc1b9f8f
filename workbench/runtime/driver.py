"""The one caller of CUDA at run time: probe, memory, copies, loading, launching.

Everything goes through `cuda.core`, and through `cuda.bindings.driver` where a packed parameter buffer or a raw
address has to be handed over. Nothing of CUDA is imported or touched until `driver()` is asked, and then only after a
probe that is safe without a driver: `cuda.core`'s own objects can lock up a process that has none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from workbench.errors import DeviceError

MAX_BLOCKS = (1 << 31) - 1


@dataclass(frozen=True)
class CudaDevice:
    """Facts about one device.

    Attributes:
        index: its number among the visible devices.
        name: as the driver calls it.
        arch: what to compile for, `sm_90`.
        memory: bytes of device memory.
        multiprocessors: how many it has.
    """

    index: int
    name: str
    arch: str
    memory: int
    multiprocessors: int


class Buffer:
    """Device memory: `handle` is its address (0 where it holds nothing), `nbytes` its size; freed when dropped."""

    def __init__(self, owner: Any, handle: int, nbytes: int, device: int) -> None:
        """What `owner`, a `cuda.core` buffer, holds; None where there is nothing."""
        self.owner = owner
        self.handle = handle
        self.nbytes = nbytes
        self.device = device

    def free(self) -> None:
        """Give the memory back once the work queued so far is done; again does nothing."""
        owner, self.owner, self.handle = self.owner, None, 0
        if owner is not None:
            owner.close()


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel of a loaded cubin; keeps the cubin loaded."""

    entry: str
    device: int
    function: Any
    code: Any


class Driver:
    """CUDA, where there is a device. Work is queued on each device's default stream, in order.

    Args:
        core: the module `cuda.core`.
        api: the module `cuda.bindings.driver`, after `cuInit`.

    Every method raises DeviceError where CUDA refuses; an error of a kernel that ran before may show in a later call.
    """

    def __init__(self, core: Any, api: Any) -> None:
        """Reads the facts of all devices; makes no context."""
        self._core = core
        self._api = api
        self._devices: dict[int, Any] = {}
        self.facts = tuple(self._describe(i) for i in range(self._call("cuDeviceGetCount")))

    def count(self) -> int:
        """How many devices there are."""
        return len(self.facts)

    def name(self, index: int) -> str:
        """The device's name."""
        return self._known(index).name

    def arch(self, index: int) -> str:
        """What to compile for: `sm_90`."""
        return self._known(index).arch

    def alloc(self, index: int, nbytes: int) -> Buffer:
        """Uninitialised device memory, at least 256-byte aligned."""
        if nbytes == 0:
            return Buffer(None, 0, 0, index)
        device = self._use(index)
        with _reported(f"allocating {nbytes} bytes on cuda:{index}"):
            owner = device.allocate(nbytes, stream=device.default_stream)
            return Buffer(owner, int(owner.handle), nbytes, index)

    def copy_to_device(self, destination: int, source: np.ndarray[Any, Any], device: int = 0) -> None:
        """Copy a C-contiguous NumPy array to a device address; returns when `source` may change again."""
        if not source.flags.c_contiguous:
            raise ValueError("copy_to_device takes a C-contiguous array")
        if source.nbytes:
            self._use(device)
            self._call("cuMemcpyHtoD", destination, source.ctypes.data, source.nbytes)

    def copy_to_host(self, destination: np.ndarray[Any, Any], source: int, device: int = 0) -> None:
        """Copy from a device address into a writable C-contiguous NumPy array, after all work queued before."""
        if not (destination.flags.c_contiguous and destination.flags.writeable):
            raise ValueError("copy_to_host takes a writable C-contiguous array")
        if destination.nbytes:
            self._use(device)
            self._call("cuMemcpyDtoH", destination.ctypes.data, source, destination.nbytes)

    def copy(self, destination: int, source: int, nbytes: int, device: int = 0) -> None:
        """Queue a copy between device addresses (of two devices, too)."""
        if nbytes:
            stream = self._stream(device)
            self._call("cuMemcpyAsync", destination, source, nbytes, stream)

    def fill(self, address: int, byte: int, nbytes: int, device: int = 0) -> None:
        """Queue setting each of `nbytes` bytes to `byte` (0 to 255)."""
        if nbytes:
            stream = self._stream(device)
            self._call("cuMemsetD8Async", address, byte, nbytes, stream)

    def synchronize(self, index: int = 0) -> None:
        """Wait for all work on the device.

        Raises:
            DeviceError: a kernel failed.
        """
        device = self._use(index)
        with _reported(f"waiting for cuda:{index}"):
            device.sync()

    def load(self, index: int, cubin: bytes, entry: str) -> LoadedKernel:
        """The kernel `entry` of a cubin made for this device's architecture."""
        self._use(index)
        with _reported(f"loading {entry} on cuda:{index}"):
            code = self._core.ObjectCode.from_cubin(cubin, name=entry)
            kernel = code.get_kernel(entry)
            return LoadedKernel(entry, index, self._api.CUfunction(int(kernel.handle)), (code, kernel))

    def launch(
        self,
        index: int,
        kernel: LoadedKernel,
        grid: int,
        block: int,
        param_addresses: Sequence[int] | ctypes.Array[Any],
        stream: Any = None,
    ) -> None:
        """Queue a launch of `grid` blocks of `block` threads; no blocks is no work.

        Args:
            index: the device.
            kernel: what `load` gave for this device.
            grid: blocks, at most 2**31 - 1.
            block: threads a block, at most 1024.
            param_addresses: where each parameter lies in host memory: pieces of the buffer of `backends/layout.py`, the
                dims first. They are read before this returns.
            stream: a `cuda.core` stream; the device's default one where None.
        """
        if kernel.device != index:
            raise DeviceError(f"{kernel.entry} is loaded on cuda:{kernel.device}, not on cuda:{index}.")
        if not 0 <= grid <= MAX_BLOCKS:
            raise DeviceError(f"{grid} blocks are more than one launch of {kernel.entry} can have ({MAX_BLOCKS}).")
        if grid == 0:
            return
        pointers = param_addresses
        if not isinstance(pointers, ctypes.Array):
            pointers = (ctypes.c_void_p * len(param_addresses))(*param_addresses)
        queue = self._stream(index) if stream is None else stream.handle
        shape = (grid, 1, 1, block, 1, 1)
        self._call("cuLaunchKernel", kernel.function, *shape, 0, queue, ctypes.addressof(pointers), 0)

    def event(self, index: int) -> Any:
        """A `cuda.core` event with timing, recorded now on the default stream; `later - earlier` is milliseconds."""
        device = self._use(index)
        with _reported(f"recording an event on cuda:{index}"):
            return device.default_stream.record(options=self._core.EventOptions(timing_enabled=True))

    def _describe(self, index: int) -> CudaDevice:
        handle = self._call("cuDeviceGet", index)
        kinds = self._api.CUdevice_attribute
        major, minor, units = (
            self._call("cuDeviceGetAttribute", getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}"), handle)
            for name in ("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR", "MULTIPROCESSOR_COUNT")
        )
        name = self._call("cuDeviceGetName", 256, handle).split(b"\0")[0].decode(errors="replace")
        memory = int(self._call("cuDeviceTotalMem", handle))
        return CudaDevice(index, name, f"sm_{major}{minor}", memory, units)

    def _known(self, index: int) -> CudaDevice:
        if not 0 <= index < len(self.facts):
            listed = ", ".join(f"cuda:{d.index}" for d in self.facts)
            raise DeviceError(f"There is no device cuda:{index}.", advice=f"This machine has {listed}.")
        return self.facts[index]

    def _use(self, index: int) -> Any:
        """The `cuda.core` device, current in this thread."""
        if index not in self._devices:
            self._known(index)
            self._devices[index] = self._core.Device(index)
        with _reported(f"using cuda:{index}"):
            self._devices[index].set_current()
        return self._devices[index]

    def _stream(self, index: int) -> Any:
        return self._use(index).default_stream.handle

    def _call(self, name: str, *args: Any) -> Any:
        with _reported(name):
            return _checked(self._api, name, getattr(self._api, name)(*args))


def _checked(api: Any, name: str, answer: tuple[Any, ...]) -> Any:
    status, *values = answer
    if status != api.CUresult.CUDA_SUCCESS:
        raise DeviceError(f"CUDA refused {name}: {getattr(status, 'name', status)}.", status=int(status))
    return values[0] if values else None


@contextmanager
def _reported(doing: str) -> Iterator[None]:
    """Whatever `cuda.core` raises, as a DeviceError that says what was being done."""
    try:
        yield
    except DeviceError:
        raise
    except Exception as problem:
        raise DeviceError(f"CUDA failed while {doing}: {problem}.") from problem


@dataclass(frozen=True)
class _Probe:
    driver: Driver | None
    reason: str


def driver() -> Driver | None:
    """The driver where there is at least one CUDA device, else None (`why_no_cuda()` says why)."""
    return _probe().driver


def why_no_cuda() -> str:
    """One sentence on why there is no CUDA device; empty where there is one."""
    return _probe().reason


def devices() -> tuple[CudaDevice, ...]:
    """Facts about the CUDA devices; empty where there are none."""
    found = driver()
    return found.facts if found else ()


@cache
def _probe() -> _Probe:
    return probe(_find_library, _modules)


def probe(find_library: Callable[[], None], modules: Callable[[], tuple[Any, Any]]) -> _Probe:
    """Look for CUDA step by step, each safe where the one before succeeded."""
    try:
        find_library()
    except ImportError:
        return _Probe(None, "The CUDA packages are not installed (pip install cuda-core).")
    except Exception as problem:
        first = (str(problem) or type(problem).__name__).splitlines()[0]
        return _Probe(None, f"No CUDA driver was found on this machine ({first}).")
    try:
        core, api = modules()
        status, *_ = api.cuInit(0)
        if status != api.CUresult.CUDA_SUCCESS:
            return _Probe(None, f"The CUDA driver does not start: {getattr(status, 'name', status)}.")
        found = Driver(core, api)
    except Exception as problem:
        first = (str(problem) or type(problem).__name__).splitlines()[0]
        return _Probe(None, f"CUDA could not be used: {first}")
    if found.count() == 0:
        return _Probe(None, "The CUDA driver is here, but it sees no device.")
    return _Probe(found, "")


def _find_library() -> None:
    from cuda import pathfinder

    pathfinder.load_nvidia_dynamic_lib("cuda")


def _modules() -> tuple[Any, Any]:
    import cuda.core as core
    from cuda.bindings import driver as api  # type: ignore[attr-defined]  (an extension without stubs)

    return core, api
