"""Names of our maths functions: all that code from the cache has to know of them."""

from __future__ import annotations

import platform
import re

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
