"""A pytest plugin that repeats the suite of the language on a device: what runs CUDA text on the host runs it there.

    python -m pytest -p tests.gpu.repeated tests/frontend tests/backends/cuda tests/faults

Every test that hands kernels to the host shim is kept, and the shim is replaced. `WORKBENCH_REPEAT` says by what:
"device" (the default), "emulated" (the mock driver, so that the way there is walked without a GPU), or "nvrtc" (the
host still runs it, and NVRTC compiles each kernel). So the device repeats the very suite, and cannot fall behind it.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.hostshim import hostshim
from workbench.backends.base import Options
from workbench.backends.cuda.compile.nvrtc import CudaBackend
from workbench.backends.faults import FaultRecord, raised_by
from workbench.backends.layout import FAULT_SIZE, layout
from workbench.ir import Function
from workbench.runtime.device.driver import driver
from workbench.types import ArrayType, Vector

MODE = os.environ.get("WORKBENCH_REPEAT", "device")
TARGET = "sm_90"
DEVICE_ULP = 4
"""What a device's maths may differ by beside a builtin's own bound; on the host it is 1."""
LEFT_OUT = ("tiles", "test_prints.py", "test_native_text.py", "test_host_run.py")
"""Tests of tiles are repeated by `test_gpu_tiles`; the others look at the host itself."""
HostLibrary = hostshim.Library
_OPEN = ExitStack()
"""What is open for the whole run."""


class DeviceLibrary:
    """Stands for the host shim's `Library`: the same kernels, launched on the first device."""

    def __init__(
        self, functions: Sequence[Function], options: Options, sanitize: bool = False, threads: str = ""
    ) -> None:
        found = driver()
        assert found is not None
        self.driver, self.options = found, options
        self.functions = {f.name: f for f in functions}
        self.kernels = {}
        for function in functions:
            made = CudaBackend().compile(function, options, found.arch(0))
            self.kernels[function.name] = found.load(0, made.image, made.metadata["entry"])

    def run(self, name: str, dim: int | Sequence[int], args: Sequence[Any], block: int = 256, seed: int = 0) -> None:
        """Launch `name` over `dim`; arrays are changed in place."""
        function, found = self.functions[name], self.driver
        dims = tuple(dim) if isinstance(dim, Sequence) else (dim,)
        plan = layout([(p.name, p.type) for p in function.params])
        buffer = ctypes.create_string_buffer(plan.size)
        buffer[:32] = np.array([*dims, 1, 1, 1, 1][:4], np.int64).tobytes()
        sent = [Sent(low, high) for low, high in ranges(args)]
        for slot, arg in zip(plan.slots, args, strict=True):
            buffer[slot.offset : slot.offset + slot.size] = piece(slot.type, arg, sent)
        base = ctypes.addressof(buffer)
        record = found.alloc(0, FAULT_SIZE)
        found.fill(record.handle, 0, FAULT_SIZE)
        last = ctypes.c_void_p(record.handle)
        places = [base, *(base + slot.offset for slot in plan.slots)]
        places += [ctypes.addressof(last)] * self.options.checks
        found.launch(0, self.kernels[name], max(1, -(-math.prod(dims) // block)), block, places)
        for one in sent:
            one.back()
        told = np.empty(FAULT_SIZE, np.uint8)
        found.copy_to_host(told, record.handle)
        fault = FaultRecord.read(told.tobytes())
        if fault is not None:
            shapes = {
                p.name: a.shape for p, a in zip(function.params, args, strict=True) if isinstance(p.type, ArrayType)
            }
            raise raised_by(function, fault, dims, shapes)


class CompiledLibrary(HostLibrary):
    """The host shim's `Library`, whose kernels NVRTC has compiled too."""

    def __init__(self, functions: Sequence[Function], options: Options, *rest: Any, **named: Any) -> None:
        for function in functions:
            assert CudaBackend().compile(function, options, TARGET).image
        super().__init__(functions, options, *rest, **named)


class Sent:
    """A range of the host's memory on the device."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        found = driver()
        assert found is not None
        self.driver, self.size = found, high - low
        self.place = found.alloc(0, max(1, self.size))
        if self.size:
            found.copy_to_device(self.place.handle, np.frombuffer(ctypes.string_at(low, self.size), np.uint8))

    def back(self) -> None:
        """Copy it back to where it came from."""
        if self.size:
            host = np.empty(self.size, np.uint8)
            self.driver.copy_to_host(host, self.place.handle)
            ctypes.memmove(self.low, host.ctypes.data, self.size)


def ranges(args: Sequence[Any]) -> list[tuple[int, int]]:
    """The memory that the arrays lie in; what overlaps, like the fields of one array of structs, is one range."""
    found: list[tuple[int, int]] = []
    arrays = (a for a in args if isinstance(a, np.ndarray) and a.ndim)
    for low, high in sorted(np.lib.array_utils.byte_bounds(root(a)) for a in arrays):
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        elif not found or (low, high) != found[-1]:
            found.append((low, high))
    return found


def root(a: Any) -> Any:
    """The array whose memory a view sees."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


def piece(type: Any, arg: Any, sent: Sequence[Sent]) -> bytes:
    """An argument's bytes in the parameter buffer."""
    if isinstance(type, ArrayType):
        at = arg.ctypes.data
        one = next((s for s in sent if s.low <= at < s.high), None) or next(s for s in sent if s.low == at)
        address = one.place.handle + at - one.low
        return np.array([address, *arg.shape[: type.ndim], *arg.strides[: type.ndim]], np.int64).tobytes()
    scalar = type.dtype if isinstance(type, Vector) else type
    return np.asarray(arg, dtype=scalar.numpy).tobytes()


def run(function: Function, dim: int | Sequence[int], args: Sequence[Any], *, options: Options | None = None) -> None:
    """Launch one kernel over `dim`."""
    hostshim.Library([function], options or Options()).run(function.name, dim, args)


def pytest_configure(config: pytest.Config) -> None:
    """Put the device in the host's place, before tests are imported."""
    here = Path(__file__).parents[1]
    sys.path[:0] = [str(here / "hostshim"), str(here / "mockdriver"), str(here / "backends/cuda")]
    import hostshim as by_path

    if MODE == "emulated":
        import emulated

        _OPEN.enter_context(emulated.device(pytest.MonkeyPatch()))
    _OPEN.enter_context(wb.ScopedDevice("cpu"))  # what names no device stays where the suite expects it
    for module in (hostshim, by_path):
        module.Library = CompiledLibrary if MODE == "nvrtc" else DeviceLibrary  # type: ignore[misc]
        module.run = run


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that hand kernels to the shim."""
    kept = [i for i in items if not any(part in str(i.path) for part in LEFT_OUT) and "run" in set(shim_names(i))]
    if MODE != "emulated":
        for module in {i.module for i in kept}:  # type: ignore[attr-defined]
            if hasattr(module, "HOST_ULP"):
                module.HOST_ULP = DEVICE_ULP
    config.hook.pytest_deselected(items=[i for i in items if i not in kept])
    items[:] = kept


def shim_names(item: pytest.Item) -> Iterator[str]:
    """ "run" where the test, or a function of its module that it calls, uses the shim's `Library` or `run`."""
    todo, seen = [getattr(item, "function", None)], set()
    space = vars(item.module)  # type: ignore[attr-defined]
    while todo:
        function = todo.pop()
        code = getattr(function, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        inner = [code, *(c for c in code.co_consts if hasattr(c, "co_names"))]
        names = {name for c in inner for name in (*c.co_names, *c.co_freevars)}
        if "Library" in names or ("hostshim" in names and "run" in names):
            yield "run"
        todo += [space[n] for n in names if n in space and hasattr(space[n], "__code__")]
