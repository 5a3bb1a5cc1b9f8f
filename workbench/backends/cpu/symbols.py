"""Addresses of functions in libraries, on Linux: `dlsym` takes a tenth of the time of ctypes' own objects."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import lru_cache
from typing import Any


def symbol_addresses(library: ctypes.CDLL | ctypes.PyDLL, names: Iterable[str]) -> list[int]:
    """Return the addresses of functions; 0 for one that neither the library nor what it depends on has."""
    find, handle = _dlsym(), library._handle
    return [find(handle, name.encode()) or 0 for name in names]


@lru_cache(maxsize=1)
def _dlsym() -> Any:
    """Return the C library's `dlsym`, from a handle and a name to an address, or None."""
    find = ctypes.CDLL(None).dlsym
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
    return find
