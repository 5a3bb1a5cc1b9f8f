"""The digest of bytes in memory, which is native: it is made at the speed at which memory is read."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.backends.cpu.jit import CpuCode

SYMBOL = "wb_digest"


@functools.cache
def text() -> str:
    """Return the LLVM IR of the function that computes a digest."""
    return Path(__file__).with_name("digest.ll").read_text(encoding="utf-8")


@functools.cache
def digest_of(image: Callable[[str, str], bytes]) -> Callable[[int, int], int]:
    """Return the native function from an address and a number of bytes to their digest; it is loaded once.

    Args:
        image: compiles LLVM IR, given a name and the text, into an image or object.
    """
    return ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int64)(_load(image).address)


@functools.cache
def _load(image: Callable[[str, str], bytes]) -> CpuCode:
    """Compile and load the function that computes a digest, once; return the code.

    It has to live as long as the function is called.
    """
    from workbench.backends.cpu.jit import load_symbols

    return load_symbols(image(SYMBOL, text()), [SYMBOL])
