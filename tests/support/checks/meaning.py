"""Kernels of one number in, one number out, run by the CPU and by the interpreter."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

import workbench as wb
from workbench.backends.python.interpret import run


def define(text: str, namespace: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """The kernels and funcs of a cell."""
    return wb.build_cell(textwrap.dedent(text).strip("\n"), namespace if namespace is not None else {}, **options).names


def results(text: str, xs: Any, namespace: dict[str, Any] | None = None) -> tuple[np.ndarray[Any, Any], Any]:
    """What the cell's kernel `k(x, y)` makes of `xs`: on the CPU, and by the interpreter; y has x's dtype."""
    kernel = define(text, namespace)["k"]
    x = np.asarray(xs)
    y = wb.array(np.zeros_like(x))
    wb.launch(kernel, x.size, inputs=[wb.array(x)], outputs=[y])
    expected = np.zeros_like(x)
    run(kernel.used.function, (x.size,), [x.copy(), expected])
    return y.numpy(), expected
