"""Elements that a thread has stored or loaded are not loaded again, where no other name may have changed them."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support.checks.meaning import define
from workbench.ir.values import walk
from workbench.passes.memory.elements import drop_overwritten, reuse

LINES = 60


@pytest.mark.parametrize("at", ["0", "i"])
def test_an_element_computed_from_itself_is_stored_once(at: str) -> None:
    """Without it LLVM takes 2ⁿ for n lines."""
    line = f"    y[{at}] = 1.7 * y[{at}] * (1.0 - 0.5 * y[{at}])\n"
    kernel = define("def k(y: array[float32]):\n    i = tid()\n" + line * LINES)["k"]
    simplified = drop_overwritten(reuse(kernel.specialise().function))
    assert sum(op.name == "store" for op in walk(simplified.body)) == 1
    y, expected = wb.full(1, 0.3), np.float32(0.3)
    wb.launch(kernel, 1, [y])
    for _ in range(LINES):
        expected = np.float32(1.7) * expected * (np.float32(1) - np.float32(0.5) * expected)
    assert y.numpy()[0] == expected


def test_another_name_of_the_memory_is_seen() -> None:
    kernel = define("def k(a: array[float32], b: array[float32]):\n    a[0] = 1.0\n    b[0] = 2.0\n    a[1] = a[0]\n")[
        "k"
    ]
    a = wb.zeros(2)
    wb.launch(kernel, 1, [a, a])
    assert a.numpy().tolist() == [2, 2]


def test_a_store_before_a_fault_stays() -> None:
    kernel = define("def k(y: array[float32], n: int32):\n    y[0] = 1.0\n    assert n > 0, 'none'\n    y[0] = 2.0\n")[
        "k"
    ]
    simplified = drop_overwritten(reuse(kernel.specialise().function))
    assert sum(op.name == "store" for op in walk(simplified.body)) == 2
