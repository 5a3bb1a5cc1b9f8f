"""The one caller of CUDA at run time, and the objects that it returns.

`Driver` has memory, copies, loading, launching, and `call` for streams and graphs. Everything goes through
`cuda.bindings.driver`.

The objects are facts about a device, memory and loaded kernels; memory is freed with its owner.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import partial
from types import ModuleType
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from workbench.backends.cuda.toolkit import LEAST_DRIVER
from workbench.errors import DeviceError, WorkbenchError, its_type
from workbench.runtime.device.queues import DeviceRow, Queue, queue_of, shape_bytes
from workbench.runtime.device.sticky_errors import LEGACY, Breakage, wait_until_idle


class CudaDevice(msgspec.Struct, frozen=True):
    """The properties of one CUDA device.

    Attributes:
        index: its number among the visible devices.
        name: as the driver calls it.
        arch: the architecture to compile for, such as `sm_90`.
        memory: bytes of device memory.
        multiprocessors: how many it has.
    """

    index: int
    name: str
    arch: str
    memory: int
    multiprocessors: int


class Buffer:
    """An allocation of device memory, or of page-locked host memory, that is freed when the object is dropped.

    Attributes:
        handle: the address; 0 if it holds nothing (any more).
        nbytes: the size.
        device: the number of the device.
        kind: that of the driver, "cuda" or "emulated".
    """

    def __init__(
        self, handle: int, nbytes: int, device: int, kind: str = "cuda",
        give_back: Callable[[Buffer], object] = lambda buffer: None,
        not_freed: Callable[[Buffer], object] = lambda buffer: None,
    ) -> None:  # fmt: skip
        """Take over memory.

        Args:
            handle, nbytes, device, kind: see the attributes.
            give_back: frees it.
            not_freed: called with the buffer if the driver refused to free it.
        """
        self.handle = handle
        self.nbytes = nbytes
        self.device = device
        self.kind = kind
        self._give_back, self._not_freed = give_back, not_freed

    def free(self) -> None:
        """Free the memory once the work queued so far is done; a second call does nothing.

        It raises what the driver raises, and then still holds the memory.
        """
        if self.handle:
            self._give_back(self)
            self.handle = 0

    def free_or_keep(self) -> None:
        """Free the memory; if the driver refuses, hand the buffer to `not_freed`."""
        try:
            self.free()
        except Exception:
            self._not_freed(self)

    def __del__(self) -> None:
        """Free the memory, or hand the buffer to `not_freed`; errors are ignored."""
        with suppress(Exception):  # at the interpreter's end there may be no driver any more
            self.free_or_keep()


class LoadedCode:
    """Code on the devices, which is unloaded when nothing refers to it any more.

    Attributes:
        handle: its CUlibrary.
    """

    def __init__(self, handle: Any, unload: Callable[[Any], object]) -> None:
        """Take over the code; `unload` is called with its handle once."""
        self.handle, self._unload = handle, unload

    def __del__(self) -> None:
        """Unload the code; errors are ignored, such as those of a driver that has ended."""
        with suppress(Exception):
            self._unload(self.handle)


class LoadedKernel(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A kernel of loaded code; it keeps the code loaded.

    Attributes:
        entry: its symbol.
        device: the number of its device.
        function: the kernel as `cuLaunchKernel` takes it, alone of all functions: a CUkernel cast to a CUfunction.
        code: its code.
        cooperative: whether its launches let blocks wait for one another.
    """

    entry: str
    device: int
    function: Any
    code: LoadedCode
    cooperative: bool = False

    def handle(self, api: Any) -> Any:
        """Return the kernel as a CUkernel, which all functions of the driver but `cuLaunchKernel` require."""
        return api.CUkernel(int(self.function))


def handle_of(stream: Any, api: Any) -> Any:
    """Return the driver's handle of a stream: Workbench's, cuda.core's, or one of a library with `__cuda_stream__`.

    Raises:
        TypeError: it is no stream.
    """
    own = getattr(stream, "handle", None)
    if own is not None:
        return api.CUstream(own.value or 0) if isinstance(own, ctypes.c_void_p) else own  # as Numba has it
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is None:
        raise TypeError(f"{its_type(stream)} is not a CUDA stream: it has neither handle nor __cuda_stream__")
    answer: Any = protocol() if callable(protocol) else protocol
    return api.CUstream(int(answer[1]))


P = ParamSpec("P")
T = TypeVar("T")


def keeps_current(method: Callable[Concatenate[Driver, P], T]) -> Callable[Concatenate[Driver, P], T]:
    """Wrap a method so that it leaves the CUDA context that is current in the calling thread as it was."""

    @functools.wraps(method)
    def wrapped(self: Driver, *args: P.args, **named: P.kwargs) -> T:
        with self.keeping_current():
            return method(self, *args, **named)

    return wrapped


MAX_BLOCKS = (1 << 31) - 1
MAX_ROWS = 65535
"""The most blocks of a launch along y, and along z."""
FREE_SHARED = 48 * 1024
"""Bytes of dynamic shared memory that a kernel may have without asking."""
WORD = 4
"""Bytes of a word; memory is allocated in whole words.

A sum into an element of 8 or 16 bits compares and swaps the word around it.
"""


def _wait_alone(index: int, wait: Callable[[], object], report: bool = True) -> None:
    """Call `wait` and report nothing, whatever else is passed: `Driver.settle` until another is installed."""
    wait()


class Driver:
    """The CUDA driver, or the emulated one, with its devices. Work is queued on each device's default stream, in order.

    Args:
        api: the module `cuda.bindings.driver`, after `cuInit`.
        kind: of its devices: "cuda", or "emulated", which run PTX in place of cubins.
        labels: what comes after the kind in the devices' names; their numbers if it is empty.

    Attributes:
        properties: of each device.
        breakage: the devices that an error has broken, and the last launch on each.
        settle: called to wait for a device; then collects and raises what launches have reported.
        printing: numbers of devices whose kernels' text the driver may hold.
        shown: returns a context manager inside which such text is displayed.

    Every method raises DeviceError where CUDA refuses; an error of a kernel that ran before may show in a later call.
    """

    def __init__(self, api: Any, kind: str = "cuda", labels: Sequence[str] = ()) -> None:
        """Read the properties of all devices; no context is created."""
        self.kind, self._labels = kind, labels
        self._api = api
        self._contexts: dict[int, Any] = {}
        self._pooled: dict[int, bool] = {}
        self._default = api.CUstream(LEGACY)  # the default stream of whichever device is current
        self._rows: dict[int, DeviceRow] = {}
        self._process = os.getpid()
        self.breakage = Breakage(self.label, kind == "emulated")
        self._used = threading.local()
        self._held: dict[int, int] = {}
        self._to_free: list[Buffer] = []  # unreferenced, and CUDA refused to free it: a stream was captured
        self._allowed: WeakKeyDictionary[LoadedKernel, int] = WeakKeyDictionary()
        self.settle: Callable[..., object] = _wait_alone
        self.printing: set[int] = set()  # devices whose kernels' text the driver may hold
        self.shown: Callable[[], AbstractContextManager[None]] = nullcontext
        self._current: ContextVar[dict[int, Any]] = ContextVar("workbench CUDA streams", default={})  # noqa: B039
        self.properties = tuple(self._describe(i) for i in range(self.call("cuDeviceGetCount")))

    def label(self, index: int) -> str:
        """Return the name of a device in messages: `cuda:0`."""
        return f"{self.kind}:{self._labels[index] if index < len(self._labels) else index}"

    def count(self) -> int:
        """Return the number of devices."""
        return len(self.properties)

    def name(self, index: int) -> str:
        """Return the device's name."""
        return self._known(index).name

    def arch(self, index: int) -> str:
        """Return the architecture to compile for: `sm_90`."""
        return self._known(index).arch

    @keeps_current
    def alloc(self, index: int, nbytes: int) -> Buffer:
        """Allocate uninitialised device memory, at least 256-byte aligned."""
        if nbytes == 0:
            return Buffer(0, 0, index)
        self.use(index)
        if self._to_free:
            self._free_refused()
        size = -(-nbytes // WORD) * WORD
        try:
            pooled = self._pooled[index] if index in self._pooled else self._has_pool(index)
            address = self.call("cuMemAllocAsync", size, self._default) if pooled else self.call("cuMemAlloc", size)
        except DeviceError as problem:
            if index in self.breakage.devices:
                raise
            raise self._no_memory(index, nbytes, problem) from problem
        self._held[index] = self._held.get(index, 0) + nbytes
        return Buffer(int(address), nbytes, index, self.kind, self._give_back, self._to_free.append)

    def _has_pool(self, index: int) -> bool:
        """Find out whether a device allocates in the order of a stream, from a pool, which then keeps what is freed."""
        api, device = self._api, self.call("cuDeviceGet", index)
        supported = api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
        pooled = self._pooled[index] = bool(self.call("cuDeviceGetAttribute", supported, device))
        threshold = api.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        pool = self.call("cuDeviceGetMemPool", device) if pooled else None
        if pool is not None and not int(self.call("cuMemPoolGetAttribute", pool, threshold)):
            # Otherwise each wait would give all free memory back to the system.
            self.call("cuMemPoolSetAttribute", pool, threshold, api.cuuint64_t(2**64 - 1))
        return pooled

    def _give_back(self, buffer: Buffer) -> None:
        """Free a buffer, and subtract it from the bytes held on its device."""
        if self._pooled[buffer.device]:
            self.release(buffer.device, "cuMemFreeAsync", buffer.handle, self._default)
        else:
            self.release(buffer.device, "cuMemFree", buffer.handle)
        self._held[buffer.device] -= buffer.nbytes

    def _free_refused(self) -> None:
        """Free buffers that CUDA refused to free when they were dropped; those it refuses again stay for later."""
        waiting, self._to_free[:] = self._to_free[:], []
        for buffer in waiting:
            buffer.free_or_keep()

    def held(self, index: int) -> int:
        """Return the bytes of a device's memory that arrays of this process hold."""
        return self._held.get(index, 0)

    def _no_memory(self, index: int, nbytes: int, problem: DeviceError) -> DeviceError:
        """Return the error of a failed allocation; it says how much was wanted, is free, and is held by arrays."""
        what = f"{self.label(index)} could not allocate {nbytes:,} bytes"
        if problem.status != int(self._api.CUresult.CUDA_ERROR_OUT_OF_MEMORY):
            return DeviceError(f"{what}: {problem.message}", status=problem.status, advice=problem.advice)
        held = f"Arrays of this process hold {self.held(index):,} bytes"
        try:
            free, total = self.call("cuMemGetInfo")
        except DeviceError:
            return DeviceError(f"{what}: {problem.message} {held}.", status=problem.status)
        return DeviceError(
            f"{what}: {free:,} of its {total:,} are free. {held}.",
            status=problem.status,
            wanted=nbytes,
            free=free,
            advice="Free arrays and graphs that are no longer needed, or work in smaller pieces. Other libraries keep "
            "memory, too: set XLA_PYTHON_CLIENT_PREALLOCATE=false before JAX is imported, call "
            "torch.cuda.empty_cache().",
        )

    @keeps_current
    def pinned(self, index: int, nbytes: int) -> Buffer:
        """Allocate page-locked host memory that the device copies from and to without waiting."""
        self.use(index)
        address = int(self.call("cuMemHostAlloc", max(nbytes, 1), _PORTABLE))

        def give_back(buffer: Buffer) -> None:
            self.release(index, "cuMemFreeHost", buffer.handle)

        return Buffer(address, nbytes, index, self.kind, give_back, self._to_free.append)

    @keeps_current
    def copy_to_device(self, destination: int, source: np.ndarray[Any, Any], device: int = 0) -> None:
        """Copy a C-contiguous NumPy array to a device address; return when `source` may change again.

        Raises:
            ValueError: the array is not C-contiguous.
        """
        if not source.flags.c_contiguous:
            raise ValueError("copy_to_device takes a C-contiguous array")
        if source.nbytes:
            self.use(device)
            with self.showing(device):
                self.call("cuMemcpyHtoD", destination, source.ctypes.data, source.nbytes)

    def copy_to_host(self, destination: np.ndarray[Any, Any], source: int, device: int = 0) -> None:
        """Copy from a device address into a writable C-contiguous NumPy array, after all work queued before.

        Raises:
            ValueError: the array is not C-contiguous, or not writable.
            KernelFault: a launch with checks met a fault.
        """
        if not (destination.flags.c_contiguous and destination.flags.writeable):
            raise ValueError("copy_to_host takes a writable C-contiguous array")
        if destination.nbytes:
            target = destination.ctypes.data
            self.waiting(device, lambda: self.call("cuMemcpyDtoH", target, source, destination.nbytes), idle=True)

    @keeps_current
    def copy(self, destination: int, source: int, nbytes: int, device: int = 0) -> None:
        """Queue a copy of bytes between device addresses, which may be of two devices, in the stream of `device`."""
        if nbytes:
            stream = self.stream_handle(device)
            self.call("cuMemcpyAsync", destination, source, nbytes, stream)

    @keeps_current
    def fill(self, address: int, pattern: int, count: int, device: int = 0, size: int = 1) -> None:
        """Queue a fill of `count` scalars of `size` bytes (1, 2 or 4) on a device, with the bits of `pattern`."""
        if count:
            stream = self.stream_handle(device)
            self.call(f"cuMemsetD{8 * size}Async", address, pattern, count, stream)

    @keeps_current
    def synchronize(self, index: int = 0) -> None:
        """Wait for all work on the device.

        Raises:
            DeviceError, KernelFault: a kernel failed.
        """
        self.waiting(index, lambda: self.call("cuCtxSynchronize"), idle=True)

    @keeps_current
    def waiting(self, index: int, wait: Callable[[], object], idle: bool = False) -> None:
        """Call `wait`, which waits for the device's work; then report what it left (`launching/pending_faults.py`).

        Args:
            index: the device.
            wait: a driver call that blocks until work is done, and cannot be interrupted.
            idle: before `wait` is called, wait for the default stream in a way that an interrupt can end.

        Raises:
            KernelFault: a launch with checks met a fault.
        """
        self.use(index)

        def wait_for_all() -> None:
            if idle:
                wait_until_idle(self, index)
            wait()

        self.settle(index, wait_for_all)

    def showing(self, index: int) -> AbstractContextManager[None]:
        """Return a context manager that displays the text of kernels that the driver writes inside it.

        The driver writes it at waits, launches, loads of code and copies from the host.
        """
        return self.shown() if index in self.printing else nullcontext()

    @keeps_current
    def load(
        self, index: int, image: bytes, entry: str, shared: int = 0, beside: LoadedKernel | None = None
    ) -> LoadedKernel:
        """Load the kernel `entry` of code made for this device's architecture.

        Args:
            index: the device.
            image: a cubin; PTX for an emulated device.
            entry: the kernel's symbol.
            shared: bytes of dynamic shared memory that its launches will request.
            beside: another kernel of the same image, already loaded: both share their code's variables.
        """
        self.use(index)
        with self.showing(index):
            code = beside.code if beside is not None else self._load_code(image)
            kernel = self.call("cuLibraryGetKernel", code.handle, entry.encode())
            loaded = LoadedKernel(entry, index, self._api.CUfunction(int(kernel)), code)
            self.allow_shared(loaded, shared)
            return loaded

    def _load_code(self, image: bytes) -> LoadedCode:
        """Load code for the devices that run it; no context need be current to unload it."""
        handle = self.call("cuLibraryLoadData", image, [], [], 0, [], [], 0)
        return LoadedCode(handle, self._api.cuLibraryUnload)

    def reset(self, index: int) -> None:
        """Make a device usable again that an error has broken; arrays keep what they hold. Only of emulated devices.

        Raises:
            DeviceError: it is a GPU, whose memory and code would be lost.
        """
        if not self.breakage.resets:
            raise DeviceError(
                f"{self.label(index)} cannot be reset: its memory and its code would be lost.",
                advice="Restart the notebook's kernel, or the process.",
            )
        self._api.state.reset(index)
        self.breakage.devices.pop(index, None)
        self.breakage.last.pop(index, None)

    @keeps_current
    def symbol(self, index: int, kernel: LoadedKernel, name: str) -> tuple[int, int]:
        """Return the address and the bytes of a variable of a kernel's code.

        Raises:
            DeviceError: the code has none of that name.
        """
        self.use(index)
        try:
            address, size = self.call("cuLibraryGetGlobal", kernel.code.handle, name.encode())
        except DeviceError as error:
            if error.status != int(self._api.CUresult.CUDA_ERROR_NOT_FOUND):
                raise
            address, size = self.call("cuLibraryGetManaged", kernel.code.handle, name.encode())
        return int(address), int(size)

    def queue(self, kernel: LoadedKernel, offsets: Sequence[int]) -> Queue:
        """Return the queue that launches a kernel whose parameters lie at these byte offsets of the packed ones."""
        name = "cuLaunchCooperativeKernel" if kernel.cooperative else "cuLaunchKernel"

        def launch(shape: int, stream: int, pointers: int) -> Any:
            sizes, end = (ctypes.c_uint32 * 7).from_address(shape), () if kernel.cooperative else (0,)
            return getattr(self._api, name)(kernel.function, *sizes, self._api.CUstream(stream), pointers, *end)

        return self._queue(name, kernel.device, int(kernel.function), offsets, launch)

    def graph_queue(self, index: int, graph: Any) -> Queue:
        """Return the queue that launches an instantiated graph; its launches have neither parameters nor a shape."""

        def launch(shape: int, stream: int, pointers: int) -> Any:
            return self._api.cuGraphLaunch(graph, self._api.CUstream(stream))

        return self._queue("cuGraphLaunch", index, int(graph), None, launch)

    @keeps_current
    def _queue(
        self, name: str, index: int, executable: int, offsets: Sequence[int] | None, instead: Callable[..., Any]
    ) -> Queue:
        """Return a queue that launches an executable on a device by the driver's function `name`.

        Args:
            name: the function, called by its address from native code.
            index: the device.
            executable: the handle of a function or an instantiated graph.
            offsets: of the parameters among the packed ones, in bytes; None if there are none.
            instead: launches by Python where the driver is written in Python.
        """
        self.use(index)
        native = isinstance(self._api, ModuleType)
        if index not in self._rows:
            functions = self.addresses(("cuCtxGetCurrent", "cuCtxSetCurrent")).values() if native else (0, 0)
            self._rows[index] = DeviceRow(*functions, int(self.call("cuCtxGetCurrent")))
        launch = self.addresses((name,))[name] if native else partial(self._launch_here, index, instead)
        return queue_of(name, index, executable, offsets, self._rows[index], LEGACY, launch)

    def _launch_here(self, index: int, launch: Callable[..., Any], *args: int) -> int:
        """Launch by a function of a driver written in Python, as native code does otherwise; return its status."""
        with self.keeping_current():
            self.use(index)
            return int(launch(*args)[0])

    def addresses(self, names: Sequence[str], version: int = LEAST_DRIVER) -> dict[str, int]:
        """Return the addresses of functions of the driver, for native code.

        Args:
            names: the functions.
            version: of CUDA: functions that later versions changed are taken in this one's form.

        Raises:
            DeviceError: the driver lacks one of them.
        """
        addresses = {n: int(self.call("cuGetProcAddress", n.encode(), version, 0)[0] or 0) for n in names}
        missing = [name for name, address in addresses.items() if not address]  # it succeeds without a function, too
        if missing:
            raise DeviceError(f"The CUDA driver has no {', '.join(missing)}.", advice="Update the driver.")
        return addresses

    def shape(
        self, kernel: LoadedKernel, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int = 0
    ) -> bytes:
        """Return a launch's blocks, threads of a block and bytes of dynamic shared memory, as `launch` takes them.

        Raises:
            DeviceError: a launch cannot have so many blocks, or a block so much memory.
        """
        if any(n > most for n, most in zip(grid, (MAX_BLOCKS, MAX_ROWS, MAX_ROWS), strict=True)):
            shown = " × ".join(map(str, grid)) if grid[1:] != (1, 1) else grid[0]
            raise DeviceError(f"{shown} blocks are more than one launch of {kernel.entry} can have ({MAX_BLOCKS}).")
        self.allow_shared(kernel, shared)
        return shape_bytes(*grid, *block, shared)

    def launch(
        self, queue: Queue, params: bytes, shape: bytes, stream: Any = None, fault: int = 0, name: str = ""
    ) -> None:
        """Queue a launch; the CUDA context that is current in the thread stays current.

        Args:
            queue: of the kernel or graph.
            params: the packed parameters (`backends/layout.py`), read before this returns.
            shape: what `Driver.shape` returned; empty for a graph.
            stream: a stream; the device's current one if None.
            fault: the address of a fault record, for code with checks.
            name: what is named as launched last if something breaks the device; nothing if it is empty.
        """
        index = queue.index
        if self.breakage.devices or os.getpid() != self._process:
            self.use(index)  # which refuses
        if stream is None:
            stream = self._current.get().get(index)
        handle = queue.stream if stream is None else int(handle_of(stream, self._api))
        if self.printing:
            with self.showing(index):
                status = queue.put(params, shape, handle, fault)
        else:
            status = queue.put(params, shape, handle, fault)
        if status:
            self._used.index = index
            raise self._error_of(queue.name, self._api.CUresult(status))
        if name:  # only now: a launch that is refused because the device is broken is not what broke it
            self.breakage.last[index] = name

    def allow_shared(self, kernel: LoadedKernel, shared: int) -> None:
        """Let a kernel's blocks have so many bytes of dynamic shared memory; up to 48 KiB nothing has to be set."""
        if shared <= FREE_SHARED:
            return
        if shared > self._allowed.get(kernel, FREE_SHARED):
            most = self._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            device = self.call("cuDeviceGet", kernel.device)
            self.call("cuKernelSetAttribute", most, shared, kernel.handle(self._api), device)
            self._allowed[kernel] = shared

    def used(self) -> list[int]:
        """Return the numbers of the devices that were used, ascending."""
        return sorted(self._contexts)

    def _describe(self, index: int) -> CudaDevice:
        """Return a device's properties, as the driver reports them; no context is created."""
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
        """Return the properties of a device; raise a DeviceError if there is no such device."""
        if not 0 <= index < len(self.properties):
            listed = ", ".join(self.label(d.index) for d in self.properties)
            raise DeviceError(f"There is no device {self.kind}:{index}.", advice=f"This machine has {listed}.")
        return self.properties[index]

    def use(self, index: int) -> None:
        """Make the primary context of the device current in this thread.

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
        if index not in self._contexts:
            self._known(index)
            self._contexts[index] = self.call("cuDevicePrimaryCtxRetain", self.call("cuDeviceGet", index))
        self.call("cuCtxSetCurrent", self._contexts[index])

    def stream_handle(self, index: int, stream: Any = None) -> Any:
        """Return the handle of this stream, else of the one that `in_stream` set, else of the device's default one."""
        self.use(index)
        chosen = stream or self._current.get().get(index)
        return self._default if chosen is None else handle_of(chosen, self._api)

    def release(self, index: int, function: str, *args: Any) -> None:
        """Call a function that frees a handle, from any thread; the context that is current in it stays current.

        Raises:
            DeviceError: CUDA refused it.
        """
        with self.keeping_current():
            self.use(index)
            self.call(function, *args)

    @contextmanager
    def keeping_current(self) -> Generator[None]:
        """Restore the CUDA context that is current in the thread when the `with` ends; if none is, nothing is restored.

        It may be another device's, or another library's of the same device.
        """
        _, before, *_ = (*self._api.cuCtxGetCurrent(), 0)  # with an error, which the next call meets, there is no more
        try:
            yield
        finally:
            if int(before or 0):
                self._api.cuCtxSetCurrent(before)

    @contextmanager
    def in_stream(self, index: int, stream: Any) -> Generator[None]:
        """Make a stream the current one of a device inside a `with`: for work that names no other."""
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
        """Call a function of the driver; return its value, a tuple of several, or None.

        Raises:
            DeviceError: CUDA refused it; `status` is the number.
        """
        try:
            status, *values = getattr(self._api, name)(*args)
        except WorkbenchError:
            raise
        except Exception as problem:
            raise DeviceError(f"CUDA failed in {name}: {problem}.") from problem
        if status != self._api.CUresult.CUDA_SUCCESS:
            raise self._error_of(name, status)
        return values[0] if len(values) == 1 else tuple(values) if values else None

    def _error_of(self, name: str, status: Any) -> DeviceError:
        """Return the error for a status of a driver's function; a status that breaks the device is noted as that."""
        label = getattr(status, "name", str(status))
        why = self._why(status)
        broken = self.breakage.met(getattr(self._used, "index", None), f"CUDA refused {name}", label, why)
        return broken or DeviceError(
            f"CUDA refused {name}: {label}{why}.", status=int(status), advice=_ADVICE.get(label, "")
        )

    def _why(self, status: Any) -> str:
        """Return the driver's description of a status in parentheses; empty if it has none."""
        with suppress(Exception):
            text = self._api.cuGetErrorString(status)[1].decode()
            return f" ({text})" if text else ""
        return ""


_ADVICE = {
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": (
        "A block's threads need more registers than there are: take a smaller block_dim."
    ),
    "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT": (
        "A library captures a stream that waits for the default one: allocate and copy before or after the capture."
    ),
}
_PORTABLE = 1
"""CU_MEMHOSTALLOC_PORTABLE: page-locked for every device."""
