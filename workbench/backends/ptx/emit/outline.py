"""Blocks of a long kernel as functions of their own.

LLVM's fastest code generator keeps each value of a function at its own address on the stack: megabytes for thousands of
blocks, and a host thread has eight. Values of a block do not outlive it, so a function per block frees them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_NAME = re.compile(r'(?<!label )%(?:"[^"]*"|[\w.]+)')
_RESULT = re.compile(r"  (%[\w.]+) = ")
_TYPES = {"%warp": "i32", "%local": "<32 x i64>", **{f"%tid.{axis}": "<32 x i32>" for axis in "xyz"}}
"""Of the names that all blocks share; the others are pointers, and `%mask.n` is the lanes of block n."""


def outlined(rows: Sequence[str], bodies: Sequence[tuple[int, int]]) -> tuple[list[str], list[str]]:
    """Move bodies of blocks into functions; return the rows with calls in place of the bodies, and the functions' rows.

    Args:
        rows: LLVM instructions.
        bodies: begin and end of each body in `rows`, ascending. Bodies that suspend the warp or jump out stay.
    """
    out: list[str] = []
    functions: list[str] = []
    at = 0
    for number, (start, end) in enumerate(bodies):
        body = rows[start:end]
        out += rows[at:start]
        at = end
        if _stays(body):
            out += body
            continue
        results = {match[1] for row in body if (match := _RESULT.match(row))}
        names = dict.fromkeys(name for row in body for name in _NAME.findall(row) if name not in results)
        listed = ", ".join(f"{_TYPES.get(n) or ('i32' if n.startswith('%mask.') else 'ptr')} {n}" for n in names)
        functions += [f"define internal void @wbe_block.{number}({listed}) {{", *body, "  ret void", "}"]
        out.append(f"  call void @wbe_block.{number}({listed})")
    return [*out, *rows[at:]], functions


def _stays(body: Sequence[str]) -> bool:
    labels = {f"%{row[:-1]}" for row in body if row.endswith(":")}
    jumps = (label for row in body if "label " in row for label in re.findall(r"label (%[\w.]+)", row))
    return any(label not in labels for label in jumps)
