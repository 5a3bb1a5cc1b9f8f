"""Several devices, other libraries' work in a graph, and the device's times in a record: on the mock driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.device.driver import driver

real = pytest.importorskip("cuda.bindings.driver")
DEVICES = 3

CELL = """
def double(x: array[float], y: array[float]):
    i = tid()
    y[i] = 2.0 * x[i]
"""


@pytest.fixture
def double() -> Any:
    return wb.build_cell(CELL, {}, backend="cpu").names["double"]


def library_doubles(kernel: Any, x: wb.array, y: wb.array, stream: wb.Stream) -> None:
    """What a library does: it launches through the driver, and nothing here hears of it."""
    record = wb.launch(kernel, x.size, [x, y], record_cmd=True).record
    code = record.executable
    driver().launch(code.queue, bytes(record.buffer), code.shape(record.dim, 256), stream)


def test_peers_are_asked_for_allowed_and_forbidden(mock: Any, double: Any) -> None:
    mock.strangers.add((2, 0))
    assert wb.is_peer_access_supported("cuda:0", "cuda:1") and not wb.is_peer_access_supported("cuda:0", "cuda:2")
    assert wb.is_peer_access_enabled("cuda:0", "cuda:0") and not wb.is_peer_access_enabled("cuda:0", "cuda:1")
    assert not wb.is_peer_access_supported("cpu", "cuda:0") and not wb.is_peer_access_enabled("cuda:0", "cpu")
    x, y = wb.ones(4, float, device="cuda:0"), wb.zeros(4, float, device="cuda:1")
    with pytest.raises(wb.LaunchError, match="x is on cuda:0; the launch is on cuda:1"):
        wb.launch(double, 4, [x, y], device="cuda:1")
    wb.set_peer_access_enabled("cuda:0", "cuda:1", True)
    assert wb.is_peer_access_enabled("cuda:0", "cuda:1") and not wb.is_peer_access_enabled("cuda:1", "cuda:0")
    before = len(mock.calls)
    wb.launch(double, 4, [x, y], device="cuda:1")
    names = [c[0] for c in mock.calls[before:]]
    at = names.index("cuLaunchKernel")
    assert "cuStreamWaitEvent" in names[:at] and "cuStreamWaitEvent" in names[at:], "in order with both devices"
    assert y.numpy().tolist() == [2, 2, 2, 2]
    with wb.capture(), pytest.raises(wb.LaunchError, match="x is on cuda:0"):
        wb.launch(double, 4, [x, y], device="cuda:1")
    kept = wb.launch(double, 4, [x, y], device="cuda:1", record_cmd=True)
    wb.set_peer_access_enabled("cuda:0", "cuda:1", False)
    with pytest.raises(wb.LaunchError, match="cuda:1 may no longer reach arrays on cuda:0"):
        kept.launch()
    with pytest.raises(wb.DeviceError, match="cuda:2 cannot reach memory of cuda:0"):
        wb.set_peer_access_enabled("cuda:0", "cuda:2")
    with pytest.raises(wb.DeviceError, match="between two GPUs"):
        wb.set_peer_access_enabled("cpu", "cuda:0")


def test_a_copy_between_devices_waits_on_the_devices_alone(mock: Any) -> None:
    x, y = wb.array(np.arange(5, dtype=np.float32), device="cuda:2"), wb.zeros(5, float, device="cuda:0")
    before = len(mock.calls)
    y.copy_(x)
    names = [c[0] for c in mock.calls[before:]]
    assert names.count("cuStreamWaitEvent") == 2 and "cuStreamSynchronize" not in names
    assert y.numpy().tolist() == [0, 1, 2, 3, 4]
    assert not mock.left(), "the events are given back"


@pytest.mark.parametrize("told", [True, False])
def test_a_librarys_work_is_a_node_in_its_place(told: bool, mock: Any, double: Any) -> None:
    x, y, z, other = (wb.zeros(4, float, device="cuda:0") for _ in range(4))
    used = {"reads": [x], "writes": [y]} if told else {}
    with wb.capture() as graph:
        x.fill_(3.0)
        other.fill_(7.0)
        with wb.capture_stream(**used, name="fft") as stream:
            library_doubles(double, x, y, stream)
            library_doubles(double, y, y, stream)
        wb.launch(double, 4, [y, z])
    assert not y.numpy().any() if not told else True
    assert [n.kind for n in graph.nodes] == ["fill", "fill", "library", "forward"]
    expected = {(0, 2), (2, 3)} if told else {(0, 2), (1, 2), (2, 3)}
    assert {(e.source, e.target) for e in graph.edges} == expected
    for _ in range(2):
        graph.launch()
        assert z.numpy().tolist() == [24, 24, 24, 24] and other.numpy()[0] == 7
    assert "fft" in repr(graph)
    if told:
        with pytest.raises(wb.LaunchError, match=r"work of a library \(fft\), which cannot be given another array"):
            graph.update(x=wb.zeros(4, float, device="cuda:0"))
    with wb.record(inputs=True) as rec:
        graph.launch()
    with pytest.raises(wb.RecordError, match="A graph with fft in it cannot be saved"):
        rec.save("/tmp/never.wbr")
    del graph, rec
    assert not mock.left()


def test_outside_of_a_capture_a_library_just_runs(mock: Any, double: Any) -> None:
    x, y = wb.ones(4, float, device="cuda:0"), wb.zeros(4, float, device="cuda:0")
    before = y.version
    with wb.capture_stream(reads=[x], writes=[y]) as stream:
        library_doubles(double, x, y, stream)
    assert y.numpy().tolist() == [2, 2, 2, 2] and y.version == before + 1
    with wb.capture_stream(device="cpu") as stream:
        assert stream.device.name == "cpu"


def test_what_cannot_be_captured_is_refused(mock: Any, double: Any) -> None:
    x = wb.ones(4, float, device="cuda:0")
    with wb.capture(), pytest.raises(wb.DeviceError, match="on the CPU runs at once"), wb.capture_stream(device="cpu"):
        pass
    with pytest.raises(wb.LaunchError, match="not all on cuda:0"), wb.capture_stream([x], [wb.zeros(4, device="cpu")]):
        pass
    mock.failing["cuStreamEndCapture"] = real.CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    with (
        pytest.raises(wb.DeviceError, match=r"What fft did in the stream cannot be captured.*waited for the stream"),
        wb.capture(),
        wb.capture_stream([x], name="fft"),
    ):
        pass
    mock.failing.clear()
    with pytest.raises(ZeroDivisionError), wb.capture(), wb.capture_stream([x]):
        raise ZeroDivisionError
    assert not mock.left()


def test_a_record_has_the_devices_times(mock: Any, double: Any) -> None:
    x, y = wb.ones(4, float, device="cuda:0"), wb.zeros(4, float, device="cuda:0")
    stream = wb.Stream("cuda:0")
    mock.answers["cuEventElapsedTime"] = 0.25
    with wb.capture() as graph:
        wb.launch(double, 4, [x, y])
    with wb.record() as rec:
        wb.launch(double, 4, [x, y])
        wb.launch(double, 4, [y, x], stream=stream)
        graph.launch()
    assert [e.on_device[1] for e in rec] == [0.25e-3] * 3, "the mock's events are 0.25 ms apart"
    assert all(e.events is None for e in rec) and rec.rows()[0][3] == "250 µs"
    spans = rec.spans()
    assert [s.seconds for s in spans] == [0.25e-3] * 3 and len({s.lane for s in spans}) == 2
    assert f"cuda:0 {stream!r}" in {s.lane for s in spans}
    rec.replay()
    mock.failing["cuEventElapsedTime"] = real.CUresult.CUDA_ERROR_UNKNOWN
    with wb.record() as rec:
        wb.launch(double, 4, [x, y])
    assert rec[0].on_device is None and rec.rows()[0][3]


@pytest.mark.parametrize("wait", ["device", "stream", "event", "read"])
def test_an_interrupt_ends_a_wait_and_says_what_the_device_still_does(
    mock: Any, double: Any, wait: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device is asked whether it is done; here it never is, until the interrupt has come."""
    stream = wb.Stream("cuda:0")
    x, y = wb.ones(4, float, device="cuda:0"), wb.zeros(4, float, device="cuda:0")
    wb.launch(double, 4, [x, y], stream=stream)
    event = stream.record()
    asked: list[str] = []

    def never(name: str) -> Callable[[Any], tuple[Any, ...]]:
        def query(handle: Any) -> tuple[Any, ...]:
            asked.append(name)
            if len(asked) == 3:
                raise KeyboardInterrupt
            return (real.CUresult.CUDA_ERROR_NOT_READY,)

        return query

    waits = {
        "device": lambda: wb.synchronize("cuda:0"), "stream": stream.synchronize, "event": event.wait, "read": y.numpy,
    }  # fmt: skip
    with monkeypatch.context() as patch:
        for name in ("cuEventQuery", "cuStreamQuery"):
            patch.setattr(mock, name, never(name), raising=False)
        with pytest.raises(
            KeyboardInterrupt, match=r"Waiting for cuda:0 was stopped .* the last queued launch is of double\."
        ):
            waits[wait]()
    assert len(asked) == 3
    assert y.numpy().tolist() == [2.0] * 4
