"""Expressions of vectors, matrices, quaternions, transforms and structs."""

from __future__ import annotations

from functools import partial
from math import prod

from tests.judge.generator.kinds import FLOATS, QUATERNIONS, TRANSFORMS, VECTORS, Kind, scalar, vector
from tests.judge.generator.table import WHOLES, draw, row
from tests.judge.generator.values import condition, index, literal, value
from tests.judge.generator.writer import Writer

whole_row = partial(row, WHOLES)


def whole(w: Writer, kind: Kind, depth: int = 2) -> str:
    """An expression of a kind that has components or fields; its value is exact."""
    return str(draw(w, WHOLES, kind, depth))


@whole_row("a local name of a vector, matrix or struct", 8)
def _name(w: Writer, kind: Kind, depth: int) -> str | None:
    names = w.locals(kind)
    return w.random.choice(names) if names else None


@whole_row("an element of an array of vectors, matrices or structs", 6)
def _element(w: Writer, kind: Kind, depth: int) -> str | None:
    from tests.judge.generator.memory import element

    return None if w.function else element(w, kind)


@whole_row("a constructor", 4)
def constructor(w: Writer, kind: Kind, depth: int) -> str:
    """A call of the type with a value for each component or field."""
    if kind.form == "struct":
        parts = [value(w, f, depth - 1) if f.form == "scalar" else whole(w, f, depth - 1) for _, f in kind.fields]
    elif kind.form == "transform":
        position = vector(3, kind.scalar)
        parts = [constructor(w, position, 0), constructor(w, QUATERNIONS[kind.scalar == "float64"], 0)]
    else:
        count = prod(kind.shape)
        if count > 4:
            parts = [_short(w, kind.scalar) for _ in range(count)]
        else:
            parts = [value(w, kind.scalar, depth - 1) for _ in range(count)]
    return f"{kind.name}({', '.join(parts)})"


def _short(w: Writer, type: str) -> str:
    names = w.locals(scalar(type))
    return w.random.choice(names) if names and w.chance(0.5) else f"wb.{type}({literal(w, type)})"


@whole_row("arithmetic of vectors and matrices", 5)
def _arithmetic(w: Writer, kind: Kind, depth: int) -> str | None:
    if depth <= 0 or kind.form == "struct":
        return None
    one, other = whole(w, kind, depth - 1), whole(w, kind, depth - 1)
    number = value(w, kind.scalar, depth - 1)
    return w.pick(f"({one} + {other})", f"({one} - {other})", f"({one} * {number})", f"({number} * {one})", f"(-{one})")


@whole_row("a vector divided by a number", 1)
def _divided(w: Writer, kind: Kind, depth: int) -> str | None:
    if depth <= 0 or kind.form not in ("vector", "matrix") or not kind.scalar.startswith("float"):
        return None
    return f"({whole(w, kind, depth - 1)} / {w.pick('2.0', '3.0', '0.7')})"


@whole_row("a product of vectors by component", 2)
def _by_component(w: Writer, kind: Kind, depth: int) -> str | None:
    if depth <= 0 or kind.form not in ("vector", "matrix") or kind.scalar not in FLOATS:
        return None
    return f"wb.cw_mul({whole(w, kind, depth - 1)}, {whole(w, kind, depth - 1)})"


@whole_row("a choice of vectors or structs", 2)
def _choice(w: Writer, kind: Kind, depth: int) -> str | None:
    if depth <= 0:
        return None
    return f"({whole(w, kind, depth - 1)} if {condition(w, 0)} else {whole(w, kind, depth - 1)})"


@whole_row("a swizzle", 2)
def _swizzle(w: Writer, kind: Kind, depth: int) -> str | None:
    if depth <= 0 or kind.form != "vector" or kind.shape[0] > 4:
        return None
    sources = [v for v in VECTORS if v.scalar == kind.scalar and v.shape[0] <= 4]
    source = w.random.choice(sources)
    letters = "".join(w.pick(*"xyzw"[: source.shape[0]]) for _ in range(kind.shape[0]))
    return f"{whole(w, source, 0)}.{letters}"


@whole_row("a slice of a vector", 1)
def _slice(w: Writer, kind: Kind, depth: int) -> str | None:
    wider = (
        [v for v in VECTORS if v.scalar == kind.scalar and v.shape[0] > kind.shape[0]] if kind.form == "vector" else []
    )
    if depth <= 0 or not wider:
        return None
    source = w.random.choice(wider)
    start = w.random.randrange(source.shape[0] - kind.shape[0] + 1)
    return f"{whole(w, source, 0)}[{start}:{start + kind.shape[0]}]"


@whole_row("a row of a matrix", 2)
def _row(w: Writer, kind: Kind, depth: int) -> str | None:
    from tests.judge.generator.kinds import MATRICES

    fitting = [m for m in MATRICES if m.rows == kind]
    if depth <= 0 or not fitting:
        return None
    m = w.random.choice(fitting)
    return f"{whole(w, m, 0)}[{index(w, m.shape[0])}]"


@whole_row("a transposed matrix", 1)
def _transposed(w: Writer, kind: Kind, depth: int) -> str | None:
    from tests.judge.generator.kinds import MATRICES

    fitting = [m for m in MATRICES if m.scalar == kind.scalar and m.shape == kind.shape[::-1]]
    if depth <= 0 or kind.form != "matrix" or not fitting:
        return None
    text = whole(w, fitting[0], 0)
    return w.pick(f"{text}.T", f"wb.transpose({text})")


@whole_row("a position or a rotation of a transform", 2)
def _of_transform(w: Writer, kind: Kind, depth: int) -> str | None:
    for t, q in zip(TRANSFORMS, QUATERNIONS, strict=True):
        if kind == q and depth > 0:
            return f"{whole(w, t, 0)}.q"
        if kind == vector(3, t.scalar) and depth > 0:
            return f"{whole(w, t, 0)}.p"
    return None


@whole_row("a field of a struct", 3)
def _field(w: Writer, kind: Kind, depth: int) -> str | None:
    ways = [(name, path) for name, local in w.names.items() for path in fields(local.kind, kind) if local.exact]
    if not ways:
        return None
    name, path = w.random.choice(ways)
    return name + path


def fields(kind: Kind, wanted: Kind) -> list[str]:
    """The fields, and fields of fields, of the wanted kind."""
    found = [f".{name}" for name, part in kind.fields if part == wanted]
    return found + [f".{name}{path}" for name, part in kind.fields for path in fields(part, wanted)]


@whole_row("a call of a func that returns a vector or a struct", 4)
def _call(w: Writer, kind: Kind, depth: int) -> str | None:
    from tests.judge.generator.values import arguments

    fitting = [f for f in w.functions if f.results == (kind,) and not f.takes]
    if depth <= 0 or not fitting:
        return None
    function = w.random.choice(fitting)
    return f"{function.name}({arguments(w, function, depth - 1)})"
