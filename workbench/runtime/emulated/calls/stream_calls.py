"""Functions of the driver that are about streams, events and launches, or capture streams.

An event that is recorded in a captured stream marks the nodes captured so far; nothing is queued for it.
"""

from __future__ import annotations

import ctypes
from typing import Any, NoReturn

from workbench.runtime.emulated.code import Function, Kernel, Launch, Library, check, parameters
from workbench.runtime.emulated.graphs import Condition, Graph, Node
from workbench.runtime.emulated.state import Context, State, Table, function
from workbench.runtime.emulated.status_error import CudaStatusError, expect
from workbench.runtime.emulated.streams import Event, Stream, milliseconds

CAPTURES: Table = {}
_STATUS = "CUDA_ERROR_STREAM_CAPTURE_"


class Capture:
    """The capture of a stream, and of the streams that joined it by waiting for one of its events.

    Attributes:
        origin: the stream in which it began.
        graph: the graph that it becomes.
        last: by stream, the nodes that what is captured next comes after.
        spoiled: something was done that ends the capture without a graph.
    """

    def __init__(self, origin: Stream) -> None:
        """Begin an empty capture in the stream `origin`."""
        self.origin = origin
        self.graph = Graph(origin.device)
        self.last: dict[Stream, tuple[Node, ...]] = {origin: ()}
        self.spoiled = False

    def add(self, stream: Stream, work: Any) -> None:
        """Add a node for work that comes next in one of the captured streams."""
        self.last[stream] = (self.graph.add(self.last[stream], work),)

    def after(self, stream: Stream, nodes: tuple[Node, ...]) -> None:
        """Make a stream part of the capture: what is captured next in it comes after these nodes, too."""
        stream.capture = self
        self.last[stream] = tuple(dict.fromkeys((*self.last.get(stream, ()), *nodes)))

    @property
    def is_joined(self) -> bool:
        """Return whether the origin stream waits for all work that was captured in the other streams."""
        waited = {before for node in self.graph.nodes for before in node.after} | set(self.last[self.origin])
        return waited.issuperset(self.graph.nodes)

    def invalidate(self, status: str, why: str) -> NoReturn:
        """Refuse a call with a status, and mark the capture as spoiled: it will end without a graph.

        Raises:
            CudaStatusError: always.
        """
        self.spoiled = True
        raise CudaStatusError(status, why)


@function(CAPTURES)
def _cuStreamBeginCapture(state: State, stream: Any, mode: Any) -> None:
    """Begin the capture of a stream; refuse the default stream and one that is captured already. `mode` is ignored."""
    expect(int(stream or 0) > 2, "the default stream cannot be captured", f"{_STATUS}UNSUPPORTED")
    stream_object = state.stream(stream, "cuStreamBeginCapture")
    expect(stream_object.capture is None, "the stream is being captured already", "CUDA_ERROR_ILLEGAL_STATE")
    stream_object.capture = Capture(stream_object)


@function(CAPTURES)
def _cuStreamIsCapturing(state: State, stream: Any) -> Any:
    """Return the stream's capture status: none, active, or invalidated."""
    capture = state.stream(stream, "cuStreamIsCapturing").capture
    status = "NONE" if capture is None else "INVALIDATED" if capture.spoiled else "ACTIVE"
    return getattr(state.api.CUstreamCaptureStatus, f"CU_STREAM_CAPTURE_STATUS_{status}")


@function(CAPTURES)
def _cuStreamEndCapture(state: State, stream: Any) -> Any:
    """End a stream's capture and return the handle of its graph.

    Refuse if the capture began in another stream, was spoiled, or a stream that joined it was not waited for.
    """
    stream_object = state.stream(stream, "cuStreamEndCapture")
    capture = stream_object.capture
    expect(capture is not None, "the stream is not being captured", "CUDA_ERROR_ILLEGAL_STATE")
    expect(capture.origin is stream_object, "the capture was begun in another stream", f"{_STATUS}UNMATCHED")
    for member in capture.last:
        member.capture = None
    ended = "what was done while the stream was captured ended the capture"
    expect(not capture.spoiled, ended, f"{_STATUS}INVALIDATED")
    unjoined = "another stream joined the capture, and its work is not waited for by the stream in which it began"
    expect(capture.is_joined, unjoined, f"{_STATUS}UNJOINED")
    return state.api.CUgraph(state.handles.new(capture.graph))


@function(CAPTURES)
def _cuEventRecord(state: State, event: Any, stream: Any) -> None:
    """Record an event in a stream; in a captured one, it marks the nodes captured so far, and nothing is queued."""
    event_object = state.handles.get(event, Event, "cuEventRecord")
    stream_object = state.stream(stream, "cuEventRecord")
    state.not_captured_beside(stream_object, "cuEventRecord")
    if event_object.device != stream_object.device:
        raise CudaStatusError("CUDA_ERROR_INVALID_HANDLE", "cuEventRecord: the event and the stream are of two devices")
    capture = stream_object.capture
    if capture is None:
        event_object.captured = None
        state.streams.record(event_object, stream_object)
    else:
        event_object.mark, event_object.captured = None, (capture, capture.last[stream_object])


@function(CAPTURES)
def _cuStreamWaitEvent(state: State, stream: Any, event: Any, flags: int) -> None:
    """Make a stream's later work wait for an event; if the event is of a capture, the stream joins that."""
    where = "cuStreamWaitEvent"
    stream_object = state.stream(stream, where, anywhere=True)
    event_object = state.handles.get(event, Event, where)
    expect(flags == 0, f"{where}: nodes that wait for events are not emulated", "CUDA_ERROR_NOT_SUPPORTED")
    if event_object.captured is not None:
        _join(stream_object, *event_object.captured)
    elif stream_object.capture is not None:
        why = f"{where}: a stream that is being captured cannot wait for what is not captured"
        stream_object.capture.invalidate(f"{_STATUS}ISOLATION", why)
    elif event_object.mark is not None and not event_object.mark.done:
        stream_object.waits.append(event_object.mark)


def _join(stream: Stream, capture: Capture, nodes: tuple[Node, ...]) -> None:
    """Make a stream part of a capture: what it gets from now on comes after these nodes.

    Raises:
        CudaStatusError: it cannot be captured, or not in this capture.
    """
    where = "cuStreamWaitEvent"
    if capture.origin.capture is not capture:
        why = f"{where}: the event was last recorded in a capture, which is over"
        raise CudaStatusError("CUDA_ERROR_CAPTURED_EVENT", why)
    if stream.default:
        capture.invalidate(f"{_STATUS}IMPLICIT", f"{where}: the default stream cannot be captured")
    if stream.device != capture.origin.device:
        capture.invalidate("CUDA_ERROR_NOT_SUPPORTED", f"{where}: a capture of two devices is not emulated")
    if stream.capture not in (None, capture):
        stream.capture.spoiled = True
        capture.invalidate(f"{_STATUS}MERGE", f"{where}: two captures would become one")
    capture.after(stream, nodes)


def uncaptured(event: Event, where: str) -> Event:
    """Return the event, if it was not last recorded in a capture.

    Raises:
        CudaStatusError: it was, so no device will ever come to it; the capture is spoiled.
    """
    if event.captured is not None:
        why = f"{where}: the event was last recorded in a stream that was being captured"
        event.captured[0].invalidate("CUDA_ERROR_CAPTURED_EVENT", why)
    return event


TABLE: Table = {}
_NON_BLOCKING, _NO_TIMING = 1, 2


@function(TABLE)
def _cuStreamCreateWithPriority(state: State, flags: int, priority: int) -> Any:
    """Return the handle of a new stream, blocking unless `flags` say otherwise; the priority is ignored."""
    expect(flags in (0, _NON_BLOCKING), f"a stream has no flags {flags}")
    return state.api.CUstream(state.handles.new(state.streams.new(state.device(), flags == 0)))


@function(TABLE)
def _cuStreamDestroy(state: State, stream: Any) -> None:
    """Release a stream's handle; work that is queued in it is still done."""
    state.streams.drop(state.handles.drop(stream, Stream, "cuStreamDestroy"))


def _ends(state: State, stream: Any, where: str) -> Any:
    """Return the last unfinished work of a stream, for the default one also of the blocking streams of its device.

    Refuse while such a stream is captured.
    """
    stream_object = state.stream(stream, where)
    state.must_not_capture(stream_object, where)
    state.not_captured_beside(stream_object, where)
    in_order_with = (
        [s for s in state.streams.of_device[stream_object.device] if s.blocking] if stream_object.default else []
    )
    return state.streams.ends({stream_object, *in_order_with})


@function(TABLE)
def _cuStreamQuery(state: State, stream: Any) -> None:
    """Run what is queued in a stream, so that the answer is never "not ready"."""
    state.streams.finish(_ends(state, stream, "cuStreamQuery"))


@function(TABLE)
def _cuStreamSynchronize(state: State, stream: Any) -> None:
    """Run what is queued in a stream, and write what kernels printed."""
    state.streams.finish(_ends(state, stream, "cuStreamSynchronize"))
    state.flush()


@function(TABLE)
def _cuEventCreate(state: State, flags: int) -> Any:
    """Return the handle of a new event of the current device; it keeps the time unless `flags` say otherwise."""
    return state.api.CUevent(state.handles.new(Event(state.device(), not flags & _NO_TIMING)))


@function(TABLE)
def _cuEventDestroy(state: State, event: Any) -> None:
    """Release an event's handle."""
    state.handles.drop(event, Event, "cuEventDestroy")


@function(TABLE)
def _cuEventQuery(state: State, event: Any) -> None:
    """Run queued work until the event's moment, so that the answer is never "not ready"; refuse a captured event."""
    event_object = uncaptured(state.handles.get(event, Event, "cuEventQuery"), "cuEventQuery")
    state.streams.finish([event_object.mark] if event_object.mark is not None else [])


@function(TABLE)
def _cuEventSynchronize(state: State, event: Any) -> None:
    """Run queued work until the event's moment, and write what kernels printed."""
    _cuEventQuery(state, event)
    state.flush()


@function(TABLE)
def _cuEventElapsedTime(state: State, start: Any, end: Any) -> float:
    """Return the milliseconds between two recorded events; refuse events of a capture."""
    where = "cuEventElapsedTime"
    first, last = (uncaptured(state.handles.get(e, Event, where), where) for e in (start, end))
    return milliseconds(first, last)


@function(TABLE)
def _cuLaunchKernel(
    state: State, kernel: Any, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: Any,
    pointers: int, extra: Any,
) -> None:  # fmt: skip
    """Queue a launch in a stream, or capture it; `extra` is ignored."""
    _launch(state, "cuLaunchKernel", kernel, (gx, gy, gz), (bx, by, bz), shared, stream, pointers)


@function(TABLE)
def _cuLaunchCooperativeKernel(
    state: State, kernel: Any, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: Any,
    pointers: int,
) -> None:  # fmt: skip
    """Queue a launch whose blocks may wait for one another in a stream, or capture it."""
    _launch(state, "cuLaunchCooperativeKernel", kernel, (gx, gy, gz), (bx, by, bz), shared, stream, pointers)


def _launch(
    state: State, where: str, kernel: Any, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int,
    stream: Any, pointers: int,
) -> None:  # fmt: skip
    """Check a launch and queue it in a stream, or add it to the capture; `where` is the driver's function."""
    stream_object, device = state.stream(stream, where), state.device()
    state.flush()
    kernel_object = launched(state, kernel, where)
    launch = Launch(grid, block, parameters(kernel_object, int(pointers or 0)), shared, "Cooperative" in where)
    check(kernel_object, launch, device, state.devices[device])
    if stream_object.capture is not None:
        stream_object.capture.add(stream_object, (kernel_object, launch))
    else:
        state.put(stream_object, lambda: state.run(kernel_object, launch, device), kernel_object.name)


def launched(state: State, handle: Any, where: str) -> Kernel:
    """Return the kernel of a CUfunction, or of a CUkernel that was cast to one: only `cuLaunchKernel` takes both.

    Raises:
        CudaStatusError: it is neither; or the function is another device's.
    """
    try:
        return state.handles.get(handle, Kernel, where)
    except CudaStatusError:
        return of_function(state, handle, where)


def of_function(state: State, handle: Any, where: str) -> Kernel:
    """Return the kernel of a CUfunction.

    Raises:
        CudaStatusError: the handle is not a CUfunction's, or it is another device's.
    """
    function = state.handles.get(handle, Function, where)
    if function.device != state.device():
        raise CudaStatusError(
            "CUDA_ERROR_INVALID_HANDLE", f"{where}: {function.kernel.name} was loaded on another device"
        )
    return function.kernel


@function(TABLE)
def _cuLibraryLoadData(state: State, image: bytes | int, *options: Any) -> Any:
    """Load PTX and return the library's handle; refuse a cubin. Options are ignored.

    The image is bytes, or the address of PTX that ends with a zero byte.
    """
    state.flush()
    ptx = image if isinstance(image, bytes) else ctypes.string_at(image)
    if not ptx.isascii():
        raise CudaStatusError(
            "CUDA_ERROR_NO_BINARY_FOR_GPU", "a cubin is machine code of a GPU; emulated devices run PTX"
        )
    return state.api.CUlibrary(state.handles.new(Library(state.load(ptx, state.devices[state.device()]))))


@function(TABLE)
def _cuLibraryGetKernel(state: State, library: Any, name: bytes) -> Any:
    """Return the handle of a new kernel object for the kernel of this name in a library."""
    library_object = state.handles.get(library, Library, "cuLibraryGetKernel")
    kernel = state.kernel(library_object.module, name.decode())
    kernel.library = int(library)
    return state.api.CUkernel(kernel.number)


@function(TABLE)
def _cuLibraryGetGlobal(state: State, library: Any, name: bytes) -> Any:
    """Return the address, on the current device, and the bytes of a variable of a library."""
    library_object = state.handles.get(library, Library, "cuLibraryGetGlobal")
    address, size = state.variable(library_object.module, name.decode())
    return state.api.CUdeviceptr(address), size


@function(TABLE)
def _cuLibraryUnload(state: State, library: Any) -> None:
    """Release a library's handle and those of its kernels."""
    state.handles.drop(library, Library, "cuLibraryUnload")
    for number, kernel in state.handles.all(Kernel):
        if kernel.library == int(library):
            state.handles.drop(number, Kernel, "cuLibraryUnload")


@function(TABLE)
def _cuKernelGetFunction(state: State, kernel: Any) -> Any:
    """Return a new handle of the kernel on the current device."""
    kernel_object = state.handles.get(kernel, Kernel, "cuKernelGetFunction")
    return state.api.CUfunction(state.handles.new(Function(kernel_object, state.device())))


@function(TABLE)
def _cuKernelSetAttribute(state: State, attribute: Any, value: int, kernel: Any, device: Any) -> None:
    """Set a kernel's most bytes of dynamic shared memory on a device; refuse other attributes and too many bytes."""
    kernel_object, index = state.handles.get(kernel, Kernel, "cuKernelSetAttribute"), state.known(device)
    kinds = state.api.CUfunction_attribute
    expect(
        attribute == kinds.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        f"{getattr(attribute, 'name', attribute)} is not emulated",
        "CUDA_ERROR_NOT_SUPPORTED",
    )
    most = state.devices[index].attributes()["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"] - kernel_object.entry.shared
    expect(0 <= value <= most, f"{kernel_object.name} can have {most:,} bytes of dynamic shared memory, not {value:,}")
    kernel_object.allowed[index] = value


@function(TABLE)
def _cuGraphConditionalHandleCreate(state: State, graph: Any, context: Any, default: int, flags: int) -> Any:
    """Return a new condition of a graph; with bit 0 of `flags` each launch of the graph sets it to `default` first."""
    owner = state.handles.get(graph, Graph, "cuGraphConditionalHandleCreate")
    state.handles.get(context, Context, "cuGraphConditionalHandleCreate")
    condition = Condition(default, default if flags & 1 else None, owner)
    return state.api.CUgraphConditionalHandle(state.handles.new(condition))
