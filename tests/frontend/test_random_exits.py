"""Loops with ways out of them, made by chance: `break`, `continue`, `return` and `else` mean what Python means."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.frontend import meaning
from workbench.backends.python.interpret import run

PROGRAMS = 10
HEADS = ("for {n} in range(3):", "for {n} in range(v % 4):", "while s % 3 != 2 and {n} < 4:")


def block(chance: random.Random, depth: int, exits: list[str], pad: str) -> Iterator[str]:
    """Lines: `exits` are the ways out that may stand at their end."""
    for number in range(chance.randint(1, 3)):
        kind = chance.random() if depth else 0.0
        if kind < 0.35:
            yield f"{pad}s = (s * {chance.choice((3, 5, 7))} + {chance.choice(('i', 'v', '1'))}) % 97"
        elif kind < 0.65:
            yield f"{pad}if s % {chance.choice((2, 3, 4))} == {chance.randint(0, 1)}:"
            yield from block(chance, depth - 1, exits, pad + "    ")
            if chance.random() < 0.4:
                yield f"{pad}else:"
                yield from block(chance, depth - 1, exits, pad + "    ")
        else:
            name = f"q{depth}{number}"
            head = chance.choice(HEADS).format(n=name)
            yield from [f"{pad}{name} = 0", pad + head] if "while" in head else [pad + head]
            yield from [f"{pad}    {name} += 1"] if "while" in head else []
            yield from block(chance, depth - 1, ["break", "continue", "return s * 10 + 3"], pad + "    ")
            if chance.random() < 0.25:
                yield f"{pad}else:"
                yield from block(chance, 0, [], pad + "    ")
    if exits and chance.random() < 0.4:
        yield pad + chance.choice(exits)


@pytest.mark.parametrize("seed", range(4))
def test_means_what_python_means(seed: int) -> None:
    chance = random.Random(seed)
    x = np.arange(6, dtype=np.int32) * 3
    for _ in range(PROGRAMS):
        lines = list(block(chance, 4, [], "    "))
        func = "\n".join(["def f(v, i):", "    s = v", *lines, "    return s", ""])
        kernel = "def k(x: array[int32], y: array[int32]):\n    i = tid()\n    y[i] = f(x[i], i)\n"
        y = np.zeros(6, np.int32)
        run(meaning.define(f"{func}\n{kernel}")["k"].specialise().function, 6, [x.copy(), y])
        space: dict[str, Any] = {}
        exec(func, space)
        assert y.tolist() == [space["f"](int(v), k) for k, v in enumerate(x)], func
