"""Elements of arrays: how they are read, every kind of lvalue, and the operators that change one in place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from tests.judge.generator.kinds import (
    COMPOSITES,
    FLOATS,
    HALVES,
    INTEGERS,
    MATRICES,
    QUATERNIONS,
    SCALARS,
    TRANSFORMS,
    VECTORS,
    Kind,
    scalar,
    vector,
)
from tests.judge.generator.table import STATEMENTS, row
from tests.judge.generator.values import any_type, component, condition, index, value
from tests.judge.generator.wholes import whole
from tests.judge.generator.writer import INT, ArrayParameter, Writer

statement_row = partial(row, STATEMENTS)


def operand(w: Writer, kind: Kind, depth: int = 2, exact: bool = True) -> str:
    """An expression of any kind."""
    return value(w, kind, depth, exact) if kind.form == "scalar" else whole(w, kind, depth)


def element(w: Writer, kind: Kind) -> str:
    """The text of an element of an array of the kind: any of an input, or the thread's own."""
    ndim = w.random.choices((0, 1, 2), (6, 2, 1))[0]
    ndim = min(ndim, 4 - len(w.indices))
    role = "own" if w.chance(0.25) else "in"
    name = w.array(kind, role, ndim)
    return subscript(w, name)


def subscript(w: Writer, name: str) -> str:
    """The text of an element that a thread may read (and write, of its own arrays)."""
    array = w.arrays[name]
    shape = array.shape
    w.used.add(f"an array of {len(shape)} dimensions")
    if array.role == "own":
        rest = [index(w, int(size)) for size in shape[len(w.indices) :]]
        return f"{name}[{', '.join([array.own, *rest])}]"
    if array.role == "sum":
        return f"{name}[{', '.join(_bounded(w, size) for size in shape)}]"
    first = [_anywhere(w, name, axis) for axis in range(len(shape))]
    if len(shape) > 1 and w.chance(0.15):
        w.used.add("an element of a row")
        return f"{name}[{first[0]}][{', '.join(first[1:])}]"
    return f"{name}[{', '.join(first)}]"


def _bounded(w: Writer, size: int | str) -> str:
    return f"{w.random.choice(w.indices)} % {size}" if w.chance(0.6) else index(w, int(size))


def _anywhere(w: Writer, name: str, axis: int) -> str:
    """An index that is in range for any number of threads."""
    size = w.arrays[name].shape[axis]
    i = w.indices[min(axis, len(w.indices) - 1)]
    if isinstance(size, int):
        return _bounded(w, size) if size == 7 else index(w, size)
    length = f"{name}.shape[{axis}]"
    same = axis < len(w.indices)
    counters = [n for n, local in w.names.items() if local.kind == INT and not local.mutable and not local.weak]
    other = w.random.choice(counters)
    forms = [
        f"({i} + {w.random.randrange(1, 4)}) % {length}", f"max({i} - {w.random.randrange(1, 3)}, 0)",
        f"min({i} + {w.random.randrange(1, 3)}, {length} - 1)", f"({other} * 3) % {length}", f"{other} % {length}",
        f"{length} - 1 - {i} % {length}", "0", "-1", f"abs({value(w, INT, 0)} % {length})",
        f"{i} % {length} - {length}",
    ]  # fmt: skip
    w.used.add("an index away from the thread's own")
    return i if same and w.chance(0.6) else w.random.choice(forms)


@dataclass(frozen=True)
class Lvalue:
    """A kind of lvalue: its name, what the element or local name is, and the way down to the part that is assigned."""

    name: str
    wholes: tuple[Kind, ...]
    local: bool = False
    ndim: int = 0


LVALUES = (
    *(Lvalue(f"an element of an array of {n + 1} dimensions", (), ndim=n) for n in range(4)),
    Lvalue("a component of a vector", VECTORS),
    Lvalue("a component of a vector at an index that only the run knows", VECTORS),
    Lvalue("an element of a matrix", MATRICES),
    Lvalue("a row of a matrix", MATRICES),
    Lvalue("a component of a row of a matrix", MATRICES),
    Lvalue("a component of a quaternion", QUATERNIONS),
    Lvalue("a part of a transform", TRANSFORMS),
    Lvalue("a component of a part of a transform", TRANSFORMS),
    Lvalue("a whole vector, matrix or quaternion", (*VECTORS, *MATRICES, *QUATERNIONS)),
    Lvalue("a field of a struct", ()),
    Lvalue("a part of a nested struct", ()),
    Lvalue("an element of a view", (), ndim=1),
    Lvalue("an element of a slice", (), ndim=1),
    Lvalue("a local name", (), local=True),
    Lvalue("a component of a local vector", VECTORS, local=True),
    Lvalue("an element of a local matrix", MATRICES, local=True),
    Lvalue("a field of a local struct", (), local=True),
)


def _operators(type: str) -> tuple[str, ...]:
    if type == "bool":
        return ("&=", "|=", "^=")
    if type in INTEGERS:
        return ("+=", "-=", "*=", "//=", "%=", "<<=", ">>=", "|=", "&=", "^=")
    return ("+=", "-=", "*=", "/=", "//=", "%=")


def _operators_of(kind: Kind) -> tuple[str, ...]:
    """The operators that may change a part of a kind."""
    if kind.form == "scalar":
        return (*_operators(kind.scalar), "=", *(["**="] if kind.scalar in FLOATS else []))
    return ("+=", "-=", "=", "*=", *(["/="] if kind.scalar in FLOATS else []))


def combinations() -> list[tuple[Lvalue, str, str]]:
    """Every lvalue with every operator and every type of element that fits it."""
    found: list[tuple[Lvalue, str, str]] = []
    for lvalue in LVALUES:
        types = {k.scalar for k in lvalue.wholes} or set(SCALARS)
        if "struct" in lvalue.name:
            types = {"int32", "float32", "float64", "uint8"}
        for type in sorted(types):
            found += [(lvalue, sign, type) for sign in (*_operators(type), *(["**="] if type in FLOATS else []), "=")]
    return found


COMBINATIONS = combinations()


def augmented(w: Writer, lvalue: Lvalue, sign: str, type: str) -> list[str] | None:
    """Statements that change one lvalue in place; None if the program cannot have it."""
    before, target, kind = _target(w, lvalue, type)
    if sign not in _operators_of(kind):
        sign = w.pick(*_operators_of(kind))
    w.used.add(lvalue.name)
    w.used.add(f"augmented {sign}" if sign != "=" else "a plain store")
    return [*before, f"{target} {sign} {_right(w, kind, sign)}"]


def _right(w: Writer, kind: Kind, sign: str) -> str:
    """What may stand right of the operator."""
    if kind.form == "scalar":
        return _right_scalar(w, kind, sign)
    if sign in ("+=", "-=", "="):
        return whole(w, kind, 1)
    return value(w, kind.scalar, 1)


def _right_scalar(w: Writer, kind: Kind, sign: str) -> str:
    type = kind.scalar
    if type == "bool":
        return f"({condition(w)})"
    if sign in ("<<=", ">>="):
        return w.pick("1", "2", "3")
    if sign == "**=":
        return w.pick("2.0", "3.0")
    if sign in ("/=", "//=", "%="):
        return w.pick("2", "3", "7") if type in INTEGERS else w.pick("2.0", "0.75", "3.0")
    if w.chance(0.25):
        return w.pick("1", "2", "3") if type in INTEGERS else w.pick("0.5", "1.5", "2.0")
    return value(w, kind, 2)


def _target(w: Writer, lvalue: Lvalue, type: str) -> tuple[list[str], str, Kind]:
    """Statements before it, the text of the lvalue, and the kind of what stands there."""
    kind, path = _way(w, lvalue, type)
    if lvalue.local:
        names = w.locals(kind, mutable=True)
        if not names or w.chance(0.3) or not path:
            name = w.fresh()
            before = [f"{name} = {operand(w, kind, 1)}"]
            w.bind(name, kind)
        else:
            name, before = w.random.choice(names), []
        return before, name + path, _kind_at(kind, path, type)
    name = w.array(kind, "own", min(lvalue.ndim, 4 - len(w.indices)))
    if w.arrays[name].role == "own" and lvalue.ndim and "dimensions" not in lvalue.name and len(w.indices) < 4:
        return _through_view(w, name, slices="slice" in lvalue.name)
    return [], subscript(w, name) + path, _kind_at(kind, path, type)


def _through_view(w: Writer, name: str, slices: bool) -> tuple[list[str], str, Kind]:
    array = w.arrays[name]
    size = int(array.shape[-1])
    view = w.fresh("r")
    if slices:
        text = w.pick("1:", ":-1", "::2", f":{size}")
        length = len(range(size)[slice(*(int(p) if p else None for p in text.split(":")))])
        at = w.pick("0", "-1", f"{length - 1}", f"{w.random.choice(w.indices)} % {length}")
        return [f"{view} = {name}[{array.own}, {text}]"], f"{view}[{at}]", array.kind
    return [f"{view} = {name}[{array.own}]"], f"{view}[{index(w, size)}]", array.kind


def _way(w: Writer, lvalue: Lvalue, type: str) -> tuple[Kind, str]:
    """The kind of the whole, and the path to the part."""
    if "struct" in lvalue.name:
        from tests.judge.generator.definitions import struct

        return _way_in_struct(w, struct(w, nested="nested" in lvalue.name), type)
    fitting = [k for k in lvalue.wholes if k.scalar == type]
    if not fitting:
        return scalar(type), ""
    kind = w.random.choice(fitting)
    if lvalue.name.startswith("a whole"):
        return kind, ""
    if kind.form == "vector":
        if "run knows" in lvalue.name:
            return kind, f"[{w.random.choice(list(w.indices))} % {kind.shape[0]}]"
        return kind, component(w, kind.shape[0])
    if kind.form == "quaternion":
        return kind, component(w, 4)
    if kind.form == "transform":
        part = w.pick(".p", ".q")
        return kind, part + (component(w, 3 if part == ".p" else 4) if "component" in lvalue.name else "")
    r, c = kind.shape
    if lvalue.name == "a row of a matrix":
        return kind, f"[{index(w, r)}]"
    if lvalue.name == "a component of a row of a matrix":
        return kind, f"[{index(w, r)}]{component(w, c)}"
    return kind, f"[{index(w, r)}, {index(w, c)}]"


def _way_in_struct(w: Writer, kind: Kind, type: str) -> tuple[Kind, str]:
    ways = [f".{name}" for name, part in kind.fields if part.form == "scalar"]
    deep: list[str] = []
    for name, part in kind.fields:
        if part.form == "struct":
            deep += [f".{name}{_way_in_struct(w, part, type)[1]}"]
        elif part.form == "vector":
            deep += [f".{name}", f".{name}{component(w, part.shape[0])}"]
        elif part.form == "matrix":
            deep += [f".{name}[{index(w, part.shape[0])}, {index(w, part.shape[1])}]"]
    return kind, w.random.choice(deep or ways) if w.chance(0.6) else w.random.choice(ways or deep)


def _kind_at(kind: Kind, path: str, type: str) -> Kind:
    """The kind of the part that a path leads to."""
    if not path:
        return kind
    if kind.form == "struct":
        name, rest = _split(path)
        return _kind_at(dict(kind.fields)[name], rest, type)
    if kind.form == "transform":
        name, rest = _split(path)
        part = vector(3, kind.scalar) if name == "p" else QUATERNIONS[kind.scalar == "float64"]
        return _kind_at(part, rest, type)
    if kind.form == "matrix" and path.endswith("]") and path.count("[") == 1 and "," not in path:
        return kind.rows
    return scalar(kind.scalar)


def _split(path: str) -> tuple[str, str]:
    """The first name of a path, and the rest."""
    end = next((k for k, c in enumerate(path[1:], 1) if c in ".["), len(path))
    return path[1:end], path[end:]


@statement_row("a change in place", 14, ("exact", "maths"))
def _augmented(w: Writer, depth: int) -> list[str] | None:
    lvalue, sign, type = w.random.choice(COMBINATIONS)
    return None if w.function or (sign == "**=" and w.profile == "exact") else augmented(w, lvalue, sign, type)


@statement_row("a change in place of a float", 6, ("smooth",))
def _augmented_float(w: Writer, depth: int) -> list[str] | None:
    fitting = [
        c for c in COMBINATIONS
        if c[2] in ("float32", "float64") and c[1] in ("+=", "-=", "*=", "=") and "struct" not in c[0].name
    ]  # fmt: skip
    return None if w.function else augmented(w, *w.random.choice(fitting))


@statement_row("a store into the thread's own element", 14)
def _store(w: Writer, depth: int) -> list[str] | None:
    if w.function:
        return None
    exact = w.profile == "exact" or w.chance(0.3)
    whole_kind = w.chance(0.2)
    kind = w.random.choice((*COMPOSITES, *w.structs.values())) if whole_kind else scalar(any_type(w))
    if w.profile == "smooth" and kind.scalar not in ("float32", "float64"):
        kind = scalar("float32")
    name = w.array(kind, "own", 0)
    return [f"{subscript(w, name)} = {operand(w, kind, 3, exact)}"]


@statement_row("an int stored in an array of floats", 1, ("exact", "maths"))
def _int_stored(w: Writer, depth: int) -> list[str] | None:
    if w.function:
        return None
    name = w.array(scalar(w.pick("float32", "float64", *HALVES)), "own", 0)
    return [f"{subscript(w, name)} = {value(w, w.pick('int32', 'uint8', 'int16'), 2)}"]


@statement_row("a swap of two own elements", 2)
def _swap(w: Writer, depth: int) -> list[str] | None:
    if w.function:
        return None
    kind = scalar(any_type(w))
    one, other = (subscript(w, w.array(kind, "own", 0)) for _ in range(2))
    return [f"{one}, {other} = {other}, {one}"]


@statement_row("an element read, overwritten and used", 4)
def _read_then_overwritten(w: Writer, depth: int) -> list[str] | None:
    if w.function:
        return None
    kind, name = scalar(any_type(w)), w.fresh()
    target = subscript(w, w.array(kind, "own", 0))
    w.bind(name, kind, exact=w.profile != "smooth")
    return [f"{name} = {target}", f"{target} = {value(w, kind, 1)}"]


@statement_row("an atomic change of an integer that threads share", 5, ("exact", "maths"))
def _shared(w: Writer, depth: int) -> list[str] | None:
    if w.function:
        return None
    kind, ways = w.random.choice(_SHARED)
    name = w.array(scalar(kind), "sum", w.random.choice((0, 0, 1)))
    same = {k for k, v in w.counts.items() if k.startswith(f"{name}:")}
    way = next(iter(sorted(same)), f"{name}:{w.pick(*ways)}")
    w.counts[way] = 1
    sign = way.split(":")[1]
    array: ArrayParameter = w.arrays[name]
    places = ", ".join(_bounded(w, size) for size in array.shape)
    w.used.add(f"atomic {sign}")
    if sign in ("+=", "-="):
        return [f"{name}[{places}] {sign} {value(w, kind, 1)}"]
    return [f"wb.atomic_{sign}({name}, {places}, {value(w, kind, 1)})"]


_SHARED = tuple(
    (kind, ("+=", "-=", "add", "sub", "min", "max", "and", "or", "xor"))
    for kind in ("int32", "int64", "uint32", "uint64", "int32")
)


@statement_row("an atomic change of an own element, with its old value", 2, ("exact", "maths"))
def _own_atomic(w: Writer, depth: int) -> list[str] | None:
    if w.function or len(w.indices) > 1:
        return None
    kind = scalar(w.pick("int32", "int64", "uint32", "float32", "float64"))
    array = w.array(kind, "own", 0)
    ways = ["add", "min", "max", "exch", "cas"] + ["and", "or", "xor"] * (kind.scalar in INTEGERS)
    way, name = w.pick(*ways), w.fresh()
    extra = f"{value(w, kind, 1)}, " if way == "cas" else ""
    row_ = f"{name} = wb.atomic_{way}({array}, {w.arrays[array].own}, {extra}{value(w, kind, 1)})"
    w.used.add(f"atomic {way}")
    w.bind(name, kind)
    return [row_]
