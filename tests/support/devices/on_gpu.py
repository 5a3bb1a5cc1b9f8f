"""Generated CUDA C++ on a device: the emulated one, or with `WORKBENCH_GPU=cuda` the first GPU.

Kernels of one `Library` are compiled as one text, since most of NVRTC's time is its start. Arguments are NumPy arrays:
the memory that they lie in is copied to the device and back, so what overlaps there overlaps on the device.
"""

from __future__ import annotations

import ctypes
import math
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.backends.base import Options
from workbench.backends.cuda.compile import nvrtc
from workbench.backends.cuda.emit import emit_kernel, entry_name
from workbench.backends.faults import FaultRecord, raised_by
from workbench.backends.layout import FAULT_SIZE, layout
from workbench.errors import KernelFault
from workbench.ir import Function
from workbench.passes import pipeline
from workbench.runtime.device.device import driver_of
from workbench.runtime.device.driver_calls import Driver
from workbench.runtime.native.pack import dims_piece
from workbench.types import ArrayType, Vector

DEVICE = "cuda:0" if os.environ.get("WORKBENCH_GPU") == "cuda" else "emulated:0"
ULP = 4 if DEVICE == "cuda:0" else 1
"""What a device's maths may differ by beside a builtin's own bound."""
BLOCK = 48
"""Threads of a block: a whole warp and a half."""
ONE_BY_ONE = -1
if DEVICE != "emulated:0":
    # What names no device stays on the CPU, as the suites expect: by the environment, which threads see, too.
    os.environ.setdefault("WORKBENCH_DEVICE", "cpu")


class Library:
    """Kernels compiled as one text; `run` launches one by name.

    Args:
        functions: kernels with names of their own.
        options: what their text is written with.
        texts: other texts than theirs, by the kernel's name.
        sanitized: on the emulated device, raise what its sanitizer finds: races, barriers that threads miss.
    """

    def __init__(
        self, functions: Sequence[Function], options: Options | None = None, texts: dict[str, str] | None = None,
        sanitized: bool = False,
    ) -> None:  # fmt: skip
        self.options = options or Options()
        self.functions = {f.name: f for f in functions}
        assert len(self.functions) == len(functions), "kernels of one library need names of their own"
        device = wb.get_device(DEVICE)
        self.driver, self.index = driver_of(device), device.index
        emitted = {f.name: emit_kernel(_runnable(f), self.options) for f in functions}
        self.shared = {name: made.dynamic_shared for name, made in emitted.items()}
        self.texts = {name: made.text for name, made in emitted.items()} | (texts or {})
        whole = "\n".join(f"namespace wb_unit_{n} {{\n{text}\n}}" for n, text in enumerate(self.texts.values()))
        kind = nvrtc.SANITIZED if sanitized else nvrtc.IMAGES[device.kind]
        self.sanitized = sanitized
        image = nvrtc.build(whole, self.options, self.driver.arch(self.index), kind).image
        first, *others = (entry_name(f) for f in functions)
        loaded = self.driver.load(self.index, image, first)
        self.kernels = {first: loaded} | {e: self.driver.load(self.index, image, e, beside=loaded) for e in others}

    def run(self, name: str, dim: int | Sequence[int], args: Sequence[Any], block: int = BLOCK, seed: int = 0) -> None:
        """Launch `name` over `dim`; arrays are changed in place. A seed shuffles what an emulated device does;
        `ONE_BY_ONE`: blocks in order, on one core; the test is skipped on a GPU, which promises no order.

        Raises:
            KernelFault: a check of the kernel failed, or the sanitizer found something.
        """
        if seed == ONE_BY_ONE and DEVICE != "emulated:0":
            pytest.skip("A GPU runs blocks in no order that a test can ask for.")
        function, found, index = self.functions[name], self.driver, self.index
        dims = tuple(dim) if isinstance(dim, Sequence) else (dim,)
        grid = math.prod(dims) if function.block_dim else max(1, -(-math.prod(dims) // block))
        sent = [Sent(found, index, low, high) for low, high in ranges(args)]
        record = found.alloc(index, FAULT_SIZE)
        found.fill(record.handle, 0, FAULT_SIZE, index)
        short = self.options.index32 and not any(getattr(p.type, "wide", False) for p in function.params)
        params, places = packed(function, dims_piece(dims, short), args, sent)
        kernel, threads = self.kernels[entry_name(function)], (function.block_dim or block, 1, 1)
        shape = found.shape(kernel, (grid, 1, 1), threads, self.shared[name])
        with shuffled(found, seed), self._findings_left(found):
            found.launch(found.queue(kernel, places), params, shape, fault=record.handle)
            found.synchronize(index)
        met = found.api.findings(index) if self.sanitized else []
        if met:
            raise KernelFault(str(met[0].fault), function=name)
        for one in sent:
            one.back()
        told = np.empty(FAULT_SIZE, np.uint8)
        found.copy_to_host(told, record.handle, index)
        fault = FaultRecord.read(told.tobytes())
        if fault is not None:
            arrays = ((p, a) for p, a in zip(function.params, args, strict=True) if isinstance(p.type, ArrayType))
            raise raised_by(function, fault, dims, {p.name: a.shape for p, a in arrays})

    @contextmanager
    def _findings_left(self, found: Driver) -> Iterator[None]:
        """Leave what the sanitizer finds to `run`: else whoever waits takes all of a device that was watched before."""
        settle = found.settle
        if self.sanitized:
            found.settle = lambda index, wait, report=True: wait()
        try:
            yield
        finally:
            found.settle = settle


def _runnable(function: Function) -> Function:
    """Return the kernel with every addition atomic, as for arguments that overlap."""
    return pipeline.run(pipeline.RUNNABLE, function, demote_atomics=False, reductions=False)


def run(function: Function, dim: int | Sequence[int], args: Sequence[Any], *, options: Options | None = None) -> None:
    """Launch one kernel over `dim`, as `workbench.backends.python.interpret.run` does; arrays are changed in place."""
    Library([function], options).run(function.name, dim, args)


@contextmanager
def shuffled(found: Driver, seed: int) -> Iterator[None]:
    """Let an emulated device choose among blocks and warps by this seed; 0 is their order, on several cores."""
    streams = found.api.state.streams if found.kind == "emulated" else None
    if streams is None or not seed:
        yield
        return
    before, streams._chance = streams._chance, _First() if seed == ONE_BY_ONE else random.Random(seed)
    try:
        yield
    finally:
        streams._chance = before


class _First(random.Random):
    """Chooses always the first."""

    def randrange(self, start: int, *rest: Any) -> int:
        return start


class Sent:
    """A range of the host's memory on the device."""

    def __init__(self, found: Driver, index: int, low: int, high: int) -> None:
        self.low, self.high = low, high
        self.driver, self.index, self.size = found, index, high - low
        self.place = found.alloc(index, max(1, self.size))
        if self.size:
            found.copy_to_device(self.place.handle, np.frombuffer(ctypes.string_at(low, self.size), np.uint8), index)

    def back(self) -> None:
        """Copy it back to where it came from."""
        if self.size:
            host = np.empty(self.size, np.uint8)
            self.driver.copy_to_host(host, self.place.handle, self.index)
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


def packed(function: Function, dims: bytes, args: Sequence[Any], sent: Sequence[Sent]) -> tuple[bytes, list[int]]:
    """The parameters as `backends/layout.py` packs them, and the offset of each."""
    plan = layout([(p.name, p.type) for p in function.params])
    assert len(args) == len(plan.slots), f"{function.name} takes {len(plan.slots)} arguments"
    buffer = bytearray(plan.size)
    buffer[: len(dims)] = dims
    for slot, arg in zip(plan.slots, args, strict=True):
        data = piece(slot.type, arg, sent)
        assert len(data) == slot.size, slot
        buffer[slot.offset : slot.offset + slot.size] = data
    return bytes(buffer), [0, *(slot.offset for slot in plan.slots)]


def piece(type: Any, arg: Any, sent: Sequence[Sent]) -> bytes:
    """An argument's bytes in the parameter buffer."""
    if isinstance(type, ArrayType):
        at = arg.ctypes.data
        one = next((s for s in sent if s.low <= at < s.high), None) or next(s for s in sent if s.low == at)
        address = one.place.handle + at - one.low
        return np.array([address, *arg.shape[: type.ndim], *arg.strides[: type.ndim]], np.int64).tobytes()
    scalar = type.dtype if isinstance(type, Vector) else type
    return np.asarray(arg, dtype=scalar.numpy).tobytes()
