"""What CUDA may refuse, on the mock driver: no memory, a broken device, a fork, a stream of another device."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.device.driver import driver
from workbench.runtime.emulated.graphs import Executing, Graph
from workbench.runtime.launching import pending_faults

real = pytest.importorskip("cuda.bindings.driver")
DEVICES = 2

CELL = """
def double(x: array[float], y: array[float]):
    i = tid()
    y[i] = 2.0 * x[i]
"""


@pytest.fixture
def double() -> Any:
    return wb.build_cell(CELL, {}, backend="cpu").names["double"]


def test_out_of_memory_says_how_much_for_what_and_what_is_held(mock: Any) -> None:
    held = wb.zeros(1 << 20, float, device="cuda:0")
    with pytest.raises(wb.DeviceError) as caught:
        wb.empty(1 << 22, float, device="cuda:0")
    sentence = str(caught.value)
    assert "cuda:0 could not allocate 16,777,216 bytes" in sentence and "hold 4,194,304 bytes" in sentence
    assert "12,582,912 of its 16,777,216 are free" in sentence and caught.value.wanted == 1 << 24
    del held
    assert driver().held(0) == 0
    assert wb.zeros(1 << 21, float, device="cuda:0").size == 1 << 21


USES: dict[str, Callable[[wb.array, Any], object]] = {
    "launch": lambda x, kernel: wb.launch(kernel, 4, [x, x]),
    "read": lambda x, kernel: x.numpy(),
    "write": lambda x, kernel: x.fill_(1.0),
    "new array": lambda x, kernel: wb.zeros(4, float, device="cuda:0"),
    "wait": lambda x, kernel: wb.synchronize("cuda:0"),
    "stream": lambda x, kernel: wb.Stream("cuda:0"),
    "move": lambda x, kernel: x.to("cpu"),
}


def test_a_broken_device_is_told_once_and_later_calls_name_the_first_error(mock: Any, double: Any) -> None:
    x, y = wb.ones(4, float, device="cuda:0"), wb.zeros(4, float, device="cuda:0")
    stream, other = wb.Stream("cuda:0"), wb.ones(4, float, device="cuda:1")
    wb.launch(double, 4, [x, y])
    mock.failing["cuMemcpyDtoH"] = real.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(wb.DeviceError, match=r"refused cuMemcpyDtoH: CUDA_ERROR_ILLEGAL_ADDRESS.*") as first:
        y.numpy()
    assert (
        first.value.status == 700
        and "broken cuda:0 for the whole process; launched last: double." in first.value.message
    )
    assert "Restart" in first.value.advice and "checks=True" in first.value.advice
    mock.failing.clear()
    mock.broken = None
    for use in (*USES.values(), lambda x, kernel: stream.synchronize()):
        with pytest.raises(wb.DeviceError) as later:
            use(x, double)
        assert later.value.message == (
            "cuda:0 is broken since this line (CUDA_ERROR_ILLEGAL_ADDRESS, after a launch of double)."
        )
        assert later.value.location.excerpt().splitlines()[0].strip() == "y.numpy()"
        assert (later.value.status, later.value.advice) == (700, first.value.advice)
    assert other.numpy().sum() == 4, "another device is as it was"
    pending_faults.settle_all()


@pytest.mark.parametrize("where", ["sync", "memory"])
def test_what_breaks_a_device_is_known_from_any_call(where: str, mock: Any, double: Any) -> None:
    x = wb.ones(4, float, device="cuda:0")
    wb.launch(double, 4, [x, x], checks=True)
    mock.failing["cuCtxSynchronize" if where == "sync" else "cuMemAllocAsync"] = real.CUresult.CUDA_ERROR_ASSERT
    with pytest.raises(wb.DeviceError, match=r"CUDA_ERROR_ASSERT. This has broken cuda:0.*double") as first:
        USES["wait" if where == "sync" else "new array"](x, double)
    assert first.value.status == 710
    mock.failing.clear()
    pending_faults.settle_all()
    with pytest.raises(wb.DeviceError, match=r"cuda:0 is broken since this line \(CUDA_ERROR_ASSERT"):
        x.numpy()


def test_a_record_and_a_capture_that_a_broken_device_ends_raise_its_error(mock: Any, double: Any) -> None:
    x = wb.ones(4, float, device="cuda:0")
    with wb.capture() as graph:
        wb.launch(double, 4, [x, x])
    graph.launch()
    mock.failing["cuGraphLaunch"] = real.CUresult.CUDA_ERROR_MISALIGNED_ADDRESS
    with pytest.raises(wb.DeviceError, match=r"MISALIGNED_ADDRESS. This has broken cuda:0.*launched last: double"):
        with wb.record() as rec:
            wb.launch(double, 4, [x, x])
            graph.launch()
    assert [e.kind for e in rec] == ["forward", "graph"] and rec[1].seconds is None
    with pytest.raises(wb.DeviceError, match="is broken since this line"):
        rec.replay()
    del graph, rec
    assert not mock.left((Graph, Executing))


def test_a_refused_launch_names_the_function_and_leaves_the_device_usable(mock: Any, double: Any) -> None:
    x, y = wb.ones(4, float, device="cuda:0"), wb.zeros(4, float, device="cuda:0")
    mock.failing["cuLaunchKernel"] = real.CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    with pytest.raises(wb.DeviceError, match=r"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES.*a smaller block_dim"):
        wb.launch(double, 4, [x, y])
    mock.failing.clear()
    wb.launch(double, 4, [x, y])
    np.testing.assert_array_equal(y.numpy(), [2, 2, 2, 2])


def test_a_forked_process_is_told_what_to_do(mock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = wb.ones(4, float, device="cuda:0")
    own = os.getpid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: own + 1)
        with pytest.raises(wb.DeviceError, match=r"forked.*spawn"):
            x.numpy()
    assert x.numpy().sum() == 4


def test_two_devices_keep_apart_and_copy_to_each_other(mock: Any, double: Any) -> None:
    x, y = wb.ones(4, float, device="cuda:1"), wb.zeros(4, float, device="cuda:1")
    wb.launch(double, 4, [x, y])
    other = y.to("cuda:0")
    third = wb.zeros((4, 2), float, device="cuda:0")
    third[:, 1].copy_(y)
    np.testing.assert_array_equal(other.numpy(), [2, 2, 2, 2])
    np.testing.assert_array_equal(third.numpy()[:, 1], [2, 2, 2, 2])
    with wb.capture() as g:
        wb.launch(double, 4, [x, y])
        with pytest.raises(wb.LaunchError, match="from cuda:1 to cuda:0 cannot be part of a graph"):
            other.copy_(y)
        with pytest.raises(wb.LaunchError, match="runs on cuda:1"):
            other.zero_()
    g.launch()
    with pytest.raises(wb.LaunchError, match="stream is of cuda:0"):
        wb.launch(double, 4, [x, y], stream=wb.Stream("cuda:0"))


def test_a_changed_scalar_is_an_update_in_place_and_a_changed_order_is_not(mock: Any) -> None:
    kernels = wb.build_cell("def add(x: array[float], by: float):\n    i = tid()\n    x[i] += by\n", {}).names
    x, y = wb.zeros(4, float, device="cuda:0"), wb.zeros(4, float, device="cuda:0")
    with wb.capture() as g:
        wb.launch(kernels["add"], 4, [x, 1.0])
        wb.launch(kernels["add"], 4, [x, 1.0])
    g.launch()
    made = sum(call[0] == "cuGraphInstantiate" for call in mock.calls)
    g.update(by=3.0)
    g.launch()
    assert sum(call[0] == "cuGraphInstantiate" for call in mock.calls) == made
    g.update(1, x=y)
    g.launch()
    assert sum(call[0] == "cuGraphInstantiate" for call in mock.calls) == made + 1
    np.testing.assert_array_equal(x.numpy(), [11] * 4)
    np.testing.assert_array_equal(y.numpy(), [3] * 4)
    del g
    assert not mock.left()


def scoped(stream: Any) -> None:
    with wb.ScopedStream(stream):
        raise AssertionError("inside")


def test_the_cpus_streams_are_always_empty(double: Any) -> None:
    x, y = wb.ones(4, float, device="cpu"), wb.zeros(4, float, device="cpu")
    first, second = wb.Stream("cpu"), wb.Stream("cpu", priority=-1)
    with wb.ScopedStream(first):
        wb.launch(double, 4, [x, y])
    before = first.record()
    second.wait_for(before)
    second.wait_for(first)
    wb.launch(double, 4, [y, x], stream=second)
    after = second.record(wb.Event("cpu"))
    second.synchronize()
    after.wait()
    assert after - before >= 0 and x.numpy().tolist() == [4, 4, 4, 4]
    kept = wb.launch(double, 4, [x, y], record_cmd=True)
    kept.set_stream(first)
    kept.launch(stream=second)
    assert y.numpy().tolist() == [8, 8, 8, 8]
    assert not hasattr(first, "__cuda_stream__") and "of cpu" in repr(first)
    with pytest.raises(wb.LaunchError, match="the stream is none of Workbench's"):
        wb.launch(double, 4, [x, y], stream=object())
    for wrong in (lambda: first.wait_for(3), lambda: first.record(3), lambda: after - 3, lambda: scoped(3)):
        with pytest.raises(TypeError, match=r"Event|Stream"):
            wrong()
    with wb.ScopedTimer("nothing", "cpu") as timer:
        wb.synchronize("cpu")
    assert timer.elapsed is not None and repr(timer).startswith("<ScopedTimer nothing: ")


def test_a_timer_prints_and_collects_its_times_if_it_is_active(capsys):
    times: dict[str, list[float]] = {}
    for active in (True, False):
        with wb.ScopedTimer("step", "cpu", active=active, prints=True, times=times) as timer:
            pass
    assert capsys.readouterr().out.startswith("step took ") and len(times["step"]) == 1 and timer.elapsed is None
