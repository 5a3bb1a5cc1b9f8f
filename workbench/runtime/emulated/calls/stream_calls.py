"""Functions of the driver that are about streams, events and launches."""

from __future__ import annotations

import ctypes
from typing import Any

from workbench.runtime.emulated.calls.capture_calls import uncaptured
from workbench.runtime.emulated.code import Function, Kernel, Launch, Library, check, parameters
from workbench.runtime.emulated.graphs import Condition, Graph
from workbench.runtime.emulated.state import Context, State, Table, function
from workbench.runtime.emulated.status_error import CudaStatusError, expect
from workbench.runtime.emulated.streams import Event, Stream, milliseconds

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
def _cuLibraryLoadData(state: State, image: int, *options: Any) -> Any:
    """Load PTX, ending with a zero byte, and return the library's handle; refuse a cubin. Options are ignored."""
    state.flush()
    ptx = ctypes.string_at(int(image))  # PTX ends with a zero byte
    if not ptx.isascii():
        raise CudaStatusError(
            "CUDA_ERROR_NO_BINARY_FOR_GPU", "a cubin is machine code of a GPU; emulated devices run PTX"
        )
    return state.api.CUlibrary(state.handles.new(Library(state.load(ptx, state.devices[state.device()]))))


@function(TABLE)
def _cuLibraryGetKernel(state: State, library: Any, name: bytes) -> Any:
    """Return the handle of a new kernel object for the kernel of this name in a library."""
    library_object = state.handles.get(library, Library, "cuLibraryGetKernel")
    return state.api.CUkernel(state.kernel(library_object.module, name.decode()).number)


@function(TABLE)
def _cuLibraryGetGlobal(state: State, library: Any, name: bytes) -> Any:
    """Return the address, on the current device, and the bytes of a variable of a library."""
    library_object = state.handles.get(library, Library, "cuLibraryGetGlobal")
    address, size = state.variable(library_object.module, name.decode())
    return state.api.CUdeviceptr(address), size


@function(TABLE)
def _cuLibraryUnload(state: State, library: Any) -> None:
    """Release a library's handle and those of its kernels."""
    dropped = state.handles.drop(library, Library, "cuLibraryUnload")
    for number, kernel in state.handles.all(Kernel):
        if kernel.module is dropped.module:
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
