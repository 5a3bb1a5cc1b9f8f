"""Captured events join streams to a capture; copies and fills are nodes; what CUDA refuses in a capture is refused."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import DeviceError
from workbench.runtime.device.device import driver_of
from workbench.runtime.device.driver import Driver, new_driver

pytest.importorskip("cuda.bindings.driver")
_RELAXED = 2


@pytest.fixture(params=["", "3"])
def found(request: pytest.FixtureRequest, monkeypatch: Any) -> Iterator[Driver]:
    if request.param:
        monkeypatch.setenv("WORKBENCH_EMULATED_SEED", request.param)
    monkeypatch.setenv("WORKBENCH_EMULATED_MEMORY", str(16 << 20))
    made = new_driver()
    made.use(0)
    yield made


def streams(found: Driver, count: int) -> list[Any]:
    return [found.call("cuStreamCreateWithPriority", 0, 0) for _ in range(count)]


def after(found: Driver, waiting: Any, stream: Any) -> Any:
    """Let one stream wait for what another has; returns the event."""
    event = found.call("cuEventCreate", 2)
    found.call("cuEventRecord", event, stream)
    found.call("cuStreamWaitEvent", waiting, event, 0)
    return event


def begin(found: Driver, stream: Any) -> None:
    found.call("cuStreamBeginCapture", stream, found.api.CUstreamCaptureMode(_RELAXED))


def capturing(found: Driver, stream: Any) -> str:
    return found.call("cuStreamIsCapturing", stream).name.rsplit("_", 1)[1]


def bytes_of(found: Driver, buffer: Any, count: int) -> list[int]:
    out = np.zeros(count, np.uint8)
    found.copy_to_host(out, buffer.handle, 0)
    return out.tolist()


def test_a_fork_and_a_join_are_edges_of_the_graph(found: Driver) -> None:
    x = found.alloc(0, 64)
    first, left, right = streams(found, 3)
    begin(found, first)
    found.call("cuMemsetD8Async", x.handle, 7, 4, first)
    for side, at in ((left, 8), (right, 16)):
        after(found, side, first)
        found.call("cuMemcpyAsync", x.handle + at, x.handle, 4, side)
    assert [capturing(found, s) for s in (first, left, right)] == ["ACTIVE"] * 3
    found.call("cuMemsetD8Async", x.handle + 24, 1, 4, first)
    for side in (left, right):
        after(found, first, side)
    found.call("cuMemcpyAsync", x.handle + 32, x.handle + 8, 16, first)
    graph = found.call("cuStreamEndCapture", first)
    assert [capturing(found, s) for s in (first, left, right)] == ["NONE"] * 3
    whole = found.call("cuGraphInstantiate", graph, 0)
    found.fill(x.handle, 0, 64)
    found.call("cuGraphLaunch", whole, found.stream_handle(0))
    fours = bytes_of(found, x, 48)[::4]
    assert fours == [7, 0, 7, 0, 7, 0, 1, 0, 7, 0, 7, 0]


@pytest.mark.parametrize(("wrong", "status"), [
    ("unjoined", "STREAM_CAPTURE_UNJOINED"), ("unmatched", "STREAM_CAPTURE_UNMATCHED"),
    ("merge", "STREAM_CAPTURE_MERGE"), ("default", "STREAM_CAPTURE_IMPLICIT"), ("old", "CAPTURED_EVENT"),
    ("query", "CAPTURED_EVENT"), ("outside", "STREAM_CAPTURE_ISOLATION"),
])  # fmt: skip
def test_a_capture_of_several_streams_has_rules(found: Driver, wrong: str, status: str) -> None:
    x = found.alloc(0, 64)
    first, side = streams(found, 2)
    outside = found.call("cuEventCreate", 2)
    found.call("cuEventRecord", outside, side)
    begin(found, first)
    if wrong == "merge":
        begin(found, side)
    with pytest.raises(DeviceError, match=f"CUDA_ERROR_{status}"):
        if wrong == "outside":
            found.call("cuStreamWaitEvent", first, outside, 0)
        event = after(found, found.stream_handle(0) if wrong == "default" else side, first)
        found.call("cuMemsetD8Async", x.handle, 1, 1, side)
        if wrong == "query":
            found.call("cuEventQuery", event)
        if wrong == "old":
            after(found, first, side)
        found.call("cuStreamEndCapture", side if wrong == "unmatched" else first)
        found.call("cuStreamWaitEvent", side, event, 0)
    if wrong in ("unjoined", "old"):
        assert capturing(found, first) == capturing(found, side) == "NONE"
    elif wrong != "unmatched":
        assert capturing(found, first) == "INVALIDATED"


def test_copies_and_fills_are_nodes_and_can_change(found: Driver) -> None:
    api, context = found.api, found.call("cuCtxGetCurrent")
    x = found.alloc(0, 256)
    found.fill(x.handle, 0, 256)
    fill = api.CUDA_MEMSET_NODE_PARAMS()
    fill.dst, fill.value, fill.elementSize, fill.width, fill.height, fill.pitch = x.handle, 0x0102, 2, 3, 2, 16
    copy, kind = api.CUDA_MEMCPY3D(), api.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.srcMemoryType = copy.dstMemoryType = kind
    copy.srcDevice, copy.srcPitch, copy.dstDevice, copy.dstPitch = x.handle, 16, x.handle + 64, 8
    copy.WidthInBytes, copy.Height, copy.Depth = 6, 2, 1
    back, host = api.CUDA_MEMCPY3D(), np.zeros(16, np.uint8)
    back.srcMemoryType, back.dstMemoryType = kind, api.CUmemorytype.CU_MEMORYTYPE_HOST
    back.srcDevice, back.dstHost, back.WidthInBytes, back.Height, back.Depth = x.handle + 64, host.ctypes.data, 16, 1, 1
    graph = found.call("cuGraphCreate", 0)
    filled = found.call("cuGraphAddMemsetNode", graph, None, 0, fill, context)
    copied = found.call("cuGraphAddMemcpyNode", graph, [filled], 1, copy, context)
    found.call("cuGraphAddMemcpyNode", graph, [copied], 1, back, context)
    whole = found.call("cuGraphInstantiate", graph, 0)
    found.call("cuGraphLaunch", whole, found.stream_handle(0))
    found.synchronize(0)
    row = [2, 1] * 3 + [0, 0]
    assert host.tolist() == row * 2
    fill.value = 0x0505
    found.call("cuGraphExecMemsetNodeSetParams", whole, filled, fill, context)
    with pytest.raises(DeviceError, match="the node is of another kind"):
        found.call("cuGraphExecMemsetNodeSetParams", whole, copied, fill, context)
    found.call("cuGraphLaunch", whole, found.stream_handle(0))
    found.synchronize(0)
    assert host.tolist() == ([5] * 6 + [0, 0]) * 2
    copy.Height = 1000
    with pytest.raises(DeviceError, match="was freed, or never allocated"):
        found.call("cuGraphAddMemcpyNode", graph, None, 0, copy, context)


def test_what_is_dropped_allocated_and_read_beside_a_captured_library_is_not_lost() -> None:
    x = wb.array(np.arange(4, dtype=np.int32), device="emulated")
    y = wb.zeros(4, dtype=int, device="emulated")
    found = driver_of(x.device)
    found.use(0)
    before = found.call("cuMemGetInfo")[0], found.held(0)
    for _ in range(3):
        large = wb.zeros(1 << 20, device="emulated")
        with wb.ScopedDevice("emulated"), wb.capture() as g, wb.capture_stream(reads=[x], writes=[y]) as stream:
            found.call("cuMemcpyAsync", y.address, x.address, 16, stream.handle)
            large = wb.empty(8, device="emulated")
            assert x.numpy().tolist() == [0, 1, 2, 3]
        del large
        y.zero_()
        g.launch()
        assert y.numpy().tolist() == [0, 1, 2, 3]
        del g
        gc.collect()
    wb.synchronize("emulated")
    assert (found.call("cuMemGetInfo")[0], found.held(0)) == before


def test_what_could_not_be_freed_is_freed_later(found: Driver) -> None:
    before = found.call("cuMemGetInfo")[0]
    x, (stream,) = found.alloc(0, 4096), streams(found, 1)
    begin(found, stream)
    with pytest.raises(DeviceError, match="STREAM_CAPTURE_IMPLICIT") as refused:
        found.alloc(0, 64)
    assert "before or after the capture" in refused.value.advice and "PREALLOCATE" not in refused.value.advice
    del x
    assert found.held(0) == 4096 and capturing(found, stream) == "INVALIDATED"
    with pytest.raises(DeviceError, match="CAPTURE_INVALIDATED"):
        found.call("cuStreamEndCapture", stream)
    y = found.alloc(0, 64)
    found.synchronize(0)
    assert found.held(0) == 64
    y.free()
    found.synchronize(0)
    assert found.call("cuMemGetInfo")[0] == before and found.held(0) == 0


def test_a_library_may_use_two_streams_within_capture_stream() -> None:
    x = wb.array(np.arange(4, dtype=np.int32), device="emulated")
    y, z = (wb.zeros(4, dtype=int, device="emulated") for _ in range(2))
    found = driver_of(x.device)
    with wb.ScopedDevice("emulated"), wb.capture() as g, wb.capture_stream(reads=[x], writes=[y, z]) as stream:
        side = wb.Stream("emulated")
        side.wait_for(stream)
        for target, where in ((y, stream), (z, side)):
            found.call("cuMemcpyAsync", target.address, x.address, 16, where.handle)
        stream.wait_for(side)
    assert y.numpy().tolist() == z.numpy().tolist() == [0] * 4
    g.launch()
    assert y.numpy().tolist() == z.numpy().tolist() == [0, 1, 2, 3]
