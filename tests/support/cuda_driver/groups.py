"""What programs do with a device, in groups: run one after the other in a process on the stand-in (`run_groups`).

Each works on the last device alone, but for those in `SEVERAL`. With an executor behind the stand-in kernels have
results, which are compared with NumPy's; without one the driver gets cubins, and nothing is compared.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

import workbench as wb
from tests.support.cuda_driver.stand_in import library, report, run
from tests.support.devices import ffi_frames
from tests.support.devices.ffi_gpu_frames import OrdinalGet, StreamGet
from workbench.interop.jax.native.abi import STAGE_EXECUTE, STAGE_INITIALIZE
from workbench.runtime.device.device import driver_of

CELL = """
def saxpy(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = a * x[i] + y[i]

def twice(x: array2d[float]):
    i, j = tid()
    x[i, j] = 2.0 * x[i, j]

def count_down(n: array[int], turns: array[int]):
    turns[0] = turns[0] + 1
    n[0] = n[0] - 1

def says(x: array[int]):
    i = tid()
    print("element", i, x[i])

def pick(x: array[float], at: int, out: array[float]):
    i = tid()
    out[i] = x[at + i]
"""
TEXT = """
extern "C" __global__ void reversed(const float* __restrict__ x, float* y, int n) {
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = part[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void place(int* x) {
    x[(blockIdx.y * blockDim.y + threadIdx.y) * gridDim.x * blockDim.x + blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
"""


class Given:
    """What a group works with.

    Attributes:
        device: the device's name.
        executes: whether kernels run.
    """

    def __init__(self, device: str, executes: bool) -> None:
        self.device, self.executes = device, executes

    def same(self, found: Any, wanted: Any) -> None:
        """Compare an array of the device with what NumPy says."""
        got = np.asarray(found.numpy())
        if self.executes:
            np.testing.assert_array_equal(got, wanted)

    def floats(self, *shape: int) -> tuple[Any, np.ndarray]:
        """Numbers on the device, and on the host."""
        host = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        return wb.array(host, device=self.device), host


@cache
def kernels() -> Any:
    """The kernels of `CELL`."""
    return wb.build_cell(CELL, {}, backend="cpu").names


def memory(given: Given) -> None:
    """Arrays, views, fills and copies: dense, strided, to and from the host."""
    x, host = given.floats(6, 8)
    given.same(x[::2, 1:7:3], host[::2, 1:7:3])
    x[1:4, ::2].fill_(5.0)
    host[1:4, ::2] = 5.0
    given.same(x, host)
    y = wb.clone(x)
    y[:, 0] = 7.0
    host[:, 0] = 7.0
    given.same(y, host)
    given.same(wb.zeros(3, wb.int8, device=given.device), np.zeros(3, np.int8))
    assert wb.zeros(0, float, device=given.device).numpy().size == 0
    wb.trim(given.device)


def launches(given: Given) -> None:
    """Launches of every form: plain, of two dimensions, in other blocks, kept, refused."""
    named = kernels()
    (x, host), (y, other) = given.floats(100), given.floats(100)
    for options in ({}, {}, {"block_dim": 32}, {"device": given.device}):
        wb.launch(named["saxpy"], 100, [2.0, x, y], **options)
        other += 2 * host
        given.same(y, other)
    square, wanted = given.floats(3, 5)
    wb.launch(named["twice"], (3, 5), [square])
    given.same(square, 2 * wanted)
    kept = wb.launch(named["saxpy"], 100, [1.0, x, y], record_cmd=True)
    assert kept is not None
    for _ in range(3):
        kept.launch()
    given.same(y, other + 3 * host)
    z, twice = given.floats(64)
    for _ in range(3):  # arguments that share memory have other code than those that only lie in it
        wb.launch(named["saxpy"], 64, [1.0, z, z])
        wb.launch(named["saxpy"], 32, [1.0, z[32:], z[:32]])
        twice *= 2
        twice[:32] += twice[32:]
    given.same(z, twice)
    wb.launch(named["saxpy"], 0, [1.0, x, y])
    with contextlib.suppress(wb.LaunchError):
        wb.launch(named["saxpy"], 100, [2.0, x])
    with wb.record() as record:
        wb.launch(named["saxpy"], 100, [1.0, x, y])
    record.replay()
    given.same(y, other + 5 * host)


def reports(given: Given) -> None:
    """Faults of launches with checks, and what kernels print."""
    named = kernels()
    (x, host), (out, _) = given.floats(4), given.floats(4)
    wb.launch(named["pick"], 4, [x, 0, out], checks=True)
    given.same(out, host)
    fault = None
    try:
        wb.launch(named["pick"], 4, [x, 2, out], checks=True)
        wb.synchronize(given.device)
    except wb.KernelFault as found:
        fault = found
    assert not given.executes or (fault is not None and fault.function == "pick"), fault
    n = wb.array(np.arange(3, dtype=np.int32), device=given.device)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for _ in range(2):  # the second launch has the driver write what the first one printed
            wb.launch(named["says"], 3, [n])
        wb.synchronize(given.device)
    wanted = "element 0 0\nelement 1 1\nelement 2 2\n" * 2
    assert not given.executes or printed.getvalue() == wanted, printed.getvalue()


class Foreign:
    """A stream of another library's: it has the protocol, and nothing else, and no order with the default stream."""

    def __init__(self, given: Given) -> None:
        device = wb.get_device(given.device)
        self._driver = driver_of(device)
        with self._driver.keeping_current():
            self._driver.use(device.index)
            self._handle = self._driver.call("cuStreamCreateWithPriority", 1, 0)
        self._index = device.index

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, int(self._handle)

    def close(self) -> None:
        """Destroy it."""
        self._driver.release(self._index, "cuStreamDestroy", self._handle)


def streams(given: Given) -> None:
    """Streams, events and timers; launches in them, also in another library's."""
    saxpy = kernels()["saxpy"]
    (x, host), (y, other) = given.floats(64), given.floats(64)
    one, two = wb.Stream(given.device), wb.Stream(given.device, priority=-1)
    for stream in (one, two, one):
        wb.launch(saxpy, 64, [1.0, x, y], stream=stream)
    two.wait_for(one)
    first = one.record()
    with wb.ScopedStream(two):
        wb.launch(saxpy, 64, [1.0, x, y])
        y[:32].fill_(1.0)
    other += 4 * host
    other[:32] = 1.0
    last = two.record(wb.Event(given.device))
    two.wait_for(first)
    assert last - first >= 0
    one.synchronize()
    given.same(y, other)
    foreign = Foreign(given)
    wb.launch(saxpy, 64, [1.0, x, y], stream=foreign)
    given.same(y, other + host)
    foreign.close()
    with wb.ScopedTimer(device=given.device) as timer:
        wb.launch(saxpy, 64, [0.0, x, y])
    assert timer.elapsed is not None


def graphs(given: Given) -> None:
    """Graphs: launches, moves, if, else, while, a body in a body, changed parameters."""
    named = kernels()
    (x, host), (y, other) = given.floats(16), given.floats(16)
    with wb.capture() as graph:
        wb.launch(named["saxpy"], 16, [2.0, x, y])
        y[:4].fill_(9.0)
        x[8:] = y[:8]
    for _ in range(2):
        graph.launch()
        other += 2 * host
        other[:4] = 9
        host[8:] = other[:8]
    given.same(y, other)
    given.same(x, host)
    del graph
    n, turns, way = (wb.zeros(1, int, device=given.device) for _ in range(3))
    n.fill_(3)

    def turn() -> None:
        wb.launch(named["count_down"], 1, [n, turns])
        wb.capture_if(n, on_true=lambda: way.fill_(1), on_false=lambda: way.fill_(2))

    with wb.capture() as graph:
        wb.capture_while(n, turn)
    if given.executes:
        graph.launch()
    given.same(turns, [3])
    given.same(way, [2])
    del graph


def library_capture(given: Given) -> None:
    """What another library queues in a stream becomes a node of a graph; memory goes and comes meanwhile."""
    saxpy = kernels()["saxpy"]
    (x, host), (y, other) = given.floats(8), given.floats(8)
    code = wb.launch(saxpy, 8, [1.0, x, y], record_cmd=True).record
    dropped, (z, seen) = wb.zeros(1000, float, device=given.device), given.floats(3)
    with wb.capture() as graph, wb.capture_stream(reads=[x], writes=[y]) as stream:
        del dropped
        wb.empty(3, float, device=given.device)
        given.same(z, seen)
        driver = code.executable.driver
        driver.launch(code.executable.queue, bytes(code.buffer), code.executable.shape(code.dim, 256), stream)
    graph.launch()
    given.same(y, other + host)


def threads(given: Given) -> None:
    """Threads launch with streams of their own; another one drops what is left."""
    saxpy = kernels()["saxpy"]
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            (x, host), (y, other) = given.floats(32), given.floats(32)
            stream = wb.Stream(given.device)
            for turn in range(20):
                wb.launch(saxpy, 32, [1.0, x, y], stream=stream if turn % 2 else None, checks=bool(turn % 3))
            given.same(y, other + 20 * host)
        except BaseException as error:
            errors.append(error)

    started = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not errors, errors[0]
    held = [given.floats(1000)[0], wb.Stream(given.device), wb.Event(given.device)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()


def faults(given: Given) -> None:
    """Each fault is reported once, whatever other threads wait for meanwhile."""
    pick, told = kernels()["pick"], list[int]()
    rounds, workers = 30, 3

    def met(error: wb.KernelFault) -> int:
        notes = getattr(error, "__notes__", [])
        return 1 + sum(int(note.split()[0]) for note in notes if "more launches" in note)

    def work() -> None:
        (x, _), (out, _) = given.floats(4), given.floats(4)
        for turn in range(rounds):
            try:
                wb.launch(pick, 4, [x, 2, out], checks=True)
                if turn % 3 == 0:
                    wb.synchronize(given.device)
            except wb.KernelFault as error:
                told.append(met(error))

    started = [threading.Thread(target=work) for _ in range(workers)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    try:
        wb.synchronize(given.device)
    except wb.KernelFault as error:
        told.append(met(error))
    assert not given.executes or sum(told) == rounds * workers, told


def waiting(given: Given) -> None:
    """What waits for all devices, and pinned memory, which belongs to none."""
    (x, host), pinned = given.floats(10), wb.empty(10, float, device="cpu", pinned=True)
    pinned.assign(x)
    wb.synchronize()
    np.testing.assert_array_equal(pinned.numpy(), host)
    with wb.ScopedTimer():
        wb.copy(x, pinned)
    given.same(x, host)


def text(given: Given) -> None:
    """CUDA C++: shared memory, blocks of two dimensions, NumPy arrays, a stream."""
    module = wb.cuda_module(TEXT)
    (x, host), (y, _) = given.floats(64), given.floats(64)
    for stream in (None, wb.Stream(given.device)):
        module["reversed"][64](x, y, 64, block_dim=32, shared=128, stream=stream)
        given.same(y, host.reshape(2, 32)[:, ::-1].reshape(-1))
    module["reversed"][64](x, y, 64, block_dim=32, shared=60_000)
    z = wb.zeros((4, 32), int, device=given.device)
    for _ in range(2):
        module["place"][[4, 32]](z, block_dim=(2, 16))
    given.same(z, np.full((4, 32), 2))
    back = np.zeros((4, 32), np.int32)
    module["place"][[4, 32]](back, block_dim=(4, 8))
    assert not given.executes or (back == 1).all()


def tapes(given: Given) -> None:
    """A gradient: forward and backward on a tape."""
    x = wb.ones(8, float, device=given.device, requires_grad=True)
    y = wb.zeros(8, float, device=given.device, requires_grad=True)
    with wb.Tape() as tape:
        wb.launch(kernels()["saxpy"], 8, [3.0, x, y])
    tape.backward(grads={y: wb.ones(8, float, device=given.device)})
    given.same(x.grad, np.full(8, 3.0))


class Xla(ffi_frames.Xla):
    """XLA with a stream on the device; its arrays are the device's memory, which the host can reach here."""

    def __init__(self, index: int, stream: int) -> None:
        super().__init__()

        def get_stream(arguments: Any) -> None:
            arguments[0].stream = stream

        def get_ordinal(arguments: Any) -> None:
            arguments[0].device_ordinal = index

        for name, kind, rule in (
            ("XLA_FFI_Stream_Get", StreamGet, get_stream), ("XLA_FFI_DeviceOrdinal_Get", OrdinalGet, get_ordinal),
        ):  # fmt: skip
            function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(kind))(rule)
            self._kept.append(function)
            self.api.functions[ffi_frames.FUNCTIONS[name]] = ctypes.cast(function, ctypes.c_void_p).value


def _seen_by_xla(x: Any) -> np.ndarray:
    """A device's array as XLA's buffers name it."""
    place = (ctypes.c_float * x.size).from_address(x.address)
    return np.ctypeslib.as_array(place).reshape(x.shape)


def xla(given: Given) -> None:
    """JAX's handler, as XLA calls it: its stages, in a stream without an order, and a second memory of a result."""
    import workbench as wb
    from workbench.interop.jax.launches import cuda

    plan = ffi_frames.make_plan(kernels()["saxpy"], outputs=0, in_out={"y"})
    device = wb.get_device(given.device)
    gpu = driver_of(device)
    made = cuda.target_for(plan, 64, gpu.arch(device.index)).thunks()
    (x, host), (y, other), (result, _) = given.floats(100), given.floats(100), given.floats(100)
    number = wb.full(1, 2.0, float, device=given.device)
    foreign = Foreign(given)
    with gpu.keeping_current():
        gpu.call("cuCtxSetCurrent", 0)  # XLA promises its thread none
        frames = Xla(device.index, foreign.__cuda_stream__()[1])
        operands = [_seen_by_xla(number).reshape(()), _seen_by_xla(x), _seen_by_xla(y)]
        attributes = {"dims": np.array([100], np.int64)}
        frames.call(made["initialize"], [], [], {}, stage=STAGE_INITIALIZE)
        frames.call(made["execute"], operands, [_seen_by_xla(result)], attributes, stage=STAGE_EXECUTE)
    given.same(result, other + 2 * host)
    foreign.close()


def current(given: Given) -> None:
    """What another library made current stays current, whatever is done here."""
    gpu = driver_of(wb.get_device(given.device))
    gpu.use(0)
    before = int(gpu.call("cuCtxGetCurrent"))
    (x, host), (y, other) = given.floats(16), given.floats(16)
    wb.launch(kernels()["saxpy"], 16, [1.0, x, y])
    wb.launch(kernels()["saxpy"], 16, [1.0, x, y], stream=wb.Stream(given.device))
    given.same(y, other + 2 * host)
    del x, y
    assert int(gpu.call("cuCtxGetCurrent")) == before, "another device is current than before"


def own_context(given: Given) -> None:
    """A library's own context of the same device stays current; it is not the one that the device's work is done in."""
    gpu, index, own = driver_of(wb.get_device(given.device)), int(given.device.rpartition(":")[2]), ctypes.c_void_p()
    with wb.capture() as graph:
        wb.launch(kernels()["saxpy"], 16, [1.0, given.floats(16)[0], given.floats(16)[0]])
    assert library().cuCtxCreate_v2(ctypes.byref(own), 0, index) == 0
    calls: dict[str, Callable[[], object]] = {
        "fill": lambda: wb.zeros(16, device=given.device),
        "copy": lambda: wb.array(np.ones(16, np.float32), device=given.device).numpy(),
        "launch": lambda: wb.launch(kernels()["saxpy"], 16, [1.0, *(given.floats(16)[0] for _ in range(2))]),
        "stream": lambda: wb.Stream(given.device).synchronize(),
        "event": lambda: wb.Stream(given.device).record().wait(),
        "wait": wb.synchronize,
        "pinned": lambda: wb.empty(16, device="cpu", pinned=True),
        "graph": graph.launch,
    }
    for name, do in calls.items():
        do()
        assert int(gpu.call("cuCtxGetCurrent")) == own.value, f"{name}: another context is current than before"
    assert library().cuCtxPopCurrent_v2(None) == 0


def peers(given: Given) -> None:
    """A kernel that reads another device's array, and copies between devices."""
    (x, host), (y, other) = given.floats(16), given.floats(16)
    elsewhere = x.to("cuda:0")
    given.same(elsewhere, host)
    refused = None
    try:
        wb.launch(kernels()["saxpy"], 16, [1.0, elsewhere, y], device=given.device)
    except wb.LaunchError as error:
        refused = error
    assert refused is not None
    wb.set_peer_access_enabled("cuda:0", given.device)
    for options in ({}, {"stream": wb.Stream(given.device)}):
        wb.launch(kernels()["saxpy"], 16, [1.0, elsewhere, y], device=given.device, **options)
    given.same(y, other + 2 * host)
    wb.set_peer_access_enabled("cuda:0", given.device, False)


GROUPS: tuple[Callable[[Given], None], ...] = (
    memory, launches, reports, streams, graphs, library_capture, threads, faults, waiting, text, tapes, xla,
    own_context, current, peers,
)  # fmt: skip
SEVERAL = (current, peers)
"""Those that use the first device, too; with one device they are left out."""


def outcomes(devices: int, executes: bool) -> Iterator[dict[str, Any]]:
    """Run the groups in this process, which is on the stand-in; one outcome each."""
    if executes:
        from tests.support.cuda_driver.executor import serve

        serve()
    given = Given(f"cuda:{devices - 1}", executes)
    # The records of faults are the process's, from the first launch with checks on.
    wb.launch(kernels()["pick"], 4, [given.floats(4)[0], 0, given.floats(4)[0]], checks=True)
    wb.synchronize(given.device)
    for group in GROUPS if devices > 1 else [g for g in GROUPS if g not in SEVERAL]:
        before, error = report(), ""
        try:
            with wb.ScopedDevice(given.device):
                group(given)
        except Exception:
            error = traceback.format_exc()
            sys.last_traceback = None
        after = report()
        yield {
            "group": group.__name__, "error": error, "refused": after.refused, "left": after.left(before),
            "contexts": after.contexts,
        }  # fmt: skip


@cache
def run_groups(version: int, devices: int, executes: bool) -> dict[str, dict[str, Any]]:
    """Run them in a process of their own; the outcomes by group."""
    program = (
        "import json\nfrom tests.support.cuda_driver.groups import outcomes\n"
        f"for one in outcomes({devices}, {executes}): print('OUTCOME', json.dumps(one), flush=True)\n"
    )
    lines = run(program, version=version, devices=devices).output.splitlines()
    found = [json.loads(line.removeprefix("OUTCOME ")) for line in lines if line.startswith("OUTCOME ")]
    return {one["group"]: one for one in found}
