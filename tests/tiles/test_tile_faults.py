"""Tiles that reach outside: with checks each is a fault at its line and nothing else is touched, on every backend."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.support.devices.on_all import AS_CUDA, arrays_of
from tests.support.devices.on_gpu import Library
from tests.tiles.test_operations import kernel_of
from workbench.backends.base import Options
from workbench.backends.python import run

X = np.arange(32, dtype=np.float32).reshape(4, 8) + 1
LOAD = "t = wb.tile_load(x, shape=(4, 8))\nn = int(x[3, 7])\n"  # n is 32, which is not known while compiling
INSIDE = "is not inside of"
# body, text of the line, values, sentence, what y is
CASES: dict[str, tuple[str, str, tuple[int, ...], str, Any]] = {
    "element": ("y[0, 0] = t[n, 1] + 2.0", "y[0, 0]", (32, 1), "of shape 4×8 has no element (32, 1)", [(0, 0, 2)]),
    "from the end": ("y[0, 0] = t[2 - n, 1] + 2.0", "y[0, 0]", (-30, 1), "has no element (-30, 1)", [(0, 0, 2)]),
    "element set": ("t[0, n] = 9.0\nwb.tile_store(y, t)", "t[0, n]", (0, 32), "has no element (0, 32)", X),
    "view": (
        "u = wb.tile_view(t, offset=(n - 29, 2), shape=(2, 3))\nwb.tile_store(y, u + 1.0)", "u = wb", (3, 2),
        f"A part of shape 2×3 at (3, 2) {INSIDE} a tile of 4×8", [(i, j, 1) for i in range(2) for j in range(3)],
    ),
    "assigning": (
        "wb.tile_assign(t, wb.tile_ones((2, 2)), offset=(0, n - 25))\nwb.tile_store(y, t)", "wb.tile_assign", (0, 7),
        f"A part of shape 2×2 at (0, 7) {INSIDE} a tile of 4×8", X,
    ),
    "load": (
        "u = wb.tile_load(x, shape=(2, 2), offset=(n - 29, 6), bounds_check=False)\nwb.tile_store(y, u)", "u = wb",
        (3, 6), f"A tile of shape 2×2 at (3, 6) {INSIDE} x, which has shape 4×8, in block (0,)",
        [(0, 0, 31), (0, 1, 32)],
    ),
    "store": (
        "wb.tile_store(y, t, offset=(n - 33, 0), bounds_check=False)", "wb.tile_store", (-1, 0),
        f"A tile of shape 4×8 at (-1, 0) {INSIDE} y", np.vstack([X[1:], np.zeros((1, 8))]),
    ),
    "addition to a row": (
        "wb.tile_atomic_add(y[n], t[0], bounds_check=False)", "wb.tile_atomic_add", (32, 0),
        f"A tile of shape 8 at (32, 0) {INSIDE} y", [],
    ),
}  # fmt: skip


def launched(kernel: Any, args: list[Any]) -> None:
    wb.launch_tiled(kernel, dim=[1], inputs=args, block_dim=32, checks=True)


def as_cuda_text(kernel: Any, args: list[Any]) -> None:
    function = kernel.used.function
    Library([function], Options(checks=True)).run(function.name, [1], args, seed=2)


WAYS: dict[str, Callable[[Any, list[Any]], None]] = {
    "cpu": launched,
    "interpreter": lambda kernel, args: run(kernel.used.function, [1], args, checks=True),
    "cuda text": as_cuda_text,
}


def wanted(want: Any) -> np.ndarray:
    if isinstance(want, list):
        made = np.zeros((4, 8), np.float32)
        for i, j, value in want:
            made[i, j] = value
        return made
    return want


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CASES)
def test_fault(name: str) -> None:
    body, line, values, sentence, want = CASES[name]
    kernel = kernel_of(LOAD + body, X, X)
    for way, launch in WAYS.items():
        if way == "cuda text" and name not in ("view", "load") and not os.environ.get(AS_CUDA):
            continue
        args = arrays_of([X, np.zeros_like(X)])
        with pytest.raises(wb.KernelFault) as caught:
            launch(kernel, args)
        assert sentence in str(caught.value), way
        assert (caught.value.values, caught.value.count) == (values, 1), way
        place = caught.value.location
        assert place is not None and place.source.line(place.line).strip().startswith(line), way
        np.testing.assert_array_equal(args[1], wanted(want), err_msg=way)
    with pytest.raises(wb.KernelFault) as caught:
        run(kernel.used.function, [1], arrays_of([X, np.zeros_like(X)]))
    assert sentence in str(caught.value) and caught.value.values == values, "the meaning, which ends at once"


@wb.func
def picked(k: int, x: wb.array2d[float]):
    return x[k, 0]


@wb.kernel
def by_index(x: wb.array2d[float], y: wb.array[float]):
    b = wb.tid()
    k = wb.tile_map(wb.mul, wb.tile_arange(4), b + 1)
    assert b < 2, "Two blocks"
    wb.tile_store(y, wb.tile_map(picked, k, x))


@pytest.mark.parametrize(
    ("dim", "sentence"), [(2, "axis 0; block (1,) asked for index"), (3, "Two blocks.  Block (2,)")]
)
def test_a_fault_of_a_line_is_its_blocks(dim: int, sentence: str) -> None:
    with pytest.raises(wb.KernelFault) as caught:
        wb.launch_tiled(
            by_index,
            dim=[dim],
            inputs=[X[:, :4] if dim == 2 else np.ones((9, 1), "f"), X[0].copy()],
            block_dim=32,
            checks=True,
        )
    assert sentence in str(caught.value)
