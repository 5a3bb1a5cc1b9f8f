"""`kernel.used`, by which `wb.inspect` chooses among the types that a generic kernel was launched with."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import LaunchError


def squares() -> wb.Kernel:
    @wb.kernel
    def squares(x: wb.array[wb.Any]):
        i = wb.tid()
        x[i] = x[i] * x[i]

    return squares


def doubled() -> wb.Kernel:
    @wb.kernel
    def doubled(x: wb.array[wb.Any]):
        t = wb.tile_load(x, shape=4, offset=wb.tid() * 4)
        wb.tile_store(x, t + t, offset=wb.tid() * 4)

    return doubled


@pytest.mark.parametrize("make, launch", [(squares, wb.launch), (doubled, wb.launch_tiled)])
def test_a_generic_kernel_is_shown_as_it_was_launched_last(make, launch) -> None:
    kernel = make()
    with pytest.raises(LaunchError, match="no launch has given its types"):
        wb.inspect.ir(kernel)
    for dtype in (wb.float32, wb.float64, wb.float32, wb.float64):  # from the third on nothing is lowered
        launch(kernel, [1], [wb.zeros(4, dtype=dtype, device="cpu")])
        assert wb.inspect.ir(kernel).splitlines()[0].startswith(f"{kernel.name}(%x: array[{dtype.name}])")
