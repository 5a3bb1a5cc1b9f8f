"""The driver layer against a mock of `cuda.bindings.driver`: which calls it makes, in which order.

Only a mock: it shows that the calls have the names and shapes of the installed packages, not that a device obeys.
"""

from __future__ import annotations

import ctypes
import gc
import struct
from collections.abc import Callable
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workbench.errors import DeviceError
from workbench.runtime.device import driver as layer
from workbench.runtime.device.driver import Driver, probe
from workbench.runtime.device.driver_calls import MAX_BLOCKS


class Result(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_NOT_READY = 600


ATTRIBUTES = {"COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "MULTIPROCESSOR_COUNT": 132,
              "MEMORY_POOLS_SUPPORTED": 1}  # fmt: skip


EVENT, STREAM, CONTEXT, MEMORY, LIBRARY, KERNEL = 7, 1, 50, 0x7000, 98, 99
WAIT = [("cuEventCreate", 2), ("cuEventRecord", EVENT, STREAM), ("cuEventQuery", EVENT), ("cuEventDestroy", EVENT)]
"""How a wait begins: the device is asked whether it is done, so that an interrupt can end the wait."""


class Api:
    """Answers as `cuda.bindings.driver` does, `(status, *values)`, and records every call."""

    CUresult = Result
    CUmemPool_attribute = SimpleNamespace(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD=4)
    CUdevice_attribute = SimpleNamespace(**{f"CU_DEVICE_ATTRIBUTE_{n}": n for n in ATTRIBUTES})

    def __init__(self, devices: int = 1) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.answers: dict[str, tuple[Any, ...]] = {
            "cuInit": (), "cuDeviceGetCount": (devices,), "cuDeviceGet": (0,), "cuDeviceGetName": (b"Mock GPU\0\0",),
            "cuDeviceTotalMem": (1 << 30,), "cuEventCreate": (EVENT,), "cuDriverGetVersion": (13000,),
            "cuCtxGetCurrent": (CONTEXT,), "cuDevicePrimaryCtxRetain": (CONTEXT,), "cuDeviceGetMemPool": (60,),
            "cuMemPoolGetAttribute": (0,), "cuMemAllocAsync": (MEMORY,), "cuMemAlloc": (MEMORY,),
            "cuLibraryLoadData": (LIBRARY,), "cuLibraryGetKernel": (KERNEL,),
        }  # fmt: skip
        self.failing: dict[str, Result] = {}
        self.attributes = dict(ATTRIBUTES)

    def CUfunction(self, handle: int) -> int:
        return handle

    CUstream = cuuint64_t = CUfunction

    def __getattr__(self, name: str) -> Callable[..., tuple[Any, ...]]:
        if not name.startswith("cu"):
            raise AttributeError(name)

        def call(*args: Any) -> tuple[Any, ...]:
            self.calls.append((name, *args))
            if name in self.failing:
                return (self.failing[name], None)
            if name == "cuDeviceGetAttribute":
                return (Result.CUDA_SUCCESS, self.attributes[args[0]])
            return (Result.CUDA_SUCCESS, *self.answers.get(name, ()))

        return call


def work(api: Api) -> list[tuple[Any, ...]]:
    """Return the calls so far but those about devices and what is current in the thread."""
    left_out = ("cuCtx", "cuDevice", "cuMemPool")
    return [call for call in api.calls if not call[0].startswith(left_out) or call[0] == "cuCtxSynchronize"]


@pytest.fixture
def cuda() -> tuple[Driver, Api]:
    api = Api()
    driver = Driver(api)
    api.calls.clear()
    return driver, api


def test_facts_are_read_without_a_context() -> None:
    api = Api(devices=2)
    driver = Driver(api)
    assert (driver.count(), driver.name(1), driver.arch(0)) == (2, "Mock GPU", "sm_90")
    assert driver.properties[1].memory == 1 << 30 and driver.properties[1].multiprocessors == 132
    assert not [call for call in api.calls if call[0].startswith("cuCtx")]
    with pytest.raises(DeviceError, match=r"no device cuda:2.*This machine has cuda:0, cuda:1"):
        driver.name(2)


def test_memory_is_allocated_on_the_default_stream_and_freed_once(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    buffer = driver.alloc(0, 256)
    assert (buffer.handle, buffer.nbytes, buffer.device) == (MEMORY, 256, 0)
    buffer.free()
    buffer.free()
    assert work(api) == [("cuMemAllocAsync", 256, STREAM), ("cuMemFreeAsync", MEMORY, STREAM)]
    assert ("cuCtxSetCurrent", CONTEXT) in api.calls
    assert driver.alloc(0, 0).handle == 0


def test_the_pool_of_a_device_keeps_what_is_freed_unless_somebody_has_said_how_much(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    buffers = [driver.alloc(0, 256) for _ in range(2)]
    assert [call for call in api.calls if call[0] == "cuMemPoolSetAttribute"] == [
        ("cuMemPoolSetAttribute", 60, 4, 2**64 - 1)
    ]
    del buffers
    other = Api()
    other.answers["cuMemPoolGetAttribute"] = (1 << 20,)
    Driver(other).alloc(0, 256)
    assert not [call for call in other.calls if call[0] == "cuMemPoolSetAttribute"]


def test_a_device_without_pools_allocates_at_once() -> None:
    api = Api()
    api.attributes["MEMORY_POOLS_SUPPORTED"] = 0
    driver = Driver(api)
    api.calls.clear()
    buffer = driver.alloc(0, 256)
    buffer.free()
    assert work(api) == [("cuMemAlloc", 256), ("cuMemFree", MEMORY)] and driver.held(0) == 0


def test_memory_that_cuda_does_not_free_is_freed_later(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    buffer = driver.alloc(0, 256)
    api.failing["cuMemFreeAsync"] = Result.CUDA_ERROR_INVALID_VALUE  # a stream is captured, say
    del buffer
    assert driver.held(0) == 256
    api.failing.clear()
    again = driver.alloc(0, 64)
    assert driver.held(0) == 64 and again.handle == MEMORY


def test_memory_is_had_in_whole_words(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    buffer = driver.alloc(0, 5)
    assert buffer.nbytes == 5 and ("cuMemAllocAsync", 8, STREAM) in api.calls


def test_copies_give_addresses_and_bytes(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    host = np.arange(6, dtype=np.float32)
    driver.copy_to_device(0x7000, host)
    driver.copy_to_host(host, 0x7000)
    driver.copy(0x8000, 0x7000, 24)
    driver.fill(0x8000, 7, 24)
    address = host.ctypes.data
    assert work(api) == [
        ("cuMemcpyHtoD", 0x7000, address, 24),
        *WAIT,
        ("cuMemcpyDtoH", address, 0x7000, 24),
        ("cuMemcpyAsync", 0x8000, 0x7000, 24, STREAM),
        ("cuMemsetD8Async", 0x8000, 7, 24, STREAM),
    ]


def test_nothing_is_called_for_nothing(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    empty = np.zeros(0, np.float32)
    driver.copy_to_device(0, empty)
    driver.copy_to_host(empty, 0)
    driver.copy(0, 0, 0)
    driver.fill(0, 0, 0)
    assert work(api) == []


def test_arrays_that_are_not_dense_are_refused(cuda: tuple[Driver, Api]) -> None:
    driver, _ = cuda
    sparse = np.zeros((4, 4))[:, ::2]
    with pytest.raises(ValueError, match="C-contiguous"):
        driver.copy_to_device(0x7000, sparse)
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        driver.copy_to_host(fixed, 0x7000)


def test_code_is_unloaded_with_the_last_of_its_kernels(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    first = driver.load(0, b"cubin", "saxpy")
    second = driver.load(0, b"cubin", "dot", beside=first)
    names = [name for name, *_ in work(api)]
    assert names == ["cuLibraryLoadData", "cuLibraryGetKernel", "cuLibraryGetKernel"]
    del first
    gc.collect()
    assert "cuLibraryUnload" not in [name for name, *_ in work(api)] and second.entry == "dot"
    del second
    gc.collect()
    assert work(api)[-1] == ("cuLibraryUnload", LIBRARY)


def test_a_launch_hands_over_the_pieces_of_the_buffer(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    kernel = driver.load(0, b"cubin", "saxpy")
    assert work(api)[:2] == [
        ("cuLibraryLoadData", b"cubin", [], [], 0, [], [], 0), ("cuLibraryGetKernel", LIBRARY, b"saxpy")
    ]  # fmt: skip
    seen: list[Any] = []

    def launched(*args: Any) -> tuple[Any, ...]:
        pointers = (ctypes.c_void_p * 4).from_address(args[-2])
        seen.extend([*args[:-2], [ctypes.c_int64.from_address(p or 0).value for p in pointers], args[-1]])
        return (Result.CUDA_SUCCESS,)

    api.__dict__["cuLaunchKernel"] = launched
    queue, shape = driver.queue(kernel, [16, 0, 8]), driver.shape(kernel, (5, 1, 1), (128, 1, 1))
    params = struct.pack("<3q", 11, 22, 33)
    driver.launch(queue, params, shape, fault=44)
    assert seen == [99, 5, 1, 1, 128, 1, 1, 0, STREAM, [33, 11, 22, 44], 0]
    seen.clear()
    driver.launch(queue, params, shape, SimpleNamespace(handle=7))
    assert seen[-3:] == [7, [33, 11, 22, 0], 0]


def test_launches_that_cannot_be_are_refused(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    kernel = driver.load(0, b"cubin", "saxpy")
    with pytest.raises(DeviceError, match="more than one launch of saxpy can have"):
        driver.shape(kernel, (MAX_BLOCKS + 1, 1, 1), (128, 1, 1))
    with pytest.raises(DeviceError, match="1 × 70000 × 1 blocks are more than one launch of saxpy can have"):
        driver.shape(kernel, (1, 70_000, 1), (128, 1, 1))
    api.failing["cuLaunchKernel"] = Result.CUDA_ERROR_INVALID_VALUE
    queue, shape = driver.queue(kernel, [0]), driver.shape(kernel, (1, 1, 1), (128, 1, 1))
    with pytest.raises(DeviceError, match="CUDA refused cuLaunchKernel: CUDA_ERROR_INVALID_VALUE"):
        driver.launch(queue, bytes(8), shape)
    api.__dict__["cuLaunchKernel"] = lambda *_: 1 // 0
    with pytest.raises(ZeroDivisionError):
        driver.launch(queue, bytes(8), shape)


def test_what_cuda_refuses_is_a_device_error(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    api.failing["cuMemcpyDtoH"] = Result.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(DeviceError, match="CUDA refused cuMemcpyDtoH: CUDA_ERROR_ILLEGAL_ADDRESS") as caught:
        driver.copy_to_host(np.zeros(3), 0x7000)
    assert caught.value.status == 700
    with pytest.raises(DeviceError, match=r"cuda:0 is broken since this line \(CUDA_ERROR_ILLEGAL_ADDRESS\)"):
        driver.synchronize(0)


def test_what_cuda_refuses_to_allocate_is_a_device_error(cuda: tuple[Driver, Api]) -> None:
    driver, api = cuda
    api.failing["cuMemAllocAsync"] = Result.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(DeviceError, match="cuda:0 could not allocate 24 bytes: CUDA refused cuMemAllocAsync: CUDA_"):
        driver.alloc(0, 24)
    api.failing["cuMemAllocAsync"] = Result.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(DeviceError, match=r"ILLEGAL_ADDRESS\. This has broken cuda:0"):
        driver.alloc(0, 24)


def test_the_probe_stops_where_something_is_missing() -> None:
    def missing() -> None:
        raise RuntimeError("libcuda.so.1 not found\nmore")

    def no_packages() -> Any:
        raise ModuleNotFoundError("cuda")

    def unreachable() -> Any:
        raise AssertionError("the module is imported only if the library exists")

    assert "No CUDA driver was found on this machine (libcuda.so.1 not found)." == probe(missing, unreachable).reason
    assert "pip install cuda-bindings" in probe(lambda: None, no_packages).reason
    broken = Api()
    broken.failing["cuInit"] = Result.CUDA_ERROR_NO_DEVICE
    assert probe(lambda: None, lambda: broken).reason.endswith("does not start: CUDA_ERROR_NO_DEVICE.")
    assert "finds no device" in probe(lambda: None, lambda: Api(devices=0)).reason
    found = probe(lambda: None, Api)
    assert found.driver is not None and found.reason == ""


def test_a_driver_that_is_too_old_is_named_before_anything_else_is_asked() -> None:
    old = Api()
    old.answers["cuDriverGetVersion"] = (11080,)
    found = probe(lambda: None, lambda: old)
    assert found.driver is None
    assert "is one for CUDA 11.8" in found.reason and "needs CUDA 12.0" in found.reason and "525" in found.reason
    assert [call[0] for call in old.calls] == ["cuInit", "cuDriverGetVersion"]


def test_this_machine_is_probed_without_harm() -> None:
    found = layer.driver()
    assert (found is None) == bool(layer.why_no_cuda())
    assert len(layer.devices()) == (found.count() if found else 0)


def test_the_mock_has_the_names_of_the_installed_packages() -> None:
    api = pytest.importorskip("cuda.bindings.driver")
    for name in ("cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem",
                 "cuDeviceGetAttribute", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyAsync", "cuMemsetD8Async",
                 "cuLaunchKernel", "cuCtxSynchronize", "CUfunction", "cuDevicePrimaryCtxRetain", "cuDeviceGetMemPool",
                 "cuMemPoolGetAttribute", "cuMemPoolSetAttribute", "cuuint64_t", "cuMemAllocAsync", "cuMemAlloc",
                 "cuMemFreeAsync", "cuMemFree", "cuLibraryLoadData", "cuLibraryGetKernel"):  # fmt: skip
        assert hasattr(api, name), name
    for name in ATTRIBUTES:
        assert hasattr(api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    assert hasattr(api.CUmemPool_attribute, "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD")
