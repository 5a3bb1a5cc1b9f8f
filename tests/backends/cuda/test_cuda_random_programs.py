"""Random small kernels, run on the host from their CUDA text: the same bits as the interpreter's.

They carry several values through nested loops and branches, exchange them, reuse names and write to memory between
reads: what decides which values share a local, and what moves into an expression, is tried here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.support.devices import on_gpu
from tests.support.kernels.cuda_kernels import Make, array
from workbench.backends.base import Options
from workbench.backends.python import interpret
from workbench.builtins import Ref
from workbench.ir import Function
from workbench.types import float32, int32

NAMES = ["a", "b", "s", "s", "x", "", "", ""]
THREADS = 70
OWN = 5
"""Elements that a thread alone reads and writes: no result may depend on the order of threads."""
FLOATS = ("add", "sub", "mul", "min", "max", "div", "neg", "abs")
INTS = ("add", "sub", "mul", "min", "max", "bit_xor", "floordiv", "mod", "neg", "lshift")


class Author:
    """Writes one random kernel; `ints` and `floats` are the values in scope."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.k = Make(f"random_{seed}", 1, x=array(float32), y=array(float32), n=array(int32), c=float32)

    def function(self) -> Function:
        k = self.k
        i = k.tid()
        ints, floats = [i, k.load(k.n, i)], [k.c, k.load(k.x, i * OWN)]
        self.block(ints, floats, 0)
        for value in self.rng.sample(floats, min(2, len(floats))):
            k.store(k.y, i * OWN, value + self.rng.choice(ints).cast(float32))
        return k.done()

    def block(self, ints: list[Ref], floats: list[Ref], depth: int) -> None:
        """A few statements; what they make joins the values in scope."""
        for _ in range(self.rng.randint(2, 5 - depth)):
            makers = [self.float_value, self.float_value, self.int_value, self.write, self.read_then_write]
            if depth < 3:
                makers += [self.branch, self.loop, self.loop, self.loop_while]
            self.rng.choice(makers)(ints, floats, depth)

    def name(self, ref: Ref) -> Ref:
        label = self.rng.choice(NAMES)
        return self.k.named(label, ref) if label and not ref.value.name else ref

    def float_value(self, ints: list[Ref], floats: list[Ref], depth: int) -> None:
        choice = self.rng.random()
        if choice < 0.25:
            made = self.k.load(self.rng.choice([self.k.x, self.k.y]), self.index(ints))
        elif choice < 0.35:
            made = self.rng.choice(ints).cast(float32)
        else:
            made = self.call(FLOATS, floats, [0.5, 3.0, -1.25])
        floats.append(self.name(made))

    def int_value(self, ints: list[Ref], floats: list[Ref], depth: int) -> None:
        ints.append(self.name(self.call(INTS, ints, [1, 3, 7, -2])))

    def call(self, names: Sequence[str], values: list[Ref], numbers: Sequence[Any]) -> Ref:
        name = self.rng.choice(names)
        first = self.rng.choice(values)
        if name in ("neg", "abs"):
            return self.k.call(name, first)
        second = self.rng.choice(values) if self.rng.random() < 0.7 else first.like(self.rng.choice(numbers))
        pair = (first, second) if self.rng.random() < 0.5 else (second, first)
        return self.k.call(name, *pair)

    def index(self, ints: list[Ref]) -> Ref:
        return ints[0] * OWN + self.k.call("mod", self.rng.choice(ints), ints[0].like(OWN))

    def write(self, ints: list[Ref], floats: list[Ref], depth: int) -> None:
        value = self.rng.choice(floats)
        if self.rng.random() < 0.5:
            self.k.store(self.k.y, self.index(ints), value)
        elif self.rng.random() < 0.5:
            self.k.atomic_add(self.k.y, self.index(ints), value)
        else:
            floats.append(self.name(self.k.atomic_add(self.k.y, self.index(ints), value)))

    def read_then_write(self, ints: list[Ref], floats: list[Ref], depth: int) -> None:
        """A value read before its place is written, and used after."""
        place = self.index(ints)
        before = self.k.load(self.k.y, place)
        self.k.store(self.k.y, place, self.rng.choice(floats))
        floats.append(before + self.rng.choice(floats))

    def test(self, ints: list[Ref], floats: list[Ref]) -> Ref:
        values = self.rng.choice([ints, floats])
        return self.k.call(self.rng.choice(["lt", "ge", "ne"]), self.rng.choice(values), self.rng.choice(values))

    def carried(self, ints: list[Ref], floats: list[Ref]) -> list[Ref]:
        """Values to carry: often the same one twice, or ones still read after the loop."""
        return [self.rng.choice(floats) for _ in range(self.rng.randint(1, 3))] + [
            self.rng.choice(ints) for _ in range(self.rng.randint(0, 2))
        ]

    def next_of(self, params: Sequence[Ref], ints: list[Ref], floats: list[Ref]) -> list[Ref]:
        """What a block yields: exchanged parameters, values of the block, or values from outside."""
        out = []
        for param in params:
            pool = floats if param.type == float32 else ints
            same = [p for p in params if p.type == param.type]
            out.append(self.rng.choice(same) if self.rng.random() < 0.4 else self.rng.choice(pool))
        return out

    def inside(self, params: Sequence[Ref], ints: list[Ref], floats: list[Ref], depth: int) -> list[Ref]:
        inner_ints = ints + [p for p in params if p.type == int32]
        inner_floats = floats + [p for p in params if p.type == float32]
        self.block(inner_ints, inner_floats, depth + 1)
        return self.next_of(params, inner_ints, inner_floats)

    def keep(self, results: list[Ref], ints: list[Ref], floats: list[Ref]) -> None:
        for result in results:
            (floats if result.type == float32 else ints).append(result)

    def branch(self, ints: list[Ref], floats: list[Ref], depth: int) -> None:
        condition = self.test(ints, floats)
        shape = self.carried(ints, floats)

        def arm() -> list[Ref]:
            if self.rng.random() < 0.3:
                return self.next_of(shape, ints, floats)
            return self.inside(shape, list(ints), list(floats), depth)

        self.keep(self.k.branch(condition, arm, arm), ints, floats)

    def loop(self, ints: list[Ref], floats: list[Ref], depth: int) -> None:
        start = self.rng.choice([ints[0].like(0), self.k.call("mod", self.rng.choice(ints), ints[0].like(3))])
        stop = self.k.call("mod", self.rng.choice(ints), ints[0].like(5))
        step = ints[0].like(self.rng.choice([1, 1, 1, 2, -1]))
        init = self.carried(ints, floats)
        labels = {f"{r.value.name or 'v'}_{n}": r for n, r in enumerate(init)}

        def body(index: Ref, *params: Ref) -> list[Ref]:
            return self.inside(params, [*ints, index], list(floats), depth)

        self.keep(self.k.loop(start, stop, step, labels, body), ints, floats)

    def loop_while(self, ints: list[Ref], floats: list[Ref], depth: int) -> None:
        init = {"turn": ints[0].like(0)} | {f"w{n}": r for n, r in enumerate(self.carried(ints, floats))}

        def going(turn: Ref, *params: Ref) -> Ref:
            inner_ints, inner_floats = [*ints, turn], floats + [p for p in params if p.type == float32]
            if self.rng.random() < 0.5:
                self.float_value(inner_ints, inner_floats, depth)
            return self.k.call("and_", turn < self.rng.randint(1, 4), self.test(inner_ints, inner_floats))

        def body(turn: Ref, *params: Ref) -> list[Ref]:
            return [turn + 1, *self.inside(params, [*ints, turn], list(floats), depth)]

        self.keep(self.k.loop_while(init, going, body)[1:], ints, floats)


def check(seeds: Sequence[int]) -> None:
    functions = [Author(seed).function() for seed in seeds]
    library = on_gpu.Library(functions, Options())
    rng = np.random.default_rng(3)
    for function in functions:
        args = [rng.normal(size=OWN * THREADS).astype(np.float32), rng.normal(size=OWN * THREADS).astype(np.float32),
                rng.integers(-9, 9, THREADS, np.int32), np.float32(1.5)]  # fmt: skip
        expected, got = ([a.copy() for a in args] for _ in range(2))
        interpret.run(function, THREADS, expected)
        library.run(function.name, THREADS, got)
        np.testing.assert_array_equal(got[1], expected[1], err_msg=function.name)


@pytest.mark.slow
def test_random_kernels_give_the_interpreters_bits(need: Callable[[str], str]) -> None:
    need("nvrtc")
    check(range(20))


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(6))
def test_many_random_kernels_give_the_interpreters_bits(batch: int, need: Callable[[str], str]) -> None:
    need("nvrtc")
    check(range(1000 + 40 * batch, 1040 + 40 * batch))
