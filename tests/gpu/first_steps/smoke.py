"""The first steps: what must work before anything else is worth trying, most decisive first."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from tests.gpu.first_steps.harness import ROOT, Given

PACKAGES = (
    "kernel-workbench", "numpy", "llvmlite", "ml_dtypes", "platformdirs", "cuda-bindings",
    "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc", "nvidia-nvjitlink-cu12", "nvidia-nvjitlink", "jax", "jaxlib",
    "jax-cuda12-plugin", "jax-cuda13-plugin", "torch", "cupy-cuda12x", "cupy-cuda13x", "pytest", "pytest-xdist",
    "hypothesis",
)  # fmt: skip
CELL = """
def saxpy(a: float, x: array[float], y: array[float]):
    i = tid()
    y[i] = a * x[i] + y[i]

def add(x: array[float], by: float):
    i = tid()
    x[i] = x[i] + by

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
ONE = 'extern "C" __global__ void one(int* x) { x[0] += 1; }'
WILD = 'extern "C" __global__ void wild(int* x) { *(volatile int*)16 = x[0]; }'


@cache
def cell() -> Any:
    """The kernels of `CELL`."""
    import workbench as wb

    return wb.build_cell(CELL, {}, backend="cpu").names


def loaded(given: Given, text: str, entry: str) -> Any:
    """A kernel of CUDA C++ source code, loaded on the device."""
    from workbench.backends.base import Options
    from workbench.backends.cuda.compile.nvrtc import build

    made = build(text, Options(), given.gpu.arch(given.index), "ptx" if given.is_emulated else "cubin")
    image = made.image if isinstance(made.image, bytes) else made.image.encode()
    return given.gpu.load(given.index, image, entry)


@contextmanager
def calls(gpu: Any) -> Iterator[list[tuple[str, str]]]:
    """The calls that the driver gets inside: name, and error if it was refused."""
    made: list[tuple[str, str]] = []
    real = gpu.call

    def call(name: str, *args: Any) -> Any:
        try:
            value = real(name, *args)
        except Exception as refused:
            made.append((name, str(refused)))
            raise
        made.append((name, ""))
        return value

    gpu.call = call
    try:
        yield made
    finally:
        del gpu.call


def versions(given: Given) -> None:
    """Python, packages, commit, driver and device."""
    # What is not reached stays None; the most telling facts come first in the row.
    given.saw(device=None, driver=None, nvrtc=None, python=platform.python_version(), commit=_commit())
    given.saw(system=platform.platform(), packages=_packages())

    import msgspec

    import workbench as wb
    from workbench.backends.cuda.compile.nvrtc import CudaBackend

    given.saw(workbench=str(wb.__file__), nvrtc=CudaBackend().version())
    wb.get_device(given.device)
    gpu = given.gpu
    given.saw(
        device=msgspec.structs.asdict(gpu.properties[given.index]),
        devices=gpu.count(),
        driver=gpu.call("cuDriverGetVersion"),
    )
    kinds = gpu.api.CUdevice_attribute
    handle = gpu.call("cuDeviceGet", given.index)
    wanted = ("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", "MEMORY_POOLS_SUPPORTED", "CONCURRENT_KERNELS", "UNIFIED_ADDRESSING")
    for name in wanted:
        value = gpu.call("cuDeviceGetAttribute", getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}"), handle)
        given.saw(**{name.lower(): value})


def _commit() -> str | None:
    try:
        done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() or None


def _packages() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def memory(given: Given) -> None:
    """Memory of several sizes, to the device and back."""
    import workbench as wb

    for count in (1, 31, 4096, given.size(1 << 26, 1 << 16)):
        data = np.random.default_rng(count).integers(0, 1 << 30, count).astype(np.int32)
        np.testing.assert_array_equal(wb.array(data, device=given.device).numpy(), data)
        given.saw(bytes=data.nbytes)
    free, whole = given.gpu.call("cuMemGetInfo")
    given.saw(free=free, whole=whole)


def launch(given: Given) -> None:
    """One launch: the same bits as NumPy."""
    import workbench as wb

    x, y = (np.random.default_rng(seed).normal(size=100_003).astype(np.float32) for seed in (1, 2))
    there = wb.array(y, device=given.device)
    wb.launch(cell()["saxpy"], len(x), [2.5, wb.array(x, device=given.device), there])
    np.testing.assert_array_equal(there.numpy(), np.float32(2.5) * x + y)


def graph_node_by_kern(given: Given) -> None:
    """A graph's kernel node that names its kernel by `kern`, also after a change in place: what wb.capture does."""
    given.saw(value=_run_node(given, "kern"))
    assert given.seen["value"] == 1


def graph_node_by_func(given: Given) -> None:
    """Whether the driver takes a CUkernel in `func`, too: a fact, and no failure either way."""
    from workbench.errors import DeviceError

    try:
        given.saw(func="taken", value=_run_node(given, "func"))
    except DeviceError as refused:
        given.saw(func=f"refused: {refused}")


def _run_node(given: Given, field: str) -> int:
    """What a graph of one kernel node, changed in place before it runs, has added to 0."""
    import workbench as wb

    gpu, kernel = given.gpu, loaded(given, ONE, "one")
    x, unused = (wb.zeros(1, int, device=given.device) for _ in range(2))

    def parameters(target: wb.array) -> tuple[Any, Any]:
        address = ctypes.c_void_p(target.address)
        pointers = (ctypes.c_void_p * 1)(ctypes.addressof(address))
        made = gpu.api.CUDA_KERNEL_NODE_PARAMS()
        setattr(made, field, kernel.handle(gpu.api) if field == "kern" else kernel.function)
        for name in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
            setattr(made, name, 1)
        made.kernelParams = ctypes.addressof(pointers)
        return made, (address, pointers)

    graph = gpu.call("cuGraphCreate", 0)
    first, _kept = parameters(unused)
    node = gpu.call("cuGraphAddKernelNode", graph, None, 0, first)
    executable = gpu.call("cuGraphInstantiate", graph, 0)
    given.saw(made=True)
    second, _kept_too = parameters(x)
    gpu.call("cuGraphExecKernelNodeSetParams", executable, node, second)
    given.saw(changed=True)
    gpu.call("cuGraphLaunch", executable, gpu.stream_handle(given.index))
    assert unused.numpy()[0] == 0
    return int(x.numpy()[0])


def conditional_if(given: Given) -> None:
    """`wb.capture_if`: the body runs if the condition holds, and only then."""
    _choose(given, otherwise=False, expected=[1, 1])


def conditional_else(given: Given) -> None:
    """`wb.capture_if` with an else."""
    _choose(given, otherwise=True, expected=[1, 11])


def _choose(given: Given, otherwise: bool, expected: list[float]) -> None:
    import workbench as wb

    flag, x = wb.array([1], dtype=int, device=given.device), wb.zeros(4, float, device=given.device)
    bodies = [lambda by=by: wb.launch(cell()["add"], 4, [x, by]) for by in (1.0, 10.0)]
    with wb.capture() as graph:
        wb.capture_if(flag, *bodies[: 1 + otherwise])
    seen = []
    for value in (1, 0):
        flag.fill_(value)
        graph.launch()
        seen.append(float(x.numpy()[3]))
        given.saw(values=seen)
    assert seen == expected, f"{seen} instead of {expected}"


def conditional_while(given: Given) -> None:
    """`wb.capture_while`: as many turns as the condition asks for, also none, also when it is launched again."""
    import workbench as wb

    n, turns = (wb.zeros(1, int, device=given.device) for _ in range(2))
    with wb.capture() as graph:
        wb.capture_while(n, lambda: wb.launch(cell()["count_down"], 1, [n, turns]))
    for count in (5, 0, 3):
        n.fill_(count)
        graph.launch()
        given.saw(turns=int(turns.numpy()[0]))
    assert given.seen["turns"] == 8


def update_in_body(given: Given) -> None:
    """`g.update` of a launch inside a condition; how CUDA took it is a fact, the values must be right."""
    import workbench as wb

    flag, x = wb.array([1], dtype=int, device=given.device), wb.zeros(4, float, device=given.device)
    with wb.capture() as graph:
        wb.capture_if(flag, lambda: wb.launch(cell()["add"], 4, [x, 1.0]))
    graph.launch()
    with calls(given.gpu) as made:
        graph.update(by=5.0)
        graph.launch()
    given.saw(patched=[error or "taken" for name, error in made if name == "cuGraphExecKernelNodeSetParams"])
    given.saw(value=float(x.numpy()[0]))
    assert given.seen["value"] == 6


def printing(given: Given) -> None:
    """`print` in a kernel shows on standard output when something waits."""
    import workbench as wb

    x = wb.array([3, 4], dtype=int, device=given.device)
    with tempfile.TemporaryFile() as sink:
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(sink.fileno(), 1)
        try:
            wb.launch(cell()["says"], 2, [x])
            wb.synchronize(given.device)
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
        sink.seek(0)
        given.saw(printed=sink.read().decode())
    assert sorted(given.seen["printed"].split("\n")) == ["", "element 0 3", "element 1 4"]


def fault(given: Given) -> None:
    """A failed check names its kernel and thread, and the device still works."""
    import workbench as wb

    x = wb.array(np.arange(4, dtype=np.float32), device=given.device)
    out = wb.zeros(4, float, device=given.device)
    try:
        wb.launch(cell()["pick"], 4, [x, 2, out], checks=True)
        wb.synchronize(given.device)
    except wb.KernelFault as found:
        given.saw(function=found.function, thread=found.thread, message=str(found)[:200])
    assert given.seen.get("function") == "pick", "no fault was reported"
    wb.launch(cell()["pick"], 4, [x, 0, out], checks=True)
    np.testing.assert_array_equal(out.numpy(), np.arange(4))


def broken_context(given: Given) -> None:
    """After a write to no one's memory, every call says that the device is broken, and by what."""
    import workbench as wb

    x, kernel = wb.zeros(1, int, device=given.device), loaded(given, WILD, "wild")
    address, queue = ctypes.c_void_p(x.address), given.gpu.queue(kernel, [0])
    shape = given.gpu.shape(kernel, (1, 1, 1), (1, 1, 1))
    errors = []
    for use in (
        lambda: given.gpu.launch(queue, bytes(address), shape, name="wild"),
        lambda: wb.synchronize(given.device),
        lambda: wb.zeros(10, float, device=given.device),
    ):
        try:
            use()
        except wb.WorkbenchError as refused:
            errors.append(str(refused)[:300])
    given.saw(errors=errors)
    assert errors and "wild" in errors[-1], "the device was not reported as broken by wild"


def event_times(given: Given) -> None:
    """The time between two events: above 0, and not above what the host waited."""
    import time

    import workbench as wb
    from workbench.runtime.device.streams import moment

    count = given.size(1 << 26, 1 << 12)
    x, y = (wb.zeros(count, float, device=given.device) for _ in range(2))
    wb.launch(cell()["saxpy"], count, [2.0, x, y])
    wb.synchronize(given.device)
    start = time.perf_counter()
    before = moment(given.device)
    wb.launch(cell()["saxpy"], count, [2.0, x, y])
    after = moment(given.device)
    wb.synchronize(given.device)
    given.saw(device_ms=after - before, host_ms=1e3 * (time.perf_counter() - start))
    assert 0 < given.seen["device_ms"] <= given.seen["host_ms"]
