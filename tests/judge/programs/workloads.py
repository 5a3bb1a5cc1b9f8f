"""The kernels of `benchmarks/programs/kernels.py`, on small arguments."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np

from tests.judge.program import Argument, Array, Program
from tests.judge.programs.building import array, floats, integers, output
from tests.judge.programs.text import text_of

TREE = ast.parse((Path(__file__).parents[3] / "benchmarks/programs/kernels.py").read_text())
N, M = 9, 7


def points(*shape: int, seed: int = 1) -> Array:
    """An array of vec3."""
    return Array(floats(*shape, 3, seed=seed).values, "wb.vec3")


def forces(*shape: int) -> Array:
    """An array of vec3 that the kernel writes."""
    return output(*shape, 3, dtype="wb.vec3")


IMAGE, WEIGHTS = floats(N + 6, M + 6), floats(7, 7, seed=2)
FIRST, SECOND = integers(19, below=5), array(integers(19, below=5, seed=2).values + 5)
ROWS = array(np.array([0, 2, 2, 5, 6, 9, 9, 12, 13, 15], np.int32))
ARGUMENTS: dict[str, tuple[tuple[int, ...], dict[str, Argument]]] = {
    "total": ((37,), {"x": floats(37), "o": output(1)}),
    "squares": ((37,), {"x": floats(37), "o": output(1)}),
    "energy": ((N, M), {"x": floats(N, M), "o": output(1)}),
    "extremes": ((37,), {"x": floats(37), "lo": output(1), "hi": output(1)}),
    "bins": ((90,), {"x": floats(90, low=0, high=1), "counts": output(256, dtype="wb.int32", held=np.int32)}),
    "scattered": ((37,), {"x": floats(37), "at": integers(37, below=5), "o": output(5)}),
    "picked": ((37,), {"x": floats(20), "at": integers(37, below=20), "y": output(37)}),
    "csr": (
        (N,),
        {"row": ROWS, "column": integers(15, below=N), "value": floats(15), "x": floats(N, seed=3), "y": output(N)},
    ),
    "multiplied": ((N, M), {"x": floats(N, 11), "w": floats(11, M, seed=2), "y": output(N, M)}),
    "active": ((N, M), {"x": floats(N, M), "b": floats(M, seed=2), "y": output(N, M)}),
    "layer": ((N, M), {"x": floats(N, 5), "w": floats(5, M, seed=2), "b": floats(M, seed=3), "y": output(N, M)}),
    "valid": ((N, M), {"x": IMAGE, "w": WEIGHTS, "y": output(N, M)}),
    "clamped": ((N, M), {"x": floats(N, M), "w": WEIGHTS, "y": output(N, M)}),
    "periodic": ((N, M), {"x": floats(N, M), "w": WEIGHTS, "y": output(N, M)}),
    "heat": ((N, 19), {"x": floats(N, 19), "y": output(N, 19)}),
    "warm_walls": ((N, 19), {"x": floats(N, 19), "y": output(N, 19)}),
    "ring": ((N, 19), {"x": floats(N, 19), "y": output(N, 19)}),
    "stream_and_collide": ((4, 9), {"f": floats(9, 4, 9, low=0.5, high=1.5), "g": output(9, 4, 9)}),
    "gravity": ((11,), {"x": points(11), "a": forces(11)}),
    "cloth": (
        (N, M),
        {"x": points(N, M), "v": points(N, M, seed=2), "y": forces(N, M), "w": forces(N, M)},
    ),
    "springs": (
        (19,),
        {
            "x": points(10),
            "a": integers(19, below=5),
            "b": array(integers(19, below=5, seed=2).values + 5),
            "f": forces(10),
        },
    ),
    "moved": (
        (19,),
        {"x": points(19), "v": points(19, seed=2), "f": points(19, seed=3), "y": forces(19), "w": forces(19)},
    ),
    "mandelbrot": ((6, 9), {"counts": output(6, 9, dtype="wb.int32", held=np.int32)}),
    "applied": ((19,), {"a": floats(19, 13), "x": floats(13, seed=2), "y": output(19)}),
    "log_sums": ((19,), {"a": floats(19, 13), "y": output(19)}),
    "distances": ((9, 7), {"x": floats(9, 5), "y": floats(7, 5, seed=2), "d": output(9, 7)}),
    "nearest": (
        (19,),
        {"x": floats(19, 4), "centre": floats(5, 4, seed=2), "label": output(19, dtype="wb.int32", held=np.int32)},
    ),
    "functions": ((37,), {"x": floats(37, low=0.1, high=2), "y": output(37)}),
    "life": (
        (9, 23),
        {"a": integers(9, 23, below=2, dtype=np.uint8), "b": output(9, 23, dtype="wb.uint8", held=np.uint8)},
    ),
}
ROUGH = frozenset({"extremes", "bins", "mandelbrot", "nearest", "life"})
"""Kernels without derivatives."""

WORKLOADS = [
    Program(f"benchmark, {name}", text_of(TREE, name), dim, arguments, kernel=name, smooth=name not in ROUGH)
    for name, (dim, arguments) in ARGUMENTS.items()
]
