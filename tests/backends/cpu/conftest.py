"""A launch without a runtime: pack arguments by the layout, compile, load, and run the native launcher."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest

from workbench.backends.base import Options
from workbench.backends.cpu.backend import CpuBackend
from workbench.backends.cpu.jit import CpuCode
from workbench.backends.cpu.native.dispatch import dispatch
from workbench.backends.layout import layout
from workbench.cache.native import load_kernel
from workbench.ir.values import Function
from workbench.ir.verify import verify
from workbench.types import ArrayType, element

ENTRY = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
GO_ON = (ctypes.c_int64 * 5)()  # a `%stop` that stops nothing


def pack(function: Function, dims: Sequence[int], args: Sequence[Any]) -> np.ndarray[Any, Any]:
    """The parameter buffer of a launch."""
    plan = layout([(p.name, p.type) for p in function.params])
    buffer = bytearray(plan.size)
    struct.pack_into("4q", buffer, 0, *[*dims, 1, 1, 1, 1][:4])
    for slot, arg in zip(plan.slots, args, strict=True):
        if isinstance(slot.type, ArrayType):
            n = slot.type.ndim
            struct.pack_into(f"{1 + 2 * n}q", buffer, slot.offset, arg.ctypes.data, *arg.shape[:n], *arg.strides[:n])
        else:
            data = np.asarray(arg, dtype=element(slot.type).numpy).tobytes()
            buffer[slot.offset : slot.offset + len(data)] = data
    return np.frombuffer(bytes(buffer), dtype=np.uint8)


def build(function: Function, options: Options) -> CpuCode:
    """The function, compiled for this machine and loaded."""
    backend = CpuBackend()
    artifact = backend.compile(verify(function), options, backend.target())
    return load_kernel(artifact.image, artifact.metadata["entry"])


def execute(
    code: CpuCode, function: Function, dims: Sequence[int], args: Sequence[Any],
    threads: int = 1, grain: int = 65536, cuts: Sequence[int] | None = None,
) -> None:  # fmt: skip
    """Run code that `build` returned; `cuts` splits the range by hand."""
    buffer = pack(function, dims, args)
    total = prod(dims)
    if cuts is None:
        assert dispatch(code.address, buffer.ctypes.data, total, threads, grain) == 0
    else:
        entry = ENTRY(code.address)
        ends = [0, *cuts, total]
        for begin, end in pairwise(ends):
            assert entry(buffer.ctypes.data, begin, end, None, ctypes.addressof(GO_ON), None) == 0


@pytest.fixture
def launch() -> Callable[..., None]:
    """`launch(function, dims, args, options, threads, grain, cuts)`: `cuts` splits the range by hand."""

    def run(
        function: Function, dims: Sequence[int], args: Sequence[Any], options: Options | None = None, **how: Any
    ) -> None:
        execute(build(function, options or Options()), function, dims, args, **how)

    return run


@pytest.fixture
def packed() -> Callable[..., Any]:
    """`packed(function, dims, args)`: (loaded code, parameter buffer), for calls of the native launcher itself."""
    return lambda function, dims, args: (build(function, Options()), pack(function, dims, args))
