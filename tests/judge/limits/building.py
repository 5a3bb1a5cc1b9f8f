"""Programs of a chosen size: the parts that families of the table of limits are made of."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tests.judge.program import Argument, Array, Program, Scalar

Values = dict[str, np.ndarray[Any, Any]]
STEPS = ("v = v * 0.75", "v = v + a", "v = max(v, -1.5)", "v = v - 0.25", "v = min(v, 2.5)")
"""Statements of one operation each; `v` stays small, and no two in a row can be folded into one."""


def floats(*shape: int, seed: int = 1, dtype: Any = np.float32, output: bool = False) -> Array:
    """Return an array of random floats between -2 and 2."""
    values = np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)
    return Array(values, f"wb.{values.dtype}", output)


def integers(*shape: int, below: int, seed: int = 2) -> Array:
    """Return an array of random integers from 0."""
    return Array(np.random.default_rng(seed).integers(0, below, shape).astype(np.int32), "wb.int32")


def output(*shape: int, dtype: str = "float32") -> Array:
    """Return an array of zeros that the kernel writes."""
    return Array(np.zeros(shape, dtype), f"wb.{dtype}", output=True)


def whole(value: int) -> Scalar:
    """Return an integer argument."""
    return Scalar(value, "wb.int32")


def program(
    name: str,
    body: str,
    arguments: Mapping[str, Argument],
    dim: int | tuple[int, ...],
    above: str = "",
    smooth: bool = False,
    options: str = "",
) -> Program:
    """Return a program of one kernel `k`, with the arguments as its parameters.

    Args:
        name: what a report calls it.
        body: the statements of the kernel.
        arguments: the arguments by name.
        dim: the sizes of the launch.
        above: the lines of the module above the kernel.
        smooth: whether derivatives are judged too.
        options: the text of arguments of `wb.kernel`.
    """  # fmt: skip
    parameters = ", ".join(f"{n}: {_annotation(a)}" for n, a in arguments.items())
    decorator = f"@wb.kernel({options})" if options else "@wb.kernel"
    head = f"import workbench as wb\n\n{textwrap.dedent(above)}\n\n{decorator}\ndef k({parameters}):\n"
    text = head + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
    return Program(name, text, dim if isinstance(dim, tuple) else (dim,), arguments, smooth=smooth)


def _annotation(argument: Argument) -> str:
    if isinstance(argument, Scalar):
        return argument.dtype
    scalar = re.fullmatch(r"wb\.(bool|u?int\d+|b?float\d+)", argument.dtype) or argument.values.dtype.names
    ndim = argument.values.ndim - (0 if scalar else 2 if "mat" in argument.dtype else 1)
    return f"wb.array(dtype={argument.dtype}, ndim={ndim})"


def straight(count: int, indent: int = 0) -> str:
    """Return statements of `count` operations on `v`, of which `a` is an operand."""
    return indented([STEPS[k % len(STEPS)] for k in range(count)], indent)


def indented(rows: list[str], levels: int = 0) -> str:
    """Return the rows as lines, indented."""
    return "".join(f"{'    ' * levels}{row}\n" for row in rows)


def answered(judged: Program, right: Callable[[], Values], bound: float = 0.0, block_dim: int = 0) -> Program:
    """Return the program with its own right values, for what the oracle does not run or would take too long to.

    Args:
        judged: the program.
        right: returns the arrays after the launch.
        bound: how far floats may be off, relative to 1 and to their value.
        block_dim: threads of a block, if the kernel has tiles.
    """
    return replace(judged, notes={"right": right, "bound": bound, "block_dim": block_dim})
