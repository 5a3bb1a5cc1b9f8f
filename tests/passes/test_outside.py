"""Accesses that are certainly outside: random kernels, each refusal compared with the thread that is to make it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.api.kernels.kernel import kernel
from workbench.backends.python.interpret import run
from workbench.errors import KernelFault, WorkbenchError
from workbench.ir.values import Function
from workbench.passes.checks.out_of_range import accesses

_HEAD = """\
def k(x: wb.array[float], z: wb.array[float], n: int, y: wb.array[float]):
    i, j = wb.tid()
    s, c, t = 0.0, 2, 1
"""


class Writer:
    """Writes kernels of loops, conditions and indices of all kinds."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def index(self, depth: int = 0) -> str:
        chance, deeper = self.random.random(), depth + 1
        if depth > 2 or chance < 0.4:
            return self.one("i", "j", "0", "1", "2", "n", "x.shape[0]", "z.shape[0]", "t", "-1", "len(y)", "c")
        if chance < 0.75:
            return f"({self.index(deeper)} {self.one('+', '-')} {self.index(deeper)})"
        if chance < 0.8:
            return f"({self.index(deeper)} * {self.one('2', '3', 'i')})"
        if chance < 0.85:
            return f"({self.index(deeper)} {self.one('//', '%')} {self.one('2', '3', 'n')})"
        if chance < 0.92:
            return f"wb.{self.one('min', 'max')}({self.index(deeper)}, {self.index(deeper)})"
        if chance < 0.96:
            return "int(x[0])"
        return f"({self.index(deeper)} if {self.condition(deeper)} else {self.index(deeper)})"

    def condition(self, depth: int = 0) -> str:
        chance = self.random.random()
        if depth < 2 and chance < 0.2:
            return f"({self.condition(depth + 1)} {self.one('and', 'or')} {self.condition(depth + 1)})"
        if chance < 0.3:
            return "x[0] > 0.5"
        test = f"{self.index(2)} {self.one('<', '<=', '>', '>=', '==', '!=')} {self.index(2)}"
        return f"not ({test})" if chance < 0.35 else test

    def statement(self, indent: str, depth: int) -> str:
        chance = self.random.random()
        if depth < 2 and chance < 0.2:
            text = f"{indent}if {self.condition()}:\n{self.block(indent, depth)}"
            return text + (f"{indent}else:\n{self.block(indent, depth)}" if chance < 0.08 else "")
        if depth < 2 and chance < 0.32:
            self.loops += 1
            stop = self.one("3", "n", "z.shape[0]", "12", "x.shape[0]", "0")
            text = f"{indent}for t in range({stop}):\n{self.block(indent, depth)}"
            self.loops -= 1
            return text
        if depth and chance < 0.42:
            return f"{indent}{'break' if self.loops and chance < 0.37 else 'return'}\n"
        if chance < 0.5:
            return f"{indent}c = {self.index()}\n"
        array = self.one("x", "y", "z", "x", "y", "z", "x[1:]")
        if chance < 0.75:
            return f"{indent}s += {array}[{self.index()}]\n"
        return f"{indent}y[{self.index()}] = s\n"

    def block(self, indent: str, depth: int) -> str:
        return "".join(self.statement(indent + "    ", depth + 1) for _ in range(self.random.randint(1, 3)))

    def kernel(self) -> str:
        return _HEAD + "".join(self.statement("    ", 0) for _ in range(self.random.randint(2, 6))) + "    y[0] = s\n"


def built(text: str) -> Function | None:
    """The IR of a kernel; None where the language refuses it."""
    scope: dict[str, Any] = {"wb": wb}
    exec(text, scope)
    try:
        return kernel(scope["k"], source=text).specialise().function
    except WorkbenchError:
        return None


def faults(function: Function, dims: Any, sizes: Any, n: int, first: float, threads: Any = None) -> bool:
    x, z, y = (np.full(size, first, np.float32) for size in sizes)
    try:
        run(function, dims, [x, z, n, y], threads=threads, checks=True)
    except KernelFault:
        return True
    return False


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_refused_happens_whatever_the_data(seed: int) -> None:
    writer, refused, fine = Writer(seed), 0, 0
    for _ in range(12):
        text = writer.kernel()
        function = built(text)
        for _ in range(4 if function is not None else 0):
            assert function is not None
            dims = writer.random.randint(0, 4), writer.random.randint(1, 3)
            sizes = [writer.random.randint(1, 12) for _ in range(3)]
            n = writer.random.randint(0, 5)
            shapes = {name: (size,) for name, size in zip("xzy", sizes, strict=True)}
            found = accesses(function, dims, shapes, {"n": n} if writer.random.random() < 0.5 else {}).outside
            if found is None:
                fine += 1
                continue
            refused += 1
            for first in (0.0, 1.0, 3.0):
                assert faults(function, dims, sizes, n, first, [found.thread]), (text, dims, sizes, n, found)
    assert refused and fine


@wb.kernel
def sums(x: wb.array[float], z: wb.array[float], n: int, y: wb.array[float]):
    i, j = wb.tid()
    y[3 * i + 2 * j] = x[i + 1] + z[wb.min(i, 2) + n - j]


def test_sums_of_thread_indices_are_found_wherever_they_are_outside() -> None:
    function = sums.specialise().function
    for sizes in np.ndindex(4, 4, 9):
        grown = [size + 1 for size in sizes]
        shapes = {name: (size,) for name, size in zip("xzy", grown, strict=True)}
        found = accesses(function, (3, 2), shapes, {"n": 1}).outside
        assert (found is not None) == faults(function, (3, 2), grown, 1, 1.0), grown


def test_a_kernel_of_many_operations_costs_a_bounded_look() -> None:
    """What stands behind the limit is not looked at, and nothing is said of it."""
    loops = "".join(f"{'    ' * (n + 1)}for a{n} in range(8):\n" for n in range(5))
    function = built(f"{_HEAD}    s += x[i]\n{loops}{'    ' * 6}s += x[a4]\n    y[99] = s\n")
    assert function is not None
    shapes = {"x": (20,), "z": (1,), "y": (9,)}
    assert accesses(function, (4, 1), shapes, {}).outside is None
    found = accesses(function, (21, 1), shapes, {}).outside
    assert found is not None and found.thread == (20, 0)  # each corner has its share
