"""One launch of a CUDA text on the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.backends.cuda.host.code import HostCode

Argument = Any
"""An array (passed as its address), a NumPy number or bytes (passed as they are), or a pair of an array and the bytes
that follow its address in a struct."""


def launch_host(
    code: HostCode, kernel: str, arguments: Sequence[Argument], grid: Sequence[int], block: Sequence[int],
    shared: int = 0, seed: int = 1,
) -> None:  # fmt: skip
    """Run a kernel of a loaded program; one argument per parameter."""
    held = []
    for given in arguments:
        array, rest = parts(given)
        data = rest if array is None else np.int64(array.ctypes.data).tobytes() + rest
        held.append(ctypes.create_string_buffer(data, len(data)))
    pointers = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
    code.launch(kernel, ctypes.addressof(pointers), grid, block, shared, seed)


def parts(given: Argument) -> tuple[np.ndarray[Any, Any] | None, bytes]:
    """The array that an argument has the address of, if it is one, and its other bytes."""
    if isinstance(given, tuple):
        return given[0], given[1]
    if isinstance(given, np.ndarray):
        return given, b""
    return None, given if isinstance(given, bytes) else given.tobytes()
