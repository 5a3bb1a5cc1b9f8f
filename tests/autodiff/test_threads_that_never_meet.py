"""Kernels that read and write one array: right where no two threads touch an element, refused where two may.

The oracle is CPython: it runs the kernel's text thread by thread on dual numbers and notes who touches which element.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.checks.numeric import X1, X2, gradients, kernel
from workbench.autodiff.reverse_mode import adjoint_at
from workbench.errors import NotDifferentiable
from workbench.types import int32


class Dual:
    """A number and its derivatives by every element of the inputs."""

    def __init__(self, value: float, slopes: np.ndarray) -> None:
        self.value, self.slopes = value, slopes

    def __add__(self, other: Dual | float) -> Dual:
        other = other if isinstance(other, Dual) else Dual(other, 0 * self.slopes)
        return Dual(self.value + other.value, self.slopes + other.slopes)

    def __mul__(self, other: Dual | float) -> Dual:
        other = other if isinstance(other, Dual) else Dual(other, 0 * self.slopes)
        return Dual(self.value * other.value, self.value * other.slopes + other.value * self.slopes)

    __radd__, __rmul__ = __add__, __mul__


class Traced:
    """An array of dual numbers that notes which thread loads, stores and adds to which element."""

    def __init__(self, name: str, values: np.ndarray, world: World) -> None:
        self.name, self.shape, self.world = name, values.shape, world
        self.elements = {place: Dual(float(v), world.unit()) for place, v in np.ndenumerate(values)}

    def place(self, key: Any) -> tuple[int, ...]:
        key = key if isinstance(key, tuple) else (key,)
        if any(not -n <= k < n for k, n in zip(key, self.shape, strict=True)):
            raise IndexError(key)
        return tuple(k + n if k < 0 else k for k, n in zip(key, self.shape, strict=True))

    def touch(self, key: Any, kind: str) -> tuple[int, ...]:
        place = self.place(key)
        kinds = self.world.touched[self.name, place][self.world.thread]
        self.world.late |= kind == "load" and not kinds.isdisjoint(("store", "add"))
        kinds.add(kind)
        return place

    def __getitem__(self, key: Any) -> Dual:
        return self.elements[self.touch(key, "load")]

    def __setitem__(self, key: Any, value: Dual) -> None:
        self.elements[self.touch(key, "store")] = value

    def add(self, key: Any, value: Dual) -> None:
        place = self.touch(key, "add")
        self.elements[place] = self.elements[place] + value


class World:
    """One run: all arrays, and who touched what."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.count = sum(a.size for a in arrays.values())
        self.next = 0
        self.thread: tuple[int, ...] = ()
        self.late = False  # a thread loaded what it had written
        self.touched: dict[Any, dict[Any, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.arrays = {n: Traced(n, a, self) for n, a in arrays.items()}

    def unit(self) -> np.ndarray:
        """The slopes of the next input."""
        slopes = np.zeros(self.count)
        slopes[self.next] = 1
        self.next += 1
        return slopes

    def pairs(self) -> set[frozenset[str]]:
        """What two different threads did to one element, for any element."""
        return {
            frozenset((a, b))
            for threads in self.touched.values()
            for one, first in threads.items()
            for other, second in threads.items()
            if one != other
            for a in first
            for b in second
        }


class Case(NamedTuple):
    """A kernel's body and one launch of it."""

    body: str
    dims: tuple[int, ...]
    numbers: dict[str, int]
    shapes: dict[str, tuple[int, ...]]


def text_of(case: Case) -> str:
    indices = ", ".join("ij"[: len(case.dims)])
    names = ", ".join((*case.shapes, *case.numbers))
    return f"def k({names}):\n    {indices} = tid()\n{textwrap.indent(case.body, '    ')}\n"


def oracle(case: Case, arrays: dict[str, np.ndarray]) -> tuple[World, dict[str, np.ndarray]]:
    """The run in CPython, and the gradient of the weighted sum of what x and y hold after it."""
    world = World(arrays)
    scope: dict[str, Any] = {
        "tid": lambda: world.thread if len(case.dims) > 1 else world.thread[0],
        "atomic_add": lambda a, *rest: a.add(rest[:-1], rest[-1]),
    }
    exec(text_of(case), scope)
    for world.thread in np.ndindex(*case.dims):
        scope["k"](*world.arrays.values(), *case.numbers.values())
    total = np.zeros(world.count)
    for name, array in world.arrays.items():
        for place, weight in np.ndenumerate(weights(name, array.shape)):
            total += weight * array.elements[place].slopes
    ends = np.cumsum([a.size for a in arrays.values()])[:-1]
    parts = zip(arrays.items(), np.split(total, ends), strict=True)
    return world, {name: part.reshape(a.shape) for (name, a), part in parts}


def weights(name: str, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(ord(name)).uniform(0.5, 1.5, shape)


def judged(case: Case) -> str:
    """ "right", "refused", "late" or "meets" for a launch that the compiler treats as it must; fails for any other."""
    arrays = {n: np.random.default_rng(7).uniform(0.5, 1.5, shape) for n, shape in case.shapes.items()}
    try:
        world, expected = oracle(case, arrays)
    except IndexError:
        return "out of range"
    pairs = world.pairs()
    if frozenset(("store",)) in pairs:
        return "race"
    types = {n: X1 if len(s) == 1 else X2 for n, s in case.shapes.items()}
    function = kernel(text_of(case), {**types, **dict.fromkeys(case.numbers, int32)})
    arguments = {**arrays, **case.numbers}
    try:
        reverse = adjoint_at(function, case.dims, arguments)
    except NotDifferentiable:
        return "meets" if pairs & MEETING else "late" if world.late else "refused"
    assert not pairs & MEETING, f"{case}: two threads touch one element, and it is not refused"
    seeds = {n: weights(n, a.shape) for n, a in arrays.items()}
    found = gradients(function, case.dims, [*arguments.values()], seeds, reverse=reverse)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, err_msg=f"{case}: {name}")
    return "right"


MEETING = {frozenset(("load", "store")), frozenset(("load", "add")), frozenset(("store", "add"))}
SQUARE = {"x": (3, 3), "y": (4,)}
LINE = {"x": (8,), "y": (4,)}
# Body, dimensions, numbers, shapes: no two threads of these touch an element of x.
APART: dict[str, Case] = {
    "the next row": Case("x[t + 1, i] = x[t, (i + 1) % 3] * x[t, i]", (3,), {"t": 1}, SQUARE),
    "the next row from the last": Case("x[t + 1, i] = x[t, 2 - i] * x[t, i]", (3,), {"t": -1}, SQUARE),
    "rows by two numbers": Case("x[t, i] = x[s, 2 - i] * x[s, i]", (3,), {"t": 2, "s": -2}, SQUARE),
    "to and fro": Case("x[t % 2, i] = x[(t + 1) % 2, 2 - i] * x[(t + 1) % 2, i]", (3,), {"t": 7}, SQUARE),
    "the other of two": Case("x[1 - t, i] = x[t, 2 - i] * x[t, i]", (3,), {"t": 1}, {"x": (2, 3), "y": (4,)}),
    "odd and even": Case("x[2 * i] = x[2 * ((i + 1) % 4) + 1] * x[2 * i + 1]", (4,), {}, LINE),
    "halves": Case("x[i] = x[i] * x[i + t] + x[7 - i] * 0.5", (4,), {"t": 4}, LINE),
    "a column of threads": Case("x[i, j] = x[i, j] * x[i, 2]\n", (3, 1), {}, SQUARE),
    "a column read by rows": Case("x[i, 1] = x[i, 0] * x[i, 2]", (3, 1), {}, SQUARE),
    "an offset": Case("x[i + t] = x[i + t] * x[i + t]", (3,), {"t": 2}, LINE),
    "an offset from the end": Case("x[i + t] = x[i + t] * x[i + t]", (3,), {"t": -2}, LINE),
    "one thread, its neighbour": Case("x[i + 1] = x[i] * x[i + 2]", (1,), {}, LINE),
    "one thread, one element": Case("x[0] = x[0] * x[1]", (1,), {}, LINE),
    "one thread, in a loop": Case("for s in range(3):\n    x[s + 1] = x[s] * 0.5", (1,), {}, LINE),
    "one thread of two indices": Case("x[j, i + 1] = x[i, j] * x[i + 1, j]", (1, 1), {}, SQUARE),
    "one thread, added and read": Case("atomic_add(x, 0, x[1] * x[2])\ny[0] = x[0] * x[0]", (1,), {}, LINE),
    "one thread, assigned and added": Case("x[0] = y[1]\natomic_add(x, t, y[1] * y[2])", (1,), {"t": 0}, LINE),
    "every column but one": Case("x[i, t] = x[i, 0] * x[i, 1]", (3,), {"t": 2}, SQUARE),
    "read again after the store": Case(
        "x[t + 1, i] = x[t, 2 - i]\ny[i] = x[t, i] * x[t, 2 - i]", (3,), {"t": 0}, SQUARE
    ),
}  # fmt: skip
# Two threads of these touch an element of x, and one writes it.
MEETS: dict[str, Case] = {
    "one row, counted from both ends": Case(
        "x[t + 1, i] = x[t, 2 - i] * 2.0", (3,), {"t": -1}, {"x": (1, 3), "y": (4,)}
    ),
    "rows that are one": Case("x[t, i] = x[s, 2 - i] * 2.0", (3,), {"t": 2, "s": -1}, SQUARE),
    "rows of a loop": Case("for s in range(2):\n    x[s + 1, i] = x[s, 2 - i] * 2.0", (3,), {}, SQUARE),
    "to and fro, the same": Case("x[t % 2, i] = x[(t + 2) % 2, 2 - i] * 2.0", (3,), {"t": 7}, SQUARE),
    "odd and even, counted from the end": Case(
        "x[2 * i - t] = x[2 * (1 - i)] * 2.0", (2,), {"t": 5}, {"x": (5,), "y": (4,)}
    ),
    "overlapping halves": Case("x[i] = x[i + t] * 2.0", (4,), {"t": 3}, LINE),
    "a row of threads": Case("x[0, j] = x[0, 2 - j] * 2.0", (1, 3), {}, SQUARE),
    "an element of all": Case("y[i] = x[0] * 2.0\natomic_add(x, 0, y[i])", (2,), {}, LINE),
}


@pytest.mark.parametrize("name", APART)
def test_threads_that_never_meet_have_a_gradient(name: str) -> None:
    assert judged(APART[name]) == "right"


@pytest.mark.parametrize("name", MEETS)
def test_threads_that_meet_are_refused(name: str) -> None:
    assert judged(MEETS[name]) == "meets"


def drawn(random: np.random.Generator) -> Iterator[Case]:
    """Launches of one kernel made by chance."""
    two, rows = random.random() < 0.4, random.random() < 0.6

    def index() -> str:
        terms = [str(random.integers(-2, 3))]
        for name in ("i", "j", "t", "s") if two else ("i", "t", "s"):
            factor = random.choice([0, 0, 1, 1, 2, -1]) if name in "ij" else random.choice([0, 0, 0, 1, 1, -1, 2])
            terms += [f"{factor} * {name}"] if factor else []
        text = " + ".join(terms)
        return f"({text}) % {random.integers(2, 4)}" if random.random() < 0.2 else text

    def element() -> str:
        return f"{index()}, {index()}" if rows else index()

    kept = [element() for _ in range(3)]

    def one() -> str:
        return f"x[{random.choice(kept) if random.random() < 0.6 else element()}]"

    lines: list[str] = []
    for _ in range(random.integers(1, 3)):
        value = f"0.5 * {one()} * {one()}" if random.random() < 0.7 else f"y[i] * {one()}"
        kind = random.random()
        target = one()
        lines.append(
            f"{target} = {value} + 0.1" if kind < 0.6
            else f"atomic_add(x, {target[2:-1]}, {value})" if kind < 0.8 else f"y[i] = {value}"
        )  # fmt: skip
    if random.random() < 0.25:
        lines = ["for s in range(2):", *(f"    {line}" for line in lines)]
    for _ in range(4):
        dims = tuple(int(n) for n in random.choice([1, 1, 2, 3, 4], 2 if two else 1))
        shape = tuple(int(n) for n in random.integers(1, 7, 2 if rows else 1) + 2 * (not rows))
        numbers = {n: int(v) for n, v in zip(("t", "s"), random.integers(-3, 5, 2), strict=True)}
        if lines[0].startswith("for"):
            del numbers["s"]
        yield Case("\n".join(lines), dims, numbers, {"x": shape, "y": (4,)})


@pytest.mark.sample(16)
@pytest.mark.parametrize("seed", range(400))
def test_no_gradient_of_a_program_made_by_chance_is_silently_wrong(seed: int) -> None:
    for case in drawn(np.random.default_rng(seed)):
        judged(case)


def test_programs_made_by_chance_are_right_more_often_than_refused_without_need() -> None:
    verdicts = [judged(case) for seed in range(100) for case in drawn(np.random.default_rng(seed))]
    assert verdicts.count("right") > verdicts.count("refused") and verdicts.count("meets") > 10
