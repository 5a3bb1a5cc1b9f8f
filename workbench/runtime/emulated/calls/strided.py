"""Copies and fills of up to three dimensions, as nodes of graphs describe them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.runtime.emulated.arena import host_bytes
from workbench.runtime.emulated.state import State
from workbench.runtime.emulated.status_error import CudaStatusError, expect

_HOST, _DEVICE, _ARRAY, _UNIFIED = 1, 2, 3, 4
"""CUmemorytype."""
_KINDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}


@dataclass(frozen=True)
class _Side:
    """The source or target of a strided copy: its first row's address, and the distances of rows and planes."""

    first: int
    pitch: int
    plane: int
    pageable: bool

    def bytes(self, state: State, y: int, z: int, width: int) -> np.ndarray:
        """Return a view of one row."""
        at = self.first + y * self.pitch + z * self.plane
        if self.pageable:
            return host_bytes(at, width)
        state.touch(at, width, "a copy")
        return state.arena.bytes_at(at, width)


def _side(state: State, params: Any, name: str, where: str) -> _Side:
    kind = int(getattr(params, f"{name}MemoryType"))
    if kind not in (_HOST, _DEVICE, _UNIFIED):
        raise CudaStatusError("CUDA_ERROR_NOT_SUPPORTED", f"{where}: CUDA arrays are not emulated")
    base = int(getattr(params, f"{name}Host" if kind == _HOST else f"{name}Device") or 0)
    pitch = int(getattr(params, f"{name}Pitch")) or params.WidthInBytes
    height = int(getattr(params, f"{name}Height")) or params.Height
    x, y, z = (int(getattr(params, f"{name}{part}")) for part in ("XInBytes", "Y", "Z"))
    expect(pitch >= params.WidthInBytes or params.Height == 1, f"{where}: {name}Pitch is less than a row")
    first = base + x + y * pitch + z * pitch * height
    return _Side(first, pitch, pitch * height, kind == _HOST and not state.arena.holds(first))


def copying(state: State, params: Any, where: str) -> Callable[[], None]:
    """Return a function that does the copy that a CUDA_MEMCPY3D describes.

    Raises:
        CudaStatusError: it is of arrays, or of memory that is not allocated.
    """
    width, rows, planes = int(params.WidthInBytes), int(params.Height), int(params.Depth)
    expect(width and rows and planes, f"{where}: a copy of {width} × {rows} × {planes} has no bytes")
    source, target = _side(state, params, "src", where), _side(state, params, "dst", where)

    def pairs() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for z in range(planes):
            for y in range(rows):
                yield target.bytes(state, y, z, width), source.bytes(state, y, z, width)

    def copy() -> None:
        for to, of in pairs():
            to[:] = of.copy()
        for z in range(planes if not target.pageable else 0):
            for y in range(rows):
                state.unwritten.wrote(target.first + y * target.pitch + z * target.plane, width)

    for _ in pairs():  # all of it is allocated now
        pass
    return copy


def filling(state: State, params: Any, where: str) -> Callable[[], None]:
    """Return a function that does the fill that a CUDA_MEMSET_NODE_PARAMS describes.

    Raises:
        CudaStatusError: the size of an element is none, or memory is not allocated.
    """
    first, size, width, rows = int(params.dst), int(params.elementSize), int(params.width), int(params.height)
    expect(size in _KINDS and width and rows, f"{where}: a fill of {width} × {rows} elements of {size} bytes is none")
    kind = _KINDS[size]
    value = int(params.value)
    expect(0 <= value < 1 << 8 * size, f"{where}: {value} has more than {8 * size} bits")
    expect(first % size == 0, f"{where}: {first:#x} is not aligned to {size} bytes")
    pitch = int(params.pitch) if rows > 1 else width * size
    rows_at = [first + y * pitch for y in range(rows)]

    def fill() -> None:
        for at in rows_at:
            state.touch(at, width * size, "a fill")
            state.arena.bytes_at(at, width * size).view(kind)[:] = value
            state.unwritten.wrote(at, width * size)

    for at in rows_at:
        state.touch(at, width * size, where)
    return fill
