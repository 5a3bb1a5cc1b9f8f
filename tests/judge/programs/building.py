"""Short ways to write a program down."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.judge.program import Argument, Array, Overlap, Program, Scalar


def array(values: Any, dtype: str = "", output: bool = False) -> Array:
    """An array argument; its type is NumPy's unless it is said."""
    held = np.ascontiguousarray(values)
    return Array(held, dtype or f"wb.{held.dtype}", output)


def output(*shape: int, dtype: str = "wb.float32", held: Any = np.float32) -> Array:
    """An array of zeros that the kernel writes."""
    return Array(np.zeros(shape, held), dtype, output=True)


def floats(*shape: int, seed: int = 1, low: float = -2.0, high: float = 2.0, dtype: Any = np.float32) -> Array:
    """An array of random floats."""
    return array(np.random.default_rng(seed).uniform(low, high, shape).astype(dtype))


def integers(*shape: int, below: int, low: int = 0, seed: int = 1, dtype: Any = np.int32) -> Array:
    """An array of random integers."""
    return array(np.random.default_rng(seed).integers(low, below, shape).astype(dtype))


def written(program_arguments: Mapping[str, Argument], *names: str) -> dict[str, Argument]:
    """The same arguments, with those of the names as outputs."""
    return {
        name: Array(a.values, a.dtype, True) if isinstance(a, Array) and name in names else a
        for name, a in program_arguments.items()
    }


def program(
    name: str, body: str | tuple[str, ...], arguments: Mapping[str, Argument], dim: tuple[int, ...], above: str = "",
    smooth: bool = False, options: str = "",
) -> Program:  # fmt: skip
    """A program of one kernel `k` with the arguments as its parameters, after the lines `above` it.

    `options` are those of the decorator, as "(fma=True)".
    """
    parts = (body,) if isinstance(body, str) else body
    body = "\n".join(textwrap.dedent(part).strip("\n") for part in parts)
    parameters = ", ".join(f"{n}: {_annotation(a, arguments)}" for n, a in arguments.items())
    head = "import numpy as np\nimport workbench as wb\n\n" + textwrap.dedent(above) + "\n\n"
    text = f"{head}@wb.kernel{options}\ndef k({parameters}):\n{textwrap.indent(body.strip(), '    ')}\n"
    return Program(name, text, dim, arguments, smooth=smooth)


def _annotation(argument: Argument, arguments: Mapping[str, Argument]) -> str:
    if isinstance(argument, Scalar):
        return argument.dtype
    if isinstance(argument, Overlap):
        return _annotation(arguments[argument.of], arguments)
    inner = (
        0 if re.fullmatch(r"(wb\.)?(bool|u?int\d+|b?float\d+)", argument.dtype) or argument.values.dtype.names else 1
    )
    inner = 2 if re.match(r"wb\.mat", argument.dtype) else inner
    ndim = argument.values.ndim - inner
    return f"wb.array{f'{ndim}d' if ndim > 1 else ''}[{argument.dtype}]"
