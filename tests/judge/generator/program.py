"""A whole program: definitions, the kernel's signature from the arrays it came to use, and its body."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.judge.generator.kinds import ALIASES, Kind, scalar
from tests.judge.generator.memory import COMBINATIONS, augmented, operand, subscript
from tests.judge.generator.statements import statements
from tests.judge.generator.table import ALL, CONDITIONS, DEFINITIONS, STATEMENTS, VALUES, WHOLES, draw
from tests.judge.generator.writer import INT, ArrayParameter, Writer, indented

LAUNCHES: tuple[tuple[int | str, ...], ...] = (("n",),) * 8 + (("n", 3), ("n", 2), ("n", 2, 2), ("n", 2, 1, 2))
"""The sizes of a launch along each dimension; one dimension is the usual case."""

PROFILES = ("exact",) * 5 + ("maths",) * 2 + ("smooth",) * 3


@dataclass(frozen=True)
class Draft:
    """A program as text, and what its kernel `k` is launched with.

    Attributes:
        text: the source code of a module.
        profile: "exact", "maths" or "smooth"; see `Writer`.
        arrays: the array parameters, in order, before the scalar ones.
        scalars: the scalar parameters, names and types, in order.
        dim: the sizes of the launch; "n" is the number of threads along the first dimension.
        rows: the names of the rows of the table that are in it.
    """

    text: str
    profile: str
    arrays: dict[str, ArrayParameter]
    scalars: dict[str, str]
    dim: tuple[int | str, ...]
    rows: frozenset[str]


def rows() -> set[str]:
    """The names of all rows of the tables."""
    return {r.name for table in (VALUES, CONDITIONS, WHOLES, STATEMENTS, DEFINITIONS) for r in table}


def draft(seed: int, profile: str = "") -> Draft:
    """The program of a seed."""
    random = Random(seed)
    profile = profile or random.choice(PROFILES)
    assert profile in ALL
    sizes = random.choice(LAUNCHES)
    w = Writer(random, profile, tuple("ijkl"[: len(sizes)]), sizes)
    for index in w.indices:
        w.bind(index, INT, mutable=False)
    for _ in range(random.choice((0, 0, 1, 2, 3))):
        draw(w, DEFINITIONS)
    w.budget = random.choice((6, 12, 20, 35))
    first = f"{', '.join(w.indices)} = wb.tid()"
    body: list[str] = []
    if profile != "smooth" and random.random() < 0.5:
        body += _combination(w, seed)
    body += statements(w, random.randrange(2, 9), depth=random.choice((1, 2, 2, 3)))
    body += _results(w)
    lines = _kernel(w, [first, *_size(w), *body])
    text = "\n".join([*_head(w, "\n".join([*w.header, *lines])), *w.header, *lines])
    return Draft(text, profile, dict(w.arrays), dict(w.scalars), sizes, frozenset(w.used))


def _kernel(w: Writer, body: list[str]) -> list[str]:
    """The kernel, at the module's top or made by a function that holds some of its constants."""
    kernel = ["@wb.kernel", f"def k({_signature(w)}):", *indented(body)]
    numbers = [name for name, kind in w.constants.items() if kind in ("int", "float")]
    if numbers and w.chance(0.25):
        w.used.add("a kernel that a function makes")
        made = [f"def made({numbers[0]}):", *indented([*kernel, "", "return k"])]
        return [
            "",
            "",
            *made,
            "",
            "",
            f"k = made({w.pick('2', '3') if w.constants[numbers[0]] == 'int' else '0.7'})",
            "",
        ]
    return ["", "", *kernel, ""]


def _combination(w: Writer, seed: int) -> list[str]:
    """Some lvalues with operators, in the order of their table: so many seeds in a row have them all."""
    found: list[str] = []
    for k in range(4):
        lvalue, sign, type = COMBINATIONS[(seed * 4 + k) * 7919 % len(COMBINATIONS)]
        if sign != "**=" or w.profile == "maths":
            found += augmented(w, lvalue, sign, type) or []
    return found


def _results(w: Writer) -> list[str]:
    """Stores of the names in scope, so that what the program computed is seen."""
    found: list[str] = []
    names = [(n, local) for n, local in w.names.items() if local.mutable and not local.weak]
    for name, local in names[:6]:
        if w.profile == "smooth" and local.kind.scalar not in ("float32", "float64"):
            continue
        found.append(f"{subscript(w, w.array(local.kind, 'own', 0))} = {name}")
    if not any(a.role == "own" for a in w.arrays.values()):
        kind = scalar("float32")
        found.append(f"{subscript(w, w.array(kind, 'own', 0))} = {operand(w, kind, 2)}")
    return found


def _head(w: Writer, text: str) -> list[str]:
    numpy = ["import numpy as np", ""] if "np." in text else []
    typing = ["from typing import Any", ""] if w.any_used else []
    return [*typing, *numpy, "import workbench as wb", "", *(line for name, line in ALIASES.items() if name in text)]


def _size(w: Writer) -> list[str]:
    """The number of threads, where an index needs it."""
    sized = [name for name, a in w.arrays.items() if "n" in a.own.split()]
    if not sized:
        return []
    return [w.pick(f"n = {sized[0]}.shape[0]", f"n = len({sized[0]})")]


def _signature(w: Writer) -> str:
    arrays = [f"{name}: {_array(a)}" for name, a in w.arrays.items()]
    return ", ".join([*arrays, *(f"{name}: {_scalar(w, type)}" for name, type in w.scalars.items())])


def _array(array: ArrayParameter) -> str:
    ndim = len(array.shape)
    return f"wb.array{f'{ndim}d' if ndim > 1 else ''}[{_short(array.kind)}]"


def _short(kind: Kind) -> str:
    return {"wb.float32": "float", "wb.int32": "int"}.get(kind.name, kind.name)


def _scalar(w: Writer, type: str) -> str:
    return _short(scalar(type))
