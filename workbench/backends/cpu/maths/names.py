"""Names of vectorised maths functions: ours, and those of glibc where this machine has them.

Of our functions these names are all that code from the cache has to know.

glibc's library is asked whether this machine has it, and what its functions are called. Its errors are below 4 units of
the last place (glibc's promise).
"""

from __future__ import annotations

import ctypes
import platform
import re
import sys
from functools import lru_cache

from workbench.backends.cpu.systems import symbol_addresses

ARM = platform.machine() in ("aarch64", "arm64")
WIDTH = 128 if ARM else 256
"""Bits of a vector register for our functions."""
FORMULAS = ("exp", "log", "sin", "cos", "tan", "tanh", "erf", "pow")
"""The names of our functions (`approximations.FORMULAS`)."""
INSTEAD = {"fma": 3}
"""Functions of ours in place of instructions (`approximations.INSTEAD`), with their numbers of arguments."""
_SYMBOL = re.compile(rb"wbm_([a-z]+)_(32|64)")


def symbol(name: str, bits: int, count: int = 1) -> str:
    """Return the symbol of our maths function for `count` elements of `bits` bits."""
    return f"wbm_{name}_{bits}" + (f"x{count}" if count > 1 else "")


def symbols(name: str, bits: int) -> tuple[str, ...]:
    """Return the symbols in the module of one of our maths functions on this machine: the scalar, then wide ones."""
    return tuple(symbol(name, bits, count) for count in (1, *widths(bits, WIDTH)))


def widths(bits: int, width: int) -> tuple[int, ...]:
    """Return how many elements the wide forms of a function take, widest first, for registers of `width` bits."""
    widest = width // bits
    return (widest, widest // 2) if bits == 32 else (widest,)


def needed(image: bytes) -> set[tuple[str, int]]:
    """Return which of our maths functions, by name and bits of an element, an object file or image refers to."""
    functions = {(name.decode(), int(bits)) for name, bits in _SYMBOL.findall(image)}
    return {pair for pair in functions if pair[0] in FORMULAS}


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
    symbols = [libmvec_symbol(name, bits) for name in NEWEST for bits in (32, 64)]
    return f"libmvec {platform.libc_ver()[1]}" if all(symbol_addresses(loaded, symbols)) else ""


def libmvec_symbol(name: str, bits: int) -> str:
    """Return the symbol of the library's AVX2 function for a maths function (x86-64 vector function ABI)."""
    return f"_ZGVdN{256 // bits}{'v' * FUNCTIONS[name]}_{scalar_name(name, bits)}"


def scalar_name(name: str, bits: int) -> str:
    """Return the C library's symbol for a maths function of scalars of `bits` bits."""
    return name + ("f" if bits == 32 else "")
