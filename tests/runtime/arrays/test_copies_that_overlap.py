"""A copy or a sum that overwrites a part of its source: all is read as it was, on each device and in a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

N = 1500
MOVES = {
    "forward": lambda x: (x[1:], x[:-1]),
    "back": lambda x: (x[:-1], x[1:]),
    "turned round": lambda x: (x, x[::-1]),
    "other stride": lambda x: (x[300:600], x[100:700:2]),
    "the same": lambda x: (x, x),
}


@pytest.mark.parametrize("where", ["cpu", "graph", pytest.param("emulated", marks=pytest.mark.slow)])
def test_what_is_read_is_as_it_was(where: str) -> None:
    if where == "emulated":
        pytest.importorskip("cuda.bindings.driver")
    numbers = np.arange(N, dtype=np.float32)
    for name, parts in MOVES.items():
        for add in (False, True):
            x = wb.array(numbers, device="emulated" if where == "emulated" else "cpu")
            target, source = parts(x)
            move: Any = target.add_ if add else target.copy_
            if where == "graph":
                with wb.capture() as graph:
                    move(source)
                graph.launch()
            else:
                move(source)
            want = numbers.copy()
            into, held = parts(want)
            into[...] = into + held if add else held.copy()
            np.testing.assert_array_equal(x.numpy(), want, f"{name}, add={add}")
