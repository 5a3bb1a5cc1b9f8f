"""`kernel[n](…)`, and the first mistakes at a launch: each is one error that says what to write."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LaunchError


@wb.kernel
def scale(x: wb.array[float], y: wb.array[float], a: float):
    i = wb.tid()
    y[i] = a * x[i]


def arrays() -> tuple[wb.array, wb.array]:
    return wb.ones(4), wb.zeros(4)


def test_brackets_launch_so_many_threads() -> None:
    x, y = arrays()
    scale[3](x, y, 2.0)
    assert y.numpy().tolist() == [2.0, 2.0, 2.0, 0.0]


def test_a_kept_launch_takes_values_for_one_run() -> None:
    x, y = arrays()
    kept = wb.launch(scale, 4, [x, y, 2.0], record_cmd=True)
    kept.launch(a=5.0)
    assert y.numpy()[0] == 5.0
    kept.launch()
    assert y.numpy()[0] == 2.0
    with pytest.raises(LaunchError, match="no parameter b; it has x, y, a"):
        kept.launch(b=1.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda x, y: scale[2, 64](x, y, 1.0), "Write scale[n](…), or for 2 dimensions wb.launch(scale, (2, 64), […])"),
        (lambda x, y: wb.launch(scale, [x, y, 1.0], 4), "Write wb.launch(scale, 4, […])."),
        (lambda x, y: wb.launch(scale, 4, 1.0), "inputs is a list with one value per parameter; this is a float."),
        (lambda x, y: wb.launch(scale, 4, [np.ones(4), y, 1.0]), "Pass x.astype(np.float32), or make it with"),
    ],
)
def test_a_mistake_is_one_error_that_says_what_to_write(
    wrong: Callable[[wb.array, wb.array], None], message: str
) -> None:
    with pytest.raises(LaunchError, match=re.escape(message)):
        wrong(*arrays())


def test_a_module_that_was_not_imported_is_named() -> None:
    with pytest.raises(wb.WorkbenchError, match="Run `import math` in a cell before"):
        wb.build_cell(
            "def f(x: array[float]):\n    x[tid()] = math.pi\n", {}, name="c", filename="c", line_offset=0
        ).compile()


@pytest.mark.parametrize("annotation", ["array[int]", "array"])
def test_a_kernel_that_stands_in_its_own_annotation_is_one_error(annotation: str) -> None:
    text = f"def array(x: {annotation}):\n    x[tid()] = 1\n"
    with pytest.raises(wb.KernelTypeError, match="is not a type"):
        wb.build_cell(text, {})
