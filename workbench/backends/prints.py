"""Printed lines: the record that native code writes, and the text that both it and the interpreter show.

Native code writes values, not text, into a buffer of its own object, and the host makes the text after the launch: so a
number looks as Python shows it, and lines stand in the order of the threads whatever ran when. The buffer:

    bytes 0-7     int64: how many bytes records have asked for (beyond the capacity nothing is written)
    bytes 8-15    int64: how many records found no room
    then records  int64 number of the print (from 1), int64 thread (linear), then 8 bytes per value: int64, or float64
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench.ir.build import Rewriter, rewrite
from workbench.ir.ops import NUMBER, PARTS
from workbench.ir.values import Function, Op, Value, walk
from workbench.types import Complex, Kind, Scalar, Type, Vector, element

SYMBOL = "wb_prints"
HEAD = 16
CAPACITY = 1 << 20


def prints(function: Function) -> list[Op]:
    """Return the function's `print` operations, in `walk` order."""
    return [op for op in walk(function.body) if op.name == "print"]


def number_prints(function: Function) -> Function:
    """Return the function with a number, from 1 in `walk` order, on each print; the function itself if it has none."""
    numbers = {op: n for n, op in enumerate(prints(function), 1)}

    def change(on: Rewriter, op: Op) -> tuple[Op, ...] | None:
        """Return a print with its number; None for any other operation."""
        return (op.replace(attrs={**op.attrs, NUMBER: numbers[op]}),) if op in numbers else None

    return rewrite(function, change) if numbers else function


def width(values: Sequence[Value]) -> int:
    """Return how many 64-bit words printed values take in the print buffer: one per scalar or component."""
    return sum(v.type.length if isinstance(v.type, Vector) else 1 for v in values)


def text(parts: Sequence[Any], values: Sequence[Any], types: Sequence[Any]) -> str:
    """Return what one print shows.

    Args:
        parts: the pieces in order: a string as it stands, or a tuple whose first item is the %-format of the next value
            ("" shows it as Python does).
        values: as the interpreter has them.
        types: of the values.
    """
    rest = (v.view(t.numpy)[..., 0][()] if isinstance(t, Complex) else v for v, t in zip(values, types, strict=True))
    shown: list[str] = []
    for part in parts:
        if isinstance(part, str):
            shown.append(part)
        else:
            value = next(rest)
            shown.append(part[0] % value.item() if part[0] else _plain(value))
    return "".join(shown)


def _plain(value: Any) -> str:
    """Return a number as `str` shows it (a float32 with the digits that a float32 needs), a vector in brackets."""
    if isinstance(value, np.ndarray):
        return f"[{', '.join(_plain(v) for v in value)}]"
    return str(value)


def records(function: Function, buffer: bytes, dropped: int) -> Iterator[str]:
    """Yield the lines of the records in a buffer, in the order of the threads, then a line about dropped ones, if any.

    Args:
        function: the kernel, whose prints are numbered as by `number_prints`.
        buffer: the buffer without its head.
        dropped: how many records did not fit.
    """
    ops = prints(function)
    texts: list[tuple[int, str]] = []
    at = 0
    while at + 16 <= len(buffer):
        number, thread = struct.unpack_from("<qq", buffer, at)
        if not 1 <= number <= len(ops):
            break
        op = ops[number - 1]
        at += 16
        values: list[Any] = []
        for value in op.operands:
            count = value.type.length if isinstance(value.type, Vector) else 1
            values.append(_value(value.type, buffer[at : at + 8 * count]))
            at += 8 * count
        texts.append((thread, text(op.attrs[PARTS], values, [v.type for v in op.operands])))
    texts.sort(key=lambda pair: pair[0])
    yield from (line for _, line in texts)
    if dropped:
        yield f"… {dropped} more prints of {function.name} found no room and were dropped\n"


def _value(type: Type, data: bytes) -> Any:
    """Return a printed value as a NumPy number, vector or matrix, from its parts of 8 bytes: float64 or int64."""
    scalar = element(type)
    words = np.frombuffer(data, np.float64 if scalar.kind is Kind.FLOAT else np.int64)
    numbers = words.astype(scalar.numpy)
    return numbers[0] if isinstance(type, Scalar) else numbers.reshape(type.parts_shape)  # type: ignore[union-attr]
