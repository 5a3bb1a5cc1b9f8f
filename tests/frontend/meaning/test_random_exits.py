"""Loops and branches with ways out of them, made by chance: `break`, `continue`, `return` and `else` mean what Python
means, and so do names that only a loop or a branch binds: what Python could find unbound is refused.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.checks import meaning
from workbench.backends.python.interpret import run
from workbench.errors import WorkbenchError
from workbench.ir.values import Block, Function, Value

PROGRAMS = 10
VALUES = np.arange(6, dtype=np.int32) * 3
HEADS = (
    "for {n} in range(3):",
    "for {n} in range(v % 4):",
    "for {n} in range(40):",
    "for {n} in (1, v, 2):",
    "while s % 3 != 2 and {n} < 4:",
    "while True:",
)
RETURN = "return s * 10 + 3"


class Program:
    """Lines of a func of v and i, whose state is s; names `w…` are bound here and there, and read where they may be."""

    def __init__(self, chance: random.Random, names: float) -> None:
        self.chance = chance
        self.names = names
        self.count = 0

    def block(self, depth: int, exits: list[str], pad: str) -> Iterator[str]:
        """Lines: `exits` are the ways out that may stand at their end."""
        chance = self.chance
        for _ in range(chance.randint(1, 3)):
            kind = chance.random() if depth else chance.random() * 0.35
            if kind < 0.35 and chance.random() < self.names:
                name = f"w{chance.randint(0, 2)}"
                yield f"{pad}{name} = s + {chance.randint(1, 9)}" if chance.random() < 0.6 else f"{pad}s += {name}"
            elif kind < 0.35:
                yield f"{pad}s = (s * {chance.choice((3, 5, 7))} + {chance.choice(('i', 'v', '1'))}) % 97"
            elif kind < 0.65:
                yield f"{pad}if s % {chance.choice((2, 3, 4))} == {chance.randint(0, 1)}:"
                yield from self.block(depth - 1, exits, pad + "    ")
                if chance.random() < 0.4:
                    yield f"{pad}else:"
                    yield from self.block(depth - 1, exits, pad + "    ")
            else:
                yield from self.loop(depth, exits, pad)
        if exits and chance.random() < 0.4:
            yield pad + chance.choice(exits)

    def loop(self, depth: int, exits: list[str], pad: str) -> Iterator[str]:
        self.count += 1
        name = f"q{self.count}"
        head = self.chance.choice(HEADS).format(n=name)
        yield from [f"{pad}{name} = 0", pad + head] if "while" in head else [pad + head]
        yield from [f"{pad}    {name} += 1"] if "while" in head else []
        if "True" in head:
            yield from [f"{pad}    if {name} > 5:", f"{pad}        {self.chance.choice(('break', RETURN))}"]
        yield from self.block(depth - 1, ["break", "continue", RETURN], pad + "    ")
        if self.chance.random() < 0.25:
            yield f"{pad}else:"
            yield from self.block(depth - 1, exits, pad + "    ")
        elif self.chance.random() < 0.5 * self.names:
            yield f"{pad}s += {name}"


def visible(block: Block, seen: set[Value]) -> bool:
    """Whether operations use only what was computed before them, or around them."""
    seen = seen | set(block.params)
    for op in block.ops:
        if not seen.issuperset(op.operands) or not all(visible(inner, seen) for inner in op.blocks):
            return False
        seen |= set(op.results)
    return True


def lowered(func: str) -> Function:
    """The kernel that calls f, as IR.

    Raises:
        WorkbenchError: it is refused.
    """
    kernel = "def k(x: array[int32], y: array[int32]):\n    i = tid()\n    y[i] = f(x[i], i)\n"
    function = meaning.define(f"{func}\n{kernel}", compile=False)["k"].specialise().function
    assert visible(function.body, set(function.params))
    return function


def programs(seed: int, count: int, names: float) -> Iterator[str]:
    chance = random.Random(seed)
    for _ in range(count):
        lines = list(Program(chance, names).block(4, [RETURN], "    "))
        yield "\n".join(["def f(v, i):", "    s = v", *lines, "    return s", ""])


def in_python(func: str) -> list[int]:
    space: dict[str, Any] = {}
    exec(func, space)
    return [space["f"](int(v), k) for k, v in enumerate(VALUES)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(4))
def test_means_what_python_means(seed: int) -> None:
    for func in programs(seed, PROGRAMS, 0.0):
        y = np.zeros_like(VALUES)
        run(lowered(func), 6, [VALUES.copy(), y])
        assert y.tolist() == in_python(func), func


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(4))
def test_a_name_that_python_may_find_unbound_is_refused(seed: int) -> None:
    accepted = 0
    for func in programs(100 + seed, 6 * PROGRAMS, 0.5):
        try:
            function = lowered(func)
        except WorkbenchError as error:
            assert "unbound" in error.render() or "not defined" in error.render(), func
            continue
        y = np.zeros_like(VALUES)
        run(function, 6, [VALUES.copy(), y])
        assert y.tolist() == in_python(func), func  # an UnboundLocalError of Python's fails here
        accepted += 1
    assert accepted > PROGRAMS // 2
