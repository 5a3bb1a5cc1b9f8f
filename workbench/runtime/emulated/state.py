"""All that an emulated driver holds: memory, handles, streams, each thread's context; and how a kernel is run."""

from __future__ import annotations

import itertools
import mmap
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from msgspec.structs import replace

from workbench.backends.cuda.architectures import LABELS, Architecture, architecture
from workbench.runtime.emulated.arena import HOST, Allocation, Arena, reserve
from workbench.runtime.emulated.code import Executable, Kernel, Launch
from workbench.runtime.emulated.findings import Finding
from workbench.runtime.emulated.graphs import Condition
from workbench.runtime.emulated.status_error import CudaStatusError, expect, invalid
from workbench.runtime.emulated.streams import QueuedWork, Stream, Streams

Kind = TypeVar("Kind")
_NUMBERS = itertools.count(0x7A0010, 16)
_ARTICLES = ("a", "an")


def called(kind: type) -> str:
    """Return the name of a kind of object with its article: "a stream", "an event"."""
    name = kind.__name__.lower()
    return f"{_ARTICLES[name[0] in 'aeiou']} {name}"


class Handles:
    """The numbers that stand for CUDA's objects; each is for an object of one class, and none is used twice."""

    def __init__(self) -> None:
        self._objects: dict[int, object] = {}
        self._gone: dict[int, str] = {}

    def new(self, value: Any) -> int:
        """Create a handle of an object, and return its number."""
        number = next(_NUMBERS)
        self._objects[number] = value
        return number

    def get(self, handle: Any, kind: type[Kind], where: str) -> Kind:
        """Return the object that a handle stands for; `where` names the call in messages.

        Raises:
            CudaStatusError: it stands for nothing, for what was destroyed, or for an object of another class.
        """
        number = int(handle or 0)
        value = self._objects.get(number)
        if isinstance(value, kind):
            return value
        if value is not None:
            what = f"{number:#x} is {called(type(value))}, not {called(kind)}"
        elif number in self._gone:
            what = f"{called(kind)} was used after it was destroyed"
        else:
            what = f"{number:#x} is no handle of {called(kind)}"
        raise CudaStatusError("CUDA_ERROR_INVALID_HANDLE", f"{where}: {what}")

    def drop(self, handle: Any, kind: type[Kind], where: str) -> Kind:
        """Make a handle invalid, and return its object.

        Raises:
            CudaStatusError: it stands for nothing, for what was destroyed, or for an object of another class.
        """
        value = self.get(handle, kind, where)
        del self._objects[int(handle)]
        self._gone[int(handle)] = called(kind)
        return value

    def all(self, kind: type[Kind]) -> Iterator[tuple[int, Kind]]:
        """Yield number and object of each handle of one class."""
        return ((n, value) for n, value in list(self._objects.items()) if isinstance(value, kind))


LEGACY, PER_THREAD = 1, 2
"""CU_STREAM_LEGACY and CU_STREAM_PER_THREAD."""


@dataclass(frozen=True)
class Machine:
    """The environment of a running kernel besides its parameters.

    Attributes:
        arena: the memory.
        device: the number of the device that it runs on.
        owners: numbers of the devices whose memory it may access, and `HOST`.
        write: takes what it prints.
        set_condition: sets a condition of a graph: handle and value.
        seed: of the order of its blocks and warps; 0 leaves it as it is.
        report: takes what is wrong with a sanitized launch.
        unwritten: which memory nothing has written yet; None: not tracked.
    """

    arena: Arena
    device: int
    owners: frozenset[int]
    write: Callable[[bytes], object]
    set_condition: Callable[[int, int], None]
    seed: int = 0
    report: Callable[[Finding], object] = lambda _: None
    unwritten: Unwritten | None = None

    @property
    def memory(self) -> np.ndarray:
        """All bytes of the arena."""
        return self.arena.memory

    @property
    def base(self) -> int:
        """The first address of the arena."""
        return self.arena.base

    def alloc(self, nbytes: int) -> int:
        """Allocate memory of the device that belongs to no array, such as shared memory; return its address."""
        return self.arena.alloc(nbytes, self.device).start

    def free(self, address: int) -> None:
        """Free memory that `alloc` returned."""
        self.arena.free(address)

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the first addresses and the ends of all that the kernel may access, ascending."""
        ranges = [(a.start, a.end) for a in self.arena.live() if a.owner in self.owners]
        both = np.array(ranges or [(0, 0)], np.int64)
        return both[:, 0].copy(), both[:, 1].copy()

    def span(self) -> tuple[int, int]:
        """Return the first address that the kernel may access, and the number of bytes up to the end of the last."""
        starts, ends = self.spans()
        first = int(starts[0]) // 16 * 16
        return first, -(-int(ends[-1]) // 16) * 16 - first

    def check(self, params: Iterable[bytes]) -> None:
        """Refuse parameters with addresses that the kernel may not reach: what was freed, or is another device's.

        Raises:
            CudaStatusError: there is one.
        """
        for number, value in enumerate(params):
            for word in np.frombuffer(value[: len(value) // 8 * 8], np.uint64).tolist():
                # The end of an allocation is where an empty view of it may begin.
                if self.arena.holds(word) and self.access_problem(word, 0) and self.access_problem(word - 1, 0):
                    raise CudaStatusError(
                        "CUDA_ERROR_ILLEGAL_ADDRESS", f"parameter {number}: {self.access_problem(word, 0)}"
                    )

    def access_problem(self, address: int, nbytes: int) -> str:
        """Return what is wrong with accessing these bytes, as a clause; empty if nothing is."""
        allocation = self.arena.find(address)
        if allocation is None:
            return f"{address:#x} is no address of an allocation"
        if allocation.owner not in self.owners:
            return f"{address:#x} is memory of another device"
        if address + nbytes > allocation.end:
            return f"{address:#x} is within {nbytes} bytes of the end of its allocation of {allocation.nbytes:,} bytes"
        return ""


@dataclass
class State:
    """All that an emulated driver holds.

    Attributes:
        api: `cuda.bindings.driver`, for its structures.
        load: makes PTX executable, for an architecture.
        memory: bytes of each device.
        seed: of the order of work; None for the order in which it was queued.
        arena: the memory of all devices.
        handles: the objects behind CUDA's handles.
        peers: pairs of a device that owns memory and a device that may access it.
        devices: the architecture of each device.
        started: whether `cuInit` was called.
        version: what `cuDriverGetVersion` returns; older drivers lack some kinds of nodes.
    """

    api: Any
    load: Callable[[bytes, Architecture], Executable]
    memory: int
    seed: int | None = None
    arena: Arena = field(default_factory=Arena)
    handles: Handles = field(default_factory=Handles)
    peers: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    devices: tuple[Architecture, ...] = tuple(architecture(n) for n in range(len(LABELS)))
    started: bool = False
    version: int = 13_000

    def __post_init__(self) -> None:
        """Create the streams, the handles of pools and contexts, and the lock."""
        self.streams = Streams(len(self.devices), self.seed)
        self.lock = threading.RLock()
        self.pools = [self.handles.new(Pool(n)) for n in range(len(self.devices))]
        self.contexts = [self.handles.new(Context(n)) for n in range(len(self.devices))]
        self.here = threading.local()
        self.kept: list[Any] = []
        self.active: set[int] = set()  # devices whose context was ever current
        self._printed = bytearray()
        self.unwritten = Unwritten(self.arena)
        self._findings: dict[int, list[Finding]] = {}

    # Contexts.

    @property
    def current(self) -> int | None:
        """The device whose context is current in this thread; None if none is."""
        return getattr(self.here, "device", None)

    def device(self) -> int:
        """Return the current device's number.

        Raises:
            CudaStatusError: no context is current in this thread.
        """
        device = self.current
        if device is None:
            raise CudaStatusError("CUDA_ERROR_INVALID_CONTEXT", "no context is current in this thread")
        return device

    def known(self, index: Any) -> int:
        """Return the number of a device as an int, if there is one of that number.

        Raises:
            CudaStatusError: there is none.
        """
        expect(0 <= int(index) < len(self.devices), f"there is no device {int(index)}", "CUDA_ERROR_INVALID_DEVICE")
        return int(index)

    # Streams.

    def stream(self, handle: Any, where: str, anywhere: bool = False) -> Stream:
        """Return the stream of a handle; 0 and `LEGACY` mean the current device's default stream.

        It has to be of the current device unless `anywhere` is set.

        Raises:
            CudaStatusError: there is no such stream, or it is another device's.
        """
        number = int(handle or 0)
        if number in (0, LEGACY):
            return self.streams.default[self.device()]
        expect(
            number != PER_THREAD, f"{where}: per-thread default streams are not emulated", "CUDA_ERROR_NOT_SUPPORTED"
        )
        stream = self.handles.get(handle, Stream, where)
        if not anywhere and stream.device != self.device():
            raise CudaStatusError(
                "CUDA_ERROR_INVALID_HANDLE",
                f"{where}: the stream is of device {stream.device}, current is {self.device()}",
            )
        return stream

    def put(self, stream: Stream, do: Callable[[], object], title: str) -> QueuedWork | None:
        """Queue work in a stream, and return what was queued; if the stream is captured, add a node and return None.

        Raises:
            CudaStatusError: the default stream may not be used while a stream that is in order with it is captured.
        """
        self.not_captured_beside(stream, title)
        if stream.capture is not None:
            stream.capture.add(stream, do)
            return None
        return self.streams.put(stream, do, title)

    def not_captured_beside(self, stream: Stream, title: str) -> None:
        """Refuse the default stream while a stream that is in order with it is captured; that capture is spoiled.

        Raises:
            CudaStatusError: such a stream is being captured.
        """
        captures = [s.capture for s in self.streams.of_device[stream.device] if s.blocking and s.capture]
        if stream.default and captures:
            for capture in captures:
                capture.spoiled = True
            raise CudaStatusError(
                "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
                f"{title} uses the default stream while a stream that waits for it is being captured",
            )

    def must_not_capture(self, stream: Stream, where: str) -> None:
        """Refuse to wait for, or ask about, a stream that is being captured, and mark its capture as spoiled.

        Raises:
            CudaStatusError: it is being captured.
        """
        if stream.capture is not None:
            stream.capture.spoiled = True
            raise CudaStatusError("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", f"{where}: the stream is being captured")

    def flush(self) -> None:
        """Write what kernels have printed to the process's output, as a driver does at a wait, a launch, a load."""
        printed = bytes(self._printed)
        self._printed.clear()
        while printed:
            printed = printed[os.write(1, printed) :]

    # Memory.

    def alloc(self, nbytes: int, device: int) -> Allocation:
        """Allocate memory of a device, or pinned memory of the host if the number is negative.

        Raises:
            CudaStatusError: it has not that much left, even when all queued work is done.
        """
        owner = device if device >= 0 else HOST
        for again in (False, True):
            free = self.memory - self.arena.used(owner)
            if nbytes <= free:
                allocation = self.arena.alloc(nbytes, owner)
                if owner != HOST:  # what the process writes into pinned memory is not seen
                    self.unwritten.allocated(allocation)
                return allocation
            if not again:
                self.streams.finish(self.streams.ends(s for streams in self.streams.of_device for s in streams))
        raise CudaStatusError("CUDA_ERROR_OUT_OF_MEMORY", f"{nbytes:,} bytes were requested, {free:,} are free")

    def free(self, address: int) -> None:
        """Free the allocation that begins at an address.

        Raises:
            CudaStatusError: there is none.
        """
        self.unwritten.forget(address)
        self.arena.free(address)

    def touch(self, address: int, nbytes: int, where: str) -> None:
        """Check that bytes all lie in one allocation; `where` names the call in messages.

        Raises:
            CudaStatusError: they do not.
        """
        allocation = self.arena.find(address)
        if allocation is None:
            kind = "was freed, or never allocated" if self.arena.holds(address) else "is no device or pinned memory"
            invalid(f"{where}: {address:#x} {kind}")
        if address + nbytes > allocation.end:
            invalid(
                f"{where}: {nbytes:,} bytes from {address:#x} on go {address + nbytes - allocation.end:,} bytes "
                f"past the end of their allocation"
            )

    def move(self, target: int, source: int, nbytes: int) -> None:
        """Copy bytes within the arena.

        Raises:
            CudaStatusError: they are not allocated: they were freed since the copy was queued.
        """
        self.touch(target, nbytes, "a copy")
        self.touch(source, nbytes, "a copy")
        self.arena.bytes_at(target, nbytes)[:] = self.arena.bytes_at(source, nbytes).copy()
        self.unwritten.wrote(target, nbytes)

    # Kernels.

    def kernel(self, module: Executable, name: str) -> Kernel:
        """Return a new kernel object for a kernel of a module, with a handle.

        Raises:
            CudaStatusError: the module has none of this name.
        """
        try:
            entry = module.entries[name]
        except KeyError:
            raise CudaStatusError("CUDA_ERROR_NOT_FOUND", f"the code has no kernel {name}") from None
        kernel = Kernel(module, entry)
        kernel.number = self.handles.new(kernel)
        return kernel

    def run(self, kernel: Kernel, launch: Launch, device: int) -> None:
        """Execute a launch on a device at once.

        Raises:
            CudaStatusError: the launch did what a GPU does not survive.
        """
        if not kernel.module.sanitized:
            self.unwritten.forget_all()
        kernel.module.run(kernel.name, launch, self._machine(device, kernel.number))

    def variable(self, module: Executable, name: str) -> tuple[int, int]:
        """Return the address and the size in bytes of a module's variable on the current device.

        Raises:
            CudaStatusError: the module has none of this name.
        """
        size = module.variables.get(name)
        if size is None:
            raise CudaStatusError("CUDA_ERROR_NOT_FOUND", f"the code has no variable {name}")
        return module.addresses(self._machine(self.device(), 0))[name], size

    def _machine(self, device: int, kernel: int) -> Machine:
        """Return the environment of a launch of a kernel on a device."""
        reachable = {device, HOST, *(owner for owner, peer in self.peers if peer == device)}
        return Machine(
            self.arena, device, frozenset(reachable), self._printed.extend, self._set_condition, self.streams.number(),
            lambda finding: self._findings.setdefault(device, []).append(replace(finding, kernel=kernel)),
            self.unwritten,
        )  # fmt: skip

    def reset(self, device: int) -> None:
        """Forget the error that has broken a device, and drop what is queued on it.

        On a device that is not broken, the queued work is done.
        """
        with self.lock:
            self.streams.finish(self.streams.ends(self.streams.of_device[device]))
            self.streams.broken.pop(device, None)

    def findings(self, device: int) -> list[Finding]:
        """Return what sanitized launches on a device did wrong since the last call, in their order."""
        with self.lock:
            return self._findings.pop(device, [])

    def _set_condition(self, handle: int, value: int) -> None:
        """Set the value of a graph's condition, as a kernel does by `cudaGraphSetConditional`."""
        self.handles.get(handle, Condition, "cudaGraphSetConditional").value = value


@dataclass(frozen=True)
class Pool:
    """The memory pool of a device, which a CUmemoryPool stands for."""

    device: int


@dataclass(frozen=True)
class Context:
    """The primary context of a device, which a CUcontext stands for."""

    device: int


@dataclass(frozen=True)
class Called:
    """A function of the emulated driver.

    Attributes:
        do: takes the state and the arguments; returns nothing, a value or a tuple of values.
        context: it needs a current context.
    """

    do: Callable[..., Any]
    context: bool = True


Table = dict[str, Called]


def function(table: Table, context: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function of the driver: enter it into `table` under its name without the leading underscore."""

    def enter(do: Callable[..., Any]) -> Callable[..., Any]:
        table[do.__name__.removeprefix("_")] = Called(do, context)
        return do

    return enter


def joined(*tables: Mapping[str, Called]) -> Table:
    """Return the union of tables of functions."""
    return {name: called for table in tables for name, called in table.items()}


LARGEST = 256 << 20
"""Bytes of the largest allocation that has a shadow; larger ones count as written."""


class Unwritten:
    """The bytes of an arena that nothing has written, as a shadow: 0xFF for such a byte, 0 for all others."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._fresh: dict[int, Allocation] = {}
        self._pieces: dict[int, list[tuple[int, int]] | None] = {}
        """The address and size of each write, by allocation; None if its bytes are marked in the shadow."""
        self._map: mmap.mmap | None = None

    def allocated(self, allocation: Allocation) -> None:
        """Start to track a new allocation, all of it unwritten; one larger than `LARGEST` is not tracked."""
        if allocation.nbytes <= LARGEST:
            self._fresh[allocation.start], self._pieces[allocation.start] = allocation, []

    def wrote(self, address: int, nbytes: int) -> None:
        """Mark bytes as written, by a copy or a fill."""
        allocation = self._arena.find(address)
        if allocation is None or allocation.start not in self._fresh:
            return
        pieces = self._pieces[allocation.start]
        if nbytes >= allocation.nbytes:
            self.forget(allocation.start)
        elif pieces is None:
            self._set(address, nbytes, 0)
        else:
            pieces.append((address, nbytes))

    def forget(self, start: int) -> None:
        """Stop tracking an allocation, which counts as written or is freed."""
        allocation = self._fresh.pop(start, None)
        if allocation is not None and self._pieces.pop(start) is None:
            self._set(start, allocation.nbytes, 0)

    def forget_all(self) -> None:
        """Stop tracking all memory: a launch without checks may write any of it."""
        for start in list(self._fresh):
            self.forget(start)

    def distance(self) -> int:
        """Bring the shadow up to date; return its distance in bytes from the arena, 0 if it cannot be reserved."""
        if self._map is None:
            try:
                self._map = reserve(self._arena.size, self._arena.size)
            except CudaStatusError:
                return 0
        for start, pieces in self._pieces.items():
            if pieces is not None:
                self._set(start, self._fresh[start].nbytes, 0xFF)
                for address, nbytes in pieces:
                    self._set(address, nbytes, 0)
                self._pieces[start] = None
        return np.frombuffer(self._map, np.uint8).ctypes.data - self._arena.base

    def clear(self, address: int, nbytes: int) -> None:
        """Mark the shared and local memory of a launch that is over as written, so that it is not tracked."""
        if self._map is not None:
            self._set(address, nbytes, 0)

    def _set(self, address: int, nbytes: int, value: int) -> None:
        """Set the shadow of a range of bytes: 0 for written, 0xFF for unwritten."""
        assert self._map is not None
        first, page = address - self._arena.base, mmap.PAGESIZE
        low, high = -(-first // page) * page, (first + nbytes) // page * page
        if not value and high > low and hasattr(self._map, "madvise"):  # whole pages go back to the system
            self._map.madvise(mmap.MADV_DONTNEED, low, high - low)
            pieces = (first, low), (high, first + nbytes)
        else:
            pieces = ((first, first + nbytes),)
        shadow = np.frombuffer(self._map, np.uint8)
        for begin, end in pieces:
            shadow[begin:end] = value
