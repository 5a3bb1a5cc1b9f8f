"""Counting `while`s become `for`s, and mean what they meant."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.ir.values import Function, walk
from workbench.ir.verify import verify
from workbench.passes.loops.forms import counted

HEAD = (
    "def k(x: array[float], first: array[int], n: int, y: array[float], z: array[int]):\n"
    "    i = tid()\n    s = 0.0\n    j = first[i]\n"
)
TAIL = "        s += x[(j + 100) % 8] * float(j % 5)\n        j += 1\n    y[i] = s\n    z[i] = j\n"
COUNTS = {
    "below": "    while j < n:\n",
    "the other way round": "    while n > j:\n",
    "below what is computed": "    while j < n + len(x) - 8:\n",
    "below a constant": "    while j < 6:\n",
    "in another": "    m = 0\n    while m < 3:\n        m += 1\n        s += float(m)\n    while j < m + n - 3:\n",
}
OTHERS = {
    "two at a time": HEAD + "    while j < n:\n        s += x[0]\n        j += 2\n    y[i] = s + float(j)\n",
    "a bound that changes": HEAD + "    m = n\n    while j < m:\n        m -= 1\n        j += 1\n    y[i] = float(j)\n",
    "a bound in memory": HEAD + "    while j < first[0]:\n        j += 1\n    y[i] = s + float(j)\n",
    "a break": HEAD
    + "    while j < n:\n        if x[0] > 2.0:\n            break\n        j += 1\n    y[i] = float(j)\n",
    "at most": HEAD + "    while j <= n:\n        j += 1\n    y[i] = s + float(j)\n",
    "a condition that is a name": HEAD
    + "    on = j < n\n    while on:\n        j += 1\n        on = j < n\n    y[i] = s + float(j)\n",
    "a float": HEAD + "    while s < x[0]:\n        s += 1.0\n    y[i] = s + float(j)\n",
}


def lowered(text: str) -> Function:
    return wb.build_cell(text, {}, backend="cpu", compile=False).kernels["k"].specialise().function


def loops(function: Function) -> list[str]:
    return [op.name for op in walk(function.body) if op.name in ("for", "while")]


@pytest.mark.parametrize("name", COUNTS)
def test_what_only_counts_is_a_for(name: str) -> None:
    text = HEAD + COUNTS[name] + TAIL
    function = lowered(text)
    assert set(loops(function)) == {"while"}
    assert set(loops(verify(counted(function)))) == {"for"}
    first = np.array([-7, 0, 3, 7, 8, 50], np.int32)
    x = np.arange(1, 9, dtype=np.float32)
    y, z = np.zeros(6, np.float32), np.zeros(6, np.int32)
    wb.launch(wb.build_cell(text, {}, backend="cpu").kernels["k"], 6, [x, first, 7, y, z])
    end = 6 if name == "below a constant" else 7
    for k, start in enumerate(first.tolist()):
        s = 6.0 if name == "in another" else 0.0
        for j in range(start, end):
            s += float(x[(j + 100) % 8]) * (j % 5)
        assert (y[k], z[k]) == (s, max(start, end))


@pytest.mark.parametrize("name", OTHERS)
def test_others_stay(name: str) -> None:
    function = lowered(OTHERS[name])
    assert loops(counted(function)) == loops(function) == ["while"]


def test_it_ends_at_the_ends_of_its_type() -> None:
    most = 2**31 - 1
    text = "def k(n: int, y: array[int]):\n    j = n - 3\n    while j < n:\n        j += 1\n    y[tid()] = j\n"
    y = np.zeros(1, np.int32)
    wb.launch(wb.build_cell(text, {}, backend="cpu").kernels["k"], 1, [most, y])
    assert y[0] == most
