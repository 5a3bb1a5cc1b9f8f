"""Addresses of arrays on the CPU, and arrays at addresses."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

import workbench as wb
from workbench.runtime.arrays.shapes import dense
from workbench.structs import as_element
from workbench.weak import Weak

_ASKED: Weak[int, wb.array] = Weak()
"""The arrays whose address a program knows: an array that it makes there is a part of the same memory."""


def address(x: wb.array) -> int | None:
    """Return the address of the first element; None of an array without elements."""
    if not x.size:
        return None
    _ASKED.put(x.address, x)
    return x.address


def from_ptr(ptr: int | None, dtype: Any, shape: Any, strides: Any = None, device: Any = None) -> wb.array:
    """An array of the memory at an address of the CPU, which is not copied.

    Raises:
        LaunchError: it is on another device.
    """
    kind = as_element(dtype)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    owner = _ASKED.get(ptr) if ptr else None
    if owner is None and wb.get_device(device).is_cuda:
        raise wb.LaunchError("ptr= is an address of the CPU here.", advice="Pass the array itself, through DLPack.")
    if not ptr or 0 in sizes:
        return wb.empty(sizes, kind, device)
    inner = tuple(kind.shape)
    item = wb.types.element(kind).numpy if not hasattr(kind, "fields") else kind.numpy
    steps = dense(sizes, kind.size) if strides is None else (strides,) if isinstance(strides, int) else tuple(strides)
    if owner is not None and 0 <= ptr - owner.memory.address <= owner.memory.nbytes - kind.size:
        return owner.window(sizes, steps, ptr, dtype=kind)
    reach = sum((n - 1) * abs(s) for n, s in zip(sizes, steps, strict=True)) + kind.size
    raw = np.frombuffer((ctypes.c_uint8 * reach).from_address(ptr), np.uint8)
    view = np.ndarray((*sizes, *inner), item, raw, 0, (*steps, *dense(inner, item.itemsize)))
    return wb.array(view, kind, copy=False, device=device)
