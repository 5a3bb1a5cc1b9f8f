"""The one caller of CUDA at run time: memory, copies, loading, launching; `call` for streams and graphs.

Everything goes through `cuda.core`, and through `cuda.bindings.driver` where a packed parameter buffer or a raw
address has to be handed over.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from workbench.errors import DeviceError, WorkbenchError
from workbench.runtime.device.current_device import keeping_current, keeps_current
from workbench.runtime.device.driver_handles import Buffer, CudaDevice, LoadedKernel, PageLocked, handle_of
from workbench.runtime.device.sticky_errors import Breakage
from workbench.runtime.device.waiting import wait_until_idle

MAX_BLOCKS = (1 << 31) - 1
MAX_ROWS = 65535
"""Blocks along y and z."""
FREE_SHARED = 48 * 1024
"""Bytes of dynamic shared memory that a kernel may have without asking."""
WORD = 4
"""Memory is had in whole words: a sum into an element of 8 or 16 bits compares and swaps the word around it."""


class Driver:
    """CUDA, where there is a device. Work is queued on each device's default stream, in order.

    Args:
        core: the module `cuda.core`.
        api: the module `cuda.bindings.driver`, after `cuInit`.
        kind: of its devices: "cuda", or "emulated", which run PTX in place of cubins.
        labels: what comes after the kind in the devices' names; their numbers if it is empty.

    Every method raises DeviceError where CUDA refuses; an error of a kernel that ran before may show in a later call.
    """

    def __init__(self, core: Any, api: Any, kind: str = "cuda", labels: Sequence[str] = ()) -> None:
        """Reads the facts of all devices; makes no context."""
        self._core = core
        self.kind, self._labels = kind, labels
        self._api = api
        self._devices: dict[int, Any] = {}
        self._process = os.getpid()
        self.breakage = Breakage(self.label)
        self._used = threading.local()
        self._held: dict[int, int] = {}
        self._allowed: WeakKeyDictionary[LoadedKernel, int] = WeakKeyDictionary()
        self.settle: Callable[..., object] = lambda index, wait, report=True: wait()
        self._current: ContextVar[dict[int, Any]] = ContextVar("workbench CUDA streams", default={})  # noqa: B039
        self.facts = tuple(self._describe(i) for i in range(self.call("cuDeviceGetCount")))

    def label(self, index: int) -> str:
        """What messages call a device: `cuda:0`."""
        return f"{self.kind}:{self._labels[index] if index < len(self._labels) else index}"

    def count(self) -> int:
        """How many devices there are."""
        return len(self.facts)

    def name(self, index: int) -> str:
        """The device's name."""
        return self._known(index).name

    def arch(self, index: int) -> str:
        """What to compile for: `sm_90`."""
        return self._known(index).arch

    @keeps_current
    def alloc(self, index: int, nbytes: int) -> Buffer:
        """Uninitialised device memory, at least 256-byte aligned."""
        if nbytes == 0:
            return Buffer(None, 0, 0, index)
        device = self.use(index)
        try:
            owner = device.allocate(-(-nbytes // WORD) * WORD, stream=device.default_stream)
        except Exception as problem:
            raise self._no_memory(index, nbytes, problem) from problem
        made = Buffer(owner, int(owner.handle), nbytes, index)
        self._held[index] = self._held.get(index, 0) + nbytes
        made.given_back, made.kind = self._given_back, self.kind
        return made

    def _given_back(self, buffer: Buffer) -> None:
        self._held[buffer.device] -= buffer.nbytes

    def held(self, index: int) -> int:
        """Bytes of the device that arrays of this process hold."""
        return self._held.get(index, 0)

    def _no_memory(self, index: int, nbytes: int, problem: Exception) -> DeviceError:
        """Why memory could not be had: how much, what is free, what is held."""
        broken = self.breakage.met(index, f"{self.label(index)} could not allocate {nbytes:,} bytes", str(problem))
        if broken is not None:
            return broken
        what = f"{self.label(index)} could not allocate {nbytes:,} bytes"
        held = f"Arrays of this process hold {self.held(index):,} bytes"
        try:
            free, whole = self.call("cuMemGetInfo")
        except DeviceError:
            return DeviceError(f"{what}: {problem}. {held}.", status=_status(problem))
        return DeviceError(
            f"{what}: {free:,} of its {whole:,} are free. {held}.", status=_status(problem), wanted=nbytes, free=free,
            advice="Free arrays and graphs that are no longer needed, or work in smaller pieces. Other libraries keep "
            "memory, too: set XLA_PYTHON_CLIENT_PREALLOCATE=false before JAX is imported, call "
            "torch.cuda.empty_cache().",
        )  # fmt: skip

    @keeps_current
    def pinned(self, index: int, nbytes: int) -> Buffer:
        """Page-locked host memory that the device copies from and to without waiting."""
        self.use(index)
        address = int(self.call("cuMemHostAlloc", max(nbytes, 1), _PORTABLE))
        locked = PageLocked(lambda place: self.release(index, "cuMemFreeHost", place), address)
        made = Buffer(locked, address, nbytes, index)
        made.kind = self.kind
        return made

    @keeps_current
    def copy_to_device(self, destination: int, source: np.ndarray[Any, Any], device: int = 0) -> None:
        """Copy a C-contiguous NumPy array to a device address; returns when `source` may change again."""
        if not source.flags.c_contiguous:
            raise ValueError("copy_to_device takes a C-contiguous array")
        if source.nbytes:
            self.use(device)
            self.call("cuMemcpyHtoD", destination, source.ctypes.data, source.nbytes)

    def copy_to_host(self, destination: np.ndarray[Any, Any], source: int, device: int = 0) -> None:
        """Copy from a device address into a writable C-contiguous NumPy array, after all work queued before."""
        if not (destination.flags.c_contiguous and destination.flags.writeable):
            raise ValueError("copy_to_host takes a writable C-contiguous array")
        if destination.nbytes:
            place = destination.ctypes.data
            self.waiting(device, lambda: self.call("cuMemcpyDtoH", place, source, destination.nbytes), idle=True)

    @keeps_current
    def copy(self, destination: int, source: int, nbytes: int, device: int = 0) -> None:
        """Queue a copy between device addresses (of two devices, too)."""
        if nbytes:
            stream = self.stream_handle(device)
            self.call("cuMemcpyAsync", destination, source, nbytes, stream)

    @keeps_current
    def fill(self, address: int, pattern: int, count: int, device: int = 0, size: int = 1) -> None:
        """Queue setting `count` scalars of 1, 2 or 4 bytes to `pattern`."""
        if count:
            stream = self.stream_handle(device)
            self.call(f"cuMemsetD{8 * size}Async", address, pattern, count, stream)

    @keeps_current
    def synchronize(self, index: int = 0) -> None:
        """Wait for all work on the device.

        Raises:
            DeviceError, KernelFault: a kernel failed.
        """
        with self._reported(f"waiting for {self.label(index)}"):
            self.waiting(index, self.use(index).sync, idle=True)

    @keeps_current
    def waiting(self, index: int, wait: Callable[[], object], idle: bool = False) -> None:
        """Call `wait`, which waits for the device's work; then report what it left (`launching/pending_faults.py`).

        With `idle` until the default stream is done, in a way that an interrupt can end, and only then.

        Raises:
            KernelFault: a launch with checks met a fault.
        """
        self.use(index)

        def whole() -> None:
            if idle:
                wait_until_idle(self, index)
            wait()

        self.settle(index, whole)

    @keeps_current
    def load(self, index: int, image: bytes, entry: str, shared: int = 0) -> LoadedKernel:
        """The kernel `entry` of code made for this device's architecture.

        Args:
            index: the device.
            image: a cubin; PTX for an emulated device.
            entry: the kernel's symbol.
            shared: bytes of dynamic shared memory that its launches will request.
        """
        self.use(index)
        with self._reported(f"loading {entry} on {self.label(index)}"):
            kinds = self._core.ObjectCode
            code = (kinds.from_ptx if self.kind == "emulated" else kinds.from_cubin)(image, name=entry)
            kernel = code.get_kernel(entry)
            made = LoadedKernel(entry, index, self._api.CUfunction(int(kernel.handle)), (code, kernel))
            self.allow_shared(made, shared)
            return made

    @keeps_current
    def launch(
        self,
        index: int,
        kernel: LoadedKernel,
        grid: int | tuple[int, int, int],
        block: int | tuple[int, int, int],
        param_addresses: Sequence[int] | ctypes.Array[Any],
        stream: Any = None,
        shared: int = 0,
        name: str = "",
    ) -> None:
        """Queue a launch of `grid` blocks of `block` threads; no blocks is no work.

        Args:
            index: the device.
            kernel: what `load` gave for this device.
            grid: blocks, at most 2**31 - 1; or along x, y, z.
            block: threads per block, at most 1024; or along x, y, z.
            param_addresses: where each parameter lies in host memory: pieces of the buffer of `backends/layout.py`, the
                dims first. They are read before this returns.
            stream: a `cuda.core` stream; the device's default one if None.
            shared: bytes of dynamic shared memory of a block.
            name: what is named as launched last if something breaks the device; nothing if it is empty.
        """
        if kernel.device != index:
            raise DeviceError(f"{kernel.entry} is loaded on {self.label(kernel.device)}, not on {self.label(index)}.")
        blocks, threads = (n if isinstance(n, tuple) else (n, 1, 1) for n in (grid, block))
        if not all(0 <= n <= most for n, most in zip(blocks, (MAX_BLOCKS, MAX_ROWS, MAX_ROWS), strict=True)):
            shown = " × ".join(map(str, blocks)) if isinstance(grid, tuple) else grid
            raise DeviceError(f"{shown} blocks are more than one launch of {kernel.entry} can have ({MAX_BLOCKS}).")
        if 0 in blocks:
            return
        pointers = param_addresses
        if not isinstance(pointers, ctypes.Array):
            pointers = (ctypes.c_void_p * len(param_addresses))(*param_addresses)
        handle = self.stream_handle(index, stream)
        self.allow_shared(kernel, shared)
        if name:
            self.breakage.last[index] = name
        self.call(
            "cuLaunchKernel", kernel.function, *blocks, *threads, shared, handle, ctypes.addressof(pointers), 0
        )  # fmt: skip

    def allow_shared(self, kernel: LoadedKernel, shared: int) -> None:
        """Let a kernel's blocks have so many bytes of dynamic shared memory; 48 KiB they have without asking."""
        if shared <= FREE_SHARED:
            return
        if shared > self._allowed.get(kernel, FREE_SHARED):
            most = self._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            device = self.call("cuDeviceGet", kernel.device)
            self.call("cuKernelSetAttribute", most, shared, kernel.handle(self._api), device)
            self._allowed[kernel] = shared

    @keeps_current
    def event(self, index: int) -> Any:
        """A `cuda.core` event with timing, recorded now on the default stream; `later - earlier` is milliseconds."""
        device = self.use(index)
        with self._reported(f"recording an event on {self.label(index)}"):
            return device.default_stream.record(options=self._core.EventOptions(timing_enabled=True))

    def used(self) -> list[int]:
        """The numbers of the devices that were used."""
        return sorted(self._devices)

    def _describe(self, index: int) -> CudaDevice:
        handle = self.call("cuDeviceGet", index)
        kinds = self._api.CUdevice_attribute
        major, minor, units = (
            self.call("cuDeviceGetAttribute", getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}"), handle)
            for name in ("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR", "MULTIPROCESSOR_COUNT")
        )
        name = self.call("cuDeviceGetName", 256, handle).split(b"\0")[0].decode(errors="replace")
        memory = int(self.call("cuDeviceTotalMem", handle))
        return CudaDevice(index, name, f"sm_{major}{minor}", memory, units)

    def _known(self, index: int) -> CudaDevice:
        if not 0 <= index < len(self.facts):
            listed = ", ".join(self.label(d.index) for d in self.facts)
            raise DeviceError(f"There is no device {self.kind}:{index}.", advice=f"This machine has {listed}.")
        return self.facts[index]

    def use(self, index: int) -> Any:
        """The `cuda.core` device, current in this thread.

        Raises:
            DeviceError: this process was forked from the one that started CUDA, or the device is broken.
        """
        if os.getpid() != self._process:
            raise DeviceError(
                "CUDA was started before this process was forked, and cannot be used in it.",
                advice='Start processes with multiprocessing.get_context("spawn"), or use CUDA only after the fork.',
            )
        self._used.index = index
        if self.breakage.devices:
            self.breakage.check(index)
        if index not in self._devices:
            self._known(index)
            self._devices[index] = self._core.Device(index)
        with self._reported(f"using {self.label(index)}"):
            self._devices[index].set_current()
        return self._devices[index]

    def stream_handle(self, index: int, stream: Any = None) -> Any:
        """The handle of this stream, else of the one that `in_stream` set, else of the device's default one."""
        device = self.use(index)
        return handle_of(stream or self._current.get().get(index) or device.default_stream, self._api)

    def release(self, index: int, function: str, handle: Any) -> None:
        """Give a handle back from whatever thread drops it; what is current in that thread stays current.

        Raises:
            DeviceError: CUDA refused it.
        """
        before = self.call("cuCtxGetCurrent")
        self.use(index)
        try:
            self.call(function, handle)
        finally:
            self.call("cuCtxSetCurrent", before)

    def keeping_current(self) -> AbstractContextManager[None]:
        """What is current in the thread is that again after the `with`."""
        return keeping_current(self._api, len(self.facts))

    @contextmanager
    def in_stream(self, index: int, stream: Any) -> Iterator[None]:
        """Queue in this stream what is queued inside without naming one."""
        token = self._current.set({**self._current.get(), index: stream})
        try:
            yield
        finally:
            self._current.reset(token)

    @property
    def api(self) -> Any:
        """The module `cuda.bindings.driver`: for its structures and constants; functions go through `call`."""
        return self._api

    def call(self, name: str, *args: Any) -> Any:
        """What a function of the driver returns: nothing, a value, or a tuple of several.

        Raises:
            DeviceError: CUDA refused it; `status` is the number.
        """
        with self._reported(name):
            status, *values = getattr(self._api, name)(*args)
            if status != self._api.CUresult.CUDA_SUCCESS:
                raise self._refused(name, status)
            return values[0] if len(values) == 1 else tuple(values) if values else None

    def _refused(self, name: str, status: Any) -> DeviceError:
        label = getattr(status, "name", str(status))
        why = self._why(status)
        broken = self.breakage.met(getattr(self._used, "index", None), f"CUDA refused {name}", label, why)
        return broken or DeviceError(
            f"CUDA refused {name}: {label}{why}.", status=int(status), advice=_ADVICE.get(label, "")
        )

    def _why(self, status: Any) -> str:
        """What the driver says of a status; an emulated one says what was wrong."""
        with suppress(Exception):
            said = self._api.cuGetErrorString(status)[1].decode()
            return f" ({said})" if said else ""
        return ""

    @contextmanager
    def _reported(self, doing: str) -> Iterator[None]:
        """Whatever `cuda.core` raises, as a DeviceError that says what was being done."""
        try:
            yield
        except WorkbenchError:
            raise
        except Exception as problem:
            broken = self.breakage.met(getattr(self._used, "index", None), f"CUDA failed while {doing}", str(problem))
            error = broken or DeviceError(f"CUDA failed while {doing}: {problem}.", status=_status(problem))
            raise error from problem


_ADVICE = {
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": (
        "A block's threads need more registers than there are: take a smaller block_dim."
    )
}
_PORTABLE = 1
"""CU_MEMHOSTALLOC_PORTABLE: page-locked for every device."""


def _status(problem: Exception) -> int:
    """The number of a status that an exception of `cuda.core` carries, else 0."""
    return int(getattr(problem, "status", 0) or getattr(problem, "error", 0) or 0)
