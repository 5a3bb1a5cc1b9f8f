"""The device "emulated" through the public names: what runs on it is what runs on the CPU."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench.api.builds import build
from workbench.backends.base import Options
from workbench.errors import DeviceError, KernelFault, LaunchError
from workbench.runtime.device import device as devices
from workbench.runtime.device import driver
from workbench.runtime.device.device import driver_of

N = 500
CELL = """
def saxpy(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = a * x[i] + y[i]

def energy(x: array[float], e: array[float]):
    i = tid()
    atomic_add(e, 0, sin(x[i]) * x[i])

def gather(at: array[int], x: array[float], y: array[float]):
    i = tid()
    y[i] = x[at[i]]

def spin(x: array[float]):
    i = tid()
    while x[i] < 1.0:
        x[i] = x[i] * 0.5

def told(x: array[float]):
    i = tid()
    if i < 2:
        print("x of", i, "is", x[i])

def count_down(n: array[int], turns: array[int], by: int):
    turns[0] = turns[0] + by
    n[0] = n[0] - 1
"""
SUMS = """
__global__ void block_sums(const float* x, float* y, int n) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void far(float* x) { x[1 << 28] = 1.0f; }
"""


@pytest.fixture(autouse=True)
def own_driver(monkeypatch: Any, need: Any) -> Iterator[None]:
    """Each test has a driver of its own, since an error breaks a device for good."""
    need("nvrtc")
    monkeypatch.setattr(driver, "_started", [])
    monkeypatch.setattr(build, "_DEVICE_CODE", {})
    yield
    for found in driver._started:
        if not found.breakage.devices:
            found.synchronize(0)


@pytest.fixture
def cell() -> Any:
    return cell_of()


def cell_of() -> Any:
    return wb.build_cell(CELL, {}, backend="cpu", compile=False).names


def ramp(device: str, n: int = N, **options: Any) -> wb.array:
    return wb.array(np.linspace(0, 1, n, dtype=np.float32), device=device, **options)


def test_names_of_devices() -> None:
    assert wb.get_device("emulated") == wb.get_device("emulated:0")
    ampere = wb.get_device("emulated:sm_80")
    assert (ampere.kind, driver_of(ampere).arch(ampere.index)) == ("emulated", "sm_80")
    assert driver_of(ampere).name(ampere.index) == "Emulated sm_80"
    assert all(not d.is_emulated for d in wb.get_devices()), "they are everywhere, so they are no news"
    for name in ("emulated:sm_42", "emulated:9", "emulated:"):
        with pytest.raises(DeviceError, match="emulated are emulated:0, emulated:1, emulated:sm_75"):
            wb.get_device(name)


def test_what_it_needs_is_named_where_it_is_missing(monkeypatch: Any) -> None:
    def missing() -> Any:
        raise ImportError("cuda")

    monkeypatch.setattr(driver, "bindings", missing)
    with pytest.raises(DeviceError, match="need the package cuda-bindings") as refused:
        wb.get_device("emulated")
    assert "pip install 'kernel-workbench[cu12]'" in refused.value.advice


def test_a_kernel_and_its_gradient_are_the_cpus(cell: Any) -> None:
    results = []
    for device in ("cpu", "emulated"):
        x, y = ramp(device, requires_grad=True), wb.ones(N, float, device=device)
        wb.launch(cell["saxpy"], N, [2.5, x], [y], device=device)
        e = wb.zeros(1, float, device=device, requires_grad=True)
        with wb.Tape() as tape:
            wb.launch(cell["energy"], N, [x], [e], device=device)
        tape.backward(e)
        results.append((y.numpy(), e.numpy(), x.grad.numpy()))
    for cpu, emulated in zip(*results, strict=True):
        np.testing.assert_allclose(emulated, cpu, rtol=1e-5)
    np.testing.assert_array_equal(results[0][0], results[1][0])


def test_the_artifact_is_ptx_with_a_key_of_its_own(cell: Any) -> None:
    wb.launch(cell["saxpy"], N, [1.0, ramp("emulated")], [ramp("emulated")])
    specialisation = cell["saxpy"].used
    (made,) = specialisation.executables.values()
    assert (made.metadata["backend"], made.metadata["target"]) == ("emulated", "sm_90")
    elsewhere = build.compile_for(specialisation, "forward", Options(), "sm_90")
    assert elsewhere.image[:4] == b"\x7fELF", "a GPU of that architecture gets a cubin"


def test_an_architecture_on_request(cell: Any) -> None:
    x = ramp("emulated:sm_80")
    wb.launch(cell["saxpy"], N, [1.0, x], [wb.clone(x)])
    assert x.device.name == "emulated:sm_80"


def test_cuda_cpp_with_shared_memory() -> None:
    module = wb.cuda_module(SUMS, run="emulated")
    x, y = ramp("emulated", 1000), wb.zeros(8, float, device="emulated")
    module["block_sums"][1024](x, y, 1000, block_dim=128)
    blocks = np.pad(x.numpy(), (0, 24)).reshape(8, 128)
    step = 64
    while step:
        blocks = blocks[:, :step] + blocks[:, step : 2 * step]
        step //= 2
    np.testing.assert_array_equal(y.numpy(), blocks[:, 0])
    with pytest.raises(LaunchError, match="compiled for emulated sm_90; the launch is on the CPU"):
        module["block_sums"][1024](x.to("cpu"), y.to("cpu"), 1000, block_dim=128)


def test_what_breaks_the_device_is_told_with_the_thread() -> None:
    module = wb.cuda_module(SUMS, run="emulated")
    module["far"][1](wb.zeros(4, float, device="emulated"), block_dim=1)
    with pytest.raises(
        DeviceError, match=r"line 13 of its text.*has broken emulated:0; launched last: far.*wb.reset_device"
    ):
        wb.synchronize("emulated")
    assert wb.zeros(4, float, device="emulated:1").numpy().sum() == 0, "the other device is whole"


def test_a_broken_device_is_reset_and_arrays_keep_what_they_hold() -> None:
    module = wb.cuda_module(SUMS, run="emulated")
    x, y = ramp("emulated", 128), wb.zeros(1, float, device="emulated")
    module["far"][1](wb.zeros(4, float, device="emulated"), block_dim=1)
    module["block_sums"][128](x, y, 128, block_dim=128)  # queued behind what breaks the device
    for _ in range(2):
        with pytest.raises(DeviceError, match=r"line 13 of its text.*wb\.reset_device\(\"emulated:0\"\)"):
            y.numpy()
    wb.reset_device("emulated")
    assert y.numpy().tolist() == [0], "what was queued is dropped"
    module["block_sums"][128](x, y, 128, block_dim=128)
    np.testing.assert_allclose(y.numpy(), [x.numpy().sum()], rtol=1e-5)
    wb.reset_device("cpu")


def test_a_fault_of_checks_is_told_as_on_the_cpu(cell: Any) -> None:
    at, x, y = (wb.array(v, device="emulated") for v in (np.full(4, 99, np.int32), np.ones(4, "f4"), np.ones(4, "f4")))
    wb.launch(cell["gather"], 4, [at, x], [y], checks=True)
    with pytest.raises(KernelFault, match="x"):
        wb.synchronize("emulated")


def test_prints_are_shown_when_something_waits(cell: Any, capsys: Any) -> None:
    wb.launch(cell["told"], 4, [wb.ones(4, float, device="emulated")])
    assert capsys.readouterr().out == ""
    wb.synchronize("emulated")
    assert capsys.readouterr().out.splitlines() == ["x of 0 is 1", "x of 1 is 1"]


def test_prints_with_characters_that_cannot_be_seen(capsys: Any) -> None:
    text = "a\u200b1 b\u00a02 c\u20073"
    cell = define(f"""
@kernel
def k(x: array[float]):
    print("{text}", x[tid()])
""")
    wb.launch(cell["k"], 1, [wb.ones(1, float, device="emulated")])
    wb.synchronize("emulated")
    assert capsys.readouterr().out == f"{text} 1\n"


def test_what_recorded_launches_print_is_shown(cell: Any, capsys: Any) -> None:
    """A record asks for their times, which waits for the device: that is when a driver writes what kernels print."""
    with wb.record() as r:
        wb.launch(cell["told"], 4, [wb.ones(4, float, device="emulated")])
    told = ["x of 0 is 1", "x of 1 is 1"]
    assert [e.kind for e in r.entries] == ["fill", "forward"]
    assert capsys.readouterr().out.splitlines() == told
    r.replay()
    wb.synchronize("emulated")
    assert capsys.readouterr().out.splitlines() == told


def test_two_devices(cell: Any) -> None:
    x = ramp("emulated:0")
    other = x.to("emulated:1")
    assert other.device.name == "emulated:1" and (other.numpy() == x.numpy()).all()
    with pytest.raises(LaunchError, match="emulated:0"):
        wb.launch(cell["saxpy"], N, [1.0, x], [other])
    wb.set_peer_access_enabled("emulated:0", "emulated:1")
    wb.launch(cell["saxpy"], N, [1.0, x], [other], device="emulated:1")
    np.testing.assert_array_equal(other.numpy(), 2 * x.numpy())
    assert not wb.is_peer_access_supported("emulated:0", "cpu")


def test_pinned_memory_is_the_drivers(cell: Any) -> None:
    x = ramp("emulated")
    host = wb.empty(N, float, device="cpu", pinned=True)
    assert host.memory.is_pinned and host.memory.seen_by == "emulated"
    wb.copy(host, x)
    wb.synchronize("emulated")
    np.testing.assert_array_equal(host.numpy(), x.numpy())


def test_others_do_not_see_its_memory() -> None:
    x = ramp("emulated")
    with pytest.raises(BufferError, match="others do not see; they can have a copy"):
        x.__dlpack__()
    assert not hasattr(x, "__cuda_array_interface__")
    np.testing.assert_array_equal(np.asarray(x), x.numpy())


class Foreign:
    """A stream of another library, which does not wait for the default stream."""

    def __init__(self) -> None:
        found = driver_of(wb.get_device("emulated"))
        found.use(0)
        self.number = int(found.call("cuStreamCreateWithPriority", 1, 0))

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.number


def test_a_stream_of_another_library_is_in_order_with_fills_and_frees(monkeypatch: Any) -> None:
    for seed in range(10):
        monkeypatch.setenv("WORKBENCH_EMULATED_SEED", str(seed))
        monkeypatch.setattr(driver, "_started", [])
        monkeypatch.setattr(build, "_DEVICE_CODE", {})
        cell = cell_of()
        stream = Foreign()
        x, y = ramp("emulated"), wb.zeros(N, float, device="emulated")
        wb.launch(cell["saxpy"], N, [1.0, x], [y], stream=stream)
        del x
        np.testing.assert_array_equal(y.numpy(), ramp("cpu").numpy())


def test_what_is_no_stream_is_refused(cell: Any) -> None:
    x = ramp("emulated")
    with pytest.raises(LaunchError, match="a str is not a CUDA stream"):
        wb.launch(cell["saxpy"], N, [1.0, x], [wb.clone(x)], stream="fast")


def test_a_graph_whose_loop_cannot_be_updated_is_made_again(cell: Any) -> None:
    """Nothing promises that nodes in the body of a condition can be changed in place."""
    n, turns = wb.array(np.array([3], np.int32), device="emulated"), wb.zeros(1, int, device="emulated")
    with wb.capture() as g:
        wb.capture_while(n, lambda: wb.launch(cell["count_down"], 1, [n, turns, 2]))
    g.launch()
    assert (n.numpy()[0], turns.numpy()[0]) == (0, 6)
    n.fill_(2)
    g.update(by=5)
    g.launch()
    assert (n.numpy()[0], turns.numpy()[0]) == (0, 16)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is POSIX")
def test_an_interrupt_ends_a_kernel(cell: Any) -> None:
    wb.launch(cell["spin"], 4, [wb.zeros(4, float, device="emulated")])
    later = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    later.start()
    with pytest.raises(KeyboardInterrupt, match="spin was stopped; what it writes is half written"):
        wb.synchronize("emulated")
    later.join()
    assert wb.ones(4, float, device="emulated").numpy().sum() == 4, "what comes next works"


def test_it_is_started_only_when_it_is_asked_for() -> None:
    wb.synchronize()
    assert devices.drivers_in_use() == [] and driver.started() is None
    wb.zeros(3, float, device="emulated:1")
    assert [found.used() for found in devices.drivers_in_use()] == [[1]]


def test_a_device_that_nobody_used_gets_no_context(monkeypatch: Any) -> None:
    monkeypatch.setattr(driver, "_started", [])
    x = wb.ones(3, float, device="emulated:1")
    api = driver.emulated_driver().api

    def active() -> list[int]:
        return [index for index in range(api.cuDeviceGetCount()[1]) if api.cuDevicePrimaryCtxGetState(index)[2]]

    pinned = wb.empty(3, float, device="cpu", pinned=True)
    assert pinned.memory.is_pinned
    wb.copy(pinned, x)
    wb.synchronize()
    wb.trim()
    assert pinned.numpy().tolist() == [1, 1, 1] and active() == [1]


def test_of_two_events_the_one_without_a_time_is_named() -> None:
    stream = wb.Stream("emulated")
    recorded, never = stream.record(), wb.Event("emulated")
    with pytest.raises(DeviceError, match="The earlier of two events was never recorded"):
        recorded - never
    with pytest.raises(DeviceError, match="The later of two events was never recorded"):
        never - recorded
    with pytest.raises(DeviceError, match="The earlier and the later of two events were never recorded"):
        never - wb.Event("emulated")
    assert stream.record(never) - recorded >= 0


@pytest.mark.slow
def test_a_broken_device_is_broken_since_a_line_of_the_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import workbench as wb\n"
        "text = 'extern \"C\" __global__ void far(int* y) { y[1 << 28] = 1; }'\n"
        "y = wb.zeros(1, dtype=int, device='emulated')\n"
        "wb.launch(wb.cuda_module(text)['far'], dim=1, inputs=[y], device='emulated')\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        wb.synchronize('emulated')\n"
        "    except wb.DeviceError as error:\n"
        "        print(error.location)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=900)
    assert done.stdout.splitlines() == ["None", "script.py, line 7"], done.stderr


def test_trim_gives_freed_memory_back_and_keeps_arrays() -> None:
    x, y = wb.ones(1000, float, device="emulated:1"), wb.ones(1 << 20, float, device="emulated:1")
    del y
    wb.trim("emulated:1")
    assert x.numpy().sum() == 1000
    wb.trim("cpu")
    with pytest.raises(wb.DeviceError, match="no device 'tpu'"):
        wb.trim("tpu")


def test_out_of_memory_names_what_other_libraries_keep() -> None:
    with pytest.raises(wb.DeviceError, match=r"could not allocate.*XLA_PYTHON_CLIENT_PREALLOCATE=false.*empty_cache"):
        wb.empty(1 << 40, wb.uint8, device="emulated")


@wb.kernel
def increase(k: float, y: wb.array[float]):
    i = wb.tid()
    y[i] = y[i] + k


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_graph_that_runs_twice_in_another_one_is_updated_in_both_places(device: str) -> None:
    y = wb.zeros(3, device=device)
    with wb.capture() as inner:
        wb.launch(increase, 3, [1.0, y], device=device)
    with wb.capture() as outer:
        inner.launch()
        inner.launch()
    outer.launch()
    outer.update(k=10.0)
    outer.launch()
    assert y.numpy().tolist() == [22.0] * 3
