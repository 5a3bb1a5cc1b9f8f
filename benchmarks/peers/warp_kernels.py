"""Translate Workbench kernels to Warp by name, and compute their gradients with Warp's tape.

Warp wants `float(0.0)` of a number that a loop changes, and its arrays' types as calls.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

try:
    import warp as wp
except ImportError:
    wp = None
else:
    wp.config.quiet = True
    wp.init()

_FOLDER = tempfile.TemporaryDirectory(prefix="warp_kernels_")
_NAMES = ((r"array(\dd)?\[(\w+)\]", r"array\1(dtype=\2)"), (r"(?m)^(\s+\w+ = )(-?[\d.][\de.+-]*)$", r"\1float(\2)"))


def available() -> bool:
    """Return whether Warp is installed."""
    return wp is not None


def version() -> str:
    """Return Warp's version."""
    return wp.__version__ if wp is not None else ""


def translated(text: str, name: str) -> Any:
    """Return the Warp kernel called `name` of a module translated from a Workbench program."""
    for ours, warps in _NAMES:
        text = re.sub(ours, warps, text)
    path = Path(_FOLDER.name) / f"warp_{name}.py"
    path.write_text("import warp as wp\n\n" + re.sub(r"\bwb\.", "wp.", text))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def with_funcs(program: Path, name: str) -> str:
    """Return the source code of a Workbench program's kernel `name`, with that of the funcs that it calls."""
    lines = program.read_text().splitlines()
    texts: dict[str, str] = {}
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            texts[node.name] = "\n".join(lines[node.decorator_list[0].lineno - 1 : node.end_lineno])
    called = [text for other, text in texts.items() if other != name and re.search(rf"\b{other}\(", texts[name])]
    return "\n\n\n".join([*called, texts[name]])


def calls(
    kernel: Any, dim: Any, inputs: Sequence[Any], position: int, seed: np.ndarray, added: bool
) -> tuple[dict[str, Callable[[], Any]], list[np.ndarray]]:
    """Return a launch and a gradient by Warp, on the CPU, and the gradients by the inputs of floats.

    Args:
        kernel: Warp's.
        dim: of the launch.
        inputs: arrays of NumPy and numbers; those of float32 have gradients.
        position: of the result among the arguments.
        seed: the result's gradient.
        added: the kernel adds to what the result holds.
    """
    with wp.ScopedDevice("cpu"):
        held = [wp.array(x, requires_grad=x.dtype == np.float32) if isinstance(x, np.ndarray) else x for x in inputs]
        result = wp.zeros(seed.shape, dtype=float, requires_grad=True)
        start = wp.array(seed)
    arguments = [*held[:position], result, *held[position:]]
    wanted = [x for x in held if getattr(x, "requires_grad", False)]
    slopes: list[np.ndarray] = []

    def forward() -> None:
        if added:
            result.zero_()
        wp.launch(kernel, dim, arguments, device="cpu")

    def gradient(check: bool = False) -> None:
        if added:
            result.zero_()
        with wp.Tape() as recorded:
            wp.launch(kernel, dim, arguments, device="cpu")
        recorded.backward(grads={result: start})
        slopes[:] = [x.grad.numpy().copy() for x in wanted] if check else []
        recorded.zero()

    gradient(check=True)
    return {"warp forward": forward, "warp gradient": gradient}, list(slopes)
