"""The state of a program while it is drawn: names in scope, arrays and definitions asked for so far, rows used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random

from tests.judge.generator.kinds import Kind, scalar

INDENT = "    "


@dataclass(frozen=True)
class Local:
    """A name in scope.

    Attributes:
        kind: its type.
        exact: whether its value is exact: no function that may differ by some ulp went into it.
        mutable: whether statements may assign it; counters and indices are not.
        weak: whether it is made of literals alone, so that its type is decided by what it meets.
    """

    kind: Kind
    exact: bool = True
    mutable: bool = True
    weak: bool = False


@dataclass(frozen=True)
class ArrayParameter:
    """An array parameter.

    Attributes:
        kind: the type of its elements.
        shape: its sizes; "n" stands for the number of threads along the first dimension, "2n" for twice that.
        role: "in" is read at any index; "own" is read and written at the thread's own index alone; "sum" is changed
            by commutative atomics alone.
        own: of an own array, the text of the thread's own index.
    """

    kind: Kind
    shape: tuple[int | str, ...]
    role: str
    own: str = ""


@dataclass(frozen=True)
class Function:
    """A func: its name, its parameters, its results, and how many parameters have a default."""

    name: str
    parameters: tuple[Kind, ...]
    results: tuple[Kind, ...]
    defaults: int = 0
    exact: bool = True
    takes: str = ""


@dataclass
class Writer:
    """One program being drawn.

    Attributes:
        random: the source of every choice.
        profile: "exact" programs use only operations with one right result; "maths" ones also functions that are
            right to some ulp; "smooth" ones are differentiable.
        indices: the names of the thread's indices; empty in a func.
        names: the names in scope.
        used: the names of the rows of the table that the program has used.
        loops: how many loops are open.
        budget: how many lines may still be added.
        function: whether it writes the body of a func, which has no arrays.
        any_used: whether the program needs the name `Any`.
    """

    random: Random
    profile: str
    indices: tuple[str, ...] = ("i",)
    sizes: tuple[int | str, ...] = ("n",)
    names: dict[str, Local] = field(default_factory=dict)
    arrays: dict[str, ArrayParameter] = field(default_factory=dict)
    scalars: dict[str, str] = field(default_factory=dict)
    header: list[str] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)
    structs: dict[str, Kind] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    loops: int = 0
    budget: int = 40
    counts: dict[str, int] = field(default_factory=dict)
    function: bool = False
    any_used: bool = False

    def pick(self, *choices: str) -> str:
        """One of the choices."""
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        """True with the probability."""
        return self.random.random() < probability

    def fresh(self, prefix: str = "t") -> str:
        """A name that is not in use."""
        self.counts[prefix] = self.counts.get(prefix, -1) + 1
        return f"{prefix}{self.counts[prefix]}"

    @contextmanager
    def block(self, loop: bool = False) -> Iterator[None]:
        """A nested block: names bound in it are not in scope after it."""
        outside = dict(self.names)
        self.loops += loop
        yield
        self.loops -= loop
        self.names = outside

    def locals(self, kind: Kind, exact: bool = True, mutable: bool = False, weak: bool = False) -> list[str]:
        """The names in scope of a kind."""
        return [
            name
            for name, local in self.names.items()
            if local.kind == kind
            and (local.exact or not exact)
            and (local.mutable or not mutable)
            and local.weak == weak
        ]

    def array(self, kind: Kind, role: str, ndim: int) -> str:
        """An array parameter of the kind, an existing one or a new one."""
        same = [
            name
            for name, a in self.arrays.items()
            if a.kind == kind and a.role == role and self._added(a) == ndim and not self.function
        ]
        if same and (self.chance(0.7) or len(self.arrays) > 12):
            return self.random.choice(same)
        name = self.fresh({"in": "x", "own": "y", "sum": "s"}[role])
        extra: tuple[int | str, ...] = tuple(self.random.choice((2, 3)) for _ in range(ndim))
        own = ", ".join(self.indices)
        shape: tuple[int | str, ...] = (*self.sizes, *extra)
        if role == "own" and len(self.indices) == 1 and self.chance(0.2):
            first, own = self.random.choice((("n", "n - 1 - i"), ("2n", "2 * i + 1"), ("2n", "2 * i"), ("n", "i - n")))
            shape = (first, *extra)
        if role == "sum":
            shape, own = extra or (5,), ""
        elif role == "in" and self.chance(0.15) and len(self.indices) == 1:
            shape = (7, *extra)
        self.arrays[name] = ArrayParameter(kind, shape, role, own)
        return name

    def _added(self, array: ArrayParameter) -> int:
        return len(array.shape) - (len(self.indices) if array.role != "sum" else 0)

    def scalar(self, type: str) -> str:
        """A scalar parameter of the type."""
        same = [name for name, t in self.scalars.items() if t == type]
        if same:
            return same[0]
        name = self.fresh("p")
        self.scalars[name] = type
        return name

    def bind(self, name: str, kind: Kind, exact: bool = True, mutable: bool = True, weak: bool = False) -> None:
        """Put a name in scope."""
        self.names[name] = Local(kind, exact, mutable, weak)

    def inside(self, parameters: dict[str, Kind], budget: int = 8) -> Writer:
        """A writer of a func's body: other names, the same definitions and random numbers."""
        names = {name: Local(kind) for name, kind in parameters.items()}
        return replace(
            self, indices=(), names=names, arrays={}, scalars={}, loops=0, budget=budget, function=True
        )  # fmt: skip


INT = scalar("int32")


def indented(rows: Sequence[str]) -> list[str]:
    """The lines of a nested block."""
    return [INDENT + row for row in rows]
