"""Programs on the stand-in for libcuda, below the real cuda-bindings: no refused call, nothing left.

It is as strict as the driver's manual, and no evidence of what hardware does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import pytest

pytest.importorskip("cuda.bindings.driver")
from tests.support.cuda_driver.groups import GROUPS, SEVERAL, run_groups
from tests.support.cuda_driver.stand_in import run

DRIVERS = (12040, 12080, 13000)


def versions() -> tuple[int, ...]:
    """Return the drivers whose code a compiler that is installed makes: CUDA 12's serves all, CUDA 13's its own."""
    names = {name for found in metadata.distributions() if (name := found.metadata["Name"])}
    return DRIVERS if "nvidia-cuda-nvrtc-cu12" in names else DRIVERS[-1:]


def cases() -> Iterator[Any]:
    """Give each driver, with one device whose kernels run, and with two that get cubins."""
    for version in versions():
        for devices, executes in ((1, True), (2, False)):
            for group in GROUPS:
                if devices > 1 or group not in SEVERAL:
                    name = f"{version}-{devices}-{'runs' if executes else 'cubins'}-{group.__name__}"
                    yield pytest.param(version, devices, executes, group.__name__, id=name)


@pytest.mark.slow
@pytest.mark.parametrize(("version", "devices", "executes", "group"), [*cases()])
def test_no_call_is_refused_and_nothing_is_left(version: int, devices: int, executes: bool, group: str) -> None:
    outcome = run_groups(version, devices, executes)[group]
    assert outcome["error"] == ""
    assert outcome["refused"] == []
    assert outcome["left"] == {}
    several = group in {one.__name__ for one in SEVERAL}
    assert outcome["contexts"] == ([0, 1] if several else [devices - 1]), "a device that nobody used has a context"


STRICT = """
import ctypes, json
from tests.support.cuda_driver.stand_in import library, report
library()
from cuda.bindings import driver as api

def ok(result):
    assert result[0] == api.CUresult.CUDA_SUCCESS, result
    return result[1] if len(result) > 1 else None

said = {}
def wrong(name, result):
    said[name] = result[0].name

wrong("before cuInit", api.cuDeviceGetCount())
ok(api.cuInit(0))
wrong("no context", api.cuMemAllocAsync(8, 0))
one, two = (ok(api.cuDevicePrimaryCtxRetain(n)) for n in (0, 1))
ok(api.cuCtxSetCurrent(two))
far = ok(api.cuStreamCreate(0))
ok(api.cuCtxSetCurrent(one))
place = ok(api.cuMemAllocAsync(64, 0))
stream, free, event = ok(api.cuStreamCreate(0)), ok(api.cuStreamCreate(1)), ok(api.cuEventCreate(0))
wrong("an event as a stream", api.cuStreamQuery(api.CUstream(int(event))))
wrong("a stream of another device", api.cuMemsetD8Async(place, 0, 8, far))
wrong("past the end", api.cuMemsetD8Async(int(place) + 60, 0, 8, 0))
wrong("no address at all", api.cuMemcpyDtoH(bytearray(8), 4096, 8))
wrong("never recorded", api.cuEventElapsedTime(event, event))
wrong("the default stream captured", api.cuStreamBeginCapture(api.CUstream(0), api.CUstreamCaptureMode(1)))

mode = api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
ok(api.cuStreamBeginCapture(stream, mode))
wrong("the default stream beside a blocking capture", api.cuMemFreeAsync(place, 0))
wrong("a spoiled capture", api.cuStreamEndCapture(stream))
ok(api.cuStreamBeginCapture(free, mode))
ok(api.cuMemsetD8Async(place, 1, 8, 0))
wrong("waiting for a captured stream", api.cuStreamSynchronize(free))
wrong("that spoiled it", api.cuStreamEndCapture(free))
ok(api.cuStreamBeginCapture(free, mode))
ok(api.cuEventRecord(event, free))
ok(api.cuStreamWaitEvent(stream, event, 0))
ok(api.cuMemsetD8Async(place, 1, 8, stream))
wrong("work that nothing waits for", api.cuStreamEndCapture(free))
ok(api.cuStreamBeginCapture(free, mode))
ok(api.cuMemsetD8Async(place, 7, 8, free))
graph = ok(api.cuStreamEndCapture(free))
running = ok(api.cuGraphInstantiate(graph, 0))
ok(api.cuGraphLaunch(running, 0))
host = bytearray(8)
ok(api.cuMemcpyDtoH(host, place, 8))
assert host == bytes([7] * 8)

ok(api.cuStreamDestroy(stream))
wrong("a stream that was destroyed", api.cuStreamQuery(stream))
ok(api.cuMemFreeAsync(place, 0))
wrong("freed twice", api.cuMemFreeAsync(place, 0))
wrong("no code", api.cuLibraryLoadData(b"neither a cubin nor PTX\\0", [], [], 0, [], [], 0))
print(json.dumps({"said": said, "report": report()._asdict()}))
"""


@pytest.mark.slow
def test_the_stand_in_refuses_what_a_driver_does() -> None:
    found = json.loads(run(STRICT, devices=2).output)
    assert {name: status.removeprefix("CUDA_ERROR_") for name, status in found["said"].items()} == {
        "before cuInit": "NOT_INITIALIZED", "no context": "INVALID_CONTEXT", "an event as a stream": "INVALID_HANDLE",
        "a stream of another device": "INVALID_HANDLE", "past the end": "INVALID_VALUE",
        "no address at all": "INVALID_VALUE", "never recorded": "INVALID_HANDLE",
        "the default stream captured": "STREAM_CAPTURE_UNSUPPORTED",
        "the default stream beside a blocking capture": "STREAM_CAPTURE_IMPLICIT",
        "a spoiled capture": "STREAM_CAPTURE_INVALIDATED",
        "waiting for a captured stream": "STREAM_CAPTURE_UNSUPPORTED", "that spoiled it": "STREAM_CAPTURE_INVALIDATED",
        "work that nothing waits for": "STREAM_CAPTURE_UNJOINED", "a stream that was destroyed": "INVALID_HANDLE",
        "freed twice": "INVALID_VALUE", "no code": "INVALID_IMAGE",
    }  # fmt: skip
    report = found["report"]
    assert len(report["refused"]) == len(found["said"]) and report["contexts"] == [0, 1]
    assert (report["live"]["memory"], report["live"]["stream"], report["live"]["graph"]) == (0, 2, 1)


LAUNCHES = """
import json, os, sys, threading
from tests.support.cuda_driver.executor import serve
serve()
import workbench as wb
from workbench.runtime.device.device import driver_of
from tests.support.cuda_driver.groups import kernels

saxpy, told = kernels()["saxpy"], {}
x, y = wb.ones(4, float, device="cuda:0"), wb.zeros(4, float, device="cuda:0")
cx, cy = wb.ones(4, float, device="cpu"), wb.zeros(4, float, device="cpu")
stream = wb.Stream("cuda:0")
module = wb.cuda_module('''
extern "C" __global__ void text(float a, const float* x, float* y) { y[threadIdx.x] += a * x[threadIdx.x]; }
extern "C" __global__ void wild(float* x) { *(volatile float*)16 = x[0]; }''')
text = module["text"]

def calls(form):
    for _ in range(3):
        form()
    count = inside = 0
    def called(frame, event, argument):
        nonlocal count, inside
        kernels = frame.f_code.co_filename.endswith("executor.py")
        count += event == "call" and not (inside or kernels)
        inside += kernels * ((event == "call") - (event == "return"))
    sys.setprofile(called)
    form()
    sys.setprofile(None)
    return count

told["calls"] = {
    "cpu": calls(lambda: wb.launch(saxpy, 4, [1.0, cx, cy])),
    "plain": calls(lambda: wb.launch(saxpy, 4, [1.0, x, y])),
    "stream": calls(lambda: wb.launch(saxpy, 4, [1.0, x, y], stream=stream)),
    "block_dim": calls(lambda: wb.launch(saxpy, 4, [1.0, x, y], block_dim=64)),
    "text": calls(lambda: text[4](1.0, x, y)),
}
told["sum"] = y.numpy().tolist()

# A thread that has never used CUDA launches; the arrays of a launch that share memory find the code for that.
thread = threading.Thread(target=lambda: wb.launch(saxpy, 4, [1.0, x, y]))
thread.start()
thread.join()
wb.launch(saxpy, 4, [1.0, y, y])
told["after"] = y.numpy().tolist()

gpu, seen = driver_of(wb.get_device("cuda:0")), []
def here():
    gpu.call("cuCtxSetCurrent", gpu.api.CUcontext(0))
    wb.launch(saxpy, 4, [1.0, x, y])
    seen.append(int(gpu.call("cuCtxGetCurrent")))
thread = threading.Thread(target=here)
thread.start()
thread.join()
told["context"] = seen[0] != 0

child = os.fork()
if child == 0:
    try:
        wb.launch(saxpy, 4, [1.0, x, y])
    except wb.DeviceError as error:
        os._exit(7 if "forked" in str(error) else 1)
    os._exit(2)
told["forked"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

told["refused"] = []
for wrong in ({"stream": 3}, {"block_dim": True}, {"block_dim": 2000}, {"stream": wb.Stream("cpu")}):
    try:
        wb.launch(saxpy, 4, [1.0, x, y], **wrong)
    except wb.LaunchError as error:
        told["refused"].append(error.parameter)
module["wild"][1](x)
for use in (lambda: wb.launch(saxpy, 4, [1.0, x, y]), lambda: text[4](1.0, x, y)):
    try:
        use()
    except wb.DeviceError as error:
        told["broken"] = [*told.get("broken", []), "wild" in str(error) and "ILLEGAL_ADDRESS" in str(error)]
print(json.dumps(told), flush=True)
"""


@pytest.mark.slow
def test_a_launch_costs_twice_as_many_calls_as_on_the_cpu_and_keeps_its_guarantees() -> None:
    told: dict[str, Any] = json.loads(run(LAUNCHES).output)
    calls = told["calls"]
    assert calls["plain"] <= 2 * calls["cpu"]
    assert max(calls["stream"], calls["block_dim"], calls["text"]) <= 1.3 * 2 * calls["cpu"]
    launches = 4 * 4  # three and one of each form
    assert told["sum"] == [launches] * 4
    assert told["after"] == [2 * (launches + 1)] * 4
    assert told["context"], "a thread without a context keeps the device's, as after any other use"
    assert told["forked"] == 7
    assert told["refused"] == ["stream", "block_dim", "block_dim", "stream"]
    assert told["broken"] == [True, True]
