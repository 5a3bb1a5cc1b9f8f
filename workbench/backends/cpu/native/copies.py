"""Copies, fills and sums of arrays as native entries, called as kernels are: for graphs, which run without Python.

`entry(params, begin, end, fault)` handles elements [begin, end) in row-major order. An element is `count` scalars side
by side. Params are 64-bit words: target, source, count, dense (1: both lie densely), sizes[4], target strides[4],
source strides[4] (bytes), step of the source's scalars where all is dense. A fill is a copy whose source has steps of
0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.backends.cpu.jit import CpuCode

WORDS = 17
"""Words of the params; copies.c has them as a struct."""
LLVM_TYPES = {
    "bool": "i8", "int8": "i8", "uint8": "i8", "int16": "i16", "uint16": "i16", "int32": "i32", "uint32": "i32",
    "int64": "i64", "uint64": "i64", "float32": "float", "float64": "double",
}  # fmt: skip
"""Types that sums have; the rounding of 16-bit floats needs a library that not all systems have."""


def copy_name(size: int) -> str:
    """Return the symbol of the entry that copies an array's scalars of `size` bytes."""
    return f"wb_copy_i{8 * size}"


def add_name(dtype: str) -> str | None:
    """Return the entry that adds one array's scalars of a type to another's, as its symbol; None: there is none."""
    return f"wb_add_{LLVM_TYPES[dtype]}" if dtype in LLVM_TYPES else None


def _names() -> list[str]:
    """Return the symbols of all native entries that copy or add arrays."""
    return [*(copy_name(size) for size in (1, 2, 4, 8)), *sorted({f"wb_add_{type}" for type in LLVM_TYPES.values()})]


@functools.cache
def text() -> str:
    """Return the LLVM IR of all native entries that copy or add arrays."""
    return Path(__file__).with_name("copies.ll").read_text(encoding="utf-8")


@functools.cache
def entries(image: Callable[[str, str], bytes]) -> dict[str, int]:
    """Return the addresses, by symbol, of all native entries that copy or add arrays; they are loaded once.

    Args:
        image: compiles LLVM IR, given a name and the text, into an image or object.
    """
    return _load(image).addresses


@functools.cache
def _load(image: Callable[[str, str], bytes]) -> CpuCode:
    """Compile and load the native entries that copy or add arrays, once; return the code.

    It has to live as long as they are called.
    """
    from workbench.backends.cpu.jit import load_symbols

    return load_symbols(image("wb_moves", text()), _names())
