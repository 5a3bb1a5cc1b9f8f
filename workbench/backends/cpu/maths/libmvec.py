"""glibc's vectorised maths library: whether this machine has it, and what its functions are called.

Its errors are below 4 units of the last place (glibc's promise).
"""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import lru_cache

from workbench.backends.cpu.symbols import symbol_address

LIBRARY = "libmvec.so.1"
ONE = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p cbrt erf erfc"
).split()
TWO = ("pow", "atan2", "hypot")
FUNCTIONS = {**dict.fromkeys(ONE, 1), **dict.fromkeys(TWO, 2)}
"""Functions that have wide variants, with how many arguments they take."""
NEWEST = ("sin", "exp", "pow", "tan", "erfc", "hypot")
"""Some functions of each release of glibc that added any (2.22, 2.35): a library that has these has all."""


@lru_cache(maxsize=1)
def library() -> str:
    """Return the library's name and version, such as `libmvec 2.36`; empty where it is missing or lacks a function."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return ""
    try:
        loaded = ctypes.CDLL(LIBRARY)
    except OSError:
        return ""
    complete = all([symbol_address(loaded, symbol(name, bits)) for name in NEWEST for bits in (32, 64)])
    return f"libmvec {platform.libc_ver()[1]}" if complete else ""


def symbol(name: str, bits: int) -> str:
    """Return the symbol of the library's AVX2 function for a maths function (x86-64 vector function ABI)."""
    return f"_ZGVdN{256 // bits}{'v' * FUNCTIONS[name]}_{scalar_name(name, bits)}"


def scalar_name(name: str, bits: int) -> str:
    """Return the C library's symbol for a maths function of scalars of `bits` bits."""
    return name + ("f" if bits == 32 else "")
