"""The text of a kernel's `printf`, and the memory of a module's variables: for whoever executes PTX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from workbench.backends.ptx.syntax.program import Program, Variable

_FORMAT = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcsp%])")
LONGEST = 4096
"""The most bytes of a string that are read."""


class Bytes(Protocol):
    """An emulated device's memory, as far as `printf` and variables need it."""

    @property
    def memory(self) -> np.ndarray:
        """All bytes of the memory."""
        ...

    @property
    def base(self) -> int:
        """The address of its first byte."""
        ...

    def alloc(self, nbytes: int, /) -> int:
        """Allocate bytes; return their address."""
        ...


def text_at(memory: Bytes, address: int) -> str:
    """Return the null-terminated string at an address, at most `LONGEST` bytes of it."""
    start = address - memory.base
    return bytes(memory.memory[start : start + LONGEST]).partition(b"\0")[0].decode(errors="replace")


_NARROW = {"h": 2, "hh": 1}
"""Bytes of an integer that printf takes as an int, by the length in its format."""


def formatted(text: int, values: int, memory: Bytes) -> str:
    """Return the text that a kernel's `printf` prints.

    Args:
        text: address of the format.
        values: address of the packed arguments, each aligned to its size.
        memory: the device's memory.
    """
    at = values - memory.base

    def take(kind: str) -> Any:
        nonlocal at
        size = np.dtype(kind).itemsize
        at = -(-at // size) * size
        value = memory.memory[at : at + size].view(kind)[0]
        at += size
        return value.item()

    def one(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        width = str(take("i4")) if width == "*" else width or ""
        precision = str(take("i4")) if precision == "*" else precision
        shape = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
        if kind in "eEfFgGaA":
            value = take("f8")
            return float(value).hex() if kind in "aA" else f"{shape}{kind}" % value
        if kind == "s":
            return f"{shape}s" % text_at(memory, take("u8"))
        if kind == "p":
            return f"0x{take('u8'):x}"
        wide = length in ("l", "ll", "j", "z", "t")
        value = take(("i" if kind in "dic" else "u") + ("8" if wide else "4"))
        if length in _NARROW:  # passed as int, printed as its low bits
            value = np.array(value).astype(f"{'i' if kind in 'di' else 'u'}{_NARROW[length]}").item()
        value = value & 0xFF if kind == "c" else value  # C prints the low byte
        return f"{shape}{'d' if kind in 'diu' else kind}" % value

    return _FORMAT.sub(one, text_at(memory, text))


def placed_variables(program: Program, memory: Bytes) -> dict[str, int]:
    """Allocate and initialise a module's variables in global and constant memory; return their addresses by name.

    Variables in other state spaces are left out.
    """
    variables = [v for v in program.variables.values() if v.space in ("global", "const")]
    addresses = {v.name: memory.alloc(max(v.size, 1)) for v in variables}
    for v in variables:
        _initialise(v, addresses | program.addresses, memory)
    return addresses


def _initialise(variable: Variable, addresses: Mapping[str, int], memory: Bytes) -> None:
    """Write a variable's initial bytes, zeros after them, and the addresses in it into the device's memory."""
    data = bytearray(variable.size)
    data[: len(variable.initial)] = variable.initial
    for r in variable.references:
        value = (addresses[r.symbol] + r.offset) >> r.shift
        data[r.at : r.at + r.size] = (value & ((1 << 8 * r.size) - 1)).to_bytes(r.size, "little")
    start = addresses[variable.name] - memory.base
    memory.memory[start : start + len(data)] = np.frombuffer(bytes(data), np.uint8)
