"""The emulated driver refuses what a real one does: each of these calls was once made, or could be."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.support.devices.interpreted import load_interpreted
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import build
from workbench.errors import DeviceError
from workbench.runtime.device.driver import Driver, new_driver
from workbench.runtime.device.driver_calls import LoadedKernel
from workbench.runtime.emulated.execution import load

TEXT = """
#define I (blockIdx.x * (long long)blockDim.x + threadIdx.x)
extern "C" __global__ void add_one(float* x, long long n) { if (I < n) x[I] += 1.0f; }
extern "C" __global__ void twice(float* x, long long n) { if (I < n) x[I] *= 2.0f; }
extern "C" __global__ void reversed(float* x) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void stop(float* x) { if (threadIdx.x == 3) __trap(); }
"""


@pytest.fixture(params=["compiled", "interpreted"])
def found(request: pytest.FixtureRequest, monkeypatch: Any) -> Iterator[Driver]:
    monkeypatch.setenv("WORKBENCH_EMULATED_MEMORY", str(64 << 20))
    made = new_driver(load if request.param == "compiled" else load_interpreted)
    made.use(0)
    yield made


@pytest.fixture(scope="module")
def image(need: Any) -> bytes:
    need("nvrtc")
    return build(TEXT, Options(), "sm_75", "ptx").image


class Launch:
    """A kernel with parameters that stay where they are."""

    def __init__(self, found: Driver, image: bytes, name: str, *values: Any, index: int = 0) -> None:
        self.found, self.index = found, index
        self.kernel = found.load(index, image, name)
        self.values = values
        self.pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        self.queue = found.queue(self.kernel, [8 * n for n in range(len(values))])

    def __call__(self, threads: int = 256, stream: Any = None, shared: int = 0, rows: int = 1) -> None:
        params = b"".join(bytes(v).ljust(8, b"\0") for v in self.values)
        shape = self.found.shape(self.kernel, (1, 1, 1), (threads, 1, rows), shared)
        self.found.launch(self.queue, params, shape, stream)

    def node(self, **fields: Any) -> Any:
        params = self.found.api.CUDA_KERNEL_NODE_PARAMS()
        params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1
        params.blockDimX = 256
        params.kernelParams = ctypes.addressof(self.pointers)
        for name, value in fields.items():
            setattr(params, name, value)
        return params


def zeros(found: Driver, n: int = 256, index: int = 0) -> Any:
    made = found.alloc(index, 4 * n)
    found.fill(made.handle, 0, n, index, 4)
    return made


def values(found: Driver, buffer: Any, index: int = 0) -> np.ndarray:
    host = np.empty(buffer.nbytes // 4, np.float32)
    found.copy_to_host(host, buffer.handle, index)
    return host


def adding(found: Driver, image: bytes, x: Any, name: str = "add_one") -> Launch:
    return Launch(found, image, name, ctypes.c_void_p(x.handle), ctypes.c_int64(x.nbytes // 4))


def test_a_kernel_runs(found: Driver, image: bytes) -> None:
    x = zeros(found)
    adding(found, image, x)()
    assert (values(found, x) == 1).all()


# Handles.


def test_a_node_takes_a_kernel_as_kern_and_not_as_func(found: Driver, image: bytes) -> None:
    """A CUkernel that is cast to a CUfunction is one for cuLaunchKernel alone."""
    x = zeros(found)
    launch, graph = adding(found, image, x), found.call("cuGraphCreate", 0)
    with pytest.raises(DeviceError, match="is a kernel, not a function"):
        found.call("cuGraphAddKernelNode", graph, None, 0, launch.node(func=launch.kernel.function))
    node = found.call("cuGraphAddKernelNode", graph, None, 0, launch.node(kern=launch.kernel.handle(found.api)))
    assert int(node)
    function = found.call("cuKernelGetFunction", launch.kernel.handle(found.api))
    assert int(found.call("cuGraphAddKernelNode", graph, None, 0, launch.node(func=function)))
    whole = found.call("cuGraphInstantiate", graph, 0)
    found.call("cuGraphLaunch", whole, found.stream_handle(0))
    assert (values(found, x) == 2).all()


def test_a_handle_is_of_one_kind_and_gone_when_it_is_destroyed(found: Driver) -> None:
    event = found.call("cuEventCreate", 0)
    with pytest.raises(DeviceError, match="is an event, not a stream"):
        found.call("cuStreamSynchronize", found.api.CUstream(int(event)))
    found.call("cuEventDestroy", event)
    with pytest.raises(DeviceError, match="an event was used after it was destroyed") as refused:
        found.call("cuEventRecord", event, found.stream_handle(0))
    assert refused.value.status == int(found.api.CUresult.CUDA_ERROR_INVALID_HANDLE)
    with pytest.raises(DeviceError, match="0x1234 is no handle of a graph"):
        found.call("cuGraphInstantiate", found.api.CUgraph(0x1234), 0)


def test_a_function_of_another_device_is_refused(found: Driver, image: bytes) -> None:
    launch = adding(found, image, zeros(found))
    function = found.call("cuKernelGetFunction", launch.kernel.handle(found.api))
    found.use(1)
    graph = found.call("cuGraphCreate", 0)
    with pytest.raises(DeviceError, match="add_one was loaded on another device"):
        found.call("cuGraphAddKernelNode", graph, None, 0, launch.node(func=function))


def test_shared_memory_that_one_kernel_may_have_is_not_the_next_ones(found: Driver, image: bytes) -> None:
    """What is allowed goes with the kernel, not with the number of its handle, which may come again."""
    x = zeros(found)
    first = Launch(found, image, "reversed", ctypes.c_void_p(x.handle))
    first(256, shared=60 << 10)
    other = found.load(0, image, "reversed")
    twin = LoadedKernel("reversed", 0, first.kernel.function, None)
    assert twin not in found._allowed and other not in found._allowed and first.kernel in found._allowed
    with pytest.raises(DeviceError, match="can have 65,536 bytes of dynamic shared memory"):
        found.call(
            "cuKernelSetAttribute",
            found.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            70 << 10, first.kernel.handle(found.api), 2,
        )  # fmt: skip
    with pytest.raises(DeviceError, match="it is allowed 49,152"):
        found.call("cuLaunchKernel", other.function, 1, 1, 1, 256, 1, 1, 60 << 10, found.stream_handle(0),
                   ctypes.addressof(first.pointers), 0)  # fmt: skip


# Contexts.


def in_a_fresh_thread(call: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def test_a_thread_without_a_context_is_refused(found: Driver) -> None:
    with pytest.raises(DeviceError, match="no context is current in this thread") as refused:
        in_a_fresh_thread(lambda: found.call("cuEventCreate", 0))
    assert refused.value.status == int(found.api.CUresult.CUDA_ERROR_INVALID_CONTEXT)


def test_what_a_thread_drops_that_never_used_the_device_is_given_back(found: Driver) -> None:
    """A garbage collector runs in whatever thread it likes."""
    before = found.api.state.arena.used(-1)
    pinned = [found.pinned(0, 4096)]
    assert found.api.state.arena.used(-1) == before + 4096
    in_a_fresh_thread(pinned.clear)
    assert found.api.state.arena.used(-1) == before


def test_giving_back_leaves_the_threads_device_as_it_is(found: Driver) -> None:
    event = found.call("cuEventCreate", 0)
    found.use(1)
    found.release(0, "cuEventDestroy", event)
    assert found.api.state.current == 1
    in_a_fresh_thread(lambda: found.release(0, "cuEventDestroy", _event(found)))


def _event(found: Driver) -> Any:
    found.use(0)
    return found.call("cuEventCreate", 0)


# Memory.


def test_freed_and_foreign_addresses_are_refused(found: Driver) -> None:
    x, host = zeros(found), np.zeros(256, np.float32)
    address = x.handle
    with pytest.raises(DeviceError, match="go 4 bytes past the end of their allocation"):
        found.call("cuMemcpyHtoD", address + 4, host.ctypes.data, 1024)
    with pytest.raises(DeviceError, match="is no device or pinned memory"):
        found.copy(address, host.ctypes.data, 16)
    x.free()
    found.synchronize(0)
    with pytest.raises(DeviceError, match="was freed, or never allocated"):
        found.copy_to_device(address, host)


def test_a_free_waits_for_the_work_that_was_queued_before(found: Driver, image: bytes) -> None:
    x, y = zeros(found), zeros(found)
    adding(found, image, x)()
    found.copy(y.handle, x.handle, 1024)
    x.free()
    assert (values(found, y) == 1).all()


def test_a_kernel_that_uses_freed_memory_breaks_the_device(found: Driver, image: bytes) -> None:
    x = zeros(found)
    launch = adding(found, image, x)
    x.free()
    launch()
    with pytest.raises(DeviceError, match="CUDA_ERROR_ILLEGAL_ADDRESS") as refused:
        found.synchronize(0)
    assert "emulated:0" in refused.value.message
    with pytest.raises(DeviceError, match="emulated:0 is broken"):
        found.alloc(0, 4)
    found.alloc(1, 4)  # another device is not


def test_another_devices_memory_is_reached_only_with_leave(found: Driver, image: bytes) -> None:
    x = zeros(found, index=1)
    found.synchronize(1)
    launch = Launch(found, image, "add_one", ctypes.c_void_p(x.handle), ctypes.c_int64(256))
    pool = found.call("cuDeviceGetMemPool", 1)
    access = found.api.CUmemAccessDesc()
    access.location.type = found.api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.location.id, access.flags = 0, found.api.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    found.call("cuMemPoolSetAccess", pool, [access], 1)
    launch()
    found.synchronize(0)
    assert (values(found, x, 1) == 1).all()
    access.flags = found.api.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    found.call("cuMemPoolSetAccess", pool, [access], 1)
    launch()
    with pytest.raises(DeviceError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        found.synchronize(0)


def test_too_much_memory_is_told_as_by_a_gpu(found: Driver) -> None:
    kept = found.alloc(0, 60 << 20)
    with pytest.raises(DeviceError, match="could not allocate 8,388,608 bytes: 4,194,304 of its 67,108,864"):
        found.alloc(0, 8 << 20)
    kept.free()
    assert found.alloc(0, 60 << 20).handle, "what is queued to be freed is freed first"


@pytest.mark.parametrize(("threads", "rows", "why"), [
    (1025, 1, "1025 × 1 × 1 threads"), (0, 1, "0 × 1 × 1 threads"), (1, 65, "1 × 1 × 65 threads"),
])  # fmt: skip
def test_blocks_that_no_device_has_are_refused(found: Driver, image: bytes, threads: int, rows: int, why: str) -> None:
    launch = adding(found, image, zeros(found))
    with pytest.raises(DeviceError, match=why):
        launch(threads, rows=rows)


def test_parameters_are_taken_when_the_launch_is_queued(found: Driver, image: bytes) -> None:
    x = zeros(found)
    launch = adding(found, image, x)
    launch()
    launch.values[1].value = 0
    assert (values(found, x) == 1).all()
    null = (ctypes.c_void_p * 2)(0, 0)
    with pytest.raises(DeviceError, match="parameter 0 is a null pointer"):
        found.call("cuLaunchKernel", launch.kernel.function, 1, 1, 1, 1, 1, 1, 0, found.stream_handle(0),
                   ctypes.addressof(null), 0)  # fmt: skip


def test_a_cubin_is_refused_by_name(found: Driver) -> None:
    with pytest.raises(DeviceError, match="a cubin is machine code of a GPU"):
        found.load(0, b"\x7fELF\xff", "add_one")


def test_code_for_a_newer_architecture_is_refused(found: Driver, need: Any) -> None:
    need("nvrtc")
    newer = build(TEXT, Options(), "sm_90", "ptx").image
    with pytest.raises(DeviceError, match=r"code is for sm_90; the emulated device is sm_75.*"):
        found.load(2, newer, "add_one")


def test_a_trap_breaks_the_device(found: Driver, image: bytes) -> None:
    x = zeros(found)
    Launch(found, image, "stop", ctypes.c_void_p(x.handle))(32)
    with pytest.raises(DeviceError, match=r"CUDA_ERROR_LAUNCH_FAILED.*broken emulated:0"):
        found.synchronize(0)


# Streams.


def test_streams_have_order_only_where_cuda_gives_it(image: bytes, monkeypatch: Any) -> None:
    """Two blocking streams are in no order with each other: with a seed both orders come."""
    results = set()
    for seed in range(12):
        monkeypatch.setenv("WORKBENCH_EMULATED_SEED", str(seed))
        found = new_driver()
        found.use(0)
        x = zeros(found)
        first, second = (found.call("cuStreamCreateWithPriority", 0, 0) for _ in range(2))
        for handle, name in ((first, "add_one"), (second, "twice")):
            launch = adding(found, image, x, name)
            found.call("cuLaunchKernel", launch.kernel.function, 1, 1, 1, 256, 1, 1, 0, handle,
                       ctypes.addressof(launch.pointers), 0)  # fmt: skip
        results.add(float(values(found, x)[0]))  # the copy is in the default stream: after both
    assert results == {1.0, 2.0}


def test_an_event_puts_streams_in_order(image: bytes, monkeypatch: Any) -> None:
    for seed in range(8):
        monkeypatch.setenv("WORKBENCH_EMULATED_SEED", str(seed))
        found = new_driver()
        found.use(0)
        x = zeros(found)
        first, second = (found.call("cuStreamCreateWithPriority", 1, 0) for _ in range(2))
        found.synchronize(0)
        event = found.call("cuEventCreate", 0)
        one, two = adding(found, image, x), adding(found, image, x, "twice")
        for launch, handle in ((one, first), (two, second)):
            if handle is second:
                found.call("cuEventRecord", event, first)
                found.call("cuStreamWaitEvent", second, event, 0)
            found.call("cuLaunchKernel", launch.kernel.function, 1, 1, 1, 256, 1, 1, 0, handle,
                       ctypes.addressof(launch.pointers), 0)  # fmt: skip
        found.call("cuStreamSynchronize", second)
        assert (values(found, x) == 2).all()


def test_events_keep_the_time_if_they_are_to(found: Driver, image: bytes) -> None:
    x = zeros(found)
    first, last = (found.call("cuEventCreate", 0) for _ in range(2))
    found.call("cuEventRecord", first, found.stream_handle(0))
    adding(found, image, x)()
    found.call("cuEventRecord", last, found.stream_handle(0))
    with pytest.raises(DeviceError, match="an event is not over yet"):
        found.call("cuEventElapsedTime", first, last)
    found.call("cuEventSynchronize", last)
    assert found.call("cuEventElapsedTime", first, last) > 0
    untimed = found.call("cuEventCreate", 2)
    with pytest.raises(DeviceError, match="keeps no time"):
        found.call("cuEventElapsedTime", untimed, last)


def test_a_capture_has_rules(found: Driver, image: bytes) -> None:
    x = zeros(found)
    stream = found.call("cuStreamCreateWithPriority", 0, 0)
    launch = adding(found, image, x)
    mode = found.api.CUstreamCaptureMode(2)
    found.call("cuStreamBeginCapture", stream, mode)
    with pytest.raises(DeviceError, match=r"STREAM_CAPTURE_IMPLICIT.*default stream while"):
        found.fill(x.handle, 1, 4)
    with pytest.raises(DeviceError, match="CAPTURE_INVALIDATED"):
        found.call("cuStreamEndCapture", stream)
    found.call("cuStreamBeginCapture", stream, mode)
    found.call("cuLaunchKernel", launch.kernel.function, 1, 1, 1, 256, 1, 1, 0, stream,
               ctypes.addressof(launch.pointers), 0)  # fmt: skip
    graph = found.call("cuStreamEndCapture", stream)
    assert (values(found, x) == 0).all(), "what was captured has not run"
    whole = found.call("cuGraphInstantiate", graph, 0)
    found.call("cuGraphLaunch", whole, found.stream_handle(0))
    assert (values(found, x) == 1).all()
    found.call("cuStreamBeginCapture", stream, mode)
    with pytest.raises(DeviceError, match="the stream is being captured"):
        found.call("cuStreamSynchronize", stream)
    with pytest.raises(DeviceError, match="CAPTURE_INVALIDATED"):
        found.call("cuStreamEndCapture", stream)
    found.call("cuStreamBeginCapture", stream, mode)
    with pytest.raises(DeviceError, match=r"STREAM_CAPTURE_IMPLICIT.*default stream while"):
        found.fill(x.handle, 1, 4)
    with pytest.raises(DeviceError, match="CAPTURE_INVALIDATED"):
        found.call("cuStreamEndCapture", stream)


def test_what_is_not_emulated_is_refused_by_name(found: Driver) -> None:
    with pytest.raises(DeviceError, match="the emulated driver has no cuTexObjectDestroy"):
        found.call("cuTexObjectDestroy", 0)
    with pytest.raises(AttributeError):
        _ = found.api.cuNoSuchFunction


def test_a_long_queue_is_worked_off(found: Driver, image: bytes) -> None:
    x = zeros(found)
    launch = adding(found, image, x)
    for _ in range(700):
        launch()
    assert (values(found, x) == 700).all()


def test_threads_may_call_at_once(found: Driver, image: bytes) -> None:
    arrays = [zeros(found) for _ in range(4)]
    launches = [adding(found, image, x) for x in arrays]

    def many(launch: Launch) -> None:
        for _ in range(20):
            launch()
        found.synchronize(0)

    threads = [threading.Thread(target=many, args=(launch,)) for launch in launches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((values(found, x) == 20).all() for x in arrays)
