"""Which stores of all threads at one place are reported: those that are sure to lose values, and no others."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench import events
from workbench.passes.checks.bounds_checks import shared_stores

LOST = {
    "y[0] = x[i]": 1,
    "for j in range(n):\n    y[j] = x[i]": 2,
    "if n > 3:\n    y[0] = x[i]": 2,
    "s = 0.0\nfor j in range(n):\n    s = s + x[i]\ny[0] = s": 4,
    "k = 0\nwhile k < n:\n    k += 1\ny[k] = x[i]": 4,
}
RIGHT = [
    "y[i // 2] = x[i]", "y[0] += x[i]", "y[0] = 3.0", "y[n] = x[0]", "y[int(x[0])] = x[i]",
    "if i == 0:\n    y[1] = x[i]",
    "if i > 0:\n    return\ny[0] = x[i]", "j = 0\nif x[i] > 0.0:\n    j = 1\ny[j] = x[i]",
    "for m in range(i, i + 1):\n    y[0] = x[m]", "while x[i] > 0.0:\n    y[0] = x[i]\n    x[i] = 0.0",
    "j = 0\nfor m in range(n):\n    j = j + i\ny[j] = x[i]", "for m in range(n):\n    if i == m:\n        y[0] = x[i]",
]  # fmt: skip


def kernel(body: str) -> wb.Kernel:
    lines = "".join(f"    {line}\n" for line in ["i = tid()", *body.split("\n")])
    text = f"def k(x: array[float], y: array[float], n: int):\n{lines}"
    return wb.build_cell(text, {}, compile=False).kernels["k"]


@pytest.mark.parametrize("body", [*LOST, *RIGHT])
def test_only_stores_that_lose_values_are_found(body: str) -> None:
    found = [op.location.line - 2 for op in shared_stores(kernel(body).specialise().function)]
    assert found == ([LOST[body]] if body in LOST else [])


def test_a_cell_remarks_on_them() -> None:
    told: list[events.Event] = []
    stop = events.subscribe(told.append, events.Remark)
    kernel("y[0] = x[i]")
    stop()
    assert [t.message for t in told] == [
        "k, line 3: all threads write one element of y, and one of them stays; += adds all of them up"
    ]
