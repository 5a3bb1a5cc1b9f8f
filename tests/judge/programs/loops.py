"""Loops of every shape that an optimiser has a case for, on arguments of two sizes.

Threads that go through loops together, rows and columns of their own, turns that differ between threads, loads by
index. Each has the bits that CPython gives it, thread by thread.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np

from tests.judge.program import Argument, Array, Program, Scalar
from tests.judge.programs.text import text_of

TREE = ast.parse((Path(__file__).parent / "loop_kernels.py").read_text())
TYPES: dict[str, tuple[str, Any, tuple[int, ...]]] = {
    "F": ("wb.float32", np.float32, ()), "D": ("wb.float64", np.float64, ()), "I": ("wb.int32", np.int32, ()),
    "L": ("wb.int64", np.int64, ()), "H": ("wb.float16", np.float16, ()), "V": ("wb.vec3", np.float32, (3,)),
    "VD": ("wb.vec3d", np.float64, (3,)),
}  # fmt: skip
"""Of the names of `loop_kernels.py`: the element's type in the program, in NumPy, and its components."""
OTHERS = {
    "wb.array(dtype=int, ndim=2)": "I2", "wb.array(dtype=wb.int64)": "L1", "wb.array(dtype=int)": "I1",
}  # fmt: skip
M = 7
"""Turns of shared loops."""
SIZES = (37, 70)
"""Threads of a row: some groups of 4, 8, 16 and 64 lanes, and a rest of each."""

Shapes = dict[str, tuple[int | str, ...]]
MATRIX: Shapes = {"x": (3, "n"), "w": (M, "n"), "b": ("n",), "y": (3, "n")}
ROWS: Shapes = {"x": (5, 9), "w": (9, "n"), "y": (5, "n")}
OWN_ROWS: Shapes = {"x": ("n", 25), "w": (25,), "m": (25,), "y": ("n", 25), "o": ("n",)}
LINE: Shapes = {"x": ("n",), "y": ("n",), "z": ("n",), "v": ("n",), "h": (1,), "o": (4,)}
CSR: Shapes = {"row": (31,), "column": (90,), "value": (90,), "x": (37,), "y": (31,)}
SPECIAL: dict[str, tuple[tuple[int | str, ...], Shapes]] = {
    "planes": ((3, M, M), {"x": (3, M, M), "y": (3, M, M)}),
    "rows_planes": ((3, 5, "n"), {"x": (3, 5, 9), "w": (3, 9, "n"), "y": (3, 5, "n")}),
    "triangle": ((5, "n"), {"x": (5, 21), "w": (21, "n"), "y": (5, "n")}),
    "attraction": ((19,), {"x": (19,), "a": (19,)}),
    "paths": (("n",), LINE | {"most": (2,), "sums": (1,), "o": (2,)}),
    "window_of_integers": (("n",), {"x": (9, 80), "w": ("n",), "y": ("n",)}),
    "own_bounds": (("n",), {"row": (31,), "x": (90,), "y": ("n",)}),
    "beside": (("n",), CSR | {"x": (90,)}), "asks_in_a_branch": (("n",), LINE),
    "two_dimensions": ((9, 9), {"x": (9, 25), "w": (25,), "y": (9, 25), "o": (81,)}),
    "tridiagonal": (("n",), dict.fromkeys("abcd", (9, "n"))),
    "march": ((2, "n"), {"h": (1,), "x": (2, "n"), "y": (2, "n")}),
    "rays": ((2, "n"), {"h": (1,), "x": (2, "n"), "y": (2, "n")}),
    "inside_a_shared_loop": ((19,), {"x": (19,), "y": (19,)}),
    **{name: (("n",), {"x": ("n", 25), "y": ("n",)}) for name in ("bare_sums", "sums_along", "no_sums")},
    "sums_across": (("n",), {"x": (25, "n"), "y": ("n",)}),
}  # fmt: skip
LEFT_OUT = frozenset({"sees_others", "window_of_bytes"})
"""One is a race; one has an array of bytes that no name stands for."""
SMOOTH = frozenset({
    "product", "attraction", "loops_in_loops", "backwards_and_branches", "columns", "planes", "nest", "windows",
    "rows_product", "doubles", "two_loops", "running", "in_double", "rows_of_rows", "rays", "some_turns",
    "in_a_branch", "turns_in_turns", "by_steps", "steps_of_its_own", "indirect_product", "own_bounds",
})  # fmt: skip


def _parameters(kernel: ast.FunctionDef) -> dict[str, str]:
    texts = {a.arg: ast.unparse(a.annotation) for a in kernel.args.args if a.annotation}
    return {name: OTHERS.get(text, text) for name, text in texts.items()}


def _shapes(name: str, parameters: dict[str, str]) -> tuple[tuple[int | str, ...], Shapes]:
    if name in SPECIAL:
        return SPECIAL[name]
    if "row" in parameters and "column" in parameters:
        return ("n",), CSR
    if "o" in parameters and "x" in parameters and parameters["x"].endswith("2"):
        return ("n",), OWN_ROWS
    if "w" in parameters:
        return ((3, "n"), MATRIX) if "b" in parameters else ((5, "n"), ROWS)
    return ("n",), LINE


def _sized(shape: tuple[int | str, ...], n: int) -> tuple[int, ...]:
    return tuple(n if size == "n" else int(size) for size in shape)


def _written(kernel: ast.FunctionDef) -> set[str]:
    """The arrays that a kernel stores in or changes atomically."""
    stores = [n for n in ast.walk(kernel) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    calls = [n for n in ast.walk(kernel) if isinstance(n, ast.Call) and "atomic" in ast.unparse(n.func)]
    nodes = [n.value for n in stores] + [n.args[0] for n in calls]
    return {n.id for n in nodes if isinstance(n, ast.Name)}


def _values(name: str, shape: tuple[int, ...], dtype: Any, random: np.random.Generator, kernel: str) -> Any:
    """Ordinary numbers; indices in range, and rows of a sparse matrix of 0 to 4 elements."""
    if name == "row":
        return np.resize(np.cumsum(np.resize([0, 1, 4, 0, 2, 3], 32)), shape).clip(0, 80).astype(dtype)
    if name == "column":
        return random.integers(0 if kernel == "rows_of_one_size" else -37, 37, shape).astype(dtype)
    if np.dtype(dtype).kind == "i":
        return random.integers(1, 9, shape).astype(dtype)
    values = random.uniform(0.05, 1.0, shape) if kernel in POSITIVE else random.standard_normal(shape)
    return np.sort(values).astype(dtype) if kernel == "search" else values.astype(dtype)


POSITIVE = frozenset({
    "escape", "march", "newton", "collatz", "euclid", "wander", "search", "own_ranges", "inner_ranges", "nested",
    "inside_a_shared_loop", "flags", "short_loops", "rays", "some_turns", "in_a_branch", "turns_in_turns", "by_steps",
    "tridiagonal", "paths", "steps_of_its_own", "bare_sums", "sums_along", "sums_across", "no_sums", "roots",
})  # fmt: skip


def _program(kernel: ast.FunctionDef, n: int) -> Program:
    parameters, written = _parameters(kernel), _written(kernel)
    dim, shapes = _shapes(kernel.name, parameters)
    random = np.random.default_rng(n)
    arguments: dict[str, Argument] = {}
    for name, text in parameters.items():
        if text[0].isupper():
            dtype, held, inner = TYPES[text.rstrip("123")]
            shape = (*_sized(shapes[name], n), *inner)
            known = _values(name, shape, held, random, kernel.name)
            fresh = name in written and kernel.name not in (
                "in_place",
                "rows_in_place",
                "along_in_place",
                "tridiagonal",
            )
            arguments[name] = Array(np.zeros(shape, held) if fresh else known, dtype, output=name in written)
        else:
            arguments[name] = Scalar(7 if text == "int" else 0.8, text)
    sizes = _sized(dim, n)
    if "row" in parameters:
        sizes = (30,)
    return Program(
        f"loops, {kernel.name}, {n} threads", text_of(TREE, kernel.name), sizes, arguments, kernel=kernel.name,
        smooth=kernel.name in SMOOTH,
    )  # fmt: skip


KERNELS = [n for n in TREE.body if isinstance(n, ast.FunctionDef) and n.name not in LEFT_OUT]
LOOPS = [_program(kernel, n) for kernel in KERNELS for n in SIZES]
